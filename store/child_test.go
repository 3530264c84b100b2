package store

import (
	"bufio"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"testing/fstest"

	"modernc.org/sqlite"

	"lastdrop/judge/reconcile"
)

// The tests that kill a process run this test binary again as that process:
// the variable names what it does, its argument is a store.
const (
	childRole  = "LASTDROP_STORE_TEST_CHILD"
	childStore = "LASTDROP_STORE_TEST_PATH"
)

func TestMain(m *testing.M) {
	roles := map[string]func(ctx context.Context, path string) error{
		"commit": childCommits, "hold": childHolds, "migrate": childMigrates,
	}
	if role, ok := roles[os.Getenv(childRole)]; ok {
		if err := role(context.Background(), os.Getenv(childStore)); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A child is a process that the test reads lines from, and kills.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, role, path string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role, childStore+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // it blocks on this, until it is killed or we die
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, cmd: cmd, lines: bufio.NewScanner(out)}
	t.Cleanup(func() {
		if c.cmd.ProcessState == nil {
			c.kill()
		}
	})
	return c
}

// line reads the next line of the child.
func (c *child) line() string {
	c.t.Helper()
	if !c.lines.Scan() {
		c.t.Fatalf("the child ended early: %v", c.lines.Err())
	}
	return c.lines.Text()
}

// kill ends the child with SIGKILL, and returns the lines that it had written
// and nobody had read.
func (c *child) kill() (rest []string) {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Error(err)
	}
	for c.lines.Scan() {
		rest = append(rest, c.lines.Text())
	}
	if err := c.cmd.Wait(); err == nil {
		c.t.Error("the child was not killed")
	}
	return rest
}

// crashState is the state that the child's n-th checkpoint carries.
type crashState struct {
	N int `json:"n"`
}

// crashCheckpoint is the n-th checkpoint, n from 1: what the child writes and
// what the test expects. Its size differs from one to the next.
func crashCheckpoint(n int, seq, items int64) Checkpoint {
	var c Checkpoint
	for i := range 1 + n*7%40 {
		seq++
		a := benchAttempt(seq, n*13%60)
		if i%5 == 4 {
			a.Outcome, a.New, a.Keys = reconcile.Half, 0, nil
		}
		c.Attempts = append(c.Attempts, a)
		items += int64(a.New)
		c.Totals = append(c.Totals, reconcile.TotalSeen{Seq: seq, Value: items, Live: true})
	}
	c.Events = []reconcile.Event{{Seq: seq, Kind: "note", Text: fmt.Sprint("checkpoint ", n)}}
	c.Items, c.Length = items, 100*items
	c.State, _ = json.Marshal(crashState{n})
	return c
}

// childCommits takes the run up and commits one checkpoint after the other,
// and says so before and after each.
func childCommits(ctx context.Context, path string) error {
	fmt.Println("open")
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	run, err := s.Begin(ctx, BeginOptions{Name: "pull", ConfigHash: "h"})
	if err != nil {
		return err
	}
	at, err := run.Resume(ctx)
	if err != nil {
		return err
	}
	var state crashState
	if at.State != nil {
		if err := json.Unmarshal(at.State, &state); err != nil {
			return err
		}
	}
	seq, items := at.Counts.LastSeq, at.Items
	for n := state.N + 1; ; n++ {
		c := crashCheckpoint(n, seq, items)
		fmt.Println("begin", n)
		if err := run.Commit(ctx, c); err != nil {
			return err
		}
		fmt.Println("done", n)
		seq, items = seq+int64(len(c.Attempts)), c.Items
	}
}

// childHolds takes a run up and waits to be killed.
func childHolds(ctx context.Context, path string) error {
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	run, err := s.Begin(ctx, BeginOptions{Name: "pull", ConfigHash: "h"})
	if err != nil {
		return err
	}
	fmt.Println(run.ID())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// childMigrates waits to be killed in the middle of a second migration.
func childMigrates(ctx context.Context, path string) error {
	err := sqlite.RegisterFunction("pause", &sqlite.FunctionImpl{
		Scalar: func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
			fmt.Println("in the middle")
			_, err := io.Copy(io.Discard, os.Stdin)
			return nil, err
		},
	})
	if err != nil {
		return err
	}
	all, err := loadMigrations(withOneMore("CREATE TABLE more (x); DELETE FROM runs; SELECT pause(); DROP TABLE events;"))
	if err != nil {
		return err
	}
	f, _, err := locate(path, busyTimeout)
	if err != nil {
		return err
	}
	db, err := f.openWriter()
	if err != nil {
		return err
	}
	return f.migrate(ctx, db, all)
}

// known is the number of the real migrations.
func known() int {
	all, err := loadMigrations(migrationFiles)
	if err != nil {
		panic(err)
	}
	return len(all)
}

// moreName is the file of a migration after the real ones.
func moreName() string { return fmt.Sprintf("%04d_more.sql", known()+1) }

// withOneMore are the real migrations and a further one.
func withOneMore(text string) fstest.MapFS {
	files := fstest.MapFS{"migrations/" + moreName(): {Data: []byte(text)}}
	all, err := loadMigrations(migrationFiles)
	if err != nil {
		panic(err)
	}
	for _, m := range all {
		files[m.name] = &fstest.MapFile{Data: []byte(m.sql)}
	}
	return files
}
