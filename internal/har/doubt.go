package har

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lastdrop/judge"
)

// What cannot be read must not look like nothing. This file finds the words of
// paging, of errors and of parts that the tables do not know, and takes back
// everything that would speak for completeness beside them.

// plain gives the letters of a name in lower case: page[number] is pagenumber.
func plain(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			return c
		}
		return -1
	}, strings.ToLower(name))
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// places reports whether a parameter's name speaks of a position in the set.
func places(name string) bool {
	switch p := plain(name); {
	case containsAny(p, "size", "limit", "perpage"):
		return containsAny(p, "offset", "cursor")
	case containsAny(p, "page", "offset", "cursor", "skip", "start", "after", "before", "next", "continu", "scroll", "marker", "bookmark", "index", "position", "since", "until", "lastid", "lastkey", "maxid", "minid", "oldest", "latest", "firstresult", "seek"):
		return true
	default:
		return slices.Contains([]string{"p", "pg", "pn", "pos", "from", "token", "o"}, p)
	}
}

// unplaced reports whether the request names a position that p does not have.
func (r request) unplaced(p judge.Request) bool {
	u, err := url.Parse(r.URL)
	if err != nil {
		return strings.Contains(r.URL, "?") || r.query().unplaced(p) || r.Post.places()
	}
	if _, err := url.ParseQuery(u.RawQuery); err != nil {
		return true // a part of the query is lost
	}
	q := r.query()
	for _, l := range r.Query {
		if len(q[l.Name]) == 0 && places(l.Name) {
			return true
		}
	}
	return inPath.MatchString(u.Path) || q.unplaced(p) || r.Post.places()
}

// inPath finds a position that is a part of the path.
var inPath = regexp.MustCompile(`(?i)/(p|page|offset|skip|start|from|cursor|after)/[^/]*[0-9]`)

func (q query) unplaced(p judge.Request) bool {
	if p.Offset.OK && p.Page.OK && (p.Offset.N > 0 || p.Page.N > 1) {
		return true // two positions
	}
	for name, values := range q {
		read := p.Offset.OK && slices.Contains(offsetNames, name) || p.Page.OK && slices.Contains(pageNames, name)
		start := !slices.ContainsFunc(values, func(v string) bool { return v != "0" })
		if !read && !start && places(name) {
			return true
		}
	}
	return false
}

// named finds the names in a body of any form: JSON, a form, XML, GraphQL.
var named = regexp.MustCompile(`([\w$.\[\]%-]+)["'\\\s]*[:=>]\s*([^,&\s{}()\]]*)`)

// partName finds the names of the parts of a multipart form.
var partName = regexp.MustCompile(`name="([^"]*)"`)

// places reports whether a request's body names a position that is not the start.
func (p post) places() bool {
	for _, f := range p.Params {
		if places(f.Name) && f.Value != "0" {
			return true
		}
	}
	for _, m := range named.FindAllStringSubmatch(p.Text, -1) {
		if places(m[1]) && m[2] != "0" && m[2] != "null" && m[2] != `""` {
			return true
		}
	}
	return slices.ContainsFunc(partName.FindAllStringSubmatch(p.Text, -1), func(m []string) bool { return places(m[1]) })
}

// wholeRange reads a Content-Range.
var wholeRange = regexp.MustCompile(`^(?:\w+[ =])?\s*0-(\d+)/(\d+)$`)

// partOfSet reports whether the answer is, or may be, one range of more.
func (r *response) partOfSet() bool {
	ranges := r.values("Content-Range")
	for _, v := range ranges {
		m := wholeRange.FindStringSubmatch(v)
		if m == nil {
			return true
		}
		last, err := strconv.ParseInt(m[1], 10, 64)
		size, err2 := strconv.ParseInt(m[2], 10, 64)
		if err != nil || err2 != nil || last != size-1 {
			return true
		}
	}
	return r.Status.N == 206 && len(ranges) == 0
}

// aboutSet reports whether the exchange is one that lists a set.
func (e entry) aboutSet() bool {
	method := strings.ToUpper(e.Request.Method)
	return e.Response.Status.OK && (method == "" || method == "GET" || method == "POST") &&
		!strings.Contains(strings.ToLower(e.Response.Content.MimeType), "problem+")
}

// empty reports whether a JSON value says no.
func empty(raw []byte) bool {
	switch strings.ToLower(string(raw)) {
	case "null", "false", "0", `""`, "[]", "{}", `"false"`, `"0"`, `"no"`, `"none"`:
		return true
	}
	return false
}

// doubtful reports whether one member of an envelope casts doubt on the rest.
func doubtful(name string, raw []byte) bool {
	p, no := plain(name), empty(raw)
	switch {
	case slices.Contains([]string{"ok", "success", "successful", "succeeded", "complete", "completed", "islast", "islastpage", "last"}, p):
		return no && string(raw) != "null"
	case slices.Contains([]string{"nbpages", "totalpages", "pages", "pagecount", "lastpage", "numpages", "pagestotal"}, p):
		return !no && raw[0] != '[' && string(raw) != "1" && string(raw) != `"1"`
	case p == "status" || p == "result":
		return containsAny(strings.ToLower(string(raw)), `"err`, `"fail`, `"partial`, `"timeout`)
	case p == "links" && raw[0] == '[':
		return bytes.Contains(raw, []byte(`"next"`))
	case p == "endcursor" || strings.Contains(p, "prev"):
		return false
	case slices.Contains([]string{"more", "failed", "failures", "fault", "remaining"}, p):
		return !no
	}
	return !no && containsAny(p, "next", "continu", "cursor", "hasmore", "moreavail", "moreresult", "pagetoken", "error", "exception", "warning", "partial", "timedout", "timeout", "incomplete", "truncat", "terminatedearly")
}

// doubtful reports whether anything in the envelope casts doubt on the rest.
// Lists are not looked into: they hold items.
func (o object) doubtful(depth int) bool {
	for name, raw := range o {
		if doubtful(name, raw) {
			return true
		}
		if raw[0] == '{' && depth > 0 {
			if inner, twice := members(raw); twice || inner.doubtful(depth-1) {
				return true
			}
		}
	}
	return false
}

// wording collects what the envelope says in words.
func (o object) wording() string {
	var said []string
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains([]string{"message", "messages", "msg", "note", "notes", "notice", "warning", "warnings", "info", "detail", "details"}, plain(name)) {
			continue
		}
		var text string
		var texts []string
		switch {
		case json.Unmarshal(o[name], &text) == nil:
			texts = []string{text}
		case json.Unmarshal(o[name], &texts) != nil:
			continue
		}
		said = append(said, texts...)
	}
	return strings.Join(said, "\n")
}

// doubt takes back what speaks for completeness, and leaves what speaks
// against it. It does nothing where the server itself names what follows.
func doubt(r *judge.Response) {
	if r.NextPage.OK || r.NextOffset.OK || r.NextCursor.S != "" || r.NextURL.S != "" {
		return
	}
	if r.HasMore == judge.No {
		r.HasMore = judge.NotSaid
	}
	r.EndMarker, r.NextCursor, r.NextURL = judge.NotSaid, judge.Text{}, judge.Text{}
	if r.Total.OK && r.TotalKind != judge.Estimate {
		r.TotalKind = judge.LowerBound
	}
	alone := judge.Snapshot{Response: judge.Response{Headers: r.Headers}}
	if len(judge.Judge(alone).CompleteEvidence) > 0 { // a Link that says where the end is
		maps.DeleteFunc(r.Headers, func(name string, _ []string) bool { return strings.EqualFold(name, "Link") })
	}
}

// repeated finds a name that stands twice, in any case, in a part of the
// archive that is read, and gives its path.
func repeated(data []byte, path string) string {
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '[' {
		var all []json.RawMessage
		if json.Unmarshal(data, &all) != nil {
			return ""
		}
		for i, raw := range all {
			if at := repeated(raw, fmt.Sprintf("%s[%d]", path, i)); at != "" {
				return at
			}
		}
		return ""
	}
	if len(data) == 0 || data[0] != '{' {
		return ""
	}
	return repeatedMember(data, path)
}

func repeatedMember(data []byte, path string) string {
	if path != "" {
		path += "."
	}
	o, seen := map[string]json.RawMessage{}, map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(data))
	_, _ = dec.Token()
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		var raw json.RawMessage
		if err != nil || !ok || dec.Decode(&raw) != nil {
			return ""
		}
		low := strings.ToLower(name)
		if seen[low] {
			return path + low
		}
		seen[low], o[low] = true, raw
	}
	for _, name := range []string{"log", "entries", "request", "response", "content", "postdata"} {
		if at := repeated(o[name], path+name); at != "" {
			return at
		}
	}
	return ""
}
