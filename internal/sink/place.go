package sink

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// An aside is a file that is written beside its target and takes its place at the end.
//
// A stop at any instant, of the process or of the machine, leaves one of these states. "The mark" is the
// last one that the ledger holds, and so the last that a Sync had returned or an earlier one.
//
//  1. Nothing aside, or an empty file, and no mark or one of zero bytes. At the target stands what stood
//     there before, or nothing. A resume is a fresh start.
//  2. The file aside, at least as long as the mark and as marked up to there: its bytes and its name were
//     fsynced before the mark was known to anyone. What follows the mark is whatever the stop left of the
//     writes since, cut off by a resume. At the target stands what stood there before, or nothing.
//  3. Nothing aside, or an empty file, and the file of state 2 at the target: Finish had renamed it. The
//     ledger may or may not know; whoever sets ResumeCommitted once Finish is about to be called covers
//     both. A resume renames it back; a stop within that is state 2 or 3 again.
//
// A rename is one step, and the folder is fsynced after it, so that the name of the target always means
// the old file or the new one, both whole. Renaming back happens only in state 3, where the file at the
// target is this run's own by its mark: what had stood there before was replaced by a commit, or nothing
// had. In all other states, as when somebody else moved, cut or wrote the files, a resume changes nothing
// and fails with ErrShort or ErrChanged.
type aside struct {
	files layer
	spot
	onAny  bool
	before func(int64, Lines) error
	stop   func() error // never nil
	base   Mark         // what the file begins with
	h      handle       // open and locked
	path   string       // of h: partial, or target while a committed file is not yet taken up
	names  bool         // the folder may hold a name that is not yet durable
}

// openAside opens and locks the file that the options mean and checks it against the mark.
func openAside(files layer, o Options) (*aside, error) {
	s, err := locate(files, o)
	if err != nil {
		return nil, err
	}
	// Whoever made or renamed the file may have been stopped before the folder was fsynced.
	a := &aside{files: files, spot: s, onAny: o.OnAny, before: o.Before, stop: o.Stop, names: true}
	if a.stop == nil {
		a.stop = func() error { return nil }
	}
	if o.Resume != nil {
		a.base = *o.Resume
	}
	err = a.open(o.Resume != nil && o.ResumeCommitted && !o.made())
	if err == nil {
		err = a.verify()
	}
	if err != nil {
		return nil, cmp.Or(err, closeIf(a.h))
	}
	return a, nil
}

// open finds the file: aside, or at the target if it may have been committed, or a new one.
func (a *aside) open(committed bool) error {
	flag := os.O_CREATE
	if a.base.Length > 0 || committed {
		flag = 0
	}
	size, err := a.take(a.partial, flag)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if committed && size == 0 {
		if taken, err := a.takeCommitted(); taken || err != nil {
			return err
		}
	}
	switch {
	case !missing:
		return nil
	case a.base.Length > 0:
		return a.short(a.partial, "it is not there")
	}
	_, err = a.take(a.partial, os.O_CREATE)
	return err
}

// takeCommitted takes the target in place of the file aside when it can be this run's.
func (a *aside) takeCommitted() (bool, error) {
	info, err := regular(a.files, a.target)
	if err != nil || info == nil || !a.fits(info.Size()) {
		return false, err
	}
	if a.base.Length == 0 {
		if blank, err := a.blank(); err != nil || !blank {
			return false, err
		}
	}
	empty := a.h
	size, err := a.take(a.target, 0)
	if err != nil {
		return false, err
	}
	if !a.fits(size) {
		err = moved(a.target, nil)
	}
	return true, cmp.Or(err, closeIf(empty))
}

// fits tells whether a committed file of a size can hold the mark. To an empty mark only a file without
// items belongs, since all others hold something to lose.
func (a *aside) fits(size int64) bool {
	if a.base.Length == 0 {
		return size <= emptyLength(a.format)
	}
	return size >= a.base.Length
}

// blank tells that the file at the target, a short one, holds no items. One that may not be read holds some.
func (a *aside) blank() (bool, error) {
	h, err := a.files.OpenFile(a.target, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrPermission) {
		return false, nil
	}
	if err != nil {
		return false, fault("open", a.target, err)
	}
	defer h.Close()
	data, err := io.ReadAll(io.LimitReader(h, emptyLength(a.format)+1))
	if err != nil {
		return false, fault("read", a.target, err)
	}
	got, err := inspect(bytes.NewReader(data), a.format)
	return len(data) == 0 || (err == nil && got.items == 0 && !got.torn), nil
}

func closeIf(h handle) error {
	if h == nil {
		return nil
	}
	return h.Close()
}

// take opens and locks the file at path and returns its size. Opened for appending, a file that somebody
// else cuts or lengthens ends up with another length than this run gave it, and settle sees that.
func (a *aside) take(path string, flag int) (int64, error) {
	const most = 10 // a file that is moved away between opening and locking is another run's commit
	for range most {
		h, err := a.files.OpenFile(path, os.O_RDWR|os.O_APPEND|flag, a.perm())
		if err != nil {
			return 0, fault("open", path, err)
		}
		size, there, err := a.claim(h, path)
		if err == nil && there {
			a.h, a.path = h, path
			return size, nil
		}
		if err = cmp.Or(err, h.Close()); err != nil {
			return 0, fault("open", path, err)
		}
	}
	return 0, lockFault(path, ErrBusy)
}

// claim locks a file and looks whether it is still the one at path.
func (a *aside) claim(h handle, path string) (size int64, there bool, err error) {
	if err := h.Lock(lockExclusive); err != nil {
		return 0, false, lockFault(path, err)
	}
	if there, err = a.files.Same(h, path); err != nil || !there {
		return 0, false, err
	}
	if path == a.partial {
		linked, err := a.files.Same(h, a.target)
		if err != nil {
			return 0, false, err
		}
		if linked {
			err := errors.New("it is a hard link to the target")
			return 0, false, &Error{Op: "write", Path: path, Err: err, Hint: "remove one of the two names"}
		}
	}
	info, err := h.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), true, nil
}

// perm is that of a new file: no wider than that of the file it will replace, and writable for a resume.
func (a *aside) perm() fs.FileMode {
	if a.mode == 0 {
		return 0o666
	}
	return a.mode | 0o600
}

// verify compares the file up to the mark with the mark, and completes a mark without a sum.
func (a *aside) verify() error {
	if a.base.Length == 0 {
		a.base.Sum = 0
		return nil
	}
	info, err := a.h.Stat()
	if err != nil {
		return fault("read", a.path, err)
	}
	if info.Size() < a.base.Length {
		return a.short(a.path, fmt.Sprintf("it has %d bytes", info.Size()))
	}
	if _, err := a.h.Seek(0, io.SeekStart); err != nil {
		return fault("read", a.path, err)
	}
	head := io.LimitReader(stoppable{a.h, a.stop}, a.base.Length)
	if a.base.Sum != 0 {
		return a.verifySum(head)
	}
	got, err := inspect(head, a.format)
	if err != nil || got.torn || got.items != a.base.Items {
		return a.changed(fmt.Sprintf("%d items are read there (%s)", got.items, wholeness(got.torn, err)))
	}
	a.base.Sum = got.sum
	return nil
}

func (a *aside) verifySum(head io.Reader) error {
	m := meter{}
	if _, err := io.CopyBuffer(&m, head, make([]byte, bufferSize)); err != nil {
		return fault("read", a.path, err)
	}
	if m.length != a.base.Length {
		return a.short(a.path, fmt.Sprintf("%d bytes can be read", m.length))
	}
	if m.sum != a.base.Sum {
		return a.changed(fmt.Sprintf("their checksum is %08x instead of %08x", m.sum, a.base.Sum))
	}
	return nil
}

const anew = "restore the file, or start anew (--fresh)"

func (a *aside) short(path, found string) error {
	err := fmt.Errorf("%w: %d items in %d bytes, but %s", ErrShort, a.base.Items, a.base.Length, found)
	return &Error{Op: "resume", Path: path, Err: err, Hint: anew}
}

func (a *aside) changed(found string) error {
	err := fmt.Errorf("%w: %d items in its first %d bytes, but %s", ErrChanged, a.base.Items, a.base.Length, found)
	return &Error{Op: "resume", Path: a.path, Err: err, Hint: anew}
}

// begin brings the file aside if it is at the target, and cuts it back to the mark.
func (a *aside) begin() error {
	if a.path != a.partial {
		if err := a.bringBack(); err != nil {
			return err
		}
	}
	return fault("cut back", a.path, a.h.Truncate(a.base.Length))
}

// bringBack undoes the rename of an earlier commit.
func (a *aside) bringBack() error {
	info, err := regular(a.files, a.partial)
	if err != nil {
		return err
	}
	if info != nil && info.Size() > 0 {
		return &Error{Op: "resume", Path: a.partial, Err: ErrMoved, Hint: "remove it, then run again"}
	}
	if same, err := a.files.Same(a.h, a.target); err != nil || !same {
		return moved(a.target, err)
	}
	if err := a.files.Rename(a.target, a.partial); err != nil {
		return fault("move back", a.target, err)
	}
	a.path = a.partial
	// Before the first byte, else a power cut could bring the old name back with new bytes.
	return fault("sync the folder of", a.path, a.files.SyncDir(a.dir))
}

func (a *aside) Write(p []byte) (int, error) {
	n, err := a.h.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, fault("write", a.path, err)
}

// settle fsyncs the file, the folder if it holds a new name, and sees to it that the file is still there and
// has the length that this run gave it.
func (a *aside) settle(length int64) error {
	if err := a.h.Sync(); err != nil {
		return fault("sync", a.path, err)
	}
	if err := a.unmoved(length); err != nil {
		return err
	}
	if !a.names {
		return nil
	}
	if err := a.files.SyncDir(a.dir); err != nil {
		return fault("sync the folder of", a.path, err)
	}
	a.names = false
	return nil
}

func (a *aside) unmoved(length int64) error {
	if same, err := a.files.Same(a.h, a.path); err != nil || !same {
		return moved(a.path, err)
	}
	info, err := a.h.Stat()
	if err != nil {
		return fault("sync", a.path, err)
	}
	if info.Size() != length {
		err := fmt.Errorf("%w: it has %d bytes, of which this run wrote %d", ErrMoved, info.Size(), length)
		return &Error{Op: "write", Path: a.path, Err: err}
	}
	return nil
}

func moved(path string, err error) error {
	if err == nil {
		err = ErrMoved
	}
	return &Error{Op: "write", Path: path, Err: err, Hint: "leave the file alone while a run writes it"}
}

// release removes the file when it is not to be kept or when nothing is in it.
func (a *aside) release(keep bool) error {
	err := a.remove(keep)
	return cmp.Or(err, fault("close", a.path, a.h.Close()))
}

func (a *aside) remove(keep bool) error {
	if a.path != a.partial {
		return nil
	}
	info, err := a.h.Stat()
	if err != nil {
		return fault("close", a.path, err)
	}
	if keep && info.Size() > 0 {
		return nil
	}
	if same, err := a.files.Same(a.h, a.path); err != nil || !same {
		return fault("remove", a.path, err)
	}
	return fault("remove", a.path, a.files.Remove(a.path))
}
