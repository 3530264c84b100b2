package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A Tally counts attempts by their outcome.
type Tally [reconcile.Unused + 1]int64

// A Cell stands for the attempts From to To of a run, both included.
type Cell struct {
	From, To int64
	By       Tally
}

// PageMap counts the attempts from and to of a run, by its whole id, in cells of equal
// width, the last one aside: at most so many cells, and at least one attempt a cell. From is
// at least 1; to 0, or beyond the last attempt, is the last attempt. A run without attempts,
// or none in that range, has no cells.
//
// What is no held page is counted by its index, and what is left is held: the numbers of
// attempts count up without a gap. So a million attempts cost what their failures cost.
func (r *Reader) PageMap(ctx context.Context, run string, from, to int64, cells int) ([]Cell, error) {
	counts, err := r.Counts(ctx, run)
	if err != nil {
		return nil, err
	}
	from = max(from, 1)
	if to <= 0 || to > counts.LastSeq {
		to = counts.LastSeq
	}
	if to < from || cells < 1 {
		return nil, nil
	}
	width := (to - from + int64(cells)) / int64(cells)
	list := make([]Cell, (to-from+width)/width)
	for i := range list {
		c := &list[i]
		c.From = from + int64(i)*width
		c.To = min(c.From+width-1, to)
		c.By[reconcile.Held] = c.To - c.From + 1
	}
	for o := range reconcile.Unused + 1 {
		if o == reconcile.Held || *counts.of(o) == 0 {
			continue
		}
		if err := r.countCells(ctx, list, run, o, to, width); err != nil {
			return nil, r.file.explain(err)
		}
	}
	return list, nil
}

const selectCells = `SELECT (seq - ?3) / ?5, count(*) FROM pages INDEXED BY pages_not_held
	WHERE run = ?1 AND outcome = ?2 AND outcome <> 'held' AND seq BETWEEN ?3 AND ?4 GROUP BY 1`

// countCells moves the attempts of one outcome from held to where they belong.
func (r *Reader) countCells(ctx context.Context, list []Cell, run string, o reconcile.Outcome, to, width int64) error {
	rows, err := r.db.QueryContext(ctx, selectCells, run, o.String(), list[0].From, to, width)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var cell, n int64
		if err := rows.Scan(&cell, &n); err != nil {
			return err
		}
		list[cell].By[o] += n
		list[cell].By[reconcile.Held] -= n
	}
	return rows.Err()
}

// A TotalStep sums up totals that were seen one after the other.
type TotalStep struct {
	reconcile.TotalSeen             // the last of them
	Min, Max            judge.Count // of those believed; not stated: none was
}

const selectTotalSteps = `WITH RECURSIVE step (first, last) AS (
		SELECT 1, min(?3, ?2) UNION ALL SELECT last + 1, min(last + ?3, ?2) FROM step WHERE last < ?2)
	SELECT t.seq, t.at, t.source, t.value, t.kind, t.live, t.held, t.remark, t.collapsed,
		coalesce((SELECT min(value) || ' ' || max(value) FROM totals
			WHERE run = ?1 AND n BETWEEN step.first AND step.last AND live AND source = ?4), '')
	FROM step JOIN totals AS t ON t.run = ?1 AND t.n = (
		SELECT n FROM totals WHERE run = ?1 AND n BETWEEN step.first AND step.last AND source = ?4 ORDER BY n DESC LIMIT 1)
	ORDER BY step.last`

// TotalSteps sums up the totals that one source stated over a run, by its whole id, in at most so many steps, in the order in
// which they were seen. It reads every total, so that a million take half a second.
func (r *Reader) TotalSteps(ctx context.Context, run, source string, steps int) ([]TotalStep, error) {
	var total int64
	err := r.db.QueryRowContext(ctx, `SELECT coalesce(max(n), 0) FROM totals WHERE run = ?`, run).Scan(&total)
	if err != nil || total == 0 || steps < 1 {
		return nil, r.file.explain(err)
	}
	width := (total + int64(steps) - 1) / int64(steps)
	rows, err := r.db.QueryContext(ctx, selectTotalSteps, run, total, width, source)
	if err != nil {
		return nil, r.file.explain(err)
	}
	all, err := collect(rows, func(rows *sql.Rows) (t TotalStep, err error) {
		var at, kind, band string
		err = rows.Scan(&t.Seq, &at, &t.Source, &t.Value, &kind, &t.Live, &t.Distinct, &t.Remark, &t.Collapsed, &band)
		t.At, t.Kind = parseStamp(at), judge.TotalKind(kind)
		if n, _ := fmt.Sscan(band, &t.Min.N, &t.Max.N); n == 2 {
			t.Min.OK, t.Max.OK = true, true
		}
		return t, err
	})
	return all, r.file.explain(err)
}

// A GrowthStep is how many distinct items a run held after an attempt.
type GrowthStep struct {
	Seq   int64
	At    time.Time // when that attempt was made
	Items int64
}

const selectGrowth = `WITH RECURSIVE step (first, last) AS (
		SELECT 1, min(?3, ?2) UNION ALL SELECT last + 1, min(last + ?3, ?2) FROM step WHERE last < ?2)
	SELECT p.seq, p.at, (SELECT coalesce(sum(new), 0) FROM pages WHERE run = ?1 AND seq BETWEEN step.first AND step.last AND outcome = 'held')
	FROM step JOIN pages AS p ON p.run = ?1 AND p.seq = step.last ORDER BY step.last`

// Growth tells how many distinct items a run held over time, by its whole id, in at most so many steps. It reads every
// attempt, so that a million take most of a second.
func (r *Reader) Growth(ctx context.Context, run string, steps int) ([]GrowthStep, error) {
	counts, err := r.Counts(ctx, run)
	if err != nil || counts.LastSeq == 0 || steps < 1 {
		return nil, err
	}
	width := (counts.LastSeq + int64(steps) - 1) / int64(steps)
	rows, err := r.db.QueryContext(ctx, selectGrowth, run, counts.LastSeq, width)
	if err != nil {
		return nil, r.file.explain(err)
	}
	held := int64(0)
	all, err := collect(rows, func(rows *sql.Rows) (g GrowthStep, err error) {
		var at string
		var items int64
		err = rows.Scan(&g.Seq, &at, &items)
		held += items
		g.At, g.Items = parseStamp(at), held
		return g, err
	})
	return all, r.file.explain(err)
}
