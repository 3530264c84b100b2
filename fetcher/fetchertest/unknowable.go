package fetchertest

import (
	"slices"

	"lastdrop/internal/sim"
	"lastdrop/judge/reconcile"
)

// settled says why a COMPLETE with items missing does not break the law in
// this world: every answer is what an honest source without those items could
// have given. "" where it does. The Sim's own word (Truth.Unknowable) tries a
// few such sources; three kinds are told apart by how the items were lost.
func (r Result) settled(lost []string) string {
	t := r.Sim.Truth()
	lost = r.unhidden(lost)
	switch {
	case len(lost) == 0:
		return "the source never served those items, and no believed total counts them"
	case r.movedAway(lost):
		return "an unread item moved into what had been read: an insert there and a delete here would have given the same answers"
	case r.Sim.Counts()["swap"] > 0 && len(lost) <= r.removals() && r.Facts.Movement.Verified() && r.Facts.Distinct >= r.Facts.Totals.Last:
		return "an unsteady order moved an unread item behind the walk, and one that was deleted is held in its place: an honest source without the one and with the other gives the same answers"
	case len(lost) <= r.lagging():
		return "a stale replica answered as a source whose newest items were deleted and put back"
	case t.Unknowable:
		return "the sim: " + t.Reason
	case r.Facts.Passes > 1 && t.LastWalk:
		return "the sim: the last walk, taken alone, is what an honest source gives"
	case r.Facts.Everything.Clean() && !r.stirred() && r.Facts.Conflicts == 0 && len(lost) <= r.removals()+r.lagging():
		return "the source moved without a trace"
	case r.fellAsIfDeleted():
		return "a wrong total fell to fewer than are held: an honest one does where items are deleted behind the walk"
	case r.agreesWronglyWith():
		return "the server's exact total is wrong, agrees with what it served, and the request past it brought nothing"
	case r.liar() && !r.Facts.Totals.Believed() && r.Facts.Lied == "" && r.Facts.Unconfirmed == "":
		return "the end was said, in words or by the documented contract, and no exact total contradicts it"
	case r.Sim.Counts()["keep_few"] > 0:
		return "the source serves no more than its first items, and its totals agree"
	case r.endedOnEmptyPage():
		return "an explicit end word on an empty page, which settles what the pages before it offered"
	case r.skippedBehindToken():
		return "the server's own opaque token skipped items, and nothing counts them"
	}
	return ""
}

// unhidden gives the lost items that are none of those that the source never
// serves and that no total counts: dropped in agreement with its total, or
// with no exact total to contradict it.
func (r Result) unhidden(lost []string) (rest []string) {
	never, nameless := map[string]bool{}, 0
	for _, f := range r.Sim.Faults {
		drop, ok := f.Effect.(sim.Drop)
		if !ok || (!drop.Agrees && r.Facts.Totals.Believed() && r.Sim.API.Total.Kind != sim.TotalJitter) {
			continue
		}
		for _, it := range r.Sim.World.Items {
			if int(it.Seq)%drop.Every != drop.Every-1 {
				continue
			}
			if it.ID.Kind == sim.NoID || it.ID.Kind == sim.NullID {
				nameless++
				continue
			}
			never[r.Sim.Key(it)] = true
		}
	}
	for _, k := range lost {
		if never[k] {
			continue
		}
		if nameless--; nameless < 0 {
			rest = append(rest, k)
		}
	}
	return rest
}

// liar reports whether the world ends its list early in just the way that its
// API documents an end, or leaves items out of pages that may be short.
func (r Result) liar() bool {
	fired, h := r.Sim.Counts(), r.Sim.Hints()
	for _, f := range r.Sim.Faults {
		if st, ok := f.Effect.(sim.Status); ok && st.Code == h.EndStatus && fired["status"] > 0 {
			return true
		}
	}
	return fired["cap_end"]+fired["end_early"]+fired["short_page"]+fired["cap_empty"]+fired["cap_clamp"]+fired["cap_error"]+fired["cap_collapse"]+fired["cap_repeat"]+fired["empty_glitch"] > 0
}

// lagging is how many of the newest items stale replicas left out.
func (r Result) lagging() int {
	n := 0
	for _, f := range r.Sim.Faults {
		if lag, ok := f.Effect.(sim.Lag); ok && r.Sim.Counts()["lag"] > 0 {
			n += lag.Items
		}
	}
	return n
}

// movedAway reports whether no more items are lost than the world moved, in a
// walk whose borders were all verified.
func (r Result) movedAway(lost []string) bool {
	moves := 0
	for _, c := range r.Sim.World.Changes {
		if c.Op == sim.Move {
			moves++
		}
	}
	return len(lost) <= moves && r.Facts.Movement.Verified()
}

// stirred reports whether a run of slices showed that something moved: its own
// movement is that of the first walk alone.
func (r Result) stirred() bool {
	s := r.Facts.Slices
	return s != nil && (s.Stirred || r.Facts.Totals.Moved > 0)
}

// removals is how many items the world took out of a place.
func (r Result) removals() int {
	n := 0
	for _, c := range r.Sim.World.Changes {
		if c.Op == sim.Delete || c.Op == sim.Move {
			n++
		}
	}
	if every := r.Sim.World.Churn.Every; every > 0 {
		n += r.Sim.Requests() / every
	}
	return n
}

// fellAsIfDeleted reports whether a jittering total did nothing but fall, and
// all that it declared at first is held, by a walk whose borders all fit.
func (r Result) fellAsIfDeleted() bool {
	t, m := r.Facts.Totals, r.Facts.Everything
	fell := t.Last == t.Min && t.Variation == t.Max-t.Min
	return r.Sim.API.Total.Kind == sim.TotalJitter && fell && r.Facts.Distinct == t.Max && m.Verified() && m.Shifts == 0
}

// agreesWronglyWith reports whether a wrong exact total equals what was held,
// and the last answer, past it, was no further page; or whether the fault made
// every total of the run wrong in the same way, so that none of them differs.
func (r Result) agreesWronglyWith() bool {
	kind := r.Sim.API.Total.Kind
	still := kind == sim.TotalJitter && r.Facts.PassTotals.Moved == 0 // in the last walk, it might as well be fixed
	if kind != sim.TotalFixed && kind != sim.TotalEcho && !still && r.Sim.Counts()["wrong_total"] == 0 {
		return false
	}
	if len(r.Memory.Attempts) == 0 {
		return false
	}
	if s := r.Facts.Slices; s != nil {
		t := r.Facts.Totals // of totals that are none, any band is as good as another
		return r.Facts.Distinct >= t.Min && r.Facts.Distinct <= t.Max
	}
	if r.Facts.PassItems != r.Facts.PassTotals.Last {
		return false
	}
	if kind == sim.TotalFixed && r.Facts.Totals.Moved == 0 && r.Facts.EndStrength >= reconcile.Declared {
		return true
	}
	if n := r.Sim.Counts()["wrong_total"]; n >= r.Facts.Totals.Live && r.Facts.Totals.Min == r.Facts.Totals.Max && r.Facts.Repeated == 0 {
		return true
	}
	last := r.Memory.Attempts[len(r.Memory.Attempts)-1]
	return last.Outcome != reconcile.Held || last.New == 0
}

// endedOnEmptyPage reports whether the run rests on an explicit end that came
// with an empty page, and no total counts more.
func (r Result) endedOnEmptyPage() bool {
	for _, a := range slices.Backward(r.Memory.Attempts) {
		if a.Outcome == reconcile.Held {
			return a.Items == 0 && a.More == "ended"
		}
	}
	return false
}

// skippedBehindToken reports whether items were skipped by a token or link
// that a client cannot look into, where no believed total counts them. The token
// of a page in another order skips too, where no item came again.
func (r Result) skippedBehindToken() bool {
	fired := r.Sim.Counts()
	shuffled := fired["shuffle"] > 0 && r.Facts.Everything.Clean() && r.Facts.Repeated == 0
	if r.Facts.Totals.Believed() || fired["skip"] == 0 && !shuffled {
		return false
	}
	return r.Sim.API.Addressing == sim.ByToken || (r.Sim.API.Addressing == sim.ByKey && r.Sim.API.Style == sim.Link) || r.Sim.API.Addressing == sim.ByKey && r.Sim.API.Style == sim.NextURL
}
