package reconcile

import "lastdrop/judge"

// Table documents the rules of a run, in the order of their ids. The ids are
// a contract with scripts: one is never given another meaning.
var Table = []judge.RuleDoc{
	doc("RC001", "Counted", "The distinct items held lie inside the band of live totals, and the walk came to its end. The strongest evidence there is.", judge.Complete),
	doc("RC002", "Short of the total", "Fewer distinct items are held than the least live total (or a lower bound) declares. The number missing stands in the report.", judge.Truncated),
	doc("RC003", "Reach", "The server hands out no more than a part of what it declares: empty pages, an error, a repeated page or a collapsing total from some place on. No retry gets past it; slices do.", judge.Truncated, judge.Unknown),
	doc("RC004", "Above the total", "More distinct items are held than the greatest live total: the total or the id is wrong.", judge.Unknown),
	doc("RC005", "Nulls", "The list held nulls. A null is no item, and may stand for one that could not be read.", judge.Unknown),
	doc("RC006", "Moving source", "Totals moved or items shifted while the source was read, and no pass gave one clean reading with every border verified.", judge.Unknown),
	doc("RC007", "No evidence", "Nothing shows that this is all. The default, and never green.", judge.Unknown),
	doc("RC008", "Loop", "A continuation or a page came again. A repeat stops the walk and is no end.", judge.Unknown),
	doc("RC009", "Half a page", "A page stayed half at the smallest size that may be asked for.", judge.Truncated),
	doc("RC010", "Broken continuation", "A continuation is there and cannot be read or followed: a broken Link, another origin, a flag that says more with nothing to follow.", judge.Truncated),
	doc("RC011", "Budget", "limits.max_requests, --max-pages or --max-items stopped the run. A budget is no end.", judge.Truncated, judge.Unknown),
	doc("RC012", "End word in doubt", "An end was said and more items came after it, or the request past the end was not answered by a page.", judge.Unknown),
	doc("RC013", "Unstable order", "Items came again in one pass although no total moved: each repeat can hide a miss.", judge.Unknown),
	doc("RC014", "Echo", "The total only repeats the size of its own page, or may do so: it cannot be counted.", judge.Unknown),
	doc("RC015", "Ties", "A keyset goes on after a key that several items may share: those at a border can be lost. Or its pages are not in the order of the key.", judge.Unknown),
	doc("RC016", "Wrong total", "Every page that the total claims was asked for, and the later ones all came back empty: the total is probably wrong.", judge.Unknown),
	doc("RC017", "Partial page", "A page said itself that it was only a part (time-out flag, missing shards, incomplete results), and stayed so.", judge.Truncated),
	doc("RC018", "Words of a cut", "A row in the data, or the envelope's own words, say that the answer was cut.", judge.Truncated, judge.Unknown),
	doc("RC019", "Sink", "The output, read back, does not hold what the run held.", judge.Truncated),
	doc("RC020", "Drift", "The total moved by more than complete.max_drift during the run: it cannot count.", judge.Unknown),
	doc("RC021", "No page", "An answer was no page: another format, an error object, no items path. It is never zero items.", judge.Truncated, judge.Unknown),
	doc("RC022", "Page refused or failed", "A page was refused by the server, or failed until the retries were spent.", judge.Truncated, judge.Unknown),
	doc("RC023", "Dead position", "A cursor or position was gone, and starting anew was in vain.", judge.Truncated, judge.Unknown),
	doc("RC024", "Too weak", "The evidence of the end is weaker than complete.require asks for.", judge.Unknown),
	doc("RC025", "Filter dropped", "Items did not satisfy items.check: the server may have dropped the filter.", judge.Unknown),
	doc("RC026", "No identity", "One id came twice on one page with different content, or no item has what items.id names: items.id is no identity.", judge.Unknown),
	doc("RC027", "Suspiciously few", "Fewer items than complete.min_items, or far fewer than in the last COMPLETE run of this name.", judge.Unknown),
	doc("RC028", "Stopped", "A signal, or a wait longer than limits.max_wait, stopped the run. It can be resumed.", judge.Truncated, judge.Unknown),
	doc("RC030", "Declared end", "The server's explicit word: a has-more flag, a null cursor, a Link header without next, its own page count.", judge.Complete),
	doc("RC031", "Assumed end", "The end that pages.end lists because this API documents it. The operator's contract only.", judge.Complete),
	doc("RC032", "Collapsed total", "The total fell to 0, or below what was held, on an empty page: no live total, and a sign of a reach.", judge.Unknown),
	doc("RC033", "Totals disagree", "Two sources of totals say different things. Both are kept.", judge.Unknown),
	doc("RC034", "Estimate", "The total is an estimate: it proves nothing, neither way.", judge.Unknown),
	doc("RC035", "Changed items", "Ids came again with other content; the first reading is kept.", judge.Unknown),
	doc("RC036", "Items without id", "Items without an id are known by their content only.", judge.Unknown),
	doc("RC037", "Skipping link", "The server's next position moved by more than it had given, and was corrected by what came where that can be. The end word of such a server is doubted.", judge.Unknown),
	doc("RC038", "Clamped size", "The server gives fewer items a page than asked. The walk counts by what came.", judge.Unknown),
	doc("RC039", "Seen through", "The source moved while it was read, and the run saw through it: borders verified, or a clean pass.", judge.Unknown),
	doc("RC040", "Own fault", "The run's own sink or store failed. What was held is kept, and the run can be resumed.", judge.Unknown),
	doc("RC041", "Sentinel", "What complete.sentinel says must be there is not: its item is not held, or its request gave too little or no whole answer.", judge.Unknown),
	doc("RC042", "Not fresh", "The newest item held is older than complete.freshness allows, or no item has a readable time.", judge.Unknown),
	doc("RC043", "Moved by the mark", "The mark of change (complete.still) changed or could not be read, while rows or pages were counted and the borders between them not shown to be whole.", judge.Unknown),
	doc("RC060", "Freshness gap", "Nothing is held, so that complete.freshness cannot tell how far behind the source is: the span is provisional.", judge.Unknown),
	doc("RC061", "Stood still", "The mark of change (complete.still) was the same before the first page and after the last: nothing moved.", judge.Unknown),
	doc("RC062", "Mark of change", "The mark of change (complete.still) changed under a walk that does not count rows, or could not be read, or stood still while a total moved. It proves nothing.", judge.Unknown),
}

func doc(id, title, text string, verdicts ...judge.Verdict) judge.RuleDoc {
	return judge.RuleDoc{ID: id, Layer: "run", Verdicts: verdicts, Title: title, Doc: text}
}
