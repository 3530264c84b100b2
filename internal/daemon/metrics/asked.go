package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lastdrop/internal/daemon"
)

// asked are the metrics that are worked out at each scrape.
type asked Metrics

var (
	missing      = prometheus.NewDesc("lastdrop_missing_items", "Items known to be missing, by the last report; absent where no total tells.", []string{"pull"}, nil)
	completeAt   = prometheus.NewDesc("lastdrop_last_complete_timestamp_seconds", "When the last COMPLETE run ended; 0: never.", []string{"pull"}, nil)
	completeAge  = prometheus.NewDesc("lastdrop_seconds_since_last_complete", "Seconds since the last COMPLETE run ended; +Inf: never.", []string{"pull"}, nil)
	pageSize     = prometheus.NewDesc("lastdrop_page_size", "The page size asked for last; absent where none is asked for.", []string{"pull"}, nil)
	queueDepth   = prometheus.NewDesc("lastdrop_queue_depth", "Jobs that are not over.", []string{"state"}, nil)
	configErrors = prometheus.NewDesc("lastdrop_config_errors", "Config files that cannot be taken as they stand.", nil, nil)
)

// Describe lists them.
func (a *asked) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{missing, completeAt, completeAge, pageSize, queueDepth, configErrors} {
		to <- d
	}
}

// Collect asks the engine, and of pulls that are new to it the store. What cannot be
// found out is an error of its metric, not an old value.
func (a *asked) Collect(to chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), within)
	defer stop()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, state := range []string{daemon.JobWaiting, daemon.JobRunning} {
		list, err := a.opt.Engine.Jobs(ctx, daemon.JobFilter{State: state, Limit: 1})
		if err != nil {
			to <- prometheus.NewInvalidMetric(queueDepth, err)
			continue
		}
		gauge(queueDepth, float64(list.Total), state)
	}
	pulls, err := a.opt.Engine.Pulls(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(completeAt, err)
		return
	}
	broken, err := a.opt.Engine.Broken(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(configErrors, err)
		return
	}
	errors := len(broken)
	for _, p := range pulls {
		if p.Problem != "" {
			errors++
		}
	}
	gauge(configErrors, float64(errors))
	a.collectPulls(ctx, pulls, gauge)
}

func (a *asked) collectPulls(ctx context.Context, pulls []daemon.Pull, gauge func(*prometheus.Desc, float64, ...string)) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	m := (*Metrics)(a)
	for _, known := range pulls {
		p := m.pull(known.Name)
		m.load(ctx, known.Name, p)
		if !p.loaded {
			continue
		}
		at, age := 0.0, inf
		if !p.lastComplete.IsZero() {
			at, age = float64(p.lastComplete.UnixMilli())/1000, max(0, now.Sub(p.lastComplete).Seconds())
		}
		gauge(completeAt, at, known.Name)
		gauge(completeAge, age, known.Name)
		if p.report == nil {
			continue
		}
		if p.report.missing != nil {
			gauge(missing, float64(*p.report.missing), known.Name)
		}
		if p.report.pageSize > 0 {
			gauge(pageSize, float64(p.report.pageSize), known.Name)
		}
	}
}
