package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lastdrop/fetcher"
	"lastdrop/internal/daemon/catalog"
	"lastdrop/internal/pull"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A world is an API of numbered rows, a folder of configs for it, and a daemon.
type world struct {
	t    *testing.T
	dir  string
	base string
	opt  Options

	mu     sync.Mutex
	asked  map[string]int // by path and query
	before func(r *http.Request)
	seen   []reconcile.Report
	rows   int

	*Engine
	stop func() error
}

func newWorld(t *testing.T, rows int) *world {
	w := &world{t: t, dir: t.TempDir(), asked: map[string]int{}, rows: rows}
	srv := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(srv.Close)
	w.base = srv.URL
	for _, dir := range []string{"configs", "out"} {
		if err := os.Mkdir(filepath.Join(w.dir, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	w.opt = Options{Store: filepath.Join(w.dir, "lastdrop.db"), MayPrivate: true, poll: 20 * time.Millisecond, held: 50 * time.Millisecond, Grace: 20 * time.Second,
		OnReport: func(rep reconcile.Report, _ judge.Verdict, _ bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.seen = append(w.seen, rep)
		}}
	if testing.Verbose() {
		w.opt.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return w
}

// serve answers /NAME?page=&n=&from=&to= with rows.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked[r.URL.String()]++
	before := w.before
	w.mu.Unlock()
	if before != nil {
		before(r)
	}
	q := r.URL.Query()
	number := func(name string, def int) int {
		if n, err := strconv.Atoi(q.Get(name)); err == nil {
			return n
		}
		return def
	}
	low, high := number("from", 0), number("to", w.rows)
	low, high = max(low, 0), min(high, w.rows)
	n, page := number("n", 10), number("page", 1)
	items := []map[string]any{}
	for i := low + (page-1)*n; i < min(high, low+page*n); i++ {
		id := i
		if q.Get("order") == "desc" {
			id = w.rows - 1 - i
		}
		items = append(items, map[string]any{"id": id})
	}
	_ = json.NewEncoder(rw).Encode(map[string]any{"total": high - low, "rows": items})
}

func (w *world) hold(before func(*http.Request)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = before
}

// config writes a config; more is added to it.
func (w *world) config(name, more string) {
	w.t.Helper()
	text := fmt.Sprintf(`version: 1
name: %s
source: {url: %s/%[1]s}
items: {path: rows, id: id}
`, name, w.base)
	for key, line := range map[string]string{"pages:": "pages: {style: page, number: {param: page}, size: {param: n, start: 10, max: 20}}\n", "total:": "total: {path: total}\n", "output:": "output: {to: " + w.out(name) + "}\n", "limits:": "limits: {allow_private: true}\n"} {
		if !strings.Contains(more, key) {
			text += line
		}
	}
	if err := os.WriteFile(filepath.Join(w.dir, "configs", name+".yaml"), []byte(text+more), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) out(name string) string { return filepath.Join(w.dir, "out", name+".jsonl") }

// open opens the daemon; without start it does not run.
func (w *world) open(start bool) {
	w.t.Helper()
	folder, err := catalog.Open(filepath.Join(w.dir, "configs"), os.LookupEnv, slog.New(slog.DiscardHandler))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, b := range folder.Broken() {
		w.t.Fatal(b)
	}
	w.opt.Catalog = folder
	if w.Engine, err = Open(context.Background(), w.opt); err != nil {
		w.t.Fatal(err)
	}
	e := w.Engine
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	if start {
		go func() { result <- e.Run(ctx) }()
	} else {
		result <- nil
	}
	w.stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-result, e.Close())
	})
	w.t.Cleanup(func() { w.halt() })
}

// halt stops the daemon.
func (w *world) halt() {
	w.t.Helper()
	w.hold(nil)
	if err := w.stop(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) run(name string, r Request) Job {
	w.t.Helper()
	j, err := w.RunNow(w.t.Context(), name, r)
	if err != nil {
		w.t.Fatal(name, err)
	}
	return j
}

// until waits for a job that satisfies ok.
func (w *world) until(id int64, ok func(Job) bool) Job {
	w.t.Helper()
	for {
		j, err := w.Job(w.t.Context(), id)
		if err != nil {
			w.t.Fatal(err)
		}
		if ok(j) {
			return j
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (w *world) over(id int64, state string) Job {
	w.t.Helper()
	j := w.until(id, Job.Over)
	if j.State != state {
		w.t.Fatalf("%+v; want %s", j, state)
	}
	return j
}

func running(j Job) bool { return j.Run != "" }

// complete checks that a run is the only one of its name, COMPLETE, and holds each row once.
func (w *world) complete(name, run string) reconcile.Report {
	w.t.Helper()
	rep, err := w.Store().Report(w.t.Context(), run)
	if err != nil || rep.Verdict != judge.Complete || rep.Items.Distinct != int64(w.rows) {
		w.t.Fatalf("%+v, %v", rep, err)
	}
	list, err := w.Store().Runs(w.t.Context(), store.RunFilter{Name: name})
	if err != nil || list.Total != 1 {
		w.t.Errorf("%d runs, %v", list.Total, err)
	}
	w.rowsIn(rep.Output[0].Path, 0, w.rows)
	return rep
}

// rowsIn checks that a file holds the rows from low to high, each once.
func (w *world) rowsIn(file string, low, high int) {
	w.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	var got, want []int
	for line := range strings.Lines(string(text)) {
		var row struct{ ID int }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			w.t.Fatal(err)
		}
		got = append(got, row.ID)
	}
	for i := low; i < high; i++ {
		want = append(want, i)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.t.Errorf("%s holds %v", file, got)
	}
}

// TestRunNow runs a pull by hand, and tells of it.
func TestRunNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 35)
	w.config("a", "")
	w.config("private", "limits: {rate: 100/s}\n")
	w.config("dash", "output: {to: \"-\"}\n")
	w.open(true)
	ctx, cancel := context.WithCancel(t.Context())
	events := w.Subscribe(ctx)
	if _, err := Open(t.Context(), w.opt); !errors.Is(err, store.ErrHeld) || !strings.Contains(err.Error(), fmt.Sprintf("process %d on", os.Getpid())) {
		t.Errorf("a second daemon: %v", err)
	}
	release := make(chan bool)
	w.hold(func(*http.Request) { <-release })
	j := w.run("a", Request{})
	if _, err := w.RunNow(ctx, "a", Request{}); !errors.Is(err, ErrOverlap) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := w.RunNow(ctx, "b", Request{}); !errors.Is(err, ErrNoPull) {
		t.Errorf("no such pull: %v", err)
	}
	w.until(j.ID, running)
	if p, err := w.Pull(ctx, "a"); err != nil || p.Job == nil || p.Job.State != JobRunning || p.File != "a.yaml" {
		t.Errorf("%+v, %v", p, err)
	}
	close(release)
	j = w.over(j.ID, JobDone)
	w.complete("a", j.Run)
	w.over(w.run("a", Request{Fresh: true}).ID, JobDone)
	for name, want := range map[string]string{"private": "127.0.0.1 is this machine; say limits.allow_private", "dash": "no standard output"} {
		if j := w.over(w.run(name, Request{}).ID, JobFailed); !strings.Contains(j.Error, want) {
			t.Errorf("%s: %s", name, j.Error)
		}
	}
	cancel()
	kinds := map[string]int{}
	for e := range events {
		if kinds[e.Kind]++; e.Report != nil && e.Pull == "a" && e.Report.Verdict != judge.Complete {
			t.Errorf("%+v", e)
		}
	}
	if kinds["job"] < 8 || kinds["run"] < 5 || kinds["progress"] < 1 {
		t.Errorf("events: %v", kinds)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) != 3 {
		t.Errorf("%d reports", len(w.seen))
	}
}

// TestManyLeases drains, with a second pass, over many leases: it ends once, with one
// run, and asks for nothing that an undisturbed run would not ask for.
func TestManyLeases(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 95)
	const second = "total: none\npages: {style: page, number: {param: page}, size: {param: n, start: 10}, reverse: {params: {order: desc}}}\ncomplete: {require: corroborated}\n"
	w.config("calm", second)
	w.config("leased", second)
	w.opt.lease = 100 * time.Millisecond
	w.open(true)
	calm := w.over(w.run("calm", Request{}).ID, JobDone)
	rep := w.complete("calm", calm.Run)
	w.hold(func(*http.Request) { time.Sleep(50 * time.Millisecond) })
	j := w.over(w.run("leased", Request{}).ID, JobDone)
	if got := w.complete("leased", j.Run); j.Leases < 3 || got.Requests != rep.Requests || got.Passes != rep.Passes || rep.Passes < 2 {
		t.Errorf("%d leases; %d requests in %d passes, %d in %d without", j.Leases, got.Requests, got.Passes, rep.Requests, rep.Passes)
	}
}

// TestStoppedAndStarted stops the daemon in the middle of runs, more than may run at once,
// and starts it again: it goes on with the same runs.
func TestStoppedAndStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 95)
	w.opt.Workers = 2
	names := []string{"a", "b", "c", "d"}
	for _, name := range names {
		w.config(name, "")
	}
	w.open(true)
	stuck := make(chan bool, 100)
	w.hold(func(r *http.Request) {
		if n, _ := strconv.Atoi(r.URL.Query().Get("page")); n > 3 {
			stuck <- true
			<-r.Context().Done()
		}
	})
	ids := map[string]int64{}
	for _, name := range names {
		ids[name] = w.run(name, Request{}).ID
	}
	<-stuck
	<-stuck
	if list, err := w.Jobs(t.Context(), JobFilter{State: JobRunning}); err != nil || list.Total != 2 {
		t.Errorf("%d run at once, %v", list.Total, err)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w.hold(nil)
	if len(w.seen) > 0 {
		t.Errorf("reports of runs that go on: %+v", w.seen)
	}
	w.open(false)
	began := map[string]string{}
	for name, id := range ids {
		j, err := w.Job(t.Context(), id)
		if err != nil || j.State != JobWaiting {
			t.Errorf("%+v, %v", j, err)
		}
		began[name] = j.Run
		if info, err := w.Store().RunByID(t.Context(), j.Run); j.Run != "" && (err != nil || info.State != store.Stopped) {
			t.Errorf("%+v, %v", info, err)
		}
	}
	w.halt()
	w.open(true)
	for name, id := range ids {
		j := w.over(id, JobDone)
		if began[name] != "" && j.Run != began[name] {
			t.Errorf("%s: run %s, and not %s", name, j.Run, began[name])
		}
		w.complete(name, j.Run)
	}
}

// TestEndedUntold: a run that came to its end while its job was not told is not begun
// anew, and its report is handed on.
func TestEndedUntold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 15)
	w.config("a", "")
	w.open(false)
	entry, _ := w.opt.Catalog.Entry("a")
	rep, err := pull.Run(t.Context(), pull.Options{Config: entry.Config, Store: w.store})
	if err != nil {
		t.Fatal(err)
	}
	j := w.run("a", Request{})
	if err := errors.Join(w.queue.Begin(t.Context(), j.ID), w.queue.Began(t.Context(), j.ID, rep.Run)); err != nil {
		t.Fatal(err)
	}
	w.halt()
	w.open(true)
	if j = w.over(j.ID, JobDone); j.Run != rep.Run {
		t.Errorf("%+v", j)
	}
	w.complete("a", rep.Run)
	if len(w.seen) != 1 || w.seen[0].Run != rep.Run {
		t.Errorf("%+v", w.seen)
	}
}

// TestCancel cancels a job whose run is under way, and one that waits for a place.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 35)
	w.opt.Workers = 1
	w.config("a", "schedule: {cron: '@yearly', overlap: queue}\n")
	w.config("b", "")
	w.open(true)
	w.hold(func(r *http.Request) {
		if r.URL.Query().Get("page") == "3" {
			<-r.Context().Done()
		}
	})
	a := w.until(w.run("a", Request{}).ID, running)
	b, behind := w.run("b", Request{}), w.run("a", Request{})
	for _, j := range []Job{b, behind, a} {
		if err := w.Cancel(t.Context(), j.ID); err != nil {
			t.Fatal(err)
		}
	}
	for _, j := range []Job{a, b, behind} {
		w.over(j.ID, JobCancelled)
		if err := w.Cancel(t.Context(), j.ID); !errors.Is(err, ErrOver) {
			t.Errorf("cancelled twice: %v", err)
		}
	}
	if rep, err := w.Store().Report(t.Context(), a.Run); err != nil || rep.State != store.Stopped {
		t.Errorf("%+v, %v", rep, err)
	}
	w.hold(nil)
	if j := w.over(w.run("a", Request{}).ID, JobDone); j.Run != a.Run {
		t.Errorf("it does not go on with the run that was stopped: %+v", j)
	}
	w.complete("a", a.Run)
}

// TestHeld waits for a run that another part of the world holds.
func TestHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 35)
	w.config("a", "")
	w.open(true)
	other, err := store.Open(t.Context(), w.opt.Store)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	entry, _ := w.opt.Catalog.Entry("a")
	r, err := other.Begin(t.Context(), store.BeginOptions{Name: "a", ConfigHash: entry.Config.Hash()})
	if err != nil {
		t.Fatal(err)
	}
	j := w.run("a", Request{})
	w.until(j.ID, func(j Job) bool { return j.Leases > 2 })
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if j = w.over(j.ID, JobDone); j.Run != r.ID() {
		t.Errorf("%+v", j)
	}
	w.complete("a", r.ID())
}

// TestBackfill runs a part of a pull into a file of its own, behind what runs.
func TestBackfill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	const slice = "slice: {by: id, type: int, from: 0, to: 60, params: {from: \"{from}\", to: \"{to}\"}}\n"
	w.config("a", slice+"output: {to: \""+filepath.Join(w.dir, "out", "a-{start}.jsonl")+"\"}\n")
	w.config("one", slice)
	w.config("plain", "")
	w.open(true)
	for _, name := range []string{"one", "plain"} {
		if _, err := w.RunNow(t.Context(), name, Request{From: "20"}); !errors.Is(err, ErrNoBackfill) {
			t.Errorf("%s: %v", name, err)
		}
	}
	whole, part := w.run("a", Request{}), w.run("a", Request{From: "20", To: "35"})
	w.complete("a", w.over(whole.ID, JobDone).Run)
	j := w.over(part.ID, JobDone)
	rep, err := w.Store().Report(t.Context(), j.Run)
	if err != nil || rep.Verdict != judge.Complete || rep.Name != "a/backfill" || j.Why != ByBackfill {
		t.Fatalf("%+v, %v", rep, err)
	}
	w.rowsIn(rep.Output[0].Path, 20, 35)
}

// TestSubscribers: who does not keep up loses progress first, then what is oldest.
func TestSubscribers(t *testing.T) {
	var s subscribers
	slow, quick := s.add(t.Context()), s.add(t.Context())
	for i := range 3 * kept {
		s.tell(Event{Kind: "job", Job: int64(i)})
		<-quick
		s.tell(Event{Kind: "progress", Progress: &fetcher.Progress{}})
		<-quick
	}
	s.close()
	var last int64
	n := 0
	for e := range slow {
		n++
		last = e.Job
	}
	if n != kept || last != 3*kept-1 {
		t.Errorf("%d events, the last is %d", n, last)
	}
	if _, open := <-s.add(t.Context()); open {
		t.Error("closed, and it tells")
	}
}
