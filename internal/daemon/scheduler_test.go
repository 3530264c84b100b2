package daemon

import (
	"fmt"
	"testing"
	"time"
)

// looks gives how many jobs there are after a scheduler has looked at each moment.
func (w *world) looks(s *scheduler, moments ...time.Time) int64 {
	w.t.Helper()
	for _, now := range moments {
		s.look(w.t.Context(), now)
		s.look(w.t.Context(), now.Add(time.Millisecond)) // what is settled is so once
	}
	list, err := w.Jobs(w.t.Context(), JobFilter{})
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Total
}

// TestScheduler: each fire makes one job, or none where the pull's job before is not over and
// fires do not wait; what was missed is made up for as the schedule says; a new scheduler on
// the same queue makes nothing twice; a paused pull fires nothing, and makes up for nothing.
func TestScheduler(t *testing.T) {
	at := func(hour, minute, second int) time.Time {
		return time.Date(2026, 3, 1, hour, minute, second, 0, time.UTC)
	}
	for _, c := range []struct {
		overlap, catchUp string
		behind           int64 // jobs after two fires on time, the first not over
		late             int64 // jobs after seven fires that were missed
	}{
		{"skip", "none", 1, 0}, {"queue", "none", 2, 0}, {"skip", "one", 1, 1}, {"queue", "one", 2, 1}, {"skip", "all", 1, 7}, {"queue", "all", 2, 7},
	} {
		t.Run(c.overlap+" "+c.catchUp, func(t *testing.T) {
			w := newWorld(t, 10)
			more := fmt.Sprintf("schedule: {cron: \"0 * * * *\", overlap: %s, catch_up: %s}\n", c.overlap, c.catchUp)
			w.config("early", more)
			w.open(false)
			s := &scheduler{engine: w.Engine, pulls: map[string]*due{}}
			if n := w.looks(s, at(0, 30, 0), at(0, 59, 59)); n != 0 {
				t.Errorf("%d jobs before the first fire", n)
			}
			if n := w.looks(s, at(1, 0, 1), at(1, 30, 0)); n != 1 {
				t.Errorf("%d jobs after the first fire", n)
			}
			if n := w.looks(s, at(2, 0, 30)); n != c.behind {
				t.Errorf("%d jobs after the second fire, want %d", n, c.behind)
			}
			if n := w.looks(&scheduler{engine: w.Engine, pulls: map[string]*due{}}, at(2, 30, 0)); n != c.behind {
				t.Errorf("%d jobs with a new scheduler, want %d", n, c.behind)
			}

			w = newWorld(t, 10)
			w.config("late", more)
			w.config("paused", more)
			w.open(false)
			s = &scheduler{engine: w.Engine, pulls: map[string]*due{}}
			if err := w.queue.Pause(t.Context(), "paused", true, at(0, 20, 0)); err != nil {
				t.Fatal(err)
			}
			if n := w.looks(s, at(0, 30, 0)); n != 0 {
				t.Errorf("%d jobs at the start", n)
			}
			if n := w.looks(&scheduler{engine: w.Engine, pulls: map[string]*due{}}, at(7, 30, 0)); n != c.late {
				t.Errorf("%d jobs after seven missed fires, want %d", n, c.late)
			}
		})
	}
}
