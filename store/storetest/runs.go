package storetest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

func (s suite) testBegin(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("one"))
	if run.Resumed() || run.ID() == "" || run.Name() != "one" || len(run.Others()) != 0 {
		t.Fatalf("new run: id %q, name %q, resumed %v, others %v", run.ID(), run.Name(), run.Resumed(), run.Others())
	}
	at, err := run.Resume(t.Context())
	noError(t, err)
	if at.State != nil || at.Length != 0 || at.Items != 0 || at.Counts != (store.Counts{}) || len(keys(t, at)) != 0 {
		t.Fatalf("a new run goes on from %+v", at)
	}
	i, err := h.RunByID(t.Context(), run.ID())
	noError(t, err)
	if i.State != store.Running || i.Verdict != nil || i.Version != "1.0" || i.ConfigHash != "hash-a" || !i.Started.Equal(run.Started()) {
		t.Fatalf("stored: %+v", i)
	}
	for _, o := range []store.BeginOptions{{Name: "x"}, {ConfigHash: "x"}, {}} {
		if run, err := h.begin(t.Context(), o); err == nil {
			t.Fatalf("Begin(%+v) gave run %s", o, run.ID())
		}
	}
}

// An unfinished run goes on under its own name and config only.
func (s suite) testBeginFindsItsConfig(t *testing.T) {
	h := s.fresh(t)
	a := mustBegin(t, h, options("pull"))
	noError(t, a.Close())

	other := options("pull")
	other.ConfigHash = "hash-b"
	b := mustBegin(t, h, other)
	if b.Resumed() || b.ID() == a.ID() {
		t.Fatalf("another config took up run %s", a.ID())
	}
	if len(b.Others()) != 1 || b.Others()[0].Run != a.ID() || b.Others()[0].Holder != nil {
		t.Fatalf("others: %+v, want run %s, held by nobody", b.Others(), a.ID())
	}

	again := mustBegin(t, h, options("pull"))
	if !again.Resumed() || again.ID() != a.ID() || again.Seed() != a.Seed() || !again.Started().Equal(a.Started()) {
		t.Fatalf("took up %s (seed %x), want %s (seed %x)", again.ID(), again.Seed(), a.ID(), a.Seed())
	}
	if len(again.Others()) != 1 || again.Others()[0].Run != b.ID() || again.Others()[0].Holder == nil {
		t.Fatalf("others: %+v, want run %s, held by this process", again.Others(), b.ID())
	}
	if elsewhere := mustBegin(t, h, options("other")); elsewhere.Resumed() || len(elsewhere.Others()) != 0 {
		t.Fatalf("another name: resumed %v, others %+v", elsewhere.Resumed(), elsewhere.Others())
	}
}

func (s suite) testFresh(t *testing.T) {
	h := s.fresh(t)
	old := mustBegin(t, h, options("pull"))
	noError(t, old.Commit(t.Context(), checkpoint(0, held(1, 3))))
	noError(t, old.Close())
	other := options("pull")
	other.ConfigHash = "hash-b"
	kept := mustBegin(t, h, other)
	noError(t, kept.Close())

	o := options("pull")
	o.Fresh = true
	run := mustBegin(t, h, o)
	if run.Resumed() || run.ID() == old.ID() || run.Seed() == old.Seed() {
		t.Fatalf("fresh run %s (seed %x) after %s (seed %x), resumed %v", run.ID(), run.Seed(), old.ID(), old.Seed(), run.Resumed())
	}
	for id, want := range map[string]string{old.ID(): store.Abandoned, kept.ID(): store.Running} {
		i, err := h.RunByID(t.Context(), id)
		noError(t, err)
		same(t, "state of "+id, i.State, want)
	}
	if err := old.Commit(t.Context(), checkpoint(3, held(2, 1))); !errors.Is(err, store.ErrLost) {
		t.Fatalf("commit to an abandoned run: %v", err)
	}
	noError(t, run.Close())
	if next := mustBegin(t, h, options("pull")); next.ID() != run.ID() {
		t.Fatalf("next run %s, want %s: an abandoned run is never taken up", next.ID(), run.ID())
	}
}

func (s suite) testIDsSort(t *testing.T) {
	h := s.fresh(t)
	var ids []string
	for range 50 {
		o := options("pull")
		o.Fresh = true
		run, err := h.begin(t.Context(), o)
		noError(t, err)
		noError(t, run.Close())
		ids = append(ids, run.ID())
	}
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	same(t, "ids", slices.Compact(sorted), ids)
}

func (s suite) testOwnership(t *testing.T) {
	dir := t.TempDir()
	first, second := s.open(t, dir), s.open(t, dir)
	t.Cleanup(func() { noError(t, errors.Join(first.Close(), second.Close())) })
	run := mustBegin(t, first, options("pull"))
	noError(t, run.Commit(t.Context(), checkpoint(0, held(1, 2))))

	again := options("pull")
	again.Fresh = true
	for _, o := range []store.BeginOptions{options("pull"), again} {
		_, err := second.begin(t.Context(), o)
		var who *store.HeldError
		if !errors.As(err, &who) || !errors.Is(err, store.ErrHeld) {
			t.Fatalf("Begin(fresh %v) of a held run: %v", o.Fresh, err)
		}
		if who.Run != run.ID() || who.Holder.PID != os.Getpid() || !strings.Contains(err.Error(), "run "+run.ID()+" is being drained by process ") {
			t.Fatalf("held by %+v: %v", who, err)
		}
	}
	i, err := second.RunByID(t.Context(), run.ID())
	noError(t, err)
	if i.State != store.Running || i.Holder == nil || i.Holder.PID != os.Getpid() {
		t.Fatalf("a refused Begin left %+v", i)
	}
	if other := mustBegin(t, second, options("other")); other.Resumed() {
		t.Fatalf("another name: %s", other.ID())
	}

	noError(t, run.Commit(t.Context(), checkpoint(2, held(2, 2))))
	noError(t, run.Close())
	if i, err = second.RunByID(t.Context(), run.ID()); err != nil || i.Holder != nil || !i.Unfinished() {
		t.Fatalf("let go: %+v, %v", i, err)
	}
	taken := mustBegin(t, second, options("pull"))
	at, err := taken.Resume(t.Context())
	noError(t, err)
	if taken.ID() != run.ID() || at.Items != 4 {
		t.Fatalf("took up %s with %d items, want %s with 4", taken.ID(), at.Items, run.ID())
	}
}

// A run that was let go is not written any more.
func (s suite) testLost(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	noError(t, run.Close())
	noError(t, run.Close())
	if err := run.Commit(t.Context(), checkpoint(0, held(1, 1))); !errors.Is(err, store.ErrLost) {
		t.Fatalf("commit after close: %v", err)
	}
	if err := run.Finish(t.Context(), report(run)); !errors.Is(err, store.ErrLost) {
		t.Fatalf("finish after close: %v", err)
	}
	same(t, "attempts", counted(t, h, run.ID(), store.PageFilter{}), []int64{0, 0})
}

func (s suite) testFinish(t *testing.T) {
	for _, c := range []struct {
		state  string
		resume bool
	}{{store.Finished, false}, {store.Failed, false}, {store.Stopped, true}} {
		t.Run(c.state, func(t *testing.T) {
			h := s.fresh(t)
			run := mustBegin(t, h, options("pull"))
			noError(t, run.Commit(t.Context(), checkpoint(0, held(1, 2), half(2), held(3, 2))))
			want := report(run)
			want.State = c.state
			if c.state == store.Failed {
				want.Error = "sink: disk full"
			}
			noError(t, run.Finish(t.Context(), want))
			checkFinished(t, h, want)
			if err := run.Commit(t.Context(), checkpoint(4, held(4, 1))); !errors.Is(err, store.ErrLost) {
				t.Fatalf("commit after finish: %v", err)
			}
			next := mustBegin(t, h, options("pull"))
			if next.Resumed() != c.resume || (next.ID() == run.ID()) != c.resume {
				t.Fatalf("after %s: run %s, resumed %v", c.state, next.ID(), next.Resumed())
			}
			if c.resume {
				checkGoesOn(t, h, next)
			}
		})
	}
}

func checkFinished(t *testing.T, h handle, want reconcile.Report) {
	t.Helper()
	got, err := h.Report(t.Context(), want.Run)
	noError(t, err)
	same(t, "report", got, want)
	i, err := h.RunByID(t.Context(), want.Run)
	noError(t, err)
	if i.State != want.State || i.Verdict == nil || *i.Verdict != want.Verdict || i.Strength != want.Strength ||
		i.Exit == nil || *i.Exit != int64(want.Exit) || i.Error != want.Error || i.Holder != nil || i.Ended == nil || !i.Ended.Equal(want.Ended) {
		t.Fatalf("stored %+v for %+v", i, want)
	}
	same(t, "figures", []any{i.Items, *i.Total, *i.Missing, i.Pages, i.Attempts, i.Reach},
		[]any{want.Items.Distinct, *want.Total.Last, *want.Missing, want.Pages.Held, want.Pages.Attempts, want.Reach})
}

// checkGoesOn looks at a run that was stopped with a report and taken up: the
// figures are those of its last checkpoint, and the report is gone.
func checkGoesOn(t *testing.T, h handle, run Ledger) {
	t.Helper()
	i, err := h.RunByID(t.Context(), run.ID())
	noError(t, err)
	if i.State != store.Running || i.Verdict != nil || i.Strength != reconcile.None || i.Ended != nil || i.Exit != nil || i.Total != nil {
		t.Fatalf("taken up: %+v", i)
	}
	same(t, "figures", []int64{i.Items, i.Pages, i.Attempts}, []int64{4, 2, 3})
	if _, err := h.Report(t.Context(), run.ID()); !errors.Is(err, store.ErrNoReport) {
		t.Fatalf("report of a run that goes on: %v", err)
	}
}

func (s suite) testFinishRefuses(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	for name, change := range map[string]func(*reconcile.Report){
		"another run":  func(r *reconcile.Report) { r.Run = "01aaaaaaaaaaa" },
		"another name": func(r *reconcile.Report) { r.Name = "x" },
		"no state":     func(r *reconcile.Report) { r.State = "" },
		"running":      func(r *reconcile.Report) { r.State = store.Running },
	} {
		r := report(run)
		change(&r)
		if err := run.Finish(t.Context(), r); err == nil {
			t.Fatalf("%s: no error", name)
		}
	}
	i, err := h.RunByID(t.Context(), run.ID())
	noError(t, err)
	if i.State != store.Running || i.Holder == nil {
		t.Fatalf("a refused report left %+v", i)
	}
	noError(t, run.Finish(t.Context(), report(run)))
}

func (s suite) testLastComplete(t *testing.T) {
	h := s.fresh(t)
	none := func() {
		t.Helper()
		if i, err := h.LastComplete(t.Context(), "pull"); !errors.Is(err, store.ErrNoRun) {
			t.Fatalf("last complete: %+v, %v", i, err)
		}
	}
	finish := func(name, state string, v judge.Verdict) string {
		t.Helper()
		o := options(name)
		o.Fresh = true
		run := mustBegin(t, h, o)
		r := report(run)
		r.State, r.Verdict = state, v
		noError(t, run.Finish(t.Context(), r))
		return run.ID()
	}
	none()
	finish("pull", store.Finished, judge.Truncated)
	finish("pull", store.Stopped, judge.Complete)
	finish("other", store.Finished, judge.Complete)
	none()
	finish("pull", store.Finished, judge.Complete)
	want := finish("pull", store.Finished, judge.Complete)
	finish("pull", store.Finished, judge.Unknown)
	got, err := h.LastComplete(t.Context(), "pull")
	noError(t, err)
	same(t, "last complete", got.Run, want)
	same(t, "its items", got.Items, int64(250))
}
