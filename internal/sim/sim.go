package sim

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Sim is a hostile API over a world. The exported fields are its data and must
// not be changed once it has served; the rest is the state of one run. All
// methods may be called from several goroutines; answers depend on the order
// of requests.
type Sim struct {
	World  World
	API    API
	Faults []Fault
	Seed   uint64
	// Contract is what the operator of a client may rely on beyond the answers;
	// see [Contract].
	Contract Contract
	// LogLimit keeps the record of about so many requests, for servers that run
	// for long; 0 keeps all. A Truth whose record is cut is never Unknowable.
	LogLimit int

	api API

	mu       sync.Mutex
	n        int
	line     *timeline
	attempts map[string]int
	snaps    [][]Item
	log      []Entry
	counts   map[string]int
	// forced is the estimate that a replay repeats.
	forced *total
	// coy: the replay says that there is more, whatever is left.
	coy bool
}

// New is a Sim over the given data, at its start.
func New(w World, a API, seed uint64, faults ...Fault) *Sim {
	s := &Sim{World: w, API: a, Faults: faults, Seed: seed}
	s.Reset()
	return s
}

// Reset puts the world, the log and the counts back to the start.
func (s *Sim) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset()
}

func (s *Sim) reset() {
	s.api = s.API.normal()
	s.n = 0
	s.line = newTimeline(s.World)
	s.attempts = make(map[string]int)
	s.counts = make(map[string]int)
	s.snaps, s.log = nil, nil
}

// Entry is the record of one request.
type Entry struct {
	// N counts the requests from 1.
	N           int
	Method, URL string
	Body        string
	// Place is the request's place in words, From the index that it fell on.
	Place string
	From  int
	// Asked is the size in the request (0: none), Size the one in force.
	Asked, Size int
	// Attempt counts the requests for this place.
	Attempt int
	// Faults are the names of the effects that changed the answer.
	Faults []string
	Status int
	// Items is the number of items on the page, nulls and notices left out.
	Items int
	// Void: no page can be read from the answer.
	Void bool

	items  []Item
	others []string
	// sent and handed are opaque tokens of the request and of the answer.
	sent, handed string
	start        bool
	more         bool
	total        total
	digest       uint64
	host         string
	scheme       string
	header       http.Header
}

// Log is what was asked so far.
func (s *Sim) Log() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Requests is the number of requests so far.
func (s *Sim) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// Counts says how often each effect changed an answer.
func (s *Sim) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// exchange answers one request.
func (s *Sim) exchange(q *request) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line == nil {
		s.reset()
	}
	s.n++
	s.line.advance(s.n)
	x := &exchange{sim: s, api: &s.api, req: q, n: s.n}
	switch {
	case s.api.Count != "" && strings.HasSuffix(q.url.Path, s.api.Count):
		x.count()
	case !s.serves(q.url.Path):
		x.answerError(http.StatusNotFound, "no such collection: "+q.url.Path)
		x.void = true
	default:
		x.run()
	}
	s.record(x)
	return x.ans
}

// serves reports whether a path is the collection's, below any prefix.
func (s *Sim) serves(path string) bool { return strings.HasSuffix(path, s.api.Path) }

// count answers a count request.
func (x *exchange) count() {
	x.view = x.api.newView(x.sim.World, x.sim.line.items, x.req)
	body := append(rawInt(len(x.view.items)), '}')
	x.ans = newAnswer(http.StatusOK, "application/json", append([]byte(`{"count":`), body...))
	x.sign()
}

// record notes the exchange.
func (s *Sim) record(x *exchange) {
	fired := slices.DeleteFunc(x.fired, func(name string) bool { return name == "" })
	for _, name := range fired {
		s.counts[name]++
	}
	e := Entry{
		N: s.n, Method: x.req.method, URL: x.req.url.RequestURI(), Body: string(x.req.body),
		Place: x.asked.label(), From: x.from, Asked: x.ask.asked, Size: x.ask.size,
		Attempt: x.attempt, Faults: fired, Status: x.ans.status, Void: x.void,
		more: x.page.more, total: x.page.total, host: x.req.host, scheme: x.req.scheme, header: x.req.header,
		digest: x.ans.signed, handed: x.handed, start: x.asked.start,
	}
	if p := x.asked; p.how == ByToken && p.tok.kind != TokenPage {
		e.sent = p.raw
	}
	if !x.void {
		e.items = x.page.items()
		e.Items = len(e.items)
	}
	e.others = s.others(x.page.rows)
	s.log = append(s.log, e)
	if s.LogLimit > 0 && len(s.log) > 2*s.LogLimit {
		s.log = append(s.log[:0], s.log[len(s.log)-s.LogLimit:]...)
	}
}

// others are the identities of rows that look like items and are none.
func (s *Sim) others(rows []row) []string {
	var out []string
	for _, r := range rows {
		if r.raw == nil {
			continue
		}
		if k, err := s.KeyOf(r.raw); err == nil {
			out = append(out, k)
		}
	}
	return out
}

// attempt counts requests for a place.
func (s *Sim) attempt(label string) int {
	s.attempts[label]++
	return s.attempts[label]
}

// keepSnapshot stores a list and names it; an equal one keeps its name.
func (s *Sim) keepSnapshot(items []Item) int {
	for i, snap := range s.snaps {
		if len(snap) == len(items) && (len(snap) == 0 || &snap[0] == &items[0]) {
			return i + 1
		}
	}
	s.snaps = append(s.snaps, items)
	return len(s.snaps)
}

// snapshot is a stored list; def where the name is unknown.
func (s *Sim) snapshot(name int, def []Item) []Item {
	if name < 1 || name > len(s.snaps) {
		return def
	}
	return s.snaps[name-1]
}

// sign remembers what the answer says before bytes are coded or go wrong. The
// text of an opaque token is no part of it.
func (x *exchange) sign() {
	x.ans.signed = x.ans.digest(x.handed)
}
