package reconcile_test

import (
	"testing"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// page is the total that a page of an exact source states.
func page(value int64, items, asked int, distinct int64) reconcile.Observation {
	return reconcile.Observation{Value: value, Kind: judge.Exact, Items: items, Asked: asked, Distinct: distinct, Fresh: items}
}

// empty is the total on an empty page.
func empty(value int64, asked int, distinct int64) reconcile.Observation {
	return reconcile.Observation{Value: value, Kind: judge.Exact, Asked: asked, Distinct: distinct}
}

// requested is the total of a count request of its own.
func requested(value, distinct int64) reconcile.Observation {
	return reconcile.Observation{Value: value, Kind: judge.Exact, Distinct: distinct, Requested: true}
}

// kindOf is a total that is not exact.
func kindOf(kind judge.TotalKind, value int64) reconcile.Observation {
	return reconcile.Observation{Value: value, Kind: kind, Items: 10, Asked: 10, Fresh: 10}
}

func observed(os ...reconcile.Observation) reconcile.Totals {
	var t reconcile.Totals
	for _, o := range os {
		t.Observe(o)
	}
	return t
}

func TestTotalsObserve(t *testing.T) {
	type want struct {
		live, moved                  int
		least, greatest, last        int64
		believed, doubtful, collapse bool
	}
	for _, c := range []struct {
		name string
		seen []reconcile.Observation
		want want
	}{
		{"nothing seen", nil, want{}},
		{"one total above its page", []reconcile.Observation{page(250, 100, 100, 0)}, want{live: 1, least: 250, greatest: 250, last: 250, believed: true}},
		{"a steady total", []reconcile.Observation{page(250, 100, 100, 0), page(250, 100, 100, 100), page(250, 50, 100, 200)},
			want{live: 3, least: 250, greatest: 250, last: 250, believed: true}},
		{"a total that moves up and down", []reconcile.Observation{page(250, 100, 100, 0), page(252, 100, 100, 100), page(249, 49, 100, 200)},
			want{live: 3, moved: 2, least: 249, greatest: 252, last: 249, believed: true}},
		{"a total equal to its own page", []reconcile.Observation{page(100, 100, 100, 0)}, want{live: 1, least: 100, greatest: 100, last: 100, doubtful: true}},
		{"a total equal to a short page", []reconcile.Observation{page(7, 7, 100, 0)}, want{live: 1, least: 7, greatest: 7, last: 7, doubtful: true}},
		{"a total equal to the size that was asked for", []reconcile.Observation{page(100, 90, 100, 0)}, want{live: 1, least: 100, greatest: 100, last: 100, doubtful: true}},
		{"an echo that the walk went past", []reconcile.Observation{page(100, 100, 100, 0), page(100, 100, 100, 100)},
			want{live: 2, least: 100, greatest: 100, last: 100}},
		{"a count request is never an echo", []reconcile.Observation{requested(100, 0), page(100, 100, 100, 0)},
			want{live: 2, least: 100, greatest: 100, last: 100, believed: true}},
		{"a total below the items of its own page is none", []reconcile.Observation{page(5, 100, 100, 0)}, want{}},
		{"and leaves the others unbelieved", []reconcile.Observation{page(250, 100, 100, 0), page(99, 100, 100, 100), page(250, 50, 100, 200)},
			want{live: 2, least: 250, greatest: 250, last: 250}},
		{"collapsed to 0 on an empty page", []reconcile.Observation{page(5000, 100, 100, 900), empty(0, 100, 1000)},
			want{live: 1, least: 5000, greatest: 5000, last: 5000, believed: true, collapse: true}},
		{"collapsed below what is held", []reconcile.Observation{page(5000, 100, 100, 900), empty(400, 100, 1000)},
			want{live: 1, least: 5000, greatest: 5000, last: 5000, believed: true, collapse: true}},
		{"collapsed to what is held", []reconcile.Observation{page(5000, 100, 100, 900), empty(1000, 100, 1000)},
			want{live: 1, least: 5000, greatest: 5000, last: 5000, believed: true, collapse: true}},
		{"a small fall on an empty page is drift", []reconcile.Observation{page(1000, 100, 100, 900), empty(999, 100, 999)},
			want{live: 2, moved: 1, least: 999, greatest: 1000, last: 999, believed: true}},
		{"a count request does not collapse", []reconcile.Observation{page(5000, 100, 100, 900), requested(10, 1000)},
			want{live: 2, moved: 1, least: 10, greatest: 5000, last: 10, believed: true}},
		{"a lower bound is no live total", []reconcile.Observation{kindOf(judge.LowerBound, 10000)}, want{}},
		{"a bound after an exact total leaves it unbelieved", []reconcile.Observation{page(60, 1, 1, 0), kindOf(judge.LowerBound, 60)},
			want{live: 1, least: 60, greatest: 60, last: 60}},
		{"and an exact one after that has moved", []reconcile.Observation{page(60, 1, 1, 0), kindOf(judge.LowerBound, 60), page(60, 1, 1, 1)},
			want{live: 2, moved: 1, least: 60, greatest: 60, last: 60, believed: true}},
		{"an estimate is no live total", []reconcile.Observation{kindOf(judge.Estimate, 10000)}, want{}},
		{"a collapsed estimate", []reconcile.Observation{kindOf(judge.Estimate, 10000), {Kind: judge.Estimate, Distinct: 1000}}, want{collapse: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := observed(c.seen...)
			is := want{got.Live, got.Moved, got.Min, got.Max, got.Last, got.Believed(), got.Doubtful(), got.Collapsed}
			if is != c.want {
				t.Errorf("got  %+v\nwant %+v", is, c.want)
			}
		})
	}
}

// Only an answer from past the end can turn a doubtful total into a believed
// one, and a mere 0 on that page is no such answer.
func TestTotalsConfirm(t *testing.T) {
	echo := func() reconcile.Totals { return observed(page(100, 100, 100, 0)) }
	for _, c := range []struct {
		name     string
		totals   reconcile.Totals
		past     judge.Count
		believed bool
	}{
		{"past it, no total is stated", echo(), judge.Count{}, true},
		{"past it, the total is repeated", echo(), judge.N(100), true},
		{"past it, the total is 0: the echo of an empty page", echo(), judge.N(0), false},
		{"an echo stays one", observed(page(100, 100, 100, 0), page(100, 100, 100, 100)), judge.N(100), false},
		{"nothing seen, nothing to confirm", reconcile.Totals{}, judge.N(100), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.totals.Confirm(c.past)
			if got := c.totals.Believed(); got != c.believed {
				t.Errorf("believed %v, want %v", got, c.believed)
			}
		})
	}
}

func TestBand(t *testing.T) {
	moved := observed(page(1000, 100, 100, 0), page(1010, 100, 100, 100), page(990, 100, 100, 200))
	for _, c := range []struct {
		name   string
		totals reconcile.Totals
		tol    reconcile.Tolerance
		lo, hi int64
		ok     bool
	}{
		{"none seen", reconcile.Totals{}, reconcile.Tolerance{Items: 5}, 0, 0, false},
		{"from the least to the greatest", moved, reconcile.Tolerance{}, 990, 1010, true},
		{"widened by items", moved, reconcile.Tolerance{Items: 5}, 985, 1015, true},
		{"widened by percent of the greatest", moved, reconcile.Tolerance{Percent: 1}, 980, 1020, true},
		{"the larger tolerance counts", moved, reconcile.Tolerance{Items: 5, Percent: 1}, 980, 1020, true},
		{"never below 0", moved, reconcile.Tolerance{Items: 5000}, 0, 6010, true},
		{"a doubtful total has none", observed(page(100, 100, 100, 0)), reconcile.Tolerance{}, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			lo, hi, ok := c.totals.Band(c.tol)
			if lo != c.lo || hi != c.hi || ok != c.ok {
				t.Errorf("got %d..%d %v, want %d..%d %v", lo, hi, ok, c.lo, c.hi, c.ok)
			}
		})
	}
}

func TestTooWide(t *testing.T) {
	moved := observed(page(1000, 100, 100, 0), page(990, 100, 100, 100))
	for _, c := range []struct {
		percent float64
		wide    bool
	}{{0.5, true}, {0.99, true}, {1, false}, {5, false}} {
		if got := moved.TooWide(c.percent); got != c.wide {
			t.Errorf("990..1000 against %v %%: %v, want %v", c.percent, got, c.wide)
		}
	}
}

// The whole way from totals to the verdict, for the shapes that real servers
// show.
func TestSettlement(t *testing.T) {
	exact := observed(page(250, 100, 100, 0), page(250, 100, 100, 100), page(250, 50, 100, 200))
	capped := observed(page(53210, 100, 100, 0), page(53210, 100, 100, 9900), empty(0, 100, 10000))
	moving := observed(page(1000, 100, 100, 0), page(1005, 100, 100, 500), page(1003, 100, 100, 900))
	drifted := observed(page(1000, 100, 100, 0), page(1100, 100, 100, 500))
	declared := func(f *reconcile.Facts) {
		f.EndReached, f.EndStrength, f.EndWord = true, reconcile.Declared, "the server says that there is no more"
	}
	for _, c := range []struct {
		name     string
		totals   reconcile.Totals
		distinct int64
		more     func(*reconcile.Facts)
		verdict  judge.Verdict
		strength reconcile.Strength
		missing  int64 // -1: no total tells
		id       string
	}{
		{"exact, all held", exact, 250, nil, judge.Complete, reconcile.Counted, 0, "RC001"},
		{"exact, one short", exact, 249, nil, judge.Truncated, reconcile.None, 1, "RC002"},
		{"exact, one short, and an end is declared", exact, 249, declared, judge.Truncated, reconcile.None, 1, "RC002"},
		{"exact, one above", exact, 251, nil, judge.Unknown, reconcile.None, -1, "RC004"},
		{"exact, one above, and an end is declared", exact, 251, declared, judge.Unknown, reconcile.None, -1, "RC004"},
		{"exact, none held", exact, 0, nil, judge.Truncated, reconcile.None, 250, "RC002"},
		{"exact, one short, tolerated", exact, 249, func(f *reconcile.Facts) { f.Tolerance.Items = 1 }, judge.Complete, reconcile.Counted, 1, "RC001"},
		{"exact, two short, one tolerated", exact, 248, func(f *reconcile.Facts) { f.Tolerance.Items = 1 }, judge.Truncated, reconcile.None, 2, "RC002"},

		{"capped at 10,000 of 53,210", capped, 10000, func(f *reconcile.Facts) {
			f.Stop, f.Reach, f.ReachText = reconcile.StopReach, judge.N(10000), "the total collapsed"
		}, judge.Truncated, reconcile.None, 43210, "RC003"},
		{"capped, and the server claims its end there", capped, 10000, declared, judge.Truncated, reconcile.None, 43210, "RC002"},
		{"a total that is cut too: 10,000 at least", observed(kindOf(judge.LowerBound, 10000)), 9999, declared, judge.Truncated, reconcile.None, 1, "RC002"},
		{"10,000 at least, and no more proves nothing", observed(kindOf(judge.LowerBound, 10000)), 10000, nil, judge.Unknown, reconcile.None, -1, "RC007"},

		{"a page count times the size is an estimate", observed(kindOf(judge.Estimate, 300)), 250, nil, judge.Unknown, reconcile.None, -1, "RC007"},
		{"a page count above what came shows no loss", observed(kindOf(judge.Estimate, 300)), 250, declared, judge.Complete, reconcile.Declared, -1, "RC030"},
		{"a page count below what came shows no doubt", observed(kindOf(judge.Estimate, 200)), 250, declared, judge.Complete, reconcile.Declared, -1, "RC030"},

		{"an echo that was passed", observed(page(100, 100, 100, 0), page(100, 100, 100, 100)), 200, nil, judge.Unknown, reconcile.None, -1, "RC014"},
		{"a possible echo that equals what came", observed(page(7, 7, 100, 0)), 7, nil, judge.Unknown, reconcile.None, -1, "RC014"},
		{"a possible echo, and an end is declared", observed(page(7, 7, 100, 0)), 7, declared, judge.Complete, reconcile.Declared, -1, "RC030"},
		{"a page size for a total, above what came", observed(page(100, 90, 100, 0)), 90, declared, judge.Unknown, reconcile.None, -1, "RC014"},

		{"moving, seen through, at the least", moving, 1000, func(f *reconcile.Facts) { f.Movement.Moved, f.Everything.Moved = 2, 2 }, judge.Complete, reconcile.Counted, 0, "RC001"},
		{"moving, seen through, at the greatest", moving, 1005, func(f *reconcile.Facts) { f.Movement.Moved, f.Everything.Moved = 2, 2 }, judge.Complete, reconcile.Counted, 0, "RC001"},
		{"moving, below the band", moving, 999, func(f *reconcile.Facts) { f.Movement.Moved, f.Everything.Moved = 2, 2 }, judge.Truncated, reconcile.None, 4, "RC002"},
		{"moving, above the band", moving, 1006, func(f *reconcile.Facts) { f.Movement.Moved, f.Everything.Moved = 2, 2 }, judge.Unknown, reconcile.None, -1, "RC004"},
		{"moving, a border not verified", moving, 1003, func(f *reconcile.Facts) {
			f.Movement = reconcile.Movement{Moved: 2, Unverified: 1}
			f.Everything = f.Movement
		}, judge.Unknown, reconcile.None, -1, "RC006"},
		{"moving, settled by a clean second pass", moving, 1004, func(f *reconcile.Facts) {
			f.Everything, f.Passes = reconcile.Movement{Moved: 2, Unverified: 1}, 2
			f.PassTotals, f.PassItems = observed(requested(1003, 0)), 1003
		}, judge.Complete, reconcile.Counted, 0, "RC001"},
		{"moving, the second pass short of its own total", moving, 1004, func(f *reconcile.Facts) {
			f.Everything, f.Passes = reconcile.Movement{Moved: 2, Unverified: 1}, 2
			f.PassTotals, f.PassItems = observed(requested(1003, 0)), 1002
		}, judge.Unknown, reconcile.None, -1, "RC006"},
		{"a cut walk under a moving total counts nothing", moving, 1003, func(f *reconcile.Facts) {
			f.Movement.Moved, f.Everything.Moved = 2, 2
			f.Stop, f.StopText = reconcile.StopLoop, "page 11 came again"
		}, judge.Unknown, reconcile.None, -1, "RC008"},

		{"drift beyond the bound", drifted, 1050, func(f *reconcile.Facts) { f.MaxDrift = 1 }, judge.Unknown, reconcile.None, -1, "RC020"},
		{"drift inside the bound", drifted, 1050, func(f *reconcile.Facts) { f.MaxDrift = 10 }, judge.Complete, reconcile.Counted, 0, "RC001"},
		{"drift beyond the bound, and all that was ever declared is held", drifted, 1100, func(f *reconcile.Facts) { f.MaxDrift = 1 }, judge.Complete, reconcile.Counted, 0, "RC001"},

		{"a total below the items of its own page is none", observed(page(5, 100, 100, 0)), 100, nil, judge.Unknown, reconcile.None, -1, "RC007"},
		{"a total that only its pages deny", exact, 200, func(f *reconcile.Facts) { f.TotalWalks = true }, judge.Unknown, reconcile.None, 50, "RC016"},
		{"the same, and the server says that there is more", exact, 200, func(f *reconcile.Facts) { f.TotalWalks, f.MoreKnown = true, true }, judge.Truncated, reconcile.None, 50, "RC002"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := reconcile.Facts{HasIDs: true, Passes: 1, MaxDrift: 1, MaxFall: 100, Totals: c.totals}
			f.Distinct, f.Received = c.distinct, c.distinct
			f.ReadBack = judge.N(c.distinct)
			if c.more != nil {
				c.more(&f)
			}
			r := reconcile.Rule(f)
			missing := int64(-1)
			if r.Missing != nil {
				missing = *r.Missing
			}
			if r.Verdict != c.verdict || r.Strength != c.strength || missing != c.missing {
				t.Errorf("%v, strength %v, missing %d; want %v, %v, %d\n%v", r.Verdict, r.Strength, missing, c.verdict, c.strength, c.missing, r.Evidence)
			}
			if !speaks(r, c.id) {
				t.Errorf("%s does not speak: %v", c.id, r.Evidence)
			}
		})
	}
}

func speaks(r reconcile.Ruling, id string) bool {
	for _, e := range r.Evidence {
		if e.ID == id {
			return true
		}
	}
	return false
}

func TestSummary(t *testing.T) {
	for _, c := range []struct {
		name   string
		totals reconcile.Totals
		kind   string
		last   int64 // -1: none
	}{
		{"none", reconcile.Totals{}, "", -1},
		{"exact", observed(page(250, 100, 100, 0)), "exact", 250},
		{"echo", observed(page(100, 100, 100, 0), page(100, 100, 100, 100)), "echo", 100},
		{"lower bound", observed(kindOf(judge.LowerBound, 10000)), "lower_bound", 10000},
		{"estimate", observed(kindOf(judge.Estimate, 300)), "estimate", 300},
		{"an exact one outweighs an estimate", observed(kindOf(judge.Estimate, 300), page(250, 100, 100, 0)), "exact", 250},
	} {
		s, last := c.totals.Summary(), int64(-1)
		if s.Last != nil {
			last = *s.Last
		}
		if s.Kind != c.kind || last != c.last {
			t.Errorf("%s: kind %q, last %d; want %q, %d", c.name, s.Kind, last, c.kind, c.last)
		}
	}
}
