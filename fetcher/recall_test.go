package fetcher_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lastdrop/fetcher"
	"lastdrop/internal/sim"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A reach that an earlier run met makes no verdict worse than without it, and is
// of use where it still holds.
func TestRecalledReach(t *testing.T) {
	capped := sim.Fault{Effect: sim.Cap{At: 100, Past: sim.CapError, Code: 400}}
	recall := func(reach int64) func(*fetcher.Options) {
		return func(o *fetcher.Options) { o.Slicing.Reach, o.Slicing.Recalled = reach, "met by run 01a" }
	}
	silent := func(a *sim.API) { a.Total, a.Last = sim.TotalRule{}, sim.LastRule{Path: "nbPages"} }
	for _, c := range []struct {
		name    string
		keyless int
		api     func(*sim.API)
		faults  []sim.Fault
		recall  int64
		reach   int64 // in the report, 0: none
		sliced  bool  // the ruling rests on slices
	}{
		{"it still holds", 0, nil, []sim.Fault{capped}, 100, 100, true},
		{"the server hands out more now", 0, nil, []sim.Fault{capped}, 40, 40, true},
		{"and less", 0, nil, []sim.Fault{capped}, 250, 100, true},
		{"there is none any more", 0, nil, nil, 100, 100, true},
		{"there is none any more, and some items lie in no slice", 50, nil, nil, 100, 0, false},
		{"it still holds, and some items lie in no slice", 50, nil, []sim.Fault{capped}, 100, 100, true},
		{"the filter is ignored, and there is none any more", 0, nil, []sim.Fault{{Effect: sim.LoseFilter{}}}, 100, 0, false},
		{"the filter is ignored, and it still holds", 0, nil, []sim.Fault{{Effect: sim.LoseFilter{}}, capped}, 100, 100, true},
		{"no total tells, and there is none any more", 0, silent, nil, 100, 0, false},
		{"no total tells, a walk ends at it", 0, silent, nil, 700, 0, false},
		{"it was nonsense", 0, nil, nil, 1, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(change ...func(*fetcher.Options)) (reconcile.Ruling, reconcile.Facts, string) {
				a := cutAPI(20)
				a.Last = sim.LastRule{}
				if c.api != nil {
					c.api(&a)
				}
				w := sim.NewWorld(700, sim.IntID)
				w.Keyless = c.keyless
				r := drainSim(t, sim.New(w, a, 1, c.faults...), change...)
				return r.Ruling, r.Facts, r.Story()
			}
			plain, _, _ := run()
			got, facts, story := run(recall(c.recall))
			if got.Verdict != plain.Verdict {
				t.Errorf("%s with it, %s without\n%s", got.Verdict, plain.Verdict, story)
			}
			if facts.Reach.N != c.reach || (facts.Slices != nil) != c.sliced {
				t.Errorf("a reach of %v, sliced %v; want %d, %v\n%s", facts.Reach, facts.Slices != nil, c.reach, c.sliced, story)
			}
			if !strings.Contains(story, "met by run 01a") {
				t.Errorf("it is not said that it was used\n%s", story)
			}
		})
	}
}

// TestRecalledReachInWorlds draws worlds and a reach at random: the law holds,
// and where nothing moves no verdict is worse than without it.
func TestRecalledReachInWorlds(t *testing.T) {
	told := 0
	for seed := uint64(1); seed <= 80; seed++ {
		dice := rand.New(rand.NewPCG(seed, 41))
		world := func() *sim.Sim { return sim.Random(rand.New(rand.NewPCG(seed, uint64(len(sim.Sliced)))), sim.Sliced) }
		s := world()
		quiet := len(s.World.Changes) == 0 && s.World.Churn.Every == 0 && s.API.Total.Kind != sim.TotalJitter
		for _, f := range s.Faults { // which requests a fault meets is luck
			m := f.Match
			quiet = quiet && m.Every == 0 && m.After == 0 && m.Percent == 0 && len(m.Attempts) == 0
		}
		reach := 1 + dice.Int64N(60)
		got := drainSim(t, world(), func(o *fetcher.Options) {
			if o.Slicing != nil {
				o.Slicing.Reach, o.Slicing.Recalled = reach, "met by run 01a"
				told++
			}
		})
		if !quiet {
			continue
		}
		if plain := drainSim(t, s); plain.Ruling.Verdict == judge.Complete && got.Ruling.Verdict != judge.Complete {
			t.Errorf("seed %d, reach %d: %s with it, %s without\n%s\n%s", seed, reach, got.Ruling.Verdict, plain.Ruling.Verdict, got.Story(), plain.Story())
		}
	}
	if told < 80 {
		t.Errorf("only %d worlds were told of a reach", told)
	}
}
