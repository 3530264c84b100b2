package fetcher_test

import (
	"context"
	"testing"
	"testing/synctest"

	"lastdrop/fetcher"
	"lastdrop/fetcher/fetchertest"
	"lastdrop/internal/sim"
	"lastdrop/internal/slicing"
)

// A walk over an open range is cut at the keys that it saw: also at those that it
// saw before a stop.
func TestOpenRangeSurvivesStops(t *testing.T) {
	for _, pages := range []int64{1, 3, 5, 7, 9} {
		a := cutAPI(20)
		a.Style, a.Last, a.Total, a.Token = sim.Cursor, sim.LastRule{}, sim.TotalRule{}, sim.TokenRule{Kind: sim.TokenOffset, Path: "next"}
		s := sim.New(sim.NewWorld(300, sim.IntID), a, 1, sim.Fault{Effect: sim.Cap{At: 100, Past: sim.CapError, Code: 400}})
		open := func(o *fetcher.Options) {
			k := o.Slicing.Keys[0]
			k.FromParams = map[string][]string{"numericFilters": {"created_at_i>={from}"}}
			k.ToParams = map[string][]string{"numericFilters": {"created_at_i<{to}"}}
			o.Slicing.Wholes = []slicing.Range{{OpenLo: true, OpenHi: true}}
		}
		synctest.Test(t, func(t *testing.T) {
			plain, err := fetchertest.Run(context.Background(), s, open)
			if err != nil {
				t.Fatal(err)
			}
			if plain.Facts.Slices == nil || plain.Facts.Distinct != 300 {
				t.Fatalf("%d held\n%s", plain.Facts.Distinct, plain.Story())
			}
			m := &fetchertest.Memory{}
			for stops := 0; ; stops++ {
				o, err := fetchertest.Options(s, m)
				if err != nil {
					t.Fatal(err)
				}
				open(&o)
				if o.Budget.Pages = pages; stops > 0 {
					o.Budget.Pages, o.Resume = 0, m.Resume()
				}
				f, err := fetcher.Drain(context.Background(), o)
				if err != nil {
					t.Fatal(err)
				}
				if f.Stop.Resumable() && stops == 0 {
					continue
				}
				got := fetchertest.Judge(s, m, f)
				if stops != 1 || got.Ruling.Verdict != plain.Ruling.Verdict || f.Distinct != 300 || f.Distinct != plain.Facts.Distinct {
					t.Errorf("stopped after %d pages: %s after %d stops, %d held; without one %s, %d\n%s", pages, got.Ruling.Verdict, stops, f.Distinct,
						plain.Ruling.Verdict, plain.Facts.Distinct, got.Story())
				}
				return
			}
		})
	}
}
