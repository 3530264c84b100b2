package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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
	asked, wait int // requests so far; how many to wait for
	free        int // of them, the first ones pass at once
}

func newGate(wait, free int) *gate {
	g := &gate{wait: wait, free: free}
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
		for g.asked > g.free && g.most < g.wait {
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
		g := newGate(4, 1+map[string]int{"offset": 1}[name]) // the first page that overlaps shows where the next ones begin
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

// shifting is a source by page numbers that deletes a row and appends another one
// when it is told to, so that its total stays.
type shifting struct {
	mu    sync.Mutex
	rows  []int
	asked map[string]int
}

func newShifting(n int) *shifting {
	s := &shifting{asked: map[string]int{}}
	for i := range n {
		s.rows = append(s.rows, i)
	}
	return s
}

func (s *shifting) shift(at int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(slices.Delete(slices.Clone(s.rows), at, at+1), 1000+at)
}

func (s *shifting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var page, limit int
	_, _ = fmt.Sscan(r.FormValue("page"), &page)
	_, _ = fmt.Sscan(r.FormValue("limit"), &limit)
	s.asked[r.FormValue("page")]++
	from := min(page*limit, len(s.rows))
	part := s.rows[from:min(from+limit, len(s.rows))]
	var list []string
	for _, id := range part {
		list = append(list, fmt.Sprintf(`{"id":%d}`, id))
	}
	fmt.Fprintf(w, `{"total":%d,"rows":[%s]}`, len(s.rows), strings.Join(list, ","))
}

// until waits for so many pages to be answered.
func (s *shifting) until(pages int) {
	for answered := 0; answered < pages; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		answered = len(s.asked)
		s.mu.Unlock()
	}
}

// lost are the items below 1000 that lasted and are not held.
func (s *shifting) lost(lines []string) (lost []int) {
	for _, id := range s.rows {
		if id < 1000 && !slices.Contains(lines, fmt.Sprintf(`{"id":%d}`, id)) {
			lost = append(lost, id)
		}
	}
	return lost
}

// TestAheadKeepsWhatCame: while a page is tried again, the source moves without a
// trace in its total. The pages behind it had come, and are used as they were.
func TestAheadKeepsWhatCame(t *testing.T) {
	for _, status := range []int{429, 500, 503} {
		src := newShifting(160)
		var once sync.Once
		h := func(w http.ResponseWriter, r *http.Request) {
			failed := false
			if r.FormValue("page") == "2" {
				once.Do(func() {
					src.until(15) // the pages behind it were answered
					src.shift(45)
					failed = true
				})
			}
			if failed {
				w.WriteHeader(status)
				return
			}
			src.ServeHTTP(w, r)
		}
		spec := aheadSpecs(serve(t, h).URL)["page"]
		c := quick()
		c.Concurrency = 16
		o, s := options(t, spec, c)
		f, err := Drain(context.Background(), o)
		if lost := src.lost(s.lines); err != nil || ruled(f) == judge.Complete && len(lost) > 0 {
			t.Errorf("after %d: %v with %v lost, %v", status, ruled(f), lost, err)
		}
		for page, n := range src.asked {
			if n > 1 {
				t.Errorf("after %d: page %s was asked for %d times", status, page, n)
			}
		}
	}
}

// states keeps the last state beside what a store keeps.
type states struct {
	*store
	state []byte
	keys  [][]byte
}

func (s *states) Commit(ctx context.Context, c Checkpoint) error {
	s.state = c.State
	for _, a := range c.Attempts {
		s.keys = append(s.keys, a.Keys)
	}
	return s.store.Commit(ctx, c)
}

// resume is where the run goes on.
func (s *states) resume() *Resume {
	return &Resume{State: s.state, Keys: func(yield func([]byte) error) error {
		for _, k := range s.keys {
			if err := yield(k); err != nil {
				return err
			}
		}
		return nil
	}}
}

// TestAheadAcrossAStop: what had come when a run was stopped has its rows, and is held
// against what comes when it goes on.
func TestAheadAcrossAStop(t *testing.T) {
	src := newShifting(160)
	ctx, cancel := context.WithCancel(context.Background())
	var once sync.Once
	h := func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("page") == "3" {
			once.Do(func() {
				src.until(6)
				time.Sleep(50 * time.Millisecond) // until they are read, most likely
				cancel()
				<-r.Context().Done()
			})
		}
		src.ServeHTTP(w, r)
	}
	spec := aheadSpecs(serve(t, h).URL)["page"]
	c := quick()
	c.Concurrency = 4
	o, s := options(t, spec, c)
	kept := &states{store: s}
	o.Ledger = kept
	if f, err := Drain(ctx, o); err != nil || f.Stop.String() != "signal" {
		t.Fatal(f.Stop, err)
	}
	unused := 0
	for _, a := range s.attempts {
		if a.Outcome.String() == "unused" {
			unused++
		}
	}
	if unused == 0 {
		t.Errorf("no request ahead of the walk has a row: %d rows", len(s.attempts))
	}
	src.shift(5)
	o.Resume = kept.resume()
	f, err := Drain(context.Background(), o)
	if lost := src.lost(s.lines); err != nil || ruled(f) == judge.Complete && len(lost) > 0 {
		t.Errorf("%v with %v lost, %v", ruled(f), lost, err)
	}
}

// TestAheadHonoursRetryAfter: after a refusal for a while nothing is asked for before that
// while is over, counted from when it was refused, and then the walk goes on.
func TestAheadHonoursRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var open time.Time
		began := time.Now()
		h := func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			page := r.FormValue("page")
			now := time.Now()
			switch {
			case open.IsZero() && (page == "3" || page == "4"):
				open = now.Add(30 * time.Second)
				fallthrough
			case now.Equal(open.Add(-30 * time.Second)): // was under way
				w.Header().Set("Retry-After", "30")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			case now.Before(open):
				t.Errorf("page %s is asked for %s too early", page, open.Sub(now))
			}
			paged(200)(w, r)
		}
		c := Client{Transport: transport{http.HandlerFunc(h)}, Concurrency: 4}
		o, s := options(t, aheadSpecs("http://api.test")["page"], c)
		f, err := Drain(context.Background(), o)
		if err != nil || ruled(f) != judge.Complete || len(s.lines) != 200 {
			t.Fatalf("%v, %d lines, %v", ruled(f), len(s.lines), err)
		}
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("pages that were refused at once were waited for one after another: %s", took)
		}
	})
}

// transport hands requests to a handler without a socket.
type transport struct{ http.Handler }

func (h transport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	resp := w.Result()
	resp.Request, resp.ContentLength = r, int64(w.Body.Len())
	return resp, nil
}
