package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"lastdrop/internal/jsonscan"
)

// cursor walks by tokens that the server hands out, in the body or a header.
// Without a parameter for it, a token that is an object is merged into the
// request, member by member.
type cursor struct {
	tmpl   *template
	param  string
	path   field
	header string
}

func newCursor(c *compiler) Style {
	p := c.spec.Pages
	if (p.CursorPath == "") == (p.CursorHeader == "") {
		c.fault("pages.cursor: one of path and header is needed, and not both")
	}
	return cursor{tmpl: c.tmpl, param: p.CursorParam, path: c.field("pages.cursor.path", p.CursorPath), header: p.CursorHeader}
}

// Request sends the position's token; at the start it sends none, so that a
// seed that the params give stays. A token that was a URL is asked for itself.
func (s cursor) Request(at Position, size, _ int) (Request, error) {
	if at.URL != "" {
		return s.tmpl.atURL(at, size)
	}
	pl := s.tmpl.cursorPlace(at, size, s.param, false)
	if s.merges() && len(at.Cursor) > 0 {
		members, err := members(at.Cursor)
		if err != nil {
			return Request{}, err
		}
		for _, key := range slices.Sorted(maps.Keys(members)) {
			pl.set = append(pl.set, setting{key, members[key]})
		}
	}
	return s.tmpl.request(pl)
}

// merges reports whether a token goes into the request member by member.
func (s cursor) merges() bool { return s.param == "" && !s.tmpl.uses[holdCursor] }

func members(object json.RawMessage) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	err := json.Unmarshal(object, &m)
	return m, err
}

// Next reads the token. One that is there and null, empty or false is the
// server's word for the end; one that is absent says nothing.
func (s cursor) Next(at Position, req Request, a *Answer) Continuation {
	v := a.value(s.path)
	if s.header != "" {
		v = jsonscan.Value{}
		if t := a.header(s.header); t.OK {
			v = jsonscan.ValueOf(quoteJSON(t.S))
		}
	}
	switch {
	case !v.Exists():
		return Continuation{}
	case noToken(v):
		return Continuation{State: Ended, Word: wordCursor}
	case v.IsString() && isURL(v.Str()):
		return s.tmpl.follow(at, req, a, v.Str(), wordCursor)
	case s.merges() && (!v.IsObject() || empty(v)):
		return Continuation{State: Broken, Word: wordCursor, Reason: "pages.cursor.param is missing, and the token is no object to merge: " + v.Type.String()}
	case s.tmpl.spec.Pages.SameIsEnd && a.Received == 0 && sameJSON(v.Raw, at.Cursor):
		return Continuation{State: Ended, Word: wordCursor}
	}
	c := Continuation{State: Follow, Word: wordCursor,
		At: Position{Cursor: compact(v.Raw), Offset: addSat(at.Offset, int64(a.Received))}}
	if s.skips(at, req, a, v) {
		c.Note, c.Reason = noteSkip, fmt.Sprintf("the cursor goes on to %s, which leaves out more than the %d items that came", oneLine(valueText(v)), a.Received)
	}
	return c
}

// skips reports whether a token is a number that leaves rows out: a row number
// that rises by just the size asked for while fewer came, or a page number, as
// the rows before it show, that rises by more than one.
func (s cursor) skips(at Position, req Request, a *Answer, v jsonscan.Value) bool {
	to, err := strconv.ParseInt(cursorText(compact(v.Raw), false), 10, 64)
	now, err2 := int64(0), error(nil)
	if len(at.Cursor) > 0 {
		now, err2 = strconv.ParseInt(cursorText(at.Cursor, false), 10, 64)
	}
	if err != nil || err2 != nil || req.Size < 2 || a.Received == 0 {
		return false
	}
	size := int64(req.Size)
	counts := at.Offset > 0 && (at.Offset == now*size || at.Offset == (now-1)*size)
	return a.Received < req.Size && to-now == size || counts && to > now+1
}

// noToken reports whether a value that is there is the word that there is no
// token: null, "" or false.
func noToken(v jsonscan.Value) bool {
	return v.IsNull() || v.IsBool() && !v.Bool() || v.IsString() && blank(v.Str())
}

// sameJSON reports whether two values are equal; nothing equals no value.
func sameJSON(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	return bytes.Equal(jsonscan.AppendCanonical(nil, a), jsonscan.AppendCanonical(nil, b))
}
