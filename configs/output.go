package configs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"lastdrop/internal/secret"
)

// The formats of outputs that are no files, by the beginnings of their addresses.
const (
	Postgres = "postgres"
	S3       = "s3"
)

var schemes = []struct{ begin, format string }{{"postgres://", Postgres}, {"postgresql://", Postgres}, {"s3://", S3}}

// addressForms are how such outputs are written, for messages.
const addressForms = "postgres://user:password@host/database, s3://bucket/folder"

// formats are the endings of files that items can be written to.
var formats = slices.Concat(lineFormats, []string{".csv", ".csv.gz", ".csv.zst", ".parquet"}, sqliteFormats)

// lineFormats are those of files that hold a line an item, sqliteFormats those of files that hold tables.
var (
	lineFormats   = []string{".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".ndjson.zst"}
	sqliteFormats = []string{".db", ".sqlite", ".sqlite3"}
)

// stdout is the target that means standard output.
const stdout = "-"

// Formats are the endings of files that items can be written to, and the addresses of what is no file.
func Formats() []string { return append(slices.Clone(formats), strings.Split(addressForms, ", ")...) }

// FormatOf gives the ending by which a file for items is written, in small letters, or [Postgres] or [S3] for an address of such; empty
// where it names no format.
func FormatOf(to string) string {
	name := strings.ToLower(to)
	for _, s := range schemes {
		if strings.HasPrefix(name, s.begin) {
			return s.format
		}
	}
	if strings.Contains(name, "://") {
		return ""
	}
	for _, f := range formats {
		if strings.HasSuffix(name, f) && len(name) > len(f) {
			return f
		}
	}
	return ""
}

// Far reports whether an output is no file.
func Far(to string) bool { return slices.Contains([]string{Postgres, S3}, FormatOf(to)) }

// PlaceOf names an output without telling a secret: of a database it is a hash of the address, but for user and password.
func PlaceOf(to string) string {
	if FormatOf(to) != Postgres {
		return to
	}
	sum := sha256.Sum256([]byte(secret.NewSet().HideURL(to)))
	return Postgres + ":" + hex.EncodeToString(sum[:])
}

// Shown is how an output is called in reports and errors. The address of a database is a secret as a whole.
func (c *Config) Shown(to string) string {
	if FormatOf(to) == Postgres {
		return Postgres + ":" + c.TableOf(to)
	}
	return to
}

// BucketOf takes the address of a folder in an object store apart.
func BucketOf(to string) (bucket, folder string) {
	if len(to) < len("s3://") {
		return "", ""
	}
	bucket, folder, _ = strings.Cut(to[len("s3://"):], "/")
	return bucket, strings.Trim(folder, "/")
}

// TableOf gives the table for the items; empty where the output has none. The children of a fan-out, which have
// files of their own, all call it by the name of the whole.
func (c *Config) TableOf(to string) string {
	if !hasTable(FormatOf(to)) {
		return ""
	}
	name, _, _ := strings.Cut(c.Name, "/")
	return cmp.Or(c.Output.Table, name)
}

func hasTable(format string) bool {
	return format == Postgres || slices.Contains(sqliteFormats, format)
}

// upserts reports whether what is new is put beside what an output already has.
func (c *Config) upserts() bool {
	format := FormatOf(c.Output.To)
	return hasTable(format) && len(c.Items.ID) > 0 && (format != Postgres || c.Output.Merge)
}

var tablePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func (r *reading) checkOutput(c *Config) {
	o := &c.Output
	r.notInFolder(o.To, StartHolder)
	format := FormatOf(o.To)
	if r.said("output.to") && format == "" && o.To != stdout {
		r.bad("output.to", "the file's ending names no format", "one of "+strings.Join(formats, ", ")+"; or an address: "+addressForms)
	}
	r.checkTable(o, format)
	r.checkPostgres(c, format)
	r.checkS3(o, format)
	if r.said("output.spool") && !Far(o.To) {
		r.bad("output.spool", "is for databases and object stores, and output.to is none", "take it away: the items wait beside the file")
	}
	if r.said("output.format") && o.To != stdout {
		r.bad("output.format", "is for standard output, and output.to is none", `write to: "-"; of a file the ending names the format`)
	}
	r.checkExec(o)
}

func (r *reading) checkTable(o *Output, format string) {
	const most = 63 // bytes of a name in PostgreSQL
	switch {
	case !r.said("output.table") || o.To == "":
	case !hasTable(format):
		r.bad("output.table", "is for tables, and output.to names no database", "end output.to with one of "+strings.Join(sqliteFormats, ", ")+", or write postgres://…")
	case !tablePattern.MatchString(o.Table) || format != Postgres && strings.HasPrefix(strings.ToLower(o.Table), "sqlite_"):
		r.bad("output.table", r.quote(o.Table)+" is no name for a table", "use letters, digits, dots, dashes and underscores; sqlite_ at the beginning is SQLite's own")
	case format == Postgres && strings.Contains(o.Table, "."):
		r.bad("output.table", r.quote(o.Table)+" names no schema by its dot", "write the table alone, and its schema in the address: postgres://…?search_path=SCHEMA")
	case format == Postgres && len(o.Table) > most:
		r.bad("output.table", "is too long a name for a table", "PostgreSQL takes 63 letters")
	}
}

func (r *reading) checkPostgres(c *Config, format string) {
	switch {
	case format != Postgres:
		if r.said("output.merge") {
			r.bad("output.merge", "is for tables of PostgreSQL, and output.to names none", "take it away: a table of SQLite is upserted where items.id is set")
		}
	case strings.Contains(c.Output.To, StartHolder):
		r.bad("output.to", StartHolder+" stands in the address of a database", "take it away: with output.merge: true each run adds to the table")
	case c.Output.Merge && len(c.Items.ID) == 0:
		r.bad("output.merge", "needs to know what identifies an item", "set items.id")
	}
}

func (r *reading) checkS3(o *Output, format string) {
	if format != S3 {
		if r.said("output.s3") {
			r.bad("output.s3", "is for object stores, and output.to names none", "write to: s3://bucket/folder")
		}
		return
	}
	bucket, folder := BucketOf(o.To)
	switch {
	case strings.ContainsAny(bucket, "@:?#") || strings.ContainsAny(folder, "?#"):
		r.bad("output.to", "is no folder of a bucket", "write s3://bucket/folder alone; endpoint and credentials stand in output.s3 or in the environment")
	case bucket == "" || folder == "":
		r.bad("output.to", "names no folder of a bucket", "the items are a set of objects in a folder, e.g. to: s3://bucket/folder")
	case slices.ContainsFunc(strings.Split(folder, "/"), func(s string) bool { return s == "" || s == "." || s == ".." }):
		r.bad("output.to", "has an empty part or dots in its folder", "write it as s3://bucket/folder/items")
	}
	s := o.S3
	if s == nil {
		return
	}
	r.atLeast("output.s3.part_size", int64(s.PartSize), 64<<10)
	if s.PartSize > 1<<30 {
		r.bad("output.s3.part_size", "is above 1GiB", "a part is uploaded in one step: write 64MiB, or up to 1GiB")
	}
	if (s.AccessKey == "") != (s.SecretKey == "") {
		r.bad("output.s3", "has one of access_key and secret_key", "give both, or none to take those of the environment")
	}
}

func (r *reading) checkExec(o *Output) {
	n := r.nodes["/output/exec"]
	switch {
	case n == nil:
	case n.kind != list:
		r.fail(n, "must be a list", `no shell reads it: write the command and each argument on its own, e.g. ["psql", "-c", "…"]`)
	case len(o.Exec) == 0 || o.Exec[0] == "":
		r.fail(n, "names no command", "")
	case !r.said("output.to") || o.To == stdout:
		r.fail(n, "needs a file in output.to", "the items wait there until the command has taken them, e.g. to: out/items.jsonl")
	}
}
