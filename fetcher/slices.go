package fetcher

import (
	"context"
	"fmt"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
	"lastdrop/internal/slicing"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A sight is where to look for the slice's key in an item, and between which
// bounds it must lie.
type sight struct {
	path  *jsonscan.Path // nil: nowhere
	key   *slicing.Key
	bound slicing.Bound
}

// plan makes the plan of a run that may have to be cut.
func (d *drain) plan() error {
	o := d.opt.Slicing
	if o == nil || d.run.Plan != nil {
		return nil
	}
	d.state.Cut = true
	d.run.Plan = &slicing.Plan{Keys: o.Keys, Wholes: o.Wholes, Keyless: len(o.Without) > 0, Reach: o.Reach}
	d.run.Slices.RangeOnly = o.RangeOnly
	d.run.Slices.Everything = len(o.Without) > 0 && (o.Keys[0].Kind != slicing.Values && o.Wholes[0].OpenLo && o.Wholes[0].OpenHi)
	d.run.Slices.Weakest = reconcile.Counted
	for _, k := range o.Keys {
		d.run.Slices.Blind = d.run.Slices.Blind || k.By == "" && !k.Gapless()
	}
	if o.Recalled != "" && o.Reach > 0 {
		d.run.Recalled = true
		d.event("reach", fmt.Sprintf("a reach of %d, %s, cuts what declares more", o.Reach, o.Recalled))
	}
	if o.RangeOnly {
		d.run.Plan.Root.Bounds = []slicing.Bound{{Range: o.Wholes[0]}}
		d.run.Plan.Now = d.run.Plan.Root
		return d.openSlice(d.run.Plan.Now)
	}
	return nil
}

// look takes up the keys of the first n items of a held page.
func (d *drain) look(p *adapters.Page, m *match, n int) {
	g := &d.sight
	if g.path == nil {
		return
	}
	for i, it := range p.Items[:n] {
		if !m.fresh[i] {
			continue
		}
		v, err := g.path.Find(it.Raw)
		there := err == nil && v.Exists()
		if there && len(d.run.Plan.Now.Bounds) > 0 && g.key.Outside(v.Raw, g.bound) {
			d.run.Slices.Strays++
			d.run.Astray++
		}
		if there && !g.key.Gapless() && g.key.Between(v.Raw) {
			d.run.Slices.Between++
		}
		tick, ok := int64(0), false
		if there {
			tick, ok = g.key.Tick(v.Raw)
		}
		if m.adds[i] && d.run.Plan.Now.ID == 0 && !(ok && g.key.Inside(tick, d.run.Plan.Wholes[0])) {
			d.run.Apart++
		}
		if !ok {
			continue
		}
		r := d.run
		if !r.Keys {
			r.Keys, r.Low, r.High = true, tick, tick
		}
		r.Low, r.High = min(r.Low, tick), max(r.High, tick)
		if len(r.Plan.Now.Bounds) == 1 {
			r.Key = tick
		}
	}
}

// lookBeside notes items of a page that is not held which lie in the range that was
// asked for and are not held either.
func (d *drain) lookBeside(p *adapters.Page) {
	k := d.run.Plan.Keys[0]
	if k.By == "" || k.Kind == slicing.Values || !d.run.Slices.RangeOnly {
		return
	}
	path, err := jsonscan.Compile(k.By)
	if err != nil {
		return
	}
	for _, it := range p.Items {
		v, err := path.Find(it.Raw)
		if err != nil || !v.Exists() {
			continue
		}
		tick, ok := k.Tick(v.Raw)
		if !ok || !k.Inside(tick, d.run.Plan.Wholes[0]) {
			continue
		}
		var id key
		id, d.seen.buf = identity(it, d.seen.seed, d.seen.buf)
		if !d.seen.has(id) {
			d.run.Slices.Missed++
		}
	}
}

// aim sets the sight on the slice at hand.
func (d *drain) aim() error {
	d.sight = sight{bound: slicing.Bound{Range: slicing.Range{OpenLo: true, OpenHi: true}}}
	p := d.run.Plan
	if p == nil || p.Now.Keyless {
		return nil
	}
	level := max(0, len(p.Now.Bounds)-1)
	if n := len(p.Now.Bounds); n > 0 {
		d.sight.bound = p.Now.Bounds[n-1]
	}
	d.sight.key = p.Keys[level]
	if by := d.sight.key.By; by != "" {
		path, err := jsonscan.Compile(by)
		if err != nil {
			return fmt.Errorf("slice.by: %w", err)
		}
		d.sight.path = &path
	}
	return nil
}

// overReach stops a walk early: its total is above a reach that is known, so
// that it must be cut whatever else it gives.
func (d *drain) overReach() {
	p, s := d.run.Plan, d.state
	if p == nil || s.Done || s.Page == 0 || p.Now.Keyless || d.run.Anew || d.run.Again != nil {
		return
	}
	if d.surest() == 0 && s.declaredReach() {
		d.meet(s.LastPages * int64(s.LastSize))
		d.event("reach", fmt.Sprintf("the server counts %d pages of %d, and declares %d items: a reach of %d", s.LastPages, s.LastSize, s.PassTotals.Last, p.Reach))
	}
	told := s.PassTotals.Live > 0 && !s.PassTotals.EchoOnly
	switch {
	case p.Reach == 0 || !p.Divisible(d.came()):
	case told && s.PassTotals.Last > p.Reach:
		s.Reach, s.ReachText = judge.N(p.Reach), knownBefore
		s.stop(reconcile.StopReach, fmt.Sprintf("the total %d is above the reach of %d: it is cut", s.PassTotals.Last, p.Reach))
	case !told && !d.run.Recalled && s.PassItems >= p.Reach:
		s.Reach, s.ReachText = judge.N(p.Reach), knownBefore
		s.stop(reconcile.StopReach, fmt.Sprintf("%d items came, and the reach is %d: it is cut", s.PassItems, p.Reach))
	}
}

// came tells the plan what came of the slice at hand.
func (d *drain) came() slicing.Came {
	s, r := d.state, d.run
	c := slicing.Came{Over: d.over(), Total: -1, Items: s.Counts.Distinct, News: r.Added, Strays: r.Astray, Keys: r.Keys, Low: r.Low, High: r.High}
	if s.PassTotals.Live > 0 && !s.PassTotals.EchoOnly {
		c.Total = s.PassTotals.Max
	}
	if c.Over && c.Total >= 0 && (c.Total <= s.Counts.Distinct || s.Stop == reconcile.StopHalf) {
		c.Total = -1 // it does not tell how much there is to cut
	}
	return c
}

// over reports whether the slice at hand holds more than the source hands out
// for one query.
func (d *drain) over() bool {
	s, reach := d.state, d.surest()
	if !s.Done {
		return true // asked while a known reach is already exceeded
	}
	all := s.PassTotals.Believed() && s.short() == 0
	if s.PassTotals.Last == reach && (d.run.Plan.Now.ID == 0 || d.opt.Slicing.Reach == reach) {
		all = false // a total that is just a documented reach, or just that of the whole, may be cut to it
	}
	near := d.run.Plan.Now.ID == 0 || s.PassItems+int64(s.Size) >= reach // a slice that is short for another reason is not helped by a cut
	less := near && s.PassTotals.Believed() && s.PassItems > 0 && s.short() > 0
	switch s.Stop {
	case reconcile.StopReach:
		return !all
	case reconcile.StopHalf:
		return s.Deadline
	case reconcile.StopEnd, reconcile.StopNotSaid, reconcile.StopLoop, reconcile.StopBroken:
		return less || reach > 0 && s.PassItems >= reach && !all // an end at the cap is the cap
	case reconcile.StopNoPage, reconcile.StopRefused:
		return less
	}
	return false
}

// endWalk takes up a walk that came to its end: the run ends with it, or its
// slice is settled and the next one begins.
func (d *drain) endWalk(ctx context.Context) error {
	p, s := d.run.Plan, d.state
	if d.halts() {
		return nil
	}
	if p == nil || d.run.Again != nil {
		d.run.Done = true
		return nil
	}
	if d.run.Anew {
		d.endAgain()
		return nil
	}
	c := d.came()
	if sure := d.surest(); c.Over && s.Reach.OK && s.Reach.N > 0 && s.ReachText != knownBefore && (sure == 0 || s.Reach.N < sure) {
		d.meet(s.Reach.N)
	}
	if c.Over && s.Counts.Distinct > 0 && s.Stop == reconcile.StopEnd && (d.surest() == 0 || s.Counts.Distinct < p.Reach && p.Now.ID > 0) {
		d.meet(s.Counts.Distinct)
	}
	if c.Over && d.surest() == 0 && s.ReachText != knownBefore {
		d.meet(max(1, s.Counts.Distinct))
	}
	if d.run.Halved && d.surest() == 0 && d.run.Added > 0 {
		d.meet(d.run.Whole.Distinct) // its end was a cap
		c = d.came()
	}
	f := d.walkFacts()
	became := slicing.Split
	if d.doubtful(c) && p.Halve(c) {
		d.run.Halved = true
	} else {
		became = p.Settle(c)
	}
	d.run.Settled = true
	if !p.Cutting() && p.Now.ID == 0 && became != slicing.Split {
		d.run.Done = true // one walk was enough, or nothing could be cut
		if c.Over {       // with what stands at the reach for an end
			s.EndStrength, s.EndWord, s.Ended = reconcile.None, "", false
			s.reach("the source is at its reach or above, and cannot be cut: no item shows the key, and the range is open")
		}
		return nil
	}
	d.settled(p.Now, became, c, f)
	if err := d.foresee(ctx, became); err != nil {
		return err
	}
	if p.Ignored != "" || d.run.Failed >= 3 {
		why := firstOf(p.Ignored, "slice after slice is refused")
		if again, err := d.doubtRecalled(ctx, why); again || err != nil {
			return err
		}
		s.stop(reconcile.StopReach, why)
		return nil
	}
	return d.nextSlice(ctx)
}

// doubtful reports whether the whole ended by its own word alone although it is
// configured to be cut: with nothing that counts it and no reach that is known, its
// end may be a cap.
func (d *drain) doubtful(c slicing.Came) bool {
	s, p := d.state, d.run.Plan
	return p.Now.ID == 0 && !c.Over && p.Reach == 0 && s.Counts.Distinct > 1 && !s.PassTotals.Believed() && s.PassTotals.Bounds == 0 && s.Stop == reconcile.StopEnd
}

// foresee asks, when the whole is cut and its range ends at the start of the
// run, what lies beyond that end: if nothing does, what is found there later
// came later.
func (d *drain) foresee(ctx context.Context, became string) error {
	p, o := d.run.Plan, d.opt.Slicing
	if became != slicing.Split || p.Now.ID != 0 || !o.ToNow || o.RangeOnly || p.Keys[0].Kind == slicing.Values || d.run.Whole.Totals.Live == 0 {
		return nil
	}
	r := p.Keys[0].Later(p.Wholes[0])
	n, ok, err := d.totalOf(ctx, slicing.Slice{ID: -1, Bounds: []slicing.Bound{{Range: r}}})
	d.run.Younger = ok && n == 0
	return err
}

// halts reports whether a walk's end is the end of the run: what stopped it is
// no matter of one slice.
func (d *drain) halts() bool {
	s := d.state
	return s.Stop.Resumable() || s.Stop == reconcile.StopFirst
}

// settled notes what became of a slice.
func (d *drain) settled(sl slicing.Slice, became string, c slicing.Came, f reconcile.Facts) {
	text := d.run.Plan.Text(sl)
	if sl.ID != 0 {
		d.run.Slices.Fresh += d.run.Added
	}
	if became == slicing.Split {
		why := "holds more than the reach"
		if d.run.Halved && sl.ID == 0 {
			why = "came to an end that nothing counts and that may be a cap"
		}
		d.event("slice", fmt.Sprintf("%s %s (%s): it is cut", text, why, f.StopText))
		if sl.ID == 0 {
			d.run.Whole = &f
		}
	} else {
		d.leaf(text, became, f)
	}
	d.pending.Slices = append(d.pending.Slices, d.sliceRow(sl, became, f))
}

// leaf rules on a slice that is not cut.
func (d *drain) leaf(text, became string, f reconcile.Facts) {
	s := &d.run.Slices
	if f.Distinct > 0 {
		s.Parts++
	}
	f.Tolerance, f.MaxDrift, f.MaxFall = d.opt.Tolerance, d.opt.MaxDrift, 100
	ruling := reconcile.Rule(f)
	d.run.Failed++
	if f.Stop != reconcile.StopRefused && f.Stop != reconcile.StopNoPage {
		d.run.Failed = 0
	}
	if became == slicing.Irreducible {
		if text = fmt.Sprintf("%s holds %s and hands out %d", text, declaredText(f), f.Distinct); len(s.Dense) < 20 {
			s.Dense = append(s.Dense, d.hide(text))
		}
		return
	}
	if f.Totals.Believed() && f.Distinct > f.Totals.Max {
		s.Above++
	}
	if ruling.Verdict == judge.Complete {
		s.Weakest = min(s.Weakest, ruling.Strength)
		if ruling.Missing != nil {
			s.Lacking += *ruling.Missing
		}
		return
	}
	s.OpenCount++
	s.Lost = s.Lost || ruling.Verdict == judge.Truncated
	if len(s.Open) < 5 {
		s.Open = append(s.Open, d.hide(fmt.Sprintf("%s is %s: %s", text, ruling.Verdict, ruling.Evidence[0].Text)))
	}
}

func declaredText(f reconcile.Facts) string {
	if f.Totals.Live > 0 {
		return fmt.Sprintf("%d items", f.Totals.Last)
	}
	return "more items than that"
}

// sliceRow is a slice's row in the ledger.
func (d *drain) sliceRow(sl slicing.Slice, became string, f reconcile.Facts) reconcile.Slice {
	row := reconcile.Slice{Slice: sl.ID, State: became, Items: f.Distinct, Remark: d.hide(f.StopText)}
	if sl.ID > 0 {
		row.Parent = judge.N(int64(sl.Parent))
	}
	if f.Totals.Live > 0 {
		row.Total, row.TotalKind = judge.N(f.Totals.Last), judge.Exact
	}
	if n := len(sl.Bounds); n > 0 {
		k := d.run.Plan.Keys[n-1]
		row.Key = k.By
		row.From, row.To = k.Ends(sl.Bounds[n-1])
		row.Bounds = "[)"
		if k.Closed {
			row.Bounds = "[]"
		}
	}
	return row
}

// nextSlice begins the next slice, or ends the run where none is left.
func (d *drain) nextSlice(ctx context.Context) error {
	p := d.run.Plan
	for p.Cutting() {
		f := p.Full()
		if f == nil {
			break
		}
		if err := d.sum(ctx, f); err != nil {
			return err
		}
		p.Close()
	}
	if !p.Cutting() {
		if err := d.compare(ctx); err != nil {
			return err
		}
		again, err := d.doubtRecalled(ctx, "")
		d.run.Done = err == nil && !again
		return err
	}
	p.Next()
	return d.beginSlice(ctx)
}

// beginSlice begins the walk of the plan's slice.
func (d *drain) beginSlice(ctx context.Context) error {
	d.begin(d.state)
	if err := d.openSlice(d.run.Plan.Now); err != nil {
		return err
	}
	if err := d.aim(); err != nil {
		return err
	}
	d.countTotal(ctx)
	return nil
}

// sum holds the items of a range's slices against the total of the range,
// which is asked for again where they are fewer.
func (d *drain) sum(ctx context.Context, f *slicing.Frame) error {
	if f.Slice.ID == 0 {
		d.run.Sum = f.Sum
		return nil
	}
	if f.Total < 0 && f.Sum < f.Known && len(d.run.Slices.Unsure) < 20 {
		d.run.Slices.Unsure = append(d.run.Slices.Unsure, fmt.Sprintf("%s gave %d items, and its slices hold %d: those that were given are not all in a slice of their own", d.run.Plan.Text(f.Slice), f.Known, f.Sum))
	}
	if f.Total < 0 || f.Sum >= f.Total || d.run.Slices.OpenCount+d.run.Plan.Irreducible > 0 {
		return nil
	}
	now, ok, err := d.totalOf(ctx, f.Slice)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s declares %d items, and its slices hold %d", d.run.Plan.Text(f.Slice), f.Total, f.Sum)
	s := &d.run.Slices
	switch {
	case ok && f.Sum >= min(now, f.Total):
	case ok && now == f.Total && len(s.Short) < 20:
		s.Short = append(s.Short, text)
	case len(s.Unsure) < 20:
		s.Unsure = append(s.Unsure, text)
	}
	return nil
}

// compare ends a run of slices: the whole's total is read once more, and where
// it moved, or does not count what is held, the whole and its slices are
// compared at one moment.
func (d *drain) compare(ctx context.Context) error {
	w, s := d.run.Whole, &d.run.Slices
	if k := d.run.Plan.Keys[0]; k.By != "" && k.Kind != slicing.Values && !k.Shares() && d.run.Sum+d.run.Apart != d.run.Held {
		s.Stirred = true
		s.Vanished = max(0, d.run.Held-d.run.Sum-d.run.Apart)
	}
	if w.Totals.Live == 0 || w.Totals.EchoOnly {
		return nil
	}
	whole, ok, err := d.wholeTotal(ctx)
	if err != nil || !ok {
		return err
	}
	if s.RangeOnly {
		all, ok, err := d.totalOf(ctx, slicing.Slice{})
		if err != nil {
			return err
		}
		if ok && all >= whole {
			s.Beyond = judge.N(all - whole)
		}
	}
	if t := w.Totals; t.Moved == 0 && d.run.Held == t.Last && !s.Stirred {
		return nil
	}
	return d.balance(ctx, whole)
}

// A moving source is compared with its slices at most balanceMost times, until
// nothing was seen to move balanceStill times in a row.
const (
	balanceMost  = 12
	balanceStill = 3
)

// balance asks by turns for the totals of all slices and of the whole, until
// each of them stood still for some rounds, and the whole for two requests in a
// row. A change, and another back, may pass unseen between two answers: where a
// source is nearly as fast as the requests, two rounds agree by chance in one run
// of thirty, three in one of a thousand; one that changes with each request never
// gives the same total twice in a row.
func (d *drain) balance(ctx context.Context, whole int64) error {
	parts := d.parts()
	last, still, slack := make([]int64, len(parts)), 0, int64(0)
	for range balanceMost {
		if len(parts) == 0 || still == balanceStill {
			break
		}
		now, again, ok, err := d.round(ctx, parts)
		if err != nil || !ok {
			return err
		}
		tolerated := d.opt.Tolerance.Of(whole)
		switch moved := apartEach(now, last); {
		case apart(again, whole) > tolerated:
			still = 0
		case still == 0 || moved > tolerated:
			still, slack = 1, apart(again, whole)
		default:
			still, slack = still+1, max(slack, apart(again, whole), moved)
		}
		whole, last = again, now
		if still < balanceStill {
			continue
		}
		if again, ok, err = d.wholeTotal(ctx); err != nil || !ok {
			return err
		}
		if slack = max(slack, apart(again, whole)); slack > tolerated {
			still, whole = 0, again
		}
	}
	if n := max(0, whole-sumOf(last)) + slack; still == balanceStill && (slack == 0 && sumOf(last) <= whole || n <= d.opt.Tolerance.Of(whole)) {
		d.run.Slices.Outside = judge.N(n)
		if n == 0 {
			beyond, ok, err := d.beyond(ctx)
			if ok {
				d.run.Slices.InRange = judge.N(whole - beyond)
			}
			return err
		}
	}
	return nil
}

// beyond asks how much lies beyond the end of the range, and came since it was
// fixed; 0 where its end is no matter of time.
func (d *drain) beyond(ctx context.Context) (int64, bool, error) {
	if !d.run.Younger {
		return 0, true, nil
	}
	r := d.run.Plan.Keys[0].Later(d.run.Plan.Wholes[0])
	return d.totalOf(ctx, slicing.Slice{ID: -1, Bounds: []slicing.Bound{{Range: r}}})
}

// round asks for the totals of slices, and then for the whole's.
func (d *drain) round(ctx context.Context, parts []slicing.Slice) (totals []int64, whole int64, ok bool, err error) {
	for _, sl := range parts {
		n, ok, err := d.totalOf(ctx, sl)
		if err != nil || !ok {
			return nil, 0, false, err
		}
		totals = append(totals, n)
	}
	whole, ok, err = d.wholeTotal(ctx)
	return totals, whole, ok, err
}

func apart(a, b int64) int64 { return max(a, b) - min(a, b) }

// apartEach is how far two lists of one length are apart, place by place.
func apartEach(a, b []int64) (n int64) {
	for i := range a {
		n += apart(a[i], b[i])
	}
	return n
}

func sumOf(list []int64) (n int64) {
	for _, v := range list {
		n += v
	}
	return n
}

// wholeTotal reads the total of the run's first walk once more: of the query
// without slices, or of the range where only that is asked for.
func (d *drain) wholeTotal(ctx context.Context) (int64, bool, error) {
	o, ok, err := d.askTotal(ctx, d.run.Plan.Root)
	if ok {
		d.run.Whole.Totals.Observe(o)
	}
	return o.Value, ok, err
}

// parts are few slices that together are all that the plan asks for, cut just
// before and just behind an item that is held, so that a bound which leaves its
// own item out shows; none where there are no such few.
func (d *drain) parts() []slicing.Slice {
	p := d.run.Plan
	var out []slicing.Slice
	add := func(b slicing.Bound) { out = append(out, slicing.Slice{ID: -1, Bounds: []slicing.Bound{b}}) }
	switch k := p.Keys[0]; {
	case k.Kind == slicing.Values:
		if len(k.Values) > 20 {
			return nil
		}
		for _, v := range k.Values {
			add(slicing.Bound{Value: v})
		}
	default:
		r := p.Wholes[0]
		if d.run.Younger { // what lies beyond its end came since
			r.Hi = k.Later(r).Hi
		}
		ranges := k.Around(r, p.Middle, d.run.Key)
		if len(ranges) > 1 && k.Shares() {
			return nil // what stands at their common bound is in both
		}
		for _, part := range ranges {
			add(slicing.Bound{Range: part})
		}
	}
	if p.Keyless {
		out = append(out, slicing.Slice{ID: -1, Keyless: true})
	}
	return out
}

// sliceNow is the slice at hand; the zero one is the query without slices.
func (d *drain) sliceNow() slicing.Slice {
	if d.run.Plan == nil {
		return slicing.Slice{}
	}
	return d.run.Plan.Now
}

// countSpec gives the count request of a slice: its {from} and {to} are the
// slice's. ok is false where there is none, or none of this slice.
func (d *drain) countSpec(sl slicing.Slice) (t adapters.TotalSpec, ok bool) {
	t, ok = d.spec.Total, d.spec.Total.URL != ""
	if !ok || d.run.Plan == nil {
		return t, ok
	}
	b := slicing.Bound{Range: slicing.Range{OpenLo: true, OpenHi: true}}
	if len(sl.Bounds) > 0 {
		b = sl.Bounds[0]
	}
	k := d.run.Plan.Keys[0]
	filled, ok := k.FillURL(t.URL, b)
	mine := filled != t.URL
	t.URL = filled
	t.Body = adapters.EachText(t.Body, func(text string) any {
		v, fine := k.Fill(text, b)
		ok, mine = ok && fine, mine || v != any(text)
		return v
	})
	whole := len(sl.Bounds) == 0 && !sl.Keyless
	return t, ok && (mine || whole) // one that names no bounds counts the whole
}

// totalOf asks for a slice's total once.
func (d *drain) totalOf(ctx context.Context, sl slicing.Slice) (int64, bool, error) {
	o, ok, err := d.askTotal(ctx, sl)
	return o.Value, ok, err
}

// askTotal asks for a slice's total once: by the count request, where there is
// one, else by its first page, which is not held. ok is false where no exact
// one came.
func (d *drain) askTotal(ctx context.Context, sl slicing.Slice) (o reconcile.Observation, ok bool, err error) {
	if d.spec.Total.URL != "" {
		t, ok := d.countSpec(sl)
		if !ok {
			return o, false, nil
		}
		v, err := d.askCount(ctx, t)
		if err != nil {
			d.event("note", "the count request failed: "+err.Error())
			return o, false, ctx.Err()
		}
		return reconcile.Observation{Value: v.Value, Kind: v.Kind, Requested: true}, v.Kind == judge.Exact, nil
	}
	if d.requestsSpent() {
		return o, false, nil
	}
	r, err := d.sliceReader(sl)
	if err != nil {
		return o, false, err
	}
	before := d.reader
	defer func() { d.reader = before }()
	d.reader = r
	at := d.state.At
	d.state.At = adapters.Position{}
	a, req, err := d.ask(ctx)
	row := d.row(req, &a)
	d.state.At = at
	if err != nil {
		return o, false, err
	}
	row.Slice = max(0, sl.ID)
	row.Outcome, row.Action, row.Cause = reconcile.Refused, judge.ActionContinue, "the total once more"
	d.add(row)
	d.addTotals(&a, sl.ID != 0)
	d.lookBeside(&a.page)
	t, ok := mainTotal(&a.page)
	o = reconcile.Observation{Value: t.Value, Kind: t.Kind, Items: a.page.Received, Asked: req.Size, Distinct: d.run.Held}
	return o, ok && a.kind == kindPage && t.Kind == judge.Exact, nil
}
