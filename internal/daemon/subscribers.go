package daemon

import (
	"context"
	"sync"
	"time"
)

// kept is how many events wait for a subscriber.
const kept = 256

// subscribers are those who are told. The zero value is ready.
type subscribers struct {
	mu     sync.Mutex
	all    map[chan Event]bool
	closed bool
}

func (s *subscribers) add(ctx context.Context) <-chan Event {
	c := make(chan Event, kept)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || ctx.Err() != nil {
		close(c)
		return c
	}
	if s.all == nil {
		s.all = map[chan Event]bool{}
	}
	s.all[c] = true
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(c)
	})
	return c
}

func (s *subscribers) drop(c chan Event) {
	if s.all[c] {
		delete(s.all, c)
		close(c)
	}
}

// tell tells all, and waits for none.
func (s *subscribers) tell(e Event) {
	e.At = time.Now().UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.all {
		if e.Progress != nil && len(c) > kept/2 {
			continue
		}
		for full := true; full; {
			select {
			case c <- e:
				full = false
			default:
				select {
				case <-c: // the oldest
				default:
				}
			}
		}
	}
}

func (s *subscribers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.all {
		s.drop(c)
	}
}
