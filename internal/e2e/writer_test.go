//go:build e2e

package e2e

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A writer changes a server without a pause, until it is told to stop or has
// made all its turns.
type writer struct {
	stop chan struct{}
	done sync.WaitGroup
	err  error
	n    int
}

// write starts a writer; turn makes the i-th change.
func write(turns int, turn func(i int) error) *writer {
	w := &writer{stop: make(chan struct{})}
	w.done.Go(func() {
		for w.n < turns {
			select {
			case <-w.stop:
				return
			default:
			}
			if w.err = turn(w.n); w.err != nil {
				return
			}
			w.n++
		}
	})
	return w
}

// end stops the writer and tells how many changes it made.
func (w *writer) end(t *testing.T) int {
	t.Helper()
	close(w.stop)
	w.done.Wait()
	if w.err != nil {
		t.Fatalf("the writer: %v", w.err)
	}
	return w.n
}

// TestWhileWriting drains while a writer inserts and deletes all the while.
// What there is to be said for sure is the law.
func TestWhileWriting(t *testing.T) {
	t.Parallel()
	const n = 450
	const slowly = "limits: {rate: 60/s, burst: 1}\n"
	victim := func(i int) int { return i*67%n + 1 } // each of 1 to n once

	s := startCellar(t, n)
	for _, c := range []struct{ name, config string }{
		{"page", bottlesByPage}, {"newest first", strings.Replace(bottlesByPage, "/page/", "/newest/", 1)},
		{"offset", bottlesByOffset}, {"cursor", strings.Replace(bottlesByCursor, "/cursor/", "/serial/", 1)}, // in an order without ties
	} {
		t.Run("drf, "+c.name, func(t *testing.T) {
			s.refill(t, n)
			before, youngest := s.bottles(t), s.youngest(t)
			w := write(n, func(i int) error { return firstOf(s.lay(1), s.drink(victim(i))) })
			r := drain(t, s.base, strings.Replace(c.config, "start: 100", "start: 20", 1)+slowly)
			t.Logf("%d times one came and one went", w.end(t))
			r.law(t, "id", both(before, s.bottles(t)), slices.Concat(before, ids(youngest+1, s.youngest(t))))
		})
	}
	for _, c := range []struct{ name, config string }{{"link", postsByLink}, {"page", postsByPage}} {
		t.Run("json-server, "+c.name, func(t *testing.T) {
			s := startPosts(t, n)
			before, _ := posts(t, s)
			var born []string
			w := write(n, func(i int) error {
				id, err := post(s)
				born = append(born, id)
				return firstOf(err, unpost(s, victim(i)))
			})
			r := drain(t, s.base, strings.Replace(c.config, "start: 100", "start: 20", 1)+slowly)
			t.Logf("%d times one came and one went", w.end(t))
			after, _ := posts(t, s)
			r.law(t, "id", both(before, after), slices.Concat(before, born))
		})
	}
}

func ids(from, to int) []string {
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

// TestKilled kills lastdrop in mid-drain and starts it again.
func TestKilled(t *testing.T) {
	t.Parallel()
	t.Run("a pinned revision outlives the process", func(t *testing.T) {
		s := startEtcd(t, 430)
		keys := s.keys(t)
		small := strings.Replace(jars, "start: 100", "start: 20", 1)
		r := killedAt(t, s.server, small, 16, func() error {
			return firstOf(s.remove(jar(7)), s.remove(jar(400)), s.put(jar(410)+"+"))
		})
		r.is(t, complete, counted)
		r.equals(t, "key", keys)
	})
	s := startCellar(t, 430)
	all := s.bottles(t)
	t.Run("offset", func(t *testing.T) {
		r := killedAt(t, s.server, strings.Replace(bottlesByOffset, "start: 100", "start: 20", 1), 16, func() error { return nil })
		r.is(t, complete, counted)
		r.equals(t, "id", all)
	})
	t.Run("a cursor", func(t *testing.T) {
		r := killedAt(t, s.server, strings.Replace(bottlesByCursor, "start: 100", "start: 20", 1), 16, func() error { return s.drink(1, 2, 3) })
		r.is(t, complete, declared)
		r.law(t, "id", s.bottles(t), all)
	})
}

// TestServerGoesAway stops json-server in mid-drain, and starts it again once
// lastdrop has given up.
func TestServerGoesAway(t *testing.T) {
	t.Parallel()
	s := startPosts(t, 512)
	all, _ := posts(t, s)
	impatient := postsByLink + "limits: {retries: 1}\n"
	pl := newPlace(t)
	p := newTap(t, s, map[int]func() error{4: func() error {
		s.stop()
		return nil
	}})
	r := pl.drain(t, p.base, impatient)
	r.is(t, truncated) // the last answer had a next link
	r.law(t, "id", all, all)
	if len(r.items) != 300 || r.Resume == nil {
		t.Errorf("%d items, want 300; resume point %s", len(r.items), r.Resume)
	}
	p.turnTo(startPosts(t, 512))
	r = pl.drain(t, p.base, impatient)
	r.is(t, complete, counted)
	r.equals(t, "id", all)
}

// killedAt kills lastdrop when it sends its n-th request, does something to
// the source, and runs lastdrop again to its end.
func killedAt(t *testing.T, s *server, config string, n int, meanwhile func() error) run {
	t.Helper()
	pl := newPlace(t)
	pid := make(chan int, 1)
	p := newTap(t, s, map[int]func() error{n: func() error { return syscall.Kill(<-pid, syscall.SIGKILL) }})
	slowly := config + "limits: {rate: 40/s, burst: 1}\n" // so that there is a checkpoint before
	cmd := pl.command(t, p.base, slowly)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid <- cmd.Process.Pid
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("lastdrop was not killed: %v", err)
	}
	if err := meanwhile(); err != nil {
		t.Fatal(err)
	}
	r := pl.drain(t, p.base, slowly)
	if _, err := os.Stat(pl.target() + ".partial"); err == nil {
		t.Errorf("%s.partial was left behind", pl.target())
	}
	resumed := must(query(pl.store(), "SELECT text FROM events WHERE kind = 'resume'"))(t)
	if runs := must(query(pl.store(), "SELECT run FROM runs"))(t); len(runs) != 1 || len(resumed) != 1 {
		t.Errorf("runs %v, resumed %q: one run should have been taken up", runs, resumed)
	}
	return r
}
