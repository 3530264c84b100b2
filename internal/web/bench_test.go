package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"lastdrop/internal/web"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// million makes a store with a run of 1,000,000 attempts. One of 97 is half a body, and half of a tenth of them; one of 1,013 is
// limited. With totals, every page that is held states one.
func million(b *testing.B, totals bool) (*store.Store, string) {
	b.Helper()
	st, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "million.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	run, err := st.Begin(b.Context(), store.BeginOptions{Name: "million", ConfigHash: "h", Config: "x", Version: "1"})
	if err != nil {
		b.Fatal(err)
	}
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	held := int64(0)
	for seq := int64(0); seq < 1_000_000; {
		c := store.Checkpoint{State: []byte(`{}`)}
		for range 1000 {
			seq++
			n := strconv.FormatInt(seq, 10)
			a := reconcile.Attempt{Seq: seq, Pass: 1, Page: int(seq), Try: 1, Started: start.Add(time.Duration(seq) * 5 * time.Millisecond), Duration: 5 * time.Millisecond,
				URL: "https://api.example.org/v1/search_by_date?query=agent&tags=story&hitsPerPage=100&page=" + n, Position: "page " + n, Offset: 100 * seq,
				SizeAsked: 100, Status: 200, BytesRead: 63800, BytesExpected: judge.N(63800), Items: 100, Total: judge.N(99_000_000 + seq/1000), TotalKind: judge.Exact,
				More: "follow", Outcome: reconcile.Held, Verdict: judge.Truncated, Action: judge.ActionContinue,
				Rules: []judge.Rule{{ID: "TR002", Layer: "set", Verdict: judge.Truncated, Evidence: "total 99000000 > 100 items at offset 0"}}}
			switch {
			case seq%1013 == 0:
				a.Outcome, a.Status, a.Items = reconcile.Limited, 429, 0
			case seq%97 == 0 || seq > 400_000 && seq <= 500_000 && seq%2 == 0:
				a.Outcome, a.Cause, a.Items = reconcile.Half, "body ended at 49311 of 63800 bytes", 0
			default:
				held += 100
				if totals {
					c.Totals = append(c.Totals, reconcile.TotalSeen{Seq: seq, At: a.Started, Source: "nbHits", Value: a.Total.N, Kind: judge.Exact, Live: true, Distinct: held})
				}
			}
			c.Attempts = append(c.Attempts, a)
		}
		if err := run.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	if err := run.Close(); err != nil {
		b.Fatal(err)
	}
	return st, run.ID()
}

// BenchmarkMillion measures the pages of a run of 1,000,000 attempts: the whole, again, a part of it, and one
// attempt.
func BenchmarkMillion(b *testing.B) {
	for _, totals := range []bool{true, false} {
		st, run := million(b, totals)
		for name, path := range map[string]string{"run": "", "again": "", "zoom": "?from=450001&to=450500", "attempt": "/attempts/999999"} {
			b.Run(name+"/totals="+strconv.FormatBool(totals), func(b *testing.B) {
				size := int64(0)
				pages := web.New(web.Options{Engine: &engine{store: st}, Store: st})
				for b.Loop() {
					if name == "run" { // nobody has looked at it yet
						pages = web.New(web.Options{Engine: &engine{store: st}, Store: st})
					}
					w := httptest.NewRecorder()
					pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/runs/"+run+path, nil))
					if w.Code != http.StatusOK {
						b.Fatal(w.Code, w.Body)
					}
					size, _ = io.Copy(io.Discard, w.Body)
				}
				b.ReportMetric(float64(size)/1024, "KiB/page")
			})
		}
	}
}
