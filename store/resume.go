package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	// each, in the order of attempts: one call an attempt that has any. The
	// slice is the callee's to keep. It stops at the first error of yield, and
	// returns it. A page whose keys are not there, or are not as many as its
	// new items, is ErrCorrupt: going on without them would double items.
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
	tx, err := s.db.BeginTx(ctx, nil) // both reads are of one moment
	if err != nil {
		return Resume{}, s.file.explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	counts, err := readCounts(ctx, tx, r.id)
	if err != nil {
		return Resume{}, s.file.explain(err)
	}
	p := Resume{Counts: counts}
	var seq, attempts int64
	err = tx.QueryRowContext(ctx, `SELECT seq, attempts, length, items, state FROM checkpoints WHERE run = ?`, r.id).
		Scan(&seq, &attempts, &p.Length, &p.Items, &p.State)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Resume{}, s.file.explain(err)
	}
	if seq != counts.LastSeq || attempts != counts.Attempts {
		return Resume{}, s.damaged("the checkpoint of run %s knows %d attempts up to %d, but there are %d up to %d",
			r.id, attempts, seq, counts.Attempts, counts.LastSeq)
	}
	p.Keys = func(yield func([]byte) error) error { return s.keys(ctx, r.id, yield) }
	return p, nil
}

// damaged is an ErrCorrupt about the meaning of rows.
func (r *Reader) damaged(format string, args ...any) error {
	text := fmt.Sprintf(format, args...) + ": it cannot go on; start anew with --fresh"
	return &fault{r.file.path, ErrCorrupt, text, nil}
}

// Counts adds up the attempts of a run, by its whole id.
func (r *Reader) Counts(ctx context.Context, run string) (Counts, error) {
	c, err := readCounts(ctx, r.db, run)
	return c, r.file.explain(err)
}

// A queryer is a database or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readCounts(ctx context.Context, q queryer, run string) (Counts, error) {
	var c Counts
	err := q.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0), count(*),
		count(*) FILTER (WHERE outcome = 'held'), count(*) FILTER (WHERE outcome = 'half'),
		count(*) FILTER (WHERE outcome = 'partial'), count(*) FILTER (WHERE outcome = 'limited'),
		count(*) FILTER (WHERE outcome = 'refused'), count(*) FILTER (WHERE outcome = 'failed'),
		coalesce(sum(items) FILTER (WHERE outcome = 'held'), 0), coalesce(sum(new) FILTER (WHERE outcome = 'held'), 0),
		coalesce(sum(repeated) FILTER (WHERE outcome = 'held'), 0), coalesce(sum(nulls) FILTER (WHERE outcome = 'held'), 0),
		coalesce(sum(bytes_read), 0), coalesce(max(pass), 0)
		FROM pages WHERE run = ?`, run).Scan(&c.LastSeq, &c.Attempts,
		&c.Held, &c.Half, &c.Partial, &c.Limited, &c.Refused, &c.Failed,
		&c.Items, &c.New, &c.Repeated, &c.Nulls, &c.Bytes, &c.Passes)
	return c, err
}

// keys yields the keys of a run, each page's checked against its row.
func (r *Reader) keys(ctx context.Context, run string, yield func([]byte) error) error {
	rows, err := r.db.QueryContext(ctx, `SELECT p.seq, p.outcome, p.new, k.keys
		FROM pages p LEFT JOIN page_keys k ON k.run = p.run AND k.seq = p.seq
		WHERE p.run = ? AND p.new > 0 ORDER BY p.seq`, run)
	if err != nil {
		return r.file.explain(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var seq, added int64
		var word string
		var keys []byte
		if err := rows.Scan(&seq, &word, &added, &keys); err != nil {
			return r.file.explain(err)
		}
		outcome, err := parseOutcome(word)
		if err != nil || !keysFit(outcome, added, len(keys)) {
			return r.damaged("attempt %d of run %s (%s) has %d bytes of keys for %d new items", seq, run, word, len(keys), added)
		}
		if len(keys) == 0 {
			continue
		}
		if err := yield(keys); err != nil {
			return err
		}
	}
	return r.file.explain(rows.Err())
}
