package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// ends begins a run of a name, fills it with some rows of every kind and ends
// it in a state: finished runs as COMPLETE, unless the state says another
// verdict; "killed" lets it go as a process does that dies.
func ends(t *testing.T, s *Store, name, state string, children ...string) string {
	t.Helper()
	run, err := s.Begin(t.Context(), BeginOptions{Name: name, ConfigHash: state, Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	c := crashCheckpoint(3, 0, 0)
	c.Slices = []reconcile.Slice{{Slice: 1, State: "held"}}
	for i, child := range children {
		c.Children = append(c.Children, Child{N: i + 1, Value: fmt.Sprint("v", i), Run: child})
	}
	if err := run.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	report := reconcile.Report{Run: run.ID(), Name: name, State: state, Verdict: judge.Unknown}
	switch state {
	case "killed":
		if err := run.Close(); err != nil {
			t.Fatal(err)
		}
		return run.ID()
	case Finished:
		report.Verdict = judge.Complete
	case "TRUNCATED":
		report.State, report.Verdict = Finished, judge.Truncated
	}
	if err := run.Finish(t.Context(), report); err != nil {
		t.Fatal(err)
	}
	return run.ID()
}

// rowsOf counts the rows of a run in all tables, by table.
func rowsOf(t *testing.T, s *Store, run string) map[string]string {
	t.Helper()
	n := map[string]string{}
	for _, o := range ownRows {
		if got := table(t, s.db, `SELECT count(*) FROM `+o.table+` WHERE run = '`+run+`'`); got != "0\n" {
			n[o.table] = strings.TrimSpace(got)
		}
	}
	return n
}

func idsOf(runs []GoneRun) (ids []string) {
	for _, r := range runs {
		ids = append(ids, r.Run)
	}
	return ids
}

// The newest runs of each pull stay, and what somebody may still need.
func TestGC(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "lastdrop.db"))
	one := ends(t, s, "a", Finished)
	two := ends(t, s, "a", Finished) // the last COMPLETE one
	three := ends(t, s, "a", "TRUNCATED")
	stopped := ends(t, s, "a", Stopped)
	killed := ends(t, s, "a", "killed")
	held, err := s.Begin(t.Context(), BeginOptions{Name: "a", ConfigHash: "held"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() })
	six, seven := ends(t, s, "a", Failed), ends(t, s, "a", "TRUNCATED")

	part, other := ends(t, s, "w/v0", "TRUNCATED"), ends(t, s, "w/v0", "TRUNCATED") // other belongs to no fan-out
	newer := ends(t, s, "w/v0", Finished)
	gives := ends(t, s, "list", "TRUNCATED")
	oldPart := ends(t, s, "w/v0", "TRUNCATED")
	oldWhole := ends(t, s, "w", "TRUNCATED", oldPart)
	whole := ends(t, s, "w", "TRUNCATED", part)
	if _, err := s.db.Exec(`UPDATE checkpoints SET state = '{"listed":true,"parent":"` + gives + `"}' WHERE run = '` + whole + `'`); err != nil {
		t.Fatal(err)
	}
	ends(t, s, "list", Finished)
	ends(t, s, "w/v0", "TRUNCATED")

	for _, c := range []struct {
		options GCOptions
		want    []string
	}{
		{GCOptions{Keep: 30}, nil},
		{GCOptions{Keep: 2}, []string{one, three, other}},
		{GCOptions{Keep: 1}, []string{one, three, six, other, oldWhole, oldPart}},
		{GCOptions{Keep: 1, Stopped: true}, []string{one, three, stopped, killed, six, other, oldWhole, oldPart}},
	} {
		slices.Sort(c.want)
		g, err := s.Garbage(t.Context(), c.options)
		if err != nil {
			t.Fatal(err)
		}
		got := idsOf(g.Runs)
		if !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(b, a) }) {
			t.Errorf("%+v: %v, want the newest first", c.options, got)
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%+v (-want +got)\n%s", c.options, diff)
		}
	}

	if rowsOf(t, s, stopped)["page_keys"] == "" || len(rowsOf(t, s, whole)) < 7 {
		t.Fatalf("rows are missing: %v, %v", rowsOf(t, s, stopped), rowsOf(t, s, whole))
	}
	would, err := s.Garbage(t.Context(), GCOptions{Keep: 1, Stopped: true})
	if err != nil {
		t.Fatal(err)
	}
	g, err := s.GC(t.Context(), GCOptions{Keep: 1, Stopped: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(would, g); diff != "" || g.Sum().Bytes < 1000 || g.Sum().Rows < 100 {
		t.Errorf("%d rows, %d bytes (-foretold +gone)\n%s", g.Sum().Rows, g.Sum().Bytes, diff)
	}
	for _, r := range g.Runs {
		if _, err := s.RunByID(t.Context(), r.Run); !errors.Is(err, ErrNoRun) || len(rowsOf(t, s, r.Run)) > 0 {
			t.Errorf("run %s: %v, %v is left", r.Run, err, rowsOf(t, s, r.Run))
		}
		if _, err := os.Stat(s.file.lockName(r.Run)); err == nil {
			t.Errorf("the lock file of %s is left", r.Run)
		}
	}
	for _, run := range []string{two, seven, part, newer, gives, whole} {
		if rows := rowsOf(t, s, run); rows["pages"] == "" {
			t.Errorf("run %s lost its rows: %v", run, rows)
		}
	}
	if again, err := s.GC(t.Context(), GCOptions{Keep: 1, Stopped: true}); err != nil || len(again.Runs) > 0 || again.Sum() != (Weight{}) || again.Stay != g.Stay {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	if err := held.Commit(t.Context(), crashCheckpoint(1, 0, 0)); err != nil {
		t.Error(err)
	}
}

// Identity hashes go with the end of a run, and stay with one that can go on.
func TestHashesGo(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "lastdrop.db"))
	for state, stay := range map[string]bool{Finished: false, "TRUNCATED": false, Failed: false, Stopped: true, "killed": true} {
		run := ends(t, s, state, state)
		if got := rowsOf(t, s, run)["page_keys"] != ""; got != stay {
			t.Errorf("%s: hashes %v, want %v", state, got, stay)
		}
	}
}

// What a gc that was killed left behind, what people deleted by hand, the
// hashes of a run that was given up, and old reaches: the next gc takes it all.
func TestGCLeftovers(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "lastdrop.db"))
	byHand := ends(t, s, "a", Finished)
	if _, err := s.db.Exec(`DELETE FROM runs`); err != nil {
		t.Fatal(err)
	}
	givenUp := ends(t, s, "a", "killed")
	last, err := s.Begin(t.Context(), BeginOptions{Name: "a", ConfigHash: "killed", Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := last.Close(); err != nil {
		t.Fatal(err)
	}
	for i, age := range []time.Duration{ReachLasts - time.Hour, ReachLasts + time.Hour} {
		n := Reach{Origin: fmt.Sprint("https://h", i), Reach: 1, Run: byHand, At: time.Now().Add(-age)}
		if err := s.NoteReach(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	g, err := s.GC(t.Context(), GCOptions{Keep: 30})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Runs) > 0 || g.Stay != 2 || g.Reaches != 1 || g.Leftovers.Rows < 50 || g.Leftovers.Bytes < 1000 {
		t.Errorf("%+v", g)
	}
	if left := rowsOf(t, s, byHand); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	if left := rowsOf(t, s, givenUp); left["page_keys"] != "" || left["pages"] == "" {
		t.Errorf("left are %v, want all but the hashes", left)
	}
	if got := table(t, s.db, `SELECT origin FROM reaches`); got != "https://h0\n" {
		t.Errorf("reaches %q", got)
	}
}

// The file shrinks; one that was made before it could does so by Vacuum, and by
// GC alone from then on.
func TestShrink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lastdrop.db")
	for _, old := range []bool{false, true} {
		s := mustOpen(t, path)
		fill := func() int64 {
			for range 4 {
				ends(t, s, "a", "TRUNCATED")
				ends(t, s, "b", "killed")
			}
			space, err := s.Space(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return space.File
		}
		shrunk := func(vacuum bool) Space {
			_, err := s.GC(t.Context(), GCOptions{Stopped: true})
			if err == nil && vacuum {
				err = s.Vacuum(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			space, err := s.Space(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return space
		}
		if old {
			if _, err := s.db.Exec(`PRAGMA auto_vacuum = 0; VACUUM`); err != nil {
				t.Fatal(err)
			}
			full := fill()
			if space := shrunk(false); space.File != full || space.Free == 0 {
				t.Errorf("%+v of %d bytes, want all of them, some free", space, full)
			}
			if space := shrunk(true); space.File >= full || space.Free > 0 {
				t.Errorf("vacuum: %+v of %d bytes", space, full)
			}
		}
		full := fill()
		if space := shrunk(false); space.File >= full || space.Free > 0 {
			t.Errorf("%+v of %d bytes", space, full)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that drains into the store goes on while gc works, and a vacuum
// does not lock it out.
func TestGCBesideDrain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lastdrop.db")
	s := mustOpen(t, path)
	for range 3 {
		run, err := s.Begin(t.Context(), BeginOptions{Name: "other", ConfigHash: "h", Fresh: true})
		if err != nil {
			t.Fatal(err)
		}
		var seq int64
		for range 25 {
			if err := run.Commit(t.Context(), benchCheckpoint(seq, 250, 100)); err != nil {
				t.Fatal(err)
			}
			seq += 250
		}
		if err := run.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c := startChild(t, "commit", path)
	for range 5 {
		c.line()
	}
	var held *HeldError
	if err := s.Vacuum(t.Context()); !errors.As(err, &held) || held.Holder.PID != c.cmd.Process.Pid {
		t.Errorf("vacuum: %v, want one that names the process %d", err, c.cmd.Process.Pid)
	}
	done := make(chan error, 1)
	go func() {
		g, err := s.GC(t.Context(), GCOptions{Stopped: true})
		if err == nil && (len(g.Runs) != 3 || g.Sum().Rows < 3*2*6250) {
			err = fmt.Errorf("gone are %d runs, %d rows", len(g.Runs), g.Sum().Rows)
		}
		done <- err
	}()
	for working := true; working; {
		if line := c.line(); strings.HasPrefix(line, "error") {
			t.Fatal(line)
		}
		select {
		case err := <-done:
			working = false
			if err != nil {
				t.Fatal(err)
			}
		default:
		}
	}
	for range 4 {
		if line := c.line(); strings.HasPrefix(line, "error") {
			t.Fatal(line)
		}
	}
	c.kill()
	if checkCrashed(t, path) == 0 {
		t.Error("the process committed nothing")
	}
}
