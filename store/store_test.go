package store_test

import (
	"path/filepath"
	"testing"

	"lastdrop/store"
	"lastdrop/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t testing.TB, dir string) storetest.Store[*store.Run] {
		s, err := store.Open(t.Context(), filepath.Join(dir, "lastdrop.db"))
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
