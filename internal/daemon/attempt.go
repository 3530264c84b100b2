package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"lastdrop/configs"
	"lastdrop/fetcher"
	"lastdrop/internal/daemon/queue"
	"lastdrop/internal/pull"
	"lastdrop/internal/sink"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// An attempt brings the run of a job to its end, or as far as it gets. It lives in a
// goroutine of the engine's; the leases of the job only watch it.
type attempt struct {
	job    Job
	cancel context.CancelFunc
	done   chan struct{}
	// cancelled is set under the engine's mutex: the job is to end.
	cancelled bool
	outcome   queue.Outcome // once done
}

// attend watches the attempt of a job for a lease, and begins it where there is none.
func (e *Engine) attend(ctx context.Context, j Job) queue.Outcome {
	a := e.attempt(j)
	if a == nil { // the process ends
		<-ctx.Done()
		return queue.Outcome{}
	}
	select {
	case <-ctx.Done():
		return queue.Outcome{}
	case <-a.done:
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.attempts[j.ID] == a {
		delete(e.attempts, j.ID)
	}
	return a.outcome
}

// attempt gives that of a job; nil while the engine stops.
func (e *Engine) attempt(j Job) *attempt {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.attempts[j.ID]; a != nil {
		return a
	}
	if e.stopping {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &attempt{job: j, cancel: cancel, done: make(chan struct{})}
	e.attempts[j.ID] = a
	e.working.Go(func() {
		defer cancel()
		defer close(a.done)
		a.outcome = e.try(ctx, a)
	})
	return a
}

// try waits for a free place and runs the job. A panic ends the job, not the daemon.
func (e *Engine) try(ctx context.Context, a *attempt) (out queue.Outcome) {
	log := e.log.With("pull", a.job.Pull, "job", a.job.ID)
	defer func() {
		if v := recover(); v != nil {
			log.Error("internal error", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			out = queue.Outcome{State: JobFailed, Error: "internal error: see the log"}
		}
	}()
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return e.stopped(a)
	}
	if ctx.Err() != nil {
		return e.stopped(a)
	}
	entry, ok := e.opt.Catalog.Entry(a.job.Pull)
	if !ok {
		return failed("its config is gone, or broken since before the start")
	}
	c := entry.Config
	out, err := e.run(ctx, a, c, log)
	if err != nil {
		return failed(c.Secrets.Hide(err.Error()))
	}
	return out
}

func failed(why string) queue.Outcome { return queue.Outcome{State: JobFailed, Error: why} }

// stopped is what comes of a job whose run was stopped: it is over where it was
// cancelled, else the run goes on another time.
func (e *Engine) stopped(a *attempt) queue.Outcome {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a.cancelled {
		return queue.Outcome{State: JobCancelled}
	}
	return queue.Outcome{Again: time.Second}
}

// run runs the pull of a job, unless its run has come to its end already. The error
// says why it could not begin, or could not go on.
func (e *Engine) run(ctx context.Context, a *attempt, c *configs.Config, log *slog.Logger) (queue.Outcome, error) {
	keep := context.WithoutCancel(ctx)
	if a.job.From != "" || a.job.To != "" {
		part, err := c.Backfill(a.job.From, a.job.To)
		if err != nil {
			return queue.Outcome{}, err
		}
		c = part
	}
	if c.Output.To == sink.Stdout {
		return queue.Outcome{}, errors.New("output.to is -, and a daemon has no standard output for items: name a file")
	}
	if out, over, err := e.settled(keep, a.job); over || err != nil {
		return out, err
	}
	if err := e.queue.Begin(keep, a.job.ID); errors.Is(err, ErrOver) {
		return queue.Outcome{State: JobCancelled}, nil
	} else if err != nil {
		return queue.Outcome{}, err
	}
	e.tellJob(a.job)
	run := &underWay{engine: e, attempt: a, name: c.Name, log: log}
	rep, err := pull.Run(ctx, pull.Options{
		Config: c, Store: e.store, Version: e.opt.Version, Log: log, Paces: &e.paces, PublicOnly: true, MayPrivate: e.opt.MayPrivate,
		Fresh: a.job.Fresh && a.job.Run == "", Begun: run.begun, Progress: run.progress,
	})
	return e.came(ctx, a, run, rep, err)
}

// came is what comes of a job by its run.
func (e *Engine) came(ctx context.Context, a *attempt, run *underWay, rep reconcile.Report, err error) (queue.Outcome, error) {
	if held := new(store.HeldError); errors.As(err, &held) {
		run.log.Info("the run is held by another process", "run", held.Run, "process", held.Holder.PID)
		out := e.stopped(a)
		if out.State == "" {
			out.Again = e.opt.held
			if err := e.queue.Suspend(context.WithoutCancel(ctx), a.job.ID); err != nil && !errors.Is(err, ErrOver) {
				return out, err
			}
		}
		return out, nil
	}
	early := new(pull.NotStarted)
	if errors.As(err, &early) {
		if ctx.Err() != nil {
			return e.stopped(a), nil
		}
		return queue.Outcome{}, err
	}
	e.subs.tell(Event{Kind: "run", Pull: a.job.Pull, Job: a.job.ID, Run: rep.Run, Report: &rep})
	run.log.Info("run "+rep.State, "run", rep.Run, "verdict", rep.Verdict.String(), "items", rep.Items.Distinct, "pages", rep.Pages.Held)
	out := queue.Outcome{State: JobDone}
	switch {
	case rep.State == store.Stopped && ctx.Err() != nil:
		if out = e.stopped(a); out.State == "" {
			return out, nil // it goes on: this report was not the last
		}
	case err != nil:
		out = failed(err.Error())
	case rep.State == store.Failed:
		out = failed(rep.Error)
	}
	if !e.report(context.WithoutCancel(ctx), rep) {
		return queue.Outcome{}, nil
	}
	return out, nil
}

// settled looks whether the run of a job came to its end without the job being told,
// because the process died in between.
func (e *Engine) settled(ctx context.Context, j Job) (out queue.Outcome, over bool, err error) {
	if j.Run == "" {
		return out, false, nil
	}
	info, err := e.store.RunByID(ctx, j.Run)
	if errors.Is(err, store.ErrNoRun) {
		return out, false, nil
	}
	if err != nil || info.Run != j.Run || info.Unfinished() {
		return out, false, err
	}
	out = queue.Outcome{State: JobDone}
	switch info.State {
	case store.Failed:
		out = failed(info.Error)
	case store.Abandoned:
		out.Error = "the run was given up for a fresh start"
		return out, true, nil
	}
	rep, err := e.store.Report(ctx, j.Run)
	if err == nil && !e.report(ctx, rep) {
		return queue.Outcome{}, true, nil
	}
	return out, true, err
}

// report hands a report to the hook. While the engine stops it does not, and reports
// false: the job is to stay open then, and the next start ends it and tells.
func (e *Engine) report(ctx context.Context, rep reconcile.Report) bool {
	e.mu.Lock()
	stopping := e.stopping
	e.mu.Unlock()
	if stopping {
		return false
	}
	list, err := e.store.Runs(ctx, store.RunFilter{Name: rep.Name, Limit: 20})
	if err != nil {
		e.log.Error("the verdict before cannot be read", "pull", rep.Name, "run", rep.Run, "error", err)
	}
	for _, i := range list.Runs {
		if i.Run < rep.Run && i.Verdict != nil && i.State != store.Stopped {
			e.opt.OnReport(rep, *i.Verdict, true)
			return true
		}
	}
	e.opt.OnReport(rep, judge.Unknown, false)
	return true
}

// underWay is what a run tells of itself.
type underWay struct {
	engine  *Engine
	attempt *attempt
	name    string
	log     *slog.Logger
	run     string
	told    time.Time
}

// often is the least time between two events of progress of a run.
const often = 250 * time.Millisecond

// begun notes the run before its first request. Where that cannot be done the run is
// stopped: it must not come to an end that its job would not know of.
func (u *underWay) begun(name, run string, resumed bool, _ []store.Info) {
	if name != u.name { // a part of a fan-out
		return
	}
	e, j := u.engine, u.attempt.job
	u.run = run
	if err := e.queue.Began(context.Background(), j.ID, run); err != nil && !errors.Is(err, ErrOver) {
		u.log.Error("the run cannot be noted, and is stopped", "run", run, "error", err)
		u.attempt.cancel()
	}
	u.log.Info("run begun", "run", run, "resumed", resumed)
	e.subs.tell(Event{Kind: "run", Pull: j.Pull, Job: j.ID, Run: run})
}

func (u *underWay) progress(p fetcher.Progress) {
	now := time.Now()
	if now.Sub(u.told) < often {
		return
	}
	u.told = now
	u.engine.subs.tell(Event{Kind: "progress", Pull: u.attempt.job.Pull, Job: u.attempt.job.ID, Run: u.run, Progress: &p})
}
