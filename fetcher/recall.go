package fetcher

import (
	"context"
	"fmt"

	"lastdrop/internal/slicing"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A reach that an earlier run met is only a guess. It cuts what declares more
// than it, early, and nothing else: a walk that ends near it has just ended.
// Where slices that were made so do not show that all is held, and no walk of
// this run met a reach, the whole is walked without it.

// knownBefore is the reach text of a walk that was stopped before it met one.
const knownBefore = "known before"

// meet takes up a reach that a walk of this run met.
func (d *drain) meet(n int64) { d.run.Plan.Reach, d.run.Recalled = n, false }

// surest is the reach that walks are held against: one that is only recalled
// is none.
func (d *drain) surest() int64 {
	if d.run.Recalled {
		return 0
	}
	return d.run.Plan.Reach
}

// doubtRecalled begins the walk of the whole without the recalled reach, and
// reports whether there is need of it. gaveUp says why slices were given up, ""
// if all were asked for.
func (d *drain) doubtRecalled(ctx context.Context, gaveUp string) (bool, error) {
	if !d.run.Recalled || d.run.Anew || gaveUp == "" && d.provenBySlices() {
		return false, nil
	}
	p := d.run.Plan
	d.event("reach", fmt.Sprintf("no walk of this run met the reach of %d, and its slices do not show that all is held: the whole is read without it", p.Reach))
	d.run.Anew, d.run.GaveUp = true, gaveUp
	p.Last++
	p.Frames, p.Now = nil, slicing.Slice{ID: p.Last, Parent: p.Root.ID, Bounds: p.Root.Bounds}
	return true, d.beginSlice(ctx)
}

// provenBySlices reports whether the slices show that all is held.
func (d *drain) provenBySlices() bool {
	d.run.Done = true
	f := d.facts()
	d.run.Done = false
	f.Tolerance, f.MaxDrift, f.MaxFall, f.Sentinel = d.opt.Tolerance, d.opt.MaxDrift, 100, reconcile.Sentinel{}
	return reconcile.Rule(f).Verdict == judge.Complete
}

// endAgain takes up the end of that walk. If it met no reach, it is the run's
// only one; else what the slices came to stands.
func (d *drain) endAgain() {
	p, s := d.run.Plan, d.state
	over := d.over()
	f := d.walkFacts()
	became := slicing.Leaf
	if over {
		became = slicing.Split
	}
	d.pending.Slices = append(d.pending.Slices, d.sliceRow(p.Now, became, f))
	if !over {
		d.run.Whole, d.run.Done = nil, true
		return
	}
	if s.Reach.OK && s.Reach.N > 0 {
		d.meet(s.Reach.N)
	}
	if d.run.GaveUp != "" {
		s.stop(reconcile.StopReach, d.run.GaveUp)
		return
	}
	d.run.Done = true
}
