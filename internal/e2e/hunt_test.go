//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"os"
)

func TestHunt(t *testing.T) {
	s := startCellar(t, 10)
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	stats := map[string]int{}
	for i := range 400 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		n := 40 + rng.IntN(40)
		size := 4 + rng.IntN(10)
		style := rng.IntN(4)
		config := []string{bottlesByPage, strings.Replace(bottlesByPage, "/page/", "/newest/", 1), bottlesByOffset,
			strings.Replace(bottlesByOffset, "style: offset, offset: {param: offset}", "style: next_url, next: {path: next}", 1)}[style]
		config = strings.Replace(config, "start: 100", fmt.Sprint("start: ", size), 1) + "complete: {max_drift: 100%}\n"
		s.refill(t, n)
		before := s.bottles(t)
		at := map[int]func() error{}
		plan := ""
		for range 1 + rng.IntN(4) {
			k := 2 + rng.IntN(n/size+2)
			ops := rng.IntN(3)
			a, b := 1+rng.IntN(n), rng.IntN(4)
			c := 1 + rng.IntN(3)
			plan += fmt.Sprintf(" at %d op %d a %d b %d c %d;", k, ops, a, b, c)
			at[k] = func() error {
				if ops != 1 {
					for id := a; id <= min(n, a+b); id++ {
						_ = s.drink(id)
					}
				}
				if ops != 0 {
					return s.lay(c)
				}
				return nil
			}
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			p := newTap(t, s.server, at)
			r := drain(t, p.base, config)
			for k := range p.at {
				delete(p.at, k)
			}
			after := s.bottles(t)
			seen := false
			for _, e := range r.Evidence {
				seen = seen || e.ID == "RC039" || e.ID == "RC006"
			}
			stats[fmt.Sprint(style, r.Verdict, seen)]++
			lost := without(both(before, after), r.ids(t, "id"))
			if r.Verdict == complete && len(lost) > 0 && !seen && style != 2 {
				stats["traceless"]++
				return
			}
			r.law(t, "id", both(before, after), slices.Concat(before, after, ids(1, 100000)))
			if t.Failed() {
				t.Log(n, size, style, plan)
			}
		})
	}
	t.Log(stats)
}
