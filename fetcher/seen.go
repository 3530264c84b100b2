package fetcher

import (
	"encoding/binary"
	"fmt"
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

// A mark is what is known of a held item.
type mark struct {
	content uint64 // fingerprint of the first reading, 0 after a resume
	pass    int32  // the last pass in which it was seen
	turn    int32  // the how-manieth distinct item of that pass it was
	walk    int32  // the last walk in which it was seen
}

// seen is the set of items that a run holds.
type seen struct {
	seed  uint64
	marks map[key]mark
	pass  int
	turn  int32 // of the last distinct item of the pass
	walk  int32 // the walk at hand: the slice's number, or the reading's
	// compare holds each item that is new to this walk against the walk before
	// it: that of the number below.
	compare bool
	buf     []byte

	here map[key]uint64 // scratch: the items of the page at hand
}

func newSeen(seed uint64) *seen {
	return &seen{seed: seed, marks: make(map[key]mark), here: make(map[key]uint64)}
}

// restore takes up the keys of one page row, as seen in a pass (0: in none)
// and a walk (-1: in none that goes on).
func (s *seen) restore(keys []byte, pass int, walk int32) error {
	if len(keys)%len(key{}) != 0 {
		return fmt.Errorf("stored identity hashes are %d bytes long, no multiple of %d", len(keys), len(key{}))
	}
	s.pass = pass
	for ; len(keys) > 0; keys = keys[len(key{}):] {
		s.turn++
		s.marks[key(keys[:len(key{})])] = mark{pass: int32(pass), turn: s.turn, walk: walk}
	}
	return nil
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
	turns       []int32
	held        []byte // the keys of the items that became held
	fingerprint uint64 // of the list of keys, 0 for an empty page
}

// match looks the items up and changes nothing.
func (s *seen) match(items []adapters.Item, pass int) match {
	if pass != s.pass {
		s.pass, s.turn = pass, 0
	}
	flags := make([]bool, 3*len(items))
	m := match{keys: make([]key, len(items)), prints: make([]uint64, len(items)), adds: flags[:len(items)], isNew: flags[len(items) : 2*len(items)], fresh: flags[2*len(items):]}
	clear(s.here)
	here := s.here
	h := xxh3.New()
	for i, it := range items {
		var k key
		k, s.buf = identity(it, s.seed, s.buf)
		m.keys[i] = k
		h.Write(k[:])
		fp := fingerprint(it.Raw, s.seed)
		m.prints[i] = fp
		old, held := s.marks[k]
		first, twice := here[k]
		if !twice {
			here[k] = fp
		}
		m.adds[i] = !held && !twice
		m.isNew[i] = !twice && (!held || old.walk != s.walk)
		m.fresh[i] = !twice && (!held || int(old.pass) != pass)
		m.count(i)
		if s.compare {
			m.turns = append(m.turns, s.turnBefore(old, held && m.isNew[i]))
		}
		m.HasLast = m.HasLast || (held && int(old.pass) == pass && old.turn == s.turn)
		m.conflict(it, len(it.ID) > 0 && twice && first != fp, len(it.ID) > 0 && held && old.content != 0 && old.content != fp)
	}
	if len(items) > 0 {
		m.fingerprint = h.Sum64() | 1
	}
	m.Joins = s.joins(&m)
	m.Tail = true
	for i := range m.Prefix {
		m.Tail = m.Tail && s.marks[m.keys[i]].turn > s.turn-int32(m.Prefix)
	}
	return m
}

// turnBefore is the turn that an item had in the walk before this one, 0 where
// it was not in it.
func (s *seen) turnBefore(old mark, had bool) int32 {
	if !had || old.walk != s.walk-1 {
		return 0
	}
	return old.turn
}

// joins looks at the items that lead a page and were read before.
func (s *seen) joins(m *match) bool {
	for i := range m.Prefix {
		turn := s.marks[m.keys[i]].turn
		if turn == s.turn || (i > 0 && turn == s.marks[m.keys[i-1]].turn+1) {
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
// the new ones and their keys.
func (s *seen) hold(items []adapters.Item, m *match, n, pass int) (fresh []int, keys []byte) {
	for i := range n {
		k := m.keys[i]
		old, held := s.marks[k]
		if !held {
			old.content = m.prints[i]
			fresh = append(fresh, i)
			keys = append(keys, k[:]...)
		}
		if !held || int(old.pass) != pass {
			s.turn++
			old.pass, old.turn, old.walk = int32(pass), s.turn, s.walk
		}
		if old.content != 0 {
			old.content = m.prints[i] // the latest reading: each change is noticed once
		}
		s.marks[k] = old
	}
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
