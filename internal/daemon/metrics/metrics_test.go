package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"lastdrop/internal/daemon"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// engine is what the daemon says.
type engine struct {
	pulls  []daemon.Pull
	broken []daemon.Broken
	jobs   map[string]int64
	fault  error
}

func (e *engine) Pulls(context.Context) ([]daemon.Pull, error)    { return e.pulls, e.fault }
func (e *engine) Broken(context.Context) ([]daemon.Broken, error) { return e.broken, e.fault }
func (e *engine) Jobs(_ context.Context, f daemon.JobFilter) (daemon.JobList, error) {
	return daemon.JobList{Total: e.jobs[f.State]}, e.fault
}

// A bench is metrics over a store.
type bench struct {
	*engine
	t     *testing.T
	store *store.Store
	m     *Metrics
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "lastdrop.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b := &bench{t: t, store: s, engine: &engine{jobs: map[string]int64{"waiting": 3, "running": 1}}}
	b.pulls = []daemon.Pull{{Name: "a"}, {Name: "b", Problem: "line 1"}, {Name: "new"}}
	b.broken = []daemon.Broken{{File: "x.yaml"}}
	b.restart()
	return b
}

func (b *bench) restart() {
	b.m = New(Options{Engine: b.engine, Store: b.store.Reader, Version: "1.2"})
}

// A part is what a process did for a run.
type part struct {
	name, state string
	verdict     judge.Verdict
	attempts    int // added; every third is a retry with half a body
	missing     int64
}

// run begins or takes up a run and brings it to a report, which is counted.
func (b *bench) run(p part) reconcile.Report {
	b.t.Helper()
	run, err := b.store.Begin(b.t.Context(), store.BeginOptions{Name: p.name, ConfigHash: "h", Config: "c", Version: "1"})
	if err != nil {
		b.t.Fatal(err)
	}
	before, err := b.store.Counts(b.t.Context(), run.ID())
	if err != nil {
		b.t.Fatal(err)
	}
	c := store.Checkpoint{State: []byte("{}")}
	for i := range p.attempts {
		a := reconcile.Attempt{Seq: before.LastSeq + int64(i) + 1, Try: 1, BytesRead: 100, Outcome: reconcile.Held, Verdict: judge.Truncated}
		if i%3 == 2 {
			a.Try, a.Outcome = 2, reconcile.Half
		}
		c.Attempts = append(c.Attempts, a)
	}
	c.Attempts[p.attempts-1].Verdict = judge.Complete
	if err := run.Commit(b.t.Context(), c); err != nil {
		b.t.Fatal(err)
	}
	counts, err := b.store.Counts(b.t.Context(), run.ID())
	if err != nil {
		b.t.Fatal(err)
	}
	r := reconcile.Report{Run: run.ID(), Name: p.name, State: p.state, Verdict: p.verdict, Missing: &p.missing, Bytes: counts.Bytes,
		Items: reconcile.ItemCounts{Distinct: 10 * counts.Held}, Pages: reconcile.PageCounts{Half: counts.Half}, PageSize: reconcile.SizeSummary{Last: 50},
		Waited: reconcile.Duration(time.Duration(counts.Attempts) * time.Second / 2), Ended: time.Now().Add(-time.Minute)}
	if err := run.Finish(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
	b.m.Report(b.t.Context(), r)
	return r
}

// scrape gives the metrics by name and labels.
func (b *bench) scrape() map[string]string {
	b.t.Helper()
	w := httptest.NewRecorder()
	b.m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		b.t.Fatalf("%d %s", w.Code, w.Body)
	}
	all := map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		if !strings.HasPrefix(line, "#") {
			i := strings.LastIndexByte(line, ' ')
			all[line[:i]] = strings.TrimSpace(line[i:])
		}
	}
	return all
}

func (b *bench) want(what string, want map[string]string) {
	b.t.Helper()
	got := b.scrape()
	for name, v := range want {
		if got[name] != v {
			b.t.Errorf("%s: %s is %q, want %q", what, name, got[name], v)
		}
	}
}

func TestMetrics(t *testing.T) {
	b := newBench(t)
	b.scrape() // the first one asks the store, beside reading the counters
	b.want("nothing done", map[string]string{
		`lastdrop_runs_total{pull="a",verdict="COMPLETE"}`: "0", `lastdrop_seconds_since_last_complete{pull="a"}`: "+Inf",
		`lastdrop_last_complete_timestamp_seconds{pull="a"}`: "0", `lastdrop_missing_items{pull="a"}`: "",
		`lastdrop_queue_depth{state="waiting"}`: "3", `lastdrop_queue_depth{state="running"}`: "1", `lastdrop_config_errors`: "2", `lastdrop_half_bodies_total`: "0",
	})
	complete := b.run(part{"a", store.Finished, judge.Complete, 6, 0})
	b.run(part{"b", store.Stopped, judge.Unknown, 3, 7})
	child := complete
	child.Name = "a/child"
	b.m.Report(t.Context(), child)
	stamp := fmt.Sprint(float64(complete.Ended.UnixMilli()) / 1000)
	stopped := map[string]string{
		`lastdrop_runs_total{pull="a",verdict="COMPLETE"}`: "1", `lastdrop_runs_total{pull="b",verdict="UNKNOWN"}`: "0",
		`lastdrop_pages_total{pull="a",verdict="TRUNCATED"}`: "5", `lastdrop_pages_total{pull="a",verdict="COMPLETE"}`: "1",
		`lastdrop_items_total{pull="a"}`: "40", `lastdrop_items_total{pull="b"}`: "20", `lastdrop_bytes_total{pull="a"}`: "600",
		`lastdrop_half_bodies_total`: "3", `lastdrop_retries_total`: "3", `lastdrop_waits_seconds_total`: "4.5", `lastdrop_page_size{pull="b"}`: "50",
		`lastdrop_missing_items{pull="a"}`: "0", `lastdrop_missing_items{pull="b"}`: "7", `lastdrop_runs_total{pull="a/child",verdict="COMPLETE"}`: "",
	}
	b.want("a complete, b stopped", stopped)
	if got := b.scrape()[`lastdrop_last_complete_timestamp_seconds{pull="a"}`]; !sameNumber(got, stamp) {
		t.Errorf("last complete at %s, want %s", got, stamp)
	}
	b.run(part{"b", store.Finished, judge.Truncated, 3, 5})
	ended := map[string]string{
		`lastdrop_runs_total{pull="b",verdict="TRUNCATED"}`: "1", `lastdrop_items_total{pull="b"}`: "40", `lastdrop_bytes_total{pull="b"}`: "600",
		`lastdrop_half_bodies_total`: "4", `lastdrop_retries_total`: "4", `lastdrop_waits_seconds_total`: "6", `lastdrop_missing_items{pull="b"}`: "5",
		`lastdrop_pages_total{pull="b",verdict="TRUNCATED"}`: "4", `lastdrop_pages_total{pull="b",verdict="COMPLETE"}`: "2",
	}
	b.want("b went on to its end", ended)

	b.run(part{"a", store.Stopped, judge.Unknown, 3, 9})
	b.restart()
	b.scrape()
	b.want("after a restart", map[string]string{
		`lastdrop_missing_items{pull="a"}`: "9", `lastdrop_missing_items{pull="b"}`: "5", `lastdrop_page_size{pull="a"}`: "50",
		`lastdrop_runs_total{pull="a",verdict="COMPLETE"}`: "0", `lastdrop_seconds_since_last_complete{pull="b"}`: "+Inf", `lastdrop_half_bodies_total`: "0",
	})
	if got := b.scrape()[`lastdrop_last_complete_timestamp_seconds{pull="a"}`]; !sameNumber(got, stamp) {
		t.Errorf("last complete after a restart at %s, want %s", got, stamp)
	}
	b.run(part{"a", store.Finished, judge.Complete, 3, 0})
	b.want("what an earlier process counted of the run is not counted again", map[string]string{
		`lastdrop_items_total{pull="a"}`: "20", `lastdrop_half_bodies_total`: "1", `lastdrop_waits_seconds_total`: "1.5"})

	b.pulls = b.pulls[:1]
	b.want("b is gone", map[string]string{`lastdrop_missing_items{pull="b"}`: "", `lastdrop_missing_items{pull="a"}`: "0"})
	b.fault = errors.New("/secret/path")
	got := b.scrape()
	if got[`lastdrop_missing_items{pull="a"}`] != "" || got[`lastdrop_half_bodies_total`] != "1" {
		t.Errorf("while the engine does not answer: %v", got)
	}
}

// sameNumber compares to the second, as texts differ in their form.
func sameNumber(a, b string) bool {
	var x, y float64
	_, _ = fmt.Sscan(a, &x)
	_, _ = fmt.Sscan(b, &y)
	return x != 0 && x-y < 1 && y-x < 1
}

// The first report counts, though nobody scraped before it.
func TestUnscraped(t *testing.T) {
	b := newBench(t)
	b.run(part{"a", store.Stopped, judge.Unknown, 3, 7})
	b.want("stopped", map[string]string{`lastdrop_items_total{pull="a"}`: "20", `lastdrop_half_bodies_total`: "1"})
	b.run(part{"a", store.Finished, judge.Complete, 3, 7})
	b.want("finished", map[string]string{`lastdrop_items_total{pull="a"}`: "40", `lastdrop_half_bodies_total`: "2"})
}

// A fan-out's attempts stand with its children.
func TestFanOut(t *testing.T) {
	b := newBench(t)
	child := b.run(part{"a/x", store.Finished, judge.Complete, 6, 0})
	run, err := b.store.Begin(t.Context(), store.BeginOptions{Name: "a", ConfigHash: "h", Config: "c", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if err := run.Commit(t.Context(), store.Checkpoint{Children: []store.Child{{N: 1, Value: "x", Run: child.Run}, {N: 2, Value: "y"}}, State: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	b.m.Report(t.Context(), reconcile.Report{Run: run.ID(), Name: "a", State: store.Finished, Verdict: judge.Complete, Children: &reconcile.ChildCounts{}})
	b.want("fan-out", map[string]string{`lastdrop_pages_total{pull="a",verdict="TRUNCATED"}`: "5", `lastdrop_retries_total`: "2"})
}

func TestHealth(t *testing.T) {
	for err, status := range map[error]int{nil: 200, errors.New("secret"): 503} {
		w := httptest.NewRecorder()
		Readyz(func(context.Context) error { return err }).ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
		if w.Code != status || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: %d %s", err, w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	Healthz().ServeHTTP(w, httptest.NewRequest("GET", "/healthz", nil))
	if w.Code != 200 || w.Body.String() != "ok\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The files for Grafana and Prometheus, and the list for people, name metrics that there
// are, and all of them.
func TestMonitoringFiles(t *testing.T) {
	b := newBench(t)
	b.run(part{"a", store.Finished, judge.Complete, 3, 0})
	b.scrape()
	var known []string
	families, err := b.m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "lastdrop_") {
			known = append(known, f.GetName())
		}
	}
	const dir = "../../../docs/monitoring/"
	seen := map[string]bool{}
	read := func(name string) []byte {
		t.Helper()
		text, err := os.ReadFile(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range regexp.MustCompile(`\blastdrop_[a-z_]+`).FindAllString(string(text), -1) {
			if !slices.Contains(known, metric) {
				t.Errorf("%s names %s, which there is not", name, metric)
			}
			if name != "alerts.yaml" {
				seen[name+" "+metric] = true
			}
		}
		return text
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(read("dashboard.json"), &dashboard); err != nil || len(dashboard.Panels) < 10 {
		t.Errorf("the dashboard: %v", err)
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal(read("alerts.yaml"), &rules); err != nil || len(rules.Groups) != 1 {
		t.Fatalf("the rules: %v", err)
	}
	for _, r := range rules.Groups[0].Rules {
		if r.Alert == "" || !strings.Contains(r.Expr, "lastdrop_") {
			t.Errorf("%+v", r)
		}
	}
	read("README.md")
	for _, metric := range known {
		if !seen["README.md "+metric] {
			t.Errorf("%s is not in README.md", metric)
		}
		if !seen["dashboard.json "+metric] && metric != "lastdrop_build_info" {
			t.Errorf("%s is not on the dashboard", metric)
		}
	}
	if len(known) != 14 {
		t.Errorf("%d metrics: %v", len(known), known)
	}
}
