package fetcher

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lastdrop/internal/racing"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A swapping source answers by page numbers, each request after a time of its own,
// some of them with an error first. Now and then it deletes an item and adds
// another one, so that its total stays. It keeps every whole answer that was read
// to its end.
type swapping struct {
	mu     sync.Mutex
	rng    *rand.Rand
	ids    []int
	next   int
	swaps  int                 // still to come
	fails  int                 // of a hundred tries
	status []int               // to fail with
	lasts  map[int]bool        // ids that were there all the while
	read   map[string][]string // by request, what was read of it
}

func newSwapping(seed uint64) *swapping {
	rng := rand.New(rand.NewPCG(seed, 31))
	s := &swapping{rng: rng, next: 1000, swaps: rng.IntN(4), fails: rng.IntN(40), lasts: map[int]bool{}, read: map[string][]string{},
		status: []int{429, 500, 503, 403}}
	for i := range 40 + rng.IntN(80) {
		s.ids = append(s.ids, i)
		s.lasts[i] = true
	}
	return s
}

func (s *swapping) swap() {
	at := s.rng.IntN(len(s.ids))
	delete(s.lasts, s.ids[at])
	s.ids = append(slices.Delete(slices.Clone(s.ids), at, at+1), s.next)
	s.next++
}

func (s *swapping) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	delay := time.Duration(s.rng.IntN(2000)) * time.Millisecond
	s.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swaps > 0 && s.rng.IntN(4) == 0 {
		s.swaps--
		s.swap()
	}
	resp := &http.Response{StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: r}
	if s.rng.IntN(100) < s.fails {
		resp.StatusCode = s.status[s.rng.IntN(len(s.status))]
		resp.Header.Set("Retry-After", "1")
		resp.Body = io.NopCloser(strings.NewReader("no"))
		resp.ContentLength = 2
		return resp, nil
	}
	var page, limit int
	q := r.URL.Query()
	_, _ = fmt.Sscan(q.Get("page"), &page)
	_, _ = fmt.Sscan(q.Get("limit"), &limit)
	from := min(page*limit, len(s.ids))
	var rows []string
	for _, id := range s.ids[from:min(from+limit, len(s.ids))] {
		rows = append(rows, fmt.Sprintf(`{"id":%d}`, id))
	}
	text := fmt.Sprintf(`{"total":%d,"rows":[%s]}`, len(s.ids), strings.Join(rows, ","))
	resp.ContentLength = int64(len(text))
	resp.Body = &noticed{bytes.NewReader([]byte(text)), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.read[r.URL.RequestURI()] = append(s.read[r.URL.RequestURI()], text)
	}}
	return resp, nil
}

// noticed tells when it was read to its end.
type noticed struct {
	*bytes.Reader
	end func()
}

func (n *noticed) Read(p []byte) (int, error) {
	k, err := n.Reader.Read(p)
	if err == io.EOF && n.end != nil {
		n.end()
		n.end = nil
	}
	return k, err
}

func (n *noticed) Close() error { return nil }

// contradiction says how what was read cannot be of one list that stood still: one
// request was answered in two ways. "" where it can.
func (s *swapping) contradiction() string {
	for request, answers := range s.read {
		for _, a := range answers[1:] {
			if a != answers[0] {
				return fmt.Sprintf("%s was read as %s and as %s", request, answers[0], a)
			}
		}
	}
	return ""
}

// TestAheadLaw: with any number of requests under way, over sources that swap items
// behind a total that stays and fail now and then, stopped on the way or not, whoever says COMPLETE holds every
// item that lasted, or has read nothing that contradicts a list that stood still.
func TestAheadLaw(t *testing.T) {
	complete, lost := 0, 0
	for seed := range uint64(racing.Less(2000, 4)) {
		synctest.Test(t, func(t *testing.T) {
			src := newSwapping(seed)
			c := Client{Transport: src, Concurrency: 1 + int(seed%8), Retries: 8}
			spec := aheadSpecs("http://api.test")[[]string{"page", "algolia"}[seed%2]]
			if seed%3 == 0 {
				spec.Pages.SizeMin = 1 // pages can overlap once it is seen to move
			}
			o, s := options(t, spec, c)
			o.Passes, o.MaxDrift = 3, 1
			kept := &states{store: s}
			o.Ledger = kept
			ctx, cancel := context.WithCancel(context.Background())
			if seed%5 < 2 { // it is stopped on the way, and goes on
				ctx, cancel = context.WithTimeout(ctx, time.Duration(src.rng.IntN(12000))*time.Millisecond)
			}
			defer cancel()
			f, err := Drain(ctx, o)
			if err == nil && f.Stop == reconcile.StopSignal {
				o.Resume = kept.resume()
				f, err = Drain(context.Background(), o)
			}
			if err != nil {
				t.Fatal(err)
			}
			if ruled(f) != judge.Complete {
				return
			}
			complete++
			for id := range src.lasts {
				if slices.Contains(s.lines, fmt.Sprintf(`{"id":%d}`, id)) {
					continue
				}
				lost++
				if why := src.contradiction(); why != "" && f.Passes == 1 {
					t.Errorf("seed %d, %d at once: COMPLETE without %d, although %s", seed, c.Concurrency, id, why)
				}
				break
			}
		})
	}
	if complete < 100 {
		t.Errorf("only %d runs were COMPLETE", complete)
	}
	t.Logf("%d runs COMPLETE, %d of them with an item lost without a trace", complete, lost)
}
