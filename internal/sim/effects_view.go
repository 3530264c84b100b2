package sim

import (
	"math/rand/v2"
	"slices"
)

// Swap exchanges the two items at the border where the page starts: a total
// order that is none.
type Swap struct{}

// Name implements [Effect].
func (Swap) Name() string { return "swap" }
func (Swap) stage() stage { return onView }
func (Swap) harm() harm   { return unsteady }

func (Swap) apply(x *exchange) {
	if x.from <= 0 || x.from >= len(x.view.items) {
		x.idle()
		return
	}
	items := slices.Clone(x.view.items)
	items[x.from-1], items[x.from] = items[x.from], items[x.from-1]
	x.view.items = items
}

// Shuffle gives each request another order; with Ties only among items of
// equal sort key.
type Shuffle struct{ Ties bool }

// Name implements [Effect].
func (Shuffle) Name() string { return "shuffle" }
func (Shuffle) stage() stage { return onView }
func (Shuffle) harm() harm   { return unsteady }

func (e Shuffle) apply(x *exchange) {
	items := slices.Clone(x.view.items)
	rng := x.dice(2)
	if !e.Ties {
		shuffle(rng, items)
	}
	for lo := 0; e.Ties && lo < len(items); {
		hi := lo + 1
		for hi < len(items) && items[hi].Sort == items[lo].Sort {
			hi++
		}
		shuffle(rng, items[lo:hi])
		lo = hi
	}
	x.view.items = items
	x.view.order = nil
}

func shuffle(rng *rand.Rand, items []Item) {
	rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
}

// Drop never serves every Every-th item of the list. With Agrees the total does
// not count them either: then nothing tells.
type Drop struct {
	Every  int
	Agrees bool
}

// Name implements [Effect].
func (e Drop) Name() string {
	if e.Agrees {
		return "silent_drop"
	}
	return "drop"
}
func (Drop) stage() stage { return onView }
func (Drop) harm() harm   { return lying }

func (e Drop) apply(x *exchange) {
	had := len(x.view.items)
	x.view.items = filter(x.view.items, e.keeps)
	hidden := had - len(x.view.items)
	if hidden == 0 {
		x.idle()
		return
	}
	if !e.Agrees {
		x.hidden += hidden
	}
	x.place()
}

func (e Drop) keeps(it Item) bool { return int(it.Seq)%e.Every != e.Every-1 }

// Lag is a replica that has not heard of the last Items items.
type Lag struct{ Items int }

// Name implements [Effect].
func (Lag) Name() string { return "lag" }
func (Lag) stage() stage { return onView }
func (Lag) harm() harm   { return lying }

func (e Lag) apply(x *exchange) {
	n := len(x.view.items)
	x.view.items = x.view.items[:max(0, n-e.Items)]
	x.place()
}

// Keep shows the first Items of the list only, and counts only them.
type Keep struct{ Items int }

// Name implements [Effect].
func (Keep) Name() string { return "keep_few" }
func (Keep) stage() stage { return onView }
func (Keep) harm() harm   { return lying }

func (e Keep) apply(x *exchange) {
	x.view.items = x.view.items[:min(e.Items, len(x.view.items))]
	x.place()
}

// GroupCap shows the first At items of every group.
type GroupCap struct{ At int }

// Name implements [Effect].
func (GroupCap) Name() string { return "group_cap" }
func (GroupCap) stage() stage { return onView }
func (GroupCap) harm() harm   { return lying }

func (e GroupCap) apply(x *exchange) {
	x.view.items = e.cut(x.sim.World, x.view.items)
	x.place()
}

func (e GroupCap) cut(w World, items []Item) []Item {
	seen := map[string]int{}
	return filter(items, func(it Item) bool {
		g := w.group(it)
		seen[g]++
		return seen[g] <= e.At
	})
}

// LoseFilter forgets the request's filters.
type LoseFilter struct{}

// Name implements [Effect].
func (LoseFilter) Name() string { return "lose_filter" }
func (LoseFilter) stage() stage { return onView }
func (LoseFilter) harm() harm   { return lying }

func (LoseFilter) apply(x *exchange) { x.view.items = x.sim.line.items }

// Ignore does not read the parameters for the place, the size, or both.
type Ignore struct{ Place, Size bool }

// Name implements [Effect].
func (Ignore) Name() string { return "ignore" }
func (Ignore) stage() stage { return onView }
func (Ignore) harm() harm   { return capped }

func (e Ignore) apply(x *exchange) {
	if e.Place {
		x.from = 0
		x.ask.place = place{how: x.api.Addressing, start: true, page: x.api.FirstPage}
	}
	if e.Size {
		x.ask.size = max(1, len(x.view.items))
		x.ask.asked = 0
	}
}
