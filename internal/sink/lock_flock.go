//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sink

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock is flock without waiting. It belongs to the open file and follows it when it is renamed.
func lock(f *os.File, how lockKind) error {
	flags := unix.LOCK_NB | unix.LOCK_SH
	if how == lockExclusive {
		flags = unix.LOCK_NB | unix.LOCK_EX
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = conn.Control(func(fd uintptr) {
		for {
			if result = unix.Flock(int(fd), flags); !errors.Is(result, unix.EINTR) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	if errors.Is(result, unix.EWOULDBLOCK) {
		return ErrBusy
	}
	return result
}

// writable asks the system with the rights that the process has now.
func writable(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	mode := uint32(unix.W_OK)
	if info.IsDir() {
		mode |= unix.X_OK
	}
	return unix.Faccessat(unix.AT_FDCWD, name, mode, unix.AT_EACCESS)
}
