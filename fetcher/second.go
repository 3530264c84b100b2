package fetcher

import (
	"fmt"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// Second says how the source may be read a second time, where one reading is not
// enough. The zero value makes no second reading.
type Second struct {
	// Reverse are the parameters that turn the order round, and Size is another
	// page size to ask for; either or both.
	Reverse []adapters.Set
	Size    int
	// Require is the strength that the run needs: a reading that gives it is
	// enough.
	Require reconcile.Strength
}

// asked reports whether second readings are.
func (o Second) asked() bool { return len(o.Reverse) > 0 || o.Size > 0 }

// again is a further reading of the source in progress, with what it is held
// against. It is plain data: a checkpoint stores it.
type again struct {
	First   *reconcile.Facts  `json:"first"`   // of the first reading, at its end
	Held    int64             `json:"held"`    // distinct items of the first reading
	Rows    int               `json:"rows"`    // the most that came on one of its pages
	Reading reconcile.Reading `json:"reading"` // the one at hand
	Said    bool              `json:"said"`    // the server's own word ended the reading before
	Turn    uint32            `json:"turn"`    // in the reading before, of the last item read; 0: it had it not
}

// restart takes the readings back to the second one: a process that takes a run
// up knows no more which items the later ones had seen.
func (a *again) restart() {
	a.Reading = reconcile.Reading{Number: 2, Before: a.Held, RowsBefore: a.Rows}
	a.Said = a.First.EndReached && a.First.EndStrength >= reconcile.Declared
	a.Turn = 0
}

// readAgain begins a further reading, where the run came to its end and one that
// agrees with the one before could settle it.
func (d *drain) readAgain() error {
	if !d.run.Done || !d.opt.Second.asked() {
		return nil
	}
	if d.run.Again == nil {
		return d.readSecond()
	}
	d.ended()
	if a := d.run.Again; d.wantsReading() {
		r := a.Reading
		a.Reading = reconcile.Reading{Number: r.Number + 1, Before: r.Items, RowsBefore: r.Rows}
		a.Turn = 0
		return d.beginReading()
	}
	return nil
}

// readSecond begins the second reading, where the first one came to its end by
// itself, is not enough, and would be if another agreed with it.
func (d *drain) readSecond() error {
	if d.run.Whole != nil {
		return nil // read slice by slice: the sum of the slices is held against the whole
	}
	f := d.walkFacts()
	if d.ruling(f).Verdict == judge.Complete || !d.sound(f) {
		return nil
	}
	a := &again{First: &f, Held: d.run.Held, Rows: d.state.MaxRows}
	a.restart()
	d.run.Again = a
	return d.beginReading()
}

// beginReading starts the walk of the reading at hand.
func (d *drain) beginReading() error {
	d.run.Done = false
	d.begin(d.state)
	if err := d.openReading(); err != nil {
		return err
	}
	d.event("pass", d.run.Again.Reading.Name()+" begins")
	return nil
}

// openReading points the reader and the shape at the reading at hand: every
// other one is made in the changed way.
func (d *drain) openReading() error {
	a, o := d.run.Again, d.opt.Second
	spec := d.sliceSpec(d.sliceNow())
	sizes := [2]int{spec.Pages.SizeStart, spec.Pages.SizeStart}
	if o.Size > 0 {
		sizes[1] = o.Size
	}
	changed := 1 - a.Reading.Number%2
	if changed == 1 {
		turnRound(&spec, o.Reverse)
	}
	spec.Pages.SizeStart = sizes[changed]
	r, err := adapters.NewReader(spec)
	if err != nil {
		return fmt.Errorf("reading %d: %w", a.Reading.Number, err)
	}
	d.reader, d.shape = r, newShape(*r.Spec())
	d.seen.enter(int32(a.Reading.Number - 1))
	d.seen.compare = true
	a.Reading.Reverse = len(o.Reverse) > 0
	a.Reading.Size, a.Reading.SizeBefore = sizes[changed], sizes[1-changed]
	d.state.Size, d.state.Least = sizes[changed], sizes[changed]
	return nil
}

// turnRound sets the parameters for the reverse order, also in the place of the
// sort that is asked for else.
func turnRound(spec *adapters.Spec, sets []adapters.Set) {
	spec.Set = append(spec.Set, sets...)
	for _, set := range sets {
		if set.Param == spec.Pages.SortParam {
			spec.Pages.SortParam, spec.Pages.SortValue = "", ""
		}
	}
}

// follow notes, for the first n items of a page that are about to be held, how
// they stood in the reading before.
func (d *drain) follow(m *match, n int) {
	a := d.run.Again
	if a == nil {
		return
	}
	for i := range n {
		if !m.isNew[i] {
			continue
		}
		turn := m.turns[i]
		switch {
		case turn == 0:
			a.Reading.New++
		case a.Turn == 0:
		case turn > a.Turn:
			a.Reading.Same++
		default:
			a.Reading.Turned++
		}
		a.Turn = turn
	}
}

// ended takes up a reading that came to its end.
func (d *drain) ended() {
	r, s := &d.run.Again.Reading, d.state
	f := d.walkFacts()
	r.Items, r.Rows, r.Passes = s.Counts.Distinct, s.MaxRows, d.pass()-d.run.Again.First.Passes
	said := f.EndReached && f.EndStrength >= reconcile.Declared
	r.Said, d.run.Again.Said = said && d.run.Again.Said, said
	if !d.sound(f) {
		why := d.ruling(f)
		r.Trouble = fmt.Sprintf("reading %d did not come to an end that can be held against the one before: %s", r.Number, firstOf(f.StopText, "it moved"))
		if len(why.Evidence) > 0 {
			r.Trouble += "; " + d.hide(why.Evidence[0].Text)
		}
	}
	d.event("end", fmt.Sprintf("reading %d: %d items, %d of them new to the reading before, %d of its items not seen again", r.Number, r.Items, r.New, r.Missed()))
}

// wantsReading reports whether one more reading could settle what two that
// disagree could not: the source may have moved between them.
func (d *drain) wantsReading() bool {
	r := &d.run.Again.Reading
	return r.Trouble == "" && !r.Agrees() && !r.Capped() && d.pass() < d.opt.Passes
}

// ruling rules on a walk as the run would be ruled on, as far as the fetcher
// knows what the operator asks for.
func (d *drain) ruling(f reconcile.Facts) reconcile.Ruling {
	f.Tolerance, f.MaxDrift, f.MaxFall, f.Require = d.opt.Tolerance, d.opt.MaxDrift, 100, d.opt.Second.Require
	return reconcile.Rule(f)
}

// sound reports whether a walk went on until nothing further came and has nothing
// else to answer for, so that another one that agrees with it would make it
// COMPLETE.
func (d *drain) sound(f reconcile.Facts) bool {
	switch f.Stop {
	case reconcile.StopEnd, reconcile.StopNotSaid, reconcile.StopLoop, reconcile.StopRefused:
	default:
		return false
	}
	if f.Held == 0 {
		return false
	}
	f.Distinct = max(2, f.Distinct)
	f.Second = &reconcile.Reading{Reverse: true, Number: 2, Items: f.Distinct, Before: f.Distinct, Turned: f.Distinct - 1}
	return d.ruling(f).Verdict == judge.Complete
}

// readingFacts are the facts of the first reading, with what came of the further
// ones. now are those of the walk at hand.
func (d *drain) readingFacts(now reconcile.Facts) reconcile.Facts {
	a := d.run.Again
	f := *a.First
	f.Counts, f.Waited, f.Sentinel, f.Newest = now.Counts, now.Waited, now.Sentinel, now.Newest
	f.Conflicts, f.SameID = d.run.Kept.Conflicts+d.state.Conflicts, d.run.Kept.SameID+d.state.SameID
	f.Examples = append(d.run.Kept.Examples, d.state.Examples...)[:min(3, len(d.run.Kept.Examples)+len(d.state.Examples))]
	if !d.run.Done { // stopped on the way
		f.Stop, f.StopText, f.At = now.Stop, now.StopText, now.At
		return f
	}
	r := a.Reading
	f.Second = &r
	return f
}

// passOf is the number of the pass at hand: of the slice, or of the whole source
// over all readings of it.
func (d *drain) passOf() int {
	if d.slice() == 0 {
		return d.pass()
	}
	return d.state.Pass
}
