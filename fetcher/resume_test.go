package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// TestResumeUnderASilentMaximum: a run that had to make its pages small goes on with the
// great ones only where they begin with what is held. A server may give fewer than asked,
// count its page numbers in those, and state no total that would show it.
func TestResumeUnderASilentMaximum(t *testing.T) {
	for _, most := range []int{2, 3, 4, 5, 7, 9} {
		for _, concurrency := range []int{1, 4} {
			t.Run(fmt.Sprintf("most %d, %d at once", most, concurrency), func(t *testing.T) {
				const n = 100
				ctx, cancel := context.WithCancel(context.Background())
				var mu sync.Mutex
				asked, stopped := 0, false
				h := func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					defer mu.Unlock()
					page, _ := strconv.Atoi(r.FormValue("page"))
					asks, _ := strconv.Atoi(r.FormValue("limit"))
					size := min(asks, most)
					var rows []string
					for i := (page - 1) * size; i < min(n, page*size); i++ {
						rows = append(rows, fmt.Sprintf(`{"id":%d}`, i))
					}
					body := fmt.Sprintf(`{"rows":[%s]}`, strings.Join(rows, ","))
					w.Header().Set("Content-Length", strconv.Itoa(len(body)))
					if asked++; !stopped && asks > 1 && asked > 3 {
						body = body[:5]
					}
					if !stopped && asks == 1 && page >= 15 {
						stopped = true
						cancel()
						return
					}
					fmt.Fprint(w, body)
				}
				spec := adapters.Spec{URL: serve(t, h).URL + "/rows",
					Pages: adapters.Pages{Style: "page", NumberParam: "page", NumberFirst: 1, SizeParam: "limit", SizeStart: 10, SizeMin: 1, EndEmptyPage: true},
					Items: adapters.Items{Path: "rows", IDs: []string{"id"}}}
				c := quick()
				c.Concurrency = concurrency
				o, s := options(t, spec, c)
				kept := &states{store: s}
				o.Ledger = kept
				if f, err := Drain(ctx, o); err != nil || f.Stop.String() != "signal" {
					t.Fatal(f.Stop, f.StopText, err)
				}
				o.Resume = kept.resume()
				f, err := Drain(context.Background(), o)
				f.Require, f.MaxDrift, f.MaxFall = reconcile.Assumed, 1, 50
				if v := reconcile.Rule(f).Verdict; err != nil || v != judge.Complete || len(s.lines) != n {
					t.Errorf("%v with %d lines, want COMPLETE with %d: %s (%v)", v, len(s.lines), n, f.StopText, err)
				}
			})
		}
	}
}
