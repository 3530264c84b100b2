package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lastdrop/internal/daemon"
	"lastdrop/internal/daemon/catalog"
	"lastdrop/internal/daemon/notify"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// serveFlags are the flags of `lastdrop serve`.
type serveFlags struct {
	httpFlags
	configs, db, notify string
	workers             int
	grace               time.Duration
	allowPrivate        bool
	logLevel, logFormat string
}

// newServeCmd makes `lastdrop serve`.
func newServeCmd() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve --configs DIR",
		Short: "Run pulls by their schedules, for as long as the process lives",
		Long: `Serve runs each pull of a folder of configs when its schedule says so, and as
asked over HTTP. Changes in the folder are taken up as they come, and at SIGHUP; a
file that is broken keeps its last good version.

A signal (SIGTERM, SIGINT) lets all runs come to a checkpoint; they go on at the next
start, as do those of a process that was killed. One serve works on a store at a time.

What is served at --listen: pages to look at (/), the API (/api/v1, described by
/api/v1/openapi.json), /metrics for Prometheus, /healthz and /readyz. Others than this
machine are let in with a token only: --token-file names a file of them, one a line.

--notify names a file of those to be told of reports:

  webhooks:
    - {url: "https://example.com/hook", on: change, secret: "${HOOK_SECRET}"}
    - {url: "${SLACK_URL}", on: not_complete, format: slack}
  exec: {command: [logger, -t, lastdrop], on: always}

Configs cannot ask addresses of this machine or of private networks, also not by a
redirect: it takes --allow-private here and limits.allow_private: true there.

Exit status: 0 when stopped by a signal with every run at a checkpoint, 1 else.`,
		Example: `  lastdrop serve --configs /etc/lastdrop --db /var/lib/lastdrop/lastdrop.db`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), f, cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.configs, "configs", "", "the folder of configs")
	fl.StringVar(&f.db, "db", defaultDB(), "the store; the queue stands beside it")
	fl.StringVar(&f.listen, "listen", "127.0.0.1:8080", "where to answer HTTP")
	fl.StringVar(&f.tokenFile, "token-file", "", "tokens that let clients in, one a line; without, this machine alone is let in")
	fl.BoolVar(&f.noAuth, "no-auth", false, "let everybody in who reaches --listen: for closed networks only")
	fl.StringSliceVar(&f.hosts, "host", nil, "a further name of this server, as a proxy before it passes on")
	fl.BoolVar(&f.behindTLS, "behind-tls", false, "a proxy before this server speaks TLS with browsers")
	fl.StringVar(&f.cert, "tls-cert", "", "a certificate (PEM), to speak TLS")
	fl.StringVar(&f.key, "tls-key", "", "its key (PEM)")
	fl.StringVar(&f.notify, "notify", "", "a YAML file of webhooks and a command to be told of reports")
	fl.IntVar(&f.workers, "workers", 8, "how many pulls run at once")
	fl.DurationVar(&f.grace, "grace", 30*time.Second, "how long to wait for checkpoints when stopped")
	fl.BoolVar(&f.allowPrivate, "allow-private", false, "let configs with limits.allow_private ask private addresses")
	fl.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	fl.StringVar(&f.logFormat, "log-format", "json", "text or json")
	return cmd
}

// serve serves until ctx ends. The error is never nil.
func serve(ctx context.Context, f serveFlags, errs io.Writer) error {
	log, err := newLogger(errs, f.logLevel, f.logFormat)
	if err != nil {
		return err
	}
	switch {
	case f.configs == "":
		return exitError{exitNotRun, "say --configs DIR: the folder of the configs"}
	case f.workers < 1 || f.grace <= 0:
		return exitError{exitNotRun, "--workers and --grace take a number above 0"}
	}
	if err := f.check(); err != nil {
		return err
	}
	notifier, err := newNotifier(f.notify, log)
	if err != nil {
		return err
	}
	graceful.Store(true)
	d := served{log: log, grace: f.grace, notifier: notifier}
	if d.folder, err = catalog.Open(f.configs, os.LookupEnv, log); err != nil {
		return err
	}
	if d.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", f.listen); err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer d.listener.Close()
	f.listen = d.listener.Addr().String() // where port 0 was asked for
	d.engine, err = daemon.Open(ctx, daemon.Options{Store: f.db, Catalog: d.folder, Workers: f.workers, Grace: f.grace,
		MayPrivate: f.allowPrivate, OnReport: d.report, Version: version(), Log: log})
	if err == nil {
		if d.front, err = newFront(f.httpFlags, d.engine, d.ready, log); err == nil {
			err = d.all(ctx)
		}
		if late := new(daemon.LateError); !errors.As(err, &late) { // else runs still use what would be closed
			err = errors.Join(err, d.engine.Close())
		}
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // it was stopped before it began
	}
	return err
}

// served is all that runs in a daemon.
type served struct {
	log      *slog.Logger
	grace    time.Duration
	folder   *catalog.Catalog
	engine   *daemon.Engine
	front    *front
	listener net.Listener
	notifier *notify.Notifier // nil: nobody is told
	working  atomic.Bool
}

// ready says why the daemon takes no work.
func (d *served) ready(ctx context.Context) error {
	if !d.working.Load() {
		return errors.New("starting or stopping")
	}
	_, err := d.engine.Jobs(ctx, daemon.JobFilter{Limit: 1})
	return err
}

// report tells metrics and receivers of a report.
func (d *served) report(rep reconcile.Report, before judge.Verdict, hadBefore bool) {
	d.front.metrics.Report(context.Background(), rep)
	if d.notifier != nil {
		d.notifier.Report(rep, before, hadBefore)
	}
}

// all runs the parts of the daemon until ctx ends, or one of them fails.
func (d *served) all(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	var parts sync.WaitGroup
	var mu sync.Mutex
	var failed error
	part := func(run func() error) {
		parts.Go(func() {
			err := run()
			cancel()
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
		})
	}
	part(func() error { return d.folder.Watch(ctx) })
	part(func() error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-reload:
				d.reload()
			}
		}
	})
	part(func() error { return d.front.serve(d.listener) })
	part(func() error {
		d.working.Store(true)
		d.log.Info("serving", "address", d.front.address(d.listener), "pulls", len(d.folder.Entries()), "version", version())
		err := d.engine.Run(ctx)
		if d.notifier != nil {
			told, stop := context.WithTimeout(context.Background(), d.grace)
			defer stop()
			err = errors.Join(err, d.notifier.Close(told))
		}
		return errors.Join(err, d.front.stop())
	})
	<-ctx.Done()
	d.working.Store(false)
	parts.Wait()
	return failed
}

// reload looks anew at all files that may change.
func (d *served) reload() {
	d.log.Info("reloading")
	d.folder.Reload()
	if err := d.front.reload(); err != nil {
		d.log.Error("reloading", "error", err)
	}
}
