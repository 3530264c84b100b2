package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"lastdrop/judge/reconcile"
)

// A Resume is where a run goes on: what its last checkpoint holds. For a run
// that has none (a new one, or one that died before the first) everything is
// empty, and the walk begins at its start with an empty sink.
type Resume struct {
	State  []byte // nil without a checkpoint
	Length int64  // cut the sink back to this
	Items  int64  // in the sink at that length
	Counts Counts
	// Keys yields the identity hashes of all new items of the run, 16 bytes
	// each, in the order of attempts: those of one or of several attempts a
	// call. The slice is the callee's for the time of the call. It stops at the
	// first error of yield, and returns it. Keys that are not as many as the
	// checkpoint knows are ErrCorrupt, after the last call: going on without
	// them would double items.
	Keys func(yield func(keys []byte) error) error
}

// Counts adds up the attempts of a run.
type Counts struct {
	LastSeq  int64 // the highest Seq; 0: none
	Attempts int64
	Held     int64
	Half     int64
	Partial  int64
	Limited  int64
	Refused  int64
	Unused   int64
	Failed   int64
	Items    int64 // received, in held pages
	New      int64 // in held pages
	Repeated int64 // in held pages
	Nulls    int64 // in held pages
	Bytes    int64 // of bodies, on the wire, in all attempts
	Passes   int   // the highest pass
}

// Resume reads where the run goes on. It checks that the checkpoint and the
// rows of attempts agree, and is ErrCorrupt where they do not.
func (r *Run) Resume(ctx context.Context) (Resume, error) {
	s := r.store.Reader
	tx, err := s.db.BeginTx(ctx, nil) // all is read as of one moment
	if err != nil {
		return Resume{}, s.file.explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	p, rows, keys := Resume{}, Counts{}, int64(0)
	if p.Counts, err = readCounts(ctx, tx, r.id); err != nil {
		return Resume{}, s.file.explain(err)
	}
	if err := tx.QueryRowContext(ctx, countPages, r.id).Scan(rows.columns()...); err != nil {
		return Resume{}, s.file.explain(err)
	}
	if rows != p.Counts {
		return Resume{}, s.damaged("the checkpoint of run %s knows %+v, and its attempts are %+v", r.id, p.Counts, rows)
	}
	err = tx.QueryRowContext(ctx, `SELECT length, items, state, keys FROM checkpoints WHERE run = ?`, r.id).
		Scan(&p.Length, &p.Items, &p.State, &keys)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Resume{}, s.file.explain(err)
	}
	p.Keys = func(yield func([]byte) error) error { return s.keys(ctx, r.id, keys, yield) }
	return p, nil
}

// damaged is an ErrCorrupt about the meaning of rows.
func (r *Reader) damaged(format string, args ...any) error {
	text := fmt.Sprintf(format, args...) + ": it cannot go on; start anew with --fresh"
	return &fault{r.file.path, ErrCorrupt, text, nil}
}

// Counts adds up the attempts of a run, by its whole id, as of its last
// checkpoint.
func (r *Reader) Counts(ctx context.Context, run string) (Counts, error) {
	c, err := readCounts(ctx, r.db, run)
	return c, r.file.explain(err)
}

// A queryer is a database or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readCounts reads the counts that stand in the checkpoint of a run.
func readCounts(ctx context.Context, q queryer, run string) (c Counts, err error) {
	err = q.QueryRowContext(ctx, selectCounts, run).Scan(c.columns()...)
	if errors.Is(err, sql.ErrNoRows) {
		return Counts{}, nil
	}
	return c, err
}

// selectCounts is in the order of columns.
const selectCounts = `SELECT seq, attempts, held, half, partial, limited, refused, unused, failed, received, new, repeated, nulls, bytes, passes
	FROM checkpoints WHERE run = ?`

// countPages counts the attempts of a run together, in the order of columns.
const countPages = `SELECT coalesce(max(seq), 0), count(*),
	count(*) FILTER (WHERE outcome = 'held'), count(*) FILTER (WHERE outcome = 'half'),
	count(*) FILTER (WHERE outcome = 'partial'), count(*) FILTER (WHERE outcome = 'limited'),
	count(*) FILTER (WHERE outcome = 'refused'), count(*) FILTER (WHERE outcome = 'unused'),
	count(*) FILTER (WHERE outcome = 'failed'),
	coalesce(sum(items) FILTER (WHERE outcome = 'held'), 0), coalesce(sum(new) FILTER (WHERE outcome = 'held'), 0),
	coalesce(sum(repeated) FILTER (WHERE outcome = 'held'), 0), coalesce(sum(nulls) FILTER (WHERE outcome = 'held'), 0),
	coalesce(sum(bytes_read), 0), coalesce(max(pass), 0)
	FROM pages WHERE run = ?`

func (c *Counts) columns() []any {
	return []any{&c.LastSeq, &c.Attempts, &c.Held, &c.Half, &c.Partial, &c.Limited, &c.Refused, &c.Unused, &c.Failed,
		&c.Items, &c.New, &c.Repeated, &c.Nulls, &c.Bytes, &c.Passes}
}

// of is the number of attempts with an outcome.
func (c *Counts) of(o reconcile.Outcome) *int64 {
	switch o {
	case reconcile.Held:
		return &c.Held
	case reconcile.Half:
		return &c.Half
	case reconcile.Partial:
		return &c.Partial
	case reconcile.Limited:
		return &c.Limited
	case reconcile.Refused:
		return &c.Refused
	case reconcile.Unused:
		return &c.Unused
	}
	return &c.Failed
}

const selectKeys = `SELECT keys FROM page_keys WHERE run = ? ORDER BY seq`

// keys yields the keys of a run, of which there are to be so many.
func (r *Reader) keys(ctx context.Context, run string, want int64, yield func([]byte) error) error {
	rows, err := r.db.QueryContext(ctx, selectKeys, run)
	if err != nil {
		return r.file.explain(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	got := int64(0)
	for rows.Next() {
		var keys sql.RawBytes
		if err := rows.Scan(&keys); err != nil {
			return r.file.explain(err)
		}
		if len(keys)%keySize != 0 {
			return r.damaged("run %s has %d bytes of keys in a row, no multiple of %d", run, len(keys), keySize)
		}
		got += int64(len(keys) / keySize)
		if err := yield(keys); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return r.file.explain(err)
	}
	if got != want {
		return r.damaged("run %s has the keys of %d items, and its checkpoint knows %d", run, got, want)
	}
	return nil
}

// readSizes reads the page size of each slice's last attempt.
func (r *Run) readSizes(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `SELECT slice, coalesce(size, 0) FROM size_steps WHERE run = ? ORDER BY seq`, r.id)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var slice, size int
		if err := rows.Scan(&slice, &size); err != nil {
			return err
		}
		r.sizes[slice] = size
	}
	return rows.Err()
}
