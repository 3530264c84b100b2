package fetcher_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lastdrop/internal/sim"
	"lastdrop/judge"
)

// Closed ranges share a bound, and items stand on many of them: none is missed
// in a sum, and none counted twice to make up for another.
func TestSlicesThatShareBounds(t *testing.T) {
	for seed := range uint64(6) {
		for _, times := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d times %v", seed, times), func(t *testing.T) {
				a := cutAPI(20)
				a.Filter, a.SortTime = sim.FilterRule{From: "from", To: "to", Closed: true}, times
				r := rand.New(rand.NewPCG(seed, 9))
				w := sim.NewWorld(600, sim.IntID)
				var at []int64
				for len(at) < len(w.Items) { // crowds here and there
					from := 1_700_000_000 + r.Int64N(100_000)
					for range min(1+r.IntN(90), len(w.Items)-len(at)) {
						at = append(at, from+r.Int64N(60))
					}
				}
				slices.Sort(at)
				for i := range w.Items {
					w.Items[i].Sort = at[i]
				}
				s := sim.New(w, a, 1, sim.Fault{Effect: sim.Cap{At: 60, Past: sim.CapError, Code: 400}})
				got := drainSim(t, s)
				if got.Ruling.Verdict != judge.Complete || got.Facts.Distinct != 600 || got.Facts.Slices.Strays > 0 {
					t.Errorf("%s, %d held\n%s", got.Ruling.Verdict, got.Facts.Distinct, got.Story())
				}
			})
		}
	}
}
