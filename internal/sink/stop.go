package sink

import (
	"context"
	"time"
)

// Until gives a context that ends, with what stop says as its cause, soon after stop says something: for a Table that waits for
// others. A nil stop never does. done ends the asking.
func Until(stop func() error) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	if stop == nil {
		return ctx, func() { cancel(nil) }
	}
	go func() {
		every := time.NewTicker(100 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
				if err := stop(); err != nil {
					cancel(err)
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}
