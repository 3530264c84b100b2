package sink_test

import (
	"os/exec"
	"strings"
	"testing"
)

// What is heavy comes into the program by way of its own sink only, and what tests run does not come into it at all.
func TestHeavyStaysInItsPlace(t *testing.T) {
	heavy := map[string]string{
		"github.com/jackc/pgx/": "lastdrop/internal/sink/postgres", "github.com/minio/": "lastdrop/internal/sink/objects",
		"github.com/parquet-go/": "lastdrop/internal/sink/parquet",
	}
	never := []string{"github.com/johannesboyne/gofakes3", "lastdrop/internal/pgtest", "lastdrop/internal/s3test"}
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports ","}}`, "lastdrop/cmd/lastdrop").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, n := range never {
			if path == n {
				t.Errorf("%s is for tests, and is in the program", path)
			}
		}
		if !strings.HasPrefix(path, "lastdrop/") {
			continue
		}
		for imported := range strings.SplitSeq(imports, ",") {
			for prefix, only := range heavy {
				if !strings.HasPrefix(imported, prefix) {
					continue
				}
				if seen++; path != only {
					t.Errorf("%s imports %s, which is for %s alone", path, imported, only)
				}
			}
		}
	}
	if seen < 3 {
		t.Errorf("only %d heavy imports were seen", seen)
	}
}
