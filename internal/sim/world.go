package sim

import (
	"cmp"
	"slices"
)

const (
	// sortBase and sortGap place the sort keys of a new world, so that items
	// can be inserted anywhere without a negative key.
	sortBase = int64(1) << 32
	sortGap  = int64(1) << 20
)

// Item is one record of a world. Seq is unique in a world and breaks ties of
// Sort; Rev counts the updates of the content.
type Item struct {
	ID   ID
	Sort int64
	Seq  int32
	Rev  int32
}

// World is a source: the items that it starts with, in served order, and what
// happens to them while it is read. A World is data and is never modified by a
// Sim.
type World struct {
	// Items must be in served order: by Sort, then Seq, descending with Desc.
	Items []Item
	// Changes are applied between requests, in order of Before.
	Changes []Change
	// Churn, where set, goes on changing the world for ever.
	Churn Churn
	// Desc serves the greatest sort key first.
	Desc bool
	// Unordered says that Items are in no order of their keys.
	Unordered bool
	// Ordered ties the id's number to the sort key, so that a keyset over the
	// id walks the list.
	Ordered bool
	// Payload is the number of filler bytes in every item.
	Payload int
	// Groups divides the items by number into sets named "A", "B"…; 0 is none.
	Groups int
	// Keyless makes every k-th item lack the sort field on the wire; such
	// items match no range filter. 0 is none.
	Keyless int
}

// NewWorld is a quiet world of n items with ids of one kind, numbered from 1,
// with distinct sort keys.
func NewWorld(n int, kind IDKind) World {
	w := World{Items: make([]Item, n)}
	for i := range w.Items {
		w.Items[i] = Item{
			ID:   ID{Kind: kind, N: int64(i + 1)},
			Sort: sortBase + int64(i)*sortGap,
			Seq:  int32(i),
		}
	}
	return w
}

// WithTies gives blocks of k neighbours the same sort key.
func (w World) WithTies(k int) World {
	w.Items = slices.Clone(w.Items)
	for i := range w.Items {
		w.Items[i].Sort = sortBase + int64(i/k)*sortGap*int64(k)
	}
	return w
}

// WithOrderedIDs makes each id's number its sort key.
func (w World) WithOrderedIDs() World {
	w.Ordered = true
	w.Items = slices.Clone(w.Items)
	for i := range w.Items {
		w.Items[i].ID.N = w.Items[i].Sort
	}
	return w
}

// WithKinds gives the items the kinds in turn, each pair of neighbours the same
// number: with IntID and TextID the ids differ by type only.
func (w World) WithKinds(kinds ...IDKind) World {
	w.Items = slices.Clone(w.Items)
	for i := range w.Items {
		w.Items[i].ID = ID{Kind: kinds[i%len(kinds)], N: int64(i/len(kinds) + 1)}
	}
	return w
}

// Newest serves the greatest sort key first.
func (w World) Newest() World {
	w.Desc = true
	w.Items = slices.Clone(w.Items)
	slices.Reverse(w.Items)
	return w
}

// Op is a kind of change.
type Op string

// The kinds of change.
const (
	Insert Op = "insert"
	Delete Op = "delete"
	Update Op = "update"
	Move   Op = "move"
)

// Change happens before request Before (counted from 1) is answered. Rank is a
// place in the served order, brought into range; To is where Move puts the
// item. A change before request 1 is part of the starting state.
type Change struct {
	Before int
	Op     Op
	Rank   int
	To     int
}

// Churn is an endless change: before every Every-th request after the first
// one, an insert and a delete by turns. Zero is none.
type Churn struct {
	Every int
	// Rank of the inserts; deletes take the item a fifth into the list.
	Rank int
}

// before is what the churn does before request n.
func (c Churn) before(n int) []Change {
	if c.Every <= 0 || n <= 1 || (n-1)%c.Every != 0 {
		return nil
	}
	if (n-1)/c.Every%2 == 1 {
		return []Change{{Before: n, Op: Insert, Rank: c.Rank}}
	}
	return []Change{{Before: n, Op: Delete, Rank: -5}}
}

// timeline is a world in motion: the state before some request.
type timeline struct {
	world   World
	changes []Change
	done    int
	items   []Item
	nextSeq int32
	nextN   int64
	kind    IDKind
}

// newTimeline starts the world's clock; the first state is free of charge: no
// item is copied before something changes.
func newTimeline(w World) *timeline {
	t := &timeline{world: w, items: w.Items, changes: w.Changes}
	if !slices.IsSortedFunc(t.changes, byBefore) {
		t.changes = slices.Clone(t.changes)
		slices.SortStableFunc(t.changes, byBefore)
	}
	if len(w.Changes) > 0 || w.Churn.Every > 0 {
		t.number()
	}
	return t
}

func byBefore(a, b Change) int { return cmp.Compare(a.Before, b.Before) }

// number finds the numbers that inserted items get.
func (t *timeline) number() {
	if len(t.items) > 0 {
		t.kind = t.items[0].ID.Kind
	}
	for _, it := range t.items {
		t.nextSeq = max(t.nextSeq, it.Seq+1)
		t.nextN = max(t.nextN, it.ID.N)
	}
}

// advance applies what happens before request n and reports whether anything
// did. Calls come with rising n.
func (t *timeline) advance(n int) bool {
	moved := false
	for t.done < len(t.changes) && t.changes[t.done].Before <= n {
		t.apply(t.changes[t.done])
		t.done++
		moved = true
	}
	for _, c := range t.world.Churn.before(n) {
		t.apply(c)
		moved = true
	}
	return moved
}

// apply makes one change on a fresh copy, so that lists handed out before stay
// as they were.
func (t *timeline) apply(c Change) {
	items := slices.Clone(t.items)
	if c.Op == Insert {
		t.items = t.insert(items, c.Rank)
		return
	}
	if len(items) == 0 {
		t.items = items
		return
	}
	rank := c.Rank
	if rank < 0 {
		rank = len(items) / -rank
	}
	rank = min(rank, len(items)-1)
	switch c.Op {
	case Delete:
		items = slices.Delete(items, rank, rank+1)
	case Update:
		items[rank].Rev++
	case Move:
		items = t.move(items, rank, min(max(c.To, 0), len(items)-1))
	}
	t.items = items
}

// insert adds a new item at rank, or as near as its sort key allows.
func (t *timeline) insert(items []Item, rank int) []Item {
	rank = min(max(rank, 0), len(items))
	it := Item{Sort: t.between(items, rank), Seq: t.nextSeq}
	if t.world.Ordered && rank > 0 && items[rank-1].Sort == it.Sort {
		it.Sort = t.between(items, len(items))
	}
	t.nextSeq++
	t.nextN++
	it.ID = ID{Kind: t.kind, N: t.nextN}
	if t.world.Ordered {
		it.ID.N = it.Sort
	}
	return t.place(items, it)
}

// move changes an item's sort key; where the id is the sort key, only the
// content changes.
func (t *timeline) move(items []Item, rank, to int) []Item {
	it := items[rank]
	it.Rev++
	if t.world.Ordered {
		items[rank] = it
		return items
	}
	items = slices.Delete(items, rank, rank+1)
	it.Sort = t.between(items, to)
	return t.place(items, it)
}

// between is a sort key for rank: between its neighbours, or equal to one of
// them where there is no room.
func (t *timeline) between(items []Item, rank int) int64 {
	step := sortGap
	if t.world.Desc {
		step = -sortGap
	}
	switch {
	case len(items) == 0:
		return sortBase
	case rank == 0:
		return items[0].Sort - step
	case rank == len(items):
		return items[rank-1].Sort + step
	default:
		return items[rank-1].Sort + (items[rank].Sort-items[rank-1].Sort)/2
	}
}

// place puts it where the order wants it.
func (t *timeline) place(items []Item, it Item) []Item {
	at, _ := slices.BinarySearchFunc(items, it, t.world.compare)
	return slices.Insert(items, at, it)
}

// compare is the served order.
func (w World) compare(a, b Item) int {
	c := cmp.Or(cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.Seq, b.Seq))
	if w.Desc {
		return -c
	}
	return c
}

// Always is every item that existed from request 1 to request n, both
// included, as it was at the end. An item without an id that was changed is
// another item afterwards.
func (w World) Always(n int) []Item {
	t := newTimeline(w)
	t.advance(min(n, 1))
	alive := make(map[int32]Item, len(t.items))
	for _, it := range t.items {
		alive[it.Seq] = it
	}
	last := t.items
	for k := 2; k <= n; k++ {
		if !t.advance(k) {
			continue
		}
		last = t.items
		keep(alive, last)
	}
	return slices.DeleteFunc(slices.Clone(last), func(it Item) bool {
		_, ok := alive[it.Seq]
		return !ok
	})
}

// keep removes from alive what is not in items any more.
func keep(alive map[int32]Item, items []Item) {
	now := make(map[int32]Item, len(items))
	for _, it := range items {
		now[it.Seq] = it
	}
	for seq, was := range alive {
		is, ok := now[seq]
		if !ok || (!was.ID.named() && is != was) {
			delete(alive, seq)
		}
	}
}

// Ever is every version of every item that existed at some time from request 1
// to request n.
func (w World) Ever(n int) []Item {
	t := newTimeline(w)
	t.advance(min(n, 1))
	out := slices.Clone(t.items)
	seen := make(map[Item]bool, len(out))
	for _, it := range out {
		seen[it] = true
	}
	for k := 2; k <= n; k++ {
		if !t.advance(k) {
			continue
		}
		for _, it := range t.items {
			if !seen[it] {
				seen[it] = true
				out = append(out, it)
			}
		}
	}
	return out
}
