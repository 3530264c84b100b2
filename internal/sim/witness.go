package sim

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// unknowable looks for a witness: an unchanging list made of what was served
// alone, that answers every request of the run as it was answered.
func (s *Sim) unknowable(t Truth) (bool, string) {
	lost := s.lost(t)
	switch at, read := unread(s.log); {
	case len(s.log) < s.n || s.n == 0:
		return false, "there is no full record"
	case len(lost) == 0:
		return false, "every item was served"
	case s.hidden(lost) && slices.ContainsFunc(s.log, s.tellsEnd):
		return true, "the items that were lost are left out of every answer and of every total"
	case !read:
		return false, "no page came from " + at
	case s.witnessed(s.log):
		return true, "an unchanging list of the items served gives the same answers"
	default:
		return false, "no unchanging list of the items served gives the same answers"
	}
}

// walks is how many starts of a walk cleanWalk looks at.
const walks = 3

// cleanWalk looks for a witness of what came since a start of the list.
func (s *Sim) cleanWalk(t Truth) bool {
	if len(s.log) < s.n || len(s.lost(t)) == 0 {
		return false
	}
	left := walks
	for i := len(s.log) - 1; i > 0 && left > 0; i-- {
		if !s.log[i].start {
			continue
		}
		left--
		if _, read := unread(s.log[i:]); read && s.witnessed(s.log[i:]) {
			return true
		}
	}
	return false
}

// lost are the items of Always that were never served, by their Seq.
func (s *Sim) lost(t Truth) map[int32]bool {
	out := make(map[int32]bool)
	for _, it := range s.inScope(s.World.Always(s.n)) {
		if !t.Served[s.Key(it)] {
			out[it.Seq] = true
		}
	}
	return out
}

// hidden reports whether all these items were out of sight in every answer of
// the run, totals and all: the same server over a world without them would have
// answered the same, whatever else it does wrong.
func (s *Sim) hidden(lost map[int32]bool) bool {
	var hiders []func([]Item) []Item
	for _, f := range s.Faults {
		if h := s.hider(f); h != nil {
			hiders = append(hiders, h)
		}
	}
	if hiders == nil {
		return false
	}
	line := newTimeline(s.World)
	for k := 1; k <= s.n; k++ {
		if !line.advance(k) && k > 1 {
			continue
		}
		items := line.items
		for _, hide := range hiders {
			items = hide(items)
		}
		if slices.ContainsFunc(items, func(it Item) bool { return lost[it.Seq] }) {
			return false
		}
	}
	return true
}

// hider is what a fault leaves of a list, if it always does and nothing tells;
// nil for other faults.
func (s *Sim) hider(f Fault) func([]Item) []Item {
	if f.Match.narrow() {
		return nil
	}
	switch e := f.Effect.(type) {
	case Drop:
		if e.Agrees {
			return func(items []Item) []Item { return filter(items, e.keeps) }
		}
	case Keep:
		return func(items []Item) []Item { return items[:min(e.Items, len(items))] }
	case GroupCap:
		return func(items []Item) []Item { return e.cut(s.World, items) }
	case Cap:
		if e.Past == CapEnd && !e.Whole && !s.api.counts() && s.api.Filter == (FilterRule{}) {
			return func(items []Item) []Item { return items[:min(e.At, len(items))] }
		}
	}
	return nil
}

// narrow reports whether a match leaves some requests out.
func (m Match) narrow() bool {
	return m.Page > 0 || m.From > 0 || m.To > 0 || m.SizeOver > 0 || len(m.Attempts) > 0 || m.Every > 0 || m.After > 0 ||
		m.Percent > 0 || m.UnlessHeader != "" || m.IfHeader != "" || m.UnlessParam != "" || m.Wide > 0
}

// counts reports whether the API has some word for how many items there are.
func (a API) counts() bool {
	counted := a.Total.Kind != TotalNone && a.Total.Kind != TotalEstimate && a.Total.Kind != TotalEcho
	return counted || a.Last != (LastRule{}) || a.Links.Last || a.Count != "" || a.PastEnd != PastEmpty
}

// witnessed reports whether some honest source, quiet and made of the items of
// a log alone, gives the log's answers.
func (s *Sim) witnessed(log []Entry) bool {
	for _, order := range []func([]Entry) []Item{servedInTurn, servedByPlace, s.servedSorted} {
		items := order(log)
		if s.replays(items, log, false) || s.replays(items, log, true) {
			return true
		}
	}
	return false
}

// unread names a place that was asked for and never answered with a page.
func unread(log []Entry) (string, bool) {
	for _, e := range log {
		if e.Void && !slices.ContainsFunc(log, func(o Entry) bool { return o.covers(e) }) {
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
	case TotalFixed, TotalJitter:
		a.Total.Kind = TotalExact
	}
	a.Last.Size = 0
	a.Next.Asked = false
	return a
}

// witness is a quiet, honest source that is asked what another was asked.
type witness struct {
	sim *Sim
	// tokens are its own words for the tokens of the other.
	tokens map[string]string
}

// replays reports whether a quiet, honest source of these items gives every
// answer of the log from which a page can be read, and tells its end in one.
// Tokens may differ in their text, for nobody can read it. A coy source may say
// that there is more where nothing is left but an empty page.
func (s *Sim) replays(items []Item, log []Entry, coy bool) bool {
	world := s.World
	world.Items, world.Changes, world.Churn = items, nil, Churn{}
	world.Unordered = !slices.IsSortedFunc(items, world.compare)
	if world.Unordered && s.api.Addressing == ByKey {
		return false
	}
	w := witness{New(world, s.api.honest(), s.Seed, s.oddities()...), map[string]string{}}
	w.sim.Contract = s.Contract
	told := false
	for _, e := range log {
		if e.Void {
			continue
		}
		w.sim.coy = coy && e.more
		got := w.repeat(e)
		if got.digest != e.digest || !w.learn(e.handed, got.handed) {
			return false
		}
		told = told || w.sim.tellsEnd(got)
	}
	return told
}

// oddities are the faults that an honest source may have.
func (s *Sim) oddities() []Fault {
	var out []Fault
	for _, f := range s.Faults {
		odd := f.Effect.harm() == harmless
		switch f.Effect.(type) {
		case Notice:
			odd = true
		case Short:
			odd = s.api.Addressing != ByPage
		}
		if odd {
			out = append(out, f)
		}
	}
	return out
}

// learn pairs two tokens that were handed out on the same occasion; false where
// the first has another partner.
func (w witness) learn(theirs, ours string) bool {
	if had, ok := w.tokens[theirs]; ok && theirs != "" {
		return had == ours
	}
	w.tokens[theirs] = ours
	return true
}

// repeat asks again what an entry asked.
func (w witness) repeat(e Entry) Entry {
	place, target, body := e.Place, e.URL, e.Body
	if ours := w.tokens[e.sent]; e.sent != "" && ours != "" {
		place = strings.ReplaceAll(place, e.sent, ours)
		target = strings.ReplaceAll(target, e.sent, ours)
		body = strings.ReplaceAll(body, e.sent, ours)
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		u = &url.URL{Path: "/"}
	}
	q := &request{method: e.Method, url: u, host: e.host, scheme: e.scheme, header: e.header, body: []byte(body)}
	q.parse()
	s := w.sim
	s.n = e.N - 1
	s.attempts[place] = e.Attempt - 1
	s.forced = &e.total
	s.exchange(q)
	return s.log[len(s.log)-1]
}

// tellsEnd reports whether an honest answer says that the list ends there.
func (s *Sim) tellsEnd(e Entry) bool {
	switch {
	case e.Void || e.more:
		return false
	case s.api.explicit():
		return true
	case slices.Contains(s.Contract.Ends, "empty_page"):
		// One item is none where it is the one that pages overlap by.
		overlap := s.api.Key.Inclusive || (s.api.Addressing == ByOffset && e.Size > 1)
		return e.Items == 0 || (overlap && e.Items == 1)
	default:
		return len(s.Contract.Ends) > 0
	}
}
