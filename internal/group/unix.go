//go:build unix

// Package group ends a command together with all that it started.
package group

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Together makes the end of the command's context a kill of all that it has started too: else
// a shell's child would live on, and take a part of its input for the whole.
func Together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
