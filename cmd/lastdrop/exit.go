package main

import "strconv"

// The exit statuses that scripts may rely on, beside 0 for COMPLETE. A verdict
// has the same status in every command.
const (
	exitNotRun    = 1 // it could not run: an unreadable file, a bad snapshot, bad flags
	exitTruncated = 2
	exitUnknown   = 3
	exitNothing   = 4 // there was nothing to work on
	exitSelfTest  = 5
)

// An exitError ends the program with a status. Where msg is not empty it is
// printed to standard error; where it is, everything has been said already.
type exitError struct {
	code int
	msg  string
}

// Error gives the message, or the bare status where there is none.
func (e exitError) Error() string {
	if e.msg == "" {
		return "exit status " + strconv.Itoa(e.code)
	}
	return e.msg
}
