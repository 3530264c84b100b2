package adapters

import (
	"testing"

	"pgregory.net/rapid"
)

// A grid is an honest server for the arithmetic: rows 0 to rows-1, pages of at
// most cap rows (0: any). One that trims gives only some of the rows of a page, as
// servers do that filter after paging; one with pins puts so many rows more
// into every page.
type grid struct {
	rows, cap, pins int64
	trims           bool
}

func (g grid) size(asked int) int64 {
	if g.cap > 0 {
		return min(int64(asked), g.cap)
	}
	return int64(asked)
}

// served gives the first row and the number of rows from a row on.
func (g grid) served(from int64, asked int) (first, n int64) {
	return from, max(min(g.size(asked), g.rows-from), 0)
}

// A walker takes a style through a grid. held counts the rows held without a
// gap; a page that begins behind them has skipped rows.
type walker struct {
	t    *rapid.T
	s    Style
	grid grid
	at   Position
	held int64
}

func (w *walker) step(size, overlap int) {
	req, err := w.s.Request(w.at, size, overlap)
	if err != nil {
		w.t.Fatalf("Request(%+v, %d, %d): %v", w.at, size, overlap, err)
	}
	from := req.Start.N
	if req.Number.OK {
		from = req.Number.N * w.grid.size(req.Size)
	}
	first, n := w.grid.served(from, req.Size)
	if first > w.held {
		w.t.Fatalf("size %d, overlap %d at %+v: asked for %d rows from %d, but only %d rows are held", size, overlap, w.at, req.Size, first, w.held)
	}
	if w.at.Offset > w.held {
		w.t.Fatalf("%+v stands behind the %d rows that are held", w.at, w.held)
	}
	if overlap > 0 && w.at.Offset > 0 && w.held < w.grid.rows && w.grid.cap == 0 && !w.grid.trims && first >= w.at.Offset {
		w.t.Fatalf("size %d, overlap %d at %+v: the page begins at %d: no overlap", size, overlap, w.at, first)
	}
	w.held = max(w.held, first+n)
	if w.grid.trims && n > 1 {
		n = rapid.Int64Range(1, n).Draw(w.t, "left")
	}
	if w.grid.cap == 0 { // with both, the rows that came tell of neither
		n += w.grid.pins
	}
	next := w.s.Next(w.at, req, &Answer{Received: int(n)})
	if next.State != NotSaid || !next.HasAt {
		w.t.Fatalf("no position behind %d rows: %+v", n, next)
	}
	w.at = next.At
}

// drain walks with one size to the end.
func (w *walker) drain(size int) {
	for turns := int64(0); w.held < w.grid.rows; turns++ {
		if turns > 2*w.grid.rows+10 {
			w.t.Fatalf("still %d of %d rows at %+v after %d pages of %d", w.held, w.grid.rows, w.at, turns, size)
		}
		w.step(size, 0)
	}
}

func styleOf(t *rapid.T, spec Spec) Style {
	spec.URL, spec.Items.Path = "https://api.example.test/rows", "rows"
	spec.Pages.SizeParam = "size"
	r, err := NewReader(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r.Style()
}

// walkAnyhow walks with sizes and overlaps at will, then drains.
func walkAnyhow(t *rapid.T, s Style, pins int64) {
	w := &walker{t: t, s: s, grid: grid{
		rows:  rapid.Int64Range(0, 120).Draw(t, "rows"),
		cap:   rapid.SampledFrom([]int64{0, 0, 1, 3, 10, 17}).Draw(t, "cap"),
		trims: rapid.Bool().Draw(t, "trims"),
		pins:  pins,
	}}
	for range rapid.IntRange(0, 25).Draw(t, "steps") {
		w.step(rapid.IntRange(1, 40).Draw(t, "size"), rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5}).Draw(t, "overlap"))
		if w.held == w.grid.rows {
			return
		}
	}
	w.drain(rapid.IntRange(1, 40).Draw(t, "last size"))
}

func TestPageNumbersNeverSkip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.IntRange(0, 5).Draw(t, "min")
		walkAnyhow(t, styleOf(t, Spec{Pages: Pages{Style: stylePage, NumberParam: "page", SizeMin: least}}), rapid.SampledFrom([]int64{0, 0, 2}).Draw(t, "pins"))
	})
}

func TestOffsetsNeverSkip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{0, 0, 5, 30}).Draw(t, "max")
		walkAnyhow(t, styleOf(t, Spec{Pages: Pages{Style: styleOffset, OffsetParam: "offset", SizeMax: most}}), 0)
	})
}

// TestOverlapPage checks the choice of a page against all that can be chosen.
func TestOverlapPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.Int64Range(1, 500).Draw(t, "offset")
		n := rapid.IntRange(1, 20).Draw(t, "overlap")
		size := rapid.IntRange(1, 60).Draw(t, "size")
		least := rapid.IntRange(0, 30).Draw(t, "min")
		var best int64
		for s := int64(max(least, size/2, 1)); s <= int64(size); s++ {
			for p := int64(0); p*s <= max(offset-int64(n), 0); p++ {
				best = max(best, p*s+s-offset)
			}
		}
		s, p, ok := overlapPage(offset, n, size, least)
		if ok != (best > 0) {
			t.Fatalf("ok is %v, the best page gets %d past the offset", ok, best)
		}
		if !ok {
			return
		}
		if begin := p * int64(s); begin > max(offset-int64(n), 0) || begin+int64(s)-offset != best {
			t.Fatalf("page %d of %d: begins at %d, gets %d past; want at most %d, and %d", p, s, begin, begin+int64(s)-offset, offset-int64(n), best)
		}
	})
}

// TestPagePositions states the arithmetic in examples.
func TestPagePositions(t *testing.T) {
	for _, tc := range []struct {
		name     string
		at       Position
		size     int
		received int
		number   int64 // asked for, from 0
		want     Position
	}{
		{"the first page, full", Position{}, 100, 100, 0, Position{Number: 1, Size: 100, Offset: 100}},
		{"the second", Position{Number: 1, Size: 100, Offset: 100}, 100, 100, 1, Position{Number: 2, Size: 100, Offset: 200}},
		{"half the size: B055", Position{Number: 1, Size: 100, Offset: 100}, 50, 50, 2, Position{Number: 3, Size: 50, Offset: 150}},
		{"a size that does not divide: B055b", Position{Number: 1, Size: 100, Offset: 100}, 40, 40, 2, Position{Number: 3, Size: 40, Offset: 120}},
		{"clamped to 200", Position{}, 500, 200, 0, Position{Number: 1, Size: 500, Offset: 200}},
		{"clamped again", Position{Number: 1, Size: 500, Offset: 200}, 500, 200, 1, Position{Number: 2, Size: 500, Offset: 400}},
		{"clamped, then the real size", Position{Number: 2, Size: 500, Offset: 400}, 200, 200, 2, Position{Number: 3, Size: 200, Offset: 600}},
		{"trimmed in the middle", Position{Number: 3, Size: 100, Offset: 300}, 100, 60, 3, Position{Number: 4, Size: 100, Offset: 300}},
		{"empty", Position{Number: 3, Size: 100, Offset: 300}, 100, 0, 3, Position{Number: 4, Size: 100, Offset: 300}},
		{"stepped back to a row", Position{Offset: 250}, 100, 100, 2, Position{Number: 3, Size: 100, Offset: 300}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			number := numberAt(tc.at, tc.size)
			if number != tc.number {
				t.Errorf("asks for page %d, want %d", number, tc.number)
			}
			got := afterPage(tc.at, number, tc.size, startAt(tc.at, number, tc.size), int64(tc.received))
			if !samePosition(got, tc.want) {
				t.Errorf("goes on at %+v, want %+v", got, tc.want)
			}
		})
	}
}

func samePosition(a, b Position) bool {
	return a.Offset == b.Offset && a.Number == b.Number && a.Size == b.Size
}
