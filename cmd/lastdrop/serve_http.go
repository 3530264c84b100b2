package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"lastdrop/internal/daemon"
	"lastdrop/internal/daemon/api"
	"lastdrop/internal/daemon/api/guard"
	"lastdrop/internal/daemon/metrics"
	"lastdrop/internal/daemon/notify"
	"lastdrop/internal/web"
)

// httpFlags say who may ask the daemon, and how.
type httpFlags struct {
	listen, tokenFile string
	noAuth            bool
	hosts             []string
	behindTLS         bool
	cert, key         string
}

// check refuses flags that cannot stand together.
func (f httpFlags) check() error {
	if f.noAuth && f.tokenFile != "" {
		return exitError{exitNotRun, "--no-auth and --token-file contradict each other: take one of them away"}
	}
	if (f.cert == "") != (f.key == "") {
		return exitError{exitNotRun, "--tls-cert and --tls-key belong together: name both files"}
	}
	if err := guard.CheckListen(f.listen, f.tokenFile, f.noAuth); err != nil {
		return exitError{exitNotRun, err.Error()}
	}
	return nil
}

// A front is what the daemon answers over HTTP.
type front struct {
	server  *http.Server
	tokens  *guard.Tokens      // nil: everybody may ask
	pair    *guard.Certificate // nil: no TLS
	metrics *metrics.Metrics
	closing chan struct{} // closed when streams are to end
}

// newFront makes what stands before an engine. ready says why the daemon does not
// work, nil where it does.
func newFront(f httpFlags, engine *daemon.Engine, ready func(context.Context) error, log *slog.Logger) (*front, error) {
	out := &front{closing: make(chan struct{})}
	var err error
	if f.tokenFile != "" {
		if out.tokens, err = guard.OpenTokens(f.tokenFile); err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
	}
	if f.cert != "" {
		if out.pair, err = guard.LoadCertificate(f.cert, f.key); err != nil {
			return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
	}
	out.metrics = metrics.New(metrics.Options{Engine: engine, Store: engine.Store(), Version: version(), Log: log})
	pages := web.New(web.Options{Engine: engine, Store: engine.Store(), Version: version(), Sessions: out.tokens != nil, Log: log})
	mux := http.NewServeMux()
	mux.Handle(api.Prefix+"/", api.New(api.Options{Engine: engine, Store: engine.Store(), Version: version(), Log: log, Closing: out.closing}))
	mux.Handle("GET /metrics", out.metrics.Handler())
	mux.Handle("GET /healthz", metrics.Healthz())
	mux.Handle("GET /readyz", metrics.Readyz(ready))
	mux.Handle("/", pages)
	around := guard.New(guard.Options{Tokens: out.tokens, Listen: f.listen, Hosts: f.hosts, Secure: f.behindTLS, Open: web.Asset,
		LoginPage: pages.Login, Log: log})
	out.server = guard.Server(f.listen, around.Wrap(mux), log)
	if out.pair != nil {
		out.server.TLSConfig = out.pair.Config()
		out.server.TLSConfig.MinVersion = tls.VersionTLS12
	}
	return out, nil
}

// serve answers at a listener until stop.
func (f *front) serve(l net.Listener) error {
	var err error
	if f.pair != nil {
		err = f.server.ServeTLS(l, "", "")
	} else {
		err = f.server.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// address is where to look.
func (f *front) address(l net.Listener) string {
	if f.pair != nil {
		return "https://" + l.Addr().String()
	}
	return "http://" + l.Addr().String()
}

// reload reads the files anew that may change: tokens, and the certificate.
func (f *front) reload() error {
	var err error
	if f.tokens != nil {
		err = f.tokens.Reload()
	}
	if f.pair != nil {
		err = errors.Join(err, f.pair.Reload())
	}
	return err
}

// stopFront is how long requests that are under way have to end.
const stopFront = 2 * time.Second

// stop ends the streams, waits a little for what is under way, and closes.
func (f *front) stop() error {
	close(f.closing)
	ctx, cancel := context.WithTimeout(context.Background(), stopFront)
	defer cancel()
	if f.server.Shutdown(ctx) != nil {
		return f.server.Close()
	}
	return nil
}

// newNotifier makes who tells of reports: nil where nobody is to be told.
func newNotifier(file string, log *slog.Logger) (*notify.Notifier, error) {
	if file == "" {
		return nil, nil
	}
	s, err := notify.Load(file, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	return notify.New(s, log), nil
}
