package main

import (
	"os"
	"syscall"
)

var signalsByName = map[string]os.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT}
