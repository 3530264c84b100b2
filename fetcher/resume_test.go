package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

// TestResumeWaitsOn: a server that asked to be left alone for a while is, also where the
// run was stopped meanwhile, and what was held by then is not asked for again.
func TestResumeWaitsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		asked := map[string]int{}
		var open time.Time
		h := func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			page := r.FormValue("page")
			asked[page]++
			if page == "3" && open.IsZero() {
				open = time.Now().Add(time.Minute)
				w.Header().Set("Retry-After", "60")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			if time.Now().Before(open) {
				t.Errorf("page %s is asked for %s too early", page, time.Until(open))
			}
			paged(200)(w, r)
		}
		o, s := options(t, aheadSpecs("http://api.test")["page"], Client{Transport: transport{http.HandlerFunc(h)}})
		kept := &states{store: s}
		o.Ledger = kept
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Second, cancel)
		if f, err := Drain(ctx, o); err != nil || f.Stop.String() != "signal" {
			t.Fatal(f.Stop, f.StopText, err)
		}
		o.Resume = kept.resume()
		f, err := Drain(context.Background(), o)
		if err != nil || ruled(f) != judge.Complete || len(s.lines) != 200 {
			t.Fatalf("%v, %d lines, %v", ruled(f), len(s.lines), err)
		}
		for page, n := range asked {
			if n > 1 && page != "3" {
				t.Errorf("page %s was asked for %d times", page, n)
			}
		}
	})
}

// TestCheckpointBeforeAWait: what is held is durable before the run waits for long.
func TestCheckpointBeforeAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("page") == "3" {
				w.Header().Set("Retry-After", "60")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			paged(200)(w, r)
		}
		o, s := options(t, aheadSpecs("http://api.test")["page"], Client{Transport: transport{http.HandlerFunc(h)}})
		kept := &states{store: s}
		o.Ledger = kept
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Second, func() {
			synctest.Wait()
			held := 0
			for _, a := range s.attempts {
				held += a.New
			}
			if held == 0 || held != len(s.lines) {
				t.Errorf("%d of %d items have durable rows in the wait", held, len(s.lines))
			}
			cancel()
		})
		if f, err := Drain(ctx, o); err != nil || f.Stop.String() != "signal" {
			t.Fatal(f.Stop, f.StopText, err)
		}
	})
}

// TestAheadRemembersARefusal: a refusal of a page that was asked for ahead counts also where
// the walk turned, and throws it away.
func TestAheadRemembersARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		refused := map[string]bool{}
		var open time.Time
		h := func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			page, _ := strconv.Atoi(r.FormValue("page"))
			if time.Now().Before(open) {
				t.Errorf("page %d is asked for %s too early", page, time.Until(open))
			}
			if page == 3 && !refused["3"] {
				refused["3"] = true
				open = time.Now().Add(30 * time.Second)
				mu.Unlock()
				w.Header().Set("Retry-After", "30")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			mu.Unlock()
			if page == 2 {
				time.Sleep(time.Second)
			}
			var rows []string
			for i := 2 * page; i < min(7, 2*page+2); i++ {
				rows = append(rows, fmt.Sprintf(`{"id":%d}`, i))
			}
			if page == 2 {
				rows = rows[1:]
			}
			fmt.Fprintf(w, `{"rows":[%s],"total":7,"pages":4,"more":%v}`, strings.Join(rows, ","), page < 2)
		}
		spec := adapters.Spec{URL: "http://api.test/rows",
			Pages: adapters.Pages{Style: "algolia", NumberParam: "page", SizeParam: "limit", SizeStart: 3, SizeMin: 1, LastPath: "pages", MorePath: "more"},
			Items: adapters.Items{Path: "rows", IDs: []string{"id"}}, Total: adapters.TotalSpec{Path: "total"}}
		o, _ := options(t, spec, Client{Transport: transport{http.HandlerFunc(h)}, Concurrency: 8})
		if _, err := Drain(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		if !refused["3"] {
			t.Error("page 3 was not asked for ahead")
		}
	})
}
