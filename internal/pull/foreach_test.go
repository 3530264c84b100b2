package pull_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lastdrop/configs"
	"lastdrop/internal/pull"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A hub serves repositories at /repos and the issues of each at
// /repos/NAME/issues, both by offset with a total.
type hub struct {
	mu     sync.Mutex
	repos  []any          // names; anything else is an item without one
	issues map[string]int // how many each has, with ids from 1
	asked  []string       // "PATH OFFSET", in order
	total  map[string]any // what a path declares instead of its count; nil: nothing
	before func(r *http.Request) int
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	path := r.URL.EscapedPath()
	h.asked = append(h.asked, fmt.Sprint(path, " ", offset))
	if h.before != nil {
		if status := h.before(r); status != 0 {
			if status == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "3600") // beyond any max_wait here
			}
			w.WriteHeader(status)
			return
		}
	}
	var items []any
	if path == "/repos" {
		for i, name := range h.repos {
			items = append(items, map[string]any{"id": i, "full_name": name})
		}
	} else {
		repo := strings.TrimSuffix(strings.TrimPrefix(path, "/repos/"), "/issues")
		n, ok := h.issues[repo]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		for i := range n {
			items = append(items, map[string]any{"id": i + 1, "repo": repo})
		}
	}
	body := map[string]any{"items": append([]any{}, items[min(offset, len(items)):min(offset+limit, len(items))]...), "total": len(items), "has_more": offset+limit < len(items)}
	if other, ok := h.total[path]; ok {
		body["total"] = other
		if other == nil {
			delete(body, "total")
			delete(body, "has_more")
		}
	}
	_ = json.NewEncoder(w).Encode(body)
}

// count says how often a path was asked for.
func (h *hub) count(path string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, a := range h.asked {
		if strings.HasPrefix(a, path+" ") {
			n++
		}
	}
	return n
}

// A desk runs a fan-out over a hub, again and again.
type desk struct {
	t       *testing.T
	hub     *hub
	dir     string
	db      string
	base    string
	opt     pull.Options
	reports []reconcile.Report // of the parts, of the last run
}

const paging = `
pages: {style: offset, size: {param: limit, start: 5}, offset: {param: offset}, more: {path: has_more}}
items: {path: items, id: id}
total: {path: total}
`

// overPull fans out over the items of another pull; overValues and overLines over lists.
const (
	overPull   = "for_each: {as: repo, pull: repos.yaml, path: full_name}\n"
	overValues = "for_each: {as: repo, values: [a, b, c]}\n"
	overLines  = "for_each: {as: repo, lines: list.txt}\n"
)

func newDesk(t *testing.T, h *hub, each string) *desk {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	d := &desk{t: t, hub: h, dir: t.TempDir(), base: server.URL}
	d.db = filepath.Join(d.dir, "runs.db")
	d.write("repos.yaml", "version: 1\nname: repos\nsource: {url: \"${BASE}/repos\"}"+paging+"limits: {retries: 1}\noutput: {to: \"${DIR}/repos.jsonl\"}\n")
	d.config(each)
	return d
}

// config writes the config of the fan-out, with more keys.
func (d *desk) config(each string) {
	d.write("issues.yaml", "version: 1\nname: issues\nsource: {url: \"${BASE}/repos/{repo}/issues\"}"+paging+each+
		"output: {to: \"${DIR}/issues-{repo}.jsonl\"}\n")
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// run runs the fan-out once.
func (d *desk) run(ctx context.Context) (reconcile.Report, error) {
	d.t.Helper()
	o := d.opt
	d.reports = nil
	o.Reported = func(r reconcile.Report) { d.reports = append(d.reports, r) }
	return runIssues(ctx, d.dir, d.base, o)
}

// runIssues runs the fan-out in a folder once.
func runIssues(ctx context.Context, dir, base string, o pull.Options) (reconcile.Report, error) {
	env := map[string]string{"BASE": base, "DIR": dir}
	c, err := configs.Load(filepath.Join(dir, "issues.yaml"), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		return reconcile.Report{}, err
	}
	st, err := store.Open(context.Background(), filepath.Join(dir, "runs.db"))
	if err != nil {
		return reconcile.Report{}, err
	}
	defer st.Close()
	o.Config, o.Store, o.Version = c, st, "test"
	o.BackoffMin, o.BackoffMax = time.Millisecond, 2*time.Millisecond
	return pull.Run(ctx, o)
}

// must runs it, which must give a verdict, and checks the law.
func (d *desk) must(verdict judge.Verdict, state string) reconcile.Report {
	d.t.Helper()
	rep, err := d.run(context.Background())
	if err != nil {
		d.t.Fatal(err)
	}
	if rep.Verdict != verdict || rep.State != state {
		d.t.Fatalf("%s %s (%s), want %s %s: %v", rep.State, rep.Verdict, rep.Error, state, verdict, rep.Evidence)
	}
	d.law(rep)
	return rep
}

// law holds the files of the children against the truth: every item once, only
// real ones, and all of them where the verdict is COMPLETE.
func (d *desk) law(rep reconcile.Report) {
	d.t.Helper()
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	lines := int64(0)
	held := map[string]int{}
	for _, o := range rep.Output {
		body, err := os.ReadFile(o.Path)
		if errors.Is(err, fs.ErrNotExist) && o.Items == 0 {
			continue
		}
		if err != nil {
			d.t.Fatal(err)
		}
		seen, last := map[int]bool{}, ""
		for line := range strings.Lines(string(body)) {
			var item struct {
				ID   int
				Repo string
			}
			if err := json.Unmarshal([]byte(line), &item); err != nil {
				d.t.Fatalf("%s: %q: %v", o.Path, line, err)
			}
			if seen[item.ID] || last != "" && item.Repo != last || item.ID > d.hub.issues[item.Repo] {
				d.t.Errorf("%s: item %d of %s is there twice, or in the wrong file, or never existed", o.Path, item.ID, item.Repo)
			}
			seen[item.ID], last = true, item.Repo
			lines++
		}
		held[last] = len(seen)
	}
	if lines != rep.Items.Distinct {
		d.t.Errorf("%d lines in the files, and the report counts %d", lines, rep.Items.Distinct)
	}
	if rep.Verdict != judge.Complete {
		return
	}
	if got := rep.Children; got.Complete != got.Total || int(got.Total) != len(rep.Output) {
		d.t.Errorf("COMPLETE, and the children are %+v with %d files", got, len(rep.Output))
	}
	for _, r := range d.hub.repos {
		if name, ok := r.(string); ok && held[name] != d.hub.issues[name] {
			d.t.Errorf("COMPLETE, and %d of %d items of %s are held", held[name], d.hub.issues[name], name)
		}
	}
}

func toldBy(rep reconcile.Report, id, text string) bool {
	return slices.ContainsFunc(rep.Evidence, func(e reconcile.Evidence) bool { return e.ID == id && strings.Contains(e.Text, text) })
}

func abc() *hub {
	return &hub{repos: []any{"a", "b", "c"}, issues: map[string]int{"a": 12, "b": 17, "c": 8}, total: map[string]any{}}
}

func TestEachValue(t *testing.T) {
	d := newDesk(t, abc(), "for_each: {as: repo, values: [a, c, b, a]}\n")
	rep := d.must(judge.Complete, "finished")
	if rep.Strength != reconcile.Counted || rep.Items.Distinct != 37 || rep.Items.Written != 37 || rep.Exit != 0 || rep.Missing == nil || *rep.Missing != 0 {
		t.Errorf("%+v", rep)
	}
	if !toldBy(rep, "RC068", "1 value came again") || !toldBy(rep, "RC048", "3 children") {
		t.Errorf("evidence %v", rep.Evidence)
	}
	var names []string
	requests := int64(0)
	for _, r := range d.reports {
		names = append(names, r.Name)
		requests += r.Requests
	}
	if want := []string{"issues/a", "issues/c", "issues/b"}; !slices.Equal(names, want) || rep.Requests != requests || int(requests) != len(d.hub.asked) {
		t.Errorf("reports of %v, want %v; %d requests in the sum, %d in the parts", names, want, rep.Requests, requests)
	}
	st, err := store.OpenReader(context.Background(), d.db)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	children, err := st.Children(context.Background(), rep.Run)
	if err != nil || len(children) != 3 || children[2].Value != "b" || children[2].Run != d.reports[2].Run {
		t.Errorf("children %+v, %v", children, err)
	}
	if stored, err := st.Report(context.Background(), rep.Run); err != nil || stored.Verdict != judge.Complete || stored.Children.Complete != 3 {
		t.Errorf("stored %+v, %v", stored, err)
	}
	// It is finished: the next one is another whole, and asks everything again.
	if again := d.must(judge.Complete, "finished"); again.Run == rep.Run || d.hub.count("/repos/a/issues") != 2*3 {
		t.Errorf("run %s after %s, a was asked for %d times", again.Run, rep.Run, d.hub.count("/repos/a/issues"))
	}
}

// Values are escaped in the path, and their files are apart.
func TestEachValueIsEscaped(t *testing.T) {
	h := abc()
	h.issues = map[string]int{"ada/engine": 3, "ADA/engine": 4, "a%20b%3Fc%25": 5}
	d := newDesk(t, h, "for_each: {as: repo, values: [ada/engine, ADA/engine, \"a b?c%\"]}\n")
	rep := d.must(judge.Complete, "finished")
	seen := map[string]bool{}
	for _, o := range rep.Output {
		seen[strings.ToLower(o.Path)] = true
		if filepath.Dir(o.Path) != d.dir {
			t.Errorf("a file at %s", o.Path)
		}
	}
	if len(seen) != 3 || rep.Items.Distinct != 12 {
		t.Errorf("%d items in %v", rep.Items.Distinct, rep.Output)
	}
}

func TestEachItemOfAPull(t *testing.T) {
	d := newDesk(t, abc(), overPull)
	rep := d.must(judge.Complete, "finished")
	if !toldBy(rep, "RC049", "repos is COMPLETE (declared) and gave 3 values") || rep.Strength != reconcile.Declared || rep.Items.Distinct != 37 || len(d.reports) != 4 || d.reports[0].Name != "repos" {
		t.Errorf("%d reports, evidence %v", len(d.reports), rep.Evidence)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "repos.jsonl")); err != nil {
		t.Error(err)
	}
}

// What the parent comes to bounds what the whole can.
func TestParentBounds(t *testing.T) {
	for _, tc := range []struct {
		name    string
		change  func(*hub)
		verdict judge.Verdict
		state   string
		exit    int
		total   int64 // children
		id, say string
	}{
		{"no evidence of its end", func(h *hub) { h.total["/repos"] = nil }, judge.Unknown, "finished", 3, 3, "RC049", "repos is UNKNOWN: RC007"},
		{"short of its total", func(h *hub) { h.total["/repos"] = 8 }, judge.Truncated, "finished", 2, 3, "RC049", "not all children are known"},
		{"no items", func(h *hub) { h.repos = nil }, judge.Complete, "finished", 0, 0, "RC049", "gave 0 values"},
		{"no items, and no evidence", func(h *hub) { h.repos, h.total["/repos"] = nil, nil }, judge.Unknown, "finished", 3, 0, "RC049", "repos is UNKNOWN"},
		{"refused", func(h *hub) {
			h.before = func(r *http.Request) int { return map[string]int{"/repos": 403}[r.URL.Path] }
		}, judge.Unknown, "failed", 1, 0, "RC049", "could not run"},
		{"an item without a value", func(h *hub) { h.repos = append(h.repos, nil, []int{1}) }, judge.Unknown, "finished", 3, 3, "RC049", "2 items of the list gave no value"},
		{"a value that leaves the path", func(h *hub) { h.repos = append(h.repos, "../admin") }, judge.Unknown, "finished", 3, 3, "RC049", "1 item of the list gave no value"},
		{"a value twice", func(h *hub) { h.repos = append(h.repos, "a") }, judge.Complete, "finished", 0, 3, "RC068", "1 value came again"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := abc()
			tc.change(h)
			d := newDesk(t, h, overPull)
			rep := d.must(tc.verdict, tc.state)
			if rep.Exit != tc.exit || rep.Children.Total != tc.total || !toldBy(rep, tc.id, tc.say) {
				t.Errorf("exit %d, children %+v, evidence %v", rep.Exit, rep.Children, rep.Evidence)
			}
		})
	}
}

// The worst child counts, and no child keeps another from being drained.
func TestChildrenBound(t *testing.T) {
	for _, tc := range []struct {
		name    string
		change  func(*hub)
		verdict judge.Verdict
		state   string
		exit    int
		say     string
	}{
		{"one short", func(h *hub) { h.total["/repos/a/issues"] = 20 }, judge.Truncated, "finished", 2, "issues/a is TRUNCATED: RC002"},
		{"one in doubt", func(h *hub) { h.total["/repos/a/issues"] = nil }, judge.Unknown, "finished", 3, "issues/a is UNKNOWN: RC007"},
		{"one gone", func(h *hub) { delete(h.issues, "a") }, judge.Unknown, "failed", 1, "issues/a is UNKNOWN, for it could not run"},
		{"one gone, one short", func(h *hub) { delete(h.issues, "a"); h.total["/repos/b/issues"] = 20 }, judge.Truncated, "failed", 1, "could not run"},
		{"one fails on the way", func(h *hub) {
			h.before = func(r *http.Request) int {
				if r.URL.Path == "/repos/a/issues" && r.URL.Query().Get("offset") != "0" {
					return 404
				}
				return 0
			}
		}, judge.Truncated, "finished", 2, "issues/a is TRUNCATED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := abc()
			tc.change(h)
			d := newDesk(t, h, overValues+"limits: {retries: 1}\n")
			rep := d.must(tc.verdict, tc.state)
			if rep.Exit != tc.exit || !toldBy(rep, "RC048", tc.say) || d.hub.count("/repos/c/issues") == 0 {
				t.Errorf("exit %d, c asked for %d times, evidence %v", rep.Exit, d.hub.count("/repos/c/issues"), rep.Evidence)
			}
		})
	}
}

// cancelAt makes a context that ends at the n-th request for a path.
func (h *hub) cancelAt(path string, n int) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	h.before = func(r *http.Request) int {
		if r.URL.Path != path {
			return 0
		}
		if n--; n == 0 {
			cancel()
			return http.StatusServiceUnavailable
		}
		return 0
	}
	return ctx
}

// A signal inside the second child: what is COMPLETE is not asked again, the
// second goes on, the third follows.
func TestEachStoppedAndResumed(t *testing.T) {
	d := newDesk(t, abc(), overPull)
	rep, err := d.run(d.hub.cancelAt("/repos/b/issues", 3))
	if err != nil || rep.State != "stopped" || rep.Verdict == judge.Complete || rep.Resume == nil || rep.Resume.Value != "b" {
		t.Fatalf("%+v, %v", rep, err)
	}
	if c := rep.Children; c.Complete != 1 || c.Open != 1 || c.Total != 3 {
		t.Errorf("children %+v", c)
	}
	d.law(rep)
	d.hub.before = nil
	d.hub.asked = nil
	d.hub.repos = append(d.hub.repos, "later") // the list is fixed
	d.hub.issues["later"] = 0
	again := d.must(judge.Complete, "finished")
	if again.Run != rep.Run || len(d.reports) != 2 || d.hub.count("/repos") != 0 || d.hub.count("/repos/a/issues") != 0 {
		t.Errorf("run %s after %s, %d reports, asked %v", again.Run, rep.Run, len(d.reports), d.hub.asked)
	}
	if slices.Contains(d.hub.asked, "/repos/b/issues 0") {
		t.Errorf("b began anew: %v", d.hub.asked)
	}
}

// All children share one rate: what the first used up, the second cannot use, and
// waits for until it is stopped.
func TestEachSharesTheRate(t *testing.T) {
	d := newDesk(t, abc(), overValues+"limits: {rate: 1/h, burst: 5, retries: 0}\n")
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	rep, err := d.run(ctx)
	if err != nil || rep.Verdict == judge.Complete || rep.State != "stopped" || rep.Children.Complete != 1 || len(d.hub.asked) != 5 {
		t.Errorf("%s, %s, children %+v, asked %v, %v", rep.Verdict, rep.State, rep.Children, d.hub.asked, err)
	}
}

// A server that wants a longer wait than allowed wants it of every child.
func TestEachWaits(t *testing.T) {
	d := newDesk(t, abc(), overValues+"limits: {max_wait: 10s}\n")
	d.hub.before = func(r *http.Request) int {
		if r.URL.Path == "/repos/b/issues" {
			return http.StatusTooManyRequests
		}
		return 0
	}
	rep := d.must(judge.Unknown, "stopped")
	if c := rep.Children; c.Complete != 1 || c.Open+c.Failed+c.Unknown != 2 || d.hub.count("/repos/c/issues") != 0 {
		t.Errorf("children %+v, asked %v", c, d.hub.asked)
	}
	d.hub.before = nil
	if again := d.must(judge.Complete, "finished"); again.Run != rep.Run {
		t.Errorf("run %s after %s", again.Run, rep.Run)
	}
}

// A signal inside the parent, and before the first child.
func TestEachStoppedInParent(t *testing.T) {
	h := abc()
	for i := range 7 {
		name := fmt.Sprint("r", i)
		h.repos, h.issues[name] = append(h.repos, name), i
	}
	d := newDesk(t, h, overPull)
	rep, err := d.run(h.cancelAt("/repos", 2))
	if err != nil || rep.State != "stopped" || rep.Verdict == judge.Complete || len(d.reports) != 1 {
		t.Fatalf("%+v, %v", rep, err)
	}
	h.before, h.asked = nil, nil
	if again := d.must(judge.Complete, "finished"); again.Run != rep.Run || slices.Contains(h.asked, "/repos 0") {
		t.Errorf("the parent began anew: %v", h.asked)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.run(done); err == nil {
		t.Error("a context that is done begins a run")
	}
}

// Budgets count over the whole, are never an end, and leave it resumable.
func TestEachBudgets(t *testing.T) {
	for name, tc := range map[string]struct {
		opt               pull.Options
		limits            string
		requests, newItem int64
	}{
		"pages": {pull.Options{MaxPages: 2}, "", 2, 100}, "items": {pull.Options{MaxItems: 7}, "", 100, 7},
		"requests": {pull.Options{}, "limits: {max_requests: 2}\n", 2, 100},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, abc(), overPull+tc.limits)
			d.opt = tc.opt
			var asked, held int64
			d.untilComplete(t, func(rep reconcile.Report) {
				n := int64(len(d.hub.asked))
				if n-asked > tc.requests || rep.Items.Distinct-held > tc.newItem {
					t.Errorf("%d requests and %d items in one go", n-asked, rep.Items.Distinct-held)
				}
				asked, held = n, rep.Items.Distinct
			})
		})
	}
}

// untilComplete runs the whole again and again; each but the last is stopped
// and not COMPLETE.
func (d *desk) untilComplete(t *testing.T, check func(reconcile.Report)) {
	t.Helper()
	run := ""
	for n := range 40 {
		rep, err := d.run(context.Background())
		if err != nil || run != "" && rep.Run != run {
			t.Fatalf("run %s after %s, %v", rep.Run, run, err)
		}
		run = rep.Run
		d.law(rep)
		check(rep)
		if rep.State == "finished" {
			if rep.Verdict != judge.Complete || n < 3 {
				t.Fatalf("%s after %d goes: %v", rep.Verdict, n+1, rep.Evidence)
			}
			return
		}
		if rep.State != "stopped" || rep.Verdict == judge.Complete {
			t.Fatalf("%s %s", rep.State, rep.Verdict)
		}
	}
	t.Fatal("it never ends")
}

// A run that this whole did not begin is never taken up: what came between its
// start and that of the whole would be missed.
func TestEachTakesUpItsOwnOnly(t *testing.T) {
	d := newDesk(t, abc(), overPull)
	if _, err := d.run(d.hub.cancelAt("/repos/b/issues", 3)); err != nil {
		t.Fatal(err)
	}
	d.opt.Fresh = true
	if rep, err := d.run(d.hub.cancelAt("/repos/a/issues", 2)); err != nil || rep.State != "stopped" {
		t.Fatalf("%+v, %v", rep, err)
	}
	d.opt.Fresh, d.hub.before, d.hub.asked = false, nil, nil
	d.must(judge.Complete, "finished")
	if slices.Contains(d.hub.asked, "/repos/a/issues 0") || !slices.Contains(d.hub.asked, "/repos/b/issues 0") {
		t.Errorf("a goes on and b begins anew: %v", d.hub.asked)
	}
	// Another list is another whole, and takes up none of these.
	d.config(overValues)
	if _, err := d.run(d.hub.cancelAt("/repos/b/issues", 3)); err != nil {
		t.Fatal(err)
	}
	d.config("for_each: {as: repo, values: [b, c]}\n")
	d.hub.before, d.hub.asked, d.hub.repos = nil, nil, []any{"b", "c"}
	d.must(judge.Complete, "finished")
	if !slices.Contains(d.hub.asked, "/repos/b/issues 0") {
		t.Errorf("b goes on: %v", d.hub.asked)
	}
}

// The lines of a file are fixed at the first start.
func TestEachLine(t *testing.T) {
	d := newDesk(t, abc(), overLines)
	d.write("list.txt", "a\r\n\nb\n")
	rep, err := d.run(d.hub.cancelAt("/repos/b/issues", 2))
	if err != nil || rep.State != "stopped" {
		t.Fatalf("%+v, %v", rep, err)
	}
	d.hub.before = nil
	d.write("list.txt", "c\n")
	d.hub.repos = []any{"a", "b"}
	if again := d.must(judge.Complete, "finished"); again.Run != rep.Run || again.Children.Total != 2 {
		t.Errorf("%+v", again.Children)
	}
	d.write("list.txt", "\n")
	var early *pull.NotStarted
	if _, err := d.run(context.Background()); !errors.As(err, &early) || !strings.Contains(err.Error(), "no line holds a value") {
		t.Errorf("an empty list: %v", err)
	}
}

func TestEachTargets(t *testing.T) {
	d := newDesk(t, abc(), overValues)
	var early *pull.NotStarted
	for _, target := range []string{"-", filepath.Join(d.dir, "all.jsonl"), filepath.Join(d.dir, "{repo}", "x.jsonl")} {
		d.opt.Target = target
		if _, err := d.run(context.Background()); !errors.As(err, &early) || !strings.Contains(err.Error(), "{repo}") {
			t.Errorf("--out %s: %v", target, err)
		}
	}
	d.opt.Target = filepath.Join(d.dir, "other-{repo}.jsonl.gz")
	if rep := func() reconcile.Report { r, _ := d.run(context.Background()); return r }(); rep.Verdict != judge.Complete || !strings.HasSuffix(rep.Output[1].Path, "other-b.jsonl.gz") {
		t.Errorf("%s %v", rep.Verdict, rep.Output)
	}
	d.opt.Target = ""
	d.hub.repos = []any{"repos"}
	d.hub.issues["repos"] = 1
	d.write("issues.yaml", strings.Replace(read(t, filepath.Join(d.dir, "issues.yaml")), "issues-{repo}", "{repo}", 1))
	d.write("issues.yaml", strings.Replace(read(t, filepath.Join(d.dir, "issues.yaml")), overValues, overPull, 1))
	rep, err := d.run(context.Background())
	if err == nil || rep.State != "failed" || !strings.Contains(rep.Error, "the same file") {
		t.Errorf("a child over its parent's file: %+v, %v", rep, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEachLaw draws fan-outs that are stopped at random requests, with servers
// that fail, lie and are asked again, and holds every report against the truth.
func TestEachLaw(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 5))
			h := &hub{issues: map[string]int{}, total: map[string]any{}}
			for i := range 1 + r.IntN(7) {
				name := fmt.Sprint("r", i)
				h.repos, h.issues[name] = append(h.repos, name), r.IntN(14)
				switch r.IntN(12) {
				case 0:
					h.total["/repos/"+name+"/issues"] = nil
				case 1:
					h.total["/repos/"+name+"/issues"] = h.issues[name] + 3
				}
			}
			d := newDesk(t, h, overPull+"limits: {retries: 0}\n")
			for range 30 {
				ctx, cancel := context.WithCancel(context.Background())
				left := 1 + r.IntN(8)
				h.before = func(*http.Request) int {
					if left--; left == 0 {
						cancel()
					}
					if r.IntN(25) == 0 {
						return 503
					}
					return 0
				}
				rep, err := d.run(ctx)
				cancel()
				if err != nil {
					t.Fatal(err)
				}
				d.law(rep)
				if len(h.total) > 0 && rep.Verdict == judge.Complete {
					t.Fatalf("COMPLETE, and %v tell no whole truth", slices.Collect(maps.Keys(h.total)))
				}
				if rep.State == "finished" {
					return
				}
			}
		})
	}
}
