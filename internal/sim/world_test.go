package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// names are the ids of items in their order.
func names(items []Item) []string {
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = it.ID.String()
	}
	return out
}

func TestIDs(t *testing.T) {
	cases := []struct {
		id         ID
		text, json string
	}{
		{ID{IntID, 17}, "17", "17"},
		{ID{TextID, 17}, "17", `"17"`},
		{ID{SlugID, 17}, "item-0000000017", `"item-0000000017"`},
		{ID{BigID, 1}, "9007199254740993", "9007199254740993"},
		{ID{HugeID, 17}, "18446744073709000000000017", "18446744073709000000000017"},
		{ID{NullID, 17}, "null", "null"},
		{ID{NoID, 17}, "", ""},
	}
	for _, c := range cases {
		if got := c.id.String(); got != c.json {
			t.Errorf("%+v: JSON %s, want %s", c.id, got, c.json)
		}
		if got := string(c.id.appendText(nil)); got != c.text {
			t.Errorf("%+v: text %s, want %s", c.id, got, c.text)
		}
		if c.id.named() && idNumber(c.text) != c.id.N {
			t.Errorf("%+v: number %d", c.id, idNumber(c.text))
		}
	}
}

func TestAlwaysAndEver(t *testing.T) {
	w := NewWorld(4, IntID)
	w.Changes = []Change{
		{Before: 1, Op: Delete, Rank: 0}, // before the run: item 1 never was
		{Before: 3, Op: Insert, Rank: 1}, // item 5 between 2 and 3
		{Before: 4, Op: Delete, Rank: 0}, // item 2
		{Before: 5, Op: Update, Rank: 0}, // item 5
		{Before: 6, Op: Move, Rank: 2, To: 0},
		{Before: 9, Op: Delete, Rank: 0},
	}
	cases := []struct {
		n            int
		always, ever []string
	}{
		{0, []string{"1", "2", "3", "4"}, []string{"1", "2", "3", "4"}},
		{1, []string{"2", "3", "4"}, []string{"2", "3", "4"}},
		{2, []string{"2", "3", "4"}, []string{"2", "3", "4"}},
		{3, []string{"2", "3", "4"}, []string{"2", "3", "4", "5"}},
		{4, []string{"3", "4"}, []string{"2", "3", "4", "5"}},
		{5, []string{"3", "4"}, []string{"2", "3", "4", "5", "5"}},
		{8, []string{"4", "3"}, []string{"2", "3", "4", "5", "5", "4"}},
		{9, []string{"3"}, []string{"2", "3", "4", "5", "5", "4"}},
	}
	for _, c := range cases {
		if got := names(w.Always(c.n)); !slices.Equal(got, c.always) {
			t.Errorf("always of %d requests: %v, want %v", c.n, got, c.always)
		}
		if got := names(w.Ever(c.n)); !slices.Equal(got, c.ever) {
			t.Errorf("ever of %d requests: %v, want %v", c.n, got, c.ever)
		}
	}
}

func TestChangedItemWithoutIDIsAnother(t *testing.T) {
	w := NewWorld(3, NoID)
	w.Changes = []Change{{Before: 2, Op: Update, Rank: 1}}
	if got := len(w.Always(2)); got != 2 {
		t.Errorf("always holds %d, want 2", got)
	}
	if got := len(w.Ever(2)); got != 4 {
		t.Errorf("ever holds %d versions, want 4", got)
	}
}

// TestTimelineAgreesWithBruteForce holds Always and Ever against a record of
// every state.
func TestTimelineAgreesWithBruteForce(t *testing.T) {
	for seed := range uint64(500) {
		s := seeded(seed, Moving)
		n := int(seed % 12)
		line := newTimeline(s.World)
		count := map[int32]int{}
		ever := map[Item]bool{}
		for k := 1; k <= max(n, 1); k++ {
			line.advance(min(k, n))
			for _, it := range line.items {
				count[it.Seq]++
				ever[it] = true
			}
		}
		always := 0
		for _, k := range count {
			if k == max(n, 1) {
				always++
			}
		}
		anonymous := slices.ContainsFunc(s.World.Items, func(it Item) bool { return !it.ID.named() })
		if got := len(s.World.Always(n)); got != always && !anonymous {
			t.Fatalf("seed %d: always has %d items of %d requests, want %d", seed, got, n, always)
		}
		if got := len(s.World.Ever(n)); got != len(ever) {
			t.Fatalf("seed %d: ever has %d items, want %d", seed, got, len(ever))
		}
	}
}

func TestChangesKeepTheOrderAndTheIDs(t *testing.T) {
	for seed := range uint64(300) {
		r := roll{rand.New(rand.NewPCG(seed, 5))}
		w := NewWorld(r.between(0, 12), IntID)
		if r.yes(2) {
			w = w.WithOrderedIDs()
		} else if r.yes(2) {
			w = w.Newest()
		}
		line := newTimeline(w)
		line.number()
		for range 60 {
			line.apply(Change{Op: pick(r, Insert, Delete, Move, Update, Insert), Rank: r.IntN(14), To: r.IntN(14)})
			if !slices.IsSortedFunc(line.items, w.compare) {
				t.Fatalf("seed %d: out of order: %v", seed, line.items)
			}
			ids := names(line.items)
			slices.Sort(ids)
			if len(slices.Compact(ids)) != len(line.items) {
				t.Fatalf("seed %d: an id came twice", seed)
			}
		}
	}
}

func TestWorldIsNotTouched(t *testing.T) {
	w := NewWorld(10, IntID)
	before := slices.Clone(w.Items)
	w.Changes = []Change{{Before: 1, Op: Delete}, {Before: 2, Op: Update}, {Before: 2, Op: Insert}}
	s := New(w, API{}, 1)
	if _, err := drain(s); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.Items, before) {
		t.Error("a run changed the world's own items")
	}
}

func TestChurnGoesOn(t *testing.T) {
	w := NewWorld(50, IntID)
	w.Churn = Churn{Every: 2}
	if n := len(w.Ever(101)); n != 75 {
		t.Errorf("ever %d, want 75", n)
	}
	if n := len(w.Always(101)); n >= 50 {
		t.Errorf("always %d after 25 deletes", n)
	}
}
