package configs

import (
	"slices"
	"strings"
)

// A laterKey is a key of the contract whose means come with a later version.
// Using it is an error, never ignored. The issue that brings the means deletes
// its line.
type laterKey struct {
	path string
	when func(*node) bool // nil: whenever the key is there
	with string           // what it comes with
}

var later = []laterKey{
	{"preset", nil, "named presets"},
	{"slice", nil, "slices"},
	{"for_each", nil, "pulls that feed each other"},
	{"incremental", nil, "incremental runs"},
	{"source.cookies", isTrue, "session paging"},
	{"pages.style", is("auto"), ""},
	{"pages.reverse", nil, "second readings"},
	{"items.format", is("xml"), "XML bodies"},
	{"items.merge", isTrue, "merged items"},
	{"total.url", hasBounds, "slices"},
	{"complete.sentinel", nil, "sentinels"},
	{"complete.freshness", nil, "sentinels"},
	{"complete.still", nil, "marks of change"},
	{"complete.second", nil, "second readings"},
}

func isTrue(n *node) bool { return n.text == "true" }

func is(word string) func(*node) bool { return func(n *node) bool { return n.text == word } }

// hasBounds reports whether a count request asks for a slice.
func hasBounds(n *node) bool {
	return strings.Contains(n.text, "{from}") || strings.Contains(n.text, "{to}")
}

// refuseLater notes each key that this version cannot serve.
func (r *reading) refuseLater() {
	for _, l := range later {
		n := r.nodes[at(l.path)]
		switch {
		case n == nil || l.when != nil && !l.when(n):
		case l.path == "pages.style":
			r.failKey(n, "auto is not in this version", styleCure())
		default:
			r.failKey(n, "not in this version; it comes with "+l.with, "")
		}
	}
}

// styleCure says how to name a style.
func styleCure() string {
	return "style auto comes with a later version: name one of " + strings.Join(styles(), ", ")
}

// styles are the styles that can be named now.
func styles() []string {
	return slices.DeleteFunc(enumOf[Pages]("style"), func(s string) bool { return s == "auto" })
}
