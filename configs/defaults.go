package configs

import (
	"math"
	"time"

	"lastdrop/internal/daemon/schedule"
)

// setDefaults fills in what the file leaves open. said reports whether the
// file gives a key. All defaults stand here.
func (c *Config) setDefaults(said func(string) bool) {
	set(said, "source.method", &c.Source.Method, "GET")
	set(said, "pages.size.min", &c.Pages.Size.Min, 1)
	set(said, "complete.require", &c.Complete.Require, "declared")
	set(said, "complete.passes", &c.Complete.Passes, 3)
	set(said, "complete.max_drift", &c.Complete.MaxDrift, 1)
	set(said, "complete.max_fall", &c.Complete.MaxFall, 50)
	set(said, "limits.concurrency", &c.Limits.Concurrency, 1)
	set(said, "limits.timeout", &c.Limits.Timeout, Duration(30*time.Second))
	set(said, "limits.retries", &c.Limits.Retries, 5)
	set(said, "limits.max_wait", &c.Limits.MaxWait, Duration(15*time.Minute))
	set(said, "limits.max_body", &c.Limits.MaxBody, 64<<20)
	set(said, "limits.burst", &c.Limits.Burst, max(1, int(math.Ceil(min(float64(c.Limits.Rate), 1e6)))))
	set(said, "output.on", &c.Output.On, "complete")
	if s := c.Complete.Sentinel; s != nil && s.asks() {
		set(said, "complete.sentinel.min", &s.Min, 1)
	}
	if c.Incremental != nil {
		set(said, "incremental.format", &c.Incremental.Format, "rfc3339")
	}
	if s := c.Schedule; s != nil {
		set(said, "schedule.zone", &s.Zone, "UTC")
		set(said, "schedule.overlap", &s.Overlap, schedule.Skip)
		set(said, "schedule.catch_up", &s.CatchUp, schedule.None)
	}
	c.styleDefaults(said)
	set(said, "pages.size.start", &c.Pages.Size.Start, c.Pages.Size.Max)
}

// set gives a value that the file does not say its default.
func set[T any](said func(string) bool, path string, v *T, def T) {
	if !said(path) {
		*v = def
	}
}

// styleDefaults fills in what a style is known by.
func (c *Config) styleDefaults(said func(string) bool) {
	p := &c.Pages
	first := int64(1)
	switch p.Style {
	case "algolia":
		first = 0
		if p.Number == nil {
			p.Number = &Number{}
		}
		set(said, "pages.number.param", &p.Number.Param, "page")
		if p.Size.Start > 0 || p.Size.Max > 0 {
			set(said, "pages.size.param", &p.Size.Param, "hitsPerPage")
		}
		set(said, "pages.last", &p.Last, &Where{Path: "nbPages"})
		set(said, "items.path", &c.Items.Path, "hits")
		set(said, "items.id", &c.Items.ID, Paths{"objectID"})
		set(said, "total", &c.Total, Total{Path: "nbHits", Kind: Kind{Path: "exhaustiveNbHits", Exact: "true"}})
	case "single":
		if c.isJSON() {
			set(said, "items.path", &c.Items.Path, "@this")
		}
	}
	if p.Number != nil {
		set(said, "pages.number.first", &p.Number.First, &first)
	}
}

// isJSON reports whether bodies are JSON.
func (c *Config) isJSON() bool { return c.Items.Format == "" || c.Items.Format == "json" }
