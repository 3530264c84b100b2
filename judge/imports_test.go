package judge_test

import (
	"testing"

	"lastdrop/internal/importtest"
)

// allowed is everything that the judge may import, with the reason. What can
// open, store, wait or remember is missing on purpose.
var allowed = map[string]string{
	"bytes":         "text",
	"encoding/json": "the form that snapshots and results have",
	"errors":        "errors",
	"fmt":           "evidence texts and errors",
	"math":          "the bounds of int64",
	"regexp":        "broken Link parts",
	"slices":        "lists",
	"strconv":       "numbers",
	"strings":       "text",
	"unicode":       "what can be printed",
	"io":            "io.ErrUnexpectedEOF",
}

func TestImports(t *testing.T) {
	for _, f := range importtest.Files(t, "*.go") {
		for _, path := range f.Imports(t) {
			if allowed[path] == "" {
				t.Errorf("%s imports %q: the judge is a pure function of its snapshot, so it imports nothing that could connect, read, store, wait or remember (net, os, database/sql, time), and nothing of third parties", f.Name, path)
			}
		}
	}
}
