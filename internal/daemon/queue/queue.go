// Package queue keeps the jobs of a daemon, and what the schedule and people have set
// of its pulls, in an SQLite file of its own, durable when a method returns.
//
// Its own table of jobs is the truth. River deals them out: it holds one job for each
// pull that has any, the first that is not over, so that two of one pull never run at
// once; and it hands that job out again and again, a lease at a time. What River holds
// can be made anew from the table, and is so by Open.
package queue

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
)

// Options say how jobs are attended. Attend is required.
type Options struct {
	// Attend looks after a job until it is over, or ctx is done, which is after a
	// lease at the latest. It is called for any number of jobs at once, but never for
	// two of one pull whose earlier one is not over.
	Attend func(ctx context.Context, j Job) Outcome
	// Ended, if set, is called with each job that Attend or Cancel ended.
	Ended func(Job)
	// Lease is how long a job is attended in one go; 0: 30 s. Rescue is after how
	// long River hands a job out anew that hangs; 0: twice that and more.
	Lease, Rescue time.Duration
	// Poll is how often River looks for jobs; 0: 500 ms.
	Poll time.Duration
	// Keep is how many jobs of a pull that are over are kept; 0: 1000.
	Keep int
	Log  *slog.Logger
}

// An Outcome is what came of attending a job.
type Outcome struct {
	// State is Done, Failed or Cancelled; "": the job is not over.
	State string
	Error string        // why it failed
	Again time.Duration // of a job that is not over: how long to leave it alone
}

// slack is the time that a job has beyond its lease.
const slack = 15 * time.Second

func (o Options) defaults() Options {
	o.Lease = cmp.Or(o.Lease, 30*time.Second)
	o.Rescue = cmp.Or(o.Rescue, 2*(o.Lease+slack))
	o.Poll = cmp.Or(o.Poll, 500*time.Millisecond)
	o.Keep = cmp.Or(o.Keep, 1000)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Ended == nil {
		o.Ended = func(Job) {}
	}
	return o
}

// A Queue is an open queue. Its methods may be called by several goroutines.
type Queue struct {
	opt   Options
	db    *sql.DB // the one connection that writes, River's too
	read  *sql.DB
	river *river.Client[*sql.Tx]
}

// What came of a fire.
const (
	Made    = "made"    // a job
	Skipped = "skipped" // a job of the pull is not over
	Known   = "known"   // it had been settled before
	Held    = "held"    // the schedule is paused
)

// A Fire is a moment at which a pull is due.
type Fire struct {
	Pull  string
	At    time.Time
	Start time.Time // of the job; zero: At
	Why   string    // BySchedule or ByCatchUp
	Queue bool      // behind a job that is not over; else there is none for this fire
}

// Fire settles a fire, in one transaction: the pull's last fire moves, and a job is
// made, or not, as the result says. It does so once for each fire, however often it is
// called. The job is that of Made.
func (q *Queue) Fire(ctx context.Context, f Fire) (result string, j Job, err error) {
	err = q.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var paused bool
		var last, open sql.NullInt64
		err := tx.QueryRowContext(ctx, `SELECT coalesce(max(paused), 0), max(last), (SELECT max(id) FROM jobs WHERE pull = ?1 AND ended IS NULL)
			FROM pulls WHERE pull = ?1`, f.Pull).Scan(&paused, &last, &open)
		if err != nil {
			return err
		}
		at := stamp(f.At)
		if last.Valid && at <= last.Int64 {
			result = Known
			return nil
		}
		if paused {
			result = Held
			return nil
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO pulls (pull, last, since) VALUES (?1, ?2, ?2) ON CONFLICT DO UPDATE
			SET last = excluded.last, since = max(coalesce(since, 0), excluded.since)`, f.Pull, at)
		if err != nil {
			return err
		}
		if result = Skipped; open.Valid && !f.Queue {
			return nil
		}
		result = Made
		j, err = q.add(ctx, tx, Job{Pull: f.Pull, Why: f.Why, Fire: &f.At}, cmp.Or(stamp(f.Start), at))
		return err
	})
	return result, j, err
}

// Add makes a job by hand, of which Pull, Why, Fresh, From and To count. Where a job of
// the pull is not over it waits behind that one with queue, else there is none:
// ErrOverlap.
func (q *Queue) Add(ctx context.Context, j Job, queue bool) (Job, error) {
	err := q.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var open int64
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM jobs WHERE pull = ? AND ended IS NULL`, j.Pull).Scan(&open)
		if err != nil {
			return err
		}
		if open > 0 && !queue {
			return ErrOverlap
		}
		j, err = q.add(ctx, tx, j, stamp(time.Now()))
		return err
	})
	return j, err
}

func (q *Queue) add(ctx context.Context, tx *sql.Tx, j Job, start int64) (Job, error) {
	now := time.Now()
	var fire any
	if j.Fire != nil {
		fire = stamp(*j.Fire)
	}
	row, err := tx.ExecContext(ctx, `INSERT INTO jobs (pull, why, fire, start, fresh, low, high, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		j.Pull, j.Why, fire, start, j.Fresh, j.From, j.To, stamp(now))
	if err != nil {
		return j, err
	}
	if j.ID, err = row.LastInsertId(); err != nil {
		return j, err
	}
	if err := q.deal(ctx, tx, j.Pull); err != nil {
		return j, err
	}
	return one(tx.QueryContext(ctx, selectJob+` WHERE id = ?`, j.ID))
}

// deal hands the first job of a pull to River, if there is one and it has not got it.
func (q *Queue) deal(ctx context.Context, tx *sql.Tx, pull string) error {
	var id, start, river int64
	err := tx.QueryRowContext(ctx, `SELECT id, start, river FROM jobs WHERE pull = ? AND ended IS NULL ORDER BY id LIMIT 1`, pull).Scan(&id, &start, &river)
	if errors.Is(err, sql.ErrNoRows) || river != 0 {
		return nil
	}
	if err != nil {
		return err
	}
	made, err := q.river.InsertTx(ctx, tx, turn{id}, later(start))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE jobs SET river = ? WHERE id = ?`, made.Job.ID, id)
	return err
}

// Begin notes that the turn of a job has come. ErrOver: it is over, or to be cancelled.
func (q *Queue) Begin(ctx context.Context, id int64) error {
	return q.change(ctx, id, `state = 'running', started = coalesce(started, ?2)`, stamp(time.Now()))
}

// Began notes the run of a job.
func (q *Queue) Began(ctx context.Context, id int64, run string) error {
	return q.change(ctx, id, `run = ?2`, run)
}

// Suspend notes that a job waits again: its run was stopped, and is to go on.
func (q *Queue) Suspend(ctx context.Context, id int64) error {
	return q.change(ctx, id, `state = 'waiting'`)
}

// change changes a job. ErrOver: it is over, or to be cancelled.
func (q *Queue) change(ctx context.Context, id int64, set string, args ...any) error {
	return q.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `UPDATE jobs SET `+set+` WHERE id = ?1 AND ended IS NULL AND NOT stopping`, append([]any{id}, args...)...)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrOver)
		}
		return nil
	})
}

// Cancel cancels a job: at once where it waits; where it runs, its run is to be
// stopped by the caller, and Attend ends the job as Cancelled. Where the process dies in
// between, the next Open does. running says which of the two it is.
func (q *Queue) Cancel(ctx context.Context, id int64) (j Job, running bool, err error) {
	err = q.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		j, err = one(tx.QueryContext(ctx, selectJob+` WHERE id = ?`, id))
		if err == nil && j.Over() {
			err = ErrOver
		}
		if err != nil {
			return err
		}
		if j.State == Running {
			running = true
			_, err = tx.ExecContext(ctx, `UPDATE jobs SET stopping = 1 WHERE id = ?`, id)
			return err
		}
		_, err = q.end(ctx, tx, &j, Outcome{State: Cancelled})
		return err
	})
	if err == nil && !running {
		q.opt.Ended(j)
	}
	return j, running, err
}

// end ends a job, deals out the next of its pull, and forgets old ones. It reports
// false where the job was over already.
func (q *Queue) end(ctx context.Context, tx *sql.Tx, j *Job, out Outcome) (bool, error) {
	r, err := tx.ExecContext(ctx, `UPDATE jobs SET state = ?2, error = ?3, ended = ?4 WHERE id = ?1 AND ended IS NULL`, j.ID, out.State, out.Error, stamp(time.Now()))
	if err != nil {
		return false, err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM jobs WHERE pull = ?1 AND ended IS NOT NULL AND id <=
		(SELECT id FROM jobs WHERE pull = ?1 AND ended IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET ?2)`, j.Pull, q.opt.Keep)
	if err != nil {
		return false, err
	}
	if err := q.deal(ctx, tx, j.Pull); err != nil {
		return false, err
	}
	*j, err = one(tx.QueryContext(ctx, selectJob+` WHERE id = ?`, j.ID))
	return true, err
}

// stamp is a time as it stands in the file: microseconds since 1970; 0 of the zero time.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// unstamp is a time out of the file.
func unstamp(n sql.NullInt64) *time.Time {
	if !n.Valid {
		return nil
	}
	t := time.UnixMicro(n.Int64).UTC()
	return &t
}
