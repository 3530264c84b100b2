package configs

import (
	"fmt"
	"strings"
)

// holds reports whether a placeholder stands in the params or the body.
func (s *Source) holds(placeholder string) bool {
	for _, values := range s.Params {
		for _, v := range values {
			if strings.Contains(v, placeholder) {
				return true
			}
		}
	}
	return holdsIn(s.Body.V, placeholder)
}

func holdsIn(tree any, placeholder string) bool {
	switch v := tree.(type) {
	case map[string]any:
		for _, sub := range v {
			if holdsIn(sub, placeholder) {
				return true
			}
		}
	case []any:
		for _, sub := range v {
			if holdsIn(sub, placeholder) {
				return true
			}
		}
	case string:
		return strings.Contains(v, placeholder)
	}
	return false
}

func (r *reading) checkSize(c *Config) {
	s := &c.Pages.Size
	for _, k := range []struct {
		key  string
		size int
	}{{"start", s.Start}, {"min", s.Min}, {"max", s.Max}} {
		if path := "pages.size." + k.key; r.said(path) && k.size < 1 {
			r.bad(path, fmt.Sprintf("is %d, and a page has at least 1 item", k.size), "")
		}
	}
	hold := c.Source.holds("{size}")
	switch {
	case s.Param == "" && (r.said("pages.size.start") || r.said("pages.size.max")) && !hold && c.Pages.Style != "graphql":
		r.missing("/pages/size/param", "missing", "name the parameter that asks for a page size, or write {size} into source.params or source.body")
	case (s.Param != "" || hold) && !r.said("pages.size.start") && !r.said("pages.size.max"):
		r.lacks("pages.size.start", "name the page size to begin with")
	}
	switch {
	case s.Max > 0 && s.Min > s.Max:
		r.bad("pages.size.min", fmt.Sprintf("min %d is above max %d", s.Min, s.Max), "")
	case s.Start > 0 && s.Start < s.Min:
		r.bad("pages.size.start", fmt.Sprintf("start %d is below min %d", s.Start, s.Min), "")
	case s.Max > 0 && s.Start > s.Max:
		r.bad("pages.size.start", fmt.Sprintf("start %d is above max %d", s.Start, s.Max), "")
	}
}

// checkStyle checks that a style has the keys that it needs.
func (r *reading) checkStyle(c *Config) {
	p, s := &c.Pages, &c.Source
	switch p.Style {
	case "page":
		r.needParam("number", p.Number != nil && p.Number.Param != "" || s.holds("{page}"), "name the parameter that asks for a page, e.g. number: {param: page}")
	case "offset":
		r.needParam("offset", p.Offset != nil && p.Offset.Param != "" || s.holds("{offset}"), "name the parameter that asks for an offset, e.g. offset: {param: offset}")
	case "keyset":
		r.needParam("keyset", p.Keyset != nil && p.Keyset.Param != "" || s.holds("{cursor}"), "name the parameter that asks for what comes after a key, e.g. keyset: {param: starting_after, path: id}")
		if p.Keyset == nil && !r.said("pages.keyset") {
			r.lacks("pages.keyset.path", "say which field of the last item starts the next page, e.g. path: id")
		}
	case "next_url":
		if p.Next == nil && !r.said("pages.next") {
			r.lacks("pages.next.path", "say where the answer holds the next page's address, e.g. next: {path: next}")
		}
	case "cursor":
		r.checkCursor(p.Cursor, s)
	case "graphql":
		r.checkGraphQL(s)
	}
}

// needParam notes that a style has no way to send its position.
func (r *reading) needParam(block string, ok bool, cure string) {
	if !ok {
		r.lacks("pages."+block+".param", cure)
	}
}

func (r *reading) checkCursor(k *Cursor, s *Source) {
	r.needParam("cursor", k != nil && k.Param != nil || s.holds("{cursor}"),
		`name the parameter that sends the token back, e.g. param: after; write param: "" where the token is an object whose members are the parameters`)
	if k == nil || k.Path == "" && k.Header == "" {
		r.lacks("pages.cursor.path", "say where the next token stands: a path, or a header")
	}
}

func (r *reading) checkGraphQL(s *Source) {
	if s.Method == "GET" {
		r.bad("source.method", "style graphql asks by POST", "add source.method: POST")
	}
	body, _ := s.Body.V.(map[string]any)
	if q, ok := body["query"].(string); !ok || strings.TrimSpace(q) == "" {
		r.missing("/source/body/query", "missing", "style graphql needs the query's text, e.g. body: {query: \"query($first: Int, $after: String) {…}\"}")
	}
}

// checkPages checks what does not depend on the style.
func (r *reading) checkPages(p *Pages) {
	r.oneOf("pages.cursor", p.Cursor != nil && p.Cursor.Path != "" && p.Cursor.Header != "")
	r.oneOf("pages.more", p.More != nil && p.More.Path != "" && p.More.Header != "")
	r.oneOf("pages.last", p.Last != nil && p.Last.Path != "" && p.Last.Header != "")
	if p.More != nil && p.More.Path == "" && p.More.Header == "" {
		r.lacks("pages.more.path", "say where the flag stands: a path, or a header")
	}
	if p.Last != nil && p.Last.Path == "" && p.Last.Header == "" {
		r.lacks("pages.last.path", "say where the count of pages stands: a path, or a header")
	}
	r.atLeast("pages.reach", p.Reach, 0)
	if p.Number != nil && p.Number.First != nil && *p.Number.First < 0 {
		r.bad("pages.number.first", "is below 0", "")
	}
	if p.Offset != nil && p.Offset.First < 0 {
		r.bad("pages.offset.first", "is below 0", "")
	}
	r.eachNode("/pages/end", len(p.End), func(i int, n *node) {
		e := p.End[i]
		switch {
		case r.nodes[n.at.child("status")] != nil && (e.Status < 300 || e.Status > 599):
			r.fail(n, fmt.Sprintf("status %d is no error status", e.Status), "an end by status is one of 300 to 599")
		case (e.Path == "") != (e.Is == ""):
			r.fail(n, "needs path and is together", "e.g. {status: 400, path: code, is: invalid_page}")
		}
	})
}

// oneOf notes that a place is given twice.
func (r *reading) oneOf(block string, both bool) {
	if both {
		r.bad(block, "has a path and a header", "keep one")
	}
}
