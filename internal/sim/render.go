package sim

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// render writes the page down as a whole, honest answer.
func (x *exchange) render() {
	a := x.api
	header := http.Header{}
	x.writeHeaders(header)
	var body []byte
	kind := "application/json"
	switch {
	case a.Format == NDJSON:
		kind, body = "application/x-ndjson", x.ndjson()
	case a.Format == CSV:
		kind, body = "text/csv", x.csv()
	case a.Format == XML:
		kind, body = "application/xml", x.xml()
	case a.Items == "" && x.page.list == listWhole:
		body = x.array()
	default:
		body = x.envelope()
	}
	x.ans = newAnswer(http.StatusOK, kind, body)
	for k, v := range header {
		x.ans.header[k] = v
	}
	x.sign()
	if a.Gzip == GzipAlways || (a.Gzip == GzipAsked && acceptsGzip(x.req.header)) {
		x.ans.zip()
	}
}

// acceptsGzip reports whether a request asks for gzip.
func acceptsGzip(h http.Header) bool {
	return strings.Contains(h.Get("Accept-Encoding"), "gzip")
}

// writeHeaders puts what the API says in headers.
func (x *exchange) writeHeaders(h http.Header) {
	a, p := x.api, &x.page
	if p.total.show && a.Total.Header != "" {
		h.Set(a.Total.Header, x.totalHeader())
	}
	if a.More.Header != "" {
		if v, ok := x.moreFlag(); ok {
			h.Set(a.More.Header, strconv.FormatBool(v))
		}
	}
	if a.Last.Header != "" {
		h.Set(a.Last.Header, strconv.Itoa(x.lastPage()))
	}
	if a.Addressing == ByToken && a.Token.Header != "" {
		if text, ok := x.tokenText(); ok || a.Token.End == EndEmpty {
			h.Set(a.Token.Header, text)
		}
	}
	if a.Style == Link {
		for _, line := range x.linkLines() {
			h.Add("Link", line)
		}
	}
}

// totalHeader is the total as a header's text.
func (x *exchange) totalHeader() string {
	if !x.api.Total.Range {
		return strconv.Itoa(x.page.total.value)
	}
	if len(x.page.rows) == 0 {
		return fmt.Sprintf("items */%d", x.page.total.value)
	}
	return fmt.Sprintf("items %d-%d/%d", x.from, x.from+len(x.page.rows)-1, x.page.total.value)
}

// moreFlag is the has-more flag and whether it is sent.
func (x *exchange) moreFlag() (value, sent bool) {
	more := x.page.more
	if x.api.More.AbsentFalse && !more {
		return false, false
	}
	return more != x.api.More.Inverted, true
}

func (x *exchange) lastPage() int {
	if x.api.Last.ZeroBased {
		return max(x.page.last-1, 0)
	}
	return x.page.last
}

// envelope writes the JSON object around the items.
func (x *exchange) envelope() []byte {
	var e envelope
	a, p := x.api, &x.page
	for _, f := range a.Extra {
		e.put(f.Path, []byte(f.JSON))
	}
	for _, f := range p.front {
		e.put(f.Path, []byte(f.JSON))
	}
	x.putEcho(&e)
	x.putTotal(&e)
	x.putItems(&e)
	if a.More.Path != "" {
		if v, ok := x.moreFlag(); ok {
			e.put(a.More.Path, rawBool(v))
		}
	}
	if a.Last.Path != "" {
		e.put(a.Last.Path, rawInt(x.lastPage()))
	}
	x.putNext(&e)
	for _, f := range p.extra {
		e.put(f.Path, []byte(f.JSON))
	}
	if x.ask.fields != "" {
		e.only(x.ask.fields)
	}
	return e.append(make([]byte, 0, 256+len(p.rows)*(96+x.sim.World.Payload)))
}

// putEcho repeats the place and the size.
func (x *exchange) putEcho(e *envelope) {
	a := x.api
	if a.Echo.Page != "" {
		e.put(a.Echo.Page, rawInt(x.page.echoPage))
	}
	if a.Echo.Offset != "" {
		e.put(a.Echo.Offset, rawInt(x.page.echoFrom))
	}
	if a.Size.Echo != "" {
		size := x.ask.size
		if a.Size.EchoAsked && x.ask.asked > 0 {
			size = x.ask.asked
		}
		e.put(a.Size.Echo, rawInt(size))
	}
	if a.Echo.Pin != "" {
		e.put(a.Echo.Pin, rawInt(x.pin()))
	}
}

// pin is the snapshot that the page comes from.
func (x *exchange) pin() int {
	if pin, ok := x.req.value(x.api.Params.Pin, x.api.Post); ok {
		return atoi(pin, 0)
	}
	return x.sim.keepSnapshot(x.sim.line.items)
}

// putTotal writes the total and its kind.
func (x *exchange) putTotal(e *envelope) {
	rule, t := x.api.Total, x.page.total
	if !t.show || rule.Path == "" || !x.selected("totalCount") {
		return
	}
	e.put(rule.Path, t.raw(rule.Text))
	if rule.KindPath == "" {
		return
	}
	switch {
	case rule.Kind == TotalBound && t.loose:
		e.put(rule.KindPath, rawText("gte"))
	case rule.Kind == TotalBound:
		e.put(rule.KindPath, rawText("eq"))
	default:
		e.put(rule.KindPath, rawBool(!t.loose))
	}
}

// selected reports whether a GraphQL query names a field; other requests
// select everything.
func (x *exchange) selected(name string) bool {
	if x.api.Style != GraphQL {
		return true
	}
	text, _ := x.req.value("query", true)
	return strings.Contains(text, name)
}

// putItems writes the list, in the shape that it has.
func (x *exchange) putItems(e *envelope) {
	path, p := x.api.Items, &x.page
	if path == "" {
		path = "items"
	}
	shape := p.list
	if shape == listWhole && len(p.rows) == 0 {
		shape = map[EmptyList]listShape{EmptyNull: listNull, EmptyAbsent: listAbsent}[x.api.EmptyItems]
	}
	switch shape {
	case listWhole:
		e.put(path, x.array())
	case listNull:
		e.put(path, []byte("null"))
	case listObject:
		e.put(path, append(append([]byte(`{"list":`), x.array()...), '}'))
	case listRenamed:
		e.put(path+"_v2", x.array())
	case listAbsent:
	}
}

// array writes the rows as a JSON array.
func (x *exchange) array() []byte {
	rows := x.page.rows
	b := make([]byte, 0, 2+len(rows)*(96+x.sim.World.Payload))
	b = append(b, '[')
	for i, r := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		if r.raw != nil {
			b = append(b, r.raw...)
			continue
		}
		if x.api.Edges {
			t := token{kind: TokenKey, sort: r.item.Sort, seq: r.item.Seq}
			b = append(append(append(b, `{"cursor":"`...), t.String()...), `","node":`...)
			b = append(x.sim.appendItem(b, r.item), '}')
			continue
		}
		b = x.sim.appendItem(b, r.item)
	}
	return append(b, ']')
}

// putNext writes the continuation that stands in the body.
func (x *exchange) putNext(e *envelope) {
	a := x.api
	if a.Style == NextURL && a.Next.Path != "" {
		text, ok := x.nextURLText()
		x.putEnd(e, a.Next.Path, a.Next.End, text, ok)
	}
	if a.Addressing == ByToken && a.Style != NextURL && a.Style != Link && a.Token.Path != "" {
		if !x.selected("endCursor") {
			return
		}
		text, ok := x.tokenText()
		x.putEnd(e, a.Token.Path, a.Token.End, text, ok)
	}
}

// putEnd writes a continuation, or the form that it has at the end.
func (x *exchange) putEnd(e *envelope, path string, form EndForm, text string, ok bool) {
	switch {
	case ok:
		e.put(path, rawText(text))
	case form == EndNull:
		e.put(path, []byte("null"))
	case form == EndEmpty:
		e.put(path, []byte(`""`))
	}
}

// tokenText is the cursor of the page; false at the end.
func (x *exchange) tokenText() (string, bool) {
	switch {
	case x.page.nextText != nil:
		return *x.page.nextText, true
	case x.api.Token.Seed != "" && x.ask.place.start && !x.seeded():
		return "", false
	case !x.ended():
		return x.handOut(x.page.next.tok), true
	case x.api.Token.End == EndSame && !x.ask.place.start:
		return x.ask.place.raw, true
	default:
		return "", false
	}
}

// handOut is a token's text; it is remembered where it is opaque.
func (x *exchange) handOut(t token) string {
	text := t.String()
	if t.kind != TokenPage {
		x.handed = text
	}
	return text
}

// seeded reports whether the request carries the seed cursor.
func (x *exchange) seeded() bool {
	v, _ := x.req.value(x.api.Params.Cursor, x.api.Post)
	return v == x.api.Token.Seed
}

// nextURLText is the next URL of the page; false at the end.
func (x *exchange) nextURLText() (string, bool) {
	switch {
	case x.page.nextText != nil:
		return *x.page.nextText, true
	case x.ended() && !x.api.Next.Always:
		return "", false
	default:
		return x.urlFor(x.page.next, x.api.Next.Relative, x.api.Next.Host), true
	}
}

// urlFor is this request's URL at another place.
func (x *exchange) urlFor(p place, relative bool, host string) string {
	q := make(url.Values, len(x.req.query)+1)
	for k, v := range x.req.query {
		q[k] = v
	}
	x.writePlace(q, p)
	path := x.req.url.Path + "?" + q.Encode()
	if relative {
		return path
	}
	if host == "" {
		host = x.req.host
	}
	return x.req.scheme + "://" + host + path
}

// writePlace puts a place into a query, instead of the one that is there.
func (x *exchange) writePlace(q url.Values, p place) {
	a := x.api
	for _, name := range []string{a.Params.Page, a.Params.Offset, a.Params.Cursor, a.Params.Key, a.Params.KeyThen} {
		q.Del(name)
	}
	switch p.how {
	case ByPage:
		q.Set(a.Params.Page, strconv.Itoa(p.page))
	case ByOffset:
		q.Set(a.Params.Offset, strconv.Itoa(p.offset))
	case ByToken:
		q.Set(a.Params.Cursor, x.handOut(p.tok))
	case ByKey:
		q.Set(a.Params.Key, p.key)
		if p.then != "" {
			q.Set(a.Params.KeyThen, p.then)
		}
	}
}

// appendSort writes an item's sort key as it stands on the wire, unquoted.
func (s *Sim) appendSort(b []byte, it Item) []byte {
	if s.api.SortTime {
		return time.Unix(it.Sort, 0).UTC().AppendFormat(b, time.RFC3339)
	}
	return strconv.AppendInt(b, it.Sort, 10)
}
