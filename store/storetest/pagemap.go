package storetest

import (
	"fmt"
	"slices"
	"testing"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// The cells of any width tile the range, and count each attempt once, by its outcome.
func (s suite) testPageMap(t *testing.T) {
	h, run, all := s.mixed(t)
	for _, c := range []struct {
		from, to           int64
		cells              int
		first, last, width int64
	}{
		{0, 0, 100, 1, 30, 1},
		{1, 30, 30, 1, 30, 1},
		{1, 99, 29, 1, 30, 2},
		{0, 0, 7, 1, 30, 5},
		{0, 0, 1, 1, 30, 30},
		{9, 18, 5, 9, 18, 2},
		{30, 30, 5, 30, 30, 1},
		{29, 0, 5, 29, 30, 1},
	} {
		what := fmt.Sprintf("%+v", c)
		list, err := h.PageMap(t.Context(), run, c.from, c.to, c.cells)
		noError(t, err)
		var want []store.Cell
		for from := c.first; from <= c.last; from += c.width {
			cell := store.Cell{From: from, To: min(from+c.width-1, c.last)}
			for _, a := range all[cell.From-1 : cell.To] {
				cell.By[a.Outcome]++
			}
			want = append(want, cell)
		}
		same(t, what, list, want)
		if len(list) > c.cells {
			t.Fatalf("%s: %d cells", what, len(list))
		}
	}
	for what, ask := range map[string]func() ([]store.Cell, error){
		"beyond the end": func() ([]store.Cell, error) { return h.PageMap(t.Context(), run, 31, 0, 5) },
		"upside down":    func() ([]store.Cell, error) { return h.PageMap(t.Context(), run, 9, 8, 5) },
		"no cells":       func() ([]store.Cell, error) { return h.PageMap(t.Context(), run, 1, 9, 0) },
		"no such run":    func() ([]store.Cell, error) { return h.PageMap(t.Context(), "none", 0, 0, 5) },
	} {
		list, err := ask()
		noError(t, err)
		same(t, what, list, []store.Cell(nil))
	}
}

func (s suite) testTotalSteps(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	var totals []reconcile.TotalSeen
	for i, v := range []int64{10, 12, 11, 0, 0, 9, 15} {
		totals = append(totals, reconcile.TotalSeen{Seq: int64(i + 1), At: epoch, Source: "total", Value: v, Kind: judge.Exact,
			Live: v > 0, Distinct: int64(i), Collapsed: v == 0})
	}
	other := totals[0]
	other.Source, other.Value = "header", 99
	noError(t, run.Commit(t.Context(), store.Checkpoint{Totals: append(slices.Clone(totals), other, other)}))
	step := func(last int, least, most judge.Count) store.TotalStep {
		return store.TotalStep{TotalSeen: totals[last-1], Min: least, Max: most}
	}
	none := judge.Count{}
	for steps, want := range map[int][]store.TotalStep{
		1: {step(7, judge.N(9), judge.N(15))},
		3: {step(3, judge.N(10), judge.N(12)), step(6, judge.N(9), judge.N(9)), step(7, judge.N(15), judge.N(15))},
		9: {step(1, judge.N(10), judge.N(10)), step(2, judge.N(12), judge.N(12)), step(3, judge.N(11), judge.N(11)),
			step(4, none, none), step(5, none, none), step(6, judge.N(9), judge.N(9)), step(7, judge.N(15), judge.N(15))},
		0: nil,
	} { // other totals stand after these: a step is of 9, 3 and 1 of all
		got, err := h.TotalSteps(t.Context(), run.ID(), "total", steps)
		noError(t, err)
		same(t, fmt.Sprint(steps, " steps"), got, want)
	}
	got, err := h.TotalSteps(t.Context(), "none", "total", 5)
	noError(t, err)
	same(t, "no such run", got, []store.TotalStep(nil))
}

func (s suite) testGrowth(t *testing.T) {
	h := s.fresh(t)
	run := mustBegin(t, h, options("pull"))
	noError(t, run.Commit(t.Context(), checkpoint(0, held(1, 3), half(2), held(3, 2), held(4, 0), held(5, 1))))
	at := func(seq, items int64) store.GrowthStep {
		return store.GrowthStep{Seq: seq, At: held(seq, 0).Started, Items: items}
	}
	for steps, want := range map[int][]store.GrowthStep{
		1: {at(5, 6)},
		2: {at(3, 5), at(5, 6)},
		5: {at(1, 3), at(2, 3), at(3, 5), at(4, 5), at(5, 6)},
		0: nil,
	} {
		got, err := h.Growth(t.Context(), run.ID(), steps)
		noError(t, err)
		same(t, fmt.Sprint(steps, " steps"), got, want)
	}
	got, err := h.Growth(t.Context(), "none", 5)
	noError(t, err)
	same(t, "no such run", got, []store.GrowthStep(nil))
}
