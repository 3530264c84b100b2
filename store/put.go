package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// prepare makes the statements of a commit.
func (p *statements) prepare(ctx context.Context, db *sql.DB) error {
	for _, s := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&p.page, `INSERT INTO pages (run, seq, at, slice, pass, page, try, position, row_offset, url, size_asked,
			items, new, repeated, nulls, status, bytes_read, bytes_expected, total, total_kind, more, outcome, verdict,
			rules, duration_ms, action, cause)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&p.keys, `INSERT INTO page_keys (run, seq, keys) VALUES (?, ?, ?)`},
		{&p.total, `INSERT INTO totals (run, n, seq, at, source, value, kind, live, held, remark, collapsed)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&p.event, `INSERT INTO events (run, n, seq, at, kind, text) VALUES (?, ?, ?, ?, ?, ?)`},
		{&p.slice, `INSERT OR REPLACE INTO slices (run, slice, parent, key, range_from, range_to, bounds, state, total,
			total_kind, items, remark) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&p.child, `INSERT OR REPLACE INTO children (run, n, value, child) VALUES (?, ?, ?, ?)`},
		{&p.checkpoint, `INSERT INTO checkpoints (run, at, seq, attempts, length, items, state) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run) DO UPDATE SET at = excluded.at, seq = max(seq, excluded.seq),
			attempts = attempts + excluded.attempts, length = excluded.length, items = excluded.items, state = excluded.state`},
		{&p.touch, `UPDATE runs SET items = ?, pages = pages + ?, attempts = attempts + ?, updated = ?
			WHERE run = ? AND holder_token = ?`},
	} {
		stmt, err := db.PrepareContext(ctx, s.text)
		if err != nil {
			return err
		}
		*s.to = stmt
	}
	return nil
}

// put writes a checkpoint within tx. The run's own row goes first: it says
// whether the run is still ours.
func (r *Run) put(ctx context.Context, tx *sql.Tx, c Checkpoint) error {
	p, now := &r.store.put, stamp(time.Now())
	last, held := int64(0), 0
	for _, a := range c.Attempts {
		last = max(last, a.Seq)
		if a.Outcome == reconcile.Held {
			held++
		}
	}
	done, err := tx.StmtContext(ctx, p.touch).ExecContext(ctx, c.Items, held, len(c.Attempts), now, r.id, r.token)
	if err := r.mine(done, err); err != nil {
		return err
	}
	_, err = tx.StmtContext(ctx, p.checkpoint).ExecContext(ctx, r.id, now, last, len(c.Attempts), c.Length, c.Items, string(c.State))
	if err != nil {
		return err
	}
	if err := r.putPages(ctx, tx.StmtContext(ctx, p.page), tx.StmtContext(ctx, p.keys), c.Attempts); err != nil {
		return err
	}
	if err := r.putTotals(ctx, tx.StmtContext(ctx, p.total), c.Totals); err != nil {
		return err
	}
	if err := r.putEvents(ctx, tx.StmtContext(ctx, p.event), c.Events); err != nil {
		return err
	}
	if err := r.putChildren(ctx, tx.StmtContext(ctx, p.child), c.Children); err != nil {
		return err
	}
	return r.putSlices(ctx, tx.StmtContext(ctx, p.slice), c.Slices)
}

func (r *Run) putPages(ctx context.Context, page, keys *sql.Stmt, attempts []reconcile.Attempt) error {
	for i := range attempts {
		a := &attempts[i]
		rules, err := rulesText(a.Rules)
		if err != nil {
			return err
		}
		_, err = page.ExecContext(ctx, r.id, a.Seq, stamp(a.Started), a.Slice, a.Pass, a.Page, a.Try, a.Position, a.Offset,
			a.URL, nullZero(a.SizeAsked), a.Items, a.New, a.Repeated, a.Nulls, nullZero(a.Status), a.BytesRead,
			nullCount(a.BytesExpected), nullCount(a.Total), nullText(string(a.TotalKind)), a.More, a.Outcome.String(),
			a.Verdict.String(), rules, millis(a.Duration), string(a.Action), a.Cause)
		if err == nil && len(a.Keys) > 0 {
			_, err = keys.ExecContext(ctx, r.id, a.Seq, a.Keys)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) putTotals(ctx context.Context, stmt *sql.Stmt, totals []reconcile.TotalSeen) error {
	for i, t := range totals {
		_, err := stmt.ExecContext(ctx, r.id, r.totals+int64(i)+1, t.Seq, stamp(t.At), t.Source, t.Value, string(t.Kind),
			t.Live, t.Distinct, t.Remark, t.Collapsed)
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) putEvents(ctx context.Context, stmt *sql.Stmt, events []reconcile.Event) error {
	for i, e := range events {
		_, err := stmt.ExecContext(ctx, r.id, r.events+int64(i)+1, e.Seq, stamp(e.At), e.Kind, e.Text)
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) putSlices(ctx context.Context, stmt *sql.Stmt, slices []reconcile.Slice) error {
	for _, s := range slices {
		_, err := stmt.ExecContext(ctx, r.id, s.Slice, nullCount(s.Parent), s.Key, nullText(s.From), nullText(s.To), s.Bounds,
			s.State, nullCount(s.Total), nullText(string(s.TotalKind)), s.Items, s.Remark)
		if err != nil {
			return err
		}
	}
	return nil
}

// rulesText is a list of rules as JSON; none is the empty list.
func rulesText(rules []judge.Rule) (string, error) {
	if len(rules) == 0 {
		return "[]", nil
	}
	b, err := json.Marshal(rules)
	return string(b), err
}
