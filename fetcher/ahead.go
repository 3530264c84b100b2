package fetcher

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// Pages are asked for before the walk comes to them: the next one while the page
// at hand is written, and, where positions can be computed, as many further ones
// as may be under way at once. The walk takes answers in the order of positions
// and decides on each as if it had just asked; an answer whose request it would
// not send any more is thrown away. Only a source that has not moved is asked
// ahead, so that it does not matter in which order the answers were made
// (decision 016).

// A flight is a request that is under way, or has come back, before the walk
// asks for it.
type flight struct {
	req    adapters.Request
	at     adapters.Position
	size   int // that was asked for, and the overlap
	lap    int
	cancel context.CancelFunc
	done   chan struct{}
	raw    raw // once done is closed
}

// is reports whether a flight asks for just what a request does.
func (f *flight) is(r adapters.Request) bool {
	return f.req.URL == r.URL && f.req.Size == r.Size && f.req.Method == r.Method && string(f.req.Body) == string(r.Body)
}

// wait gives what came, or the context's error.
func (f *flight) wait(ctx context.Context) (raw, error) {
	select {
	case <-f.done:
		return f.raw, ctx.Err()
	case <-ctx.Done():
		return raw{}, ctx.Err()
	}
}

// failed reports a flight that has come back with nothing that could be a page.
func (f *flight) failed() bool {
	select {
	case <-f.done:
		return f.raw.err != nil || f.raw.short || f.raw.status >= 300
	default:
		return false
	}
}

// flights are what is under way, in the order of positions.
type flights struct {
	list  []*flight
	spare []*flight // memory for the next list
	wg    sync.WaitGroup
}

// take hands over the flight of a request, if there is one.
func (fs *flights) take(r adapters.Request) *flight {
	for i, f := range fs.list {
		if f.is(r) {
			fs.list = slices.Delete(fs.list, i, i+1)
			return f
		}
	}
	return nil
}

// land ends all that is under way and waits for it.
func (fs *flights) land() {
	for _, f := range fs.list {
		f.cancel()
	}
	fs.wg.Wait()
}

// askAhead asks for what the walk will ask for next, and throws away what it
// will not.
func (d *drain) askAhead(ctx context.Context, st step) {
	d.client.need.Store(d.need())
	had := d.ahead.list
	d.ahead.list = d.ahead.spare[:0]
	if st.hold && d.mayAskAhead() {
		d.want(ctx, had)
	}
	for _, f := range had {
		if f != nil {
			d.drop(f)
		}
	}
	d.ahead.spare = had[:0]
}

// mayAskAhead reports whether the next request is sure to be what the state says
// now: nothing is being confirmed or tried again.
func (d *drain) mayAskAhead() bool {
	s := d.state
	return !s.Done && d.client.cookies == nil && !d.spec.Items.Merge &&
		s.Confirming == confirmNone && !s.Checking && !s.Probing && s.Borders == 0
}

// need is how many further pages the walk expects, -1 where nothing says so.
func (d *drain) need() int64 {
	s := d.state
	if s.PassTotals.Live == 0 || s.Size == 0 {
		return -1
	}
	return s.short()/int64(s.Size) + 2
}

// room is how many further pages the budgets leave, as far as it matters.
func (d *drain) room() int64 {
	b, c := d.opt.Budget, d.counts()
	room := int64(d.opt.Client.Concurrency)
	for _, left := range [][2]int64{{b.Requests, c.Requests - d.first.Requests}, {b.Pages, c.Held - d.first.Held}} {
		if left[0] > 0 {
			room = min(room, left[0]-left[1])
		}
	}
	if b.Items > 0 {
		room = min(room, (b.Items-(c.Distinct-d.first.Distinct)+int64(max(1, d.state.Size))-1)/int64(max(1, d.state.Size)))
	}
	return room
}

// want lists the next requests of the walk: those of had that are under way
// already, taken out of it, and new ones.
func (d *drain) want(ctx context.Context, had []*flight) {
	s := d.state
	size, lap := d.askSize(), d.overlap()
	for n := range min(d.room(), int64(d.wide())) {
		at := s.At
		if n > 0 {
			if at = d.later(n); at.Offset >= s.PassTotals.Last {
				return
			}
		}
		f := pick(had, at, size, lap)
		if f == nil {
			req, err := d.reader.Style().Request(at, size, lap)
			if err != nil {
				return // the walk will say what is wrong
			}
			f = &flight{req: req, at: at, size: size, lap: lap}
			d.fly(ctx, f)
		}
		d.ahead.list = append(d.ahead.list, f)
	}
}

// pick takes the flight to a place out of a list; nil where there is none, or
// only one that came back with a limit, an outage or half a body: that has waited
// long enough by now to be asked again.
func pick(list []*flight, at adapters.Position, size, lap int) *flight {
	for i, f := range list {
		if f != nil && f.size == size && f.lap == lap && samePlace(f.at, at) && !f.failed() {
			list[i] = nil
			return f
		}
	}
	return nil
}

func samePlace(a, b adapters.Position) bool {
	return a.Offset == b.Offset && a.Number == b.Number && a.Size == b.Size && a.URL == b.URL && bytes.Equal(a.Cursor, b.Cursor) && bytes.Equal(a.Pin, b.Pin)
}

// wide is how many requests may be under way: one where only the answer at hand
// says where to go on, or the source is not known to stand still.
func (d *drain) wide() int {
	s := d.state
	if !d.shape.rank || s.Page < 1 || s.Pass > 1 || s.Bad > 0 || s.Followed || s.Empties > 0 || len(d.shape.pages.OffsetAdvance) > 0 {
		return 1
	}
	if !s.Move.Clean() || !s.Everything.Clean() || !s.PassTotals.Believed() || s.PassTotals.Min != s.PassTotals.Max || s.At.Offset <= s.GoodAt.Offset {
		return 1
	}
	return d.client.pace.width()
}

// later is the place n pages behind the one where the walk stands, if they are
// as long as the last one.
func (d *drain) later(n int64) adapters.Position {
	s := d.state
	at := s.At
	at.Offset += n * (s.At.Offset - s.GoodAt.Offset)
	if !d.shape.always {
		at.Number += n
	}
	return at
}

// fly sends a request: one try, on which the walk decides when it gets there.
func (d *drain) fly(ctx context.Context, f *flight) {
	ctx, f.cancel = context.WithCancel(ctx)
	f.done = make(chan struct{})
	d.ahead.wg.Add(1)
	go func() {
		defer d.ahead.wg.Done()
		defer close(f.done)
		f.raw, _ = d.client.do(ctx, f.req, nil, func(raw) (bool, time.Duration) { return false, 0 })
	}()
}

// drop gives a flight up. It was a request all the same, and has a row.
func (d *drain) drop(f *flight) {
	f.cancel()
	<-f.done
	if !f.raw.sent {
		return
	}
	outcome, cause := reconcile.Refused, "asked for ahead of the walk, which went elsewhere"
	switch {
	case f.raw.status != 0 && limited(f.raw):
		outcome, cause = reconcile.Limited, "asked for ahead of the walk, and refused by a rate limit"
		d.limit()
	case f.raw.status >= 300 || f.raw.short:
		outcome, cause = reconcile.Failed, fmt.Sprintf("asked for ahead of the walk, in vain: status %d", f.raw.status)
	}
	s := d.state
	s.Counts.Requests++
	s.Counts.Bytes += f.raw.wire
	d.run.Seq++
	d.add(reconcile.Attempt{
		Seq: d.run.Seq, Slice: d.slice(), Pass: d.passOf(), Page: s.Page + 1, Started: f.raw.started, Duration: f.raw.duration,
		URL: d.hide(firstOf(f.raw.url, f.req.URL)), Position: clip(d.hide(describe(f.at)), 160), Offset: f.at.Offset,
		SizeAsked: f.req.Size, Status: f.raw.status, BytesRead: f.raw.wire, BytesExpected: f.raw.expected,
		Outcome: outcome, Action: judge.ActionContinue, Cause: cause,
	})
}

// limit takes up a limit that the server has set.
func (d *drain) limit() {
	if d.client.pace.slower() {
		d.event("wait", fmt.Sprintf("a rate limit: %d requests at once from now on", d.client.pace.width()))
	}
}
