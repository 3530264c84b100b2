package queue

import (
	"context"
	"database/sql"
	"time"
)

const selectJob = `SELECT id, pull, why, fire, fresh, low, high, state, created, started, ended, leases, run, error FROM jobs`

func scanJob(rows *sql.Rows) (Job, error) {
	var j Job
	var fire, created, started, ended sql.NullInt64
	err := rows.Scan(&j.ID, &j.Pull, &j.Why, &fire, &j.Fresh, &j.From, &j.To, &j.State, &created, &started, &ended, &j.Leases, &j.Run, &j.Error)
	if err != nil {
		return j, err
	}
	j.Fire, j.Started, j.Ended = unstamp(fire), unstamp(started), unstamp(ended)
	j.Created = *unstamp(created)
	return j, nil
}

// one is the one job that a query gives, or ErrNoJob.
func one(rows *sql.Rows, err error) (Job, error) {
	if err != nil {
		return Job{}, err
	}
	found, err := collect(rows, scanJob)
	if err != nil {
		return Job{}, err
	}
	if len(found) == 0 {
		return Job{}, ErrNoJob
	}
	return found[0], nil
}

// Job gives a job, or ErrNoJob.
func (q *Queue) Job(ctx context.Context, id int64) (Job, error) {
	return one(q.read.QueryContext(ctx, selectJob+` WHERE id = ?`, id))
}

// Jobs lists jobs, the newest first.
func (q *Queue) Jobs(ctx context.Context, f Filter) (List, error) {
	const let = ` WHERE (?1 = '' OR pull = ?1) AND (?2 = '' OR state = ?2)`
	var list List
	tx, err := q.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // the counts are those of the list
	if err != nil {
		return list, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	err = tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(?3 = 0 OR id < ?3), 0) FROM jobs`+let, f.Pull, f.State, f.Before).Scan(&list.Total, &list.Rest)
	if err != nil {
		return list, err
	}
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	rows, err := tx.QueryContext(ctx, selectJob+let+` AND (?3 = 0 OR id < ?3) ORDER BY id DESC LIMIT ?4`, f.Pull, f.State, f.Before, limit)
	if err != nil {
		return list, err
	}
	list.Jobs, err = collect(rows, scanJob)
	return list, err
}

// Open gives the first job of each pull that has one which is not over.
func (q *Queue) Open(ctx context.Context) (map[string]Job, error) {
	rows, err := q.read.QueryContext(ctx, selectJob+` WHERE id IN (SELECT min(id) FROM jobs WHERE ended IS NULL GROUP BY pull)`)
	if err != nil {
		return nil, err
	}
	found, err := collect(rows, scanJob)
	open := make(map[string]Job, len(found))
	for _, j := range found {
		open[j.Pull] = j
	}
	return open, err
}

// Set is what the schedule and people have set of a pull.
type Set struct {
	Paused bool
	Last   *time.Time // the last fire; nil: none
}

// Sets gives what has been set of the pulls that the queue has heard of.
func (q *Queue) Sets(ctx context.Context) (map[string]Set, error) {
	rows, err := q.read.QueryContext(ctx, `SELECT pull, paused, last FROM pulls`)
	if err != nil {
		return nil, err
	}
	all := map[string]Set{}
	_, err = collect(rows, func(rows *sql.Rows) (struct{}, error) {
		var pull string
		var s Set
		var last sql.NullInt64
		err := rows.Scan(&pull, &s.Paused, &last)
		s.Last = unstamp(last)
		all[pull] = s
		return struct{}{}, err
	})
	return all, err
}

// Since gives the moment up to which the fires of a pull are settled. spec is its
// schedule as a text: of a pull, or of a schedule, that is met for the first time, that
// moment is now.
func (q *Queue) Since(ctx context.Context, pull, spec string, now time.Time) (since time.Time, err error) {
	err = q.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var n sql.NullInt64
		err := tx.QueryRowContext(ctx, `INSERT INTO pulls (pull, spec, since) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE
			SET since = iif(spec = excluded.spec, coalesce(since, excluded.since), excluded.since), spec = excluded.spec RETURNING since`,
			pull, spec, stamp(now)).Scan(&n)
		if err == nil {
			since = *unstamp(n)
		}
		return err
	})
	return since, err
}

// Settle notes that the fires of a pull up to now are settled.
func (q *Queue) Settle(ctx context.Context, pull string, now time.Time) error {
	return q.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE pulls SET since = max(coalesce(since, 0), ?2) WHERE pull = ?1`, pull, stamp(now))
		return err
	})
}

// Pause stops or resumes the schedule of a pull. What was due while it was paused is
// not made up for.
func (q *Queue) Pause(ctx context.Context, pull string, paused bool, now time.Time) error {
	return q.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO pulls (pull, paused, since) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE
			SET paused = excluded.paused, since = iif(paused = excluded.paused, since, excluded.since)`, pull, paused, stamp(now))
		return err
	})
}
