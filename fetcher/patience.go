package fetcher

import (
	"errors"
	"time"

	"lastdrop/adapters"
	"lastdrop/judge"
)

// patience says whether the very same request goes out again, and after which
// pause. What a smaller page or another position may cure is left to the
// step.
func (d *drain) patience(a *answer) (again bool, pause time.Duration) {
	c := d.opt.Client
	pause = backoff(c.BackoffMin, c.BackoffMax, min(d.state.Tries, 30))
	if a.kind == kindLimit {
		return d.limitPatience(a, pause)
	}
	return d.tries <= d.triesFor(a), pause
}

// limitPatience waits as the server says, but no longer than the operator
// allows.
func (d *drain) limitPatience(a *answer, pause time.Duration) (bool, time.Duration) {
	if a.asked && a.wait > d.opt.Client.MaxWait {
		return false, 0 // a.wait stays: the run stops for it
	}
	if a.asked {
		pause = a.wait
	}
	a.wait = 0
	return d.tries <= d.opt.Client.Retries, pause
}

// triesFor gives how many further tries of the same request an answer
// deserves.
func (d *drain) triesFor(a *answer) int {
	s, retries := d.state, d.opt.Client.Retries
	small := s.canShrink(d.shape)
	if small && s.countsPages() && (a.kind == kindHalf || a.kind == kindDeadline || a.kind == kindPassing) && d.tries <= min(2, retries) {
		return min(2, retries) // another size means to begin anew
	}
	if !small && d.asked > s.Size && s.Ceiling == 0 && (a.kind == kindHalf || a.kind == kindDeadline || a.kind == kindPassing || a.kind == kindPartial) {
		return 0 // first without the overlap on top
	}
	switch a.kind {
	case kindFault:
		if errors.Is(a.err, errPrivate) {
			return 0
		}
		return retries
	case kindPassing:
		switch {
		case small && s.Shrinks == 0:
			return min(1, retries)
		case small:
			return 0
		}
		return retries
	case kindHalf:
		if small {
			return 0
		}
		return retries
	case kindDeadline:
		if small {
			return 0
		}
		return retries
	case kindOther:
		return min(3, retries)
	case kindNothing:
		return min(3, retries)
	case kindPartial:
		if s.PartialSign != "" && a.text == s.PartialSign {
			return 0 // it stayed on an earlier page
		}
		if small {
			return min(1, retries)
		}
		return retries
	case kindTrouble:
		return d.troublePatience(a.trouble, retries)
	case kindPage:
		return d.emptyPatience(&a.page, retries)
	}
	return 0
}

func (d *drain) troublePatience(t *adapters.Trouble, retries int) int {
	switch t.Kind {
	case adapters.TroublePassing:
		return retries
	case adapters.TroubleCost:
		return 0
	case adapters.TroubleMissing:
		if d.state.Counts.Held == 0 {
			return 0 // the path is wrong, most likely
		}
		if d.state.Confirming != confirmNone && d.shape.absentIsEmpty {
			return 0 // this API leaves an empty list out
		}
		return min(3, retries)
	case adapters.TroubleMalformed:
		return min(3, retries)
	}
	return min(1, retries)
}

// emptyPatience asks an empty page again that stands before what the total
// declares and offers no way on: a passing fault of the server, or a reach.
func (d *drain) emptyPatience(p *adapters.Page, retries int) int {
	s := d.state
	short := s.short()
	total, has := mainTotal(p)
	if has && total.Kind == judge.Exact && !s.PassTotals.EchoOnly {
		short = max(short, total.Value-s.PassRows)
	}
	if len(p.Items)+p.Nulls+p.Rejected > 0 || short == 0 || s.Confirming != confirmNone || s.Checking || s.Empties > 0 {
		return 0
	}
	if p.Next.State == adapters.Follow || p.More == judge.Yes || p.Offered || s.pastDeclared(d.shape, p) {
		return 0
	}
	if has && total.Kind == judge.Exact && total.Value > 0 && total.Value <= s.PassRows {
		return 0 // the set has shrunk to what is held
	}
	if has && total.Value == 0 {
		return min(1, retries) // collapsed, most likely
	}
	return min(3, retries)
}

func (s *State) canShrink(sh shape) bool { return sh.sized && s.Size > sh.min && !s.Locked }
