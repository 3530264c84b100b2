package configs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

func (r *reading) checkTotal(t *Total) {
	n := r.nodes["/total"]
	if n == nil || n.kind != mapping {
		return
	}
	var sources []string
	for _, s := range []struct {
		key  string
		used bool
	}{{"path", t.Path != "" && t.URL == ""}, {"header", t.Header != ""}, {"url", t.URL != ""}} {
		if s.used {
			sources = append(sources, s.key)
		}
	}
	switch {
	case len(sources) > 1:
		r.fail(n, "has more than one source: "+strings.Join(sources, ", "), "keep one")
	case t.URL != "" && t.Path == "" && !r.said("total.path"):
		r.lacks("total.path", "say where the count request's answer holds the total")
	case len(sources) == 0 && !r.said("total.path") && !r.said("total.url"):
		r.lacks("total.path", "say where the total stands: a path, a header, or a url with a path; or write total: none")
	}
	r.checkCountRequest(t)
	if re, err := regexp.Compile(t.Match); err != nil {
		r.bad("total.match", "is no regular expression", "in double quotes write a backslash twice")
	} else if r.said("total.match") && re.NumSubexp() != 1 {
		r.bad("total.match", fmt.Sprintf("has %d groups", re.NumSubexp()), `one group holds the total, e.g. "/(\\d+)$"`)
	}
}

func (r *reading) checkCountRequest(t *Total) {
	switch {
	case t.URL != "":
		r.checkURL("total.url", t.URL, "the count request is sent with source.auth")
	case r.said("total.method"):
		r.bad("total.method", "stands without a url", "a method belongs to a count request")
	case r.said("total.body"):
		r.bad("total.body", "stands without a url", "a body belongs to a count request")
	}
	if r.nodes["/slice"] == nil && slices.ContainsFunc(bounds, func(b string) bool { return strings.Contains(t.URL, b) }) {
		r.bad("total.url", "has the bounds of a slice, and there is none", "add slice, or take {from}, {to} and {value} away")
	}
	if t.URL != "" && r.said("total.body") && t.Method != "POST" {
		r.bad("total.body", "a GET has no body", "add total.method: POST")
	}
}

func (r *reading) checkLimits(l *Limits) {
	r.atLeast("limits.burst", int64(l.Burst), 1)
	r.atLeast("limits.concurrency", int64(l.Concurrency), 1)
	r.atLeast("limits.retries", int64(l.Retries), 0)
	r.atLeast("limits.max_requests", l.MaxRequests, 0)
	r.atLeast("limits.max_body", int64(l.MaxBody), 1)
	if r.said("limits.timeout") && l.Timeout <= 0 {
		r.bad("limits.timeout", "must be above 0", "write it as 30s, 15m or 1h")
	}
	if l.MaxWait < 0 {
		r.bad("limits.max_wait", "must not be below 0", "")
	}
}

// atLeast notes that a number that the file gives is too small.
func (r *reading) atLeast(path string, got, least int64) {
	if r.said(path) && got < least {
		r.bad(path, fmt.Sprintf("is %d, and must be at least %d", got, least), "")
	}
}

// formats are the endings of files that items can be written to.
var formats = slices.Concat(lineFormats, []string{".csv", ".csv.gz", ".csv.zst", ".parquet"}, sqliteFormats)

// lineFormats are those of files that hold a line an item, sqliteFormats those of files that hold tables.
var (
	lineFormats   = []string{".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".ndjson.zst"}
	sqliteFormats = []string{".db", ".sqlite", ".sqlite3"}
)

// stdout is the target that means standard output.
const stdout = "-"

// Formats are the endings of files that items can be written to.
func Formats() []string { return slices.Clone(formats) }

// FormatOf gives the ending by which a file for items is written, in small letters; empty where it names no format.
func FormatOf(file string) string {
	name := strings.ToLower(file)
	for _, f := range formats {
		if strings.HasSuffix(name, f) && len(name) > len(f) {
			return f
		}
	}
	return ""
}

// TableOf gives the table for the items in a file; empty where it is no SQLite file. The children of a fan-out, which have
// files of their own, all call it by the name of the whole.
func (c *Config) TableOf(file string) string {
	if !slices.Contains(sqliteFormats, FormatOf(file)) {
		return ""
	}
	name, _, _ := strings.Cut(c.Name, "/")
	return cmp.Or(c.Output.Table, name)
}

var tablePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func (r *reading) checkOutput(o *Output) {
	r.notInFolder(o.To, StartHolder)
	format := FormatOf(o.To)
	if r.said("output.to") && format == "" && o.To != stdout {
		r.bad("output.to", "the file's ending names no format", "one of "+strings.Join(formats, ", "))
	}
	switch {
	case !r.said("output.table"):
	case !slices.Contains(sqliteFormats, format):
		r.bad("output.table", "is for SQLite files, and output.to names none", "end output.to with one of "+strings.Join(sqliteFormats, ", "))
	case !tablePattern.MatchString(o.Table) || strings.HasPrefix(strings.ToLower(o.Table), "sqlite_"):
		r.bad("output.table", r.quote(o.Table)+" is no name for a table", "use letters, digits, dots, dashes and underscores; sqlite_ at the beginning is SQLite's own")
	}
	if r.said("output.format") && o.To != stdout {
		r.bad("output.format", "is for standard output, and output.to is none", `write to: "-"; of a file the ending names the format`)
	}
	r.checkExec(o)
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
