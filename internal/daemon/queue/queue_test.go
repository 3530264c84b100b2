package queue_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"lastdrop/internal/daemon/queue"
)

var midnight = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// open opens the queue of a folder, until the test ends.
func open(t *testing.T, dir string, o queue.Options) *queue.Queue {
	t.Helper()
	o.Poll = 20 * time.Millisecond
	if o.Attend == nil {
		o.Attend = func(context.Context, queue.Job) queue.Outcome { return queue.Outcome{State: queue.Done} }
	}
	q, err := queue.Open(t.Context(), filepath.Join(dir, "q?u%e#ue.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func shut(t *testing.T, q *queue.Queue) {
	t.Helper()
	if err := errors.Join(q.Stop(context.WithoutCancel(t.Context())), q.Close()); err != nil {
		t.Error(err)
	}
}

func start(t *testing.T, q *queue.Queue) {
	t.Helper()
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func fire(t *testing.T, q *queue.Queue, want string, f queue.Fire) queue.Job {
	t.Helper()
	f.Why = queue.BySchedule
	got, j, err := q.Fire(t.Context(), f)
	if err != nil || got != want {
		t.Fatalf("fire %s at %v: %s, %v; want %s", f.Pull, f.At, got, err, want)
	}
	return j
}

func list(t *testing.T, q *queue.Queue, f queue.Filter) queue.List {
	t.Helper()
	l, err := q.Jobs(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestFire settles each fire once, and in order.
func TestFire(t *testing.T) {
	q := open(t, t.TempDir(), queue.Options{})
	defer shut(t, q)
	at := func(h int) queue.Fire { return queue.Fire{Pull: "a", At: midnight.Add(time.Duration(h) * time.Hour)} }
	first := fire(t, q, queue.Made, at(1))
	if first.State != queue.Waiting || !first.Fire.Equal(at(1).At) || first.Why != queue.BySchedule {
		t.Errorf("%+v", first)
	}
	fire(t, q, queue.Known, at(1))
	fire(t, q, queue.Skipped, at(2))
	fire(t, q, queue.Known, at(2))
	fire(t, q, queue.Known, at(0))
	behind := at(3)
	behind.Queue = true
	fire(t, q, queue.Made, behind)
	fire(t, q, queue.Made, queue.Fire{Pull: "b", At: midnight})
	if err := q.Pause(t.Context(), "a", true, midnight); err != nil {
		t.Fatal(err)
	}
	fire(t, q, queue.Held, at(4))
	sets, err := q.Sets(t.Context())
	if a := sets["a"]; err != nil || !a.Paused || !a.Last.Equal(behind.At) || sets["b"].Paused {
		t.Errorf("%+v, %v", sets, err)
	}
	if l := list(t, q, queue.Filter{Pull: "a"}); l.Total != 2 {
		t.Errorf("%+v", l)
	}
}

// TestSince: what a pull missed counts from when it was first seen, from its last
// fire, from a change of its schedule, and from its being resumed.
func TestSince(t *testing.T) {
	dir := t.TempDir()
	q := open(t, dir, queue.Options{})
	defer shut(t, q)
	hour := func(h int) time.Time { return midnight.Add(time.Duration(h) * time.Hour) }
	want := func(spec string, now, want int) {
		t.Helper()
		if got, err := q.Since(t.Context(), "a", spec, hour(now)); err != nil || !got.Equal(hour(want)) {
			t.Errorf("since %v, %v; want %v", got, err, hour(want))
		}
	}
	want("x", 1, 1)
	want("x", 2, 1)
	fire(t, q, queue.Made, queue.Fire{Pull: "a", At: hour(3)})
	want("x", 5, 3)
	want("y", 5, 5)
	if err := q.Settle(t.Context(), "a", hour(7)); err != nil {
		t.Fatal(err)
	}
	want("y", 8, 7)
	for _, p := range []struct {
		h      int
		paused bool
	}{{9, true}, {10, true}, {12, false}, {13, false}} {
		if err := q.Pause(t.Context(), "a", p.paused, hour(p.h)); err != nil {
			t.Fatal(err)
		}
	}
	want("y", 14, 12)
}

// TestOneAtATime attends many jobs of few pulls: never two of one pull at once, each
// to its end, in the order in which they were made, over more than one lease.
func TestOneAtATime(t *testing.T) {
	const pulls, jobs = 4, 5
	var mu sync.Mutex
	busy, seen, order := map[string]bool{}, map[int64]int{}, map[string][]int64{}
	var done sync.WaitGroup
	done.Add(pulls * jobs)
	q := open(t, t.TempDir(), queue.Options{
		Ended: func(queue.Job) { done.Done() },
		Attend: func(_ context.Context, j queue.Job) queue.Outcome {
			mu.Lock()
			if busy[j.Pull] {
				t.Errorf("two jobs of %s at once", j.Pull)
			}
			busy[j.Pull] = true
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			busy[j.Pull] = false
			if seen[j.ID]++; seen[j.ID] < 3 {
				return queue.Outcome{}
			}
			order[j.Pull] = append(order[j.Pull], j.ID)
			return queue.Outcome{State: queue.Done}
		},
	})
	defer shut(t, q)
	for range jobs {
		for p := range pulls {
			if _, err := q.Add(t.Context(), queue.Job{Pull: string(rune('a' + p)), Why: queue.ByHand}, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := q.Add(t.Context(), queue.Job{Pull: "a", Why: queue.ByHand}, false); !errors.Is(err, queue.ErrOverlap) {
		t.Errorf("a job beside others that are not over: %v", err)
	}
	start(t, q)
	done.Wait()
	for pull, ids := range order {
		for i := range ids {
			if len(ids) != jobs || i > 0 && ids[i] < ids[i-1] {
				t.Errorf("%s: %v", pull, ids)
			}
		}
	}
	l := list(t, q, queue.Filter{State: queue.Done, Limit: 3, Before: 10})
	if l.Total != pulls*jobs || l.Rest != 9 || len(l.Jobs) != 3 || l.Jobs[0].ID != 9 || l.Jobs[0].Leases != 3 || l.Jobs[0].Ended == nil {
		t.Errorf("%+v", l)
	}
}

// TestTakenUp: what a process left is dealt out by the next one at once, what it was to
// cancel is cancelled.
func TestTakenUp(t *testing.T) {
	dir := t.TempDir()
	attended := make(chan queue.Job, 10)
	q := open(t, dir, queue.Options{Attend: func(ctx context.Context, j queue.Job) queue.Outcome {
		attended <- j
		<-ctx.Done()
		return queue.Outcome{}
	}})
	var ids []int64
	for _, pull := range []string{"a", "a", "b", "c"} {
		j, err := q.Add(t.Context(), queue.Job{Pull: pull, Why: queue.ByHand, From: "1"}, true)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, j.ID)
	}
	start(t, q)
	for range 3 {
		j := <-attended
		if err := errors.Join(q.Begin(t.Context(), j.ID), q.Began(t.Context(), j.ID, "run of "+j.Pull)); err != nil {
			t.Fatal(err)
		}
	}
	if _, running, err := q.Cancel(t.Context(), ids[2]); err != nil || !running {
		t.Errorf("running %v, %v", running, err)
	}
	if err := q.Begin(t.Context(), ids[2]); !errors.Is(err, queue.ErrOver) {
		t.Errorf("a job that is to be cancelled begins: %v", err)
	}
	shut(t, q)

	ended := make(chan queue.Job, 10)
	q = open(t, dir, queue.Options{Ended: func(j queue.Job) { ended <- j }})
	defer shut(t, q)
	if l := list(t, q, queue.Filter{State: queue.Cancelled}); l.Total != 1 || l.Jobs[0].Pull != "b" {
		t.Errorf("%+v", l)
	}
	start(t, q)
	for range 3 {
		if j := <-ended; j.ID == ids[0] && (j.Run != "run of a" || j.Leases != 2 || j.From != "1" || j.Started == nil) {
			t.Errorf("%+v", j)
		}
	}
}

// TestCancel cancels a job that waits at once, and lets the next one of its pull go on.
func TestCancel(t *testing.T) {
	ended := make(chan queue.Job, 10)
	q := open(t, t.TempDir(), queue.Options{Ended: func(j queue.Job) { ended <- j }, Keep: 2})
	defer shut(t, q)
	far := queue.Fire{Pull: "a", At: midnight, Start: time.Now().Add(time.Hour)}
	j := fire(t, q, queue.Made, far)
	next, err := q.Add(t.Context(), queue.Job{Pull: "a", Why: queue.ByHand}, true)
	if err != nil {
		t.Fatal(err)
	}
	start(t, q)
	if _, running, err := q.Cancel(t.Context(), j.ID); running || err != nil {
		t.Errorf("running %v, %v", running, err)
	}
	if _, _, err := q.Cancel(t.Context(), j.ID); !errors.Is(err, queue.ErrOver) {
		t.Errorf("cancelled twice: %v", err)
	}
	if _, _, err := q.Cancel(t.Context(), 99); !errors.Is(err, queue.ErrNoJob) {
		t.Errorf("no such job: %v", err)
	}
	if c, n := <-ended, <-ended; c.State != queue.Cancelled || n.ID != next.ID || n.State != queue.Done {
		t.Errorf("%+v, then %+v", c, n)
	}
	for range 2 {
		if _, err := q.Add(t.Context(), queue.Job{Pull: "a", Why: queue.ByHand}, true); err != nil {
			t.Fatal(err)
		}
		<-ended
	}
	if l := list(t, q, queue.Filter{}); l.Total != 2 || l.Jobs[1].ID != 3 {
		t.Errorf("two are to be kept: %+v", l)
	}
}
