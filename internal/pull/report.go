package pull

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lastdrop/internal/sink"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// finish rules on the facts, passes the commit gate and stores the report.
// The sink is read back before the gate opens, so the verdict already knows
// what is on the disk.
func (p *pull) finish(ctx context.Context, f reconcile.Facts) (reconcile.Report, error) {
	p.demand(ctx, &f)
	ruling := reconcile.Rule(f)
	rep := p.report(f, ruling)
	if rep.State == stateStopped && f.Stop == reconcile.StopSignal {
		return p.stopped(ctx, f)
	}
	if rep.State == stateFailed {
		return rep, errors.Join(p.file.Discard(), p.run.Finish(ctx, rep)) // nothing came: no empty file stands for it
	}
	p.verdict = ruling.Verdict
	out, err := p.file.Finish(ruling.Verdict == judge.Complete)
	if errors.Is(err, context.Canceled) {
		f.Stop, f.StopText = reconcile.StopSignal, "stopped by a signal while the output was made"
		return p.stopped(ctx, f)
	}
	if err != nil && !errors.Is(err, sink.ErrReadBack) {
		return p.fail(f, err)
	}
	f.ReadBack = judge.N(out.Items)
	if err != nil {
		f.SinkTorn = p.hide(err.Error())
	}
	ruling = reconcile.Rule(f)
	rep = p.report(f, ruling)
	rep.Items.Written = out.Items
	rep.Output = []reconcile.Output{{Path: out.Path, Committed: out.Committed, Items: out.Items, Bytes: out.Bytes, SHA256: out.SHA256, Notes: out.Notes}}
	if out.Path == sink.Aside(p.out) {
		rep.Output[0].Notes = p.asideNotes()
	}
	if lost := errors.Join(p.noteReach(ctx, f), p.run.Finish(ctx, rep)); lost != nil {
		return rep, lost
	}
	if rep.State == stateStopped || err != nil {
		return rep, nil // it may go on, and needs what stands aside
	}
	return rep, p.file.Discard()
}

// stopped reports a run that a signal stopped: the commit gate was not passed.
func (p *pull) stopped(ctx context.Context, f reconcile.Facts) (reconcile.Report, error) {
	rep := p.report(f, reconcile.Rule(f))
	rep.Output = p.leftAside(f)
	return rep, p.run.Finish(ctx, rep)
}

// leftAside names where the items of a run stand that was stopped by a signal:
// the commit gate was not passed.
func (p *pull) leftAside(f reconcile.Facts) []reconcile.Output {
	if p.target == sink.Stdout {
		return []reconcile.Output{{Path: sink.Stdout, Committed: true, Items: f.Distinct}}
	}
	// Synced at the last checkpoint already.
	return []reconcile.Output{{Path: sink.Aside(p.out), Items: f.Distinct, Bytes: p.file.Mark().Length, Notes: p.asideNotes()}}
}

// asideNotes says what the file beside the target holds, where its name tells otherwise.
func (p *pull) asideNotes() []string {
	if p.out.Form == nil && p.out.Table == nil {
		return nil
	}
	return []string{"it holds JSON Lines, an item a line: the output itself is made of them once a run is COMPLETE"}
}

// demand adds what the operator asks for.
func (p *pull) demand(ctx context.Context, f *reconcile.Facts) {
	c := p.cfg.Complete
	f.Require, _ = reconcile.ParseStrength(c.Require)
	f.Tolerance, f.MaxDrift, f.MinItems, f.MaxFall = p.tolerance(), float64(c.MaxDrift), c.MinItems, float64(c.MaxFall)
	f.FallSaid = c.FallSaid
	if c.Fresh != nil {
		f.Freshness = reconcile.Freshness{Path: string(c.Fresh.Path), MaxAge: time.Duration(c.Fresh.MaxAge), Start: p.run.Started()}
	}
	if p.cfg.Incremental != nil {
		f.Asked = p.span.say()
		return // what came in another span says nothing about this one
	}
	last, err := p.opt.Store.LastComplete(ctx, p.cfg.Name)
	if err == nil {
		f.LastComplete = judge.N(last.Items)
	}
}

// The states of a report.
const (
	stateFinished = "finished"
	stateStopped  = "stopped"
	stateFailed   = "failed"
)

// report puts facts and ruling into the report's form.
func (p *pull) report(f reconcile.Facts, r reconcile.Ruling) reconcile.Report {
	rep := reconcile.Report{
		Run: p.run.ID(), Name: p.cfg.Name, State: stateFinished, Verdict: r.Verdict, Strength: r.Strength,
		Items:   reconcile.ItemCounts{Received: f.Received, Distinct: f.Distinct, Repeated: f.Repeated, NoID: f.NoID, Nulls: f.Nulls},
		Total:   f.Totals.Summary(),
		Missing: r.Missing, Pages: reconcile.PageCounts{Held: f.Held, Attempts: f.Attempts, Half: f.Half, Failed: f.Failed, Unused: f.Unused},
		PageSize: f.PageSize, Slices: reconcile.SliceCounts{Leaves: 1}, Evidence: r.Evidence, Advice: r.Advice,
		Started: p.run.Started().UTC(), Ended: time.Now().UTC(), Requests: f.Requests, Passes: f.Passes, Bytes: f.Bytes,
		Source: p.hide(p.spec.Method + " " + p.spec.URL), Waited: reconcile.Duration(f.Waited), Output: []reconcile.Output{},
	}
	if n := p.cfg.Limits.Concurrency; n > 1 {
		rep.Concurrency = n
	}
	if f.Reach.OK {
		rep.Reach = &f.Reach.N
	}
	if s := f.Slices; s != nil {
		rep.Slices = reconcile.SliceCounts{Leaves: s.Leaves, Splits: s.Splits, Irreducible: s.Irreducible}
	}
	if f.Second != nil {
		rep.Passes += f.Second.Passes
	}
	rep.Exit = exitOf(r.Verdict)
	switch {
	case f.Held == 0 && couldNotStart(f.Stop):
		rep.State, rep.Error, rep.Exit = stateFailed, f.StopText, ExitNotRun
	case f.Stop.Resumable():
		rep.State, rep.Resume = stateStopped, p.resumePoint(f)
	}
	return rep
}

func exitOf(v judge.Verdict) int {
	switch v {
	case judge.Complete:
		return ExitComplete
	case judge.Truncated:
		return ExitTruncated
	}
	return ExitUnknown
}

// couldNotStart reports whether a run that held no page could not start at
// all: nobody answered, or the first request was refused.
func couldNotStart(s reconcile.Stop) bool {
	return s == reconcile.StopFirst || s == reconcile.StopFault || s == reconcile.StopRefused
}

// resumePoint tells where a stopped run goes on.
func (p *pull) resumePoint(f reconcile.Facts) *judge.Resume {
	return &judge.Resume{Kind: f.At.Kind, Value: p.hide(f.At.Value),
		Caveat: "run the same command again to go on from here; --fresh begins anew"}
}

// fail ends a run that its own sink or store stopped. It stays resumable from
// its last checkpoint.
func (p *pull) fail(f reconcile.Facts, err error) (reconcile.Report, error) {
	text := p.hide(err.Error())
	return ownFault(p.report(f, reconcile.Ruling{}), text), fmt.Errorf("%s", text)
}

// ownFault turns a report into that of a run whose own sink or store failed.
func ownFault(rep reconcile.Report, text string) reconcile.Report {
	rep.Verdict, rep.Strength, rep.Missing = judge.Unknown, reconcile.None, nil
	rep.Evidence = []reconcile.Evidence{{ID: "RC040", Verdict: judge.Unknown, Text: "the run could not go on: " + text}}
	rep.Advice, rep.Output = []string{}, []reconcile.Output{}
	rep.State, rep.Error, rep.Exit = stateFailed, text, ExitNotRun
	return rep
}
