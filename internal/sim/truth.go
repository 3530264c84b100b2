package sim

import "slices"

// Truth is what a run is held against. Identities are in the form of
// [Sim.KeyOf].
type Truth struct {
	// Always are the items that existed from the first request to the last, in
	// the order that the list has now. A run that says COMPLETE must hold them.
	Always []string
	// Ever are all that existed at some time, and what was served in the place
	// of an item, such as a notice. A run may hold nothing else.
	Ever map[string]bool
	// Served are the items on pages that could be read whole.
	Served map[string]bool
	// Drainable: a client with retries, smaller sizes and the ends that
	// [ClientHints] documents is bound to reach COMPLETE at the strength that
	// the hints require. False is no claim.
	Drainable bool
	// Why says what stands in the way of Drainable.
	Why string
	// Unknowable: items of Always were never served, and yet there is an
	// unchanging, honest source without them that would have given the very
	// answers of this run, down to the word that this is the end (by the API or
	// by the Contract). COMPLETE is right to say then, though wrong.
	Unknowable bool
	// Reason says how that is known, or what gave the loss away.
	Reason string
	// LastWalk: the run as a whole gave the loss away, or told that something
	// moved; the answers since one of the last requests for the start of the
	// list, taken alone, did not. A client that counts on one clean walk cannot
	// know either.
	LastWalk bool
}

// Truth judges the run so far.
func (s *Sim) Truth() Truth {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := Truth{
		Always: s.keys(s.inScope(s.World.Always(s.n))),
		Ever:   make(map[string]bool), Served: make(map[string]bool),
	}
	for _, it := range s.inScope(s.World.Ever(s.n)) {
		t.Ever[s.Key(it)] = true
	}
	for _, e := range s.log {
		for _, it := range e.items {
			t.Served[s.Key(it)] = true
		}
		for _, k := range e.others {
			t.Ever[k] = true
		}
	}
	t.Drainable, t.Why = s.drainable()
	t.Unknowable, t.Reason = s.unknowable(t)
	t.LastWalk = !t.Unknowable && s.cleanWalk(t)
	return t
}

// inScope are the items that the documented query asks for.
func (s *Sim) inScope(items []Item) []Item {
	if s.api.Filter.Group == "" {
		return items
	}
	return filter(items, func(it Item) bool { return s.World.group(it) == "A" })
}

// drainable judges the data of the Sim; see [Truth].
func (s *Sim) drainable() (bool, string) {
	checks := []func() string{s.worldHurdle, s.apiHurdle, s.endHurdle}
	for _, check := range checks {
		if why := check(); why != "" {
			return false, why
		}
	}
	for _, f := range s.Faults {
		switch f.Effect.harm() {
		case harmless:
		case passing:
			if !f.Match.letsGo() {
				return false, f.Effect.Name() + " may never let go"
			}
		default:
			return false, f.Effect.Name() + " takes items away"
		}
	}
	return true, ""
}

// letsGo reports whether some attempt, or some smaller size, always passes.
func (m Match) letsGo() bool {
	if len(m.Attempts) > 0 {
		return slices.Max(m.Attempts) <= 3
	}
	return m.SizeOver > 0
}

// worldHurdle is what in the world keeps a client from certainty.
func (s *Sim) worldHurdle() string {
	switch {
	case len(s.World.Items) == 0:
		return "an empty list proves little"
	case len(s.World.Changes) > 0 || s.World.Churn.Every > 0:
		return "the world moves"
	}
	return ""
}

// apiHurdle is what in the API's rules loses items.
func (s *Sim) apiHurdle() string {
	a := s.api
	switch {
	case a.Total.Kind == TotalEcho || a.Total.Kind == TotalFixed || a.Total.Kind == TotalJitter:
		return "the total is wrong"
	case a.Last.Size > 0:
		return "the page count is wrong"
	case a.Next.Asked && a.Size.Max > 0:
		return "next links may skip items"
	case a.Addressing == ByKey && !s.unique() && !a.Key.ID && !a.Key.ByItem:
		return "a keyset over ties skips items"
	case len(a.Plan) > 0:
		return "the server plans its own pages"
	}
	return ""
}

// endHurdle is what keeps the end from being told.
func (s *Sim) endHurdle() string {
	a := s.api
	switch {
	case a.Style == Single && a.More.Path == "" && a.More.Header == "":
		return "a single answer says nothing about itself"
	case !a.explicit() && len(s.Contract.Ends) == 0:
		return "nothing tells the end"
	}
	return ""
}
