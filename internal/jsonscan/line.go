package jsonscan

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
)

// Line gives item, one valid JSON value, as one line without its end: itself, where it holds no raw CR or LF.
func Line(item []byte) []byte {
	if oneLine(item) {
		return item
	}
	return CompactLine(nil, item)
}

func oneLine(item []byte) bool {
	return bytes.IndexByte(item, '\n') < 0 && bytes.IndexByte(item, '\r') < 0
}

// CompactLine appends item, one valid JSON value, as one line without its end. An item that holds no raw CR or LF is
// appended unchanged; from another, all white space between tokens is taken, and nothing else: numbers, escapes and the
// order of keys stay. dst and item must not overlap.
func CompactLine(dst, item []byte) []byte {
	if oneLine(item) {
		return append(dst, item...)
	}
	for i := 0; i < len(item); {
		from := i
		switch {
		case isSpace(item[i]):
			i++
			continue
		case item[i] == '"':
			i = stringEnd(item, i)
		default:
			for i++; i < len(item) && item[i] != '"' && !isSpace(item[i]); i++ {
			}
		}
		dst = append(dst, item[from:i]...)
	}
	return dst
}

// stringEnd returns the index after the string at i.
func stringEnd(b []byte, i int) int {
	s := scanner{b: b}
	if end, _ := s.text(i); end >= 0 {
		return end
	}
	return len(b)
}

const (
	nameLevels = 3   // how deep TopLevelArrays and TopLevelNumbers look for keys
	nameMost   = 16  // how many values they name
	nameKey    = 100 // how long a key may be to go into a message
)

// TopLevelArrays names the arrays that stand in b itself or up to two objects further down, by GJSON path and length,
// the longest first: "rows (60)", "meta.tags (2)". It is for messages that tell where items could be: it gives at most
// 16 names, and leaves out what lies under a key of more than 100 bytes. Of a text that is not valid it names none.
func TopLevelArrays(b []byte) []string {
	s := scanner{b: b}
	i := s.open()
	if i < 0 {
		return nil
	}
	var found arrayList
	if b[i] == '[' {
		found.add("@this", s.count(i, 0))
	} else {
		s.arrays(&found, i, 0, "")
	}
	if s.bad.Kind != 0 {
		return nil
	}
	names := make([]string, len(found))
	for k, a := range found {
		names[k] = fmt.Sprintf("%s (%d)", a.path, a.size)
	}
	return names
}

// arrayList holds the longest arrays seen, the longest first.
type arrayList []namedArray

type namedArray struct {
	path string
	size int
}

func (l *arrayList) add(path string, size int) {
	at, _ := slices.BinarySearchFunc(*l, size, func(a namedArray, size int) int {
		return cmp.Or(cmp.Compare(size, a.size), -1) // behind those of the same size
	})
	*l = slices.Insert(*l, at, namedArray{path, size})
	*l = (*l)[:min(len(*l), nameMost)]
}

// arrays adds the arrays in the object at i, whose path with a dot behind it is prefix.
func (s *scanner) arrays(found *arrayList, i, depth int, prefix string) {
	for c := s.cursor(i, depth); c.end == '}' && c.next(); {
		if len(c.key) > nameKey {
			continue
		}
		switch v := s.b[c.val.Off]; {
		case v == '[':
			found.add(prefix+pathKey(c.key), s.count(c.val.Off, depth+1))
		case v == '{' && depth+1 < nameLevels:
			s.arrays(found, c.val.Off, depth+1, prefix+pathKey(c.key)+".")
		}
	}
}

// pathKey returns a raw key as one component of a GJSON path.
func pathKey(raw []byte) string { return gjson.Escape(string(appendText(nil, raw))) }

// count returns the number of elements of the array at i.
func (s *scanner) count(i, depth int) (n int) {
	for c := s.cursor(i, depth); c.next(); n++ {
	}
	return n
}

// A NamedNumber is a whole number and the GJSON path that leads to it; Key is the last part of it, as it stands.
type NamedNumber struct {
	Path, Key string
	N         int64
}

// TopLevelNumbers lists the whole numbers from least up that stand in b itself, an object, or up to two objects further
// down, in their order. It is for messages that tell where a count could be: it gives at most 16, and leaves out what
// lies under a key of more than 100 bytes. Of a text that is not valid it names none.
func TopLevelNumbers(b []byte, least int64) []NamedNumber {
	s := scanner{b: b}
	i := s.open()
	if i < 0 || b[i] != '{' {
		return nil
	}
	var found []NamedNumber
	s.numbers(&found, i, 0, "", least)
	if s.bad.Kind != 0 {
		return nil
	}
	return found
}

// numbers adds the numbers in the object at i, whose path with a dot behind it is prefix.
func (s *scanner) numbers(found *[]NamedNumber, i, depth int, prefix string, least int64) {
	for c := s.cursor(i, depth); c.end == '}' && c.next(); {
		if len(c.key) > nameKey {
			continue
		}
		if s.b[c.val.Off] == '{' && depth+1 < nameLevels {
			s.numbers(found, c.val.Off, depth+1, prefix+pathKey(c.key)+".", least)
			continue
		}
		n, ok := ValueOf(c.val.In(s.b)).Int64()
		if ok && n >= least && len(*found) < nameMost {
			*found = append(*found, NamedNumber{prefix + pathKey(c.key), string(appendText(nil, c.key)), n})
		}
	}
}
