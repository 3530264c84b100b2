package store

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// modernc.org/sqlite is only right with exactly the modernc.org/libc that its
// own go.mod asks for. Another dependency could raise it unseen.
func TestLibcVersion(t *testing.T) {
	module := func(format, path string) string {
		t.Helper()
		out, err := exec.Command("go", "list", "-m", "-f", format, path).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", path, err)
		}
		return strings.TrimSpace(string(out))
	}
	used := module("{{.Version}}{{with .Replace}} replaced by {{.Path}} {{.Version}}{{end}}", "modernc.org/libc")
	text, err := os.ReadFile(module("{{.GoMod}}", "modernc.org/sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(`(?m)^\s*(?:require )?modernc\.org/libc (v\S+)`).FindSubmatch(text)
	if wanted == nil {
		t.Fatalf("modernc.org/sqlite requires no modernc.org/libc:\n%s", text)
	}
	if used != string(wanted[1]) {
		t.Errorf("modernc.org/libc is %s, modernc.org/sqlite wants exactly %s: find what raises it (go mod graph) and drop that", used, wanted[1])
	}
}

// The ledger keeps what others found out: it must not fetch, and must not
// know who fetches.
func TestImports(t *testing.T) {
	allowed := map[string]string{
		"lastdrop/judge":           "verdicts, counts, rules",
		"lastdrop/judge/reconcile": "attempts, totals, events, reports",
	}
	for _, pattern := range []string{"*.go", "storetest/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range f.Imports {
				path := strings.Trim(spec.Path.Value, `"`)
				test := strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "storetest")
				ours := strings.HasPrefix(path, "lastdrop/") && allowed[path] == "" && !(test && strings.HasPrefix(path, "lastdrop/store"))
				if ours || path == "net/http" {
					t.Errorf("%s imports %s: store knows only judge and judge/reconcile, and never the network", name, path)
				}
			}
		}
	}
}
