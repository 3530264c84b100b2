package sink

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// finish reads the file back, commits it if the gate is open, and lets go of it.
func (a *aside) finish(want Mark, complete bool) (Output, error) {
	out, err := a.check(want)
	if err != nil {
		return out, err
	}
	mode, open, err := a.gate(complete)
	if err != nil {
		return out, err
	}
	if !open {
		return out, fault("close", out.Path, a.h.Close())
	}
	if err := a.handOver(want); err != nil {
		return out, err
	}
	if err := a.commit(mode, want.Length); err != nil {
		return out, err
	}
	out.Path, out.Committed = a.shown, true
	if err := a.files.SyncDir(a.dir); err != nil {
		return out, fault("sync the folder of", a.target, err)
	}
	return out, fault("close", out.Path, a.h.Close())
}

// check reads the file back, which must be as the mark says.
func (a *aside) check(want Mark) (Output, error) {
	got, err := a.readBack()
	out := Output{Path: a.partial, Items: got.items, Bytes: got.length, SHA256: got.digest(), Torn: got.torn}
	if err == nil {
		err = got.compare(want)
	}
	if err != nil {
		return out, unlike(a.partial, err)
	}
	return out, nil
}

// unlike is what is read back and is not what was written.
func unlike(path string, err error) error {
	err = fmt.Errorf("%w: %w", ErrReadBack, bare(err))
	return &Error{Op: "read back", Path: path, Err: err, Hint: "check the disk, then start anew (--fresh)"}
}

// handOver gives the items to whoever must have taken them before a commit.
func (a *aside) handOver(want Mark) error {
	if a.before == nil {
		return nil
	}
	return fault("hand over", a.partial, a.before(want.Items, a.items(want.Length)))
}

// readBack reads the file by its name, and not through the handle that wrote it.
func (a *aside) readBack() (found, error) {
	h, err := a.files.OpenFile(a.partial, os.O_RDONLY, 0)
	if err != nil {
		return found{}, err
	}
	defer h.Close()
	return inspect(stoppable{h, a.stop}, a.format)
}

// A stoppable file fails once it is told to stop.
type stoppable struct {
	handle
	stop func() error
}

func (s stoppable) Read(p []byte) (int, error) {
	if err := s.stop(); err != nil {
		return 0, err
	}
	return s.handle.Read(p)
}

func (s stoppable) ReadAt(p []byte, at int64) (int, error) {
	if err := s.stop(); err != nil {
		return 0, err
	}
	return s.handle.ReadAt(p, at)
}

// gate tells whether the file may go to the target, and with which permissions; 0 is its own.
func (a *aside) gate(complete bool) (mode fs.FileMode, open bool, err error) {
	info, err := regular(a.files, a.target)
	if err != nil {
		return 0, false, err
	}
	if info == nil {
		return 0, a.allowed(false, complete), nil
	}
	return info.Mode().Perm(), a.allowed(true, complete), nil
}

// allowed is what the commit gate says. What stands behind whoever is to take the items before is not known, and
// hence protected as if something did.
func (a *aside) allowed(guarded, complete bool) bool {
	return complete || a.onAny || (!guarded && a.before == nil)
}

// commit gives the file the permissions of the one it replaces, and its name.
func (a *aside) commit(mode fs.FileMode, length int64) error {
	if err := a.keepMode(mode); err != nil {
		return err
	}
	if err := a.unmoved(length); err != nil {
		return err
	}
	if err := a.files.Rename(a.partial, a.target); err != nil {
		return fault("replace", a.shown, err)
	}
	a.path = a.target
	return nil
}

func (a *aside) keepMode(mode fs.FileMode) error {
	info, err := a.h.Stat()
	if err != nil {
		return fault("read", a.partial, err)
	}
	if mode == 0 || info.Mode().Perm() == mode {
		return nil
	}
	if err := a.h.Chmod(mode); err != nil {
		return fault("keep the permissions of "+printable(a.shown)+" for", a.partial, err)
	}
	return fault("sync", a.partial, a.h.Sync())
}

// compare tells how what was read differs from what was written.
func (f *found) compare(want Mark) error {
	switch {
	case f.torn:
		return fmt.Errorf("the last line of %d bytes has no end", f.length)
	case f.length != want.Length:
		return fmt.Errorf("%d bytes of %d", f.length, want.Length)
	case f.items != want.Items:
		return fmt.Errorf("%d items of %d", f.items, want.Items)
	case f.sum != want.Sum:
		return fmt.Errorf("the checksum is %08x instead of %08x", f.sum, want.Sum)
	}
	return nil
}

// found is what a file held.
type found struct {
	meter
	items int64
	torn  bool
}

// inspect reads a whole file strictly. With an error it tells how far it came.
func inspect(r io.Reader, f format) (found, error) {
	got := found{meter: meter{hash: newHash()}}
	var err error
	got.items, got.torn, err = f.count(io.TeeReader(r, &got.meter))
	return got, err
}

func wholeness(torn bool, err error) string {
	switch {
	case err != nil:
		return oneLine(bare(err).Error())
	case torn:
		return "the last is torn"
	}
	return "all whole"
}
