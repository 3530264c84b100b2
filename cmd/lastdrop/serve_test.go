package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lastdrop/internal/daemon"
	"lastdrop/internal/racing"
	"lastdrop/judge"
	"lastdrop/store"
)

// A serving is a running `lastdrop serve`.
type serving struct {
	*testing.T
	cmd  *exec.Cmd
	base string // of its API
	log  strings.Builder
	done chan struct{} // the log has come to its end
}

// serves starts the program over a folder of configs, and waits until it answers.
func serves(t *testing.T, dir string, args ...string) *serving {
	t.Helper()
	s := &serving{T: t, done: make(chan struct{})}
	s.cmd = exec.Command(program(t), append([]string{"serve", "--configs", dir, "--db", filepath.Join(dir, "runs.db"),
		"--listen", "127.0.0.1:0", "--allow-private"}, args...)...)
	out, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	address := make(chan string, 1)
	go func() {
		defer close(s.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(&s.log, lines.Text())
			var line struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
				address <- line.Address
			}
		}
	}()
	select {
	case a := <-address:
		s.base = a + "/api/v1"
	case <-s.done:
		_ = s.cmd.Wait()
		t.Fatalf("it did not come to serve\n%s", &s.log)
	case <-time.After(time.Minute):
		t.Fatal("it did not come to serve in a minute")
	}
	return s
}

// ask asks the API, and reads its answer into to.
func (s *serving) ask(method, path, body string, to any) {
	s.Helper()
	req, err := http.NewRequest(method, s.base+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode < 300 {
		err = json.Unmarshal(text, to)
	}
	if err != nil || resp.StatusCode >= 300 {
		s.Fatalf("%s %s: %d %s (%v)", method, path, resp.StatusCode, text, err)
	}
}

// over waits until a job is.
func (s *serving) over(id int64) daemon.Job {
	s.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var j daemon.Job
		s.ask(http.MethodGet, fmt.Sprint("/jobs/", id), "", &j)
		if j.Over() {
			return j
		}
		if time.Now().After(end) {
			s.Fatalf("job %d is %s after a minute", id, j.State)
		}
	}
}

// stop ends it by a signal, and gives its exit status.
func (s *serving) stop(sig syscall.Signal) int {
	s.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		s.Fatalf("it did not end within a minute of %s", sig)
	}
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// TestServeKilled kills the daemon, by SIGKILL and by SIGTERM, in the middle of a run, and
// starts it again, many times over: one job and one run come of it, with every item once.
func TestServeKilled(t *testing.T) {
	src, dir := newSource(t), t.TempDir()
	out := filepath.Join(dir, "out.jsonl")
	write(t, filepath.Join(dir, "pull.yaml"), src.killConfig("offset", out)+"limits: {allow_private: true, rate: 200/s, burst: 1}\n")
	write(t, filepath.Join(dir, "broken.yaml"), "version: 1\nname: [\n")
	s := serves(t, dir)
	var j daemon.Job
	s.ask(http.MethodPost, "/pulls/offset/run", "", &j)
	for n := range racing.Less(8, 2) {
		time.Sleep(time.Duration(rand.IntN(int(120 * time.Millisecond))))
		if n%2 == 0 {
			s.stop(syscall.SIGKILL)
		} else if status := s.stop(syscall.SIGTERM); status != 0 {
			t.Errorf("a graceful stop ends with status %d\n%s", status, &s.log)
		}
		s = serves(t, dir)
	}
	if j = s.over(j.ID); j.State != daemon.JobDone {
		t.Fatalf("the job is %s: %s\n%s", j.State, j.Error, &s.log)
	}
	var runs struct {
		Items []store.Info
		Total int64
	}
	s.ask(http.MethodGet, "/runs", "", &runs)
	if runs.Total != 1 || *runs.Items[0].Verdict != judge.Complete || runs.Items[0].Run != j.Run {
		t.Errorf("%+v", runs)
	}
	if items, err := itemsAt(out, "offset"); err != nil || len(items) != countOf("offset") {
		t.Errorf("%d items, %v", len(items), err)
	}
	var broken struct{ Items []daemon.Broken }
	if s.ask(http.MethodGet, "/broken", "", &broken); len(broken.Items) != 1 || broken.Items[0].File != "broken.yaml" {
		t.Errorf("broken files: %+v", broken)
	}
	second := exec.Command(program(t), "serve", "--configs", dir, "--db", filepath.Join(dir, "runs.db"), "--listen", "127.0.0.1:0")
	if text, err := second.CombinedOutput(); err == nil || !strings.Contains(string(text), fmt.Sprint("process ", s.cmd.Process.Pid)) {
		t.Errorf("a second daemon on the store: %v %s", err, text)
	}
	if status := s.stop(syscall.SIGTERM); status != 0 {
		t.Errorf("it ends with status %d\n%s", status, &s.log)
	}
}

// TestServeGuards refuses what would let strangers in, and what cannot stand together.
func TestServeGuards(t *testing.T) {
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	write(t, tokens, "a-token-of-twenty-four-b\n")
	for _, c := range []struct {
		args string
		says string
	}{
		{"--listen 0.0.0.0:0", "--token-file"},
		{"--no-auth --token-file " + tokens, "contradict"},
		{"--tls-cert x.pem", "belong together"},
		{"--token-file " + filepath.Join(dir, "none"), "--token-file"},
		{"--notify " + filepath.Join(dir, "none"), "none"},
		{"--workers 0", "above 0"},
	} {
		cmd := exec.Command(program(t), append([]string{"serve", "--configs", dir, "--db", filepath.Join(dir, "runs.db"), "--listen", "127.0.0.1:0"}, strings.Fields(c.args)...)...)
		text, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != exitNotRun || !strings.Contains(string(text), c.says) {
			t.Errorf("%s: %v %s", c.args, err, text)
		}
	}
	s := serves(t, dir, "--token-file", tokens)
	for token, want := range map[string]int{"": http.StatusUnauthorized, "wrong": http.StatusUnauthorized, "a-token-of-twenty-four-b": http.StatusOK} {
		req, err := http.NewRequest(http.MethodGet, s.base+"/pulls", nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("token %q: %d, want %d", token, resp.StatusCode, want)
		}
	}
	if s.stop(syscall.SIGTERM); strings.Contains(s.log.String(), "twenty-four") {
		t.Error("a token is in the log")
	}
	_ = os.Remove(tokens)
}
