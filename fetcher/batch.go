package fetcher

import (
	"context"
	"fmt"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// askPage asks for the page where the walk stands, in as many requests as it
// takes: where items arrive in parts, a page is the whole batch of answers up
// to the server's mark, with the parts of an item merged. The walk stands at
// the batch's start all the while, so that no part of it is ever kept alone. A
// batch that does not come whole is half a body. Where a budget is spent in the
// middle, the state is done and there is no answer.
func (d *drain) askPage(ctx context.Context) (answer, adapters.Request, error) {
	a, req, err := d.ask(ctx)
	if err != nil || !d.spec.Items.Merge || a.kind != kindPage {
		return a, req, err
	}
	start := d.state.At
	defer func() { d.state.At = start }()
	b := newBatch(&a.page)
	for visited := map[string]bool{visitKey(start): true}; b.page.Batch == judge.No; {
		next := b.page.Next
		if why := b.stuck(visited); why != "" {
			return halfBatch(a, b.parts, why), req, nil
		}
		visited[visitKey(next.At)] = true
		d.keepPart(req, &a, b.parts)
		if d.spent() {
			return answer{}, req, nil
		}
		d.state.At, d.state.Tries = next.At, 0
		if a, req, err = d.ask(ctx); err != nil {
			return a, req, err
		}
		if a.kind != kindPage {
			return halfBatch(a, b.parts+1, a.text), req, nil
		}
		b.add(&a.page)
	}
	a.page = b.whole()
	return a, req, nil
}

// batchMost is how many answers a batch may have: what is in memory until it is
// whole must end somewhere.
const batchMost = 10000

// stuck says why a batch that is not whole cannot go on, "" where it can.
func (b *batch) stuck(visited map[string]bool) string {
	switch next := b.page.Next; {
	case next.State != adapters.Follow || b.page.More == judge.No:
		return "the answer offers nothing to follow, and the batch is not whole"
	case visited[visitKey(next.At)]:
		return "the server points back into the batch, and it is not whole"
	case b.parts == batchMost:
		return "and the batch is not whole yet"
	}
	return ""
}

// halfBatch makes an answer that leaves a batch open half a body.
func halfBatch(a answer, part int, why string) answer {
	a.kind, a.page = kindHalf, adapters.Page{}
	a.text = fmt.Sprintf("part %d of a batch: %s", part, why)
	return a
}

// keepPart records an answer whose batch goes on.
func (d *drain) keepPart(req adapters.Request, a *answer, part int) {
	row := d.row(req, a)
	row.Outcome, row.Action = reconcile.Partial, judge.ActionContinue
	row.Cause = fmt.Sprintf("part %d of a batch", part)
	d.add(row)
	d.progress(row, 0)
}

// A batch is a page that is put together from the parts that came so far.
type batch struct {
	page  adapters.Page
	parts int
	at    map[string]int // of an id, among the page's items
	own   []adapters.Item
}

func newBatch(p *adapters.Page) *batch {
	b := &batch{at: map[string]int{}}
	b.add(p)
	return b
}

// add merges the next answer of the batch: what it says of the whole and of
// going on stands in the place of what was said before, its signs are added.
func (b *batch) add(p *adapters.Page) {
	last := b.page
	b.page = *p
	b.page.Nulls += last.Nulls
	b.page.Rejected += last.Rejected
	b.page.NoID += last.NoID
	b.page.Notices = append(last.Notices, p.Notices...)
	b.page.Wording = append(last.Wording, p.Wording...)
	b.page.Clashes = last.Clashes
	if last.Doubt != "" {
		b.page.Doubt = last.Doubt
	}
	b.parts++
	for _, it := range p.Items {
		b.item(it)
	}
}

// item adds an item, or a part to the one that it belongs to.
func (b *batch) item(it adapters.Item) {
	i, had := b.at[string(it.ID)]
	if len(it.ID) == 0 || !had {
		if len(it.ID) > 0 {
			b.at[string(it.ID)] = len(b.own)
		}
		b.own = append(b.own, it)
		return
	}
	raw, clashes := jsonscan.Merge(nil, b.own[i].Raw, it.Raw)
	b.own[i].Raw = raw
	if clashes > 0 {
		b.page.Clashes = append(b.page.Clashes, string(it.ID))
	}
}

// whole is the page that the batch makes.
func (b *batch) whole() adapters.Page {
	p := b.page
	p.Items = b.own
	p.Received = len(p.Items) + p.Nulls + p.Rejected
	return p
}
