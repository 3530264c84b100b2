//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// The two ways to lock a file.
const (
	exclusive = unix.LOCK_EX
	shared    = unix.LOCK_SH
)

// lockFile locks f without waiting; errHeld: somebody else has it. The lock
// goes with the open file.
func lockFile(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = conn.Control(func(fd uintptr) {
		for {
			result = unix.Flock(int(fd), how|unix.LOCK_NB)
			if !errors.Is(result, unix.EINTR) {
				return
			}
		}
	})
	if errors.Is(result, unix.EWOULDBLOCK) {
		return errHeld
	}
	return errors.Join(err, result)
}

// mayWrite asks the system whether this process may write name, without
// opening it.
func mayWrite(name string) error {
	return unix.Faccessat(unix.AT_FDCWD, name, unix.W_OK, unix.AT_EACCESS)
}
