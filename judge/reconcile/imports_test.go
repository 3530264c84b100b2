package reconcile_test

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
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
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		checked++
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if allowed[path] == "" {
				t.Errorf("%s imports %q: a ruling is a pure function of its facts", f.Name(), path)
			}
		}
		for _, call := range []string{"time.Now(", "time.Since(", "time.Until(", "time.Sleep(", "time.After(", "time.NewTimer(", "time.NewTicker("} {
			if strings.Contains(string(text), call) {
				t.Errorf("%s uses %s): a ruling reads no clock", f.Name(), call)
			}
		}
	}
	if checked == 0 {
		t.Fatal("no source file was looked at")
	}
}
