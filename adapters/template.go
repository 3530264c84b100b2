package adapters

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lastdrop/internal/jsonscan"
)

// A template is a spec's request with its place left open. It is never changed
// after newTemplate and safe for concurrent use.
type template struct {
	spec   *Spec
	source *url.URL // the source's URL; the origin of everything that is asked for
	method string
	inBody bool // positions and sizes travel in the body
	header http.Header
	uses   map[string]bool // the placeholders that stand in params and body
}

// A place is what one request puts into a template.
type place struct {
	at           Position
	size         int   // 0: none
	page, offset int64 // as the API counts them
	cursor       json.RawMessage
	quote        bool // the cursor is written as JSON where it becomes text
	set          []setting
}

// A setting is a parameter and its value: an int64, a string or JSON.
type setting struct {
	param string
	value any
}

// The placeholders.
const (
	holdSize   = "{size}"
	holdOffset = "{offset}"
	holdPage   = "{page}"
	holdCursor = "{cursor}"
)

var placeholders = []string{holdSize, holdOffset, holdPage, holdCursor}

// newTemplate checks a spec's URL and works out what its requests share.
func newTemplate(s *Spec) (*template, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, errors.New("source.url is no URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("source.url must be an absolute http or https URL")
	}
	if u.User != nil {
		return nil, errors.New("source.url must not carry a user or a password")
	}
	u.Fragment, u.RawFragment = "", ""
	t := &template{spec: s, source: u, method: s.Method, header: http.Header{}, uses: map[string]bool{}}
	if t.method == "" {
		t.method = http.MethodGet
	}
	t.inBody = t.method == http.MethodPost && s.Body != nil
	for k, v := range s.Headers {
		t.header.Set(k, v)
	}
	if t.inBody && t.header.Get("Content-Type") == "" {
		t.header.Set("Content-Type", "application/json")
	}
	t.findPlaceholders()
	return t, nil
}

// findPlaceholders notes which placeholders the params and the body have.
func (t *template) findPlaceholders() {
	note := func(path, text string) any {
		for i := range len(text) {
			if h := holdAt(text, i); h != "" && (!t.strictHold(path) || valuePlace(text[:i])) {
				t.uses[h] = true
			}
		}
		return text
	}
	for _, values := range t.spec.Params {
		for _, v := range values {
			note("?", v)
		}
	}
	for _, set := range t.spec.Set {
		for _, v := range set.Values {
			if text, ok := v.(string); ok {
				note("?", text)
			}
		}
	}
	if t.inBody {
		fill(t.spec.Body, "", note)
	}
}

// strictHold reports whether placeholders count only where a value can stand:
// in the text of a GraphQL query, {cursor} is also a selection.
func (t *template) strictHold(path string) bool {
	return t.spec.Pages.Style == styleGraphQL && path == "query"
}

// sendsSize reports whether a request can ask for a page size.
func (t *template) sendsSize() bool { return t.spec.Pages.SizeParam != "" || t.uses[holdSize] }

// sizeOf returns the size that a request for size really asks for.
func (t *template) sizeOf(size int) int {
	if size < 0 || !t.sendsSize() {
		return 0
	}
	return size
}

// request builds the request for a place.
func (t *template) request(pl place) (Request, error) {
	if pl.size <= 0 && t.uses[holdSize] {
		return Request{}, errors.New("the request has {size}, but no page size is asked for")
	}
	q, err := t.query(pl)
	if err != nil {
		return Request{}, err
	}
	u := *t.source
	u.RawQuery = q.encode()
	return t.finish(&u, pl)
}

// finish adds everything but the query to a request.
func (t *template) finish(u *url.URL, pl place) (Request, error) {
	req := Request{Method: t.method, URL: u.String(), Header: t.header.Clone(), Size: pl.size}
	if t.method != http.MethodPost || t.spec.Body == nil {
		return req, nil
	}
	tree := fill(t.spec.Body, "", func(path, text string) any { return pl.inBody(text, t.strictHold(path)) })
	for _, s := range t.spec.Set {
		var err error
		if tree, err = assign(tree, s.Param, pl.list(s)); err != nil {
			return Request{}, fmt.Errorf("body parameter %s: %w", s.Param, err)
		}
	}
	for _, s := range t.settings(pl) {
		var err error
		if tree, err = assign(tree, s.param, s.value); err != nil {
			return Request{}, fmt.Errorf("body parameter %s: %w", s.param, err)
		}
	}
	var err error
	req.Body, err = encodeBody(tree)
	return req, err
}

// query builds the query for a place.
func (t *template) query(pl place) (query, error) {
	q := parseQuery(t.source.RawQuery)
	for _, name := range slices.Sorted(maps.Keys(t.spec.Params)) {
		q = q.without(name)
		for _, v := range t.spec.Params[name] {
			if v != holdCursor || pl.cursor != nil {
				q = q.add(name, pl.inText(v, false))
			}
		}
	}
	if t.inBody {
		return q, nil
	}
	for _, s := range t.spec.Set {
		q = q.without(s.Param)
		for _, v := range s.Values {
			q = q.add(s.Param, pl.inText(fmt.Sprint(v), false))
		}
	}
	for _, s := range t.settings(pl) {
		text, err := s.text(pl.quote)
		if err != nil {
			return nil, err
		}
		q = q.set(s.param, text)
	}
	return q, nil
}

// settings lists what a place sets, the sort and the pin among it.
func (t *template) settings(pl place) []setting {
	var out []setting
	p := &t.spec.Pages
	if p.SizeParam != "" && pl.size > 0 {
		out = append(out, setting{p.SizeParam, int64(pl.size)})
	}
	if p.SortParam != "" && p.SortValue != "" {
		out = append(out, setting{p.SortParam, p.SortValue})
	}
	if p.PinParam != "" && len(pl.at.Pin) > 0 {
		out = append(out, setting{p.PinParam, pl.at.Pin})
	}
	return append(out, pl.set...)
}

// text writes a setting's value for a query.
func (s setting) text(quote bool) (string, error) {
	switch v := s.value.(type) {
	case int64:
		return strconv.FormatInt(v, 10), nil
	case string:
		return v, nil
	case json.RawMessage:
		return cursorText(v, quote), nil
	default:
		return "", fmt.Errorf("parameter %s: no value of type %T", s.param, s.value)
	}
}

// cursorText writes a JSON value as text: a string as what it means (or as
// JSON, if quote is set), everything else as its JSON.
func cursorText(raw json.RawMessage, quote bool) string {
	if v := jsonscan.ValueOf(raw); v.IsString() && !quote {
		return v.Str()
	}
	return string(raw)
}

// inText replaces the placeholders in a text. What is put in is not looked at
// again.
func (pl place) inText(text string, strict bool) string {
	var out strings.Builder
	done := 0
	for i := 0; i < len(text); {
		hold := holdAt(text, i)
		if hold == "" || strict && !valuePlace(text[:i]) {
			i++
			continue
		}
		out.WriteString(text[done:i])
		out.WriteString(pl.value(hold))
		i += len(hold)
		done = i
	}
	out.WriteString(text[done:])
	return out.String()
}

// value writes a placeholder's value as text.
func (pl place) value(hold string) string {
	switch hold {
	case holdSize:
		return strconv.Itoa(pl.size)
	case holdOffset:
		return strconv.FormatInt(pl.offset, 10)
	case holdPage:
		return strconv.FormatInt(pl.page, 10)
	default:
		return cursorText(pl.cursor, pl.quote)
	}
}

// inBody replaces the placeholders in a string of the body: a string that is
// nothing but a placeholder takes its value's own type.
func (pl place) inBody(text string, strict bool) any {
	switch {
	case strict:
		return pl.inText(text, true)
	case text == holdSize:
		return int64(pl.size)
	case text == holdOffset:
		return pl.offset
	case text == holdPage:
		return pl.page
	case text == holdCursor && pl.cursor == nil:
		return nil
	case text == holdCursor && pl.quote:
		return string(pl.cursor)
	case text == holdCursor:
		return pl.cursor
	default:
		return pl.inText(text, false)
	}
}

// list gives the value of a further parameter for a body: one value, or a list.
func (pl place) list(s Set) any {
	out := make([]any, len(s.Values))
	for i, v := range s.Values {
		out[i] = v
		if text, ok := v.(string); ok {
			out[i] = pl.inBody(text, false)
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	return out
}

// holdAt returns the placeholder that stands at text[i:], or "".
func holdAt(text string, i int) string {
	for _, h := range placeholders {
		if strings.HasPrefix(text[i:], h) {
			return h
		}
	}
	return ""
}

// valuePlace reports whether what follows before is a value of a GraphQL text:
// behind a colon, a comma, a quote or an opening bracket.
func valuePlace(before string) bool {
	before = strings.TrimRight(before, " \t\r\n")
	return before != "" && strings.IndexByte(`:,"([`, before[len(before)-1]) >= 0
}
