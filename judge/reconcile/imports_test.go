package reconcile_test

import (
	"strings"
	"testing"

	"lastdrop/internal/importtest"
)

// allowed is everything that reconcile may import, with the reason. What can
// open, connect, store or remember is missing on purpose.
var allowed = map[string]string{
	"fmt":            "evidence texts",
	"slices":         "lists",
	"strconv":        "numbers",
	"strings":        "text",
	"time":           "durations and moments as data; the clock is not read (see below)",
	"lastdrop/judge": "verdicts, counts, rules",
}

// The ruling on a run is a pure function of its facts.
func TestImports(t *testing.T) {
	for _, f := range importtest.Files(t, "*.go") {
		for _, path := range f.Imports(t) {
			if allowed[path] == "" {
				t.Errorf("%s imports %q: a ruling is a pure function of its facts", f.Name, path)
			}
		}
		for _, call := range []string{"time.Now(", "time.Since(", "time.Until(", "time.Sleep(", "time.After(", "time.NewTimer(", "time.NewTicker("} {
			if strings.Contains(f.Text, call) {
				t.Errorf("%s uses %s): a ruling reads no clock", f.Name, call)
			}
		}
	}
}
