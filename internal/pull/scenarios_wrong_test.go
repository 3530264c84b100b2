package pull_test

import (
	"fmt"
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

// wrong are the rows that the product gets wrong.
func wrong() []mistake {
	return []mistake{
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
			came:  "UNKNOWN (RC022), but after 25 requests: nine steps back, each of which reads something new, and that allows the next one",
			right: "UNKNOWN (RC022) with the server's own message after one step back",
		},
		{
			scenario: scenario{
				id: "B071", about: "an index that stands still: no hits, no pages, and the total of 0 is exhaustive",
				server: hits(0, sim.TotalRule{Kind: sim.TotalExact, Path: "nbHits", KindPath: "exhaustiveNbHits"}),
				config: fmt.Sprintf(algolias, 100), verdict: judge.Complete, items: 0,
			},
			came:  "UNKNOWN (RC014, RC007): the total of 0 is settled as an echo before the count of 0 pages is looked at",
			right: "COMPLETE (declared) for the API, until freshness comes: a total of 0 is an echo, but the server's own count of 0 pages is its word for the end, and both came twice",
		},
	}
}
