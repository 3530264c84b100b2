package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// A Store is an open ledger that can be written. Begin starts or takes up a
// run; everything that a Reader does, a Store does too.
type Store struct {
	*Reader
	db  *sql.DB
	put statements
}

// statements are those of a commit, prepared once.
type statements struct {
	page, total                                               bulk
	keys, size, drift, event, slice, child, checkpoint, touch *sql.Stmt
}

// Open opens the store at path for writing. It makes the file where there is
// none (not its folder), and brings an older one up to date. The caller closes
// the store.
//
// Errors: ErrNoStore (no folder), ErrNotStore, ErrNewer, ErrNotWritable,
// ErrLocked, ErrFull, ErrCorrupt.
func Open(ctx context.Context, path string) (*Store, error) {
	return open(ctx, path, busyTimeout)
}

func open(ctx context.Context, path string, busy time.Duration) (*Store, error) {
	f, exists, err := locate(path, busy)
	if err != nil {
		return nil, err
	}
	all, err := loadMigrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	if exists {
		if err := mayWrite(f.real); err != nil {
			return nil, f.explain(err)
		}
	}
	db, err := f.openWriter()
	if err != nil {
		return nil, err
	}
	s := &Store{db: db}
	if err := s.start(ctx, f, all); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// start migrates, prepares the statements and opens the readers.
func (s *Store) start(ctx context.Context, f *file, all []migration) error {
	if err := f.migrate(ctx, s.db, all); err != nil {
		return err
	}
	if err := s.put.prepare(ctx, s.db); err != nil {
		return f.explain(err)
	}
	db, err := f.openReaders()
	if err != nil {
		return err
	}
	s.Reader = &Reader{file: f, db: db}
	return nil
}

// Close closes the store. Runs that are still held stay unfinished, and are
// to be closed on their own. Closing twice does nothing.
func (s *Store) Close() error {
	// The writer goes last: the last connection that can write folds the
	// write-ahead log into the file and removes it.
	return errors.Join(s.Reader.Close(), s.db.Close())
}

// write runs do in one transaction that has the write lock from its start.
//
// A context that is done is looked at before, not within: a COMMIT that is
// interrupted would leave the caller not knowing whether it counts. The work
// is short, and waits for a lock no longer than the busy timeout.
func (s *Store) write(ctx context.Context, do func(ctx context.Context, tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.file.explain(err)
	}
	if err := do(ctx, tx); err != nil {
		// The reason counts. A rollback fails where SQLite has rolled back
		// by itself (disk full), and then there is nothing left to undo.
		_ = tx.Rollback()
		return s.file.explain(err)
	}
	return s.file.explain(tx.Commit())
}
