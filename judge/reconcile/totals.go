package reconcile

import (
	"fmt"

	"lastdrop/judge"
)

// Totals follows what the source declares about its size over a run. The zero
// value has seen nothing. It is plain data: it can be stored and taken up.
type Totals struct {
	First, Last, Min, Max int64 // of the live exact totals
	Live                  int   // how many live exact totals were seen
	Moved                 int   // how often a live total differed from the one before it
	Variation             int64 // by how many items in all: every change between two answers counts
	Flapped               bool  // a live total moved, and came back to the value before
	Collapsed             bool
	CollapsedTo           int64
	LowerBound            int64 // greatest lower bound seen
	LastBound             int64
	Bounds, Estimates     int   // how many of those were seen
	Estimate              int64 // the last estimate
	Below                 int   // exact totals below the items of their own page
	Loose                 bool  // the last one was a bound, after an exact one: the set has grown past what is counted

	// Echo bookkeeping: a total that equals the items of its own page, or the
	// page size, may only repeat them.
	Echoes   int  // exact totals that looked like an echo
	Proven   bool // one did not, or a request past the end confirmed one
	EchoOnly bool // shown to be an echo: the walk went past it
	Last2    int64
}

// An Observation is one total with what is known at that moment.
type Observation struct {
	Value     int64
	Kind      judge.TotalKind
	Items     int   // items on the page that states it; 0 for a count request
	Asked     int   // page size asked for, 0 where none was
	Size      int   // and without an overlap on top of it
	Distinct  int64 // distinct items held before this page
	Fresh     int   // items on the page that were not held before it
	Requested bool  // from a count request of its own: never an echo
}

// Observe takes one total up and says whether it is live, and if not, why.
// A total that falls to 0, or below what is held, on an empty page has
// collapsed: the last live band stands.
func (t *Totals) Observe(o Observation) (live bool, remark string) {
	switch o.Kind {
	case judge.Estimate:
		if t.Estimate > 0 && o.Value == 0 && o.Items == 0 && !o.Requested {
			t.Collapsed, t.CollapsedTo = true, 0
			return false, fmt.Sprintf("collapsed from about %d to 0 on an empty page", t.Estimate)
		}
		t.Estimates++
		t.Estimate = o.Value
		return false, "an estimate"
	case judge.LowerBound:
		t.Bounds++
		t.LowerBound, t.LastBound = max(t.LowerBound, o.Value), o.Value
		t.Loose = t.Live > 0
		return false, "a lower bound"
	}
	if o.Value < int64(o.Items) {
		t.Below++
		return false, fmt.Sprintf("%d, below the %d items of its own page", o.Value, o.Items)
	}
	if t.Live > 0 && o.Items == 0 && !o.Requested && t.collapses(o) {
		t.Collapsed, t.CollapsedTo = true, o.Value
		return false, fmt.Sprintf("collapsed from %d to %d on an empty page with %d held", t.Last, o.Value, o.Distinct)
	}
	t.note(o)
	t.take(o.Value)
	if t.Loose { // it grew, and shrank again
		t.Loose = false
		t.Moved++
		t.Variation += 2
	}
	return true, ""
}

func (t *Totals) collapses(o Observation) bool {
	fell := 10*o.Value < 9*t.Min // far more than drift
	return (o.Value == 0 && t.Max > 0) || o.Value < min(o.Distinct, t.Min) || (fell && o.Value <= o.Distinct)
}

// note keeps the echo bookkeeping.
func (t *Totals) note(o Observation) {
	switch {
	case o.Requested:
		t.Proven = true
	case o.Items > 0 && (o.Value == int64(o.Items) || o.sized()):
		t.Echoes++
		if o.Distinct+int64(o.Fresh) > o.Value && !t.Proven {
			t.EchoOnly = true // this much was held before: the page adds to it, the total did not
		}
	case o.Items > 0 && o.Fresh == 0:
		// a page that came before: its total may be any page's
	case o.Items == 0 && t.Echoes == 0 && o.Value > 0 && !o.sized():
		t.Proven = true // it equals neither the items of its page nor the page size
	case o.Items == 0:
		// an empty page: Confirm decides what it says about an earlier total
	default:
		t.Proven = true
	}
}

// sized reports whether a total is the page size.
func (o *Observation) sized() bool {
	return o.Asked > 0 && o.Value == int64(o.Asked) || o.Size > 0 && o.Value == int64(o.Size)
}

func (t *Totals) take(v int64) {
	if t.Live == 0 {
		t.First, t.Min, t.Max, t.Last, t.Last2 = v, v, v, v, v
		t.Live = 1
		return
	}
	t.Live++
	if v != t.Last {
		t.Moved++
		t.Variation += max(v-t.Last, t.Last-v)
		if v == t.Last2 {
			t.Flapped = true
		}
		t.Last2 = t.Last
	}
	t.Last, t.Min, t.Max = v, min(t.Min, v), max(t.Max, v)
}

// toAndFro reports a total that knows two values only, more than one item apart,
// and changed between them three times or more: two views of the list that
// answer by turns, rather than a list that moves.
func (t *Totals) toAndFro() bool {
	return t.Moved >= 3 && t.Max-t.Min >= 2 && t.Variation == int64(t.Moved)*(t.Max-t.Min)
}

// Believed reports whether the live totals may count: there are some, they are no mere
// echo of their own pages, none was below its own page (what counts less than it shows
// is no total), and no mere bound came after them. An echo that nothing contradicts is
// not believed before a request past it came back empty (Confirm).
func (t *Totals) Believed() bool {
	return t.Live > 0 && t.Proven && !t.EchoOnly && t.Below == 0 && !t.Loose
}

// Doubtful reports whether totals were seen that may be an echo, so that one
// request past the end would settle it.
func (t *Totals) Doubtful() bool { return t.Live > 0 && !t.Proven && !t.EchoOnly }

// Confirm says that a request past the total came back empty, with its own
// total (ok false: without one, or with a mere 0).
func (t *Totals) Confirm(total judge.Count) {
	if t.Live == 0 || t.EchoOnly {
		return
	}
	if !total.OK || total.N > 0 {
		t.Proven = true
	}
}

// Covered reports whether n items are all that was ever declared, where that is no
// matter of drift: the live totals only ever rose, or lie no more than two items
// apart, which is a large share of a small set. Where they fell further, items that
// went may be among the n.
func (t *Totals) Covered(n int64) bool {
	grew := t.Last == t.Max && t.Variation == t.Max-t.Min
	return n >= t.Max && (grew || t.Max-t.Min <= 2)
}

// Explains reports whether the changes that the live totals showed can make the
// difference between them and n items: each change is at most one item that
// came behind the walk or that went after it was read.
func (t *Totals) Explains(n int64) bool {
	return t.Believed() && n >= t.Min-t.Variation && n <= t.Max+t.Variation
}

// Tolerance is how many items the operator says may be missing: the larger of
// the two counts.
type Tolerance struct {
	Items   int64
	Percent float64
}

// Of gives the tolerance in items for a total.
func (t Tolerance) Of(total int64) int64 {
	return max(t.Items, int64(t.Percent/100*float64(total)))
}

// Band gives the range in which the number of distinct items counts as whole:
// from the least to the greatest live total, widened by the tolerance. ok is
// false where no live total is believed.
func (t *Totals) Band(tol Tolerance) (lo, hi int64, ok bool) {
	if !t.Believed() {
		return 0, 0, false
	}
	w := tol.Of(t.Max)
	return max(0, t.Min-w), t.Max + w, true
}

// TooWide reports whether the live totals lie further apart than maxDrift
// (percent of the greatest) and can therefore not count.
func (t *Totals) TooWide(maxDriftPercent float64) bool {
	return float64(t.Max-t.Min) > maxDriftPercent/100*float64(t.Max)
}

// Summary gives the totals as the report shows them.
func (t *Totals) Summary() TotalSummary {
	s := TotalSummary{Collapsed: t.Collapsed}
	p := func(v int64) *int64 { return &v }
	switch {
	case t.Live > 0:
		s.First, s.Last, s.Min, s.Max, s.Kind = p(t.First), p(t.Last), p(t.Min), p(t.Max), string(judge.Exact)
		if t.EchoOnly {
			s.Kind = "echo"
		}
	case t.Bounds > 0:
		s.First, s.Last, s.Min, s.Max, s.Kind = p(t.LowerBound), p(t.LowerBound), p(t.LowerBound), p(t.LowerBound), string(judge.LowerBound)
	case t.Estimates > 0:
		s.First, s.Last, s.Min, s.Max, s.Kind = p(t.Estimate), p(t.Estimate), p(t.Estimate), p(t.Estimate), string(judge.Estimate)
	}
	return s
}
