package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lastdrop/internal/daemon"
	"lastdrop/internal/daemon/catalog"
)

// serveFlags are the flags of `lastdrop serve`.
type serveFlags struct {
	configs, db, listen string
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

Configs cannot ask addresses of this machine or of private networks, also not by a
redirect: it takes --allow-private here and limits.allow_private: true there.

Exit status: 143 or 130 when stopped by a signal, 1 could not run.`,
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
	graceful.Store(true)
	folder, err := catalog.Open(f.configs, os.LookupEnv, log)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer listener.Close()
	engine, err := daemon.Open(ctx, daemon.Options{Store: f.db, Catalog: folder, Workers: f.workers, Grace: f.grace,
		MayPrivate: f.allowPrivate, Version: version(), Log: log})
	if err == nil {
		err = serveAll(ctx, log, folder, engine, listener)
		if late := new(daemon.LateError); !errors.As(err, &late) { // else runs still use what would be closed
			err = errors.Join(err, engine.Close())
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		if ctx.Err() == nil {
			return err
		}
		log.Error("stopped", "error", err)
	}
	return exitError{128 + int(stopped.Load()), ""}
}

// serveAll runs the parts of the daemon until ctx ends, or one of them fails.
func serveAll(ctx context.Context, log *slog.Logger, folder *catalog.Catalog, engine *daemon.Engine, listener net.Listener) error {
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
	var ready atomic.Bool
	server := &http.Server{Handler: handler(engine, ready.Load), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	part(func() error { return folder.Watch(ctx) })
	part(func() error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-reload:
				log.Info("reloading the configs")
				folder.Reload()
			}
		}
	})
	part(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	part(func() error {
		ready.Store(true)
		log.Info("serving", "address", listener.Addr().String(), "pulls", len(folder.Entries()), "version", version())
		err := engine.Run(ctx)
		return errors.Join(err, server.Close())
	})
	<-ctx.Done()
	ready.Store(false)
	parts.Wait()
	return failed
}

// handler answers HTTP. /healthz says that the process lives, /readyz that it works.
func handler(engine *daemon.Engine, ready func() bool) http.Handler {
	mux := http.NewServeMux()
	say := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text+"\n")
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if !ready() {
			say(w, http.StatusServiceUnavailable, "starting or stopping")
			return
		}
		if _, err := engine.Pulls(r.Context()); err != nil {
			say(w, http.StatusServiceUnavailable, "the queue cannot be read")
			return
		}
		say(w, http.StatusOK, "ok")
	})
	return mux
}
