package reconcile

import (
	"fmt"

	"lastdrop/judge"
)

// Slices is what a run that was cut into slices knows of them. Totals, Reach
// and the counts of its Facts are those of the query without slices.
type Slices struct {
	Leaves, Splits, Irreducible int
	Left                        int // slices that were not asked for any more

	// Keys is how many keys the source may be cut by.
	Keys int

	// Open are the leaves that are not COMPLETE by themselves, a text each, at
	// most 5 of OpenCount; Lost says that at least one of them lost something.
	Open      []string
	OpenCount int
	Lost      bool
	// Dense are the irreducible leaves, in words, at most 20 of Irreducible.
	Dense []string

	// Short are slices whose parts hold fewer items than they declare, in
	// words; Unsure those whose own total moved meanwhile.
	Short, Unsure []string

	Ignored string // why the slice parameters are believed to be ignored
	Untiled string // where the slices do not tile the range
	Strays  int64  // items that lie outside of the slice that gave them
	// Between counts items whose key lies between two bounds as they are written,
	// where closed slices share none: what lies between two slices is in neither.
	// Blind: items do not show their keys, so that it could not be seen.
	Between int64
	Blind   bool
	// Lacking is the number of items that the leaves lack by their own totals,
	// each within the tolerance.
	Lacking int64

	// Stirred: something moved while slices were read, or held items are in no
	// leaf any more, so that a whole which counts what is held may do so by chance.
	Stirred bool
	// Vanished counts held items that are in no leaf any more although their key
	// lies in the range; Missed items of the range that a request beside the slices
	// showed and no slice gave; Above leaves that hold more than they declare.
	Vanished, Missed int64
	Above            int
	// Outside is the number of items that lie in no slice, by a comparison of
	// the whole with its slices at one time, made where the whole's total moved.
	// OK is false where none was made, or the source moved too fast.
	Outside judge.Count
	// InRange is how many items lie in what was asked for, at that moment: the
	// whole without what came beyond its end since.
	InRange judge.Count
	// RangeOnly: only the range was asked for (slice.covers: range).
	RangeOnly bool
	// Beyond is how many more items the query without slices declares then; OK
	// is false where it does not tell.
	Beyond judge.Count
	// Everything: the outer slices are open and a slice asked for the items
	// that lack the key, so that nothing can lie outside.
	Everything bool
	// Halved: the whole ended by its own word, with nothing that counts it and no
	// reach that is known; it was read once more in slices, to see whether its end
	// was a cap. Parts is how many of them held something, and Fresh how many items
	// they held that the whole had not.
	Halved bool
	Parts  int
	Fresh  int64
	// Weakest is the least strength of a leaf's evidence.
	Weakest Strength
}

// stand reports that the slices by themselves show that all is held, whatever
// the whole's total did meanwhile: each came to a proven end, they tile what was
// asked for, and at one moment the whole declared just what they declared
// together.
func (s *Slices) stand() bool {
	return s.Outside.OK && s.Outside.N == 0 && s.Weakest == Counted && s.OpenCount+s.Irreducible+s.Left+len(s.Short)+len(s.Unsure) == 0 &&
		s.Ignored == "" && s.Untiled == "" && s.Strays == 0 && s.Missed == 0 && s.Between == 0 && !s.Blind
}

// near reports whether what is held is no further from the totals than the
// drift that the operator allows: what went and came meanwhile.
func (f *Facts) near() bool {
	w := int64(f.MaxDrift / 100 * float64(f.Totals.Max))
	return f.Distinct >= f.Totals.Min-w && f.Distinct <= f.Totals.Max+w
}

// halved rules on a whole that was read once more in slices because nothing
// counts it. A cap that cut it would have left items to the slices: they share
// what it handed out, so that at least one of them holds more than its share.
func (r *ruler) halved(s *Slices) {
	switch {
	case s.OpenCount+s.Irreducible+s.Left > 0 || s.Ignored != "" || s.Untiled != "" || s.Strays > 0:
		r.wonder("RC056", "the whole ended by its own word, nothing counts it, and its slices did not settle whether that is a cap")
	case s.Stirred:
		r.wonder("RC056", "the whole ended by its own word, nothing counts it, and its slices show that the source moved meanwhile: what slipped past the whole may lie in no slice")
	case s.Parts < 2:
		r.wonder("RC056", "the whole ended by its own word, nothing counts it, and slices could not show whether that is a cap: fewer than two of them held anything")
	default:
		r.prove(Corroborated, "RC050", "the whole and the sum of %s hold the same %s", count(int64(s.Parts), "slice"), count(r.f.Distinct, "item"))
		return
	}
	r.advise("say how many items one query hands out at most (slice.reach), or name a total")
}

// slices rules on a run of several slices.
func (r *ruler) slices() {
	s := r.f.Slices
	if s == nil {
		return
	}
	r.say("RC063", judge.Unknown, "read in %s, cut %s", count(int64(s.Leaves), "slice"), times(s.Splits))
	if s.Halved && s.Fresh == 0 {
		r.halved(s)
		return
	}
	r.uncut(s)
	r.leaves(s)
	for _, t := range s.Short {
		r.lose("RC054", "%s", t)
	}
	for _, t := range s.Unsure {
		r.wonder("RC054", "%s", t)
	}
	r.tiles(s)
	if s.Missed > 0 && r.f.Totals.Moved == 0 && !s.Stirred {
		r.lose("RC054", "%s inside the range, in an answer beside the slices, and in no slice", lie(s.Missed))
	} else if s.Missed > 0 {
		r.wonder("RC054", "%s inside the range, in an answer beside the slices, and in no slice", lie(s.Missed))
	}
	if s.Vanished > 0 && !r.counted() && !s.stand() {
		r.wonder("RC054", "%s inside the range and were held, and no slice gave them: they are gone, or a slice leaves its own items out", lay(s.Vanished))
	}
	r.outside(s)
	if s.OpenCount+s.Irreducible+s.Left == 0 && s.Ignored == "" && s.Untiled == "" {
		r.prove(s.Weakest, "RC050", "%s tile what was asked for, and each came to its own end (%s)%s", count(int64(s.Leaves), "slice"), s.Weakest, r.lacking(s))
	}
}

// tiles rules on slices that overlap or may leave a gap between them.
func (r *ruler) tiles(s *Slices) {
	if s.Untiled != "" {
		r.wonder("RC057", "%s", s.Untiled)
	}
	if s.Between == 0 && !s.Blind || r.counted() {
		return
	}
	if s.Between > 0 {
		r.wonder("RC057", "%s with a key finer than the closed bounds are written: what lies between two slices is in neither", came(s.Between))
	} else {
		r.wonder("RC057", "no item shows its key: if keys are finer than the closed bounds are written, what lies between two slices is in neither")
	}
	r.advise("write bounds as fine as the key is (slice.format), or use half-open ones (slice.bounds: \"[)\") where the API has them")
}

// lacking says what the leaves lack together, which the tolerance of the run
// allows.
func (r *ruler) lacking(s *Slices) string {
	if s.Lacking == 0 {
		return ""
	}
	r.setMissing(max(s.Lacking, r.short()))
	return fmt.Sprintf(", within the tolerance: up to %s may be missing", num(s.Lacking))
}

func were(n int) string {
	if n == 1 {
		return "1 slice was"
	}
	return fmt.Sprintf("%s slices were", num(int64(n)))
}

func came(n int64) string {
	if n == 1 {
		return "1 item came"
	}
	return fmt.Sprintf("%s items came", num(n))
}

// uncut rules on slices that could not be made small enough.
func (r *ruler) uncut(s *Slices) {
	if s.Ignored != "" {
		r.lose("RC055", "the slice parameters seem to be ignored: %s", s.Ignored)
		r.advise("check slice.params against what this API documents: slices of an ignored parameter prove nothing")
	}
	if s.Irreducible > 0 {
		for _, t := range s.Dense {
			r.lose("RC051", "%s, and it cannot be cut further", t)
		}
		if n := s.Irreducible - len(s.Dense); n > 0 {
			r.lose("RC051", "%s more cannot be cut further", count(int64(n), "slice"))
		}
		if s.Keys > 1 {
			r.advise("the second key (slice.then) does not cut them either: check its params and values against what this API documents, or name a finer one")
		} else {
			r.advise("name a second key (slice.then) for slices that the first one cannot cut")
		}
	}
}

// leaves rules on slices that are not COMPLETE by themselves. A whole whose
// total did not move and counts all that is held makes up for their doubts, not
// for their losses.
func (r *ruler) leaves(s *Slices) {
	if f := r.f; s.Lacking > f.Tolerance.Of(max(f.Totals.Max, f.Distinct)) {
		r.lose("RC052", "slices lack %s by their own totals, more than the tolerance of the run", count(s.Lacking, "item"))
	}
	if r.counted() && !s.Lost && s.Above == 0 {
		return
	}
	if s.Left > 0 {
		r.wonder("RC052", "%s asked for no more", were(s.Left))
	}
	say := r.wonder
	if s.Lost {
		say = r.lose
	}
	for _, t := range s.Open {
		say("RC052", "%s", t)
	}
	if n := s.OpenCount - len(s.Open); n > 0 {
		say("RC052", "%s more did not come to a proven end", count(int64(n), "slice"))
	}
	if !s.Lost && !r.f.Totals.Believed() {
		r.advise("each slice needs a proven end of its own: a total (total.path), or an end mark (pages.more, pages.last, pages.end)")
	}
}

// outside rules on what lies in no slice: items that lack the key, or whose key
// lies outside the range.
func (r *ruler) outside(s *Slices) {
	t := &r.f.Totals
	if s.Strays > 0 && s.Ignored == "" {
		r.wonder("RC055", "%s came in a slice that their key does not belong to", count(s.Strays, "item"))
	}
	if s.RangeOnly {
		r.say("RC064", judge.Unknown, "only the range was asked for (slice.covers: range)%s", beyond(s.Beyond))
	}
	if s.Left > 0 || s.Ignored != "" {
		return
	}
	switch {
	case r.counted(): // the first walk may have brought what no slice holds
	case s.Outside.OK && s.Outside.N > 0 && s.Outside.N <= r.f.Tolerance.Of(t.Max):
		r.setMissing(max(s.Outside.N, r.short()))
	case s.Outside.OK && s.Outside.N > 0:
		r.lose("RC053", "%s in no slice: they lack the key, lie outside the range, or a bound leaves them out", lie(s.Outside.N))
		r.advise("ask for them with slice.without, widen the range, or say `slice.covers: range` where only the range is wanted")
	case !s.stand() && !r.inBand && r.short() > 0 && s.OpenCount+s.Irreducible == 0 && t.Believed() && t.Moved == 0 && !s.Stirred:
		r.lose("RC053", "every slice is whole, so %s in none: they lack the key, lie outside the range, or a bound leaves them out", lie(r.short()))
		r.advise("ask for them with slice.without, widen the range, or say `slice.covers: range` where only the range is wanted")
	case s.Outside.OK:
	case s.Everything || s.RangeOnly:
		if t.Believed() && (t.Moved > 0 || s.Stirred) && !r.inBand {
			r.wonder("RC056", "what was asked for moved, and it could not be held against its slices at one moment")
		}
	case !t.Believed():
		r.wonder("RC056", "no total counts what lies outside of the slices: items that lack the key, or lie outside the range, would be in none")
		r.advise("say `slice.covers: range` if only the range is wanted, or leave from and to open and ask for items without the key by slice.without")
	case t.Moved > 0 || s.Stirred: // also where as many are held as were ever declared: those that went meanwhile are among them
		r.wonder("RC056", "the total of the whole moved, and it could not be shown at one moment that no item lies outside of the slices")
		r.advise("say `slice.covers: range` if only the range is wanted, or read the source while it is quieter")
	}
}

// counted reports that the whole's total counts all that is held, and nothing
// stirred meanwhile.
func (r *ruler) counted() bool { return r.inBand && r.f.Totals.Moved == 0 && !r.f.Slices.Stirred }

// short is how many items are known to be missing.
func (r *ruler) short() int64 {
	if r.missing == nil {
		return 0
	}
	return *r.missing
}

func beyond(n judge.Count) string {
	if !n.OK {
		return ""
	}
	return fmt.Sprintf("; %s outside of it or lack the key", lie(n.N))
}

func lay(n int64) string {
	if n == 1 {
		return "1 item lay"
	}
	return fmt.Sprintf("%s items lay", num(n))
}

func lie(n int64) string {
	if n == 1 {
		return "1 item lies"
	}
	return fmt.Sprintf("%s items lie", num(n))
}
