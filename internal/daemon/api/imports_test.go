package api

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lastdrop/internal/importtest"
)

// The API reads the store and asks the daemon by words; it runs nothing and fetches
// nothing. The guard knows nothing of what it guards.
func TestImports(t *testing.T) {
	const ours = "lastdrop/internal/daemon/api/problem"
	allowed := map[string][]string{
		"../api": {"lastdrop/internal/daemon", ours, "lastdrop/internal/rows", "lastdrop/judge", "lastdrop/judge/reconcile", "lastdrop/store",
			"github.com/google/jsonschema-go/jsonschema"},
		"../api/guard":   {ours, "golang.org/x/time/rate"},
		"../api/problem": {},
		"../metrics": {"lastdrop/internal/daemon", "lastdrop/judge", "lastdrop/judge/reconcile", "lastdrop/store", "github.com/prometheus/client_golang/prometheus",
			"github.com/prometheus/client_golang/prometheus/collectors", "github.com/prometheus/client_golang/prometheus/promhttp"},
		"../../rows": {"lastdrop/fetcher", "lastdrop/judge", "lastdrop/judge/reconcile", "lastdrop/store"},
	}
	for dir, list := range allowed {
		for _, f := range importtest.Files(t, filepath.Join(dir, "*.go")) {
			for _, path := range f.Imports(t) {
				first, _, _ := strings.Cut(path, "/")
				standard := !strings.Contains(first, ".") && first != "lastdrop"
				if !standard && !slices.Contains(list, path) || path == "database/sql" {
					t.Errorf("%s imports %s, which is not its package's to import", f.Name, path)
				}
			}
		}
	}
}
