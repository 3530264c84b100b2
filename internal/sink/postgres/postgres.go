// Package postgres puts the items of a run into a table of a PostgreSQL database, in one transaction.
//
// The items are copied into a staging table, which then takes the place of the table, or is merged into it by the items' ids. A row is
// an item: a column a key, and beside them _key (what identifies the item), _run (which run wrote the row), _n (its place among the
// run's items) and _item (the item as it came). Whoever reads the table sees all of it as it was, or all of it as it is.
//
// The address of the database is a secret: no error tells any part of it.
package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"lastdrop/internal/jsonscan"
	"lastdrop/internal/secret"
	"lastdrop/internal/sink"
	"lastdrop/internal/sink/table"
)

// Table is one table of one database, in the first schema of its search path.
type Table struct {
	DSN   secret.Value // postgres://user:password@host:port/database?parameters
	Table string
	Run   string   // id of the run that writes; nothing is loaded without
	ID    []string // GJSON paths to an item's id
	// Merge upserts the rows by id, and rows that did not come again stay. Without it the table is replaced.
	Merge bool
	// Stop is asked over and over while the server works: its error ends Load. Nil never stops.
	Stop func() error

	patience time.Duration // with locks of others; 0: 30 s
}

// The columns that are not the items'.
const (
	keyColumn   = "_key"
	runColumn   = "_run"
	orderColumn = "_n"
	itemColumn  = table.Item
)

// stagePrefix begins the name of the staging table, which nobody but the transaction sees.
const stagePrefix = "lastdrop_"

// Name is the table's.
func (t *Table) Name() string { return t.Table }

// Check asks the server whether Load could work: the address and credentials, the encoding, rights, and what stands there. A table
// that this package did not make is refused.
func (t *Table) Check() error {
	_, err := t.look(true)
	return err
}

// Guarded reports whether the table has rows that this run did not write.
func (t *Table) Guarded() (bool, error) { return t.look(false) }

// look looks at the table, and with rights also at what may be done to it.
func (t *Table) look(rights bool) (others bool, err error) {
	ctx, done := sink.Until(t.Stop)
	defer done()
	conn, err := t.connect(ctx)
	if err != nil {
		return false, t.explain(ctx, err)
	}
	defer hangUp(conn)
	if rights {
		if err := t.mayWrite(ctx, conn); err != nil {
			return false, t.explain(ctx, err)
		}
	}
	is, err := t.find(ctx, conn)
	if err != nil || is == nil {
		return false, t.explain(ctx, err)
	}
	if err := is.free(); rights && !t.Merge && err != nil {
		return false, err
	}
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+is.name+" WHERE "+runColumn+" <> $1)", t.Run).Scan(&others)
	return others, t.explain(ctx, err)
}

// mayWrite finds out what would only show at the end of a long run.
func (t *Table) mayWrite(ctx context.Context, conn *pgx.Conn) error {
	if len(t.Table) > mostName {
		return fmt.Errorf("a name of %d bytes is too long for a table: name one of at most %d (output.table)", len(t.Table), mostName)
	}
	var encoding, readOnly string
	var schema *string
	var create *bool
	err := conn.QueryRow(ctx, `SELECT current_setting('server_encoding'), current_setting('transaction_read_only'), current_schema(),
		has_schema_privilege(current_schema(), 'CREATE')`).Scan(&encoding, &readOnly, &schema, &create)
	switch {
	case err != nil:
		return err
	case encoding != "UTF8":
		return fmt.Errorf("the database is encoded in %s, which does not hold every text: name one in UTF8", encoding)
	case readOnly == "on":
		return errors.New("the server takes no changes (it is read-only, or a standby): name the primary")
	case schema == nil:
		return errors.New("no schema of the search path is there: create one, or name it in the address (?search_path=NAME)")
	case !*create:
		return fmt.Errorf("the user may not create tables in the schema %s: GRANT CREATE ON SCHEMA %s to it", *schema, *schema)
	}
	return nil
}

// A standing table is one that is there.
type standing struct {
	name    string // as SQL, with its schema
	types   map[string]string
	order   []string // the columns' names
	byKey   bool     // _key is unique
	changes []string // statements that give the next table of this name its grants and owner
	indexes []string // that are not of this package
	bound   []string // what hangs on it and would be lost with it
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// find looks for the table; nil where there is none.
func (t *Table) find(ctx context.Context, q querier) (*standing, error) {
	var oid uint32
	var kind, schema string
	var owned bool
	err := q.QueryRow(ctx, `SELECT c.oid, c.relkind::text, n.nspname, pg_has_role(c.relowner, 'USAGE') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = current_schema() AND c.relname = $1`, t.Table).Scan(&oid, &kind, &schema, &owned)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	is := &standing{name: pgx.Identifier{schema, t.Table}.Sanitize(), types: map[string]string{}}
	rows, err := q.Query(ctx, `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
		WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`, oid)
	if err != nil {
		return nil, err
	}
	var name, typ string
	if _, err := pgx.ForEachRow(rows, []any{&name, &typ}, func() error {
		is.types[name] = typ
		is.order = append(is.order, name)
		return nil
	}); err != nil {
		return nil, err
	}
	for _, column := range []string{keyColumn, runColumn, orderColumn, itemColumn} {
		if kind != "r" || is.types[column] == "" {
			return nil, fmt.Errorf("the table %s was not made by lastdrop (it is no plain table with the columns %s, %s, %s and %s): name another (output.table)",
				t.Table, keyColumn, runColumn, orderColumn, itemColumn)
		}
	}
	if !owned {
		return nil, fmt.Errorf("the table %s belongs to another role: connect as its owner, or name another (output.table)", t.Table)
	}
	return is, t.findRest(ctx, q, oid, is)
}

// findRest reads what hangs on the table.
func (t *Table) findRest(ctx context.Context, q querier, oid uint32, is *standing) error {
	err := q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = $2
			WHERE i.indrelid = $1 AND i.indisunique AND i.indnatts = 1 AND i.indkey[0] = a.attnum AND i.indpred IS NULL),
		array(SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = $2
			WHERE i.indrelid = $1 AND NOT (i.indnatts = 1 AND i.indkey[0] = a.attnum) ORDER BY 1)`, oid, keyColumn).Scan(&is.byKey, &is.indexes)
	if err != nil {
		return err
	}
	err = q.QueryRow(ctx, `SELECT array_remove(ARRAY[
			CASE WHEN c.relrowsecurity THEN 'row security' END,
			CASE WHEN EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal) THEN 'triggers' END,
			CASE WHEN EXISTS (SELECT FROM pg_publication_rel WHERE prrelid = c.oid) THEN 'a publication' END,
			CASE WHEN EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attacl IS NOT NULL) THEN 'grants on columns' END,
			CASE WHEN EXISTS (SELECT FROM pg_constraint WHERE confrelid = c.oid) THEN 'foreign keys' END,
			CASE WHEN EXISTS (SELECT FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid WHERE d.classid = 'pg_rewrite'::regclass
				AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid AND r.ev_class <> c.oid) THEN 'views' END], NULL)
		FROM pg_class c WHERE c.oid = $1`, oid).Scan(&is.bound)
	if err != nil {
		return err
	}
	return q.QueryRow(ctx, `SELECT array(
		SELECT format('GRANT %s ON %s TO %s%s', privilege_type, $2::text, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
			CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
		FROM pg_class c, aclexplode(c.relacl) WHERE c.oid = $1 AND grantee <> c.relowner
		UNION ALL SELECT format('ALTER TABLE %s OWNER TO %I', $2::text, pg_get_userbyid(relowner)) FROM pg_class
			WHERE oid = $1 AND pg_get_userbyid(relowner) <> current_user)`, oid, is.name).Scan(&is.changes)
}

// free refuses to replace a table on which something hangs: without its row security, say, its rows would be there for all to read.
func (is *standing) free() error {
	if len(is.bound) == 0 {
		return nil
	}
	return fmt.Errorf("%s would be lost with the table that is replaced: drop what hangs on it, or say output.merge: true, which keeps the table",
		strings.Join(is.bound, ", "))
}

// Load writes all items in one transaction, then reads them back.
func (t *Table) Load(items sink.Lines) (sink.Output, error) {
	ctx, done := sink.Until(t.Stop)
	defer done()
	notes, err := t.write(ctx, items)
	if err != nil {
		return sink.Output{}, t.explain(ctx, err)
	}
	out, err := t.readBack(ctx)
	out.Notes = notes
	return out, t.explain(ctx, err)
}

func (t *Table) write(ctx context.Context, items sink.Lines) ([]string, error) {
	paths, err := table.Paths(t.ID)
	if err != nil {
		return nil, err
	}
	l := load{Table: t, paths: paths, cols: newColumns()}
	if err := items(l.cols.add); err != nil {
		return nil, err
	}
	l.list = l.cols.list()
	conn, err := t.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer hangUp(conn)
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return l.begin(ctx, tx) },
		func() error { return l.copy(ctx, tx, items) },
		func() error { return l.publish(ctx, tx) },
		func() error { return l.count(ctx, tx) },
	} {
		if err := step(); err != nil {
			return nil, err // the connection ends, and the transaction with it
		}
	}
	return append(l.cols.notes(), l.notes...), tx.Commit(ctx)
}

// load is a transaction in progress.
type load struct {
	*Table
	paths  []jsonscan.Path
	cols   *columns
	list   []column
	target string    // as SQL
	stage  string    // as SQL
	into   *standing // to merge into
	fit    []string  // statements that fit it to the items
	notes  []string
	row    table.Row
	n      int64
	line   []byte
}

// begin keeps other loads of the table away and makes the staging table.
func (l *load) begin(ctx context.Context, tx pgx.Tx) error {
	if err := l.mayWrite(ctx, tx.Conn()); err != nil {
		return err
	}
	patience := cmp.Or(l.patience, 30*time.Second)
	if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d", patience.Milliseconds())); err != nil {
		return err
	}
	var schema string
	if err := tx.QueryRow(ctx, "SELECT current_schema()").Scan(&schema); err != nil {
		return err
	}
	// What an earlier process left at the server may take a moment to notice that it is alone.
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "lastdrop "+schema+"."+l.Table.Table); err != nil {
		return err
	}
	l.target = pgx.Identifier{schema, l.Table.Table}.Sanitize()
	l.stage = pgx.Identifier{schema, cutText(stagePrefix+l.Run, mostName)}.Sanitize()
	if l.Merge {
		if err := l.fitTable(ctx, tx); err != nil {
			return err
		}
	}
	var defs []string
	for _, c := range l.list {
		def := pgx.Identifier{c.name}.Sanitize() + " " + c.kind.String()
		if c.name == keyColumn {
			def += ` COLLATE "C"`
		}
		defs = append(defs, def)
	}
	_, err := tx.Exec(ctx, "CREATE TABLE "+l.stage+" ("+strings.Join(defs, ", ")+")")
	return err
}

// fitTable finds out what must be done to the table that is there, and of what kinds the columns are together with it.
func (l *load) fitTable(ctx context.Context, tx pgx.Tx) error {
	is, err := l.find(ctx, tx)
	if err != nil || is == nil {
		return err
	}
	if err := is.ours(); err != nil {
		return err
	}
	l.into = is
	if _, err := tx.Exec(ctx, "LOCK TABLE "+is.name+" IN SHARE ROW EXCLUSIVE MODE"); err != nil { // still to be read
		return err
	}
	if !is.byKey {
		l.fit = append(l.fit, "ALTER TABLE "+is.name+" ADD UNIQUE ("+keyColumn+")")
	}
	for i, c := range l.list {
		name := pgx.Identifier{c.name}.Sanitize()
		have, there := is.types[c.name]
		if !there {
			l.fit = append(l.fit, fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", is.name, name, c.kind))
			continue
		}
		old := kind(slices.Index(typeNames[:], have))
		to := wider(old, c.kind)
		if c.none {
			to = old
		}
		l.list[i].kind = to
		if to != old {
			l.notes = append(l.notes, fmt.Sprintf("column %q: it was %s, and is %s now", c.name, old, to))
			l.fit = append(l.fit, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s USING %s", is.name, name, to, cast(name, to)))
		}
	}
	return nil
}

// copy gives the items to the server.
func (l *load) copy(ctx context.Context, tx pgx.Tx, items sink.Lines) error {
	r, w := io.Pipe()
	fed := make(chan error, 1)
	go func() {
		err := items(func(item []byte) error { return l.item(w, item) })
		w.CloseWithError(err)
		fed <- err
	}()
	_, err := tx.Conn().PgConn().CopyFrom(ctx, r, "COPY "+l.stage+" FROM STDIN")
	r.CloseWithError(errGone)
	if source := <-fed; source != nil && !errors.Is(source, errGone) {
		return source // what the server says of it is only that there was an error
	}
	return err
}

var errGone = errors.New("the server reads no more")

// item writes a row.
func (l *load) item(w io.Writer, item []byte) error {
	if err := l.cols.Lay(item, &l.row); err != nil {
		return err
	}
	key, err := l.key(item)
	if err != nil {
		return err
	}
	l.n++
	const before = 4 // columns
	b := append(appendText(l.line[:0], key), '\t')
	if len(l.paths) == 0 {
		b = append(l.line[:0], "\\N\t"...)
	}
	b = append(appendText(b, []byte(l.Run)), '\t')
	b = append(fmt.Appendf(b, "%d", l.n), '\t')
	if l.list[before-1].kind == kindBytes {
		b = hex.AppendEncode(append(b, `\\x`...), item)
	} else {
		b = appendText(b, item)
	}
	for i, v := range l.row.Cells {
		b = appendCell(append(b, '\t'), l.list[before+i].kind, v)
	}
	if l.cols.HasRest() {
		b = append(b, '\t')
		if rest := l.list[len(l.list)-1].kind; len(l.row.Rest.Raw) == 0 {
			b = append(b, `\N`...)
		} else {
			b = appendCell(b, rest, l.row.Rest)
		}
	}
	l.line = append(b, '\n')
	_, err = w.Write(l.line)
	return err
}

// mostKey is how long a key may be: an index takes no more than a third of a page.
const mostKey = 1024

// key is what identifies an item; one that no index takes is hashed.
func (l *load) key(item []byte) ([]byte, error) {
	key, err := table.KeyOf(item, l.paths)
	if err == nil && (len(key) > mostKey || string(key) != legal(string(key))) {
		return table.Hashed("id-", key), nil
	}
	return key, err
}

// publish lets the staging table take the table's place, or merges it.
func (l *load) publish(ctx context.Context, tx pgx.Tx) error {
	if len(l.paths) > 0 {
		if _, err := tx.Exec(ctx, "ALTER TABLE "+l.stage+" ADD UNIQUE ("+keyColumn+")"); err != nil {
			return err
		}
	}
	todo := l.merge()
	if l.into == nil {
		var err error
		if todo, err = l.swap(ctx, tx); err != nil {
			return err
		}
	}
	for _, statement := range todo {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (l *load) swap(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rename := "ALTER TABLE " + l.stage + " RENAME TO " + pgx.Identifier{l.Table.Table}.Sanitize()
	is, err := l.find(ctx, tx)
	if err != nil || is == nil {
		return []string{rename}, err
	}
	if err := is.free(); err != nil {
		return nil, err
	}
	for _, index := range is.indexes {
		l.notes = append(l.notes, fmt.Sprintf("the index %q went with the table that was replaced: create it again (output.merge: true keeps a table)", index))
	}
	return append([]string{"DROP TABLE " + is.name, rename}, is.changes...), nil
}

// ours refuses columns of types that this package gives none: a cast to them could lose something.
func (is *standing) ours() error {
	for _, name := range is.order {
		if typ := is.types[name]; !slices.Contains(typeNames[:], typ) {
			return fmt.Errorf("the column %q is %s, which lastdrop made none: give it back its type (%s), or drop it and lay a view over the table",
				name, typ, strings.Join(typeNames[:], ", "))
		}
	}
	return nil
}

func (l *load) merge() []string {
	is := l.into
	if is == nil {
		return nil
	}
	var names, set []string
	staged := map[string]bool{}
	for _, c := range l.list {
		name := pgx.Identifier{c.name}.Sanitize()
		staged[c.name] = true
		names, set = append(names, name), append(set, name+" = EXCLUDED."+name)
	}
	for _, name := range is.order {
		if !staged[name] {
			set = append(set, pgx.Identifier{name}.Sanitize()+" = NULL")
		}
	}
	all := strings.Join(names, ", ")
	return append(l.fit,
		// Rows of this run from before a stop are its own still, and not what it holds now.
		fmt.Sprintf("UPDATE %s SET %s = NULL WHERE %s = '%s'", is.name, runColumn, runColumn, strings.ReplaceAll(l.Run, "'", "''")),
		fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s ORDER BY %s ON CONFLICT (%s) DO UPDATE SET %s",
			is.name, all, all, l.stage, orderColumn, keyColumn, strings.Join(set, ", ")),
		"DROP TABLE "+l.stage)
}

// count refuses to commit what is not one row an item.
func (l *load) count(ctx context.Context, tx pgx.Tx) error {
	var n int64
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM "+l.target+" WHERE "+runColumn+" = $1", l.Run).Scan(&n); err != nil {
		return err
	}
	if n != l.cols.Items() {
		return fmt.Errorf("%w: %d rows of %d items", sink.ErrReadBack, n, l.cols.Items())
	}
	return nil
}

// readBack reads the run's items in their order, as lines, by a connection of its own.
func (t *Table) readBack(ctx context.Context) (sink.Output, error) {
	conn, err := t.connect(ctx)
	if err != nil {
		return sink.Output{}, err
	}
	defer hangUp(conn)
	is, err := t.find(ctx, conn)
	if err != nil {
		return sink.Output{}, err
	}
	if is == nil {
		return sink.Output{}, fmt.Errorf("%w: the table is not there", sink.ErrReadBack)
	}
	item := itemColumn
	if is.types[itemColumn] != kindBytes.String() {
		item = "convert_to(" + itemColumn + ", 'UTF8')"
	}
	rows, err := conn.Query(ctx, "SELECT "+item+" FROM "+is.name+" WHERE "+runColumn+" = $1 ORDER BY "+orderColumn, t.Run)
	if err != nil {
		return sink.Output{}, err
	}
	out, hash := sink.Output{}, sha256.New()
	var line []byte
	_, err = pgx.ForEachRow(rows, []any{&line}, func() error {
		hash.Write(line)
		hash.Write([]byte{'\n'})
		out.Items++
		out.Bytes += int64(len(line)) + 1
		return nil
	})
	out.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return out, err
}
