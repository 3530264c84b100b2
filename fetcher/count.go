package fetcher

import (
	"context"
	"time"

	"lastdrop/adapters"
	"lastdrop/judge/reconcile"
)

// countTotal asks the count request of its own, where one is configured:
// before the run and after each pass.
func (d *drain) countTotal(ctx context.Context) {
	t, ok := d.countSpec(d.sliceNow())
	if !ok || (d.state.Page == 0 && d.state.Counted && !d.state.Done) {
		return
	}
	v, err := d.askCount(ctx, t)
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

// askCount sends a count request once.
func (d *drain) askCount(ctx context.Context, t adapters.TotalSpec) (v adapters.Total, err error) {
	err = d.beside(ctx, adapters.Probe{URL: t.URL, Method: t.Method, Body: t.Body}, func(r adapters.Response) (err error) {
		v, err = adapters.ReadCount(t, r)
		return err
	})
	return v, err
}
