package fetcher_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"lastdrop/fetcher"
	"lastdrop/fetcher/fetchertest"
	"lastdrop/internal/sim"
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
