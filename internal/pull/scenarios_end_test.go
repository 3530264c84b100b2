package pull_test

import (
	"fmt"
	"net/http"

	"lastdrop/internal/sim"
	"lastdrop/judge"
)

// cursors is the config of a cursor API that documents the missing cursor of
// its last page.
const cursors = `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: cursor, path: next}
  size: {param: limit, start: 100}
  end: [absent_continuation]
items: {path: items, id: id}
complete: {require: assumed}
limits: {retries: 3}`

// nextURLs is the config of an API with a next address in the body, null at
// the end.
const nextURLs = `
source: {url: "${BASE}/items"}
pages:
  style: next_url
  next: {path: next}
  size: {param: limit, start: 50}
items: {path: items, id: id}
limits: {retries: 3}`

// planned is a cursor API with a number of items for each page.
func planned(end sim.EndForm, plan ...int) func() http.Handler {
	n := 0
	for _, k := range plan {
		n += k
	}
	return world(n, sim.API{Style: sim.Cursor, Items: "items", Plan: plan, Token: sim.TokenRule{Path: "next", End: end}})
}

// falseEnds are pages that look like the last one.
func falseEnds() []scenario {
	paged := sim.API{Style: sim.NextURL, Items: "items", Next: sim.NextRule{Path: "next"}, Size: sim.SizeRule{Default: 50}}
	quarter := paged
	quarter.Size.Default = 25
	return []scenario{
		{
			id: "B035", about: "a valid, empty page in the middle, twice; the total says that more is there",
			server: world(1200, sim.API{Style: sim.Offset, Items: "entries", Total: exact("totalResults"), Params: sim.Params{Offset: "start"}},
				sim.Fault{Match: sim.Match{From: 599, To: 600, Attempts: []int{1, 2}}, Effect: sim.Empty{}}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: offset
  offset: {param: start}
  size: {param: limit, start: 100}
items: {path: entries, id: id}
total: {path: totalResults}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 1200, detect: []string{"empty_page_before_total"},
		},
		{
			id: "B037", about: "a filter leaves pages empty while a token says that more follows",
			server: planned(sim.EndAbsent, 15, 0, 0, 0, 12, 0, 0, 0, 0, 10), config: cursors,
			verdict: judge.Complete, items: 37, requests: 10, detect: []string{"empty_page_with_token"},
		},
		{
			id: "B095", about: "one empty page a partition, each with a new token",
			server: planned(sim.EndAbsent, 0, 10, 0, 0, 12, 0), config: cursors,
			verdict: judge.Complete, items: 22, requests: 6, detect: []string{"empty_page_with_token"},
		},
		{
			id: "B041", about: "a next link whose relation has no quotes, and an attribute behind it",
			server: world(45, sim.API{
				Style: sim.Link, FirstPage: 1, Items: "", Links: sim.LinkRule{Form: sim.LinkUnquoted},
			}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: link
  size: {param: limit, start: 20}
  end: [absent_link]
items: {path: "@this", id: id}
complete: {require: assumed}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 45,
		},
		{
			id: "B041b", about: "the second page's next link has lost its opening bracket",
			server: world(45, sim.API{Style: sim.Link, FirstPage: 1, Items: "", Links: sim.LinkRule{Others: true}},
				sim.Fault{Match: sim.Match{Page: 2}, Effect: sim.BadLink{}}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: link
  size: {param: limit, start: 20}
items: {path: "@this", id: id}
limits: {retries: 3}`,
			verdict: judge.Truncated, items: 40, detect: []string{"next_present_not_followable"},
		},
		{
			id: "B047", about: "above 10,000 items the total headers are left out; the next page's number goes on",
			server: world(10_400, sim.API{
				Style: sim.Cursor, FirstPage: 1, Items: "", Params: sim.Params{Cursor: "page", Size: "per_page"}, Size: sim.SizeRule{Max: 100},
				Token: sim.TokenRule{Kind: sim.TokenPage, Header: "X-Next-Page", End: sim.EndEmpty},
				Total: sim.TotalRule{Kind: sim.TotalExact, Header: "X-Total", AbsentOver: 10_000},
			}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: page, header: X-Next-Page}
  size: {param: per_page, start: 100, max: 100}
items: {path: "@this", id: id}
total: {header: X-Total}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 10_400, detect: []string{"total_absent"},
		},
		{
			id: "B049", about: "the third page fails for good, and a loop might take that for the end",
			server: world(250, paged, sim.Fault{Match: sim.Match{From: 100, To: 149}, Effect: sim.Status{Code: 502}}),
			config: nextURLs, verdict: judge.Truncated, items: 100, detect: []string{"late_page_failed"},
		},
		{
			// A 404 is not listed in pages.end: here it documents an empty first
			// page, not a place past the last one.
			id: "B050", about: "an API that says 404 for nothing says it on page three of a half-read list",
			server: world(125, quarter, sim.Fault{Match: sim.Match{From: 50, To: 74}, Effect: sim.Status{Code: 404}}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: next_url
  next: {path: next}
  size: {param: limit, start: 25}
items: {path: items, id: id}
limits: {retries: 3}`,
			verdict: judge.Truncated, items: 50, detect: []string{"late_page_failed"},
		},
	}
}

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

// pastTotals are errors behind the last item of an exact total.
func pastTotals() []scenario {
	return []scenario{
		{
			id: "B094", about: "the last page carries a token that leads to an error",
			server: listed(http.StatusOK, `{"error":{"code":"badResumptionToken","message":"the token is not known"}}`), ids: 100, config: lists,
			verdict: judge.Complete, items: 100, requests: 6, detect: []string{"error_after_total_reached"},
		},
		{
			id: "B094", variant: "as a 410", about: "the same with a status of 410",
			server: listed(http.StatusGone, `{"error":"gone"}`), ids: 100, config: lists,
			verdict: judge.Complete, items: 100, requests: 6, detect: []string{"error_after_total_reached"},
		},
		{
			id: "B094", variant: "as a 500", about: "the same with a status of 500",
			server: listed(http.StatusInternalServerError, `{"error":"oops"}`), ids: 100, config: lists,
			verdict: judge.Complete, items: 100, requests: 6, detect: []string{"error_after_total_reached"},
		},
	}
}
