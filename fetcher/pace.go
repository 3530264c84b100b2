package fetcher

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Pace is the budget of one origin and credential: how many requests a second,
// how many under way at once, and what the server says is left. Runs that share
// one hold to it in sum. It can be used by several goroutines.
type Pace struct {
	limiter *rate.Limiter // nil: no limit
	most    int
	under   chan struct{} // one for each request under way

	mu     sync.Mutex
	wide   int       // how many may be under way: fewer than most for a while after a limit
	cut    time.Time // when a limit last lowered it
	streak int       // pages since wide last changed
	quota  quota
	shut   time.Time // until when the server wants to be left alone
}

// A quota is what the server says is left of its own limit.
type quota struct {
	known bool
	limit int64 // of a whole window, 0: not said
	left  int64
	reset time.Time // when the next window begins
	next  time.Time // when the next request may go out
	// wrong: nothing was left in a window that had just begun. Such a header says
	// nothing, and waiting for it would never end.
	wrong bool
}

// NewPace makes a budget of so many requests a second (0: no limit), in bursts of
// up to so many, with so many under way at once (0: 1).
func NewPace(perSecond float64, burst, concurrency int) *Pace {
	p := &Pace{most: max(1, concurrency)}
	p.wide, p.under = p.most, make(chan struct{}, p.most)
	if perSecond > 0 {
		p.limiter = rate.NewLimiter(rate.Limit(perSecond), max(1, burst))
	}
	return p
}

// Tighten lowers the budget to that of one more run which shares it, where that is
// less. A place for a request that was there stays.
func (p *Pace) Tighten(perSecond float64, burst, concurrency int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case perSecond <= 0:
	case p.limiter == nil:
		p.limiter = rate.NewLimiter(rate.Limit(perSecond), max(1, burst))
	case rate.Limit(perSecond) < p.limiter.Limit():
		p.limiter.SetLimit(rate.Limit(perSecond))
		p.limiter.SetBurst(min(p.limiter.Burst(), max(1, burst)))
	}
	p.most = min(p.most, max(1, concurrency))
	p.wide = min(p.wide, p.most)
}

// turn waits for the rate.
func (p *Pace) turn(ctx context.Context) error {
	p.mu.Lock()
	l := p.limiter
	p.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.Wait(ctx)
}

// start waits until a request may go out, and gives how long it waited for what
// the server said. need is how many the run expects to send (below 0: it does not
// know), and longest the longest wait. end gives the place back.
func (p *Pace) start(ctx context.Context, need int64, longest time.Duration) (waited time.Duration, err error) {
	if err := p.turn(ctx); err != nil {
		return 0, err
	}
	if waited = p.pause(time.Now(), need); waited > longest {
		waited = 0
	}
	waited = max(waited, time.Until(p.closed()))
	if err := sleep(ctx, waited); err != nil {
		return waited, err
	}
	select {
	case p.under <- struct{}{}:
		return waited, nil
	case <-ctx.Done():
		return waited, ctx.Err()
	}
}

func (p *Pace) end() { <-p.under }

// pause spreads the last requests of a window over what is left of it. Where as
// many are left as are needed, nothing is spread.
func (p *Pace) pause(now time.Time, need int64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := &p.quota
	if !q.known || q.wrong || !now.Before(q.reset) {
		return 0
	}
	few := max(int64(4*p.most), q.limit/10)
	if q.left > few || need >= 0 && need <= q.left {
		q.left--
		return 0
	}
	q.left = max(0, q.left-1)
	if q.next.Before(now) {
		q.next = now
	}
	q.next = q.next.Add(q.reset.Sub(q.next) / time.Duration(q.left+1))
	return q.next.Sub(now)
}

// hold lets no request go out before a moment.
func (p *Pace) hold(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until.After(p.shut) {
		p.shut = until
	}
}

// closed is the moment before which no request goes out.
func (p *Pace) closed() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shut
}

// refused takes up when a refused request may come back, as far as that is not longer
// away than longest.
func (p *Pace) refused(r *http.Response, now time.Time, longest time.Duration) {
	if !limited(raw{status: r.StatusCode, header: r.Header}) {
		return
	}
	if wait, ok := serverWait(r.Header, now); ok && wait <= longest {
		p.hold(now.Add(wait))
	}
}

// heard takes up what an answer says of the quota.
func (p *Pace) heard(h http.Header, now time.Time) {
	left, limit, ok := quotaFields(h)
	if !ok {
		return
	}
	wait, ok := rateLimitField(h, now)
	if !ok {
		wait, ok = resetHeader(h, now)
	}
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	q := &p.quota
	begun := q.known && !now.Before(q.reset)
	q.wrong = q.wrong || begun && left == 0 && limit != 1
	if !q.known || begun {
		q.left, q.next = left, time.Time{}
	}
	q.known, q.limit, q.left, q.reset = true, limit, min(q.left, left), now.Add(wait)
}

// quotaFields reads how many requests are left, and how many a whole window has
// (0: not said): RateLimit in either draft's form, or the fields named after it.
func quotaFields(h http.Header) (left, limit int64, ok bool) {
	number := func(v string) (int64, bool) {
		if v == "" {
			return 0, false
		}
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		return n, err == nil && n >= 0
	}
	for name, v := range rateLimit(h) {
		switch n, fine := number(v); {
		case !fine:
		case name == "r" || name == "remaining":
			left, ok = n, true
		case name == "limit":
			limit = n
		}
	}
	for _, prefix := range []string{"Ratelimit-", "X-Ratelimit-", "X-Rate-Limit-"} { // as Header keeps them
		if ok {
			break
		}
		if left, ok = number(h.Get(prefix + "Remaining")); ok {
			limit, _ = number(h.Get(prefix + "Limit"))
		}
	}
	return left, limit, ok
}

// width is how many requests may be under way now.
func (p *Pace) width() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wide
}

// slower takes up a limit that the server has set on a request which was begun
// then, and reports whether fewer requests are under way at once from now on.
// Requests that were begun before the last cut are of the burst that led to it: the
// server has not seen yet that there are fewer.
func (p *Pace) slower(began time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streak = 0
	if p.wide == 1 || !began.After(p.cut) {
		return false
	}
	p.wide, p.cut = p.wide/2, time.Now()
	return true
}

// quicker takes up a page that came, and reports whether one request more may be
// under way at once from now on.
func (p *Pace) quicker() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streak++; p.streak < 16 || p.wide >= p.most {
		return false
	}
	p.wide, p.streak = p.wide+1, 0
	return true
}
