package queue

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
)

// maxAttempts is as many as River knows: a job is over when our own table says so.
const maxAttempts = math.MaxInt16

// A turn is what River holds of a job.
type turn struct {
	Job int64 `json:"job"`
}

// Kind names the one kind of job that there is.
func (turn) Kind() string { return "run" }

// later makes a job of River wait until start.
func later(start int64) *river.InsertOpts {
	at := time.UnixMicro(start)
	if !at.After(time.Now()) {
		return nil
	}
	return &river.InsertOpts{ScheduledAt: at}
}

// steady is when River tries again what failed: the queue itself could not be
// read or written.
type steady struct{}

func (steady) NextRetry(*rivertype.JobRow) time.Time { return time.Now().Add(5 * time.Second) }

// worker attends a job for a lease.
type worker struct {
	river.WorkerDefaults[turn]
	queue *Queue
}

// Work does so, and gives the job back to River, or ends it.
func (w *worker) Work(ctx context.Context, t *river.Job[turn]) error {
	q := w.queue
	j, err := q.lease(ctx, t.Args.Job)
	if errors.Is(err, ErrOver) || errors.Is(err, ErrNoJob) {
		return nil
	}
	if err != nil {
		return err
	}
	held, cancel := context.WithTimeout(ctx, q.opt.Lease)
	defer cancel()
	out := q.opt.Attend(held, j)
	if out.State == "" {
		return river.JobSnooze(max(0, out.Again))
	}
	ended := false
	err = q.write(context.WithoutCancel(ctx), func(ctx context.Context, tx *sql.Tx) error {
		if ended, err = q.end(ctx, tx, &j, out); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riversqlite.Driver](ctx, tx, t)
		if errors.Is(err, rivertype.ErrNotFound) { // River took it for stuck, and hands it out again: in vain
			return nil
		}
		return err
	})
	if err == nil && ended {
		q.opt.Ended(j)
	}
	return err
}

// lease begins a lease of a job.
func (q *Queue) lease(ctx context.Context, id int64) (Job, error) {
	err := q.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE jobs SET leases = leases + 1 WHERE id = ? AND ended IS NULL`, id)
		return err
	})
	if err != nil {
		return Job{}, err
	}
	j, err := q.Job(ctx, id)
	if err == nil && j.Over() {
		err = ErrOver
	}
	return j, err
}

// Start deals jobs out until Stop.
func (q *Queue) Start(ctx context.Context) error { return q.river.Start(context.WithoutCancel(ctx)) }

// Stop deals no more jobs out, ends the leases, and waits until that has happened.
func (q *Queue) Stop(ctx context.Context) error { return q.river.StopAndCancel(ctx) }

// quiet lets through what River has to say that concerns people: not each time that
// it starts and stops.
type quiet struct{ slog.Handler }

func (h quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

func (h quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Message = "queue: " + strings.TrimSpace(r.Message)
	return h.Handler.Handle(ctx, r)
}

func (h quiet) WithAttrs(a []slog.Attr) slog.Handler { return quiet{h.Handler.WithAttrs(a)} }

func (h quiet) WithGroup(name string) slog.Handler { return quiet{h.Handler.WithGroup(name)} }
