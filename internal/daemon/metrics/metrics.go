// Package metrics tells Prometheus how the pulls do: whether they are COMPLETE, since
// when not, and what it cost. Counters count from the start of the process; gauges of a
// pull come from its last report in the store until this process makes one.
package metrics

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"lastdrop/internal/daemon"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// An Engine is what is asked of the daemon at each scrape.
type Engine interface {
	Pulls(ctx context.Context) ([]daemon.Pull, error)
	Broken(ctx context.Context) ([]daemon.Broken, error)
	Jobs(ctx context.Context, f daemon.JobFilter) (daemon.JobList, error)
}

// Options say what is measured. Engine and Store are required.
type Options struct {
	Engine  Engine
	Store   *store.Reader
	Version string
	Log     *slog.Logger // nil: nothing is logged
}

// within bounds what one scrape asks.
const within = 5 * time.Second

// Metrics count. Its methods may be called from several goroutines.
type Metrics struct {
	opt      Options
	registry *prometheus.Registry

	runs, pages         *prometheus.CounterVec
	items, bytes        *prometheus.CounterVec
	half, retries, wait prometheus.Counter

	mu    sync.Mutex
	pulls map[string]*pull // by name
}

// A pull is what is known of a pull.
type pull struct {
	loaded       bool      // the store was asked
	report       *last     // nil: there is none
	lastComplete time.Time // zero: never
}

// last is what its last report says, and of this run what was counted already.
type last struct {
	run      string
	missing  *int64
	pageSize int
	counted  counted
}

// counted is what a run adds to counters. Reports of a run that is taken up again
// count everything since its start.
type counted struct {
	pages                               map[judge.Verdict]int64
	items, bytes, half, retries, waitNS int64
}

// New makes metrics in a registry of their own.
func New(o Options) *Metrics {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		opt: o, registry: prometheus.NewRegistry(), pulls: map[string]*pull{},
		runs:    counters("lastdrop_runs_total", "Runs that came to their end, by verdict.", "pull", "verdict"),
		pages:   counters("lastdrop_pages_total", "Attempts of runs that ended, by the judge's verdict on each answer alone: all pages but the last of a list are TRUNCATED.", "pull", "verdict"),
		items:   counters("lastdrop_items_total", "Distinct items that runs held at their end.", "pull"),
		bytes:   counters("lastdrop_bytes_total", "Bytes of bodies read from the wire, by runs that ended.", "pull"),
		half:    counter("lastdrop_half_bodies_total", "Answers that ended before their declared length, in runs that ended."),
		retries: counter("lastdrop_retries_total", "Attempts that were not the first at their page, in runs that ended."),
		wait:    counter("lastdrop_waits_seconds_total", "Seconds spent waiting for rate limits and retries, by runs that ended."),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "lastdrop_build_info", Help: "1, with the version of the program.",
		ConstLabels: prometheus.Labels{"version": o.Version, "goversion": runtime.Version()}})
	build.Set(1)
	m.registry.MustRegister(m.runs, m.pages, m.items, m.bytes, m.half, m.retries, m.wait, build, (*asked)(m),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, ErrorLog: slog.NewLogLogger(m.opt.Log.Handler(), slog.LevelWarn), Timeout: 2 * within})
}

// Report counts a run that has come to its end or was stopped; what an earlier report
// of the same run said is not counted again. Children of a fan-out are counted in their
// whole.
func (m *Metrics) Report(ctx context.Context, r reconcile.Report) {
	if strings.Contains(r.Name, "/") {
		return
	}
	now := m.count(ctx, r)
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.pull(r.Name)
	known := p.loaded // else the store gives this very report as the last one
	m.load(ctx, r.Name, p)
	var before counted
	if known && p.report != nil && p.report.run == r.Run {
		before = p.report.counted
	}
	m.add(r.Name, before, now)
	p.report = &last{r.Run, r.Missing, r.PageSize.Last, now}
	if r.State == store.Stopped {
		return
	}
	m.runs.WithLabelValues(r.Name, r.Verdict.String()).Inc()
	if r.State == store.Finished && r.Verdict == judge.Complete {
		p.lastComplete = r.Ended
	}
}

// count gathers what a report counts. Of a fan-out the attempts stand with its children.
func (m *Metrics) count(ctx context.Context, r reconcile.Report) counted {
	c := counted{pages: map[judge.Verdict]int64{}, items: r.Items.Distinct, bytes: r.Bytes, half: r.Pages.Half, waitNS: int64(r.Waited)}
	runs := []string{r.Run}
	if r.Children != nil {
		children, err := m.opt.Store.Children(ctx, r.Run)
		m.complain(err)
		for _, child := range children {
			if child.Run != "" {
				runs = append(runs, child.Run)
			}
		}
	}
	for _, run := range runs {
		list, err := m.opt.Store.Verdicts(ctx, run)
		m.complain(err)
		for _, v := range list {
			c.pages[v.Verdict] += v.Attempts
			c.retries += v.Retries
		}
	}
	return c
}

func (m *Metrics) add(name string, before, now counted) {
	add := func(c prometheus.Counter, before, now int64, unit float64) {
		if now > before {
			c.Add(float64(now-before) / unit)
		}
	}
	for v, n := range now.pages {
		add(m.pages.WithLabelValues(name, v.String()), before.pages[v], n, 1)
	}
	add(m.items.WithLabelValues(name), before.items, now.items, 1)
	add(m.bytes.WithLabelValues(name), before.bytes, now.bytes, 1)
	add(m.half, before.half, now.half, 1)
	add(m.retries, before.retries, now.retries, 1)
	add(m.wait, before.waitNS, now.waitNS, float64(time.Second))
}

// pull is what is known of a name; the caller holds the lock.
func (m *Metrics) pull(name string) *pull {
	p := m.pulls[name]
	if p == nil {
		p = &pull{}
		m.pulls[name] = p
	}
	return p
}

// load asks the store once what it knows of a pull; the caller holds the lock.
func (m *Metrics) load(ctx context.Context, name string, p *pull) {
	if p.loaded {
		return
	}
	for _, v := range []judge.Verdict{judge.Complete, judge.Truncated, judge.Unknown} {
		m.runs.WithLabelValues(name, v.String()) // 0 is told too: the first increase is seen
	}
	complete, err := m.opt.Store.LastComplete(ctx, name)
	if err == nil && complete.Ended != nil {
		p.lastComplete = *complete.Ended
	}
	if err == nil || errors.Is(err, store.ErrNoRun) {
		p.report, err = m.lastReport(ctx, name)
	}
	m.complain(err)
	p.loaded = err == nil // else the next scrape asks again
}

// lastReport is that of the newest run of a pull that has one; nil: there is none.
func (m *Metrics) lastReport(ctx context.Context, name string) (*last, error) {
	const look = 20 // one run after another without a report is odd enough
	list, err := m.opt.Store.Runs(ctx, store.RunFilter{Name: name, Limit: look})
	for _, i := range list.Runs {
		r, err := m.opt.Store.Report(ctx, i.Run)
		switch {
		case errors.Is(err, store.ErrNoReport):
			continue
		case err != nil:
			return nil, err
		}
		known := &last{run: r.Run, missing: r.Missing, pageSize: r.PageSize.Last}
		if r.State == store.Stopped { // it goes on, and its next report says it again
			known.counted = m.count(ctx, r)
		}
		return known, nil
	}
	return nil, err
}

func (m *Metrics) complain(err error) {
	if err != nil {
		m.opt.Log.Warn("metrics: the store does not say", "err", err)
	}
}
