package pull_test

import (
	"fmt"
	"net/http"
	"testing"

	"lastdrop/internal/sim"
	"lastdrop/judge"
)

// A later row is a scenario whose means come with a later issue. Where it has
// an honest outcome today, the scenario holds that; else only its id is set.
type later struct {
	scenario
	// issue says which means are missing, in words.
	issue string
}

// TestScenariosThatWait runs what today's honest outcome is.
func TestScenariosThatWait(t *testing.T) {
	var all []scenario
	for _, w := range waiting() {
		if w.server != nil {
			all = append(all, w.scenario)
		}
	}
	runAll(t, all)
}

const algolias = `
source: {url: "${BASE}/items"}
pages:
  style: algolia
  size: {param: hitsPerPage, start: %d, max: 1000}
limits: {retries: 3}`

// hits is a search of the Algolia kind.
func hits(n int, total sim.TotalRule, faults ...sim.Fault) func() http.Handler {
	return world(n, sim.API{
		Style: sim.Algolia, Items: "hits", ID: "objectID", Total: total, Last: sim.LastRule{Path: "nbPages"},
		Params: sim.Params{Size: "hitsPerPage"}, Size: sim.SizeRule{Max: 1000}, Echo: sim.EchoRule{Page: "page"},
	}, faults...)
}

// waiting are the rows that wait for a later issue.
func waiting() []later {
	exhaustive := func(kind sim.TotalKind, off int) sim.TotalRule {
		return sim.TotalRule{Kind: kind, Path: "nbHits", KindPath: "exhaustiveNbHits", Value: off}
	}
	return append([]later{
		{issue: "slices", scenario: scenario{
			id: "B019", about: "5,562 hits, 1,000 of them in reach, and past them a total of 0",
			server: hits(5562, exhaustive(sim.TotalJitter, 3), sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapCollapse, Pages: true}}),
			config: fmt.Sprintf(algolias, 100), verdict: judge.Truncated, items: 1000,
			detect: []string{"cap_hit", "total_dropped_on_page", "total_gt_items"},
		}},
		{issue: "slices", scenario: scenario{
			id: "B020", about: "the count of pages is cut to the reach, the total is true",
			server: hits(7572, exhaustive(sim.TotalExact, 0), sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapEmpty, Pages: true}}),
			config: fmt.Sprintf(algolias, 1000), verdict: judge.Truncated, items: 1000,
			detect: []string{"pages_times_size_lt_total", "total_gt_items"},
		}},
		{issue: "slices by a listed value and by time", scenario: scenario{
			id: "B122", about: "the limit of 1,000 cuts each of two streams on its own",
			server: func() http.Handler {
				w := sim.NewWorld(6000, sim.IntID)
				w.Groups = 2
				return sim.New(w, sim.API{Style: sim.Single, Items: "lines"}, 1, sim.Fault{Effect: sim.GroupCap{At: 1000}})
			},
			config: `
source: {url: "${BASE}/items", params: {limit: "1000"}}
pages: {style: single}
items: {path: lines, id: id}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 2000, detect: []string{"no_end_evidence"},
		}},
		{issue: "the audit by smaller windows", scenario: scenario{
			id: "B052", about: "674 lines for two days and a limit of 5,000: fewer than the limit proves nothing",
			server: handle(func(http.Header, *http.Request) string { return `{"lines":` + list(records(1, 674)) + `}` }), ids: 674,
			config: `
source: {url: "${BASE}/query", params: {limit: "5000", hours: "48"}}
pages: {style: single}
items: {path: lines, id: id}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: open, detect: []string{"no_end_evidence"},
		}},
	}, waitingDoubts()...)
}

// waitingDoubts are those whose doubt needs a further look at the source.
func waitingDoubts() []later {
	return []later{
		{issue: "editing a projection", scenario: scenario{
			id: "B040", about: "the request's own field mask leaves the next token out",
			server: world(11, sim.API{
				Style: sim.Cursor, Items: "files", Params: sim.Params{Fields: "fields"}, Token: sim.TokenRule{Path: "nextPageToken", End: sim.EndAbsent},
			}),
			config: `
source: {url: "${BASE}/items", params: {fields: files}}
pages:
  style: cursor
  cursor: {param: cursor, path: nextPageToken}
  size: {param: limit, start: 5}
items: {path: files, id: id}
limits: {retries: 3}`,
			verdict: judge.Unknown, items: 5, detect: []string{"no_end_evidence"},
		}},
		{issue: "falling back to a composite key", scenario: scenario{
			id: "B077", about: "a keyset over times that blocks of seven share: each border loses some",
			server: func() http.Handler {
				a := sim.API{Style: sim.Keyset, Items: "events", SortField: "ts", Total: exact("total")}
				return sim.New(sim.NewWorld(1000, sim.IntID).WithTies(7), a, 1)
			},
			config: `
source: {url: "${BASE}/items"}
pages:
  style: keyset
  keyset: {param: after, path: ts}
  size: {param: limit, start: 50}
items: {path: events, id: id}
total: {path: total}
limits: {retries: 3}`,
			verdict: judge.Truncated, items: open, detect: []string{"distinct_lt_total", "ties"},
		}},
		{issue: "two cursors at once", scenario: scenario{id: "B043"}},
		{issue: "listings of several parts", scenario: scenario{id: "B053"}},
		{issue: "conditional requests", scenario: scenario{id: "B115"}},
		{issue: "sinks that count back by a query", scenario: scenario{id: "B124"}},
		{issue: "envelopes at both ends of a hop", scenario: scenario{id: "B127"}},
		{issue: "envelopes at both ends of a hop", scenario: scenario{id: "B128"}},
		{issue: "the guard of a tool's continuation", scenario: scenario{id: "B130"}},
	}
}
