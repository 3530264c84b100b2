package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The heap may grow by this share, in percent, between two collections: by the
// usual one while it is small, by little once the set of known ids of a large run
// is most of it. It holds no pointers, so that a collection costs next to nothing.
const (
	usualGrowth = 100
	leanGrowth  = 10
	leanFrom    = 48 << 20 // bytes of live heap
)

// keepLean keeps the memory of a large run near what it needs, until the program
// ends, and gives what is free back to the system. Who sets GOGC or GOMEMLIMIT
// decides for themselves.
func keepLean() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	go func() {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for lean := false; ; time.Sleep(250 * time.Millisecond) {
			metrics.Read(sample)
			live := int64(sample[0].Value.Uint64())
			switch {
			case live > leanFrom:
				debug.SetMemoryLimit(live + live/6 + 32<<20)
				if !lean {
					debug.SetGCPercent(leanGrowth)
				}
				lean = true
			case lean:
				debug.SetMemoryLimit(math.MaxInt64)
				debug.SetGCPercent(usualGrowth)
				lean = false
			}
		}
	}()
}

// processors gives a run as many as it uses, until the next one begins. With one
// request at a time its goroutines take turns, and with a second processor each
// turn would wake a thread: a sixth of the whole run's CPU. Who sets GOMAXPROCS
// decides for themselves.
func processors(concurrency int) {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	if concurrency == 1 {
		runtime.GOMAXPROCS(1)
		return
	}
	runtime.SetDefaultGOMAXPROCS()
}
