package jsonscan

import (
	"fmt"
	"slices"
	"strings"
)

// The most id paths and envelope paths that a Want can hold: with the items path, no more than the bits of a word.
const (
	MaxIDs      = 4
	MaxEnvelope = 48
)

// Want is what [Page] collects, compiled once for many pages. It is never changed and safe for concurrent use. The zero
// Want collects nothing.
type Want struct {
	root spot
	ids  int
	env  int
}

// NewWant compiles what to collect: the elements of the array at items, the value at each of ids inside each element, and
// the values at envelope. All paths must be plain; the zero items path means that no items are wanted. At most MaxIDs and
// MaxEnvelope paths are taken.
func NewWant(items Path, ids, envelope []Path) (*Want, error) {
	if len(ids) > MaxIDs || len(envelope) > MaxEnvelope {
		return nil, fmt.Errorf("%d id paths and %d envelope paths: at most %d and %d in one walk",
			len(ids), len(envelope), MaxIDs, MaxEnvelope)
	}
	p := planner{made: map[string]*spot{}}
	var all []thread
	for k, path := range envelope {
		all = append(all, thread{goal: goalEnv, n: k, path: path})
	}
	for k, path := range ids {
		p.ids = append(p.ids, thread{goal: goalID, n: k, path: path})
	}
	for _, t := range slices.Concat(all, p.ids) {
		if !t.path.Plain() {
			return nil, fmt.Errorf("path %q is not plain", t.path)
		}
	}
	if items.src != "" {
		if !items.Plain() {
			return nil, fmt.Errorf("path %q is not plain", items)
		}
		all = append(all, thread{goal: goalItems, path: items})
	}
	return &Want{root: *p.spot(all), ids: len(ids), env: len(envelope)}, nil
}

// spot is a place in a document where at least one wanted path ends or goes on.
type spot struct {
	keys  []keyed   // where the paths go on in an object
	lens  uint64    // bit n is set if a key of n bytes is among them, or one of 63 or more for n = 63
	elems []indexed // where they go on in an array
	each  *spot     // where they go on in the elements that elems doesn't name: the id paths, in the array of items
	items bool      // this is the array of items
	env   []int     // the envelope paths that end here
	ids   []int     // the id paths that end here
}

type keyed struct {
	key  string
	path string // one of the paths that lead on here, for messages
	to   *spot
}

type indexed struct {
	index int
	to    *spot
}

// at returns the spot of element n of an array, or nil.
func (sp *spot) at(n int) *spot {
	for _, e := range sp.elems {
		if e.index == n {
			return e.to
		}
	}
	return sp.each
}

// wants reports whether a raw key of n bytes may be among keys.
func (sp *spot) wants(n int, esc bool) bool { return esc || sp.lens>>min(n, 63)&1 != 0 }

// find returns the index in keys of a raw key, or -1.
func (sp *spot) find(raw []byte, esc bool) int {
	for k := range sp.keys {
		if matches(raw, esc, sp.keys[k].key) {
			return k
		}
	}
	return -1
}

// thread is one wanted path, walked up to its step at.
type thread struct {
	goal goal
	n    int // which of its kind
	path Path
	at   int
}

type goal byte

const (
	goalEnv goal = iota
	goalID
	goalItems
)

// planner makes spots out of sets of threads, each set once: a component can be a key and an index, so a spot may be
// reached in more than one way.
type planner struct {
	ids  []thread
	made map[string]*spot
}

// spot returns the spot where all of threads stand.
func (p *planner) spot(threads []thread) *spot {
	var id strings.Builder
	for _, t := range threads {
		fmt.Fprintf(&id, "%d:%d:%d ", t.goal, t.n, t.at)
	}
	if sp := p.made[id.String()]; sp != nil {
		return sp
	}
	sp := &spot{}
	p.made[id.String()] = sp
	var on []thread
	for _, t := range threads {
		if t.at < len(t.path.steps) {
			on = append(on, t)
			continue
		}
		switch t.goal {
		case goalEnv:
			sp.env = append(sp.env, t.n)
		case goalID:
			sp.ids = append(sp.ids, t.n)
		case goalItems:
			sp.items = true
			sp.each = p.spot(p.ids)
		}
	}
	p.branch(sp, on)
	return sp
}

// branch sets where on, the threads that don't end at sp, go on from it.
func (p *planner) branch(sp *spot, on []thread) {
	for _, t := range on {
		st := t.path.steps[t.at]
		if !slices.ContainsFunc(sp.keys, func(k keyed) bool { return k.key == st.key }) {
			to := p.spot(advance(on, func(s step) bool { return s.key == st.key }))
			sp.keys = append(sp.keys, keyed{st.key, t.path.src, to})
			sp.lens |= 1 << min(len(st.key), 63)
		}
		if st.index >= 0 && !slices.ContainsFunc(sp.elems, func(e indexed) bool { return e.index == st.index }) {
			next := advance(on, func(s step) bool { return s.index == st.index })
			if sp.items {
				next = append(next, p.ids...)
			}
			sp.elems = append(sp.elems, indexed{st.index, p.spot(next)})
		}
	}
}

// advance returns the threads whose next step is taken, one step further.
func advance(threads []thread, taken func(step) bool) []thread {
	var out []thread
	for _, t := range threads {
		if taken(t.path.steps[t.at]) {
			t.at++
			out = append(out, t)
		}
	}
	return out
}
