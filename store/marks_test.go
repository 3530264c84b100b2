package store

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A clock that went back leaves a mark in the future: no run begins with it.
func TestMarkInTheFuture(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "lastdrop.db"))
	if _, err := s.db.Exec(`INSERT INTO marks (name, config_hash, mark, at) VALUES ('pull', 'h', ?1, ?1)`, stamp(time.Now().Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	o := BeginOptions{Name: "pull", ConfigHash: "h", Incremental: true}
	if run, err := s.Begin(t.Context(), o); err == nil || !strings.Contains(err.Error(), "later than now") {
		t.Fatalf("began %v, %v", run, err)
	}
	if list, err := s.Runs(t.Context(), RunFilter{}); err != nil || list.Total != 0 {
		t.Errorf("%d runs are left, %v", list.Total, err)
	}
}
