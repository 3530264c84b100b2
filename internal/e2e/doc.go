// Package e2e drains real API servers that nobody of this project wrote, with
// the real lastdrop binary, and holds what comes out against the servers' own
// data: their database or files, never their paged answers.
//
// The tests stand behind a build tag, since they install servers (install.sh:
// Debian packages and npm packages) and so need root or sudo once:
//
//	go test -count=1 -tags e2e ./internal/e2e
//
// A server that cannot be had fails the tests; none is skipped. Every server
// listens on 127.0.0.1 only, in a process group of its own, under a limit of
// time, and ends with its test. What npm brings is kept in
// ${LASTDROP_E2E_CACHE:-${TMPDIR:-/tmp}/lastdrop-e2e}.
package e2e
