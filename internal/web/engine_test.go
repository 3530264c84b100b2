package web_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"lastdrop/configs"
	"lastdrop/fetcher"
	"lastdrop/internal/daemon"
	"lastdrop/internal/pull"
	"lastdrop/internal/sim"
	"lastdrop/internal/web"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// An engine is a small daemon: it drains its pulls when it is asked to, and tells subscribers.
type engine struct {
	store *store.Store
	dir   string
	gate  func(*http.Request) // what a source waits for before it answers

	mu      sync.Mutex
	pulls   map[string]*daemon.Pull
	configs map[string]*configs.Config
	broken  []daemon.Broken
	jobs    []daemon.Job // oldest first
	stop    map[int64]context.CancelFunc
	asked   []daemon.Request
	subs    map[chan daemon.Event]bool
	done    sync.WaitGroup
	ctx     context.Context
}

// A site is the pages over a store and an engine, served as the daemon will.
type site struct {
	*engine
	t    testing.TB
	url  string
	sims string // the base address of the simulator
}

// newSite begins with no pulls and no runs.
func newSite(t testing.TB, change ...func(*web.Options)) *site {
	t.Helper()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	st, err := store.Open(ctx, filepath.Join(dir, "lastdrop.db"))
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{store: st, dir: dir, ctx: ctx, pulls: map[string]*daemon.Pull{}, configs: map[string]*configs.Config{},
		stop: map[int64]context.CancelFunc{}, subs: map[chan daemon.Event]bool{}, gate: func(*http.Request) {}}
	gallery := sim.NewGallery(1, sim.NamedWorlds()...)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		gate := e.gate
		e.mu.Unlock()
		gate(r)
		gallery.ServeHTTP(w, r)
	}))
	o := web.Options{Engine: e, Store: st, Version: "test"}
	for _, c := range change {
		c(&o)
	}
	pages := httptest.NewServer(web.New(o))
	t.Cleanup(func() {
		stop()
		pages.CloseClientConnections()
		pages.Close()
		e.done.Wait()
		source.Close()
		e.stopStore()
	})
	return &site{engine: e, t: t, url: pages.URL, sims: source.URL}
}

// stopStore closes the store, at the end or to see what a fault looks like.
func (e *engine) stopStore() {
	e.done.Wait()
	_ = e.store.Close()
}

// add makes a pull of a world, under a name.
func (s *site) add(name, world string, sliced bool, change ...func(*configs.Config)) {
	s.t.Helper()
	w, ok := sim.Named(world)
	if !ok {
		s.t.Fatalf("no world %q", world)
	}
	base := s.sims + "/" + world
	text := w.Config(base)
	if sliced {
		text, ok = w.SlicedConfig(base)
		if !ok {
			s.t.Fatalf("%s takes no slices", world)
		}
	}
	cfg, err := configs.Parse(name+".yaml", []byte(text), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	cfg.Name = name
	for _, c := range change {
		c(cfg)
	}
	next := time.Now().Add(90 * time.Minute).UTC().Truncate(time.Minute)
	last := next.Add(-24 * time.Hour)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.configs[name] = cfg
	s.pulls[name] = &daemon.Pull{Name: name, File: name + ".yaml", URL: base, Config: string(cfg.Redacted()), Loaded: time.Now().Add(-time.Hour),
		Schedule: "30 6 * * *", Zone: "Europe/Berlin", Next: &next, Last: &last}
}

// drain runs a pull to its end.
func (s *site) drain(name string) reconcile.Report {
	s.t.Helper()
	job, err := s.RunNow(s.ctx, name, daemon.Request{Fresh: true})
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		j := s.job(job.ID)
		if !j.Over() {
			time.Sleep(2 * time.Millisecond)
			continue
		}
		if j.State != daemon.JobDone {
			s.t.Fatalf("%s: %+v", name, j)
		}
		report, err := s.store.Report(s.ctx, j.Run)
		if err != nil {
			s.t.Fatal(err)
		}
		return report
	}
}

func (e *engine) job(id int64) daemon.Job {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.jobs[id-1]
}

func (e *engine) Pulls(context.Context) ([]daemon.Pull, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []daemon.Pull
	for name := range e.pulls {
		list = append(list, e.withJob(name))
	}
	slices.SortFunc(list, func(a, b daemon.Pull) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

func (e *engine) withJob(name string) daemon.Pull {
	p := *e.pulls[name]
	for _, j := range e.jobs {
		if j.Pull == name && !j.Over() {
			p.Job = &j
			break
		}
	}
	return p
}

func (e *engine) Pull(_ context.Context, name string) (daemon.Pull, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pulls[name] == nil {
		return daemon.Pull{}, fmt.Errorf("%w: %q", daemon.ErrNoPull, name)
	}
	return e.withJob(name), nil
}

func (e *engine) Broken(context.Context) ([]daemon.Broken, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.broken), nil
}

func (e *engine) Jobs(_ context.Context, f daemon.JobFilter) (daemon.JobList, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list daemon.JobList
	for _, j := range slices.Backward(e.jobs) {
		if f.Pull != "" && j.Pull != f.Pull || f.State != "" && j.State != f.State {
			continue
		}
		list.Total++
		if f.Before > 0 && j.ID >= f.Before {
			continue
		}
		list.Rest++
		if f.Limit == 0 || len(list.Jobs) < f.Limit {
			list.Jobs = append(list.Jobs, j)
		}
	}
	return list, nil
}

// Fires gives the next fires, as the daemon's schedule would.
func (e *engine) Fires(_ context.Context, name string, n int) ([]time.Time, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []time.Time
	for i := range n {
		list = append(list, e.pulls[name].Next.Add(time.Duration(i)*24*time.Hour))
	}
	return list, nil
}

func (e *engine) RunNow(_ context.Context, name string, r daemon.Request) (daemon.Job, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	cfg := e.configs[name]
	if cfg == nil {
		return daemon.Job{}, daemon.ErrNoPull
	}
	if e.withJob(name).Job != nil {
		return daemon.Job{}, daemon.ErrOverlap
	}
	e.asked = append(e.asked, r)
	now := time.Now()
	job := daemon.Job{ID: int64(len(e.jobs) + 1), Pull: name, Why: daemon.ByHand, Fresh: r.Fresh, From: r.From, To: r.To,
		State: daemon.JobRunning, Created: now, Started: &now, Leases: 1}
	if r.From+r.To != "" {
		job.Why = daemon.ByBackfill
	}
	e.jobs = append(e.jobs, job)
	ctx, stop := context.WithCancel(e.ctx)
	e.stop[job.ID] = stop
	e.done.Go(func() { e.run(ctx, job.ID, cfg, r) })
	return job, nil
}

// change changes a job, and tells of it.
func (e *engine) change(id int64, by func(*daemon.Job)) {
	e.mu.Lock()
	by(&e.jobs[id-1])
	j := e.jobs[id-1]
	e.mu.Unlock()
	e.tell(daemon.Event{Kind: "job", Pull: j.Pull, Job: id, Run: j.Run})
}

func (e *engine) run(ctx context.Context, id int64, cfg *configs.Config, r daemon.Request) {
	report, err := pull.Run(ctx, pull.Options{Config: cfg, Store: e.store, Target: filepath.Join(e.dir, cfg.Name+".jsonl"), Version: "test", Fresh: r.Fresh,
		BackoffMin: time.Millisecond, BackoffMax: 5 * time.Millisecond,
		Begun: func(_, run string, _ bool, _ []store.Info) { e.change(id, func(j *daemon.Job) { j.Run = run }) },
		Progress: func(p fetcher.Progress) {
			e.tell(daemon.Event{Kind: "progress", Pull: cfg.Name, Job: id, Run: e.job(id).Run, Progress: &p})
		}})
	now := time.Now()
	e.change(id, func(j *daemon.Job) {
		j.Ended = &now
		switch {
		case j.State == daemon.JobCancelled:
		case err != nil:
			j.State, j.Error = daemon.JobFailed, err.Error()
		default:
			j.State = daemon.JobDone
		}
	})
	e.tell(daemon.Event{Kind: "run", Pull: cfg.Name, Job: id, Run: report.Run, Report: &report})
}

func (e *engine) Pause(_ context.Context, name string, on bool) error {
	e.mu.Lock()
	p := e.pulls[name]
	if p == nil {
		e.mu.Unlock()
		return daemon.ErrNoPull
	}
	p.Paused = on
	e.mu.Unlock()
	e.tell(daemon.Event{Kind: "pull", Pull: name})
	return nil
}

func (e *engine) Cancel(_ context.Context, id int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id < 1 || id > int64(len(e.jobs)) {
		return daemon.ErrNoJob
	}
	if e.jobs[id-1].Over() {
		return daemon.ErrOver
	}
	e.jobs[id-1].State = daemon.JobCancelled
	e.stop[id]()
	return nil
}

func (e *engine) Subscribe(ctx context.Context) <-chan daemon.Event {
	c := make(chan daemon.Event, 64)
	e.mu.Lock()
	e.subs[c] = true
	e.mu.Unlock()
	context.AfterFunc(ctx, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.subs[c] {
			delete(e.subs, c)
			close(c)
		}
	})
	return c
}

// dropStreams ends all streams, as a daemon that starts anew does.
func (e *engine) dropStreams() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.subs {
		delete(e.subs, c)
		close(c)
	}
}

// tell drops what a subscriber does not take.
func (e *engine) tell(ev daemon.Event) {
	ev.At = time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.subs {
		select {
		case c <- ev:
		default:
		}
	}
}

// hold makes the source take its time, and wait after its n-th request until the function that it gives is called.
func (e *engine) hold(n int, pace time.Duration) (release func()) {
	open := make(chan struct{})
	var mu sync.Mutex
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gate = func(r *http.Request) {
		mu.Lock()
		n--
		wait := n < 0
		mu.Unlock()
		if !wait {
			time.Sleep(pace)
		} else {
			select {
			case <-open:
			case <-r.Context().Done():
			}
		}
	}
	return sync.OnceFunc(func() { close(open) })
}
