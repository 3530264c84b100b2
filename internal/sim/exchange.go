package sim

import (
	"math/rand/v2"
	"net/http"
	"strconv"
)

// exchange is one request on its way to an answer.
type exchange struct {
	sim     *Sim
	api     *API
	req     *request
	n       int
	attempt int
	ask     ask
	// asked is the place as the request named it, whatever became of it.
	asked place
	view  view
	// from is the index in the view where the page starts.
	from int
	gone bool
	page page
	ans  answer
	// done stops the stages: the answer stands.
	done bool
	// void marks an answer from which no page can be read.
	void  bool
	fired []string
	// handed is the opaque token that the answer hands out.
	handed string
	// hidden items are in the total though not in the view.
	hidden int
}

// run answers the request.
func (x *exchange) run() {
	if x.refused() {
		return
	}
	x.open()
	x.place()
	faults := x.match()
	x.apply(faults, beforePage)
	if x.done {
		return
	}
	if x.reject() {
		return
	}
	x.apply(faults, onView)
	if x.past() {
		x.apply(faults, onWire)
		return
	}
	x.build()
	x.apply(faults, onPage)
	if !x.done {
		x.render()
	}
	x.apply(faults, onWire)
}

// refused answers requests that the API does not serve.
func (x *exchange) refused() bool {
	a := x.api
	if a.Auth.Name != "" && x.req.header.Get(a.Auth.Name) != a.Auth.Value {
		x.answerError(http.StatusUnauthorized, "bad credentials")
		return true
	}
	want := http.MethodGet
	if a.Post {
		want = http.MethodPost
	}
	if x.req.method != want && x.req.method != http.MethodHead {
		x.answerError(http.StatusMethodNotAllowed, "method not allowed")
		return true
	}
	return false
}

// open finds the list that the request reads.
func (x *exchange) open() {
	x.ask = x.api.readAsk(x.req)
	items := x.sim.line.items
	if pin, ok := x.req.value(x.api.Params.Pin, x.api.Post); ok {
		items = x.sim.snapshot(atoi(pin, 0), items)
	}
	x.view = x.api.newView(x.sim.World, items, x.req)
	if p := x.ask.place; p.how == ByToken && !p.start && p.tok.kind == TokenSnapshot {
		x.view.items = x.sim.snapshot(p.tok.snap, x.view.items)
	}
	x.asked = x.ask.place
	x.attempt = x.sim.attempt(x.asked.label())
}

// place finds where in the list the request reads.
func (x *exchange) place() {
	p := x.ask.place
	x.from, x.gone = 0, false
	switch {
	case p.how == ByPage:
		x.from = (p.page - x.api.FirstPage) * x.ask.size
	case p.how == ByOffset:
		x.from = p.offset
	case p.start:
	case p.how == ByToken:
		x.from = x.tokenPlace(p.tok)
	case p.how == ByKey:
		at, ok := x.view.ofKey(*x.api, p.key, p.then)
		x.from, x.gone = at, !ok
	}
}

// tokenPlace is where a token reads on.
func (x *exchange) tokenPlace(t token) int {
	switch {
	case x.api.Plan != nil:
		sum := 0
		for _, n := range x.api.Plan[:min(t.offset, len(x.api.Plan))] {
			sum += n
		}
		return sum
	case t.kind == TokenKey:
		return x.view.after(t.sort, t.seq)
	case t.kind == TokenPage:
		return (t.offset - x.api.FirstPage) * x.ask.size
	default:
		return t.offset
	}
}

// match finds the faults that fire and notes their names.
func (x *exchange) match() []Effect {
	var out []Effect
	for i, f := range x.sim.Faults {
		if f.Match.holds(x, i) {
			out = append(out, f.Effect)
		}
	}
	return out
}

// apply runs the effects of one stage.
func (x *exchange) apply(effects []Effect, at stage) {
	for _, e := range effects {
		if e.stage() == at && (!x.done || at == onWire) {
			before := len(x.fired)
			e.apply(x)
			if len(x.fired) == before {
				x.fired = append(x.fired, e.Name())
			}
		}
	}
}

// idle tells that an effect found nothing to do on this exchange.
func (x *exchange) idle() { x.fired = append(x.fired, "") }

// reject answers requests that the API refuses by its own rules.
func (x *exchange) reject() bool {
	switch {
	case x.ask.tooBig:
		x.answerError(http.StatusBadRequest, "page size must not exceed "+strconv.Itoa(x.api.Size.Max))
	case x.ask.badToken:
		x.answerError(http.StatusBadRequest, "invalid cursor")
	case x.gone:
		x.answerError(http.StatusBadRequest, "no such item: "+x.ask.place.key)
	default:
		return false
	}
	return true
}

// past answers a place behind the last item where the API has a rule for it.
func (x *exchange) past() bool {
	if x.from < len(x.view.items) || x.ask.place.start || x.api.Addressing == ByKey {
		return false
	}
	if x.from == len(x.view.items) && x.api.Addressing == ByToken {
		return x.pastToken()
	}
	switch x.api.PastEnd {
	case Past404, Past400, Past422:
		x.answerError(atoi(string(x.api.PastEnd), 404), "past the end")
		return true
	case PastClamp:
		x.from = max(0, (len(x.view.items)-1)/x.ask.size*x.ask.size)
		x.ask.place.page = x.api.FirstPage + x.from/x.ask.size
		x.ask.place.offset = x.from
	}
	return false
}

// pastToken is past for tokens that were given on the last page.
func (x *exchange) pastToken() bool {
	if x.api.PastEnd == PastEmpty || x.api.PastEnd == PastClamp {
		return false
	}
	x.answerError(atoi(string(x.api.PastEnd), 404), "past the end")
	return true
}

// answerError ends the exchange with a JSON error.
func (x *exchange) answerError(status int, text string) {
	x.ans = newAnswer(status, "application/json", append(appendText([]byte(`{"error":`), text), '}'))
	x.sign()
	x.done = true
}

// pageNumber is the number of the page, counted from 1.
func (x *exchange) pageNumber() int {
	if x.ask.place.how == ByPage {
		return x.ask.place.page - x.api.FirstPage + 1
	}
	if x.api.Plan != nil {
		return x.ask.place.tok.offset + 1
	}
	return (x.from+x.ask.size-1)/x.ask.size + 1
}

// wanted is the size that was asked for, or the default.
func (x *exchange) wanted() int {
	if x.ask.asked > 0 {
		return x.ask.asked
	}
	return x.ask.size
}

// dice is a source of chance that depends on the seed, the request and a
// number, and on nothing else.
func (x *exchange) dice(salt int) *rand.Rand {
	return rand.New(rand.NewPCG(x.sim.Seed, uint64(x.n)<<16|uint64(salt)))
}
