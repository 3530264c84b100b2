package fetcher

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// Drain walks the source until it comes to an end, or to the reason why it
// cannot go on, and gives what it knows then: the facts to rule on. The error
// is a sink's or the ledger's fault, or a request that could not be built;
// whatever the server does is a fact, not an error. A cancelled context stops
// the walk with StopSignal and leaves it resumable.
func Drain(ctx context.Context, o Options) (reconcile.Facts, error) {
	d, err := newDrain(o)
	if err != nil {
		return reconcile.Facts{}, err
	}
	defer d.client.close()
	defer d.ahead.land()
	err = d.loop(ctx)
	if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		d.drop(d.ahead.list) // what came of them is known, and has a row
		d.ahead.list = nil
	}
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		d.run.Done = false
		d.state.stop(reconcile.StopSignal, fmt.Sprintf("stopped by a signal after %s", d.worked()))
		err = nil
	}
	if err != nil {
		return d.facts(), err
	}
	return d.facts(), d.checkpoint(context.WithoutCancel(ctx))
}

// loop is the main loop: ask for a page, take the whole answer, decide, keep
// it. The order of durability stands here: keep writes the items to the sink
// and the row behind them to the pending checkpoint, and checkpoint syncs the
// sink before the ledger commits; only then does the walk go on from there
// after a crash.
func (d *drain) loop(ctx context.Context) error {
	if d.run.Settled && d.run.Whole != nil && !d.run.Done {
		if err := d.nextSlice(ctx); err != nil {
			return err
		}
	}
	d.markBefore(ctx)
	d.countTotal(ctx)
	for !d.run.Done && !d.state.Done && !d.spent() {
		a, req, err := d.askPage(ctx)
		if err == nil && d.state.Done {
			break // a budget is spent in the middle of a batch
		}
		if err != nil {
			return err
		}
		row := d.row(req, &a) // as the walk stands now, before the answer moves it
		st, m := d.decide(req, a)
		d.overReach()
		d.askAhead(ctx, st)
		if err := d.keep(row, &a, st, m); err != nil {
			return err
		}
		d.client.memory.put(a.mem)
		if d.state.Done {
			d.endPass(ctx)
		}
		if d.state.Done {
			if err := d.endWalk(ctx); err != nil {
				return err
			}
			if err := d.readAgain(); err != nil {
				return err
			}
		}
		if d.due() {
			if err := d.checkpoint(ctx); err != nil {
				return err
			}
		}
	}
	d.sentinel(ctx)
	return nil
}

// drain is one run in progress.
type drain struct {
	opt    Options
	spec   adapters.Spec // the Reader's
	shape  shape
	client *client
	seen   *seen
	run    *Run
	state  *State           // the walk at hand
	reader *adapters.Reader // of the slice at hand
	sight  sight
	newest *jsonscan.Path   // complete.freshness.path, nil where it does not matter
	first  reconcile.Counts // at the start of this process: budgets count from here

	pending Checkpoint
	began   time.Time // this process
	last    time.Time
	lines   [][]byte
	ahead   flights
	tries   int // tries of the request in flight
	asked   int // and the page size that it asks for
}

func newDrain(o Options) (*drain, error) {
	o.defaults()
	c, err := newClient(o.Client, o.Reader.Spec().URL)
	if err != nil {
		return nil, err
	}
	spec := o.Reader.Spec() // with the styles' own defaults
	if spec.Items.Format == "xml" {
		c.accept = "application/xml"
	}
	d := &drain{opt: o, spec: *spec, shape: newShape(*spec), client: c, seen: newSeen(o.Seed), run: &Run{}, reader: o.Reader,
		state: newState(spec.Pages), began: time.Now(), last: time.Now()}
	if o.Doubts.NewestPath != "" {
		p, err := jsonscan.Compile(o.Doubts.NewestPath)
		if err != nil {
			return nil, fmt.Errorf("complete.freshness.path: %w", err)
		}
		d.newest = &p
	}
	if o.Resume != nil && len(o.Resume.State) > 0 {
		if err := d.resume(o.Resume); err != nil {
			return nil, err
		}
	}
	if err := d.plan(); err != nil {
		return nil, err
	}
	d.first = d.counts()
	return d, d.aim()
}

// requestsSpent reports whether the budget of requests is used up.
func (d *drain) requestsSpent() bool {
	b := d.opt.Budget.Requests
	return b > 0 && d.counts().Requests-d.first.Requests >= b
}

// worked is how long this process has been at the run, for people.
func (d *drain) worked() time.Duration { return time.Since(d.began).Round(time.Millisecond) }

// budget says that a budget is used up.
func (d *drain) budget(name string, n int64) string {
	return fmt.Sprintf("stopped at %s (%d) after %s: a budget is no end", name, n, d.worked())
}

// spent stops at a budget.
func (d *drain) spent() bool {
	b, c := d.opt.Budget, d.counts()
	text := ""
	switch {
	case d.requestsSpent():
		text = d.budget("limits.max_requests", b.Requests)
	case b.Pages > 0 && c.Held-d.first.Held >= b.Pages:
		text = d.budget("--max-pages", b.Pages)
	case b.Items > 0 && c.Distinct-d.first.Distinct >= b.Items:
		text = d.budget("--max-items", b.Items)
	default:
		return false
	}
	if d.state.short() > 0 {
		d.state.MoreHere = true
	}
	d.state.stop(reconcile.StopBudget, text)
	return true
}

// ask requests the page where the walk stands, with as many tries of the same
// request as its answers deserve.
func (d *drain) ask(ctx context.Context) (answer, adapters.Request, error) {
	s := d.state
	if s.Page == 0 && s.At.IsStart() {
		d.client.anew()
	}
	s.lap = d.overlap()
	req, err := d.reader.Style().Request(s.At, d.askSize(), s.lap)
	if err != nil {
		return answer{}, req, fmt.Errorf("build the request for %s: %w", describe(s.At), err)
	}
	s.number = req.Number
	var last answer
	var fault error
	d.tries, d.asked = 0, req.Size
	came, err := d.client.do(ctx, req, d.ahead.take(req), func(r raw) (bool, time.Duration) {
		s.Tries++
		d.tries++
		s.Counts.Requests++
		s.Counts.Bytes += r.wire
		last = d.read(s.At, req, r, time.Now())
		again, pause := d.patience(&last)
		switch last.kind {
		case kindLimit:
			d.limit(last.raw)
		case kindPage:
			d.quicker()
		}
		if again {
			d.again(req, &last, pause)
		}
		if again && pause >= d.opt.Budget.Checkpoint && !d.spec.Items.Merge { // no long wait before what is held is durable; the middle of a batch is no place to go on from
			fault = d.checkpoint(ctx)
		}
		return again && fault == nil, pause
	})
	s.Waited += came.waited
	if fault != nil {
		return last, req, fault
	}
	if err == nil && last.started.IsZero() {
		err = fmt.Errorf("request for %s could not be sent", describe(s.At))
	}
	return last, req, err
}

// askSize is the size to ask for, so that an overlap on top of it stays below
// a maximum that the server has shown.
func (d *drain) askSize() int {
	s := d.state
	if s.Checking {
		return s.GoodSize
	}
	if s.Confirming == confirmSize {
		return max(d.shape.min, int(s.PassRows/2))
	}
	if s.Ceiling > 0 && d.overlap() > 0 {
		return max(1, min(s.Size, s.Ceiling-d.overlap()))
	}
	return s.Size
}

// overlap is how many items of the page before are asked for again.
func (d *drain) overlap() int {
	s := d.state
	if !d.shape.rank || !d.shape.lap || s.NoLap && s.SizeCheck == 0 || s.Page == 0 || s.At.Offset == 0 || s.Checking {
		return 0
	}
	past := s.Confirming == confirmEnd || s.Confirming == confirmEcho
	if past && s.Totals.Moved == 0 && s.Move.Shifts == 0 && d.opt.Doubts.Still == nil {
		return 0 // nothing moved, and no mark of change will say otherwise: the last border needs no look
	}
	n := s.Overlap
	if s.SizeCheck > 0 {
		n = max(1, n)
	}
	if !d.shape.always && s.Size < 2 && s.SizeCheck == 0 {
		return 0 // pages of one item cannot overlap and get on
	}
	if d.shape.always {
		n = max(1, n)
	}
	if most := d.most(); most > 0 {
		n = min(n, most-1) // the page must bring more than its overlap
	}
	return int(min(int64(n), s.At.Offset))
}

// most is the greatest page size that the server is known to take, 0 where
// none is known.
func (d *drain) most() int {
	a, b := d.state.Ceiling, d.shape.pages.SizeMax
	if a == 0 || (b > 0 && b < a) {
		return b
	}
	return a
}

// decide lets the pure part move the state by an answer.
func (d *drain) decide(req adapters.Request, a answer) (step, *match) {
	s := d.state
	partial := a.kind == kindPartial
	if partial && req.Size > s.Size && s.Ceiling == 0 && !s.canShrink(d.shape) {
		s.Ceiling = s.Size
		return step{action: judge.ActionRetrySmaller, state: reconcile.Partial, cause: a.text + "; once more without the overlap on top"}, nil
	}
	if partial && a.text != s.PartialSign && s.canShrink(d.shape) {
		st := step{action: "retry_smaller", state: reconcile.Partial, cause: a.text}
		s.shrink(d.shape, a.text, &st)
		return st, nil
	}
	if a.kind != kindPage && !partial {
		return s.onFailure(d.shape, &a, req.Size), nil
	}
	if s.Checking {
		return s.checked(), nil
	}
	d.recall(req, &a.page)
	if s.TotalThere = s.TotalThere || !a.page.NoTotal; !s.TotalThere && s.Page == 0 {
		s.TotalLike = d.reader.TotalsLike(a.body, a.page.Received)
	}
	m := d.seen.match(a.page.Items, d.pass())
	if d.spec.Items.Merge {
		m.late(a.page.Clashes)
	}
	if left := d.itemsLeft(); left >= 0 && int64(m.Adds) > left {
		return d.holdSome(&a.page, &m, left), &m
	}
	if partial {
		s.partialLeft(a.text)
	}
	st := s.onPage(d.shape, &a.page, &m)
	if st.hold {
		d.write(&a.page, &m, len(a.page.Items))
	}
	return st, &m
}

// itemsLeft is what the items budget still allows, -1 without one.
func (d *drain) itemsLeft() int64 {
	if d.opt.Budget.Items == 0 {
		return -1
	}
	return max(0, d.opt.Budget.Items-(d.run.Held-d.first.Distinct))
}

// holdSome holds just as many items of a page as the budget allows; the walk
// stays at this page.
func (d *drain) holdSome(p *adapters.Page, m *match, left int64) step {
	s, n := d.state, 0
	for ; n < len(p.Items) && left > 0; n++ {
		if m.adds[n] {
			left--
		}
		if m.isNew[n] {
			s.Counts.Distinct++
		} else {
			s.Counts.Repeated++
		}
		s.Counts.Received++
	}
	d.write(p, m, n)
	s.observe(d.shape, p, m, &step{})
	s.Reread, s.MoreHere = true, true
	s.stop(reconcile.StopBudget, d.budget("--max-items", d.opt.Budget.Items))
	return step{hold: true, action: "continue", state: reconcile.Partial, cause: s.StopText}
}

// endPass ends a walk over the source, and begins another where that could
// settle what this one could not.
func (d *drain) endPass(ctx context.Context) {
	s := d.state
	if d.cameToEnd() {
		d.countTotal(ctx)
		d.markAfter(ctx)
	}
	s.capped(d.shape.pages.Reach)
	s.holdToPageCount(d.shape)
	if d.shape.keyset && s.Move.Moved > 0 && s.PassItems < s.PassTotals.Max && !(s.anchored(d.shape) && s.PassTotals.Explains(s.PassItems)) {
		s.Move.Unverified++ // a keyset holds its place, but not all that was declared came by
	}
	if d.shape.tied() && s.Move.Moved > 0 {
		s.Move.Unverified++ // items of one key on both sides of a border are lost, and a total that moves does not count them
	}
	if s.miscounts() && s.Everything.Moved+s.Move.Moved > 0 {
		s.Move.Unverified++ // the total did not move with the rows
	}
	d.event("end", fmt.Sprintf("pass %d: %s", s.Pass, s.StopText))
	if !s.wantsPass(d.shape, d.opt.Passes, d.opt.Tolerance, d.opt.MaxDrift) {
		return
	}
	was := s.Move
	s.nextPass()
	d.event("pass", fmt.Sprintf("pass %d begins: total moved %d times, %d shifts, %d unverified borders, %d items came again out of place",
		s.Pass, was.Moved, was.Shifts, was.Unverified, was.Unstable))
}

// walkFacts gathers what the walk at hand knows.
func (d *drain) walkFacts() reconcile.Facts {
	s := *d.state
	s.hideTexts(d.opt.Client.Hide)
	noTotal := ""
	if s.Counts.Held > 0 && !s.TotalThere {
		noTotal = d.hide(d.reader.TotalPlace())
	}
	return reconcile.Facts{
		Counts: s.Counts, HasIDs: d.shape.hasIDs, Merges: d.spec.Items.Merge, Conflicts: s.Conflicts, SameID: s.SameID, Examples: s.Examples,
		Totals: s.Totals, Disagree: s.Disagree, TotalWalks: s.TotalWalks, NoTotal: noTotal, TotalLike: s.TotalLike,
		Passes: s.Pass, Movement: s.Move, Everything: addMovement(s.Everything, s.Move), PassTotals: s.PassTotals, PassItems: s.PassItems, PassNew: s.PassNew, Anchored: s.anchored(d.shape), EndShort: s.EndShort, TotalAtCap: s.TotalAtCap,
		EndReached: s.Ended, EndStrength: s.EndStrength, EndWord: s.EndWord, Lied: s.Lied, Unconfirmed: s.Unconfirmed,
		Stop: s.Stop, StopText: s.StopText, MoreKnown: s.MoreHere,
		Reach: s.Reach, ReachText: s.ReachText, HalfLeft: s.HalfLeft, PartialLeft: s.PartialLeft,
		At: d.resumePoint(), PageSize: reconcile.SizeSummary{Start: d.shape.pages.SizeStart, Min: s.Least, Last: s.Size}, Waited: s.Waited,
		Still:   s.Still,
		Wording: s.Wording, Notices: s.Notices, Ties: s.Ties, Suspicion: s.Suspicion, Skips: s.Skips, Clamped: s.Clamped,
	}
}

// resumePoint names the place from where a further run goes on, as the API
// counts: the start where the position belongs to a session.
func (d *drain) resumePoint() judge.Resume {
	p := d.state.At
	if d.client.cookies != nil {
		p = adapters.Position{}
	}
	switch {
	case p.URL != "":
		return judge.Resume{Kind: "url", Value: p.URL}
	case len(p.Cursor) > 0:
		return judge.Resume{Kind: "cursor", Value: string(p.Cursor)}
	case d.shape.rank && !d.shape.always:
		return judge.Resume{Kind: "page", Value: strconv.FormatInt(p.Number+d.shape.pages.NumberFirst, 10)}
	}
	return judge.Resume{Kind: "offset", Value: strconv.FormatInt(p.Offset, 10)}
}
