package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An Error is one thing that is wrong with a config, and where. It holds no
// secret.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 where the fault has no place
	Key          string // the key's path, e.g. pages.size.start; empty for the file as a whole
	Msg          string // what is wrong
	Cure         string // what to do about it; may be empty
}

// Error returns one line: file:line:column: key: message; cure.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	if e.Key != "" {
		b.WriteString(": " + e.Key)
	}
	b.WriteString(": " + e.Msg)
	if e.Cure != "" {
		b.WriteString("; " + e.Cure)
	}
	return b.String()
}

// Errors are all that was found wrong with one config, in the order of the
// file. It is never empty where it is returned as an error.
type Errors []*Error

// Error returns the errors, a line each.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single errors.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// sorted returns the errors in the order of the file, each once.
func (e Errors) sorted() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Key, b.Key))
	})
	return slices.CompactFunc(e, func(a, b *Error) bool { return *a == *b })
}
