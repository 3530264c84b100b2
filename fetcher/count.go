package fetcher

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
	"lastdrop/judge/reconcile"
)

// countTotal asks the count request of its own, where one is configured:
// before the run and after each pass.
func (d *drain) countTotal(ctx context.Context) {
	t, ok := d.countSpec(d.sliceNow())
	if !ok || (d.state.Page == 0 && d.state.Counted && !d.state.Done) {
		return
	}
	v, err := d.count(ctx, t)
	if err != nil {
		d.event("note", "the count request failed: "+err.Error())
		return
	}
	s := d.state
	s.Counted = true
	before := s.PassTotals
	o := reconcile.Observation{Value: v.Value, Kind: v.Kind, Distinct: s.PassItems, Requested: true}
	live, remark := s.PassTotals.Observe(o)
	o.Distinct = s.Counts.Distinct
	s.Totals.Observe(o)
	if s.PassTotals.Moved > before.Moved {
		s.Move.Moved++
		if !d.shape.always && !d.shape.keyset {
			s.Move.Unverified++
		}
	}
	d.pending.Totals = append(d.pending.Totals, reconcile.TotalSeen{Seq: d.run.Seq, At: time.Now(), Source: string(adapters.FromRequest),
		Value: v.Value, Kind: v.Kind, Live: live, Remark: remark, Distinct: s.Counts.Distinct})
}

// count asks for the total once, with retries of what may pass.
func (d *drain) count(ctx context.Context, t adapters.TotalSpec) (adapters.Total, error) {
	req := adapters.Request{Method: firstOf(t.Method, "GET"), URL: t.URL, Header: map[string][]string{}}
	for k, v := range d.spec.Headers {
		req.Header.Set(k, v)
	}
	if t.Body != nil {
		b, err := json.Marshal(t.Body)
		if err != nil {
			return adapters.Total{}, err
		}
		req.Body = b
	}
	d.tries = 0
	r, err := d.client.do(ctx, req, func(r raw) (bool, time.Duration) {
		d.tries++
		d.state.Counts.Requests++
		c := d.opt.Client
		passing := r.err != nil || r.status >= 500 || r.status == 429 || r.short
		return passing && d.tries <= c.Retries, backoff(c.BackoffMin, c.BackoffMax, d.tries)
	})
	switch {
	case err != nil:
		return adapters.Total{}, err
	case r.err != nil:
		return adapters.Total{}, fmt.Errorf("%s", faultText(r.err))
	case r.status != 200 || r.short || r.undone != nil:
		return adapters.Total{}, fmt.Errorf("status %d: %s", r.status, excerpt(r.body))
	}
	if bad := jsonscan.Validate(r.body); bad != nil {
		return adapters.Total{}, fmt.Errorf("the answer is no whole JSON: %s", bad.Msg)
	}
	return adapters.ReadCount(t, adapters.Response{Status: r.status, Header: r.header, Body: r.body, URL: r.url})
}
