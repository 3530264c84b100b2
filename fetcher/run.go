package fetcher

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lastdrop/adapters"
	"lastdrop/internal/slicing"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A Run is what the walks of a run share, and the walk at hand. It is plain
// data: a checkpoint stores it.
type Run struct {
	Seq  int64            `json:"seq"`  // attempts so far
	Base int              `json:"base"` // passes of the walks before this one
	Past reconcile.Counts `json:"past"` // of the walks before this one
	Held int64            `json:"held"` // distinct items of the run
	// Added counts those of them that the walk at hand brought. Trail are the
	// identity hashes of all that a slice's walk has seen, in order, so that it can
	// go on: what earlier walks held is in no row of its own. Empty where there are
	// more than trailMost.
	Added int64  `json:"added"`
	Trail []byte `json:"trail,omitempty"`

	// Plan says which slice is asked for; nil in a run of one walk. Done: all
	// walks came to their end.
	Plan *slicing.Plan `json:"plan,omitempty"`
	Done bool          `json:"done"`
	// Settled: the plan knows what came of the walk at hand.
	Settled bool `json:"settled"`
	// Whole is the walk of the query without slices, once it is cut.
	Whole *reconcile.Facts `json:"whole,omitempty"`
	// Sentinel is what was found of complete.sentinel at the end, and Newest the
	// greatest time at complete.freshness.path of the items held.
	Sentinel reconcile.Sentinel `json:"sentinel"`
	Newest   time.Time          `json:"newest"`
	Slices   reconcile.Slices   `json:"slices"`
	// Keys, Low and High are the slice's key as the walk at hand saw it: whether
	// its items show it, and between which ticks they lie.
	Keys bool  `json:"keys"`
	Low  int64 `json:"low"`
	High int64 `json:"high"`
	// Astray counts the items of the walk at hand that do not belong to its slice.
	Astray int64 `json:"astray"`
	// Apart counts the held items that lie in no slice, by their keys, and Sum
	// those of all leaves together.
	Apart int64 `json:"apart"`
	Sum   int64 `json:"sum"`
	// Key is the first key of an item that is held.
	Key int64 `json:"key"`
	// Younger: nothing lay beyond the end of the range when the whole was cut.
	Younger bool `json:"younger"`
	// Halved: the whole came to an end of its own, and is read once more in slices.
	Halved bool `json:"halved,omitempty"`
	// Again is the further reading at hand, nil before one is made.
	Again  *again `json:"again,omitempty"`
	Failed int    `json:"failed"` // leaves in a row that were refused
	// Recalled: the plan's reach is one that an earlier run met, and this one not.
	// Anew: the whole is walked without it. GaveUp: why slices were given up before.
	Recalled bool    `json:"recalled,omitempty"`
	Anew     bool    `json:"anew,omitempty"`
	GaveUp   string  `json:"gave_up,omitempty"`
	Kept     keeping `json:"kept"`
	// Shut is until when the server wants to be left alone.
	Shut time.Time `json:"shut,omitzero"`
	Walk *State    `json:"walk"`
	Mark Mark      `json:"mark"` // of the sink, at the checkpoint
}

// keeping is what the walks before this one leave for the report of the run.
type keeping struct {
	Conflicts, SameID  int64
	Examples, Disagree []string
}

// newWalk begins a walk with what was learned of the source's pages before.
func (d *drain) newWalk(before *State) *State {
	s := newState(d.spec.Pages)
	if before != nil {
		s.Size, s.Least, s.Ceiling, s.Bad, s.Locked = before.Size, before.Least, before.Ceiling, before.Bad, before.Locked
		s.Later, s.Cut, s.Waited, s.Stood = true, before.Cut, before.Waited, before.Stood
		s.PassTotals.Proven = before.PassTotals.Proven || before.Totals.Proven // no echo once, it is none
		s.Totals.Proven, s.Trusted = s.PassTotals.Proven, s.PassTotals.Proven
	}
	return s
}

// counts are those of the whole run.
func (d *drain) counts() reconcile.Counts {
	c := addCounts(d.run.Past, d.state.Counts)
	c.Distinct = d.run.Held
	if d.run.Plan != nil || d.run.Again != nil { // what came again in another walk is a repeat too
		c.Repeated = c.Received - c.Distinct
	}
	return c
}

func addCounts(a, b reconcile.Counts) reconcile.Counts {
	return reconcile.Counts{
		Received: a.Received + b.Received, Distinct: a.Distinct + b.Distinct, Repeated: a.Repeated + b.Repeated,
		NoID: a.NoID + b.NoID, Nulls: a.Nulls + b.Nulls, Rejected: a.Rejected + b.Rejected,
		Held: a.Held + b.Held, Attempts: a.Attempts + b.Attempts, Half: a.Half + b.Half, Failed: a.Failed + b.Failed, Unused: a.Unused + b.Unused,
		Requests: a.Requests + b.Requests, Bytes: a.Bytes + b.Bytes,
	}
}

// leave ends the walk at hand for good: its counts go to the run.
func (d *drain) leave() {
	s, r := d.state, d.run
	r.Past = addCounts(r.Past, s.Counts)
	r.Base += s.Pass
	r.Added = 0
	r.Slices.Stirred = r.Slices.Stirred || s.Totals.Moved > 0 || !addMovement(s.Everything, s.Move).Clean()
	k := &r.Kept
	k.Conflicts += s.Conflicts
	k.SameID += s.SameID
	k.Examples = append(k.Examples, s.Examples...)[:min(3, len(k.Examples)+len(s.Examples))]
	if !s.Later {
		k.Disagree = s.Disagree // what slices disagree about is told by their own rulings
	}
}

// pass is the number of the pass at hand, unique in the run.
func (d *drain) pass() int { return d.run.Base + d.state.Pass }

// encode gives the run as JSON, secrets sealed in positions and hidden in
// texts.
func (d *drain) encode() ([]byte, error) {
	c := d.opt.Client
	r := *d.run
	r.Shut = d.client.pace.closed()
	r.Sentinel.Text, r.GaveUp = c.Hide(r.Sentinel.Text), c.Hide(r.GaveUp)
	r.Walk = d.state.sealed(c.Seal, c.Hide)
	r.Whole = hideFacts(r.Whole, c.Hide)
	if r.Again != nil {
		a := *r.Again
		a.First = hideFacts(a.First, c.Hide)
		r.Again = &a
	}
	return json.Marshal(&r)
}

// hideFacts gives a copy of a walk's facts with secrets hidden in its texts.
func hideFacts(of *reconcile.Facts, hide func(string) string) *reconcile.Facts {
	if of == nil {
		return nil
	}
	f := *of
	for _, t := range []*string{&f.EndWord, &f.Lied, &f.Unconfirmed, &f.StopText, &f.ReachText, &f.Ties, &f.Suspicion, &f.At.Value} {
		*t = hide(*t)
	}
	return &f
}

// resume takes an unfinished run up.
func (d *drain) resume(stored *Resume) error {
	r := &Run{}
	err := json.Unmarshal(stored.State, r)
	if err == nil && r.Walk == nil {
		err = fmt.Errorf("it holds no walk")
	}
	if err != nil {
		return fmt.Errorf("the stored state of the run cannot be read: %w", err)
	}
	s := r.Walk
	s.unseal(d.opt.Client.Unseal)
	d.run = r
	if r.Plan != nil {
		r.Plan.Keys, r.Plan.Keyless = d.opt.Slicing.Keys, len(d.opt.Slicing.Without) > 0
	}
	if !r.Done && (r.Again != nil || !r.Settled && !d.followed(s)) {
		d.state = s
		d.begin(s) // which items this walk had seen is not stored: it begins anew
		s = d.state
	}
	if err := d.restore(stored, s); err != nil {
		return err
	}
	s.Restarted = false
	d.state = s
	r.Sentinel = reconcile.Sentinel{}
	if !r.Done { // else only the report is missing
		if err := d.goOn(s); err != nil {
			return err
		}
	}
	d.event("resume", fmt.Sprintf("taken up at %s with %d items held", describe(s.At), r.Held))
	if wait := time.Until(r.Shut); wait > 0 && wait <= d.opt.Client.MaxWait {
		d.client.pace.hold(r.Shut)
		d.event("wait", fmt.Sprintf("the server had asked to wait: %s are left", wait.Round(time.Millisecond)))
		d.progress(reconcile.Attempt{}, wait)
	}
	return nil
}

// trailMost bounds the items of a walk that can go on after some of them were
// held before it.
const trailMost = 20_000

// trace keeps the trail of a slice's walk.
func (d *drain) trace(m *match, n int) {
	r := d.run
	if r.Plan == nil || r.Plan.Now.ID == 0 || r.Again != nil || len(r.Trail) == 0 && d.state.Counts.Distinct > int64(m.New) {
		return
	}
	for i := range n {
		if m.isNew[i] {
			r.Trail = append(r.Trail, m.keys[i][:]...)
		}
	}
	if len(r.Trail) > trailMost*len(key{}) {
		r.Trail = nil
	}
}

// followed reports whether it is known which items the walk at hand has seen.
func (d *drain) followed(s *State) bool {
	return d.run.Added == s.Counts.Distinct || int64(len(d.run.Trail)/len(key{})) == s.Counts.Distinct
}

// goOn readies a walk that was stopped.
func (d *drain) goOn(s *State) error {
	s.Done, s.Stop, s.StopText, s.Still = false, reconcile.StopEnd, "", reconcile.Still{}
	s.Tries, s.Shrinks = 0, 0
	if start := d.shape.pages.SizeStart; s.mayGrow(d.shape) { // what made it small may have passed
		s.raise(start)
		s.Bad = 0
	}
	switch r := d.run; {
	case r.Again != nil:
		r.Again.restart()
		return d.openReading()
	case r.Plan != nil:
		return d.openSlice(r.Plan.Now)
	}
	return nil
}

// restore fills the set of held items. Those of the walk at hand are the last
// ones.
func (d *drain) restore(stored *Resume, s *State) error {
	set := d.seen
	set.marks = newMarks(d.run.Held)
	if s.Pass == 1 && !s.Restarted && d.run.Again == nil {
		set.pass = d.pass1()
	}
	if d.run.Plan != nil {
		set.walk = int32(d.run.Plan.Now.ID)
	}
	first, again := d.run.Held-d.run.Added, d.run.Again != nil
	if again {
		first = d.run.Again.Held // the first reading's, which goes before; what was found since is of none
	}
	if stored.Keys != nil {
		err := stored.Keys(func(keys []byte) error {
			if n := min(first-set.marks.len, int64(len(keys)/len(key{}))); n > 0 {
				if err := set.restore(keys[:n*int64(len(key{}))], !again); err != nil {
					return err
				}
				keys = keys[n*int64(len(key{})):]
			}
			return set.restore(keys, again)
		})
		if err != nil {
			return err
		}
	}
	if len(d.run.Trail) > 0 && d.followed(s) {
		if err := set.restore(d.run.Trail, false); err != nil {
			return err
		}
	}
	if set.marks.len != d.run.Held {
		return fmt.Errorf("the store holds %d identities of this run, and its state says %d: begin anew with --fresh", set.marks.len, d.run.Held)
	}
	return nil
}

// pass1 is the number of the first pass of the walk at hand.
func (d *drain) pass1() int { return d.run.Base + 1 }

// openSlice points the reader and the shape at a slice's requests.
func (d *drain) openSlice(sl slicing.Slice) error {
	r, err := d.sliceReader(sl)
	if err != nil {
		return err
	}
	d.reader = r
	d.seen.enter(int32(sl.ID))
	return nil
}

// sliceReader makes the reader of a slice: the source's own with its bounds.
func (d *drain) sliceReader(sl slicing.Slice) (*adapters.Reader, error) {
	if sl.ID == 0 && len(sl.Bounds) == 0 && !sl.Keyless {
		return d.opt.Reader, nil
	}
	r, err := adapters.NewReader(d.sliceSpec(sl))
	if err != nil {
		return nil, fmt.Errorf("slice %s: %w", d.run.Plan.Text(sl), err)
	}
	return r, nil
}

// sliceSpec is the source's spec with the bounds of a slice set.
func (d *drain) sliceSpec(sl slicing.Slice) adapters.Spec {
	spec := d.spec
	spec.Set = slices.Clone(spec.Set)
	if d.run.Plan == nil {
		return spec
	}
	if sl.Keyless {
		for _, set := range d.opt.Slicing.Without {
			spec.Set = append(spec.Set, adapters.Set(set))
		}
	}
	for _, set := range d.run.Plan.Sets(sl) {
		spec.Set = append(spec.Set, adapters.Set(set))
	}
	return spec
}

// begin starts a new walk in the place of the one at hand.
func (d *drain) begin(before *State) {
	d.leave()
	d.state = d.newWalk(before)
	d.run.Settled, d.run.Keys, d.run.Low, d.run.High, d.run.Astray, d.run.Trail = false, false, 0, 0, 0, nil
}

// facts gathers what the run knows.
func (d *drain) facts() reconcile.Facts {
	f := d.walkFacts()
	r := d.run
	f.Counts = d.counts()
	f.Sentinel, f.Newest = d.run.Sentinel, d.run.Newest
	f.Sentinel.Asked = d.opt.Doubts.SentinelID != nil || d.opt.Doubts.Sentinel != nil
	f.Sentinel.Text = d.hide(f.Sentinel.Text)
	if r.Again != nil {
		return d.readingFacts(f)
	}
	if r.Whole == nil {
		return f
	}
	w := *r.Whole
	w.Counts, w.Waited, w.PageSize, w.Passes = f.Counts, f.Waited, f.PageSize, f.Passes
	w.Sentinel, w.Newest, w.Still = f.Sentinel, f.Newest, reconcile.Still{}
	w.Stop, w.StopText, w.MoreKnown, w.At = reconcile.StopEnd, "every slice was asked for", false, f.At
	if !r.Done {
		w.Stop, w.StopText, w.MoreKnown = f.Stop, f.StopText, true
	}
	if r.Done && r.Halved && r.Slices.Fresh == 0 { // the whole stands as it was read; the slices were held against it
		w.Stop, w.StopText, w.MoreKnown = r.Whole.Stop, r.Whole.StopText, r.Whole.MoreKnown
		w.Slices = d.sliced()
		return w
	}
	w.EndReached, w.EndStrength, w.EndWord, w.Lied, w.Unconfirmed, w.Ties, w.Suspicion = false, reconcile.None, "", "", "", "", ""
	w.Movement, w.Everything, w.HalfLeft, w.PartialLeft = reconcile.Movement{}, reconcile.Movement{}, nil, nil
	w.Conflicts, w.SameID = r.Kept.Conflicts+d.state.Conflicts, r.Kept.SameID+d.state.SameID
	w.Examples, w.Disagree = r.Kept.Examples, r.Kept.Disagree
	w.Reach = judge.Count{}
	if r.Plan.Reach > 0 {
		w.Reach = judge.N(r.Plan.Reach)
	}
	w.Slices = d.sliced()
	return w
}

// sliced gathers what the run knows of its slices.
func (d *drain) sliced() *reconcile.Slices {
	s, p := d.run.Slices, d.run.Plan
	s.Halved, s.Keys = d.run.Halved, len(p.Keys)
	s.Leaves, s.Splits, s.Irreducible, s.Ignored, s.Untiled = p.Leaves, p.Splits, p.Irreducible, p.Ignored, p.Untiled
	if !d.run.Done {
		s.Left = max(1, p.Left())
	}
	return &s
}
