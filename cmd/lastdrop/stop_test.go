package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stopBound is generous: the contract says 2 seconds, and the machine of a test may be busy. The log has the time that it took.
const stopBound = 10 * time.Second

// A stopping is a place where a signal meets a run.
type stopping struct {
	way, output, more string // the config
	trouble           func(w http.ResponseWriter, r *http.Request, n int) bool
	seen              string // the signal is sent when this file appears, or, where it is empty, once trouble has come
	exec              []string
}

// hangAt keeps the n-th answer back, after what begin writes of it.
func hangAt(at int, begin func(w http.ResponseWriter)) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, n int) bool {
		if n < at {
			return false
		}
		begin(w)
		<-r.Context().Done()
		return true
	}
}

var stoppings = map[string]stopping{
	"first answer hangs": {way: "offset", output: "out.jsonl", trouble: hangAt(1, func(http.ResponseWriter) {})},
	"answer hangs":       {way: "offset", output: "out.jsonl", trouble: hangAt(9, func(http.ResponseWriter) {})},
	"half an answer hangs": {way: "cursor", output: "out.jsonl", trouble: hangAt(9, func(w http.ResponseWriter) {
		_, _ = w.Write([]byte(`{"items":[{"id":`))
		_ = http.NewResponseController(w).Flush()
	})},
	"in a fan-out": {way: "each", output: "out-{v}.jsonl", trouble: hangAt(40, func(http.ResponseWriter) {})},
	"in a slice":   {way: "sliced", output: "out.jsonl", trouble: hangAt(40, func(http.ResponseWriter) {})},
	"Retry-After": {way: "offset", output: "out.csv", more: "limits: {max_wait: 2h}\n",
		trouble: func(w http.ResponseWriter, _ *http.Request, n int) bool {
			if n < 9 {
				return false
			}
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}},
	"rate limit": {way: "offset", output: "out.jsonl", more: "limits: {rate: 2/h, burst: 2}\n",
		trouble: func(http.ResponseWriter, *http.Request, int) bool { return false }},
	"making csv":                   {way: "many", output: "out.csv", seen: "out.csv.making"},
	"making parquet":               {way: "many", output: "out.parquet", seen: "out.parquet.making"},
	"making a table":               {way: "many", output: "out.db", seen: "out.db-journal"},
	"a command that does not read": {way: "many", output: "out.jsonl", exec: []string{"sh", "-c", `touch $DIR/exec; [ "$NAP" = "" ] || exec sleep 60; [ $(wc -l) = $LASTDROP_ITEMS ]`}, seen: "exec"},
	"a command that does not end":  {way: "offset", output: "out.csv", exec: []string{"sh", "-c", `cat >$DIR/got; touch $DIR/exec; [ "$NAP" = "" ] || sleep 60; [ $(wc -l <$DIR/got) = $LASTDROP_ITEMS ]`}, seen: "exec"},
}

// TestStops stops the program by a signal wherever it waits or works long. It ends in moments with the status of the signal, commits nothing,
// and goes on when it is started again. A second signal of the same kind right behind, as wrappers send it, changes nothing.
func TestStops(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such signals")
	}
	for name, at := range stoppings {
		t.Run(name, func(t *testing.T) {
			s := newSource(t)
			for i, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
				at.stop(t, s, sig, i == 1)
			}
		})
	}
}

func (at stopping) stop(t *testing.T, s *source, sig syscall.Signal, twice bool) {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "pull.yaml")
	text := s.killConfig(at.way, filepath.Join(dir, at.output)) + at.more
	if at.exec != nil {
		text = strings.TrimSuffix(text, "}\n") + fmt.Sprintf(", exec: [%q, %q, %q]}\n", at.exec[0], at.exec[1], at.exec[2])
	}
	write(t, config, text)
	begun := false
	var took time.Duration
	var said string
	for tries := 0; !begun; tries++ {
		if tries == 20 {
			t.Fatal("it always came to its end before the signal")
		}
		_ = os.Remove(filepath.Join(dir, "runs.db"))
		took, begun, said = at.signalled(t, s, dir, sig, twice)
	}
	t.Logf("%s: %d ms", sig, took.Milliseconds())
	if took > stopBound {
		t.Errorf("%s took %s", sig, took)
	}
	if !strings.Contains(said, "signal") {
		t.Errorf("it said %q", said)
	}
	for _, name := range []string{at.output, at.seen} {
		if name != "exec" && name != "" {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() > 0 {
				t.Errorf("%s stands there", name)
			}
		}
	}
	s.troubled(nil)
	write(t, config, strings.TrimSuffix(text, at.more))
	again := exec.Command(program(t), "drain", config, "--db", filepath.Join(dir, "runs.db"))
	again.Env = append(os.Environ(), "DIR="+dir)
	out, err := again.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "going on with run") {
		t.Fatalf("to go on: %v\n%s", err, out)
	}
	if at.way == "each" {
		return
	}
	items, err := itemsAt(filepath.Join(dir, at.output), at.way)
	if err != nil || len(items) != countOf(at.way) {
		t.Errorf("%d items, %v", len(items), err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// signalled starts the program and sends it a signal at the place, if it comes to it.
func (at stopping) signalled(t *testing.T, s *source, dir string, sig syscall.Signal, twice bool) (took time.Duration, met bool, said string) {
	t.Helper()
	come := make(chan struct{}, 1)
	s.since(func(int, bool) {})
	s.troubled(func(w http.ResponseWriter, r *http.Request, n int) bool {
		if at.trouble == nil {
			return false
		}
		return at.trouble(w, r, n)
	})
	cmd := exec.Command(program(t), "drain", filepath.Join(dir, "pull.yaml"), "--db", filepath.Join(dir, "runs.db"))
	cmd.Env = append(os.Environ(), "DIR="+dir, "NAP=yes")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait()
	}()
	go func() {
		for {
			select {
			case <-gone:
				return
			case <-time.After(time.Millisecond):
			}
			if _, err := os.Stat(filepath.Join(dir, at.seen)); at.seen != "" && err == nil || at.seen == "" && s.quiet() {
				come <- struct{}{}
				return
			}
		}
	}()
	select {
	case <-come:
	case <-gone:
		return 0, false, out.String()
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		<-gone
		t.Fatalf("the place was not reached\n%s", &out)
	}
	began := time.Now()
	_ = cmd.Process.Signal(sig)
	if twice {
		time.Sleep(time.Duration(rand.IntN(int(20 * time.Millisecond))))
		_ = cmd.Process.Signal(sig)
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		<-gone
		t.Fatalf("it did not end within a minute\n%s", &out)
	}
	took = time.Since(began)
	switch status := cmd.ProcessState.ExitCode(); status {
	case 0:
		return took, false, out.String()
	case 128 + int(sig):
	default:
		t.Fatalf("%s: exit status %d\n%s", sig, status, &out)
	}
	return took, true, out.String()
}

// TestStopsAtTheStart sends a signal while the program begins: it ends as one that a signal stopped, whatever it was at, and can be started again.
func TestStopsAtTheStart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such signals")
	}
	for _, way := range []string{"offset", "each"} {
		t.Run(way, func(t *testing.T) { stopsAtTheStart(t, way) })
	}
}

func stopsAtTheStart(t *testing.T, way string) {
	s := newSource(t)
	s.troubled(hangAt(1, func(http.ResponseWriter) {}))
	dir := t.TempDir()
	config, db := filepath.Join(dir, "pull.yaml"), filepath.Join(dir, "runs.db")
	write(t, config, s.killConfig(way, filepath.Join(dir, "out-{v}.jsonl")))
	for i := range 20 {
		if i%10 == 0 {
			_ = os.Remove(db)
		}
		cmd := exec.Command(program(t), "drain", config, "--db", db)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(int(80 * time.Millisecond))))
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		early := cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() // before it had begun to listen
		if status := cmd.ProcessState.ExitCode(); status != 143 && !early {
			t.Errorf("exit status %d, said %q", status, &out)
		}
		if strings.Contains(out.String(), "context canceled") || strings.Contains(out.String(), "could not run") {
			t.Errorf("it said %q", &out)
		}
	}
	s.troubled(nil)
	out, err := exec.Command(program(t), "drain", config, "--db", db).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
