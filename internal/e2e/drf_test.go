//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A cellar is Django REST framework over a table of bottles.
type cellar struct{ *server }

func startCellar(t *testing.T, n int) cellar {
	t.Helper()
	script := must(filepath.Abs(filepath.Join("servers", "drf.py")))(t)
	return cellar{start(t, "drf", func(s *server) launch {
		return launch{ready: "/page/?page_size=1", env: []string{"PYTHONDONTWRITEBYTECODE=1"},
			args: []string{"/usr/bin/python3", script, cellar{s}.file(), strconv.Itoa(s.port), strconv.Itoa(n)}}
	})}
}

func (s cellar) file() string { return filepath.Join(s.dir, strconv.Itoa(s.port)+".sqlite") }

// bottles reads the server's database.
func (s cellar) bottles(t *testing.T) []string {
	t.Helper()
	return must(query(s.file(), "SELECT id FROM bottle ORDER BY id"))(t)
}

// youngest is the greatest id that was ever given.
func (s cellar) youngest(t *testing.T) int {
	t.Helper()
	return must(strconv.Atoi(must(query(s.file(), "SELECT seq FROM sqlite_sequence WHERE name = 'bottle'"))(t)[0]))(t)
}

// refill makes the cellar hold bottles 1 to n again.
func (s cellar) refill(t *testing.T, n int) {
	t.Helper()
	must(query(s.file(), fmt.Sprintf(`BEGIN; DELETE FROM bottle;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO bottle (id, label, arrived, shelf) SELECT i, 'bottle ' || i, datetime('2025-03-01', '+' || (i / 25) || ' hours'), 1 FROM n;
		COMMIT`, n)))(t)
}

// drink deletes bottles, lay adds some: both by the server's API.
func (s cellar) drink(ids ...int) error {
	for _, id := range ids {
		if _, _, err := ask("DELETE", fmt.Sprintf("%s/bottle/%d/", s.base, id), nil); err != nil {
			return err
		}
	}
	return nil
}

func (s cellar) lay(n int) error {
	for range n {
		bottle := map[string]string{"label": "a new one", "arrived": "2026-01-01T00:00:00Z"}
		if _, _, err := ask("POST", s.base+"/page/", bottle); err != nil {
			return err
		}
	}
	return nil
}

func upTo(from, to int) []int {
	var ids []int
	for i := from; i <= to; i++ {
		ids = append(ids, i)
	}
	return ids
}

const bottlesByPage = `
source: {url: "${BASE}/page/"}
pages: {style: page, number: {param: page}, size: {param: page_size, start: 100}}
items: {path: results, id: id}
total: {path: count}
`

const bottlesByOffset = `
source: {url: "${BASE}/limit/"}
pages: {style: offset, offset: {param: offset}, size: {param: limit, start: 100}}
items: {path: results, id: id}
total: {path: count}
`

const bottlesByCursor = `
source: {url: "${BASE}/cursor/"}
pages: {style: next_url, next: {path: next}, size: {param: page_size, start: 100}}
items: {path: results, id: id}
`

func TestDjangoREST(t *testing.T) {
	t.Parallel()
	s := startCellar(t, 510)
	ids := s.bottles(t)

	for _, c := range []struct {
		name, config, strength string
		most                   int
	}{
		{"page", bottlesByPage, counted, 6},
		{"offset", bottlesByOffset, counted, 6},
		{"cursor", bottlesByCursor, declared, 7},
		{"cursor in a parameter", strings.Replace(bottlesByCursor, "style: next_url, next: {path: next}", "style: cursor, cursor: {param: cursor, path: next}", 1), declared, 7},
		{"next URL", strings.Replace(bottlesByOffset, "style: offset, offset: {param: offset}", "style: next_url, next: {path: next}", 1), counted, 6},
		{"page above a silent cap", strings.Replace(bottlesByPage, "start: 100", "start: 5000", 1), counted, 4},
		{"offset above a silent cap", strings.Replace(bottlesByOffset, "start: 100", "start: 5000", 1), counted, 4},
		{"cursor above a silent cap", strings.Replace(bottlesByCursor, "start: 100", "start: 5000", 1), declared, 4},
		{"next URL above a silent cap", strings.Replace(strings.Replace(bottlesByOffset, "start: 100", "start: 5000", 1),
			"style: offset, offset: {param: offset}", "style: next_url, next: {path: next}", 1), counted, 4},
		{"small pages", strings.Replace(bottlesByPage, "start: 100", "start: 17", 1), counted, 31},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := drain(t, s.base, c.config)
			r.is(t, complete, c.strength)
			r.equals(t, "id", ids)
			r.asked(t, c.most)
		})
	}

	noTotal := strings.Replace(bottlesByPage, "total: {path: count}", "total: none", 1)
	t.Run("page past the end", func(t *testing.T) {
		// Without a total nothing tells that the 404 is the end.
		r := drain(t, s.base, noTotal)
		r.is(t, unknown)
		r.law(t, "id", ids, ids)
	})
	t.Run("page past the end, documented", func(t *testing.T) {
		end := strings.Replace(noTotal, "pages: {", `pages: {end: [{status: 404, path: detail, is: "Invalid page."}], `, 1)
		r := drain(t, s.base, end)
		r.is(t, unknown) // assumed is less than what complete.require asks for by default
		r.shows(t, "RC024")
		r = drain(t, s.base, end+"complete: {require: assumed}\n")
		r.is(t, complete, assumed)
		r.equals(t, "id", ids)
	})
	t.Run("a wrong name for the page", func(t *testing.T) {
		r := drain(t, s.base, strings.Replace(bottlesByPage, "param: page}", "param: p}", 1))
		r.is(t, truncated) // page 1 again and again, and the total says what is missing
		r.lacks(t, len(ids)-100)
		r.law(t, "id", nil, ids)
	})
}

// TestDjangoRESTTies walks a cursor over rows that are all equal in its order.
// DRF's cursor then counts rows, and stops counting at 1000: from there on the
// next link is the same for ever, and null never comes.
func TestDjangoRESTTies(t *testing.T) {
	t.Parallel()
	s := startCellar(t, 1310)
	ids := s.bottles(t)
	ties := strings.NewReplacer("/cursor/", "/ties/", "start: 100", "start: 200").Replace(bottlesByCursor)

	t.Run("without a total", func(t *testing.T) {
		r := drain(t, s.base, ties)
		r.law(t, "id", ids, ids)
		if r.Verdict == complete || len(r.items) >= len(ids) {
			t.Errorf("%s with %d of %d that can be had", r.Verdict, len(r.items), len(ids))
		}
		r.shows(t, "RC008")
		r.asked(t, 10)
	})
	t.Run("with a count request", func(t *testing.T) {
		r := drain(t, s.base, ties+"total: {url: \"${BASE}/page/?page_size=1\", path: count}\n")
		r.is(t, truncated)
		r.lacks(t, len(ids)-len(r.items))
		r.law(t, "id", ids, ids)
	})
}

// TestDjangoRESTMoves drains while bottles come and go at known places.
func TestDjangoRESTMoves(t *testing.T) {
	t.Parallel()
	s := startCellar(t, 410)
	come := func(n int) func() error { return func() error { return s.lay(n) } }
	leave := func(from, to int) func() error { return func() error { return s.drink(upTo(from, to)...) } }
	swap := func(id int) func() error { return func() error { return firstOf(s.drink(id), s.lay(1)) } }
	type moves map[int]func() error

	newest := strings.Replace(bottlesByPage, "/page/", "/newest/", 1)
	withCount := bottlesByCursor + "total: {url: \"${BASE}/page/?page_size=1\", path: count}\n"
	for _, c := range []struct {
		name, config string
		reached      bool // COMPLETE can be reached, and should be
		at           moves
	}{
		{"page, early ones go", bottlesByPage, true, moves{3: leave(1, 3)}},
		{"page, a whole page goes", bottlesByPage, false, moves{3: leave(1, 100)}},
		{"page, the tail goes", bottlesByPage, false, moves{3: leave(290, 410)}},
		{"page, late ones come", bottlesByPage, true, moves{3: come(3)}},
		{"page, a swap without a trace and then one more", bottlesByPage, false, moves{2: swap(5), 4: come(1)}},
		{"page, a swap without a trace and then one less", bottlesByPage, false, moves{2: swap(5), 4: leave(6, 6)}},
		{"newest first, early ones come", newest, true, moves{3: come(3)}},
		{"newest first, one comes and an old one goes", newest, false, moves{3: swap(5)}},
		{"newest first, one comes and a read one goes", newest, false, moves{3: swap(400)}},
		{"offset, early ones go", bottlesByOffset, true, moves{3: leave(1, 3)}},
		{"offset, a whole page goes", bottlesByOffset, false, moves{3: leave(1, 100)}},
		{"offset, a read one goes and one comes", bottlesByOffset, true, moves{3: swap(7)}},
		{"offset, swaps", bottlesByOffset, false, moves{2: swap(7), 3: swap(8), 4: swap(9)}},
		{"cursor, read ones go", bottlesByCursor, true, moves{3: leave(1, 130)}},
		{"cursor, ones to come go", bottlesByCursor, true, moves{3: leave(290, 330)}},
		{"cursor, late ones come", bottlesByCursor, true, moves{3: come(130)}},
		// A cursor of DRF names a time and a number of bottles that share it:
		// where one of those goes, the next one is passed over.
		{"cursor with a count request, a tie at the border goes", withCount, true, moves{4: leave(200, 200)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.refill(t, 410)
			before := s.bottles(t)
			p := newTap(t, s.server, c.at)
			r := drain(t, p.base, c.config)
			after := s.bottles(t)
			r.law(t, "id", both(before, after), slices.Concat(before, after))
			if c.reached {
				r.is(t, complete)
			}
			if r.Requests != p.requests() {
				t.Errorf("the report says %d requests, the server saw %d", r.Requests, p.requests())
			}
			r.asked(t, 30) // three passes, and some
		})
	}
	t.Run("page, too small to overlap, a move and then a swap", func(t *testing.T) {
		// That the source moves is seen at page 2. From then on, no border may
		// be taken on trust because the total stays as it is.
		s.refill(t, 60)
		before := s.bottles(t)
		swap3 := func() error { return firstOf(s.drink(20, 21, 22), s.lay(3)) }
		p := newTap(t, s.server, map[int]func() error{2: leave(23, 25), 12: swap3})
		r := drain(t, p.base, strings.Replace(bottlesByPage, "start: 100", "start: 4", 1)+"complete: {max_drift: 10%}\n")
		after := s.bottles(t)
		r.law(t, "id", both(before, after), slices.Concat(before, after))
		r.asked(t, 100)
	})
}
