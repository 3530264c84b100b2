//go:build !race

// Package racing tells tests whether the race detector runs, which makes them five to ten times slower: those that
// repeat one thing at random do it less often then.
package racing

// On reports whether the race detector runs.
const On = false
