package storetest

import (
	"strings"
	"testing"
	"time"

	"lastdrop/judge"
	"lastdrop/store"
)

func (s suite) testChildren(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	none, err := h.Children(t.Context(), run.ID())
	noError(t, err)
	same(t, "children of a plain run", len(none), 0)
	list := []store.Child{{N: 1, Value: "b"}, {N: 2, Value: "a/b c"}, {N: 3, Value: "a"}}
	noError(t, run.Commit(t.Context(), store.Checkpoint{Children: list, State: []byte("{}")}))
	list[1].Run = "01child"
	noError(t, run.Commit(t.Context(), store.Checkpoint{Children: list[1:2], State: []byte("{}")}))
	noError(t, run.Close())
	mustBegin(t, h, options("pull"))
	got, err := h.Children(t.Context(), run.ID())
	noError(t, err)
	same(t, "children", got, list)
}

// incremental are the options of incremental runs of a config.
func incremental(name, hash string) store.BeginOptions {
	o := options(name)
	o.ConfigHash, o.Incremental = hash, true
	return o
}

// through begins a run and ends it, and gives its start.
func through(t *testing.T, h handle, o store.BeginOptions, state string, v judge.Verdict) time.Time {
	t.Helper()
	run := mustBegin(t, h, o)
	r := report(run)
	r.State, r.Verdict = state, v
	noError(t, run.Finish(t.Context(), r))
	return run.Started()
}

// since is the mark that a new run would begin with.
func since(t *testing.T, h handle, o store.BeginOptions) time.Time {
	t.Helper()
	o.Fresh = true
	run := mustBegin(t, h, o)
	noError(t, run.Close())
	return run.Since()
}

// The mark is the start of the last COMPLETE run of a name and config.
func (s suite) testMarks(t *testing.T) {
	h := s.fresh(t)
	o := incremental("pull", "hash-a")
	same(t, "the first run's mark", since(t, h, o), time.Time{})
	o.Fresh = true
	through(t, h, o, store.Finished, judge.Complete)
	want := through(t, h, o, store.Finished, judge.Complete)
	same(t, "the mark", since(t, h, o), want)
	for name, other := range map[string]store.BeginOptions{
		"another config": incremental("pull", "hash-b"), "another name": incremental("other", "hash-a"),
		"a child": incremental("pull/a", "hash-a"), "not incremental": options("pull"),
	} {
		same(t, name, since(t, h, other), time.Time{})
	}
	marks, err := h.Marks(t.Context(), "pull")
	noError(t, err)
	if len(marks) != 1 || marks[0].Mark == nil || !marks[0].Mark.Equal(want) || marks[0].ConfigHash != "hash-a" || marks[0].Run == "" {
		t.Fatalf("marks %+v, want %v", marks, want)
	}
}

// Nothing but an incremental run that is finished and COMPLETE moves the mark.
func (s suite) testMarkOnlyComplete(t *testing.T) {
	h := s.fresh(t)
	o := incremental("pull", "hash-a")
	want := through(t, h, o, store.Finished, judge.Complete)
	for _, end := range []struct {
		state string
		v     judge.Verdict
	}{{store.Finished, judge.Truncated}, {store.Finished, judge.Unknown}, {store.Failed, judge.Complete}, {store.Stopped, judge.Complete}} {
		o.Fresh = true
		through(t, h, o, end.state, end.v)
		same(t, end.state+" "+end.v.String(), since(t, h, o), want)
	}
	plain := options("pull")
	plain.Fresh = true
	through(t, h, plain, store.Finished, judge.Complete)
	same(t, "a plain run", since(t, h, o), want)
}

// A run keeps the mark that it began with, whatever becomes of the mark; its
// own start counts, not the time when it was taken up.
func (s suite) testMarkKept(t *testing.T) {
	h := s.fresh(t)
	o := incremental("pull", "hash-a")
	mark := through(t, h, o, store.Finished, judge.Complete)
	run := mustBegin(t, h, o)
	same(t, "begun", run.Since(), mark)
	noError(t, run.Commit(t.Context(), checkpoint(0, held(1, 2))))
	stopped := report(run)
	stopped.State = store.Stopped
	noError(t, run.Finish(t.Context(), stopped))
	again := mustBegin(t, h, o)
	if !again.Resumed() || again.ID() != run.ID() {
		t.Fatalf("run %s, resumed %v", again.ID(), again.Resumed())
	}
	same(t, "taken up", again.Since(), mark)
	noError(t, again.Finish(t.Context(), report(again)))
	same(t, "the next one", since(t, h, o), run.Started())
}

// A mark that is set by hand counts for any config and for the children, until
// a run that begins after it is COMPLETE.
func (s suite) testMarkByHand(t *testing.T) {
	h := s.fresh(t)
	o, child := incremental("pull", "hash-a"), incremental("pull/a/b", "hash-c")
	through(t, h, o, store.Finished, judge.Complete)
	through(t, h, child, store.Finished, judge.Complete)
	other := through(t, h, incremental("pull-2", "hash-a"), store.Finished, judge.Complete)
	old := mustBegin(t, h, o)

	hand := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	noError(t, h.setMark(t.Context(), "pull", &hand))
	for _, one := range []store.BeginOptions{child, incremental("pull", "hash-b"), incremental("pull/new", "hash-d")} {
		same(t, one.Name+" "+one.ConfigHash, since(t, h, one), hand)
	}
	same(t, "another pull", since(t, h, incremental("pull-2", "hash-a")), other)
	noError(t, old.Finish(t.Context(), report(old)))
	same(t, "after a run that had begun before", since(t, h, o), hand)

	noError(t, h.setMark(t.Context(), "pull", nil))
	same(t, "reset", since(t, h, o), time.Time{})
	marks, err := h.Marks(t.Context(), "pull")
	noError(t, err)
	if len(marks) != 1 || marks[0].Mark != nil || marks[0].Run != "" {
		t.Fatalf("marks %+v", marks)
	}

	late := time.Now().Add(time.Hour)
	if err := h.setMark(t.Context(), "pull", &late); err == nil || !strings.Contains(err.Error(), "later than now") {
		t.Fatalf("a mark in the future: %v", err)
	}
	all, err := h.Marks(t.Context(), "")
	noError(t, err)
	same(t, "all marks", len(all), 2)
}
