package sink

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// busy is ErrBusy with the process that holds the lock; 0 is a process that is not known.
func busy(pid int) error {
	switch pid {
	case 0:
		return ErrBusy
	case os.Getpid():
		return fmt.Errorf("%w (in this process, %d)", ErrBusy, pid)
	}
	return fmt.Errorf("%w (process %d)", ErrBusy, pid)
}

// lockHolder finds in a table in the form of /proc/locks which process holds an flock on a file. Of a
// process in another container nothing is known but that there is one.
func lockHolder(table io.Reader, major, minor uint32, inode uint64) int {
	want := fmt.Sprintf("%02x:%02x:%d", major, minor, inode)
	for lines := bufio.NewScanner(table); lines.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF
		field := strings.Fields(lines.Text())
		if len(field) < 6 || field[1] != "FLOCK" || field[5] != want {
			continue
		}
		if pid, err := strconv.Atoi(field[4]); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}
