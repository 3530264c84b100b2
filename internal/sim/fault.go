package sim

import "slices"

// Fault is something that goes wrong: when, and what. Faults of a Sim are
// independent; several may fire on one request, in the order of their stages
// and, within one, of the list.
type Fault struct {
	Match  Match
	Effect Effect
}

// Match selects requests; every condition that is set must hold. The zero
// Match selects all.
type Match struct {
	// Page is the number of the page, counted from 1; for places that are not
	// page numbers, the one that the place falls on with the size in force.
	Page int
	// From and To bound the index of the first item; To 0 is no bound.
	From, To int
	// SizeOver holds where more items than this were asked for.
	SizeOver int
	// Attempts lists the attempts at one place, counted from 1; empty is all.
	Attempts []int
	// Every holds for every k-th request of all.
	Every int
	// After holds for requests after that number.
	After int
	// Percent is the share of requests, drawn from the seed; 0 is all.
	Percent int
	// UnlessHeader and IfHeader look for a request header.
	UnlessHeader, IfHeader string
	// UnlessParam looks for a query parameter.
	UnlessParam string
	// Wide holds where no range filter, or one wider than this, is set.
	Wide int64
}

// holds reports whether the fault with this index fires.
func (m Match) holds(x *exchange, index int) bool {
	return m.where(x) && m.when(x, index) && m.asked(x)
}

// where looks at the place.
func (m Match) where(x *exchange) bool {
	if m.Page > 0 && x.pageNumber() != m.Page {
		return false
	}
	if m.SizeOver > 0 && x.wanted() <= m.SizeOver {
		return false
	}
	return x.from >= m.From && (m.To <= 0 || x.from <= m.To)
}

// when looks at the count of requests and of attempts.
func (m Match) when(x *exchange, index int) bool {
	if len(m.Attempts) > 0 && !slices.Contains(m.Attempts, x.attempt) {
		return false
	}
	if m.Every > 0 && x.n%m.Every != 0 {
		return false
	}
	if m.After > 0 && x.n <= m.After {
		return false
	}
	return m.Percent <= 0 || x.dice(index).IntN(100) < m.Percent
}

// asked looks at the request itself.
func (m Match) asked(x *exchange) bool {
	h := x.req.header
	switch {
	case m.UnlessHeader != "" && h.Get(m.UnlessHeader) != "":
		return false
	case m.IfHeader != "" && h.Get(m.IfHeader) == "":
		return false
	case m.UnlessParam != "" && x.req.query.Has(m.UnlessParam):
		return false
	}
	if m.Wide > 0 {
		b := x.api.readBounds(x.req)
		return !b.has || !b.hasFrom || b.to-b.from > m.Wide
	}
	return true
}

// stage is the moment of an exchange at which an effect works.
type stage int

const (
	// beforePage may answer without reading the list.
	beforePage stage = iota
	// onView changes the list or the place that the request reads.
	onView
	// onPage changes what the page holds and claims.
	onPage
	// onWire changes the bytes.
	onWire
)

// Effect is what goes wrong. The effects of this package are plain structs; no
// other package can add one.
type Effect interface {
	// Name is a stable word for logs and counts.
	Name() string
	// harm classifies what the effect takes away.
	harm() harm
	stage() stage
	apply(x *exchange)
}

// harm is what an effect can take from a client that does everything right.
type harm int

const (
	// harmless: the page is whole and true, however odd it looks.
	harmless harm = iota
	// passing: the answer is visibly unusable; where the effect lets go, an
	// other attempt or a smaller size brings the page.
	passing
	// unsteady: items move between pages; more reading may bring them all.
	unsteady
	// capped: items are out of reach, and the server says or shows it.
	capped
	// lying: the answer is wrong and looks right.
	lying
)
