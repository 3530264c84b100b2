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
	switch at, read := unread(s.log); {
	case len(s.log) < s.n || s.n == 0:
		return false, "there is no full record"
	case !slices.ContainsFunc(t.Always, func(k string) bool { return !t.Served[k] }):
		return false, "every item was served"
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
	if len(s.log) < s.n || !slices.ContainsFunc(t.Always, func(k string) bool { return !t.Served[k] }) {
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

// witnessed reports whether some honest source, quiet and made of the items of
// a log alone, gives the log's answers.
func (s *Sim) witnessed(log []Entry) bool {
	eager := s.api.honest()
	eager.Eager = true
	for _, order := range []func([]Entry) []Item{servedInTurn, servedByPlace, s.servedSorted} {
		items := order(log)
		if s.replays(s.api.honest(), items, log) || s.replays(eager, items, log) {
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
	case TotalEcho, TotalFixed, TotalJitter:
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
// Tokens may differ in their text, for nobody can read it.
func (s *Sim) replays(api API, items []Item, log []Entry) bool {
	world := s.World
	world.Items, world.Changes, world.Churn = items, nil, Churn{}
	world.Unordered = !slices.IsSortedFunc(items, world.compare)
	if world.Unordered && s.api.Addressing == ByKey {
		return false
	}
	var faults []Fault
	for _, f := range s.Faults {
		if f.Effect.harm() == harmless {
			faults = append(faults, f)
		}
	}
	w := witness{New(world, api, s.Seed, faults...), map[string]string{}}
	w.sim.Contract = s.Contract
	told := false
	for _, e := range log {
		if e.Void {
			continue
		}
		got := w.repeat(e)
		if DebugW != nil && got.digest != e.digest {
			DebugW(e, got, w.sim.lastBody)
		}
		if got.digest != e.digest || !w.learn(e.handed, got.handed) {
			return false
		}
		told = told || w.sim.tellsEnd(got)
	}
	return told
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

var DebugW func(a, b Entry, body string)
