// Package sqlite puts the items of a run into a table of an SQLite file, in one transaction.
//
// A row is an item: a column a key, and beside them _key (what identifies the item), _run (which run wrote the row) and
// _item (the item as it came). With id paths the rows are upserted by _key, and rows that did not come again
// stay with the _run of their last coming; without, the table is replaced.
package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"

	"lastdrop/internal/jsonscan"
	"lastdrop/internal/sink"
	"lastdrop/internal/sink/table"
)

// Table is one table of one SQLite file.
type Table struct {
	Path  string
	Table string
	Run   string   // id of the run that writes; nothing is loaded without
	ID    []string // GJSON paths to an item's id; none replaces the table as a whole
	// Stop is asked while the table is read back: its error ends that. Nil never stops.
	Stop func() error

	patience time.Duration // with a lock of somebody else; 0: 5 s
}

// The columns that are not the items'.
const (
	keyColumn  = "_key"
	runColumn  = "_run"
	itemColumn = table.Item
)

// own are the names that no key's column may have; the last three are SQLite's for the number of a row.
var own = []string{keyColumn, runColumn, itemColumn, table.Rest, "rowid", "oid", "_rowid_"}

// Name is the table's.
func (t *Table) Name() string { return t.Table }

// Check reads what stands there: a file that is no database, that belongs to a program of its own, or a table that this
// package did not make is refused.
func (t *Table) Check() error {
	_, err := t.Guarded()
	return err
}

// Guarded reports whether the table has rows that this run did not write.
func (t *Table) Guarded() (bool, error) {
	info, err := os.Stat(t.Path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && info.Size() == 0) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	db, err := t.open("mode=rw", "_pragma=query_only(1)")
	if err != nil {
		return false, err
	}
	defer db.Close()
	columns, err := t.columns(context.Background(), db)
	if err != nil || columns == nil {
		return false, explain(err)
	}
	var others bool
	err = db.QueryRow("SELECT EXISTS (SELECT 1 FROM "+quote(t.Table)+" WHERE "+runColumn+" <> ?)", t.Run).Scan(&others)
	return others, explain(err)
}

// open opens the database, with one connection. Its commits are durable with the removal of SQLite's journal (extra, not full): one that
// came back after a power cut would undo a table that the ledger already calls COMPLETE.
func (t *Table) open(params ...string) (*sql.DB, error) {
	path, err := filepath.Abs(t.Path)
	if err != nil {
		return nil, err
	}
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	patience := cmp.Or(t.patience, 5*time.Second)
	params = append(params, fmt.Sprintf("_pragma=busy_timeout(%d)", patience.Milliseconds()), "_pragma=synchronous(extra)", "_txlock=immediate")
	db, err := sql.Open("sqlite", "file://"+(&url.URL{Path: path}).EscapedPath()+"?"+strings.Join(params, "&"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// querier is a database or a transaction of it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// columns names the table's columns; nil where there is no table.
func (t *Table) columns(ctx context.Context, q querier) (map[string]bool, error) {
	var application int64
	if err := q.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application); err != nil {
		return nil, err
	}
	if application != 0 {
		return nil, fmt.Errorf("the file is the database of another program (application_id %d): name a file of its own", application)
	}
	rows, err := q.QueryContext(ctx, "SELECT name FROM pragma_table_xinfo(?)", t.Table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns map[string]bool
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if columns == nil {
			columns = map[string]bool{}
		}
		columns[name] = true
	}
	if err := rows.Err(); err != nil || columns == nil {
		return nil, err
	}
	if !columns[keyColumn] || !columns[runColumn] || !columns[itemColumn] {
		return nil, fmt.Errorf("the table %s was not made by lastdrop (it has no columns %s, %s and %s): name another (output.table)",
			t.Table, keyColumn, runColumn, itemColumn)
	}
	return columns, nil
}

// Load writes all items in one transaction, then reads them back.
func (t *Table) Load(items sink.Lines) (sink.Output, error) {
	notes, err := t.write(context.Background(), items)
	if err != nil {
		return sink.Output{}, explain(err)
	}
	out, err := t.readBack()
	out.Notes = notes
	return out, explain(err)
}

func (t *Table) write(ctx context.Context, items sink.Lines) ([]string, error) {
	paths, err := table.Paths(t.ID)
	if err != nil {
		return nil, err
	}
	l := load{Table: t, paths: paths}
	if err := items(l.cols.Add); err != nil {
		return nil, err
	}
	db, err := t.open()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // of what was not committed
	if err := l.prepare(ctx, tx); err != nil {
		return nil, err
	}
	if err := items(func(item []byte) error { return l.item(ctx, item) }); err != nil {
		return nil, err
	}
	if err := l.count(ctx, tx); err != nil {
		return nil, err
	}
	notes := append(l.cols.Notes(), table.RenameNotes(l.cols.Keys(), l.names)...)
	return notes, tx.Commit()
}

// load is a transaction in progress.
type load struct {
	*Table
	paths  []jsonscan.Path
	cols   table.Columns
	names  []string // of the keys' columns
	insert *sql.Stmt
	row    table.Row
	args   []any
}

// prepare makes the table, or fits it to the items.
func (l *load) prepare(ctx context.Context, tx *sql.Tx) error {
	there, err := l.columns(ctx, tx)
	if err != nil {
		return err
	}
	name := quote(l.Table.Table)
	var todo []string
	if there != nil && len(l.ID) == 0 {
		todo, there = append(todo, "DROP TABLE "+name), nil
	}
	if there == nil {
		todo = append(todo, fmt.Sprintf("CREATE TABLE %s (%s TEXT UNIQUE, %s TEXT, %s TEXT)", name, keyColumn, runColumn, itemColumn))
		there = map[string]bool{keyColumn: true, runColumn: true, itemColumn: true}
	} else {
		// Rows of this run from before a stop are its own still, and not what it holds now.
		todo = append(todo, fmt.Sprintf("UPDATE %s SET %s = NULL WHERE %s = %s", name, runColumn, runColumn, text(l.Run)))
	}
	l.names = table.Names(legal(l.cols.Keys()), own, fold, freeOf(there))
	columns := append([]string{keyColumn, runColumn, itemColumn}, l.names...)
	if l.cols.HasRest() {
		columns = append(columns, table.Rest)
	}
	for i, column := range columns {
		if !there[column] {
			todo = append(todo, "ALTER TABLE "+name+" ADD COLUMN "+quote(column))
		}
		columns[i] = quote(column)
	}
	for _, statement := range todo {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	// A row that is replaced gets a new rowid, so that rowids follow the order of the items.
	l.insert, err = tx.PrepareContext(ctx, "INSERT OR REPLACE INTO "+name+" ("+strings.Join(columns, ", ")+
		") VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")")
	return err
}

// legal are keys as SQL can write them.
func legal(keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = strings.ReplaceAll(strings.ToValidUTF8(key, "\uFFFD"), "\x00", "\uFFFD")
	}
	return out
}

// fold makes names the same that SQLite takes for one.
func fold(name string) string {
	return string(bytes.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, []byte(name)))
}

// freeOf tells which names a column may have: that of a column which is there, or one that none there is taken for.
func freeOf(there map[string]bool) func(string) bool {
	folded := map[string]bool{}
	for name := range there {
		folded[fold(name)] = true
	}
	return func(name string) bool { return there[name] || !folded[fold(name)] }
}

// item writes a row.
func (l *load) item(ctx context.Context, item []byte) error {
	if err := l.cols.Lay(item, &l.row); err != nil {
		return err
	}
	key, err := l.key(item)
	if err != nil {
		return err
	}
	l.args = append(l.args[:0], key, l.Run, string(item))
	for _, v := range l.row.Cells {
		l.args = append(l.args, valueOf(v))
	}
	if l.cols.HasRest() {
		l.args = append(l.args, valueOf(l.row.Rest))
	}
	_, err = l.insert.ExecContext(ctx, l.args...)
	return err
}

// key is what identifies an item; null where the table is replaced as a whole.
func (l *load) key(item []byte) (any, error) {
	key, err := table.KeyOf(item, l.paths)
	if key == nil || err != nil {
		return nil, err
	}
	return string(key), nil
}

func valueOf(v jsonscan.Value) any {
	switch v.Type {
	case jsonscan.TypeAbsent, jsonscan.TypeNull:
		return nil
	case jsonscan.TypeBool:
		return v.Bool()
	case jsonscan.TypeNumber:
		if n, ok := table.Whole(v); ok {
			return n
		}
		if f, ok := table.Exact(v); ok {
			return f
		}
		return string(v.Raw)
	case jsonscan.TypeString:
		if s := v.Str(); strings.ToValidUTF8(s, "") == s {
			return s
		}
		return []byte(v.Str())
	}
	return string(v.Raw)
}

// count refuses to commit what is not one row an item.
func (l *load) count(ctx context.Context, tx *sql.Tx) error {
	var n int64
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+quote(l.Table.Table)+" WHERE "+runColumn+" = ?", l.Run).Scan(&n); err != nil {
		return err
	}
	if n != l.cols.Items() {
		return fmt.Errorf("%w: %d rows of %d items: some items have one key (items.id)", sink.ErrReadBack, n, l.cols.Items())
	}
	return nil
}

// readBack reads the run's items in their order, as lines.
func (t *Table) readBack() (sink.Output, error) {
	db, err := t.open("mode=rw", "_pragma=query_only(1)")
	if err != nil {
		return sink.Output{}, err
	}
	defer db.Close()
	rows, err := db.Query("SELECT "+itemColumn+" FROM "+quote(t.Table)+" WHERE "+runColumn+" = ? ORDER BY rowid", t.Run)
	if err != nil {
		return sink.Output{}, err
	}
	defer rows.Close()
	out, hash := sink.Output{}, sha256.New()
	for rows.Next() {
		if t.Stop != nil && out.Items%1000 == 0 {
			if err := t.Stop(); err != nil {
				return out, err
			}
		}
		var item sql.RawBytes
		if err := rows.Scan(&item); err != nil {
			return out, err
		}
		hash.Write(item)
		hash.Write([]byte{'\n'})
		out.Items++
		out.Bytes += int64(len(item)) + 1
	}
	out.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return out, rows.Err()
}

// quote writes a name as SQL.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// text writes a text as SQL.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// explain says what helps against the errors of SQLite that a user can do something about.
func explain(err error) error {
	const busy, full, notDB = 5, 13, 26
	var fault *sqlite.Error
	if !errors.As(err, &fault) {
		return err
	}
	switch fault.Code() & 0xff {
	case busy:
		return fmt.Errorf("another program keeps the database locked: let it end, then run again, which goes on from here (%w)", err)
	case full:
		return fmt.Errorf("the disk is full: free some space and run again, which goes on from here (%w)", err)
	case notDB:
		return fmt.Errorf("it is no SQLite file: name another (%w)", err)
	}
	return err
}
