package web_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	htmllib "html"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"lastdrop/internal/daemon"
	"lastdrop/internal/web"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// get asks for a page and gives its status and text. Every answer must carry the policy.
func (s *site) get(path string) (int, string) {
	s.t.Helper()
	return s.ask(http.MethodGet, path, nil, nil)
}

func (s *site) ask(method, path string, form url.Values, head map[string]string) (int, string) {
	s.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for k, v := range head {
		req.Header.Set(k, v)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Security-Policy"); got != web.CSP {
		s.t.Errorf("%s: policy %q", path, got)
	}
	if resp.StatusCode == http.StatusSeeOther || resp.StatusCode == http.StatusFound {
		return resp.StatusCode, resp.Header.Get("Location")
	}
	return resp.StatusCode, string(text)
}

// has fails unless a text holds all words.
func has(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s: %q is missing in\n%s", what, w, text)
		}
	}
}

// read is the text of a page as it is read: without tags, its white space as one.
func read(html string) string {
	for _, skip := range []string{"script", "style"} {
		html = regexp.MustCompile("(?s)<"+skip+".*?</"+skip+">").ReplaceAllString(html, "")
	}
	html = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")
	return strings.Join(strings.Fields(htmllib.UnescapeString(html)), " ")
}

// The pages say of real runs what their reports say.
func TestPages(t *testing.T) {
	s, reports := filled(t)
	page := func(path string) string {
		t.Helper()
		code, text := s.get(path)
		if code != http.StatusOK {
			t.Fatalf("%s: %d\n%s", path, code, text)
		}
		return read(text)
	}
	has(t, "pulls", page("/"), "orders.yaml", `unknown key "stile"`, "commits.yaml cannot be used; its last good version is", "✓ COMPLETE declared", "1,200 no total",
		"✕ TRUNCATED", "1,000 of 533,692 0.18 %", "532,692", "‖ paused", "never", "no runs yet")
	has(t, "pull", page("/pulls/issues"), "every day at 06:30, 30 6 * * * in Europe/Berlin", "2,350 of 2,350 100 %", "Runs 3 in all", "Jobs 3 in all", "by hand, begun anew")
	capped := reports["search-capped"]
	text := page("/runs/" + capped.Run)
	for _, e := range capped.Evidence {
		has(t, "evidence", text, e.ID, e.Text)
	}
	has(t, "capped", text, append(capped.Advice, "✕ TRUNCATED", "missing 532,692", capped.Output[0].SHA256, capped.Output[0].Path)...)
	has(t, "sliced", page("/runs/"+reports["search-sliced"].Run), "Slices 601 in all", "595 slices, cut 6 times", "⋯ 1,000 / 533,692", "a cell is a request")
	has(t, "half", page("/runs/"+reports["commits"].Run), "½ half 1", "· held 24", "body ended at 49311 of 58193 bytes", "Page size", "1,200")
	has(t, "drift", page("/runs/"+reports["feed"].Run), "moved 5× between 1,000 and 1,002", "Least so far", "step_back")
	has(t, "attempt", page("/runs/"+reports["commits"].Run+"/attempts/1"), "Request 1 ½ half", "url http://127.0.0.1", "49,311 of 58,193 declared", "TR005", "retry_smaller")
	has(t, "queue", page("/queue"), "all 7", "done 7", "failed 0")
	has(t, "queue of failed", page("/queue?state=failed"), "There is no such job.")
	has(t, "judge", page("/judge"), "Paste a snapshot")
	rules := page("/rules")
	for _, r := range slices.Concat(judge.RuleTable, reconcile.Table) {
		has(t, "rules", rules, r.ID, r.Title, r.Doc)
	}
	code, text := s.get("/runs/" + capped.Run + "/report.json")
	var back reconcile.Report
	if err := json.Unmarshal([]byte(text), &back); code != http.StatusOK || err != nil || back.Missing == nil || *back.Missing != *capped.Missing {
		t.Errorf("report.json: %d, %v\n%s", code, err, text)
	}
	if code, to := s.get("/runs/last"); code != http.StatusFound || to != "/runs/"+reports["issues"].Run {
		t.Errorf("last: %d %q", code, to)
	}
	testZoom(t, s, reports)
}

// Ranges of the map and slices can be looked into; what is not there is a page that says so.
func testZoom(t *testing.T, s *site, reports map[string]reconcile.Report) {
	t.Helper()
	sliced := "/runs/" + reports["search-sliced"].Run
	for path, words := range map[string][]string{
		sliced + "?from=100&to=199": {"100 to 199", "All 602 requests", "Earlier", "Later"},
		sliced + "?from=601":        {"601 to 602", "refused 1"},
		sliced + "?from=9000":       {"No request has been written down in this range", "All 602"},
		sliced + "?slice=1":         {"The whole", "slice 1"},
		sliced + "?events=all":      {"Events 609"},
	} {
		code, text := s.get(path)
		if code != http.StatusOK {
			t.Errorf("%s: %d", path, code)
		}
		has(t, path, read(text), words...)
	}
	for path, want := range map[string]int{
		"/nope": 404, "/pulls/nope": 404, "/runs/nope": 404, "/runs/" + reports["feed"].Run[:6]: 404, "/runs/feed": 404, sliced + "?from=x": 400, sliced + "?slice=9999": 404,
		sliced + "/attempts/0": 404, sliced + "/attempts/603": 404, sliced + "/attempts/x": 404, "/queue?state=x": 404, "/queue?before=-1": 400,
		"/assets/": 404, "/assets/x/app.js": 404,
	} {
		if code, text := s.get(path); code != want {
			t.Errorf("%s: %d, want %d\n%s", path, code, want, text)
		} else if !strings.HasPrefix(path, "/assets") {
			has(t, path, text, "<title>", "To the pulls")
		}
	}
}

// The lists of runs and jobs can be read to their ends, each entry once.
func TestLists(t *testing.T) {
	s := newSite(t)
	s.add("issues", "honest", false)
	want := map[string]bool{}
	for range 60 {
		run, err := s.store.Begin(t.Context(), store.BeginOptions{Name: "issues", ConfigHash: "x", Config: "x", Version: "1", Fresh: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Close(); err != nil {
			t.Fatal(err)
		}
		want[run.ID()] = true
		s.mu.Lock()
		s.jobs = append(s.jobs, daemon.Job{ID: int64(len(s.jobs) + 1), Pull: "issues", State: daemon.JobDone, Created: time.Now()})
		s.mu.Unlock()
	}
	walk := func(path, link, entry string) (found []string) {
		for path != "" {
			_, text := s.get(path)
			for _, m := range regexp.MustCompile(entry).FindAllStringSubmatch(text, -1) {
				found = append(found, m[1])
			}
			path = ""
			if m := regexp.MustCompile(`href="([^"]*before=[^"#]*)[^"]*">` + link).FindStringSubmatch(text); m != nil {
				path = htmllib.UnescapeString(m[1])
			}
		}
		return found
	}
	runs := walk("/pulls/issues", "Older runs", `data-th="Run"><a class="id" href="/runs/([^"]*)"`)
	for _, r := range runs {
		delete(want, r)
	}
	if len(runs) != 60 || len(want) > 0 {
		t.Errorf("%d runs listed, %d never", len(runs), len(want))
	}
	for _, path := range []string{"/queue", "/queue?state=done"} {
		if jobs := walk(path, "Older jobs", `id="job-(\d+)"`); len(jobs) != 60 || jobs[0] != "60" || jobs[59] != "1" {
			t.Errorf("%s: %q", path, jobs)
		}
	}
}

// Of many pulls the page shows a part, and leads to the rest.
func TestManyPulls(t *testing.T) {
	s := newSite(t)
	for i := range 250 {
		s.add(fmt.Sprintf("pull-%03d", i), "honest", false)
	}
	var found []string
	for path := "/"; path != ""; {
		_, text := s.get(path)
		for _, m := range regexp.MustCompile(`data-pull="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
		path = ""
		if m := regexp.MustCompile(`href="([^"]*)">More pulls`).FindStringSubmatch(text); m != nil {
			path = htmllib.UnescapeString(m[1])
		}
	}
	if len(found) != 250 || !slices.IsSorted(found) || found[249] != "pull-249" {
		t.Errorf("%d pulls: %q", len(found), found)
	}
	_, text := s.get("/?q=l-13")
	has(t, "found", read(text), "10 of 250", "pull-130", "pull-139")
	_, text = s.get("/?q=none")
	has(t, "none found", read(text), "0 of 250", "No name holds that.")
}

// Forms change things and lead back; nothing else does, and no other site may.
func TestForms(t *testing.T) {
	s := newSite(t)
	s.add("issues", "honest", false)
	post := func(path string, form url.Values, head map[string]string) (int, string) {
		return s.ask(http.MethodPost, path, form, head)
	}
	is := func(path string, form url.Values, code int, what string) {
		t.Helper()
		if got, text := post(path, form, nil); got != code || !strings.Contains(text, what) {
			t.Errorf("POST %s %v: %d %s, want %d %s", path, form, got, text, code, what)
		}
	}
	release := s.hold(0, 0)
	defer release()
	is("/pulls/issues/run", url.Values{"back": {"pull"}}, 303, "/pulls/issues?note=started")
	is("/pulls/issues/run", url.Values{}, 409, "A job of this pull is not over yet")
	is("/pulls/nope/run", url.Values{}, 404, "There is no such pull")
	is("/pulls/issues/pause", url.Values{"on": {"true"}, "back": {"pulls"}}, 303, "/?note=paused")
	is("/pulls/issues/pause", url.Values{"on": {"perhaps"}}, 400, "Say on=true")
	is("/pulls/issues/pause", url.Values{"on": {"true"}, "x": {strings.Repeat("x", 70<<10)}}, 413, "64.0 KiB, the most")
	if p, _ := s.Pull(t.Context(), "issues"); !p.Paused {
		t.Error("it is not paused")
	}
	is("/jobs/1/cancel", url.Values{"back": {"queue"}}, 303, "/queue?note=cancelled")
	is("/jobs/1/cancel", url.Values{}, 409, "The job is over already")
	is("/jobs/7/cancel", url.Values{}, 404, "There is no such job")
	is("/jobs/x/cancel", url.Values{}, 404, "There is no such job")
	release()
	s.done.Wait()
	is("/pulls/issues/run", url.Values{"from": {"1"}, "to": {"9"}, "fresh": {"1"}}, 303, "/?note=backfill")
	s.mu.Lock()
	last := s.asked[len(s.asked)-1]
	s.mu.Unlock()
	if last != (daemon.Request{Fresh: true, From: "1", To: "9"}) {
		t.Errorf("asked for %+v", last)
	}
	for _, head := range []map[string]string{{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}} {
		if code, text := post("/pulls/issues/pause", url.Values{"on": {"false"}}, head); code != http.StatusForbidden {
			t.Errorf("%v: %d %s", head, code, text)
		}
	}
	for _, path := range []string{"/pulls/issues/run", "/pulls/issues/pause?on=false", "/jobs/1/cancel"} {
		if code, _ := s.get(path); code != http.StatusNotFound {
			t.Errorf("GET %s: %d", path, code)
		}
	}
	if code, _ := post("/", url.Values{}, nil); code != http.StatusMethodNotAllowed {
		t.Errorf("POST /: %d", code)
	}
	if p, _ := s.Pull(t.Context(), "issues"); !p.Paused {
		t.Error("it was resumed")
	}
	if _, text := s.get("/?note=<b>hello"); strings.Contains(text, "hello") {
		t.Error("an address puts words on the page")
	}
}

// The judge's page judges what is pasted and what is sent as a file, and refuses what is too big.
func TestJudge(t *testing.T) {
	s := newSite(t)
	send := func(name, text, pasted string) (int, string) {
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		if err := form.WriteField("snapshot", pasted); err != nil {
			t.Fatal(err)
		}
		w, err := form.CreateFormFile("file", name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := form.Close(); err != nil {
			t.Fatal(err)
		}
		resp, err := http.Post(s.url+"/judge", form.FormDataContentType(), &b)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, read(string(body))
	}
	const (
		capped = `{"kind":"list","request":{"limit":5000},"response":{"status":200,"items":1000}}`
		short  = `{"kind":"list","response":{"items":2,"total":5}}`
		whole  = `{"kind":"list","response":{"items":5,"total":5}}`
		har    = `{"log":{"entries":[{"request":{"method":"GET","url":"https://a.example/x?limit=2","queryString":[{"name":"limit","value":"2"}]},` +
			`"response":{"status":200,"headers":[],"content":{"mimeType":"application/json","text":"{\"items\":[1,2],\"total\":9}"}}}]}}`
	)
	for _, c := range []struct {
		name, file, pasted string
		code               int
		words              []string
	}{
		{"", "", capped, 200, []string{"? UNKNOWN", "TR006", "find more evidence", "no evidence"}},
		{"", "", short, 200, []string{"✕ TRUNCATED", "TR002", "go on at", "offset 2"}},
		{"", "", whole, 200, []string{"✓ COMPLETE", "nothing: this is all", "total 5 = items 5"}},
		{"", "", "[" + whole + "," + short + "]", 200, []string{"2 answers: 1 TRUNCATED, 1 COMPLETE", "no. 2"}},
		{"a.har", har, capped, 200, []string{"✕ TRUNCATED", "total 9 declared, 2 items received"}},
		{"snapshots.json", whole, capped, 200, []string{"✓ COMPLETE"}},
		{"", "", har, 200, []string{"✕ TRUNCATED"}},
		{"", "", "{", 422, []string{"unexpected"}},
		{"", "", `{"response":{"totl":5}}`, 422, []string{"response.totl"}},
		{"", "", " ", 422, []string{"There is nothing to judge in it."}},
		{"a.har", "{}", "", 422, []string{"not an HTTP archive"}},
		{"big.har", strings.Repeat(" ", 17<<20), "", 413, []string{"more than 16.0 MiB"}},
	} {
		code, text := send(c.name, c.file, c.pasted)
		if code != c.code {
			t.Errorf("%.60s %.60s: %d, want %d\n%.900s", c.name, c.pasted, code, c.code, text)
		}
		has(t, c.name+c.pasted, text, c.words...)
	}
	if code, _ := s.ask(http.MethodPost, "/judge", url.Values{"snapshot": {whole}}, nil); code != http.StatusBadRequest {
		t.Errorf("a form of another kind: %d", code)
	}
}

// The form for the token says why the last try failed, and knows where to go then. Pages of
// people who log in have a button to log out.
func TestLogin(t *testing.T) {
	pages := web.New(web.Options{})
	for target, next := range map[string]string{"/runs/abc?x=1": "/runs/abc?x=1", "/login": "", "/login?next=%2Fqueue": "/queue"} {
		w := httptest.NewRecorder()
		pages.Login(w, httptest.NewRequest(http.MethodGet, target, nil), http.StatusUnauthorized, "This token is <not> known.")
		if w.Code != http.StatusUnauthorized || w.Header().Get("Content-Security-Policy") != web.CSP {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
		has(t, target, w.Body.String(), `action="/login"`, `name="token"`, `name="next" value="`+next+`"`, "This token is &lt;not&gt; known.")
	}
	s := newSite(t, func(o *web.Options) { o.Sessions = true })
	_, text := s.get("/")
	has(t, "logged in", text, `action="/logout"`)
}

// Events come as JSON lines, to as many as ask.
func TestEvents(t *testing.T) {
	s := newSite(t)
	s.add("issues", "honest", false)
	resp, err := http.Get(s.url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("type %q", got)
	}
	lines := bufio.NewScanner(resp.Body)
	if lines.Scan(); lines.Text() != "retry: 2000" {
		t.Errorf("first line %q", lines.Text())
	}
	report := s.drain("issues")
	kinds := map[string]int{}
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var m struct {
			Kind, Pull, Run string
			Progress        *struct{ Distinct, Total int64 }
			Report          *struct{ Verdict, Strength, State string }
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil || m.Pull != "issues" {
			t.Fatalf("%s: %v", text, err)
		}
		kinds[m.Kind]++
		if m.Kind == "run" {
			if m.Run != report.Run || m.Report == nil || m.Report.Verdict != "COMPLETE" || m.Report.Strength != "counted" {
				t.Errorf("the end: %s", text)
			}
			break
		}
	}
	if kinds["job"] < 2 || kinds["progress"] == 0 {
		t.Errorf("kinds %v", kinds)
	}
}

// What sources and configs say cannot become markup, a link or another direction of writing.
func TestHostile(t *testing.T) {
	s := newSite(t)
	const evil = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>javascript:alert(1)\u202Eevil\u2066\u200B\x1b[31m&amp;"
	run, err := s.store.Begin(t.Context(), store.BeginOptions{Name: "bad/../name?x#" + evil, ConfigHash: evil, Config: evil, Version: evil})
	if err != nil {
		t.Fatal(err)
	}
	total, now := int64(9), time.Now()
	err = run.Commit(t.Context(), store.Checkpoint{State: []byte("{}"),
		Attempts: []reconcile.Attempt{{Seq: 1, Pass: 1, Page: 1, Try: 1, Started: now, URL: "javascript:alert(1)//" + evil, Position: evil, More: evil, SizeAsked: 5, Status: 200,
			Outcome: reconcile.Half, Action: judge.Action(evil), Cause: evil, TotalKind: judge.TotalKind(evil), Total: judge.N(9), Rules: []judge.Rule{{ID: evil, Layer: evil, Evidence: evil}}},
			{Seq: 2, Pass: 1, Page: 1, Try: 2, Started: now, URL: evil, Cause: evil, SizeAsked: 2}},
		Totals: []reconcile.TotalSeen{{Seq: 1, At: now, Source: evil, Value: 9, Kind: judge.TotalKind(evil), Live: true}, {Seq: 2, At: now.Add(time.Second), Source: evil, Remark: evil}},
		Events: []reconcile.Event{{Seq: 1, At: now, Kind: evil, Text: evil}},
		Slices: []reconcile.Slice{{Key: evil, From: evil, To: evil, Bounds: evil, State: evil, Remark: evil}, {Slice: 1, Parent: judge.N(0), Key: evil, From: evil, State: evil, Remark: evil}},
	})
	if err != nil {
		t.Fatal(err)
	}
	err = run.Finish(t.Context(), reconcile.Report{Run: run.ID(), Name: run.Name(), State: store.Finished, Verdict: judge.Truncated, Missing: &total,
		Evidence: []reconcile.Evidence{{ID: evil, Verdict: judge.Truncated, Text: evil}}, Advice: []string{evil}, Source: evil,
		Resume: &judge.Resume{Kind: evil, Value: evil, Caveat: evil}, Output: []reconcile.Output{{Path: evil, SHA256: evil, Notes: []string{evil}}}, Total: reconcile.TotalSummary{Last: &total, Kind: evil}})
	if err != nil {
		t.Fatal(err)
	}
	name := run.Name()
	s.mu.Lock()
	s.pulls[name] = &daemon.Pull{Name: name, File: evil, URL: "javascript:alert(1)" + evil, Config: evil, Problem: evil, Schedule: evil, Zone: evil}
	s.broken = []daemon.Broken{{File: evil, Problem: evil}}
	s.jobs = []daemon.Job{{ID: 1, Pull: name, Why: evil, From: evil, To: evil, State: evil, Run: run.ID(), Error: evil}}
	s.pulls[name].Next = &now
	s.mu.Unlock()
	for _, path := range []string{"/", "/pulls/" + url.PathEscape(name), "/runs/" + run.ID(), "/runs/" + run.ID() + "/attempts/1", "/queue", "/" + url.PathEscape(evil)} {
		code, text := s.get(path)
		if code != http.StatusOK && !strings.HasPrefix(path, "/%22") {
			t.Errorf("%s: %d", path, code)
		}
		if strings.HasPrefix(path, "/runs") {
			has(t, path, read(text), "<script>alert(1)</script>") // as a text
		}
		for _, bad := range []string{"<script>a", "<img", "\u202E", "\u2066", "\u200B", "\x1b", `"javascript:`, `=javascript:`, "&amp;amp;amp;"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q:\n%s", path, bad, text)
			}
		}
		for _, m := range regexp.MustCompile(`(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`^(/[^/]|/$|\?slice=|#main$)`).MatchString(m[1]) {
				t.Errorf("%s leads to %q", path, m[1])
			}
		}
	}
	b := s.open(t, 1280, false)
	for _, path := range []string{"/", "/pulls/" + url.PathEscape(name), "/runs/" + run.ID(), "/queue"} {
		b.visit(path) // whatever is inline would be told by the policy
		if found := eval[[]string](b, `[...document.querySelectorAll("*")].flatMap(e => [...e.attributes]).map(a => a.name).filter(n => n.startsWith("on"))`); len(found) > 0 {
			t.Errorf("%s has %q", path, found)
		}
	}
	b.visit("/runs/" + run.ID())
	b.do(chromedp.Click(chromedp.CSS(".map a")))
	b.wait(`document.querySelector("#attempt .url")?.textContent.startsWith("javascript:alert(1)//")`)
	if n := eval[int](b, `document.querySelectorAll("main img, main script").length`); n != 0 {
		t.Errorf("%d elements of the source's own", n)
	}
}

// A fault of store or engine is a page that says so, and tells nothing of it.
func TestFault(t *testing.T) {
	s := newSite(t)
	s.add("issues", "honest", false)
	path := "/runs/" + s.drain("issues").Run
	s.stopStore()
	for _, p := range []string{"/", path, "/pulls/issues"} {
		code, text := s.get(p)
		if code != http.StatusInternalServerError || strings.Contains(text, "sql") {
			t.Errorf("%s: %d\n%s", p, code, text)
		}
		has(t, p, text, "The page could not be made", "<title>500 Internal Server Error")
	}
}
