package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// whole is a run that holds 250 of 250 items and has nothing to answer for.
func whole() reconcile.Facts {
	f := reconcile.Facts{HasIDs: true, Passes: 1, MaxDrift: 1, MaxFall: 50,
		Totals: observed(page(250, 100, 100, 0), page(250, 100, 100, 100), page(250, 50, 100, 200))}
	f.Distinct, f.Received, f.ReadBack = 250, 250, judge.N(250)
	return f
}

// ended is a run without a total that ended by the server's word.
func ended() reconcile.Facts {
	f := whole()
	f.Totals = reconcile.Totals{}
	f.EndReached, f.EndStrength, f.EndWord = true, reconcile.Declared, "the server says that there is no more"
	return f
}

// cut is a run of 250 items whose query without slices declares what was
// observed, and that was read in five slices, each counted by its own total.
func cut(totals reconcile.Totals, distinct int64, change func(*reconcile.Slices)) reconcile.Facts {
	f := whole()
	f.Totals, f.Distinct, f.Received, f.ReadBack, f.Reach = totals, distinct, distinct, judge.N(distinct), judge.N(100)
	f.Slices = &reconcile.Slices{Leaves: 5, Splits: 1, Weakest: reconcile.Counted}
	if change != nil {
		change(f.Slices)
	}
	return f
}

// A ruleCase lets one rule speak: what a run did, which verdict the rule must
// give, and which the run.
type ruleCase struct {
	id    string
	name  string
	facts reconcile.Facts
	says  judge.Verdict
	run   judge.Verdict
}

// with changes facts; it keeps the cases to a line or two each.
func with(f reconcile.Facts, change func(*reconcile.Facts)) reconcile.Facts {
	change(&f)
	return f
}

func stopped(why reconcile.Stop, more bool) reconcile.Facts {
	return with(whole(), func(f *reconcile.Facts) {
		f.Totals, f.Stop, f.StopText, f.MoreKnown = reconcile.Totals{}, why, "stopped here", more
	})
}

// turned is a reading of n items that is the first one from its other end.
func turned(n int64) *reconcile.Reading {
	return &reconcile.Reading{Reverse: true, Number: 2, Items: n, Before: n, Turned: n - 1}
}

// sized is a reading of n items in pages of 80, after one in pages of 100, both
// ended by the server's own word.
func sized(n int64) *reconcile.Reading {
	return &reconcile.Reading{Number: 2, Items: n, Before: n, Same: n - 1, Size: 80, SizeBefore: 100, Rows: 80, RowsBefore: 100, Said: true}
}

func ruleCases() []ruleCase {
	const u, tr, c = judge.Unknown, judge.Truncated, judge.Complete
	type F = reconcile.Facts
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	fresh := reconcile.Freshness{Path: "at", MaxAge: 2 * time.Hour, Start: start}
	return append(sliceCases(), []ruleCase{
		{"RC001", "all of the total", whole(), c, c},
		{"RC002", "one short", with(whole(), func(f *F) { f.Distinct, f.ReadBack = 249, judge.N(249) }), tr, tr},
		{"RC002", "below a lower bound", with(ended(), func(f *F) { f.Totals = observed(kindOf(judge.LowerBound, 251)) }), tr, tr},
		{"RC003", "a reach, with a total above it", with(whole(), func(f *F) {
			f.Totals = observed(page(900, 100, 100, 0))
			f.Stop, f.Reach, f.ReachText = reconcile.StopReach, judge.N(250), "page 4 is refused"
		}), tr, tr},
		{"RC003", "a reach, and nothing says that more is there", with(stopped(reconcile.StopReach, false), func(f *F) { f.Reach = judge.N(250) }), u, u},
		{"RC004", "one above", with(whole(), func(f *F) { f.Distinct, f.ReadBack = 251, judge.N(251) }), u, u},
		{"RC005", "a null in a list that counts", with(whole(), func(f *F) { f.Nulls = 1 }), u, u},
		{"RC006", "moved, a border not verified", with(whole(), func(f *F) {
			f.Movement = reconcile.Movement{Moved: 2, Shifts: 1, Unverified: 1}
			f.Everything = f.Movement
		}), u, u},
		{"RC006", "a total that fell and came back", with(whole(), func(f *F) {
			f.Totals, f.Distinct, f.ReadBack, f.MaxDrift = observed(page(251, 100, 100, 0), page(249, 100, 100, 100), page(251, 50, 100, 200)), 250, judge.N(250), 5
		}), u, u},
		{"RC006", "a total that goes to and fro between two values", with(whole(), func(f *F) {
			f.Totals = observed(page(253, 100, 100, 0), page(250, 100, 100, 100), page(253, 30, 100, 200), page(250, 20, 100, 230))
			f.PassTotals, f.PassItems, f.Anchored, f.MaxDrift = f.Totals, 251, true, 5
			f.Distinct, f.Received, f.ReadBack = 251, 251, judge.N(251)
			f.Movement = reconcile.Movement{Moved: 3}
			f.Everything = f.Movement
		}), u, u},
		{"RC001", "one that moves as far, by steps", with(whole(), func(f *F) {
			f.Totals = observed(page(253, 100, 100, 0), page(252, 100, 100, 100), page(253, 30, 100, 200), page(250, 20, 100, 230))
			f.PassTotals, f.PassItems, f.Anchored, f.MaxDrift = f.Totals, 251, true, 5
			f.Distinct, f.Received, f.ReadBack = 251, 251, judge.N(251)
			f.Movement = reconcile.Movement{Moved: 3}
			f.Everything = f.Movement
		}), c, c},
		{"RC006", "a clean pass to an unsaid end that came to fewer than are held", with(ended(), func(f *F) {
			f.EndStrength, f.Passes, f.PassItems = reconcile.Assumed, 2, 30
			f.Everything = reconcile.Movement{Shifts: 4}
		}), u, u},
		{"RC039", "one that came to all of them", with(ended(), func(f *F) {
			f.EndStrength, f.Passes, f.PassItems = reconcile.Assumed, 2, 250
			f.Everything = reconcile.Movement{Shifts: 4}
		}), u, c},
		{"RC001", "one that did by no more than the tolerance", with(whole(), func(f *F) {
			f.Totals, f.Distinct, f.ReadBack, f.MaxDrift = observed(page(251, 100, 100, 0), page(249, 100, 100, 100), page(251, 50, 100, 200)), 250, judge.N(250), 5
			f.Tolerance.Items = 1
		}), c, c},
		{"RC007", "no total, no end mark", stopped(reconcile.StopNotSaid, false), u, u},
		{"RC008", "a page came again", stopped(reconcile.StopLoop, false), u, u},
		{"RC009", "a page stayed half", with(whole(), func(f *F) {
			f.Stop, f.HalfLeft = reconcile.StopHalf, []string{"offset 100: body ended at 5 of 9 bytes"}
		}), tr, tr},
		{"RC010", "a broken continuation", with(whole(), func(f *F) { f.Stop, f.StopText = reconcile.StopBroken, "another origin" }), tr, tr},
		{"RC011", "a budget, and more is known", stopped(reconcile.StopBudget, true), tr, tr},
		{"RC011", "a budget", stopped(reconcile.StopBudget, false), u, u},
		{"RC011", "a budget that is just enough", with(whole(), func(f *F) { f.Stop = reconcile.StopBudget }), u, u},
		{"RC012", "items after the end", with(ended(), func(f *F) { f.Lied = "the end was said, and 5 items came after it" }), u, u},
		{"RC012", "no page past the end", with(ended(), func(f *F) { f.Unconfirmed = "the request past the end was not answered by a page" }), u, u},
		{"RC013", "items again, no total moved", with(ended(), func(f *F) {
			f.Movement = reconcile.Movement{Unstable: 3}
			f.Everything = f.Movement
		}), u, u},
		{"RC014", "an echo", with(ended(), func(f *F) { f.Totals = observed(page(100, 100, 100, 0), page(100, 100, 100, 100)) }), u, u},
		{"RC014", "a possible echo only informs", with(ended(), func(f *F) { f.Totals = observed(page(100, 100, 100, 0)) }), u, c},
		{"RC015", "ties", with(ended(), func(f *F) { f.Ties = "3 items share the key at a border" }), u, u},
		{"RC016", "a total that its pages deny", with(whole(), func(f *F) {
			f.Distinct, f.ReadBack, f.TotalWalks = 200, judge.N(200), true
		}), u, u},
		{"RC017", "a partial page stayed so", with(whole(), func(f *F) { f.PartialLeft = []string{"offset 0: timed_out is true"} }), tr, tr},
		{"RC018", "a row says that it was cut", with(whole(), func(f *F) { f.Notices = []string{"output truncated"} }), tr, tr},
		{"RC018", "the envelope says so", with(ended(), func(f *F) { f.Wording = []string{"only the first 250"} }), u, u},
		{"RC019", "one written too few", with(whole(), func(f *F) { f.ReadBack = judge.N(249) }), tr, tr},
		{"RC019", "one written too many", with(whole(), func(f *F) { f.ReadBack = judge.N(251) }), tr, tr},
		{"RC019", "a torn output", with(whole(), func(f *F) { f.SinkTorn = "line 250 is no JSON" }), tr, tr},
		{"RC020", "drift", with(whole(), func(f *F) { f.Totals = observed(page(240, 100, 100, 0), page(260, 100, 100, 100)) }), u, u},
		{"RC021", "another format, and more is known", stopped(reconcile.StopNoPage, true), tr, tr},
		{"RC021", "the first request", stopped(reconcile.StopFirst, false), u, u},
		{"RC022", "refused, and more is known", stopped(reconcile.StopRefused, true), tr, tr},
		{"RC022", "failed", stopped(reconcile.StopFault, false), u, u},
		{"RC023", "a dead position, and more is known", stopped(reconcile.StopExpired, true), tr, tr},
		{"RC023", "a dead position", stopped(reconcile.StopExpired, false), u, u},
		{"RC024", "declared where counted is required", with(ended(), func(f *F) { f.Require = reconcile.Counted }), u, u},
		{"RC025", "the filter was dropped", with(whole(), func(f *F) { f.Rejected = 2 }), u, u},
		{"RC026", "one id twice on one page", with(whole(), func(f *F) { f.SameID, f.Conflicts, f.Examples = 1, 1, []string{"7"} }), u, u},
		{"RC027", "fewer than complete.min_items", with(whole(), func(f *F) { f.MinItems = 251 }), u, u},
		{"RC027", "a fall", with(whole(), func(f *F) { f.LastComplete = judge.N(501) }), u, u},
		{"RC028", "a signal, and more is known", stopped(reconcile.StopSignal, true), tr, tr},
		{"RC028", "a wait too long", stopped(reconcile.StopWait, false), u, u},
		{"RC030", "a declared end", ended(), c, c},
		{"RC031", "an assumed end", with(ended(), func(f *F) { f.EndStrength = reconcile.Assumed }), c, c},
		{"RC032", "a collapse beside a declared end", with(ended(), func(f *F) {
			f.Totals = observed(kindOf(judge.Estimate, 900), reconcile.Observation{Kind: judge.Estimate, Distinct: 250})
		}), u, u},
		{"RC033", "totals that disagree", with(whole(), func(f *F) { f.Disagree = []string{"the body says 250, the header 251"} }), u, c},
		{"RC034", "an estimate", with(ended(), func(f *F) { f.Totals = observed(kindOf(judge.Estimate, 900)) }), u, c},
		{"RC035", "an item that changed", with(whole(), func(f *F) { f.Conflicts, f.Examples = 1, []string{"7"} }), u, c},
		{"RC036", "items without an id", with(whole(), func(f *F) { f.NoID = 3 }), u, c},
		{"RC037", "a skipping link", with(whole(), func(f *F) { f.Skips = 1 }), u, c},
		{"RC038", "a clamped size", with(whole(), func(f *F) { f.Clamped = 50 }), u, c},
		{"RC039", "moved, and seen through", with(whole(), func(f *F) {
			f.Movement = reconcile.Movement{Moved: 1, Shifts: 1}
			f.Everything = f.Movement
		}), u, c},
		{"RC041", "the item that must be there is not", with(whole(), func(f *F) { f.Sentinel = reconcile.Sentinel{Asked: true, Text: "the item 7 is not held"} }), u, u},
		{"RC041", "it was never looked for", with(ended(), func(f *F) { f.Sentinel.Asked = true }), u, u},
		{"RC042", "the newest item is too old", with(whole(), func(f *F) { f.Freshness, f.Newest = fresh, start.Add(-26*time.Hour) }), u, u},
		{"RC042", "a second too old", with(ended(), func(f *F) { f.Freshness, f.Newest = fresh, start.Add(-2*time.Hour-time.Second) }), u, u},
		{"RC042", "no item has a time", with(whole(), func(f *F) { f.Freshness = fresh }), u, u},
		{"RC043", "the mark changed over loose borders", with(ended(), func(f *F) {
			f.Movement = reconcile.Movement{Marked: 1}
			f.Everything, f.Still = f.Movement, reconcile.Still{Asked: true, Text: "from 7 to 8"}
		}), u, u},
		{"RC043", "and a total that did not move cannot count then", with(whole(), func(f *F) {
			f.Movement = reconcile.Movement{Marked: 1}
			f.Everything, f.Still = f.Movement, reconcile.Still{Asked: true, Text: "from 7 to 8"}
		}), u, u},
		{"RC013", "the mark stood still, and pages did not join", with(ended(), func(f *F) {
			f.Movement = reconcile.Movement{Shifts: 1}
			f.Everything, f.Still = f.Movement, reconcile.Still{Asked: true, Equal: true, Text: "7 both times"}
		}), u, u},
		{"RC045", "the same from both ends", with(stopped(reconcile.StopNotSaid, false), func(f *F) { f.Second = turned(250) }), c, c},
		{"RC045", "how the readings stopped does not matter then", with(stopped(reconcile.StopLoop, false), func(f *F) { f.Second = turned(250) }), c, c},
		{"RC045", "not even at a refusal", with(stopped(reconcile.StopRefused, false), func(f *F) { f.Second = turned(250) }), c, c},
		{"RC022", "but a refusal where more is known does", with(stopped(reconcile.StopRefused, true), func(f *F) { f.Second = turned(250) }), tr, tr},
		{"RC027", "and that there are too few does", with(stopped(reconcile.StopRefused, false), func(f *F) { f.MinItems, f.Second = 251, turned(250) }), u, u},
		{"RC024", "and counted is required", with(ended(), func(f *F) { f.Require, f.Second = reconcile.Counted, turned(250) }), u, u},
		{"RC005", "and one of them held a null", with(ended(), func(f *F) { f.Nulls, f.Second = 1, turned(250) }), u, u},
		{"RC002", "and a lower bound is above them", with(ended(), func(f *F) {
			f.Totals, f.Second = observed(kindOf(judge.LowerBound, 251)), turned(250)
		}), tr, tr},
		{"RC022", "another stop does matter", with(stopped(reconcile.StopFault, false), func(f *F) { f.Second = turned(250) }), u, u},
		{"RC045", "another size, and the server's word in both", with(ended(), func(f *F) { f.Second = sized(251) }), c, c},
		{"RC047", "another size, and the end is on the border of a page", with(ended(), func(f *F) { f.Second = sized(240) }), u, u},
		{"RC047", "another size, and the end is where servers cap", with(ended(), func(f *F) {
			f.Second = sized(250)
			f.Second.Size, f.Second.Rows = 60, 60
		}), u, u},
		{"RC047", "another size, and the end is a known reach", with(ended(), func(f *F) { f.Reach, f.Second = judge.N(251), sized(251) }), u, u},
		{"RC047", "another size, and the server says nothing", with(stopped(reconcile.StopNotSaid, false), func(f *F) { f.Second = sized(251) }), u, u},
		{"RC047", "another size, and the end is assumed", with(ended(), func(f *F) { f.EndStrength, f.Second = reconcile.Assumed, sized(251) }), u, u},
		{"RC047", "the server's word ended only one of them", with(ended(), func(f *F) {
			f.Second = sized(251)
			f.Second.Said = false
		}), u, u},
		{"RC047", "the other size is ignored", with(ended(), func(f *F) {
			f.Second = sized(251)
			f.Second.Rows = 100
		}), u, u},
		{"RC047", "the order is ignored", with(ended(), func(f *F) {
			f.Second = turned(250)
			f.Second.Same, f.Second.Turned = 249, 0
		}), u, u},
		{"RC047", "each page turned round by itself", with(ended(), func(f *F) {
			f.Second = turned(250)
			f.Second.Same, f.Second.Turned = 2, 247
		}), u, u},
		{"RC047", "one item", with(ended(), func(f *F) { f.Distinct, f.ReadBack, f.Second = 1, judge.N(1), turned(1) }), u, u},
		{"RC047", "the source still says that there is more", with(stopped(reconcile.StopNotSaid, true), func(f *F) { f.Second = turned(250) }), u, u},
		{"RC047", "an estimate far above", with(ended(), func(f *F) { f.Totals, f.Second = observed(kindOf(judge.Estimate, 533692)), turned(250) }), u, u},
		{"RC047", "it was refused", with(ended(), func(f *F) {
			f.Second = &reconcile.Reading{Reverse: true, Number: 2, Before: 250, Trouble: "status 400"}
		}), u, u},
		{"RC046", "the two ends of a capped list", with(ended(), func(f *F) {
			f.Distinct, f.ReadBack = 500, judge.N(500)
			f.Second = &reconcile.Reading{Reverse: true, Number: 2, Before: 250, Items: 250, New: 250}
		}), tr, tr},
		{"RC046", "the two ends of a capped list overlap", with(ended(), func(f *F) {
			f.Distinct, f.ReadBack = 350, judge.N(350)
			f.Second = &reconcile.Reading{Reverse: true, Number: 2, Before: 250, Items: 250, New: 100, Turned: 149}
		}), u, u},
		{"RC046", "found more", with(ended(), func(f *F) { f.Second = &reconcile.Reading{Number: 2, Before: 246, Items: 250, New: 4, Size: 5} }), u, u},
		{"RC046", "missed one", with(ended(), func(f *F) { f.Second = &reconcile.Reading{Number: 2, Before: 250, Items: 249, Size: 5} }), u, u},
		{"RC060", "nothing held", with(ended(), func(f *F) { f.Freshness, f.Distinct, f.ReadBack = fresh, 0, judge.N(0) }), u, c},
		{"RC061", "the mark stood still", with(ended(), func(f *F) { f.Still = reconcile.Still{Asked: true, Equal: true, Text: "7 both times"} }), u, c},
		{"RC066", "total.path is misspelt", with(ended(), func(f *F) { f.NoTotal, f.TotalLike = `total.path "totl"`, []string{"total = 250"} }), u, c},
		{"RC062", "the mark changed under verified borders", with(ended(), func(f *F) { f.Still = reconcile.Still{Asked: true, Text: "from 7 to 8"} }), u, c},
		{"RC062", "the mark stood still and the total moved", with(whole(), func(f *F) {
			f.Movement = reconcile.Movement{Moved: 1, Unverified: 1}
			f.Everything, f.Still = f.Movement, reconcile.Still{Asked: true, Equal: true, Text: "7 both times"}
		}), u, u},
		{"RC039", "the mark changed in the first pass and not in the second", with(ended(), func(f *F) {
			f.Passes, f.Everything = 2, reconcile.Movement{Marked: 1}
			f.Still = reconcile.Still{Asked: true, Equal: true, Text: "8 both times"}
		}), u, c},
		{"RC001", "what must be there is, and the newest item is fresh", with(whole(), func(f *F) {
			f.Sentinel = reconcile.Sentinel{Asked: true, OK: true}
			f.Freshness, f.Newest = fresh, start.Add(-2*time.Hour)
		}), c, c},
		{"RC011", "a budget before the sentinel could be asked", with(stopped(reconcile.StopBudget, false), func(f *F) { f.Sentinel.Asked = true }), u, u},
		{"RC069", "an incremental run", with(whole(), func(f *F) { f.Asked = []string{"asked for what is new since 2026-11-30"} }), u, c},
		{"TR006", "the judge's suspicion of a cap", with(stopped(reconcile.StopNotSaid, false), func(f *F) { f.Suspicion = "100 items, a common cap" }), u, u},
	}...)
}

func sliceCases() []ruleCase {
	const u, tr, c = judge.Unknown, judge.Truncated, judge.Complete
	type (
		S = reconcile.Slices
		F = reconcile.Facts
	)
	none := reconcile.Totals{}
	still, moved := observed(page(250, 100, 100, 0), requested(250, 250)), observed(page(250, 100, 100, 0), requested(252, 250))
	grown := observed(page(250, 100, 100, 0), requested(300, 280))
	same, apart := func(s *S) { s.Outside = judge.N(0) }, func(s *S) { s.Outside = judge.N(3) }
	only, all := func(s *S) { s.RangeOnly = true }, func(s *S) { s.Everything = true }
	one := func(change ...func(*S)) func(*S) {
		return func(s *S) {
			for _, f := range change {
				f(s)
			}
		}
	}
	doubtful := func(s *S) { s.OpenCount, s.Open = 1, []string{"id [0, 9) is UNKNOWN: no end mark"} }
	lost := func(s *S) { doubtful(s); s.Lost = true }
	halved := func(s *S) { s.Halved, s.Parts, s.Fresh = true, 2, 0 }
	between, blind := func(s *S) { s.Between = 2 }, func(s *S) { s.Blind = true }
	declared := func(s *S) { s.Weakest = reconcile.Declared }
	within := func(f reconcile.Facts, items int64) reconcile.Facts {
		f.Tolerance.Items = items
		return f
	}
	return []ruleCase{
		{"RC050", "slices beside a whole that counts", cut(still, 250, nil), c, c},
		{"RC001", "the whole counts", cut(still, 250, nil), c, c},
		{"RC063", "it is said how many", cut(still, 250, nil), u, c},
		{"RC050", "nothing can lie outside, and no total is there", cut(none, 250, one(all, declared)), c, c},
		{"RC024", "and they are as strong as the weakest", with(cut(none, 250, one(all, declared)), func(f *F) { f.Require = reconcile.Counted }), u, u},
		{"RC050", "only the range, and no total", cut(none, 250, one(only, declared)), c, c},
		{"RC064", "only the range, and it is said what else there is", cut(still, 250, one(only, func(s *S) { s.Beyond = judge.N(1) })), u, c},
		{"RC051", "an irreducible slice, though the whole counts", cut(still, 250, func(s *S) { s.Irreducible, s.Dense = 1, []string{"id [7, 8) holds 120 items and hands out 100"} }), tr, tr},
		{"RC051", "more of them than are named", cut(none, 250, one(all, func(s *S) { s.Irreducible = 25 })), tr, tr},
		{"RC052", "a slice lost something, though the whole counts", cut(still, 250, lost), tr, tr},
		{"RC052", "a slice lost something, and the tolerance is wide", within(cut(still, 250, lost), 50), tr, tr},
		{"RC052", "a slice in doubt, and no total", cut(none, 250, one(all, doubtful)), u, u},
		{"RC052", "a slice in doubt, and the total of the whole moved", cut(moved, 250, one(same, doubtful)), u, u},
		{"RC001", "a slice in doubt, and the whole counts", cut(still, 250, doubtful), c, c},
		{"RC052", "more in doubt than are named", cut(none, 250, one(only, func(s *S) { s.OpenCount = 30 })), u, u},
		{"RC052", "slices that lack more together than the tolerance of the run", within(cut(none, 250, one(all, func(s *S) { s.Lacking = 6 })), 5), tr, tr},
		{"RC050", "slices that lack no more than that", within(cut(none, 250, one(all, func(s *S) { s.Lacking = 5 })), 5), c, c},
		{"RC053", "every slice is whole, and the whole has more", cut(still, 247, nil), tr, tr},
		{"RC053", "one, and the total moved", cut(moved, 250, func(s *S) { s.Outside = judge.N(1) }), tr, tr},
		{"RC053", "outside by a comparison, though as many are held as the whole declares", cut(moved, 252, apart), tr, tr},
		{"RC001", "outside of the slices, and held by the first walk", cut(still, 250, apart), c, c},
		{"RC053", "more outside than the tolerance", within(cut(moved, 250, apart), 2), tr, tr},
		{"RC001", "outside, within the tolerance", within(cut(moved, 249, apart), 3), c, c},
		{"RC001", "short by as many as the tolerance allows", within(cut(still, 247, nil), 3), c, c},
		{"RC054", "a range short of its own total", cut(still, 250, func(s *S) { s.Short = []string{"id [0, 99) declares 80 items, and its slices hold 79"} }), tr, tr},
		{"RC054", "a range whose own total moved", cut(moved, 250, one(same, func(s *S) { s.Unsure = []string{"id [0, 99) declares 80 items, and its slices hold 79"} })), u, u},
		{"RC055", "the parameters are ignored", cut(still, 250, func(s *S) { s.Ignored = "3 slices declare 900 together" }), tr, tr},
		{"RC055", "items that stray", cut(moved, 250, one(same, func(s *S) { s.Strays = 2 })), u, u},
		{"RC050", "a whole that ended by its own word, and slices that brought nothing new", cut(none, 250, halved), c, c},
		{"RC056", "and held items are in no slice any more", cut(none, 250, one(halved, func(s *S) { s.Stirred = true })), u, u},
		{"RC056", "nothing counts the outside", cut(none, 250, nil), u, u},
		{"RC056", "the total moved, and no moment could be compared", cut(moved, 251, nil), u, u},
		{"RC056", "as many are held as were ever declared, and what went may hide what is outside", cut(moved, 252, nil), u, u},
		{"RC056", "the whole counts what is held, perhaps by chance", cut(still, 250, func(s *S) { s.Stirred = true }), u, u},
		{"RC001", "it stirred, and nothing can lie outside", cut(observed(page(250, 100, 100, 0)), 250, func(s *S) { s.Stirred = true; s.Everything = true }), c, c},
		{"RC056", "all that can be asked for moved, and was not compared", cut(moved, 260, all), u, u},
		{"RC057", "they do not tile", cut(still, 250, func(s *S) { s.Untiled = "the slices of id [0, 99) leave a gap" }), u, u},
		{"RC057", "keys between the bounds, and no total", cut(none, 250, one(all, between)), u, u},
		{"RC057", "keys between the bounds, and a total that moved", cut(moved, 250, one(same, between)), u, u},
		{"RC057", "keys that do not show, under closed bounds", cut(none, 250, one(only, blind)), u, u},
		{"RC001", "keys between the bounds, and the whole counts", cut(still, 250, between), c, c},
		{"RC002", "keys between the bounds, and the whole is short at one moment too", cut(still, 249, one(same, between)), tr, tr},
		{"RC002", "keys that do not show, and the whole is short", cut(still, 249, one(same, blind)), tr, tr},
		{"RC065", "fewer than the whole declared, and nothing outside at one moment", cut(moved, 249, one(same, func(s *S) { s.InRange = judge.N(249) })), u, c},
		{"RC056", "fewer than what was asked for holds at that moment", cut(moved, 249, same), u, u},
		{"RC054", "an answer beside the slices shows an item of the range", cut(still, 120, func(s *S) { s.Missed = 1 }), tr, tr},
		{"RC054", "the same, of a source that moved", cut(moved, 250, one(same, func(s *S) { s.Missed = 2 })), u, u},
		{"RC054", "held items that no slice gave", cut(moved, 250, func(s *S) { s.Vanished = 2 }), u, u},
		{"RC065", "more than it declared", cut(moved, 253, same), u, c},
		{"RC065", "it moved by more than may count", cut(grown, 280, same), u, c},
		{"RC020", "it moved by more than may count, and nothing was compared", cut(grown, 280, nil), u, u},
		{"RC002", "compared, and a slice in doubt", cut(moved, 249, one(same, doubtful)), tr, tr},
		{"RC002", "compared, and a range is unsure", cut(moved, 249, one(same, func(s *S) { s.Unsure = []string{"so"} })), tr, tr},
		{"RC002", "compared, and slices that only declare their end", cut(moved, 249, one(same, declared)), tr, tr},
		{"RC002", "compared, and items that stray", cut(moved, 249, one(same, func(s *S) { s.Strays = 1 })), tr, tr},
		{"RC052", "slices were left", cut(moved, 250, one(same, func(s *S) { s.Left = 3 })), u, u},
		{"RC011", "stopped with slices left", with(cut(still, 120, func(s *S) { s.Left = 3 }), func(f *F) { f.Stop, f.MoreKnown = reconcile.StopBudget, true }), tr, tr},
	}
}

func TestRules(t *testing.T) {
	for _, c := range ruleCases() {
		t.Run(c.id+" "+c.name, func(t *testing.T) {
			r := reconcile.Rule(c.facts)
			if r.Verdict != c.run {
				t.Errorf("the run is %v, want %v: %v", r.Verdict, c.run, r.Evidence)
			}
			i := slices.IndexFunc(r.Evidence, func(e reconcile.Evidence) bool { return e.ID == c.id })
			switch {
			case i < 0:
				t.Fatalf("it does not speak: %v", r.Evidence)
			case r.Evidence[i].Verdict != c.says:
				t.Errorf("it says %v, want %v", r.Evidence[i].Verdict, c.says)
			case strings.Contains(r.Evidence[i].Text, "%!"):
				t.Errorf("a broken text: %s", r.Evidence[i].Text)
			}
		})
	}
}

// spokenElsewhere are rules of the table that Rule never speaks, with who
// does: they are about a run that did not come as far as a ruling.
var spokenElsewhere = map[string]string{
	"RC040": "internal/pull, where the sink or the store failed",
	"RC048": "Combine", "RC049": "Combine", "RC068": "Combine",
}

// Every rule of the table has a case for each verdict that it documents, every
// case is documented, and ids are in order and never given twice.
func TestRulesAreAllCovered(t *testing.T) {
	said := map[string][]judge.Verdict{}
	for _, c := range ruleCases() {
		said[c.id] = append(said[c.id], c.says)
	}
	documented := map[string][]judge.Verdict{}
	before := ""
	for _, d := range reconcile.Table {
		documented[d.ID] = d.Verdicts
		if d.ID <= before {
			t.Errorf("%s stands after %s", d.ID, before)
		}
		before = d.ID
		if d.Title == "" || d.Doc == "" || d.Layer == "" {
			t.Errorf("%s is not documented", d.ID)
		}
		if spokenElsewhere[d.ID] != "" {
			if said[d.ID] != nil {
				t.Errorf("%s has a case, and is said to be spoken elsewhere", d.ID)
			}
			continue
		}
		for _, v := range d.Verdicts {
			if !slices.Contains(said[d.ID], v) {
				t.Errorf("no case lets %s say %v", d.ID, v)
			}
		}
	}
	for id, verdicts := range said {
		if strings.HasPrefix(id, "TR") {
			continue // a rule of package judge
		}
		for _, v := range verdicts {
			if !slices.Contains(documented[id], v) {
				t.Errorf("%s says %v, and its documentation does not", id, v)
			}
		}
	}
}

// The report of a slice that lacks something says how much may be missing.
func TestSlicesWithinTheTolerance(t *testing.T) {
	f := cut(reconcile.Totals{}, 250, func(s *reconcile.Slices) { s.Everything, s.Lacking = true, 4 })
	f.Tolerance.Items = 5
	r := reconcile.Rule(f)
	if r.Verdict != judge.Complete || r.Missing == nil || *r.Missing != 4 || !strings.Contains(r.Evidence[0].Text, "up to 4 may be missing") {
		t.Errorf("%s, missing %v: %v", r.Verdict, r.Missing, r.Evidence)
	}
}

// RC065 speaks where nothing else doubts, and nowhere else; the outside is spoken
// of only once.
func TestSlicesSayOneThing(t *testing.T) {
	for _, c := range sliceCases() {
		r := reconcile.Rule(c.facts)
		if speaks(r, "RC065") && (r.Verdict != judge.Complete || speaks(r, "RC002") || speaks(r, "RC053")) {
			t.Errorf("%s: RC065 speaks in a run that is %s: %v", c.name, r.Verdict, r.Evidence)
		}
		if speaks(r, "RC053") && speaks(r, "RC056") {
			t.Errorf("%s: %v", c.name, r.Evidence)
		}
		if c.facts.Slices.RangeOnly != speaks(r, "RC064") {
			t.Errorf("%s: slice.covers: range %v, and %v", c.name, c.facts.Slices.RangeOnly, r.Evidence)
		}
		if !speaks(r, "RC063") {
			t.Errorf("%s: it is not said how many slices: %v", c.name, r.Evidence)
		}
	}
}

// A limit that nobody asked for is called the default.
func TestFallByDefault(t *testing.T) {
	for said, want := range map[bool]string{true: "complete.max_fall (50 %)", false: "complete.max_fall (50 %, the default)"} {
		r := reconcile.Rule(with(whole(), func(f *reconcile.Facts) { f.LastComplete, f.FallSaid = judge.N(501), said }))
		if !strings.Contains(r.Evidence[0].Text, want) {
			t.Errorf("%v: %q does not hold %q", said, r.Evidence[0].Text, want)
		}
	}
}

// A rule that only informs changes no verdict: RC032 to RC039 and those from RC060 on stand in runs
// that are COMPLETE.
func TestInforms(t *testing.T) {
	for _, d := range reconcile.Table {
		want := d.ID >= "RC032" && (d.ID < "RC040" || d.ID >= "RC060")
		if got := reconcile.Informs(d.ID); got != want {
			t.Errorf("%s: informs %v, want %v", d.ID, got, want)
		}
	}
	if reconcile.Informs("TR006") {
		t.Error("TR006 is a suspicion, and it informs")
	}
}

// What decided the verdict stands first.
func TestEvidenceOrder(t *testing.T) {
	f := with(ended(), func(f *reconcile.Facts) {
		f.Nulls, f.Skips = 1, 1
		f.Notices = []string{"output truncated"}
	})
	var got []string
	for _, e := range reconcile.Rule(f).Evidence {
		got = append(got, e.ID)
	}
	if want := []string{"RC018", "RC005", "RC030", "RC037"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The evidence is a list even where it is empty, for it is written as JSON.
func TestEvidenceIsNeverNil(t *testing.T) {
	if r := reconcile.Rule(reconcile.Facts{}); r.Evidence == nil || r.Advice == nil || r.Verdict != judge.Unknown || !speaks(r, "RC007") {
		t.Errorf("no facts at all: %+v", r)
	}
}

func TestStops(t *testing.T) {
	var resumable []string
	seen := map[string]bool{}
	for s := reconcile.StopEnd; s <= reconcile.StopNotSaid; s++ {
		if seen[s.String()] || s.String() == "stop" {
			t.Errorf("stop %d has no name of its own: %s", s, s)
		}
		seen[s.String()] = true
		if s.Resumable() {
			resumable = append(resumable, s.String())
		}
	}
	if want := []string{"budget", "signal", "max_wait", "fault"}; !slices.Equal(resumable, want) {
		t.Errorf("resumable are %v, want %v", resumable, want)
	}
}

func TestStrengthNames(t *testing.T) {
	for s := reconcile.Assumed; s <= reconcile.Counted; s++ {
		text, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var back reconcile.Strength
		if err := back.UnmarshalJSON(text); err != nil || back != s {
			t.Errorf("%s comes back as %v, %v", text, back, err)
		}
	}
	for _, name := range []string{"", "none", "Counted", "counted "} {
		if s, ok := reconcile.ParseStrength(name); ok {
			t.Errorf("%q is read as %v", name, s)
		}
	}
}

// What the figures of complete.freshness say.
func TestFreshnessSaysTheFigures(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f := with(whole(), func(f *reconcile.Facts) {
		f.Freshness = reconcile.Freshness{Path: "at", MaxAge: 72 * time.Hour, Start: start}
		f.Newest = start.Add(-100*time.Hour - 90*time.Second)
	})
	want := "the newest item held is of 2026-02-25T07:58:30Z, 4d4h1m30s before the start of the run: more than complete.freshness allows (3d)"
	if got := reconcile.Rule(f).Evidence[0].Text; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
