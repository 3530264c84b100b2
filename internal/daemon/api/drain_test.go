package api

import (
	"context"
	"fmt"
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

const ownConfig = `version: 1
name: own
source: {url: "%s"}
pages: {style: next_url, next: {path: next}, size: {param: limit, start: 7}, more: {path: has_more}}
items: {path: items, id: %s}
total: {path: total}
complete: {require: counted, passes: 1}
limits: {retries: 1, max_requests: 400}
output: {to: "%s"}
`

// drain pulls a list of our own API with lastdrop, from a store of its own.
func (b *bench) drain(path, id string) reconcile.Report {
	b.t.Helper()
	dir := b.t.TempDir()
	c, err := configs.Parse("own.yaml", fmt.Appendf(nil, ownConfig, b.url+Prefix+path, id, filepath.Join(dir, "out.jsonl")), nil)
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
		rep := b.drain(path, id)
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
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
