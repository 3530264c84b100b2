package slicing

import (
	"fmt"
	"math"
	"slices"
)

// A Slice is one part of the source that is asked for as a whole of its own.
type Slice struct {
	ID     int     `json:"id"`               // 0 is the query without slices
	Parent int     `json:"parent"`           // the slice that it was cut from
	Bounds []Bound `json:"bounds,omitempty"` // one for each key that it is cut by
	// Keyless marks the extra slice of the items that lack the key.
	Keyless bool `json:"keyless,omitempty"`
}

// A Came is what came of a slice. Items and totals count distinct items.
type Came struct {
	// Over reports that the slice is more than the source hands out at once,
	// so that it must be cut.
	Over  bool
	Total int64 // what the source declares for it, -1: nothing
	Items int64 // seen in its walk
	News  int64 // of them, never held before in the run
	// Strays counts items whose key shows that they do not belong to the slice.
	Strays int64
	// Keys says that the items show the key, and Low and High between which
	// ticks those of the walk lie.
	Keys      bool
	Low, High int64
}

// A Frame is a slice that is being cut: what is still to be asked for, and what
// was.
type Frame struct {
	Slice   Slice   `json:"slice"`
	Level   int     `json:"level"` // the key that cuts it
	Whole   Bound   `json:"whole"` // what its pieces must tile; of values: all that are listed
	Total   int64   `json:"total"` // declared when it was asked, -1: nothing
	Pending []piece `json:"pending"`
	Tiled   []Range `json:"tiled"`   // ranges that were asked for and came to an end, merged
	Asked   int     `json:"asked"`   // pieces asked for
	Listed  int     `json:"listed"`  // of kind values: values that came to an end
	Sum     int64   `json:"sum"`     // distinct items of its leaves
	Known   int64   `json:"known"`   // of them, what the frame above took off its guesses already
	Claimed int64   `json:"claimed"` // totals that its pieces declared
	Rate    float64 `json:"rate"`    // items a tick by the last pieces, 0: unknown
	Width   float64 `json:"width"`   // of the last piece
	Empty   bool    `json:"empty"`   // the last piece was
}

// A piece is a bound that was not asked for yet. Guess is how many items it is
// thought to hold, -1: unknown.
type piece struct {
	Bound   Bound `json:"bound"`
	Guess   int64 `json:"guess"`
	Keyless bool  `json:"keyless,omitempty"`
}

// A Plan says which slice is asked for next. It is plain data, but for its
// keys.
type Plan struct {
	Keys []*Key `json:"-"`
	// Wholes are the asked ranges of the keys, fixed when the run began.
	Wholes []Range `json:"wholes"`
	// Keyless asks for one more slice, of the items without the first key.
	Keyless bool `json:"-"`
	// Reach is the most items that one slice hands out; 0: not known.
	Reach int64 `json:"reach"`

	Root   Slice   `json:"root"`             // asked for first
	Frames []Frame `json:"frames,omitempty"` // the last one is being cut
	Now    Slice   `json:"now"`              // asked for now
	Last   int     `json:"last"`             // the last id given

	Middle int64 `json:"middle"` // where a range without ends was cut first

	Leaves      int    `json:"leaves"`
	Splits      int    `json:"splits"`
	Irreducible int    `json:"irreducible"`
	Ignored     string `json:"ignored,omitempty"` // how the parameters were seen to be ignored
	Untiled     string `json:"untiled,omitempty"` // where slices overlap or leave a gap: a fault of ours
	Idle        int    `json:"idle"`              // slices above the reach in a row that brought nothing new
	Astray      int    `json:"astray"`            // slices in a row that most items do not belong to
}

// fillOf is how full of a reach a slice is made: the rest is for what the guess
// is wrong by.
const fillOf = 0.9

// idleMost is how many slices in a row, of items that do not show the key, may
// be above the reach and bring nothing new: halving the widest range down to one
// tick takes 64.
const idleMost = 70

// astrayMost is how many slices in a row may hold mostly items that do not
// belong to them.
const astrayMost = 3

// Verdicts of a slice's end.
const (
	Leaf        = "held"
	Split       = "split"
	Irreducible = "irreducible"
)

// Settle takes up what came of the slice asked for now, and says what becomes
// of it: a leaf, a split one, or an irreducible one.
func (p *Plan) Settle(c Came) string {
	if len(p.Frames) > 0 {
		p.learn(c)
	}
	p.doubt(c)
	if c.Over && p.Ignored == "" {
		if p.cut(c) {
			p.Splits++
			return Split
		}
	}
	p.Leaves++
	p.done(p.Now, c.Items)
	if c.Over {
		p.Irreducible++
		return Irreducible
	}
	return Leaf
}

// doubt looks for signs that the parameters of slices are ignored.
func (p *Plan) doubt(c Came) {
	if p.Idle++; !c.Over || c.News > 0 || c.Keys {
		p.Idle = 0
	}
	if p.Astray++; 2*c.Strays <= c.Items {
		p.Astray = 0
	}
	switch {
	case p.Idle > idleMost:
		p.Ignored = fmt.Sprintf("%d slices in a row were above the reach and brought no item that was not held", p.Idle)
	case p.Astray >= astrayMost:
		p.Ignored = fmt.Sprintf("most items of %d slices in a row do not belong to them by their key", p.Astray)
	}
}

// learn adjusts what is thought of the rest of the frame by one of its pieces.
func (p *Plan) learn(c Came) {
	f := p.top()
	f.Asked++
	n := c.Items
	if c.Total >= 0 {
		n = c.Total
		f.Claimed += c.Total
	}
	most := f.Total + f.Total/2 + 20
	if p.Keys[f.Level].Shares() {
		most += f.Total // what lies at a bound is declared twice
	}
	if f.Total >= 0 && f.Asked > 1 && f.Claimed > most && p.Keys[f.Level].Kind != Values {
		p.Ignored = fmt.Sprintf("%d separate slices declare %d items together, and all of %s only %d", f.Asked, f.Claimed, p.Text(f.Slice), f.Total)
	}
	f.found(n)
	if b := p.bound(); b.Range.bounded() && !p.Now.Keyless && (c.Total >= 0 || !c.Over) {
		f.Width, f.Empty = b.Range.width(), n == 0
		f.observe(float64(n) / math.Max(1, f.Width))
	}
}

// found takes items off what is thought to be left.
func (f *Frame) found(n int64) {
	for i := range f.Pending {
		if g := &f.Pending[i]; g.Guess >= 0 && !g.Keyless {
			g.Guess = max(0, g.Guess-n)
		}
	}
}

// observe takes up a density.
func (f *Frame) observe(rate float64) {
	if f.Rate == 0 || rate > 4*f.Rate || rate < f.Rate/4 {
		f.Rate = rate
		return
	}
	f.Rate = (f.Rate + rate) / 2
}

// bound is the innermost one of the slice asked for now.
func (p *Plan) bound() Bound {
	if n := len(p.Now.Bounds); n > 0 {
		return p.Now.Bounds[n-1]
	}
	return Bound{Range: Range{OpenLo: true, OpenHi: true}}
}

// cut makes a frame of the slice asked for now; false where it cannot be cut.
func (p *Plan) cut(c Came) bool {
	if p.Now.Keyless {
		return false
	}
	level := max(0, len(p.Now.Bounds)-1)
	if len(p.Now.Bounds) > 0 {
		if f, ok := p.frame(level, p.Now.Bounds[level], c); ok {
			p.Frames = append(p.Frames, f)
			return true
		}
		level++
		c.Keys = false // they are of another key
	}
	if level >= len(p.Keys) {
		return false
	}
	f, ok := p.frame(level, Bound{Range: p.Wholes[level]}, c)
	if !ok {
		return false
	}
	if len(p.Now.Bounds) == 0 && p.Keyless {
		f.Pending = append(f.Pending, piece{Guess: -1, Keyless: true})
	}
	p.Frames = append(p.Frames, f)
	return true
}

// frame makes the frame of a slice that a key cuts. A slice that was asked for
// by this very key must come apart; else the key's whole range may be asked for
// as it is first.
func (p *Plan) frame(level int, whole Bound, c Came) (Frame, bool) {
	f := Frame{Slice: p.Now, Level: level, Whole: whole, Total: c.Total, Known: max(c.Items, c.Total)}
	k := p.Keys[level]
	if k.Kind == Values {
		if f.again() {
			return f, false
		}
		for _, v := range k.Values {
			f.Pending = append(f.Pending, piece{Bound: Bound{Value: v}, Guess: -1})
		}
		return f, len(f.Pending) > 0
	}
	r, guess := whole.Range, c.Total
	switch {
	case !r.bounded() && level > 0 && !f.again(): // asked for as it is, to see its keys
		f.Pending = []piece{{Bound: whole, Guess: -1}}
		return f, true
	case r.OpenLo && r.OpenHi:
		return p.around(f, r, c)
	case guess < 0:
		return p.beside(f, r, c)
	case r.bounded():
		f.Rate = float64(guess) / math.Max(1, r.width())
	case c.Keys && c.Items > 0:
		f.Rate = float64(c.Items) / (float64(c.High) - float64(c.Low) + 1)
	default:
		return f, false
	}
	if f.again() || !r.bounded() {
		guess = max(guess, p.target()+1)
	}
	g := piece{Bound: Bound{Range: r}, Guess: guess}
	f.Pending = []piece{g}
	if f.again() || !r.bounded() {
		_, ok := p.cutAt(&f, k, g)
		return f, ok
	}
	return f, true
}

// again reports whether the frame cuts a slice that its own key made, so that
// asking for the whole of it would ask the same again.
func (f *Frame) again() bool { return f.Level < len(f.Slice.Bounds) }

// around cuts a range without ends at the keys that its walk has seen.
func (p *Plan) around(f Frame, r Range, c Came) (Frame, bool) {
	k := p.Keys[f.Level]
	if !c.Keys {
		return f, false
	}
	low, ok := k.Cut(r, float64(c.Low))
	if !ok {
		return f, false
	}
	below, rest := r.split(low)
	high, ok := k.Cut(rest, float64(c.High)+1)
	if !ok {
		return f, false
	}
	among, above := rest.split(high)
	p.Middle = low
	f.Pending = []piece{{Bound: Bound{Range: below}, Guess: c.Total}, {Bound: Bound{Range: among}, Guess: -1}, {Bound: Bound{Range: above}, Guess: -1}}
	return f, true
}

// beside cuts a range of which no total is known: where the keys that its walk
// has seen end, if the greater part lies beyond them, else in the middle.
func (p *Plan) beside(f Frame, r Range, c Came) (Frame, bool) {
	k, want := p.Keys[f.Level], float64(r.Lo)+r.width()/2
	switch {
	case !c.Keys && !r.bounded():
		return f, false
	case !c.Keys:
	case r.OpenHi || !r.OpenLo && float64(r.Hi)-float64(c.High) > r.width()/2:
		want = float64(c.High)
		if c.High == c.Low || c.High <= r.Lo {
			want++
		}
	case r.OpenLo || float64(c.Low)-float64(r.Lo) > r.width()/2:
		want = float64(c.Low)
		if c.High > c.Low {
			want++
		}
	}
	at, ok := k.Cut(r, want)
	if !ok {
		return f, false
	}
	lo, hi := r.split(at)
	f.Pending = []piece{{Bound: Bound{Range: lo}, Guess: -1}, {Bound: Bound{Range: hi}, Guess: -1}}
	return f, true
}

// target is how many items a slice should hold.
func (p *Plan) target() int64 { return max(1, int64(fillOf*float64(p.Reach))) }

func (p *Plan) top() *Frame { return &p.Frames[len(p.Frames)-1] }

// Cutting reports whether a slice is being cut.
func (p *Plan) Cutting() bool { return len(p.Frames) > 0 }

// Full gives the frame that is asked for in full, so that its sum can be held
// against its total before it is closed; nil while something is left to ask.
func (p *Plan) Full() *Frame {
	if f := p.top(); len(f.Pending) == 0 {
		return f
	}
	return nil
}

// Close closes the last frame, which is full, and hands its sum on.
func (p *Plan) Close() {
	f := *p.top()
	p.Frames = p.Frames[:len(p.Frames)-1]
	if text := p.gap(&f); text != "" {
		p.Untiled = text
	}
	if len(p.Frames) == 0 {
		return
	}
	up := p.top()
	if up.found(max(0, f.Sum-f.Known)); up.Level == f.Level {
		up.Rate = f.Rate
	}
	p.done(f.Slice, f.Sum)
}

// gap says where the pieces of a frame do not tile it.
func (p *Plan) gap(f *Frame) string {
	if k := p.Keys[f.Level]; k.Kind == Values {
		if f.Listed != len(k.Values) {
			return fmt.Sprintf("%d of %d listed values were asked for", f.Listed, len(k.Values))
		}
		return ""
	}
	if !slices.Equal(f.Tiled, []Range{f.Whole.Range}) {
		return fmt.Sprintf("the slices of %s leave a gap", p.Text(f.Slice))
	}
	return ""
}

// done notes in the frame that a slice was cut from that it came to an end.
func (p *Plan) done(s Slice, items int64) {
	if len(p.Frames) == 0 {
		return
	}
	f := p.top()
	f.Sum += items
	if s.Keyless {
		return
	}
	b := s.Bounds[f.Level]
	if p.Keys[f.Level].Kind == Values {
		f.Listed++
		return
	}
	var ok bool
	if f.Tiled, ok = join(f.Tiled, b.Range); !ok {
		p.Untiled = fmt.Sprintf("%s was asked for twice", p.Text(s))
	}
}

// Halve makes a frame of the first slice, cut in the middle of the keys that its
// walk has seen, so that both halves hold something; false where there is no
// such place.
func (p *Plan) Halve(c Came) bool {
	k, r := p.Keys[0], p.Wholes[0]
	if k.Kind == Values {
		if len(k.Values) < 2 {
			return false
		}
		c.Over = true
		return p.Settle(c) == Split
	}
	at, ok := k.Cut(r, float64(c.Low)+(float64(c.High)-float64(c.Low))/2+1)
	if !c.Keys || !ok || at <= c.Low || at > c.High {
		return false
	}
	lo, hi := r.split(at)
	f := Frame{Slice: p.Now, Whole: Bound{Range: r}, Total: -1, Known: c.Items}
	f.Pending = []piece{{Bound: Bound{Range: lo}, Guess: -1}, {Bound: Bound{Range: hi}, Guess: -1}}
	if p.Keyless {
		f.Pending = append(f.Pending, piece{Guess: -1, Keyless: true})
	}
	p.Frames = append(p.Frames, f)
	p.Splits++
	return true
}

// Divisible reports whether the slice asked for now could be cut.
func (p *Plan) Divisible(c Came) bool {
	trial := *p
	trial.Frames = slices.Clone(p.Frames)
	return trial.cut(c)
}

// Left is the number of pieces that are known to be asked for still.
func (p *Plan) Left() int {
	n := 0
	for _, f := range p.Frames {
		n += len(f.Pending)
	}
	return n
}

// Next gives the next slice to ask for. It must not be called on a full frame.
func (p *Plan) Next() Slice {
	f := p.top()
	i := 0
	if n := len(f.Pending); f.Pending[0].Bound.Range.OpenLo && n > 1 {
		i = 1 // what the open end holds is known best by what stands beside it
		if f.Pending[i].Keyless {
			i = 0
		}
	}
	g := p.take(f, i)
	p.Last++
	p.Now = Slice{ID: p.Last, Parent: f.Slice.ID, Keyless: g.Keyless}
	if !g.Keyless {
		p.Now.Bounds = append(slices.Clone(f.Slice.Bounds[:min(f.Level, len(f.Slice.Bounds))]), g.Bound)
	}
	return p.Now
}

// take takes a pending piece, or as much of it as one slice can hold.
func (p *Plan) take(f *Frame, i int) piece {
	g := f.Pending[i]
	k, r := p.Keys[f.Level], g.Bound.Range
	at, ok := int64(0), false
	if !g.Keyless && k.Kind != Values {
		at, ok = p.cutAt(f, k, g)
	}
	if !ok {
		f.Pending = slices.Delete(f.Pending, i, i+1)
		return g
	}
	lo, hi := r.split(at)
	front, rest := piece{Bound: Bound{Range: lo}, Guess: -1}, g
	rest.Bound.Range = hi
	if r.OpenLo { // from the side that is known
		front.Bound.Range, rest.Bound.Range = hi, lo
	}
	f.Pending[i] = rest
	return front
}

// cutAt says where to cut a piece so that one side holds as many items as a
// slice should; ok is false where it is asked for as it is.
func (p *Plan) cutAt(f *Frame, k *Key, g piece) (int64, bool) {
	if g.Guess <= p.target() {
		return 0, false
	}
	r := g.Bound.Range
	width := p.width(f, r, g.Guess)
	if !r.bounded() {
		return k.Cut(r, p.edge(r, width))
	}
	if r == f.Whole.Range && f.again() {
		width = math.Min(width, math.Max(1, r.width()/2))
	}
	if width >= r.width() {
		return 0, false
	}
	if at, ok := k.Cut(r, float64(r.Lo)+width); ok {
		return at, true
	}
	return k.Cut(r, float64(r.Lo)+r.width()/2)
}

// edge is the place one width inside a range from the end that it has.
func (p *Plan) edge(r Range, width float64) float64 {
	if r.OpenLo {
		return float64(r.Hi) - width
	}
	return float64(r.Lo) + width
}

// width is how wide the next piece of a range is made.
func (p *Plan) width(f *Frame, r Range, guess int64) float64 {
	w := f.Width
	switch {
	case f.Empty && r.bounded():
		w = r.width() / 2
	case f.Empty:
		w = 8 * f.Width
	case f.Rate > 0:
		w = float64(p.target()) / f.Rate
		if f.Width > 0 {
			w = math.Min(w, 8*f.Width)
		}
	case r.bounded():
		w = r.width() * float64(p.target()) / float64(guess)
	}
	return math.Max(1, math.Floor(w))
}

// Sets gives the parameters of a slice's requests. One that two keys name has
// the values of both.
func (p *Plan) Sets(s Slice) []Set {
	var out []Set
	for i, b := range s.Bounds {
		for _, set := range p.Keys[i].Sets(b) {
			j := slices.IndexFunc(out, func(o Set) bool { return o.Param == set.Param })
			if j < 0 {
				out = append(out, set)
				continue
			}
			out[j].Values = append(out[j].Values, set.Values...)
		}
	}
	return out
}

// Text names a slice for people.
func (p *Plan) Text(s Slice) string {
	if s.Keyless {
		return "items without " + p.Keys[0].By
	}
	text := ""
	for i, b := range s.Bounds {
		if i > 0 {
			text += ", "
		}
		text += p.Keys[i].Text(b)
	}
	if text == "" {
		return "the query without slices"
	}
	return text
}
