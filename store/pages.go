package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// PageFilter says which attempts of a run are wanted. The zero value wants
// all.
type PageFilter struct {
	After   int64  // only attempts with a higher Seq
	UpTo    int64  // only attempts with this Seq or a lower one; 0: any
	Limit   int    // 0: no limit
	Outcome string // "": any; else an outcome's name
}

// Pages lists attempts of a run, by its whole id, in the order of requests,
// without their Keys. To go on, ask After the last Seq.
func (r *Reader) Pages(ctx context.Context, run string, f PageFilter) ([]reconcile.Attempt, error) {
	query, args := f.query(run)
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, r.file.explain(err)
	}
	all, err := collect(rows, scanPage)
	return all, r.file.explain(err)
}

func (f PageFilter) query(run string) (string, []any) {
	where, args := f.where(run)
	where, args = where+` AND seq > ?`, append(args, f.After)
	if f.UpTo != 0 {
		where, args = where+` AND seq <= ?`, append(args, f.UpTo)
	}
	return selectPage + where + ` ORDER BY seq LIMIT ?`, append(args, sqlLimit(f.Limit))
}

// CountPages counts the attempts of a run, by its whole id, that a filter lets
// through: total by Outcome and UpTo, rest after After too. Attempts are only
// added, with higher numbers: up to the last one of a moment the total is that of
// this moment for ever.
func (r *Reader) CountPages(ctx context.Context, run string, f PageFilter) (total, rest int64, err error) {
	tx, err := r.db.BeginTx(ctx, nil) // the counts and the rows are of one moment
	if err != nil {
		return 0, 0, r.file.explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	total, rest, err = f.counts(ctx, tx, run)
	return total, rest, r.file.explain(err)
}

func (f PageFilter) counts(ctx context.Context, tx *sql.Tx, run string) (total, rest int64, err error) {
	counts, err := readCounts(ctx, tx, run)
	if err != nil {
		return 0, 0, err
	}
	total = counts.Attempts
	if f.Outcome != "" {
		o, err := parseOutcome(f.Outcome)
		if err != nil {
			return 0, 0, err
		}
		total = *counts.of(o)
	}
	upTo := counts.LastSeq
	if f.UpTo != 0 && f.UpTo < upTo {
		upTo = f.UpTo
		beyond, err := f.countSide(ctx, tx, run, ">", f.UpTo)
		if err != nil {
			return 0, 0, err
		}
		total -= beyond
	}
	if f.After <= 0 || total == 0 {
		return total, total, nil
	}
	if f.After >= upTo {
		return total, 0, nil
	}
	if upTo == counts.LastSeq && f.After > upTo/2 { // the shorter way is counted
		rest, err = f.countSide(ctx, tx, run, ">", f.After)
		return total, rest, err
	}
	before, err := f.countSide(ctx, tx, run, "<=", f.After)
	return total, total - before, err
}

func (f PageFilter) countSide(ctx context.Context, tx *sql.Tx, run, side string, at int64) (n int64, err error) {
	query, args := f.count(run, side, at)
	err = tx.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// count counts what Outcome lets through on one side of an attempt. Held attempts are
// in no index of their own, the others are: they are what is left without those.
func (f PageFilter) count(run, side string, at int64) (string, []any) {
	if f.Outcome == reconcile.Held.String() {
		return `SELECT (SELECT count(*) FROM pages WHERE run = ?1 AND seq ` + side + ` ?2)
			- (SELECT count(*) FROM pages INDEXED BY pages_not_held WHERE run = ?1 AND outcome IN (` + notHeld + `)
				AND seq ` + side + ` ?2 AND outcome <> 'held')`,
			[]any{run, at}
	}
	where, args := f.where(run)
	return `SELECT count(*) FROM pages` + where + ` AND seq ` + side + ` ?`, append(args, at)
}

// notHeld lists the outcomes but held, for SQL: one by one they let the index find the
// numbers.
var notHeld = func() string {
	var words []string
	for o := reconcile.Failed; !strings.HasPrefix(o.String(), "outcome("); o++ { // those that have a name
		if o != reconcile.Held {
			words = append(words, "'"+o.String()+"'")
		}
	}
	return strings.Join(words, ", ")
}()

// where is the condition for a run and an outcome. The words outcome <> 'held'
// let SQLite use the small index of the attempts that did not hold a page.
func (f PageFilter) where(run string) (string, []any) {
	switch f.Outcome {
	case "":
		return ` WHERE run = ?`, []any{run}
	case reconcile.Held.String():
		return ` WHERE run = ? AND outcome = 'held'`, []any{run}
	}
	return ` WHERE run = ? AND outcome = ? AND outcome <> 'held'`, []any{run, f.Outcome}
}

const selectPage = `SELECT seq, at, slice, pass, page, try, position, row_offset, url, size_asked, items, new, repeated, nulls,
	status, bytes_read, bytes_expected, total, total_kind, more, outcome, verdict, rules, duration_ms, action, cause FROM pages`

func scanPage(rows *sql.Rows) (reconcile.Attempt, error) {
	var a reconcile.Attempt
	var at, outcome, verdict, action string
	var kind sql.NullString
	var rules []byte
	var size, status, expected, total sql.NullInt64
	var ms float64
	err := rows.Scan(&a.Seq, &at, &a.Slice, &a.Pass, &a.Page, &a.Try, &a.Position, &a.Offset, &a.URL, &size, &a.Items, &a.New,
		&a.Repeated, &a.Nulls, &status, &a.BytesRead, &expected, &total, &kind, &a.More, &outcome, &verdict, &rules, &ms,
		&action, &a.Cause)
	if err != nil {
		return a, err
	}
	a.Started, a.Duration = parseStamp(at), parseMillis(ms)
	a.SizeAsked, a.Status = int(size.Int64), int(status.Int64)
	a.BytesExpected, a.Total = count(expected), count(total)
	a.TotalKind, a.Action = judge.TotalKind(kind.String), judge.Action(action)
	if a.Outcome, err = parseOutcome(outcome); err != nil {
		return a, err
	}
	if err := a.Verdict.UnmarshalText([]byte(verdict)); err != nil {
		return a, err
	}
	if string(rules) == "[]" {
		return a, nil
	}
	return a, json.Unmarshal(rules, &a.Rules)
}

// A TotalList is the end of a run's totals, in the order in which they were
// seen.
type TotalList struct {
	Totals []reconcile.TotalSeen
	Total  int64 // seen in all
}

// Totals lists the last totals of a run, by its whole id; limit 0: all.
func (r *Reader) Totals(ctx context.Context, run string, limit int) (TotalList, error) {
	part, err := r.TotalsIn(ctx, run, Span{Limit: limit, Last: true})
	return TotalList{Totals: part.bare(), Total: part.Total}, err
}

// A Drift is how the totals of one source moved over a run. What is about
// values counts those that were believed.
type Drift struct {
	Source      string
	Kind        judge.TotalKind // of the last
	First, Last judge.Count     // not stated: none was believed
	Min, Max    judge.Count
	Seen        int64 // believed
	Moved       int64 // how often the next one was another
	NotBelieved int64
	Collapsed   int64 // of those not believed
}

const selectDrifts = `SELECT source, coalesce(kind, ''), first, last, min, max, seen, moved, not_believed, collapsed
	FROM total_drift WHERE run = ? ORDER BY seen DESC, source`

// Drifts lists how the totals of a run moved, by its whole id: one entry a
// source, those most seen first.
func (r *Reader) Drifts(ctx context.Context, run string) ([]Drift, error) {
	rows, err := r.db.QueryContext(ctx, selectDrifts, run)
	if err != nil {
		return nil, r.file.explain(err)
	}
	all, err := collect(rows, func(rows *sql.Rows) (Drift, error) {
		var d Drift
		var kind string
		var first, last, least, most sql.NullInt64
		err := rows.Scan(&d.Source, &kind, &first, &last, &least, &most, &d.Seen, &d.Moved, &d.NotBelieved, &d.Collapsed)
		d.Kind, d.First, d.Last, d.Min, d.Max = judge.TotalKind(kind), count(first), count(last), count(least), count(most)
		return d, err
	})
	return all, r.file.explain(err)
}

// An EventList is the end of a run's events, in order.
type EventList struct {
	Events []reconcile.Event
	Total  int64 // in all
}

// Events lists the last events of a run, by its whole id; limit 0: all.
func (r *Reader) Events(ctx context.Context, run string, limit int) (EventList, error) {
	part, err := r.EventsIn(ctx, run, Span{Limit: limit, Last: true})
	return EventList{Events: part.bare(), Total: part.Total}, err
}

// A SizeStep is a change of the page size, or the first size of a slice.
type SizeStep struct {
	Slice  int
	Seq    int64 // the first attempt with the size
	At     time.Time
	Before judge.Count // not stated: the start
	Size   judge.Count // not stated: no size was asked for any more
	Cause  string      // of the change, from the attempt before
}

// PageSizes lists the page sizes of a run, by its whole id, over time.
func (r *Reader) PageSizes(ctx context.Context, run string) ([]SizeStep, error) {
	part, err := r.SizesIn(ctx, run, Span{})
	return part.bare(), err
}

// Slices lists the slices of a run, by its whole id; a plain run has none.
func (r *Reader) Slices(ctx context.Context, run string) ([]reconcile.Slice, error) {
	part, err := r.SlicesIn(ctx, run, Span{})
	return part.bare(), err
}
