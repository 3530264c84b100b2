package sim

import (
	"slices"
	"strconv"
)

// page is what an answer holds and claims, before it is written down.
type page struct {
	rows []row
	// window is what the server's own place moves by.
	window []Item
	// n is the number of items in the list.
	n    int
	more bool
	next place
	// noNext drops the continuation although there is more.
	noNext bool
	total  total
	// last is the server's count of pages.
	last int
	// list is how the items path looks.
	list listShape
	// extra fields are added behind the others; a path that is there already
	// becomes a duplicate key.
	extra []Extra
	// front fields stand before the others.
	front []Extra
	// links, where set, replaces the Link header.
	links []string
	// nextText, where set, replaces the continuation's text.
	nextText *string
	echoPage int
	echoFrom int
}

// row is an entry of the list: an item, or raw JSON that is none.
type row struct {
	item Item
	raw  []byte
}

// total is a number of items and whether it is only a bound.
type total struct {
	value int
	show  bool
	// loose: an estimate or a bound, by the rule's kind field.
	loose bool
}

// listShape is how the items path looks.
type listShape string

const (
	listWhole   listShape = ""
	listAbsent  listShape = "absent"
	listNull    listShape = "null"
	listObject  listShape = "object"
	listRenamed listShape = "renamed"
)

// build reads the page from the view.
func (x *exchange) build() {
	n := len(x.view.items)
	lo := min(max(x.from, 0), n)
	hi := min(lo+x.length(), n)
	p := page{n: n, echoFrom: x.from, echoPage: x.ask.place.page}
	p.window = x.view.items[lo:hi]
	p.rows = rowsOf(p.window)
	p.more = hi < n || x.sim.coy || (x.api.Eager && len(p.window) == x.ask.size && x.api.Addressing != ByNone)
	if x.api.Plan != nil {
		p.more = x.ask.place.tok.offset+1 < len(x.api.Plan)
	}
	p.next = x.nextPlace(p.window, hi)
	p.last = x.pageCount(n)
	x.page = p
	x.page.total = x.totalOf(n + x.hidden)
}

// length is the number of items that the page may hold.
func (x *exchange) length() int {
	switch {
	case x.api.Addressing == ByNone:
		return len(x.view.items)
	case x.api.Plan != nil:
		if at := x.ask.place.tok.offset; at < len(x.api.Plan) {
			return x.api.Plan[at]
		}
		return 0
	default:
		return x.ask.size
	}
}

func rowsOf(items []Item) []row {
	rows := make([]row, len(items))
	for i, it := range items {
		rows[i].item = it
	}
	return rows
}

// nextPlace is where the server goes on after a window that ends at hi.
func (x *exchange) nextPlace(window []Item, hi int) place {
	p := x.ask.place
	next := place{how: p.how, page: p.page + 1, offset: hi}
	switch {
	case p.how == ByOffset && x.api.Next.Asked && x.ask.asked > 0:
		next.offset = x.from + x.ask.asked
	case p.how == ByToken:
		next.tok = x.nextToken(window, hi)
	case p.how == ByKey:
		next.key, next.then = x.nextKey(window)
	}
	return next
}

// nextToken is the token behind a window that ends at hi.
func (x *exchange) nextToken(window []Item, hi int) token {
	was := x.ask.place.tok
	t := token{kind: x.api.Token.Kind, offset: hi, snap: was.snap}
	switch {
	case x.api.Plan != nil:
		t = token{kind: TokenOffset, offset: was.offset + 1}
	case t.kind == TokenSnapshot && x.ask.place.start:
		t.snap = x.sim.keepSnapshot(x.view.items)
	case t.kind == TokenPage:
		t.offset = max(was.offset, x.api.FirstPage) + 1
	case t.kind == TokenKey:
		t.offset = 0
		if len(window) == 0 {
			if x.ask.place.start {
				was = x.startToken()
			}
			t.sort, t.seq, t.salt = was.sort, was.seq, was.salt+1
			break
		}
		last := window[len(window)-1]
		t.sort, t.seq = last.Sort, last.Seq
	}
	if x.api.Plan == nil && t.kind != TokenKey && len(window) == 0 {
		t.salt = was.salt + 1
	}
	return t
}

// nextKey is the keyset position behind a window, as the client or the
// server's link would write it.
func (x *exchange) nextKey(window []Item) (key, then string) {
	if len(window) == 0 {
		return x.ask.place.key, x.ask.place.then
	}
	last := window[len(window)-1]
	id := string(last.ID.appendText(nil))
	if x.api.Key.ID || x.api.Key.ByItem {
		if x.api.Key.Quote {
			id = last.ID.String()
		}
		return id, ""
	}
	key = string(x.sim.appendSort(nil, last))
	if x.api.Params.KeyThen != "" {
		then = "s" + strconv.Itoa(int(last.Seq))
	}
	return key, then
}

// pageCount is the server's number of pages.
func (x *exchange) pageCount(n int) int {
	size := x.ask.size
	if x.api.Last.Size > 0 {
		size = x.api.Last.Size
	}
	return (n + size - 1) / size
}

// totalOf is the total by the API's rule.
func (x *exchange) totalOf(n int) total {
	rule := x.api.Total
	t := total{value: n, show: rule.Kind != TotalNone}
	switch rule.Kind {
	case TotalEstimate:
		if x.sim.forced != nil {
			return *x.sim.forced
		}
		t.loose = true
		t.value = rule.Value
		if rule.Value == 0 {
			t.value = n + n/5 + 1
		}
	case TotalBound:
		if t.loose = n > rule.Value; t.loose {
			t.value = rule.Value
		}
	case TotalRest:
		t.value = n - min(x.from, n)
	case TotalEcho:
		t.value = len(x.page.rows)
	case TotalFixed:
		t.value = rule.Value
	case TotalJitter:
		t.value = max(0, n+x.dice(1).IntN(2*rule.Value+1)-rule.Value)
	}
	if rule.AbsentOver > 0 && n > rule.AbsentOver {
		t.show = false
	}
	return t
}

// ended reports whether the page says that nothing follows. An API that always
// gives a token says so on the empty page behind the last one only.
func (x *exchange) ended() bool {
	if x.page.noNext {
		return true
	}
	if x.page.more {
		return false
	}
	always := x.api.Token.Always || x.api.Token.End == EndSame
	return x.api.Addressing != ByToken || !always || len(x.page.window) == 0
}

// cutRows leaves k items on the page; the server's own place follows.
func (x *exchange) cutRows(k int) {
	k = min(max(k, 0), len(x.page.window))
	if k == len(x.page.window) {
		return
	}
	at := x.from + k
	x.page.window = x.page.window[:k]
	x.page.rows = slices.Clip(x.page.rows[:min(k, len(x.page.rows))])
	x.page.more = true
	if x.api.Addressing != ByPage {
		x.page.next = x.nextPlace(x.page.window, at)
	}
}

// items are the items on the page, without what is none.
func (p *page) items() []Item {
	out := make([]Item, 0, len(p.rows))
	for _, r := range p.rows {
		if r.raw == nil {
			out = append(out, r.item)
		}
	}
	return out
}

func (t total) raw(text bool) []byte {
	if text {
		return rawText(strconv.Itoa(t.value))
	}
	return rawInt(t.value)
}
