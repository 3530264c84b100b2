//go:build race

package racing

// On reports whether the race detector runs.
const On = true
