package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A process that commits without a pause is killed thirty times, at random
// moments: within Open, Begin and Commit too. Each time the store is sound,
// the run can be taken up at once, and it holds exactly the checkpoints up to
// one: the last that the process knew to be written, or the one that it was
// writing.
func TestKilled(t *testing.T) {
	const kills, perStore = 30, 10
	random := rand.New(rand.NewPCG(rand.Uint64(), 1))
	var path string
	known := 0
	for i := range kills {
		if i%perStore == 0 {
			path, known = filepath.Join(t.TempDir(), "lastdrop.db"), 0
		}
		lines := 1 + random.IntN(30)
		if i%perStore == 0 {
			lines = 1 // while it makes the store
		}
		c := startChild(t, "commit", path)
		writing := 0
		follow := func(line string) {
			var n int
			switch verb, number, _ := strings.Cut(line, " "); verb {
			case "begin", "done":
				if _, err := fmt.Sscan(number, &n); err != nil {
					t.Fatal(err)
				}
				writing = n
				if verb == "done" {
					known = n
				}
			case "error":
				t.Fatal(line)
			}
		}
		for range lines {
			follow(c.line())
		}
		for _, line := range c.kill() {
			follow(line)
		}
		held := checkCrashed(t, path)
		if held < known || held > max(known, writing) {
			t.Fatalf("kill %d: checkpoint %d is held; %d was written, %d begun", i, held, known, writing)
		}
		known = held
	}
}

// checkCrashed opens a store whose writer was killed, and returns the number
// of the checkpoint that its run holds, whole.
func checkCrashed(t *testing.T, path string) int {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // read only below
	var sound string
	if err := s.Reader.db.QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Fatalf("integrity: %s, %v", sound, err)
	}
	run, err := s.Begin(t.Context(), BeginOptions{Name: "pull", ConfigHash: "h"})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close() //nolint:errcheck // it only holds a lock
	at, err := run.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var state crashState
	if at.State != nil {
		if err := json.Unmarshal(at.State, &state); err != nil {
			t.Fatal(err)
		}
	}
	checkWhole(t, s, run, at, state.N)
	return state.N
}

// checkWhole compares all that a run holds with its first n checkpoints.
func checkWhole(t *testing.T, s *Store, run *Run, at Resume, n int) {
	t.Helper()
	var keys, wantKeys bytes.Buffer
	var seq, items int64
	for i := 1; i <= n; i++ {
		c := crashCheckpoint(i, seq, items)
		for _, a := range c.Attempts {
			wantKeys.Write(a.Keys)
		}
		seq, items = seq+int64(len(c.Attempts)), c.Items
	}
	err := at.Keys(func(k []byte) error {
		keys.Write(k)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if at.Counts.Attempts != seq || at.Counts.LastSeq != seq || at.Counts.New != items || at.Items != items || at.Length != 100*items {
		t.Fatalf("checkpoint %d: holds %+v, want %d attempts and %d items", n, at, seq, items)
	}
	if !bytes.Equal(keys.Bytes(), wantKeys.Bytes()) {
		t.Fatalf("checkpoint %d: %d bytes of keys, want %d, or others", n, keys.Len(), wantKeys.Len())
	}
	totals, err := s.Totals(t.Context(), run.ID(), 1)
	if err != nil || totals.Total != seq {
		t.Fatalf("checkpoint %d: %d totals (%v), want %d", n, totals.Total, err, seq)
	}
	events, err := s.Events(t.Context(), run.ID(), 0)
	if err != nil || events.Total != int64(n) {
		t.Fatalf("checkpoint %d: %d events (%v)", n, events.Total, err)
	}
}

// Another process that holds a run is named; killed, it holds it no more.
func TestHeldByProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lastdrop.db")
	c := startChild(t, "hold", path)
	id := c.line()
	s := mustOpen(t, path)
	o := BeginOptions{Name: "pull", ConfigHash: "h"}
	_, err := s.Begin(t.Context(), o)
	var held *HeldError
	if !errors.As(err, &held) || held.Holder.PID != c.cmd.Process.Pid || held.Run != id {
		t.Fatalf("error %v, want run %s held by process %d", err, id, c.cmd.Process.Pid)
	}
	want := fmt.Sprintf("run %s is being drained by process %d on %s since %s; wait, or stop it", id, held.Holder.PID, hostname(), stamp(held.Holder.Since))
	if err.Error() != want {
		t.Fatalf("error %q, want %q", err, want)
	}
	if again := s.CheckHolder(t.Context(), o.Name, o.ConfigHash); again == nil || again.Error() != want {
		t.Fatalf("looked at before: %v, want %q", again, want)
	}
	if err := s.CheckHolder(t.Context(), o.Name, "another"); err != nil {
		t.Fatal(err)
	}
	c.kill()
	if err := s.CheckHolder(t.Context(), o.Name, o.ConfigHash); err != nil {
		t.Fatal(err)
	}
	if i, err := s.RunByID(t.Context(), id); err != nil || i.State != Running || i.Holder != nil {
		t.Fatalf("killed: %+v, %v", i, err)
	}
	run, err := s.Begin(t.Context(), o)
	if err != nil || run.ID() != id || !run.Resumed() {
		t.Fatalf("taken up: %v, %v", run, err)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.file.lockName(id)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the lock file is left: %v", err)
	}
}
