package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestFileTooLarge gives the program a limit on the size of its files: that of the store, of the lines aside, of the form that is made of them.
// It ends with status 1 and says which file it was, loses nothing, and goes on without the limit.
func TestFileTooLarge(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such limits")
	}
	s := newSource(t)
	for _, ending := range []string{".csv", ".db"} {
		t.Run(ending, func(t *testing.T) {
			met := map[string]int{}
			sizes := []int{10, 300, 700, 1_000, 1_300, 1_800}
			for _, kib := range sizes {
				n := newNoRoom(t, s, "many", ending)
				code, said := n.run(t, `ulimit -f $BLOCKS; exec $LASTDROP drain $DIR/pull.yaml --db $DIR/room/runs.db`, kib)
				met[n.check(t, kib, code, said)]++
				if code, said := n.run(t, `exec $LASTDROP drain $DIR/pull.yaml --db $DIR/room/runs.db`, 0); code != 0 {
					t.Fatalf("%d KiB, then room: %d, %s", kib, code, said)
				}
				n.whole(t, kib, n.target)
			}
			t.Logf("too small for: %v", met)
			if met["runs.db"] == 0 || met["runs.db"]+met[""] == len(sizes) {
				t.Errorf("only these were met: %v", met)
			}
		})
	}
}

// TestDiskFull does the same on a file system that is full, where one may be mounted.
func TestDiskFull(t *testing.T) {
	if out, err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("no file system may be mounted here: %v %s", err, out)
	}
	s := newSource(t)
	s.pause = func() time.Duration { return 0 }
	for _, ending := range []string{".jsonl", ".csv", ".parquet", ".db"} {
		t.Run(ending, func(t *testing.T) {
			met := map[string]int{}
			sizes := []int{40, 300, 440, 460, 480, 500, 540, 580, 620, 660, 700, 750, 800, 900, 1_000, 1_200}
			for _, kib := range sizes {
				n := newNoRoom(t, s, "offset", ending)
				_, said := n.run(t, `exec unshare -rm sh -c '
mount -t tmpfs -o size=${KIB}k none $DIR/room
$LASTDROP drain $DIR/pull.yaml --db $DIR/room/runs.db
echo "status $?"
mount -o remount,size=20m $DIR/room
$LASTDROP drain $DIR/pull.yaml --db $DIR/room/runs.db >/dev/null 2>$DIR/again
echo $? >>$DIR/again
cp $TARGET $DIR/'`, kib)
				first, status, _ := strings.Cut(said, "status ")
				var code int
				if _, err := fmt.Sscan(status, &code); err != nil {
					t.Fatalf("%d KiB: %v: %s", kib, err, said)
				}
				met[n.check(t, kib, code, first)]++
				if code != 0 && !strings.Contains(first, "free some space") {
					t.Errorf("%d KiB: it does not say what helps: %s", kib, first)
				}
				again, err := os.ReadFile(filepath.Join(n.dir, "again"))
				if err != nil || !strings.HasSuffix(string(again), "\n0\n") {
					t.Fatalf("%d KiB, then room: %v: %s", kib, err, again)
				}
				n.whole(t, kib, filepath.Join(n.dir, filepath.Base(n.target)))
			}
			t.Logf("too small for: %v", met)
			if met["runs.db"] == 0 || met["runs.db"]+met[""] == len(sizes) {
				t.Errorf("only these were met: %v", met)
			}
		})
	}
}

// noRoom is a pull whose store and output stand in a folder that has no room.
type noRoom struct{ way, dir, target string }

func newNoRoom(t *testing.T, s *source, way, ending string) noRoom {
	n := noRoom{way: way, dir: t.TempDir()}
	n.target = filepath.Join(n.dir, "room", "out"+ending)
	if err := os.Mkdir(filepath.Dir(n.target), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(n.dir, "pull.yaml"), s.killConfig(way, n.target))
	return n
}

func (n noRoom) run(t *testing.T, script string, kib int) (code int, said string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), "DIR="+n.dir, fmt.Sprint("KIB=", kib), fmt.Sprint("BLOCKS=", 2*kib), "TARGET="+n.target, "LASTDROP="+program(t))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// check wants a run that had no room to say so with status 1, and gives the name of the file that it was; "" if there was room.
func (n noRoom) check(t *testing.T, kib, code int, said string) string {
	t.Helper()
	if code == 0 {
		return ""
	}
	line, _, _ := strings.Cut(said, "\n")
	_, after, _ := strings.Cut(line, filepath.Join(n.dir, "room")+"/")
	name, why, _ := strings.Cut(after, ": ")
	if code != 1 || name == "" || why == "" || strings.Contains(said, "goroutine") {
		t.Fatalf("%d KiB: exit status %d, said %s", kib, code, said)
	}
	if _, err := os.Stat(n.target); err == nil && !strings.HasSuffix(n.target, ".db") {
		t.Errorf("%d KiB: there is a target: %s", kib, said)
	}
	return name
}

func (n noRoom) whole(t *testing.T, kib int, path string) {
	t.Helper()
	items, err := itemsAt(path, n.way)
	if err != nil {
		t.Fatalf("%d KiB: %v", kib, err)
	}
	times := map[string]bool{}
	for _, item := range items {
		times[item] = true
	}
	for i := range countOf(n.way) {
		delete(times, killItem(n.way, i))
	}
	if len(items) != countOf(n.way) || len(times) > 0 {
		t.Errorf("%d KiB: %d items, %d of them unknown", kib, len(items), len(times))
	}
}
