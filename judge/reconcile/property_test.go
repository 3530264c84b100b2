package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// randomFacts draws facts in which most troubles are rare, so that runs reach
// every verdict.
func randomFacts(r *rand.Rand) reconcile.Facts {
	rare := func() bool { return r.IntN(25) == 0 }
	few := func() int64 {
		if rare() {
			return 1 + r.Int64N(3)
		}
		return 0
	}
	text := func(s string) string {
		if rare() {
			return s
		}
		return ""
	}
	list := func(s string) []string {
		if rare() {
			return []string{s}
		}
		return nil
	}
	f := reconcile.Facts{HasIDs: r.IntN(3) > 0, Passes: 1 + r.IntN(2), MaxDrift: []float64{1, 100}[r.IntN(2)], MaxFall: 50,
		Require: reconcile.Strength(r.IntN(5)), Conflicts: few(), SameID: few(), TotalWalks: rare(), MoreKnown: rare(),
		Lied: text("lied"), Unconfirmed: text("not confirmed"), HalfLeft: list("half"), PartialLeft: list("partial"), Wording: list("only the first"),
		Notices: list("cut"), Ties: text("ties"), Suspicion: text("a cap"), Disagree: list("two totals"), SinkTorn: text("torn"), MinItems: 50 * few(), Clamped: int(few())}
	size := 1 + r.Int64N(300)
	f.Distinct = max(0, size-few()+few())
	f.Received, f.Nulls, f.Rejected, f.NoID = f.Distinct+few(), few(), few(), few()
	for n, held := r.IntN(4), int64(0); n > 0; n-- {
		kind := judge.Exact
		if rare() {
			kind = []judge.TotalKind{judge.LowerBound, judge.Estimate}[r.IntN(2)]
		}
		items := int(min(100, size))
		if rare() {
			items = 0
		}
		f.Totals.Observe(reconcile.Observation{Value: size + few() - few(), Kind: kind, Items: items, Asked: 100, Distinct: held, Fresh: items, Requested: r.IntN(3) == 0})
		held += int64(items)
	}
	f.PassTotals, f.PassItems, f.PassNew = f.Totals, f.Distinct-few(), few()
	f.Movement = reconcile.Movement{Shifts: int(few()), Unverified: int(few()), Unstable: few(), Moved: f.Totals.Moved}
	if rare() {
		f.Movement.Marked = 1
	}
	f.Everything = f.Movement
	f.Still = reconcile.Still{Asked: rare(), Equal: rare(), Text: "the mark"}
	f.Sentinel = reconcile.Sentinel{Asked: rare(), OK: rare(), Text: text("no sentinel")}
	if rare() {
		f.Freshness = reconcile.Freshness{Path: "at", MaxAge: time.Hour, Start: time.Unix(1e9, 0)}
		f.Newest = time.Unix(1e9-r.Int64N(7200), 0)
	}
	if rare() {
		f.Everything.Unverified++
	}
	if r.IntN(4) == 0 {
		f.Stop, f.StopText = reconcile.Stop(r.IntN(int(reconcile.StopNotSaid)+1)), "stopped here"
	}
	if f.Stop == reconcile.StopReach || rare() {
		f.Reach = judge.N(f.Distinct)
	}
	if r.IntN(2) == 0 {
		f.EndReached, f.EndStrength, f.EndWord = true, reconcile.Strength(r.IntN(4)), "the end"
	}
	if rare() {
		f.Tolerance = reconcile.Tolerance{Items: r.Int64N(3), Percent: r.Float64()}
	}
	if r.IntN(3) > 0 {
		f.ReadBack = judge.N(f.Distinct - few())
	}
	if r.IntN(5) == 0 {
		f.Second = &reconcile.Reading{Reverse: r.IntN(2) == 0, Number: 2 + r.IntN(2), Items: f.Distinct, Before: f.Distinct - few(), New: few(),
			Same: few(), Size: 80, SizeBefore: 100, Rows: 80, RowsBefore: 100, Said: r.IntN(2) == 0, Trouble: text("it was refused")}
		f.Second.Turned = max(0, f.Distinct-1-few())
	}
	if rare() {
		f.LastComplete = judge.N(r.Int64N(900))
	}
	if r.IntN(4) == 0 {
		f.Slices = &reconcile.Slices{
			Leaves: 5, Splits: 2, Irreducible: int(few()), Left: int(few()), OpenCount: int(few()), Short: list("short"), Unsure: list("unsure"), Ignored: text("ignored"),
			Untiled: text("a gap"), Strays: few(), Between: few(), Blind: rare(), Stirred: rare(), Lacking: few(), RangeOnly: rare(), Everything: r.IntN(2) == 0,
			Weakest: reconcile.Strength(1 + r.IntN(4)), Outside: judge.Count{OK: r.IntN(2) == 0, N: few()},
		}
		f.Slices.Lost = f.Slices.OpenCount > 0 && r.IntN(2) == 0
		f.EndReached, f.EndStrength, f.Movement, f.Everything = false, reconcile.None, reconcile.Movement{}, reconcile.Movement{}
	}
	return f
}

// COMPLETE needs a positive finding that is strong enough, and no finding of
// loss, neither in the report nor in the facts themselves.
func TestCompleteNeedsEvidence(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	reached := map[judge.Verdict]int{}
	for i := range 2000 {
		f := randomFacts(r)
		ruling := reconcile.Rule(f)
		reached[ruling.Verdict]++
		found := map[judge.Verdict]int{}
		for _, e := range ruling.Evidence {
			found[e.Verdict]++
			if e.Text == "" {
				t.Errorf("facts %d: %s says nothing", i, e.ID)
			}
			if spokenElsewhere[e.ID] != "" {
				t.Errorf("facts %d: Rule speaks %s", i, e.ID)
			}
		}
		if (ruling.Verdict == judge.Truncated) != (found[judge.Truncated] > 0) {
			t.Errorf("facts %d: %v with %d findings of loss: %v", i, ruling.Verdict, found[judge.Truncated], ruling.Evidence)
		}
		if ruling.Verdict != judge.Complete {
			if ruling.Strength != reconcile.None {
				t.Errorf("facts %d: %v with strength %v", i, ruling.Verdict, ruling.Strength)
			}
			continue
		}
		if found[judge.Complete] == 0 || ruling.Strength == reconcile.None || ruling.Strength < f.Require {
			t.Errorf("facts %d: COMPLETE, strength %v of %v, %v", i, ruling.Strength, f.Require, ruling.Evidence)
		}
		if why := against(f); why != "" {
			t.Errorf("facts %d: COMPLETE, and %s\n%+v\n%v", i, why, f, ruling.Evidence)
		}
	}
	for _, v := range []judge.Verdict{judge.Complete, judge.Truncated, judge.Unknown} {
		if reached[v] < 100 {
			t.Errorf("only %d of the random facts are %v: the test looks at too little", reached[v], v)
		}
	}
	t.Log(reached)
}

// against says what in the facts speaks against COMPLETE, whatever else they
// say. It is written from the contract, without a look at the rules.
func against(f reconcile.Facts) string {
	tolerated := f.Tolerance.Of(f.Totals.Max)
	switch {
	case len(f.HalfLeft) > 0, len(f.PartialLeft) > 0, len(f.Notices) > 0:
		return "a page is half, partial or says that it was cut"
	case f.SinkTorn != "", f.ReadBack.OK && f.ReadBack.N != f.Distinct:
		return "the output is not what was held"
	case f.Nulls > 0, f.Rejected > 0, f.SameID > 0:
		return "nulls, items that fail the check, or ids that are none"
	case f.Distinct < f.Totals.LowerBound:
		return "a lower bound is above what is held"
	case f.Totals.Believed() && f.Distinct < f.Totals.Min-tolerated && (f.Slices == nil || f.Slices.Outside != judge.N(0)):
		return "the least total is above what is held"
	case f.Distinct < f.MinItems:
		return "complete.min_items is above what is held"
	case f.Sentinel.Asked && !f.Sentinel.OK:
		return "what must be there is not"
	case f.Freshness.Path != "" && f.Distinct > 0 && f.Newest.Before(f.Freshness.Start.Add(-f.Freshness.MaxAge)):
		return "the newest item is too old"
	case f.Movement.Marked > 0 && tolerated == 0:
		return "the mark of change tells of movement over borders that were not verified"
	case f.Second != nil && (!f.Second.Agrees() || f.Second.Trouble != ""):
		return "two readings do not agree"
	case f.Second != nil && f.EndStrength < reconcile.Declared && (!f.Second.Reverse || f.Second.Same > 0 || f.MoreKnown) && !f.Totals.Believed():
		return "another page size, or an order that is not turned round, stands for the end"
	case f.Slices != nil:
		return againstSlices(f, tolerated)
	case f.EndStrength == reconcile.None && !f.Totals.Believed() && f.Second == nil:
		return "there is neither an end word nor a total"
	}
	switch f.Stop {
	case reconcile.StopEnd, reconcile.StopNotSaid, reconcile.StopLoop, reconcile.StopReach:
		return ""
	case reconcile.StopRefused:
		if f.Second != nil && f.Second.Reverse {
			return "" // both readings went on until the server refused, each past the other's start
		}
	}
	return fmt.Sprintf("the walk was stopped: %v", f.Stop)
}

// againstSlices says what in the facts on slices speaks against COMPLETE.
func againstSlices(f reconcile.Facts, tolerated int64) string {
	s := f.Slices
	counted := f.Totals.Believed() && f.Totals.Moved == 0 && !s.Stirred && f.Distinct >= f.Totals.Min-tolerated
	switch {
	case s.Irreducible > 0, s.Lost, s.Left > 0 && !counted, len(s.Short) > 0, s.Ignored != "", s.Untiled != "":
		return "slices lost something, or were not asked for"
	case s.OpenCount > 0 && !counted, s.Strays > 0, len(s.Unsure) > 0:
		return "slices are in doubt"
	case (s.Between > 0 || s.Blind) && !counted:
		return "items may lie between two slices"
	case !s.RangeOnly && s.Left == 0 && s.Outside.OK && s.Outside.N > tolerated && !counted:
		return "items lie in no slice"
	case !s.RangeOnly && !s.Everything && !s.Outside.OK && !counted:
		return "nothing counts what lies outside"
	case s.Lacking > max(tolerated, f.Tolerance.Of(f.Distinct)):
		return "slices lack more than the tolerance"
	}
	return ""
}

// The same facts give the same ruling, and ruling changes no facts.
func TestRuleIsPure(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for i := range 200 {
		f := randomFacts(r)
		before := fmt.Sprintf("%+v", f)
		one, two := reconcile.Rule(f), reconcile.Rule(f)
		if a, b := fmt.Sprintf("%v %v %v %v", one.Verdict, one.Strength, one.Evidence, one.Advice), fmt.Sprintf("%v %v %v %v", two.Verdict, two.Strength, two.Evidence, two.Advice); a != b {
			t.Fatalf("facts %d: two rulings:\n%s\n%s", i, a, b)
		}
		if after := fmt.Sprintf("%+v", f); after != before {
			t.Fatalf("facts %d: ruling changed them:\n%s\n%s", i, before, after)
		}
	}
}
