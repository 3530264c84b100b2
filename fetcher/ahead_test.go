package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lastdrop/adapters"
	"lastdrop/judge"
)

// aheadSpecs are the styles whose positions can be computed, over n rows.
func aheadSpecs(base string) map[string]adapters.Spec {
	numbered := adapters.Spec{URL: base + "/rows", Items: adapters.Items{Path: "rows", IDs: []string{"id"}}, Total: adapters.TotalSpec{Path: "total"},
		Pages: adapters.Pages{Style: "page", NumberParam: "page", SizeParam: "limit", SizeStart: 10, SizeMin: 10}}
	algolia := numbered
	algolia.Pages.Style, algolia.Pages.LastPath = "algolia", "pages"
	rank := rowsSpec(base)
	rank.Pages.SizeStart = 10
	return map[string]adapters.Spec{"offset": rank, "page": numbered, "algolia": algolia}
}

// paged answers as rows does, by page numbers too.
func paged(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("page") != "" {
			var page, limit int
			_, _ = fmt.Sscan(r.FormValue("page"), &page)
			_, _ = fmt.Sscan(r.FormValue("limit"), &limit)
			r.Form.Set("offset", fmt.Sprint(page*limit))
		}
		rows(n)(w, r)
	}
}

// A gate holds requests until so many are there at once, and keeps the greatest
// number that ever was.
type gate struct {
	mu          sync.Mutex
	cond        *sync.Cond
	here, most  int
	asked, wait int // requests so far; how many to wait for, from the second on
	left        int // requests that are still to come, as far as is known
}

func newGate(wait, left int) *gate {
	g := &gate{wait: wait, left: left}
	g.cond = sync.NewCond(&g.mu)
	return g
}

func (g *gate) pass(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.asked++
		g.here++
		g.most = max(g.most, g.here)
		g.cond.Broadcast()
		for g.asked > 1 && g.most < min(g.wait, g.left) {
			g.cond.Wait()
		}
		g.mu.Unlock()
		h(w, r)
		g.mu.Lock()
		g.here--
		g.mu.Unlock()
	}
}

// TestAheadIsWide: as many requests as are allowed are under way at once, no
// more, none is sent in vain, and items come in order.
func TestAheadIsWide(t *testing.T) {
	for name := range aheadSpecs("") {
		g := newGate(4, 4)
		spec := aheadSpecs(serve(t, g.pass(paged(200))).URL)[name]
		c := quick()
		c.Concurrency = 4
		o, s := options(t, spec, c)
		f, err := Drain(context.Background(), o)
		if err != nil || ruled(f) != judge.Complete || len(s.lines) != 200 || g.most != 4 {
			t.Errorf("%s: %v, %d lines, %d at once, %v", name, ruled(f), len(s.lines), g.most, err)
		}
		if !slices.IsSortedFunc(s.lines, func(a, b string) int { return len(a) - len(b) }) {
			t.Errorf("%s: items came out of order", name)
		}
		if want := 20 + map[string]int{"offset": 3}[name]; g.asked > want { // overlaps make its pages shorter under a maximum
			t.Errorf("%s: %d requests, want %d", name, g.asked, want)
		}
		if g.asked != len(s.attempts) {
			t.Errorf("%s: %d requests, %d rows", name, g.asked, len(s.attempts))
		}
	}
}

// slowStore is a store whose first write waits for the next request.
type slowStore struct {
	*store
	next <-chan struct{}
}

func (s *slowStore) Write(lines [][]byte) error {
	if s.next != nil {
		<-s.next
		s.next = nil
	}
	return s.store.Write(lines)
}

// TestAheadWhileWriting: the next page is asked for while the one before is
// written, also where only an answer says where to go on.
func TestAheadWhileWriting(t *testing.T) {
	next := make(chan struct{})
	var once sync.Once
	h := func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("cursor") == "" {
			fmt.Fprint(w, `{"rows":[{"id":1}],"next":"b"}`)
			return
		}
		once.Do(func() { close(next) })
		fmt.Fprint(w, `{"rows":[{"id":2}],"next":null}`)
	}
	spec := adapters.Spec{URL: serve(t, h).URL + "/rows", Items: adapters.Items{Path: "rows", IDs: []string{"id"}},
		Pages: adapters.Pages{Style: "cursor", CursorParam: "cursor", CursorPath: "next"}}
	o, s := options(t, spec, quick())
	o.Sink = &slowStore{store: s, next: next}
	f, err := Drain(context.Background(), o)
	if err != nil || ruled(f) != judge.Complete || len(s.lines) != 2 {
		t.Errorf("%v, %v, %v", ruled(f), s.lines, err)
	}
}

// TestAheadThrownAway: once the source moves, answers that were asked for ahead
// are thrown away, each with a row of its own, and the walk goes on one by one.
func TestAheadThrownAway(t *testing.T) {
	for name := range aheadSpecs("") {
		var mu sync.Mutex
		asked, n := 0, 200
		h := func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if asked++; asked == 6 {
				n++
			}
			paged(n)(w, r)
		}
		spec := aheadSpecs(serve(t, h).URL)[name]
		c := quick()
		c.Concurrency = 4
		o, s := options(t, spec, c)
		o.Passes, o.MaxDrift = 3, 1
		f, err := Drain(context.Background(), o)
		if err != nil || ruled(f) != judge.Complete || len(s.lines) != 201 {
			t.Errorf("%s: %v, %d lines, %v", name, ruled(f), len(s.lines), err)
		}
		thrown := 0
		for _, a := range s.attempts {
			if strings.Contains(a.Cause, "ahead") {
				thrown++
			}
		}
		if len(s.attempts) < asked || len(s.attempts) > asked+thrown || int64(len(s.attempts)) != f.Requests || thrown > 3 { // one that was called off may not have arrived
			t.Errorf("%s: %d requests, %d rows, %d counted, %d thrown away", name, asked, len(s.attempts), f.Requests, thrown)
		}
	}
}

// TestAheadKeepsTheBudget: no more requests go out than the budget allows.
func TestAheadKeepsTheBudget(t *testing.T) {
	for _, b := range []Budget{{Requests: 7}, {Pages: 7}, {Items: 61}} {
		var mu sync.Mutex
		asked := 0
		h := func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked++
			mu.Unlock()
			paged(400)(w, r)
		}
		c := quick()
		c.Concurrency = 4
		o, _ := options(t, aheadSpecs(serve(t, h).URL)["page"], c)
		o.Budget = b
		f, err := Drain(context.Background(), o)
		if err != nil || f.Stop.String() == "end" || asked > 7 {
			t.Errorf("%+v: %d requests, stopped for %v, %v", b, asked, f.Stop, err)
		}
	}
}

// TestAheadUnderALimit: a server that refuses more than two requests at once is
// drained, and fewer are sent at once from then on.
func TestAheadUnderALimit(t *testing.T) {
	var mu sync.Mutex
	here, refused := 0, 0
	h := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		here++
		if here > 2 {
			refused++
			here--
			mu.Unlock()
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		mu.Unlock()
		time.Sleep(time.Millisecond) // the work of the server
		paged(1000)(w, r)
		mu.Lock()
		here--
		mu.Unlock()
	}
	c := Client{BackoffMin: 2 * time.Millisecond, BackoffMax: 20 * time.Millisecond, Concurrency: 8}
	o, s := options(t, aheadSpecs(serve(t, h).URL)["page"], c)
	f, err := Drain(context.Background(), o)
	if err != nil || ruled(f) != judge.Complete || len(s.lines) != 1000 {
		t.Fatalf("%v, %d lines, %v", ruled(f), len(s.lines), err)
	}
	if refused == 0 || refused > 40 {
		t.Errorf("%d requests of %d were refused", refused, len(s.attempts))
	}
}
