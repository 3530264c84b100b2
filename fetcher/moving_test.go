package fetcher_test

import (
	"math/rand/v2"
	"testing"

	"lastdrop/fetcher"
	"lastdrop/internal/racing"
	"lastdrop/internal/sim"
	"lastdrop/judge"
)

// movingWorld is a source in which before each request an item is inserted or
// deleted at a random place, with a chance of percent in a hundred.
func movingWorld(seed uint64, n, percent int) sim.World {
	r := rand.New(rand.NewPCG(seed, 77))
	w := sim.NewWorld(n, sim.IntID)
	for before := 2; before < 400; before++ {
		if r.IntN(100) >= percent {
			continue
		}
		op := sim.Insert
		if r.IntN(2) == 0 {
			op = sim.Delete
		}
		w.Changes = append(w.Changes, sim.Change{Before: before, Op: op, Rank: r.IntN(n)})
	}
	return w
}

// movingStyles are the ways to walk a source whose positions can be held while it
// moves: by rows with an overlap, by page numbers with a smaller size, by the
// last item's own key.
func movingStyles() map[string]sim.API {
	exact := sim.TotalRule{Kind: sim.TotalExact, Path: "total"}
	size := sim.SizeRule{Default: 20}
	return map[string]sim.API{
		"offset":  {Style: sim.Offset, Items: "items", Total: exact, Size: size},
		"page":    {Style: sim.Page, Items: "items", Total: exact, Size: size},
		"algolia": {Style: sim.Algolia, Items: "hits", ID: "objectID", Total: sim.TotalRule{Kind: sim.TotalExact, Path: "nbHits"}, Last: sim.LastRule{Path: "nbPages"}, Size: size},
		"keyset": {Style: sim.Keyset, Items: "items", Total: exact, Size: size, SortField: "rank", More: sim.MoreRule{Path: "more"},
			Key: sim.KeyRule{Inclusive: true}},
	}
}

// opaqueStyles walk by the server's own tokens, which may count rows: only a
// pass in which nothing moved can be believed.
func opaqueStyles() map[string]sim.API {
	exact := sim.TotalRule{Kind: sim.TotalExact, Path: "total"}
	size := sim.SizeRule{Default: 20}
	return map[string]sim.API{
		"cursor":      {Style: sim.Cursor, Items: "items", Total: exact, Size: size, Token: sim.TokenRule{Kind: sim.TokenKey, Path: "next"}},
		"row cursor":  {Style: sim.Cursor, Items: "items", Total: exact, Size: size, Token: sim.TokenRule{Kind: sim.TokenOffset, Path: "next"}},
		"link":        {Style: sim.Link, Items: "items", Total: exact, Size: size, Links: sim.LinkRule{Others: true}},
		"next offset": {Style: sim.NextURL, Items: "items", Total: exact, Size: size, Next: sim.NextRule{Path: "next"}},
	}
}

// TestMovingSources holds the law, and the share of COMPLETE, at rates up to one
// change a request.
func TestMovingSources(t *testing.T) {
	runs := racing.Less(25, 2)
	for name, api := range movingStyles() {
		whole := 0
		for _, percent := range []int{5, 25, 50, 100} {
			for seed := range uint64(runs) {
				r := drainSim(t, sim.New(movingWorld(seed, 300, percent), api, seed))
				if r.Ruling.Verdict == judge.Complete {
					whole++
				}
				if r.Facts.Passes > 3 {
					t.Errorf("%s: %d passes", name, r.Facts.Passes)
				}
			}
		}
		t.Logf("%s: %d of %d moving sources reached COMPLETE", name, whole, 4*runs)
		if float64(whole) < 0.98*float64(4*runs) {
			t.Errorf("%s: %d of %d moving sources reached COMPLETE, want 0.98", name, whole, 4*runs)
		}
	}
}

// TestMovingBehindTokens holds the law where positions are the server's own.
func TestMovingBehindTokens(t *testing.T) {
	for _, api := range opaqueStyles() {
		for seed := range uint64(60) {
			drainSim(t, sim.New(movingWorld(seed, 200, 1+int(seed%20)), api, seed))
		}
	}
}

// TestMovingSourceHidesNoItemFromSlices: while a source moves, one item that
// lacks the slices' key shows in nothing but the comparison of the whole with
// its slices. Totals that agree by chance must not hide it.
func TestMovingSourceHidesNoItemFromSlices(t *testing.T) {
	for _, percent := range []int{25, 50, 100} {
		seen := 0
		for seed := range uint64(30) {
			w := movingWorld(seed, 200, percent)
			w.Keyless = 151
			r := drainSim(t, sim.New(w, cutAPI(50), 1, capped(100)), func(o *fetcher.Options) { o.Slicing.ToNow = true })
			if _, ok := says(r, "RC053"); ok {
				seen++
			}
		}
		t.Logf("%d %%: seen in %d of 30 runs", percent, seen)
	}
}
