package sink

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// What callers branch on; found with errors.Is.
var (
	// ErrShort: the file has fewer bytes than its mark, or is gone.
	ErrShort = errors.New("data that the ledger counts is gone")
	// ErrChanged: the bytes before the mark are not those that were marked.
	ErrChanged = errors.New("the file is not as this run left it")
	// ErrBusy: another run holds the file.
	ErrBusy = errors.New("another run is writing it")
	// ErrMoved: the file was moved, replaced or changed from outside while it was written.
	ErrMoved = errors.New("it was changed from outside while this run wrote it")
	// ErrReadBack: what is on disk is not what was written.
	ErrReadBack = errors.New("what is on disk is not what was written")
	// ErrItem: an item is not one line of text.
	ErrItem = errors.New("an item must be one line")
	// ErrClosed: the file was closed or finished before.
	ErrClosed = errors.New("the output is closed")
)

// Error tells what could not be done with which path, why, and what helps. It reads as one line.
type Error struct {
	Op   string // what was tried: "write", "open"
	Path string
	Err  error  // the cause
	Hint string // what the user can do about it, may be empty
}

func (e *Error) Error() string {
	text := "cannot " + e.Op + " " + printable(e.Path) + ": " + oneLine(bare(e.Err).Error())
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fault wraps a cause with what was tried, and with the cure where the cause has a known one. A cause that
// is an Error already says these itself.
func fault(op, path string, err error) error {
	var already *Error
	if err == nil || errors.As(err, &already) {
		return err
	}
	return &Error{Op: op, Path: path, Err: err, Hint: cure(err)}
}

// cures are what helps against the errors of a file system that a user can do something about.
var cures = []struct {
	err  error
	hint string
}{
	{syscall.ENOSPC, "the disk is full: free some space and run again, which goes on from the last checkpoint"},
	{syscall.EDQUOT, "the quota is used up: free some space and run again, which goes on from the last checkpoint"},
	{syscall.EFBIG, "the file is too large for its file system or limit: write to another, or with .zst"},
	{syscall.EROFS, "the file system is mounted read-only: name an output elsewhere"},
	{syscall.EIO, "the disk or mount is failing: check it, then run again, which goes on from the last checkpoint"},
	{syscall.EPIPE, "whoever read the output is gone"},
	{syscall.ENAMETOOLONG, "name a shorter output"},
	{fs.ErrPermission, "change the permissions or name an output elsewhere"},
}

func cure(err error) string {
	for _, c := range cures {
		if errors.Is(err, c.err) {
			return c.hint
		}
	}
	return ""
}

// bare strips the wrappers of package os, which repeat the path.
func bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	var call *os.SyscallError
	switch {
	case errors.As(err, &path):
		return bare(path.Err)
	case errors.As(err, &link):
		return bare(link.Err)
	case errors.As(err, &call):
		return bare(call.Err)
	}
	return err
}

// printable quotes a path that would break the line or the terminal.
func printable(path string) string {
	if quoted := strconv.Quote(path); quoted != `"`+path+`"` || path == "" {
		return quoted
	}
	return path
}

func oneLine(text string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(text)
}
