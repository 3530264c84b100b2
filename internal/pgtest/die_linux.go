package pgtest

import "syscall"

// dyingWithUs lets a server end when the test process does, however that ends.
func dyingWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} }
