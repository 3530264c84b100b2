package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Mark says up to when the incremental runs of a name and config have
// everything: the start of the last one that was COMPLETE, or what was set by
// hand.
type Mark struct {
	Name       string     `json:"name"`
	ConfigHash string     `json:"config_hash"` // "": set by hand, for any config
	Mark       *time.Time `json:"mark"`        // nil: the next run asks for everything
	Run        string     `json:"run"`         // the COMPLETE run; "": set by hand
	At         time.Time  `json:"at"`          // when it was written
}

const selectMark = `SELECT name, config_hash, mark, run, at FROM marks`

func scanMark(rows *sql.Rows) (Mark, error) {
	var m Mark
	var mark, run sql.NullString
	var at string
	err := rows.Scan(&m.Name, &m.ConfigHash, &mark, &run, &at)
	m.Run, m.At = run.String, parseStamp(at)
	if mark.Valid {
		t := parseStamp(mark.String)
		m.Mark = &t
	}
	return m, err
}

// family matches the rows of a pull ?1 and of the children of its fan-out.
const family = `(name = ?1 OR substr(name, 1, length(?1) + 1) = ?1 || '/')`

// Marks lists the marks of a pull and of its children, by name; "" means all.
func (r *Reader) Marks(ctx context.Context, name string) ([]Mark, error) {
	rows, err := r.db.QueryContext(ctx, selectMark+` WHERE ?1 = '' OR `+family+` ORDER BY name, at`, name)
	if err != nil {
		return nil, r.file.explain(err)
	}
	all, err := collect(rows, scanMark)
	return all, r.file.explain(err)
}

// SetMark sets the mark of a pull and of its children by hand, cut to the
// millisecond: it counts for any config, in the place of all earlier marks,
// until a run that begins after this is COMPLETE. nil asks for everything. An
// unfinished run keeps the mark that it began with, and does not move this one.
func (s *Store) SetMark(ctx context.Context, name string, mark *time.Time) error {
	now := time.Now()
	if mark != nil && mark.After(now) {
		return fmt.Errorf("the mark %s is later than now: what came meanwhile would never be asked for", stamp(*mark))
	}
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM marks WHERE `+family, name); err != nil {
			return err
		}
		var text any
		if mark != nil {
			text = stamp(*mark)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO marks (name, config_hash, mark, at) VALUES (?, '', ?, ?)`, name, text, stamp(now))
		return err
	})
}

// base is the pull that a child belongs to; of any other it is the name itself.
func base(name string) string {
	whole, _, _ := strings.Cut(name, "/")
	return whole
}

// since finds the mark that a new run begins with: that of its config, else
// the one that was set by hand for its name, else for its pull.
func (b *beginning) since(ctx context.Context, tx *sql.Tx) (any, error) {
	if !b.options.Incremental {
		return nil, nil
	}
	var mark sql.NullString
	err := tx.QueryRowContext(ctx, `SELECT mark FROM marks
		WHERE name = ?1 AND config_hash IN (?2, '') OR name = ?3 AND config_hash = ''
		ORDER BY name = ?1 DESC, config_hash = ?2 DESC LIMIT 1`, b.options.Name, b.options.ConfigHash, base(b.options.Name)).Scan(&mark)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && !mark.Valid:
		return nil, nil
	case err != nil:
		return nil, err
	case mark.String > stamp(b.now):
		return nil, fmt.Errorf("the mark of %s, %s, is later than now: what came meanwhile would never be asked for; set it with lastdrop state set", b.options.Name, mark.String)
	}
	return mark.String, nil
}

// moveMark notes that the run, which is COMPLETE, has everything up to its
// start, unless a mark was set by hand since it began.
func (r *Run) moveMark(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO marks (name, config_hash, mark, run, at)
		SELECT name, config_hash, started, run, ?2 FROM runs WHERE run = ?1
		AND NOT EXISTS (SELECT 1 FROM marks AS m WHERE m.config_hash = '' AND m.name IN (runs.name, ?3) AND m.at >= runs.started)
		ON CONFLICT (name, config_hash) DO UPDATE SET mark = excluded.mark, run = excluded.run, at = excluded.at`,
		r.id, stamp(time.Now()), base(r.name))
	return err
}
