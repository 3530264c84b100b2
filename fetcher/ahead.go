package fetcher

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

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
	began  time.Time
	cancel context.CancelFunc
	done   chan struct{}
	raw    raw // once done is closed
}

// is reports whether a flight asks for just what a request does.
func (f *flight) is(r adapters.Request) bool {
	return f.req.URL == r.URL && f.req.Size == r.Size && f.req.Method == r.Method && string(f.req.Body) == string(r.Body)
}

// wait gives what came, or the context's error. What came whole is an answer, also
// where the context, which is the flight's too, has ended meanwhile.
func (f *flight) wait(ctx context.Context) (raw, error) {
	<-f.done
	if f.failed() {
		return f.raw, ctx.Err()
	}
	return f.raw, nil
}

// landed reports whether a flight has come back.
func (f *flight) landed() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// failed reports a flight that has come back with nothing that could be a page.
func (f *flight) failed() bool {
	return f.landed() && (f.raw.err != nil || f.raw.short || f.raw.status < 200 || f.raw.status >= 300)
}

// flights are what is under way, in the order of positions.
type flights struct {
	list  []*flight
	spare []*flight // memory for the next list
	wg    sync.WaitGroup
	// steady is how many pages in a row moved the walk on by as many items as the
	// one before; stride is by how many. trust is how many it takes to guess where
	// further pages begin: more once a guess was wrong.
	steady, trust int
	stride        int64
}

// trustAfter is how many equal pages it takes to guess again after a wrong guess.
const trustAfter = 8

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
// will not. Where a page was not held and the source stands still, what is under
// way stays: the walk may come to it yet.
func (d *drain) askAhead(ctx context.Context, st step) {
	d.client.need.Store(d.need())
	still := d.standsStill()
	if !st.hold && !d.state.Done && still {
		return
	}
	d.ahead.moved(d.state.At.Offset - d.state.GoodAt.Offset)
	had := d.ahead.list
	d.ahead.list = d.ahead.spare[:0]
	if !still {
		d.drop(had)
		clear(had)
	}
	if st.hold && d.mayAskAhead() {
		d.want(ctx, had, still)
	}
	if d.drop(had) && !d.state.Done {
		d.ahead.trust, d.ahead.steady = trustAfter, 0 // the guess was wrong
	}
	d.ahead.spare = had[:0]
}

// moved takes up by how many items a page moved the walk on.
func (fs *flights) moved(stride int64) {
	if fs.steady++; stride != fs.stride {
		fs.steady, fs.stride = 0, stride
	}
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
// already, taken out of it, and new ones, as many as may be under way at once.
// Those that are there are kept, however few new ones may be sent: they show how
// the source stands.
func (d *drain) want(ctx context.Context, had []*flight, still bool) {
	s := d.state
	size, lap, wide := d.askSize(), d.overlap(), min(1, d.room())
	if still && d.ahead.steady >= d.ahead.trust {
		wide = min(d.room(), int64(d.client.pace.width()))
	}
	if wide < 1 {
		return // a budget is spent
	}
	for n := range int64(d.opt.Client.Concurrency) {
		at := s.At
		if n > 0 {
			if at = d.later(n); !still || at.Offset >= d.farthest() || s.lap != lap || d.ahead.list[0].req.Size != s.GoodSize {
				return // the last page does not show where further ones begin
			}
		}
		f := pick(had, at, size, lap)
		if f == nil && n >= wide {
			continue
		}
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

// pick takes the flight to a place out of a list; nil where there is none.
func pick(list []*flight, at adapters.Position, size, lap int) *flight {
	for i, f := range list {
		if f != nil && f.size == size && f.lap == lap && samePlace(f.at, at) {
			list[i] = nil
			return f
		}
	}
	return nil
}

func samePlace(a, b adapters.Position) bool {
	return a.Offset == b.Offset && a.Number == b.Number && a.Size == b.Size && a.URL == b.URL && bytes.Equal(a.Cursor, b.Cursor) && bytes.Equal(a.Pin, b.Pin)
}

// standsStill reports whether positions can be computed ahead, and nothing has
// shown that the source moves.
func (d *drain) standsStill() bool {
	s := d.state
	return d.shape.rank && s.Page >= 1 && s.Pass == 1 && s.Bad == 0 && !s.Followed && s.Empties == 0 && len(d.shape.pages.OffsetAdvance) == 0 &&
		s.Move.Clean() && s.Everything.Clean() && s.PassTotals.Believed() && s.PassTotals.Min == s.PassTotals.Max && s.At.Offset > s.GoodAt.Offset
}

// farthest is how many items can be had by position, as far as is known.
func (d *drain) farthest() int64 {
	if reach := d.shape.pages.Reach; reach > 0 {
		return min(reach, d.state.PassTotals.Last)
	}
	return d.state.PassTotals.Last
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
	f.began, f.done = time.Now(), make(chan struct{})
	d.ahead.wg.Add(1)
	go func() {
		defer d.ahead.wg.Done()
		defer close(f.done)
		f.raw, _ = d.client.do(ctx, f.req, nil, func(raw) (bool, time.Duration) { return false, 0 })
	}()
	runtime.Gosched() // the request goes out before the page at hand is written, also with one processor
}

// drop gives flights up; nil ones are none. It reports whether one of them was a
// page that the walk could have come to.
func (d *drain) drop(list []*flight) (wrong bool) {
	for _, f := range list {
		if f != nil {
			wrong = wrong || !f.failed()
			d.dropOne(f)
		}
	}
	return wrong
}

// dropOne gives a flight up. It was a request all the same, and has a row. What a
// whole page shows is remembered: if the same request is answered in another way
// later, the source has moved.
func (d *drain) dropOne(f *flight) {
	landed := f.landed()
	f.cancel()
	<-f.done
	if !f.raw.sent {
		return
	}
	s := d.state
	at := s.At
	s.At = f.at // as it was asked for
	a := answer{raw: f.raw}
	outcome, cause := reconcile.Unused, "asked for ahead of the walk, which went elsewhere"
	switch {
	case !landed && f.failed():
		a.body = nil // called off, by us
	case f.raw.status != 0 && limited(f.raw):
		outcome, cause = reconcile.Limited, "asked for ahead of the walk, and refused by a rate limit"
		d.limit(f.raw)
	case f.failed():
		outcome, cause = reconcile.Failed, fmt.Sprintf("asked for ahead of the walk, in vain: status %d", f.raw.status)
	default:
		if a = d.read(f.at, f.req, f.raw, time.Now()); a.kind == kindPage {
			d.remember(f.req, &a.page)
		}
	}
	if a.started.IsZero() {
		a.started = f.began
	}
	s.Counts.Requests++
	s.Counts.Bytes += a.wire
	row := d.row(f.req, &a)
	row.Try, row.Outcome, row.Action, row.Cause = 1, outcome, judge.ActionContinue, cause
	d.add(row)
	s.At = at
}

// rememberMost is how many answers that were thrown away are remembered.
const rememberMost = 64

// remember keeps what a page that is thrown away showed.
func (d *drain) remember(r adapters.Request, p *adapters.Page) {
	d.recall(r, p) // it may have been thrown away before
	s := d.state
	if s.Thrown == nil {
		s.Thrown = map[string]uint64{}
	}
	if len(s.Thrown) < rememberMost {
		s.Thrown[d.requestKey(r)] = d.shows(p)
	}
}

// recall holds a page against what the same request was answered before, when that
// was thrown away: if they differ, the source has moved in between.
func (d *drain) recall(r adapters.Request, p *adapters.Page) {
	s := d.state
	if len(s.Thrown) == 0 {
		return
	}
	k := d.requestKey(r)
	was, ok := s.Thrown[k]
	if !ok {
		return
	}
	delete(s.Thrown, k)
	if was != d.shows(p) {
		s.Move.Moved++
		s.Move.Unverified++
		d.event("shift", "a page that was asked for ahead came with other items now: the source has moved")
	}
}

// shows is the hash of the identities on a page and of its total.
func (d *drain) shows(p *adapters.Page) uint64 {
	h := xxh3.New()
	for _, it := range p.Items {
		var k key
		k, d.seen.buf = identity(it, d.opt.Seed, d.seen.buf)
		h.Write(k[:])
	}
	if t, ok := mainTotal(p); ok {
		fmt.Fprint(h, t.Value)
	}
	return h.Sum64()
}

// requestKey names a request, without a secret that it may hold.
func (d *drain) requestKey(r adapters.Request) string {
	return strconv.FormatUint(xxh3.HashStringSeed(r.Method+"\x00"+r.URL+"\x00"+string(r.Body), d.opt.Seed), 36)
}

// limit takes up a limit that the server has set on a request.
func (d *drain) limit(a raw) {
	if d.client.pace.slower(a.started) {
		d.event("wait", fmt.Sprintf("rate-limited: down to %d requests at once for the time being; limits.rate can keep below the limit", d.client.pace.width()))
	}
}

// quicker takes up a page that came.
func (d *drain) quicker() {
	if d.client.pace.quicker() {
		d.event("wait", fmt.Sprintf("no rate limit for a while: up to %d requests at once", d.client.pace.width()))
	}
}
