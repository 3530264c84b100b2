package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A source serves the same items in four ways and remembers what it was asked for:
//
//	/offset  by offset, with a total
//	/wide    the same, for more than one request at once
//	/cursor  by cursor, with a total
//	/sliced  by offset, with a total, and only the first items of what since and until ask for
//	/each/V  by offset, with a total; the items of V alone
//	/many    as /offset, but many more
type source struct {
	*httptest.Server
	pause func() time.Duration // before an answer
	// trouble answers the n-th request itself where it says so.
	trouble func(w http.ResponseWriter, r *http.Request, n int) bool

	mu     sync.Mutex
	asked  []string
	latest time.Time                  // of them
	watch  func(asked int, last bool) // is told of each request: whether it brings a last item
}

const (
	killItems = 1_509 // a source
	killPage  = 20
	killReach = 300    // of /sliced
	manyItems = 12_000 // of /many
	killStep  = 7      // between two values of the key of slices
)

var killValues = []string{"a", "b", "c"} // of /each

func newSource(t *testing.T) *source {
	t.Helper()
	s := &source{pause: func() time.Duration { return time.Duration(rand.IntN(int(3 * time.Millisecond))) }}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// killItem is the n-th item of a source, n from 0, as it is served.
func killItem(way string, n int) string {
	return fmt.Sprintf(`{"id":%d,"at":%d,"name":"%s %d, %s"}`, n+1, n*killStep, way, n+1, strings.Repeat("é", n%60))
}

func (s *source) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	at := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(q.Get(name)); err == nil {
			return n
		}
		return otherwise
	}
	way := strings.Trim(r.URL.Path, "/")
	low, high, reach := 0, countOf(way), manyItems
	if way == "sliced" {
		low, high, reach = (at("since", 0)+killStep-1)/killStep, min(high, (at("until", killItems*killStep)+killStep-1)/killStep), killReach
	}
	start := at("offset", 0)
	if way == "cursor" {
		start = at("cursor", 0)
	}
	limit := at("limit", killPage)
	first := min(low+start, high)
	last := max(first, min(first+limit, high, low+reach))
	asked, trouble := s.note("http://"+r.Host+r.URL.String(), last == countOf(way) && first < last)
	if trouble != nil && trouble(w, r, asked) {
		return
	}
	time.Sleep(s.pause())
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for n := first; n < last; n++ {
		if n > first {
			b.WriteByte(',')
		}
		b.WriteString(killItem(way, n))
	}
	b.WriteByte(']')
	fmt.Fprintf(&b, `,"total":%d`, max(0, high-low))
	if way == "cursor" && last < high {
		fmt.Fprintf(&b, `,"next":"%d"`, last)
	}
	b.WriteByte('}')
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(b.String()))
}

// countOf is how many items a way leads to.
func countOf(way string) int {
	switch {
	case strings.HasPrefix(way, "each/"):
		return killItems / 3
	case way == "many":
		return manyItems
	}
	return killItems
}

func (s *source) note(request string, last bool) (asked int, trouble func(http.ResponseWriter, *http.Request, int) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.latest = append(s.asked, request), time.Now()
	if s.watch != nil {
		s.watch(len(s.asked), last)
	}
	return len(s.asked), s.trouble
}

// troubled sets what goes wrong from now on.
func (s *source) troubled(how func(w http.ResponseWriter, r *http.Request, n int) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = how
}

// since forgets what was asked for, and tells of each request from now on.
func (s *source) since(watch func(asked int, last bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.watch = nil, watch
}

// requests are those since then.
func (s *source) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// killConfig is the config of a way to read the source, its output at a path.
func (s *source) killConfig(way, output string) string {
	const paging = "pages: {style: offset, size: {param: limit, start: %d}, offset: {param: offset}%s}\n"
	path, pages := way, fmt.Sprintf(paging, killPage, "")
	switch way {
	case "cursor":
		pages = fmt.Sprintf("pages: {style: cursor, size: {param: limit, start: %d}, cursor: {param: cursor, path: next}}\n", killPage)
	case "sliced":
		pages = fmt.Sprintf(paging, killPage, fmt.Sprintf(", reach: %d", killReach)) +
			fmt.Sprintf("slice: {by: at, type: int, from: 0, to: %d, params: {since: \"{from}\", until: \"{to}\"}}\n", killItems*killStep)
	case "wide":
		pages += "limits: {concurrency: 4}\n"
	case "many":
		pages = fmt.Sprintf(paging, 2_000, "")
	case "each":
		path = "each/{v}"
		pages += fmt.Sprintf("for_each: {as: v, values: [%s]}\n", strings.Join(killValues, ", "))
	}
	return fmt.Sprintf("version: 1\nname: %s\nsource: {url: \"%s/%s\"}\nitems: {path: items, id: id}\ntotal: {path: total}\n%soutput: {to: %q}\n", way, s.URL, path, pages, output)
}

// quiet tells that a request came, and none for a while after it.
func (s *source) quiet() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked) > 0 && time.Since(s.latest) > 400*time.Millisecond
}
