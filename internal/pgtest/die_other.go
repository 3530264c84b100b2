//go:build unix && !linux

package pgtest

import "syscall"

func dyingWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
