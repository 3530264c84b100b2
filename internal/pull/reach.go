package pull

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// address is what a reach belongs to; ok is false where it cannot be stored,
// for it holds a secret.
func (p *pull) address() (origin, path string, ok bool) {
	u, err := url.Parse(p.spec.URL)
	if err != nil {
		return "", "", false
	}
	origin, path = u.Scheme+"://"+u.Host, u.EscapedPath()
	return origin, path, p.hide(origin) == origin && p.hide(path) == path
}

// cut says how the source is cut: where no reach is configured, with the one
// that an earlier run met.
func (p *pull) cut(ctx context.Context) error {
	p.slicing = p.cfg.Slicing(p.run.Started())
	origin, path, ok := p.address()
	if p.slicing == nil || p.slicing.Reach > 0 || !ok {
		return nil
	}
	known, ok, err := p.opt.Store.Reach(ctx, origin, path)
	if err != nil || !ok || p.run.Started().Sub(known.At) > store.ReachLasts {
		return err
	}
	p.slicing.Reach, p.slicing.Recalled = known.Reach, fmt.Sprintf("met by run %s on %s", known.Run, known.At.Format(time.DateOnly))
	return nil
}

// noteReach stores the reach that a run met, if it was not told of it before.
func (p *pull) noteReach(ctx context.Context, f reconcile.Facts) error {
	origin, path, ok := p.address()
	told := p.slicing != nil && p.slicing.Reach == f.Reach.N || p.spec.Pages.Reach == f.Reach.N
	if !ok || !f.Reach.OK || told || f.Reach.N < 1 || f.Totals.Last <= f.Reach.N {
		return nil
	}
	return p.opt.Store.NoteReach(ctx, store.Reach{Origin: origin, Path: path, Reach: f.Reach.N, Run: p.run.ID(), At: time.Now()})
}
