package pull_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"lastdrop/configs"
	"lastdrop/internal/pgtest"
	"lastdrop/internal/pull"
	"lastdrop/internal/s3test"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A shop serves its things by pages of 10, with a total.
type shop struct {
	things atomic.Int64
	asked  atomic.Int64
	server *httptest.Server
	dir    string
	output string // the config's
	out    bytes.Buffer
}

func newShop(t *testing.T, things int64, output string) *shop {
	t.Helper()
	s := &shop{dir: t.TempDir(), output: output}
	s.things.Store(things)
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		n := int(s.things.Load())
		from := min(n, 10*(number(r, "page")-1))
		items := []string{}
		if r.URL.Query().Has("since") { // the last 15 have changed
			n, from = 15, min(n, from+n-15)
		}
		for id := from + 1; id <= min(int(s.things.Load()), from+10); id++ {
			items = append(items, record(id, fmt.Sprintf(`,"price":%d,"tags":["a"]`, id)))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"total":%d,"items":%s}`, n, list(items))
	}))
	t.Cleanup(s.server.Close)
	return s
}

// config is that of the pull, of the variables BASE and DIR.
func (s *shop) config() []byte {
	return []byte(`
version: 1
name: shop
source: {url: "${BASE}/items"}
pages: {style: page, number: {param: page}}
items: {path: items, id: id}
total: {path: total}
output: ` + s.output)
}

func (s *shop) path(name string) string { return filepath.Join(s.dir, name) }

// drain runs the pull, of so many pages at most; 0 is all.
func (s *shop) drain(t *testing.T, maxPages int64) (reconcile.Report, error) {
	t.Helper()
	return s.drainUnder(t.Context(), t, maxPages)
}

func (s *shop) drainUnder(ctx context.Context, t *testing.T, maxPages int64) (reconcile.Report, error) {
	t.Helper()
	env := map[string]string{"BASE": s.server.URL, "DIR": s.dir}
	cfg, err := configs.Parse("shop.yaml", s.config(), func(k string) (string, bool) {
		if v, ok := env[k]; ok {
			return v, true
		}
		return os.LookupEnv(k)
	})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(context.Background(), s.path("runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s.out.Reset()
	return pull.Run(ctx, pull.Options{Config: cfg, Store: st, MaxPages: maxPages, Version: "test", Stdout: &s.out})
}

// ids reads the ids of the items in a file, in order.
func ids(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r io.Reader = bytes.NewReader(data)
	switch filepath.Ext(path) {
	case ".gz":
		r, err = gzip.NewReader(r)
		path = strings.TrimSuffix(path, ".gz")
	case ".zst":
		var z *zstd.Decoder
		z, err = zstd.NewReader(r)
		r, path = z, strings.TrimSuffix(path, ".zst")
	}
	if err != nil {
		t.Fatal(err)
	}
	switch filepath.Ext(path) {
	case ".csv":
		return csvIDs(t, r)
	case ".parquet":
		return parquetIDs(t, data)
	case ".db":
		return tableIDs(t, path)
	}
	return lineIDs(t, r)
}

func csvIDs(t *testing.T, r io.Reader) (all []string) {
	t.Helper()
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil || strings.Join(rows[0], ",") != "id,name,price,tags" {
		t.Fatalf("%v, %v", rows, err)
	}
	for _, row := range rows[1:] {
		all = append(all, row[0])
	}
	return all
}

func parquetIDs(t *testing.T, data []byte) (all []string) {
	t.Helper()
	type row struct {
		ID *int64 `parquet:"id"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		all = append(all, fmt.Sprint(*r.ID))
	}
	return all
}

func tableIDs(t *testing.T, path string) (all []string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT id FROM shop ORDER BY rowid")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		all = append(all, id)
	}
	return all
}

func lineIDs(t *testing.T, r io.Reader) (all []string) {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		all = append(all, idOf(t, line))
	}
	return all
}

// upTo wants the ids 1 to n, once each.
func upTo(t *testing.T, got []string, n int) {
	t.Helper()
	for i, id := range got {
		if id != fmt.Sprint(i+1) {
			t.Fatalf("item %d has the id %s", i, id)
		}
	}
	if len(got) != n {
		t.Fatalf("%d items, want %d", len(got), n)
	}
}

// An outlet is one way to write items, as a user of the output sees it.
type outlet struct {
	output string // the config's
	path   string // as the report names it
	aside  string // where the lines wait
	// closed tells that nothing but a COMPLETE run is ever published, even where nothing is there.
	closed bool
	ids    func(t *testing.T) []string
	// whole is what the output's SHA-256 is that of: the file, or the items' JSON of the last run.
	whole func(t *testing.T) []byte
}

// outlets make all of them, each for a folder of its own.
func outlets(t *testing.T) map[string]func(t *testing.T, dir string) outlet {
	t.Helper()
	all := map[string]func(*testing.T, string) outlet{}
	for _, ending := range []string{".jsonl", ".ndjson.gz", ".ndjson.zst", ".csv", ".csv.gz", ".csv.zst", ".parquet", ".db"} {
		all[ending] = func(_ *testing.T, dir string) outlet {
			path := filepath.Join(dir, "x"+ending)
			o := outlet{output: `{to: "` + path + `"}`, path: path, aside: path + ".partial",
				ids: func(t *testing.T) []string { return ids(t, path) }, whole: func(t *testing.T) []byte { return []byte(read(t, path)) }}
			if ending == ".db" {
				o.aside, o.whole = path+".shop.partial", func(t *testing.T) []byte { return tableLines(t, path) }
			}
			return o
		}
	}
	server := pgtest.Start(t)
	for _, merge := range []bool{false, true} {
		all[fmt.Sprintf("postgres, merge %v", merge)] = func(t *testing.T, dir string) outlet {
			return postgresOutlet(server.Database(t), dir, merge)
		}
	}
	for _, compress := range []string{"gzip", "zstd", "none"} {
		all["s3, "+compress] = func(t *testing.T, dir string) outlet { return s3Outlet(s3test.Start(t), dir, compress) }
	}
	return all
}

func postgresOutlet(dsn, dir string, merge bool) outlet {
	return outlet{
		output: fmt.Sprintf(`{to: "%s", merge: %v, spool: "%s"}`, dsn, merge, dir),
		path:   "postgres:shop", aside: filepath.Join(dir, "shop-*.shop.partial"),
		ids: func(t *testing.T) []string {
			return strings.Fields(pgtest.Rows(t, dsn, "SELECT id FROM shop ORDER BY id"))
		},
		whole: func(t *testing.T) []byte {
			return []byte(pgtest.Rows(t, dsn, "SELECT _item FROM shop WHERE _run = (SELECT _run FROM shop WHERE id = 1) ORDER BY _n"))
		},
	}
}

func s3Outlet(b *s3test.Bucket, dir, compress string) outlet {
	whole := func(t *testing.T) []byte { return b.Published(t, "out/shop") }
	return outlet{
		output: fmt.Sprintf(`{to: "s3://%s/out/shop", spool: "%s", s3: {endpoint: "%s", access_key: %s, secret_key: %s, compress: %s}}`,
			s3test.Name, dir, b.URL, s3test.Key, s3test.Secret, compress),
		path: "s3://" + s3test.Name + "/out/shop", aside: filepath.Join(dir, "shop-*.s3.partial"), closed: true,
		ids: func(t *testing.T) []string { return lineIDs(t, bytes.NewReader(whole(t))) }, whole: whole,
	}
}

// only is the one file that a pattern means; the pattern itself where there is none.
func only(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) > 1 {
		t.Fatalf("%s: %q, %v", pattern, files, err)
	}
	return strings.Join(append(files, pattern)[:1], "")
}

// TestOutputs lets a run be stopped and go on, and another one end too early, over all that items can be written as.
func TestOutputs(t *testing.T) {
	for name, make := range outlets(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, 45, "")
			o := make(t, s.dir)
			s.output = o.output
			check := func(step string, maxPages int64, v judge.Verdict, committed bool, items int64) {
				t.Helper()
				rep, err := s.drain(t, maxPages)
				if err != nil || rep.Verdict != v || len(rep.Output) != 1 {
					t.Fatalf("%s: %v, %+v", step, err, rep)
				}
				path, whole := o.path, o.whole
				if !committed {
					path = only(t, o.aside)
					whole = func(t *testing.T) []byte { return []byte(read(t, path)) }
				}
				got := rep.Output[0]
				if got.Path != path || got.Committed != committed || got.Items != items || rep.Items.Written != items {
					t.Fatalf("%s: %+v, want %d items at %s, committed %v", step, got, items, path, committed)
				}
				if sum := sha256.Sum256(whole(t)); got.SHA256 != hex.EncodeToString(sum[:]) || got.Bytes == 0 {
					t.Errorf("%s: %+v is not what stands there", step, got)
				}
			}
			check("stopped", 2, judge.Truncated, !o.closed, 20)
			if !o.closed {
				upTo(t, o.ids(t), 20)
			}
			before := s.asked.Load()
			check("gone on with", 0, judge.Complete, true, 45)
			upTo(t, o.ids(t), 45)
			if asked := s.asked.Load() - before; asked > 4 {
				t.Errorf("%d requests to go on: pages that were held were asked for again", asked)
			}
			absent(t, only(t, o.aside))
			s.things.Store(60)
			check("too early", 3, judge.Truncated, false, 30)
			upTo(t, o.ids(t), 45)
			check("gone on with again", 0, judge.Complete, true, 60)
			upTo(t, o.ids(t), 60)
			files, _ := filepath.Glob(s.path("*"))
			for _, f := range files {
				if f != o.path && !strings.HasPrefix(filepath.Base(f), "runs.sqlite") {
					t.Errorf("left behind: %s", f)
				}
			}
		})
	}
}

// tableLines are the items' JSON of the last run in a table of SQLite.
func tableLines(t *testing.T, path string) []byte {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var lines string
	query := "SELECT group_concat(_item, char(10)) || char(10) FROM (SELECT _item FROM shop WHERE _run = (SELECT _run FROM shop ORDER BY rowid DESC LIMIT 1) ORDER BY rowid)"
	if err := db.QueryRow(query).Scan(&lines); err != nil {
		t.Fatal(err)
	}
	return []byte(lines)
}

func absent(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s: %v, want nothing there", path, err)
	}
}

func TestTableOfAName(t *testing.T) {
	s := newShop(t, 12, `{to: "${DIR}/x.db", table: things.all}`)
	if rep, err := s.drain(t, 0); err != nil || rep.Verdict != judge.Complete {
		t.Fatalf("%v, %+v", err, rep)
	}
	db, err := sql.Open("sqlite", s.path("x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM "things.all"`).Scan(&n); err != nil || n != 12 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// What is new alone goes into the table of all.
func TestIncrementalTable(t *testing.T) {
	s := newShop(t, 25, `{to: "${DIR}/x.db"}`+"\nincremental: {param: since}")
	for _, items := range []int64{25, 15} {
		rep, err := s.drain(t, 0)
		if err != nil || rep.Verdict != judge.Complete || !rep.Output[0].Committed || rep.Output[0].Items != items {
			t.Fatalf("%v, %+v", err, rep)
		}
		upTo(t, ids(t, s.path("x.db")), 25)
	}
}

// Far outputs in what else a config can say.
func TestFarOutputs(t *testing.T) {
	server := pgtest.Start(t)
	must := func(t *testing.T, s *shop, pages int64, v judge.Verdict) reconcile.Report {
		t.Helper()
		rep, err := s.drain(t, pages)
		if err != nil || rep.Verdict != v {
			t.Fatalf("%v, %+v", err, rep)
		}
		return rep
	}
	t.Run("only what is new, merged", func(t *testing.T) {
		s := newShop(t, 25, "")
		o := postgresOutlet(server.Database(t), s.dir, true)
		s.output = o.output + "\nincremental: {param: since}"
		for _, items := range []int64{25, 15} {
			if rep := must(t, s, 0, judge.Complete); !rep.Output[0].Committed || rep.Output[0].Items != items {
				t.Fatalf("%+v", rep)
			}
			upTo(t, o.ids(t), 25)
		}
	})
	t.Run("another database in the middle", func(t *testing.T) {
		s := newShop(t, 25, "")
		s.output = postgresOutlet(server.Database(t), s.dir, false).output
		must(t, s, 1, judge.Truncated)
		s.output = strings.Replace(s.output, "/test", "/nothing", 1)
		if _, err := s.drain(t, 0); err == nil || !strings.Contains(err.Error(), "no such database") {
			t.Errorf("%v", err)
		}
		dsn := server.Database(t)
		s.output = postgresOutlet(dsn, s.dir, false).output
		if _, err := s.drain(t, 0); err == nil || !strings.Contains(err.Error(), "--fresh") {
			t.Errorf("%v", err)
		}
	})
	t.Run("any verdict in a bucket", func(t *testing.T) {
		b := s3test.Start(t)
		s := newShop(t, 25, "")
		s.output = strings.Replace(s3Outlet(b, s.dir, "none").output, "{to", "{on: any, to", 1)
		for _, c := range []struct {
			pages int64
			v     judge.Verdict
			items int
		}{{1, judge.Truncated, 10}, {0, judge.Complete, 25}} {
			rep := must(t, s, c.pages, c.v)
			upTo(t, lineIDs(t, bytes.NewReader(b.Published(t, "out/shop"))), c.items)
			manifest := string(b.Get(t, "out/shop/manifest.json"))
			if !strings.Contains(manifest, `"verdict": "`+c.v.String()+`"`) || !strings.Contains(manifest, `"run": "`+rep.Run+`"`) {
				t.Errorf("%s", manifest)
			}
		}
	})
	t.Run("a folder a child", func(t *testing.T) {
		b := s3test.Start(t)
		d := newDesk(t, abc(), overPull)
		d.write("issues.yaml", "version: 1\nname: issues\nsource: {url: \"${BASE}/repos/{repo}/issues\"}"+paging+overPull+
			fmt.Sprintf("output: {to: \"s3://things/issues/{repo}\", spool: \"${DIR}\", s3: {endpoint: %q, access_key: %s, secret_key: %s}}\n", b.URL, s3test.Key, s3test.Secret))
		if rep, err := d.run(t.Context()); err != nil || rep.Verdict != judge.Complete {
			t.Fatalf("%v, %+v", err, rep)
		}
		for name, items := range map[string]int{"a": 12, "b": 17, "c": 8} {
			if got := bytes.Count(b.Published(t, "issues/"+name), []byte("\n")); got != items {
				t.Errorf("%d items of %s", got, name)
			}
		}
	})
	t.Run("a command before it", func(t *testing.T) {
		dsn := server.Database(t)
		s := newShop(t, 25, "")
		o := postgresOutlet(dsn, s.dir, false)
		s.output = strings.Replace(o.output, "{to", `{exec: [tee, "${DIR}/taken"], to`, 1)
		must(t, s, 0, judge.Complete)
		upTo(t, ids(t, s.path("taken")), 25)
		upTo(t, o.ids(t), 25)
	})
}

// The store is no file for items.
func TestTableInTheStore(t *testing.T) {
	s := newShop(t, 12, `{to: "${DIR}/runs.sqlite"}`)
	_, err := s.drain(t, 0)
	var early *pull.NotStarted
	if !errors.As(err, &early) || !strings.Contains(err.Error(), "another program") {
		t.Errorf("%v", err)
	}
}

func TestSinger(t *testing.T) {
	s := newShop(t, 25, `{to: "-", format: singer}`)
	for _, c := range []struct {
		maxPages int64
		want     string
	}{{0, "SCHEMA RECORD*25 STATE"}, {2, "SCHEMA RECORD*20"}} {
		rep, err := s.drain(t, c.maxPages)
		if err != nil {
			t.Fatal(err)
		}
		if got := kinds(t, s.out.Bytes()); got != c.want {
			t.Errorf("messages %s, want %s", got, c.want)
		}
		sum := sha256.Sum256(s.out.Bytes())
		if o := rep.Output[0]; o.Path != "-" || !o.Committed || o.Bytes != int64(s.out.Len()) || o.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%+v", o)
		}
	}
}

// kinds lists the types of messages, runs of one as TYPE*n.
func kinds(t *testing.T, messages []byte) string {
	t.Helper()
	var all []string
	n := 0
	for line := range bytes.Lines(messages) {
		var m struct{ Type, Stream string }
		if err := json.Unmarshal(line, &m); err != nil || (m.Stream != "shop") != (m.Type == "STATE") {
			t.Fatalf("%s: %v", line, err)
		}
		if len(all) > 0 && strings.HasPrefix(all[len(all)-1], m.Type) {
			n++
			all[len(all)-1] = fmt.Sprintf("%s*%d", m.Type, n)
			continue
		}
		all, n = append(all, m.Type), 1
	}
	return strings.Join(all, " ")
}

// TestBeTheCommand is the command of TestExec: it keeps its input in a file, unless another file says that it shall fail.
func TestBeTheCommand(*testing.T) {
	dir := os.Getenv("LASTDROP_TEST_COMMAND")
	if dir == "" {
		return
	}
	data, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "taken"), data, 0o600)
	}
	if _, broken := os.Stat(filepath.Join(dir, "broken")); broken == nil || err != nil {
		fmt.Println("no space in the warehouse")
		os.Exit(5)
	}
	os.Exit(0)
}

func TestExec(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SELF", self)
	s := newShop(t, 25, `{to: "${DIR}/x.csv", exec: ["${SELF}", "-test.run=^TestBeTheCommand$"]}`)
	t.Setenv("LASTDROP_TEST_COMMAND", s.dir)

	// A run that is not complete never reaches it.
	rep, err := s.drain(t, 1)
	if err != nil || rep.Output[0].Committed {
		t.Fatalf("%v, %+v", err, rep)
	}
	absent(t, s.path("taken"))
	absent(t, s.path("x.csv"))

	// One that it refuses fails, and is not asked for again.
	if err := os.WriteFile(s.path("broken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rep, err = s.drain(t, 0)
	if err == nil || rep.State != "failed" || rep.Exit != pull.ExitNotRun || !strings.Contains(rep.Error, "status 5: no space in the warehouse") {
		t.Fatalf("%v, %+v", err, rep)
	}
	absent(t, s.path("x.csv"))
	if err := os.Remove(s.path("broken")); err != nil {
		t.Fatal(err)
	}
	before := s.asked.Load()
	rep, err = s.drain(t, 0)
	if err != nil || rep.Verdict != judge.Complete || !rep.Output[0].Committed {
		t.Fatalf("%v, %+v", err, rep)
	}
	if asked := s.asked.Load() - before; asked > 2 {
		t.Errorf("%d requests only to give the items to the command again", asked)
	}
	upTo(t, ids(t, s.path("taken")), 25)
	upTo(t, ids(t, s.path("x.csv")), 25)
}

// until is a context that is cancelled once a file stands there.
type until struct {
	context.Context
	file string
}

func (u until) Err() error {
	if _, err := os.Stat(u.file); err == nil {
		return context.Canceled
	}
	return nil
}

// A signal that comes while the output is made stops the run, and it goes on from there.
func TestStoppedWhileMaking(t *testing.T) {
	s := newShop(t, 25, `{to: "${DIR}/x.csv"}`)
	rep, err := s.drainUnder(until{t.Context(), s.path("x.csv.making")}, t, 0)
	if err != nil || rep.State != "stopped" || rep.Verdict == judge.Complete || rep.Resume == nil {
		t.Fatalf("%v, %+v", err, rep)
	}
	lines, err := os.ReadFile(s.path("x.csv.partial"))
	if o := rep.Output[0]; err != nil || o.Path != s.path("x.csv.partial") || o.Committed || o.Items != 25 || o.Bytes != int64(len(lines)) ||
		len(o.Notes) != 1 || !strings.Contains(o.Notes[0], "it holds JSON Lines") {
		t.Errorf("%+v, %v", o, err)
	}
	absent(t, s.path("x.csv"))
	if rep, err := s.drain(t, 0); err != nil || rep.Verdict != judge.Complete || !rep.Output[0].Committed {
		t.Fatalf("%v, %+v", err, rep)
	}
	upTo(t, ids(t, s.path("x.csv")), 25)
}
