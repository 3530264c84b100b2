package main

import (
	"strings"
	"testing"
)

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestReadBounded: an endless input is refused.
func TestReadBounded(t *testing.T) {
	defer func(n int64) { maxInput = n }(maxInput)
	maxInput = 1000
	if _, err := readBounded(endless{}); err == nil || !strings.Contains(err.Error(), "longer than 1000 bytes") {
		t.Fatalf("error %v", err)
	}
	if data, err := readBounded(strings.NewReader(strings.Repeat("x", 1000))); err != nil || len(data) != 1000 {
		t.Fatalf("%d bytes, error %v", len(data), err)
	}
}

// TestGuarded: a panic is no verdict.
func TestGuarded(t *testing.T) {
	var errs strings.Builder
	if code := guarded(&errs, func() int { panic("oh") }); code != exitNotRun {
		t.Fatalf("status %d", code)
	}
	if !strings.HasPrefix(errs.String(), "lastdrop: internal error: oh\n") {
		t.Fatalf("said %q", errs.String())
	}
}
