package adapters

import "lastdrop/internal/jsonscan"

// nextURL walks by links in the body: "next": "https://…?page=2".
type nextURL struct {
	tmpl *template
	path field
}

func newNextURL(c *compiler) Style {
	if c.spec.Pages.NextPath == "" {
		c.fault("pages.next.path is missing: where the link stands in an answer")
	}
	return nextURL{c.tmpl, c.field("pages.next.path", c.spec.Pages.NextPath)}
}

// Request asks for the position's link; at the start for the source's URL.
func (s nextURL) Request(at Position, size, _ int) (Request, error) {
	if at.URL != "" {
		return s.tmpl.atURL(at, size)
	}
	return s.tmpl.request(place{at: at, size: s.tmpl.sizeOf(size)})
}

// Next reads the link. One that is there and null, empty or false is the
// server's word for the end; one that is absent says nothing.
func (s nextURL) Next(at Position, req Request, a *Answer) Continuation {
	v := a.value(s.path)
	switch {
	case !v.Exists():
		return Continuation{}
	case noToken(v):
		return Continuation{State: Ended, Word: wordNextURL}
	case v.Type != jsonscan.TypeString:
		return Continuation{State: Broken, Word: wordNextURL, Reason: "the next link is no text but " + v.Type.String()}
	}
	return s.tmpl.follow(at, req, a, v.Str(), wordNextURL)
}
