package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A migration brings a store from version-1 to version.
type migration struct {
	version int
	name    string
	sql     string
}

// loadMigrations reads migrations/NNNN_name.sql in order. The numbers count
// up from 1 without a gap: the store's version is the number of the last one.
func loadMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	var all []migration
	for i, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("%s: want a migration number %04d", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		all = append(all, migration{version, name, string(text)})
	}
	return all, nil
}

// migrate brings the database up to the last migration. Each one runs in a
// transaction of its own together with the new version number, so that a crash
// leaves either version whole. Several processes may do it at once: one of
// them does the work.
func (f *file) migrate(ctx context.Context, db *sql.DB, all []migration) error {
	version, err := f.identify(ctx, db, len(all))
	if err != nil {
		return err
	}
	if version == 0 {
		if err := f.prepareNew(ctx, db); err != nil {
			return err
		}
	}
	for _, m := range all[version:] {
		if err := f.apply(ctx, db, m); err != nil {
			return err
		}
	}
	return nil
}

// prepareNew sets what can only be set before anything is written, and turns
// the write-ahead log on, which the file then remembers.
func (f *file) prepareNew(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA page_size = %d; PRAGMA auto_vacuum = %d", pageSize, incrementalVacuum)); err != nil {
		return f.explain(err)
	}
	var mode string
	err := f.retry(ctx, func() error {
		return db.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode)
	})
	if err == nil && mode != "wal" {
		err = fmt.Errorf("this file system allows no write-ahead log (journal mode %s): name a store on another one with --db", mode)
	}
	return f.explain(err)
}

// retry repeats what SQLite may refuse without waiting: the change of the
// journal mode, while another process makes the same change.
func (f *file) retry(ctx context.Context, try func() error) error {
	const pause = 10 * time.Millisecond
	for left := f.busy; ; left -= pause {
		err := try()
		if !isBusy(err) || left <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// apply runs one migration, unless another process did so meanwhile.
func (f *file) apply(ctx context.Context, db *sql.DB, m migration) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return f.explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return f.explain(err)
	}
	if version >= m.version {
		return nil
	}
	mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, m.version)
	for _, text := range []string{m.sql, mark} {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", m.name, f.explain(err))
		}
	}
	return f.explain(tx.Commit())
}
