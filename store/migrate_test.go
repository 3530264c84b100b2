package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// oldStore makes a store of version 1 with one run.
func oldStore(t *testing.T) (path, run string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lastdrop.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Begin(t.Context(), BeginOptions{Name: "pull", ConfigHash: "h"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return path, r.ID()
}

// checkOld makes sure that a store is of version 1, whole.
func checkOld(t *testing.T, path, run string) {
	t.Helper()
	s := mustOpen(t, path)
	if _, err := s.RunByID(t.Context(), run); err != nil {
		t.Error(err)
	}
	if _, err := s.Events(t.Context(), run, 0); err != nil {
		t.Error(err)
	}
	var version, more int
	err := s.db.QueryRow(`SELECT user_version, (SELECT count(*) FROM sqlite_schema WHERE name = 'more') FROM pragma_user_version`).Scan(&version, &more)
	if err != nil || version != 1 || more != 0 {
		t.Errorf("version %d, %d new tables (%v), want version 1 alone", version, more, err)
	}
}

func migrateTo(t *testing.T, path string, files fstest.MapFS) error {
	t.Helper()
	all, err := loadMigrations(files)
	if err != nil {
		return err
	}
	f, _, err := locate(path, busyTimeout)
	if err != nil {
		return err
	}
	return f.upgrade(t.Context(), all)
}

// A migration that fails at its end, and one in whose middle the process is
// killed, leave the old version whole.
func TestMigrationFails(t *testing.T) {
	path, run := oldStore(t)
	err := migrateTo(t, path, withSecond("CREATE TABLE more (x); DELETE FROM runs; DROP TABLE events; INSERT INTO none VALUES (1);"))
	if err == nil || !strings.Contains(err.Error(), "0002_more.sql") {
		t.Fatalf("error %v, want one that names the migration", err)
	}
	checkOld(t, path, run)
}

func TestMigrationKilled(t *testing.T) {
	path, run := oldStore(t)
	c := startChild(t, "migrate", path)
	if line := c.line(); line != "in the middle" {
		t.Fatal(line)
	}
	c.kill()
	checkOld(t, path, run)
}

func TestMigrationForward(t *testing.T) {
	path, _ := oldStore(t)
	files := withSecond("CREATE TABLE more (x);")
	for range 2 { // the second time there is nothing to do
		if err := migrateTo(t, path, files); err != nil {
			t.Fatal(err)
		}
	}
	const want = "made by a newer lastdrop (store version 2, this one knows 1): upgrade lastdrop, or name another store with --db"
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrNewer) || !strings.HasSuffix(err.Error(), want) {
		t.Fatalf("error %v, want %s", err, want)
	}
}

func TestMigrationNumbers(t *testing.T) {
	for _, names := range [][]string{{"0002_a.sql"}, {"0001_a.sql", "0003_b.sql"}, {"0001_a.sql", "0001_b.sql"}, {"a.sql"}} {
		files := fstest.MapFS{}
		for _, name := range names {
			files["migrations/"+name] = &fstest.MapFile{}
		}
		if _, err := loadMigrations(files); err == nil || !strings.Contains(err.Error(), "want a migration number") {
			t.Errorf("%v: error %v", names, err)
		}
	}
	all, err := loadMigrations(migrationFiles)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d migrations, %v", len(all), err)
	}
}
