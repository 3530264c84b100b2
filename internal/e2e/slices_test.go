//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// reach is how many rows a narrowed server hands out for one query.
const reach = 200

// narrowed puts a proxy before a server that refuses what lies beyond a window,
// as search engines do: none of the servers here has a reach of that kind by
// itself. It answers in the words that such servers use.
func narrowed(t *testing.T, base string) string {
	t.Helper()
	to := must(url.Parse(base))(t)
	next := through(func() *url.URL { return to })
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lastRow(r.URL.Query()) > reach {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"detail": "Result window is too large, offset + limit must be less than or equal to %d"}`, reach)
			return
		}
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// lastRow is the number of the last row that a request may get.
func lastRow(q url.Values) int {
	number := func(name string) int {
		n, _ := strconv.Atoi(q.Get(name))
		return n
	}
	if q.Has("limit") {
		return number("offset") + number("limit")
	}
	return max(1, number("page")) * number("page_size")
}

// Bottles to be cut: by a lot that some lack, by the time of arrival, which lies
// dense in one day and thin in years, and by the day on which they were opened,
// if they were.
func (s cellar) stock(t *testing.T, n int) []string {
	t.Helper()
	must(query(s.file(), fmt.Sprintf(`BEGIN; DELETE FROM bottle;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d)
		INSERT INTO bottle (id, label, arrived, shelf, lot, opened) SELECT i, 'bottle ' || i,
			CASE WHEN i <= %[1]d / 2 THEN datetime('2025-03-01', '+' || (i * 2) || ' minutes') ELSE datetime('2022-01-01', '+' || i || ' days') END,
			1, iif(i %% 60 = 0, NULL, i * 7), iif(i %% 45 = 0, NULL, date('2023-05-01', '+' || (i / 2) || ' days')) FROM n;
		COMMIT`, n)))(t)
	return s.bottles(t)
}

// The slices of a cellar.
const (
	byLot     = `slice: {by: lot, type: int, from: 0, to: 100000, params: {lot__gte: "{from}", lot__lt: "{to}"}}` + "\n"
	byAnyLot  = `slice: {by: lot, type: int, from_params: {lot__gte: "{from}"}, to_params: {lot__lt: "{to}"}}` + "\n"
	byArrival = `slice: {by: arrived, type: time, from: 2020-01-01, to: now, params: {arrived__gte: "{from}", arrived__lt: "{to}"}}` + "\n"
	byOpening = `slice: {by: opened, type: date, from: 2020-01-01, to: now, bounds: "[]", params: {opened__gte: "{from}", opened__lte: "{to}"}}` + "\n"
)

// also gives slices one more, of the bottles that lack the key.
func also(slices, param string) string {
	return strings.Replace(slices, "{by:", "{without: {params: {"+param+": \"true\"}}, by:", 1)
}

// TestSlices drains Django REST framework behind a reach, cut by its filters.
func TestSlices(t *testing.T) {
	t.Parallel()
	const n = 900
	s := startCellar(t, 1)
	all := s.stock(t, n)
	base := narrowed(t, s.base)

	t.Run("without slices", func(t *testing.T) {
		r := drain(t, base, bottlesByOffset)
		r.is(t, truncated)
		r.lacks(t, n-len(r.items))
		r.law(t, "id", all, all)
	})
	for _, c := range []struct {
		name, slice string
		whole       bool // no bottle lacks the key, or those are asked for
		most        int  // requests
	}{
		{"int", byLot, false, 40},
		{"int, and those without", also(byLot, "lot__isnull"), true, 40},
		{"int, with open ends", byAnyLot, false, 40},
		{"int, with open ends, and those without", also(byAnyLot, "lot__isnull"), true, 40},
		{"time", byArrival, true, 60},
		{"date", byOpening, false, 60},
		{"date, and those without", also(byOpening, "opened__isnull"), true, 60},
	} {
		for _, style := range []struct{ name, config string }{{"page", bottlesByPage}, {"offset", bottlesByOffset}} {
			t.Run(style.name+", "+c.name, func(t *testing.T) {
				r := drain(t, base, style.config+c.slice)
				r.law(t, "id", all, all)
				r.asked(t, c.most)
				if c.whole {
					r.is(t, complete, counted)
					r.equals(t, "id", all)
					return
				}
				// Those that lack the key are in no slice; the first walk, which
				// asks for everything, has some of them.
				r.is(t, truncated)
				r.shows(t, "RC053")
				r.lacks(t, n-len(r.items))
				column, _, _ := strings.Cut(strings.TrimPrefix(c.slice, "slice: {by: "), ",")
				lack := must(query(s.file(), "SELECT id FROM bottle WHERE "+column+" IS NULL"))(t)
				missing := without(all, r.ids(t, "id"))
				if strange := without(missing, lack); len(missing) == 0 || len(strange) > 0 {
					t.Errorf("%d are missing, of them %d that have the key: %s", len(missing), len(strange), some(strange))
				}
			})
		}
	}
	t.Run("a filter of another name is ignored", func(t *testing.T) {
		r := drain(t, base, bottlesByPage+strings.NewReplacer("lot__gte", "lot_from", "lot__lt", "lot_to").Replace(byLot))
		r.is(t, truncated)
		r.shows(t, "RC055")
		r.law(t, "id", nil, all)
		r.asked(t, 60)
	})
}

// TestSlicesBeatTies drains what a cursor of DRF cannot: it stops counting at
// 1000 rows that are equal in its order, a reach of the server's own.
func TestSlicesBeatTies(t *testing.T) {
	t.Parallel()
	s := startCellar(t, 2610)
	ids := s.bottles(t)
	ties := strings.NewReplacer("/cursor/", "/ties/", "start: 100", "start: 200").Replace(bottlesByCursor)
	const byID = `slice: {by: id, type: int, from: 1, to: 10000, params: {id__gte: "{from}", id__lt: "{to}"}}` + "\n"
	for _, c := range []struct{ name, config, strength string }{
		{"the whole is counted", `total: {url: "${BASE}/page/?page_size=1", path: count}` + "\n" + byID, counted},
		{"each slice is counted", `total: {url: "${BASE}/page/?page_size=1&id__gte={from}&id__lt={to}", path: count}` + "\n" +
			strings.Replace(byID, "{by:", "{covers: range, by:", 1), counted},
		{"nothing is counted, and the reach is known", strings.Replace(byID, "{by:", "{covers: range, reach: 1000, by:", 1), declared},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := drain(t, s.base, ties+c.config)
			r.is(t, complete, c.strength)
			r.equals(t, "id", ids)
			r.asked(t, 40)
		})
	}
}

// TestSlicesWhileMoving cuts a source in which a bottle may come or go before
// every request. That no bottle lies outside of the slices can only be shown
// while the source rests for some requests: the law holds, whatever it does.
func TestSlicesWhileMoving(t *testing.T) {
	t.Parallel()
	s := startCellar(t, 1)
	const byID = `slice: {by: id, type: int, from: 0, to: 100000, params: {id__gte: "{from}", id__lt: "{to}"}}` + "\n"
	for _, c := range []struct{ name, config string }{
		{"page", bottlesByPage + byID}, {"offset, by time", bottlesByOffset + byArrival},
	} {
		t.Run(c.name, func(t *testing.T) {
			moving{s: s.server, config: c.config, key: "id", n: 900, seeds: 1, through: narrowed,
				fill: s.rack, insert: s.shelve, remove: s.smash}.drains(t)
		})
	}
}
