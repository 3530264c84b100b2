//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A library is PostGraphile over a PostgreSQL of its own: books have a key,
// leaves have none.
type library struct {
	*server
	socket string
	as     []string // runs a program as PostgreSQL's own user, where we are root
}

const schema = `
CREATE SCHEMA library;
CREATE TABLE library.book (id int PRIMARY KEY, shelf int NOT NULL, title text NOT NULL);
CREATE TABLE library.leaf (num int NOT NULL, shelf int NOT NULL);
INSERT INTO library.book SELECT i, i %% 7, 'book ' || i FROM generate_series(1, %[1]d) i;
INSERT INTO library.leaf SELECT i, i %% 7 FROM generate_series(1, %[1]d) i;
CREATE FUNCTION library.book_worn(b library.book) RETURNS int LANGUAGE plpgsql STABLE AS
  $$ BEGIN IF b.id = 333 THEN RAISE EXCEPTION 'this book cannot be looked at'; END IF; RETURN b.id; END $$;
ANALYZE;`

func startLibrary(t *testing.T, n int) library {
	t.Helper()
	bins := must(filepath.Glob("/usr/lib/postgresql/*/bin/initdb"))(t)
	if len(bins) == 0 {
		t.Fatal("PostgreSQL is not there, though install.sh ran")
	}
	bin := filepath.Dir(bins[len(bins)-1])
	l := library{socket: dataDir(t, "pg")}
	if os.Getuid() == 0 {
		own := must(user.Lookup("postgres"))(t)
		uid, gid := must(strconv.Atoi(own.Uid))(t), must(strconv.Atoi(own.Gid))(t)
		if err := os.Chown(l.socket, uid, gid); err != nil {
			t.Fatal(err)
		}
		l.as = []string{"setpriv", "--reuid=" + own.Uid, "--regid=" + own.Gid, "--clear-groups"}
	}
	data := filepath.Join(l.socket, "data")
	initdb := slices.Concat(l.as, []string{filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C"})
	cmd := exec.Command(initdb[0], initdb[1:]...)
	cmd.Dir = l.socket
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	logs := dataDir(t, "pg-log")
	p := startProcess(t, "postgres", logs, launch{args: slices.Concat(l.as, []string{filepath.Join(bin, "postgres"), "-D", data, "-k", l.socket,
		"-c", "listen_addresses=", "-c", "fsync=off"})})
	err := p.await(func() bool {
		_, err := l.sql("SELECT 1")
		return err == nil
	})
	if err != nil {
		t.Fatalf("postgres: %v\n%s", err, p.tail())
	}
	must(l.sql(fmt.Sprintf(schema, n)))(t)
	l.server = start(t, "postgraphile", func(s *server) launch {
		return launch{ready: "/graphql", args: []string{"node", filepath.Join(cache, "postgraphile/node_modules/.bin/postgraphile"),
			"-c", "postgres://postgres@localhost/postgres?host=" + l.socket, "-s", "library", "-n", "127.0.0.1", "-p", strconv.Itoa(s.port),
			"--disable-query-log", "--disable-graphiql", "--dynamic-json"}}
	})
	return l
}

// sql runs SQL by psql and gives the answer's lines.
func (l library) sql(text string) ([]string, error) {
	cmd := exec.Command("psql", "-h", l.socket, "-U", "postgres", "-d", "postgres", "-qAt", "-v", "ON_ERROR_STOP=1", "-c", text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return strings.Fields(string(out)), nil
}

// graph is a config that drains a connection of the library.
func graph(connection, arguments, fields, total string) string {
	text := fmt.Sprintf(`
source:
  url: "${BASE}/graphql"
  method: POST
  body:
    query: |
      query($first: Int!, $after: Cursor) {
        %[1]s(first: $first, after: $after%[2]s) { totalCount pageInfo { hasNextPage endCursor } nodes { %[3]s } }
      }
    variables: {first: 50}
pages: {style: graphql, size: {start: 50}}
items: {path: data.%[1]s.nodes, id: %[4]s}
total: {path: data.%[1]s.totalCount}
`, connection, arguments, fields, strings.Fields(fields)[0])
	if total == "" {
		text = strings.Replace(strings.Replace(text, "totalCount pageInfo", "pageInfo", 1), "total: {", "#", 1)
	}
	return text
}

func TestPostGraphile(t *testing.T) {
	t.Parallel()
	l := startLibrary(t, 510)
	books := must(l.sql("SELECT id FROM library.book ORDER BY id"))(t)
	leaves := must(l.sql("SELECT num FROM library.leaf ORDER BY num"))(t)

	t.Run("books", func(t *testing.T) {
		r := drain(t, l.base, graph("allBooks", "", "id title", "totalCount"))
		r.is(t, complete, counted)
		r.equals(t, "id", books)
		r.asked(t, 12)
	})
	t.Run("books without a total", func(t *testing.T) {
		r := drain(t, l.base, graph("allBooks", "", "id title", ""))
		r.is(t, complete, declared)
		r.equals(t, "id", books)
	})
	t.Run("leaves, at rest", func(t *testing.T) {
		r := drain(t, l.base, graph("allLeaves", "", "num shelf", "totalCount"))
		r.is(t, complete, counted)
		r.equals(t, "num", leaves)
	})
	// A leaf's cursor is a row number. An UPDATE of a leaf that was read moves
	// it to the end of the table: one leaf is passed over, this one comes
	// twice, and totalCount and hasNextPage stay as they were.
	moved := func(t *testing.T, config string) run {
		t.Helper()
		must(l.sql("TRUNCATE library.leaf; INSERT INTO library.leaf SELECT i, i % 7 FROM generate_series(1, 510) i"))(t)
		p := newTap(t, l.server, map[int]func() error{4: func() error {
			_, err := l.sql("UPDATE library.leaf SET shelf = 9 WHERE num = 20")
			return err
		}})
		r := drain(t, p.base, config)
		r.law(t, "num", leaves, leaves)
		return r
	}
	onePass := "complete: {passes: 1}\n"
	t.Run("leaves, one UPDATE in mid-drain, one pass", func(t *testing.T) {
		r := moved(t, graph("allLeaves", "", "num shelf", "totalCount")+onePass)
		r.is(t, truncated)
		r.lacks(t, 1)
	})
	t.Run("leaves, one UPDATE in mid-drain, one pass without a total", func(t *testing.T) {
		r := moved(t, graph("allLeaves", "", "num shelf", "")+onePass)
		r.is(t, unknown)
		r.shows(t, "RC013")
	})
	t.Run("leaves, one UPDATE in mid-drain", func(t *testing.T) {
		r := moved(t, graph("allLeaves", "", "num shelf", "totalCount"))
		r.is(t, complete, counted) // by another pass
		r.equals(t, "num", leaves)
	})
	t.Run("an order that is not unique", func(t *testing.T) {
		// Page 1 comes with a cursor; page 2 is 200 with errors.
		r := drain(t, l.base, graph("allLeaves", ", orderBy: SHELF_ASC", "num shelf", "totalCount"))
		r.is(t, truncated)
		r.law(t, "num", leaves, leaves)
	})
	t.Run("a cursor of another order", func(t *testing.T) {
		// 200, no rows, hasNextPage false: an explicit end with nothing read.
		config := graph("allBooks", ", orderBy: SHELF_ASC", "id title", "totalCount")
		other := "WyJwcmltYXJ5X2tleV9hc2MiLFs1MF1d" // ["primary_key_asc",[50]]
		r := drain(t, l.base, strings.Replace(config, "variables: {first: 50}", "variables: {first: 50, after: "+other+"}", 1))
		r.is(t, truncated)
		r.lacks(t, len(books))
	})
	t.Run("books come and go in mid-drain", func(t *testing.T) {
		// A book's cursor is its key: nothing shifts.
		p := newTap(t, l.server, map[int]func() error{4: func() error {
			_, err := l.sql("DELETE FROM library.book WHERE id IN (20, 490); INSERT INTO library.book VALUES (511, 1, 'a new one')")
			return err
		}})
		r := drain(t, p.base, graph("allBooks", "", "id title", "totalCount"))
		r.is(t, complete)
		after := must(l.sql("SELECT id FROM library.book ORDER BY id"))(t)
		r.law(t, "id", both(books, after), slices.Concat(books, after))
	})
	books = must(l.sql("SELECT id FROM library.book ORDER BY id"))(t)
	t.Run("one row that fails", func(t *testing.T) {
		// It takes its whole page: 200 with errors and null for the list.
		r := drain(t, l.base, graph("allBooks", "", "id worn", "totalCount"))
		r.is(t, truncated)
		r.law(t, "id", books, books)
		if len(r.items) < 300 {
			t.Errorf("%d items: those before the failing page were had", len(r.items))
		}
	})
}
