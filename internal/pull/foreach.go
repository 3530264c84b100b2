package pull

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"lastdrop/configs"
	"lastdrop/fetcher"
	"lastdrop/internal/jsonscan"
	"lastdrop/internal/sink"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A whole is a fan-out in progress: one run in the store that remembers its
// values, and a run of its own for each of them.
//
// What it remembers, and when: the list of values is fixed in one transaction
// before the first child begins; a child's row learns the id of the child's
// run before that run's first request. A run that is not recorded so is never
// taken up: it may have begun before the whole did, and then what came in
// between would be missed.
type whole struct {
	opt      Options
	cfg      *configs.Config
	target   string // with the placeholder
	run      *store.Run
	memo     memory
	children []store.Child
	pace     *fetcher.Pace

	spent   fetcher.Budget // by this process, over all parts
	stopped string         // why no further part is asked; "": go on
	list    reconcile.List
	parts   []reconcile.Part
	sum     reconcile.Report // of the children: counts and outputs
	resume  string           // the first child that can go on
}

// memory is what a whole remembers beside its children.
type memory struct {
	Listed   bool   `json:"listed"`           // the children are fixed
	Parent   string `json:"parent,omitempty"` // the run that gives the values
	Repeated int64  `json:"repeated,omitempty"`
	Useless  int64  `json:"useless,omitempty"`
	Example  string `json:"example,omitempty"`
}

// runEach drains a fan-out: the parent, if there is one, then child after
// child.
func runEach(ctx context.Context, o Options) (reconcile.Report, error) {
	w := &whole{opt: o, cfg: o.Config, target: cmp.Or(o.Target, o.Config.Output.To)}
	if err := w.begin(ctx); err != nil {
		return reconcile.Report{}, &NotStarted{err}
	}
	defer w.run.Close()
	err := w.drain(ctx)
	if err == nil {
		return w.finish(context.WithoutCancel(ctx))
	}
	text := hideOf(w.cfg, err.Error())
	return ownFault(w.report(reconcile.Ruling{}), text), fmt.Errorf("%s", text)
}

func (w *whole) begin(ctx context.Context) error {
	c := w.cfg
	if hold := c.ForEach.Holder(); !strings.Contains(filepath.Base(w.target), hold) || strings.Contains(filepath.Dir(w.target), hold) {
		return fmt.Errorf("%s: each child writes a file of its own: %s must stand in the name of the output's file, e.g. --out out/%s.jsonl", c.Name, hold, hold)
	}
	list, err := c.List()
	if err != nil {
		return err
	}
	w.run, err = w.opt.Store.Begin(ctx, store.BeginOptions{Name: c.Name, ConfigHash: w.hash(), Config: string(c.Redacted()),
		Version: w.opt.Version, Fresh: w.opt.Fresh})
	if err != nil {
		return err
	}
	if err := w.recall(ctx, list); err != nil {
		w.run.Close()
		return err
	}
	if w.pace = w.opt.paceFor(c); w.pace == nil {
		w.pace = fetcher.NewPace(float64(c.Limits.Rate), c.Limits.Burst, c.Limits.Concurrency)
	}
	if w.opt.Begun != nil {
		w.opt.Begun(c.Name, w.run.ID(), w.run.Resumed(), w.run.Others())
	}
	return nil
}

// hash names the whole by its config, its target and the config of its parent.
func (w *whole) hash() string {
	h := w.cfg.Hash()
	if w.opt.Target != "" && w.opt.Target != w.cfg.Output.To {
		h += " to " + configs.PlaceOf(w.opt.Target)
	}
	if w.cfg.Parent != nil {
		h += " of " + w.cfg.Parent.Hash()
	}
	return h
}

// recall reads what the whole remembers. A new one, whose values are known
// without asking, fixes them.
func (w *whole) recall(ctx context.Context, list []string) error {
	r, err := w.run.Resume(ctx)
	if err != nil {
		return err
	}
	if len(r.State) > 0 {
		if err := json.Unmarshal(r.State, &w.memo); err != nil {
			return fmt.Errorf("the stored state of run %s cannot be read (%w): begin anew with --fresh", w.run.ID(), err)
		}
	}
	if !w.memo.Listed && w.cfg.Parent == nil {
		return w.fix(ctx, list)
	}
	w.children, err = w.opt.Store.Children(ctx, w.run.ID())
	return err
}

// fix fixes the children: each value once, each with a file of its own.
func (w *whole) fix(ctx context.Context, values []string) error {
	seen, files := map[string]bool{}, map[string]string{}
	if p := w.cfg.Parent; p != nil {
		files[fileKey(p.Output.To)] = p.Name
	}
	for _, v := range values {
		if seen[v] {
			w.memo.Repeated++
			continue
		}
		if hideOf(w.cfg, v) != v {
			return errors.New("a value of for_each looks like a secret, and would stand in the names of runs and files")
		}
		seen[v] = true
		file := fileKey(w.cfg.FileOf(w.target, v))
		if other, twice := files[file]; twice {
			return fmt.Errorf("the items of %q and of %q would go to the same file %s: change output.to", v, other, file)
		}
		files[file] = v
		w.children = append(w.children, store.Child{N: len(w.children) + 1, Value: v})
	}
	w.memo.Listed = true
	return w.save(ctx, w.children...)
}

// fileKey is the same for names that may mean the same file.
func fileKey(name string) string { return strings.ToLower(filepath.Clean(name)) }

// save makes what the whole remembers durable, with the children that changed.
func (w *whole) save(ctx context.Context, changed ...store.Child) error {
	state, err := json.Marshal(w.memo)
	if err != nil {
		return err
	}
	return w.run.Commit(context.WithoutCancel(ctx), store.Checkpoint{Children: changed, Items: w.sum.Items.Distinct, State: state})
}

// drain runs the parts. The error is a fault of our own, which ends the whole
// and leaves it resumable.
func (w *whole) drain(ctx context.Context) error {
	if w.cfg.Parent != nil {
		if err := w.parent(ctx); err != nil || !w.memo.Listed {
			return err
		}
	}
	w.list.Values, w.list.Repeated = int64(len(w.children)), w.memo.Repeated
	w.list.Useless, w.list.Example = w.memo.Useless, w.memo.Example
	for i := range w.children {
		if err := w.child(ctx, &w.children[i]); err != nil {
			return err
		}
	}
	w.list.Stopped = w.stopped
	return nil
}

// parent drains the pull whose items give the values, unless they are fixed.
func (w *whole) parent(ctx context.Context) error {
	c := w.cfg.Parent
	part := reconcile.Part{Name: c.Name, Why: "its report is no longer in the store"}
	w.list.Parent = &part
	if w.memo.Listed {
		rep, err := w.opt.Store.Report(context.WithoutCancel(ctx), w.memo.Parent)
		if err == nil {
			part = partOf(rep)
		} else if !errors.Is(err, store.ErrNoReport) {
			return err
		}
		return nil
	}
	e, err := w.part(ctx, c, "", w.memo.Parent, func(run string) error {
		w.memo.Parent = run
		return w.save(ctx)
	})
	if err != nil {
		return err
	}
	part = partOf(e.report)
	if part.State != stateFinished { // it can go on, or there is nothing to go on with
		part.Name, part.Why = c.Name, cmp.Or(part.Why, w.stopped)
		return nil
	}
	values, err := w.valuesOf(e.report)
	if err != nil {
		return err
	}
	return w.fix(ctx, values)
}

// valuesOf reads the values out of the parent's items.
func (w *whole) valuesOf(rep reconcile.Report) ([]string, error) {
	path, err := jsonscan.Compile(string(w.cfg.ForEach.Path))
	if err != nil {
		return nil, err
	}
	var values []string
	items, out := int64(0), rep.Output[0]
	err = sink.Items(out.Path, func(item []byte) error {
		items++
		v, err := w.valueOf(path, item)
		if err != nil {
			w.memo.Useless++
			w.memo.Example = cmp.Or(w.memo.Example, fmt.Sprintf("item %d of run %s: %v", items, rep.Run, err))
			return nil
		}
		values = append(values, v)
		return nil
	})
	if err == nil && items != out.Items {
		err = fmt.Errorf("%s holds %d items, and run %s wrote %d: leave the file alone while the children are drained", out.Path, items, rep.Run, out.Items)
	}
	return values, err
}

func (w *whole) valueOf(path jsonscan.Path, item []byte) (string, error) {
	v, err := path.Find(item)
	if err != nil {
		return "", err
	}
	text := string(v.Raw)
	switch {
	case v.IsString():
		text = v.Str()
	case !v.IsNumber():
		return "", fmt.Errorf("no text or number stands at %s", w.cfg.ForEach.Path)
	}
	if err := w.cfg.CheckValue(text); err != nil {
		return "", err
	}
	if hideOf(w.cfg, text) != text {
		return "", errors.New("the value looks like a secret")
	}
	return text, nil
}

// child brings one child to its report: that of its recorded run where it is
// COMPLETE, else by draining it, unless the whole has stopped.
func (w *whole) child(ctx context.Context, c *store.Child) error {
	name := w.cfg.Name + "/" + c.Value
	rep, err := w.opt.Store.Report(context.WithoutCancel(ctx), c.Run)
	if err != nil && !errors.Is(err, store.ErrNoReport) {
		return err
	}
	if err != nil || rep.State != stateFinished || rep.Verdict != judge.Complete {
		if w.halt(ctx); w.stopped == "" {
			target := ""
			if w.opt.Target != "" {
				target = w.cfg.FileOf(w.opt.Target, c.Value)
			}
			e, err := w.part(ctx, w.cfg.Child(c.Value), target, c.Run, func(run string) error {
				c.Run = run
				return w.save(ctx, *c)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			rep = e.report
		}
	}
	if rep.Run == "" { // no report, not even an earlier one
		w.parts = append(w.parts, reconcile.Part{Name: name})
		w.resume = cmp.Or(w.resume, c.Value)
		return nil
	}
	w.add(rep, c.Value)
	return nil
}

// halt notes why no further part may be asked.
func (w *whole) halt(ctx context.Context) {
	s, pages, items, requests := w.spent, w.opt.MaxPages, w.opt.MaxItems, w.cfg.Limits.MaxRequests
	switch {
	case w.stopped != "":
	case ctx.Err() != nil:
		w.stopped = "stopped by a signal"
	case requests > 0 && s.Requests >= requests:
		w.stopped = fmt.Sprintf("stopped after %d requests, as asked: a budget is no end", s.Requests)
	case pages > 0 && s.Pages >= pages:
		w.stopped = fmt.Sprintf("stopped after %d pages, as asked: a budget is no end", s.Pages)
	case items > 0 && s.Items >= items:
		w.stopped = fmt.Sprintf("stopped after %d items, as asked: a budget is no end", s.Items)
	}
}

// part drains one part. recorded is the run that the whole knows for it: that
// one goes on where it is unfinished, and no other is taken up.
func (w *whole) part(ctx context.Context, c *configs.Config, target, recorded string, record func(run string) error) (ended, error) {
	o := w.opt
	known, err := w.opt.Store.RunByID(context.WithoutCancel(ctx), recorded)
	if err != nil && !errors.Is(err, store.ErrNoRun) && recorded != "" {
		return ended{}, err
	}
	o.anew = recorded == "" || known.Run != recorded || !known.Unfinished()
	o.Target, o.pace, o.record = target, w.pace, record
	o.MaxPages, o.MaxItems = left(o.MaxPages, w.spent.Pages), left(o.MaxItems, w.spent.Items)
	own := *c
	own.Limits.MaxRequests = left(w.cfg.Limits.MaxRequests, w.spent.Requests)
	if c == w.cfg.Parent { // it keeps its own limits, within those of the whole
		o.pace = nil
		own.Limits.MaxRequests = lesser(own.Limits.MaxRequests, c.Limits.MaxRequests)
	}
	o.Config = &own
	e, err := runOne(ctx, o)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		w.stopped = "stopped by a signal" // before it began
		return ended{}, nil
	}
	if e.report.Run != "" && w.opt.Reported != nil {
		w.opt.Reported(e.report)
	}
	if err != nil {
		return e, err
	}
	w.spent.Requests += e.spent.Requests
	w.spent.Pages += e.spent.Pages
	w.spent.Items += e.spent.Items
	switch e.stop {
	case reconcile.StopSignal, reconcile.StopBudget, reconcile.StopWait:
		w.stopped = e.why
	}
	return e, nil
}

// left is what is left of a bound; 0 stays no bound.
func left(bound, spent int64) int64 {
	if bound == 0 {
		return 0
	}
	return max(1, bound-spent)
}

// lesser is the lesser of two bounds, of which 0 is none.
func lesser(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// partOf is a run as a part of the whole.
func partOf(rep reconcile.Report) reconcile.Part {
	p := reconcile.Part{Name: rep.Name, State: rep.State, Verdict: rep.Verdict, Strength: rep.Strength, Missing: rep.Missing, Why: rep.Error}
	if p.Why == "" && len(rep.Evidence) > 0 {
		p.Why = rep.Evidence[0].ID + " " + rep.Evidence[0].Text
	}
	return p
}

// add adds a child's report to the sums.
func (w *whole) add(rep reconcile.Report, value string) {
	w.parts = append(w.parts, partOf(rep))
	if rep.State == stateStopped {
		w.resume = cmp.Or(w.resume, value)
	}
	s := &w.sum
	s.Items.Received += rep.Items.Received
	s.Items.Distinct += rep.Items.Distinct
	s.Items.Repeated += rep.Items.Repeated
	s.Items.Written += rep.Items.Written
	s.Items.NoID += rep.Items.NoID
	s.Items.Nulls += rep.Items.Nulls
	s.Pages.Held += rep.Pages.Held
	s.Pages.Attempts += rep.Pages.Attempts
	s.Pages.Half += rep.Pages.Half
	s.Pages.Failed += rep.Pages.Failed
	s.Slices.Leaves += rep.Slices.Leaves
	s.Slices.Splits += rep.Slices.Splits
	s.Slices.Irreducible += rep.Slices.Irreducible
	s.Requests += rep.Requests
	s.Bytes += rep.Bytes
	s.Waited += rep.Waited
	s.Passes = max(s.Passes, rep.Passes)
	s.Output = append(s.Output, rep.Output...)
}

// counts counts the children by what became of them.
func (w *whole) counts() *reconcile.ChildCounts {
	n := &reconcile.ChildCounts{Total: int64(len(w.children))}
	for _, p := range w.parts {
		switch {
		case p.State == stateFailed:
			n.Failed++
		case p.State == "":
			n.Open++
		case p.State == stateFinished && p.Verdict == judge.Complete:
			n.Complete++
		case p.Verdict == judge.Truncated:
			n.Truncated++
		default:
			n.Unknown++
		}
	}
	return n
}

// report is that of the whole.
func (w *whole) report(r reconcile.Ruling) reconcile.Report {
	rep := w.sum
	rep.Run, rep.Name, rep.State = w.run.ID(), w.cfg.Name, stateFinished
	rep.Verdict, rep.Strength, rep.Missing, rep.Evidence, rep.Advice = r.Verdict, r.Strength, r.Missing, r.Evidence, r.Advice
	rep.Started, rep.Ended = w.run.Started().UTC(), time.Now().UTC()
	rep.Source = hideOf(w.cfg, w.cfg.Source.Method+" "+w.cfg.Source.URL)
	rep.Children, rep.Exit = w.counts(), exitOf(r.Verdict)
	if rep.Output == nil {
		rep.Output = []reconcile.Output{}
	}
	return rep
}

// finish rules on the whole and stores its report. It can go on while one of
// its parts can.
func (w *whole) finish(ctx context.Context) (reconcile.Report, error) {
	rep := w.report(reconcile.Combine(w.list, w.parts))
	parent := w.list.Parent
	failed := rep.Children.Failed > 0
	if failed {
		rep.Exit, rep.Error = ExitNotRun, fmt.Sprintf("%d of %d children could not run", rep.Children.Failed, rep.Children.Total)
	} else if parent != nil && parent.State == stateFailed {
		failed, rep.Exit, rep.Error = true, ExitNotRun, fmt.Sprintf("%s could not run: %s", parent.Name, parent.Why)
	}
	switch {
	case w.stopped != "" || w.resume != "" || parent != nil && parent.State == stateStopped:
		rep.State, rep.Error = stateStopped, ""
		rep.Resume = &judge.Resume{Kind: "child", Value: w.resume, Caveat: "run the same command again: children that are COMPLETE are not asked again; --fresh begins anew"}
	case failed:
		rep.State = stateFailed
	}
	return rep, w.run.Finish(ctx, rep)
}
