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
func (r Result) settled() string {
	t := r.Sim.Truth()
	switch {
	case t.Unknowable:
		return "the sim: " + t.Reason
	case r.endedOnEmptyPage():
		return "an explicit end word on an empty page, which settles what the pages before it offered"
	case r.skippedBehindToken():
		return "the server's own opaque token skipped items, and nothing counts them"
	}
	return ""
}

// endedOnEmptyPage reports whether the run rests on an explicit end that came
// with an empty page and no believed total.
func (r Result) endedOnEmptyPage() bool {
	if r.Ruling.Strength != reconcile.Declared || r.Facts.Totals.Believed() {
		return false
	}
	for _, a := range slices.Backward(r.Memory.Attempts) {
		if a.Outcome == reconcile.Held {
			return a.Items == 0 && a.More == "ended"
		}
	}
	return false
}

// skippedBehindToken reports whether items were skipped by a token or link
// that a client cannot look into, where no believed total counts them.
func (r Result) skippedBehindToken() bool {
	if r.Facts.Totals.Believed() || r.Sim.Counts()["skip"] == 0 {
		return false
	}
	return r.Sim.API.Addressing == sim.ByToken || (r.Sim.API.Addressing == sim.ByKey && r.Sim.API.Style == sim.Link) || r.Sim.API.Addressing == sim.ByKey && r.Sim.API.Style == sim.NextURL
}
