package pull_test

import (
	"fmt"
	"net/http"
	"strings"

	"lastdrop/internal/sim"
	"lastdrop/judge"
)

// reddits is a list whose cursor is null after 1,000 items, whatever follows.
func reddits(n int) func() http.Handler {
	return world(n, sim.API{Style: sim.Cursor, Items: "children", Token: sim.TokenRule{Path: "after"}, Size: sim.SizeRule{Max: 100}},
		sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapEnd}})
}

const reddit = `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: cursor, path: after}
  size: {param: limit, start: 100, max: 100}
  reach: 1000
items: {path: children, id: id}
limits: {retries: 3}`

// silentCaps are servers that hand out a part and call it a day.
func silentCaps() []scenario {
	return []scenario{
		{
			id: "B022", about: "the body counts 3,041, the Link header's last page only what can be paged: 1,000",
			server: world(3041, sim.API{
				Style: sim.Link, FirstPage: 1, Items: "items", Total: exact("total_count"), Params: sim.Params{Size: "per_page"},
				Links: sim.LinkRule{Others: true, Last: true}, Size: sim.SizeRule{Max: 100},
			}, sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapEnd, Pages: true}}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: link
  number: {param: page, first: 1}
  size: {param: per_page, start: 100, max: 100}
items: {path: items, id: id}
total: {path: total_count}
limits: {retries: 3}`,
			verdict: judge.Truncated, items: 1000, detect: []string{"total_sources_disagree", "total_gt_items"},
		},
		{
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
			verdict: judge.Unknown, items: open, requests: 10, detect: []string{"page_refused"},
		},
		{
			id: "B025", about: "a limit of 100,000 is lowered to 32,000, and the answer only echoes that",
			server: world(96_500, sim.API{
				Style: sim.Offset, Items: "result.records", Total: exact("result.total"),
				Size: sim.SizeRule{Max: 32_000, Echo: "result.limit"},
			}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: offset
  offset: {param: offset}
  size: {param: limit, start: 100000}
items: {path: result.records, id: id}
total: {path: result.total}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 96_500, requests: 5, detect: []string{"requested_limit_clamped"},
		},
		{
			id: "B028", about: "250 of 900 whatever limit and skip say, without total or marker",
			server: world(900, sim.API{
				Style: sim.Offset, Items: "changes", Size: sim.SizeRule{Max: 250}, Params: sim.Params{Offset: "skip", Size: "top"},
			}, sim.Fault{Effect: sim.Ignore{Place: true}}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: offset
  offset: {param: skip}
  size: {param: top, start: 1000}
items: {path: changes, id: id}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 250, detect: []string{"requested_limit_clamped", "parameter_not_honoured"},
		},
		{
			id: "B029", about: "after 1,000 of 2,400 items the cursor is null, as at a real end",
			server: reddits(2400),
			config: reddit, verdict: judge.Unknown, items: 1000, detect: []string{"end_at_known_cap"}, never: []string{"declared_end"},
		},
		{
			// The cap stands where an end is claimed, and nowhere else.
			id: "B029", variant: "below the cap", about: "999 items and a null cursor, of a list that hands out 1,000",
			server: reddits(999),
			config: reddit, verdict: judge.Complete, items: 999, detect: []string{"declared_end"}, never: []string{"end_at_known_cap"},
		},
		{
			id: "B029", variant: "a cursor that is missing", about: "the documented end of an API, at the documented cap of a query",
			server: world(2400, sim.API{Style: sim.Cursor, Items: "children", Token: sim.TokenRule{Path: "after", End: sim.EndAbsent}, Size: sim.SizeRule{Max: 100}},
				sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapEnd}}),
			config:  strings.Replace(reddit, "reach: 1000", "reach: 1000\n  end: [absent_continuation]\ncomplete: {require: assumed}", 1),
			verdict: judge.Unknown, items: 1000, detect: []string{"end_at_known_cap"},
		},
		{
			id: "B029", variant: "by offset", about: "the pages behind 1,000 items are empty, twice, and no total speaks",
			server: world(2400, sim.API{Style: sim.Offset, Items: "children", Size: sim.SizeRule{Max: 100}}, sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapEmpty}}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: offset
  offset: {param: offset}
  size: {param: limit, start: 100, max: 100}
  reach: 1000
  end: [empty_page]
items: {path: children, id: id}
complete: {require: assumed}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 1000, detect: []string{"end_at_known_cap"},
		},
		{
			id: "B029", variant: "as many as the cap", about: "1,000 items, and a total that says so: it may be cut to the cap itself",
			server: world(1000, sim.API{Style: sim.Cursor, Items: "children", Token: sim.TokenRule{Path: "after"}, Size: sim.SizeRule{Max: 100}, Total: exact("total")},
				sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapEnd}}),
			config:  reddit + "\ntotal: {path: total}",
			verdict: judge.Unknown, items: 1000, detect: []string{"end_at_known_cap"},
		},
		{
			id: "B032", about: "an export that hit its limit ends in a row of notices that looks like data",
			server: func() http.Handler { return http.HandlerFunc(export) },
			ids:    1000,
			config: `
source: {url: "${BASE}/export.csv"}
pages: {style: single}
items: {format: csv, id: id}
limits: {retries: 3}`,
			verdict: judge.Truncated, items: 1000, detect: []string{"sentinel_row"},
		},
		{
			// Small pages that begin before the place hold a few items past it.
			id: "B034", about: "a page API that answers 500 for good from item 10,000 of 15,000 on",
			server: world(15_000, sim.API{Style: sim.Page, FirstPage: 1, Items: "items", Total: exact("total")},
				sim.Fault{Match: sim.Match{From: 10_000}, Effect: sim.Status{Code: 500}}),
			config: fmt.Sprintf(pages, 100, 1, 3), verdict: judge.Truncated, items: open,
			detect: []string{"stable_error_at_offset", "total_gt_items"},
		},
	}
}

// export is a CSV of 1,000 rows and one row that says that there were more.
func export(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/csv")
	var b strings.Builder
	b.WriteString("id,name,place,note\r\n")
	for _, line := range records(1, 1000) {
		id, _, _ := strings.Cut(strings.TrimPrefix(line, `{"id":`), ",")
		b.WriteString(id + ",thing " + id + ",here,fine\r\n")
	}
	b.WriteString("limit exceeded,result truncated,limit exceeded,result truncated\r\n")
	_, _ = w.Write([]byte(b.String())) // a client that went away is no fault of ours
}
