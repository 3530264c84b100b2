package sink

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// A layer is what this package needs of a file system. It is an interface so that tests can stop, fill and
// break the disk at any of its operations.
type layer interface {
	paths
	// OpenFile is os.OpenFile.
	OpenFile(name string, flag int, perm fs.FileMode) (handle, error)
	// Rename replaces what stands at the new name in one step.
	Rename(from, to string) error
	Remove(name string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(name string) error
	// Same tells whether the file that h has open is the one that stands at name.
	Same(h handle, name string) (bool, error)
}

// paths are the questions about names, which touch nothing.
type paths interface {
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	// Writable returns why a file cannot be written, or nothing be created in a folder.
	Writable(name string) error
}

// A handle is an open file.
type handle interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	// Lock takes an advisory lock without waiting. It fails with ErrBusy when another handle, of this
	// process too, holds it. Closing the handle gives it back, as does the end of the process.
	Lock(how lockKind) error
}

// lockKind is how a lock goes along with others.
type lockKind int

const (
	lockShared    lockKind = iota // with other shared locks
	lockExclusive                 // with none
)

// system is the file system of the machine.
type system struct{}

func (system) OpenFile(name string, flag int, perm fs.FileMode) (handle, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not a typed nil
	}
	return systemFile{f}, nil
}

func (system) Rename(from, to string) error           { return os.Rename(from, to) }
func (system) Remove(name string) error               { return os.Remove(name) }
func (system) Stat(name string) (fs.FileInfo, error)  { return os.Stat(name) }
func (system) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (system) Readlink(name string) (string, error)   { return os.Readlink(name) }
func (system) Writable(name string) error             { return writable(name) }
func (system) Same(h handle, name string) (bool, error) {
	mine, err := h.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return os.SameFile(mine, there), nil
}

// SyncDir takes it for done where the file system has no such operation.
func (system) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

type systemFile struct{ *os.File }

// Lock names the process that holds the lock, where the system tells.
func (f systemFile) Lock(how lockKind) error {
	err := lock(f.File, how)
	if errors.Is(err, ErrBusy) {
		return busy(holder(f.File))
	}
	return err
}
