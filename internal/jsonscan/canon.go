package jsonscan

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
)

// AppendCanonical appends the canonical text of item, one valid JSON value, for hashing: equal values give equal bytes,
// and different values different ones.
//
//   - White space between tokens is gone, and members stand in the order of their keys. Members with the same key stay,
//     all of them and in their order.
//   - Numbers are exact, of any size, in one form: 1, 1.0, 1e0 and 10e-1 are "1", 1200 is "12e2", -0 is "0".
//   - Strings have one form: a quote and a backslash are escaped by a backslash, control bytes and lone surrogates as
//     \uXXXX in lower case, and every other byte stands as it is. So é and \u00e9 are one, é composed and decomposed are
//     two, and a lone surrogate, U+FFFD and bytes that are no UTF-8 are all different.
//
// The result is JSON again, but meant for hashing, not for people. What is no valid value is appended as it is behind an
// exclamation mark, with which no canonical text begins. dst and item must not overlap.
func AppendCanonical(dst, item []byte) []byte {
	if len(item) > 0 && item[0] == '"' {
		s := scanner{b: item}
		if end, esc := s.text(0); end == len(item) && !esc {
			return append(dst, item...) // it is its one form
		}
	}
	s := scanner{b: item}
	i := s.open()
	if i >= 0 && item[i] != '{' && item[i] != '[' {
		if s.close(s.skip(i, 0)) != nil {
			return append(append(dst, '!'), item...)
		}
		return appendScalar(dst, bytes.TrimRight(item[i:], " \t\r\n"))
	}
	t := trees.Get().(*tree)
	dst = t.appendItem(dst, item)
	if t.reset(); cap(t.nodes) <= keepNodes && cap(t.keys) <= keepNodes {
		trees.Put(t)
	}
	return dst
}

// appendScalar appends the canonical text of a valid string, number or literal.
func appendScalar(dst, raw []byte) []byte {
	switch c := raw[0]; {
	case c == '"':
		return append(appendCanonicalText(append(dst, '"'), raw[1:len(raw)-1]), '"')
	case c == '-' || isDigit(c):
		return appendNumber(dst, raw)
	default:
		return append(dst, raw...)
	}
}

// appendCanonicalText appends the inside of a JSON string in its one form.
func appendCanonicalText(dst, raw []byte) []byte {
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:n]...)
		r, end := unescape(raw, n)
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ' || r >= 0xD800 && r < 0xE000:
			dst = append(dst, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = appendRune(dst, r)
		}
		raw = raw[end:]
	}
}

const hexDigits = "0123456789abcdef"

// tree is one value taken apart: its nodes in the order of the text, each container before its children.
type tree struct {
	s     scanner
	nodes []node
	order []int  // the children of the objects being written, a stack
	keys  []byte // the canonical keys that differ from their raw text
}

// node is one value of a tree.
type node struct {
	key  []byte // canonical, for a member of an object
	at   Span
	next int // index of the node after this value and all that is in it
}

var trees = sync.Pool{New: func() any { return new(tree) }}

// keepNodes is the size up to which a tree is kept for the next item.
const keepNodes = 1 << 14

// reset empties t, so that it holds on to none of the item's memory.
func (t *tree) reset() {
	clear(t.nodes)
	*t = tree{nodes: t.nodes[:0], order: t.order[:0], keys: t.keys[:0]}
}

// appendItem appends the canonical text of an array or object.
func (t *tree) appendItem(dst, item []byte) []byte {
	t.s = scanner{b: item}
	i := t.s.open()
	if i >= 0 {
		i = t.grow(i, 0, nil)
	}
	if t.s.close(i) != nil {
		return append(append(dst, '!'), item...)
	}
	return t.append(dst, 0)
}

// grow adds the value at i, inside depth containers, and returns the index after it.
func (t *tree) grow(i, depth int, key []byte) int {
	n := len(t.nodes)
	t.nodes = append(t.nodes, node{key: key, at: Span{Off: i}})
	end := -1
	if c := t.s.cursor(i, depth); c.end == 0 {
		end = t.s.skip(i, depth)
	} else {
		end = t.growAll(i, depth+1, c.end)
	}
	t.nodes[n].at.End, t.nodes[n].next = end, len(t.nodes)
	return end
}

// growAll adds what is in the container at i, the depth-th open one, and returns the index after it.
func (t *tree) growAll(i, depth int, end byte) int {
	i, more := t.s.enter(i, depth, end)
	for more {
		var key []byte
		if end == '}' {
			keyEnd, v, esc := t.s.key(i)
			if v < 0 {
				return -1
			}
			key, i = t.canonicalKey(t.s.b[i+1:keyEnd-1], esc), v
		}
		if i = t.grow(i, depth, key); i < 0 {
			return -1
		}
		i, more = t.s.next(i, end)
	}
	return i
}

func (t *tree) canonicalKey(raw []byte, esc bool) []byte {
	if !esc {
		return raw
	}
	from := len(t.keys)
	t.keys = appendCanonicalText(t.keys, raw)
	return t.keys[from:]
}

// append appends the canonical text of node n.
func (t *tree) append(dst []byte, n int) []byte {
	raw := t.nodes[n].at.In(t.s.b)
	switch raw[0] {
	case '{':
		return t.appendObject(dst, n)
	case '[':
		dst = append(dst, '[')
		for c := n + 1; c < t.nodes[n].next; c = t.nodes[c].next {
			if c > n+1 {
				dst = append(dst, ',')
			}
			dst = t.append(dst, c)
		}
		return append(dst, ']')
	default:
		return appendScalar(dst, raw)
	}
}

// appendObject appends the members of node n in the order of their keys' canonical text.
func (t *tree) appendObject(dst []byte, n int) []byte {
	from := len(t.order)
	for c := n + 1; c < t.nodes[n].next; c = t.nodes[c].next {
		t.order = append(t.order, c)
	}
	slices.SortFunc(t.order[from:], func(a, b int) int {
		return cmp.Or(bytes.Compare(t.nodes[a].key, t.nodes[b].key), cmp.Compare(a, b))
	})
	dst = append(dst, '{')
	for k := from; k < len(t.order); k++ {
		if k > from {
			dst = append(dst, ',')
		}
		c := t.order[k]
		dst = append(append(append(dst, '"'), t.nodes[c].key...), '"', ':')
		dst = t.append(dst, c)
	}
	t.order = t.order[:from]
	return append(dst, '}')
}
