package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// oldStore makes a store of the version that this program knows, with one run.
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

// checkOld makes sure that a store is of that version, whole.
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
	if err != nil || version != known() || more != 0 {
		t.Errorf("version %d, %d new tables (%v), want version %d alone", version, more, err, known())
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
	err := migrateTo(t, path, withOneMore("CREATE TABLE more (x); DELETE FROM runs; DROP TABLE events; INSERT INTO none VALUES (1);"))
	if err == nil || !strings.Contains(err.Error(), moreName()) {
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
	files := withOneMore("CREATE TABLE more (x);")
	for range 2 { // the second time there is nothing to do
		if err := migrateTo(t, path, files); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprintf("made by a newer lastdrop (store version %d, this one knows %d): upgrade lastdrop, or name another store with --db", known()+1, known())
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
}

// A store of the first version keeps its unfinished run, and can hold what the
// later ones added.
func TestMigrationFromFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lastdrop.db")
	first, err := migrationFiles.ReadFile("migrations/0001_ledger.sql")
	if err != nil {
		t.Fatal(err)
	}
	if err := migrateTo(t, path, fstest.MapFS{"migrations/0001_ledger.sql": {Data: first}}); err != nil {
		t.Fatal(err)
	}
	foreign(t, path, `INSERT INTO runs (run, name, state, started, updated, version, config_hash, seed, config)
		VALUES ('01old', 'pull', 'stopped', '2026-11-30T12:00:00.000Z', '2026-11-30T12:00:00.000Z', '0.1', 'h', '000000000000000a', '{}')`)
	s := mustOpen(t, path)
	run, err := s.Begin(t.Context(), BeginOptions{Name: "pull", ConfigHash: "h"})
	if err != nil || run.ID() != "01old" || !run.Resumed() || !run.Since().IsZero() {
		t.Fatalf("took up %v, %v", run, err)
	}
	if err := run.Commit(t.Context(), Checkpoint{Children: []Child{{N: 1, Value: "a"}}, State: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(run.Close(), s.SetMark(t.Context(), "pull", nil), s.NoteReach(t.Context(), Reach{Origin: "https://h", Reach: 1, Run: run.ID()})); err != nil {
		t.Fatal(err)
	}
}

// A store of the third version, before counters, shows the same after its
// migration, and its run goes on with the same counts and keys.
func TestMigrationToCounters(t *testing.T) {
	dir := t.TempDir()
	filled, old := filepath.Join(dir, "filled.db"), filepath.Join(dir, "old.db")
	s, err := Open(t.Context(), filled)
	if err != nil {
		t.Fatal(err)
	}
	run := mustBegin(t, s)
	var seq, items int64
	for n := 1; n <= 5; n++ {
		c := crashCheckpoint(n, seq, items)
		for i := range c.Attempts {
			c.Attempts[i].SizeAsked, c.Attempts[i].Slice, c.Attempts[i].Cause = 100>>(i/5%3), n/3, fmt.Sprint("cause ", i)
			c.Totals[i].Value, c.Totals[i].Live, c.Totals[i].Source = int64(i/7), i%9 > 0, fmt.Sprint("source ", i%2)
		}
		if err := run.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		seq, items = seq+int64(len(c.Attempts)), c.Items
	}
	want, err := run.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const sizes, drifts, keys = `SELECT * FROM page_sizes ORDER BY run, seq`, `SELECT * FROM total_drift ORDER BY run, source`, `SELECT hex(keys) FROM page_keys`
	wantSizes, wantDrifts, wantKeys := table(t, s.db, sizes), table(t, s.db, drifts), table(t, s.db, keys)
	if err := errors.Join(run.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}

	three := fstest.MapFS{}
	for _, name := range []string{"0001_ledger.sql", "0002_fan_out_and_incremental.sql", "0003_reaches.sql"} {
		data, err := migrationFiles.ReadFile("migrations/" + name)
		if err != nil {
			t.Fatal(err)
		}
		three["migrations/"+name] = &fstest.MapFile{Data: data}
	}
	if err := migrateTo(t, old, three); err != nil {
		t.Fatal(err)
	}
	foreign(t, old, `ATTACH '`+filled+`' AS filled`, `INSERT INTO runs SELECT * FROM filled.runs`, `INSERT INTO pages SELECT * FROM filled.pages`,
		`INSERT INTO checkpoints SELECT run, at, seq, attempts, length, items, state FROM filled.checkpoints`,
		`INSERT INTO page_keys SELECT * FROM filled.page_keys`, `INSERT INTO totals SELECT * FROM filled.totals`)
	s = mustOpen(t, old)
	run = mustBegin(t, s)
	got, err := run.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Keys(func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got.Counts != want.Counts || got.Items != want.Items {
		t.Errorf("goes on with %+v, want %+v", got.Counts, want.Counts)
	}
	for query, want := range map[string]string{sizes: wantSizes, drifts: wantDrifts, keys: wantKeys} {
		if diff := cmp.Diff(want, table(t, s.db, query)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
}
