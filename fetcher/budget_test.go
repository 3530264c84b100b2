package fetcher

import (
	"context"
	"regexp"
	"testing"
)

// TestBudgetIsNamed: a run that a limit stopped says which one, and after which time.
func TestBudgetIsNamed(t *testing.T) {
	for name, b := range map[string]Budget{
		`limits\.max_requests`: {Requests: 2}, "--max-pages": {Pages: 2}, "--max-items": {Items: 2},
	} {
		o, _ := options(t, rowsSpec(serve(t, rows(500)).URL), quick())
		o.Budget = b
		f, err := Drain(context.Background(), o)
		want := regexp.MustCompile("^stopped at " + name + ` \(2\) after [0-9.]+m?s: a budget is no end$`)
		if err != nil || !want.MatchString(f.StopText) {
			t.Errorf("%s: %q, %v", name, f.StopText, err)
		}
	}
}
