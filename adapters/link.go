package adapters

import (
	"strings"

	"lastdrop/judge"
)

// link walks by the Link header (RFC 8288). Where the config names a page
// number and the server sends no Link at all, it walks on by number.
type link struct {
	tmpl    *template
	numbers page
}

func newLink(c *compiler) Style {
	p := c.spec.Pages
	return link{c.tmpl, page{tmpl: c.tmpl, param: p.NumberParam, first: p.NumberFirst}}
}

// counts reports whether the API takes page numbers.
func (s link) counts() bool { return s.numbers.param != "" || s.tmpl.uses[holdPage] }

// Request asks for the position's link, or by its number; at the start for the
// first page.
func (s link) Request(at Position, size, overlap int) (Request, error) {
	switch {
	case at.URL != "":
		return s.tmpl.atURL(at, size)
	case s.counts():
		return s.numbers.Request(at, size, overlap)
	default:
		return s.tmpl.request(place{at: at, size: s.tmpl.sizeOf(size)})
	}
}

// Next reads the header. A link with rel=next is followed, unless one of its
// attributes says that it leads nowhere. A header that can be read and has
// prev, first or last but no next is the server's word for the end. No header,
// an empty one, and one with other relations only say nothing.
func (s link) Next(at Position, req Request, a *Answer) Continuation {
	for _, l := range a.Links {
		switch {
		case !l.Has("next"):
		case s.tmpl.endsBy(l):
			return Continuation{State: Ended, Word: wordEndMark}
		default:
			return s.tmpl.follow(at, req, a, l.URL, wordLink)
		}
	}
	if len(a.BrokenLinks) > 0 {
		return Continuation{State: Broken, Word: wordLink,
			Reason: "a Link header cannot be read: " + oneLine(strings.Join(a.BrokenLinks, ", "))}
	}
	for _, l := range a.Links {
		for _, rel := range []string{"prev", "previous", "first", "last"} {
			if l.Has(rel) {
				return Continuation{State: Ended, Word: wordLink}
			}
		}
	}
	if len(a.Links) == 0 && at.URL == "" && s.counts() {
		return s.numbers.Next(at, req, a)
	}
	return Continuation{}
}

// endsBy reports whether a link has an attribute that outranks its relation
// (pages.link.end_when).
func (t *template) endsBy(l judge.Link) bool {
	for name, value := range t.spec.Pages.LinkEndWhen {
		if got, ok := l.Params[strings.ToLower(name)]; ok && got == value {
			return true
		}
	}
	return false
}
