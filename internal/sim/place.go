package sim

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// place is where in the list a request reads, as the request names it.
type place struct {
	how Addressing
	// start: the request names no place.
	start  bool
	page   int
	offset int
	tok    token
	// key and then are a keyset position as it was sent.
	key, then string
	// raw is the token's text as it was sent.
	raw string
}

// label tells places apart for the count of attempts.
func (p place) label() string {
	switch {
	case p.start:
		return "start"
	case p.how == ByPage:
		return "page " + strconv.Itoa(p.page)
	case p.how == ByOffset:
		return "offset " + strconv.Itoa(p.offset)
	case p.how == ByToken:
		return "token " + p.raw
	default:
		return "key " + p.key + " " + p.then
	}
}

// token is the inside of an opaque cursor.
type token struct {
	kind TokenKind
	// sort and seq are the last item read, for TokenKey.
	sort int64
	seq  int32
	// offset is the next place for the other kinds; snap is the snapshot.
	offset, snap int
	// salt tells apart tokens that stand at the same place.
	salt int
}

// letters are the kinds as they stand in the text.
var letters = map[TokenKind]string{
	TokenKey: "k", TokenOffset: "o", TokenPage: "p", TokenSnapshot: "s",
}

// String is the token as it goes over the wire. Page tokens are plain numbers.
func (t token) String() string {
	if t.kind == TokenPage {
		return strconv.Itoa(t.offset)
	}
	text := fmt.Sprintf("%s.%d.%d.%d.%d.%d", letters[t.kind], t.sort, t.seq, t.offset, t.snap, t.salt)
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// parseToken reads a token of the given kind.
func parseToken(kind TokenKind, text string) (token, bool) {
	t := token{kind: kind}
	if kind == TokenPage {
		n, err := strconv.Atoi(text)
		t.offset = n
		return t, err == nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return t, false
	}
	rest, ok := strings.CutPrefix(string(raw), letters[kind]+".")
	parts := strings.Split(rest, ".")
	if !ok || len(parts) != 5 {
		return t, false
	}
	var nums [5]int64
	for i, part := range parts {
		if nums[i], err = strconv.ParseInt(part, 10, 64); err != nil {
			return t, false
		}
	}
	t.sort, t.seq, t.offset = nums[0], int32(nums[1]), int(nums[2])
	t.snap, t.salt = int(nums[3]), int(nums[4])
	return t, true
}

// ask is a request as the API understands it.
type ask struct {
	place place
	// size is in force; asked is what the request said, 0 for nothing.
	size, asked int
	tooBig      bool
	badToken    bool
	// fields is the projection; empty is everything.
	fields string
}

// readAsk decodes a request.
func (a API) readAsk(q *request) ask {
	var k ask
	k.size = a.Size.Default
	if v, ok := q.value(a.Params.Size, a.Post); ok {
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			k.size, k.asked = n, n
		}
	}
	if a.Size.Max > 0 && k.size > a.Size.Max {
		k.tooBig = a.Size.Over == OverReject
		k.size = a.Size.Max
	}
	k.fields, _ = q.value(a.Params.Fields, a.Post)
	k.place, k.badToken = a.readPlace(q)
	return k
}

// readPlace decodes where a request reads.
func (a API) readPlace(q *request) (p place, bad bool) {
	p = place{how: a.Addressing, start: true, page: a.FirstPage}
	names := map[Addressing]string{
		ByPage: a.Params.Page, ByOffset: a.Params.Offset, ByToken: a.Params.Cursor, ByKey: a.Params.Key,
	}
	v, ok := q.value(names[a.Addressing], a.Post)
	if !ok || (a.Addressing == ByToken && v == a.Token.Seed) {
		return p, false
	}
	p.start = false
	switch a.Addressing {
	case ByPage:
		p.page = max(atoi(v, a.FirstPage), a.FirstPage)
		p.start = p.page == a.FirstPage
	case ByOffset:
		p.offset = max(atoi(v, 0), 0)
		p.start = p.offset == 0
	case ByToken:
		p.raw = v
		p.tok, ok = parseToken(a.Token.Kind, v)
		bad = !ok
	case ByKey:
		p.key = v
		p.then, _ = q.value(a.Params.KeyThen, a.Post)
	}
	return p, bad
}

// atoi is the number in s, or def.
func atoi(s string, def int) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return def
	}
	return n
}
