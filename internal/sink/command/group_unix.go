//go:build unix

package command

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// together lets a kill meet all that the command started: a shell's child would see the end of its input, and take a part for the whole.
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
