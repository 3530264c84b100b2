package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestTwoProcesses starts a second process while a first one waits for an answer. On the same run or the same output it is refused with who holds
// it; on another run of the same store both work. Whatever comes of the second, the first one ends with everything.
func TestTwoProcesses(t *testing.T) {
	for name, c := range map[string]struct {
		output, second string // of the second process: its output, and way
		store          string
		refused        bool
	}{
		"the same run":                          {"out.jsonl", "offset", "runs.db", true},
		"the same file by another store":        {"out.jsonl", "offset", "other.db", true},
		"the same file by another pull":         {"out.jsonl", "cursor", "runs.db", true},
		"the same csv by another store":         {"out.csv", "offset", "other.db", true},
		"the same table by another store":       {"out.db", "offset", "other.db", true},
		"another run of the same store":         {"other.jsonl", "cursor", "runs.db", false},
		"another table of the same SQLite file": {"out.db", "cursor", "runs.db", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource(t)
			dir := t.TempDir()
			first := c.output
			if strings.HasPrefix(first, "other") {
				first = "out.jsonl"
			}
			write(t, filepath.Join(dir, "first.yaml"), s.killConfig("offset", filepath.Join(dir, first)))
			write(t, filepath.Join(dir, "second.yaml"), s.killConfig(c.second, filepath.Join(dir, c.output)))
			drain := func(config, store string) *exec.Cmd {
				return exec.Command(program(t), "drain", filepath.Join(dir, config), "--db", filepath.Join(dir, store))
			}
			goOn := make(chan struct{})
			free := sync.OnceFunc(func() { close(goOn) })
			defer free()
			come := make(chan struct{}, 1)
			s.troubled(func(_ http.ResponseWriter, r *http.Request, n int) bool {
				if n == 20 {
					come <- struct{}{}
					<-goOn
				}
				return false
			})
			one := drain("first.yaml", "runs.db")
			var said bytes.Buffer
			one.Stdout, one.Stderr = &said, &said
			if err := one.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-come:
			case <-time.After(time.Minute):
				_ = one.Process.Kill()
				t.Fatalf("the first did not get on: %s", &said)
			}
			out, err := drain("second.yaml", c.store).CombinedOutput()
			lines := strings.Count(strings.TrimSpace(string(out)), "\n") + 1
			if c.refused && (exitCode(err) != 1 || lines > 1 || !strings.Contains(string(out), fmt.Sprint("process ", one.Process.Pid))) {
				t.Errorf("the second: %v, said %q; want one line that names process %d", err, out, one.Process.Pid)
			}
			if !c.refused {
				if err != nil {
					t.Errorf("the second: %v, said %q", err, out)
				}
				holds(t, filepath.Join(dir, c.output), c.second)
			}
			free()
			if err := one.Wait(); err != nil {
				t.Fatalf("the first: %v, said %s", err, &said)
			}
			holds(t, filepath.Join(dir, first), "offset")
		})
	}
}

// TestTwoAtOnce starts two processes on one run at the same instant, again and again: one drains it, and the other is refused, or comes when it is
// done and drains it anew.
func TestTwoAtOnce(t *testing.T) {
	s := newSource(t)
	s.pause = func() time.Duration { return 0 }
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pull.yaml"), s.killConfig("offset", filepath.Join(dir, "out.jsonl")))
	for range 8 {
		var both [2]*exec.Cmd
		var said [2]bytes.Buffer
		for i := range both {
			both[i] = exec.Command(program(t), "drain", filepath.Join(dir, "pull.yaml"), "--db", filepath.Join(dir, "runs.db"))
			both[i].Stdout, both[i].Stderr = &said[i], &said[i]
			if err := both[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		done := 0
		for i, one := range both {
			switch err := one.Wait(); exitCode(err) {
			case 0:
				done++
			case 1:
				if strings.Count(said[i].String(), "\n") != 1 { // the holder may be gone before it can be named
					t.Errorf("refused with %q", &said[i])
				}
			default:
				t.Errorf("%v, said %q", err, &said[i])
			}
		}
		if done == 0 {
			t.Errorf("neither came to an end: %q and %q", &said[0], &said[1])
		}
		holds(t, filepath.Join(dir, "out.jsonl"), "offset")
		_ = os.Remove(filepath.Join(dir, "runs.db"))
	}
}

func exitCode(err error) int {
	exit, ok := err.(*exec.ExitError)
	switch {
	case err == nil:
		return 0
	case ok:
		return exit.ExitCode()
	}
	return -2
}

// holds wants an output with all items of a way, each once.
func holds(t *testing.T, path, way string) {
	t.Helper()
	n := noRoom{way: way}
	n.whole(t, 0, path)
}
