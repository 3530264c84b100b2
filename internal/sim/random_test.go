package sim

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
)

// roll is the Sim of a seed.
func seeded(seed uint64, p Profile) *Sim {
	return Random(rand.New(rand.NewPCG(seed, 7)), p)
}

func TestRandomIsDeterministic(t *testing.T) {
	for _, p := range Profiles() {
		for seed := range uint64(60) {
			a, b := seeded(seed, p), seeded(seed, p)
			if !reflect.DeepEqual(a.World, b.World) || !reflect.DeepEqual(a.API, b.API) ||
				!reflect.DeepEqual(a.Faults, b.Faults) {
				t.Fatalf("%s seed %d: two draws differ", p, seed)
			}
			try(t, a)
			first := digests(a)
			try(t, b)
			a.Reset()
			try(t, a)
			if !slices.Equal(first, digests(b)) || !slices.Equal(first, digests(a)) {
				t.Fatalf("%s seed %d: two runs differ\n%s", p, seed, dump(a))
			}
		}
	}
}

// try lets the plain client loose on a Sim, in a bubble where no wait is real.
// A hostile world may well fail it.
func try(t *testing.T, s *Sim) (held map[string]bool, err error) {
	synctest.Test(t, func(*testing.T) { held, err = drain(s) })
	return held, err
}

// digests are the answers of a run.
func digests(s *Sim) []uint64 {
	var out []uint64
	for _, e := range s.Log() {
		out = append(out, e.digest^uint64(e.Status))
	}
	return out
}

func TestRandomCoversEverything(t *testing.T) {
	fired := map[string]int{}
	styles := map[Style]int{}
	ops := map[Op]int{}
	for seed := range uint64(5000) {
		s := seeded(seed, Profiles()[seed%6])
		try(t, s)
		styles[s.API.Style]++
		for name, n := range s.Counts() {
			fired[name] += n
		}
		for _, c := range s.World.Changes {
			ops[c.Op]++
		}
	}
	for name := range drawable() {
		if fired[name] == 0 {
			t.Errorf("effect %s never fired", name)
		}
	}
	t.Log(fired)
	for _, style := range Styles() {
		if styles[style] < 200 {
			t.Errorf("style %s came %d times", style, styles[style])
		}
	}
	for _, op := range []Op{Insert, Delete, Update, Move} {
		if ops[op] == 0 {
			t.Errorf("change %s never came", op)
		}
	}
}

// drawable are the names of every effect that the catalogue can make.
func drawable() map[string]bool {
	names := map[string]bool{}
	s := New(NewWorld(40, IntID), API{}, 1)
	r := roll{rand.New(rand.NewPCG(3, 3))}
	for _, kind := range catalogue() {
		for range 60 {
			names[kind.make(r, s).Name()] = true
		}
	}
	return names
}

func TestRandomHarmMatchesProfile(t *testing.T) {
	allowed := map[Profile][]harm{
		Clean: {}, Faulty: {harmless, passing}, Moving: {harmless, passing},
	}
	for p, harms := range allowed {
		for seed := range uint64(300) {
			for _, f := range seeded(seed, p).Faults {
				if !slices.Contains(harms, f.Effect.harm()) {
					t.Fatalf("%s seed %d has %s", p, seed, f.Effect.Name())
				}
			}
		}
	}
}

func TestUnknowableIsRare(t *testing.T) {
	count := map[Profile][3]int{}
	for seed := range uint64(1200) {
		p := Profiles()[seed%6]
		s := seeded(seed, p)
		held, err := try(t, s)
		truth := s.Truth()
		lost := slices.ContainsFunc(truth.Always, func(k string) bool { return !held[k] })
		c := count[p]
		c[0]++
		if lost && err == nil {
			c[1]++
			if truth.Unknowable {
				c[2]++
			}
		}
		if p == Clean && truth.Unknowable {
			t.Errorf("seed %d: a clean world is unknowable", seed)
		}
		count[p] = c
	}
	for _, p := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%s: of %d worlds the plain client lost items in %d, unknowably in %d", p, count[p][0], count[p][1], count[p][2])
	}
}
