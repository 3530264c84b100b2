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

// BenchmarkCommit measures rows a second at several sizes of a checkpoint.
func BenchmarkCommit(b *testing.B) {
	for _, size := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("pages=%d", size), func(b *testing.B) {
			s := mustOpen(b, filepath.Join(b.TempDir(), "lastdrop.db"))
			run := mustBegin(b, s)
			c := Checkpoint{State: []byte(`{"page":1}`)}
			for range size {
				c.Attempts = append(c.Attempts, benchAttempt(0, 100))
			}
			seq := int64(0)
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				for i := range c.Attempts {
					seq++
					c.Attempts[i].Seq = seq
				}
				c.Items, c.Length = 100*seq, 63800*seq
				if err := run.Commit(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(seq)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(seq), "cpu-µs/row")
		})
	}
}

// BenchmarkList measures what people and the resume read, of 100,000 attempts.
func BenchmarkList(b *testing.B) {
	const rows, perCommit = 100_000, 1000
	s := mustOpen(b, filepath.Join(b.TempDir(), "lastdrop.db"))
	run := mustBegin(b, s)
	for seq := int64(0); seq < rows; {
		var c Checkpoint
		for range perCommit {
			seq++
			a := benchAttempt(seq, 100)
			if seq%1000 == 0 {
				a.Outcome, a.New, a.Keys = reconcile.Half, 0, nil
			}
			c.Attempts = append(c.Attempts, a)
		}
		if err := run.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	for name, read := range map[string]func() error{
		"first50": func() error { _, err := s.Pages(b.Context(), run.ID(), PageFilter{Limit: 50}); return err },
		"middle50": func() error {
			_, err := s.Pages(b.Context(), run.ID(), PageFilter{Limit: 50, After: 50_000})
			return err
		},
		"half50": func() error {
			_, err := s.Pages(b.Context(), run.ID(), PageFilter{Limit: 50, Outcome: "half"})
			return err
		},
		"all":    func() error { _, err := s.Pages(b.Context(), run.ID(), PageFilter{}); return err },
		"counts": func() error { _, err := s.Counts(b.Context(), run.ID()); return err },
		"sizes":  func() error { _, err := s.PageSizes(b.Context(), run.ID()); return err },
		"keys": func() error {
			at, err := run.Resume(b.Context())
			if err != nil {
				return err
			}
			return at.Keys(func([]byte) error { return nil })
		},
	} {
		b.Run(name, func(b *testing.B) {
			before := cpuTime(b)
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}
