package simtest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"lastdrop/fetcher/fetchertest"
	"lastdrop/internal/sim"
)

func TestDbg(t *testing.T) {
	ps := sim.Profiles()
	for i := range uint64(4000) {
		p := ps[i%6]
		seed := 1 + i
		synctest.Test(t, func(t *testing.T) {
			s := sim.Random(rand.New(rand.NewPCG(seed, uint64(len(p)))), p)
			r, err := fetchertest.Run(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			if b := r.Breach(); b != "" {
				tr := s.Truth()
				var fs string
				for _, f := range s.Faults {
					fs += fmt.Sprintf(" %s%+v@%+v", f.Effect.Name(), f.Effect, f.Match)
				}
				fmt.Printf("%s %d: %.90s | lastwalk %v | %s by %s total %+v more %+v last %+v links %+v eager %v key %+v token %+v changes %d |%.300s\n", p, seed, b, tr.LastWalk, s.API.Style, s.API.Addressing, s.API.Total, s.API.More, s.API.Last, s.API.Links, s.API.Eager, s.API.Key, s.API.Token, len(s.World.Changes), fs)
			}
		})
	}
}
