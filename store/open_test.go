package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// mustOpen opens a store that is closed at the end of the test.
func mustOpen(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// foreign runs SQL on a file that is no store yet.
func foreign(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Each bad path gets one clear line, from a writer and from a reader, and is
// left as it was.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string) (path string)
		kind error
		text string
	}{
		{"folder", func(_ *testing.T, dir string) string { return dir },
			ErrNotStore, "is a folder: name a file in it, as in --db "},
		{"folder missing", func(_ *testing.T, dir string) string { return filepath.Join(dir, "no", "x.db") },
			ErrNoStore, "the folder DIR/no is not there: make it, or name another store with --db"},
		{"file as folder", func(t *testing.T, dir string) string {
			writeFile(t, filepath.Join(dir, "f"), "text")
			return filepath.Join(dir, "f", "x.db")
		}, nil, "not a directory"},
		{"text", func(t *testing.T, dir string) string {
			writeFile(t, filepath.Join(dir, "x.db"), strings.Repeat("{\"not\": \"a store\"}\n", 100))
			return filepath.Join(dir, "x.db")
		}, ErrNotStore, "is not a lastdrop store (no SQLite file): name another one with --db"},
		{"another program's", func(t *testing.T, dir string) string {
			foreign(t, filepath.Join(dir, "x.db"), "CREATE TABLE bookmarks (url TEXT)")
			return filepath.Join(dir, "x.db")
		}, ErrNotStore, "is not a lastdrop store (another program's SQLite file): name another one with --db"},
		{"another program's, empty", func(t *testing.T, dir string) string {
			foreign(t, filepath.Join(dir, "x.db"), "PRAGMA application_id = 7")
			return filepath.Join(dir, "x.db")
		}, ErrNotStore, "is not a lastdrop store (another program's SQLite file): name another one with --db"},
		{"newer", func(t *testing.T, dir string) string {
			foreign(t, filepath.Join(dir, "x.db"), "PRAGMA application_id = 1281454964", "PRAGMA user_version = 7")
			return filepath.Join(dir, "x.db")
		}, ErrNewer, fmt.Sprintf("made by a newer lastdrop (store version 7, this one knows %d): upgrade lastdrop, or name another store with --db", known())},
		{"empty path", func(*testing.T, string) string { return "" }, nil, "the path of the store is empty: name one with --db"},
		{"device", func(*testing.T, string) string { return os.DevNull }, ErrNotStore, "is no ordinary file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := c.make(t, dir)
			before := tree(t, dir)
			_, writing := Open(t.Context(), path)
			_, reading := OpenReader(t.Context(), path)
			for _, err := range []error{writing, reading} {
				if err == nil || (c.kind != nil && !errors.Is(err, c.kind)) {
					t.Fatalf("error %v, want %v", err, c.kind)
				}
				if !strings.Contains(err.Error(), strings.ReplaceAll(c.text, "DIR", dir)) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("error %q, want one line with %q", err, c.text)
				}
				if path != "" && !strings.HasPrefix(err.Error(), path+": ") {
					t.Fatalf("error %q does not begin with the path", err)
				}
			}
			if after := tree(t, dir); after != before {
				t.Fatalf("files before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

// tree is the content of a folder, as text to compare.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text.WriteString(e.Name() + "\n")
		if e.Type().IsRegular() {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			text.Write(b)
		}
	}
	return text.String()
}

func TestReaderMakesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lastdrop.db")
	_, err := OpenReader(t.Context(), path)
	if !errors.Is(err, ErrNoStore) {
		t.Fatalf("error %v, want ErrNoStore", err)
	}
	if got := tree(t, dir); got != "" {
		t.Fatalf("made %s", got)
	}
	writeFile(t, path, "")
	if _, err := OpenReader(t.Context(), path); !errors.Is(err, ErrNoStore) {
		t.Fatalf("empty file: error %v, want ErrNoStore", err)
	}
	mustOpen(t, path) // an empty file becomes a store
}

func TestRights(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lastdrop.db")
	if err := mustOpenAndClose(t, path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path)
	if os.Geteuid() == 0 { // root may write what it likes
		if err != nil {
			t.Fatal(err)
		}
	} else if !errors.Is(err, ErrNotWritable) {
		t.Fatalf("error %v, want ErrNotWritable", err)
	}
	f := &file{path: "lastdrop.db", busy: time.Second}
	for _, cause := range []error{os.ErrPermission, &os.PathError{Op: "open", Path: "x", Err: os.ErrPermission}} {
		err := f.explain(cause)
		if !errors.Is(err, ErrNotWritable) || !strings.HasPrefix(err.Error(), "lastdrop.db: cannot be written: check the rights") {
			t.Fatalf("%v gives %v", cause, err)
		}
	}
}

func mustOpenAndClose(t *testing.T, path string) error {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		return err
	}
	return s.Close()
}

// The file is made as documented, and leaves nothing beside it when closed.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lastdrop.db")
	s := mustOpen(t, path)
	for pragma, want := range map[string]string{
		"page_size": "16384", "auto_vacuum": "2", "journal_mode": "wal", "synchronous": "2", "application_id": "1281454964", "user_version": fmt.Sprint(known()), "busy_timeout": "5000",
	} {
		var got string
		if err := s.db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s (%v), want %s", pragma, got, err, want)
		}
	}
	if _, err := s.Reader.db.Exec("DELETE FROM runs"); err == nil {
		t.Error("a reader could delete")
	}
	run, err := s.Begin(t.Context(), BeginOptions{Name: "pull", ConfigHash: "h"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(run.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.RunByID(t.Context(), "pull"); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("files %v (%v), want the store alone", entries, err)
	}
}

// A path may hold whatever a file system allows, and be relative.
func TestPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{"a b.db", "50%.db", "a?b=c.db", "a#b.db", "ü&;.db", "%2e.db", "./x.db"} {
		s := mustOpen(t, path)
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", path, err)
		}
		if s.file.path != path {
			t.Errorf("messages name %q, want %q", s.file.path, path)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); !strings.Contains(name, ".db") {
			t.Errorf("file %q is nobody's", name)
		}
	}
}

// Two ways to one file are one store: a run is held in both.
func TestSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(real, 0o755), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	first := mustOpen(t, filepath.Join(link, "x.db")) // the file is not there yet
	if err := os.Symlink(filepath.Join(real, "x.db"), filepath.Join(dir, "y.db")); err != nil {
		t.Fatal(err)
	}
	run, err := first.Begin(t.Context(), BeginOptions{Name: "pull", ConfigHash: "h"})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close() //nolint:errcheck // the test is over
	for _, path := range []string{filepath.Join(real, "x.db"), filepath.Join(dir, "y.db")} {
		if _, err := mustOpen(t, path).Begin(t.Context(), BeginOptions{Name: "pull", ConfigHash: "h"}); !errors.Is(err, ErrHeld) {
			t.Errorf("through %s: %v, want ErrHeld", path, err)
		}
	}
}

// Many may open a store that is not there yet at the same time.
func TestOpenTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lastdrop.db")
	const n = 8
	errs := make([]error, n)
	stores := make([]*Store, n)
	var work sync.WaitGroup
	for i := range n {
		work.Go(func() { stores[i], errs[i] = Open(context.Background(), path) })
	}
	work.Wait()
	for i, s := range stores {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if _, err := s.Runs(t.Context(), RunFilter{}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Closing twice does nothing, and a closed store says so.
func TestCloseTwice(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "lastdrop.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(t.Context(), BeginOptions{Name: "pull", ConfigHash: "h"}); err == nil {
		t.Fatal("a closed store began a run")
	}
}
