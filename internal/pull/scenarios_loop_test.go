package pull_test

import (
	"fmt"
	"net/http"

	"lastdrop/internal/sim"
	"lastdrop/judge"
)

// loops are walks that never end, or end by standing still.
func loops() []scenario {
	return []scenario{
		{
			id: "B080", about: "the end is the token that was sent, handed back with no items",
			server: world(2013, sim.API{Style: sim.Cursor, Items: "events", Token: sim.TokenRule{Path: "nextForwardToken", End: sim.EndSame}}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: cursor, path: nextForwardToken, same_is_end: true}
  size: {param: limit, start: 1000}
items: {path: events, id: id}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 2013, requests: 4, never: []string{"cursor_cycle"},
		},
		{
			id: "B082", about: "without a page size the next address never changes: the first page for ever",
			server: handle(stuck), ids: 1200,
			config: `
source: {url: "${BASE}/users"}
pages:
  style: next_url
  next: {path: next}
  end: [absent_continuation]
items: {path: value, id: id}
complete: {require: assumed}
limits: {retries: 3}`,
			// The scenario is COMPLETE because its client sets a size by itself.
			// No key asks for that: what is right without it is UNKNOWN.
			verdict: judge.Unknown, items: 100, requests: 3, detect: []string{"repeated_cursor"},
		},
		{
			id: "B082", variant: "with a size", about: "with a page size it pages as it should",
			server: handle(stuck), ids: 1200,
			config: `
source: {url: "${BASE}/users"}
pages:
  style: next_url
  next: {path: next}
  size: {param: top, start: 100}
  end: [absent_continuation]
items: {path: value, id: id}
complete: {require: assumed}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 1200, never: []string{"repeated_cursor"},
		},
		{
			id: "B083", about: "the next address is always there; end_of_stream alone tells the end",
			server: handle(func(_ http.Header, r *http.Request) string {
				from := 1
				if number(r, "start_time") > 0 {
					from = 266 // past the end the last two come again and again
				}
				return fmt.Sprintf(`{"tickets":%s,"end_of_stream":true,"next_page":%s}`, list(records(from, 267)), quoted(base(r)+"?start_time=99"))
			}),
			ids: 267,
			config: `
source: {url: "${BASE}/export"}
pages:
  style: next_url
  next: {path: next_page}
  more: {path: end_of_stream, end_when: true}
  size: {param: per_page, start: 1000}
items: {path: tickets, id: id}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 267, requests: 1,
		},
		{
			id: "B085", about: "two tokens that lead to each other",
			server: handle(func(_ http.Header, r *http.Request) string {
				if r.URL.Query().Get("cursor") == "b" {
					return fmt.Sprintf(`{"items":%s,"next":"a"}`, list(records(11, 20)))
				}
				return fmt.Sprintf(`{"items":%s,"next":"b"}`, list(records(1, 10)))
			}),
			ids: 20,
			config: `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: cursor, path: next}
  size: {param: limit, start: 10}
items: {path: items, id: id}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 20, requests: 4, detect: []string{"cursor_cycle"},
		},
		{
			id: "B086", about: "IsTruncated without a marker: the last key is the marker",
			server: func() http.Handler {
				a := sim.API{
					Style: sim.Keyset, Items: "Contents", ID: "Key", Key: sim.KeyRule{ID: true}, Size: sim.SizeRule{Max: 1000},
					Params: sim.Params{Key: "marker", Size: "max-keys"}, More: sim.MoreRule{Path: "IsTruncated"},
				}
				return sim.New(sim.NewWorld(2500, sim.IntID).WithOrderedIDs(), a, 1)
			},
			config: `
source: {url: "${BASE}/items"}
pages:
  style: keyset
  keyset: {param: marker, path: Key}
  more: {path: IsTruncated}
  size: {param: max-keys, start: 1000, max: 1000}
items: {path: Contents, id: Key}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 2500, requests: 3,
		},
		{
			id: "B088", about: "limit and start are not read: every answer is the whole collection",
			server: world(63, sim.API{
				Style: sim.Offset, Items: "results", Params: sim.Params{Offset: "start"}, Echo: sim.EchoRule{Offset: "start"},
				Size: sim.SizeRule{Echo: "limit"},
			}, sim.Fault{Effect: sim.Ignore{Place: true, Size: true}}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: offset
  offset: {param: start}
  size: {param: limit, start: 25}
items: {path: results, id: id}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 63, requests: 2, detect: []string{"page_longer_than_limit", "zero_new_ids"},
		},
		{
			id: "B089", about: "the last page's cursor is an empty text",
			server: world(45, sim.API{Style: sim.Cursor, Items: "items", Token: sim.TokenRule{Path: "next", End: sim.EndEmpty}}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: cursor, path: next}
  size: {param: limit, start: 20}
items: {path: items, id: id}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 45, requests: 3,
		},
		{
			id: "B091", about: "page 6 of 5 answers with page 5, and says so",
			server: world(95, sim.API{
				Style: sim.Page, FirstPage: 1, Items: "items", PastEnd: sim.PastClamp, Echo: sim.EchoRule{Page: "page"},
			}),
			config: echoes, verdict: judge.Complete, items: 95, requests: 6, detect: []string{"page_clamped"},
		},
		{
			// A last page that is full looks no other: its echo alone tells.
			id: "B091", variant: "full pages", about: "the same where the last page is full",
			server: world(100, sim.API{
				Style: sim.Page, FirstPage: 1, Items: "items", PastEnd: sim.PastClamp, Echo: sim.EchoRule{Page: "page"},
			}),
			config: echoes, verdict: judge.Complete, items: 100, requests: 6, detect: []string{"page_clamped"},
		},
		{
			id: "B091", variant: "no echo", about: "the last page again, and no word which one it is",
			server: world(95, sim.API{Style: sim.Page, FirstPage: 1, Items: "items", PastEnd: sim.PastClamp}),
			config: echoes, verdict: judge.Unknown, items: 95, requests: 6, never: []string{"page_clamped"},
		},
		{
			id: "B091", variant: "page never read", about: "the server does not read the page number, answers with page 1 and says so: 20 of 500",
			server: world(500, sim.API{
				Style: sim.Page, FirstPage: 1, Items: "items", Echo: sim.EchoRule{Page: "page"},
			}, sim.Fault{Effect: sim.Ignore{Place: true}}),
			config:  echoes,
			verdict: judge.Unknown, items: 20, detect: []string{"parameter_not_honoured"},
		},
	}
}

const echoes = `
source: {url: "${BASE}/items"}
pages:
  style: page
  number: {param: page, first: 1, echo: {path: page}}
  size: {param: limit, start: 20}
items: {path: items, id: id}
limits: {retries: 3}`

// stuck is a list of 1,200 that pages by top and skip, and without top gives
// the first 100 and one next address for ever.
func stuck(_ http.Header, r *http.Request) string {
	top, skip := number(r, "top"), number(r, "skip")
	if top == 0 {
		return fmt.Sprintf(`{"value":%s,"next":%s}`, list(records(1, 100)), quoted(base(r)+"?skiptoken=X1"))
	}
	to := min(skip+top, 1200)
	body := `{"value":` + list(records(skip+1, to))
	if to < 1200 {
		body += `,"next":` + quoted(fmt.Sprintf("%s?top=%d&skip=%d", base(r), top, to))
	}
	return body + "}"
}
