package pull_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"lastdrop/configs"
	"lastdrop/judge"
)

// A presetAPI is a server in the documented shape of the API of a preset.
type presetAPI struct {
	preset string
	// config is what a user writes beside the preset, tens what makes pages of
	// ten items.
	config, tens string
	// item is a pattern for the item of an id; every item has its id under id,
	// so that what was written can be held against the truth.
	item string
	// reach is how many items the API hands out, 0 all.
	reach int
	serve answers
	// want are the outcomes with 0, 1, 23, 23 in pages of ten, and many items:
	// more than the reach where there is one. complete.require is as low as can
	// be, so that each shows the best that the API can prove.
	want [5]string
}

// Outcomes.
const (
	counted   = "COMPLETE counted"
	declared  = "COMPLETE declared"
	assumed   = "COMPLETE assumed"
	unknown   = "UNKNOWN"
	truncated = "TRUNCATED"
)

// TestPresets drains a server of each preset's API, empty, small, and large.
func TestPresets(t *testing.T) {
	tested := map[string]bool{}
	for _, api := range presetAPIs() {
		tested[api.preset] = true
		many := 1250
		if api.reach > 0 {
			many = api.reach + 250
		}
		for i, n := range []int{0, 1, 23, 23, many} {
			extra := api.config
			name := fmt.Sprintf("%s/%d", api.preset, n)
			if i == 3 {
				extra, name = extra+"\n"+api.tens, name+" in tens"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				api.holds(t, n, extra, api.serve, api.want[i])
			})
		}
		t.Run(api.preset+"/23 in tens, cut once", func(t *testing.T) {
			t.Parallel()
			api.holds(t, 23, api.config+"\n"+api.tens, cutOnce(api.serve), api.want[3])
		})
		if api.want[3] == counted { // a total is what shows an end that comes too early
			short := api
			short.reach = 10
			t.Run(api.preset+"/10 of 23", func(t *testing.T) {
				t.Parallel()
				short.holds(t, 23, api.config+"\n"+api.tens, api.serve, truncated)
			})
		}
	}
	for _, p := range configs.Presets() {
		if !tested[p.Name] {
			t.Errorf("no server tests the preset %s", p.Name)
		}
	}
}

// TestPresetInSlices drains what is above the reach of a preset: pages.reach
// tells from the first page on that it must be cut.
func TestPresetInSlices(t *testing.T) {
	const n = 2400
	serve := func(_ stock, w http.ResponseWriter, r *http.Request) {
		low, high := 0, n
		_, _ = fmt.Sscanf(r.URL.Query().Get("numericFilters"), "created_at_i>=%d,created_at_i<%d", &low, &high) // without: all
		size, at := intOf(r, "hitsPerPage", 20), intOf(r, "page", 0)
		low, high = max(low, 0), min(high, n)
		reach := min(high, low+1000)
		var hits []string
		for id := low + at*size; id < min(low+(at+1)*size, reach); id++ {
			hits = append(hits, fmt.Sprintf(`{"id":%d,"objectID":"%d","created_at_i":%d}`, id+1, id+1, id))
		}
		fmt.Fprintf(w, `{"hits":[%s],"nbHits":%d,"page":%d,"nbPages":%d,"exhaustiveNbHits":true}`,
			strings.Join(hits, ","), max(0, high-low), at, (max(0, reach-low)+size-1)/size)
	}
	presetAPI{preset: "hn-algolia"}.holds(t, n, atBase+`
slice:
  by: created_at_i
  type: int
  from: 0
  to: 2400
  params: {numericFilters: "created_at_i>={from},created_at_i<{to}"}`, serve, counted)
}

// answers is a server of a stock.
type answers func(l stock, w http.ResponseWriter, r *http.Request)

// cutOnce cuts the second answer in its half, so that the walk goes on in
// another page size where the API takes one.
func cutOnce(serve answers) answers {
	var asked atomic.Int64
	return func(l stock, w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) != 2 {
			serve(l, w, r)
			return
		}
		rec := httptest.NewRecorder()
		serve(l, rec, r)
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(rec.Body.Len()))
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()[:rec.Body.Len()/2]) // the server closes the connection
	}
}

// holds drains n items and holds the outcome, and what was written, against
// what must be.
func (a presetAPI) holds(t *testing.T, n int, extra string, serve answers, want string) {
	l := stock{n: n, out: n, item: a.item}
	if a.reach > 0 {
		l.out = min(n, a.reach)
	}
	s := scenario{
		id: a.preset, ids: n,
		config: "preset: " + a.preset + "\ncomplete: {require: assumed}\nlimits: {rate: 100000/s}\n" + extra,
		server: func() http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(l, w, r) })
		},
	}
	handler := s.server()
	out := s.drain(t, handler)
	got := strings.TrimSpace(fmt.Sprint(out.report.Verdict, " ", out.report.Strength))
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if a.reach > 0 && n > a.reach && out.report.Verdict == judge.Complete {
		t.Errorf("COMPLETE, with %d of %d items in reach", a.reach, n)
	}
	if out.report.Items.Distinct != int64(l.out) {
		t.Errorf("%d distinct items, want %d", out.report.Items.Distinct, l.out)
	}
	if most := int64(n/10 + 1020); out.asked > most { // a thousand empty pages in a row are the most that is tried
		t.Errorf("%d requests, want at most %d", out.asked, most)
	}
	for _, p := range s.againstTruth(out, handler) {
		t.Error(p)
	}
	if t.Failed() {
		t.Log(out.story())
	}
}

// A stock is what a server has: the items 1 to n, of which it hands out the
// first so many.
type stock struct {
	n, out int
	item   string
}

// from gives a page as a JSON list: the items behind the first so many.
// next tells how many stand before the page after it, more whether there is
// one.
func (l stock) from(before, size int) (page string, next int, more bool) {
	var items []string
	next = min(before+size, l.out)
	for i := before; i < next; i++ {
		items = append(items, strings.ReplaceAll(l.item, "#", strconv.Itoa(i+1)))
	}
	return "[" + strings.Join(items, ",") + "]", max(before, next), next < l.out
}

// intOf reads a number that a request asks with.
func intOf(r *http.Request, name string, def int) int {
	if n, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil {
		return n
	}
	return def
}

// posted reads the body of a POST.
func posted(r *http.Request) (body struct {
	Limit, Size int
	After       string
	SearchAfter []int  `json:"search_after"`
	PageSize    int    `json:"page_size"`
	StartCursor string `json:"start_cursor"`
	Variables   struct {
		First int
		After string
	}
	PIT struct{ ID string } `json:"pit"`
}) {
	_ = json.NewDecoder(r.Body).Decode(&body) // what cannot be read asks for nothing
	return body
}

// links sends a Link header: pairs of a relation and the query that changes.
func links(w http.ResponseWriter, r *http.Request, pairs ...string) {
	var all []string
	for i := 0; i < len(pairs); i += 2 {
		q := r.URL.Query()
		change, _ := url.ParseQuery(pairs[i+1])
		for k := range change {
			q.Set(k, change.Get(k))
		}
		all = append(all, fmt.Sprintf("<http://%s%s?%s>; rel=%q", r.Host, r.URL.Path, q.Encode(), pairs[i]))
	}
	if len(all) > 0 {
		w.Header().Set("Link", strings.Join(all, ", "))
	}
}

// pageLinks sends the links of an API that counts pages from 1, and gives what
// stands before the page, and the last page.
func pageLinks(l stock, w http.ResponseWriter, r *http.Request) (before, size, last int) {
	size, page := intOf(r, "per_page", 30), intOf(r, "page", 1)
	last = (l.out + size - 1) / size
	var pairs []string
	if page > 1 {
		pairs = append(pairs, "prev", fmt.Sprint("page=", page-1), "first", "page=1")
	}
	if page < last {
		pairs = append(pairs, "next", fmt.Sprint("page=", page+1), "last", fmt.Sprint("page=", last))
	}
	links(w, r, pairs...)
	return (page - 1) * size, size, last
}
