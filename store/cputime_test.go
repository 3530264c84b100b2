//go:build unix

package store

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the processor time of this process: unlike the time on the wall
// it can be compared where other work shares the machine.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
