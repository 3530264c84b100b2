package web

import (
	"slices"
	"strings"
	"testing"

	"lastdrop/internal/importtest"
)

// The pages know the words of daemon and store, never how a run is made: what they need of both they declare.
func TestImports(t *testing.T) {
	allowed := []string{"lastdrop/internal/daemon", "lastdrop/internal/har", "lastdrop/judge", "lastdrop/judge/reconcile", "lastdrop/store"}
	for _, f := range importtest.Files(t, "*.go") {
		for _, path := range f.Imports(t) {
			first, _, _ := strings.Cut(path, "/")
			if standard := !strings.Contains(first, ".") && first != "lastdrop"; !standard && !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s: the pages import %q and nothing of third parties", f.Name, path, allowed)
			}
			if path == "database/sql" || path == "os" {
				t.Errorf("%s imports %s: the pages open nothing", f.Name, path)
			}
		}
		for _, store := range []string{"store.Open(", "store.OpenReader("} {
			if strings.Contains(f.Text, store) {
				t.Errorf("%s has %s: the store is handed in", f.Name, store)
			}
		}
	}
}
