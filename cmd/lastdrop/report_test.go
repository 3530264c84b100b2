package main

import (
	"testing"

	"lastdrop/judge/reconcile"
)

// The report says how many requests could be under way at once, where more than one.
func TestPagesText(t *testing.T) {
	r := reconcile.Report{Requests: 24, Pages: reconcile.PageCounts{Held: 24, Failed: 2}, Concurrency: 4}
	if got, want := pagesText(r), "24 held, 24 requests, up to 4 at once, 2 failed or rate-limited"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Concurrency = 0
	if got, want := pagesText(r), "24 held, 24 requests, 2 failed or rate-limited"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
