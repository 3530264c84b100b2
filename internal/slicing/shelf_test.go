package slicing

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// A thing is an item of a shelf. Without a group it lacks the first key.
type thing struct {
	group string
	t, n  int64
}

// A shelf is a source of things: asked by a listed group, by the range of t, or
// of n.
type shelf struct {
	things  []thing
	reach   int
	silent  bool                    // it declares no totals
	mute    bool                    // the items do not show their keys
	ignores bool                    // bounds make no difference
	drift   func(ask, true int) int // of the totals
	by      []func(thing) any       // what the keys read
	grow    func(ask int, s *shelf) // before an ask
	asks    int
}

func (s *shelf) matches(x thing, sl Slice) bool {
	if s.ignores {
		return true
	}
	if sl.Keyless {
		return x.group == ""
	}
	for i, b := range sl.Bounds {
		switch v := s.by[i](x).(type) {
		case string:
			if v != b.Value {
				return false
			}
		case int64:
			if !b.Range.OpenLo && v < b.Range.Lo || !b.Range.OpenHi && v >= b.Range.Hi || x.group == "" {
				return false
			}
		}
	}
	return true
}

// answer is what a walk would tell of a slice.
func (s *shelf) answer(sl Slice, held map[thing]bool) Came {
	s.asks++
	if s.grow != nil {
		s.grow(s.asks, s)
	}
	var in []thing
	for _, x := range s.things {
		if s.matches(x, sl) {
			in = append(in, x)
		}
	}
	c := Came{Over: len(in) > s.reach, Total: -1, Items: int64(min(len(in), s.reach))}
	if !s.silent {
		c.Total = int64(len(in))
		if s.drift != nil {
			c.Total = int64(s.drift(s.asks, len(in)))
		}
	}
	level := max(0, len(sl.Bounds)-1)
	for _, x := range in[:c.Items] {
		if !held[x] {
			c.News++
		}
		held[x] = true
		at, isRange := s.by[level](x).(int64)
		if s.mute || sl.Keyless || x.group == "" {
			continue
		}
		if len(sl.Bounds) > 0 {
			key := &Key{Kind: Values}
			raw := fmt.Sprint(s.by[level](x))
			if isRange {
				key = &Key{Kind: Int}
			}
			if key.Outside([]byte(raw), sl.Bounds[level]) {
				c.Strays++
			}
		}
		if isRange {
			if !c.Keys {
				c.Keys, c.Low, c.High = true, at, at
			}
			c.Low, c.High = min(c.Low, at), max(c.High, at)
		}
	}
	return c
}

// drive asks a shelf for all that a plan wants, and gives what happened in
// words. stored puts the plan through JSON before each step, as a run does that
// was stopped there.
func drive(t *testing.T, p *Plan, s *shelf, stored bool) (story []string, held map[thing]bool) {
	t.Helper()
	held = map[thing]bool{}
	store := func() {
		if !stored {
			return
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		back := &Plan{Keys: p.Keys, Keyless: p.Keyless}
		if err := json.Unmarshal(text, back); err != nil {
			t.Fatal(err)
		}
		p = back
	}
	tell := func(what string) { story = append(story, p.Text(p.Now)+" "+what) }
	defer func(was *Plan) { *was = *p }(p)
	was := p
	c := s.answer(p.Now, held)
	tell(p.Settle(c))
	for p.Cutting() && p.Ignored == "" {
		store()
		if p.Full() != nil {
			p.Close()
			continue
		}
		sl := p.Next()
		store()
		if len(story) > 5000 {
			t.Fatalf("no end: %s", p.Text(sl))
		}
		c := s.answer(sl, held)
		p.Divisible(c) // asking changes nothing
		tell(p.Settle(c))
	}
	*was = *p
	return story, held
}

func byGroup(x thing) any { return x.group }
func byT(x thing) any     { return x.t }
func byN(x thing) any     { return x.n }

// library is a random shelf.
func library(r *rand.Rand, groups []string, n int, span int64) []thing {
	out := make([]thing, n)
	for i := range out {
		out[i] = thing{group: groups[r.IntN(len(groups))], t: r.Int64N(span), n: int64(i)}
	}
	return out
}

var abc = []string{"a", "b", "c"}

// TestPlansHoldAll drains shelves in every form: by values, by values and then a
// range, by a range and then another, with and without things that lack the key,
// with totals that stand, drift, or are not there.
func TestPlansHoldAll(t *testing.T) {
	whole := Range{Lo: 0, Hi: 1000}
	group := &Key{By: "group", Kind: Values, Values: abc}
	at, number := &Key{By: "t", Kind: Int}, &Key{By: "n", Kind: Int}
	for _, c := range []struct {
		name        string
		keys        []*Key
		wholes      []Range
		by          []func(thing) any
		span        int64
		n, reach    int
		irreducible bool
	}{
		{"by values", []*Key{group}, []Range{{}}, []func(thing) any{byGroup}, 1000, 200, 100, false},
		{"by values, too many", []*Key{group}, []Range{{}}, []func(thing) any{byGroup}, 1000, 600, 100, true},
		{"by values, then a range", []*Key{group, at}, []Range{{}, whole}, []func(thing) any{byGroup, byT}, 1000, 450, 30, false},
		{"by values, then an open range", []*Key{group, at}, []Range{{}, {OpenLo: true, OpenHi: true}}, []func(thing) any{byGroup, byT}, 1000, 450, 30, false},
		{"by a range, then values", []*Key{at, group}, []Range{whole, {}}, []func(thing) any{byT, byGroup}, 10, 450, 30, false},
		{"by a range, then another", []*Key{at, number}, []Range{whole, whole}, []func(thing) any{byT, byN}, 12, 500, 15, false},
		{"many dense units", []*Key{at, number}, []Range{whole, {Lo: 0, Hi: 1500}}, []func(thing) any{byT, byN}, 20, 1500, 50, false},
		{"dense units without a second key", []*Key{at}, []Range{whole}, []func(thing) any{byT}, 5, 500, 50, true},
	} {
		for _, keyless := range []bool{false, true} {
			for totals, drift := range map[string]func(int, int) int{
				"exact": nil, "none": nil, "moving": func(ask, n int) int { return max(0, n-2+ask%5) }, "growing": func(ask, n int) int { return n + n*ask/5000 },
			} {
				t.Run(fmt.Sprintf("%s, keyless %v, totals %s", c.name, keyless, totals), func(t *testing.T) {
					for seed := range uint64(2) {
						r := rand.New(rand.NewPCG(seed, 11))
						things := library(r, abc, c.n, c.span)
						if keyless {
							things = append(things, library(r, []string{""}, 10, c.span)...)
						}
						make := func() (*Plan, *shelf) {
							return &Plan{Keys: c.keys, Wholes: c.wholes, Keyless: keyless, Reach: int64(c.reach)},
								&shelf{things: things, reach: c.reach, silent: totals == "none", drift: drift, by: c.by}
						}
						p, s := make()
						story, held := drive(t, p, s, false)
						if p.Untiled != "" || p.Ignored != "" || p.Cutting() {
							t.Fatalf("untiled %q, ignored %q, cutting %v\n%v", p.Untiled, p.Ignored, p.Cutting(), story)
						}
						if (p.Irreducible > 0) != c.irreducible {
							t.Errorf("%d irreducible slices\n%v", p.Irreducible, story)
						}
						if !c.irreducible && len(held) != len(things) {
							t.Errorf("%d of %d held\n%v", len(held), len(things), story)
						}
						if p.Leaves+p.Splits != len(story) {
							t.Errorf("%d leaves and %d splits of %d slices", p.Leaves, p.Splits, len(story))
						}
						again, as := make()
						other, _ := drive(t, again, as, true)
						if !slices.Equal(story, other) {
							t.Errorf("stored and read at every step, the plan asks for something else:\n%v\n%v", story, other)
						}
						if again.Keys, p.Keys = nil, nil; !reflect.DeepEqual(again, p) {
							t.Errorf("it ends as %+v, and as %+v", again, p)
						}
					}
				})
			}
		}
	}
}

// TestPlanOfAMovingShelf holds what was there all the while, though things come
// between any two asks.
func TestPlanOfAMovingShelf(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		things := library(r, abc, 800, 1000)
		s := &shelf{things: slices.Clone(things), reach: 50, by: []func(thing) any{byT}, silent: seed%3 == 0}
		s.grow = func(ask int, s *shelf) {
			s.things = append(s.things, thing{group: "a", t: r.Int64N(1000), n: int64(10_000 + ask)})
		}
		p := &Plan{Keys: []*Key{{By: "t", Kind: Int}}, Wholes: []Range{{Lo: 0, Hi: 1000}}, Reach: 50}
		story, held := drive(t, p, s, false)
		for _, x := range things {
			if !held[x] {
				t.Fatalf("seed %d: %+v is not held; untiled %q, ignored %q\n%v", seed, x, p.Untiled, p.Ignored, story)
			}
		}
		if p.Irreducible > 0 || p.Untiled != "" || p.Ignored != "" {
			t.Errorf("seed %d: irreducible %d, untiled %q, ignored %q", seed, p.Irreducible, p.Untiled, p.Ignored)
		}
	}
}

// TestPlanNoticesIgnoredBounds ends soon where bounds make no difference.
func TestPlanNoticesIgnoredBounds(t *testing.T) {
	for _, c := range []struct {
		name         string
		keys         []*Key
		wholes       []Range
		by           []func(thing) any
		silent, mute bool
		most         int
	}{
		{"totals and keys", []*Key{{By: "t", Kind: Int}}, []Range{{Lo: 0, Hi: 1 << 40}}, []func(thing) any{byT}, false, false, 12},
		{"totals", []*Key{{By: "t", Kind: Int}}, []Range{{Lo: 0, Hi: 1 << 40}}, []func(thing) any{byT}, false, true, 80},
		{"keys", []*Key{{By: "t", Kind: Int}}, []Range{{Lo: 0, Hi: 1 << 40}}, []func(thing) any{byT}, true, false, 12},
		{"neither", []*Key{{By: "t", Kind: Int}}, []Range{{Lo: 0, Hi: 1 << 40}}, []func(thing) any{byT}, true, true, 80},
		{"keys, an open range", []*Key{{By: "t", Kind: Int}}, []Range{{OpenLo: true, OpenHi: true}}, []func(thing) any{byT}, true, false, 12},
		{"totals and keys, an open end", []*Key{{By: "t", Kind: Int}}, []Range{{Lo: 0, OpenHi: true}}, []func(thing) any{byT}, false, false, 12},
		{"values that show", []*Key{{By: "group", Kind: Values, Values: []string{"a", "x", "y", "z", "w"}}}, []Range{{}}, []func(thing) any{byGroup}, false, false, 6},
		{"two keys, totals", []*Key{{By: "t", Kind: Int}, {By: "n", Kind: Int}}, []Range{{Lo: 0, Hi: 1000}, {Lo: 0, Hi: 1000}}, []func(thing) any{byT, byN}, false, true, 80},
		{"two keys, neither", []*Key{{By: "t", Kind: Int}, {By: "n", Kind: Int}}, []Range{{Lo: 0, Hi: 1000}, {Lo: 0, Hi: 1000}}, []func(thing) any{byT, byN}, true, true, 80},
	} {
		for _, sorted := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, sorted %v", c.name, sorted), func(t *testing.T) {
				things := library(rand.New(rand.NewPCG(1, 1)), abc[:2], 3000, 1000)
				if sorted {
					slices.SortFunc(things, func(a, b thing) int { return int(a.t - b.t) })
				}
				s := &shelf{things: things, reach: 100, by: c.by, silent: c.silent, mute: c.mute, ignores: true}
				p := &Plan{Keys: c.keys, Wholes: c.wholes, Reach: 100}
				story, _ := drive(t, p, s, false)
				if p.Ignored == "" {
					t.Errorf("it was not noticed; %d irreducible\n%v", p.Irreducible, story)
				}
				if len(story) > c.most {
					t.Errorf("it took %d slices: %s", len(story), p.Ignored)
				}
			})
		}
	}
}
