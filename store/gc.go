package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"lastdrop/judge"
)

// ReachLasts is how long a reach that a run met is to be believed: a server may
// hand out more one day. GC removes older ones.
const ReachLasts = 30 * 24 * time.Hour

// GCOptions say what may go.
type GCOptions struct {
	// Keep is how many of the newest runs of each pull stay.
	Keep int
	// Stopped lets unfinished runs go like others where no living process
	// holds them: they can then never go on.
	Stopped bool
}

// A Weight is how much something takes in the store.
type Weight struct {
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"` // of the rows' values, about
}

func (w *Weight) add(more Weight) {
	w.Rows += more.Rows
	w.Bytes += more.Bytes
}

// A GoneRun is a run that goes, with all its rows.
type GoneRun struct {
	Run     string         `json:"run"`
	Name    string         `json:"name"`
	State   string         `json:"state"`
	Verdict *judge.Verdict `json:"verdict"`
	Started time.Time      `json:"started"`
	Weight
}

// Garbage is what is needed no more.
type Garbage struct {
	Runs []GoneRun `json:"runs"` // newest first
	// Leftovers are rows of runs that are gone, and identity hashes of runs
	// that never go on.
	Leftovers Weight `json:"leftovers"`
	Reaches   int64  `json:"reaches"` // older than ReachLasts
	Stay      int64  `json:"stay"`    // runs
}

// Sum is the weight of all runs that go and of the leftovers.
func (g Garbage) Sum() Weight {
	sum := g.Leftovers
	for _, r := range g.Runs {
		sum.add(r.Weight)
	}
	return sum
}

// Space is how big the store's file is.
type Space struct {
	File int64 `json:"file"` // bytes
	Free int64 `json:"free"` // bytes within it that later rows will take
}

// keysAtOnce is how many rows of page_keys are deleted at once: each has up to
// some hundred KB, and a run of many pages has thousands.
const keysAtOnce = 64

// ownRows are the tables that hold rows of runs, with what tells the rows of a
// run apart, and how many of them are deleted at once.
var ownRows = []struct {
	table, key string
	atOnce     int
}{
	{"page_keys", "seq", keysAtOnce},
	{"pages", "seq", 2000},
	{"totals", "n", 2000},
	{"events", "n", 2000},
	{"slices", "slice", 2000},
	{"children", "n", 2000},
	{"size_steps", "seq", 2000},
	{"total_drift", "source", 2000},
	{"checkpoints", "run", 1},
}

// Garbage finds out what GC would remove: of each pull all runs but the newest
// ones, unless a run can go on, is the last COMPLETE one of its pull, or a part
// of a fan-out that stays.
func (r *Reader) Garbage(ctx context.Context, o GCOptions) (Garbage, error) {
	g := Garbage{Runs: []GoneRun{}}
	tx, err := r.db.BeginTx(ctx, nil) // all is read as of one moment
	if err != nil {
		return g, r.file.explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	gone, stay, err := r.gone(ctx, tx, o)
	if err != nil {
		return g, r.file.explain(err)
	}
	g.Stay = int64(stay)
	all := map[string]bool{}
	for _, i := range gone {
		all[i.Run] = true
		w, err := weighRun(ctx, tx, i.Run)
		if err != nil {
			return g, r.file.explain(err)
		}
		g.Runs = append(g.Runs, GoneRun{i.Run, i.Name, i.State, i.Verdict, i.Started, w})
	}
	for _, t := range ownRows {
		runs, err := unowned(ctx, tx, t.table)
		if err != nil {
			return g, r.file.explain(err)
		}
		for _, run := range runs {
			if all[run] {
				continue // it is weighed already
			}
			w, err := weigh(ctx, tx, t.table, run)
			if err != nil {
				return g, r.file.explain(err)
			}
			g.Leftovers.add(w)
		}
	}
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM reaches WHERE at < ?`, stamp(time.Now().Add(-ReachLasts))).Scan(&g.Reaches)
	return g, r.file.explain(err)
}

// gone lists the runs that go, newest first, and counts those that stay.
func (r *Reader) gone(ctx context.Context, tx *sql.Tx, o GCOptions) (gone []Info, stay int, err error) {
	rows, err := tx.QueryContext(ctx, selectInfo+` ORDER BY run DESC`)
	if err != nil {
		return nil, 0, err
	}
	all, err := collect(rows, scanInfo)
	if err != nil {
		return nil, 0, err
	}
	parts, err := partsOf(ctx, tx)
	if err != nil {
		return nil, 0, err
	}
	seen, complete, kept := map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, i := range all {
		seen[i.Name]++
		last := i.complete() && !complete[i.Name]
		complete[i.Name] = complete[i.Name] || last
		goesOn := i.Unfinished() && (!o.Stopped || isHeld(r.file.lockName(i.Run)))
		if seen[i.Name] <= o.Keep || last || goesOn {
			kept[i.Run] = true
			for _, part := range parts[i.Run] {
				kept[part] = true
			}
		}
	}
	for _, i := range all {
		if !kept[i.Run] {
			gone = append(gone, i)
		}
	}
	return gone, len(all) - len(gone), nil
}

// complete reports whether the run came to its end and has everything.
func (i Info) complete() bool {
	return i.State == Finished && i.Verdict != nil && *i.Verdict == judge.Complete
}

// partsOf lists, by fan-out, the runs that belong to it: its children, and the
// one whose items gave their values, which its state names.
func partsOf(ctx context.Context, tx *sql.Tx) (map[string][]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT run, child FROM children WHERE child IS NOT NULL
		UNION ALL SELECT run, state ->> '$.parent' FROM checkpoints
		WHERE json_valid(state) AND json_type(state, '$.listed') IS NOT NULL AND json_type(state, '$.parent') = 'text'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	parts := map[string][]string{}
	for rows.Next() {
		var run, part string
		if err := rows.Scan(&run, &part); err != nil {
			return nil, err
		}
		parts[run] = append(parts[run], part)
	}
	return parts, rows.Err()
}

// weighRun weighs the rows of a run in all tables.
func weighRun(ctx context.Context, tx *sql.Tx, run string) (Weight, error) {
	sum, err := weigh(ctx, tx, "runs", run)
	for _, t := range ownRows {
		if err != nil {
			break
		}
		var w Weight
		w, err = weigh(ctx, tx, t.table, run)
		sum.add(w)
	}
	return sum, err
}

// weigh counts the rows of a run in a table. Their bytes are reckoned from its
// first hundred rows: reading them all would take as long as deleting them.
func weigh(ctx context.Context, tx *sql.Tx, table, run string) (w Weight, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT name FROM pragma_table_info(?)`, table)
	if err != nil {
		return w, err
	}
	columns, err := collect(rows, func(rows *sql.Rows) (name string, err error) {
		err = rows.Scan(&name)
		return `coalesce(octet_length("` + name + `"), 0)`, err
	})
	if err != nil {
		return w, err
	}
	var each float64
	err = tx.QueryRowContext(ctx, `SELECT count(*), (SELECT coalesce(avg(bytes), 0) FROM
		(SELECT `+strings.Join(columns, " + ")+` AS bytes FROM `+table+` WHERE run = ?1 LIMIT 100))
		FROM `+table+` WHERE run = ?1`, run).Scan(&w.Rows, &each)
	w.Bytes = int64(each * float64(w.Rows))
	return w, err
}

// unowned lists the runs that have rows in a table and are gone; of hashes also
// those that never go on. It goes from one run to the next by the index.
func unowned(ctx context.Context, tx *sql.Tx, table string) ([]string, error) {
	owners := `runs`
	if table == "page_keys" {
		owners = `runs WHERE state IN ('running', 'stopped')`
	}
	rows, err := tx.QueryContext(ctx, `WITH RECURSIVE owner(run) AS (
		SELECT min(run) FROM `+table+`
		UNION ALL SELECT (SELECT min(t.run) FROM `+table+` AS t WHERE t.run > owner.run) FROM owner WHERE owner.run IS NOT NULL)
		SELECT run FROM owner WHERE run IS NOT NULL AND run NOT IN (SELECT run FROM `+owners+`)`)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(rows *sql.Rows) (run string, err error) {
		err = rows.Scan(&run)
		return run, err
	})
}

// GC removes what Garbage finds, and tells what it was. The runs are gone at
// once; their rows go in short transactions with pauses between them, so that a
// process that drains into the store is not locked out. One that is killed in
// between is made good by the next.
//
// The space within the file is given back to the system, a bit at a time,
// unless the store was made by a version that did not prepare for it: then
// later rows take it, or Vacuum gives it back.
func (s *Store) GC(ctx context.Context, o GCOptions) (Garbage, error) {
	g, err := s.Garbage(ctx, o)
	if err != nil {
		return g, err
	}
	if err := s.write(ctx, func(ctx context.Context, tx *sql.Tx) error { return s.forget(ctx, tx, o, &g) }); err != nil {
		return g, err
	}
	for _, t := range ownRows {
		if err := s.sweep(ctx, t.table, t.key, t.atOnce); err != nil {
			return g, err
		}
	}
	return g, s.shrink(ctx)
}

// forget deletes the runs that go from the list of runs, and old reaches. What
// was taken up or begun since g was made stays.
func (s *Store) forget(ctx context.Context, tx *sql.Tx, o GCOptions, g *Garbage) error {
	gone, stay, err := s.gone(ctx, tx, o)
	if err != nil {
		return err
	}
	still := map[string]bool{}
	for _, i := range gone {
		still[i.Run] = true
	}
	kept := g.Runs[:0]
	for _, i := range g.Runs {
		if !still[i.Run] {
			continue
		}
		if i.State == Running || i.State == Stopped {
			// Nobody can take it up while this transaction lasts; the lock
			// file of a killed process goes too.
			lock, err := acquire(s.file.lockName(i.Run))
			if errors.Is(err, errHeld) {
				stay++
				continue
			}
			if err == nil {
				err = lock.release()
			}
			if err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE run = ?`, i.Run); err != nil {
			return err
		}
		kept = append(kept, i)
	}
	g.Runs, g.Stay = kept, int64(stay)
	_, err = tx.ExecContext(ctx, `DELETE FROM reaches WHERE at < ?`, stamp(time.Now().Add(-ReachLasts)))
	return err
}

// sweep deletes the rows of a table that no run owns any more.
func (s *Store) sweep(ctx context.Context, table, key string, atOnce int) error {
	tx, err := s.Reader.db.BeginTx(ctx, nil)
	if err != nil {
		return s.file.explain(err)
	}
	runs, err := unowned(ctx, tx, table)
	if err := errors.Join(err, tx.Rollback()); err != nil {
		return s.file.explain(err)
	}
	for _, run := range runs {
		if err := s.deleteRows(ctx, table, key, atOnce, run); err != nil {
			return err
		}
	}
	return nil
}

// deleteRows deletes the rows of a run in a table, some at a time.
func (s *Store) deleteRows(ctx context.Context, table, key string, atOnce int, run string) error {
	text := fmt.Sprintf(`DELETE FROM %[1]s WHERE run = ?1 AND %[2]s IN (SELECT %[2]s FROM %[1]s WHERE run = ?1 ORDER BY %[2]s LIMIT %[3]d)`, table, key, atOnce)
	return s.bitByBit(ctx, func(ctx context.Context, tx *sql.Tx) (more bool, err error) {
		done, err := tx.ExecContext(ctx, text, run)
		if err != nil {
			return false, err
		}
		n, err := done.RowsAffected()
		return n == int64(atOnce), err
	})
}

// shrink gives free pages at the end of the file back to the system, where the
// file allows it.
func (s *Store) shrink(ctx context.Context) error {
	const atOnce = 256 // pages
	return s.bitByBit(ctx, func(ctx context.Context, tx *sql.Tx) (more bool, err error) {
		var mode, free int
		err = tx.QueryRowContext(ctx, `SELECT auto_vacuum, freelist_count FROM pragma_auto_vacuum, pragma_freelist_count`).Scan(&mode, &free)
		if err != nil || mode != incrementalVacuum || free == 0 {
			return false, err
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", atOnce))
		return free > atOnce, err
	})
}

// bitByBit runs do in one transaction after the other until there is no more
// to do. Between two it waits as long as the first took: SQLite's writers do
// not queue, they knock, and find the door open half of the time.
func (s *Store) bitByBit(ctx context.Context, do func(ctx context.Context, tx *sql.Tx) (more bool, err error)) error {
	for more := true; more; {
		began := time.Now()
		err := s.write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			more, err = do(ctx, tx)
			return err
		})
		if err != nil || !more {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Since(began)):
		}
	}
	return nil
}

// Space says how big the store's file is. What the write-ahead log holds is
// counted as if it stood in the file already.
func (r *Reader) Space(ctx context.Context) (Space, error) {
	var size, pages, free int64
	err := r.db.QueryRowContext(ctx, `SELECT page_size, page_count, freelist_count
		FROM pragma_page_size, pragma_page_count, pragma_freelist_count`).Scan(&size, &pages, &free)
	return Space{size * pages, size * free}, r.file.explain(err)
}

// Vacuum writes the whole file anew, as small as it can be, and prepares it to
// give space back by GC alone. It needs as much room again on the disk. While
// it lasts nobody can write: where a living process drains a run it is a
// *HeldError, and nothing is done.
func (s *Store) Vacuum(ctx context.Context) error {
	running, err := s.infos(ctx, ` WHERE state = 'running' ORDER BY run DESC`)
	if err != nil {
		return err
	}
	for _, i := range running {
		if i.Holder != nil {
			return &HeldError{Run: i.Run, Holder: *i.Holder}
		}
	}
	_, err = s.db.ExecContext(ctx, fmt.Sprintf("PRAGMA auto_vacuum = %d; VACUUM", incrementalVacuum))
	if err == nil {
		_, err = s.db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return s.file.explain(err)
}
