package pull_test

import (
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

// waiting are the rows that wait for a later issue.
func waiting() []later {
	return append([]later{
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
