package adapters

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The notes of a continuation that was corrected.
const (
	noteSkip   = "skip"
	noteRebase = "rebase"
)

// pageNames and offsetNames are the parameters that are well known to be a page
// number and a row number, in lower case and without a leading $ or _.
var (
	pageNames = []string{"page", "pagenumber", "page_number", "pageno", "page_no", "pagenum", "page_num",
		"pageindex", "page_index", "page[number]", "paged", "currentpage", "current_page"}
	offsetNames = []string{"offset", "start", "skip", "startat", "start_at", "from", "startindex", "start_index",
		"page[offset]", "firstresult", "first_result"}
)

// timestamps begins where a number is rather a time in seconds than a row.
const timestamps = 1_000_000_000

func wellKnown(names []string, param string) bool {
	return slices.Contains(names, strings.TrimLeft(strings.ToLower(param), "$_"))
}

// follow reads a link that the answer names as the next page. The link is
// resolved against the URL that was asked, must stand on the source's origin,
// and is corrected where it would skip rows: see unskip and renumber.
func (t *template) follow(at Position, req Request, a *Answer, link, word string) Continuation {
	u, rebased, err := t.resolve(a.URL, link)
	if err != nil {
		return Continuation{State: Broken, Word: word, Reason: err.Error()}
	}
	c := Continuation{State: Follow, Word: word}
	if rebased {
		c.Note, c.Reason = noteRebase, "the next link stands on another origin; its path and query were put onto the source's"
	}
	q := parseQuery(u.RawQuery)
	cur := query(nil)
	if from, err := url.Parse(req.URL); err == nil {
		cur = parseQuery(from.RawQuery)
	}
	q, skipped := t.unskip(q, cur, req, int64(a.Received))
	if skipped == "" {
		q, skipped = unskipPages(at, q, cur)
	}
	if skipped != "" {
		c.Note, c.Reason = noteSkip, skipped
	}
	q, c.At = t.renumber(at, req, q, cur, int64(a.Received))
	u.RawQuery = q.encode()
	c.At.URL = u.String()
	return c
}

// resolve makes a link absolute and checks that it may be followed. Under
// next.rebase the path and query of a link to another origin are put onto the
// source's; a link with a user or a password is refused in any case.
func (t *template) resolve(base, link string) (u *url.URL, rebased bool, err error) {
	from, err := url.Parse(base)
	if err != nil || base == "" {
		from = t.source
	}
	u, err = from.Parse(strings.TrimSpace(link))
	switch {
	case err != nil:
		return nil, false, errors.New("the next link is no URL: " + oneLine(strconv.Quote(link)))
	case u.User != nil:
		return nil, false, errors.New("the next link carries a user or a password")
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || u.Host == "":
		return nil, false, errors.New("the next link is no http or https URL: " + oneLine(strconv.Quote(u.Scheme+":…")))
	}
	u.Fragment, u.RawFragment = "", ""
	if same := sameOrigin(u, t.source); same || t.spec.Pages.NextRebase {
		u.Scheme, u.Host = t.source.Scheme, t.source.Host // in the source's spelling
		return u, !same, nil
	}
	if t.source.Scheme == "https" && u.Scheme == "http" && strings.EqualFold(u.Hostname(), t.source.Hostname()) {
		return nil, false, fmt.Errorf("the next link goes down from https to http (%s)", oneLine(u.Host))
	}
	return nil, false, fmt.Errorf("the next link leaves the origin %s://%s for %s://%s", t.source.Scheme, t.source.Host, u.Scheme, oneLine(u.Host))
}

// sameOrigin reports whether two URLs have one scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// unskip corrects a link whose row number moves by more than the rows that
// came: some servers count on by the size that was asked for. It then goes on
// from what came, with the size that came.
func (t *template) unskip(q, cur query, req Request, received int64) (fixed query, reason string) {
	name, to, ok := t.offsetParam(q)
	if !ok {
		name, to, ok = t.rising(q, cur, req, received)
	}
	if !ok || received == 0 {
		return q, ""
	}
	now, ok := cur.number(name)
	if !ok && name == t.spec.Pages.OffsetParam {
		now = max(t.spec.Pages.OffsetFirst, 0)
	}
	if to <= addSat(now, received) {
		return q, ""
	}
	reason = fmt.Sprintf("the next link moves %s by %d, from %d to %d, but %d rows came; going on from %d",
		name, to-now, now, to, received, now+received)
	q = q.set(name, strconv.FormatInt(now+received, 10))
	size := t.spec.Pages.SizeParam
	if _, has := q.get(size); has && received < int64(req.Size) {
		q = q.set(size, strconv.FormatInt(received, 10))
	}
	return q, reason
}

// unskipPages corrects a link that leaves pages out: its page number moves by
// more than one, where the walk has already followed it by ones.
func unskipPages(at Position, q, cur query) (fixed query, reason string) {
	to, ok := q.number(at.Param)
	now, had := cur.number(at.Param)
	if at.Param == "" || !ok || !had || at.Number == 0 || to <= addSat(now, 1) {
		return q, ""
	}
	return q.set(at.Param, strconv.FormatInt(now+1, 10)),
		fmt.Sprintf("the next link moves %s from %d to %d; going on from %d", at.Param, now, to, now+1)
}

// pageNumbers reads the page number of the URL that was asked and of a link.
func pageNumbers(asked, link string) (here, there int64, ok bool) {
	from, err := url.Parse(asked)
	to, err2 := url.Parse(link)
	if err != nil || err2 != nil {
		return 0, 0, false
	}
	cur, q := parseQuery(from.RawQuery), parseQuery(to.RawQuery)
	for _, pair := range q {
		if wellKnown(pageNames, pair.key) {
			there, ok = q.number(pair.key)
			here, had := cur.number(pair.key)
			return here, there, ok && had
		}
	}
	return 0, 0, false
}

// rising finds a parameter that rises by just the size asked for while fewer
// rows came: a row number under a name of its own.
func (t *template) rising(q, cur query, req Request, received int64) (name string, value int64, ok bool) {
	if req.Size < 2 || received >= int64(req.Size) {
		return "", 0, false
	}
	for _, pair := range q {
		if pair.key == t.spec.Pages.SizeParam || wellKnown(pageNames, pair.key) {
			continue
		}
		to, isNumber := q.number(pair.key)
		now, _ := cur.number(pair.key)
		if isNumber && to-now == int64(req.Size) {
			return pair.key, to, true
		}
	}
	return "", 0, false
}

// offsetParam finds the parameter of a query that is a row number.
func (t *template) offsetParam(q query) (name string, value int64, ok bool) {
	if p := t.spec.Pages.OffsetParam; p != "" {
		if value, ok = q.number(p); ok {
			return p, value, true
		}
	}
	for _, p := range q {
		if value, ok = digits(p.text); ok && value < timestamps && wellKnown(offsetNames, p.key) {
			return p.key, value, true
		}
	}
	return "", 0, false
}

// pageParam finds the parameter of a query that is surely a page number.
func (t *template) pageParam(q query) (name string, value int64, ok bool) {
	if p := t.spec.Pages.NumberParam; p != "" {
		if value, ok = q.number(p); ok {
			return p, value, true
		}
	}
	for _, p := range q {
		if value, ok = digits(p.text); ok && wellKnown(pageNames, p.key) {
			return p.key, value, true
		}
	}
	return "", 0, false
}

// growing finds a parameter that may be a page number: one that grew by one
// against the URL that was asked for, or, behind the first page, a new 1 or 2.
func (t *template) growing(q, cur query, start bool) (name string, value int64, ok bool) {
	for _, p := range q {
		value, ok = digits(p.text)
		if !ok || p.key == t.spec.Pages.SizeParam || wellKnown(offsetNames, p.key) {
			continue
		}
		if before, had := cur.number(p.key); had && value-1 == before || !had && start && (value == 1 || value == 2) {
			return p.key, value, true
		}
	}
	return "", 0, false
}

// renumber gives the position of a next link, and the link's query. A link with
// a page number counts in pages of the size that was asked for: where it has
// lost that size, or has another one, it gets it back. Where none was asked for
// and the link has one, the number is computed anew with that.
func (t *template) renumber(at Position, req Request, q, cur query, received int64) (query, Position) {
	name, value, ok := t.pageParam(q)
	if !ok {
		name, value, ok = t.growing(q, cur, at.IsStart())
	}
	if !ok {
		return q, Position{Offset: addSat(at.Offset, received)}
	}
	first := t.firstNumber(at, cur, name, value)
	asked := int64(0)
	if now, had := cur.number(name); had {
		asked = max(now-first, 0)
	}
	next := Position{Offset: addSat(at.Offset, received)}
	if req.Size > 0 {
		next = afterPage(at, asked, req.Size, startAt(at, asked, req.Size), received)
	}
	next.Param, next.Number, next.Size = name, max(value-first, 0), req.Size
	size := t.spec.Pages.SizeParam
	given, has := q.number(size)
	switch {
	case size == "" || t.inBody:
	case req.Size > 0:
		q = q.set(size, strconv.Itoa(req.Size))
	case has && given > 0:
		next.Size = int(min(given, 1<<30))
		next.Number = min(next.Number, next.Offset/int64(next.Size))
		q = q.set(name, strconv.FormatInt(addSat(first, next.Number), 10))
	}
	return q, next
}

// firstNumber tells with which number the API begins to count its pages: what
// the config says, else what the walk's own URLs have shown, else the least
// that fits.
func (t *template) firstNumber(at Position, cur query, name string, next int64) int64 {
	if name == t.spec.Pages.NumberParam {
		return t.spec.Pages.NumberFirst
	}
	if at.Param == name && at.URL != "" {
		if u, err := url.Parse(at.URL); err == nil {
			if n, ok := parseQuery(u.RawQuery).number(name); ok {
				return n - at.Number
			}
		}
	}
	if n, ok := cur.number(name); ok && at.IsStart() {
		return n
	}
	if next == 2 {
		return 1
	}
	return 0
}

// atURL builds the request for a next link, with the size that is wanted where
// the link carries one. Where the link has a page number, that is computed anew
// with the size, so that the page begins at or before the first row that is
// not held.
func (t *template) atURL(at Position, size int) (Request, error) {
	u, err := url.Parse(at.URL)
	if err != nil || !sameOrigin(u, t.source) || u.User != nil {
		return Request{}, errors.New("the stored next link does not stand on the source's origin")
	}
	q := parseQuery(u.RawQuery)
	pl := place{at: at, page: t.spec.Pages.NumberFirst, offset: t.spec.Pages.OffsetFirst}
	if t.inBody {
		pl.size = t.sizeOf(size)
		return t.finish(u, pl)
	}
	text, has := q.get(t.spec.Pages.SizeParam)
	if given, ok := digits(text); has && ok {
		pl.size = int(min(given, 1<<30))
	}
	if has && size > 0 && size != pl.size {
		q = t.resize(at, q, size)
		pl.size = size
	}
	u.RawQuery = q.encode()
	return t.finish(u, pl)
}

// resize gives a link's query another size. A parameter that only looks like a
// page number never grows by it: then the page begins no later, whatever the
// parameter is.
func (t *template) resize(at Position, q query, size int) query {
	q = q.set(t.spec.Pages.SizeParam, strconv.Itoa(size))
	value, ok := q.number(at.Param)
	if at.Param == "" || !ok {
		return q
	}
	first := value - at.Number
	number := addSat(max(first, 0), numberAt(at, size))
	if at.Param != t.spec.Pages.NumberParam && !wellKnown(pageNames, at.Param) {
		number = min(number, value)
	}
	return q.set(at.Param, strconv.FormatInt(number, 10))
}
