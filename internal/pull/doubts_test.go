package pull_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lastdrop/configs"
	"lastdrop/internal/pull"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// beside serves pages under /items, and what is asked beside them under /aside,
// where a function gets the how-manieth request there it is.
func beside(pages func() http.Handler, aside func(n int, w http.ResponseWriter, r *http.Request)) func() http.Handler {
	return func() http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/items", pages())
		n := 0
		mux.HandleFunc("/aside", func(w http.ResponseWriter, r *http.Request) {
			n++
			aside(n, w, r)
		})
		return mux
	}
}

// says answers with the texts in their order, and with the last one from then on.
func says(bodies ...string) func(int, http.ResponseWriter, *http.Request) {
	return func(n int, w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, bodies[min(n, len(bodies))-1])
	}
}

// The pages of 60 items, each with its time, in three ways: by page number, by
// offset, by a cursor that is no number.
var (
	byPage = handle(func(_ http.Header, r *http.Request) string {
		size := max(1, number(r, "size"))
		from := (max(1, number(r, "page")) - 1) * size
		return fmt.Sprintf(`{"items":%s,"pages":%d,"has_more":%v}`, dated(from, size), (60+size-1)/size, from+size < 60)
	})
	byRow = handle(func(_ http.Header, r *http.Request) string {
		from, size := number(r, "offset"), number(r, "limit")
		return fmt.Sprintf(`{"items":%s,"has_more":%v}`, dated(from, size), from+size < 60)
	})
	tokens = handle(func(_ http.Header, r *http.Request) string {
		from := 0
		_, _ = fmt.Sscanf(r.URL.Query().Get("after"), "c%d", &from) // none is the start
		next := "null"
		if from+20 < 60 {
			next = fmt.Sprintf(`"c%d"`, from+20)
		}
		return fmt.Sprintf(`{"items":%s,"next":%s}`, dated(from, 20), next)
	})
)

// dated are up to n of the 60 items after the first ones. Item 60 is an hour
// old, and each before it a day older.
func dated(from, n int) string {
	var items []string
	for id := from + 1; id <= min(60, from+n); id++ {
		at := time.Now().Add(-time.Hour - time.Duration(60-id)*24*time.Hour)
		items = append(items, record(id, fmt.Sprintf(`,"at":%q,"unix":%d,"word":"soon"`, at.Format(time.RFC3339), at.UnixMilli())))
	}
	return list(items)
}

const (
	byNumbers = `
source: {url: "${BASE}/items"}
pages: {style: page, number: {param: page}, size: {param: size, start: 20}, last: {path: pages}}
items: {path: items, id: id}
limits: {retries: 2, max_requests: 100}
`
	byFixedNumbers = `
source: {url: "${BASE}/items?size=20"}
pages: {style: page, number: {param: page}, more: {path: has_more}}
items: {path: items, id: id}
limits: {retries: 2, max_requests: 100}
`
	byOffsets = `
source: {url: "${BASE}/items"}
pages: {style: offset, offset: {param: offset}, size: {param: limit, start: 20}, more: {path: has_more}}
items: {path: items, id: id}
limits: {retries: 2, max_requests: 100}
`
	byCursors = `
source: {url: "${BASE}/items"}
pages: {style: cursor, cursor: {param: after, path: next}}
items: {path: items, id: id}
limits: {retries: 2, max_requests: 100}
`
	sentinelOf = `complete: {sentinel: {url: "${BASE}/aside", path: found, min: 3}}`
	stillOf    = `complete: {still: {url: "${BASE}/aside", path: seq}}`
)

// doubtRows are runs that are COMPLETE but for what they are asked to doubt.
func doubtRows() []scenario {
	failing := func(n int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	once := func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			failing(n, w, r)
			return
		}
		says(`{"found":3}`)(n, w, r)
	}
	limited := func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		says(`{"found":3}`)(n, w, r)
	}
	half := func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "40")
		fmt.Fprint(w, `{"found":[1,2,3`)
	}
	sentinel := func(id string, aside func(int, http.ResponseWriter, *http.Request), v judge.Verdict, requests int64, detect ...string) scenario {
		return scenario{id: "sentinel", variant: id, server: beside(tokens, aside), ids: 60, config: byCursors + sentinelOf,
			verdict: v, items: 60, requests: requests, detect: detect}
	}
	item := func(id, value string, v judge.Verdict, detect ...string) scenario {
		return scenario{id: "sentinel", variant: id, server: beside(tokens, failing), ids: 60,
			config: byCursors + "complete: {sentinel: {id: " + value + "}}", verdict: v, items: 60, requests: 3, detect: detect}
	}
	fresh := func(id, value string, v judge.Verdict, detect ...string) scenario {
		return scenario{id: "freshness", variant: id, server: tokens, ids: 60, config: byCursors + "complete: {freshness: " + value + "}",
			verdict: v, items: 60, requests: 3, detect: detect}
	}
	still := func(id string, pages func() http.Handler, config string, aside func(int, http.ResponseWriter, *http.Request), v judge.Verdict, requests int64, detect ...string) scenario {
		return scenario{id: "still", variant: id, server: beside(pages, aside), ids: 60, config: config + stillOf,
			verdict: v, items: 60, requests: requests, detect: detect}
	}
	moving := func(n int, w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"seq":%d}`, n) }
	return []scenario{
		sentinel("500", failing, judge.Unknown, 6, "sentinel_failed"),
		sentinel("500 once", once, judge.Complete, 5),
		sentinel("a wait too long", limited, judge.Unknown, 4, "sentinel_failed"),
		sentinel("404", func(_ int, w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }, judge.Unknown, 4, "sentinel_failed"),
		sentinel("half", half, judge.Unknown, 6, "sentinel_failed"),
		sentinel("HTML", says("<html>log in</html>"), judge.Unknown, 6, "sentinel_failed"),
		sentinel("an error with 200", says(`{"error":"no such index","found":3}`), judge.Unknown, 4, "sentinel_failed"),
		sentinel("a passing error with 200", says(`{"error":"timed out"}`, `{"found":3}`), judge.Complete, 5),
		sentinel("a key twice", says(`{"found":3,"found":0}`), judge.Unknown, 4, "sentinel_failed"),
		sentinel("a text", says(`{"found":"many"}`), judge.Unknown, 4, "sentinel_failed"),
		sentinel("nothing there", says(`{"found":null}`), judge.Unknown, 4, "sentinel_failed"),
		sentinel("enough", says(`{"found":3}`), judge.Complete, 4),
		sentinel("too few", says(`{"found":2}`), judge.Unknown, 4, "sentinel_failed"),
		sentinel("a list long enough", says(`{"found":[1,2,3]}`), judge.Complete, 4),
		sentinel("a list with a null", says(`{"found":[1,2,null]}`), judge.Unknown, 4, "sentinel_failed"),
		{
			id: "sentinel", variant: "no budget left", server: beside(tokens, says(`{"found":3}`)), ids: 60,
			config: strings.Replace(byCursors, "max_requests: 100", "max_requests: 3", 1) + sentinelOf, verdict: judge.Unknown, items: 60, requests: 3, detect: []string{"sentinel_failed"},
		},
		{
			id: "sentinel", variant: "stopped on the way", server: beside(tokens, says(`{"found":3}`)), ids: 60,
			config: strings.Replace(byCursors, "max_requests: 100", "max_requests: 2", 1) + sentinelOf, verdict: judge.Truncated, items: 40, requests: 2, never: []string{"sentinel_failed"},
		},
		item("an item", "17", judge.Complete),
		item("an item, written otherwise", "1.7e1", judge.Complete),
		{
			id: "sentinel", variant: "an item with an id of two parts", server: beside(tokens, failing), ids: 60,
			config:  strings.Replace(byCursors, "id: id", "id: [id, name]", 1) + `complete: {sentinel: {id: [17, "thing 17"]}}`,
			verdict: judge.Complete, items: 60, requests: 3,
		},
		item("an item of another type", `"17"`, judge.Unknown, "sentinel_failed"),
		item("an item that is not there", "61", judge.Unknown, "sentinel_failed"),

		fresh("fresh", "{path: at, max_age: 2h}", judge.Complete),
		fresh("fresh in milliseconds", "{path: unix, max_age: 2h}", judge.Complete),
		fresh("old", "{path: at, max_age: 30m}", judge.Unknown, "freshness_exceeded"),
		fresh("no time", "{path: word, max_age: 3d}", judge.Unknown, "freshness_exceeded"),
		fresh("nothing there", "{path: none, max_age: 3d}", judge.Unknown, "freshness_exceeded"),

		still("stands", byPage, byNumbers, says(`{"seq":7}`), judge.Complete, 6, "stood_still"),
		still("stands, written otherwise", byPage, byNumbers, says(`{"seq":70}`, `{"seq":7e1}`), judge.Complete, 6, "stood_still"),
		still("stands under page numbers of one size", byPage, byFixedNumbers, says(`{"seq":7}`), judge.Complete, 6, "stood_still"),
		still("moves once under page numbers of one size", byPage, byFixedNumbers, says(`{"seq":7}`, `{"seq":8}`), judge.Complete, 10, "stood_still", "seen_through"),
		still("moves once under page numbers", byPage, byNumbers, says(`{"seq":7}`, `{"seq":8}`), judge.Complete, 20, "stood_still", "seen_through"),
		still("moves all the time under page numbers that overlap", byPage, byNumbers, moving, judge.Complete, 20, "moved_by_mark", "seen_through"),
		still("moves all the time under page numbers of one size", byPage, byFixedNumbers, moving, judge.Unknown, 20, "moved_by_mark_doubt"),
		still("moves all the time under offsets", byRow, byOffsets, moving, judge.Complete, 8, "moved_by_mark"),
		still("moves under a cursor", tokens, byCursors, moving, judge.Complete, 5, "moved_by_mark"),
		still("is no mark", tokens, byCursors, says(`{"seq":{"at":7}}`), judge.Complete, 5, "moved_by_mark"),
		still("fails under page numbers", byPage, byFixedNumbers, failing, judge.Unknown, 40, "moved_by_mark_doubt"),
		still("is a text that becomes a number", byPage, byFixedNumbers, says(`{"seq":"7"}`, `{"seq":7}`, `{"seq":"7"}`, `{"seq":7}`), judge.Unknown, 20, "moved_by_mark_doubt"),
	}
}

func TestDoubts(t *testing.T) { runAll(t, doubtRows()) }

// drainInto runs a config against a server with a store and an output in dir.
func drainInto(t *testing.T, dir, base, config string, maxPages int64) reconcile.Report {
	t.Helper()
	env := map[string]string{"BASE": base, "TOKEN": token}
	text := "version: 1\nname: doubts\n" + config + "\noutput: {to: " + filepath.Join(dir, "items.jsonl") + "}\n"
	cfg, err := configs.Parse("doubts.yaml", []byte(text), func(k string) (string, bool) { v, ok := env[k]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(context.Background(), filepath.Join(dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	rep, err := pull.Run(context.Background(), pull.Options{Config: cfg, Store: st, MaxPages: maxPages, Version: "test",
		BackoffMin: time.Millisecond, BackoffMax: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// finding gives the text of a rule in a report, "" where it does not speak.
func finding(rep reconcile.Report, id string) string {
	for _, e := range rep.Evidence {
		if e.ID == id {
			return e.Text
		}
	}
	return ""
}

// The newest item is on the first page, and the run is taken up after it: what
// was seen before the resume still counts.
func TestFreshnessSurvivesAResume(t *testing.T) {
	server := httptest.NewServer(handle(func(_ http.Header, r *http.Request) string {
		from := 0
		_, _ = fmt.Sscanf(r.URL.Query().Get("after"), "c%d", &from)
		age, next := time.Hour, "null"
		if from > 0 {
			age = 100 * 24 * time.Hour
		}
		if from < 40 {
			next = fmt.Sprintf(`"c%d"`, from+20)
		}
		var items []string
		for id := from + 1; id <= from+20; id++ {
			items = append(items, record(id, fmt.Sprintf(`,"at":%q`, time.Now().Add(-age).Format(time.RFC3339))))
		}
		return fmt.Sprintf(`{"items":%s,"next":%s}`, list(items), next)
	})())
	defer server.Close()
	for _, c := range []struct {
		maxAge string
		want   judge.Verdict
	}{{"2h", judge.Complete}, {"30m", judge.Unknown}} {
		dir := t.TempDir()
		config := byCursors + "complete: {freshness: {path: at, max_age: " + c.maxAge + "}}"
		if rep := drainInto(t, dir, server.URL, config, 1); rep.Items.Distinct != 20 || finding(rep, "RC042") != "" {
			t.Fatalf("the first part: %+v", rep)
		}
		rep := drainInto(t, dir, server.URL, config, 0)
		if rep.Verdict != c.want || rep.Items.Distinct != 60 || (finding(rep, "RC042") != "") != (c.want == judge.Unknown) {
			t.Errorf("at most %s: %s, want %s: %v", c.maxAge, rep.Verdict, c.want, rep.Evidence)
		}
	}
}

// The mark of change that was read before the first page is held against the
// one after the last, whatever lies between.
func TestMarkSurvivesAResume(t *testing.T) {
	for name, c := range map[string]struct {
		marks []string
		want  judge.Verdict
	}{
		"stands": {[]string{`{"seq":7}`}, judge.Complete},
		"moves":  {[]string{`{"seq":7}`, `{"seq":8}`}, judge.Unknown},
	} {
		server := httptest.NewServer(beside(byPage, says(c.marks...))())
		dir := t.TempDir()
		config := byFixedNumbers + strings.Replace(stillOf, "{still", "{passes: 1, still", 1)
		drainInto(t, dir, server.URL, config, 1)
		rep := drainInto(t, dir, server.URL, config, 0)
		if rep.Verdict != c.want || rep.Items.Distinct != 60 || (finding(rep, "RC043") != "") != (c.want == judge.Unknown) {
			t.Errorf("%s: %s, want %s: %v", name, rep.Verdict, c.want, rep.Evidence)
		}
		server.Close()
	}
}

// What is asked beside the pages carries the credentials to the source's own
// origin, and neither them nor the configured headers to any other.
func TestAsideAndCredentials(t *testing.T) {
	type seen struct{ auth, tenant string }
	listen := func(into *[]seen, next http.Handler) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/aside" {
				*into = append(*into, seen{r.Header.Get("Authorization"), r.Header.Get("X-Tenant")})
				fmt.Fprint(w, `{"found":60,"seq":1}`)
				return
			}
			next.ServeHTTP(w, r)
		}))
	}
	var home, away []seen
	source, other := listen(&home, tokens()), listen(&away, http.NotFoundHandler())
	defer source.Close()
	defer other.Close()
	config := func(at string) string {
		return strings.Replace(byCursors, `/items"}`, `/items", headers: {X-Tenant: acme}, auth: {bearer: "${TOKEN}"}}`, 1) + fmt.Sprintf(`
total: {url: "%s/aside", path: found}
complete: {sentinel: {url: "%[1]s/aside", path: found}, still: {url: "%[1]s/aside", path: seq}}`, at)
	}
	for _, c := range []struct {
		at   string
		seen *[]seen
		want seen
	}{{source.URL, &home, seen{"Bearer " + token, "acme"}}, {other.URL, &away, seen{}}} {
		dir := t.TempDir()
		rep := drainInto(t, dir, source.URL, config(c.at), 0)
		if rep.Verdict != judge.Complete || finding(rep, "RC061") == "" {
			t.Errorf("%s: %v", rep.Verdict, rep.Evidence)
		}
		if want := slices.Repeat([]seen{c.want}, 5); !slices.Equal(*c.seen, want) { // mark and count before and after, and the sentinel
			t.Errorf("seen %q, want %q", *c.seen, want)
		}
		seek(t, dir, fmt.Append(nil, rep))
	}
}

// A sentinel's own secret, and one that its answer repeats, are hidden as all
// others are.
func TestAsideKeepsSecrets(t *testing.T) {
	server := httptest.NewServer(beside(tokens, func(_ int, w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "not for %s", r.URL.RawQuery)
	})())
	defer server.Close()
	for _, config := range []string{
		`complete: {sentinel: {url: "${BASE}/aside?token=${TOKEN}", path: found}}`,
		`complete: {still: {url: "${BASE}/aside?token=${TOKEN}", path: found}}`,
	} {
		dir := t.TempDir()
		rep := drainInto(t, dir, server.URL, byCursors+config, 0)
		text := fmt.Sprint(finding(rep, "RC041"), finding(rep, "RC062"))
		if !strings.Contains(text, "REDACTED") {
			t.Errorf("the answer is not told: %q", text)
		}
		seek(t, dir, fmt.Append(nil, rep))
	}
}

// A mark that repeats the credential is told without it, however long it is.
func TestMarkKeepsSecrets(t *testing.T) {
	server := httptest.NewServer(beside(tokens, func(n int, w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"seq":%q}`, fmt.Sprintf("%050d %s %d", 0, bearer(r), n))
	})())
	defer server.Close()
	dir := t.TempDir()
	config := strings.Replace(byCursors, `/items"}`, `/items", auth: {bearer: "${TOKEN}"}}`, 1) + stillOf
	rep := drainInto(t, dir, server.URL, config, 1)
	seek(t, dir, fmt.Append(nil, rep))
	rep = drainInto(t, dir, server.URL, config, 0)
	if text := finding(rep, "RC062"); !strings.Contains(text, "RED") || strings.Contains(text, token[:6]) {
		t.Errorf("it says %q", text)
	}
	seek(t, dir, fmt.Append(nil, rep))
}

// Fewer items than the operator expects, or than the last COMPLETE run held, are
// doubted, whatever the source says; a run that is not COMPLETE is no measure.
func TestFewerThanBefore(t *testing.T) {
	n := 60
	server := httptest.NewServer(handle(func(http.Header, *http.Request) string {
		return fmt.Sprintf(`{"items":%s,"next":null}`, list(records(1, n)))
	})())
	defer server.Close()
	dir := t.TempDir()
	for _, step := range []struct {
		items  int
		more   string
		want   judge.Verdict
		speaks string
	}{
		{60, "", judge.Complete, ""},
		{40, "", judge.Complete, ""},              // a fall of a third
		{19, "", judge.Unknown, "a fall of 52 %"}, // of 40
		{19, "", judge.Unknown, "a fall of 52 %"}, // the doubtful run is no measure
		{20, "", judge.Complete, ""},
		{15, "complete: {max_fall: 20%}", judge.Unknown, "a fall of 25 %, more than complete.max_fall (20 %)"},
		{9, "", judge.Unknown, "a fall of 55 %, more than complete.max_fall (50 %, the default)"},
		{16, "complete: {max_fall: 20%}", judge.Complete, ""},
		{0, "", judge.Unknown, "a fall of 100 %"},
		{16, "complete: {min_items: 17}", judge.Unknown, "fewer than complete.min_items (17)"},
		{17, "complete: {min_items: 17}", judge.Complete, ""},
	} {
		n = step.items
		rep := drainInto(t, dir, server.URL, byCursors+step.more, 0)
		if text := finding(rep, "RC027"); rep.Verdict != step.want || !strings.Contains(text, step.speaks) || (text == "") != (step.speaks == "") {
			t.Errorf("%d items %s: %s, want %s: %q", n, step.more, rep.Verdict, step.want, text)
		}
	}
}

// A total that repeats the number of its own page's items is no total.
func TestEchoTotal(t *testing.T) {
	server := httptest.NewServer(handle(func(_ http.Header, r *http.Request) string {
		from, size := number(r, "offset"), 20
		n := max(0, min(size, 60-from))
		return fmt.Sprintf(`{"items":%s,"has_more":%v,"total":%d}`, dated(from, size), from+size < 60, n)
	})())
	defer server.Close()
	rep := drainInto(t, t.TempDir(), server.URL, echoing60, 0)
	if text := finding(rep, "RC014"); rep.Verdict != judge.Unknown || rep.Items.Distinct != 60 || text == "" || finding(rep, "RC001") != "" {
		t.Errorf("%s with %d items: %v", rep.Verdict, rep.Items.Distinct, rep.Evidence)
	}
	if rep.Total.Kind != "echo" {
		t.Errorf("the total is %q", rep.Total.Kind)
	}
}

const echoing60 = `
source: {url: "${BASE}/items"}
pages: {style: offset, offset: {param: offset}, more: {path: has_more}}
items: {path: items, id: id}
total: {path: total}
limits: {retries: 1, max_requests: 100}
`

// Totals of two sources that disagree are both stored, each under its source,
// and the report names both.
func TestTotalsThatDisagree(t *testing.T) {
	server := httptest.NewServer(handle(func(_ http.Header, r *http.Request) string {
		size := max(1, number(r, "size"))
		return fmt.Sprintf(`{"items":%s,"pages":10,"total":60}`, dated((max(1, number(r, "page"))-1)*size, size))
	})())
	defer server.Close()
	dir := t.TempDir()
	rep := drainInto(t, dir, server.URL, byNumbers+"total: {path: total}", 0)
	if text := finding(rep, "RC033"); !strings.Contains(text, "60 by body") || !strings.Contains(text, "200 by last_page") {
		t.Errorf("the report says %q", text)
	}
	r, err := store.OpenReader(context.Background(), filepath.Join(dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	totals, err := r.Totals(context.Background(), rep.Run, 0)
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]int64{}
	for _, s := range totals.Totals {
		stored[s.Source] = s.Value
	}
	if stored["body"] != 60 || stored["last_page"] != 200 {
		t.Errorf("stored are %v", stored)
	}
}
