package api

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lastdrop/configs"
	"lastdrop/internal/pull"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

func beginOptions(name string) store.BeginOptions {
	return store.BeginOptions{Name: name, ConfigHash: "h", Config: "c", Version: "1"}
}

// ownConfig is the one in docs/api.md, for a list of its own and smaller pages.
func ownConfig(t *testing.T, url, id string, size int, to string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "```yaml\n")
	config, _, closed := strings.Cut(after, "```")
	if !ok || !closed {
		t.Fatal("docs/api.md has no config")
	}
	for old, now := range map[string]string{"http://127.0.0.1:8080/api/v1/runs": url, "id: run": "id: " + id, "start: 20": fmt.Sprint("start: ", size), "runs.jsonl": to} {
		if strings.Count(config, old) != 1 {
			t.Fatalf("%q does not stand once in the config of docs/api.md", old)
		}
		config = strings.Replace(config, old, now, 1)
	}
	return []byte(config)
}

// drain pulls a list of our own API with lastdrop, from a store of its own.
func (b *bench) drain(path, id string, size int) reconcile.Report {
	b.t.Helper()
	dir := b.t.TempDir()
	c, err := configs.Parse("own.yaml", ownConfig(b.t, b.url+Prefix+path, id, size, filepath.Join(dir, "out.jsonl")), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	s, err := store.Open(b.t.Context(), filepath.Join(dir, "own.db"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer s.Close()
	rep, err := pull.Run(b.t.Context(), pull.Options{Config: c, Store: s, Version: "test"})
	if err != nil {
		b.t.Fatal(err)
	}
	return rep
}

// lastdrop drains our own API to COMPLETE, counted, while it grows: the list is that of
// the moment at which the walk began.
func TestDrainsItself(t *testing.T) {
	b := newBench(t)
	for i := range 40 {
		b.addRun([]string{"a", "b"}[i%2], 1)
	}
	growing, err := b.store.Begin(t.Context(), beginOptions("growing"))
	if err != nil {
		t.Fatal(err)
	}
	defer growing.Close()
	commit := func(first, n int) error {
		return growing.Commit(t.Context(), store.Checkpoint{Attempts: attemptsFrom(first, n), State: []byte("{}"),
			Totals: []reconcile.TotalSeen{{Seq: int64(first), Source: "t", Kind: judge.Exact}}})
	}
	for i := range 30 {
		if err := commit(1+3*i, 3); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { // runs and pages are added all the time
		var err error
		for seq := 91; ctx.Err() == nil && err == nil; seq++ {
			if _, err = addRun(context.WithoutCancel(ctx), b.store, "a", 1); err == nil {
				err = commit(seq, 1)
			}
			time.Sleep(time.Millisecond)
		}
		done <- err
	}()
	for path, least := range map[string]int64{"/runs": 41, "/runs?name=a": 20, "/pulls/a/runs": 20, "/runs/growing/pages": 90, "/runs/growing/totals": 30} {
		id := "run"
		if strings.HasPrefix(path, "/runs/growing") {
			id = "seq"
		}
		before, err := b.store.Runs(t.Context(), store.RunFilter{})
		if err != nil {
			t.Fatal(err)
		}
		rep := b.drain(path, id, 7)
		after, err := b.store.Runs(t.Context(), store.RunFilter{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s %s, %d items, %d pages; runs went from %d to %d", path, rep.Verdict, rep.Strength, rep.Items.Distinct, rep.Pages.Held, before.Total, after.Total)
		if rep.Verdict != judge.Complete || rep.Strength != reconcile.Counted || rep.Items.Distinct < least || rep.Items.Repeated != 0 {
			t.Errorf("%s: %s %s with %d items: %+v", path, rep.Verdict, rep.Strength, rep.Items.Distinct, rep.Evidence)
		}
		if path == "/runs" && (rep.Items.Distinct < before.Total || rep.Items.Distinct > after.Total) {
			t.Errorf("%d runs came; there were %d before and %d after", rep.Items.Distinct, before.Total, after.Total)
		}
		if after.Total <= before.Total {
			t.Errorf("%s: nothing was added meanwhile", path)
		}
	}
	// As many items as a part has; and what does not only grow.
	for _, c := range []struct {
		path, id string
		size     int
		want     int64
	}{{"/pulls", "name", 1, 2}, {"/runs/growing/pages?as_of=14", "seq", 7, 14}, {"/runs/growing/pages?as_of=15", "seq", 7, 15}} {
		rep := b.drain(c.path, c.id, c.size)
		if rep.Verdict != judge.Complete || rep.Strength != reconcile.Counted || rep.Items.Distinct != c.want {
			t.Errorf("%s: %s %s with %d items: %+v", c.path, rep.Verdict, rep.Strength, rep.Items.Distinct, rep.Evidence)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
