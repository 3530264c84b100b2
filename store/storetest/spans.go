package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A walk over runs that begins at one moment gives each run of this moment once,
// and its total is theirs, whatever is added meanwhile.
func (s suite) testRunsWalk(t *testing.T) {
	h := s.fresh(t)
	want := someRuns(t, h, "a", "b", "a", "a", "b")
	slices.Reverse(want)
	for _, name := range []string{"", "a"} {
		var first, before string
		var got []string
		total := int64(len(want))
		if name == "a" {
			want = []string{want[1], want[2], want[4]}
			total = 3
		}
		for {
			list, err := h.Runs(t.Context(), store.RunFilter{Name: name, UpTo: first, Before: before, Limit: 2})
			noError(t, err)
			same(t, "total", list.Total, total)
			if len(list.Runs) == 0 {
				break
			}
			for _, i := range list.Runs {
				got = append(got, i.Run)
			}
			first, before = got[0], got[len(got)-1]
			if name == "a" {
				someRuns(t, h, "a")
			}
		}
		same(t, "runs of "+name, got, want)
	}
}

// Up to an attempt, list and counts stay as they were, whatever comes after it.
func (s suite) testPagesUpTo(t *testing.T) {
	h, run, all := s.mixed(t)
	for upTo := int64(1); upTo <= 31; upTo++ {
		for _, outcome := range []string{"", "held", "half"} {
			var want []int64
			for _, a := range all {
				if a.Seq <= upTo && (outcome == "" || a.Outcome.String() == outcome) {
					want = append(want, a.Seq)
				}
			}
			for after := int64(0); after <= 31; after += 3 {
				f := store.PageFilter{Outcome: outcome, UpTo: upTo, After: after}
				var rest []int64
				for _, n := range want {
					if n > after {
						rest = append(rest, n)
					}
				}
				var got []int64
				for _, a := range pages(t, h, run, f) {
					got = append(got, a.Seq)
				}
				same(t, fmt.Sprintf("%+v", f), got, rest)
				same(t, fmt.Sprintf("%+v total, rest", f), counted(t, h, run, f), []int64{int64(len(want)), int64(len(rest))})
			}
		}
	}
}

// walkSpan walks a list in parts of every length, up to the end that it had at first,
// and holds what comes against the whole.
func walkSpan[T any](t *testing.T, what string, list func(context.Context, string, store.Span) (store.Part[T], error), run string, want []T) {
	t.Helper()
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []T
		var s store.Span
		for s.Limit = limit; ; {
			part, err := list(t.Context(), run, s)
			noError(t, err)
			same(t, what+" total", part.Total, int64(len(want)))
			if len(part.Items) == 0 {
				break
			}
			for _, n := range part.Items {
				got = append(got, n.Item)
				s.After = n.N
			}
			s.UpTo = part.End
		}
		same(t, fmt.Sprintf("%s by %d", what, limit), got, want)
	}
	half := len(want) / 2
	whole, err := list(t.Context(), run, store.Span{})
	noError(t, err)
	same(t, what+" end", whole.End, whole.Items[len(want)-1].N)
	part, err := list(t.Context(), run, store.Span{UpTo: whole.Items[half].N})
	noError(t, err)
	same(t, what+" up to", []int64{int64(len(part.Items)), part.Total, part.End}, []int64{int64(half + 1), int64(half + 1), whole.Items[half].N})
	none, err := list(t.Context(), "none", store.Span{})
	noError(t, err)
	same(t, what+" of no run", none, store.Part[T]{})
}

func (s suite) testSpans(t *testing.T) {
	h := s.fresh(t)
	for _, name := range []string{"other", "pull"} {
		run := mustBegin(t, h, options(name))
		var c store.Checkpoint
		var sizes []store.SizeStep
		for n := range int64(7) {
			c.Totals = append(c.Totals, reconcile.TotalSeen{Seq: n, At: epoch, Source: "t", Value: n, Kind: judge.Exact, Live: true})
			c.Events = append(c.Events, reconcile.Event{Seq: n, At: epoch, Kind: "note", Text: name})
			c.Slices = append(c.Slices, reconcile.Slice{Slice: int(n), Key: "k", Bounds: "[)", State: "open", Items: n})
			c.Children = append(c.Children, store.Child{N: int(n) + 1, Value: name})
			a := held(2*n+1, 0)
			a.SizeAsked, a.Cause, a.Keys = int(n)+1, "why", nil
			c.Attempts = append(c.Attempts, a)
			step := store.SizeStep{Seq: a.Seq, At: a.Started, Size: judge.N(n + 1), Cause: "start"}
			if n > 0 {
				step.Before, step.Cause = judge.N(n), "why"
			}
			sizes = append(sizes, step)
		}
		c.State = []byte("{}")
		noError(t, run.Commit(t.Context(), c))
		walkSpan(t, "totals", h.TotalsIn, run.ID(), c.Totals)
		walkSpan(t, "events", h.EventsIn, run.ID(), c.Events)
		walkSpan(t, "slices", h.SlicesIn, run.ID(), c.Slices)
		walkSpan(t, "children", h.ChildrenIn, run.ID(), c.Children)
		walkSpan(t, "sizes", h.SizesIn, run.ID(), sizes)
	}
}

func (s suite) testVerdicts(t *testing.T) {
	h, run, _ := s.mixed(t)
	got, err := h.Verdicts(t.Context(), run)
	noError(t, err)
	same(t, "verdicts", got, []store.VerdictCount{
		{Outcome: reconcile.Failed, Verdict: judge.Truncated, Attempts: 4},
		{Outcome: reconcile.Half, Verdict: judge.Truncated, Attempts: 3},
		{Outcome: reconcile.Held, Verdict: judge.Truncated, Attempts: 20},
		{Outcome: reconcile.Limited, Verdict: judge.Truncated, Attempts: 3},
	})
}
