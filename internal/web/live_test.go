package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"lastdrop/internal/daemon"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A click on a cell shows its row; another cell, and the links to the rows beside it, replace it.
func TestCellShowsItsRow(t *testing.T) {
	s := newSite(t)
	s.add("commits", "half-bodies", false)
	run := s.drain("commits").Run
	b := s.open(t, 1280, false)
	b.visit("/runs/" + run)
	b.do(chromedp.Click(chromedp.CSS(".map a.b")))
	b.wait(`document.querySelector("#attempt .head")?.innerText.includes("Request 1")`)
	b.shoot("run-cell-1280-light")
	text := eval[string](b, `document.querySelector("#attempt").innerText`)
	has(t, "row", text, "half", "/half-bodies/repos/lastdrop/sim/commits?per_page=100", "200", "49,311 of 58,193 declared", "body ended at 49311", "TR005")
	if at := eval[string](b, `document.querySelector(".map [aria-current]").title`); !strings.HasPrefix(at, "1: half") {
		t.Errorf("the cell that is marked is %q", at)
	}
	b.do(chromedp.Click(chromedp.CSS("#attempt a[data-attempt]")))
	b.wait(`document.querySelector("#attempt .head").innerText.includes("Request 2")`)
	b.do(chromedp.Click(chromedp.CSS(".map a:nth-child(25)")))
	b.wait(`document.querySelector("#attempt .head").innerText.includes("Request 25")`)
	if path := eval[string](b, `location.pathname`); path != "/runs/"+run {
		t.Errorf("it went to %s", path)
	}
}

// A run of many requests is shown in ranges; choosing one leads to its requests.
func TestRangesLeadToRequests(t *testing.T) {
	s := newSite(t)
	run, err := s.store.Begin(t.Context(), store.BeginOptions{Name: "huge", ConfigHash: "x", Config: "x", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	c := store.Checkpoint{State: []byte("{}")}
	for seq := int64(1); seq <= 30_000; seq++ {
		a := reconcile.Attempt{Seq: seq, Pass: 1, Page: int(seq), Try: 1, Started: time.Now(), Outcome: reconcile.Held, Status: 200}
		switch {
		case seq%601 == 0:
			a.Outcome, a.Cause = reconcile.Half, "half a body"
		case seq > 12_000 && seq <= 12_600:
			a.Outcome = reconcile.Failed
		case seq > 15_000 && seq <= 18_000 && seq%3 == 0:
			a.Outcome = reconcile.Limited
		}
		c.Attempts = append(c.Attempts, a)
	}
	if err := run.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	b := s.open(t, 1280, false)
	b.visit("/runs/" + run.ID())
	if n := eval[int](b, `document.querySelectorAll(".map a").length`); n != 2000 {
		t.Errorf("%d cells", n)
	}
	b.shoot("run-huge-1280-light")
	b.click(`.map a[title^="601 to 615"]`)
	b.wait(`document.querySelectorAll(".map a").length === 15 && location.search === "?from=601&to=615"`)
	b.do(chromedp.Click(chromedp.CSS(".map a.b")))
	b.wait(`document.querySelector("#attempt .head")?.innerText.includes("Request 601")`)
	b.click(`#map .pager a:last-child`)
	b.wait(`location.search === "?from=616&to=630"`)
}

// All of it can be reached and used by keys alone, and where the focus is can be seen.
func TestKeyboard(t *testing.T) {
	s := newSite(t)
	s.add("commits", "half-bodies", false)
	run := s.drain("commits").Run
	b := s.open(t, 1280, false)
	b.visit("/runs/" + run)
	focus := `document.activeElement.innerText.trim() || document.activeElement.title || document.activeElement.getAttribute("aria-label")`
	b.press(kb.Tab)
	if at := eval[string](b, focus); at != "Skip to the content" {
		t.Fatalf("first is %q", at)
	}
	b.press(kb.Enter, kb.Tab)
	if at := eval[string](b, focus); at != "Pulls" || eval[bool](b, `!!document.activeElement.closest("nav")`) {
		t.Fatalf("after the skip link: %q", at)
	}
	var order []string
	for range 20 {
		b.press(kb.Tab)
		order = append(order, eval[string](b, focus))
		if ring := eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`); ring == "none" {
			t.Errorf("the focus cannot be seen on %q", order[len(order)-1])
		}
		if eval[bool](b, `!!document.activeElement.closest(".map")`) {
			break
		}
	}
	has(t, "order", strings.Join(order, "\n"), "commits", "Report as JSON", "RC030", "1: half")
	b.press(kb.ArrowRight, kb.ArrowRight, kb.End, kb.ArrowLeft, kb.Enter)
	b.wait(`document.querySelector("#attempt .head")?.innerText.includes("Request 24")`)
	if at := eval[string](b, focus); !strings.HasPrefix(at, "24: held") {
		t.Errorf("the focus went to %q", at)
	}
	b.press(kb.Home)
	if at := eval[string](b, focus); !strings.HasPrefix(at, "1: half") {
		t.Errorf("Home leads to %q", at)
	}
	b.press(kb.Tab) // the map is one stop
	if at := eval[bool](b, `document.activeElement.closest("#attempt") !== null`); !at {
		t.Errorf("after the map comes %q", eval[string](b, focus))
	}
	if bad := eval[[]string](b, unnamed); len(bad) > 0 {
		t.Errorf("without a name or head: %q", bad)
	}
}

// unnamed lists what a screen reader could not say: controls without a name, tables without heads, levels that are skipped.
const unnamed = `[
  ...[...document.querySelectorAll("a, button, input:not([type=hidden]), textarea, summary")].filter(e => !(e.innerText?.trim() || e.title || e.ariaLabel || e.labels?.length || e.querySelector("title"))),
  ...[...document.querySelectorAll("table")].filter(t => !t.closest(".uplot") && ![...t.querySelectorAll("thead th")].every(h => h.scope)),
  ...[...document.querySelectorAll("section")].filter(s => !s.getAttribute("aria-label") && !document.getElementById(s.getAttribute("aria-labelledby")) && !s.matches(".alert")),
  ...(document.querySelectorAll("h1").length === 1 && document.querySelectorAll("main, body > header, body > footer").length === 3 && document.documentElement.lang ? [] : [document.body]),
].map(e => e.outerHTML.slice(0, 90))`

// A run that is under way is followed on all pages without a reload: its counts, its map, its verdict in the end. A stream that
// breaks is taken up again.
func TestLive(t *testing.T) {
	s := newSite(t)
	s.add("issues", "honest", false)
	s.drain("issues")
	release := s.hold(6, 80*time.Millisecond) // so that a checkpoint comes before it
	defer release()
	list, watch := s.open(t, 1280, false), s.open(t, 1280, false)
	list.visit("/")
	list.wait(`document.querySelector("#live").innerText.includes("live")`)
	list.do(chromedp.Evaluate[chromedp.Void](`window.same = true`))
	job, err := s.RunNow(t.Context(), "issues", daemon.Request{Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	list.wait(`document.querySelector(".t-running") && document.querySelector(".counts [data-count=distinct]")?.innerText === "600"`)
	for s.job(job.ID).Run == "" {
		time.Sleep(time.Millisecond)
	}
	run := "/runs/" + s.job(job.ID).Run
	watch.visit(run)
	watch.do(chromedp.Evaluate[chromedp.Void](`window.same = true`))
	watch.wait(`document.querySelector("#verdict .chip").innerText.includes("running") && document.querySelector("#live").innerText.includes("live")`)
	if n := eval[int](watch, `document.querySelectorAll(".map a").length`); n < 2 || n > 6 {
		t.Fatalf("%d cells at the start", n)
	}
	watch.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".map a:nth-child(2)").focus()`))
	release()
	watch.wait(`document.querySelector("#verdict .chip").innerText.includes("COMPLETE") && document.querySelectorAll(".map a").length === 24`)
	watch.wait(`document.querySelector("#said").innerText.includes("COMPLETE")`)
	if at := eval[string](watch, `document.activeElement.title`); !strings.HasPrefix(at, "2: held") {
		t.Errorf("the focus went to %q", at)
	}
	list.wait(`document.querySelectorAll(".strip a.v-complete").length === 2 && !document.querySelector(".t-running")`)
	for _, b := range []*tab{list, watch} {
		if !eval[bool](b, `window.same === true`) {
			t.Error("a page was loaded anew")
		}
	}
	list.mu.Lock()
	list.allow = "ERR_INCOMPLETE_CHUNKED_ENCODING"
	list.mu.Unlock()
	s.dropStreams() // the daemon goes away for a moment
	if err := s.Pause(t.Context(), "issues", true); err != nil {
		t.Fatal(err)
	}
	list.wait(`document.querySelector(".t-paused")`)
}

// Forms work with a click, lead back, and say what they did.
func TestFormsInBrowser(t *testing.T) {
	s := newSite(t)
	s.add("issues", "honest", false)
	release := s.hold(0, 0)
	defer release()
	b := s.open(t, 360, true)
	b.visit("/")
	b.click(`button[aria-label^="Pause"]`)
	b.wait(`document.querySelector(".note")?.innerText.includes("paused") && document.querySelector(".t-paused")`)
	b.click(`button[aria-label^="Resume"]`)
	b.wait(`document.querySelector(".note")?.innerText.includes("goes on") && !document.querySelector(".t-paused")`)
	b.click(`button[aria-label="Run issues now"]`)
	b.wait(`document.querySelector(".t-running")`)
	b.visit("/queue")
	b.click(`button[aria-label="Cancel job 1 of issues"]`)
	b.wait(`document.querySelector(".t-cancelled")`)
	b.visit("/judge")
	b.do(chromedp.SetValue(chromedp.CSS("#snapshot"), `{"kind":"list","response":{"items":2,"total":5}}`))
	b.click(`main form button`)
	b.wait(`document.querySelector(".answers .chip")?.innerText.includes("TRUNCATED")`)
	b.shoot("judged-360-dark")
	b.click(`a.rule[href="/rules#TR002"]`)
	b.wait(`document.querySelector(":target")?.innerText.includes("TR002")`)
}

// The chart has what its table has, and both schemes have their own colours.
func TestChart(t *testing.T) {
	s := newSite(t)
	s.add("feed", "drift", false)
	report := s.drain("feed")
	b := s.open(t, 1280, true)
	b.visit("/runs/" + report.Run)
	b.wait(`document.querySelector("figure.chart canvas")`)
	type drawn struct {
		Points, Rows int
		Last         float64
		Bands        int
	}
	got := eval[drawn](b, `(() => { const f = document.querySelector("figure.chart"), d = f.plot.data; return {Points: d[0].length, Rows: f.querySelector("details tbody").rows.length, Last: d[1].at(-1), Bands: f.plot.bands.length} })()`)
	if got.Points != got.Rows || got.Rows < 20 || got.Last != float64(report.Items.Distinct) || got.Bands != 1 {
		t.Errorf("drawn %+v", got)
	}
	if ground := eval[string](b, `getComputedStyle(document.body).backgroundColor`); ground != "rgb(20, 23, 26)" {
		t.Errorf("the dark ground is %s", ground)
	}
}

// What the tests rely on: a tab tells of what the policy stops, and of what is asked outside.
func TestBrowserTells(t *testing.T) {
	s := newSite(t)
	b := s.open(t, 1280, false)
	b.visit("/")
	b.do(chromedp.Evaluate[chromedp.Void](`{
		const e = document.createElement("script"); e.textContent = "1"; document.body.append(e);
		const i = new Image(); i.src = "http://outside.invalid/x.png"; document.body.append(i);
		document.body.setAttribute("style", "color: red");
		fetch("/nope");
		setTimeout(() => { throw new Error("thrown by the test") });
	}`))
	want := []string{"Executing inline script violates", "outside.invalid", "Applying inline style violates", "404", "thrown by the test"}
	deadline := time.Now().Add(patience)
	for missing := "x"; missing != ""; time.Sleep(5 * time.Millisecond) {
		missing = ""
		b.mu.Lock()
		all := strings.Join(b.wrong, "\n")
		b.mu.Unlock()
		for _, w := range want {
			if !strings.Contains(all, w) {
				missing = w
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing told of %q:\n%s", missing, all)
		}
	}
	b.mu.Lock()
	b.wrong = nil
	b.allow = " " // whatever comes after
	b.mu.Unlock()
}

// Without scripts a cell is a link to a page of its own.
func TestWithoutScripts(t *testing.T) {
	s := newSite(t)
	s.add("commits", "half-bodies", false)
	run := s.drain("commits").Run
	_, text := s.get("/runs/" + run)
	has(t, "map", text, `href="/runs/`+run+`/attempts/1" title="1: half, judged TRUNCATED, 0 items"`)
	if code, _ := s.get("/runs/" + run + "/attempts/1"); code != http.StatusOK {
		t.Errorf("the row: %d", code)
	}
}
