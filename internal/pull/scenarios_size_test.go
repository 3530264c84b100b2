package pull_test

import (
	"fmt"
	"net/http"
	"strings"

	"lastdrop/internal/sim"
	"lastdrop/judge"
)

// pages is the config of a page-number API with a total.
const pages = `
source: {url: "${BASE}/items"}
pages:
  style: page
  number: {param: page, first: 1}
  size: {param: limit, start: %d, min: %d}
items: {path: items, id: id}
total: {path: total}
limits: {retries: %d}`

// pageSizes are wrong beliefs about the size of a page.
func pageSizes() []scenario {
	numbered := sim.API{Style: sim.Page, FirstPage: 1, Items: "items", Total: exact("total")}
	half := sim.Half{Framing: sim.Rewritten}
	return []scenario{
		{
			id: "B055", about: "page 2 comes whole only in halves: at 50 items the same place is page 3",
			server: world(260, numbered, sim.Fault{Match: sim.Match{From: 100, To: 100, SizeOver: 50}, Effect: half}),
			config: fmt.Sprintf(pages, 100, 1, 3), verdict: judge.Complete, items: 260,
			detect: []string{"json_parse_fail_200"}, order: []string{"1@100", "2@100", "3@50", "4@50", "5@50", "6@50"},
		},
		{
			id: "B055b", about: "the size that works does not divide the place: at 40 items page 3 begins before it",
			server: world(260, numbered, sim.Fault{Match: sim.Match{From: 100, To: 100, SizeOver: 40}, Effect: half}),
			config: fmt.Sprintf(pages, 100, 40, 3), verdict: judge.Complete, items: 260,
			detect: []string{"json_parse_fail_200", "grid_not_divisible"},
		},
		{
			id: "B058", about: "a page of 200 where 500 were asked: the next one begins after 200",
			server: world(1300, sim.API{Style: sim.Offset, Items: "items", Total: exact("total")},
				sim.Fault{Match: sim.Match{From: 499, To: 500}, Effect: sim.Short{Keep: 200}}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: offset
  offset: {param: offset}
  size: {param: limit, start: 500}
items: {path: items, id: id}
total: {path: total}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 1300, detect: []string{"short_page_middle"},
		},
		{
			id: "B059", about: "the count of pages is made with 10 a page, the pages with 5: five pages are not all",
			server: world(45, sim.API{
				Style: sim.Page, FirstPage: 1, Items: "", PastEnd: sim.Past400, Params: sim.Params{Size: "per_page"},
				Total: sim.TotalRule{Kind: sim.TotalExact, Header: "X-WP-Total"}, Last: sim.LastRule{Header: "X-WP-TotalPages", Size: 10},
			}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: page
  number: {param: page, first: 1}
  size: {param: per_page, start: 5}
  last: {header: X-WP-TotalPages}
items: {path: "@this", id: id}
total: {header: X-WP-Total}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 45, detect: []string{"pages_contradict_total"},
		},
		{
			id: "B061", about: "filters run after paging: pages are short or empty, and only the cursor counts",
			server: planned(sim.EndEmpty, 9, 0, 12, 3, 0, 13),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: cursor, path: next}
  size: {param: limit, start: 20}
items: {path: items, id: id}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 37, detect: []string{"empty_page_with_token"},
		},
		{
			id: "B062", about: "10,000 items a page are refused: the most is 1,000",
			server: world(2345, sim.API{
				Style: sim.Link, FirstPage: 1, Items: "tags", Params: sim.Params{Size: "n"}, Links: sim.LinkRule{Others: true},
				Size: sim.SizeRule{Max: 1000, Over: sim.OverReject},
			}),
			config: `
source: {url: "${BASE}/items"}
pages:
  style: link
  size: {param: n, start: 10000}
items: {path: tags, id: id}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 2345, detect: []string{"page_size_rejected"},
		},
		{
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
	}
}

// unstableOrders are lists whose order is none.
func unstableOrders() []scenario {
	return []scenario{
		{
			// The list is bad only for pages that begin at a multiple of 100. An
			// offset walk overlaps, begins nowhere such, and reads every item:
			// COMPLETE is earned, where a plain walk would be TRUNCATED.
			id: "B073", about: "a page that begins at a full hundred swaps its first item with the one before: seen past by overlapping",
			server: handle(swapped("offset")), ids: 1000,
			config: `
source: {url: "${BASE}/items"}
pages:
  style: offset
  offset: {param: offset}
  size: {param: limit, start: 100}
items: {path: items, id: id}
total: {path: total}
complete: {passes: 1}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 1000,
		},
		{
			id: "B073", variant: "by page numbers", about: "the same list by page numbers of one size, which cannot overlap",
			server: handle(swapped("page")), ids: 1000,
			config: `
source: {url: "${BASE}/items", params: {limit: 100}}
pages:
  style: page
  number: {param: page, first: 0}
items: {path: items, id: id}
total: {path: total}
complete: {passes: 1}
limits: {retries: 3}`,
			verdict: judge.Truncated, items: 991, detect: []string{"dup_ids", "distinct_lt_total"},
		},
		{
			// No number of items is fixed: the three that came in may be in or out.
			id: "B074", about: "newest first, and three items come in before page 2: three of page 1 are pushed onto it",
			server: func() http.Handler {
				w := sim.NewWorld(100, sim.IntID).Newest()
				for range 3 {
					w.Changes = append(w.Changes, sim.Change{Before: 2, Op: sim.Insert})
				}
				return sim.New(w, sim.API{Style: sim.Page, FirstPage: 1, Items: "items"}, 1)
			},
			config: `
source: {url: "${BASE}/items"}
pages:
  style: page
  number: {param: page, first: 1}
  size: {param: limit, start: 20}
items: {path: items, id: id}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: open, detect: []string{"dup_ids"},
		},
		{
			id: "B076", about: "the first next address says skip=190, the second 234, where 100 and 200 came",
			server: func() http.Handler {
				jumps := []int{190, 234}
				return handle(func(_ http.Header, r *http.Request) string {
					skip := number(r, "skip")
					to := min(skip+100, 420)
					next := to
					if len(jumps) > 0 {
						next, jumps = jumps[0], jumps[1:]
					}
					body := `{"value":` + list(records(skip+1, to))
					if to < 420 {
						body += fmt.Sprintf(`,"@odata.nextLink":%s`, quoted(fmt.Sprintf("%s?top=100&skip=%d", base(r), next)))
					}
					return body + "}"
				})()
			},
			ids: 420,
			config: `
source: {url: "${BASE}/messages"}
pages:
  style: next_url
  next: {path: "@odata\\.nextLink"}
  size: {param: top, start: 100, max: 100}
  end: [absent_continuation]
items: {path: value, id: id}
complete: {require: assumed}
limits: {retries: 3}`,
			verdict: judge.Complete, items: 420, detect: []string{"next_skips_items"},
		},
	}
}

// swapped serves 1,000 items by offset, or by pages of 100 from 0 on; a page
// that begins at b, a full hundred, swaps the items b-1 and b of the list.
func swapped(by string) func(http.Header, *http.Request) string {
	return func(_ http.Header, r *http.Request) string {
		all := records(1, 1000)
		from, size := number(r, by), number(r, "limit")
		if by == "page" {
			from *= size
		}
		from = min(from, len(all))
		if from > 0 && from%100 == 0 && from < len(all) {
			all[from-1], all[from] = all[from], all[from-1]
		}
		var b strings.Builder
		fmt.Fprintf(&b, `{"total":%d,"items":%s}`, len(all), list(all[from:min(from+size, len(all))]))
		return b.String()
	}
}
