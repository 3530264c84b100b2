package fetcher_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"lastdrop/fetcher/fetchertest"
	"lastdrop/internal/racing"
	"lastdrop/internal/sim"
	"lastdrop/judge"
)

var (
	worlds    = flag.Int("worlds", racing.Less(1050, 2), "random worlds to drain, over all profiles")
	firstSeed = flag.Uint64("seed", 1, "seed of the first world")
	profile   = flag.String("profile", "", "only this profile of worlds")
	tell      = flag.Bool("tell", false, "tell the story of every world that should have been drained and was not")
)

// drainWorld drains one random world in a bubble, where waiting costs nothing.
func drainWorld(t *testing.T, p sim.Profile, seed uint64) (r fetchertest.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		s := sim.Random(rand.New(rand.NewPCG(seed, uint64(len(p)))), p)
		if r, err = fetchertest.Run(context.Background(), s); err != nil {
			t.Fatalf("%s world %d: %v", p, seed, err)
		}
	})
	return r
}

type tally struct{ worlds, complete, drainable, drained, unknowable int }

// TestLaw is the one law as a property over random hostile worlds: a run that
// says COMPLETE holds every item that lasted, exactly once; no run holds an
// item twice, or one that never was.
func TestLaw(t *testing.T) {
	profiles := sim.Profiles()
	if *profile != "" {
		profiles = []sim.Profile{sim.Profile(*profile)}
	}
	sums := map[sim.Profile]*tally{}
	breaches := 0
	for i := range *worlds {
		p := profiles[i%len(profiles)]
		seed := *firstSeed + uint64(i)
		r := drainWorld(t, p, seed)
		if sums[p] == nil {
			sums[p] = &tally{}
		}
		sums[p].add(r)
		if breach := r.Breach(); breach != "" {
			t.Errorf("%s world %d: %s", p, seed, breach)
			if breaches++; breaches <= 3 {
				t.Log(r.Story())
			}
		}
		if ok, _ := fetchertest.Drainable(r.Sim); ok && *tell && r.Ruling.Verdict != judge.Complete {
			fmt.Printf("%s world %d could be drained\n%s\n", p, seed, r.Story())
		}
	}
	all := &tally{}
	for _, p := range slices.Sorted(maps.Keys(sums)) {
		s := sums[p]
		t.Logf("%-7s %5d worlds: %5d COMPLETE, %d of %d drainable ones, %d unknowable", p, s.worlds, s.complete, s.drained, s.drainable, s.unknowable)
		all.worlds += s.worlds
		all.drainable += s.drainable
		all.drained += s.drained
	}
	t.Logf("%d worlds, %d false COMPLETE, %.4f of the %d drainable ones reached COMPLETE", all.worlds, breaches, share(all), all.drainable)
	if breaches > 0 {
		t.Errorf("%d breaches of the law in %d worlds", breaches, all.worlds)
	}
	if share(all) < 0.99 {
		t.Errorf("only %.4f of the worlds that can be drained reached COMPLETE, want 0.99", share(all))
	}
}

// TestLawXML is the same law over worlds that answer in XML.
func TestLawXML(t *testing.T) {
	sum := &tally{}
	for i := range *worlds / 3 {
		p, seed := sim.Profiles()[i%len(sim.Profiles())], uint64(700_000+i)
		s := sim.Random(rand.New(rand.NewPCG(seed, uint64(len(p)))), p)
		if !s.ToXML() {
			continue
		}
		var r fetchertest.Result
		synctest.Test(t, func(t *testing.T) {
			var err error
			if r, err = fetchertest.Run(context.Background(), s); err != nil {
				t.Fatalf("%s world %d: %v", p, seed, err)
			}
		})
		sum.add(r)
		if breach := r.Breach(); breach != "" {
			t.Errorf("%s world %d: %s\n%s", p, seed, breach, r.Story())
		}
		if ok, _ := fetchertest.Drainable(r.Sim); ok && *tell && r.Ruling.Verdict != judge.Complete {
			fmt.Printf("%s world %d could be drained\n%s\n", p, seed, r.Story())
		}
	}
	t.Logf("%d worlds: %d COMPLETE, %d of %d drainable ones", sum.worlds, sum.complete, sum.drained, sum.drainable)
	if sum.worlds < *worlds/5 || share(sum) < 0.99 {
		t.Errorf("%d worlds in XML, and %d of %d drainable ones reached COMPLETE, want 0.99", sum.worlds, sum.drained, sum.drainable)
	}
}

func share(t *tally) float64 {
	if t.drainable == 0 {
		return 1
	}
	return float64(t.drained) / float64(t.drainable)
}

func (t *tally) add(r fetchertest.Result) {
	truth := r.Sim.Truth()
	complete := r.Ruling.Verdict == judge.Complete
	t.worlds++
	if complete {
		t.complete++
	}
	if truth.Unknowable && complete {
		t.unknowable++
	}
	if ok, _ := fetchertest.Drainable(r.Sim); ok {
		t.drainable++
		if complete {
			t.drained++
		}
	}
}
