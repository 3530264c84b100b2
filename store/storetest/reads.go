package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// someRuns begins and lets go a run of each name, in order.
func someRuns(t *testing.T, h handle, names ...string) []string {
	t.Helper()
	var ids []string
	for _, name := range names {
		o := options(name)
		o.Fresh = true
		run := mustBegin(t, h, o)
		noError(t, run.Close())
		ids = append(ids, run.ID())
	}
	return ids
}

func (s suite) testRuns(t *testing.T) {
	h := s.fresh(t)
	ids := someRuns(t, h, "a", "b", "a", "c", "a")
	slices.Reverse(ids)
	for _, c := range []struct {
		filter store.RunFilter
		want   []string
		total  int64
	}{
		{store.RunFilter{}, ids, 5},
		{store.RunFilter{Limit: 2}, ids[:2], 5},
		{store.RunFilter{Limit: 9}, ids, 5},
		{store.RunFilter{Name: "a"}, []string{ids[0], ids[2], ids[4]}, 3},
		{store.RunFilter{Name: "a", Limit: 1}, ids[:1], 3},
		{store.RunFilter{Name: "none"}, nil, 0},
	} {
		list, err := h.Runs(t.Context(), c.filter)
		noError(t, err)
		var got []string
		for _, i := range list.Runs {
			got = append(got, i.Run)
		}
		same(t, fmt.Sprintf("%+v", c.filter), got, c.want)
		same(t, fmt.Sprintf("total of %+v", c.filter), list.Total, c.total)
	}
}

func (s suite) testRunByID(t *testing.T) {
	h := s.fresh(t)
	if _, err := h.RunByID(t.Context(), "last"); !errors.Is(err, store.ErrNoRun) {
		t.Fatalf("last of none: %v", err)
	}
	ids := someRuns(t, h, "a", "b", "a", "last")
	for ref, want := range map[string]string{
		"last": ids[3], "a": ids[2], "b": ids[1], ids[0]: ids[0], strings.ToUpper(ids[1]): ids[1], ids[1][:12]: ids[1],
	} {
		got, err := h.RunByID(t.Context(), ref)
		noError(t, err)
		same(t, ref, got.Run, want)
	}
	someRuns(t, h, ids[0]) // a pull may be called like a run: the run is meant
	got, err := h.RunByID(t.Context(), ids[0])
	noError(t, err)
	same(t, "a run and a pull", got.Run, ids[0])
	for _, ref := range []string{"none", "", ids[0] + "x", "%", "_"} {
		if got, err := h.RunByID(t.Context(), ref); !errors.Is(err, store.ErrNoRun) {
			t.Fatalf("%q: %s, %v", ref, got.Run, err)
		}
	}
	_, err = h.RunByID(t.Context(), ids[0][:2])
	if !errors.Is(err, store.ErrAmbiguous) {
		t.Fatalf("%q: %v", ids[0][:2], err)
	}
	for _, id := range ids {
		if !strings.Contains(err.Error(), id) {
			t.Fatalf("run %s is not named: %v", id, err)
		}
	}
}

// mixed are attempts of every outcome, of two runs in one store.
func (s suite) mixed(t *testing.T) (h handle, run string, all []reconcile.Attempt) {
	t.Helper()
	h = s.fresh(t)
	for _, name := range []string{"other", "pull"} {
		ledger := mustBegin(t, h, options(name))
		all, run = nil, ledger.ID()
		for seq := int64(1); seq <= 30; seq++ {
			a := held(seq, 1)
			if seq%3 == 0 {
				a = half(seq)
				a.Outcome = []reconcile.Outcome{reconcile.Half, reconcile.Failed, reconcile.Limited}[seq/3%3]
			}
			all = append(all, a)
		}
		noError(t, ledger.Commit(t.Context(), checkpoint(0, all...)))
	}
	return h, run, withoutKeys(all...)
}

func (s suite) testPages(t *testing.T) {
	h, run, all := s.mixed(t)
	for _, c := range []struct {
		filter store.PageFilter
		want   []int64
		total  int64
		rest   int64
	}{
		{store.PageFilter{Limit: 3}, []int64{1, 2, 3}, 30, 27},
		{store.PageFilter{Limit: 3, After: 3}, []int64{4, 5, 6}, 30, 24},
		{store.PageFilter{After: 28}, []int64{29, 30}, 30, 0},
		{store.PageFilter{After: 30}, nil, 30, 0},
		{store.PageFilter{Outcome: "failed"}, []int64{3, 12, 21, 30}, 4, 0},
		{store.PageFilter{Outcome: "half", Limit: 1}, []int64{9}, 3, 2},
		{store.PageFilter{Outcome: "half", Limit: 1, After: 9}, []int64{18}, 3, 1},
		{store.PageFilter{Outcome: "held", Limit: 2, After: 3}, []int64{4, 5}, 20, 16},
		{store.PageFilter{Outcome: "partial"}, nil, 0, 0},
	} {
		list := pages(t, h, run, c.filter)
		what := fmt.Sprintf("%+v", c.filter)
		var want []reconcile.Attempt
		for _, seq := range c.want {
			want = append(want, all[seq-1])
		}
		same(t, what, list, want)
		if len(list) > 0 {
			c.filter.After = list[len(list)-1].Seq
		}
		same(t, what+" total, rest", counted(t, h, run, c.filter), []int64{c.total, c.rest})
	}
	same(t, "no such run", pages(t, h, "none", store.PageFilter{}), []reconcile.Attempt(nil))
	same(t, "no such run", counted(t, h, "none", store.PageFilter{After: 1}), []int64{0, 0})
	if _, _, err := h.CountPages(t.Context(), run, store.PageFilter{Outcome: "fine"}); err == nil {
		t.Error("counted an outcome that there is not")
	}
}

// Listing in parts of any length gives each attempt once, in order.
func (s suite) testPagesWalk(t *testing.T) {
	h, run, all := s.mixed(t)
	for limit := 1; limit <= 31; limit++ {
		var got []reconcile.Attempt
		after := int64(0)
		for {
			list := pages(t, h, run, store.PageFilter{After: after, Limit: limit})
			if len(list) == 0 {
				break
			}
			got = append(got, list...)
			after = got[len(got)-1].Seq
			same(t, fmt.Sprintf("limit %d, after %d", limit, after), counted(t, h, run, store.PageFilter{After: after}), []int64{30, int64(30 - len(got))})
		}
		same(t, fmt.Sprintf("limit %d", limit), got, all)
	}
}

func (s suite) testPageSizes(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	var all []reconcile.Attempt
	for i, size := range []int{100, 100, 50, 50, 100, 0} {
		a := held(int64(i+1), 1)
		a.SizeAsked, a.Cause = size, fmt.Sprintf("cause %d", i+1)
		all = append(all, a)
	}
	other := held(7, 1) // a slice has its own sizes
	other.Slice, other.SizeAsked = 1, 25
	noError(t, run.Commit(t.Context(), checkpoint(0, append(all, other)...)))
	got, err := h.PageSizes(t.Context(), run.ID())
	noError(t, err)
	at := func(seq int64) store.SizeStep { return store.SizeStep{Seq: seq, At: held(seq, 0).Started} }
	step := func(seq int64, before, size judge.Count, cause string) store.SizeStep {
		s := at(seq)
		s.Before, s.Size, s.Cause = before, size, cause
		return s
	}
	slice := step(7, judge.Count{}, judge.N(25), "start")
	slice.Slice = 1
	same(t, "steps", got, []store.SizeStep{
		step(1, judge.Count{}, judge.N(100), "start"),
		step(3, judge.N(100), judge.N(50), "cause 2"),
		step(5, judge.N(50), judge.N(100), "cause 4"),
		step(6, judge.N(100), judge.Count{}, "cause 5"),
		slice,
	})
}

// The last events and totals are given in order, with the number of all.
func (s suite) testTails(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	var events []reconcile.Event
	var totals []reconcile.TotalSeen
	for n := range int64(6) {
		e := reconcile.Event{Seq: n, At: epoch, Kind: "note", Text: fmt.Sprint("event ", n)}
		v := reconcile.TotalSeen{Seq: n, At: epoch, Source: "t", Value: n, Kind: judge.Exact, Live: true}
		events, totals = append(events, e), append(totals, v)
		noError(t, run.Commit(t.Context(), store.Checkpoint{Events: []reconcile.Event{e}, Totals: []reconcile.TotalSeen{v}}))
		if n == 3 { // the order goes on after a resume
			noError(t, run.Close())
			run = mustBegin(t, h, options("pull"))
		}
	}
	for limit, from := range map[int]int{0: 0, 2: 4, 6: 0, 9: 0} {
		gotEvents, err := h.Events(t.Context(), run.ID(), limit)
		noError(t, err)
		same(t, fmt.Sprint("events ", limit), gotEvents, store.EventList{Events: events[from:], Total: 6})
		gotTotals, err := h.Totals(t.Context(), run.ID(), limit)
		noError(t, err)
		same(t, fmt.Sprint("totals ", limit), gotTotals, store.TotalList{Totals: totals[from:], Total: 6})
	}
}

func (s suite) testDrifts(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	var totals []reconcile.TotalSeen
	see := func(source string, kind judge.TotalKind, live bool, values ...int64) {
		for _, v := range values {
			totals = append(totals, reconcile.TotalSeen{At: epoch, Source: source, Value: v, Kind: kind, Live: live, Collapsed: !live})
		}
	}
	see("nbHits", judge.Exact, true, 10, 10, 12)
	see("header", judge.LowerBound, true, 7)
	see("nbHits", judge.Exact, false, 0)
	see("nbHits", judge.Estimate, true, 11)
	see("echo", judge.Exact, false, 5, 6)
	noError(t, run.Commit(t.Context(), store.Checkpoint{Totals: totals}))
	got, err := h.Drifts(t.Context(), run.ID())
	noError(t, err)
	same(t, "drifts", got, []store.Drift{
		{Source: "nbHits", Kind: judge.Estimate, First: judge.N(10), Last: judge.N(11), Min: judge.N(10), Max: judge.N(12),
			Seen: 4, Moved: 2, NotBelieved: 1, Collapsed: 1},
		{Source: "header", Kind: judge.LowerBound, First: judge.N(7), Last: judge.N(7), Min: judge.N(7), Max: judge.N(7), Seen: 1},
		{Source: "echo", NotBelieved: 2, Collapsed: 2},
	})
}

func (s suite) testSlices(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	root := reconcile.Slice{Slice: 0, Key: "created_at", From: "1", To: "9", Bounds: "[)", State: "walking", Total: judge.N(5000), TotalKind: judge.Exact}
	noError(t, run.Commit(t.Context(), store.Checkpoint{Slices: []reconcile.Slice{root}}))
	root.State, root.Remark = "split", "5000 above the reach of 1000"
	left := reconcile.Slice{Slice: 1, Parent: judge.N(0), Key: "created_at", To: "5", Bounds: "[)", State: "held", Total: judge.N(0), Items: 3}
	right := reconcile.Slice{Slice: 2, Parent: judge.N(0), Key: "created_at", From: "5", Bounds: "[]", State: "open"}
	noError(t, run.Commit(t.Context(), store.Checkpoint{Slices: []reconcile.Slice{right, root, left}}))
	got, err := h.Slices(t.Context(), run.ID())
	noError(t, err)
	same(t, "slices", got, []reconcile.Slice{root, left, right})
}

func (s suite) testCounts(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	var all []reconcile.Attempt
	for i, o := range []reconcile.Outcome{reconcile.Held, reconcile.Half, reconcile.Held, reconcile.Failed, reconcile.Limited,
		reconcile.Partial, reconcile.Refused, reconcile.Half} {
		a := held(int64(i+1), 0)
		a.Outcome, a.Items, a.Repeated, a.Nulls, a.BytesRead, a.Pass = o, 5, 2, 1, 10, 1+i/4
		if o == reconcile.Held {
			a.New, a.Keys = 3, held(int64(i), 3).Keys
		}
		all = append(all, a)
	}
	noError(t, run.Commit(t.Context(), checkpoint(0, all...)))
	got, err := h.Counts(t.Context(), run.ID())
	noError(t, err)
	same(t, "counts", got, store.Counts{LastSeq: 8, Attempts: 8, Held: 2, Half: 2, Partial: 1, Limited: 1, Refused: 1, Failed: 1,
		Items: 10, New: 6, Repeated: 4, Nulls: 2, Bytes: 80, Passes: 2})
	i, err := h.RunByID(t.Context(), run.ID())
	noError(t, err)
	same(t, "figures", []int64{i.Items, i.Pages, i.Attempts}, []int64{6, 2, 8})
}
