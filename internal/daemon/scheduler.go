package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lastdrop/internal/daemon/catalog"
	"lastdrop/internal/daemon/queue"
	"lastdrop/internal/daemon/schedule"
)

const (
	// late is how long after its moment a fire counts as missed.
	late = time.Minute
	// mostMissed is the most fires that are made up for.
	mostMissed = 100
	// nap is the longest pause between two looks at the clock, which may be set.
	nap = 30 * time.Second
	// afterFault is the pause after the queue could not be written.
	afterFault = 5 * time.Second
)

// overlaps reports whether a fire waits behind a job that is not over.
func overlaps(entry catalog.Entry) bool { return entry.Schedule.Spec().Overlap == schedule.Queue }

// A scheduler fires what is due. Only its own goroutine uses it.
type scheduler struct {
	engine *Engine
	pulls  map[string]*due
}

// due is what a scheduler knows of a pull.
type due struct {
	spec  string
	since time.Time // fires up to here are settled
	next  time.Time // zero: none
}

func (s *scheduler) run(ctx context.Context) {
	e := s.engine
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-e.opt.Catalog.Changed():
			e.subs.tell(Event{Kind: "pull"})
		}
		timer.Reset(max(time.Millisecond, time.Until(s.look(ctx, time.Now()))))
	}
}

// look fires what is due, and tells when to look again.
func (s *scheduler) look(ctx context.Context, now time.Time) time.Time {
	again, there := now.Add(nap), map[string]bool{}
	sooner := func(at time.Time) {
		if at.Before(again) {
			again = at
		}
	}
	for _, entry := range s.engine.opt.Catalog.Entries() {
		if entry.Schedule == nil || ctx.Err() != nil {
			continue
		}
		there[entry.Name] = true
		next, err := s.pull(ctx, entry, now)
		if err != nil {
			s.engine.log.Error("the schedule cannot be kept, and is tried again", "pull", entry.Name, "error", err)
			sooner(now.Add(afterFault))
		} else if !next.IsZero() {
			sooner(next)
		}
	}
	for name := range s.pulls {
		if !there[name] {
			delete(s.pulls, name)
		}
	}
	return again
}

// pull settles the fires of a pull up to now, and gives the next one. After an error
// nothing is lost: what is settled twice is so once.
func (s *scheduler) pull(ctx context.Context, entry catalog.Entry, now time.Time) (time.Time, error) {
	q, d := s.engine.queue, s.pulls[entry.Name]
	if spec := fmt.Sprint(entry.Schedule.Spec()); d == nil || d.spec != spec {
		since, err := q.Since(ctx, entry.Name, spec, now)
		if err != nil {
			return time.Time{}, err
		}
		d = &due{spec: spec, since: since, next: entry.Schedule.Next(since)}
		s.pulls[entry.Name] = d
	}
	if d.next.IsZero() || d.next.After(now) {
		return d.next, nil
	}
	if err := s.settle(ctx, entry, entry.Schedule.Missed(d.since, now, mostMissed+1), now); err != nil {
		return d.next, err
	}
	d.since, d.next = now, entry.Schedule.Next(now)
	return d.next, nil
}

// settle fires those of a pull's moments that are to be fired: the newest where it is on time, and of
// those that were missed as many as the schedule says.
func (s *scheduler) settle(ctx context.Context, entry catalog.Entry, fires []time.Time, now time.Time) error {
	var onTime []time.Time
	if n := len(fires); n > 0 && now.Sub(fires[n-1]) < late {
		fires, onTime = fires[:n-1], fires[n-1:]
	}
	missed := fires
	switch entry.Schedule.Spec().CatchUp {
	case schedule.All:
		missed = fires[max(0, len(fires)-mostMissed):]
	case schedule.One:
		missed = nil
		if len(onTime) == 0 && len(fires) > 0 {
			missed = fires[len(fires)-1:]
		}
	default:
		missed = nil
	}
	if dropped := len(fires) - len(missed); dropped > 0 {
		s.engine.log.Warn("fires were missed and are not made up for", "pull", entry.Name, "fires", dropped, "first", fires[0])
		s.engine.subs.tell(Event{Kind: "pull", Pull: entry.Name})
	}
	for _, at := range slices.Concat(missed, onTime) {
		f := queue.Fire{Pull: entry.Name, At: at, Start: entry.Schedule.Start(entry.Name, at), Why: BySchedule, Queue: overlaps(entry)}
		if len(onTime) == 0 || !at.Equal(onTime[0]) {
			f.Why, f.Start = ByCatchUp, at
			f.Queue = f.Queue || entry.Schedule.Spec().CatchUp == schedule.All
		}
		if err := s.fire(ctx, f); err != nil {
			return err
		}
	}
	return s.engine.queue.Settle(ctx, entry.Name, now)
}

func (s *scheduler) fire(ctx context.Context, f queue.Fire) error {
	result, j, err := s.engine.queue.Fire(ctx, f)
	if err != nil {
		return err
	}
	s.engine.log.Info("fire "+result, "pull", f.Pull, "fire", f.At, "why", f.Why, "job", j.ID)
	if result == queue.Made {
		s.engine.tellJob(j)
	}
	s.engine.subs.tell(Event{Kind: "pull", Pull: f.Pull})
	return nil
}
