package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// rowsSpec is a plain API by offsets with a total.
func rowsSpec(base string) adapters.Spec {
	return adapters.Spec{
		URL:   base + "/rows",
		Pages: adapters.Pages{Style: "offset", SizeParam: "limit", SizeStart: 100, SizeMin: 10, OffsetParam: "offset"},
		Items: adapters.Items{Path: "rows", IDs: []string{"id"}},
		Total: adapters.TotalSpec{Path: "total"},
	}
}

// store is the least that Drain can write to: it keeps everything. Package
// fetchertest has a stricter one, which an internal test cannot import.
type store struct {
	lines    []string
	attempts []reconcile.Attempt
	events   []reconcile.Event
}

func (s *store) Write(lines [][]byte) error {
	for _, l := range lines {
		s.lines = append(s.lines, string(l))
	}
	return nil
}

func (s *store) Sync() (Mark, error) { return Mark{Items: int64(len(s.lines))}, nil }

func (s *store) Commit(_ context.Context, c Checkpoint) error {
	s.attempts = append(s.attempts, c.Attempts...)
	s.events = append(s.events, c.Events...)
	return nil
}

// options drains a spec into a store of its own.
func options(t testing.TB, spec adapters.Spec, c Client) (Options, *store) {
	t.Helper()
	r, err := adapters.NewReader(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := &store{}
	return Options{Reader: r, Sink: s, Ledger: s, Client: c}, s
}

// quick is a client whose retries follow each other at once.
func quick() Client { return Client{BackoffMin: time.Nanosecond, BackoffMax: time.Nanosecond} }

// walk makes a drain that has not asked for anything yet.
func walk(t testing.TB, spec adapters.Spec, c Client) *drain {
	t.Helper()
	o, _ := options(t, spec, c)
	d, err := newDrain(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// serve answers on 127.0.0.1 until the test ends.
func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// once sends one request as the fetcher does and gives what came, after one
// try.
func once(t testing.TB, d *drain, target string) raw {
	t.Helper()
	r, err := d.client.do(context.Background(), adapters.Request{Method: "GET", URL: target, Header: http.Header{}},
		nil, func(raw) (bool, time.Duration) { return false, 0 })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sorted is how an answer is sorted, on the first page.
func sorted(t testing.TB, d *drain, r raw) answer {
	t.Helper()
	req, err := d.opt.Reader.Style().Request(d.state.At, d.state.Size, 0)
	if err != nil {
		t.Fatal(err)
	}
	return d.read(d.state.At, req, r, moment)
}

// moment is the clock of tests that hold a date against one.
var moment = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ruled is the verdict on facts, as strict as a run is by default.
func ruled(f reconcile.Facts) judge.Verdict {
	f.Require, f.MaxDrift, f.MaxFall = reconcile.Declared, 1, 50
	return reconcile.Rule(f).Verdict
}

func mustURL(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// rows answers as an API by offsets with n items of some 30 bytes and their
// total.
func rows(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var offset, limit int
		_, _ = fmt.Sscan(r.FormValue("offset"), &offset)
		_, _ = fmt.Sscan(r.FormValue("limit"), &limit)
		b := fmt.Appendf(nil, `{"total":%d,"rows":[`, n)
		for i := offset; i < min(n, offset+limit); i++ {
			if i > offset {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, `{"id":%d,"name":"item number %d"}`, i, i)
		}
		_, _ = w.Write(append(b, "]}"...))
	}
}

func init() { spoil = true }
