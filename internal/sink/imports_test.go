package sink

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lastdrop/internal/importtest"
)

// What is heavy stays in packages of its own, and what writes files knows nothing of runs and pages.
func TestImports(t *testing.T) {
	allowed := map[string][]string{
		".":       {"lastdrop/internal/sink/codec", "golang.org/x/sys/unix"},
		"codec":   {"github.com/klauspost/compress/gzip", "github.com/klauspost/compress/zstd"},
		"table":   {"lastdrop/internal/jsonscan"},
		"csv":     {"lastdrop/internal/jsonscan", "lastdrop/internal/sink/codec", "lastdrop/internal/sink/table"},
		"command": {"lastdrop/internal/group", "lastdrop/internal/sink"},
		"singer":  {"lastdrop/internal/jsonscan", "lastdrop/internal/sink/table"},
		"parquet": {"lastdrop/internal/jsonscan", "lastdrop/internal/sink/table", "github.com/parquet-go/parquet-go", "github.com/parquet-go/parquet-go/compress/zstd"},
		"postgres": {"lastdrop/internal/jsonscan", "lastdrop/internal/secret", "lastdrop/internal/sink", "lastdrop/internal/sink/table",
			"github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgconn"},
		"objects": {"lastdrop/internal/secret", "lastdrop/internal/sink", "lastdrop/internal/sink/codec", "github.com/minio/minio-go/v7",
			"github.com/minio/minio-go/v7/pkg/credentials"},
		"sinktest": {"lastdrop/internal/sink"},
		"sqlite":   {"lastdrop/internal/jsonscan", "lastdrop/internal/sink", "lastdrop/internal/sink/table", "modernc.org/sqlite"},
	}
	files := append(importtest.Files(t, "*.go"), importtest.Files(t, "*/*.go")...)
	for _, f := range files {
		list, known := allowed[filepath.Dir(f.Name)]
		if !known {
			t.Errorf("%s: say in this test what its package may import", f.Name)
		}
		for _, path := range f.Imports(t) {
			first, _, _ := strings.Cut(path, "/")
			standard := !strings.Contains(first, ".") && first != "lastdrop"
			if (!standard || path == "net/http") && !slices.Contains(list, path) {
				t.Errorf("%s imports %s, which is not its package's to import", f.Name, path)
			}
		}
	}
	if len(files) < 15 {
		t.Errorf("only %d files were looked at", len(files))
	}
}
