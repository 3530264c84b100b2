package store

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// table reads a query as text, a line a row, columns separated by "|".
func table(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s\n%v", query, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for rows.Next() {
		cells := make([]sql.NullString, len(columns))
		targets := make([]any, len(columns))
		for i := range cells {
			targets[i] = &cells[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		for i, c := range cells {
			if i > 0 {
				text.WriteByte('|')
			}
			text.WriteString(c.String)
		}
		text.WriteByte('\n')
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// storied makes a store with one run in which a bit of everything happened.
func storied(t *testing.T) (*Store, *Run) {
	t.Helper()
	s := mustOpen(t, filepath.Join(t.TempDir(), "lastdrop.db"))
	run := mustBegin(t, s)
	half := benchAttempt(2, 0)
	half.Outcome, half.SizeAsked, half.BytesRead, half.Items = reconcile.Half, 100, 2048, 0
	half.Cause, half.Action = "body ended at 2048 of 63800 bytes", judge.ActionRetrySmaller
	small := benchAttempt(3, 50)
	small.SizeAsked, small.Rules = 50, nil
	total := func(source string, value int64, live bool) reconcile.TotalSeen {
		return reconcile.TotalSeen{Source: source, Value: value, Kind: judge.Exact, Live: live, Collapsed: !live}
	}
	err := run.Commit(t.Context(), Checkpoint{
		Attempts: []reconcile.Attempt{benchAttempt(1, 100), half, small},
		Totals: []reconcile.TotalSeen{total("nbHits", 1000, true), total("header", 900, true), total("nbHits", 1000, true),
			total("nbHits", 1003, true), total("nbHits", 0, false), total("nbHits", 1002, true), total("rel=last", 7, false)},
		Events:   []reconcile.Event{{Seq: 2, Kind: "size", Text: "100 to 50"}},
		Children: []Child{{N: 1, Value: "a", Run: run.ID()}},
		Items:    150, Length: 15000, State: []byte("{}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, run
}

func TestViews(t *testing.T) {
	s, run := storied(t)
	for _, c := range []struct{ query, want string }{
		{`SELECT outcome, verdict, attempts, items, new, first_seq, last_seq FROM verdict_counts ORDER BY outcome`,
			"half|TRUNCATED|1|0|0|2|2\nheld|TRUNCATED|2|150|150|1|3\n"},
		{`SELECT seq, size_before, size, outcome_before, cause FROM page_sizes ORDER BY seq`,
			"1||100||start\n3|100|50|half|body ended at 2048 of 63800 bytes\n"},
		{`SELECT source, first, last, kind, min, max, seen, moved, not_believed, collapsed FROM total_drift ORDER BY source`,
			"header|900|900|exact|900|900|1|0|0|0\nnbHits|1000|1002|exact|1000|1003|4|2|1|1\nrel=last||||||0|0|1|1\n"},
		{`SELECT state, verdict, items, pages, attempts, half, evidence, ended FROM run_overview`, "running||150|2|3|||\n"},
		{`SELECT typeof(at), at, rules, status, size_asked FROM pages WHERE seq = 3`, "text|2026-11-30T12:00:00.003Z|[]|200|50\n"},
	} {
		if diff := cmp.Diff(c.want, table(t, s.Reader.db, c.query)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.query, diff)
		}
	}
	six := int64(6)
	report := reconcile.Report{
		Run: run.ID(), Name: "pull", State: Finished, Verdict: judge.Truncated, Strength: reconcile.Declared, Exit: 2,
		Items: reconcile.ItemCounts{Distinct: 150, Received: 151, Repeated: 1}, Missing: &six,
		Pages: reconcile.PageCounts{Held: 2, Attempts: 3, Half: 1}, PageSize: reconcile.SizeSummary{Start: 100, Min: 50, Last: 50},
		Evidence: []reconcile.Evidence{{ID: "RC003", Verdict: judge.Truncated, Text: "6 short"}}, Requests: 3,
		Ended: run.Started().Add(1500_000_000),
	}
	if err := run.Finish(t.Context(), report); err != nil {
		t.Fatal(err)
	}
	query := `SELECT state, verdict, strength, items, total, missing, half, received, size_min, evidence, output, seconds FROM run_overview`
	want := "finished|TRUNCATED|declared|150||6|1|151|50|6 short||1.5\n"
	if diff := cmp.Diff(want, table(t, s.Reader.db, query)); diff != "" {
		t.Errorf("%s (-want +got)\n%s", query, diff)
	}
}

// The queries of README.md run as they stand there, and find something.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	s, run := storied(t)
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	queries := 0
	for _, block := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(block[1], "SELECT") {
			queries++
			if got := table(t, s.Reader.db, block[1]); got == "" {
				t.Errorf("nothing found:\n%s", block[1])
			}
			continue
		}
		if _, err := s.db.Exec(strings.ReplaceAll(block[1], "the id of a run", run.ID())); err != nil {
			t.Errorf("%s\n%v", block[1], err)
		}
	}
	if queries != 6 {
		t.Errorf("%d queries, want 6", queries)
	}
	for _, name := range []string{"runs", "pages", "page_keys", "totals", "events", "checkpoints"} {
		if got := table(t, s.Reader.db, "SELECT count(*) FROM "+name); got != "0\n" {
			t.Errorf("%s after the deletion of the only run: %s", name, got)
		}
	}
}

// Every table, view and column is documented: named in the comments of the
// SQL, and the tables and views in the README too.
func TestDocumented(t *testing.T) {
	all, err := loadMigrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	ledger := ""
	for _, m := range all {
		ledger += m.sql
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, filepath.Join(t.TempDir(), "lastdrop.db"))
	names := strings.Fields(table(t, s.Reader.db, `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'`))
	if len(names) != 15 {
		t.Errorf("tables and views: %v", names)
	}
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^--   ` + name + ` `).MatchString(ledger) {
			t.Errorf("%s is not in the list at the top of the SQL", name)
		}
		if !strings.Contains(string(readme), fmt.Sprintf("| `%s` |", name)) {
			t.Errorf("%s is not in README.md", name)
		}
	}
}

// What people look at uses the indexes: nothing sorts a long list, nothing reads
// other runs, and nothing but the last two reads all pages of a run.
func TestPlans(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "lastdrop.db"))
	list := func(f PageFilter) string { query, _ := f.query("x"); return query }
	count := func(f PageFilter, side string) string { query, _ := f.count("x", side, 9); return query }
	runs := func(f RunFilter) string { query, _ := f.list(); return selectInfo + query }
	countRuns := func(f RunFilter) string { query, _ := f.count(); return query }
	for query, want := range map[string]string{
		list(PageFilter{}):                                 "SEARCH pages USING INDEX sqlite_autoindex_pages_1 (run=? AND seq>?)",
		list(PageFilter{Outcome: "held"}):                  "SEARCH pages USING INDEX sqlite_autoindex_pages_1 (run=? AND seq>?)",
		list(PageFilter{Outcome: "half"}):                  "SEARCH pages USING INDEX pages_not_held (run=? AND outcome=? AND seq>?)",
		count(PageFilter{}, "<="):                          "SEARCH pages USING COVERING INDEX sqlite_autoindex_pages_1 (run=? AND seq<?)",
		count(PageFilter{Outcome: "half"}, ">"):            "SEARCH pages USING COVERING INDEX pages_not_held (run=? AND outcome=? AND seq>?)",
		count(PageFilter{Outcome: "held"}, ">"):            "SEARCH pages USING COVERING INDEX pages_not_held (run=? AND outcome=? AND seq>?)",
		selectCounts:                                       "SEARCH checkpoints USING INDEX sqlite_autoindex_checkpoints_1 (run=?)",
		selectInfo + ` WHERE name = 'x' ORDER BY run DESC`: "SEARCH runs USING INDEX runs_by_name (name=?)",
		sizeSpan.list:                                      "SEARCH a USING INDEX sqlite_autoindex_pages_1 (run=? AND seq>? AND seq<?)",
		selectDrifts:                                       "SEARCH total_drift USING PRIMARY KEY (run=?)",
		runs(RunFilter{Before: "x"}):                       "SEARCH runs USING INDEX sqlite_autoindex_runs_1 (run>? AND run<?)",
		runs(RunFilter{Name: "x", Before: "x"}):            "SEARCH runs USING INDEX runs_by_name (name=? AND run<?)",
		countRuns(RunFilter{UpTo: "x"}):                    "SEARCH runs USING COVERING INDEX sqlite_autoindex_runs_1 (run>? AND run<?)",
		countRuns(RunFilter{Name: "x", UpTo: "x"}):         "SEARCH runs USING COVERING INDEX runs_by_name (name=? AND run<?)",
		list(PageFilter{UpTo: 9}):                          "SEARCH pages USING INDEX sqlite_autoindex_pages_1 (run=? AND seq>? AND seq<?)",
		eventSpan.list:                                     "SEARCH events USING PRIMARY KEY (run=? AND n>? AND n<?)",
		totalSpan.list:                                     "SEARCH totals USING PRIMARY KEY (run=? AND n>? AND n<?)",
		sliceSpan.list:                                     "SEARCH slices USING PRIMARY KEY (run=? AND slice>? AND slice<?)",
		childSpan.list:                                     "SEARCH children USING PRIMARY KEY (run=? AND n>? AND n<?)",
		eventSpan.count:                                    "SEARCH events USING PRIMARY KEY (run=? AND n<?)",
		totalSpan.count:                                    "SEARCH totals USING PRIMARY KEY (run=? AND n<?)",
		selectVerdicts:                                     "SEARCH pages USING INDEX sqlite_autoindex_pages_1 (run=?)",
		selectKeys:                                         "SEARCH page_keys USING INDEX page_keys_by_page (run=?)",
		countPages:                                         "SEARCH pages USING INDEX sqlite_autoindex_pages_1 (run=?)",
		`SELECT * FROM verdict_counts WHERE run = ?`:       "SEARCH pages USING INDEX sqlite_autoindex_pages_1 (run=?)",
	} {
		plan := table(t, s.Reader.db, "EXPLAIN QUERY PLAN "+regexp.MustCompile(`\?\d?`).ReplaceAllString(query, "'x'"))
		scans := regexp.MustCompile(`SCAN (pages|page_keys|totals|events|runs|a|p|b|size_steps)\b`).FindString(plan)
		sorts := query != sizeSpan.list && query != selectDrifts && strings.Contains(plan, "TEMP B-TREE FOR ORDER BY")
		if !strings.Contains(plan, want) || scans != "" || sorts {
			t.Errorf("%s\nplan:\n%s\nwant %s", query, plan, want)
		}
	}
}
