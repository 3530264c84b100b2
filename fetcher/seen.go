package fetcher

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
)

// A key is the 128-bit hash of an item's identity. Two items of a run share
// one by chance with a probability below 10^-24 at ten million items.
type key [16]byte

// Ids and contents are hashed under different seeds, so that an id never
// meets a content.
const contentSeed = 0x9e3779b97f4a7c15

// identity gives the item's key: its id, or its canonical content where it
// has none. buf is scratch space, returned for reuse.
func identity(it adapters.Item, seed uint64, buf []byte) (key, []byte) {
	if len(it.ID) > 0 {
		return identityOf(it.ID, seed), buf
	}
	buf = jsonscan.AppendCanonical(buf[:0], it.Raw)
	return toKey(xxh3.Hash128Seed(buf, seed^contentSeed)), buf
}

// identityOf is the key of an item with an id.
func identityOf(id []byte, seed uint64) key { return toKey(xxh3.Hash128Seed(id, seed)) }

func toKey(h xxh3.Uint128) (k key) {
	binary.BigEndian.PutUint64(k[:8], h.Hi)
	binary.BigEndian.PutUint64(k[8:], h.Lo)
	return k
}

// fingerprint is the hash of an item's raw bytes, never 0.
func fingerprint(raw []byte, seed uint64) uint64 {
	return xxh3.HashSeed(raw, seed) | 1
}

// seen is the set of items that a run holds, and when each was read last. Its
// clock ticks with every item that is new to its pass, so that all that was read
// in a walk or a pass is what was read since it began.
type seen struct {
	seed  uint64
	marks *marks
	clock uint32 // the turn of the last item that was new to its pass

	pass     int
	passFrom uint32 // later turns are of the pass at hand
	walk     int32  // the walk at hand: the slice's number, or the reading's
	walkFrom uint32 // later turns are of that walk
	// before is where the turns of the walk before this one begin and end: that of
	// the number below. compare asks for the turns that items had in it.
	before  [2]uint32
	compare bool

	buf   []byte // scratch, as the rest
	page  pageKeys
	hash  *xxh3.Hasher
	last  match
	fresh []int
}

func newSeen(seed uint64) *seen {
	return &seen{seed: seed, marks: newMarks(0), clock: firstTurn, passFrom: firstTurn, walkFrom: firstTurn, hash: xxh3.New()}
}

// enter begins a walk, or goes on with the one at hand.
func (s *seen) enter(walk int32) {
	if walk == s.walk {
		return
	}
	s.before = [2]uint32{}
	if walk == s.walk+1 {
		s.before = [2]uint32{s.walkFrom, s.clock}
	}
	s.walk, s.walkFrom = walk, s.clock
}

// restore takes up the keys of items that are held: those of the walk at hand, or
// old ones of no walk that goes on.
func (s *seen) restore(keys []byte, old bool) error {
	if len(keys)%len(key{}) != 0 {
		return fmt.Errorf("stored identity hashes are %d bytes long, no multiple of %d", len(keys), len(key{}))
	}
	m := s.last.reset(len(keys) / len(key{}))
	for i := range m.keys {
		copy(m.keys[i][:], keys[i*len(key{}):])
	}
	s.marks.warm(m.keys)
	for _, k := range m.keys {
		turn := oldTurn
		if !old {
			s.clock++
			turn = s.clock
		}
		s.marks.put(k, mark{turn: turn})
	}
	s.last = m
	return nil
}

// has reports whether an item is held.
func (s *seen) has(k key) bool {
	_, held := s.marks.get(k)
	return held
}

// A match is how a page's items stand to what is held.
type match struct {
	keys []key
	// prints are the fingerprints of the items' bytes.
	prints []uint64
	// adds, isNew and fresh tell for each item whether it was never held in
	// this run, and whether it was not yet seen in this walk and in this pass.
	adds, isNew, fresh []bool
	Adds, New, Fresh   int
	// Prefix counts the leading items that this pass has seen; Later counts
	// those it has seen that stand after a fresh one.
	Prefix, Later int
	// Joins reports that the leading items show that the page goes on where
	// the pass stands: among them is the last item that was read, or two
	// neighbours follow each other as they did before. One held item alone
	// may be one that has moved.
	Joins bool
	// HasLast reports that the last item that the pass has read is here.
	HasLast bool
	// Tail reports that the leading items that came again are the very last
	// ones that the pass has read, in any order.
	Tail bool
	// Conflicts counts items whose id was held with other content; SameID
	// those of them that conflict with another item of this very page.
	Conflicts, SameID int
	Examples          []string
	// turns are, where walks are compared, the turns that the items had in the
	// walk before this one, 0 for those that it had not.
	turns       []uint32
	flags       []bool // the memory of the three above
	held        []byte // the keys of the items that became held
	fingerprint uint64 // of the list of keys, 0 for an empty page
}

// match looks the items up and changes nothing. What it returns is good until it
// is called again.
func (s *seen) match(items []adapters.Item, pass int) match {
	if pass != s.pass {
		s.pass, s.passFrom = pass, s.clock
	}
	m := s.last.reset(len(items))
	s.hash.Reset()
	for i, it := range items {
		m.keys[i], s.buf = identity(it, s.seed, s.buf)
		s.hash.Write(m.keys[i][:])
	}
	s.marks.warm(m.keys)
	s.page.reset(len(items))
	for i, it := range items {
		k := m.keys[i]
		fp := fingerprint(it.Raw, s.seed)
		m.prints[i] = fp
		old, held := s.marks.get(k)
		first, twice := s.page.add(m.keys, i)
		m.adds[i] = !held && !twice
		m.isNew[i] = !twice && (!held || old.turn <= s.walkFrom)
		m.fresh[i] = !twice && (!held || old.turn <= s.passFrom)
		m.count(i)
		if s.compare {
			m.turns = append(m.turns, s.turnBefore(old, held && m.isNew[i]))
		}
		m.HasLast = m.HasLast || (held && old.turn == s.clock && old.turn > s.passFrom)
		m.conflict(it, len(it.ID) > 0 && twice && m.prints[first] != fp, len(it.ID) > 0 && held && old.content != 0 && old.content != content(fp))
	}
	if len(items) > 0 {
		m.fingerprint = s.hash.Sum64() | 1
	}
	m.Joins = s.joins(&m)
	m.Tail = true
	for i := range m.Prefix {
		m.Tail = m.Tail && s.turn(m.keys[i]) > s.clock-uint32(m.Prefix)
	}
	s.last = m
	return m
}

// reset makes an empty match for n items, in the memory of this one.
func (m *match) reset(n int) match {
	flags := slices.Grow(m.flags[:0], 3*n)[:3*n]
	clear(flags)
	return match{keys: slices.Grow(m.keys[:0], n)[:n], prints: slices.Grow(m.prints[:0], n)[:n], flags: flags, turns: m.turns[:0],
		adds: flags[:n], isNew: flags[n : 2*n], fresh: flags[2*n:]}
}

// turn is when an item was read last.
func (s *seen) turn(k key) uint32 {
	m, _ := s.marks.get(k)
	return m.turn
}

// turnBefore is the turn that an item had in the walk before this one, 0 where
// it was not in it.
func (s *seen) turnBefore(old mark, had bool) uint32 {
	if !had || old.turn <= s.before[0] || old.turn > s.before[1] {
		return 0
	}
	return old.turn
}

// joins looks at the items that lead a page and were read before.
func (s *seen) joins(m *match) bool {
	for i := range m.Prefix {
		turn := s.turn(m.keys[i])
		if turn == s.clock || (i > 0 && turn == s.turn(m.keys[i-1])+1) {
			return true
		}
	}
	return false
}

func (m *match) count(i int) {
	if m.isNew[i] {
		m.New++
	}
	if m.adds[i] {
		m.Adds++
	}
	switch {
	case m.fresh[i]:
		m.Fresh++
	case m.Fresh == 0:
		m.Prefix++
	default:
		m.Later++
	}
}

func (m *match) conflict(it adapters.Item, same, earlier bool) {
	if !same && !earlier {
		return
	}
	m.Conflicts++
	if same {
		m.SameID++
	}
	if len(m.Examples) < 3 {
		m.Examples = append(m.Examples, clip(idText(string(it.ID)), 60))
	}
}

// late makes a conflict of a merged page what it is: parts of one item that
// contradict each other, or one that came after its item was written.
func (m *match) late(clashes []string) {
	m.Conflicts += len(clashes)
	m.SameID = m.Conflicts
	for _, id := range clashes {
		if len(m.Examples) < 3 {
			m.Examples = append(m.Examples, clip(idText(id), 60))
		}
	}
}

// hold adds the first n items of a matched page. It returns the indexes of
// the new ones, good until the next call, and their keys.
func (s *seen) hold(m *match, n int) (fresh []int, keys []byte) {
	fresh = s.fresh[:0]
	if m.Adds > 0 {
		keys = make([]byte, 0, m.Adds*len(key{}))
	}
	for i := range n {
		k := m.keys[i]
		old, held := s.marks.get(k)
		if !held {
			old.content = content(m.prints[i])
			fresh = append(fresh, i)
			keys = append(keys, k[:]...)
		}
		if !held || old.turn <= s.passFrom {
			s.clock++
			old.turn = s.clock
		}
		if old.content != 0 {
			old.content = content(m.prints[i]) // the latest reading: each change is noticed once
		}
		s.marks.put(k, old)
	}
	s.fresh = fresh
	return fresh, keys
}

// idText writes a canonical id as people know it: 2e1 is 20.
func idText(id string) string {
	digits, exp, ok := strings.Cut(id, "e")
	n, err := strconv.Atoi(exp)
	if !ok || err != nil || n < 0 || n > 18 || strings.ContainsAny(digits, `".[{`) {
		return id
	}
	return digits + strings.Repeat("0", n)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
