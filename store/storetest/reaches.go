package storetest

import (
	"testing"

	"lastdrop/store"
)

// What was met last counts, address by address, for every process at the store.
func (s suite) testReaches(t *testing.T) {
	dir := t.TempDir()
	one, two := s.open(t, dir), s.open(t, dir)
	defer func() { noError(t, one.Close()); noError(t, two.Close()) }()
	const origin = "https://api.example"
	look := func(origin, path string) store.Reach {
		t.Helper()
		r, ok, err := two.Reach(t.Context(), origin, path)
		noError(t, err)
		same(t, "known", ok, r != store.Reach{})
		return r
	}
	same(t, "before any run", look(origin, "/items"), store.Reach{})
	first := store.Reach{Origin: origin, Path: "/items", Reach: 1000, Run: "01a", At: epoch}
	noError(t, one.noteReach(t.Context(), first))
	same(t, "what was met", look(origin, "/items"), first)
	for _, other := range [][2]string{{origin, "/"}, {origin, "/items/"}, {origin, "/Items"}, {"http://api.example", "/items"}, {"https://api.example:8443", "/items"}} {
		same(t, "another address", look(other[0], other[1]), store.Reach{})
	}
	later := store.Reach{Origin: origin, Path: "/items", Reach: 10_000, Run: "01b", At: epoch.AddDate(0, 1, 0)}
	noError(t, two.noteReach(t.Context(), later))
	same(t, "what was met later", look(origin, "/items"), later)
	for _, bad := range []store.Reach{{}, {Origin: origin, Run: "01c"}, {Origin: origin, Reach: 5}, {Reach: 5, Run: "01c"}, {Origin: origin, Reach: -5, Run: "01c"}} {
		if err := one.noteReach(t.Context(), bad); err == nil {
			t.Errorf("%+v is noted", bad)
		}
	}
	same(t, "after what is no reach", look(origin, "/items"), later)
}
