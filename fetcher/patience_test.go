package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// How often the very same request goes out again, by what came: at a size that
// can be lowered, and at the smallest one.
func TestTriesFor(t *testing.T) {
	trouble := func(k adapters.TroubleKind) answer {
		return answer{kind: kindTrouble, trouble: &adapters.Trouble{Kind: k}}
	}
	for _, c := range []struct {
		name         string
		answer       answer
		large, small int
	}{
		{"no answer", answer{kind: kindFault}, 5, 5},
		{"half a body", answer{kind: kindHalf}, 0, 5},
		{"an error text in the tail", answer{kind: kindDeadline}, 0, 5},
		{"a passing fault", answer{kind: kindPassing}, 1, 5},
		{"a partial page", answer{kind: kindPartial}, 1, 5},
		{"another format", answer{kind: kindOther}, 3, 3},
		{"no body", answer{kind: kindNothing}, 3, 3},
		{"refused", answer{kind: kindRefused}, 0, 0},
		{"a dead position", answer{kind: kindExpired}, 0, 0},
		{"a documented end", answer{kind: kindEnd}, 0, 0},
		{"an error object", trouble(adapters.TroubleError), 1, 1},
		{"an error object, passing", trouble(adapters.TroublePassing), 5, 5},
		{"an error object about cost", trouble(adapters.TroubleCost), 0, 0},
		{"no items path on the first page", trouble(adapters.TroubleMissing), 0, 0},
		{"a malformed page", trouble(adapters.TroubleMalformed), 3, 3},
		{"a page", answer{kind: kindPage, page: adapters.Page{Items: make([]adapters.Item, 1)}}, 0, 0},
	} {
		for _, size := range []int{100, 10} {
			want := c.large
			if size == 10 {
				want = c.small
			}
			d := walk(t, rowsSpec("http://127.0.0.1"), quick())
			d.state.Size, d.asked = size, size
			if got := d.triesFor(&c.answer); got != want {
				t.Errorf("%s at size %d: %d further tries, want %d", c.name, size, got, want)
			}
			d.opt.Client.Retries = 0
			if got := d.triesFor(&c.answer); got != 0 {
				t.Errorf("%s at size %d: %d further tries, and none is allowed", c.name, size, got)
			}
		}
	}
}

// A missing list is most likely a wrong path before anything is held, and a
// passing fault after that.
func TestTriesForMissingListLater(t *testing.T) {
	d := walk(t, rowsSpec("http://127.0.0.1"), quick())
	d.state.Counts.Held = 1
	a := answer{kind: kindTrouble, trouble: &adapters.Trouble{Kind: adapters.TroubleMissing}}
	if got := d.triesFor(&a); got != 3 {
		t.Errorf("%d further tries, want 3", got)
	}
}

// An empty page before the total is asked for again; one behind it is not.
func TestTriesForEmptyPage(t *testing.T) {
	total := func(n int64) adapters.Page {
		return adapters.Page{Totals: []adapters.Total{{Source: adapters.FromBody, Value: n, Kind: judge.Exact}}}
	}
	for _, c := range []struct {
		name string
		page adapters.Page
		rows int64
		want int
	}{
		{"without a total", adapters.Page{}, 0, 0},
		{"before the total", total(5), 0, 3},
		{"at the total", total(5), 5, 0},
		{"a set that shrank", total(4), 5, 0},
		{"with a way on", adapters.Page{Totals: total(5).Totals, More: judge.Yes}, 0, 0},
		{"a null is no empty page", adapters.Page{Totals: total(5).Totals, Nulls: 1}, 0, 0},
	} {
		d := walk(t, rowsSpec("http://127.0.0.1"), quick())
		d.state.PassRows, d.state.High = c.rows, c.rows
		if got := d.triesFor(&answer{kind: kindPage, page: c.page}); got != c.want {
			t.Errorf("%s: %d further tries, want %d", c.name, got, c.want)
		}
	}
}

func TestShrink(t *testing.T) {
	for _, c := range []struct {
		least int
		want  []int
	}{
		{10, []int{50, 25, 12, 10}},
		{0, []int{50, 25, 12, 6, 3, 1}},
		{100, nil},
		{60, []int{60}},
	} {
		spec := rowsSpec("http://127.0.0.1")
		spec.Pages.SizeMin = c.least
		d := walk(t, spec, quick())
		var got []int
		var st step
		for len(got) < 20 && d.state.shrink(d.shape, "half a body", &st) {
			got = append(got, d.state.Size)
		}
		if !slices.Equal(got, c.want) || len(st.events) != len(got) {
			t.Errorf("down to %d: %v with %d events, want %v", c.least, got, len(st.events), c.want)
		}
		if d.state.Least != d.state.Size {
			t.Errorf("the least size is %d, and the last %d", d.state.Least, d.state.Size)
		}
	}
}

// The size grows after a stretch of whole pages, not beyond the first, and to
// a size that failed lately only after a long one.
func TestGrow(t *testing.T) {
	d := walk(t, rowsSpec("http://127.0.0.1"), quick())
	s := d.state
	var st step
	s.shrink(d.shape, "half a body", &st)
	s.shrink(d.shape, "half a body", &st) // 25, and 50 failed
	grown := map[int]int{}
	for page := 1; page <= 200; page++ {
		before := s.Size
		s.grow(d.shape)
		if s.Size != before {
			grown[page] = s.Size
		}
	}
	if want := map[int]int{64: 50, 128: 100}; fmt.Sprint(grown) != fmt.Sprint(want) {
		t.Errorf("grew after these pages: %v, want %v", grown, want)
	}
	s.Size, s.Bad, s.Streak = 25, 0, 0
	for range growAfter - 1 {
		s.grow(d.shape)
	}
	if s.Size != 25 {
		t.Errorf("grew to %d too early", s.Size)
	}
	if s.grow(d.shape); s.Size != 50 {
		t.Errorf("the size is %d after %d whole pages, want 50", s.Size, growAfter)
	}
}

func TestSmallerMaximum(t *testing.T) {
	for _, c := range []struct{ n, least, want int }{
		{5000, 1, 1000}, {1000, 1, 500}, {251, 1, 250}, {100, 1, 50}, {100, 80, 80}, {11, 1, 10}, {10, 1, 5}, {2, 1, 1}, {1, 1, 1},
	} {
		if got := smallerMaximum(c.n, c.least); got != c.want {
			t.Errorf("below %d, not below %d: %d, want %d", c.n, c.least, got, c.want)
		}
	}
}

// Whole runs over servers that fail above some size.
func TestSizeOfARun(t *testing.T) {
	tooLarge := func(limit int, answer http.HandlerFunc) http.HandlerFunc {
		good := rows(130)
		return func(w http.ResponseWriter, r *http.Request) {
			var n int
			_, _ = fmt.Sscan(r.FormValue("limit"), &n)
			if n > limit {
				answer(w, r)
				return
			}
			good(w, r)
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	half := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"total":130,"rows":[{"id":0},`) }
	for _, c := range []struct {
		name    string
		h       http.HandlerFunc
		verdict judge.Verdict
		stop    reconcile.Stop
		least   int // size that was asked for, 0: do not look
	}{
		{"no trouble", rows(130), judge.Complete, reconcile.StopEnd, 100},
		{"half a body above 30 items", tooLarge(30, half), judge.Complete, reconcile.StopEnd, 25},
		{"a time-out above 30 items", tooLarge(30, status(504)), judge.Complete, reconcile.StopEnd, 25},
		{"refused above 60 items", tooLarge(60, status(400)), judge.Complete, reconcile.StopEnd, 50},
		{"half a body at every size", tooLarge(0, half), judge.Truncated, reconcile.StopHalf, 10},
		{"refused at every size", tooLarge(0, status(400)), judge.Unknown, reconcile.StopFirst, 0},
		{"down", tooLarge(0, status(500)), judge.Unknown, reconcile.StopFirst, 10},
		{"not allowed", tooLarge(0, status(403)), judge.Unknown, reconcile.StopFirst, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, s := options(t, rowsSpec(serve(t, c.h).URL), quick())
			f, err := Drain(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := ruled(f); got != c.verdict || f.Stop != c.stop {
				t.Errorf("%v, stopped for %v (%s); want %v, %v", got, f.Stop, f.StopText, c.verdict, c.stop)
			}
			if c.least > 0 && f.PageSize.Min != c.least {
				t.Errorf("the least size is %d, want %d", f.PageSize.Min, c.least)
			}
			if c.verdict == judge.Complete {
				slices.Sort(s.lines)
				if n := len(slices.Compact(slices.Clone(s.lines))); len(s.lines) != 130 || n != 130 {
					t.Errorf("%d lines, %d different ones, want 130", len(s.lines), n)
				}
			} else if len(s.lines) != 0 {
				t.Errorf("%d lines of pages that never came", len(s.lines))
			}
			for i, a := range s.attempts {
				if a.Seq != int64(i+1) || a.Outcome != reconcile.Held && a.Cause == "" && strings.TrimSpace(string(a.Action)) == "" {
					t.Errorf("attempt %d: %+v", i, a)
				}
			}
		})
	}
}

// A fault that passes costs a retry and no more.
func TestRetryOfTheSamePage(t *testing.T) {
	for _, way := range []string{"reset", "502", "html", "empty"} {
		t.Run(way, func(t *testing.T) {
			asked := map[string]int{}
			good := rows(30)
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked[r.URL.String()]++
				if len(asked) > 1 || asked[r.URL.String()] > 1 {
					good(w, r)
					return
				}
				switch way {
				case "reset":
					panic(http.ErrAbortHandler)
				case "502":
					w.WriteHeader(http.StatusBadGateway)
				case "html":
					fmt.Fprint(w, "<html>back soon</html>")
				case "empty":
					w.WriteHeader(http.StatusOK)
				}
			})
			o, s := options(t, rowsSpec(srv.URL), quick())
			f, err := Drain(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if ruled(f) != judge.Complete || len(s.lines) != 30 || f.PageSize.Min != 100 {
				t.Errorf("%v with %d lines, least size %d, stopped for %v", ruled(f), len(s.lines), f.PageSize.Min, f.Stop)
			}
			if first := asked["/rows?limit=100&offset=0"]; first < 2 || s.attempts[0].Outcome != reconcile.Failed || s.attempts[1].Try != 2 {
				t.Errorf("asked %v, attempts %+v", asked, s.attempts[:2])
			}
		})
	}
}
