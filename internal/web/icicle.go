package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"lastdrop/judge/reconcile"
)

// An icicle draws the slices of a run: each one below the slice that it was cut from, as wide as what it holds.
type icicle struct {
	Run    string
	Root   reconcile.Slice
	Up     *reconcile.Slice // the parent of the root; nil: the root is the whole
	Height int
	Boxes  []box
	Narrow int // slices that are too narrow to be drawn
	All    int
	Rows   []sliceRow // of the root's own subtree, those that are open first
	Below  int        // how many there are
}

// A box is a slice in the drawing. X and W are percent of the width, Y and H are pixels.
type box struct {
	X, W, Y, H  string
	Class       string
	Label       string // "": it is too narrow for one
	Title       string
	Slice       int
	Link        bool // it was cut itself
	Unreachable bool // too small a target for the keyboard; the table has it
}

type sliceRow struct {
	reconcile.Slice
	Mark  string
	Range string
}

const (
	boxHeight   = 24
	leastWidth  = 0.12 // percent
	borderWidth = 0.8
	labelWidth  = 5.0
	targetWidth = 2.0
	rowsOfSlice = 100
)

// sliceMarks are the letters of the states.
var sliceMarks = map[string]string{"held": "✓", "split": "⋯", "irreducible": "!", "failed": "✕", "open": "○", "walking": "▸"}

// slices gathers the slices below the one that is asked for.
func (s *Server) slices(ctx context.Context, r *http.Request, v *runView) error {
	all, err := s.Store.Slices(ctx, v.Run)
	if err != nil || len(all) == 0 {
		return err
	}
	at, err := optionalNumber(r.URL.Query().Get("slice"))
	if err != nil {
		return err
	}
	t := newTree(all)
	root, ok := t.by[int(at)]
	if !ok {
		return problem{http.StatusNotFound, "There is no such slice in this run."}
	}
	ic := &icicle{Run: v.Run, Root: root, All: len(all)}
	if root.Parent.OK {
		up := t.by[int(root.Parent.N)]
		ic.Up = &up
	}
	ic.draw(t, root, 0, 100, 0)
	ic.list(t, root)
	v.Icicle = ic
	return nil
}

// A tree is the slices by their parents.
type tree struct {
	by     map[int]reconcile.Slice
	below  map[int][]int
	weight map[int]float64
}

func newTree(all []reconcile.Slice) *tree {
	t := &tree{by: map[int]reconcile.Slice{}, below: map[int][]int{}, weight: map[int]float64{}}
	var items int64
	for _, s := range all {
		t.by[s.Slice] = s
		if s.Parent.OK && int(s.Parent.N) < s.Slice { // a slice is numbered before its parts
			t.below[int(s.Parent.N)] = append(t.below[int(s.Parent.N)], s.Slice)
		}
		items += s.Items
	}
	least := 1 + float64(items)/float64(4*len(all)) // so that an empty slice can be seen
	// A part has a higher number than what it was cut from, so that parts come first here.
	for _, s := range slices.Backward(slices.SortedFunc(slices.Values(all), func(a, b reconcile.Slice) int { return cmp.Compare(a.Slice, b.Slice) })) {
		if len(t.below[s.Slice]) == 0 {
			t.weight[s.Slice] = least + float64(max(s.Items, s.Total.N))
		}
		if s.Parent.OK && int(s.Parent.N) < s.Slice {
			t.weight[int(s.Parent.N)] += t.weight[s.Slice]
		}
	}
	return t
}

// rangeText is a slice's range in words.
func rangeText(s reconcile.Slice) string {
	if s.Slice == 0 {
		return "the query without slices"
	}
	from, to := s.From, s.To
	if from == "" {
		from = "(open)"
	}
	if to == "" {
		to = "(open)"
	}
	return fmt.Sprintf("%s %s to %s", s.Key, from, to)
}

func sliceTitle(s reconcile.Slice) string {
	text := fmt.Sprintf("slice %d, %s: %s, %s", s.Slice, rangeText(s), s.State, plural(s.Items, "item"))
	if s.Total.OK {
		text += " of " + thousands(s.Total.N)
	}
	return text
}

// draw lays a slice and what is below it out.
func (ic *icicle) draw(t *tree, s reconcile.Slice, x, w float64, depth int) {
	if w < leastWidth {
		ic.Narrow += t.count(s.Slice)
		return
	}
	b := box{X: percent(x), W: percent(w), Y: fmt.Sprint(depth * boxHeight), H: fmt.Sprint(boxHeight - 1), Class: "slice-" + stateClass(s.State),
		Title: sliceTitle(s), Slice: s.Slice, Link: len(t.below[s.Slice]) > 0 && depth > 0, Unreachable: w < targetWidth}
	if w < borderWidth {
		b.Class += " thin"
	}
	if w >= labelWidth {
		b.Label = sliceMarks[s.State] + " " + thousands(s.Items)
		if s.Total.OK {
			b.Label += " / " + thousands(s.Total.N)
		}
	}
	ic.Boxes = append(ic.Boxes, b)
	ic.Height = max(ic.Height, (depth+1)*boxHeight)
	for _, n := range t.below[s.Slice] {
		part := w / float64(len(t.below[s.Slice]))
		if t.weight[s.Slice] > 0 {
			part = w * t.weight[n] / t.weight[s.Slice]
		}
		ic.draw(t, t.by[n], x, part, depth+1)
		x += part
	}
}

// count is how many slices there are from one on down.
func (t *tree) count(n int) int {
	sum := 1
	for _, b := range t.below[n] {
		sum += t.count(b)
	}
	return sum
}

func percent(x float64) string { return fmt.Sprintf("%.3f%%", x) }

func stateClass(state string) string {
	if sliceMarks[state] == "" {
		return "open"
	}
	return state
}

// list fills the table: what is not held nor cut first, then by number.
func (ic *icicle) list(t *tree, root reconcile.Slice) {
	var rows []sliceRow
	var add func(n int)
	add = func(n int) {
		s := t.by[n]
		rows = append(rows, sliceRow{s, sliceMarks[stateClass(s.State)], rangeText(s)})
		for _, b := range t.below[n] {
			add(b)
		}
	}
	add(root.Slice)
	settled := func(s sliceRow) int {
		if s.State == "held" || s.State == "split" {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(rows, func(a, b sliceRow) int {
		return cmp.Or(cmp.Compare(settled(a), settled(b)), cmp.Compare(a.Slice.Slice, b.Slice.Slice))
	})
	ic.Below = len(rows)
	ic.Rows = rows[:min(len(rows), rowsOfSlice)]
}
