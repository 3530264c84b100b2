package fetcher_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"lastdrop/adapters"
	"lastdrop/fetcher"
	"lastdrop/fetcher/fetchertest"
	"lastdrop/internal/slicing"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A source whose keys are finer than its closed bounds: an item between two
// slices is in neither, while the whole range holds it.
func TestClosedBoundsCoarserThanTheKey(t *testing.T) {
	for _, shown := range []bool{true, false} {
		for _, total := range []string{"steady", "moving", "none"} {
			t.Run(fmt.Sprintf("shown %v, total %s", shown, total), func(t *testing.T) {
				h := fractions(shown, total)
				server := httptest.NewServer(h)
				defer server.Close()
				by := ""
				if shown {
					by = "at"
				}
				spec := adapters.Spec{
					URL: server.URL, Method: http.MethodGet, Items: adapters.Items{Path: "items", IDs: []string{"id"}},
					Pages: adapters.Pages{Style: "single", EndAbsentContinuation: true},
				}
				if total != "none" {
					spec.Total = adapters.TotalSpec{Path: "total", Kind: judge.Exact}
				}
				reader, err := adapters.NewReader(spec)
				if err != nil {
					t.Fatal(err)
				}
				m := &fetchertest.Memory{}
				key := &slicing.Key{By: by, Kind: slicing.Time, Format: "unix", Closed: true, Params: map[string][]string{"from": {"{from}"}, "to": {"{to}"}}}
				facts, err := fetcher.Drain(context.Background(), fetcher.Options{
					Reader: reader, Sink: m, Ledger: m, Seed: 1, Slicing: &slicing.Spec{Keys: []*slicing.Key{key}, Wholes: []slicing.Range{{Lo: 0, Hi: 400}}, Reach: 50, RangeOnly: total == "none"},
				})
				if err != nil {
					t.Fatal(err)
				}
				facts.MaxDrift, facts.MaxFall = 100, 100
				if r := reconcile.Rule(facts); r.Verdict == judge.Complete {
					t.Errorf("COMPLETE with %d of %d items: %v", facts.Distinct, fractionsN, r.Evidence)
				}
			})
		}
	}
}

const fractionsN = 160

// fractions has items at 0.5, 3, 5.5, 8, …: every other one lies between two
// seconds.
func fractions(shown bool, total string) http.HandlerFunc {
	asks := 0
	return func(w http.ResponseWriter, r *http.Request) {
		asks++
		bound := func(name string, or float64) float64 {
			if f, err := strconv.ParseFloat(r.URL.Query().Get(name), 64); err == nil {
				return f
			}
			return or
		}
		var in []string
		n := 0
		for i := range fractionsN {
			at := 2.5*float64(i) + 0.5
			if at < bound("from", -1) || at > bound("to", 1e9) {
				continue
			}
			if n++; n > 50 {
				continue
			}
			key := ""
			if shown {
				key = fmt.Sprintf(`,"at":%g`, at)
			}
			in = append(in, fmt.Sprintf(`{"id":%d%s}`, i, key))
		}
		if total == "moving" && r.URL.Query().Get("from") == "" && asks > 1 {
			n++
		}
		body := `{"items":[` + strings.Join(in, ",") + `]`
		if total != "none" {
			body += fmt.Sprintf(`,"total":%d`, n)
		}
		_, _ = w.Write([]byte(body + "}")) // a client that went away is no fault of ours
	}
}
