package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A Run is a run that this process drains. Its methods may be called from
// several goroutines; checkpoints follow one another.
type Run struct {
	store   *Store
	token   string
	id      string
	name    string
	seed    uint64
	started time.Time
	resumed bool
	others  []Info
	since   time.Time
	marks   bool // a COMPLETE end moves the mark

	mu     sync.Mutex
	lock   *runLock    // nil once it is let go
	totals int64       // rows in totals
	events int64       // rows in events
	sizes  map[int]int // by slice, the page size of its last attempt; 0: none
	keys   []byte      // room for those of one row
}

// ID is the run's id: short, unique in its store, sorting by time.
func (r *Run) ID() string { return r.id }

// Name is the pull's name.
func (r *Run) Name() string { return r.name }

// Seed is the run's own random number, made at its first Begin and kept: for
// hashing identities in a way that nobody outside can foresee.
func (r *Run) Seed() uint64 { return r.seed }

// Started is when the run first began.
func (r *Run) Started() time.Time { return r.started }

// Resumed reports whether the run was taken up and not made: Resume then says
// where it goes on.
func (r *Run) Resumed() bool { return r.resumed }

// Since is the mark that an incremental run began with, kept over resumes; the
// zero time is none.
func (r *Run) Since() time.Time { return r.since }

// Others are the unfinished runs of the same name under other configs, newest
// first, as they stood at Begin. Nothing will take them up but their own
// config.
func (r *Run) Others() []Info { return r.others }

// A Checkpoint is what becomes durable at once.
type Checkpoint struct {
	Attempts []reconcile.Attempt   // since the last checkpoint
	Totals   []reconcile.TotalSeen // since the last checkpoint
	Events   []reconcile.Event     // since the last checkpoint
	Slices   []reconcile.Slice     // those that are new or have changed
	Children []Child               // those that are new or have changed
	Length   int64                 // of the sink, in bytes, synced before
	Items    int64                 // in the sink at that length
	State    []byte                // JSON of the walk: where to go on; no secrets
}

// Commit writes a checkpoint in one transaction. It is atomic, and durable
// when it returns nil; after an error nothing of it counts, and the same
// checkpoint may be handed in again.
//
// An attempt's Seq must be new in the run, and Keys hold 16 bytes for each new
// item: of a held page always, of another one if it has any. Anything else is
// refused, since a run could not go on from it without doubling items.
//
// Errors: ErrFull, ErrLocked, ErrCorrupt; ErrLost when the run is no longer
// this process's. A ctx that is done already writes nothing; one that ends
// later does not stop the write.
func (r *Run) Commit(ctx context.Context, c Checkpoint) error {
	if err := c.check(); err != nil {
		return fmt.Errorf("run %s: %w", r.id, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lock == nil {
		return r.lost()
	}
	c.Attempts = inOrder(c.Attempts)
	steps := r.sizeSteps(c.Attempts)
	if err := r.store.write(ctx, func(ctx context.Context, tx *sql.Tx) error { return r.put(ctx, tx, c, steps) }); err != nil {
		return err
	}
	for _, s := range steps {
		r.sizes[s.slice] = s.size
	}
	r.totals += int64(len(c.Totals))
	r.events += int64(len(c.Events))
	return nil
}

// inOrder are attempts in the order of their requests.
func inOrder(attempts []reconcile.Attempt) []reconcile.Attempt {
	bySeq := func(a, b reconcile.Attempt) int { return cmp.Compare(a.Seq, b.Seq) }
	if slices.IsSortedFunc(attempts, bySeq) {
		return attempts
	}
	return slices.SortedFunc(slices.Values(attempts), bySeq)
}

// check refuses a checkpoint that could not be gone on from.
func (c Checkpoint) check() error {
	if c.Length < 0 || c.Items < 0 {
		return fmt.Errorf("checkpoint with %d items in %d bytes", c.Items, c.Length)
	}
	for _, a := range c.Attempts {
		if a.Seq < 1 {
			return fmt.Errorf("attempt number %d: they count from 1", a.Seq)
		}
		if !keysFit(a.Outcome, int64(a.New), len(a.Keys)) {
			return fmt.Errorf("attempt %d (%s): %d bytes of keys for %d new items, want 16 each", a.Seq, a.Outcome, len(a.Keys), a.New)
		}
	}
	return nil
}

// keysFit is the rule for the keys of an attempt: 16 bytes for each new item.
// Only a page that is not held may have none.
func keysFit(outcome reconcile.Outcome, added int64, bytes int) bool {
	return int64(bytes) == keySize*added || (bytes == 0 && outcome != reconcile.Held)
}

// keySize is the length of an item's identity hash.
const keySize = 16

// lost says that the run is not this process's to write.
func (r *Run) lost() error {
	return &fault{r.store.file.path, ErrLost, fmt.Sprintf("run %s is no longer held by this process", r.id), nil}
}

// Finish stores the run's report and lets the run go. The report's State
// decides what becomes of it: a stopped run can be taken up again, a finished
// or failed one cannot. An incremental run that is finished and COMPLETE moves
// the mark in the same transaction. After an error the run is still held and
// unchanged.
func (r *Run) Finish(ctx context.Context, report reconcile.Report) error {
	switch {
	case report.Run != r.id || report.Name != r.name:
		return fmt.Errorf("run %s (%s): handed the report of run %s (%s)", r.id, r.name, report.Run, report.Name)
	case report.State != Finished && report.State != Stopped && report.State != Failed:
		return fmt.Errorf("run %s: %q is no state to end in (finished, stopped or failed)", r.id, report.State)
	}
	text, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("run %s: %w", r.id, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lock == nil {
		return r.lost()
	}
	err = r.store.write(ctx, func(ctx context.Context, tx *sql.Tx) error { return r.end(ctx, tx, report, text) })
	if err != nil {
		return err
	}
	if report.State != Stopped {
		// A run at its end needs its identity hashes no more, and they are most
		// of what it weighs. If this fails, the run has ended all the same: the
		// next GC removes them.
		_ = r.store.deleteRows(ctx, "page_keys", "seq", keysAtOnce, r.id)
	}
	return r.release()
}

// end writes the report and its main figures.
func (r *Run) end(ctx context.Context, tx *sql.Tx, p reconcile.Report, text []byte) error {
	done, err := tx.ExecContext(ctx, `UPDATE runs SET state = ?, verdict = ?, strength = ?, exit = ?, items = ?, total = ?,
		missing = ?, pages = ?, attempts = ?, reach = ?, updated = ?, ended = ?, error = ?, report = ?, holder_token = NULL
		WHERE run = ? AND holder_token = ?`,
		p.State, p.Verdict.String(), nullText(p.Strength.String()), p.Exit, p.Items.Distinct, p.Total.Last,
		p.Missing, p.Pages.Held, p.Pages.Attempts, p.Reach, stamp(time.Now()), nullTime(p.Ended), nullText(p.Error), string(text),
		r.id, r.token)
	if err := r.mine(done, err); err != nil || !r.marks || p.State != Finished || p.Verdict != judge.Complete {
		return err
	}
	return r.moveMark(ctx, tx)
}

// mine checks that an update of the run's row with its token found the row.
func (r *Run) mine(done sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err == nil && n != 1 {
		return r.lost()
	}
	return err
}

// Close lets the run go without a report: it stays unfinished, and goes on
// from its last checkpoint when it is begun again. After Finish, and the
// second time, it does nothing.
func (r *Run) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.release()
}

// release gives the lock back, once.
func (r *Run) release() error {
	if r.lock == nil {
		return nil
	}
	lock := r.lock
	r.lock = nil
	return lock.release()
}
