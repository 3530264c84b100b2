package pull_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"lastdrop/internal/sim"
	"lastdrop/judge"
)

// drifts are totals that move, lie or only guess.
func drifts() []scenario {
	return []scenario{
		{
			id: "B064", about: "an estimate of 201 for 9 items, and no token",
			server: world(9, sim.API{
				Style: sim.Cursor, Items: "messages", Token: sim.TokenRule{Path: "nextPageToken", End: sim.EndAbsent},
				Total: sim.TotalRule{Kind: sim.TotalEstimate, Path: "resultSizeEstimate", Value: 201},
			}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: cursor, path: nextPageToken}
  size: {param: limit, start: 100}
  end: [absent_continuation]
items: {path: messages, id: id}
total: {path: resultSizeEstimate, kind: estimate}
complete: {require: assumed}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 9, detect: []string{"total_is_estimate"}, never: []string{"total_gt_items"},
		},
		{
			id: "B065", about: "an estimate of 25: 21 items on the only page of 50, and 25 on five pages of 5",
			server: handle(fewerOnOnePage), ids: 25,
			config: `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: cursor, path: nextPageToken}
  size: {param: limit, start: 50}
  end: [absent_continuation]
items: {path: items, id: id}
total: {path: totalResults, kind: estimate}
complete: {second: {size: 5}}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 25, requests: 7, detect: []string{"total_is_estimate", "walks_disagree"}, never: []string{"total_gt_items"},
		},
		{
			id: "B067", about: "a long walk: the total grows by 15, 32 items come twice, and the end is an empty page",
			server: handle(grown), ids: 9622,
			config: `
source: {url: "${BASE}/works"}
pages:
  style: cursor
  cursor: {param: cursor, path: message.next-cursor}
  size: {param: rows, start: 100}
items: {path: message.items, id: id}
total: {path: message.total-results}
complete: {tolerance: {items: 5, percent: 0.1}}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 9622, detect: []string{"total_drift", "dup_ids"},
		},
		{
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
		{
			id: "B068", about: "two replicas by turns: one has 4 items and says 4, the other 5",
			server: func() http.Handler {
				asked := 0
				return handle(func(_ http.Header, r *http.Request) string {
					asked++
					n := 5 - asked%2 // the poor one first
					if number(r, "page") > 1 {
						return fmt.Sprintf(`{"total":%d,"items":[]}`, n)
					}
					return fmt.Sprintf(`{"total":%d,"items":%s}`, n, list(records(1, n)))
				})()
			},
			ids:     5,
			config:  fmt.Sprintf(pages, 20, 1, 3),
			verdict: judge.Complete, items: 5, detect: []string{"total_flaps"},
		},
		{
			id: "B070", about: "the total and the links ignore the filter: 88 for 5 items, and 17 empty pages",
			server: world(5, sim.API{
				Style: sim.Link, FirstPage: 1, Items: "", Total: sim.TotalRule{Kind: sim.TotalExact, Header: "X-Total"},
			}, sim.Fault{Effect: sim.Phantom{Items: 88}}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: page
  number: {param: page, first: 1}
  size: {param: limit, start: 5}
items: {path: "@this", id: id}
total: {header: X-Total}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 5, detect: []string{"total_gt_items", "all_further_pages_empty"},
		},
		{
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
	}
}

// grown serves pages of 100 behind a cursor, 32 items of them a second time,
// while its total goes from 9,610 to 9,625. The empty page at the end has no
// cursor.
func grown(_ http.Header, r *http.Request) string {
	const served = 9622 + 32
	from, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("cursor"), "at-")) // "" is the start
	var items []string
	for at := from; at < min(from+100, served); at++ {
		id := at - min(at/301, 32) + 1
		if at%301 == 300 && at/301 < 32 {
			id -= 299 // behind every 300 items the second of them comes again
		}
		items = append(items, record(id, ""))
	}
	next := ""
	if len(items) > 0 {
		next = fmt.Sprintf(`,"next-cursor":"at-%d"`, from+len(items))
	}
	return fmt.Sprintf(`{"message":{"total-results":%d,"items":%s%s}}`, 9610+15*from/served, list(items), next)
}

// rateLimits are servers that ask for patience.
func rateLimits() []scenario {
	numbered := sim.API{Style: sim.Page, FirstPage: 1, Items: "items", Total: exact("total")}
	return []scenario{
		{
			id: "B106", about: "page 4 is a 429 for good: wait as told, then give up with what was read",
			server: world(300, numbered, sim.Fault{Match: sim.Match{From: 150, To: 199}, Effect: sim.Status{Code: 429, Retry: sim.RetrySeconds, Wait: 1}}),
			config: fmt.Sprintf(pages, 50, 1, 2), verdict: judge.Truncated, items: 150,
			detect: []string{"rate_limit_exhausted", "late_page_failed"},
		},
		{
			id: "B107", about: "a second limiter answers in HTML and names no time",
			server: world(60, numbered, sim.Fault{Match: sim.Match{Page: 2, Attempts: []int{1, 2}}, Effect: sim.Status{Code: 429, HTML: true}}),
			config: fmt.Sprintf(pages, 20, 1, 3), verdict: judge.Complete, items: 60, detect: []string{"rate_limited"},
		},
	}
}

// credentials are links and tokens that lose something on the way.
func credentials() []scenario {
	inner := sim.API{
		Style: sim.NextURL, Items: "results", Addressing: sim.ByPage, FirstPage: 1, Total: exact("count"),
		Next: sim.NextRule{Path: "next", Host: "inner.invalid"}, Auth: sim.Header{Name: "Authorization", Value: "Bearer " + token},
	}
	const behind = `
source: {url: "${BASE}/items", auth: {bearer: "${TOKEN}"}}
pages:
  style: next_url
  next: {path: next%s}
  size: {param: limit, start: 25}
items: {path: results, id: id}
total: {path: count}
limits: {retries: 3}`
	guarded := sim.API{
		Style: sim.NextURL, Items: "items", Next: sim.NextRule{Path: "next"}, Auth: sim.Header{Name: "X-Api-Key", Value: token},
	}
	return []scenario{
		{
			id: "B100", about: "the next address names a host behind the proxy, and is put onto the configured origin",
			server: world(28, inner), config: fmt.Sprintf(behind, ", rebase: true"),
			verdict: judge.Complete, items: 28, detect: []string{"next_host_mismatch"},
		},
		{
			id: "B100", variant: "not rebased", about: "the same, and nobody said that the address may be changed",
			server: world(28, inner), config: fmt.Sprintf(behind, ""),
			verdict: judge.Truncated, items: 25, detect: []string{"next_host_mismatch", "next_present_not_followable"},
		},
		{
			id: "B101", about: "every page wants the credential, the second one too",
			server: world(40, guarded),
			config: `
source: {url: "${BASE}/items", auth: {header: {name: X-Api-Key, value: "${TOKEN}"}}}
pages:
  style: next_url
  next: {path: next}
  size: {param: limit, start: 20}
items: {path: items, id: id}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 40,
		},
		{
			id: "B104", about: "the token has lost the filter: from page 2 on all sets come",
			server: handle(unfiltered), ids: 25,
			config: `
source: {url: "${BASE}/records", params: {set: A}}
pages:
  style: cursor
  cursor: {param: token, path: next}
items: {path: records, id: id, check: {path: set, equals: A}}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 25, detect: []string{"filter_dropped"},
		},
	}
}

// unfiltered has 25 items of set A, the ids 1 to 25, and 75 of set B. Its first
// page are ten of A; the pages behind its tokens are the other ninety of both.
func unfiltered(_ http.Header, r *http.Request) string {
	var all []string
	for id := 1; id <= 25; id++ {
		all = append(all, record(id, `,"set":"A"`))
		if id > 10 {
			for k := range 5 {
				all = append(all, record(1000*id+k, `,"set":"B"`))
			}
		}
	}
	from := number(r, "token")
	to, next := min(from+10, len(all)), "null"
	if to < len(all) {
		next = quoted(strconv.Itoa(to))
	}
	return fmt.Sprintf(`{"records":%s,"next":%s}`, list(all[from:to]), next)
}

// fewerOnOnePage leaves items 22 to 25 out where all would come on one page.
func fewerOnOnePage(_ http.Header, r *http.Request) string {
	from, size := number(r, "cursor"), number(r, "limit")
	to := min(from+size, 25)
	if size >= 25 {
		return fmt.Sprintf(`{"totalResults":25,"items":%s}`, list(records(1, 21)))
	}
	next := ""
	if to < 25 {
		next = fmt.Sprintf(`,"nextPageToken":"%d"`, to)
	}
	return fmt.Sprintf(`{"totalResults":25,"items":%s%s}`, list(records(from+1, to)), next)
}
