package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// The states of a run.
const (
	Running   = "running"   // a process drains it, or died doing so
	Stopped   = "stopped"   // by a signal or a budget
	Finished  = "finished"  // it came to its end
	Failed    = "failed"    // it could not run
	Abandoned = "abandoned" // given up for a fresh start
)

// BeginOptions says which run is wanted.
type BeginOptions struct {
	// Name is the pull's name.
	Name string
	// ConfigHash tells configs apart: an unfinished run goes on only under
	// the config that it began with.
	ConfigHash string
	// Config is the config for people, its secrets hidden.
	Config string
	// Version is that of the program.
	Version string
	// Fresh asks for a new run; unfinished ones of the same name and config
	// are abandoned.
	Fresh bool
	// Incremental asks for the mark of the name and config, which a COMPLETE
	// end moves to the run's start.
	Incremental bool
}

// Begin takes up the newest unfinished run (running or stopped) of the same
// name and config, or makes a new one. The run belongs to this process until
// Finish, Close or its death; what it holds is in Run.Resume.
//
// Unfinished runs of the same name under another config are left alone; Others
// of the run lists them.
//
// Where a living process holds the run that would be taken up or abandoned,
// the error is a *HeldError, and nothing has changed. Nor has it where a new
// incremental run would begin with a mark that is later than now.
func (s *Store) Begin(ctx context.Context, o BeginOptions) (*Run, error) {
	if o.Name == "" || o.ConfigHash == "" {
		return nil, errors.New("a run needs a name and the hash of its config")
	}
	b := &beginning{store: s, options: o, now: time.Now().UTC(), token: fmt.Sprintf("%016x", randomBits())}
	if err := s.write(ctx, b.do); err != nil {
		return nil, errors.Join(err, b.dropLock())
	}
	r := b.run
	r.others = b.others
	for i := range r.others {
		s.nameHolder(&r.others[i])
	}
	return r, nil
}

// CheckHolder is the *HeldError that Begin would give for a name and config: a
// living process holds an unfinished run of them. It is for those who look at
// other things before they begin.
func (r *Reader) CheckHolder(ctx context.Context, name, configHash string) error {
	found, err := r.infos(ctx, ` WHERE name = ? AND config_hash = ? AND state = 'running' ORDER BY run DESC`, name, configHash)
	for _, i := range found {
		if i.Holder != nil {
			return &HeldError{Run: i.Run, Holder: *i.Holder}
		}
	}
	return err
}

// A beginning is one call of Begin. All of it happens in one transaction, so
// that beginnings in several processes follow one another.
type beginning struct {
	store   *Store
	options BeginOptions
	now     time.Time
	token   string

	lock   *runLock
	run    *Run
	others []Info
}

func (b *beginning) do(ctx context.Context, tx *sql.Tx) error {
	mine, err := b.unfinished(ctx, tx)
	if err != nil {
		return err
	}
	if b.options.Fresh {
		if err := b.abandon(ctx, tx, mine); err != nil {
			return err
		}
		mine = nil
	}
	if len(mine) > 0 {
		return b.takeUp(ctx, tx, mine[0])
	}
	return b.create(ctx, tx)
}

// unfinished finds the unfinished runs of the name, newest first: those of
// the same config are returned, the others kept for the caller.
func (b *beginning) unfinished(ctx context.Context, tx *sql.Tx) ([]Info, error) {
	rows, err := tx.QueryContext(ctx, selectInfo+
		` WHERE name = ? AND state IN ('running', 'stopped') ORDER BY run DESC`, b.options.Name)
	if err != nil {
		return nil, err
	}
	all, err := collect(rows, scanInfo)
	var mine []Info
	for _, i := range all {
		if i.ConfigHash == b.options.ConfigHash {
			mine = append(mine, i)
		} else {
			b.others = append(b.others, i)
		}
	}
	return mine, err
}

// abandon gives runs up, if no living process holds one of them.
func (b *beginning) abandon(ctx context.Context, tx *sql.Tx, runs []Info) error {
	for _, i := range runs {
		lock, err := b.acquire(i)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE runs SET state = ?, updated = ?, holder_token = NULL WHERE run = ?`,
			Abandoned, stamp(b.now), i.Run)
		if err := errors.Join(err, lock.release()); err != nil {
			return err
		}
	}
	return nil
}

// acquire takes the lock of a run that stands in the store.
func (b *beginning) acquire(i Info) (*runLock, error) {
	lock, err := acquire(b.store.file.lockName(i.Run))
	if errors.Is(err, errHeld) {
		return nil, &HeldError{Run: i.Run, Holder: i.lastHolder}
	}
	return lock, err
}

func (b *beginning) takeUp(ctx context.Context, tx *sql.Tx, i Info) error {
	lock, err := b.acquire(i)
	if err != nil {
		return err
	}
	b.lock = lock
	seed, err := strconv.ParseUint(i.seed, 16, 64)
	if err != nil {
		return &fault{b.store.file.path, ErrCorrupt, fmt.Sprintf("the seed of run %s is damaged: %q", i.Run, i.seed), err}
	}
	// The figures of an earlier stop's report no longer hold: those of the last
	// checkpoint do.
	_, err = tx.ExecContext(ctx, `UPDATE runs SET state = ?1, updated = ?2, version = ?3,
		verdict = NULL, strength = NULL, exit = NULL, total = NULL, missing = NULL, reach = NULL,
		ended = NULL, error = NULL, report = NULL,
		items = coalesce((SELECT items FROM checkpoints WHERE run = ?7), 0),
		attempts = coalesce((SELECT attempts FROM checkpoints WHERE run = ?7), 0),
		pages = coalesce((SELECT held FROM checkpoints WHERE run = ?7), 0),
		holder_pid = ?4, holder_host = ?5, holder_since = ?2, holder_token = ?6 WHERE run = ?7`,
		Running, stamp(b.now), b.options.Version, os.Getpid(), hostname(), b.token, i.Run)
	if err != nil {
		return err
	}
	b.run = b.newRun(i.Run, seed, i.Started, true)
	b.run.since = i.since
	if err := b.run.readSizes(ctx, tx); err != nil {
		return err
	}
	return tx.QueryRowContext(ctx, `SELECT
		(SELECT coalesce(max(n), 0) FROM totals WHERE run = ?1),
		(SELECT coalesce(max(n), 0) FROM events WHERE run = ?1)`, i.Run).Scan(&b.run.totals, &b.run.events)
}

func (b *beginning) create(ctx context.Context, tx *sql.Tx) error {
	var newest string
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(run), '') FROM runs`).Scan(&newest); err != nil {
		return err
	}
	since, err := b.since(ctx, tx)
	if err != nil {
		return err
	}
	id := newID(b.now, newest)
	lock, err := acquire(b.store.file.lockName(id))
	if err != nil {
		return err
	}
	b.lock = lock
	seed := randomBits()
	_, err = tx.ExecContext(ctx, `INSERT INTO runs (run, name, state, started, updated, version, config_hash, seed,
		holder_pid, holder_host, holder_since, holder_token, config, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, b.options.Name, Running, stamp(b.now), stamp(b.now), b.options.Version, b.options.ConfigHash,
		fmt.Sprintf("%016x", seed), os.Getpid(), hostname(), stamp(b.now), b.token, b.options.Config, since)
	b.run = b.newRun(id, seed, parseStamp(stamp(b.now)), false)
	if text, ok := since.(string); ok {
		b.run.since = parseStamp(text)
	}
	return err
}

func (b *beginning) newRun(id string, seed uint64, started time.Time, resumed bool) *Run {
	return &Run{
		store: b.store, lock: b.lock, token: b.token,
		id: id, name: b.options.Name, seed: seed, started: started, resumed: resumed, marks: b.options.Incremental,
		sizes: map[int]int{},
	}
}

// dropLock gives back what a beginning took that came to nothing.
func (b *beginning) dropLock() error {
	if b.lock == nil {
		return nil
	}
	return b.lock.release()
}

// hostname names this machine for people.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
