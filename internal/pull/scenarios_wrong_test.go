package pull_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lastdrop/internal/sim"
	"lastdrop/judge"
)

// A mistake is a scenario that the product gets wrong.
type mistake struct {
	scenario
	// came and right say what comes and what must.
	came, right string
}

// TestScenariosThatAreWrong tells what the product gets wrong, and fails once
// it does not any more: the row then belongs to another table.
func TestScenariosThatAreWrong(t *testing.T) {
	for _, w := range wrong() {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			out, problems := w.run(t)
			if len(problems) == 0 {
				t.Error("all is as it must be: move the row to scenarios or waiting")
			}
			t.Logf("WRONG: %s\ncame: %s\nright: %s\n%s\n%s", w.about, w.came, w.right, strings.Join(problems, "\n"), out.story())
		})
	}
}

// walled is a search by cursor that answers 400 from item 10,000 on.
func walled(n int) func() http.Handler {
	return world(n, sim.API{
		Style: sim.Cursor, Items: "results", Total: exact("total"), Size: sim.SizeRule{Max: 100},
		Token: sim.TokenRule{Kind: sim.TokenOffset, Path: "paging.next.after"},
	}, sim.Fault{Effect: sim.Cap{At: 10_000, Past: sim.CapError, Code: 400}})
}

const walls = `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: cursor, path: paging.next.after}
  size: {param: limit, start: 100, max: 100}
items: {path: results, id: id}
total: {path: total}
limits: {retries: 3}`

// listed serves 100 items behind two tokens; the last page carries a third one
// that leads to an answer of its own.
func listed(status int, body string) func() http.Handler {
	return func() http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text := body
			switch r.URL.Query().Get("token") {
			case "":
				text = fmt.Sprintf(`{"completeListSize":100,"records":%s,"token":"t1"}`, list(records(1, 50)))
			case "t1":
				text = fmt.Sprintf(`{"completeListSize":100,"records":%s,"token":"t2"}`, list(records(51, 100)))
			default:
				w.WriteHeader(status)
			}
			_, _ = w.Write([]byte(text)) // a client that went away is no fault of ours
		})
	}
}

const lists = `
source: {url: "${BASE}/oai"}
pages:
  style: cursor
  cursor: {param: token, path: token}
items: {path: records, id: id}
total: {path: completeListSize}
limits: {retries: 3}`

// wrong are the rows that the product gets wrong.
func wrong() []mistake {
	echoing := sim.API{Style: sim.Page, FirstPage: 1, Items: "items", Echo: sim.EchoRule{Page: "page"}}
	const atLast = "COMPLETE: the total is exact and every item held, so the error past it confirms the end"
	return []mistake{
		{
			scenario: scenario{
				id: "B091", variant: "page never read", about: "the server does not read the page number, answers with page 1 and says so: 20 of 500",
				server: world(500, echoing, sim.Fault{Effect: sim.Ignore{Place: true}}), config: echoes,
				verdict: judge.Unknown, items: 20, detect: []string{"parameter_not_honoured"},
			},
			came:  "COMPLETE (declared): the echo of page 1 is taken for the server's last page",
			right: "UNKNOWN: page 2 that is page 1 shows that the number is not read, whatever it echoes",
		},
		{
			scenario: scenario{
				id: "B094", about: "the last page carries a token that leads to an error",
				server: listed(http.StatusOK, `{"error":{"code":"badResumptionToken","message":"the token is not known"}}`), ids: 100, config: lists,
				verdict: judge.Complete, items: 100, requests: 6, detect: []string{"error_after_total_reached"},
			},
			came: "TRUNCATED (RC023) after 15 requests in three passes, with nothing missing", right: atLast,
		},
		{
			scenario: scenario{
				id: "B094", variant: "as a 410", about: "the same with a status of 410",
				server: listed(http.StatusGone, `{"error":"gone"}`), ids: 100, config: lists,
				verdict: judge.Complete, items: 100, requests: 6, detect: []string{"error_after_total_reached"},
			},
			came: "TRUNCATED (RC023) after 15 requests in three passes", right: atLast,
		},
		{
			scenario: scenario{
				id: "B094", variant: "as a 500", about: "the same with a status of 500",
				server: listed(http.StatusInternalServerError, `{"error":"oops"}`), ids: 100, config: lists,
				verdict: judge.Complete, items: 100, requests: 6, detect: []string{"error_after_total_reached"},
			},
			came: "stopped, TRUNCATED (RC022), with nothing missing", right: atLast,
		},
		{
			scenario: scenario{
				id: "B067", variant: "a cursor on every page", about: "the empty page at the end has a new cursor, as have all behind it; the API documents the empty page as its end",
				server: handle(func(_ http.Header, r *http.Request) string {
					at := number(r, "cursor")
					return fmt.Sprintf(`{"total":100,"items":%s,"next":"%d"}`, list(records(at+1, min(at+50, 100))), at+50)
				}),
				ids: 100,
				config: `
source: {url: "${BASE}/works"}
pages:
  style: cursor
  cursor: {param: cursor, path: next}
  end: [empty_page]
items: {path: items, id: id}
total: {path: total}
complete: {require: assumed}
limits: {retries: 3, max_requests: 100}`,
				verdict: judge.Complete, items: 100, requests: 5,
			},
			came:  "asks for ever: pages.end: [empty_page] is not looked at where a cursor is followed, and nothing bounds the empty pages",
			right: "COMPLETE: a documented end, asked for twice, with the exact total held",
		},
		{
			scenario: scenario{
				id: "B070", variant: "by links", about: "the same list walked by its links: 88 for 5 items, and 17 empty pages",
				server: world(5, sim.API{
					Style: sim.Link, FirstPage: 1, Items: "", Total: sim.TotalRule{Kind: sim.TotalExact, Header: "X-Total"},
				}, sim.Fault{Effect: sim.Phantom{Items: 88}}),
				config: `
source: {url: "${BASE}/items"}
pages:
  style: link
  size: {param: limit, start: 5}
items: {path: "@this", id: id}
total: {header: X-Total}
limits: {retries: 3}`,
				verdict: judge.Unknown, items: 5, detect: []string{"all_further_pages_empty"},
			},
			came:  "TRUNCATED (RC002), 83 missing",
			right: "UNKNOWN (RC016), as by page numbers: every page that the total claims was asked for",
		},
		{
			scenario: scenario{
				id: "B023", about: "paging past 10,000 of 12,500 is a 400",
				server: walled(12_500), config: walls, verdict: judge.Truncated, items: 10_000,
				detect: []string{"error_at_offset_cap", "total_gt_items"},
			},
			came:  "TRUNCATED (RC002, RC022), but no reach: report.reach is null, and nothing speaks of slices",
			right: "RC003 beside it: an error behind good pages, below the total, in the words of an offset limit",
		},
		{
			scenario: scenario{
				id: "B119", about: "the same wall inside a block of items that share one time",
				server: walled(10_040), config: walls, verdict: judge.Truncated, items: 10_000,
				detect: []string{"error_at_offset_cap", "total_gt_items"},
			},
			came: "as for B023", right: "as for B023",
		},
		{
			scenario: scenario{
				id: "B023", variant: "by offset, without a total", about: "from item 99 on every page is a 400 of no special words, and no total speaks",
				server: world(500, sim.API{Style: sim.Offset, Items: "items"},
					sim.Fault{Match: sim.Match{From: 99}, Effect: sim.Status{Code: 400, Text: "bad request"}}),
				config: `
source: {url: "${BASE}/items"}
pages:
  style: offset
  offset: {param: offset}
  size: {param: limit, start: 20}
items: {path: items, id: id}
limits: {retries: 3}`,
				verdict: judge.Unknown, items: open, requests: 8, detect: []string{"page_refused"},
			},
			came:  "UNKNOWN (RC007, RC039) after 26 requests: the refusal is taken for an empty page, ten steps back are made, and no evidence names the 400",
			right: "UNKNOWN (RC022) with the server's own message",
		},
		{
			// Small pages that begin before the place hold a few items past it.
			scenario: scenario{
				id: "B034", about: "a page API that answers 500 for good from item 10,000 of 15,000 on",
				server: world(15_000, sim.API{Style: sim.Page, FirstPage: 1, Items: "items", Total: exact("total")},
					sim.Fault{Match: sim.Match{From: 10_000}, Effect: sim.Status{Code: 500}}),
				config: fmt.Sprintf(pages, 100, 1, 3), verdict: judge.Truncated, items: open,
				detect: []string{"stable_error_at_offset", "total_gt_items"},
			},
			came:  "TRUNCATED (RC002, RC022) and stopped: the page before is asked for at a place and in a size that never came, fails too, and the server counts as down",
			right: "TRUNCATED (RC003): stable at one place, and absent one page before",
		},
		{
			scenario: scenario{
				id: "B071", about: "an index that stands still: no hits, no pages, and the total of 0 is exhaustive",
				server: hits(0, sim.TotalRule{Kind: sim.TotalExact, Path: "nbHits", KindPath: "exhaustiveNbHits"}),
				config: fmt.Sprintf(algolias, 100), verdict: judge.Complete, items: 0,
			},
			came:  "UNKNOWN (RC014, RC007)",
			right: "COMPLETE (declared) for the API, until freshness comes: a total of 0 is an echo, but the server's own count of 0 pages is its word for the end, and both came twice",
		},
		{
			scenario: scenario{
				id: "B056", about: "a limit of 500 is cut to 200, and the server's next address moves by 500 all the same",
				server: world(430, sim.API{
					Style: sim.NextURL, Items: "results", Params: sim.Params{Offset: "start"}, Size: sim.SizeRule{Max: 200},
					Next: sim.NextRule{Path: "_links.next", Asked: true, End: sim.EndAbsent},
				}),
				config: `
source: {url: "${BASE}/items"}
pages:
  style: next_url
  next: {path: _links.next}
  size: {param: limit, start: 500}
  end: [absent_continuation]
items: {path: results, id: id}
complete: {require: assumed}
limits: {retries: 3}`,
				verdict: judge.Complete, items: 430, detect: []string{"next_skips_items", "requested_limit_clamped"},
			},
			came:  "COMPLETE, 430 items, RC037; but no sign of the clamp: RC038 is only noted where positions are computed",
			right: "RC038 as well: 500 were asked for and 200 came, with a next address",
		},
	}
}
