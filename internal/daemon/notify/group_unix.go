//go:build unix

package notify

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// together lets a kill meet all that the command started: a time-out ends a shell and its children.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
