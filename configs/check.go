package configs

import (
	"fmt"
	"net/textproto"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"lastdrop/adapters"
)

// check notes everything that is wrong with a config whose keys and types are
// right. What only the style itself can tell it asks the style.
func (r *reading) check(c *Config) {
	r.checkName(c)
	r.checkForEach(c)
	r.checkSource(&c.Source)
	r.checkAuth(&c.Source)
	r.checkSize(c)
	r.checkStyle(c)
	r.checkPages(&c.Pages)
	r.checkItems(c)
	r.checkTotal(&c.Total)
	r.checkSigns(c)
	r.checkComplete(c)
	r.checkSlice(c.Slice)
	r.checkLimits(&c.Limits)
	r.checkOutput(c)
	r.checkIncremental(c)
	r.checkSchedule(c.Schedule)
	if len(r.errs) == 0 {
		r.askStyle(c)
	}
}

// askStyle makes the Reader, which checks what is left.
func (r *reading) askStyle(c *Config) {
	_, err := adapters.NewReader(c.Spec())
	if err == nil {
		return
	}
	for line := range strings.SplitSeq(r.secrets.Hide(err.Error()), "\n") {
		key, msg, ok := strings.Cut(line, ": ")
		if !ok || r.nodes[at(key)] == nil {
			key, msg = "pages", line
		}
		delete(r.faulty, at(key))
		r.bad(key, msg, "")
	}
}

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

func (r *reading) checkName(c *Config) {
	if r.said("version") && c.Version != 1 {
		r.bad("version", fmt.Sprintf("version %d is not known", c.Version), "write version: 1")
	}
	if r.said("name") && !namePattern.MatchString(c.Name) {
		r.bad("name", r.quote(c.Name)+" is no name", "use small letters, digits, dots, dashes and underscores, and begin with a letter or digit")
	}
}

func (r *reading) checkSource(s *Source) {
	if r.said("source.url") {
		r.checkURL("source.url", s.URL, "write it under source.auth")
	}
	if hasPlaceholder(s.URL) {
		r.bad("source.url", "placeholders are not replaced in the address", "move them into source.params or source.body")
	}
	post := s.Method == "POST"
	if r.said("source.body") && s.Method == "GET" {
		r.bad("source.body", "a GET has no body", "add source.method: POST")
	}
	if n := r.nodes["/source/body"]; n != nil && post && n.kind != mapping && n.kind != list {
		r.fail(n, "must be a mapping or a list, not "+n.kind.String(), "take the quotes away: JSON is YAML too, with placeholders in quotes: \"{size}\"")
	}
	r.checkHeaders(s)
}

// checkURL checks an address that is asked. It never quotes it: it may hold a
// secret.
func (r *reading) checkURL(path, raw, userCure string) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		r.bad(path, "is no URL", "write it as https://host/path")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r.bad(path, "must be an absolute http or https URL", "write it as https://host/path")
	case u.User != nil:
		r.bad(path, "holds a user or password", userCure)
	case u.Fragment != "" || strings.Contains(raw, "#"):
		r.bad(path, "holds a fragment, which is never sent", "take the # and what follows away")
	}
}

// placeholders are replaced in params and body.
var placeholders = []string{"{size}", "{offset}", "{page}", "{cursor}"}

// bounds are replaced in what asks for a slice.
var bounds = []string{"{from}", "{to}", "{value}"}

func hasPlaceholder(s string) bool {
	return slices.ContainsFunc(placeholders, func(p string) bool { return strings.Contains(s, p) })
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func (r *reading) checkHeaders(s *Source) {
	n := r.nodes["/source/headers"]
	if n == nil {
		return
	}
	seen := map[string]string{}
	for _, f := range n.fields {
		name := textproto.CanonicalMIMEHeaderKey(f.key)
		first, twice := seen[name]
		seen[name] = f.key
		switch {
		case !headerName.MatchString(f.key):
			r.failKey(f.value, "is no header name", "")
		case twice:
			r.failKey(f.value, "is the same header as "+quote(first), "keep one")
		case strings.ContainsAny(s.Headers[f.key], "\r\n\x00"):
			r.fail(f.value, "a header's value must be one line", "")
		case s.Auth != nil && s.Auth.sends(name):
			r.failKey(f.value, "is sent by source.auth too", "keep one of them")
		case s.Cookies && name == "Cookie":
			r.failKey(f.value, "is written by source.cookies too", "keep one of them")
		}
	}
}

// sends reports whether the credentials go into a header.
func (a *Auth) sends(name string) bool {
	if a.Header != nil && textproto.CanonicalMIMEHeaderKey(a.Header.Name) == name {
		return true
	}
	return name == "Authorization" && (a.Bearer != "" || a.Basic != nil)
}

func (r *reading) checkAuth(s *Source) {
	n := r.nodes["/source/auth"]
	if n == nil || s.Auth == nil || n.kind != mapping {
		return
	}
	r.oneKind(n)
	for _, path := range []string{"bearer", "basic.user", "header.name", "header.value", "query.name", "query.value"} {
		if v := r.nodes[at("source.auth."+path)]; v != nil && v.kind == text && strings.TrimSpace(v.text) == "" {
			r.fail(v, "is empty", "")
		} else if v != nil && strings.ContainsAny(v.text, "\r\n\x00") {
			r.fail(v, "must be one line", "")
		}
	}
	if h := s.Auth.Header; h != nil && h.Name != "" && !headerName.MatchString(h.Name) {
		r.bad("source.auth.header.name", "is no header name", "")
	} else if h != nil && s.Cookies && strings.EqualFold(h.Name, "Cookie") {
		r.bad("source.auth.header.name", "is written by source.cookies too", "keep one of them")
	}
	if b := s.Auth.Basic; b != nil && strings.Contains(b.User.Reveal(), ":") {
		r.bad("source.auth.basic.user", "holds a colon, which ends the user", "")
	}
}

// oneKind notes credentials of no kind or of several.
func (r *reading) oneKind(n *node) {
	var kinds []string
	for _, f := range n.fields {
		if slices.Contains(keysOf(reflect.TypeFor[Auth]()), f.key) {
			kinds = append(kinds, f.key)
		}
	}
	switch {
	case len(n.fields) == 0:
		r.fail(n, "names no kind", "one of bearer, basic, header, query")
	case len(kinds) > 1:
		r.fail(n, "has more than one kind: "+strings.Join(kinds, ", "), "keep one")
	}
}

func (r *reading) checkSigns(c *Config) {
	r.eachNode("/partial", len(c.Partial), func(i int, n *node) {
		s := c.Partial[i]
		ways := 0
		for _, used := range []bool{s.Is != nil, s.Below != "", s.Present} {
			if used {
				ways++
			}
		}
		if ways != 1 {
			r.fail(n, "needs one of is, below and present: true", "e.g. {path: incomplete_results, is: true}")
		}
	})
}

// eachNode calls check for each item of a list that may be written as one.
func (r *reading) eachNode(p pointer, count int, check func(i int, n *node)) {
	n := r.nodes[p]
	if n == nil {
		return
	}
	items := n.items
	if n.kind != list {
		items = []*node{n}
	}
	for i, item := range items {
		if i < count && item.kind == mapping {
			check(i, item)
		}
	}
}

// follows are the styles that go where the server says, and count no rows.
var follows = []string{"cursor", "graphql", "next_url", "single"}

func (r *reading) checkMerge(c *Config) {
	switch {
	case !c.Items.Merge && r.said("items.batch"):
		r.bad("items.batch", "stands without merge: true", "a batch is of pages whose items are merged")
	case !c.Items.Merge:
	case !slices.Contains(follows, c.Pages.Style):
		r.bad("items.merge", "style "+c.Pages.Style+" counts rows, and a merged page has fewer than came", "one of the styles "+strings.Join(follows, ", "))
	case len(c.Items.ID) == 0:
		r.bad("items.merge", "needs items.id", "name what the parts of one item have in common")
	}
}

// xmlPathCure says how to name the items of an XML answer.
const xmlPathCure = "name the elements from the root to the item, e.g. path: ListBucketResult.Contents"

func (r *reading) checkItems(c *Config) {
	if c.isJSON() && c.Items.Path == "" && !r.said("items.path") && c.Pages.Style != "" {
		r.lacks("items.path", `say where the list of items stands, e.g. path: data; a bare array is "@this"`)
	}
	if xml := c.Items.Format == "xml"; xml && !r.said("items.path") {
		r.lacks("items.path", xmlPathCure)
	} else if xml && adapters.XMLNames(string(c.Items.Path)) == nil {
		r.bad("items.path", r.quote(string(c.Items.Path))+" leads to no element of XML", xmlPathCure)
	}
	if lines := c.Items.Format == "ndjson" || c.Items.Format == "csv"; lines && c.Items.Path != "" && c.Items.Path != "@this" {
		r.bad("items.path", "a body of "+c.Items.Format+" is itself the list", "take the key away")
	}
	r.checkMerge(c)
	if r.said("items.id") && len(c.Items.ID) == 0 {
		r.bad("items.id", "names no path", "take the key away where items have no id")
	}
}
