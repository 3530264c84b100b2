package sim

import (
	"net/http"
	"time"
)

// kindOfFault is an entry of the catalogue: how likely effects of one family
// are drawn, where they make sense, and how they are made.
type kindOfFault struct {
	harm harm
	fits func(a API, n int) bool
	make func(r roll, s *Sim) Effect
}

func anyAPI(API, int) bool { return true }

func enveloped(a API, _ int) bool { return !a.barren() }

func tokens(a API, _ int) bool { return a.Addressing == ByToken }

func many(_ API, n int) bool { return n > 3 }

func linked(a API, _ int) bool { return a.Style == Link || a.Style == NextURL }

// catalogue is every family of effects that Random draws from.
func catalogue() []kindOfFault {
	out := append(passingKinds(), harmlessKinds()...)
	out = append(out, cappedKinds()...)
	return append(out, lyingKinds()...)
}

func passingKinds() []kindOfFault {
	return []kindOfFault{
		{passing, anyAPI, func(r roll, _ *Sim) Effect {
			return Half{Framing: pick(r, ByLength, Chunked, Rewritten, ByClose), Gzip: r.yes(4), Reset: r.yes(5)}
		}},
		{passing, anyAPI, func(r roll, _ *Sim) Effect {
			return Status{
				Code: pick(r, 503, 500, 502, 408), Retry: pick(r, RetryNone, RetrySeconds), Wait: r.IntN(3), HTML: r.yes(3),
			}
		}},
		{passing, anyAPI, func(r roll, _ *Sim) Effect {
			retry := pick(r, RetrySeconds, RetryNone, RetryDate, RetryPast, RetryNonsense, RetryReset)
			return Status{Code: 429, Retry: retry, Wait: r.between(1, 3), HTML: r.yes(3)}
		}},
		{passing, anyAPI, func(r roll, _ *Sim) Effect {
			return NoAnswer{Kind: string(pick(r, resetConn, closedConn, refusedConn))}
		}},
		{passing, anyAPI, func(r roll, _ *Sim) Effect { return GzipCut{Members: r.yes(2), Close: r.yes(2)} }},
		{passing, anyAPI, func(r roll, _ *Sim) Effect { return Trailing{pick(r, `{"more":true}`, "[]", "<!-- eof -->")} }},
		{passing, anyAPI, func(r roll, _ *Sim) Effect { return ErrorTail{"ERROR: statement timeout (truncated)"} }},
		{passing, anyAPI, func(r roll, _ *Sim) Effect { return LoginPage() }},
		{passing, anyAPI, func(r roll, _ *Sim) Effect { return ErrorObject("query timed out") }},
		{passing, anyAPI, func(r roll, _ *Sim) Effect { return Blank{pick(r, 200, 204, 304)} }},
		{passing, anyAPI, func(r roll, _ *Sim) Effect { return Part{} }},
		{passing, enveloped, func(r roll, _ *Sim) Effect { return List{pick(r, "absent", "null", "object", "renamed")} }},
		{passing, enveloped, func(r roll, _ *Sim) Effect {
			return Beside{
				Path: pick(r, "errors", "remark"), JSON: `"runtime error: query timed out"`, Hollow: r.yes(2),
			}
		}},
		{passing, enveloped, func(r roll, _ *Sim) Effect {
			return Partial{Kind: pick(r, "timed_out", "incomplete", "shards"), Keep: r.IntN(10), Total: r.yes(2)}
		}},
		{passing, enveloped, func(r roll, _ *Sim) Effect { return TwoKeys{pick(r, "items", "total", "next")} }},
		{passing, func(a API, _ int) bool { return a.Style == GraphQL },
			func(r roll, _ *Sim) Effect { return GraphErrors{Data: r.yes(2)} }},
		{passing, tokens, func(r roll, _ *Sim) Effect { return Expire{} }},
		{passing, anyAPI, func(r roll, _ *Sim) Effect { return Hang{time.Duration(r.between(1, 90)) * time.Second} }},
	}
}

func harmlessKinds() []kindOfFault {
	return []kindOfFault{
		{harmless, anyAPI, func(r roll, _ *Sim) Effect { return BOM{} }},
		{harmless, anyAPI, func(r roll, _ *Sim) Effect { return Charset{pick(r, "iso-8859-1", "utf-16")} }},
		{harmless, anyAPI, func(r roll, _ *Sim) Effect { return Unasked{} }},
		{harmless, anyAPI, func(r roll, _ *Sim) Effect { return Frame{pick(r, Chunked, ByClose)} }},
		{harmless, anyAPI, func(r roll, _ *Sim) Effect { return ResetAfter{} }},
		{harmless, anyAPI, func(r roll, _ *Sim) Effect { return Part{Whole: true} }},
		{harmless, anyAPI, func(r roll, _ *Sim) Effect { return NoTotal{} }},
		{harmless, tokens, func(r roll, _ *Sim) Effect { return Empty{Next: true, Run: r.between(1, 4)} }},
	}
}

func cappedKinds() []kindOfFault {
	return []kindOfFault{
		{capped, many, func(r roll, s *Sim) Effect {
			return Cap{
				At:   r.between(1, len(s.World.Items)-1),
				Past: pick(r, CapEnd, CapCollapse, CapEmpty, CapError, CapRepeat, CapClamp),
				Code: pick(r, 400, 422, 500), Pages: r.yes(2), Whole: r.yes(4),
			}
		}},
		{capped, many, func(r roll, _ *Sim) Effect { return Status{Code: pick(r, 404, 400, 401, 422)} }},
		{capped, anyAPI, func(r roll, _ *Sim) Effect { return Ignore{Place: true, Size: r.yes(2)} }},
		{capped, anyAPI, func(r roll, _ *Sim) Effect { return Endless{} }},
		{capped, anyAPI, func(r roll, _ *Sim) Effect { return Loop{r.between(1, 4)} }},
		{capped, anyAPI, func(r roll, _ *Sim) Effect { return Nulls{Add: true} }},
		{capped, anyAPI, func(r roll, _ *Sim) Effect { return WrongTotal{r.between(-5, 5)} }},
		{capped, linked, func(r roll, _ *Sim) Effect { return BadLink{Host: pick(r, "", "inner.invalid")} }},
		{capped, anyAPI, func(r roll, s *Sim) Effect { return Phantom{len(s.World.Items) + r.between(1, 60)} }},
		{capped, anyAPI, func(r roll, _ *Sim) Effect {
			return Redirect(pick(r, http.StatusFound, http.StatusTemporaryRedirect), "http://elsewhere.invalid/login")
		}},
	}
}

func lyingKinds() []kindOfFault {
	return []kindOfFault{
		{lying, many, func(r roll, _ *Sim) Effect { return EndEarly{} }},
		{lying, many, func(r roll, _ *Sim) Effect { return Drop{Every: r.between(2, 20), Agrees: r.yes(2)} }},
		{lying, many, func(r roll, _ *Sim) Effect { return Empty{} }},
		{lying, many, func(r roll, _ *Sim) Effect { return Lag{r.between(1, 3)} }},
		{lying, many, func(r roll, _ *Sim) Effect { return Skip{r.between(1, 5)} }},
		{lying, many, func(r roll, _ *Sim) Effect { return Nulls{} }},
		{lying, many, func(r roll, s *Sim) Effect { return Keep{r.between(1, len(s.World.Items))} }},
		{lying, many, func(r roll, _ *Sim) Effect { return Notice{`{"notice":"export limit exceeded, result truncated"}`} }},
		{unsteady, many, func(r roll, _ *Sim) Effect { return Swap{} }},
		{unsteady, many, func(r roll, _ *Sim) Effect { return Shuffle{Ties: r.yes(2)} }},
		{unsteady, many, func(r roll, _ *Sim) Effect { return Short{r.between(1, 9)} }},
		{unsteady, many, func(r roll, _ *Sim) Effect { return Repeat{} }},
		{unsteady, many, func(r roll, _ *Sim) Effect { return Twice{} }},
	}
}

// faults adds k faults of the given kinds of harm.
func (r roll) faults(s *Sim, k int, harms ...harm) {
	var kinds []kindOfFault
	for _, f := range catalogue() {
		for _, h := range harms {
			if f.harm == h && f.fits(s.API.normal(), len(s.World.Items)) {
				kinds = append(kinds, f)
			}
		}
	}
	for range k {
		if len(kinds) == 0 {
			return
		}
		e := pick(r, kinds...).make(r, s)
		s.Faults = append(s.Faults, Fault{r.match(s, e), e})
	}
}

// match draws when a fault fires.
func (r roll) match(s *Sim, e Effect) Match {
	var m Match
	switch e.harm() {
	case passing:
		m = pick(r, Match{Attempts: []int{1}}, Match{Attempts: []int{1, 2}}, Match{Attempts: []int{1, 2, 3}},
			Match{SizeOver: max(1, s.API.Size.Default/2)}, Match{Every: r.between(2, 5)}, Match{Percent: 30})
	case harmless:
		m = pick(r, Match{}, Match{Every: r.between(2, 4)}, Match{Percent: 40})
	default:
		m = pick(r, Match{}, Match{Percent: 30}, Match{Attempts: []int{1}}, Match{Every: 2}, Match{After: r.IntN(6)})
	}
	return r.narrow(s, e, m)
}

// narrow may bind a fault to a part of the list.
func (r roll) narrow(s *Sim, e Effect, m Match) Match {
	n := len(s.World.Items)
	switch e := e.(type) {
	case Cap, Drop, Phantom, Keep:
		return Match{}
	case Status:
		if e.harm() == capped {
			m = Match{From: r.between(1, max(1, n-1))}
		}
	case EndEarly, Loop, Skip, Empty:
		if m.From = r.IntN(n + 1); e.Name() == "empty_with_next" {
			m.From = 0
		}
	case Expire:
		return Match{Attempts: []int{1}, Page: r.between(2, 4)}
	default:
		if r.yes(2) {
			m.From = r.IntN(n + 1)
		}
	}
	return m
}
