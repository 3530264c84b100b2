package pull_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"lastdrop/configs"
	"lastdrop/internal/pull"
	"lastdrop/internal/sim"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// TestEachWorlds drains fan-outs over random hostile worlds, three children
// each, stopped at random requests and taken up again, and holds every child's
// file against its world's truth.
func TestEachWorlds(t *testing.T) {
	verdicts := map[judge.Verdict]int{}
	// Whether a loss in a world that moves or lies could be known takes the
	// facts of each walk, which a store does not keep: the law of single runs
	// has those worlds.
	profiles := []sim.Profile{sim.Clean, sim.Faulty, sim.Capped}
	for i := range 18 {
		p := profiles[i%len(profiles)]
		t.Run(fmt.Sprint(p, " ", i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { verdicts[newFleet(t, p, uint64(i)).drain(t).Verdict]++ })
		})
	}
	if verdicts[judge.Complete] == 0 || len(verdicts) < 3 {
		t.Errorf("verdicts %v: too much of one kind to tell anything", verdicts)
	}
}

// A fleet is a fan-out over worlds of one API, each of which changes and fails
// on its own.
type fleet struct {
	dice   *rand.Rand
	sims   map[string]*sim.Sim
	dir    string
	config *configs.Config
	left   int // requests until the signal
	cancel func()
}

func newFleet(t *testing.T, p sim.Profile, seed uint64) *fleet {
	f := &fleet{dice: rand.New(rand.NewPCG(seed, uint64(len(p)))), sims: map[string]*sim.Sim{}, dir: t.TempDir()}
	first := sim.Random(f.dice, p)
	for i, name := range []string{"a", "b", "c"} {
		s := sim.New(first.World, first.API, first.Seed+uint64(i), first.Faults...)
		s.Contract = first.Contract
		f.sims[name] = s
	}
	text := first.Hints().YAML("world", "http://api.test/{repo}") + "\nfor_each: {as: repo, values: [a, b, c]}\nlimits: {retries: 3, max_requests: 2000}\n" +
		fmt.Sprintf("output: {to: %q}\n", filepath.Join(f.dir, "{repo}.jsonl"))
	var err error
	if f.config, err = configs.Parse("world.yaml", []byte(text), nil); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

// RoundTrip answers from the world that a request's path names.
func (f *fleet) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.left--; f.left == 0 {
		f.cancel()
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s := f.sims[name]
	if s == nil {
		return nil, errors.New("no such host")
	}
	return s.Transport().RoundTrip(r)
}

// drain runs the fan-out in several lives.
func (f *fleet) drain(t *testing.T) (rep reconcile.Report) {
	for life := range 6 {
		ctx, cancel := context.WithCancel(context.Background())
		f.cancel, f.left = cancel, 1+f.dice.IntN(40)
		if life == 5 {
			f.left = 0
		}
		st, err := store.Open(context.Background(), filepath.Join(f.dir, "runs.db"))
		if err != nil {
			t.Fatal(err)
		}
		rep, err = pull.Run(ctx, pull.Options{Config: f.config, Store: st, Version: "test", Transport: f})
		cancel()
		if err = errors.Join(err, st.Close()); err != nil {
			t.Fatal(err)
		}
		for name, s := range f.sims {
			f.check(t, name, s, rep.Verdict)
		}
		if rep.State != "stopped" {
			break
		}
	}
	return rep
}

// check holds the file of a child against its world.
func (f *fleet) check(t *testing.T, name string, s *sim.Sim, whole judge.Verdict) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(f.dir, name+".jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	truth, held := s.Truth(), map[string]int{}
	for line := range bytes.Lines(body) {
		key, err := s.KeyOf(line)
		if err != nil {
			t.Fatalf("%s holds %q: %v", name, line, err)
		}
		if held[key]++; held[key] > 1 || !truth.Ever[key] {
			t.Errorf("%s: item %s is held %d times, and ever was: %v", name, key, held[key], truth.Ever[key])
		}
	}
	for _, key := range truth.Always {
		if whole == judge.Complete && held[key] == 0 && !truth.Unknowable && !truth.LastWalk {
			t.Fatalf("COMPLETE, and item %s of %s is missing", key, name)
		}
	}
}
