package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lastdrop/internal/daemon/catalog"
	"lastdrop/internal/daemon/queue"
	"lastdrop/internal/pull"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A Catalog gives the pulls that there are. A *catalog.Catalog is one.
type Catalog interface {
	// Entries gives the pulls by name, Entry the one of a name.
	Entries() []catalog.Entry
	Entry(name string) (catalog.Entry, bool)
	// Broken gives the files that have no good version.
	Broken() []catalog.Broken
	// Reload looks at the folder.
	Reload()
	// Changed tells the engine that these are others than before.
	Changed() <-chan struct{}
}

// Options say what an engine works on. Store and Catalog are required.
type Options struct {
	Store   string // the path of the store; the queue stands beside it
	Catalog Catalog
	// Workers is how many pulls run at once; 0: 8.
	Workers int
	// Grace is how long Run waits for runs to come to a checkpoint; 0: 30 s.
	Grace time.Duration
	// MayPrivate lets configs with limits.allow_private ask addresses of this machine
	// and of private networks. No other config may.
	MayPrivate bool
	// OnReport, if set, is called with the report of each job's run as it ends, and with
	// the verdict of the one before it of the same name. It must return soon. After a
	// crash it may be called again with the same report.
	OnReport func(rep reconcile.Report, before judge.Verdict, hadBefore bool)
	Version  string
	Log      *slog.Logger

	lease, poll, held time.Duration // shorter in tests
}

// heldPause is how long a job waits whose run another process holds.
const heldPause = 15 * time.Second

// An Engine runs pulls by schedule and by hand. Its methods may be called by several
// goroutines, from Open to Close.
type Engine struct {
	opt   Options
	log   *slog.Logger
	store *store.Store
	claim *store.Claim
	queue *queue.Queue
	paces pull.Paces
	subs  subscribers
	slots chan struct{} // one for each run that is under way

	mu       sync.Mutex
	attempts map[int64]*attempt // by job
	stopping bool
	working  sync.WaitGroup // the attempts
}

// Open opens the store and its queue, and takes the store's lock against a second
// daemon: the error is then a store.ErrHeld that says which process it is. Nothing runs
// before Run.
func Open(ctx context.Context, o Options) (*Engine, error) {
	o.Workers, o.Grace = cmp.Or(o.Workers, 8), cmp.Or(o.Grace, 30*time.Second)
	o.held = cmp.Or(o.held, heldPause)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.OnReport == nil {
		o.OnReport = func(reconcile.Report, judge.Verdict, bool) {}
	}
	e := &Engine{opt: o, log: o.Log, slots: make(chan struct{}, o.Workers), attempts: map[int64]*attempt{}}
	if err := e.open(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Engine) open(ctx context.Context) (err error) {
	if e.store, err = store.Open(ctx, e.opt.Store); err != nil {
		return err
	}
	if e.claim, err = e.store.Claim("serve"); err != nil {
		return err
	}
	e.queue, err = queue.Open(ctx, queuePath(e.store.Path()), queue.Options{
		Attend: e.attend, Ended: e.ended, Lease: e.opt.lease, Poll: e.opt.poll, Log: e.log,
	})
	return err
}

// queuePath is where the queue of a store stands: lastdrop-queue.db beside lastdrop.db.
func queuePath(store string) string {
	ext := filepath.Ext(store)
	return strings.TrimSuffix(store, ext) + "-queue" + ext
}

// Close closes what Open opened. Run must have returned.
func (e *Engine) Close() error {
	e.subs.close()
	var errs []error
	if e.queue != nil {
		errs = append(errs, e.queue.Close())
	}
	if e.store != nil {
		errs = append(errs, e.store.Close())
	}
	if e.claim != nil {
		errs = append(errs, e.claim.Release())
	}
	return errors.Join(errs...)
}

// Store is the store of the runs, to look into.
func (e *Engine) Store() *store.Reader { return e.store.Reader }

// Run fires and runs pulls until ctx ends. Then it begins nothing more, lets each run
// come to a checkpoint and a report, and returns: a *LateError where some did not within
// the grace period. All of them go on at the next start. It can be called once.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.queue.Start(ctx); err != nil {
		return err
	}
	var clock sync.WaitGroup
	clock.Go(func() { (&scheduler{engine: e, pulls: map[string]*due{}}).run(ctx) })
	<-ctx.Done()
	clock.Wait()
	return e.stop()
}

// stop stops what is under way.
func (e *Engine) stop() error {
	e.mu.Lock()
	e.stopping = true
	left := len(e.attempts)
	for _, a := range e.attempts {
		a.cancel()
	}
	e.mu.Unlock()
	e.log.Info("stopping", "runs", left)
	ctx, cancel := context.WithTimeout(context.Background(), e.opt.Grace)
	defer cancel()
	if err := e.queue.Stop(ctx); err != nil {
		return &LateError{e.opt.Grace}
	}
	done := make(chan struct{})
	go func() { e.working.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return &LateError{e.opt.Grace}
	}
}

// A LateError says that runs did not stop within the grace period. They still use the
// engine: the process is to end without closing it, and loses nothing by that.
type LateError struct{ Grace time.Duration }

// Error says so.
func (e *LateError) Error() string {
	return fmt.Sprintf("not all runs came to a checkpoint within %s: they go on from their last one at the next start", e.Grace)
}

// ended tells of a job that is over.
func (e *Engine) ended(j Job) {
	level := slog.LevelInfo
	if j.State == JobFailed {
		level = slog.LevelError
	}
	e.log.Log(context.Background(), level, "job "+j.State, "pull", j.Pull, "job", j.ID, "run", j.Run, "error", j.Error)
	e.tellJob(j)
}

// Pulls gives all pulls, by name.
func (e *Engine) Pulls(ctx context.Context) ([]Pull, error) {
	open, err := e.queue.Open(ctx)
	if err != nil {
		return nil, err
	}
	sets, err := e.queue.Sets(ctx)
	if err != nil {
		return nil, err
	}
	entries, now := e.opt.Catalog.Entries(), time.Now()
	out := make([]Pull, 0, len(entries))
	for _, entry := range entries {
		p := pullOf(entry, sets[entry.Name], now)
		if j, ok := open[entry.Name]; ok {
			p.Job = &j
		}
		out = append(out, p)
	}
	return out, nil
}

// Pull gives one pull, or ErrNoPull.
func (e *Engine) Pull(ctx context.Context, name string) (Pull, error) {
	all, err := e.Pulls(ctx)
	if err != nil {
		return Pull{}, err
	}
	for _, p := range all {
		if p.Name == name {
			return p, nil
		}
	}
	return Pull{}, ErrNoPull
}

func pullOf(entry catalog.Entry, set queue.Set, now time.Time) Pull {
	c := entry.Config
	p := Pull{Name: entry.Name, File: entry.File, URL: c.Secrets.Hide(c.Source.URL), Config: string(c.Redacted()), Loaded: entry.Loaded,
		Problem: entry.Problem, Paused: set.Paused, Last: set.Last}
	if s := entry.Schedule; s != nil {
		p.Schedule, p.Zone = s.Spec().Cron, s.Spec().Zone
		if next := s.Next(now); !next.IsZero() && !set.Paused {
			p.Next = &next
		}
	}
	return p
}

// Broken gives the files that have no good version.
func (e *Engine) Broken(context.Context) ([]Broken, error) {
	out := []Broken{}
	for _, b := range e.opt.Catalog.Broken() {
		out = append(out, Broken(b))
	}
	return out, nil
}

// RunNow makes a job by hand; with From or To it is a backfill, which waits behind
// the jobs of its pull that are not over. Another run does so only where the schedule
// says overlap: queue.
//
// Errors: ErrNoPull, ErrOverlap, ErrNoBackfill with the reason.
func (e *Engine) RunNow(ctx context.Context, name string, r Request) (Job, error) {
	entry, ok := e.opt.Catalog.Entry(name)
	if !ok {
		return Job{}, ErrNoPull
	}
	j := Job{Pull: name, Why: ByHand, Fresh: r.Fresh, From: r.From, To: r.To}
	behind := entry.Schedule != nil && overlaps(entry)
	if r.From != "" || r.To != "" {
		if _, err := entry.Config.Backfill(r.From, r.To); err != nil {
			return Job{}, fmt.Errorf("%w: %s", ErrNoBackfill, entry.Config.Secrets.Hide(err.Error()))
		}
		j.Why, behind = ByBackfill, true
	}
	j, err := e.queue.Add(ctx, j, behind)
	if err == nil {
		e.log.Info("job made", "pull", name, "job", j.ID, "why", j.Why)
		e.tellJob(j)
	}
	return j, err
}

// Pause stops the schedule of a pull, or lets it go on; what was due in between is not
// made up for. The error may be ErrNoPull.
func (e *Engine) Pause(ctx context.Context, name string, paused bool) error {
	if _, ok := e.opt.Catalog.Entry(name); !ok {
		return ErrNoPull
	}
	err := e.queue.Pause(ctx, name, paused, time.Now())
	if err == nil {
		e.log.Info("schedule", "pull", name, "paused", paused)
		e.subs.tell(Event{Kind: "pull", Pull: name})
	}
	return err
}

// Cancel cancels a job: at once where it waits, else its run comes to a checkpoint and a
// report first, which this does not wait for. Errors: ErrNoJob, ErrOver.
func (e *Engine) Cancel(ctx context.Context, id int64) error {
	j, _, err := e.queue.Cancel(ctx, id)
	if err != nil {
		return err
	}
	e.mu.Lock()
	if a := e.attempts[id]; a != nil {
		a.cancelled = true
		a.cancel()
	}
	e.mu.Unlock()
	e.log.Info("job is cancelled", "pull", j.Pull, "job", id)
	e.tellJob(j)
	return nil
}

// Reload looks at the folder of configs.
func (e *Engine) Reload(context.Context) error {
	e.opt.Catalog.Reload()
	return nil
}

// Fires gives the next fires of a pull's schedule, at most n. The error may be ErrNoPull.
func (e *Engine) Fires(_ context.Context, name string, n int) ([]time.Time, error) {
	entry, ok := e.opt.Catalog.Entry(name)
	if !ok {
		return nil, ErrNoPull
	}
	var fires []time.Time
	for at := time.Now(); entry.Schedule != nil && len(fires) < n; {
		if at = entry.Schedule.Next(at); at.IsZero() {
			break
		}
		fires = append(fires, at)
	}
	return fires, nil
}

// Jobs lists jobs, the newest first.
func (e *Engine) Jobs(ctx context.Context, f JobFilter) (JobList, error) { return e.queue.Jobs(ctx, f) }

// Job gives a job, or ErrNoJob.
func (e *Engine) Job(ctx context.Context, id int64) (Job, error) { return e.queue.Job(ctx, id) }

// Subscribe gives what happens from now on, until ctx ends or the engine is closed, which
// closes the channel. Who does not keep up loses progress first, then the oldest events.
func (e *Engine) Subscribe(ctx context.Context) <-chan Event { return e.subs.add(ctx) }

func (e *Engine) tellJob(j Job) {
	e.subs.tell(Event{Kind: "job", Pull: j.Pull, Job: j.ID, Run: j.Run})
}
