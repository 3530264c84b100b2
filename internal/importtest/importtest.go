// Package importtest reads the Go files of a package for the tests that hold
// what it may import.
package importtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A File is one source file.
type File struct {
	Name string // as the pattern gives it
	Text string
	AST  *ast.File
}

// Files gives the Go files that a pattern of [filepath.Glob] matches, those of
// tests aside. The test ends where there is none, or where one does not parse.
func Files(t *testing.T, pattern string) []File {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var files []File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{Name: name, Text: string(text), AST: parsed})
	}
	if len(files) == 0 {
		t.Fatalf("%s: no source file was looked at", pattern)
	}
	return files
}

// Imports gives the paths that a file imports.
func (f File) Imports(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, spec := range f.AST.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		paths = append(paths, path)
	}
	return paths
}
