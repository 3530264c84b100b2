package fetcher

import (
	"context"
	"fmt"
	"time"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// write hands the new items among the first n of a page to the sink's
// pending lines, and their keys to the page's row.
func (d *drain) write(p *adapters.Page, m *match, n int) {
	d.follow(m, n)
	d.trace(m, n)
	fresh, keys := d.seen.hold(m, n)
	d.run.Held += int64(len(fresh))
	d.run.Added += int64(len(fresh))
	d.look(p, m, n)
	d.lines = d.lines[:0]
	for _, i := range fresh {
		d.lines = append(d.lines, jsonscan.Line(p.Items[i].Raw))
	}
	d.noteNewest(p.Items, fresh)
	m.held = keys
}

// keep writes a held page's items to the sink, then adds the attempt's row to
// the pending checkpoint.
func (d *drain) keep(row reconcile.Attempt, a *answer, st step, m *match) error {
	if st.hold && len(d.lines) > 0 {
		if err := d.opt.Sink.Write(d.lines); err != nil {
			return err
		}
	}
	d.lines = d.lines[:0]
	row.Outcome, row.Action, row.More = st.state, st.action, st.more
	row.Cause = d.hide(st.cause)
	if m != nil {
		row.Repeated = row.Items - m.Fresh
		row.New = len(m.held) / len(key{})
		row.Keys = m.held
	}
	d.add(row)
	d.addTotals(a, d.slice() > 0)
	for _, e := range st.events {
		d.event(e.kind, e.text)
	}
	d.progress(row, 0)
	return nil
}

// again records a try whose very request goes out once more.
func (d *drain) again(req adapters.Request, a *answer, pause time.Duration) {
	row := d.row(req, a)
	row.Outcome = outcomeOf(a.kind)
	if row.Outcome == reconcile.Held {
		row.Outcome = reconcile.Refused
	}
	row.Action, row.Cause = judge.ActionRetry, d.hide(a.text)
	if a.kind == kindLimit {
		row.Action = judge.ActionWait
		d.event("wait", fmt.Sprintf("%s: waiting %s", a.text, pause.Round(time.Millisecond)))
	}
	if a.kind == kindPage {
		d.state.observeAgain(d.shape, &a.page)
		row.Cause = "an empty page before the total: the same again"
	}
	d.add(row)
	d.progress(row, pause)
}

// row makes an attempt's row of what came over the wire.
func (d *drain) row(req adapters.Request, a *answer) reconcile.Attempt {
	s := d.state
	d.run.Seq++
	row := reconcile.Attempt{
		Seq: d.run.Seq, Slice: d.slice(), Pass: d.passOf(), Page: s.Page + 1, Try: s.Tries, Started: a.started, Duration: a.duration,
		URL: d.hide(firstOf(a.url, req.URL)), Position: clip(d.hide(asked(s.At, req.Number)), 160), Offset: s.At.Offset,
		SizeAsked: req.Size, Status: a.status, BytesRead: a.wire, BytesExpected: a.expected,
		Items: len(a.page.Items), Nulls: a.page.Nulls,
	}
	if t, ok := mainTotal(&a.page); ok {
		row.Total, row.TotalKind = judge.N(t.Value), t.Kind
	}
	r := judge.Judge(d.snapshot(a))
	d.suspect(r)
	row.Verdict, row.Rules = r.Verdict, r.Rules
	for i := range row.Rules {
		row.Rules[i].Evidence = d.hide(row.Rules[i].Evidence)
	}
	return row
}

// suspect keeps the judge's suspicion of a silent cap for the run's report.
func (d *drain) suspect(r judge.Result) {
	for _, rule := range r.Rules {
		if rule.ID == "TR006" && d.state.Suspicion == "" {
			d.state.Suspicion = rule.Evidence
		}
	}
}

// snapshot gives the judge's view of one answer.
func (d *drain) snapshot(a *answer) judge.Snapshot {
	if a.kind == kindPage || a.kind == kindPartial {
		resp := adapters.Response{Status: a.status, Header: a.header, Body: a.body, URL: a.url}
		return d.reader.Snapshot(d.state.At, a.page, resp, d.state.PassItems)
	}
	s := judge.Snapshot{Kind: "http"}
	r := &s.Response
	if a.status != 0 {
		r.Status = judge.N(int64(a.status))
		r.BytesRead, r.BytesExpected = judge.N(a.wire), a.expected
	}
	r.Error = a.text
	if a.kind == kindHalf || a.kind == kindDeadline {
		r.ParseOK = judge.No
	}
	return s
}

// slice is the number of the slice at hand, 0 in a run of one walk.
func (d *drain) slice() int {
	if d.run.Plan == nil {
		return 0
	}
	return d.run.Plan.Now.ID
}

func (d *drain) add(row reconcile.Attempt) {
	c := &d.state.Counts
	c.Attempts++
	switch row.Outcome {
	case reconcile.Half:
		c.Half++
	case reconcile.Failed, reconcile.Limited:
		c.Failed++
	case reconcile.Unused:
		c.Unused++
	}
	d.pending.Attempts = append(d.pending.Attempts, row)
}

// addTotals adds the totals of an answer. Those of slices are told apart from
// those of the whole.
func (d *drain) addTotals(a *answer, ofSlice bool) {
	for _, t := range a.page.Totals {
		if ofSlice {
			t.Source += " of a slice"
		}
		d.pending.Totals = append(d.pending.Totals, reconcile.TotalSeen{
			Seq: d.run.Seq, At: a.started, Source: string(t.Source), Value: t.Value, Kind: t.Kind,
			Live: t.Kind == judge.Exact && !d.state.PassTotals.Collapsed, Distinct: d.run.Held, Collapsed: d.state.PassTotals.Collapsed,
		})
	}
}

func (d *drain) event(kind, text string) {
	text = d.hide(text)
	d.pending.Events = append(d.pending.Events, reconcile.Event{Seq: d.run.Seq, At: time.Now(), Kind: kind, Text: text})
	d.opt.Log.Debug(text, "event", kind, "slice", d.slice(), "pass", d.state.Pass, "seq", d.run.Seq)
}

func (d *drain) hide(s string) string { return d.opt.Client.Hide(s) }

// due reports whether a checkpoint is.
func (d *drain) due() bool {
	return len(d.pending.Attempts) >= 256 || time.Since(d.last) >= d.opt.Budget.Checkpoint
}

// checkpoint makes what was kept durable: the items in the sink first, then
// the rows that say that they are held.
func (d *drain) checkpoint(ctx context.Context) error {
	m, err := d.opt.Sink.Sync()
	if err != nil {
		return err
	}
	d.run.Mark = m
	d.pending.Mark = m
	if d.pending.State, err = d.encode(); err != nil {
		return err
	}
	if err := d.opt.Ledger.Commit(ctx, d.pending); err != nil {
		return err
	}
	d.pending = Checkpoint{Attempts: d.pending.Attempts[:0], Totals: d.pending.Totals[:0], Events: d.pending.Events[:0], Slices: d.pending.Slices[:0]}
	d.last = time.Now()
	return nil
}

func (d *drain) progress(row reconcile.Attempt, wait time.Duration) {
	if d.opt.Progress == nil {
		return
	}
	s, c, t := d.state, d.counts(), d.state.Totals
	if d.run.Whole != nil {
		t = d.run.Whole.Totals
	}
	d.opt.Progress(Progress{
		Slice: d.slice(), Pass: d.passOf(), Size: s.Size, Pages: c.Held, Attempts: c.Attempts, Distinct: c.Distinct,
		Total: t.Last, HasTotal: t.Live > 0, Waiting: wait, Outcome: row.Outcome, Status: row.Status,
		Requests: c.Requests, Half: c.Half, Fail: c.Failed,
	})
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
