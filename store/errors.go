package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What can be wrong, for errors.Is. The errors that the package returns carry
// the store's path and one line for people.
var (
	// ErrNoStore: nothing stands at the path, or an empty file.
	ErrNoStore = errors.New("no store")
	// ErrNotStore: what stands at the path is no store of lastdrop.
	ErrNotStore = errors.New("is not a lastdrop store")
	// ErrNewer: a newer lastdrop made the store.
	ErrNewer = errors.New("made by a newer lastdrop")
	// ErrNotWritable: the file or its folder cannot be written.
	ErrNotWritable = errors.New("cannot be written")
	// ErrLocked: another program kept the file locked for too long.
	ErrLocked = errors.New("locked by another program")
	// ErrFull: the disk is full. Nothing of the failed write was kept.
	ErrFull = errors.New("disk full")
	// ErrCorrupt: the file is damaged, or its tables contradict each other.
	ErrCorrupt = errors.New("damaged")
	// ErrHeld: a living process holds the run. See HeldError.
	ErrHeld = errors.New("held by another process")
	// ErrLost: the run is no longer this process's.
	ErrLost = errors.New("run lost")
	// ErrNoRun: no run answers to the name.
	ErrNoRun = errors.New("no such run")
	// ErrAmbiguous: several runs do.
	ErrAmbiguous = errors.New("ambiguous run")
	// ErrNoReport: the run has none yet.
	ErrNoReport = errors.New("no report yet")
)

// A HeldError says who holds a run. It is an ErrHeld.
type HeldError struct {
	Run    string
	Holder Holder
}

// A Holder is the process that drains a run.
type Holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// Error names the run, the process and what to do.
func (e *HeldError) Error() string {
	return fmt.Sprintf("run %s is being drained by process %d on %s since %s; wait, or stop it",
		e.Run, e.Holder.PID, e.Holder.Host, stamp(e.Holder.Since))
}

// Is makes a HeldError an ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// fault is an error about a store: its path, the kind that callers branch on,
// and one line for people.
type fault struct {
	path  string
	kind  error
	text  string
	cause error
}

func (f *fault) Error() string { return f.path + ": " + f.text }

func (f *fault) Unwrap() []error {
	if f.cause == nil {
		return []error{f.kind}
	}
	return []error{f.kind, f.cause}
}

// explain turns an error of the driver into one that says what is the matter
// and what to do about it. Errors that are explained already, and those of a
// context, pass as they are.
func (f *file) explain(err error) error {
	var known *fault
	var held *HeldError
	if err == nil || errors.As(err, &known) || errors.As(err, &held) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return f.explainFile(err)
	}
	text, kind := f.explainCode(se.Code())
	if kind == nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return &fault{f.path, kind, text, err}
}

// What to do about it.
const (
	roomHint   = "nothing of this write was kept: free some space and start again; unfinished runs go on from their last checkpoint"
	rightsHint = "check the rights of the file and of its folder, or name another store with --db"
)

// explainCode says what a code of SQLite means, and of which kind it is; nil:
// of none.
func (f *file) explainCode(code int) (text string, kind error) {
	if code == sqlite3.SQLITE_IOERR_SHMSIZE { // no room for the index of the write-ahead log
		return "disk full; " + roomHint, ErrFull
	}
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		return "disk full; " + roomHint, ErrFull
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Sprintf("locked by another program for longer than %s: close what has it open for writing, and start again", f.busy), ErrLocked
	case sqlite3.SQLITE_CORRUPT:
		return "the file is damaged: put back a copy, or name another store with --db", ErrCorrupt
	case sqlite3.SQLITE_NOTADB:
		return "is not a lastdrop store (no SQLite file): name another one with --db", ErrNotStore
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return "cannot be written: " + rightsHint, ErrNotWritable
	case sqlite3.SQLITE_CANTOPEN:
		return "cannot be opened: " + rightsHint, ErrNotWritable
	}
	return "", nil
}

func (f *file) explainFile(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &fault{f.path, ErrFull, "disk full; " + roomHint, err}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return &fault{f.path, ErrNotWritable, "cannot be written: " + rightsHint, err}
	case strings.HasPrefix(err.Error(), f.path+": "):
		return err
	}
	return fmt.Errorf("%s: %w", f.path, err)
}

// isBusy reports whether err says that another connection has the lock.
func isBusy(err error) bool {
	var se *sqlite.Error
	return errors.As(err, &se) && se.Code()&0xff == sqlite3.SQLITE_BUSY
}
