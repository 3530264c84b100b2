package schedule

import (
	"strings"
	"testing"

	"lastdrop/internal/importtest"
)

// When a pull is due is a pure function of its schedule and a moment.
func TestImports(t *testing.T) {
	for _, f := range importtest.Files(t, "*.go") {
		for _, path := range f.Imports(t) {
			first, _, _ := strings.Cut(path, "/")
			if (strings.Contains(first, ".") || first == "lastdrop" || first == "net" || first == "os") && path != "github.com/robfig/cron/v3" {
				t.Errorf("%s imports %q: a schedule is pure", f.Name, path)
			}
		}
		for _, call := range []string{"time.Now(", "time.Since(", "time.Until(", "time.Sleep(", "time.After(", "time.NewTimer(", "time.NewTicker(", ".Next(time", "cron.Every"} {
			if strings.Contains(f.Text, call) {
				t.Errorf("%s uses %s): a schedule reads no clock", f.Name, call)
			}
		}
	}
}
