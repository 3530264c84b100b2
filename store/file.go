package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

const (
	// applicationID marks an SQLite file as a store of ours: "Last" in ASCII.
	applicationID = 0x4c617374
	// busyTimeout is how long a write waits for another program's lock.
	busyTimeout = 5 * time.Second
	// pageSize of a new file. Rows with their keys are big: with 4 KB pages
	// they would be spread over overflow pages.
	pageSize = 16384
	// incrementalVacuum is SQLite's number for a file that can give free pages
	// back bit by bit (see GC).
	incrementalVacuum = 2
	// readers is the number of connections that only read.
	readers = 4
)

// A file is a store's place: its path as the user wrote it, for messages, and
// the real one, for everything else.
type file struct {
	path string
	real string
	busy time.Duration
}

// locate finds out where a store stands or would stand. exists says whether
// there is a file with something in it.
//
// The real path has no symbolic links, so that the lock files of a run have
// one name whichever way a process came to the store.
func locate(path string, busy time.Duration) (f *file, exists bool, err error) {
	f = &file{path: path, busy: busy}
	if path == "" {
		return nil, false, errors.New("the path of the store is empty: name one with --db")
	}
	if f.real, err = filepath.Abs(path); err != nil {
		return nil, false, f.explain(err)
	}
	info, err := os.Stat(f.real)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return f, false, f.locateNew()
	case err != nil:
		return nil, false, f.explain(err)
	case info.IsDir():
		return nil, false, &fault{path, ErrNotStore, "is a folder: name a file in it, as in --db " + filepath.Join(path, "lastdrop.db"), nil}
	case !info.Mode().IsRegular():
		return nil, false, &fault{path, ErrNotStore, "is no ordinary file: name another store with --db", nil}
	}
	if f.real, err = filepath.EvalSymlinks(f.real); err != nil {
		return nil, false, f.explain(err)
	}
	return f, info.Size() > 0, nil
}

// locateNew resolves the folder of a file that is not there yet.
func (f *file) locateNew() error {
	folder, err := filepath.EvalSymlinks(filepath.Dir(f.real))
	if errors.Is(err, os.ErrNotExist) {
		text := fmt.Sprintf("the folder %s is not there: make it, or name another store with --db", filepath.Dir(f.path))
		return &fault{f.path, ErrNoStore, text, err}
	}
	if err != nil {
		return f.explain(err)
	}
	f.real = filepath.Join(folder, filepath.Base(f.real))
	return nil
}

// dsn is the connection string. "?", "#" and "%" in a path would end it.
func (f *file) dsn(params ...string) string {
	slashed := filepath.ToSlash(f.real)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	params = append(params, fmt.Sprintf("_pragma=busy_timeout(%d)", f.busy.Milliseconds()))
	return "file://" + (&url.URL{Path: slashed}).EscapedPath() + "?" + strings.Join(params, "&")
}

// openWriter opens the one connection that writes. It changes nothing.
func (f *file) openWriter() (*sql.DB, error) {
	db, err := sql.Open("sqlite", f.dsn("_txlock=immediate", "_pragma=synchronous(full)"))
	if err != nil {
		return nil, f.explain(err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// openReaders opens the connections that only read. query_only refuses every
// change. mode=ro would too, but then the last one to close could not fold the
// write-ahead log into the file, and would leave two files beside it. mode=rw
// never makes the file, and where it may not be written it is opened for
// reading.
func (f *file) openReaders() (*sql.DB, error) {
	db, err := sql.Open("sqlite", f.dsn("mode=rw", "_pragma=query_only(1)"))
	if err != nil {
		return nil, f.explain(err)
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	return db, nil
}

// identify reads the store's version: 0 is an empty database. It refuses
// another program's file, and a newer store than known.
func (f *file) identify(ctx context.Context, db *sql.DB, known int) (version int, err error) {
	var application, tables int
	err = db.QueryRowContext(ctx, `SELECT
		(SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&application, &version, &tables)
	if err != nil {
		return 0, f.explain(err)
	}
	empty := application == 0 && version == 0 && tables == 0
	switch {
	case empty:
		return 0, nil
	case application != applicationID:
		return 0, &fault{f.path, ErrNotStore, "is not a lastdrop store (another program's SQLite file): name another one with --db", nil}
	case version > known:
		text := fmt.Sprintf("made by a newer lastdrop (store version %d, this one knows %d): upgrade lastdrop, or name another store with --db", version, known)
		return 0, &fault{f.path, ErrNewer, text, nil}
	}
	return version, nil
}
