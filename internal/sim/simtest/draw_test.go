package simtest_test

import (
	"testing"

	"lastdrop/internal/sim/simtest"

	"pgregory.net/rapid"
)

func TestDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := simtest.Draw(t, simtest.DrawProfile(t))
		if h := s.Hints(); h.Style != string(s.API.Style) || h.Path == "" || h.Items == "" {
			t.Errorf("hints %+v for %+v", h, s.API)
		}
		if truth := s.Truth(); len(truth.Always) > len(s.World.Items)+len(s.World.Changes) {
			t.Errorf("%d always of %d items", len(truth.Always), len(s.World.Items))
		}
	})
}
