package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// Everything that goes in comes out, what is absent stays absent.
func (s suite) testRoundTrip(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	full := held(2, 3)
	full.Slice, full.Pass, full.Page, full.Try, full.Offset = 4, 2, 7, 3, 600
	full.Repeated, full.Nulls, full.Cause = 2, 1, "größer: \"50\" → 100\nsecond line"
	full.Rules = append(full.Rules, judge.Rule{ID: "TR009", Layer: "none", Evidence: "nothing says so"})
	bare := reconcile.Attempt{Seq: 1, Started: epoch}
	zeros := held(3, 0)
	zeros.BytesExpected, zeros.Total, zeros.Rules = judge.N(0), judge.N(0), nil
	kept := half(4) // a page that is not held may have keys, and may have none
	kept.Outcome, kept.New, kept.Items, kept.Keys = reconcile.Partial, 1, 1, []byte("0123456789abcdef")
	unkept := half(5)
	unkept.Outcome, unkept.New, unkept.Items = reconcile.Refused, 9, 9
	in := []reconcile.Attempt{full, bare, zeros, kept, unkept}
	totals := []reconcile.TotalSeen{
		{Seq: 0, At: epoch, Source: "count request", Value: 900, Kind: judge.Exact, Live: true},
		{Seq: 3, At: epoch.Add(time.Second), Source: "nbHits", Value: 0, Kind: judge.LowerBound, Distinct: 4, Remark: "below 4 held", Collapsed: true},
	}
	events := []reconcile.Event{{Seq: 2, At: epoch, Kind: "size", Text: "100 to 50"}, {Seq: 3, At: epoch, Kind: "end", Text: "…"}}
	noError(t, run.Commit(t.Context(), store.Checkpoint{
		Attempts: in, Totals: totals, Events: events, Length: 1234, Items: 4, State: []byte(`{"a":"ü"}`),
	}))

	list := pages(t, h, run.ID(), store.PageFilter{})
	same(t, "attempts", list, withoutKeys(bare, full, zeros, kept, unkept))
	gotTotals, err := h.Totals(t.Context(), run.ID(), 0)
	noError(t, err)
	same(t, "totals", gotTotals, store.TotalList{Totals: totals, Total: 2})
	gotEvents, err := h.Events(t.Context(), run.ID(), 0)
	noError(t, err)
	same(t, "events", gotEvents, store.EventList{Events: events, Total: 2})
	at, err := run.Resume(t.Context())
	noError(t, err)
	same(t, "state", string(at.State), `{"a":"ü"}`)
	same(t, "mark", []int64{at.Length, at.Items}, []int64{1234, 4})
	same(t, "keys", keys(t, at), slices.Concat(full.Keys, kept.Keys))
}

// A checkpoint that fails in its middle leaves nothing behind, and the run
// goes on.
func (s suite) testCommitAtomic(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	event := reconcile.Event{At: epoch, Kind: "note", Text: "first"}
	total := reconcile.TotalSeen{At: epoch, Source: "t", Value: 7, Kind: judge.Exact, Live: true}
	first := checkpoint(0, held(1, 2), held(2, 2))
	first.Events, first.Totals = []reconcile.Event{event}, []reconcile.TotalSeen{total}
	noError(t, run.Commit(t.Context(), first))

	bad := checkpoint(4, held(3, 2), held(2, 2), held(4, 2)) // 2 is there already
	bad.Events, bad.Totals, bad.State = first.Events, first.Totals, []byte(`{"bad":1}`)
	bad.Slices = []reconcile.Slice{{Slice: 1, Key: "id"}}
	if err := run.Commit(t.Context(), bad); err == nil {
		t.Fatalf("an attempt was written twice")
	}
	checkHolds(t, h, run, first.State, 400, 4, held(1, 2), held(2, 2))

	good := checkpoint(4, held(3, 2))
	good.Events, good.Totals = first.Events, first.Totals
	noError(t, run.Commit(t.Context(), good))
	checkHolds(t, h, run, good.State, 600, 6, held(1, 2), held(2, 2), held(3, 2))
	totals, err := h.Totals(t.Context(), run.ID(), 0)
	noError(t, err)
	events, err := h.Events(t.Context(), run.ID(), 0)
	noError(t, err)
	slices, err := h.Slices(t.Context(), run.ID())
	noError(t, err)
	same(t, "totals, events, slices", []int{len(totals.Totals), len(events.Events), len(slices)}, []int{2, 2, 0})
}

// checkHolds compares all that a run can go on from.
func checkHolds(t T, h handle, run Ledger, state []byte, length, items int64, attempts ...reconcile.Attempt) {
	t.Helper()
	at, err := run.Resume(context.Background())
	noError(t, err)
	same(t, "state", string(at.State), string(state))
	same(t, "mark", []int64{at.Length, at.Items}, []int64{length, items})
	same(t, "attempts", pages(t, h, run.ID(), store.PageFilter{}), withoutKeys(attempts...))
	same(t, "counted", counted(t, h, run.ID(), store.PageFilter{}), []int64{int64(len(attempts)), int64(len(attempts))})
	var want []byte
	for _, a := range attempts {
		want = append(want, a.Keys...)
	}
	same(t, "keys", keys(t, at), want)
}

func (s suite) testCommitRefuses(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	for name, change := range map[string]func(*store.Checkpoint){
		"no keys":         func(c *store.Checkpoint) { c.Attempts[0].Keys = nil },
		"a key too few":   func(c *store.Checkpoint) { c.Attempts[0].Keys = c.Attempts[0].Keys[16:] },
		"half a key":      func(c *store.Checkpoint) { c.Attempts[0].Keys = c.Attempts[0].Keys[8:] },
		"a key too many":  func(c *store.Checkpoint) { c.Attempts[0].New-- },
		"seq 0":           func(c *store.Checkpoint) { c.Attempts[0].Seq = 0 },
		"negative length": func(c *store.Checkpoint) { c.Length = -1 },
		"negative items":  func(c *store.Checkpoint) { c.Items = -1 },
		"refused page with a key too few": func(c *store.Checkpoint) {
			c.Attempts[0].Outcome, c.Attempts[0].New = reconcile.Refused, 3
		},
	} {
		c := checkpoint(0, held(1, 2))
		change(&c)
		if err := run.Commit(t.Context(), c); err == nil {
			t.Fatalf("%s: no error", name)
		}
	}
	checkHolds(t, h, run, nil, 0, 0)
	noError(t, run.Commit(t.Context(), store.Checkpoint{}))
	checkHolds(t, h, run, nil, 0, 0)
}

// A context that is done writes nothing; one that can end does not harm.
func (s suite) testCommitContext(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run.Commit(ctx, checkpoint(0, held(1, 1))); !errors.Is(err, context.Canceled) {
		t.Fatalf("commit with a context that is done: %v", err)
	}
	if err := run.Finish(ctx, report(run)); !errors.Is(err, context.Canceled) {
		t.Fatalf("finish with a context that is done: %v", err)
	}
	noError(t, run.Commit(&endsLater{Context: ctx}, checkpoint(0, held(1, 1))))
	checkHolds(t, h, run, []byte(`{"page":1}`), 100, 1, held(1, 1))
}

// endsLater is a context that ends after it was first looked at.
type endsLater struct {
	context.Context //nolint:containedctx // it is one
	looked          bool
}

func (c *endsLater) Err() error {
	if !c.looked {
		c.looked = true
		return nil
	}
	return c.Context.Err()
}

// Several runs in several handles are written at the same time, and read
// meanwhile: each checkpoint is seen whole.
func (s suite) testConcurrent(t *testing.T) {
	const runs, commits = 4, 25
	dir := t.TempDir()
	var work sync.WaitGroup
	for i := range runs {
		h := s.open(t, dir)
		t.Cleanup(func() { noError(t, h.Close()) })
		run := mustBegin(t, h, options(string(rune('a'+i))))
		work.Go(func() {
			for n := range int64(commits) {
				if err := run.Commit(context.Background(), checkpoint(4*n, held(2*n+1, 2), held(2*n+2, 2))); err != nil {
					t.Errorf("run %s, commit %d: %v", run.ID(), n, err)
					return
				}
				at, err := run.Resume(context.Background()) // it checks that the counts agree
				if err != nil || at.Counts.New != 4*(n+1) || at.Items != 4*(n+1) {
					t.Errorf("run %s after commit %d: %+v, %v", run.ID(), n, at.Counts, err)
				}
			}
		})
	}
	work.Wait()
}

func (s suite) testResume(t *testing.T) {
	dir := t.TempDir()
	h := s.open(t, dir)
	run := mustBegin(t, h, options("pull"))
	noError(t, run.Commit(t.Context(), checkpoint(0, held(2, 2), held(1, 3)))) // in the order of their answers
	noError(t, run.Commit(t.Context(), checkpoint(5, half(3))))
	last := checkpoint(5, held(4, 0), held(5, 4))
	last.State = []byte(`{"page":5}`)
	noError(t, run.Commit(t.Context(), last))
	noError(t, run.Close())
	noError(t, h.Close())

	h = s.open(t, dir)
	t.Cleanup(func() { noError(t, h.Close()) })
	again := mustBegin(t, h, options("pull"))
	if !again.Resumed() || again.ID() != run.ID() || again.Seed() != run.Seed() {
		t.Fatalf("took up %s, resumed %v", again.ID(), again.Resumed())
	}
	checkHolds(t, h, again, []byte(`{"page":5}`), 900, 9, held(1, 3), held(2, 2), half(3), held(4, 0), held(5, 4))
	at, err := again.Resume(t.Context())
	noError(t, err)
	stop := errors.New("stop")
	calls := 0
	err = at.Keys(func([]byte) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Fatalf("keys: %v after %d calls, want the callee's error after one", err, calls)
	}
}
