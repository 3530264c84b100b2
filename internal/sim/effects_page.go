package sim

import (
	"math"
	"net/http"
	"strconv"
)

// CapPast is what a hard cap does behind itself.
type CapPast string

// What is behind a hard cap.
const (
	// CapCollapse is an empty page with a total of 0.
	CapCollapse CapPast = "collapse"
	// CapEmpty is an empty page with the total as before.
	CapEmpty CapPast = "empty"
	// CapError is an error, with the status of the Cap.
	CapError CapPast = "error"
	// CapRepeat is the last page before the cap again.
	CapRepeat CapPast = "repeat"
	// CapClamp is the same, with the page number of that page as an echo.
	CapClamp CapPast = "clamp"
	// CapEnd claims at the cap itself, by every word that there is, that the
	// list ends.
	CapEnd CapPast = "end"
)

// Cap hands out the first At items of any list, whatever the total says.
type Cap struct {
	At   int
	Past CapPast
	// Code is the status for CapError.
	Code int
	// Pages makes the page count know of the cap.
	Pages bool
	// Whole serves the page that crosses the cap whole.
	Whole bool
}

// Name implements [Effect].
func (e Cap) Name() string { return "cap_" + string(e.Past) }
func (Cap) stage() stage   { return onPage }
func (Cap) harm() harm     { return capped }

func (e Cap) apply(x *exchange) {
	if len(x.view.items) <= e.At {
		x.idle()
		return
	}
	if e.Pages {
		x.page.last = x.pageCount(e.At)
	}
	switch end := x.from + len(x.page.window); {
	case x.from >= e.At:
		e.behind(x)
	case end < e.At:
		x.idle()
	default:
		e.border(x)
	}
}

// border is the page that ends at the cap or crosses it.
func (e Cap) border(x *exchange) {
	if !e.Whole {
		x.cutRows(e.At - x.from)
	}
	x.page.more = true
	if e.Past == CapEnd {
		x.endPage()
	}
}

// behind is a page past the cap.
func (e Cap) behind(x *exchange) {
	switch e.Past {
	case CapError:
		x.answerError(e.Code, "offset + limit must not exceed "+strconv.Itoa(e.At))
	case CapRepeat, CapClamp:
		at := (e.At - 1) / x.ask.size * x.ask.size
		x.page.rows = rowsOf(x.view.items[at:min(at+x.ask.size, e.At)])
		x.page.more = true
		if e.Past == CapClamp {
			x.page.echoPage = x.api.FirstPage + at/x.ask.size
			x.page.echoFrom = at
		}
	default:
		x.page.rows, x.page.window = nil, nil
		x.endPage()
		if e.Past == CapCollapse {
			x.page.total.value, x.page.last = 0, 0
		}
	}
}

// endPage makes every word of the page say that nothing follows.
func (x *exchange) endPage() {
	x.page.more, x.page.noNext = false, true
}

// Short leaves Keep items on the page. Where the server names the next place
// the rest comes next; a page number skips it.
type Short struct{ Keep int }

// Name implements [Effect].
func (Short) Name() string { return "short_page" }
func (Short) stage() stage { return onPage }
func (Short) harm() harm   { return unsteady }

func (e Short) apply(x *exchange) {
	if len(x.page.window) <= e.Keep {
		x.idle()
		return
	}
	x.cutRows(e.Keep)
}

// Empty gives no items where there are some. With Next the page's continuation
// points at the same place, so that nothing is lost; without, the page claims
// the end. The total stays.
type Empty struct {
	Next bool
	// Run is the number of such pages in a row, for Next; 1 if zero.
	Run int
}

// Name implements [Effect].
func (e Empty) Name() string {
	if e.Next {
		return "empty_with_next"
	}
	return "empty_glitch"
}
func (Empty) stage() stage { return onPage }

func (e Empty) harm() harm {
	if e.Next {
		return harmless
	}
	return lying
}

func (e Empty) apply(x *exchange) {
	last := e.Next && x.ask.place.tok.salt >= max(e.Run, 1)
	if len(x.page.window) == 0 || last || (e.Next && !x.salted()) {
		x.idle()
		return
	}
	x.page.rows, x.page.window = nil, nil
	if e.Next {
		x.page.more = true
		x.page.next = x.nextPlace(nil, x.from)
		return
	}
	x.endPage()
	// No items where an exact total promises some is no page at all.
	x.void = x.void || (x.page.total.show && !x.page.total.loose)
}

// Repeat gives the page before this one again; the continuation stays.
type Repeat struct{}

// Name implements [Effect].
func (Repeat) Name() string { return "repeated_page" }
func (Repeat) stage() stage { return onPage }
func (Repeat) harm() harm   { return unsteady }

func (Repeat) apply(x *exchange) {
	if x.from <= 0 || x.from > len(x.view.items) {
		x.idle()
		return
	}
	lo := max(0, x.from-x.ask.size)
	x.page.rows = rowsOf(x.view.items[lo:min(x.from, len(x.view.items))])
}

// Twice serves the last item of the page before again, in front of the others.
type Twice struct{}

// Name implements [Effect].
func (Twice) Name() string { return "twice" }
func (Twice) stage() stage { return onPage }
func (Twice) harm() harm   { return unsteady }

func (Twice) apply(x *exchange) {
	if x.from <= 0 || x.from > len(x.view.items) || len(x.page.rows) == 0 {
		x.idle()
		return
	}
	x.page.rows = append([]row{{item: x.view.items[x.from-1]}}, x.page.rows...)
}

// EndEarly claims the end, by every word that there is, although more is there.
type EndEarly struct{}

// Name implements [Effect].
func (EndEarly) Name() string { return "end_early" }
func (EndEarly) stage() stage { return onPage }
func (EndEarly) harm() harm   { return lying }

func (EndEarly) apply(x *exchange) {
	if !x.page.more {
		x.idle()
		return
	}
	x.endPage()
}

// Endless says on every page that there is more.
type Endless struct{}

// Name implements [Effect].
func (Endless) Name() string { return "endless" }
func (Endless) stage() stage { return onPage }
func (Endless) harm() harm   { return capped }

func (Endless) apply(x *exchange) {
	if x.page.more {
		x.idle()
		return
	}
	x.page.more = true
}

// Loop makes the continuation lead back: with a period of 1 to this page, of 2
// to the one before, and so on.
type Loop struct{ Period int }

// Name implements [Effect].
func (Loop) Name() string { return "loop" }
func (Loop) stage() stage { return onPage }
func (Loop) harm() harm   { return capped }

func (e Loop) apply(x *exchange) {
	if !x.page.more {
		x.idle()
		return
	}
	x.page.next = x.placeAt(max(0, x.from-(max(e.Period, 1)-1)*x.ask.size))
}

// Skip makes the continuation jump over By items.
type Skip struct{ By int }

// Name implements [Effect].
func (Skip) Name() string { return "skip" }
func (Skip) stage() stage { return onPage }
func (Skip) harm() harm   { return lying }

func (e Skip) apply(x *exchange) {
	to := x.from + len(x.page.window) + e.By
	if !x.page.more || to > len(x.view.items) {
		x.idle()
		return
	}
	x.page.next = x.placeAt(to)
}

// JumpTo makes the continuation lead to an index, whatever was read.
type JumpTo struct{ From int }

// Name implements [Effect].
func (JumpTo) Name() string        { return "jump" }
func (JumpTo) stage() stage        { return onPage }
func (JumpTo) harm() harm          { return lying }
func (e JumpTo) apply(x *exchange) { x.page.next = x.placeAt(e.From) }

// placeAt names the place that reads from an index on.
func (x *exchange) placeAt(from int) place {
	if x.ask.place.how == ByPage {
		return place{how: ByPage, page: x.api.FirstPage + from/x.ask.size}
	}
	from = min(from, len(x.view.items))
	next := x.nextPlace(x.view.items[:from], from)
	if from == 0 {
		next.tok = x.startToken()
	}
	return next
}

// startToken stands before the first item.
func (x *exchange) startToken() token {
	t := token{kind: x.api.Token.Kind, seq: -1, sort: math.MinInt64, snap: x.ask.place.tok.snap}
	if x.view.sign < 0 {
		t.sort = math.MaxInt64
	}
	return t
}

// fail ends the page stage with an error answer that no page can be read from.
func (x *exchange) fail(code int, text string) {
	x.answerError(code, text)
	x.void = true
}

// Expire says that the cursor is gone: a 410.
type Expire struct{}

// Name implements [Effect].
func (Expire) Name() string { return "expired" }
func (Expire) stage() stage { return beforePage }
func (Expire) harm() harm   { return passing }

func (Expire) apply(x *exchange) {
	if x.ask.place.start {
		x.idle()
		return
	}
	x.fail(http.StatusGone, "cursor expired")
}

// salted reports whether two tokens can differ at one place.
func (x *exchange) salted() bool {
	return x.api.Addressing == ByToken && x.api.Token.Kind != TokenPage && x.api.Plan == nil
}
