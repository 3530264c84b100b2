package fetcher_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"lastdrop/fetcher/fetchertest"
	"lastdrop/internal/sim"
	"lastdrop/internal/sim/simtest"
	"lastdrop/judge"
)

// TestWorldsThatOnceFailed drains the worlds of testdata/worlds.txt: each of
// them once broke the law, or kept a run from an end that was there.
func TestWorldsThatOnceFailed(t *testing.T) {
	f, err := os.Open("testdata/worlds.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var p sim.Profile
		var seed uint64
		if _, err := fmt.Sscan(line, &p, &seed); err != nil {
			t.Fatalf("testdata/worlds.txt: %q: want a profile and a seed: %v", line, err)
		}
		n++
		r := drainWorld(t, p, seed)
		if breach := r.Breach(); breach != "" {
			t.Errorf("%s world %d: %s\n%s", p, seed, breach, r.Story())
		}
		if ok, why := fetchertest.Drainable(r.Sim); ok && r.Ruling.Verdict != judge.Complete {
			t.Errorf("%s world %d can be drained (%s)\n%s", p, seed, why, r.Story())
		}
	}
	if n == 0 {
		t.Error("testdata/worlds.txt holds no world")
	}
}

// TestLawShrinking is the one law with a search that shrinks what it finds to
// a small, plain world.
func TestLawShrinking(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := simtest.Draw(rt, simtest.DrawProfile(rt))
		var r fetchertest.Result
		var err error
		synctest.Test(t, func(*testing.T) { r, err = fetchertest.Run(context.Background(), s) })
		if err != nil {
			rt.Fatal(err)
		}
		if breach := r.Breach(); breach != "" {
			rt.Fatalf("%s\n%s", breach, r.Story())
		}
	})
}

// TestCleanWorldsTakeFewRequests holds the price of a clean source: its pages
// and at most two requests more.
func TestCleanWorldsTakeFewRequests(t *testing.T) {
	seen := 0
	for seed := uint64(1); seed <= 300; seed++ {
		r := drainWorld(t, sim.Clean, seed)
		if len(r.Sim.Faults) > 0 || r.Ruling.Verdict != judge.Complete {
			continue
		}
		seen++
		pages := int64(0) // requests that brought something new
		for _, a := range r.Memory.Attempts {
			if a.New > 0 {
				pages++
			}
		}
		most := max(1, pages) + 2
		if r.Facts.Counts.Distinct == 1 {
			most++ // the overlap with a page of one item is all of it, so it goes out once more without
		}
		if got := r.Facts.Counts.Requests; got > most {
			t.Errorf("clean world %d: %d requests for %d pages\n%s", seed, got, pages, r.Story())
		}
	}
	if seen < 200 {
		t.Errorf("only %d of 300 clean worlds were drained", seen)
	}
}

// TestLawAcrossKills kills the process at random checkpoints, before or after
// they are durable, and takes the run up again: the law holds over the whole,
// and no item is lost or doubled at a seam.
func TestLawAcrossKills(t *testing.T) {
	profiles := sim.Profiles()
	killed, complete := 0, 0
	for i := range 400 {
		p, seed := profiles[i%len(profiles)], uint64(500_000+i)
		var r fetchertest.Result
		synctest.Test(t, func(t *testing.T) {
			var err error
			var n int
			dice := rand.New(rand.NewPCG(seed, 7))
			s := sim.Random(rand.New(rand.NewPCG(seed, uint64(len(p)))), p)
			r, n, err = fetchertest.RunKilled(context.Background(), s, dice)
			if err != nil {
				t.Fatalf("%s world %d: %v", p, seed, err)
			}
			killed += n
		})
		if breach := r.Breach(); breach != "" {
			t.Errorf("%s world %d: %s\n%s", p, seed, breach, r.Story())
		}
		if r.Ruling.Verdict == judge.Complete {
			complete++
		}
	}
	t.Logf("%d kills, %d of 400 runs COMPLETE", killed, complete)
	if killed < 200 || complete < 50 {
		t.Errorf("%d kills and %d COMPLETE runs prove little", killed, complete)
	}
}
