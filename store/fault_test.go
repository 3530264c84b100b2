package store

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lastdrop/judge/reconcile"
)

func mustBegin(t testing.TB, s *Store) *Run {
	t.Helper()
	run, err := s.Begin(t.Context(), BeginOptions{Name: "pull", ConfigHash: "h"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	})
	return run
}

// A full disk in the middle of a checkpoint is ErrFull and leaves nothing
// behind; with room again, the same checkpoint goes through.
func TestDiskFull(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "lastdrop.db"))
	run := mustBegin(t, s)
	if err := run.Commit(t.Context(), crashCheckpoint(1, 0, 0)); err != nil {
		t.Fatal(err)
	}
	at, err := run.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var pages int
	if err := s.db.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	big := crashCheckpoint(2, at.Counts.LastSeq, at.Items)
	big.State = []byte(`{"n":2,"pad":"` + strings.Repeat("x", 1<<20) + `"}`)
	limit := func(n int) {
		if err := s.db.QueryRow("PRAGMA max_page_count = " + itoa(n)).Scan(new(int)); err != nil {
			t.Fatal(err)
		}
	}
	limit(pages + 3)
	err = run.Commit(t.Context(), big)
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "disk full; nothing of this write was kept: free some space") {
		t.Fatalf("error %v, want ErrFull", err)
	}
	at, err = run.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkWhole(t, s, run, at, 1)
	limit(1 << 20)
	if err := run.Commit(t.Context(), big); err != nil {
		t.Fatal(err)
	}
	if at, err = run.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, s, run, at, 2)
}

// Another program that keeps the write lock is waited for, and then named as
// what it is. Nothing is half-written, and readers are not disturbed.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lastdrop.db")
	s, err := open(t.Context(), path, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	run := mustBegin(t, s)
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // the test is over
	other.SetMaxOpenConns(1)
	exec := func(text string) {
		if _, err := other.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	exec("BEGIN IMMEDIATE")
	for name, do := range map[string]func() error{
		"commit": func() error { return run.Commit(t.Context(), crashCheckpoint(1, 0, 0)) },
		"finish": func() error {
			return run.Finish(t.Context(), reconcile.Report{Run: run.ID(), Name: "pull", State: Finished})
		},
		"begin": func() error {
			_, err := s.Begin(t.Context(), BeginOptions{Name: "other", ConfigHash: "h"})
			return err
		},
	} {
		err := do()
		if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "locked by another program for longer than 20ms") {
			t.Errorf("%s: error %v, want ErrLocked", name, err)
		}
	}
	if list, err := s.Runs(t.Context(), RunFilter{}); err != nil || list.Total != 1 {
		t.Errorf("reading: %+v, %v", list, err)
	}
	exec("ROLLBACK")
	if err := run.Commit(t.Context(), crashCheckpoint(1, 0, 0)); err != nil {
		t.Fatal(err)
	}
}

// A Begin that fails leaves no lock: the run can be had the next time.
func TestBeginFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lastdrop.db")
	s := mustOpen(t, path)
	exec := func(text string) {
		t.Helper()
		if _, err := s.db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TRIGGER no_new BEFORE INSERT ON runs BEGIN SELECT raise(ABORT, 'no new ones'); END`)
	refused := func(o BeginOptions) {
		t.Helper()
		if _, err := s.Begin(t.Context(), o); err == nil || !strings.Contains(err.Error(), path+": ") {
			t.Fatalf("begin: %v", err)
		}
		if locks, err := filepath.Glob(path + ".*.lock"); err != nil || len(locks) != 0 {
			t.Fatalf("left behind: %v, %v", locks, err)
		}
	}
	refused(BeginOptions{Name: "pull", ConfigHash: "h"})
	exec(`DROP TRIGGER no_new`)
	run := mustBegin(t, s)
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	exec(`CREATE TRIGGER no_change BEFORE UPDATE ON runs BEGIN SELECT raise(ABORT, 'no changes'); END`)
	refused(BeginOptions{Name: "pull", ConfigHash: "h"})
	refused(BeginOptions{Name: "pull", ConfigHash: "h", Fresh: true})
	exec(`DROP TRIGGER no_change`)
	if again := mustBegin(t, s); again.ID() != run.ID() {
		t.Fatalf("took up %s, want %s", again.ID(), run.ID())
	}
}

// A run whose lock file somebody deleted, so that another process took it up,
// is lost to the first: its next checkpoint is refused whole.
func TestFence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lastdrop.db")
	first, second := mustOpen(t, path), mustOpen(t, path)
	run := mustBegin(t, first)
	if err := run.Commit(t.Context(), crashCheckpoint(1, 0, 0)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(first.file.lockName(run.ID())); err != nil {
		t.Fatal(err)
	}
	taken := mustBegin(t, second)
	if taken.ID() != run.ID() {
		t.Fatalf("took up %s, want %s", taken.ID(), run.ID())
	}
	at, err := taken.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := crashCheckpoint(2, at.Counts.LastSeq, at.Items)
	if err := run.Commit(t.Context(), next); !errors.Is(err, ErrLost) {
		t.Fatalf("commit of the first: %v, want ErrLost", err)
	}
	if err := run.Finish(t.Context(), reconcile.Report{Run: run.ID(), Name: "pull", State: Finished}); !errors.Is(err, ErrLost) {
		t.Fatalf("finish of the first: %v, want ErrLost", err)
	}
	if err := run.Close(); err != nil { // and it leaves the other's lock file alone
		t.Fatal(err)
	}
	if _, err := mustOpen(t, path).Begin(t.Context(), BeginOptions{Name: "pull", ConfigHash: "h"}); !errors.Is(err, ErrHeld) {
		t.Fatalf("third: %v, want ErrHeld", err)
	}
	if err := taken.Commit(t.Context(), next); err != nil {
		t.Fatal(err)
	}
}

// A damaged file is an error of its own kind, not a list that is too short.
func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lastdrop.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	run := mustBegin(t, s)
	var seq, items int64
	for n := 1; n <= 60; n++ {
		c := crashCheckpoint(n, seq, items)
		if err := run.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		seq, items = seq+int64(len(c.Attempts)), c.Items
	}
	if err := errors.Join(run.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	const tables = 24 // pages of the file that hold the schema and small tables
	for at := int64(tables * pageSize); at < info.Size(); at += pageSize {
		if _, err := f.WriteAt(make([]byte, 512), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path)
	run = mustBeginDamaged(t, s)
	if run != nil {
		if _, err := run.Resume(t.Context()); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("resume: %v, want ErrCorrupt", err)
		}
	}
	if _, err := s.Pages(t.Context(), "x", PageFilter{}); err != nil && !errors.Is(err, ErrCorrupt) {
		t.Fatalf("pages: %v", err)
	}
}

// mustBeginDamaged begins a run in a damaged store, or gets ErrCorrupt.
func mustBeginDamaged(t *testing.T, s *Store) *Run {
	t.Helper()
	run, err := s.Begin(t.Context(), BeginOptions{Name: "pull", ConfigHash: "h"})
	if err == nil {
		t.Cleanup(func() { _ = run.Close() })
		return run
	}
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "the file is damaged: put back a copy") {
		t.Fatalf("begin: %v, want ErrCorrupt", err)
	}
	return nil
}

// Rows that somebody changed by hand, so that they contradict each other, are
// no ground to go on from.
func TestDamagedRows(t *testing.T) {
	for name, text := range map[string]string{
		"attempt gone":     "DELETE FROM pages WHERE seq = 3",
		"checkpoint gone":  "DELETE FROM checkpoints",
		"keys gone":        "DELETE FROM page_keys",
		"keys cut":         "UPDATE page_keys SET keys = substr(keys, 17)",
		"half a key":       "UPDATE page_keys SET keys = substr(keys, 9)",
		"new changed":      "UPDATE pages SET new = new + 1 WHERE seq = 2",
		"unknown outcome":  "UPDATE pages SET outcome = 'fine' WHERE seq = 2",
		"attempt appended": "INSERT INTO pages SELECT run, 99, at, slice, pass, page, try, position, row_offset, url, size_asked, items, 0, repeated, nulls, status, bytes_read, bytes_expected, total, total_kind, more, 'half', verdict, rules, duration_ms, action, cause FROM pages WHERE seq = 1",
	} {
		t.Run(name, func(t *testing.T) {
			s := mustOpen(t, filepath.Join(t.TempDir(), "lastdrop.db"))
			run := mustBegin(t, s)
			if err := run.Commit(t.Context(), crashCheckpoint(3, 0, 0)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.db.Exec(text); err != nil {
				t.Fatal(err)
			}
			at, err := run.Resume(t.Context())
			if err == nil {
				err = at.Keys(func([]byte) error { return nil })
			}
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), run.ID()) {
				t.Fatalf("error %v, want ErrCorrupt that names the run", err)
			}
		})
	}
}
