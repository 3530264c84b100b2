package api

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"lastdrop/internal/daemon"
	"lastdrop/internal/daemon/api/problem"
	"lastdrop/internal/rows"
	"lastdrop/judge"
)

func textLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// Every list, in parts of any length, gives each item once in its order, with the total
// of the moment when the walk began, though more is added after each part.
func TestLists(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"a", "b", "a", "b", "a"} {
		b.addRun(name, 7)
	}
	run := b.addRun("long", 7)
	for range 5 {
		if _, err := b.RunNow(t.Context(), "a", daemon.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	add := func() {
		b.addRun("a", 1)
		_, _ = b.RunNow(t.Context(), "a", daemon.Request{})
	}
	for _, c := range []struct {
		path, key string
		total     int
		grow      bool
	}{
		{"/runs", "run", 6, true}, {"/runs?name=a", "run", 0, true}, {"/pulls/a/runs", "run", 0, true}, {"/runs?name=none", "run", 0, false},
		{"/pulls", "name", 2, false}, {"/broken", "file", 1, false}, {"/jobs", "id", 0, true}, {"/jobs?pull=a&state=waiting", "id", 0, true},
		{"/jobs?pull=none", "id", 0, false},
		{"/runs/" + run + "/pages", "seq", 7, false}, {"/runs/long/pages?outcome=held", "seq", 5, false}, {"/runs/" + run + "/pages?outcome=half", "seq", 2, false},
		{"/runs/" + run + "/pages?outcome=limited", "seq", 0, false},
		{"/runs/" + run + "/totals", "n", 2, false}, {"/runs/" + run + "/events", "n", 2, false}, {"/runs/" + run + "/slices", "slice", 2, false},
		{"/runs/" + run + "/sizes", "seq", 7, false}, {"/runs/" + run + "/children", "n", 2, false}, {"/runs/" + run + "/outputs", "path", 3, false},
	} {
		for _, limit := range []int{1, 2, 1000} {
			sep := "?"
			if strings.Contains(c.path, "?") {
				sep = "&"
			}
			between := func() {}
			if c.grow {
				left := 2
				between = func() {
					if left--; left >= 0 {
						add()
					}
				}
			}
			parts := b.list(fmt.Sprintf("%s%s%slimit=%d", Prefix, c.path, sep, limit), between)
			seen := map[any]bool{}
			var n int
			for _, p := range parts {
				if p.Total != parts[0].Total {
					t.Errorf("%s: total went from %d to %d", c.path, parts[0].Total, p.Total)
				}
				for _, i := range p.Items {
					if k := i[c.key]; k == nil || seen[k] {
						t.Errorf("%s: %v came twice or is none", c.path, k)
					}
					seen[i[c.key]] = true
					n++
				}
			}
			if int64(n) != parts[0].Total {
				t.Errorf("%s by %d: %d items, total %d", c.path, limit, n, parts[0].Total)
			}
			if c.total > 0 && limit == 1 && n != c.total {
				t.Errorf("%s: %d items, want %d", c.path, n, c.total)
			}
		}
	}
	first := b.list(Prefix+"/runs?limit=1", nil)[0]
	a := b.ask("GET", Prefix+"/runs/last/pages?limit=1", "")
	if first.Total < 6 || a.status != 200 || strings.Contains(a.body, "/last/") {
		t.Errorf("%s", a.body)
	}
	long := b.ask("GET", Prefix+"/runs/long/pages?limit=1", "")
	if !strings.Contains(long.body, `"next":"/api/v1/runs/`+run+`/pages?after=1&as_of=7&limit=1"`) {
		t.Errorf("a walk leaves its run: %s", long.body)
	}
}

// Errors are problems that name what is wrong and what to do, and their status.
func TestProblems(t *testing.T) {
	b := newBench(t)
	b.addRun("a", 3)
	b.addRun("b", 3)
	unfinished, err := b.store.Begin(t.Context(), beginOptions("open"))
	if err != nil {
		t.Fatal(err)
	}
	defer unfinished.Close()
	for _, c := range []struct {
		method, path, body string
		kind               problem.Kind
		says               string
	}{
		{"GET", "/nothing", "", problem.NotFound, "openapi.json"},
		{"GET", "/../../x", "", problem.NotFound, ""},
		{"DELETE", "/runs", "", problem.BadMethod, "GET"},
		{"PUT", "/pulls/a/run", "{}", problem.BadMethod, "POST"},
		{"POST", "/configs", "{}", problem.NotFound, ""},
		{"POST", "/pulls", `{"config":"x"}`, problem.BadMethod, ""},
		{"GET", "/runs?limit=0", "", problem.BadParameter, "limit: must be a whole number from 1 to 1000"},
		{"GET", "/runs?limit=1001", "", problem.BadParameter, "limit"},
		{"GET", "/runs?limit=ten", "", problem.BadParameter, "limit"},
		{"GET", "/runs?limit=", "", problem.BadParameter, "limit"},
		{"GET", "/runs?limit=1&limit=2", "", problem.BadParameter, "limit: stands more than once"},
		{"GET", "/runs?nmae=a", "", problem.BadParameter, `nmae: unknown parameter; this path takes limit, after, as_of, name`},
		{"GET", "/runs/a?x=1", "", problem.BadParameter, "takes none"},
		{"GET", "/runs?name=%zz", "", problem.BadParameter, "escape"},
		{"GET", "/runs?after=", "", problem.BadParameter, "after: must be the whole id"}, {"GET", "/runs?as_of=last", "", problem.BadParameter, "as_of: must be the whole id"}, {"GET", "/pulls?after=", "", problem.BadParameter, "after: is empty"},
		{"GET", "/runs/a/pages?outcome=fine", "", problem.BadParameter, "outcome: must be one of failed, held"},
		{"GET", "/runs/a/pages?after=-1", "", problem.BadParameter, "after: must be a whole number of 0 or more"},
		{"GET", "/jobs?state=lost", "", problem.BadParameter, "waiting"},
		{"GET", "/jobs/x", "", problem.BadParameter, "id"},
		{"GET", "/jobs/99", "", problem.NoJob, ""},
		{"POST", "/jobs/99/cancel", "", problem.NoJob, ""},
		{"GET", "/runs/none", "", problem.NoRun, ""},
		{"GET", "/runs/none/pages", "", problem.NoRun, ""},
		{"GET", "/runs/0/pages", "", problem.BadRun, "write more"},
		{"GET", "/runs/open/report", "", problem.NoReport, ""},
		{"GET", "/runs/open/outputs", "", problem.NoReport, ""},
		{"GET", "/pulls/none", "", problem.NoPull, "broken"},
		{"POST", "/pulls/none/pause", "", problem.NoPull, ""},
		{"POST", "/pulls/none/run", "", problem.NoPull, ""},
		{"POST", "/pulls/a/run", `{"fresh":1}`, problem.BadBody, "fresh: must be bool, not number"},
		{"POST", "/pulls/a/run", `{"force":true}`, problem.BadBody, `force: unknown field`},
		{"POST", "/pulls/a/run", `{} {}`, problem.BadBody, "behind it"},
		{"POST", "/pulls/a/run", `{`, problem.BadBody, "not JSON"},
		{"POST", "/pulls/a/run", `{"from":"` + strings.Repeat("x", maxBody) + `"}`, problem.TooLong, "1 MiB"},
		{"POST", "/pulls/a/pause", `{}`, problem.BadBody, "takes no body"},
		{"POST", "/judge", ``, problem.BadType, ""},
		{"POST", "/judge", `[]`, problem.BadBody, "one snapshot"},
		{"POST", "/judge", `{"kind":"list","response":{"totl":1}}`, problem.BadBody, "response.totl"},
		{"POST", "/judge", `{"kind"`, problem.BadBody, "not JSON"},
	} {
		a := b.ask(c.method, Prefix+c.path, c.body)
		var p problem.Problem
		if err := json.Unmarshal([]byte(a.body), &p); err != nil {
			t.Errorf("%s %s: %v: %s", c.method, c.path, err, a.body)
			continue
		}
		if a.status != c.kind.Status || p.Status != a.status || p.Type != problem.Space+c.kind.Word || p.Title == "" || p.Instance == "" || !strings.Contains(p.Detail, c.says) ||
			a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d %s, want %v that says %q", c.method, c.path, a.status, a.body, c.kind, c.says)
		}
		if a.status == http.StatusMethodNotAllowed && a.header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.path)
		}
	}
	if a := b.ask("POST", Prefix+"/judge", `{"kind":"list"}`, "Content-Type", "text/plain"); a.status != http.StatusUnsupportedMediaType {
		t.Errorf("text as a snapshot: %d", a.status)
	}
	b.mu.Lock()
	b.fault = errors.New("secret-inside /var/lib/x")
	b.mu.Unlock()
	a := b.ask("GET", Prefix+"/pulls", "")
	if a.status != 500 || strings.Contains(a.body, "secret-inside") || !strings.Contains(b.log.String(), "secret-inside") {
		t.Errorf("an inner fault: %d %s, log %s", a.status, a.body, b.log)
	}
}

func TestActions(t *testing.T) {
	b := newBench(t)
	job := b.ask("POST", Prefix+"/pulls/a/run", `{"fresh":true,"from":"1","to":"9"}`)
	want := `"pull":"a","why":"backfill","fire":null,"fresh":true,"from":"1","to":"9","state":"waiting"`
	if job.status != http.StatusAccepted || !strings.Contains(job.body, want) {
		t.Errorf("%d %s", job.status, job.body)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/pulls/a/run", "", 409, "overlap"},
		{"POST", "/pulls/b/run", "", 202, `"why":"hand"`},
		{"POST", "/pulls/a/pause", "", 200, `"paused":true`},
		{"GET", "/pulls/a", "", 200, `"paused":true`},
		{"POST", "/pulls/a/resume", "", 200, `"paused":false`},
		{"POST", "/jobs/1/cancel", "", 200, `"state":"cancelled"`},
		{"POST", "/jobs/1/cancel", "", 409, "over"},
		{"GET", "/jobs/1", "", 200, `"state":"cancelled"`},
		{"POST", "/reload", "", 200, `"x.yaml"`},
	} {
		if a := b.ask(c.method, Prefix+c.path, c.body); a.status != c.status || !strings.Contains(a.body, c.says) {
			t.Errorf("%s %s: %d %s, want %d with %s", c.method, c.path, a.status, a.body, c.status, c.says)
		}
	}
	snapshot := `{"kind":"list","response":{"items":10,"total":11,"next_url":"https://a.example/?a=1&b=2"}}`
	all, err := judge.Decode([]byte(snapshot))
	if err != nil {
		t.Fatal(err)
	}
	line, err := encode(judge.Line{Input: "-", Result: judge.Judge(all[0])})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(line), b.ask("POST", Prefix+"/judge", snapshot).body); diff != "" {
		t.Error(diff)
	}
}

// A stream says hello, tells what happens with ids that go up, lives on in silence, and
// ends with the server.
func TestEvents(t *testing.T) {
	old := beat
	beat = 20 * time.Millisecond
	defer func() { beat = old }()
	b := newBench(t)
	res, err := http.Get(b.url + Prefix + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if kind := res.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("Content-Type %s", kind)
	}
	lines := bufio.NewScanner(res.Body)
	next := func(prefix string) string {
		t.Helper()
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				return rest
			}
		}
		t.Fatalf("the stream ended before %q", prefix)
		return ""
	}
	hello := next("id: ")
	next("event: hello")
	next("data: ")
	next(": alive")
	if _, err := b.RunNow(t.Context(), "a", daemon.Request{}); err != nil {
		t.Fatal(err)
	}
	if id := next("id: "); id <= hello || len(id) != len(hello) {
		t.Errorf("id %s after %s", id, hello)
	}
	next("event: job")
	data := next("data: ")
	valid(t, reflect.TypeFor[event](), data)
	if !strings.Contains(data, `"progress":{`) || !strings.Contains(data, `"outcome":"held"`) {
		t.Errorf("%s", data)
	}
	close(b.closes)
	for lines.Scan() {
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the stream did not end: %v", err)
	}
}

// The document has every route, each answer of a server validates against its schema,
// and everything that it refers to is in it.
func TestDocument(t *testing.T) {
	b := newBench(t)
	b.addRun("a", 3)
	text := b.ask("GET", Prefix+"/openapi.json", "").body
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("openapi %q", doc.OpenAPI)
	}
	for _, part := range strings.Split(text, `"$ref":"#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		if doc.Components.Schemas[name] == nil {
			t.Errorf("schema %s is not there", name)
		}
	}
	a := &api{}
	ids := map[string]bool{}
	types := map[string]reflect.Type{}
	bodies := map[string]string{"/judge": `{"kind":"list"}`}
	// What a name means by now: the job of the run before, and so on.
	fill := strings.NewReplacer("{name}", "a", "{run}", "last", "{id}", "1")
	for _, r := range a.withStore(b).table() {
		ops := doc.Paths[Prefix+r.path]
		if ops[strings.ToLower(r.method)] == nil {
			t.Errorf("%s %s is not in the document", r.method, r.path)
		}
		if ids[r.id()] {
			t.Errorf("%s twice", r.id())
		}
		ids[r.id()] = true
		for _, kind := range []reflect.Type{r.answer, r.body} {
			if kind == nil {
				continue
			}
			name := nameOf(kind)
			if known := types[name]; known != nil && known != kind {
				t.Errorf("%s and %s are both called %s", known, kind, name)
			}
			types[name] = kind
		}
		delete(ops, strings.ToLower(r.method))
		if r.stream != nil {
			continue // TestEvents
		}
		said := b.ask(r.method, Prefix+fill.Replace(r.path), bodies[r.path])
		if said.status != r.status {
			t.Errorf("%s %s: %d %s", r.method, r.path, said.status, said.body)
			continue
		}
		valid(t, r.answer, said.body)
	}
	for path, ops := range doc.Paths {
		for method := range maps.Keys(ops) {
			t.Errorf("%s %s is documented, and there is no such route", method, path)
		}
	}
	for _, path := range []string{"/runs/none", "/runs?limit=x"} {
		valid(t, reflect.TypeFor[problem.Problem](), b.ask("GET", Prefix+path, "").body)
	}
}

func (a *api) withStore(b *bench) *api {
	a.Options = Options{Engine: b.engine, Store: b.store.Reader}
	return a
}

// valid holds a JSON text against the schema of its type, the one in the document.
func valid(t *testing.T, kind reflect.Type, text string) {
	t.Helper()
	s, err := schemaOf(kind)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(&jsonschema.ResolveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if err := resolved.Validate(v); err != nil {
		t.Errorf("%s: %v\n%s", kind, err, text)
	}
}

// The document's schemas must not be looser than what is sent: a key that is not in
// them is refused.
func TestSchemasAreStrict(t *testing.T) {
	s, err := schemaOf(reflect.TypeFor[List[rows.Page]]())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"items", "total", "returned", "has_more", "next"} {
		if !slices.Contains(s.Required, name) {
			t.Errorf("%s is not required", name)
		}
	}
	if s.AdditionalProperties == nil {
		t.Error("further keys are let through")
	}
}
