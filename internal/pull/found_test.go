package pull_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"lastdrop/judge"
)

// TestFound runs what was found by trying to make the product wrong.
func TestFound(t *testing.T) { runAll(t, found()) }

// Plain configs.
const (
	byOffset = `
source: {url: "${BASE}/items"}
pages: {style: offset, size: {param: limit, start: 10}, offset: {param: offset}, more: {path: has_more}}
items: {path: items, id: id}
total: {path: total}
limits: {retries: 3, max_requests: 400}`
	byCursor = `
source: {url: "${BASE}/items"}
pages: {style: cursor, size: {param: limit, start: 10}, cursor: {param: after, path: next}}
items: {path: items, id: id}
total: {path: total}
limits: {retries: 3, max_requests: 400}`
	byNumber = `
source: {url: "${BASE}/items"}
pages: {style: page, size: {param: size, start: 20}, number: {param: page, first: 1}, more: {path: has_more}}
items: {path: items, id: id}
limits: {retries: 3, max_requests: 400}`
	byLine = `
source: {url: "${BASE}/items"}
pages: {style: single}
items: {format: ndjson, id: id}
limits: {retries: 1}`
)

// window is the JSON list of the items after skip, at most limit and up to n.
func window(skip, limit, n int) string { return list(records(skip+1, min(n, skip+limit))) }

// endsOddly serves 60 items by cursor, with a null cursor after 30 and something
// beside it that speaks of more.
func endsOddly(beside, header string) func() http.Handler {
	return handle(func(h http.Header, r *http.Request) string {
		from := number(r, "after")
		if from < 20 {
			return fmt.Sprintf(`{"items":%s,"next":%d}`, window(from, 10, 60), from+10)
		}
		if header != "" {
			h.Set("Link", header)
		}
		return fmt.Sprintf(`{"items":%s,"next":null%s}`, window(from, 10, 60), beside)
	})
}

// serial byNumber the requests of one server.
func serial(body func(n int, w http.ResponseWriter, r *http.Request)) func() http.Handler {
	return func() http.Handler {
		var n atomic.Int64
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { body(int(n.Add(1)), w, r) })
	}
}

func found() []scenario {
	return []scenario{
		{
			id: "item-replaced", about: "an item in the place of another one, known by its id",
			server: hiding, ids: 30, config: fmt.Sprintf(hidden, "id"), verdict: judge.Truncated, items: 29,
		},
		{
			id: "flag-against-token", about: "has-more is false on a full page, and a token beside it goes on",
			server: handle(func(_ http.Header, r *http.Request) string {
				from := number(r, "after")
				return fmt.Sprintf(`{"items":%s,"has_more":false,"next":%d}`, window(from, 10, 60), from+10)
			}), ids: 60,
			config: `
source: {url: "${BASE}/items"}
pages: {style: cursor, size: {param: limit, start: 10}, cursor: {param: after, path: next}, more: {path: has_more}}
items: {path: items, id: id}
limits: {retries: 3, max_requests: 400}`,
			verdict: judge.Unknown, items: open,
		},
		{
			id: "size-ignored", about: "a half body lowers the size, and the server counts its pages in a fixed size of its own",
			server: serial(func(n int, w http.ResponseWriter, r *http.Request) {
				skip := (number(r, "page") - 1) * 20
				body := fmt.Sprintf(`{"items":%s,"has_more":%v}`, window(skip, 20, 100), skip+20 < 100)
				w.Header().Set("Content-Length", fmt.Sprint(len(body)))
				if n == 3 {
					body = body[:100]
				}
				fmt.Fprint(w, body)
			}), ids: 100, config: byNumber, verdict: judge.Complete, items: 100,
		},
		{
			id: "turned-over", about: "once 60 are read, the first 60 items are replaced by others; the total stays",
			server: serial(func(n int, w http.ResponseWriter, r *http.Request) {
				all := records(1, 100)
				if n > 6 {
					all = append(records(101, 160), records(61, 100)...)
				}
				skip := min(number(r, "offset"), 100)
				fmt.Fprintf(w, `{"items":%s,"total":100,"has_more":%v}`, list(all[skip:min(100, skip+number(r, "limit"))]), skip+number(r, "limit") < 100)
			}), ids: 160, config: byOffset, verdict: judge.Complete, items: 160,
		},
		{
			id: "more-past-the-total", about: "the empty page past the total still says that there is more",
			server: handle(func(_ http.Header, r *http.Request) string {
				return fmt.Sprintf(`{"items":%s,"total":50,"has_more":true}`, window(number(r, "offset"), number(r, "limit"), 50))
			}), ids: 50, config: byOffset, verdict: judge.Unknown, items: 50,
		},
		{
			id: "flag-beside-null", about: "has_more beside a null cursor, which no config names",
			server: endsOddly(`,"has_more":true`, ""), ids: 60, config: byCursor, verdict: judge.Unknown, items: 30,
		},
		{
			id: "link-beside-null", about: "a Link to the next page beside a null cursor",
			server: endsOddly("", `</items?after=30>; rel="next"`), ids: 60, config: byCursor, verdict: judge.Unknown, items: 30,
		},
		{
			id: "warning-beside-null", about: "a warning list beside a null cursor",
			server: endsOddly(`,"warnings":["shard 3 did not answer"]`, ""), ids: 60, config: byCursor, verdict: judge.Unknown, items: 30,
		},
		{
			id: "keyset-out-of-order", about: "the last item of a keyset's page has the greatest key, and others of that page's span never come",
			server: handle(func(_ http.Header, r *http.Request) string {
				if number(r, "after") == 0 {
					return `{"items":` + list([]string{record(2, ""), record(1, ""), record(3, ""), record(30, "")}) + `,"has_more":true}`
				}
				return `{"items":` + list(records(31, 34)) + `,"has_more":false}`
			}), ids: 40, config: `
source: {url: "${BASE}/items"}
pages: {style: keyset, size: {param: limit, start: 4}, keyset: {param: after, path: id}, more: {path: has_more}}
items: {path: items, id: id}
limits: {retries: 3}`, verdict: judge.Unknown, items: 8,
		},
		{
			id: "cursor-counts-on", about: "a cursor that is a row number counts on by the 10 asked for, and 5 come",
			server: handle(func(_ http.Header, r *http.Request) string {
				from := number(r, "after")
				if from >= 50 {
					return fmt.Sprintf(`{"items":%s,"next":null}`, window(from, 5, 60))
				}
				return fmt.Sprintf(`{"items":%s,"next":%d}`, window(from, 5, 60), from+10)
			}), ids: 60, config: byCursor, verdict: judge.Unknown, items: open,
		},
		{
			id: "cursor-leaves-a-page-out", about: "a cursor that is a page number goes 1, 2, 3, 5",
			server: handle(func(_ http.Header, r *http.Request) string {
				page := max(1, number(r, "after"))
				next := fmt.Sprint(page + 1)
				switch page {
				case 3:
					next = "5"
				case 6:
					next = "null"
				}
				return fmt.Sprintf(`{"items":%s,"next":%s}`, window((page-1)*10, 10, 60), next)
			}), ids: 60, config: byCursor, verdict: judge.Unknown, items: 50,
		},
		{
			id: "total-in-words", about: "the total is text that is no number",
			server: endsOddly(`,"total":"57 items"`, ""), ids: 60, config: byCursor, verdict: judge.Unknown, items: 30,
		},
		{
			id: "cut-last-line", about: "the last line is cut inside a number, without a newline and without a length",
			server: handle(func(h http.Header, _ *http.Request) string {
				h.Set("Trailer", "X-End") // no Content-Length: the body comes in chunks
				return "{\"id\":1}\n{\"id\":2}\n3"
			}), ids: 3, config: byLine, verdict: judge.Truncated, items: open,
		},
		{
			id: "sent-to-another-page", about: "page 3 redirects to page 10",
			server: serial(func(_ int, w http.ResponseWriter, r *http.Request) {
				if number(r, "after") == 20 {
					http.Redirect(w, r, "/items?limit=10&after=90", http.StatusFound)
					return
				}
				from := number(r, "after")
				next := fmt.Sprint(from + 10)
				if from >= 90 {
					next = "null"
				}
				fmt.Fprintf(w, `{"items":%s,"next":%s}`, window(from, 10, 100), next)
			}), ids: 100, config: byCursor, verdict: judge.Truncated, items: 20,
		},
		{
			id: "no-utf-8", about: "a body that is no UTF-8",
			server: handle(func(_ http.Header, _ *http.Request) string { return "{\"items\":[{\"id\":\"a\xff\"}],\"next\":null}" }),
			config: byCursor, verdict: judge.Unknown, items: 0,
		},
	}
}

// hiding serves 30 items by number, where item 19 comes twice and 29 never, and
// each carries a field that changes.
var hiding = handle(func(_ http.Header, r *http.Request) string {
	var items []string
	for rank := (number(r, "page")-1)*10 + 1; rank <= min(30, number(r, "page")*10); rank++ {
		id := rank
		if rank == 29 {
			id = 19
		}
		items = append(items, record(id, fmt.Sprintf(`,"seen":%d`, rank)))
	}
	return `{"total":30,"items":` + list(items) + `}`
})

const hidden = `
source: {url: "${BASE}/items"}
pages: {style: page, number: {param: page, first: 1}, size: {param: size, start: 10}}
items: {path: items, id: %s}
total: {path: total}
limits: {retries: 1}`

// TestIDThatNamesNothing holds that a misspelled items.id is never green: items
// are then known by content, and the count may come out right by chance.
func TestIDThatNamesNothing(t *testing.T) {
	out := scenario{id: "uid", config: fmt.Sprintf(hidden, "uid")}.drain(t, hiding())
	if out.report.Verdict != judge.Unknown || !strings.Contains(fmt.Sprint(out.report.Evidence), "RC026") {
		t.Errorf("%s, want UNKNOWN with RC026\n%s", out.report.Verdict, out.story())
	}
}

// TestBordersThatNeverJoin drains items without ids and with a clock in each:
// no page joins the one before it, and the walk must end all the same.
func TestBordersThatNeverJoin(t *testing.T) {
	server := serial(func(n int, w http.ResponseWriter, r *http.Request) {
		var items []string
		for id := number(r, "offset") + 1; id <= min(105, number(r, "offset")+number(r, "limit")); id++ {
			items = append(items, fmt.Sprintf(`{"name":"thing %d","read":%d}`, id, n))
		}
		fmt.Fprintf(w, `{"items":%s}`, list(items))
	})
	out := scenario{id: "clock", config: strings.Replace(byOffset, ", id: id", "", 1)}.drain(t, server())
	if out.report.Verdict != judge.Unknown || out.asked > 200 {
		t.Errorf("%s after %d requests, want UNKNOWN\n%s", out.report.Verdict, out.asked, out.story())
	}
}
