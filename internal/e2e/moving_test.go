//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A flux moves a source: each turn takes a row out or puts one in, at a place
// that its seed draws. Rows are known by a whole number that is never given
// twice, and the source is ordered by it.
type flux struct {
	rand    *rand.Rand
	percent int   // the chance that a turn changes something
	rows    []int // that are there
	ever    []int // that are or were there
	insert  func(row int) error
	remove  func(row int) error
}

// spread are n numbers, with room between them.
func spread(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = 10 * (i + 1)
	}
	return rows
}

func newFlux(seed uint64, percent, n int, insert, remove func(row int) error) *flux {
	return &flux{rand.New(rand.NewPCG(seed, uint64(percent))), percent, spread(n), spread(n), insert, remove}
}

// turn makes one change, or none.
func (f *flux) turn() error {
	if f.rand.IntN(100) >= f.percent {
		return nil
	}
	if f.rand.IntN(2) == 0 {
		i := f.rand.IntN(len(f.rows))
		row := f.rows[i]
		f.rows = slices.Delete(f.rows, i, i+1)
		return f.remove(row)
	}
	row := f.rand.IntN(f.ever[len(f.ever)-1] + 10)
	for slices.Contains(f.ever, row) {
		row++
	}
	f.rows = append(f.rows, row)
	f.ever = append(f.ever, row)
	slices.Sort(f.ever)
	return f.insert(row)
}

// lasted are the rows that were there all the while.
func (f *flux) lasted(n int) []string { return both(texts(spread(n)), texts(f.rows)) }

func texts(rows []int) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = strconv.Itoa(row)
	}
	return out
}

// A moving source is drained again and again, each time while another seed
// moves it.
type moving struct {
	s      *server
	config string
	key    string  // of an item
	n      int     // rows at the start
	seeds  uint64  // runs at each rate
	least  float64 // the share of runs that reach COMPLETE
	fill   func(rows []int) error
	insert func(row int) error
	remove func(row int) error
	// through puts something before the server; nil leaves it as it is.
	through func(t *testing.T, base string) string
}

// rates are the chances, in percent, that the source changes before a request.
var rates = []int{25, 50, 100}

// drains holds the law in every run, and the share of COMPLETE over all.
func (m moving) drains(t *testing.T) {
	t.Helper()
	runs, whole, requests := 0, 0, 0
	for _, percent := range rates {
		for seed := range m.seeds {
			if err := m.fill(spread(m.n)); err != nil {
				t.Fatal(err)
			}
			f := newFlux(seed, percent, m.n, m.insert, m.remove)
			p := newTap(t, m.s, nil)
			p.each = f.turn
			base := p.base
			if m.through != nil {
				base = m.through(t, base)
			}
			r := drain(t, base, m.config)
			r.law(t, m.key, f.lasted(m.n), texts(f.ever))
			requests += r.Requests
			if runs++; r.Verdict == complete {
				whole++
			}
		}
	}
	t.Logf("%d of %d runs reached COMPLETE, %d requests", whole, runs, requests)
	if float64(whole) < m.least*float64(runs) {
		t.Errorf("%d of %d runs reached COMPLETE, want %.2f of them", whole, runs, m.least)
	}
}

// rack makes the cellar hold just these bottles, each of an hour of its own.
func (s cellar) rack(rows []int) error {
	values := make([]string, len(rows))
	for i, row := range rows {
		values[i] = bottleOf(row)
	}
	_, err := query(s.file(), "BEGIN; DELETE FROM bottle; "+insertBottles+strings.Join(values, ", ")+"; COMMIT")
	return err
}

const insertBottles = "INSERT INTO bottle (id, label, arrived, shelf) VALUES "

func bottleOf(row int) string {
	return fmt.Sprintf("(%[1]d, 'bottle %[1]d', datetime('2025-03-01', '+%[1]d hours'), 1)", row)
}

// shelve and smash put one bottle into the database, and take one out.
func (s cellar) shelve(row int) error {
	_, err := query(s.file(), insertBottles+bottleOf(row))
	return err
}

func (s cellar) smash(row int) error {
	_, err := query(s.file(), fmt.Sprintf("DELETE FROM bottle WHERE id = %d", row))
	return err
}

// TestMovingDjangoREST drains Django REST framework while bottles come and go at
// any place, by up to one change a request.
func TestMovingDjangoREST(t *testing.T) {
	t.Parallel()
	s := startCellar(t, 1)
	inOrder := strings.NewReplacer("/cursor/", "/serial/")
	drifting := func(config string) string {
		return strings.Replace(config, "start: 100", "start: 20", 1) + "complete: {max_drift: 10%}\n"
	}
	for _, c := range []struct {
		name, config string
		n            int
		seeds        uint64
		least        float64
	}{
		{"page", bottlesByPage, 1500, 2, 0.9},
		{"offset", bottlesByOffset, 1500, 2, 0.9},
		{"cursor", bottlesByCursor, 1500, 2, 0.9},
		{"few and fast, page", drifting(bottlesByPage), 300, 3, 0.9},
		{"few and fast, offset", drifting(bottlesByOffset), 300, 3, 0.9},
		// A link may count rows in any way of the server's own: only a pass in
		// which nothing moved can be believed, and there may be none.
		{"next URL", strings.Replace(bottlesByOffset, "style: offset, offset: {param: offset}", "style: next_url, next: {path: next}", 1), 600, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			moving{s: s.server, config: inOrder.Replace(c.config), key: "id", n: c.n, seeds: c.seeds, least: c.least,
				fill: s.rack, insert: s.shelve, remove: s.smash}.drains(t)
		})
	}
}

// do runs SQL that gives nothing.
func (l library) do(format string, args ...any) error {
	_, err := l.sql(fmt.Sprintf(format, args...))
	return err
}

// TestMovingPostGraphile drains PostGraphile while rows come and go at any
// place: by a cursor that is a key, and by one that is a row number.
func TestMovingPostGraphile(t *testing.T) {
	t.Parallel()
	l := startLibrary(t, 1)
	for _, c := range []struct {
		name, config, into, key string
		least                   float64
	}{
		{"books", graph("allBooks", "", "id title", ""), "library.book SELECT i, 1, 'book ' || i", "id", 0.9},
		// A total that moves speaks against tokens that may count rows: only a
		// pass in which nothing moved can be believed, and there may be none.
		{"books, counted", graph("allBooks", "", "id title", "totalCount"), "library.book SELECT i, 1, 'book ' || i", "id", 0},
		{"leaves, counted", graph("allLeaves", "", "num shelf", "totalCount"), "library.leaf SELECT i, 1", "num", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, _, _ := strings.Cut(c.into, " ")
			put := "INSERT INTO " + c.into + " FROM unnest('{%s}'::int[]) i"
			moving{s: l.server, config: c.config, key: c.key, n: 300, seeds: 2, least: c.least,
				fill:   func(rows []int) error { return l.do("TRUNCATE %s; "+put, table, strings.Join(texts(rows), ",")) },
				insert: func(row int) error { return l.do(put, strconv.Itoa(row)) },
				remove: func(row int) error { return l.do("DELETE FROM %s WHERE %s = %d", table, c.key, row) },
			}.drains(t)
		})
	}
}
