package sink

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// holder returns the process that holds a lock on f, or 0.
func holder(f *os.File) int {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	table, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer table.Close()
	dev := uint64(stat.Dev) //nolint:unconvert // not 64 bits on every architecture
	return lockHolder(table, unix.Major(dev), unix.Minor(dev), stat.Ino)
}
