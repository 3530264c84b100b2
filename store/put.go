package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A bulk inserts rows, several with a statement as long as there are so many:
// that costs a quarter less a row than one each.
type bulk struct{ one, many *sql.Stmt }

// bulkRows is how many rows the statement for many has.
const bulkRows = 25

// repeated is the text of many rows.
func repeated(row string) string { return strings.Repeat(row+", ", bulkRows-1) + row }

// insert inserts n rows within tx; row appends the values of the i-th.
func (b bulk) insert(ctx context.Context, tx *sql.Tx, n int, row func(values []any, i int) []any) error {
	var values []any
	for at := 0; at < n; {
		stmt, rows := b.one, 1
		if n-at >= bulkRows {
			stmt, rows = b.many, bulkRows
		}
		values = values[:0]
		for i := at; i < at+rows; i++ {
			values = row(values, i)
		}
		if _, err := tx.StmtContext(ctx, stmt).ExecContext(ctx, values...); err != nil {
			return err
		}
		at += rows
	}
	return nil
}

// The rows that each page brings; the columns stand in the order of their tables.
const (
	insertPage = `INSERT INTO pages (run, seq, at, slice, pass, page, try, position, row_offset, url, size_asked, items, new,
		repeated, nulls, status, bytes_read, bytes_expected, total, total_kind, more, outcome, verdict, rules, duration_ms,
		action, cause) VALUES `
	pageRow     = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertTotal = `INSERT INTO totals (run, n, seq, at, source, value, kind, live, held, remark, collapsed) VALUES `
	totalRow    = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// prepare makes the statements of a commit.
func (p *statements) prepare(ctx context.Context, db *sql.DB) error {
	for _, s := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&p.page.one, insertPage + pageRow},
		{&p.page.many, insertPage + repeated(pageRow)},
		{&p.keys, `INSERT INTO page_keys (run, seq, keys) VALUES (?, ?, ?)`},
		{&p.total.one, insertTotal + totalRow},
		{&p.total.many, insertTotal + repeated(totalRow)},
		{&p.event, `INSERT INTO events (run, n, seq, at, kind, text) VALUES (?, ?, ?, ?, ?, ?)`},
		{&p.slice, `INSERT OR REPLACE INTO slices (run, slice, parent, key, range_from, range_to, bounds, state, total,
			total_kind, items, remark) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&p.child, `INSERT OR REPLACE INTO children (run, n, value, child) VALUES (?, ?, ?, ?)`},
		{&p.size, `INSERT INTO size_steps (run, seq, slice, size) VALUES (?, ?, ?, ?)`},
		{&p.drift, `INSERT INTO total_drift (run, source, first, last, kind, min, max, seen, moved, not_believed, collapsed)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run, source) DO UPDATE SET first = coalesce(first, excluded.first), last = coalesce(excluded.last, last),
			kind = coalesce(excluded.kind, kind), min = min(coalesce(min, excluded.min), coalesce(excluded.min, min)),
			max = max(coalesce(max, excluded.max), coalesce(excluded.max, max)), seen = seen + excluded.seen,
			moved = moved + excluded.moved + coalesce(last <> excluded.first, 0),
			not_believed = not_believed + excluded.not_believed, collapsed = collapsed + excluded.collapsed`},
		{&p.checkpoint, `INSERT INTO checkpoints (run, at, seq, attempts, length, items, state, held, half, partial, limited, refused,
			unused, failed, received, new, repeated, nulls, bytes, passes, keys)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run) DO UPDATE SET at = excluded.at, seq = max(seq, excluded.seq),
			attempts = attempts + excluded.attempts, length = excluded.length, items = excluded.items, state = excluded.state,
			held = held + excluded.held, half = half + excluded.half, partial = partial + excluded.partial,
			limited = limited + excluded.limited, refused = refused + excluded.refused, unused = unused + excluded.unused, failed = failed + excluded.failed,
			received = received + excluded.received, new = new + excluded.new, repeated = repeated + excluded.repeated,
			nulls = nulls + excluded.nulls, bytes = bytes + excluded.bytes, passes = max(passes, excluded.passes),
			keys = keys + excluded.keys`},
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
func (r *Run) put(ctx context.Context, tx *sql.Tx, c Checkpoint, steps []sizeStep) error {
	p, now := &r.store.put, stamp(time.Now())
	n, keys := countAttempts(c.Attempts)
	done, err := tx.StmtContext(ctx, p.touch).ExecContext(ctx, c.Items, n.Held, n.Attempts, now, r.id, r.token)
	if err := r.mine(done, err); err != nil {
		return err
	}
	_, err = tx.StmtContext(ctx, p.checkpoint).ExecContext(ctx, r.id, now, n.LastSeq, n.Attempts, c.Length, c.Items, string(c.State),
		n.Held, n.Half, n.Partial, n.Limited, n.Refused, n.Unused, n.Failed, n.Items, n.New, n.Repeated, n.Nulls, n.Bytes, n.Passes, keys)
	if err != nil {
		return err
	}
	if err := r.putPages(ctx, tx, c.Attempts); err != nil {
		return err
	}
	if err := r.putKeys(ctx, tx.StmtContext(ctx, p.keys), c.Attempts); err != nil {
		return err
	}
	if err := r.putSizes(ctx, tx.StmtContext(ctx, p.size), steps); err != nil {
		return err
	}
	if err := r.putTotals(ctx, tx, c.Totals); err != nil {
		return err
	}
	if err := r.putDrifts(ctx, tx.StmtContext(ctx, p.drift), c.Totals); err != nil {
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

// countAttempts adds attempts up, and says how many keys they have.
func countAttempts(attempts []reconcile.Attempt) (c Counts, keys int) {
	for i := range attempts {
		a := &attempts[i]
		c.LastSeq, c.Passes = max(c.LastSeq, a.Seq), max(c.Passes, a.Pass)
		c.Attempts++
		c.Bytes += a.BytesRead
		keys += len(a.Keys) / keySize
		*c.of(a.Outcome)++
		if a.Outcome == reconcile.Held {
			c.Items += int64(a.Items)
			c.New += int64(a.New)
			c.Repeated += int64(a.Repeated)
			c.Nulls += int64(a.Nulls)
		}
	}
	return c, keys
}

func (r *Run) putPages(ctx context.Context, tx *sql.Tx, attempts []reconcile.Attempt) error {
	return r.store.put.page.insert(ctx, tx, len(attempts), func(values []any, i int) []any {
		a := &attempts[i]
		return append(values, r.id, a.Seq, stamp(a.Started), int64(a.Slice), int64(a.Pass), int64(a.Page), int64(a.Try), a.Position,
			a.Offset, a.URL, nullZero(a.SizeAsked), int64(a.Items), int64(a.New), int64(a.Repeated), int64(a.Nulls), nullZero(a.Status),
			a.BytesRead, nullCount(a.BytesExpected), nullCount(a.Total), nullText(string(a.TotalKind)), a.More, a.Outcome.String(),
			a.Verdict.String(), rulesText(a.Rules), millis(a.Duration), string(a.Action), a.Cause)
	})
}

// keysRow is how many bytes of keys a row of page_keys has at least, where
// there are so many. A row for each attempt would cost more than its page.
const keysRow = 128 << 10

func (r *Run) putKeys(ctx context.Context, stmt *sql.Stmt, attempts []reconcile.Attempt) error {
	r.keys = r.keys[:0]
	for i := range attempts {
		a := &attempts[i]
		r.keys = append(r.keys, a.Keys...)
		if len(r.keys) == 0 || len(r.keys) < keysRow && i < len(attempts)-1 {
			continue
		}
		if _, err := stmt.ExecContext(ctx, r.id, a.Seq, r.keys); err != nil {
			return err
		}
		r.keys = r.keys[:0]
	}
	return nil
}

// A sizeStep is an attempt whose page size is another than that of the attempt
// before in its slice.
type sizeStep struct {
	seq         int64
	slice, size int // size 0: none asked for
}

// sizeSteps finds the steps of attempts that follow what is stored.
func (r *Run) sizeSteps(attempts []reconcile.Attempt) []sizeStep {
	var steps []sizeStep
	now := map[int]int{}
	for i := range attempts {
		a := &attempts[i]
		size, ok := now[a.Slice]
		if !ok {
			size = r.sizes[a.Slice]
		}
		if size != a.SizeAsked {
			steps = append(steps, sizeStep{a.Seq, a.Slice, a.SizeAsked})
			now[a.Slice] = a.SizeAsked
		}
	}
	return steps
}

func (r *Run) putSizes(ctx context.Context, stmt *sql.Stmt, steps []sizeStep) error {
	for _, s := range steps {
		if _, err := stmt.ExecContext(ctx, r.id, s.seq, s.slice, nullZero(s.size)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) putTotals(ctx context.Context, tx *sql.Tx, totals []reconcile.TotalSeen) error {
	return r.store.put.total.insert(ctx, tx, len(totals), func(values []any, i int) []any {
		t := &totals[i]
		return append(values, r.id, r.totals+int64(i)+1, t.Seq, stamp(t.At), t.Source, t.Value, string(t.Kind), t.Live, t.Distinct,
			t.Remark, t.Collapsed)
	})
}

// putDrifts adds totals to what is known of their sources.
func (r *Run) putDrifts(ctx context.Context, stmt *sql.Stmt, totals []reconcile.TotalSeen) error {
	for _, d := range driftsOf(totals) {
		_, err := stmt.ExecContext(ctx, r.id, d.Source, nullCount(d.First), nullCount(d.Last), nullText(string(d.Kind)), nullCount(d.Min),
			nullCount(d.Max), d.Seen, d.Moved, d.NotBelieved, d.Collapsed)
		if err != nil {
			return err
		}
	}
	return nil
}

// driftsOf says how each source of totals moved within a checkpoint.
func driftsOf(totals []reconcile.TotalSeen) []Drift {
	var all []Drift
	for _, t := range totals {
		i := slices.IndexFunc(all, func(d Drift) bool { return d.Source == t.Source })
		if i < 0 {
			i = len(all)
			all = append(all, Drift{Source: t.Source})
		}
		all[i].see(t)
	}
	return all
}

func (d *Drift) see(t reconcile.TotalSeen) {
	if t.Collapsed {
		d.Collapsed++
	}
	if !t.Live {
		d.NotBelieved++
		return
	}
	v := judge.N(t.Value)
	if d.Seen == 0 {
		d.First, d.Min, d.Max = v, v, v
	} else if v != d.Last {
		d.Moved++
	}
	d.Seen++
	d.Last, d.Kind = v, t.Kind
	d.Min.N, d.Max.N = min(d.Min.N, v.N), max(d.Max.N, v.N)
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

func (r *Run) putSlices(ctx context.Context, stmt *sql.Stmt, changed []reconcile.Slice) error {
	for _, s := range changed {
		_, err := stmt.ExecContext(ctx, r.id, s.Slice, nullCount(s.Parent), s.Key, nullText(s.From), nullText(s.To), s.Bounds,
			s.State, nullCount(s.Total), nullText(string(s.TotalKind)), s.Items, s.Remark)
		if err != nil {
			return err
		}
	}
	return nil
}

// rulesText is a list of rules as JSON, as json.Marshal writes it but for
// needless escapes: it is made for every page.
func rulesText(rules []judge.Rule) string {
	if len(rules) == 0 {
		return "[]"
	}
	b := []byte("[")
	for i, r := range rules {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(append(b, `{"id":`...), r.ID)
		b = appendJSON(append(b, `,"layer":`...), r.Layer)
		b = appendJSON(append(b, `,"verdict":`...), r.Verdict.String())
		b = append(appendJSON(append(b, `,"evidence":`...), r.Evidence), '}')
	}
	return string(append(b, ']'))
}

// appendJSON appends a text as a JSON string.
func appendJSON(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // of a string it cannot fail
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
