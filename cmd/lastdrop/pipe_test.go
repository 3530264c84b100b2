package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lastdrop/store"
)

// gone is the standard output of a command whose reader is gone.
type gone struct{}

func (gone) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}

// TestReaderGone: a list whose reader has seen enough is no error.
func TestReaderGone(t *testing.T) {
	db := filepath.Join(t.TempDir(), "runs.db")
	s, err := store.Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	if code := execute(context.Background(), []string{"runs", "--db", db}, strings.NewReader(""), gone{}, &errs); code != 0 || errs.Len() > 0 {
		t.Errorf("exit status %d, %q", code, errs.String())
	}
}
