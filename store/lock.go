package store

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Who may drain a run is settled by an advisory lock (flock) on a file of its
// own beside the store, <store>.<run>.lock. It is the simplest thing that is
// right:
//
//   - The system drops it when the process dies, however it dies: a run that
//     was killed can be taken up at once, without a time-out, a heartbeat or a
//     guess from process numbers, which come round again.
//   - It belongs to the open file, so that it also keeps two parts of one
//     process apart, and works between containers that share a folder.
//   - SQLite's own locks on the store are not touched. (A descriptor of ours
//     on the store's file itself would be a danger: closing it drops the locks
//     that SQLite holds for this process.)
//
// The holder_ columns of runs only name the holder for people. Of them,
// holder_token is a second fence: every checkpoint of a run asks for the token
// of the process that wrote last to be its own. Should somebody delete a lock
// file under a living process, and another process take the run up, then the
// first one's next checkpoint fails with ErrLost, and nothing is written twice.
//
// The file is removed when the run is let go. A process that is killed leaves
// it behind; the next one to take up the run uses and removes it.

// errHeld is lockFile's answer where somebody else has the lock.
var errHeld = errors.New("lock held")

// A runLock is the lock of one run, held.
type runLock struct{ f *os.File }

// lockName is the name of a run's lock file.
func (f *file) lockName(run string) string { return f.real + "." + run + ".lock" }

// acquire takes the lock at name, or says errHeld. isHeld looks at a lock by
// taking it for a moment, so a first refusal is tried again.
func acquire(name string) (*runLock, error) {
	const tries, pause = 5, 2 * time.Millisecond
	for try := 1; ; try++ {
		l, err := acquireOnce(name)
		if !errors.Is(err, errHeld) || try == tries {
			return l, err
		}
		time.Sleep(pause)
	}
}

// acquireOnce locks the file that stands at name when it has the lock: the
// one that it opened may have been removed before it was locked.
func acquireOnce(name string) (*runLock, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := lockFile(f, exclusive); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		same, err := standsAt(f, name)
		if err == nil && same {
			return &runLock{f}, nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// standsAt reports whether f is the file that name leads to.
func standsAt(f *os.File, name string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, there), err
}

// release gives the lock back and removes its file. A file that cannot be
// removed does no harm: the next holder of the run uses it.
func (l *runLock) release() error {
	if same, err := standsAt(l.f, l.f.Name()); err == nil && same {
		_ = os.Remove(l.f.Name())
	}
	return l.f.Close()
}

// isHeld reports whether a living process holds the lock at name.
func isHeld(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // nothing was written
	return errors.Is(lockFile(f, shared), errHeld)
}
