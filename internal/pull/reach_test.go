package pull_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lastdrop/internal/sim"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// searches is a search of 3,000 hits that hands out 1,000 and does not count its
// pages.
func searches(faults ...sim.Fault) http.Handler {
	return sim.New(week(3000), sim.API{
		Style: sim.Page, Items: "hits", Total: exact("nbHits"), SortField: "created_at_i", Size: sim.SizeRule{Max: 100},
		Filter: sim.FilterRule{Numeric: "numericFilters"},
	}, 1, faults...)
}

const searched = `
source: {url: "${BASE}/items", params: {q: x}}
pages: {style: page, number: {param: page, first: 0}, size: {param: limit, start: 100, max: 100}}
items: {path: hits, id: id}
total: {path: nbHits}
limits: {retries: 2}`

// A reach that a run met is used by the next one that is cut, which says so;
// for the same address only, and not for ever.
func TestReachIsRemembered(t *testing.T) {
	wall := sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapError, Code: 400}}
	server := httptest.NewServer(searches(wall))
	defer server.Close()
	dir := t.TempDir()
	db := filepath.Join(dir, "runs.db")
	look := func() (store.Reach, bool) {
		t.Helper()
		r, err := store.OpenReader(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		known, ok, err := r.Reach(t.Context(), server.URL, "/items")
		if err != nil {
			t.Fatal(err)
		}
		return known, ok
	}
	note := func(n store.Reach) {
		t.Helper()
		s, err := store.Open(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.NoteReach(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	used := func(rep reconcile.Report) string {
		t.Helper()
		r, err := store.OpenReader(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		events, err := r.Events(t.Context(), rep.Run, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events.Events {
			if e.Kind == "reach" && strings.Contains(e.Text, "met by run") {
				return e.Text
			}
		}
		return ""
	}

	whole := drainInto(t, dir, server.URL, searched, 0)
	known, ok := look()
	if whole.Verdict != judge.Truncated || !ok || known.Reach != 1000 || known.Run != whole.Run || time.Since(known.At) > time.Hour {
		t.Fatalf("%s; known is %+v, %v", whole.Verdict, known, ok)
	}

	cold := drainInto(t, t.TempDir(), server.URL, searched+byWeek, 0)
	warm := drainInto(t, dir, server.URL, searched+byWeek, 0)
	if cold.Verdict != judge.Complete || warm.Verdict != judge.Complete || warm.Items.Distinct != 3000 || warm.Reach == nil || *warm.Reach != 1000 {
		t.Errorf("%s without it, %s with it: %d held, reach %v", cold.Verdict, warm.Verdict, warm.Items.Distinct, warm.Reach)
	}
	if warm.Requests >= cold.Requests {
		t.Errorf("%d requests with it, %d without", warm.Requests, cold.Requests)
	}
	if text, want := used(warm), fmt.Sprintf("a reach of 1000, met by run %s on %s", whole.Run, known.At.Format(time.DateOnly)); !strings.HasPrefix(text, want) {
		t.Errorf("the events say %q", text)
	}
	if again, _ := look(); again != known {
		t.Errorf("a run that was told of it notes it anew: %+v", again)
	}

	if rep := drainInto(t, dir, server.URL, searched+byWeek+"\n  reach: 500", 0); used(rep) != "" || rep.Verdict != judge.Complete {
		t.Errorf("one is configured: %s, %q", rep.Verdict, used(rep))
	}
	old := known
	old.At, old.Reach = time.Now().Add(-31*24*time.Hour), 100
	note(old)
	rep := drainInto(t, dir, server.URL, searched+byWeek, 0)
	if known, _ := look(); used(rep) != "" || known.Reach != 1000 || known.Run != rep.Run {
		t.Errorf("an old one: %q, and then %+v is known", used(rep), known)
	}
}

// A server that hands out all again is read whole, whatever was met before.
func TestReachThatIsNoMore(t *testing.T) {
	server := httptest.NewServer(searches(sim.Fault{Effect: sim.LoseFilter{}}))
	defer server.Close()
	dir := t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.NoteReach(t.Context(), store.Reach{Origin: server.URL, Path: "/items", Reach: 1000, Run: "01old", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	rep := drainInto(t, dir, server.URL, searched+byWeek, 0)
	if rep.Verdict != judge.Complete || rep.Items.Distinct != 3000 || rep.Reach != nil {
		t.Errorf("%s, %d held, reach %v: %v", rep.Verdict, rep.Items.Distinct, rep.Reach, rep.Evidence)
	}
}

// An address that holds a secret is not stored.
func TestReachKeepsSecrets(t *testing.T) {
	wall := sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapError, Code: 400}}
	server := httptest.NewServer(http.StripPrefix("/"+token, searches(wall)))
	defer server.Close()
	dir := t.TempDir()
	config := strings.Replace(searched, `"${BASE}/items",`, `"${BASE}/${TOKEN}/items", auth: {bearer: "${TOKEN}"},`, 1)
	rep := drainInto(t, dir, server.URL, config, 0)
	if rep.Reach == nil || *rep.Reach != 1000 {
		t.Fatalf("a reach of %v: %v", rep.Reach, rep.Evidence)
	}
	r, err := store.OpenReader(t.Context(), filepath.Join(dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, path := range []string{"/" + token + "/items", "/REDACTED/items"} {
		if known, ok, err := r.Reach(t.Context(), server.URL, path); ok || err != nil {
			t.Errorf("%+v, %v", known, err)
		}
	}
}
