package simtest

import "lastdrop/internal/sim"

// Case is a report from the field as a Sim, with what an honest client may say
// of it. The ids are those of the field reports.
type Case struct {
	ID string
	// Why is the report in one line.
	Why string
	New func() *sim.Sim
	// Start is the page size that the client begins with; 0 is the API's own.
	Start int
	// Verdict is the right one; Distinct the number of items that a run holds
	// at the end, -1 where the report leaves that open.
	Verdict  string
	Distinct int
}

// Field lists the reports about HTTP sources.
func Field() []Case {
	var out []Case
	for _, part := range [][]Case{shortBodies(), errors200(), caps(), falseEnds(), sizes(), drifts(), orders(), loops(), others()} {
		out = append(out, part...)
	}
	return out
}

const (
	complete  = "COMPLETE"
	truncated = "TRUNCATED"
	unknown   = "UNKNOWN"
)

// at is a match for one offset.
func at(offset int, attempts ...int) sim.Match {
	m := sim.Match{From: offset, To: offset, Attempts: attempts}
	if offset == 0 {
		m = sim.Match{Page: 1, Attempts: attempts}
	}
	return m
}

// api is an API of a style with items at a path.
func api(style sim.Style, items string, size, most int) sim.API {
	a := sim.API{Style: style, Items: items}
	a.Size.Default, a.Size.Max = size, most
	if style == sim.Page || style == sim.Link {
		a.FirstPage = 1
	}
	return a
}

// counted adds an exact total.
func counted(a sim.API, path string) sim.API {
	a.Total = sim.TotalRule{Kind: sim.TotalExact, Path: path}
	return a
}

// offsetAPI is an offset API with an exact total.
func offsetAPI(size, most int) sim.API { return counted(api(sim.Offset, "items", size, most), "total") }

// pageAPI is a page API with an exact total.
func pageAPI(size, most int) sim.API { return counted(api(sim.Page, "items", size, most), "total") }

// cursorAPI is a cursor API whose token stands at a path.
func cursorAPI(size, most int, path string, end sim.EndForm) sim.API {
	a := api(sim.Cursor, "items", size, most)
	a.Token = sim.TokenRule{Path: path, End: end}
	return a
}

// nextAPI is an API with next URLs.
func nextAPI(size, most int, path string, end sim.EndForm) sim.API {
	a := api(sim.NextURL, "items", size, most)
	a.Next = sim.NextRule{Path: path, End: end}
	return a
}

// quiet is a Sim over n items with integer ids.
func quiet(n int, a sim.API, faults ...sim.Fault) func() *sim.Sim {
	return func() *sim.Sim { return sim.New(sim.NewWorld(n, sim.IntID), a, 1, faults...) }
}

func fault(m sim.Match, e sim.Effect) sim.Fault { return sim.Fault{Match: m, Effect: e} }

func always(e sim.Effect) sim.Fault { return sim.Fault{Effect: e} }

// padded is quiet with filler in every item.
func padded(n, payload int, a sim.API, faults ...sim.Fault) func() *sim.Sim {
	return func() *sim.Sim {
		w := sim.NewWorld(n, sim.IntID)
		w.Payload = payload
		return sim.New(w, a, 1, faults...)
	}
}

// ending is a Sim whose API documents ends.
func ending(make func() *sim.Sim, ends ...string) func() *sim.Sim {
	return func() *sim.Sim {
		s := make()
		s.Contract.Ends = ends
		return s
	}
}

// formatted is a single API of a format.
func formatted(f sim.Format) sim.API { return sim.API{Style: sim.Single, Format: f} }

func shortBodies() []Case {
	flagged := offsetAPI(100, 0)
	flagged.Extra = []sim.Extra{{Path: "truncated", JSON: "false"}}
	return []Case{
		{"B001", "half a body against its declared length, once", quiet(50, offsetAPI(20, 100),
			fault(at(20, 1), sim.Half{Framing: sim.ByLength})), 20, complete, 50},
		{"B002", "the same for good above a size, on HTTP/2 with a clean end", quiet(30, offsetAPI(10, 0),
			fault(sim.Match{SizeOver: 5, From: 10}, sim.Half{Framing: sim.ByLength})), 10, complete, 30},
		{"B007", "a second JSON document behind the first", quiet(10, sim.API{Style: sim.Single},
			always(sim.Trailing{Text: `{"more":true}`})), 0, truncated, -1},
		{"B008", "close-delimited lines that stop after a whole one", quiet(1000, formatted(sim.NDJSON),
			always(sim.Lines{Keep: 640}), always(sim.Frame{Framing: sim.ByClose})), 0, unknown, 640},
		{"B010", "a truncated flag that says false on a cut body", padded(200, 900, flagged,
			fault(sim.Match{SizeOver: 80}, sim.Half{Framing: sim.Rewritten, At: 82_993})), 100, complete, 200},
		{"B011", "every byte, and then a reset", quiet(40, offsetAPI(20, 0), fault(at(20), sim.ResetAfter{})), 20, complete, 40},
	}
}

func errors200() []Case {
	single := api(sim.Single, "elements", 0, 0)
	return []Case{
		{"B013", "an empty list with a remark that the query timed out", quiet(500, single,
			always(sim.Beside{Path: "remark", JSON: `"runtime error: query timed out"`, Hollow: true})), 0, unknown, 0},
		{"B014", "an empty list and nothing else", quiet(500, single, always(sim.Keep{})), 0, unknown, 0},
		{"B016", "timed_out with every shard counted as successful", quiet(600, offsetAPI(1000, 0),
			fault(sim.Match{SizeOver: 200}, sim.Partial{Kind: "timed_out", Keep: 410, Total: true})), 1000, complete, 600},
		{"B017", "three of four shards, none failed, no hits", quiet(900, offsetAPI(100, 0),
			always(sim.Partial{Kind: "shards", Total: true})), 100, truncated, 0},
	}
}

func falseEnds() []Case {
	masked := cursorAPI(5, 0, "nextPageToken", sim.EndAbsent)
	masked.Params.Fields = "fields"
	phases := cursorAPI(128, 0, "snapshot_cursor", sim.EndNull)
	phases.Extra = []sim.Extra{{Path: "deltas.has_more", JSON: "false"}}
	attrs := api(sim.Link, "", 20, 0)
	attrs.Links = sim.LinkRule{Form: sim.LinkUnquoted, Others: true}
	broken := api(sim.Link, "", 20, 0)
	headers := api(sim.Cursor, "", 100, 100)
	headers.Params.Cursor, headers.FirstPage = "page", 1
	headers.Token = sim.TokenRule{Kind: sim.TokenPage, Header: "X-Next-Page", End: sim.EndEmpty}
	headers.Total = sim.TotalRule{Kind: sim.TotalExact, Header: "X-Total", AbsentOver: 10_000}
	planned := cursorAPI(50, 0, "next", sim.EndAbsent)
	planned.Plan = []int{15, 0, 0, 0, 12, 0, 0, 0, 0, 10}
	cosmos := cursorAPI(100, 0, "continuation", sim.EndAbsent)
	cosmos.Plan = []int{0, 10, 0, 0, 12, 0}
	window := sim.API{Style: sim.Single, Items: "lines", Filter: sim.FilterRule{From: "start", To: "end"}}
	return []Case{
		{"B035", "an empty feed in the middle, twice, with the total as before", quiet(1200, offsetAPI(100, 0),
			fault(at(600, 1, 2), sim.Empty{})), 100, complete, 1200},
		{"B037", "empty pages with a token in between", ending(quiet(37, planned), "absent_continuation"), 0, complete, 37},
		{"B040", "a field mask that hides the token", quiet(11, masked), 5, complete, 11},
		{"B041", "a Link with an attribute behind an unquoted relation", quiet(45, attrs), 20, complete, 45},
		{"B041b", "a Link without its opening bracket", quiet(45, broken, fault(sim.Match{Page: 2}, sim.BadLink{})), 20, truncated, 40},
		{"B043", "two walks in one, of which one has nothing", quiet(1773, phases), 128, complete, 1773},
		{"B047", "totals vanish above 10,000", quiet(10_400, headers), 100, complete, 10_400},
		{"B049", "a 502 for good on page three", quiet(250, nextAPI(50, 0, "next", sim.EndNull),
			fault(sim.Match{Page: 3}, sim.Status{Code: 502})), 50, truncated, 100},
		{"B050", "a 404 on page three", quiet(125, nextAPI(25, 0, "next", sim.EndNull),
			fault(sim.Match{Page: 3}, sim.Status{Code: 404})), 25, truncated, 50},
		{"B052", "a wide range gives less than its parts", quiet(1767, window, fault(sim.Match{Wide: 1 << 30}, sim.Keep{Items: 674})), 0, unknown, -1},
		{"B095", "an empty first page with a token", ending(quiet(22, cosmos), "absent_continuation"), 0, complete, 22},
	}
}
