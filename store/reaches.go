package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// A Reach is the most items that an address was seen to hand out at once.
type Reach struct {
	Origin string    `json:"origin"` // scheme, host and port
	Path   string    `json:"path"`
	Reach  int64     `json:"reach"`
	Run    string    `json:"run"` // which run met it last
	At     time.Time `json:"at"`  // when that was
}

// Reach is what is known of an address; ok is false where nothing is.
func (r *Reader) Reach(ctx context.Context, origin, path string) (known Reach, ok bool, err error) {
	known = Reach{Origin: origin, Path: path}
	var at string
	err = r.db.QueryRowContext(ctx, `SELECT reach, run, at FROM reaches WHERE origin = ? AND path = ?`, origin, path).Scan(&known.Reach, &known.Run, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return Reach{}, false, nil
	}
	known.At = parseStamp(at)
	return known, err == nil, r.file.explain(err)
}

// NoteReach stores what a run met, in the place of what was known before of the
// same address.
func (s *Store) NoteReach(ctx context.Context, n Reach) error {
	if n.Reach < 1 || n.Origin == "" || n.Run == "" {
		return fmt.Errorf("run %q: %d items at %q are no reach", n.Run, n.Reach, n.Origin)
	}
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO reaches (origin, path, reach, run, at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (origin, path) DO UPDATE SET reach = excluded.reach, run = excluded.run, at = excluded.at`,
			n.Origin, n.Path, n.Reach, n.Run, stamp(n.At))
		return err
	})
}
