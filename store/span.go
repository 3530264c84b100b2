package store

import (
	"cmp"
	"context"
	"database/sql"
	"math"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A Span says which part of a run's totals, events, slices, page sizes or children
// is wanted, by their numbers. Numbers are above 0, and what is added later has a
// higher one: what stands up to the End of one moment is the list of that moment.
// The zero value wants all.
type Span struct {
	After int64 // only what has a higher number
	UpTo  int64 // only what has this number or a lower one; 0: any
	Limit int   // 0: no limit
	Last  bool  // of what the limit leaves out, the first ones; of totals and events alone
}

// A Part is what a Span lets through, in order.
type Part[T any] struct {
	Items []Numbered[T]
	Total int64 // up to UpTo, wherever they stand
	End   int64 // the highest number up to UpTo; 0: there is nothing
}

// A Numbered is one of them with its number.
type Numbered[T any] struct {
	N    int64
	Item T
}

// bare are the items without their numbers.
func (p Part[T]) bare() []T {
	var all []T
	for _, n := range p.Items {
		all = append(all, n.Item)
	}
	return all
}

// A spanning is how a list that is numbered stands in the store. Its queries take the
// run, then the first and last number, then the limit.
type spanning[T any] struct {
	list, count string // count gives the number of rows up to ?2, and the highest number
	scan        func(*sql.Rows) (Numbered[T], error)
}

func readSpan[T any](ctx context.Context, r *Reader, q spanning[T], run string, s Span) (Part[T], error) {
	var p Part[T]
	tx, err := r.db.BeginTx(ctx, nil) // rows and count are of one moment
	if err != nil {
		return p, r.file.explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	upTo := cmp.Or(s.UpTo, math.MaxInt64-1)
	if err := tx.QueryRowContext(ctx, q.count, run, upTo).Scan(&p.Total, &p.End); err != nil {
		return p, r.file.explain(err)
	}
	after := s.After
	if s.Last && s.Limit > 0 {
		after = max(after, p.End-int64(s.Limit))
	}
	rows, err := tx.QueryContext(ctx, q.list, run, after, upTo, sqlLimit(s.Limit))
	if err == nil {
		p.Items, err = collect(rows, q.scan)
	}
	return p, r.file.explain(err)
}

// The numbers of totals and events count up without a gap: the highest is how
// many there are.

var totalSpan = spanning[reconcile.TotalSeen]{
	list: `SELECT n, seq, at, source, value, kind, live, held, remark, collapsed FROM totals
		WHERE run = ?1 AND n > ?2 AND n <= ?3 ORDER BY n LIMIT ?4`,
	count: `SELECT coalesce(max(n), 0), coalesce(max(n), 0) FROM totals WHERE run = ?1 AND n <= ?2`,
	scan: func(rows *sql.Rows) (t Numbered[reconcile.TotalSeen], err error) {
		var at, kind string
		err = rows.Scan(&t.N, &t.Item.Seq, &at, &t.Item.Source, &t.Item.Value, &kind, &t.Item.Live, &t.Item.Distinct, &t.Item.Remark, &t.Item.Collapsed)
		t.Item.At, t.Item.Kind = parseStamp(at), judge.TotalKind(kind)
		return t, err
	},
}

var eventSpan = spanning[reconcile.Event]{
	list:  `SELECT n, seq, at, kind, text FROM events WHERE run = ?1 AND n > ?2 AND n <= ?3 ORDER BY n LIMIT ?4`,
	count: `SELECT coalesce(max(n), 0), coalesce(max(n), 0) FROM events WHERE run = ?1 AND n <= ?2`,
	scan: func(rows *sql.Rows) (e Numbered[reconcile.Event], err error) {
		var at string
		err = rows.Scan(&e.N, &e.Item.Seq, &at, &e.Item.Kind, &e.Item.Text)
		e.Item.At = parseStamp(at)
		return e, err
	},
}

// Slices count from 0; their number in a span is one more.
var sliceSpan = spanning[reconcile.Slice]{
	list: `SELECT slice + 1, slice, parent, key, coalesce(range_from, ''), coalesce(range_to, ''), bounds,
		state, total, coalesce(total_kind, ''), items, remark FROM slices
		WHERE run = ?1 AND slice > ?2 - 1 AND slice <= ?3 - 1 ORDER BY slice LIMIT ?4`,
	count: `SELECT count(*), coalesce(max(slice) + 1, 0) FROM slices WHERE run = ?1 AND slice <= ?2 - 1`,
	scan: func(rows *sql.Rows) (n Numbered[reconcile.Slice], err error) {
		var kind string
		var parent, total sql.NullInt64
		s := &n.Item
		err = rows.Scan(&n.N, &s.Slice, &parent, &s.Key, &s.From, &s.To, &s.Bounds, &s.State, &total, &kind, &s.Items, &s.Remark)
		s.Parent, s.Total, s.TotalKind = count(parent), count(total), judge.TotalKind(kind)
		return n, err
	},
}

// A page size's number is that of the first attempt with it.
var sizeSpan = spanning[SizeStep]{
	list: `SELECT seq, slice, at, size_before, size, cause FROM page_sizes
		WHERE run = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4`,
	count: `SELECT count(*), coalesce(max(seq), 0) FROM size_steps WHERE run = ?1 AND seq <= ?2`,
	scan: func(rows *sql.Rows) (n Numbered[SizeStep], err error) {
		var at string
		var before, size sql.NullInt64
		s := &n.Item
		err = rows.Scan(&s.Seq, &s.Slice, &at, &before, &size, &s.Cause)
		n.N, s.At, s.Before, s.Size = s.Seq, parseStamp(at), count(before), count(size)
		return n, err
	},
}

var childSpan = spanning[Child]{
	list:  `SELECT n, value, coalesce(child, '') FROM children WHERE run = ?1 AND n > ?2 AND n <= ?3 ORDER BY n LIMIT ?4`,
	count: `SELECT count(*), coalesce(max(n), 0) FROM children WHERE run = ?1 AND n <= ?2`,
	scan: func(rows *sql.Rows) (n Numbered[Child], err error) {
		err = rows.Scan(&n.N, &n.Item.Value, &n.Item.Run)
		n.Item.N = int(n.N)
		return n, err
	},
}

// TotalsIn lists a part of the totals of a run, by its whole id, in the order in
// which they were seen.
func (r *Reader) TotalsIn(ctx context.Context, run string, s Span) (Part[reconcile.TotalSeen], error) {
	return readSpan(ctx, r, totalSpan, run, s)
}

// EventsIn lists a part of the events of a run, by its whole id, in order.
func (r *Reader) EventsIn(ctx context.Context, run string, s Span) (Part[reconcile.Event], error) {
	return readSpan(ctx, r, eventSpan, run, s)
}

// SlicesIn lists a part of the slices of a run, by its whole id. A slice's number in
// the span is one above its own.
func (r *Reader) SlicesIn(ctx context.Context, run string, s Span) (Part[reconcile.Slice], error) {
	return readSpan(ctx, r, sliceSpan, run, s)
}

// SizesIn lists a part of the page sizes of a run, by its whole id, over time. A
// step's number is that of its attempt.
func (r *Reader) SizesIn(ctx context.Context, run string, s Span) (Part[SizeStep], error) {
	return readSpan(ctx, r, sizeSpan, run, s)
}

// ChildrenIn lists a part of the values of a fan-out, by the whole id of its run.
func (r *Reader) ChildrenIn(ctx context.Context, run string, s Span) (Part[Child], error) {
	return readSpan(ctx, r, childSpan, run, s)
}

// VerdictCount says how many attempts of a run came to an outcome and got a verdict
// from the judge.
type VerdictCount struct {
	Outcome  reconcile.Outcome
	Verdict  judge.Verdict
	Attempts int64
	Retries  int64 // of them, not the first try at their page
}

const selectVerdicts = `SELECT outcome, verdict, count(*), sum(try > 1) FROM pages WHERE run = ? GROUP BY outcome, verdict ORDER BY outcome, verdict`

// Verdicts counts the attempts of a run, by its whole id. It reads all of them.
func (r *Reader) Verdicts(ctx context.Context, run string) ([]VerdictCount, error) {
	rows, err := r.db.QueryContext(ctx, selectVerdicts, run)
	if err != nil {
		return nil, r.file.explain(err)
	}
	all, err := collect(rows, func(rows *sql.Rows) (c VerdictCount, err error) {
		var outcome, verdict string
		if err = rows.Scan(&outcome, &verdict, &c.Attempts, &c.Retries); err != nil {
			return c, err
		}
		if c.Outcome, err = parseOutcome(outcome); err != nil {
			return c, err
		}
		return c, c.Verdict.UnmarshalText([]byte(verdict))
	})
	return all, r.file.explain(err)
}
