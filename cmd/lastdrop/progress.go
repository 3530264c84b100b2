package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"lastdrop/fetcher"
	"lastdrop/judge/reconcile"
)

// A progress writes the live line of a run to a terminal. Everywhere else it
// writes nothing.
type progress struct {
	w      io.Writer
	width  int
	on     bool
	prefix string
	began  time.Time
	first  int64 // items held when the line began: the rate counts from there
	drawn  time.Time
	shown  bool
}

// redraw is the least time between two lines.
const redraw = 100 * time.Millisecond

func newProgress(w io.Writer, off bool) *progress {
	f, ok := w.(interface{ Fd() uintptr })
	p := &progress{w: w, width: 100}
	if off || os.Getenv("TERM") == "dumb" || !ok || !term.IsTerminal(int(f.Fd())) {
		return p
	}
	p.on = true
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 20 {
		p.width = n
	}
	return p
}

// begin names the run that the line is about.
func (p *progress) begin(prefix string) {
	p.prefix, p.began, p.first, p.drawn = prefix, time.Now(), -1, time.Time{}
}

func (p *progress) update(s fetcher.Progress) {
	if !p.on {
		return
	}
	if p.first < 0 {
		p.first = s.Distinct
	}
	now := time.Now()
	if now.Sub(p.drawn) < redraw && s.Waiting < time.Second {
		return
	}
	p.drawn, p.shown = now, true
	fmt.Fprintf(p.w, "\r\x1b[K%s", fit(p.text(s, now), p.width-1))
}

func (p *progress) text(s fetcher.Progress, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  page %s  %s items", p.prefix, thousands(s.Pages), thousands(s.Distinct))
	if s.HasTotal && s.Total > 0 {
		fmt.Fprintf(&b, " of %s  %.1f %%", thousands(s.Total), min(99.9, float64(int64(float64(s.Distinct)/float64(s.Total)*1000))/10))
	}
	if secs := now.Sub(p.began).Seconds(); secs > 0.5 {
		fmt.Fprintf(&b, "  %s/s", thousands(int64(float64(s.Distinct-p.first)/secs)))
	}
	if s.Size > 0 {
		fmt.Fprintf(&b, "  size %d", s.Size)
	}
	if s.Slice > 0 {
		fmt.Fprintf(&b, "  slice %s", thousands(int64(s.Slice)))
	}
	if s.Pass > 1 {
		fmt.Fprintf(&b, "  pass %d", s.Pass)
	}
	if s.Half > 0 {
		fmt.Fprintf(&b, "  %d half", s.Half)
	}
	if s.Waiting >= time.Second {
		fmt.Fprintf(&b, "  waiting %s", s.Waiting.Round(time.Second))
	}
	if s.Outcome == reconcile.Limited {
		return b.String() + "  rate-limited"
	}
	return b.String() + "  " + s.Outcome.String()
}

// clear takes the line away, so that what follows starts on a clean one.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func fit(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:max(0, n-1)]) + "…"
}
