package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// asideEnding is appended to the target's name for the file that is written.
const asideEnding = ".partial"

// A spot is where the files of a target stand.
type spot struct {
	shown   string // the target as the user wrote it
	target  string // the file that a commit replaces: shown with its links followed
	partial string
	dir     string // of both
	far     bool   // the target is no file
	format  format
	mode    fs.FileMode // permissions of the file at the target, 0 where none stands
}

// Check finds out, before the first request is sent, whether [Open] could write to a target: its ending, its
// folder, permissions, what stands there, and whether another run holds it. It touches nothing. A nil error
// is no promise: the disk may fill and others may come first.
func Check(o Options) error {
	return check(system{}, o)
}

func check(files layer, o Options) error {
	if o.Target == Stdout {
		return nil
	}
	s, err := locate(files, o)
	if err != nil {
		return err
	}
	if o.Table != nil {
		if err := o.Table.Check(); err != nil {
			return fault("load into", s.shown, err)
		}
	}
	h, err := files.OpenFile(s.partial, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault("open", s.partial, err)
	}
	defer h.Close()
	return lockFault(s.partial, h.Lock(lockShared))
}

// lockFault adds what helps against a lock that was not to be had.
func lockFault(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrBusy):
		return &Error{Op: "write", Path: path, Err: err, Hint: "wait for it, stop it, or name another output"}
	}
	return &Error{Op: "lock", Path: path, Err: err, Hint: "name an output on a file system with locks"}
}

// Aside is the file beside a target that holds the items of a run until its
// end.
func Aside(o Options) string {
	target := o.file()
	if to, err := follow(system{}, target); err == nil {
		target = to
	}
	return target + o.asideEnding()
}

// file is the name that the files beside the target begin with.
func (o Options) file() string {
	if o.Beside != "" {
		return o.Beside
	}
	return o.Target
}

func (o Options) asideEnding() string {
	if o.Table != nil {
		return "." + o.Table.Name() + asideEnding
	}
	return asideEnding
}

// made tells whether the target is made of the lines at the end.
func (o Options) made() bool { return o.Form != nil || o.Table != nil }

// locate finds the spot of a target and checks all that can be checked without touching it.
func locate(files layer, o Options) (spot, error) {
	target := o.file()
	s := spot{shown: o.Target, far: o.Beside != ""}
	if target == "" {
		err := errors.New("the output has no name")
		return s, &Error{Op: "open", Path: target, Err: err, Hint: "name a file, or - for standard output"}
	}
	var err error
	if s.target, err = follow(files, target); err != nil {
		return s, &Error{Op: "open", Path: target, Err: err, Hint: "name the file itself"}
	}
	s.partial = s.target + o.asideEnding()
	// filepath.Dir would clean the path, and that is wrong behind a link.
	if s.dir, _ = filepath.Split(s.target); s.dir == "" {
		s.dir = "."
	}
	if err := s.checkFolder(files); err != nil {
		return s, err
	}
	if err := s.checkFiles(files); err != nil {
		return s, err
	}
	if o.made() {
		s.format = plainLines
		return s, nil
	}
	s.format, err = formatOf(target)
	return s, err
}

// follow resolves the target if it is a link, also one that points to nothing yet: the rename of a commit
// has to replace what the link points at, not the link.
func follow(files paths, name string) (string, error) {
	const most = 40 // as the Linux kernel
	for range most {
		info, err := files.Lstat(name)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return name, nil // what is wrong with the name itself is found by the checks of its folder
		}
		to, err := files.Readlink(name)
		if err != nil {
			return name, err
		}
		if !filepath.IsAbs(to) {
			dir, _ := filepath.Split(name)
			to = dir + to
		}
		name = to
	}
	return name, fmt.Errorf("more than %d links one behind another", most)
}

func (s *spot) checkFolder(files paths) error {
	dir := filepath.Clean(s.dir)
	info, err := files.Stat(s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{
			Op: "open", Path: s.shown, Err: fmt.Errorf("there is no folder %s: %w", printable(dir), bare(err)),
			Hint: "make it first (mkdir -p " + printable(dir) + ") or correct the name",
		}
	case errors.Is(err, syscall.ENOTDIR), err == nil && !info.IsDir():
		err := fmt.Errorf("%s is not a folder", printable(dir))
		return &Error{Op: "open", Path: s.shown, Err: err, Hint: "name an output elsewhere"}
	case err != nil:
		return fault("open", s.shown, err)
	}
	if err := files.Writable(s.dir); err != nil {
		return &Error{
			Op: "open", Path: s.shown, Err: fmt.Errorf("the folder %s is not writable: %w", printable(dir), bare(err)),
			Hint: cure(err),
		}
	}
	return nil
}

// checkFiles looks at what stands at the target and aside.
func (s *spot) checkFiles(files paths) error {
	if !s.far {
		info, err := regular(files, s.target)
		if err != nil {
			return err
		}
		if info != nil {
			s.mode = info.Mode().Perm()
		}
	}
	info, err := regular(files, s.partial)
	if err != nil || info == nil {
		return err
	}
	return fault("write", s.partial, files.Writable(s.partial))
}

// regular returns nil where nothing stands, and refuses all but a plain file.
func regular(files paths, name string) (fs.FileInfo, error) {
	if os.IsPathSeparator(name[len(name)-1]) {
		return nil, folderFault(name)
	}
	info, err := files.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fault("open", name, err)
	case info.IsDir():
		return nil, folderFault(name)
	case !info.Mode().IsRegular():
		err := errors.New("it is not a regular file")
		return nil, &Error{Op: "write", Path: name, Err: err, Hint: "name another output, or - for standard output"}
	}
	return info, nil
}

func folderFault(name string) error {
	hint := "name a file in it, such as " + printable(filepath.Join(name, "items.jsonl"))
	return &Error{Op: "write", Path: name, Err: errors.New("it is a folder"), Hint: hint}
}
