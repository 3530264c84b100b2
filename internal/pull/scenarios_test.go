package pull_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lastdrop/configs"
	"lastdrop/internal/pull"
	"lastdrop/internal/sim"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// open stands for a number of items that a scenario leaves open.
const open = -1

// A scenario is a pull that went wrong for somebody, as a small server, with
// the config that an operator would write for it and what must come out.
type scenario struct {
	id string
	// variant tells rows of one id apart.
	variant string
	// about says in one line what goes wrong.
	about string
	// server makes the API: a Sim where that can express it.
	server func() http.Handler
	// ids: a server that is no Sim has the items 1 to ids.
	ids int
	// h2 serves it over HTTP/2.
	h2 bool
	// config has ${BASE}, the server's address, and ${TOKEN}, a credential.
	config string

	verdict judge.Verdict
	// items is the number of distinct items held.
	items int
	// requests is the most requests; 0 is no bound.
	requests int64
	// detect are words of the table signs that must stand in the evidence,
	// never those that must not.
	detect, never []string
	// order, where set, is every request as PAGE@SIZE.
	order []string
}

// String names the row.
func (s scenario) String() string {
	if s.variant == "" {
		return s.id
	}
	return s.id + " " + s.variant
}

// An outcome is what a pull left behind.
type outcome struct {
	report   reconcile.Report
	attempts []reconcile.Attempt
	events   []reconcile.Event
	asked    int64 // requests that reached the server
	held     map[string]int
	lines    int
	file     string
}

// exits are the exit statuses that scripts know the verdicts by.
var exits = map[judge.Verdict]int{
	judge.Complete: pull.ExitComplete, judge.Truncated: pull.ExitTruncated, judge.Unknown: pull.ExitUnknown,
}

// TestScenarios runs every scenario that this version can drain.
func TestScenarios(t *testing.T) { runAll(t, scenarios()) }

// runAll runs each scenario as a test of its own.
func runAll(t *testing.T, all []scenario) {
	for _, s := range all {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			out, problems := s.run(t)
			for _, p := range problems {
				t.Error(p)
			}
			if t.Failed() {
				t.Logf("%s\n%s", s.about, out.story())
			}
		})
	}
}

// run drains a scenario and lists what is not as it must be.
func (s scenario) run(t *testing.T) (outcome, []string) {
	t.Helper()
	handler := s.server()
	out := s.drain(t, handler)
	var problems []string
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	rep := out.report
	if rep.Verdict != s.verdict {
		wrong("verdict %s, want %s", rep.Verdict, s.verdict)
	}
	if want := exits[s.verdict]; rep.Exit != want {
		wrong("exit status %d, want %d", rep.Exit, want)
	}
	if s.items != open && rep.Items.Distinct != int64(s.items) {
		wrong("%d distinct items, want %d", rep.Items.Distinct, s.items)
	}
	if s.requests > 0 && out.asked > s.requests {
		wrong("%d requests, want at most %d", out.asked, s.requests)
	}
	if out.asked != rep.Requests {
		wrong("the report counts %d requests, the server %d", rep.Requests, out.asked)
	}
	for _, word := range s.detect {
		if !detected(out, word) {
			wrong("%s left no sign", word)
		}
	}
	for _, word := range s.never {
		if detected(out, word) {
			wrong("%s was seen where there is none", word)
		}
	}
	if got := out.order(); s.order != nil && !slices.Equal(got, s.order) {
		wrong("requests %q, want %q", got, s.order)
	}
	return out, append(problems, s.againstTruth(out, handler)...)
}

// againstTruth holds the sink's file against the truth: every item once, only real
// ones, and all of them where the verdict is COMPLETE.
func (s scenario) againstTruth(out outcome, handler http.Handler) []string {
	var problems []string
	ever, always := s.truth(handler)
	for id, n := range out.held {
		if n > 1 {
			problems = append(problems, fmt.Sprintf("item %s stands %d times in the file", id, n))
		}
		if !ever[id] {
			problems = append(problems, fmt.Sprintf("item %s stands in the file and never existed", id))
		}
	}
	if int64(out.lines) != out.report.Items.Distinct {
		problems = append(problems, fmt.Sprintf("%d lines in the file, the run held %d", out.lines, out.report.Items.Distinct))
	}
	if out.report.Verdict != judge.Complete {
		return problems
	}
	lost := 0
	for _, id := range always {
		if out.held[id] == 0 {
			lost++
		}
	}
	if lost > 0 {
		problems = append(problems, fmt.Sprintf("COMPLETE, and %d of %d lasting items are missing", lost, len(always)))
	}
	return problems
}

// truth names the items that ever and that always existed.
func (s scenario) truth(handler http.Handler) (ever map[string]bool, always []string) {
	if world, ok := handler.(*sim.Sim); ok {
		truth := world.Truth()
		return truth.Ever, truth.Always
	}
	ever = map[string]bool{}
	for id := 1; id <= s.ids; id++ {
		ever[fmt.Sprint(id)] = true
		always = append(always, fmt.Sprint(id))
	}
	return ever, always
}

// drain runs the pull against a real server.
func (s scenario) drain(t *testing.T, handler http.Handler) outcome {
	t.Helper()
	ctx := context.Background()
	var out outcome
	var asked atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		handler.ServeHTTP(w, r)
	}))
	o := pull.Options{BackoffMin: time.Millisecond, BackoffMax: 2 * time.Millisecond, Version: "test"}
	if s.h2 {
		server.EnableHTTP2 = true
		server.StartTLS()
		o.Transport = server.Client().Transport
	} else {
		server.Start()
	}
	defer server.Close()
	dir := t.TempDir()
	target, db := filepath.Join(dir, "items.jsonl"), filepath.Join(dir, "runs.db")
	env := map[string]string{"BASE": server.URL, "OUT": target, "TOKEN": token}
	text := "version: 1\nname: " + strings.ToLower(s.id) + "\n" + s.config + "\noutput: {to: \"${OUT}\"}\n"
	var err error
	if o.Config, err = configs.Parse(s.id+".yaml", []byte(text), func(k string) (string, bool) { v, ok := env[k]; return v, ok }); err != nil {
		t.Fatalf("config: %v\n%s", err, text)
	}
	if o.Store, err = store.Open(ctx, db); err != nil {
		t.Fatal(err)
	}
	defer o.Store.Close()
	if out.report, err = pull.Run(ctx, o); err != nil {
		t.Fatalf("run: %v", err)
	}
	out.asked = asked.Load()
	out.look(t, db)
	out.read(t, target, handler)
	return out
}

// token is the credential of configs that need one.
const token = "s3cr3t-of-the-test"

// look reads the run's rows out of the store.
func (o *outcome) look(t *testing.T, db string) {
	t.Helper()
	ctx := context.Background()
	r, err := store.OpenReader(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pages, err := r.Pages(ctx, o.report.Run, store.PageFilter{})
	if err != nil {
		t.Fatal(err)
	}
	events, err := r.Events(ctx, o.report.Run, 0)
	if err != nil {
		t.Fatal(err)
	}
	o.attempts, o.events = pages, events.Events
}

// read reads the sink's file.
func (o *outcome) read(t *testing.T, target string, handler http.Handler) {
	t.Helper()
	o.held = map[string]int{}
	body, err := os.ReadFile(target)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	o.file = string(body)
	world, isSim := handler.(*sim.Sim)
	for line := range strings.Lines(string(body)) {
		o.lines++
		if isSim && world.API.Format != sim.CSV {
			key, err := world.KeyOf([]byte(line))
			if err != nil {
				t.Errorf("the file holds a line that is no item: %v", err)
			}
			o.held[key]++
			continue
		}
		o.held[idOf(t, line)]++
	}
}

// idOf gives the id of a line: that of an object, or a text itself.
func idOf(t *testing.T, line string) string {
	t.Helper()
	if line = strings.TrimSpace(line); strings.HasPrefix(line, `"`) {
		return strings.Trim(line, `"`)
	}
	var item struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal([]byte(line), &item); err != nil {
		t.Errorf("the file holds a line that is no item: %q: %v", line, err)
	}
	return strings.Trim(string(item.ID), `"`)
}

// order lists the requests as PAGE@SIZE.
func (o outcome) order() []string {
	var out []string
	for _, a := range o.attempts {
		u, err := url.Parse(a.URL)
		if err != nil {
			continue
		}
		out = append(out, fmt.Sprintf("%s@%d", u.Query().Get("page"), a.SizeAsked))
	}
	return out
}

// story tells a run, for a failure message.
func (o outcome) story() string {
	var b strings.Builder
	for i, a := range o.attempts {
		if i >= 8 && i < len(o.attempts)-12 {
			continue
		}
		u, _ := url.Parse(a.URL)
		fmt.Fprintf(&b, "  %d pass %d %s ?%s size %d: status %d items %d new %d again %d total %v more %q %s; %s %s\n", a.Seq, a.Pass, a.Position,
			u.RawQuery, a.SizeAsked, a.Status, a.Items, a.New, a.Repeated, a.Total, a.More, a.Outcome, a.Action, a.Cause)
	}
	for i, e := range o.events {
		if i < 12 || i >= len(o.events)-8 {
			fmt.Fprintf(&b, "  event after %d: %s: %s\n", e.Seq, e.Kind, e.Text)
		}
	}
	rep := o.report
	fmt.Fprintf(&b, "  %s %s (%s), distinct %d, repeated %d, requests %d, passes %d %s\n", rep.State, rep.Verdict, rep.Strength, rep.Items.Distinct,
		rep.Items.Repeated, rep.Requests, rep.Passes, rep.Error)
	for _, e := range rep.Evidence {
		fmt.Fprintf(&b, "  %s %s %s\n", e.ID, e.Verdict, e.Text)
	}
	return b.String()
}
