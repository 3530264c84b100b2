//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// A server is a real API server in a process group of its own.
type server struct {
	base string // http://127.0.0.1:PORT
	port int
	dir  string // its data
	*process
}

// lifetime ends a server even where the test's own process was killed.
const lifetime = "240"

// A launch is how a server starts, once its port and folder are known.
type launch struct {
	args  []string
	env   []string
	ready string // a path that is answered once it is up
}

// start starts a server on a free port and waits until it is ready. Another
// process may take the port in between: then it is tried on another one.
func start(t *testing.T, name string, how func(s *server) launch) *server {
	t.Helper()
	s := &server{dir: dataDir(t, name)}
	for try := 1; ; try++ {
		s.port = freePort(t)
		s.base = "http://127.0.0.1:" + strconv.Itoa(s.port)
		l := how(s)
		s.process = startProcess(t, name, s.dir, l)
		err := s.await(func() bool {
			resp, err := client.Get(s.base + l.ready)
			if err != nil {
				return false
			}
			resp.Body.Close()
			return resp.StatusCode < 500
		})
		if err == nil {
			return s
		}
		s.stop()
		if try == 3 {
			t.Fatalf("%s: %v\n%s", name, err, s.tail())
		}
	}
}

// dataDir is like t.TempDir, and open for PostgreSQL's own user.
func dataDir(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lastdrop-e2e-"+name+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A process is a running server program.
type process struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{}
}

// startProcess starts a program in a process group of its own, its output in a
// log. It ends with the test.
func startProcess(t *testing.T, name, dir string, l launch) *process {
	t.Helper()
	p := &process{log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.cmd = exec.Command("timeout", append([]string{"-k", "5", lifetime}, l.args...)...)
	p.cmd.Env = append(os.Environ(), l.env...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s said: %s", name, p.tail())
		}
		p.stop()
	})
	return p
}

// await polls until ready says so, the process ends or a minute is over.
func (p *process) await(ready func() bool) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	over := time.After(time.Minute)
	for {
		if ready() {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("it ended: %v", p.cmd.ProcessState)
		case <-over:
			return fmt.Errorf("it was not ready within a minute")
		case <-tick.C:
		}
	}
}

// stop ends the whole process group.
func (p *process) stop() {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = syscall.Kill(-p.cmd.Process.Pid, signal)
		select {
		case <-p.done:
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // children that stayed
			return
		case <-time.After(5 * time.Second):
		}
	}
}

// tail gives the end of the log.
func (p *process) tail() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-2000):])
}

var client = &http.Client{Timeout: 20 * time.Second}

// ask sends one request to a server beside the drain and wants a 2xx. A body is
// sent as JSON, unless it is bytes; a nil one is none. It may run outside of
// the test's goroutine.
func ask(method, url string, body any) (http.Header, []byte, error) {
	kind := "application/json"
	var send io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		kind, send = "application/octet-stream", bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return nil, nil, err
		}
		send = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, url, send)
	if err != nil {
		return nil, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, answer)
	}
	return resp.Header, answer, err
}

// must ends the test where something beside the drain failed.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
