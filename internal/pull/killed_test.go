package pull_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"testing"

	"lastdrop/internal/pull"
	"lastdrop/judge"
	"lastdrop/store"
)

// deskDir and deskBase tell this test binary to run the fan-out of a desk, as a
// process that the test can kill.
const (
	deskDir  = "LASTDROP_PULL_TEST_DIR"
	deskBase = "LASTDROP_PULL_TEST_BASE"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(shopDir); dir != "" {
		beTheShopper(dir)
		return
	}
	if os.Getenv(deskDir) == "" {
		os.Exit(m.Run())
	}
	if _, err := runIssues(context.Background(), os.Getenv(deskDir), os.Getenv(deskBase), pull.Options{}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// TestEachKilled kills a process at each request of a fan-out over the items of
// another pull, the requests of the second of three children among them. What
// goes on then holds every item once, and asks no child again that was COMPLETE.
func TestEachKilled(t *testing.T) {
	for n := 1; n <= 10; n++ {
		t.Run(fmt.Sprint("request ", n), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, abc(), overPull)
			if left := d.killAt(n); left > 0 {
				t.Fatalf("it ended %d requests before the one to be killed at", left)
			}
			done := complete(t, d)
			rep := d.must(judge.Complete, "finished")
			if rep.Items.Distinct != 37 {
				t.Errorf("%d items", rep.Items.Distinct)
			}
			for _, name := range done {
				if d.hub.count("/repos/"+name+"/issues") > 0 {
					t.Errorf("%s was COMPLETE, and is asked again: %v", name, d.hub.asked)
				}
			}
		})
	}
}

// killAt runs the fan-out as a process that is killed at its n-th request, and
// gives how many requests it ended before that by itself.
func (d *desk) killAt(n int) int {
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), deskDir+"="+d.dir, deskBase+"="+d.base)
	started := make(chan *os.Process, 1)
	d.hub.mu.Lock()
	d.hub.before = func(*http.Request) int {
		if n--; n == 0 {
			_ = (<-started).Kill()
		}
		return 0
	}
	d.hub.mu.Unlock()
	if err := process.Start(); err != nil {
		d.t.Fatal(err)
	}
	started <- process.Process
	_ = process.Wait() // it was killed
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	d.hub.before, d.hub.asked = nil, nil
	return n
}

// complete names the children that are COMPLETE by the store.
func complete(t *testing.T, d *desk) []string {
	t.Helper()
	st, err := store.Open(context.Background(), d.db)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	list, err := st.Runs(context.Background(), store.RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range list.Runs {
		if i.Verdict != nil && *i.Verdict == judge.Complete && i.Name != "repos" {
			names = append(names, i.Name[len("issues/"):])
		}
	}
	slices.Sort(names)
	return names
}
