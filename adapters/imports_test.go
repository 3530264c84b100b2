package adapters_test

import (
	"go/ast"
	"slices"
	"testing"

	"lastdrop/internal/importtest"
)

// allowed is all that this package may import: it turns bytes into claims, so
// nothing in it may wait, connect, or read or write a file. net/http is here
// for the names of headers and methods only.
var allowed = []string{
	"bytes", "encoding/csv", "encoding/json", "encoding/xml", "errors", "fmt", "io", "maps", "math", "net/http", "net/url", "regexp",
	"slices", "strconv", "strings", "sync", "lastdrop/internal/jsonscan", "lastdrop/internal/secret", "lastdrop/judge",
}

// ofHTTP is what may be used of net/http.
var ofHTTP = []string{"Header", "MethodGet", "MethodPost"}

func TestImports(t *testing.T) {
	for _, f := range importtest.Files(t, "*.go") {
		for _, path := range f.Imports(t) {
			if !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s: adapters does no I/O and knows only judge, jsonscan and secret", f.Name, path)
			}
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "http" && !slices.Contains(ofHTTP, sel.Sel.Name) {
				t.Errorf("%s uses http.%s: of net/http only %v are pure", f.Name, sel.Sel.Name, ofHTTP)
			}
			return true
		})
	}
}
