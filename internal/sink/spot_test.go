//go:build unix

package sink

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// files lays out what the bad targets below run into.
func layOut(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	err := errors.Join(
		os.MkdirAll("folder.jsonl", 0o755),
		os.MkdirAll("aside.jsonl.partial", 0o755),
		os.WriteFile("file", nil, 0o600),
		os.Symlink("nothing", "broken.jsonl.partial"),
		os.Symlink("loop.jsonl", "loop.jsonl"),
		os.Symlink(filepath.Join("missing", "x.jsonl"), "astray.jsonl"),
		syscall.Mkfifo("pipe.jsonl", 0o600),
		os.WriteFile("one.jsonl", oldFile, 0o600),
		os.Link("one.jsonl", "one.jsonl.partial"),
	)
	if err != nil {
		t.Fatal(err)
	}
}

var badTargets = []struct {
	target string
	says   []string
}{
	{"", []string{"no name"}},
	{"missing/x.jsonl", []string{"missing/x.jsonl", "there is no folder missing", "mkdir -p missing"}},
	{"missing/", []string{"there is no folder missing"}},
	{"folder.jsonl", []string{"folder.jsonl: it is a folder", "folder.jsonl/items.jsonl"}},
	{"folder.jsonl/", []string{"it is a folder"}},
	{".", []string{"it is a folder"}},
	{"file/x.jsonl", []string{"file/x.jsonl", "file is not a folder"}},
	{"file/sub/x.jsonl", []string{"file/sub/x.jsonl", "file/sub is not a folder"}},
	{"aside.jsonl", []string{"aside.jsonl.partial: it is a folder"}},
	{"broken.jsonl", []string{"broken.jsonl.partial: it is not a regular file"}},
	{"pipe.jsonl", []string{"pipe.jsonl: it is not a regular file"}},
	{"loop.jsonl", []string{"loop.jsonl", "links one behind another"}},
	{"astray.jsonl", []string{"there is no folder missing"}},
	{"x.csv", []string{"x.csv: its ending", ".jsonl.gz, .jsonl.zst", ".ndjson"}},
	{"x.json", []string{"x.json: its ending", ".jsonl"}},
	{"x.jsonl.bz2", []string{"its ending"}},
	{"x", []string{"its ending"}},
	{"new\nline.csv", []string{`"new\nline.csv"`}},
	{strings.Repeat("n", 250) + ".jsonl", []string{"file name too long", "shorter"}},
}

func TestBadTargets(t *testing.T) {
	layOut(t)
	before := tree(t)
	for _, c := range badTargets {
		checkErr := Check(Options{Target: c.target})
		_, openErr := Open(Options{Target: c.target})
		for _, err := range []error{checkErr, openErr} {
			if err == nil || !oneLiner(err.Error()) {
				t.Errorf("%q: %v, want one line", c.target, err)
				continue
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q: %q does not say %q", c.target, err, part)
				}
			}
		}
	}
	if after := tree(t); after != before {
		t.Errorf("the folder became %s, was %s", after, before)
	}
}

func TestHardLinkAside(t *testing.T) {
	layOut(t)
	if _, err := Open(Options{Target: "one.jsonl"}); err == nil || !strings.Contains(err.Error(), "hard link") {
		t.Errorf("%v, want a refusal", err)
	}
	same(t, "old file", read(t, "one.jsonl"), oldFile)
}

func TestCheckTouchesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.WriteFile("x.jsonl", oldFile, 0o600), os.WriteFile("y.jsonl.partial", oldFile, 0o600)); err != nil {
		t.Fatal(err)
	}
	before := tree(t)
	for _, target := range []string{"x.jsonl", "y.jsonl", "new.ndjson.gz", "./new.jsonl.zst", "-"} {
		if err := Check(Options{Target: target}); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	if after := tree(t); after != before {
		t.Errorf("the folder became %s, was %s", after, before)
	}
}

// Rights that a test run by root does not lack are taken away by the layer.
func TestNotWritable(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		says string
	}{
		{"out", syscall.EACCES, "cannot open out/x.jsonl: the folder out is not writable: permission denied; change the permissions"},
		{"out", syscall.EROFS, "cannot open out/x.jsonl: the folder out is not writable: read-only file system; the file system is mounted read-only"},
		{"out/x.jsonl.partial", syscall.EACCES, "cannot write out/x.jsonl.partial: permission denied; change the permissions"},
	} {
		d := newDisk(1)
		d.put("out/x.jsonl.partial", oldFile, 0o400)
		d.readOnly[c.name] = c.err
		_, openErr := open(d, Options{Target: "out/x.jsonl"})
		for _, err := range []error{check(d, Options{Target: "out/x.jsonl"}), openErr} {
			if !errors.Is(err, c.err) || !strings.HasPrefix(err.Error(), c.says) {
				t.Errorf("%v, want %s", err, c.says)
			}
		}
	}
}

func TestDiskFullSaysSo(t *testing.T) {
	d := newDisk(1)
	f, err := open(d, Options{Target: "out/x.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "1")
	m := syncMark(t, f)
	d.hook = failAt(0, syscall.ENOSPC)
	write(t, f, "2")
	_, err = f.Sync()
	want := "cannot write out/x.jsonl.partial: no space left on device; the disk is full: " +
		"free some space and run again, which goes on from the last checkpoint"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	f, err = open(d, Options{Target: "out/x.jsonl", Resume: &m})
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "2")
	finish(t, f, true)
	got, _ := d.get("out/x.jsonl")
	same(t, "target", got, []byte("1\n2\n"))
}

// TestLinkedTarget wants the file that a link means to be replaced, and the link to stay.
func TestLinkedTarget(t *testing.T) {
	for _, c := range []struct {
		name, link, to string
		old            bool
	}{
		{"to a file elsewhere", "x.jsonl", "data/real.jsonl", true},
		{"to nothing yet", "x.jsonl", "data/new.jsonl", false},
		{"upwards through a linked folder", "shortcut/x.jsonl", "../real.jsonl", true},
		{"to a name without an ending", "x.jsonl", "data/current", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			// shortcut means deep/inner, so shortcut/../real.jsonl is deep/real.jsonl.
			err := errors.Join(os.Mkdir("data", 0o755), os.MkdirAll("deep/inner", 0o755), os.Symlink("deep/inner", "shortcut"),
				os.Symlink(c.to, c.link))
			if c.old {
				err = errors.Join(err, os.WriteFile(c.link, oldFile, 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			f := must(t, Options{Target: c.link})
			write(t, f, "1")
			m := syncMark(t, f)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			f = must(t, Options{Target: c.link, Resume: &m})
			if out := finish(t, f, true); out.Path != c.link {
				t.Errorf("%+v", out)
			}
			if to, err := os.Readlink(c.link); err != nil || to != c.to {
				t.Errorf("the link became %q, %v", to, err)
			}
			same(t, "through the link", read(t, c.link), []byte("1\n"))
		})
	}
}

// A new file is not more open than the one it will replace, not even while it is written.
func TestAsideIsAsPrivate(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(target, oldFile, 0o400); err != nil {
		t.Fatal(err)
	}
	f := must(t, Options{Target: target})
	write(t, f, "1")
	info, err := os.Stat(target + ".partial")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want 0600", info.Mode(), err)
	}
	finish(t, f, true)
	if info, err = os.Stat(target); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("%v, %v, want 0400", info.Mode(), err)
	}
}
