// Package pull wires one config into a run: it opens the run in the store and
// its sink, drains the source, lets the run be ruled on, passes the commit
// gate and stores the report. The command line, and later the daemon and the
// MCP server, all run pulls through it.
package pull

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"lastdrop/adapters"
	"lastdrop/configs"
	"lastdrop/fetcher"
	"lastdrop/internal/sink"
	"lastdrop/internal/slicing"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// The exit statuses of a run, as scripts know them.
const (
	ExitComplete  = 0
	ExitNotRun    = 1
	ExitTruncated = 2
	ExitUnknown   = 3
)

// Options say what to run. Config and Store are required.
type Options struct {
	Config *configs.Config
	Store  *store.Store
	// Target overrides output.to; empty leaves it.
	Target   string
	Fresh    bool
	MaxPages int64
	MaxItems int64
	// Stdout takes the items where the target is "-".
	Stdout   io.Writer
	Version  string
	Progress func(fetcher.Progress)
	// Begun, if set, is called once a run is open, each child of a fan-out too:
	// with its name and id, and whether it was taken up.
	Begun func(name, run string, resumed bool, others []store.Info)
	// Reported, if set, is called with the report of each part of a fan-out as
	// it ends: the parent and the children.
	Reported func(reconcile.Report)
	Log      *slog.Logger
	// Transport sends the requests; nil is the fetcher's own.
	Transport http.RoundTripper
	// PublicOnly keeps the source's addresses out of this machine and of private
	// networks, but for configs with limits.allow_private where MayPrivate is set. It
	// counts for the fetcher's own transport.
	PublicOnly, MayPrivate bool
	// Backoff bounds the pauses between retries; zero is the fetcher's own.
	BackoffMin, BackoffMax time.Duration

	// Paces are the budgets that this pull shares with others of the process; nil:
	// it has one of its own.
	Paces *Paces

	// Of a part of a fan-out: begin anew, though no items may be lost by it;
	// share the rate; and note the run's id before its first request.
	anew   bool
	pace   *fetcher.Pace
	record func(run string) error
}

// NotStarted is the error of a pull that could not begin: nothing was asked
// and nothing was written.
type NotStarted struct{ Err error }

func (e *NotStarted) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *NotStarted) Unwrap() error { return e.Err }

// Run drains one pull to its report, or each child of a fan-out to the report
// of the whole. A report comes back wherever a run was begun; the error then
// tells a fault of store or sink, with the report's state failed. A *NotStarted
// comes without a report.
func Run(ctx context.Context, o Options) (reconcile.Report, error) {
	if o.Config.ForEach != nil {
		return runEach(ctx, o)
	}
	e, err := runOne(ctx, o)
	return e.report, err
}

// An ended is one run at its end: its report, why its walk stopped, and what
// this process spent on it.
type ended struct {
	report reconcile.Report
	stop   reconcile.Stop
	why    string
	spent  fetcher.Budget
}

func runOne(ctx context.Context, o Options) (ended, error) {
	p, err := begin(ctx, o)
	if err != nil {
		return ended{}, &NotStarted{err}
	}
	defer p.run.Close()
	defer p.file.Close()
	facts, err := fetcher.Drain(ctx, p.options())
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return ended{}, &NotStarted{err} // a signal while it was taken up
	}
	e := ended{stop: facts.Stop, why: facts.StopText, spent: p.spent(facts.Counts)}
	if err != nil {
		e.report, err = p.fail(facts, err)
		return e, err
	}
	e.report, err = p.finish(context.WithoutCancel(ctx), facts)
	return e, err
}

// pull is one run in progress.
type pull struct {
	opt    Options
	cfg    *configs.Config
	spec   adapters.Spec
	reader *adapters.Reader
	run    *store.Run
	file   *sink.File
	resume *fetcher.Resume
	before store.Counts // what earlier processes did for this run
	span   span         // of an incremental run
	target string
	out    sink.Options
	// verdict is what the run is ruled to be, once its items are to be finished.
	verdict judge.Verdict
	// slicing says how the source is cut, nil where it is not.
	slicing *slicing.Spec
	// learned are the secrets that the source hands out.
	learned learned
}

func begin(ctx context.Context, o Options) (*pull, error) {
	p := &pull{opt: o, cfg: o.Config, spec: o.Config.Spec(), target: o.Target}
	if p.target == "" {
		p.target = o.Config.Output.To
	}
	if p.target == "" {
		return nil, fmt.Errorf("%s: no output: set output.to, or say --out FILE (- is standard output)", o.Config.Name)
	}
	var err error
	if p.out, err = p.output("", ctx.Err); err != nil {
		return nil, err
	}
	if err := o.Store.CheckHolder(ctx, o.Config.Name, p.hash()); err != nil {
		return nil, err // which says more than the sink about the same process
	}
	if err := sink.Check(p.out); err != nil {
		return nil, err
	}
	if err := p.checkOthers(ctx); err != nil {
		return nil, err
	}
	p.run, err = o.Store.Begin(ctx, store.BeginOptions{Name: o.Config.Name, ConfigHash: p.hash(), Config: string(o.Config.Redacted()),
		Version: o.Version, Fresh: o.Fresh || o.anew || p.target == sink.Stdout, Incremental: o.Config.Incremental != nil})
	if err != nil {
		return nil, err
	}
	if err := p.prepare(ctx); err != nil {
		p.run.Close()
		return nil, err
	}
	if o.Begun != nil {
		o.Begun(o.Config.Name, p.run.ID(), p.resume != nil, p.run.Others())
	}
	return p, nil
}

// prepare makes what depends on the run: its target, its question, its sink.
func (p *pull) prepare(ctx context.Context) error {
	p.target = strings.ReplaceAll(p.target, configs.StartHolder, p.run.Started().UTC().Format(startLayout))
	var err error
	if p.span, err = spanOf(p.cfg, p.run.Since()); err != nil {
		return err
	}
	p.span.ask(&p.spec)
	if p.reader, err = adapters.NewReader(p.spec); err != nil {
		return fmt.Errorf("%s: %w", p.cfg.Name, err)
	}
	if err := p.cut(ctx); err != nil {
		return err
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	if p.opt.record == nil {
		return nil
	}
	if err := p.opt.record(p.run.ID()); err != nil {
		p.file.Close()
		return err
	}
	return nil
}

// startLayout is how the start of a run stands in a file's name. Two runs of
// one name never share a millisecond.
const startLayout = "20060102T150405.000Z"

// spent is what this process did for the run. Count requests of an earlier one
// have no row and count again: a budget may end early by them, never late.
func (p *pull) spent(c reconcile.Counts) fetcher.Budget {
	return fetcher.Budget{Requests: c.Requests - p.before.Attempts, Pages: c.Held - p.before.Held, Items: c.Distinct - p.before.New}
}

// checkOthers refuses to start over the items of an unfinished run of the same
// name under another config: that run could never go on. --fresh gives it up.
func (p *pull) checkOthers(ctx context.Context) error {
	if p.opt.Fresh || p.target == sink.Stdout {
		return nil
	}
	aside := sink.Aside(p.out)
	if _, err := os.Stat(aside); err != nil {
		return nil // nothing to lose
	}
	list, err := p.opt.Store.Runs(ctx, store.RunFilter{Name: p.cfg.Name})
	if err != nil {
		return err
	}
	hash := p.hash()
	var other string
	for _, r := range list.Runs {
		switch {
		case !r.Unfinished(), r.Holder != nil: // a living one keeps the file locked
		case r.ConfigHash == hash:
			return nil // the items are those of the run to go on with
		case other == "" && r.Pages > 0:
			other = r.Run
		}
	}
	if other == "" {
		return nil
	}
	return fmt.Errorf("run %s of %s is unfinished under another config and its items stand in %s: finish it with that config, or say --fresh to give it up",
		other, p.cfg.Name, aside)
}

// hash names the config together with the target: an unfinished run goes on
// only into the file that it began.
func (p *pull) hash() string {
	if p.opt.Target == "" || p.opt.Target == p.cfg.Output.To {
		return p.cfg.Hash()
	}
	return p.cfg.Hash() + " to " + configs.PlaceOf(p.opt.Target)
}

// open opens the sink, at the ledger's mark where the run was taken up.
func (p *pull) open(ctx context.Context) error {
	so, err := p.output(p.run.ID(), ctx.Err)
	if err != nil {
		return err
	}
	if p.run.Resumed() {
		r, err := p.run.Resume(ctx)
		if err != nil {
			return err
		}
		if len(r.State) > 0 {
			m, err := fetcher.MarkOf(r.State)
			if err != nil {
				return fmt.Errorf("the stored state of run %s cannot be read (%w): begin anew with --fresh", p.run.ID(), err)
			}
			so.Resume = &sink.Mark{Length: m.Length, Items: m.Items, Sum: m.Sum}
			p.resume, p.before = &fetcher.Resume{State: r.State, Keys: r.Keys}, r.Counts
		}
	}
	p.out = so
	p.file, err = sink.Open(so)
	if err != nil && p.resume != nil && (errors.Is(err, sink.ErrShort) || errors.Is(err, sink.ErrChanged)) {
		return fmt.Errorf("run %s cannot go on: %w; begin anew with --fresh", p.run.ID(), err)
	}
	return err
}

// options are the fetcher's.
func (p *pull) options() fetcher.Options {
	c, l := p.cfg, p.cfg.Limits
	var prove func(*http.Request) // nil: no credentials, and so no copy of each request
	if cred := c.Auth(); cred.Kind != configs.AuthNone || len(cred.Headers) > 0 {
		prove = cred.Apply
	}
	return fetcher.Options{
		Reader: p.reader, Sink: sinkPort{p.file, &p.span}, Ledger: ledgerPort{p.run}, Resume: p.resume, Seed: p.run.Seed(),
		Slicing: p.slicing, Doubts: doubts(c.Complete), Second: second(c),
		Passes: c.Complete.Passes, Tolerance: p.tolerance(), MaxDrift: float64(c.Complete.MaxDrift), Progress: p.opt.Progress, Log: p.opt.Log,
		Budget: fetcher.Budget{Requests: l.MaxRequests, Pages: p.opt.MaxPages, Items: p.opt.MaxItems},
		Client: fetcher.Client{
			Transport: p.opt.Transport, PublicOnly: p.opt.PublicOnly && !(p.opt.MayPrivate && l.AllowPrivate), Auth: prove, Hide: p.hide, Seal: p.seal, Unseal: p.unseal,
			Cookies: c.Source.Cookies, Learn: p.learned.add,
			UserAgent: "lastdrop/" + p.opt.Version, CacheBypass: c.Source.Cache == "bypass", HTTP2: c.Source.HTTP2,
			Concurrency: l.Concurrency, Rate: float64(l.Rate), Burst: l.Burst, Pace: p.opt.paceFor(c), Timeout: time.Duration(l.Timeout), Retries: retries(l.Retries),
			MaxWait: time.Duration(l.MaxWait), MaxBody: int64(l.MaxBody), BackoffMin: p.opt.BackoffMin, BackoffMax: p.opt.BackoffMax,
		},
	}
}

// paceFor is the budget that the requests of a pull keep to; nil: one of its own.
func (o *Options) paceFor(c *configs.Config) *fetcher.Pace {
	if o.pace == nil && o.Paces != nil {
		return o.Paces.For(c)
	}
	return o.pace
}

// second says how the source may be read a second time.
func second(c *configs.Config) fetcher.Second {
	s := fetcher.Second{Reverse: c.Pages.Reverse.Sets()}
	s.Require, _ = reconcile.ParseStrength(c.Complete.Require)
	if c.Complete.Second != nil {
		s.Size = c.Complete.Second.Size
	}
	return s
}

// doubts are the further looks at the source that the config asks for.
func doubts(c configs.Complete) fetcher.Doubts {
	d := fetcher.Doubts{SentinelID: c.Sentinel.ItemID(), Sentinel: c.Sentinel.Probe(), Still: c.Still.Probe()}
	if c.Sentinel != nil {
		d.SentinelMin = c.Sentinel.Min
	}
	if c.Fresh != nil {
		d.NewestPath = string(c.Fresh.Path)
	}
	return d
}

// retries maps the config's plain number onto the fetcher's, whose zero value
// is its default.
func retries(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

func (p *pull) tolerance() reconcile.Tolerance {
	t := p.cfg.Complete.Tolerance
	return reconcile.Tolerance{Items: t.Items, Percent: float64(t.Percent)}
}

func (p *pull) hide(s string) string { return hide(p.learned.hide(p.cfg.Secrets.Hide(s))) }

// hideOf is hide for what belongs to no run of its own.
func hideOf(c *configs.Config, s string) string { return hide(c.Secrets.Hide(s)) }

// seal makes a position fit to be stored. One that holds a secret which no
// config names cannot be.
func (p *pull) seal(s string) (string, bool) {
	out, ok := p.cfg.Secrets.Seal(s)
	if p.hide(out) != out {
		return "", false
	}
	return out, ok
}

func (p *pull) unseal(s string) string {
	out, ok := p.cfg.Secrets.Unseal(s)
	if !ok {
		return ""
	}
	return out
}

// sinkPort and ledgerPort give sink and store the shapes that the fetcher
// asks for.
type sinkPort struct {
	f    *sink.File
	span *span
}

func (s sinkPort) Write(lines [][]byte) error {
	s.span.look(lines)
	return s.f.Write(lines)
}

func (s sinkPort) Sync() (fetcher.Mark, error) {
	m, err := s.f.Sync()
	return fetcher.Mark{Length: m.Length, Items: m.Items, Sum: m.Sum}, err
}

type ledgerPort struct{ r *store.Run }

func (l ledgerPort) Commit(ctx context.Context, c fetcher.Checkpoint) error {
	return l.r.Commit(ctx, store.Checkpoint{Attempts: c.Attempts, Totals: c.Totals, Events: c.Events, Slices: c.Slices,
		Length: c.Mark.Length, Items: c.Mark.Items, State: c.State})
}
