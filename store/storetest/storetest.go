// Package storetest is the contract of a store as tests: whatever keeps the
// ledger of runs must pass Run.
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A Reader is what every store answers.
type Reader interface {
	Runs(ctx context.Context, f store.RunFilter) (store.RunList, error)
	RunByID(ctx context.Context, ref string) (store.Info, error)
	LastComplete(ctx context.Context, name string) (store.Info, error)
	Report(ctx context.Context, run string) (reconcile.Report, error)
	Pages(ctx context.Context, run string, f store.PageFilter) ([]reconcile.Attempt, error)
	CountPages(ctx context.Context, run string, f store.PageFilter) (total, rest int64, err error)
	Totals(ctx context.Context, run string, limit int) (store.TotalList, error)
	Events(ctx context.Context, run string, limit int) (store.EventList, error)
	Drifts(ctx context.Context, run string) ([]store.Drift, error)
	PageSizes(ctx context.Context, run string) ([]store.SizeStep, error)
	Slices(ctx context.Context, run string) ([]reconcile.Slice, error)
	Children(ctx context.Context, run string) ([]store.Child, error)
	TotalsIn(ctx context.Context, run string, s store.Span) (store.Part[reconcile.TotalSeen], error)
	EventsIn(ctx context.Context, run string, s store.Span) (store.Part[reconcile.Event], error)
	SlicesIn(ctx context.Context, run string, s store.Span) (store.Part[reconcile.Slice], error)
	SizesIn(ctx context.Context, run string, s store.Span) (store.Part[store.SizeStep], error)
	ChildrenIn(ctx context.Context, run string, s store.Span) (store.Part[store.Child], error)
	Verdicts(ctx context.Context, run string) ([]store.VerdictCount, error)
	Marks(ctx context.Context, name string) ([]store.Mark, error)
	Counts(ctx context.Context, run string) (store.Counts, error)
	PageMap(ctx context.Context, run string, from, to int64, cells int) ([]store.Cell, error)
	TotalSteps(ctx context.Context, run, source string, steps int) ([]store.TotalStep, error)
	Growth(ctx context.Context, run string, steps int) ([]store.GrowthStep, error)
	Reach(ctx context.Context, origin, path string) (store.Reach, bool, error)
	Close() error
}

// A Store is a Reader that begins runs of type R.
type Store[R Ledger] interface {
	Reader
	Begin(ctx context.Context, o store.BeginOptions) (R, error)
	SetMark(ctx context.Context, name string, mark *time.Time) error
	NoteReach(ctx context.Context, n store.Reach) error
}

// A Ledger is a run that its holder writes.
type Ledger interface {
	ID() string
	Name() string
	Seed() uint64
	Started() time.Time
	Since() time.Time
	Resumed() bool
	Others() []store.Info
	Resume(ctx context.Context) (store.Resume, error)
	Commit(ctx context.Context, c store.Checkpoint) error
	Finish(ctx context.Context, report reconcile.Report) error
	Close() error
}

// Run runs the whole contract. open opens the store that belongs to a folder,
// and makes it at the first time: two handles opened with the same folder are
// two processes at one store. The handles are closed by the tests.
func Run[R Ledger](t *testing.T, open func(t testing.TB, dir string) Store[R]) {
	s := suite{open: func(t testing.TB, dir string) handle {
		opened := open(t, dir)
		begin := func(ctx context.Context, o store.BeginOptions) (Ledger, error) {
			run, err := opened.Begin(ctx, o)
			if err != nil {
				return nil, err // an R that is nil would not be a nil Ledger
			}
			return run, nil
		}
		return handle{Reader: opened, begin: begin, setMark: opened.SetMark, noteReach: opened.NoteReach}
	}}
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"begin", s.testBegin},
		{"begin/finds/newest", s.testBeginFindsItsConfig},
		{"begin/fresh", s.testFresh},
		{"ids/sort", s.testIDsSort},
		{"commit/round trip", s.testRoundTrip},
		{"commit/atomic", s.testCommitAtomic},
		{"commit/refuses", s.testCommitRefuses},
		{"commit/context", s.testCommitContext},
		{"commit/concurrent", s.testConcurrent},
		{"resume", s.testResume},
		{"resume/model", s.testModel},
		{"ownership", s.testOwnership},
		{"ownership/lost", s.testLost},
		{"finish", s.testFinish},
		{"finish/refuses", s.testFinishRefuses},
		{"last complete", s.testLastComplete},
		{"runs", s.testRuns},
		{"runs/walk", s.testRunsWalk},
		{"run by id", s.testRunByID},
		{"pages", s.testPages},
		{"pages/walk", s.testPagesWalk},
		{"pages/up to", s.testPagesUpTo},
		{"spans", s.testSpans},
		{"verdicts", s.testVerdicts},
		{"page sizes", s.testPageSizes},
		{"page map", s.testPageMap},
		{"total steps", s.testTotalSteps},
		{"growth", s.testGrowth},
		{"tails", s.testTails},
		{"drifts", s.testDrifts},
		{"slices", s.testSlices},
		{"children", s.testChildren},
		{"marks", s.testMarks},
		{"marks/only complete", s.testMarkOnlyComplete},
		{"marks/kept", s.testMarkKept},
		{"marks/by hand", s.testMarkByHand},
		{"counts", s.testCounts},
		{"reaches", s.testReaches},
	} {
		t.Run(c.name, c.test)
	}
}

type suite struct {
	open func(t testing.TB, dir string) handle
}

// A handle is an open store.
type handle struct {
	Reader
	begin     func(ctx context.Context, o store.BeginOptions) (Ledger, error)
	setMark   func(ctx context.Context, name string, mark *time.Time) error
	noteReach func(ctx context.Context, n store.Reach) error
}

// T is what the helpers need of testing.T and rapid.T.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// options are those of the runs that most tests begin.
func options(name string) store.BeginOptions {
	return store.BeginOptions{Name: name, ConfigHash: "hash-a", Config: "version: 1\nname: " + name + "\n", Version: "1.0"}
}

// fresh opens a store of its own for a test.
func (s suite) fresh(t *testing.T) handle {
	t.Helper()
	h := s.open(t, t.TempDir())
	t.Cleanup(func() { noError(t, h.Close()) })
	return h
}

// mustBegin begins a run that is closed at the end of the test.
func mustBegin(t *testing.T, h handle, o store.BeginOptions) Ledger {
	t.Helper()
	run, err := h.begin(t.Context(), o)
	noError(t, err)
	t.Cleanup(func() { noError(t, run.Close()) })
	return run
}

func noError(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// same compares by value.
func same(t T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: (-want +got)\n%s", what, diff)
	}
}

// epoch is when the attempts of the tests begin.
var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// held is a page that added n items, the seq-th attempt.
func held(seq int64, n int) reconcile.Attempt {
	keys := make([]byte, 16*n)
	for i := range keys {
		keys[i] = byte(int(seq)*31 + i)
	}
	return reconcile.Attempt{
		Seq: seq, Pass: 1, Page: int(seq), Try: 1, Started: epoch.Add(time.Duration(seq) * time.Second),
		Duration: 12345 * time.Microsecond, URL: "https://api.example/items?page=1", Position: "page 1", SizeAsked: 100,
		Status: 200, BytesRead: 4096, BytesExpected: judge.N(4096), Items: n, New: n, Total: judge.N(1000), TotalKind: judge.Exact,
		More: "follow", Outcome: reconcile.Held, Verdict: judge.Truncated, Action: judge.ActionContinue, Keys: keys,
		Rules: []judge.Rule{{ID: "TR002", Layer: "set", Verdict: judge.Truncated, Evidence: "total 1000 > 100 items"}},
	}
}

// half is an attempt that brought half a body.
func half(seq int64) reconcile.Attempt {
	return reconcile.Attempt{
		Seq: seq, Pass: 1, Page: int(seq), Try: 1, Started: epoch.Add(time.Duration(seq) * time.Second), SizeAsked: 100, Status: 200,
		BytesRead: 2048, BytesExpected: judge.N(4096), Outcome: reconcile.Half, Verdict: judge.Truncated,
		Action: judge.ActionRetrySmaller, Cause: "body ended at 2048 of 4096 bytes: size 100 to 50",
	}
}

// checkpoint is one of attempts alone, whose sink holds their new items.
func checkpoint(before int64, attempts ...reconcile.Attempt) store.Checkpoint {
	c := store.Checkpoint{Attempts: attempts, Items: before, State: []byte(`{"page":1}`)}
	for _, a := range attempts {
		c.Items += int64(a.New)
	}
	c.Length = 100 * c.Items
	return c
}

// report is one of a run that is finished and COMPLETE.
func report(run Ledger) reconcile.Report {
	n := int64(250)
	return reconcile.Report{
		Run: run.ID(), Name: run.Name(), State: store.Finished, Verdict: judge.Complete, Strength: reconcile.Counted,
		Items: reconcile.ItemCounts{Received: 260, Distinct: 250, Repeated: 10, Written: 250},
		Total: reconcile.TotalSummary{First: &n, Last: &n, Min: &n, Max: &n, Kind: "exact"}, Missing: new(int64),
		Pages: reconcile.PageCounts{Held: 3, Attempts: 4, Half: 1}, PageSize: reconcile.SizeSummary{Start: 100, Min: 50, Last: 100},
		Evidence: []reconcile.Evidence{{ID: "RC001", Verdict: judge.Complete, Text: "250 distinct of 250"}},
		Output:   []reconcile.Output{{Path: "out.jsonl", Committed: true, Items: 250, Bytes: 25000, SHA256: "ab"}},
		Started:  run.Started(), Ended: run.Started().Add(time.Minute), Requests: 4, Advice: []string{}, Passes: 1,
		Waited: reconcile.Duration(time.Second),
	}
}

// withoutKeys is what a store lists of attempts.
func withoutKeys(attempts ...reconcile.Attempt) []reconcile.Attempt {
	var bare []reconcile.Attempt
	for _, a := range attempts {
		a.Keys = nil
		bare = append(bare, a)
	}
	return bare
}

// pages lists the attempts of a run.
func pages(t T, h handle, run string, f store.PageFilter) []reconcile.Attempt {
	t.Helper()
	list, err := h.Pages(context.Background(), run, f)
	noError(t, err)
	return list
}

// counted is how many attempts of a run a filter lets through: by outcome, and
// after After too.
func counted(t T, h handle, run string, f store.PageFilter) []int64 {
	t.Helper()
	total, rest, err := h.CountPages(context.Background(), run, f)
	noError(t, err)
	return []int64{total, rest}
}

// keys gathers what a resume yields.
func keys(t T, r store.Resume) []byte {
	t.Helper()
	var all []byte
	noError(t, r.Keys(func(k []byte) error {
		if len(k) == 0 || len(k)%16 != 0 {
			t.Fatalf("%d bytes of keys", len(k))
		}
		all = append(all, k...)
		return nil
	}))
	return all
}
