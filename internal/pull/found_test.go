package pull_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lastdrop/judge"
)

// TestFound runs what was found by trying to make the product wrong.
func TestFound(t *testing.T) {
	for _, s := range found() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			out, problems := s.run(t)
			for _, p := range problems {
				t.Error(p)
			}
			if t.Failed() {
				t.Logf("%s\n%s", s.about, out.story())
			}
		})
	}
}

func found() []scenario {
	return []scenario{
		{
			id: "item-replaced", about: "an item in the place of another one, known by its id",
			server: hiding, ids: 30, config: fmt.Sprintf(hidden, "id"), verdict: judge.Truncated, items: 29,
		},
	}
}

// hiding serves 30 items by number, where item 19 comes twice and 29 never, and
// each carries a field that changes.
var hiding = handle(func(_ http.Header, r *http.Request) string {
	var items []string
	for rank := (number(r, "page")-1)*10 + 1; rank <= min(30, number(r, "page")*10); rank++ {
		id := rank
		if rank == 29 {
			id = 19
		}
		items = append(items, record(id, fmt.Sprintf(`,"seen":%d`, rank)))
	}
	return `{"total":30,"items":` + list(items) + `}`
})

const hidden = `
source: {url: "${BASE}/items"}
pages: {style: page, number: {param: page, first: 1}, size: {param: size, start: 10}}
items: {path: items, id: %s}
total: {path: total}
limits: {retries: 1}`

// TestIDThatNamesNothing holds that a misspelled items.id is never green: items
// are then known by content, and the count may come out right by chance.
func TestIDThatNamesNothing(t *testing.T) {
	out := scenario{id: "uid", config: fmt.Sprintf(hidden, "uid")}.drain(t, hiding())
	if out.report.Verdict != judge.Unknown || !strings.Contains(fmt.Sprint(out.report.Evidence), "RC026") {
		t.Errorf("%s, want UNKNOWN with RC026\n%s", out.report.Verdict, out.story())
	}
}
