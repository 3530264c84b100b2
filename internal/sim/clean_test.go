package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestCleanWorldsDrainExactly(t *testing.T) {
	styles := map[Style]int{}
	for seed := range uint64(1400) {
		s := Random(rand.New(rand.NewPCG(seed, 1)), Clean)
		held, err := drain(s)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, dump(s))
		}
		truth := s.Truth()
		if len(held) != len(truth.Always) {
			t.Fatalf("seed %d: held %d of %d\n%s", seed, len(held), len(truth.Always), dump(s))
		}
		for _, k := range truth.Always {
			if !held[k] {
				t.Fatalf("seed %d: %s is missing\n%s", seed, k, dump(s))
			}
		}
		if truth.Unknowable {
			t.Fatalf("seed %d: unknowable though all was served", seed)
		}
		styles[s.API.Style]++
	}
	for _, style := range Styles() {
		if styles[style] < 60 {
			t.Errorf("style %s came %d times", style, styles[style])
		}
	}
}

// dump shows a Sim and the end of its log.
func dump(s *Sim) string {
	out := fmt.Sprintf("%d items, api %+v\nchanges %+v\nfaults %+v\nhints %+v\n",
		len(s.World.Items), s.API, s.World.Changes, s.Faults, s.Hints())
	log := s.Log()
	for _, e := range log[max(0, len(log)-12):] {
		out += fmt.Sprintf("%d %s %s: %s from %d size %d/%d try %d: %d, %d items %v\n", e.N, e.Method, e.URL, e.Place,
			e.From, e.Size, e.Asked, e.Attempt, e.Status, e.Items, e.Faults)
	}
	return out
}
