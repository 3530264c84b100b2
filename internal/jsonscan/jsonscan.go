// Package jsonscan reads whole JSON response bodies strictly and in one pass.
//
// [Validate] answers whether a body is one JSON value (RFC 8259) and, if not, how it fails: a body that ended too early
// is another thing than one that never was JSON. [Page] does the same and, in the same walk, notes where the items,
// their ids and the envelope values stand, without an allocation for each item. [Path] looks up single values by a GJSON
// path. [AppendCanonical] gives equal values equal bytes, for hashing.
//
// A key that an object names twice has no one meaning, so every reader here refuses it on the paths that it walks,
// comparing keys by their decoded text: "\u0069d" is "id".
//
// Text is bytes: invalid UTF-8 inside strings is let through and kept as it stands. A byte order mark is not.
package jsonscan

import (
	"errors"
	"fmt"
)

// Kind says how a body fails to be JSON. The zero Kind is none of them.
type Kind int

const (
	// Empty is a body with nothing but white space in it.
	Empty Kind = iota + 1
	// NotJSON is a body whose beginning can't be JSON: its first byte that is no white space begins no JSON value, or
	// it opens with a bare word that is no JSON literal ("forbidden", "no healthy upstream").
	NotJSON
	// Short is a body that is a proper prefix of some JSON document: it ended too early.
	Short
	// Broken is a body that began well and then has a byte that can't stand there, or nests too deep.
	Broken
	// Trailing is a body with a whole value and then something that is no white space.
	Trailing
)

var kindNames = [...]string{"unknown", "empty", "not json", "short", "broken", "trailing"}

// String returns the kind's name in lower case, and "unknown" for a Kind that is none of the constants.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		k = 0
	}
	return kindNames[k]
}

// Error says where and how a body stops being JSON.
type Error struct {
	Offset int    // index of the first byte that can't stand there; the body's length where it is Empty or Short
	Msg    string // what is wrong, without the offset
	Kind   Kind
}

// Error returns the kind, the offset and the message in one line.
func (e *Error) Error() string {
	return fmt.Sprintf("%s at byte %d: %s", e.Kind, e.Offset, e.Msg)
}

// ErrDuplicateKey is what errors.Is finds in every [DuplicateKeyError].
var ErrDuplicateKey = errors.New("an object names a key twice")

// DuplicateKeyError reports that an object on a path that was read names a key more than once.
type DuplicateKeyError struct {
	Key    string // the key, decoded
	Path   string // the path that was being read, as it was compiled
	Offset int    // index of the second occurrence's value in the text that was read
}

// Error names the key, the path and the offset in one line.
func (e *DuplicateKeyError) Error() string {
	return fmt.Sprintf("key %q stands twice in one object on the path %q (again at byte %d)", e.Key, e.Path, e.Offset)
}

// Is reports whether target is [ErrDuplicateKey].
func (e *DuplicateKeyError) Is(target error) bool { return target == ErrDuplicateKey }

// Span is the extent of a value in a text, without the white space around it. No value is empty, so the zero Span stands
// for a value that is not there.
type Span struct{ Off, End int }

// In returns the bytes of b that s covers, sharing b's memory; they can't grow into what follows. The zero Span gives an
// empty slice.
func (s Span) In(b []byte) []byte { return b[s.Off:s.End:s.End] }

// Validate reports whether b is one JSON value with nothing but white space around it, nested at most 10,000 deep. It
// returns nil if so, else the first fault. A number at the top has no end mark, so a body cut inside one ("12" of
// "123") is valid: whoever expects a page must ask for an object or an array.
func Validate(b []byte) *Error {
	s := scanner{b: b}
	i := s.open()
	if i >= 0 {
		i = s.skip(i, 0)
	}
	return s.close(i)
}
