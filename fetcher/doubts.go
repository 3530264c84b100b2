package fetcher

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
	"lastdrop/judge/reconcile"
)

// Doubts are further looks at the source that the operator asks for. The zero
// value asks for none.
type Doubts struct {
	// SentinelID is the canonical id (as in adapters.Item) of an item that must
	// be held; Sentinel is a request whose list or number must come to at least
	// SentinelMin. At most one of both.
	SentinelID  []byte
	Sentinel    *adapters.Probe
	SentinelMin int64
	// NewestPath is a time inside an item: the newest one held is noted.
	NewestPath string
	// Still is a request for a mark that changes with the source.
	Still *adapters.Probe
}

// sentinel looks, once the walk has come to its end, for what must be there.
func (d *drain) sentinel(ctx context.Context) {
	o := d.opt.Doubts
	if !(d.cameToEnd() || d.run.Done && d.run.Again != nil) || ctx.Err() != nil {
		return
	}
	s := &d.run.Sentinel
	switch {
	case o.SentinelID != nil:
		held := d.seen.has(identityOf(o.SentinelID, d.opt.Seed))
		*s = reconcile.Sentinel{OK: held, Text: fmt.Sprintf("the item %s, which must be there, is not held", d.short(idText(string(o.SentinelID))))}
	case o.Sentinel != nil:
		*s = d.askSentinel(ctx)
	default:
		return
	}
	if s.OK {
		s.Text = ""
		d.event("note", "the sentinel is there")
		return
	}
	d.event("note", "the sentinel failed: "+s.Text)
}

// askSentinel sends the sentinel's request.
func (d *drain) askSentinel(ctx context.Context) reconcile.Sentinel {
	p, least := *d.opt.Doubts.Sentinel, d.opt.Doubts.SentinelMin
	var n int64
	err := d.beside(ctx, p, func(r adapters.Response) error {
		v, err := d.opt.Reader.ReadProbe(p, r)
		if err != nil {
			return err
		}
		var ok bool
		if n, ok = adapters.ProbeCount(v); !ok {
			return fmt.Errorf("at %q stands neither a list nor a whole number", p.Path)
		}
		return nil
	})
	if err != nil {
		return reconcile.Sentinel{Text: "its request gave no whole answer: " + err.Error()}
	}
	return reconcile.Sentinel{OK: n >= least, Text: fmt.Sprintf("its request gives %d at %q, and must give at least %d", n, p.Path, least)}
}

// cameToEnd reports whether the walk stopped where nothing further was offered,
// and not on the way.
func (d *drain) cameToEnd() bool {
	if d.run.Plan != nil && d.run.Whole != nil {
		return d.run.Done
	}
	switch d.state.Stop {
	case reconcile.StopEnd, reconcile.StopNotSaid, reconcile.StopLoop, reconcile.StopReach:
		return d.state.Done
	}
	return false
}

// markBefore reads the mark of change before the first page of the run.
func (d *drain) markBefore(ctx context.Context) {
	if d.opt.Doubts.Still == nil || d.run.Seq > 0 {
		return
	}
	mark, err := d.mark(ctx)
	if err != nil {
		d.event("note", "the mark of change could not be read: "+err.Error())
	}
	d.state.Stood = mark
}

// markAfter reads the mark after the last page of a pass, and holds it against
// the one before the pass. Where it may have changed, what the pass read by
// places that count rows is not shown to be whole.
func (d *drain) markAfter(ctx context.Context) {
	if d.opt.Doubts.Still == nil {
		return
	}
	s := d.state
	mark, err := d.mark(ctx)
	if ctx.Err() != nil {
		return // the pass ends anew after a resume
	}
	before := s.Stood
	s.Stood = mark
	s.Still = reconcile.Still{Asked: true, Equal: err == nil && mark == before}
	switch {
	case err != nil:
		s.Still.Text = "the mark of change could not be read after the last page: " + err.Error()
	case before == "":
		s.Still.Text = "the mark of change could not be read before the first page"
	case s.Still.Equal:
		s.Still.Text = fmt.Sprintf("the mark of change stood at %s before the first page and after the last", d.short(mark))
	default:
		s.Still.Text = fmt.Sprintf("the mark of change went from %s before the first page to %s after the last", d.short(before), d.short(mark))
	}
	d.event("note", fmt.Sprintf("pass %d: %s", s.Pass, s.Still.Text))
	if !s.Still.Equal && s.looseBorders(d.shape) {
		s.marked(d.shape)
	}
}

// short clips a text of the server's for a message, once no secret is in it.
func (d *drain) short(text string) string { return clip(d.hide(text), 60) }

// mark asks for the mark of change: a number or a text, in canonical form.
func (d *drain) mark(ctx context.Context) (string, error) {
	p := *d.opt.Doubts.Still
	var mark string
	err := d.beside(ctx, p, func(r adapters.Response) error {
		v, err := d.opt.Reader.ReadProbe(p, r)
		if err != nil {
			return err
		}
		if age := r.Header.Get("Age"); age != "" && age != "0" {
			return fmt.Errorf("the answer comes from a cache (Age: %s)", clip(age, 10))
		}
		if !v.IsNumber() && v.Str() == "" {
			return fmt.Errorf("at %q stands neither a number nor a text", p.Path)
		}
		mark = string(jsonscan.AppendCanonical(nil, v.Raw))
		return nil
	})
	return mark, err
}

// looseBorders reports whether the pass went over borders whose places count
// rows and which no overlap has shown to be whole.
func (s *State) looseBorders(sh shape) bool {
	if sh.rank {
		return s.Unlapped > 0
	}
	return s.Page > 1 && !sh.keyset && s.At.Counted()
}

// marked notes that the source may have moved under such borders; pages overlap
// from then on, where the style can.
func (s *State) marked(sh shape) {
	s.Move.Marked++
	if sh.lap && s.Size > 1 && s.Overlap == 0 && !s.NoLap && !s.declaredReach() {
		s.Overlap = 1
	}
}

// noteNewest keeps the latest time in the items that became held. A time that
// lies more than a day ahead is none: it would hide how old the others are.
func (d *drain) noteNewest(items []adapters.Item, held []int) {
	if d.newest == nil {
		return
	}
	ahead := time.Now().Add(24 * time.Hour)
	for _, i := range held {
		v, err := d.newest.Find(items[i].Raw)
		if err != nil {
			continue
		}
		if t, ok := readTime(v); ok && t.Before(ahead) && t.After(d.run.Newest) {
			d.run.Newest = t
		}
	}
}

// readTime reads a time: RFC 3339, a date (its first moment, in UTC), or seconds
// or milliseconds since 1970, as a number or in digits.
func readTime(v jsonscan.Value) (time.Time, bool) {
	if v.IsNumber() {
		return unixTime(string(v.Raw))
	}
	text := v.Str()
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	if len(text) < 9 || strings.Trim(text, "0123456789.") != "" { // less is a year, or a date without dashes
		return time.Time{}, false
	}
	return unixTime(text)
}

// unixTime reads a number since 1970: milliseconds where seconds would lie
// beyond the year 5000.
func unixTime(text string) (time.Time, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0) || f > 1e14 {
		return time.Time{}, false
	}
	if f < 1e11 {
		f *= 1000
	}
	return time.UnixMilli(int64(f)).UTC(), true
}
