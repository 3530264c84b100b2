package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"github.com/tidwall/gjson"
)

// ErrBuilt says that the array at a path was built by gjson ("edges.#.node") and has no place in the text.
var ErrBuilt = errors.New("the path builds an array that does not stand in the text")

// findOdd lets gjson read p's tail from the value at at. gjson never fails: it looks for the first bracket, inside a
// string too, and may answer with text that is no JSON. So it only gets what it can start from, and its answer is
// validated. Where the steps led nowhere, nothing is found.
func (p Path) findOdd(b []byte, at Span) (Value, error) {
	start := ValueOf(at.In(b))
	if !start.Exists() || !p.scalar && !start.IsArray() && !start.IsObject() {
		return Value{}, nil
	}
	if err := p.unique(b, at.Off); err != nil {
		return Value{}, err
	}
	// gjson only reads the string, and nobody writes to b meanwhile, so both may share memory.
	raw := gjson.Get(unsafe.String(unsafe.SliceData(start.Raw), len(start.Raw)), p.tail).Raw
	out := bytes.Trim(unsafe.Slice(unsafe.StringData(raw), len(raw)), " \t\r\n")
	if len(out) == 0 {
		return Value{}, nil
	}
	if bad := Validate(out); bad != nil {
		return Value{}, fmt.Errorf("path %q leads to what is no JSON: %w", p.src, bad)
	}
	if off, ok := offsetIn(b, out); ok {
		return ValueOf(Span{off, off + len(out)}.In(b)), nil
	}
	return ValueOf(bytes.Clone(out)), nil
}

// unique refuses a key that stands twice in the object at i, or in an object that is an element of the array at i.
func (p Path) unique(b []byte, i int) error {
	s := scanner{b: b}
	if b[i] != '[' {
		return p.uniqueIn(&s, i)
	}
	for c := s.cursor(i, 0); c.next(); {
		if err := p.uniqueIn(&s, c.val.Off); err != nil {
			return err
		}
	}
	return nil
}

func (p Path) uniqueIn(s *scanner, i int) error {
	if s.b[i] != '{' {
		return nil
	}
	seen := map[string]bool{}
	for c := s.cursor(i, 0); c.next(); {
		key := string(appendText(nil, c.key))
		if seen[key] {
			return &DuplicateKeyError{Key: key, Path: p.src, Offset: c.val.Off}
		}
		seen[key] = true
	}
	return nil
}

// offsetIn returns where sub begins in b, if its memory lies inside b's.
func offsetIn(b, sub []byte) (int, bool) {
	p, q := uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(unsafe.SliceData(sub)))
	if q < p || q+uintptr(len(sub)) > p+uintptr(len(b)) {
		return 0, false
	}
	return int(q - p), true
}
