//go:build !unix

package pgtest

import (
	"syscall"
	"testing"
)

func owner(testing.TB, string) *account {
	return &account{attr: &syscall.SysProcAttr{}, own: func(string) error { return nil }}
}
