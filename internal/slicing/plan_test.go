package slicing

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// A model is a source: the ticks of its items by key, in order, and those of a
// second key. A reach of it is what one query hands out.
type model struct {
	ticks  []int64
	reach  int64
	totals bool // it declares totals
	order  string
}

// ask answers a slice as a walk would tell it: with a known total, after its
// first page of size; else after it met the reach.
func (m model) ask(b []Bound, size int64, news func(int64) bool) Came {
	r := Range{OpenLo: true, OpenHi: true}
	if len(b) > 0 {
		r = b[0].Range
	}
	lo, hi := 0, len(m.ticks)
	if !r.OpenLo {
		lo = sort.Search(len(m.ticks), func(i int) bool { return m.ticks[i] >= r.Lo })
	}
	if !r.OpenHi {
		hi = sort.Search(len(m.ticks), func(i int) bool { return m.ticks[i] >= r.Hi })
	}
	in := m.ticks[lo:max(lo, hi)]
	c := Came{Total: -1, Items: min(int64(len(in)), m.reach), Over: int64(len(in)) > m.reach}
	if m.totals {
		c.Total = int64(len(in))
		if c.Over {
			c.Items = min(c.Items, size)
		}
	}
	var got []int64
	switch m.order {
	case "desc":
		got = in[int64(len(in))-c.Items:]
	default:
		got = in[:c.Items]
	}
	if len(got) > 0 {
		c.Keys, c.Low, c.High = true, got[0], got[len(got)-1]
	}
	for i := range got {
		if news(int64(lo + i)) {
			c.News++
		}
	}
	return c
}

// run drives a plan to its end and returns the leaves and the number of slices
// asked for. Every answer of a leaf must be below the reach, or irreducible.
func run(t *testing.T, p *Plan, m model, size int64) (leaves []Bound, asked int) {
	t.Helper()
	held := map[int64]bool{}
	news := func(i int64) bool { was := held[i]; held[i] = true; return !was }
	got := m.ask(nil, size, news)
	asked = 1
	if p.Settle(got) != Split {
		return nil, 1
	}
	for p.Cutting() {
		if p.Full() != nil {
			p.Close()
			continue
		}
		s := p.Next()
		if asked++; asked > 100_000 {
			t.Fatalf("no end: %s", p.Text(s))
		}
		c := m.ask(s.Bounds, size, news)
		switch p.Settle(c) {
		case Leaf:
			if c.Over {
				t.Fatalf("%s is above the reach and was taken for a leaf", p.Text(s))
			}
			leaves = append(leaves, s.Bounds[0])
		case Irreducible:
			leaves = append(leaves, s.Bounds[0])
			if r := s.Bounds[0].Range; r.Hi-r.Lo > 1 {
				t.Fatalf("%s could have been cut; %+v ignored %q", p.Text(s), c, p.Ignored)
			}
		}
	}
	if p.Untiled != "" || p.Ignored != "" {
		t.Fatalf("untiled %q, ignored %q", p.Untiled, p.Ignored)
	}
	return leaves, asked
}

// tiled holds the leaves against the range that was asked for.
func tiled(t *testing.T, leaves []Bound, whole Range) {
	t.Helper()
	slices.SortFunc(leaves, func(a, b Bound) int {
		if before(a.Range, b.Range) {
			return -1
		}
		return 1
	})
	for i, b := range leaves {
		first, last := i == 0, i == len(leaves)-1
		if b.Range.OpenLo != (first && whole.OpenLo) || b.Range.OpenHi != (last && whole.OpenHi) {
			t.Fatalf("leaf %d is open: %+v", i, b.Range)
		}
		if first && b.Range.Lo != whole.Lo || last && b.Range.Hi != whole.Hi || !first && leaves[i-1].Range.Hi != b.Range.Lo {
			t.Fatalf("leaf %d of %d leaves a gap: %+v", i, len(leaves), b.Range)
		}
	}
}

func uniform(n int, lo, hi int64, seed uint64) []int64 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]int64, n)
	for i := range out {
		out[i] = lo + r.Int64N(hi-lo)
	}
	slices.Sort(out)
	return out
}

// TestPlanTiles runs random sources in every form through a plan.
func TestPlanTiles(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		reach := 1 + r.Int64N(50)
		lo := r.Int64N(1000) - 500
		width := 1 + r.Int64N([]int64{3, 100, 1e6, 1e12}[r.IntN(4)])
		m := model{reach: reach, totals: r.IntN(3) > 0, order: []string{"asc", "desc"}[r.IntN(2)]}
		m.ticks = uniform(1+r.IntN(2000), lo, lo+width, seed)
		if r.IntN(2) == 0 { // a block of ties
			at := m.ticks[r.IntN(len(m.ticks))]
			for range r.IntN(100) {
				m.ticks = append(m.ticks, at)
			}
			slices.Sort(m.ticks)
		}
		whole := Range{Lo: lo, Hi: lo + width, OpenLo: r.IntN(3) == 0, OpenHi: r.IntN(3) == 0}
		if whole.OpenLo {
			whole.Lo = 0
		}
		if whole.OpenHi {
			whole.Hi = 0
		}
		k := &Key{By: "k", Kind: Int, Step: []int64{0, 1, 1, 1}[r.IntN(4)]}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := &Plan{Keys: []*Key{k}, Wholes: []Range{whole}, Reach: reach}
			leaves, _ := run(t, p, m, 1+r.Int64N(reach))
			if len(leaves) > 0 {
				tiled(t, leaves, whole)
			}
		})
	}
}

// TestPlanCost holds the number of slices asked for to what was promised: an
// even source costs about as many as its items fill, a skewed one at most twice
// that.
func TestPlanCost(t *testing.T) {
	const n, reach = 100_000, 1000
	span := int64(100_000_000)
	even := model{ticks: uniform(n, 0, span, 3), reach: reach, totals: true}
	cost := func(m model, whole Range) int {
		p := &Plan{Keys: []*Key{{By: "k", Kind: Int}}, Wholes: []Range{whole}, Reach: reach}
		_, asked := run(t, p, m, reach)
		return asked
	}
	base := cost(even, Range{Lo: 0, Hi: span})
	if most := 3 * n / reach / 2; base > most {
		t.Errorf("an even source cost %d slices, more than %d", base, most)
	}
	for _, at := range []int64{0, 17, 50, 83, 99} {
		skewed := model{ticks: uniform(n, at*span/100, (at+1)*span/100, 5), reach: reach, totals: true}
		if got := cost(skewed, Range{Lo: 0, Hi: span}); got > 2*base {
			t.Errorf("all in percent %d: %d slices, more than twice the %d of an even source", at, got, base)
		}
	}
	for _, open := range []Range{{OpenLo: true, OpenHi: true}, {OpenLo: true, Hi: span}, {Lo: 0, OpenHi: true}} {
		for _, order := range []string{"asc", "desc"} {
			even.order = order
			if got := cost(even, open); got > 2*base {
				t.Errorf("%s with open ends %+v: %d slices, more than twice %d", order, open, got, base)
			}
		}
	}
}
