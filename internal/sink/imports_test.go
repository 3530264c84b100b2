package sink

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// What is heavy stays in packages of its own, and what writes files knows nothing of runs and pages.
func TestImports(t *testing.T) {
	allowed := map[string][]string{
		".":       {"lastdrop/internal/sink/codec", "golang.org/x/sys/unix"},
		"codec":   {"github.com/klauspost/compress/gzip", "github.com/klauspost/compress/zstd"},
		"table":   {"lastdrop/internal/jsonscan"},
		"csv":     {"lastdrop/internal/jsonscan", "lastdrop/internal/sink/codec", "lastdrop/internal/sink/table"},
		"command": nil,
		"singer":  {"lastdrop/internal/jsonscan", "lastdrop/internal/sink/table"},
		"parquet": {"lastdrop/internal/jsonscan", "lastdrop/internal/sink/table", "github.com/parquet-go/parquet-go", "github.com/parquet-go/parquet-go/compress/zstd"},
		"sqlite":  {"lastdrop/internal/jsonscan", "lastdrop/internal/sink", "lastdrop/internal/sink/table", "modernc.org/sqlite"},
	}
	found := 0
	for _, pattern := range []string{"*.go", "*/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			found++
			list, known := allowed[filepath.Dir(name)]
			if !known {
				t.Errorf("%s: say in this test what its package may import", name)
			}
			checkImports(t, name, list)
		}
	}
	if found < 15 {
		t.Errorf("only %d files were looked at", found)
	}
}

func checkImports(t *testing.T, name string, allowed []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range f.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		first, _, _ := strings.Cut(path, "/")
		standard := !strings.Contains(first, ".") && first != "lastdrop"
		if standard && path != "net/http" {
			continue
		}
		if !strings.Contains("\n"+strings.Join(allowed, "\n")+"\n", "\n"+path+"\n") {
			t.Errorf("%s imports %s, which is not its package's to import", name, path)
		}
	}
}
