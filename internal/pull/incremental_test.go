package pull_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lastdrop/configs"
	"lastdrop/internal/pull"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A feed serves items by page with a has-more flag, and filters by the time in
// "since" where it has one.
type feed struct {
	changed []time.Time // of the items 1, 2, 3…
	asked   []string    // what "since" said, request by request; "-": nothing
	deaf    bool        // the parameter is ignored
	broken  bool        // it says that there is more, and there is not
	bodies  []string
	stop    func() // called at the second page
}

func (f *feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	page, _ := strconv.Atoi(q.Get("page"))
	body, _ := io.ReadAll(r.Body)
	f.bodies = append(f.bodies, string(body))
	said := "-"
	if q.Has("since") {
		said = q.Get("since")
	}
	f.asked = append(f.asked, said)
	if page == 2 && f.stop != nil {
		f.stop()
		w.WriteHeader(503)
		return
	}
	var items []any
	for i, at := range f.changed {
		if since, err := time.Parse(time.RFC3339, said); err == nil && at.Before(since) && !f.deaf {
			continue
		}
		items = append(items, map[string]any{"id": i + 1, "at": at.Format(time.RFC3339)})
	}
	from, to := min(len(items), 2*(page-1)), min(len(items), 2*page)
	_ = json.NewEncoder(w).Encode(map[string]any{"items": append([]any{}, items[from:to]...), "has_more": to < len(items) || f.broken})
}

// A watch runs an incremental pull over a feed, again and again.
type watch struct {
	t      *testing.T
	feed   *feed
	store  *store.Store
	dir    string
	config string
	opt    pull.Options
}

const byFeed = `version: 1
name: feed
source: {url: "${BASE}/items"}
pages: {style: page, size: {param: size, start: 2}, number: {param: page}, more: {path: has_more}}
items: {path: items, id: id}
incremental: {key: at, param: since, format: rfc3339, look_back: 1h}
limits: {retries: 1, max_requests: 20}
output: {to: "${DIR}/feed-{start}.jsonl"}
`

func newWatch(t *testing.T, f *feed, config string) *watch {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	w := &watch{t: t, feed: f, dir: t.TempDir()}
	w.config = strings.NewReplacer("${BASE}", server.URL, "${DIR}", w.dir).Replace(config)
	var err error
	if w.store, err = store.Open(context.Background(), filepath.Join(w.dir, "runs.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.store.Close() })
	return w
}

// run runs it once; what was asked before is forgotten.
func (w *watch) run(ctx context.Context) reconcile.Report {
	w.t.Helper()
	c, err := configs.Parse("feed.yaml", []byte(w.config), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.feed.asked, w.feed.bodies = nil, nil
	o := w.opt
	o.Config, o.Store, o.Version, o.BackoffMin, o.BackoffMax = c, w.store, "test", time.Millisecond, 2*time.Millisecond
	rep, err := pull.Run(ctx, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return rep
}

func (w *watch) must(verdict judge.Verdict, items int64, since string) reconcile.Report {
	w.t.Helper()
	rep := w.run(context.Background())
	if rep.Verdict != verdict || rep.Items.Distinct != items {
		w.t.Errorf("%s with %d items, want %s with %d: %v", rep.Verdict, rep.Items.Distinct, verdict, items, rep.Evidence)
	}
	if slices.ContainsFunc(w.feed.asked, func(s string) bool { return s != since }) {
		w.t.Errorf("asked since %v, want %s", w.feed.asked, since)
	}
	return rep
}

// asksSince is what a run says that asks from an earlier one's start on.
func asksSince(rep reconcile.Report) string {
	return rep.Started.Add(-time.Hour).UTC().Format(time.RFC3339)
}

var longAgo = time.Now().Add(-1000 * time.Hour)

func TestIncremental(t *testing.T) {
	f := &feed{changed: []time.Time{longAgo, longAgo, longAgo, longAgo, longAgo}}
	w := newWatch(t, f, byFeed)
	first := w.must(judge.Complete, 5, "-")
	if !toldBy(first, "RC069", "there was no mark") {
		t.Errorf("evidence %v", first.Evidence)
	}
	// The fall from 5 items to none is no fall: another span.
	second := w.must(judge.Complete, 0, asksSince(first))
	if !toldBy(second, "RC069", "since "+asksSince(first)+" (since), the mark "+first.Started.Format(time.RFC3339)+" less 1h0m0s") {
		t.Errorf("evidence %v", second.Evidence)
	}
	f.changed = append(f.changed, time.Now(), time.Now(), time.Now())
	third := w.must(judge.Complete, 3, asksSince(second))
	if toldBy(third, "RC069", "older") {
		t.Errorf("evidence %v", third.Evidence)
	}
	// Each run has a file of its own, named by its start.
	for rep, lines := range map[*reconcile.Report]int{&first: 5, &second: 0, &third: 3} {
		want := filepath.Join(w.dir, "feed-"+rep.Started.Format("20060102T150405.000Z")+".jsonl")
		if got := rep.Output[0]; got.Path != want || !got.Committed || strings.Count(read(t, want), "\n") != lines {
			t.Errorf("%+v, want %s with %d lines", got, want, lines)
		}
	}
}

// Nothing but COMPLETE moves the mark.
func TestMarkMovesOnCompleteOnly(t *testing.T) {
	f := &feed{changed: []time.Time{longAgo, longAgo, longAgo}}
	w := newWatch(t, f, byFeed)
	f.broken = true
	if rep := w.run(context.Background()); rep.Verdict == judge.Complete {
		t.Fatal(rep.Verdict)
	}
	f.broken = false
	w.opt.Fresh = true // it was stopped by its budget
	first := w.must(judge.Complete, 3, "-")
	w.opt.Fresh = false
	f.broken, f.changed = true, append(f.changed, time.Now())
	if rep := w.run(context.Background()); rep.Verdict == judge.Complete {
		t.Fatal(rep.Verdict)
	}
	w.opt = pull.Options{MaxItems: 1, Fresh: true}
	f.broken, f.changed = false, append(f.changed, time.Now())
	if rep := w.must(judge.Truncated, 1, asksSince(first)); rep.State != "stopped" {
		t.Errorf("%s", rep.State)
	}
	w.opt = pull.Options{}
	w.must(judge.Complete, 2, asksSince(first))
}

// A run that was stopped keeps its mark and its file, and its own start is the
// next mark, not the time when it went on.
func TestIncrementalResumed(t *testing.T) {
	f := &feed{changed: []time.Time{longAgo, longAgo, longAgo}}
	w := newWatch(t, f, byFeed)
	first := w.must(judge.Complete, 3, "-")
	f.changed = append(f.changed, time.Now(), time.Now(), time.Now())
	ctx, cancel := context.WithCancel(context.Background())
	f.stop = cancel
	stopped := w.run(ctx)
	if stopped.State != "stopped" || stopped.Items.Distinct != 2 {
		t.Fatalf("%+v", stopped)
	}
	f.stop = nil
	later := time.Now()
	if err := w.store.SetMark(context.Background(), "another", &later); err != nil {
		t.Fatal(err)
	}
	rep := w.must(judge.Complete, 3, asksSince(first))
	if rep.Run != stopped.Run || rep.Output[0].Path+".partial" != stopped.Output[0].Path || strings.Count(read(t, rep.Output[0].Path), "\n") != 3 {
		t.Errorf("run %s into %v, after %s into %v", rep.Run, rep.Output, stopped.Run, stopped.Output)
	}
	w.must(judge.Complete, 3, asksSince(rep))
}

// A parameter that the source ignores is noticed by the key, and decides nothing.
func TestIgnoredParameter(t *testing.T) {
	f := &feed{changed: []time.Time{longAgo, longAgo.Add(time.Hour), time.Now()}, deaf: true}
	w := newWatch(t, f, byFeed)
	first := w.must(judge.Complete, 3, "-")
	rep := w.must(judge.Complete, 3, asksSince(first))
	if !toldBy(rep, "RC069", "at least 2 items are older than that by at, the oldest of "+longAgo.UTC().Format(time.RFC3339)) {
		t.Errorf("evidence %v", rep.Evidence)
	}
	w = newWatch(t, f, strings.Replace(byFeed, "key: at", "key: none", 1))
	w.run(context.Background())
	if rep := w.run(context.Background()); !toldBy(rep, "RC069", "at least 3 items have no time at none") || rep.Verdict != judge.Complete {
		t.Errorf("evidence %v", rep.Evidence)
	}
}

func TestMarkByHandAndOtherConfigs(t *testing.T) {
	f := &feed{changed: []time.Time{longAgo, longAgo, longAgo}}
	w := newWatch(t, f, byFeed)
	first := w.must(judge.Complete, 3, "-")
	base := w.config
	w.config = strings.Replace(base, "items: {path", "errors: [problem]\nitems: {path", 1)
	w.must(judge.Complete, 3, "-") // another config has no mark
	w.config = base
	w.must(judge.Complete, 0, asksSince(first))
	hand := longAgo.Add(-time.Hour).Truncate(time.Second)
	if err := w.store.SetMark(context.Background(), "feed", &hand); err != nil {
		t.Fatal(err)
	}
	w.must(judge.Complete, 3, hand.Add(-time.Hour).UTC().Format(time.RFC3339))
	if err := w.store.SetMark(context.Background(), "feed", nil); err != nil {
		t.Fatal(err)
	}
	w.must(judge.Complete, 3, "-")
	// Another target is another place to have everything in.
	w.opt.Target = filepath.Join(w.dir, "elsewhere.jsonl")
	if rep := w.must(judge.Complete, 3, "-"); rep.Output[0].Path != w.opt.Target {
		t.Errorf("output %v", rep.Output)
	}
}

// In a POST with a body the parameter is a path inside it, a number stays one.
func TestIncrementalBody(t *testing.T) {
	f := &feed{changed: []time.Time{longAgo}}
	w := newWatch(t, f, strings.NewReplacer(
		`source: {url: "${BASE}/items"}`, `source: {url: "${BASE}/items?page=1", method: POST, body: {filter: {kind: x}}}`,
		"style: page, size: {param: size, start: 2}, number: {param: page}, ", "style: single, ",
		"param: since, format: rfc3339", "param: filter.since, format: unix").Replace(byFeed))
	first := w.run(context.Background())
	if !slices.Equal(f.bodies[:1], []string{`{"filter":{"kind":"x"}}`}) {
		t.Errorf("bodies %v", f.bodies)
	}
	w.run(context.Background())
	if want := fmt.Sprintf(`{"filter":{"kind":"x","since":%d}}`, first.Started.Add(-time.Hour).Unix()); f.bodies[0] != want {
		t.Errorf("body %s, want %s", f.bodies[0], want)
	}
}

// The children of a fan-out have marks of their own.
func TestIncrementalChildren(t *testing.T) {
	f := &feed{changed: []time.Time{longAgo, longAgo, longAgo}}
	w := newWatch(t, f, strings.NewReplacer("${BASE}/items", "${BASE}/items/{repo}", "feed-{start}", "feed-{repo}-{start}").Replace(byFeed)+
		"for_each: {as: repo, values: [a, b]}\n")
	if rep := w.must(judge.Complete, 6, "-"); len(rep.Output) != 2 {
		t.Errorf("%v", rep.Output)
	}
	rep := w.run(context.Background())
	if rep.Verdict != judge.Complete || rep.Items.Distinct != 0 || slices.Contains(f.asked, "-") {
		t.Errorf("%s with %d items, asked %v", rep.Verdict, rep.Items.Distinct, f.asked)
	}
	marks, err := w.store.Marks(context.Background(), "feed")
	if err != nil || len(marks) != 2 || marks[0].Name != "feed/a" || marks[1].Name != "feed/b" {
		t.Errorf("marks %+v, %v", marks, err)
	}
	files, err := os.ReadDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if strings.HasSuffix(file.Name(), ".jsonl") {
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d files, want one a child and run: %v", n, files)
	}
}
