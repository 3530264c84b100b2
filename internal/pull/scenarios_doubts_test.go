package pull_test

import (
	"fmt"
	"net/http"

	"lastdrop/internal/sim"
	"lastdrop/judge"
)

// doubted are answers that look whole and are doubted by a further look at the
// source.
func doubted() []scenario {
	const boxes = `
source: {url: "${BASE}/interpreter", params: {box: all}}
pages: {style: single%s}
items: {path: elements, id: id}
complete: {%ssentinel: {params: {box: known}, path: elements, min: 12}}
limits: {retries: 3}`
	documented := fmt.Sprintf(boxes, ", end: [absent_continuation]", "require: assumed, ")
	empty := handle(func(http.Header, *http.Request) string { return `{"elements":[]}` })
	known := handle(func(_ http.Header, r *http.Request) string {
		if r.URL.Query().Get("box") == "known" {
			return `{"elements":` + list(records(1, 12)) + `}`
		}
		return `{"elements":[]}`
	})
	return []scenario{
		{
			id: "B014", about: "a query that timed out is a 200 with an empty list and not a word; the one that is known to give 12 gives them",
			server: known, config: fmt.Sprintf(boxes, "", ""), verdict: judge.Unknown, items: 0, requests: 3,
			detect: []string{"zero_items_no_evidence"}, never: []string{"sentinel_failed"},
		},
		{
			id: "B014", variant: "the sentinel too", about: "an empty list is the documented end, and the sentinel comes back empty as well",
			server: empty, config: documented, verdict: judge.Unknown, items: 0, requests: 3, detect: []string{"sentinel_failed"},
		},
		{
			id: "B014", variant: "truly empty", about: "an empty list is the documented end, and the sentinel is there",
			server: known, config: documented, verdict: judge.Complete, items: 0, requests: 3, never: []string{"sentinel_failed"},
		},
		{
			id: "B071", about: "an index that stands still: no hits and no pages, twice, by the server's own count of pages; how far behind it is cannot be told",
			server: hits(0, sim.TotalRule{Kind: sim.TotalExact, Path: "nbHits", KindPath: "exhaustiveNbHits"}),
			config: fmt.Sprintf(algolias, 100) + "\ncomplete: {freshness: {path: created_at_i, max_age: 1h}}", verdict: judge.Complete, items: 0,
			detect: []string{"freshness_gap"},
		},
	}
}
