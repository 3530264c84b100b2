// Package pgtest starts a real PostgreSQL for tests, on 127.0.0.1, with its data in a folder that goes with the test.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Install is what to do where there is no PostgreSQL.
const Install = "PostgreSQL is not installed, and these tests run a real one: make postgresql (Debian: apt-get install postgresql)"

// An account is who the server runs as.
type account struct {
	attr *syscall.SysProcAttr
	own  func(path string) error // gives a file to it
}

// A Server is one cluster.
type Server struct {
	// User and Password are those of its superuser.
	User, Password string
	port           int
	mu             sync.Mutex
	databases      int
}

// Start starts a cluster, which ends with the test. The test fails where PostgreSQL is missing.
func Start(t testing.TB) *Server {
	t.Helper()
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(bins) == 0 {
		t.Fatal(Install)
	}
	bin := filepath.Dir(bins[len(bins)-1])
	dir, err := os.MkdirTemp("", "lastdrop-pg") // short, for the socket, and open to the user that we change to
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	as := owner(t, dir)
	s := &Server{User: "keeper", Password: "pw-" + rand.Text()}
	s.init(t, bin, dir, as)
	s.run(t, bin, dir, as)
	return s
}

func (s *Server) init(t testing.TB, bin, dir string, as *account) {
	t.Helper()
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(s.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := as.own(password); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"), "-A", "scram-sha-256", "-U", s.User,
		"--pwfile", password, "--no-sync", "-E", "UTF8", "--locale=C")
	cmd.Dir, cmd.SysProcAttr = dir, as.attr
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
}

// run starts the server, on another port where somebody took the free one.
func (s *Server) run(t testing.TB, bin, dir string, as *account) {
	t.Helper()
	const tries = 5
	var last error
	for range tries {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s.port = l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
		cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", filepath.Join(dir, "data"), "-k", dir, "-p", strconv.Itoa(s.port),
			"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=40")
		log, err := os.Create(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		cmd.Dir, cmd.SysProcAttr, cmd.Stderr, cmd.Stdout = dir, as.attr, log, log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait(); _ = log.Close() }()
		if last = s.answers(ended); last == nil {
			t.Cleanup(func() {
				_ = cmd.Process.Signal(os.Interrupt) // fast shutdown
				<-ended
			})
			return
		}
		_ = cmd.Process.Kill()
	}
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	t.Fatalf("PostgreSQL does not start: %v\n%s", last, log)
}

func (s *Server) answers(ended <-chan error) error {
	deadline := time.Now().Add(2 * time.Minute)
	for {
		conn, err := pgx.Connect(context.Background(), s.DSN("postgres"))
		if err == nil {
			return conn.Close(context.Background())
		}
		select {
		case end := <-ended:
			return fmt.Errorf("it ended: %w", end)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// DSN is the address of a database.
func (s *Server) DSN(database string) string {
	return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s", s.User, s.Password, s.port, database)
}

// Database makes an empty database and gives its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	s.mu.Lock()
	s.databases++
	name := fmt.Sprintf("test%d", s.databases)
	s.mu.Unlock()
	Exec(t, s.DSN("postgres"), "CREATE DATABASE "+name)
	return s.DSN(name)
}

// Exec runs statements.
func Exec(t testing.TB, dsn string, statements ...string) {
	t.Helper()
	conn := Connect(t, dsn)
	defer conn.Close(context.Background())
	for _, statement := range statements {
		if _, err := conn.Exec(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// Connect connects to a database until the end of the test.
func Connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Rows are the rows of a query, a line each, their values as texts of PostgreSQL.
func Rows(t testing.TB, dsn, query string) string {
	t.Helper()
	conn := Connect(t, dsn)
	defer conn.Close(context.Background())
	results, err := conn.PgConn().Exec(context.Background(), query).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	text := ""
	for _, row := range results[len(results)-1].Rows {
		for i, cell := range row {
			if i > 0 {
				text += "|"
			}
			if cell == nil {
				text += "-"
			}
			text += string(cell)
		}
		text += "\n"
	}
	return text
}
