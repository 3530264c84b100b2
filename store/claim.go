package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// A Claim is a lock beside a store, held by this process.
type Claim struct{ lock *runLock }

// Claim takes the lock <store>.<what>.lock, which one process has at a time, until
// Release or its death. Where another has it, the error is an ErrHeld that says which.
func (r *Reader) Claim(what string) (*Claim, error) {
	name := r.file.lockName(what)
	lock, err := acquire(name)
	if errors.Is(err, errHeld) {
		return nil, &fault{r.file.path, ErrHeld, fmt.Sprintf("%s is running on this store already%s; stop that first", what, holderIn(name)), nil}
	}
	if err != nil {
		return nil, r.file.explain(err)
	}
	text, err := json.Marshal(Holder{PID: os.Getpid(), Host: hostname(), Since: time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		_, err = lock.f.WriteAt(text, 0)
	}
	if err == nil {
		err = lock.f.Truncate(int64(len(text)))
	}
	if err != nil {
		return nil, r.file.explain(errors.Join(err, lock.release()))
	}
	return &Claim{lock}, nil
}

// holderIn says whom a lock file names; "" where that cannot be read.
func holderIn(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // nothing was written
	var h Holder
	if json.NewDecoder(io.LimitReader(f, 4096)).Decode(&h) != nil || h.PID == 0 {
		return ""
	}
	return fmt.Sprintf(" (process %d on %s since %s)", h.PID, h.Host, stamp(h.Since))
}

// Release gives the lock back.
func (c *Claim) Release() error { return c.lock.release() }

// Path is where the store's file stands, without symbolic links.
func (r *Reader) Path() string { return r.file.real }
