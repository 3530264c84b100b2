package sim

import (
	"cmp"
	"net/url"
	"slices"
)

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
		t.Ever[s.key(it)] = true
	}
	for _, e := range s.log {
		for _, it := range e.items {
			t.Served[s.key(it)] = true
		}
		for _, k := range e.others {
			t.Ever[k] = true
		}
	}
	t.Drainable, t.Why = s.drainable()
	t.Unknowable, t.Reason = s.unknowable(t)
	return t
}

// inScope are the items that the documented query asks for.
func (s *Sim) inScope(items []Item) []Item {
	if s.api.Filter.Group == "" {
		return items
	}
	return filter(items, func(it Item) bool { return s.World.group(it) == "A" })
}

// unknowable looks for a witness: a list made of what was served alone, that
// answers every request of the run as it was answered.
func (s *Sim) unknowable(t Truth) (bool, string) {
	if len(s.log) < s.n || s.n == 0 {
		return false, "there is no full record"
	}
	if !slices.ContainsFunc(t.Always, func(k string) bool { return !t.Served[k] }) {
		return false, "every item was served"
	}
	if at, ok := s.unread(); !ok {
		return false, "no page came from " + at
	}
	eager := s.api.honest()
	eager.Eager = true
	for _, order := range []func([]Entry) []Item{servedInTurn, servedByPlace, s.servedSorted} {
		items := order(s.log)
		if s.replays(s.api.honest(), items) || s.replays(eager, items) {
			return true, "an unchanging list of the items served gives the same answers"
		}
	}
	return false, "no unchanging list of the items served gives the same answers"
}

// unread names a place that was asked for and never answered with a page.
func (s *Sim) unread() (string, bool) {
	for _, e := range s.log {
		if e.Void && !slices.ContainsFunc(s.log, func(o Entry) bool { return o.covers(e) }) {
			return e.Place, false
		}
	}
	return "", true
}

// covers reports whether an entry is a page that reads where another did.
func (e Entry) covers(o Entry) bool {
	if e.Void {
		return false
	}
	return e.Place == o.Place || (e.From <= o.From && o.From < e.From+max(e.Items, 1))
}

// servedInTurn are the items in the order in which they came.
func servedInTurn(log []Entry) []Item {
	var out []Item
	seen := make(map[int32]bool)
	for _, e := range log {
		for _, it := range e.items {
			if !seen[it.Seq] {
				seen[it.Seq] = true
				out = append(out, it)
			}
		}
	}
	return out
}

// servedByPlace are the items in the order of the places that they came from.
func servedByPlace(log []Entry) []Item {
	sorted := slices.Clone(log)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return cmp.Compare(a.From, b.From) })
	return servedInTurn(sorted)
}

// servedSorted are the items in the world's order.
func (s *Sim) servedSorted(log []Entry) []Item {
	items := servedInTurn(log)
	slices.SortStableFunc(items, s.World.compare)
	return items
}

// honest is the same API without a lie in its rules.
func (a API) honest() API {
	switch a.Total.Kind {
	case TotalEcho, TotalFixed, TotalJitter:
		a.Total.Kind = TotalExact
	}
	a.Last.Size = 0
	a.Next.Asked = false
	return a
}

// replays reports whether a quiet, honest source of these items gives every
// answer of the log from which a page can be read, and tells its end in one.
func (s *Sim) replays(api API, items []Item) bool {
	w := s.World
	w.Items, w.Changes, w.Churn = items, nil, Churn{}
	w.Unordered = !slices.IsSortedFunc(items, w.compare)
	if w.Unordered && s.api.Addressing == ByKey {
		return false
	}
	var faults []Fault
	for _, f := range s.Faults {
		if f.Effect.harm() == harmless {
			faults = append(faults, f)
		}
	}
	r := New(w, api, s.Seed, faults...)
	r.Contract = s.Contract
	told := false
	for _, e := range s.log {
		if e.Void {
			continue
		}
		got := r.repeat(e)
		if got.digest != e.digest {
			return false
		}
		told = told || r.tellsEnd(got)
	}
	return told
}

// repeat asks again what an entry asked.
func (s *Sim) repeat(e Entry) Entry {
	s.n = e.N - 1
	s.attempts[e.Place] = e.Attempt - 1
	s.forced = &e.total
	s.exchange(e.request())
	return s.log[len(s.log)-1]
}

// tellsEnd reports whether an honest answer says that the list ends there.
func (s *Sim) tellsEnd(e Entry) bool {
	switch {
	case e.more:
		return false
	case s.api.explicit():
		return true
	case slices.Contains(s.Contract.Ends, "empty_page"):
		return e.Items == 0 || (s.api.Key.Inclusive && e.Items == 1)
	default:
		return len(s.Contract.Ends) > 0
	}
}

// request is the request of an entry.
func (e Entry) request() *request {
	u, err := url.ParseRequestURI(e.URL)
	if err != nil {
		u = &url.URL{Path: "/"}
	}
	q := &request{method: e.Method, url: u, host: e.host, scheme: e.scheme, header: e.header, body: []byte(e.Body)}
	q.parse()
	return q
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
