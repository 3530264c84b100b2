package fetcher

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A mark is what is known of a held item: when it was read last, and the content
// of its latest reading (0 where that is not known, as after a resume).
type mark struct {
	turn    uint32
	content uint32
}

// Turns of items that were read in no walk that goes on, and the one before the
// first of this process.
const (
	oldTurn   uint32 = 1
	firstTurn uint32 = 16
)

// content is what a mark keeps of a fingerprint: 28 bits, never 0.
func content(print uint64) uint32 { return uint32(print>>36) | 1 }

// marks is a map from keys to marks that takes 16 bytes a slot and no pointer.
// It keeps 78 of a key's 128 bits: two items of a run are taken for one with a
// chance below 2e-10 at ten million items, and unless that happens between two
// lives of a run, their contents then differ, which is a conflict that is told.
//
// The shard is told by bits of the low word, the slot in it by the high word, so
// that a shard can grow by any step. Shards grow one by one: there is never a
// second copy of the whole. They are few and large, so that memory that one has
// left fits another.
type marks struct {
	shards [1 << shardBits][]slot
	sizes  [1 << shardBits]uint32
	len    int64
	warmed uint32
}

const (
	shardBits = 10
	restBits  = 4
	firstSize = 128
	smallSize = 1024 // 16 MB in all shards
)

// A slot holds the high word of a key, and beside the content a few more bits of
// the low one. With turn 0 it is free.
type slot struct {
	key  uint64
	turn uint32
	rest uint32
}

func (s *slot) is(high uint64, more uint32) bool {
	return s.key == high && s.rest&(1<<restBits-1) == more
}

func (s *slot) mark() mark { return mark{turn: s.turn, content: s.rest >> restBits} }

// newMarks makes an empty map with room for n keys, or more.
func newMarks(n int64) *marks {
	m := &marks{}
	size := max(firstSize, int(n>>shardBits)*5/4)
	all := make([]slot, firstSize<<shardBits) // its memory is touched when it is used
	for i := range m.shards {
		if m.shards[i] = all[i*firstSize : (i+1)*firstSize : (i+1)*firstSize]; size > firstSize {
			m.shards[i] = make([]slot, size)
		}
	}
	return m
}

// place is where the search for a key begins: its shard, its high word, and the
// further bits that are compared.
func place(k key) (shard uint32, high uint64, more uint32) {
	low := binary.BigEndian.Uint32(k[12:])
	return low & (1<<shardBits - 1), binary.BigEndian.Uint64(k[:8]), low >> shardBits & (1<<restBits - 1)
}

func first(high uint64, n int) int {
	i, _ := bits.Mul64(high, uint64(n))
	return int(i)
}

// warm reads where the searches for keys begin, so that memory answers for all
// of them at once and not for one after another.
func (m *marks) warm(keys []key) {
	sum := m.warmed
	for i := range keys {
		at, high, _ := place(keys[i])
		slots := m.shards[at]
		sum += slots[first(high, len(slots))].turn
	}
	m.warmed = sum // or the compiler would leave it out
}

// get gives the mark of a key.
func (m *marks) get(k key) (mark, bool) {
	at, high, more := place(k)
	slots := m.shards[at]
	for i := first(high, len(slots)); ; i++ {
		if i == len(slots) {
			i = 0
		}
		if slots[i].turn == 0 {
			return mark{}, false
		}
		if slots[i].is(high, more) {
			return slots[i].mark(), true
		}
	}
}

// put sets the mark of a key. Its turn is not 0.
func (m *marks) put(k key, v mark) {
	at, high, more := place(k)
	slots := m.shards[at]
	i := first(high, len(slots))
	for slots[i].turn != 0 && !slots[i].is(high, more) {
		if i++; i == len(slots) {
			i = 0
		}
	}
	had := slots[i].turn != 0
	slots[i] = slot{key: high, turn: v.turn, rest: v.content<<restBits | more}
	if had {
		return
	}
	m.len++
	m.sizes[at]++
	if n := len(slots); int(m.sizes[at]) > n-n/8-1 {
		m.grow(at)
	}
}

// grow makes a shard a sixth larger, and a small one twice as large. An eighth of
// it at least is always free.
func (m *marks) grow(at uint32) {
	old := m.shards[at]
	more := len(old)
	if more >= smallSize {
		more /= 6
	}
	slots := slices.Grow([]slot(nil), len(old)+more)
	slots = slots[:cap(slots)] // as much as the allocator gives anyway
	for _, s := range old {
		if s.turn == 0 {
			continue
		}
		i := first(s.key, len(slots))
		for slots[i].turn != 0 {
			if i++; i == len(slots) {
				i = 0
			}
		}
		slots[i] = s
	}
	m.shards[at] = slots
}

// pageKeys finds keys that stand twice on one page.
type pageKeys struct{ slots []int32 } // index+1 into the page's keys

func (p *pageKeys) reset(n int) {
	size := 1 << bits.Len(uint(2*n+1))
	p.slots = slices.Grow(p.slots[:0], size)[:size]
	clear(p.slots)
}

// add takes up the i-th key. If an equal one came before, it gives its index.
func (p *pageKeys) add(keys []key, i int) (first int, twice bool) {
	mask := uint64(len(p.slots) - 1)
	for at := binary.BigEndian.Uint64(keys[i][8:]) & mask; ; at = (at + 1) & mask {
		switch j := p.slots[at]; {
		case j == 0:
			p.slots[at] = int32(i + 1)
			return i, false
		case keys[j-1] == keys[i]:
			return int(j - 1), true
		}
	}
}
