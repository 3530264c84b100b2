package queue

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed schema.sql
var schema string

const (
	// version is that of schema.sql, in the file's user_version.
	version = 1
	// applicationID marks the file: "LaQu" in ASCII.
	applicationID = 0x4c615175
	readers       = 4
)

// Open opens the queue at path, and makes it where there is none. It must be the
// only one: what an earlier process left unfinished is dealt out anew, at once.
// Nothing is dealt out before Start. The caller closes the queue.
func Open(ctx context.Context, path string, o Options) (*Queue, error) {
	q := &Queue{opt: o.defaults()}
	err := q.open(ctx, path)
	if err == nil {
		return q, nil
	}
	return nil, fmt.Errorf("%s: %w", path, errors.Join(err, q.closeFiles()))
}

func (q *Queue) open(ctx context.Context, path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if q.db, err = sql.Open("sqlite", dsn(abs, "_txlock=immediate", "_pragma=journal_mode(wal)", "_pragma=synchronous(full)")); err != nil {
		return err
	}
	q.db.SetMaxOpenConns(1)
	if err := q.migrate(ctx); err != nil {
		return err
	}
	if q.read, err = sql.Open("sqlite", dsn(abs, "mode=rw", "_pragma=query_only(1)")); err != nil {
		return err
	}
	q.read.SetMaxOpenConns(readers)
	q.read.SetMaxIdleConns(readers)
	if q.river, err = q.newClient(); err != nil {
		return err
	}
	return q.write(ctx, q.takeUp)
}

// dsn is the connection string. "?", "#" and "%" in a path would end it.
func dsn(path string, params ...string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return "file://" + (&url.URL{Path: slashed}).EscapedPath() + "?" + strings.Join(append(params, "_pragma=busy_timeout(5000)"), "&")
}

// migrate makes our own tables, and lets River make or bring up to date its own.
func (q *Queue) migrate(ctx context.Context) error {
	var application, found, tables int
	err := q.db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&application, &found, &tables)
	switch {
	case err != nil:
		return err
	case tables > 0 && application != applicationID:
		return errors.New("is no queue of lastdrop")
	case found > version:
		return fmt.Errorf("%w (version %d, this one knows %d)", ErrNewer, found, version)
	case tables == 0:
		err = q.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf("%s\nPRAGMA application_id = %d; PRAGMA user_version = %d;", schema, applicationID, version))
			return err
		})
		if err != nil {
			return err
		}
	}
	m, err := rivermigrate.New(riversqlite.New(q.db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func (q *Queue) newClient() (*river.Client[*sql.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{queue: q})
	return river.NewClient(riversqlite.New(q.db), &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: river.QueueNumWorkersMax}}, Workers: workers,
		PollOnly: true, FetchCooldown: min(50*time.Millisecond, q.opt.Poll), FetchPollInterval: q.opt.Poll,
		JobTimeout: q.opt.Lease + slack, RescueStuckJobsAfter: q.opt.Rescue, MaxAttempts: maxAttempts, RetryPolicy: steady{},
		CompletedJobRetentionPeriod: time.Minute, CancelledJobRetentionPeriod: time.Minute, DiscardedJobRetentionPeriod: time.Minute,
		Logger: slog.New(quiet{q.opt.Log.Handler()}),
	})
}

// takeUp settles what an earlier process left: whom it was to cancel is cancelled,
// and River gets the first job of each pull anew. Its own rows are of no use then.
func (q *Queue) takeUp(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM river_job;
		UPDATE jobs SET state = 'cancelled', ended = ?1 WHERE ended IS NULL AND stopping;
		UPDATE jobs SET state = 'waiting', river = 0 WHERE ended IS NULL`, stamp(time.Now()))
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, `SELECT DISTINCT pull FROM jobs WHERE ended IS NULL`)
	if err != nil {
		return err
	}
	pulls, err := collect(rows, func(rows *sql.Rows) (pull string, err error) { return pull, rows.Scan(&pull) })
	if err != nil {
		return err
	}
	for _, pull := range pulls {
		if err := q.deal(ctx, tx, pull); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the queue. It must have been stopped.
func (q *Queue) Close() error { return q.closeFiles() }

func (q *Queue) closeFiles() error {
	var err error
	if q.read != nil {
		err = q.read.Close()
	}
	if q.db != nil { // the last one folds the write-ahead log into the file
		err = errors.Join(err, q.db.Close())
	}
	return err
}

// write runs do in one transaction that has the write lock from its start. The one
// connection serves River too: do must ask nothing but tx. A context that is done is
// looked at before, not within: the caller would not know whether a COMMIT counted.
func (q *Queue) write(ctx context.Context, do func(ctx context.Context, tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(ctx, tx); err != nil {
		_ = tx.Rollback() // the reason counts
		return err
	}
	return tx.Commit()
}

// collect reads all rows and closes them.
func collect[T any](rows *sql.Rows, scan func(*sql.Rows) (T, error)) ([]T, error) {
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		all = append(all, one)
	}
	return all, errors.Join(rows.Err(), rows.Close())
}
