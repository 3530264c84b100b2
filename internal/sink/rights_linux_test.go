package sink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asNobody runs do on a thread of its own whose file accesses are those of a user without rights: root, as
// whom tests may run, would be refused nothing.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		var err error
		if os.Geteuid() == 0 {
			err = syscall.Setfsuid(65534)
		}
		if err == nil {
			do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestRefusedByTheSystem(t *testing.T) {
	dir := t.TempDir()
	locked, open := filepath.Join(dir, "locked"), filepath.Join(dir, "open")
	aside := filepath.Join(open, "x.jsonl.partial")
	err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Mkdir(locked, 0o555), os.Mkdir(open, 0o777),
		os.Chmod(open, 0o777), os.WriteFile(aside, nil, 0o400))
	if err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		if os.Remove(locked) == nil || os.WriteFile(filepath.Join(locked, "f"), nil, 0o600) == nil {
			t.Error("permissions do not bind here, so this test would show nothing")
		}
		refused(t, filepath.Join(locked, "x.jsonl"), "is not writable: permission denied")
		refused(t, filepath.Join(open, "x.jsonl"), "x.jsonl.partial: permission denied")
		if err := Check(Options{Target: filepath.Join(open, "y.jsonl")}); err != nil {
			t.Errorf("a writable folder: %v", err)
		}
	})
}

func refused(t *testing.T, target, says string) {
	t.Helper()
	_, openErr := Open(Options{Target: target})
	for _, err := range []error{Check(Options{Target: target}), openErr} {
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", target, err, says)
		}
	}
}

// A good file that may not be read is not this run's own, and stands in no one's way.
func TestUnreadableTarget(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "x.jsonl.gz")
	err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777), os.WriteFile(target, []byte("tiny"), 0o200))
	if err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		f, err := Open(Options{Target: target, Resume: &Mark{}, ResumeCommitted: true})
		if err != nil {
			t.Error(err)
			return
		}
		out, err := f.Finish(false)
		if err != nil || out.Committed {
			t.Errorf("%+v, %v", out, err)
		}
	})
	same(t, "unreadable file", read(t, target), []byte("tiny"))
}
