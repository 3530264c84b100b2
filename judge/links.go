package judge

import (
	"regexp"
	"slices"
	"strings"
)

// A Link is one link of a Link header (RFC 8288).
type Link struct {
	URL string // as written, often relative to the request's URL
	Rel []string
	// Params are the other parameters and rel, by name in lower case; the
	// first of a name counts, and one without a value has "".
	Params map[string]string
}

// Has reports whether the link has the relation rel, without regard to case.
func (l Link) Has(rel string) bool {
	return slices.ContainsFunc(l.Rel, func(r string) bool { return strings.EqualFold(r, rel) })
}

// ParseLinks reads the values of all Link headers of one answer.
//
// It is tolerant: several values and several links each, parameters in any
// order, quoted or not, with or without a value, several relations in one
// parameter, commas and semicolons inside quotes and inside <URL>, a missing
// comma or semicolon between parts.
//
// What it cannot read it hands back raw in broken, and never guesses: a part
// without its brackets, a quote that is not closed, two rel parameters that
// differ, a rel that is no relation. A caller that looks for the end of a set
// must look at broken first: "no next" is only known where nothing is broken,
// and NamesNext tells whether a broken part meant a next page.
func ParseLinks(values []string) (links []Link, broken []string) {
	for _, v := range values {
		p := &linkParser{text: v}
		p.all()
		links = append(links, p.links...)
		broken = append(broken, p.broken...)
	}
	return links, broken
}

var namesNext = regexp.MustCompile(`(?i)rel\b[^;]*\bnext\b`)

// NamesNext reports whether a raw part that ParseLinks could not read names
// the relation next. It would rather say yes once too often.
func NamesNext(raw string) bool { return namesNext.MatchString(raw) }

// linkParser walks over one header value.
type linkParser struct {
	text   string
	at     int
	links  []Link
	broken []string
}

func (p *linkParser) all() {
	for p.skip(" \t\r\n,;"); p.at < len(p.text); p.skip(" \t\r\n,;") {
		start := p.at
		if l, ok := p.link(); ok {
			p.links = append(p.links, l)
			continue
		}
		p.at = start
		p.broken = append(p.broken, p.raw())
	}
}

// skip moves past every character of set.
func (p *linkParser) skip(set string) {
	for p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek gives the next character, 0 at the end.
func (p *linkParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// until takes everything before the first character of set.
func (p *linkParser) until(set string) string {
	rest := p.text[p.at:]
	n := strings.IndexAny(rest, set)
	if n < 0 {
		n = len(rest)
	}
	p.at += n
	return rest[:n]
}

// raw takes a part that cannot be read: up to the comma that opens the next
// link, outside of quotes; a quote that is not closed takes all the rest.
func (p *linkParser) raw() string {
	start, quoted := p.at, false
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\' && quoted:
			p.at++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted && strings.HasPrefix(strings.TrimLeft(p.text[p.at+1:], " \t\r\n"), "<"):
			return strings.Trim(p.text[start:p.at], " \t\r\n")
		}
	}
	p.at = len(p.text)
	return strings.Trim(p.text[start:], " \t\r\n")
}

// link reads <URL> and its parameters.
func (p *linkParser) link() (Link, bool) {
	if p.peek() != '<' {
		return Link{}, false
	}
	p.at++
	url := p.until("<>")
	if p.peek() != '>' {
		return Link{}, false
	}
	p.at++
	l := Link{URL: strings.TrimSpace(url), Params: map[string]string{}}
	for {
		p.skip(" \t\r\n;")
		if c := p.peek(); p.at == len(p.text) || c == ',' || c == '<' {
			return l, true
		}
		if !p.param(&l) {
			return Link{}, false
		}
	}
}

// param reads one parameter into l.
func (p *linkParser) param(l *Link) bool {
	name := strings.ToLower(p.until("=;, \t\r\n\"<>"))
	if name == "" {
		return false
	}
	p.skip(" \t\r\n")
	value := ""
	if p.peek() == '=' {
		p.at++
		p.skip(" \t\r\n")
		var ok bool
		if value, ok = p.value(); !ok {
			return false
		}
	}
	old, twice := l.Params[name]
	if !twice {
		l.Params[name] = value
	}
	if name != "rel" {
		return true
	}
	if twice {
		return strings.EqualFold(old, value)
	}
	l.Rel = strings.Fields(strings.ToLower(value))
	return !slices.ContainsFunc(l.Rel, odd)
}

// value reads a parameter's value: quoted, or bare up to the next separator.
func (p *linkParser) value() (string, bool) {
	if p.peek() == '"' {
		return p.quoted()
	}
	bare := strings.TrimSpace(p.until(";,<>\""))
	if n := len(bare); n > 1 && bare[0] == '\'' && bare[n-1] == '\'' {
		bare = bare[1 : n-1]
	}
	c := p.peek()
	return bare, c != '"' && c != '>'
}

// quoted reads a quoted string with its escapes.
func (p *linkParser) quoted() (string, bool) {
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return b.String(), true
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteByte(p.text[p.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// odd reports whether rel can be no relation: those are plain words and URIs.
func odd(rel string) bool {
	return strings.ContainsFunc(rel, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"'<>`,;=", r)
	})
}
