//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// The verdicts and strengths, as the report writes them.
const (
	complete  = "COMPLETE"
	truncated = "TRUNCATED"
	unknown   = "UNKNOWN"

	counted  = "counted"
	declared = "declared"
	assumed  = "assumed"
)

var exitOf = map[string]int{complete: 0, truncated: 2, unknown: 3}

// A report holds those keys of the report that scripts may rely on and that
// the tests look at.
type report struct {
	Run, Name, State, Verdict, Error string
	Strength                         *string
	Exit                             int
	Items                            struct{ Received, Distinct, Repeated, Written int }
	Total                            struct{ First, Last *int }
	Missing                          *int
	Resume                           json.RawMessage
	Pages                            struct{ Held, Attempts, Half, Failed int }
	PageSize                         struct{ Start, Min, Last int } `json:"page_size"`
	Evidence                         []struct{ ID, Verdict, Text string }
	Output                           []struct {
		Path         string
		Committed    bool
		Items, Bytes int
		SHA256       string
	}
	Requests int
}

// A place is where runs of one pull leave their files.
type place struct {
	name, dir string
}

func newPlace(t *testing.T) place {
	return place{notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-"), t.TempDir()}
}

var notInNames = regexp.MustCompile(`[^a-z0-9._-]+`)

func (p place) target() string { return filepath.Join(p.dir, "out.jsonl") }
func (p place) store() string  { return filepath.Join(p.dir, "store.db") }

// A run is what a drain left behind.
type run struct {
	report
	place place
	exit  int
	items []json.RawMessage // the output, line by line
}

// drain drains a source in a folder of its own. The config names its source as
// ${BASE}; version, name and output are added.
func drain(t *testing.T, base, config string) run {
	t.Helper()
	return newPlace(t).drain(t, base, config)
}

// drain runs lastdrop once and checks what holds for every run.
func (p place) drain(t *testing.T, base, config string) run {
	t.Helper()
	cmd := p.command(t, base, config)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r := run{place: p, exit: cmd.ProcessState.ExitCode()}
	if err := json.Unmarshal(out, &r.report); err != nil || bytes.Count(out, []byte("\n")) != 1 {
		t.Fatalf("standard output is no report (%v), exit %d: %q\n%s", err, r.exit, out, cmd.Stderr)
	}
	t.Cleanup(func() {
		if t.Failed() || os.Getenv("LASTDROP_E2E_SHOW") != "" {
			t.Logf("report: %s\n%s\n%s", out, cmd.Stderr, p.attempts())
		}
	})
	r.read(t)
	r.agrees(t)
	t.Logf("%s %s, exit %d, %d items, missing %s, %d requests: %v", r.Verdict, r.strength(), r.exit, len(r.items), text(r.Missing), r.Requests, r.Evidence)
	return r
}

func (r *run) strength() string {
	if r.Strength == nil {
		return "-"
	}
	return *r.Strength
}

// command makes the call of lastdrop, bounded in time.
func (p place) command(t *testing.T, base, config string) *exec.Cmd {
	t.Helper()
	if err := lookAtSources(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.dir, "pull.yaml")
	text := fmt.Sprintf("version: 1\nname: %s\n%s\noutput: {to: %q}\n", p.name, strings.TrimSpace(config), p.target())
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, lastdrop, "drain", file, "--json", "--no-progress", "--db", p.store())
	cmd.Env = append(os.Environ(), "BASE="+base, "no_proxy=127.0.0.1", "NO_PROXY=127.0.0.1")
	cmd.Stderr = new(bytes.Buffer)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// read reads the output that the report names.
func (r *run) read(t *testing.T) {
	t.Helper()
	if len(r.Output) == 0 {
		return
	}
	text, err := os.ReadFile(r.Output[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if !json.Valid(line) || !bytes.HasSuffix(line, []byte("\n")) {
			t.Errorf("the output has a line that is no whole JSON value: %q", line)
		}
		r.items = append(r.items, json.RawMessage(bytes.TrimSpace(line)))
	}
	sum := sha256.Sum256(text)
	if o := r.Output[0]; o.SHA256 != hex.EncodeToString(sum[:]) || o.Bytes != len(text) || o.Items != len(r.items) {
		t.Errorf("the report says %d items, %d bytes, sha256 %s of the output; it has %d, %d, %x", o.Items, o.Bytes, o.SHA256, len(r.items), len(text), sum)
	}
}

// agrees checks that exit status, verdict, strength, counters and the commit
// gate agree with each other.
func (r *run) agrees(t *testing.T) {
	t.Helper()
	want := exitOf[r.Verdict]
	if r.State == "failed" {
		want = 1
	}
	if r.exit != want || r.Exit != want {
		t.Errorf("exit status %d, in the report %d; %s (%s) wants %d", r.exit, r.Exit, r.Verdict, r.State, want)
	}
	if (r.Strength != nil) != (r.Verdict == complete) {
		t.Errorf("strength %v with verdict %s", r.Strength, r.Verdict)
	}
	if i := r.Items; i.Written != len(r.items) || i.Distinct != i.Written || i.Received != i.Distinct+i.Repeated {
		t.Errorf("counters %+v, with %d items in the output", i, len(r.items))
	}
	if r.Requests < r.Pages.Attempts || r.Pages.Attempts < r.Pages.Held {
		t.Errorf("%d requests, %d attempts, %d pages held", r.Requests, r.Pages.Attempts, r.Pages.Held)
	}
}

// is holds the run against a verdict, and a strength where it is COMPLETE.
func (r *run) is(t *testing.T, verdict string, strength ...string) {
	t.Helper()
	if r.Verdict != verdict {
		t.Errorf("verdict %s, want %s; evidence %v", r.Verdict, verdict, r.Evidence)
	}
	if len(strength) > 0 && r.strength() != strength[0] {
		t.Errorf("strength %s, want %s; evidence %v", r.strength(), strength[0], r.Evidence)
	}
}

// shows wants a piece of evidence.
func (r *run) shows(t *testing.T, id string) {
	t.Helper()
	for _, e := range r.Evidence {
		if e.ID == id {
			return
		}
	}
	t.Errorf("no %s in the evidence: %v", id, r.Evidence)
}

// lacks wants a number of items known to be missing.
func (r *run) lacks(t *testing.T, n int) {
	t.Helper()
	if r.Missing == nil || *r.Missing != n {
		t.Errorf("missing %v, want %d", text(r.Missing), n)
	}
}

// asked bounds the requests: a drain should need few.
func (r *run) asked(t *testing.T, most int) {
	t.Helper()
	if r.Requests > most {
		t.Errorf("%d requests, where %d should do", r.Requests, most)
	}
}

func text(n *int) string {
	if n == nil {
		return "not told"
	}
	return fmt.Sprint(*n)
}

// ids gives the output's identities, by a field of the items; without a field
// an item is its own.
func (r *run) ids(t *testing.T, field string) []string {
	t.Helper()
	var ids []string
	for _, item := range r.items {
		if field != "" {
			var object map[string]json.RawMessage
			if err := json.Unmarshal(item, &object); err != nil {
				t.Fatalf("%v: %s", err, item)
			}
			item = object[field]
		}
		ids = append(ids, strings.Trim(string(item), `"`))
	}
	return ids
}

// equals wants the output to hold just these identities, each once.
func (r *run) equals(t *testing.T, field string, truth []string) {
	t.Helper()
	r.law(t, field, truth, truth)
	if missing := without(truth, r.ids(t, field)); len(missing) > 0 {
		t.Errorf("%d of %d are missing: %s", len(missing), len(truth), some(missing))
	}
}

// law holds the run against the one law: nothing twice, nothing that was never
// served, and with COMPLETE all that was there all the while.
func (r *run) law(t *testing.T, field string, allTheWhile, ever []string) {
	t.Helper()
	ids := r.ids(t, field)
	sorted := slices.Sorted(slices.Values(ids))
	if twice := len(ids) - len(slices.Compact(sorted)); twice > 0 {
		t.Errorf("%d items stand twice in the output", twice)
	}
	if strange := without(ids, ever); len(strange) > 0 {
		t.Errorf("%d items were never at the source: %s", len(strange), some(strange))
	}
	if missing := without(allTheWhile, ids); r.Verdict == complete && len(missing) > 0 {
		t.Errorf("a false COMPLETE: %d of %d that were there all the while are missing: %s", len(missing), len(allTheWhile), some(missing))
	}
}

// without gives what is in a and not in b.
func without(a, b []string) []string {
	in := map[string]bool{}
	for _, id := range b {
		in[id] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(id string) bool { return in[id] })
}

func some(ids []string) string { return strings.Join(ids[:min(len(ids), 8)], " ") }

// attempts gives the store's rows of all attempts, for people.
func (p place) attempts() string {
	rows, err := query(p.store(), `SELECT seq||' pass '||pass||' ['||position||'] '||url||' asked '||coalesce(size_asked,'-')||': '||coalesce(status,'-')||
		' items '||items||' new '||new||' total '||coalesce(total,'-')||' more '||more||' '||outcome||' '||action||' '||cause FROM pages ORDER BY run, seq`)
	if err != nil {
		return err.Error()
	}
	events, err := query(p.store(), `SELECT 'event after '||seq||' '||kind||' '||text FROM events ORDER BY run, n`)
	if err != nil {
		return err.Error()
	}
	return strings.Join(append(rows, events...), "\n")
}

// query gives the first column of what an SQLite file answers.
func query(file, q string) ([]string, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?mode=rw&_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query(q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
