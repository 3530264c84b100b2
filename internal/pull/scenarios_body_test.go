package pull_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"lastdrop/internal/sim"
	"lastdrop/judge"
)

// scenarios are the rows that this version can drain.
func scenarios() []scenario {
	var all []scenario
	for _, family := range [][]scenario{
		shortBodies(), errorsWith200(), silentCaps(), falseEnds(), pastTotals(), pageSizes(), drifts(), unstableOrders(), loops(),
		missingPaths(), credentials(), rateLimits(), doubted(), sliced(),
	} {
		all = append(all, family...)
	}
	return all
}

// firstDocument and secondDocument follow each other in one body.
var (
	firstDocument  = list(records(1, 10))
	secondDocument = `{"more":true}`
)

// shortBodies are answers that end before they are whole.
func shortBodies() []scenario {
	const offsets = `
source: {url: "${BASE}/items"}
pages:
  style: offset
  offset: {param: offset}
  size: {param: limit, start: %d}
items: {path: items, id: id}
total: {path: total}
limits: {retries: 3}`
	flagged := world(200, sim.API{
		Style: sim.Offset, Items: "items", Total: exact("total"), Extra: []sim.Extra{{Path: "truncated", JSON: "false"}},
	}, sim.Fault{Match: sim.Match{SizeOver: 80}, Effect: sim.Half{Framing: sim.Rewritten, At: 88_993}})
	return []scenario{
		{
			id: "B001", about: "one answer ends in the middle of its declared length, once",
			server: world(50, sim.API{Style: sim.Offset, Items: "items", Total: exact("total"), Size: sim.SizeRule{Max: 100}},
				sim.Fault{Match: sim.Match{From: 1, To: 20, Attempts: []int{1}}, Effect: sim.Half{Framing: sim.ByLength}}),
			config:  fmt.Sprintf(offsets, 20),
			verdict: judge.Complete, items: 50, detect: []string{"bytes_short"},
		},
		{
			id: "B002", about: "over HTTP/2 a body ends politely below its declared length, as long as the page is larger than 5",
			server: world(30, sim.API{Style: sim.Offset, Items: "items", Total: exact("total")},
				sim.Fault{Match: sim.Match{From: 9, To: 10, SizeOver: 5}, Effect: sim.Half{Framing: sim.ByLength}}),
			h2: true, config: fmt.Sprintf(offsets, 10),
			verdict: judge.Complete, items: 30, detect: []string{"bytes_short"},
		},
		{
			id: "B008", about: "JSON lines without a length stop after line 640 of 1,000: every line is whole",
			server: world(1000, sim.API{Style: sim.Single, Format: sim.NDJSON},
				sim.Fault{Effect: sim.Lines{Keep: 640}}, sim.Fault{Effect: sim.Frame{Framing: sim.ByClose}}),
			config: `
source: {url: "${BASE}/items"}
pages: {style: single}
items: {format: ndjson, id: id}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 640, detect: []string{"no_end_evidence"},
		},
		{
			id: "B007", about: "our own limit on a body falls just behind its first document, which would parse",
			server: handle(func(_ http.Header, _ *http.Request) string { return firstDocument + secondDocument }),
			ids:    10,
			config: fmt.Sprintf(`
source: {url: "${BASE}/items"}
pages: {style: single}
items: {path: "@this", id: id}
limits: {retries: 3, max_body: %d}`, len(firstDocument)),
			verdict: judge.Truncated, items: open, detect: []string{"read_limit_hit"},
		},
		{
			id: "B010", about: "the body begins with truncated: false, and a proxy cuts it at 88,993 bytes and declares just those",
			server: func() http.Handler {
				s, _ := flagged().(*sim.Sim)
				s.World.Payload = 950
				s.Reset()
				return s
			},
			config:  fmt.Sprintf(offsets, 100) + "\npartial: {path: truncated, is: true}",
			verdict: judge.Complete, items: 200, detect: []string{"json_parse_fail_200", "flag_contradicted"},
		},
		{
			id: "B011", about: "every announced byte comes, then the connection is reset instead of closed",
			server: world(40, sim.API{Style: sim.Offset, Items: "items", Total: exact("total")},
				sim.Fault{Match: sim.Match{From: 1}, Effect: sim.ResetAfter{}}),
			config:  fmt.Sprintf(offsets, 20),
			verdict: judge.Complete, items: 40, requests: 2, never: []string{"bytes_short"},
		},
	}
}

// errorsWith200 are failures under a status of 200.
func errorsWith200() []scenario {
	const hits = `
source: {url: "${BASE}/search"}
pages:
  style: offset
  offset: {param: from}
  size: {param: size, start: %d}
items: {path: hits, id: id}
total: {path: total}
limits: {retries: 3}
`
	search := sim.API{
		Style: sim.Offset, Path: "/search", Items: "hits", Total: exact("total"),
		Params: sim.Params{Offset: "from", Size: "size"},
		Extra:  []sim.Extra{{Path: "_shards", JSON: `{"total":4,"successful":4,"failed":0}`}},
	}
	shards := search
	shards.Extra = nil
	return []scenario{
		{
			id: "B013", about: "a query that timed out is a 200 with an empty list and a remark",
			server: handle(func(http.Header, *http.Request) string {
				return `{"elements":[],"remark":"runtime error: query timed out"}`
			}),
			config: `
source: {url: "${BASE}/interpreter"}
pages: {style: single}
items: {path: elements, id: id}
errors: [remark]
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 0, detect: []string{"error_field_on_200"},
		},
		{
			id: "B016", about: "a search that ran out of time says timed_out, counts every shard, and gives 410 of 600 with a total of 410",
			server:  world(600, search, sim.Fault{Match: sim.Match{SizeOver: 200}, Effect: sim.Partial{Kind: "timed_out", Keep: 410, Total: true}}),
			config:  fmt.Sprintf(hits, 1000) + "partial: {path: timed_out, is: true}",
			verdict: judge.Complete, items: 600, detect: []string{"timed_out_flag"},
		},
		{
			id: "B017", about: "a shard that is not there is neither failed nor successful: no hits, and a total of 0",
			server:  world(900, shards, sim.Fault{Effect: sim.Partial{Kind: "shards", Total: true}}),
			config:  fmt.Sprintf(hits, 100) + "partial: {path: _shards.successful, below: _shards.total}",
			verdict: judge.Truncated, items: 0, detect: []string{"shards_partial"},
		},
	}
}

// missingPaths are answers without their list.
func missingPaths() []scenario {
	return []scenario{
		{
			id: "B097", about: "the list was renamed: the configured path is not there",
			server: world(60, sim.API{Style: sim.Page, FirstPage: 1, Items: "rows"}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: page
  number: {param: page}
  size: {param: limit, start: 20}
items: {path: data, id: id}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 0, detect: []string{"items_path_missing"},
		},
		{
			id: "B098", about: "the empty page at the end has null for its list, legally",
			server: world(14, sim.API{
				Style: sim.Cursor, Items: "items", EmptyItems: sim.EmptyNull, Plan: []int{10, 4, 0}, Token: sim.TokenRule{Path: "next_token"},
			}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: cursor, path: next_token}
  size: {param: limit, start: 10}
items: {path: items, id: id, absent_is_empty: true}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 14, detect: []string{"items_null"},
		},
	}
}

// quoted is a JSON text.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a text can always be written
	}
	return strings.TrimSpace(string(b))
}
