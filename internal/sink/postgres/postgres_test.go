package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lastdrop/internal/jsonscan"
	"lastdrop/internal/pgtest"
	"lastdrop/internal/secret"
	"lastdrop/internal/sink"
	"lastdrop/internal/sink/sinktest"
)

// TestPostgres runs all tests that need a server with one.
func TestPostgres(t *testing.T) {
	s := pgtest.Start(t)
	for name, test := range map[string]func(*testing.T, *pgtest.Server){
		"values": testValues, "odd items": testOddItems, "swapped": testSwapped, "merged": testMerged, "merged types": testMergedTypes,
		"guarded": testGuarded, "loaded again": testLoadedAgain, "others are left alone": testOthersAreLeftAlone, "rights": testRights,
		"what hangs on it": testWhatHangsOnIt, "nothing of a part": testNothingOfAPart, "busy": testBusy, "stopped anywhere": testStoppedAnywhere,
		"asked to stop": testAskedToStop, "no secret": testNoSecret, "schema": testSchema, "kinds": testKinds, "bound": testBound,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

func at(t *testing.T, s *pgtest.Server, id ...string) *Table {
	t.Helper()
	return &Table{DSN: secret.Value(s.Database(t)), Table: "my-items", Run: "r1", ID: id}
}

func (t *Table) rows(test *testing.T, query string) string {
	test.Helper()
	return pgtest.Rows(test, t.DSN.Reveal(), query)
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

const typesOf = `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '"my-items"'::regclass AND attnum > 4 AND NOT attisdropped ORDER BY attnum`

func testValues(t *testing.T, s *pgtest.Server) {
	k := at(t, s)
	out := sinktest.Loaded(t, k, `{"i":-9223372036854775808,"d":1.5,"b":true,"t":"é\t\\N\n\r\\","n":{"a": [1]},"z":null,"mix":7,"big":1}`,
		`{"i":9223372036854775807,"d":0.12345678901234567890123,"b":false,"t":"","n":[],"mix":"7","big":123456789012345678901234567890}`, `{}`, `7`)
	same(t, k.rows(t, typesOf), "i|bigint\nd|numeric\nb|boolean\nt|text\nn|jsonb\nz|text\nmix|text\nbig|numeric\nvalue|bigint\n")
	same(t, k.rows(t, `SELECT i, d, b, t, n, z, mix, big, value, _key, _run, _n FROM "my-items" ORDER BY _n`),
		"-9223372036854775808|1.5|t|é\t\\N\n\r\\|{\"a\": [1]}|-|7|1|-|-|r1|1\n"+
			"9223372036854775807|0.12345678901234567890123|f||[]|-|7|123456789012345678901234567890|-|-|r1|2\n"+
			"-|-|-|-|-|-|-|-|-|-|r1|3\n-|-|-|-|-|-|-|-|7|-|r1|4\n")
	same(t, k.rows(t, `SELECT _item FROM "my-items" WHERE _n = 3`), "{}\n")
	if notes := strings.Join(out.Notes, "\n"); !strings.Contains(notes, `column "mix": numbers and texts: kept as text`) || strings.Contains(notes, `"big"`) {
		t.Errorf("notes %q", out.Notes)
	}
}

func testOddItems(t *testing.T, s *pgtest.Server) {
	var columns strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&columns, `,"c%d":"0123456789012345678901234567890 %d"`, i, i)
	}
	long := strings.Repeat("l", 100)
	items := []string{
		`{"id":1,"ID":2,"Id":3}`, `{"id":"1","":1,"\u0000":2,"\ufffd":3,"a\"b":4,"` + long + `1":5,"` + long + `2":6}`, `{}`, `null`, `[]`, `""`,
		`{"id":123456789012345678901234567890}`, `{"id":3,"_key":1,"_run":2,"_item":3,"_rest":4,"_n":5,"ctid":6,"xmin":7}`,
		`{"id":5,"large":"` + strings.Repeat("0123456789", 1<<20) + `"}`,
		`{"id":6,"deep":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`,
		`{"id":7,"nul":"a\u0000b","in":{"nul":"\u0000"},"half":"\ud83d","vast":1e999999,"invast":[1E+999999],"inhalf":["\ud83d x"],"whole":["\ud83d\ude00"]}`,
		`{"id":8,"nul":"plain","tail":"\\u0000"}`, `{"id":"` + strings.Repeat("k", 5000) + `"}`, `{"id":"\u0000"}`, `{"id":1e999999}`,
		`{"id":4` + columns.String() + `}`,
	}
	k := at(t, s, "id")
	out := sinktest.Loaded(t, k, items...)
	notes := strings.Join(out.Notes, "\n")
	for _, note := range []string{`key "_run": its column is called "_run_`, `key "": its column is called "_e3b0c442"`, `column "nul": texts with a NUL`,
		`column "vast": numbers that numeric does not hold: kept as text`, `column "in": objects or lists`, "keys beyond the first 300"} {
		if !strings.Contains(notes, note) {
			t.Errorf("no note %s in %s", note, notes)
		}
	}
	same(t, k.rows(t, `SELECT "ID", "Id" FROM "my-items" WHERE _key = '1'`), "2|3\n")
	same(t, k.rows(t, `SELECT encode(nul, 'escape'), "in", encode(half, 'hex'), vast, invast, inhalf, pg_typeof(whole) FROM "my-items" WHERE _key = '7'`),
		`a\000b|{"nul":"\u0000"}|eda0bd|1e999999|[1E+999999]|["\ud83d x"]|jsonb`+"\n")
	same(t, k.rows(t, `SELECT encode(nul, 'escape'), tail FROM "my-items" WHERE _key = '8'`), `plain|\u0000`+"\n")
	same(t, k.rows(t, `SELECT length(deep) FROM "my-items" WHERE _key = '6'`), "18000\n")
	same(t, k.rows(t, `SELECT _rest->>'c1099' FROM "my-items" WHERE _key = '4'`), "0123456789012345678901234567890 1099\n")
	same(t, k.rows(t, `SELECT count(*) FROM "my-items" WHERE _key LIKE 'sha256:%'`), "4\n")
	same(t, k.rows(t, `SELECT count(*) FROM "my-items" WHERE _key LIKE 'id-sha256:%'`), "1\n")
	same(t, k.rows(t, `SELECT _key FROM "my-items" WHERE _n = 14`), `"\u0000"`+"\n")

	// Bytes that are no UTF-8 make what holds them bytea, and lose nothing.
	sinktest.Loaded(t, k, items...)
	k.Merge, k.Run = true, "r2"
	out = sinktest.Loaded(t, k, "{\"id\":2,\"\xff\":\"\xff\xfe\",\"nul\":[\"\xc3\"],\"tail\":\"\xc3\"}")
	same(t, k.rows(t, `SELECT encode(nul, 'escape'), encode(tail, 'escape'), encode(_item, 'hex') = '`+
		hex.EncodeToString([]byte("{\"id\":2,\"\xff\":\"\xff\xfe\",\"nul\":[\"\xc3\"],\"tail\":\"\xc3\"}"))+`' FROM "my-items" WHERE _key = '2'`), `["\303"]|\303|t`+"\n")
	same(t, k.rows(t, `SELECT encode(tail, 'escape') FROM "my-items" WHERE _key = '8'`), `\\u0000`+"\n")
	if !strings.Contains(strings.Join(out.Notes, "\n"), `column "tail": it was text, and is bytea now`) {
		t.Errorf("notes %q", out.Notes)
	}
	k.Run = "r3"
	sinktest.Loaded(t, k, `{"id":9,"tail":"text again"}`)
}

func testSwapped(t *testing.T, s *pgtest.Server) {
	k := at(t, s, "id")
	sinktest.Loaded(t, k, `{"id":1,"v":"a"}`, `{"id":2,"w":"b"}`)
	k.Run = "r2"
	sinktest.Loaded(t, k, `{"id":3,"v":1}`)
	same(t, k.rows(t, `SELECT * FROM "my-items"`), "3|r2|1|{\"id\":3,\"v\":1}|3|1\n")
	k.Run = "r3"
	sinktest.Loaded(t, k)
	same(t, k.rows(t, `SELECT * FROM "my-items"`), "")
	same(t, k.rows(t, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"), "my-items\n")
}

func testMerged(t *testing.T, s *pgtest.Server) {
	k := at(t, s, "id.n", "kind")
	k.Merge = true
	sinktest.Loaded(t, k, `{"id":{"n":1},"kind":"a","x":"old","gone":1}`, `{"id":{"n":2},"kind":"a","x":"stays"}`)
	k.Run = "r2"
	sinktest.Loaded(t, k, `{"id":{"n":3},"kind":"a","X":"new"}`, `{"id":{"n":1.0},"kind":"a","x":"changed"}`)
	same(t, k.rows(t, `SELECT _key, _run, x, gone, "X" FROM "my-items" ORDER BY _key`),
		"[1,\"a\"]|r2|changed|-|-\n[2,\"a\"]|r1|stays|-|-\n[3,\"a\"]|r2|-|-|new\n")
	// One that was replaced without ids has no unique key yet.
	other := at(t, s)
	sinktest.Loaded(t, other, `{"id":1}`)
	other.ID, other.Merge, other.Run = []string{"id"}, true, "r2"
	sinktest.Loaded(t, other, `{"id":2}`)
	other.Run = "r3"
	sinktest.Loaded(t, other, `{"id":2,"x":1}`)
	same(t, other.rows(t, `SELECT _key, _run FROM "my-items" ORDER BY _run`), "-|r1\n2|r3\n")
}

func testMergedTypes(t *testing.T, s *pgtest.Server) {
	k := at(t, s, "id")
	k.Merge = true
	sinktest.Loaded(t, k, `{"id":1,"int":9007199254740993,"num":0.1,"bool":true,"json":{"a":1},"text":"x","any":1}`)
	before := k.rows(t, typesOf)
	k.Run = "r1b" // nulls, and narrower values, widen nothing
	if out := sinktest.Loaded(t, k, `{"id":0,"int":null,"num":5,"bool":null,"json":null,"text":null,"any":null}`); len(out.Notes) > 0 {
		t.Errorf("notes %q", out.Notes)
	}
	same(t, k.rows(t, typesOf), before)
	pgtest.Exec(t, k.DSN.Reveal(), `DELETE FROM "my-items" WHERE id = 0`)
	k.Run = "r2"
	out := sinktest.Loaded(t, k, `{"id":2,"int":0.1,"num":7,"bool":"no","json":5,"text":{"b":[]},"any":"\u0000"}`)
	same(t, k.rows(t, typesOf), "id|bigint\nint|numeric\nnum|numeric\nbool|text\njson|text\ntext|text\nany|bytea\n")
	same(t, k.rows(t, `SELECT int, num, bool, json, text, encode("any", 'escape') FROM "my-items" ORDER BY _key`),
		"9007199254740993|0.1|true|{\"a\": 1}|x|1\n0.1|7|no|5|{\"b\":[]}|\\000\n")
	if len(out.Notes) < 4 {
		t.Errorf("notes %q", out.Notes)
	}
	pgtest.Exec(t, k.DSN.Reveal(), `ALTER TABLE "my-items" ALTER num TYPE varchar(3)`)
	if _, err := k.Load(sinktest.Of(`{"id":3,"num":12345}`)); err == nil || !strings.Contains(err.Error(), `column "num" is character varying(3)`) {
		t.Errorf("a column that others changed: %v", err)
	}
}

func testGuarded(t *testing.T, s *pgtest.Server) {
	k := at(t, s, "id")
	guarded := func(run string, want bool) {
		t.Helper()
		other := *k
		other.Run = run
		if err := other.Check(); err != nil {
			t.Error(err)
		}
		if got, err := other.Guarded(); got != want || err != nil {
			t.Errorf("run %q: %v, %v", run, got, err)
		}
	}
	guarded("r1", false)
	sinktest.Loaded(t, k)
	guarded("r2", false)
	sinktest.Loaded(t, k, `{"id":1}`)
	guarded("r1", false)
	guarded("r2", true)
	guarded("", true)
}

// A run that was stopped after its transaction loads again, with what it holds by then.
func testLoadedAgain(t *testing.T, s *pgtest.Server) {
	for _, merge := range []bool{false, true} {
		k := at(t, s, "id")
		k.Merge = merge
		sinktest.Loaded(t, k, `{"id":1}`, `{"id":2}`)
		for range 2 {
			sinktest.Loaded(t, k, `{"id":2}`, `{"id":3}`, `{"id":4}`)
		}
		if guarded, err := k.Guarded(); guarded || err != nil {
			t.Errorf("its own table is guarded: %v, %v", guarded, err)
		}
	}
}

func refused(t *testing.T, k *Table, want string) {
	t.Helper()
	_, loadErr := k.Load(sinktest.Of(`{"a":1}`))
	for _, err := range []error{k.Check(), loadErr} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func testOthersAreLeftAlone(t *testing.T, s *pgtest.Server) {
	for _, statement := range []string{`CREATE TABLE "my-items" (id int, name text)`, `CREATE VIEW "my-items" AS SELECT 1 AS _key, 2 AS _run, 3 AS _n, 4 AS _item`} {
		k := at(t, s)
		pgtest.Exec(t, k.DSN.Reveal(), statement)
		refused(t, k, "was not made by lastdrop")
	}
	k := at(t, s)
	pgtest.Exec(t, k.DSN.Reveal(), "CREATE TABLE theirs AS SELECT 7 AS x")
	sinktest.Loaded(t, k, `{"a":1}`)
	same(t, k.rows(t, "SELECT x FROM theirs"), "7\n")
}

// as is the table by another user.
func as(t *testing.T, k *Table, role string) *Table {
	t.Helper()
	pgtest.Exec(t, k.DSN.Reveal(), fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD 'pw-%[1]s'", role))
	u, err := url.Parse(k.DSN.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "pw-"+role)
	other := *k
	other.DSN = secret.Value(u.String())
	return &other
}

func testRights(t *testing.T, s *pgtest.Server) {
	k := at(t, s)
	writer := as(t, k, "writer")
	refused(t, writer, "may not create tables in the schema public: GRANT CREATE")
	sinktest.Loaded(t, k, `{"a":1}`)
	pgtest.Exec(t, k.DSN.Reveal(), "GRANT CREATE ON SCHEMA public TO writer", `GRANT ALL ON "my-items" TO writer`)
	refused(t, writer, "belongs to another role")
	pgtest.Exec(t, k.DSN.Reveal(), "ALTER ROLE writer SET default_transaction_read_only = on")
	refused(t, writer, "takes no changes")
	pgtest.Exec(t, k.DSN.Reveal(), "ALTER ROLE writer SET default_transaction_read_only = off", "ALTER ROLE writer SET search_path = nowhere")
	refused(t, writer, "no schema of the search path")
	pgtest.Exec(t, s.DSN("postgres"), "CREATE DATABASE narrow ENCODING LATIN1 TEMPLATE template0")
	refused(t, &Table{DSN: secret.Value(s.DSN("narrow")), Table: "x"}, "encoded in LATIN1")
	refused(t, &Table{DSN: k.DSN, Table: strings.Repeat("x", 64)}, "too long for a table")
}

// Owner and grants outlive a swap; indexes are named, and views keep it from happening.
func testWhatHangsOnIt(t *testing.T, s *pgtest.Server) {
	k := at(t, s, "id")
	sinktest.Loaded(t, k, `{"id":1,"v":1}`)
	pgtest.Exec(t, k.DSN.Reveal(), `CREATE ROLE "odd ""owner"`, "CREATE ROLE reader", `GRANT CREATE ON SCHEMA public TO "odd ""owner"`,
		`ALTER TABLE "my-items" OWNER TO "odd ""owner"`, `GRANT SELECT ON "my-items" TO reader WITH GRANT OPTION`, `GRANT SELECT ON "my-items" TO PUBLIC`,
		`CREATE INDEX by_v ON "my-items" (v)`)
	k.Run = "r2"
	out := sinktest.Loaded(t, k, `{"id":2,"v":2}`)
	if notes := strings.Join(out.Notes, "\n"); !strings.Contains(notes, `the index "by_v" went with the table`) || len(out.Notes) != 1 {
		t.Errorf("notes %q", out.Notes)
	}
	same(t, k.rows(t, `SELECT pg_get_userbyid(relowner), array(SELECT grantee::regrole || ' ' || privilege_type || is_grantable FROM aclexplode(relacl) WHERE grantee <> relowner ORDER BY 1)
		FROM pg_class WHERE relname = 'my-items'`), "odd \"owner|{\"- SELECTfalse\",\"reader SELECTtrue\"}\n")
	pgtest.Exec(t, k.DSN.Reveal(), `CREATE VIEW hangs AS SELECT v FROM "my-items"`)
	k.Run = "r3"
	refused(t, k, "views would be lost with the table that is replaced")
	same(t, k.rows(t, `SELECT _run FROM "my-items"`), "r2\n")
	k.Merge = true
	sinktest.Loaded(t, k, `{"id":3,"v":3}`)
	if _, err := k.Load(sinktest.Of(`{"id":3,"v":"a text"}`)); err == nil || !strings.Contains(err.Error(), "hangs on a column whose type must change") {
		t.Errorf("%v", err)
	}
	same(t, k.rows(t, `SELECT v FROM hangs ORDER BY v`), "2\n3\n")
}

// What a swap would take away with the old table keeps it from happening, and is told before the first request.
func testBound(t *testing.T, s *pgtest.Server) {
	for want, statement := range map[string]string{
		"row security": `ALTER TABLE "my-items" ENABLE ROW LEVEL SECURITY`, "a publication": `CREATE PUBLICATION p FOR TABLE "my-items"; ALTER TABLE "my-items" REPLICA IDENTITY FULL`,
		"grants on columns": `GRANT SELECT (_item) ON "my-items" TO PUBLIC`, "foreign keys": `CREATE TABLE theirs (k text REFERENCES "my-items" (_key))`,
		"triggers": `CREATE TRIGGER t BEFORE UPDATE ON "my-items" FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
		"views":    `CREATE MATERIALIZED VIEW v AS SELECT * FROM "my-items"`,
	} {
		k := at(t, s, "id")
		sinktest.Loaded(t, k, `{"id":1}`)
		pgtest.Exec(t, k.DSN.Reveal(), statement)
		refused(t, k, want+" would be lost")
		k.Merge = true
		if err := k.Check(); err != nil {
			t.Errorf("%s, merged: %v", want, err)
		}
		sinktest.Loaded(t, k, `{"id":1,"more":2}`)
	}
}

func testNothingOfAPart(t *testing.T, s *pgtest.Server) {
	gone := errors.New("gone")
	for _, merge := range []bool{false, true} {
		k := at(t, s, "id")
		k.Merge = merge
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
		if _, err := k.Load(sinktest.Of(`{"id":5}`, `{"id":5}`)); !errors.Is(err, sink.ErrReadBack) || !strings.Contains(err.Error(), "items.id") {
			t.Errorf("two items of one key: %v", err)
		}
		if _, err := k.Load(sinktest.Of(`{"id":`)); err == nil {
			t.Error("half an item was loaded")
		}
		same(t, k.rows(t, `SELECT _key, _run FROM "my-items"`), "1|r1\n")
		same(t, k.rows(t, "SELECT count(*) FROM pg_class WHERE relname LIKE 'lastdrop%' AND relkind = 'r'"), "0\n")
	}
}

func testBusy(t *testing.T, s *pgtest.Server) {
	k := at(t, s, "id")
	sinktest.Loaded(t, k, `{"id":1}`)
	k.Run, k.patience = "r2", time.Millisecond
	reader := pgtest.Connect(t, k.DSN.Reveal())
	if _, err := reader.Exec(context.Background(), `BEGIN; SELECT FROM "my-items"`); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Load(sinktest.Of(`{"id":2}`)); err == nil || !strings.Contains(err.Error(), "holds a lock on the table") {
		t.Errorf("%v", err)
	}
	if _, err := reader.Exec(context.Background(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	reading := 0
	_, err := k.Load(func(each func([]byte) error) error {
		if reading++; reading == 2 {
			other := &Table{DSN: k.DSN, Table: k.Table, Run: "r3", patience: time.Millisecond}
			if _, err := other.Load(sinktest.Of(`{"id":7}`)); err == nil || !strings.Contains(err.Error(), "holds a lock on the table") {
				t.Errorf("another run's load: %v", err)
			}
		}
		return sinktest.Of(`{"id":2}`)(each)
	})
	if err != nil {
		t.Error(err)
	}
	same(t, k.rows(t, `SELECT _key, _run FROM "my-items"`), "2|r2\n")
}

// TestStoppedAnywhere takes the server's side of the connection away at each step of a load, as a kill of either side does, and lets
// the run go on: before the transaction is done the old rows stand, and after it the new ones.
func testStoppedAnywhere(t *testing.T, s *pgtest.Server) {
	const steps = 3 // of the items' second reading: before, within and behind it
	for _, merge := range []bool{false, true} {
		for step := range steps {
			k := at(t, s, "id")
			k.Merge = merge
			sinktest.Loaded(t, k, `{"id":1,"v":"old"}`, `{"id":2,"v":"old"}`)
			k.Run = "r2"
			items := make([]string, 400)
			for i := range items {
				items[i] = fmt.Sprintf(`{"id":%d,"v":"new %s"}`, i+1, strings.Repeat("x", 900))
			}
			cut := func() {
				pgtest.Exec(t, s.DSN("postgres"), "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'lastdrop'")
			}
			reading := 0
			_, err := k.Load(func(each func([]byte) error) error {
				reading++
				for i, item := range items {
					if reading == 2 && i == step*(len(items)-1)/(steps-1) {
						cut()
					}
					if err := each([]byte(item)); err != nil {
						return err
					}
				}
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), "run again") || strings.Contains(err.Error(), "\n") {
				t.Errorf("step %d: %v", step, err)
			}
			if guarded, err := k.Guarded(); err != nil || !guarded {
				t.Fatalf("guarded %v, %v", guarded, err)
			}
			same(t, k.rows(t, `SELECT count(*), count(*) FILTER (WHERE v = 'old') FROM "my-items"`), "2|2\n")
			same(t, k.rows(t, "SELECT count(*) FROM pg_class WHERE relname LIKE 'lastdrop%' AND relkind = 'r'"), "0\n")
			sinktest.Loaded(t, k, items...)
			same(t, k.rows(t, `SELECT count(*), count(*) FILTER (WHERE v = 'old') FROM "my-items"`), "400|0\n")
		}
	}
}

// What Stop says ends even a statement of the server that waits.
func testAskedToStop(t *testing.T, s *pgtest.Server) {
	k := at(t, s, "id")
	sinktest.Loaded(t, k, `{"id":1}`)
	reader := pgtest.Connect(t, k.DSN.Reveal())
	if _, err := reader.Exec(context.Background(), `BEGIN; SELECT FROM "my-items"`); err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("asked to stop")
	k.Run = "r2"
	k.Stop = func() error {
		var waits bool
		if err := reader.QueryRow(context.Background(), "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)").Scan(&waits); err != nil {
			return err
		}
		if waits {
			return stopped
		}
		return nil
	}
	if _, err := k.Load(sinktest.Of(`{"id":2}`)); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
}

// No error tells a part of the address.
func testNoSecret(t *testing.T, s *pgtest.Server) {
	good := s.Database(t)
	u, err := url.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // answers, but not as PostgreSQL does
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = c.Close()
		}
	}()
	with := func(change func(u *url.URL)) string {
		c := *u
		change(&c)
		return c.String()
	}
	for name, c := range map[string]struct{ dsn, want string }{
		"wrong password": {with(func(u *url.URL) { u.User = url.UserPassword("keeper", "hunter2hunter2") }), "refuses the user or the password"},
		"wrong user":     {with(func(u *url.URL) { u.User = url.UserPassword("hunter2hunter2", "x") }), "refuses the user or the password"},
		"no database":    {with(func(u *url.URL) { u.Path = "/hunter2hunter2" }), "no such database"},
		"no server":      {"postgres://keeper:hunter2hunter2@127.0.0.1:1/x", "connection refused"},
		"no host":        {"postgres://keeper:hunter2hunter2@hunter2hunter2.invalid/x", "cannot be reached"},
		"no postgres":    {"postgres://keeper:hunter2hunter2@" + l.Addr().String() + "/x?sslmode=disable", "cannot be reached"},
		"not parsed":     {"postgres://keeper:hunter2hunter2%zz@127.0.0.1/x", "no address of a database"},
		"odd port":       {"postgres://keeper:hunter2hunter2@127.0.0.1:hunter2hunter2/x", "no address of a database"},
		"odd mode":       {"postgres://keeper:x@127.0.0.1/x?sslmode=hunter2hunter2", "no address of a database"},
		"no TLS":         {good + "?sslmode=require", "cannot be reached"},
	} {
		k := &Table{DSN: secret.Value(c.dsn), Table: "x", Run: "r1"}
		_, loadErr := k.Load(sinktest.Of(`{"a":1}`))
		_, guardErr := k.Guarded()
		for _, err := range []error{k.Check(), loadErr, guardErr} {
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			for _, part := range []string{"hunter2hunter2", s.Password, "keeper", "127.0.0.1", "://"} {
				if err != nil && strings.Contains(strings.ReplaceAll(err.Error(), errAddress.Error(), ""), part) {
					t.Errorf("%s: %v tells %q", name, err, part)
				}
			}
		}
		if text := fmt.Sprintf("%v %+v %#v", k, k, k); strings.Contains(text, "hunter2hunter2") {
			t.Errorf("%s is printed", text)
		}
	}
}

func testSchema(t *testing.T, s *pgtest.Server) {
	k := at(t, s)
	pgtest.Exec(t, k.DSN.Reveal(), `CREATE SCHEMA "ware house"`)
	k.DSN += "?search_path=%22ware%20house%22"
	sinktest.Loaded(t, k, `{"a":1}`)
	sinktest.Loaded(t, k, `{"a":2}`)
	same(t, k.rows(t, `SELECT a FROM "ware house"."my-items"`), "2\n")
}

// pieces are what JSON is drawn from: much of it is what PostgreSQL refuses.
var pieces = []string{`"\u0000"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\ude00"`, `"\ud83dx"`, `"\ude00\ud83d"`, `"\\u0000"`, `"\\\u0000"`, `"\uD83D\u0041"`, `"\u00e9\n\/\b\f"`, `"é"`, `""`, `"\""`,
	"1", "-0", "0.1", "1e5", "1E-4000", "1e-16000", "1e400", "1e9000", "1e200000", "-9223372036854775808", "9223372036854775808", "true", "false", "null",
	strings.Repeat("9", 500), "0." + strings.Repeat("3", 500)}

func drawJSON(t *rapid.T, depth int) string {
	switch n := rapid.IntRange(0, 9).Draw(t, "kind"); {
	case depth == 0 || n < 5:
		return rapid.SampledFrom(pieces).Draw(t, "piece")
	case n < 7:
		return "[" + strings.Join(drawAll(t, depth, ""), " , ") + "]"
	}
	return "{" + strings.Join(drawAll(t, depth, `"\u0000k":`), ",") + "}"
}

func drawAll(t *rapid.T, depth int, odd string) []string {
	all := make([]string, rapid.IntRange(0, 4).Draw(t, "n"))
	for i := range all {
		if all[i] = drawJSON(t, depth-1); odd != "" {
			key := fmt.Sprintf(`"k%d":`, i)
			if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
				key = odd
			}
			all[i] = key + all[i]
		}
	}
	return all
}

// The server takes each value as the kind that it is looked upon as.
func testKinds(t *testing.T, s *pgtest.Server) {
	conn := pgtest.Connect(t, s.Database(t)).PgConn()
	rapid.Check(t, func(rt *rapid.T) {
		raw := []byte(drawJSON(rt, 3))
		kind := look(jsonscan.ValueOf(raw)).kind()
		if kind == kindText || kind == kindBytes {
			return
		}
		if r := conn.ExecParams(t.Context(), "SELECT $1::text::"+kind.String(), [][]byte{raw}, nil, nil, nil).Read(); r.Err != nil {
			rt.Fatalf("%s as %s: %v", raw, kind, r.Err)
		}
	})
	odd := func(raw string) bool { return look(jsonscan.ValueOf([]byte(raw)))&(seenOdd|seenVast|seenBytes) != 0 }
	for raw, want := range map[string]bool{
		`"\ud83d\ude00"`: false, `["\ud83d\ude00"]`: false, `["\\u0000"]`: false, `["\\\u0000"]`: true, `[1e9000]`: false, `[1e-6000]`: true, `1e-4000`: false,
		`["\ud83d\\u"]`: true, `["\udc00"]`: true, `["\ud83d\ud83d\ude00"]`: true, `{"\u0000":1}`: true, `[` + strings.Repeat("9", 10_001) + `]`: true,
	} {
		if got := odd(raw); got != want {
			t.Errorf("%.40s is odd: %v", raw, got)
		}
	}
}
