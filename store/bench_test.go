package store

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

func itoa(n int) string { return strconv.Itoa(n) }

// benchAttempt is a held page of n new items, filled as a real one is.
func benchAttempt(seq int64, n int) reconcile.Attempt {
	keys := make([]byte, keySize*n)
	for i := range keys {
		keys[i] = byte(seq>>8) ^ byte(seq)*31 ^ byte(i*7)
	}
	return reconcile.Attempt{
		Seq: seq, Pass: 1, Page: int(seq), Try: 1, Started: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(time.Duration(seq) * time.Millisecond),
		Duration: 5 * time.Millisecond, URL: "https://api.example.org/v1/search_by_date?query=agent&tags=story&hitsPerPage=100&page=" + strconv.FormatInt(seq, 10),
		Position: "page " + strconv.FormatInt(seq, 10), Offset: 100 * seq, SizeAsked: 100, Status: 200, BytesRead: 63800,
		BytesExpected: judge.N(63800), Items: n, New: n, Total: judge.N(533692), TotalKind: judge.Exact, More: "follow",
		Outcome: reconcile.Held, Verdict: judge.Truncated, Action: judge.ActionContinue, Keys: keys,
		Rules: []judge.Rule{{ID: "TR002", Layer: "set", Verdict: judge.Truncated, Evidence: "total 533692 > 100 items at offset 0"}},
	}
}

// benchTotal is the total that a benchAttempt declares.
func benchTotal(seq int64) reconcile.TotalSeen {
	return reconcile.TotalSeen{Seq: seq, At: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Source: "nbHits", Value: 533692,
		Kind: judge.Exact, Live: true, Distinct: 100 * seq}
}

// benchCheckpoint is one of so many pages after seq, each of n new items and
// with a total.
func benchCheckpoint(seq int64, pages, n int) Checkpoint {
	c := Checkpoint{State: []byte(`{"page":1}`), Items: seq + int64(pages*n), Length: 638 * (seq + int64(pages*n))}
	for range pages {
		seq++
		c.Attempts, c.Totals = append(c.Attempts, benchAttempt(seq, n)), append(c.Totals, benchTotal(seq))
	}
	return c
}

// BenchmarkCommit measures the cost of a page at several sizes of a checkpoint.
// A page has 100 new items and a total, as most have.
func BenchmarkCommit(b *testing.B) {
	for _, size := range []int{1, 10, 100, 250} {
		b.Run(fmt.Sprintf("pages=%d", size), func(b *testing.B) {
			s := mustOpen(b, filepath.Join(b.TempDir(), "lastdrop.db"))
			run := mustBegin(b, s)
			c := benchCheckpoint(0, size, 100)
			seq := int64(0)
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				for i := range c.Attempts {
					seq++
					c.Attempts[i].Seq, c.Totals[i].Seq = seq, seq
				}
				if err := run.Commit(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(seq)/b.Elapsed().Seconds(), "pages/s")
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(seq), "cpu-µs/page")
		})
	}
}

// benchRun makes a store with an unfinished run of so many pages, each of n new
// items; one of a thousand is half a body, and the page size moves with it.
func benchRun(b *testing.B, pages, n int) (*Store, *Run) {
	b.Helper()
	const perCommit = 250
	s := mustOpen(b, filepath.Join(b.TempDir(), "lastdrop.db"))
	run := mustBegin(b, s)
	for seq := 0; seq < pages; seq += perCommit {
		c := benchCheckpoint(int64(seq), perCommit, n)
		for i := range c.Attempts {
			if a := &c.Attempts[i]; a.Seq%1000 == 0 {
				a.Outcome, a.New, a.Keys, a.SizeAsked = reconcile.Half, 0, nil, 200
			}
		}
		if err := run.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	return s, run
}

// each runs read over and over, and tells the processor time of one.
func each(b *testing.B, read func() error) {
	before := cpuTime(b)
	for b.Loop() {
		if err := read(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// BenchmarkList measures what people read of a run of 1,000,000 pages: each is
// a part of lastdrop runs, runs show or pages.
func BenchmarkList(b *testing.B) {
	s, run := benchRun(b, 1_000_000, 0)
	ctx, id := b.Context(), run.ID()
	pages := func(f PageFilter) func() error {
		return func() error {
			list, err := s.Pages(ctx, id, f)
			if err == nil && len(list) > 0 {
				f := f
				f.After = list[len(list)-1].Seq
				_, _, err = s.CountPages(ctx, id, f)
			}
			return err
		}
	}
	for name, read := range map[string]func() error{
		"runs":         func() error { _, err := s.Runs(ctx, RunFilter{Limit: 20}); return err },
		"pages/first":  pages(PageFilter{Limit: 50}),
		"pages/middle": pages(PageFilter{Limit: 50, After: 500_000}),
		"pages/last":   pages(PageFilter{Limit: 50, After: 999_900}),
		"pages/half":   pages(PageFilter{Limit: 50, Outcome: "half"}),
		"pages/held":   pages(PageFilter{Limit: 50, Outcome: "held", After: 999_000}),
		"show/counts":  func() error { _, err := s.Counts(ctx, id); return err },
		"show/sizes":   func() error { _, err := s.PageSizes(ctx, id); return err },
		"show/drifts":  func() error { _, err := s.Drifts(ctx, id); return err },
		"show/events":  func() error { _, err := s.Events(ctx, id, 10); return err },
	} {
		b.Run(name, func(b *testing.B) { each(b, read) })
	}
}

// BenchmarkResume measures how a run of 100,000 pages of 100 items goes on: the
// check of its rows, and the reading of its 10,000,000 keys.
func BenchmarkResume(b *testing.B) {
	_, run := benchRun(b, 100_000, 100)
	b.Run("check", func(b *testing.B) {
		each(b, func() error { _, err := run.Resume(b.Context()); return err })
	})
	b.Run("keys", func(b *testing.B) {
		at, err := run.Resume(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		each(b, func() error { return at.Keys(func([]byte) error { return nil }) })
	})
}
