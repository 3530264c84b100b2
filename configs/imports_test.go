package configs

import (
	"slices"
	"strings"
	"testing"

	"lastdrop/internal/importtest"
)

// A config is read and checked here, and nothing is done about it.
func TestImports(t *testing.T) {
	allowed := []string{
		"lastdrop/adapters", "lastdrop/judge", "lastdrop/internal/daemon/schedule", "lastdrop/internal/jsonscan",
		"lastdrop/internal/secret", "lastdrop/internal/slicing",
	}
	for _, f := range importtest.Files(t, "*.go") {
		for _, path := range f.Imports(t) {
			ours := strings.HasPrefix(path, "lastdrop/") && !slices.Contains(allowed, path)
			if ours || path == "net" || path == "database/sql" {
				t.Errorf("%s imports %s: a config is only read here", f.Name, path)
			}
		}
	}
}
