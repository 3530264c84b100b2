package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lastdrop/internal/sink"
	"lastdrop/internal/sink/sinktest"
)

func at(t *testing.T, run string, id ...string) *Table {
	t.Helper()
	return &Table{Path: filepath.Join(t.TempDir(), "x y#?.db"), Table: "my-items", Run: run, ID: id}
}

// rows reads a query's rows with their types.
func rows(t *testing.T, path, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for r.Next() {
		cells, ptrs := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			ptrs[i] = &cells[i]
		}
		if err := r.Scan(ptrs...); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, c := range cells {
			texts = append(texts, fmt.Sprintf("%T:%v", c, c))
		}
		all = append(all, strings.Join(texts, " "))
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// plain is the table without the odd characters of its path, which sql.Open would read.
func plain(t *testing.T, run string, id ...string) *Table {
	k := at(t, run, id...)
	k.Path = filepath.Join(filepath.Dir(k.Path), "x.db")
	return k
}

func TestOddPath(t *testing.T) {
	k := at(t, "r1")
	sinktest.Loaded(t, k, `{"a":1}`)
	if _, err := os.Stat(k.Path); err != nil {
		t.Error(err)
	}
	files, _ := os.ReadDir(filepath.Dir(k.Path))
	if len(files) != 1 {
		t.Errorf("%d files are left", len(files))
	}
}

func TestValues(t *testing.T) {
	k := plain(t, "r1")
	sinktest.Loaded(t, k, `{"i":-9223372036854775808,"f":1.5,"b":true,"t":"é\u0000x","n":{"a": [1]},"z":null}`,
		"{\"i\":9223372036854775808,\"f\":0.12345678901234567890123,\"b\":false,\"t\":\"\xff\"}", `{}`, `7`)
	want := "int64:-9223372036854775808 float64:1.5 int64:1 string:é\x00x string:{\"a\": [1]} <nil>:<nil> <nil>:<nil>\n" +
		"string:9223372036854775808 string:0.12345678901234567890123 int64:0 []uint8:[255] <nil>:<nil> <nil>:<nil> <nil>:<nil>\n" +
		"<nil>:<nil> <nil>:<nil> <nil>:<nil> <nil>:<nil> <nil>:<nil> <nil>:<nil> <nil>:<nil>\n" +
		"<nil>:<nil> <nil>:<nil> <nil>:<nil> <nil>:<nil> <nil>:<nil> <nil>:<nil> int64:7"
	if got := rows(t, k.Path, `SELECT i, f, b, t, n, z, value FROM "my-items" ORDER BY rowid`); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOddItems(t *testing.T) {
	var columns strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&columns, `,"c%d":%d`, i, i)
	}
	k := plain(t, "r1", "id")
	out := sinktest.Loaded(t, k, `{"id":1,"ID":2,"Id":3}`, `{"id":"1","":1,"\u0000":2,"\ufffd":3,"a\"b":4}`, "{\"id\":2,\"\xff\":\"\xff\xfe\"}", `{}`, `null`,
		`{"id":123456789012345678901234567890}`, `{"id":3,"_key":1,"_run":2,"_item":3,"_rest":4,"rowid":5}`,
		`{"id":4`+columns.String()+`}`, `{"id":5,"large":"`+strings.Repeat("0123456789", 1<<20)+`"}`,
		`{"id":6,"deep":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`}`)
	for _, note := range []string{`key "ID": its column is called "ID_2"`, `key "Id": its column is called "Id_3"`, `key "_run": its column is called "_run_2"`} {
		if !strings.Contains(strings.Join(out.Notes, "\n"), note) {
			t.Errorf("no note %s in %q", note, out.Notes)
		}
	}
	got := rows(t, k.Path, `SELECT id, ID_2, Id_3, _key FROM "my-items" WHERE _key IN ('1', '"1"', '123456789012345678901234567890') ORDER BY rowid`)
	want := "int64:1 int64:2 int64:3 string:1\nstring:1 <nil>:<nil> <nil>:<nil> string:\"1\""
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := rows(t, k.Path, `SELECT count(*) FROM "my-items" WHERE _key LIKE 'sha256:%'`); got != "int64:2" {
		t.Errorf("%s items without an id", got)
	}
	if got := rows(t, k.Path, `SELECT json_extract(_rest, '$.c1099') FROM "my-items" WHERE _key = '4'`); got != "int64:1099" {
		t.Errorf("c1099 is %s", got)
	}
}

func TestReplacedAsAWhole(t *testing.T) {
	k := plain(t, "r1")
	sinktest.Loaded(t, k, `{"a":1}`, `{"b":2}`)
	k.Run = "r2"
	sinktest.Loaded(t, k, `{"c":3}`)
	if got := rows(t, k.Path, `SELECT * FROM "my-items"`); got != `<nil>:<nil> string:r2 string:{"c":3} int64:3` {
		t.Error(got)
	}
	sinktest.Loaded(t, k)
	if got := rows(t, k.Path, `SELECT count(*) FROM "my-items"`); got != "int64:0" {
		t.Error(got)
	}
}

func TestUpserted(t *testing.T) {
	k := plain(t, "r1", "id.n", "kind")
	sinktest.Loaded(t, k, `{"id":{"n":1},"kind":"a","x":"old","gone":1}`, `{"id":{"n":2},"kind":"a","x":"stays"}`)
	k.Run = "r2"
	sinktest.Loaded(t, k, `{"id":{"n":3},"kind":"a","X":"new"}`, `{"id":{"n":1.0},"kind":"a","x":"changed"}`)
	want := `string:[2,"a"] string:r1 string:stays <nil>:<nil> <nil>:<nil>
string:[3,"a"] string:r2 <nil>:<nil> <nil>:<nil> string:new
string:[1,"a"] string:r2 string:changed <nil>:<nil> <nil>:<nil>`
	if got := rows(t, k.Path, `SELECT _key, _run, x, gone, X_2 FROM "my-items" ORDER BY rowid`); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Names stay with their keys, in whatever order they come.
	k.Run = "r3"
	sinktest.Loaded(t, k, `{"id":{"n":4},"kind":"a","X":"upper","x":"lower"}`)
	if got := rows(t, k.Path, `SELECT x, X_2 FROM "my-items" WHERE _run = 'r3'`); got != "string:lower string:upper" {
		t.Error(got)
	}
}

// A run that was stopped after its transaction loads again, with what it holds by then.
func TestLoadedAgain(t *testing.T) {
	for _, id := range [][]string{nil, {"id"}} {
		k := plain(t, "r1", id...)
		sinktest.Loaded(t, k, `{"id":1}`, `{"id":2}`)
		for range 2 {
			sinktest.Loaded(t, k, `{"id":2}`, `{"id":3}`, `{"id":4}`)
		}
		if guarded, err := k.Guarded(); guarded || err != nil {
			t.Errorf("its own table is guarded: %v, %v", guarded, err)
		}
	}
}

func TestGuarded(t *testing.T) {
	k := plain(t, "r1", "id")
	for step, want := range map[string]bool{"nothing": false, "empty": false} {
		if step == "empty" {
			if err := os.WriteFile(k.Path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := k.Guarded(); got != want || err != nil {
			t.Errorf("%s: %v, %v", step, got, err)
		}
	}
	sinktest.Loaded(t, k)
	other := &Table{Path: k.Path, Table: k.Table, Run: "r2", ID: k.ID}
	if got, err := other.Guarded(); got || err != nil {
		t.Errorf("a table without rows: %v, %v", got, err)
	}
	sinktest.Loaded(t, k, `{"id":1}`)
	if got, err := other.Guarded(); !got || err != nil {
		t.Errorf("another run's rows: %v, %v", got, err)
	}
	if got, err := (&Table{Path: k.Path, Table: "other", Run: "r2"}).Guarded(); got || err != nil {
		t.Errorf("another table: %v, %v", got, err)
	}
}

func exec(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func TestOthersAreLeftAlone(t *testing.T) {
	for name, c := range map[string]struct{ statement, want string }{
		"a table of theirs":    {`CREATE TABLE "my-items" (id, name)`, "was not made by lastdrop"},
		"a view":               {`CREATE VIEW "MY-ITEMS" AS SELECT 1`, "was not made by lastdrop"},
		"a program's database": {"PRAGMA application_id = 77", "another program"},
	} {
		k := plain(t, "r1")
		exec(t, k.Path, "CREATE TABLE theirs (x)", c.statement)
		before, _ := os.ReadFile(k.Path)
		_, loadErr := k.Load(sinktest.Of(`{"a":1}`))
		for _, err := range []error{k.Check(), loadErr} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
		if after, _ := os.ReadFile(k.Path); string(after) != string(before) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	k := plain(t, "r1")
	if err := os.WriteFile(k.Path, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := k.Check(); err == nil || !strings.Contains(err.Error(), "no SQLite file") {
		t.Errorf("%v", err)
	}
}

func TestTablesBesideIt(t *testing.T) {
	k := plain(t, "r1")
	exec(t, k.Path, "CREATE TABLE theirs (x)", "INSERT INTO theirs VALUES (7)")
	sinktest.Loaded(t, k, `{"a":1}`)
	if got := rows(t, k.Path, "SELECT x FROM theirs"); got != "int64:7" {
		t.Error(got)
	}
}

// TestStoppedAnywhere copies the files, as a kill would leave them, at each item of the transaction, and lets the run
// go on from there: before it is done the old rows stand, and after it the new ones.
func TestStoppedAnywhere(t *testing.T) {
	for _, id := range [][]string{nil, {"id"}} {
		k := plain(t, "r1", id...)
		sinktest.Loaded(t, k, `{"id":1,"v":"old"}`, `{"id":2,"v":"old"}`)
		k.Run = "r2"
		items := make([]string, 300)
		for i := range items {
			items[i] = fmt.Sprintf(`{"id":%d,"v":"new %s"}`, i+1, strings.Repeat("x", 9_000)) // more than the cache takes
		}
		var stops []string
		reading := 0
		_, err := k.Load(func(each func([]byte) error) error {
			reading++
			n := 0
			return sinktest.Of(items...)(func(item []byte) error {
				if n++; reading == 2 && n%75 == 0 {
					stops = append(stops, snapshot(t, k.Path))
				}
				return each(item)
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(stops) == 0 {
			t.Fatal("nothing was stopped")
		}
		stops = append(stops, snapshot(t, k.Path)) // the last one after the transaction
		for _, dir := range stops {
			again := &Table{Path: filepath.Join(dir, "x.db"), Table: k.Table, Run: "r2", ID: id}
			if guarded, err := again.Guarded(); err != nil || guarded != (dir != stops[len(stops)-1]) {
				t.Fatalf("guarded %v, %v", guarded, err)
			}
			count := rows(t, again.Path, `SELECT count(*), sum(v = 'old') FROM "my-items"`)
			if count != "int64:2 int64:2" && count != "int64:300 int64:0" {
				t.Fatalf("rows, old ones: %s", count)
			}
			sinktest.Loaded(t, again, items...)
			if got := rows(t, again.Path, `SELECT count(*), sum(v = 'old') FROM "my-items"`); got != "int64:300 int64:0" {
				t.Fatalf("after going on: %s", got)
			}
		}
	}
}

// snapshot copies the files of a database to a folder of their own.
func snapshot(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(path), f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.Name()), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestNothingIsLoadedOfAPart(t *testing.T) {
	gone := errors.New("gone")
	k := plain(t, "r1", "id")
	sinktest.Loaded(t, k, `{"id":1}`)
	k.Run = "r2"
	reading := 0
	_, err := k.Load(func(each func([]byte) error) error {
		if reading++; reading == 2 {
			return errors.Join(each([]byte(`{"id":9}`)), gone)
		}
		return sinktest.Of(`{"id":9}`, `{"id":10}`)(each)
	})
	if !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	if _, err := k.Load(sinktest.Of(`{"id":5}`, `{"id":5}`)); !errors.Is(err, sink.ErrReadBack) {
		t.Errorf("two items of one key: %v", err)
	}
	if _, err := k.Load(sinktest.Of(`{"id":`)); err == nil {
		t.Error("half an item was loaded")
	}
	if got := rows(t, k.Path, `SELECT _key, _run FROM "my-items"`); got != "string:1 string:r1" {
		t.Error(got)
	}
}

func TestBusy(t *testing.T) {
	k := plain(t, "r1")
	sinktest.Loaded(t, k, `{"a":1}`)
	exec(t, k.Path, "BEGIN EXCLUSIVE")
	k.patience = time.Millisecond
	for _, err := range []error{k.Check(), func() error { _, err := k.Load(sinktest.Of(`{"a":1}`)); return err }()} {
		if err == nil || !strings.Contains(err.Error(), "keeps the database locked") {
			t.Errorf("%v", err)
		}
	}
}

// TestCommitOutlivesPowerCut: with less than EXTRA the removal of SQLite's journal may be lost after the commit, and the journal then undoes it.
// TestPowerCut of cmd/lastdrop shows that.
func TestCommitOutlivesPowerCut(t *testing.T) {
	db, err := at(t, "r1").open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var mode string
	var level int
	if err := errors.Join(db.QueryRow("PRAGMA journal_mode").Scan(&mode), db.QueryRow("PRAGMA synchronous").Scan(&level)); err != nil {
		t.Fatal(err)
	}
	const extra = 3
	if mode != "delete" || level != extra {
		t.Errorf("journal %s, synchronous %d", mode, level)
	}
}

// TestStoppedWhileReadBack: the table is there, and the run goes on to load it again.
func TestStoppedWhileReadBack(t *testing.T) {
	halt := errors.New("halt")
	k := at(t, "r1", "id")
	k.Stop = func() error { return halt }
	if _, err := k.Load(sinktest.Of(`{"id":1}`)); !errors.Is(err, halt) {
		t.Errorf("%v", err)
	}
	k.Stop = nil
	sinktest.Loaded(t, k, `{"id":1}`, `{"id":2}`)
}
