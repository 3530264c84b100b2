package sink

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// holdEnv makes the test binary a run that holds a target until its standard input ends.
const holdEnv = "LASTDROP_SINK_HOLD"

func TestMain(m *testing.M) {
	target := os.Getenv(holdEnv)
	if target == "" {
		os.Exit(m.Run())
	}
	if _, err := Open(Options{Target: target}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

func TestHeldByAnotherProcess(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x.jsonl")
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), holdEnv+"="+target)
	in, inErr := other.StdinPipe()
	out, outErr := other.StdoutPipe()
	if err := errors.Join(inErr, outErr, other.Start()); err != nil {
		t.Fatal(err)
	}
	word := make([]byte, len("held"))
	if _, err := out.Read(word); err != nil || string(word) != "held" {
		t.Fatalf("%q, %v", word, err)
	}
	_, openErr := Open(Options{Target: target})
	wantBusy(t, other.Process.Pid, Check(Options{Target: target}), openErr)
	// The end of a process, however it ends, frees its files.
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	_ = other.Wait()
	if err := Check(Options{Target: target}); err != nil {
		t.Errorf("after its end: %v", err)
	}
	must(t, Options{Target: target})
}

func wantBusy(t *testing.T, pid int, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if !errors.Is(err, ErrBusy) || !oneLiner(err.Error()) {
			t.Errorf("%v, want ErrBusy", err)
			continue
		}
		if _, noTable := os.Stat("/proc/locks"); runtime.GOOS == "linux" && noTable == nil && !strings.Contains(err.Error(), fmt.Sprint(pid)) {
			t.Errorf("%q does not name process %d", err, pid)
		}
	}
}

func TestHeldByThisProcess(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x.jsonl")
	f := must(t, Options{Target: target})
	_, openErr := Open(Options{Target: target})
	wantBusy(t, os.Getpid(), Check(Options{Target: target}), openErr)
	write(t, f, "1")
	m := syncMark(t, f)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = must(t, Options{Target: target, Resume: &m})
	_, resumeErr := Open(Options{Target: target, Resume: &m})
	wantBusy(t, os.Getpid(), resumeErr)
	finish(t, f, false)

	taken := must(t, Options{Target: target, Resume: &m, ResumeCommitted: true})
	_, againErr := Open(Options{Target: target, Resume: &m, ResumeCommitted: true})
	wantBusy(t, os.Getpid(), againErr)
	write(t, taken, "2")
	finish(t, taken, true)
	same(t, "target", read(t, target), []byte("1\n2\n"))
}

// A file that its run commits between another's opening and locking it is not taken for the one aside.
func TestOpenMeetsCommit(t *testing.T) {
	d := newDisk(1)
	first, err := open(d, Options{Target: "out/x.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, first, "1")
	files := &between{disk: d, do: func() { finish(t, first, true) }}
	second, err := open(files, Options{Target: "out/x.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, second, "2")
	if out := finish(t, second, false); out.Committed {
		t.Errorf("%+v", out)
	}
	got, _ := d.get("out/x.jsonl")
	same(t, "first run's file", got, []byte("1\n"))
	got, _ = d.get("out/x.jsonl.partial")
	same(t, "second run's file", got, []byte("2\n"))
}

// between does something once, right after a file was opened.
type between struct {
	*disk
	do func()
}

func (b *between) OpenFile(name string, flag int, perm os.FileMode) (handle, error) {
	h, err := b.disk.OpenFile(name, flag, perm)
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
	return h, err
}

func TestLockHolder(t *testing.T) {
	const table = `1: POSIX  ADVISORY  WRITE 11 fe:00:77 0 EOF
2: FLOCK  ADVISORY  WRITE 22 fe:01:77 0 EOF
3: FLOCK  ADVISORY  WRITE 33 fe:00:778 0 EOF
4: FLOCK  ADVISORY  WRITE 44 fe:00:77 0 EOF
4: -> FLOCK  ADVISORY  WRITE 55 fe:00:77 0 EOF
5: FLOCK  ADVISORY  WRITE 0 fe:00:99 0 EOF
broken`
	for inode, want := range map[uint64]int{77: 44, 778: 33, 99: 0, 5: 0} {
		if got := lockHolder(strings.NewReader(table), 0xfe, 0, inode); got != want {
			t.Errorf("inode %d: process %d, want %d", inode, got, want)
		}
	}
	if err := busy(0); err != ErrBusy { //nolint:errorlint // nothing is to be added
		t.Errorf("%v", err)
	}
}
