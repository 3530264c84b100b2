package configs

import (
	"slices"
	"strings"
)

// A laterKey is a key of the contract, or a value of one, whose means come
// with a later version. Using it is an error, never ignored. The issue that
// brings the means deletes its line.
type laterKey struct {
	path  string
	value string // what the value must contain to count; empty: whatever it is
	with  string // what it comes with
}

var later = []laterKey{
	{"pages.style", "auto", "the detection of styles"},
}

// refuseLater notes each key that this version cannot serve.
func (r *reading) refuseLater() {
	for _, l := range later {
		n := r.nodes[at(l.path)]
		switch {
		case n == nil || !strings.Contains(n.text, l.value):
		case l.path == "pages.style":
			r.fail(n, styleCure(), "")
		case l.value != "":
			r.fail(n, l.value+" is not in this version; it comes with "+l.with, "")
		default:
			r.failKey(n, "not in this version; it comes with "+l.with, "")
		}
	}
}

// now are the words of a key that this version can serve.
func now(p pointer, words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return slices.ContainsFunc(later, func(l laterKey) bool { return at(l.path) == p && l.value == w })
	})
}

// styleCure says how to name a style.
func styleCure() string {
	return "style auto comes with a later version: name one of " + strings.Join(styles(), ", ")
}

// styles are the styles that can be named now.
func styles() []string {
	return now("/pages/style", enumOf[Pages]("style"))
}
