// Package simtest draws worlds of package sim in property tests. It is apart
// so that no program links the test libraries.
package simtest

import (
	"lastdrop/internal/sim"

	"pgregory.net/rapid"
)

// Draw is a random Sim of a profile. A failing test shrinks towards a small,
// plain world with few faults.
func Draw(t *rapid.T, p sim.Profile) *sim.Sim { return sim.Random(dice{t}, p) }

// DrawProfile is a random profile; Clean is the simplest.
func DrawProfile(t *rapid.T) sim.Profile {
	return rapid.SampledFrom(sim.Profiles()).Draw(t, "profile")
}

// dice draws choices from rapid, so that each of them shrinks on its own.
type dice struct{ t *rapid.T }

// IntN implements [sim.Dice].
func (d dice) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "choice") }
