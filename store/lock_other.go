//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

import (
	"errors"
	"fmt"
	"os"
)

// The two ways to lock a file.
const (
	exclusive = iota
	shared
)

// lockFile refuses: without a lock two processes could drain one run.
func lockFile(*os.File, int) error {
	return fmt.Errorf("this system has no file locks that lastdrop knows: %w", errors.ErrUnsupported)
}

// mayWrite leaves it to the first write.
func mayWrite(string) error { return nil }
