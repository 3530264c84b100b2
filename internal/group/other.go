//go:build !unix

// Package group ends a command together with all that it started.
package group

import "os/exec"

// Together leaves it at the command itself.
func Together(*exec.Cmd) {}
