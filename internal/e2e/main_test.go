//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The program under test, and the folder with what npm brought.
var lastdrop, cache string

func TestMain(m *testing.M) { os.Exit(prepareAndRun(m)) }

func prepareAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lastdrop-e2e-run")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cache = os.Getenv("LASTDROP_E2E_CACHE")
	if cache == "" {
		cache = filepath.Join(os.TempDir(), "lastdrop-e2e")
	}
	if cache, err = filepath.Abs(cache); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	lastdrop = filepath.Join(dir, "lastdrop")
	for _, step := range []struct {
		limit time.Duration
		args  []string
	}{
		{8 * time.Minute, []string{"bash", "install.sh"}},
		{4 * time.Minute, []string{"go", "build", "-o", lastdrop, "lastdrop/cmd/lastdrop"}},
	} {
		if err := prepare(step.limit, step.args...); err != nil {
			fmt.Fprintf(os.Stderr, "e2e: %s: %v\n", strings.Join(step.args, " "), err)
			return 1
		}
	}
	return m.Run()
}

func prepare(limit time.Duration, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "LASTDROP_E2E_CACHE="+cache)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.WaitDelay = 5 * time.Second
	return cmd.Run()
}

// lookAtSources lists the module's folders while a test runs, so that the go
// command knows what the result depends on, and never shows that of an older
// program.
var lookAtSources = sync.OnceValue(func() error {
	root := filepath.Join("..", "..")
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		return err
	})
})
