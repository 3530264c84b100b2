package fetcher_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"lastdrop/adapters"
	"lastdrop/fetcher"
	"lastdrop/fetcher/fetchertest"
	"lastdrop/internal/sim"
	"lastdrop/internal/slicing"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// cutAPI is a search of the Algolia kind with a range filter.
func cutAPI(size int) sim.API {
	return sim.API{
		Style: sim.Algolia, Items: "hits", ID: "objectID", Total: sim.TotalRule{Kind: sim.TotalExact, Path: "nbHits"},
		Last: sim.LastRule{Path: "nbPages"}, Size: sim.SizeRule{Default: size, Max: 1000}, Filter: sim.FilterRule{Numeric: "numericFilters"},
		SortField: "created_at_i",
	}
}

// drainSim drains a Sim in a bubble.
func drainSim(t *testing.T, s *sim.Sim, change ...func(*fetcher.Options)) (r fetchertest.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = fetchertest.Run(context.Background(), s, change...); err != nil {
			t.Fatal(err)
		}
	})
	if breach := r.Breach(); breach != "" {
		t.Errorf("%s\n%s", breach, r.Story())
	}
	return r
}

// TestSlicesBeatEveryCap cuts sources behind caps of every kind, through every
// style that can carry a filter.
func TestSlicesBeatEveryCap(t *testing.T) {
	styles := map[string]func(a *sim.API){
		"algolia": func(*sim.API) {},
		"page":    func(a *sim.API) { a.Style, a.Last = sim.Page, sim.LastRule{} },
		"offset":  func(a *sim.API) { a.Style, a.Last = sim.Offset, sim.LastRule{} },
		"cursor":  func(a *sim.API) { a.Style, a.Last, a.Token = sim.Cursor, sim.LastRule{}, sim.TokenRule{Path: "next"} },
		"link":    func(a *sim.API) { a.Style, a.Last, a.Links = sim.Link, sim.LastRule{}, sim.LinkRule{Others: true} },
		"next":    func(a *sim.API) { a.Style, a.Last, a.Next = sim.NextURL, sim.LastRule{}, sim.NextRule{Path: "next"} },
		"range":   func(a *sim.API) { a.Filter = sim.FilterRule{From: "from", To: "to"} },
		"closed":  func(a *sim.API) { a.Filter = sim.FilterRule{From: "from", To: "to", Closed: true} },
		"times":   func(a *sim.API) { a.Filter, a.SortTime = sim.FilterRule{From: "from", To: "to"}, true },
		"counted": func(a *sim.API) { a.Total, a.Count = sim.TotalRule{}, "/count" },
	}
	for _, past := range []sim.CapPast{sim.CapCollapse, sim.CapEmpty, sim.CapError, sim.CapRepeat, sim.CapClamp, sim.CapEnd} {
		for name, style := range styles {
			t.Run(fmt.Sprint(past, "/", name), func(t *testing.T) {
				a := cutAPI(20)
				style(&a)
				s := sim.New(sim.NewWorld(700, sim.IntID), a, 1, sim.Fault{Effect: sim.Cap{At: 100, Past: past, Code: 400, Pages: true}})
				r := drainSim(t, s)
				if r.Ruling.Verdict != judge.Complete || r.Ruling.Strength != reconcile.Counted || r.Facts.Distinct != 700 {
					t.Errorf("%s %s, %d held\n%s", r.Ruling.Verdict, r.Ruling.Strength, r.Facts.Distinct, r.Story())
				}
				if n := s.Requests(); n > 110 {
					t.Errorf("%d requests\n%s", n, r.Story())
				}
			})
		}
	}
}

// cuttable reports whether a client that cuts is bound to reach COMPLETE: a
// quiet, honest world of exact totals behind one cap, with no more items at one
// key than the cap lets through.
func cuttable(s *sim.Sim) bool {
	if len(s.Faults) != 1 || len(s.World.Changes) > 0 || s.World.Churn.Every > 0 || s.World.Keyless > 0 ||
		s.API.Total.Kind != sim.TotalExact || s.API.Style == sim.Single {
		return false
	}
	c, capped := s.Faults[0].Effect.(sim.Cap)
	at := map[int64]int{}
	for _, it := range s.World.Items {
		if at[it.Sort]++; at[it.Sort] > c.At {
			return false
		}
	}
	return capped
}

// TestCappedWorldsAreCut holds the share of capped worlds that are read whole.
func TestCappedWorldsAreCut(t *testing.T) {
	n, whole := 0, 0
	for seed := uint64(1); seed <= 1000; seed++ {
		s := sim.Random(rand.New(rand.NewPCG(seed, uint64(len(sim.Sliced)))), sim.Sliced)
		if !cuttable(s) {
			continue
		}
		n++
		r := drainSim(t, s)
		if r.Ruling.Verdict == judge.Complete {
			whole++
		}
	}
	if n < 30 || float64(whole) < 0.95*float64(n) {
		t.Errorf("%d of %d capped worlds were read whole, want 0.95", whole, n)
	}
	t.Logf("%d of %d", whole, n)
}

// says reports whether a rule spoke, and in which words.
func says(r fetchertest.Result, id string) (string, bool) {
	for _, e := range r.Ruling.Evidence {
		if e.ID == id {
			return e.Text, true
		}
	}
	return "", false
}

// mustSay checks verdict and words of a run.
func mustSay(t *testing.T, r fetchertest.Result, v judge.Verdict, id, words string) {
	t.Helper()
	text, ok := says(r, id)
	if r.Ruling.Verdict != v || !ok || !strings.Contains(text, words) {
		t.Errorf("%s; %s says %q, want %s and %q\n%s", r.Ruling.Verdict, id, text, v, words, r.Story())
	}
}

func capped(at int) sim.Fault {
	return sim.Fault{Effect: sim.Cap{At: at, Past: sim.CapCollapse, Pages: true}}
}

// TestIgnoredRangeIsNoticed: a server that drops the range filter costs few
// requests, and the report names the parameter as ignored.
func TestIgnoredRangeIsNoticed(t *testing.T) {
	s := sim.New(sim.NewWorld(700, sim.IntID), cutAPI(20), 1, capped(100), sim.Fault{Effect: sim.LoseFilter{}})
	mustSay(t, drainSim(t, s), judge.Truncated, "RC055", "ignored")
	if n := s.Requests(); n > 60 {
		t.Errorf("%d requests to an API that ignores its range", n)
	}
}

// TestItemsWithoutKeyAreMissed: the sum tells their number.
func TestItemsWithoutKeyAreMissed(t *testing.T) {
	w := sim.NewWorld(700, sim.IntID)
	w.Keyless = 70
	r := drainSim(t, sim.New(w, cutAPI(20), 1, capped(100)))
	missing := 10 - keyless(r)
	mustSay(t, r, judge.Truncated, "RC053", fmt.Sprintf("%d items lie in no", missing))
	if r.Ruling.Missing == nil || *r.Ruling.Missing != int64(missing) {
		t.Errorf("missing %v, want %d", r.Ruling.Missing, missing)
	}
}

// keyless counts the held items that lack the key: the first walk brought them.
func keyless(r fetchertest.Result) (n int) {
	for _, l := range r.Memory.Lines {
		if !strings.Contains(string(l), `"created_at_i"`) {
			n++
		}
	}
	return n
}

// shelf is a search over items with a time and a set, 100 of each query, by
// pages of 20.
func shelf(ts []int, sets string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		num := func(name string, missing int) int {
			n, err := strconv.Atoi(r.URL.Query().Get(name))
			if err != nil {
				return missing
			}
			return n
		}
		var hits []string
		for i, t := range ts {
			set := string(sets[i%len(sets)])
			if want := r.URL.Query().Get("set"); t >= num("from", t) && t < num("to", t+1) && (want == "" || want == set) {
				hits = append(hits, fmt.Sprintf(`{"id":%d,"ts":%d,"set":%q}`, i, t, set))
			}
		}
		at := min(20*num("page", 0), len(hits), 100)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"total":%d,"items":[%s]}`, len(hits), strings.Join(hits[at:min(at+20, len(hits), 100)], ","))
	})
}

// drainShelf drains a shelf, cut by the keys.
func drainShelf(t *testing.T, h http.Handler, keys ...*slicing.Key) (reconcile.Ruling, reconcile.Facts) {
	t.Helper()
	return drainPages(t, h, 20, adapters.Pages{}, slicing.Spec{Keys: keys, Wholes: []slicing.Range{{Lo: 0, Hi: 1000}, {}}[:len(keys)]})
}

// drainRack drains a rack, which has a has-more flag.
func drainRack(t *testing.T, h http.Handler, spec slicing.Spec) (reconcile.Ruling, reconcile.Facts) {
	t.Helper()
	return drainPages(t, h, 10, adapters.Pages{MorePath: "more"}, spec)
}

func drainPages(t *testing.T, h http.Handler, size int, p adapters.Pages, spec slicing.Spec) (reconcile.Ruling, reconcile.Facts) {
	t.Helper()
	p.Style, p.NumberParam, p.SizeParam, p.SizeStart = "page", "page", "limit", size
	r, err := adapters.NewReader(adapters.Spec{
		URL: "http://shelf.test/items", Pages: p,
		Items: adapters.Items{Path: "items", IDs: []string{"id"}}, Total: adapters.TotalSpec{Path: "total", Kind: judge.Exact},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &fetchertest.Memory{}
	f, err := fetcher.Drain(context.Background(), fetcher.Options{Reader: r, Sink: m, Ledger: m, Slicing: &spec,
		Client: fetcher.Client{Transport: transport{h}, BackoffMin: 1, BackoffMax: 2}})
	if err != nil {
		t.Fatal(err)
	}
	f.MaxFall = 100
	return reconcile.Rule(f), f
}

// TestSecondKey cuts what the first key cannot: 300 items of one moment, by the
// values of their set.
func TestSecondKey(t *testing.T) {
	var ts []int
	for i := range 900 {
		ts = append(ts, i)
		if i >= 300 && i < 600 {
			ts[i] = 300
		}
	}
	byTime := &slicing.Key{By: "ts", Kind: slicing.Int, Params: map[string][]string{"from": {"{from}"}, "to": {"{to}"}}}
	bySet := &slicing.Key{By: "set", Kind: slicing.Values, Values: []string{"A", "B", "C", "D"}, Params: map[string][]string{"set": {"{value}"}}}
	alone, f := drainShelf(t, shelf(ts, "ABCD"), byTime)
	if alone.Verdict != judge.Truncated || f.Slices.Irreducible != 1 || !strings.Contains(f.Slices.Dense[0], "ts [300, 301) holds 300 items and hands out 100") {
		t.Errorf("by time alone: %s, %+v", alone.Verdict, f.Slices)
	}
	both, f := drainShelf(t, shelf(ts, "ABCD"), byTime, bySet)
	if both.Verdict != judge.Complete || both.Strength != reconcile.Counted || f.Distinct != 900 {
		t.Errorf("by time and set: %s %s, %d held\n%v", both.Verdict, both.Strength, f.Distinct, both.Evidence)
	}
	missing, f := drainShelf(t, shelf(ts, "ABCDE"), byTime, bySet)
	if missing.Verdict != judge.Truncated || missing.Missing == nil || *missing.Missing+f.Distinct != 900 {
		t.Errorf("a set that is not listed: %s, missing %v of 900, %d held\n%v", missing.Verdict, missing.Missing, f.Distinct, missing.Evidence)
	}
}

// TestSlicedRunSurvivesKills: a run of slices that dies again and again holds
// every item once.
func TestSlicedRunSurvivesKills(t *testing.T) {
	for seed := uint64(1); seed <= 60; seed++ {
		s := sim.New(sim.NewWorld(400, sim.IntID), cutAPI(20), seed, capped(100))
		synctest.Test(t, func(t *testing.T) {
			r, deaths, err := fetchertest.RunKilled(context.Background(), s, rand.New(rand.NewPCG(seed, 3)))
			if err != nil || deaths == 0 {
				t.Fatalf("%d deaths, %v", deaths, err)
			}
			if breach := r.Breach(); breach != "" || r.Ruling.Verdict != judge.Complete || len(r.Memory.Lines) != 400 {
				t.Errorf("seed %d: %s %s, %d lines\n%s", seed, breach, r.Ruling.Verdict, len(r.Memory.Lines), r.Story())
			}
		})
	}
}

// TestSlicesOfAMovingSource: inserts beyond the range and deletes inside it
// while slices are read. What lasted is held, and the run can say so.
func TestSlicesOfAMovingSource(t *testing.T) {
	whole := 0
	for seed := uint64(1); seed <= 40; seed++ {
		w := sim.NewWorld(600, sim.IntID)
		r := rand.New(rand.NewPCG(seed, 9))
		for n := 2; n < 60; n += 1 + r.IntN(6) {
			op := sim.Insert
			at := 600 // the newest
			if r.IntN(2) == 0 {
				op, at = sim.Delete, r.IntN(600)
			}
			w.Changes = append(w.Changes, sim.Change{Before: n, Op: op, Rank: at})
		}
		res := drainSim(t, sim.New(w, cutAPI(20), 1, capped(100)), func(o *fetcher.Options) { o.Slicing.ToNow = true })
		if res.Ruling.Verdict == judge.Complete {
			whole++
		}
	}
	if whole < 36 {
		t.Errorf("%d of 40 moving sources reached COMPLETE", whole)
	}
}

// TestSlicesDoubtAnEndWord: with slices configured, no total and no reach that is
// known, the end word of the whole is held against two halves of it: a cap leaves
// them items that the whole had not, and an honest end does not.
func TestSlicesDoubtAnEndWord(t *testing.T) {
	for name, c := range map[string]struct {
		api      func(*sim.API)
		strength reconcile.Strength
	}{
		"cursor": {func(a *sim.API) { a.Style, a.Token = sim.Cursor, sim.TokenRule{Path: "next"} }, reconcile.Corroborated},
		"more":   {func(a *sim.API) { a.Style, a.More = sim.Offset, sim.MoreRule{Path: "more"} }, reconcile.Corroborated},
		"link":   {func(a *sim.API) { a.Style, a.Links = sim.Link, sim.LinkRule{Others: true} }, reconcile.Corroborated},
	} {
		a := cutAPI(20)
		a.Total, a.Last = sim.TotalRule{}, sim.LastRule{}
		c.api(&a)
		for seed := range uint64(4) {
			whole := drainSim(t, sim.New(sim.NewWorld(300, sim.IntID), a, seed))
			if whole.Ruling.Verdict != judge.Complete || whole.Ruling.Strength != c.strength {
				t.Errorf("%s, an honest end: %s %s\n%s", name, whole.Ruling.Verdict, whole.Ruling.Strength, whole.Story())
			}
			s := sim.New(sim.NewWorld(700, sim.IntID), a, seed, sim.Fault{Effect: sim.Cap{At: 100, Past: sim.CapEnd}})
			if cut := drainSim(t, s); cut.Ruling.Verdict == judge.Complete || cut.Facts.Distinct < 600 {
				t.Errorf("%s, a cap: %s, %d of 700 held\n%s", name, cut.Ruling.Verdict, cut.Facts.Distinct, cut.Story())
			}
			ranged := sim.New(sim.NewWorld(700, sim.IntID), a, seed, sim.Fault{Effect: sim.Cap{At: 100, Past: sim.CapEnd}})
			r := drainSim(t, ranged, func(o *fetcher.Options) { o.Slicing.RangeOnly = true })
			if o := r.Facts.Slices; o == nil || r.Ruling.Verdict != judge.Complete || r.Facts.Distinct != 700 {
				t.Errorf("%s, a cap, the range alone: %s, %d of 700 held\n%s", name, r.Ruling.Verdict, r.Facts.Distinct, r.Story())
			}
		}
	}
}

// TestWrongBounds: a config that calls half-open bounds closed loses an item at
// each border, and the sum shows it, whatever moves meanwhile.
func TestWrongBounds(t *testing.T) {
	var ts []int
	for i := range 900 {
		ts = append(ts, i)
	}
	k := &slicing.Key{By: "ts", Kind: slicing.Int, Closed: true, Params: map[string][]string{"from": {"{from}"}, "to": {"{to}"}}}
	quiet, f := drainShelf(t, shelf(ts, "A"), k)
	if quiet.Verdict != judge.Truncated || f.Distinct >= 900 {
		t.Errorf("quiet: %s, %d held\n%v", quiet.Verdict, f.Distinct, quiet.Evidence)
	}
	asked := 0
	moving := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked%7 == 0 && asked < 40 {
			ts = append(ts, 900+asked) // beyond what was there
		}
		shelf(ts, "A").ServeHTTP(w, r)
	})
	if r, f := drainShelf(t, moving, k); r.Verdict == judge.Complete {
		t.Errorf("moving: %s, %d held\n%v", r.Verdict, f.Distinct, r.Evidence)
	}
}

// TestSlicedRunGetsOn: a run that may hold one page at a time comes to its end all
// the same, in about as many pages.
func TestSlicedRunGetsOn(t *testing.T) {
	s := sim.New(sim.NewWorld(400, sim.IntID), cutAPI(20), 1, capped(100))
	synctest.Test(t, func(t *testing.T) {
		m := &fetchertest.Memory{}
		for life := 1; ; life++ {
			o, err := fetchertest.Options(s, m)
			if err != nil {
				t.Fatal(err)
			}
			if o.Budget = (fetcher.Budget{Pages: 1}); life > 1 {
				o.Resume = m.Resume()
			}
			f, err := fetcher.Drain(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if f.Stop != reconcile.StopBudget {
				r := fetchertest.Judge(s, m, f)
				if breach := r.Breach(); breach != "" || r.Ruling.Verdict != judge.Complete || len(m.Lines) != 400 || life > 40 {
					t.Errorf("%s %s, %d lines in %d lives\n%s", breach, r.Ruling.Verdict, len(m.Lines), life, r.Story())
				}
				return
			}
			if life > 100 {
				t.Fatalf("no end after %d lives\n%s", life, fetchertest.Judge(s, m, f).Story())
			}
		}
	})
}
