package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"lastdrop/internal/sim"
)

// newSimCmd makes `lastdrop sim`: the hostile API as a server of its own.
func newSimCmd() *cobra.Command {
	var run simRun
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Serve hostile APIs for a client to be tried on",
		Long: `Sim serves small APIs that behave badly in known ways, each under its own
prefix: half bodies, hard and silent caps, moving lists, loops, errors with a
status of 200. The root lists them, /NAME/_config is a config for one,
/NAME/_truth is what a complete run must hold, /NAME/_log is what was asked.

It prints its address and serves until it is stopped by SIGINT or SIGTERM.`,
		Example: `  lastdrop sim --list
  lastdrop sim --listen 127.0.0.1:8080
  curl -s http://127.0.0.1:8080/hard-cap/_config > hard-cap.yaml
  lastdrop sim --world half-bodies --seed 7`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			graceful.Store(true)
			run.out = cmd.OutOrStdout()
			return run.do(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&run.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	flags.StringVar(&run.addressFile, "address-file", "", "write the address to this file once it serves")
	flags.StringVar(&run.world, "world", "", "serve this world only")
	flags.BoolVar(&run.list, "list", false, "list the worlds and stop")
	flags.BoolVar(&run.asJSON, "json", false, "list as JSON")
	flags.Uint64Var(&run.seed, "seed", 1, "seed for everything that is left to chance")
	flags.BoolVar(&run.remote, "allow-remote", false, "allow an address that other machines can reach")
	return cmd
}

// simRun is one call of the command.
type simRun struct {
	listen, addressFile  string
	world                string
	list, asJSON, remote bool
	seed                 uint64
	out                  io.Writer
}

// do lists the worlds, or serves them until ctx is done.
func (r *simRun) do(ctx context.Context) error {
	worlds := sim.NamedWorlds()
	if r.world != "" {
		w, ok := sim.Named(r.world)
		if !ok {
			return fmt.Errorf("sim: no world %q; --list shows them", r.world)
		}
		worlds = []sim.NamedWorld{w}
	}
	gallery := sim.NewGallery(r.seed, worlds...)
	if r.list {
		_, err := io.WriteString(r.out, gallery.List("http://"+r.listen, r.asJSON))
		return err
	}
	if err := r.checkListen(); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", r.listen)
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	base := "http://" + l.Addr().String()
	if err := r.announce(base, len(worlds), gallery); err != nil {
		return errors.Join(fmt.Errorf("sim: %w", err), l.Close())
	}
	return serveUntil(ctx, l, gallery)
}

// announce says where the worlds are.
func (r *simRun) announce(base string, worlds int, g *sim.Gallery) error {
	if _, err := fmt.Fprintf(r.out, "serving %d worlds on %s\n%s", worlds, base, g.List(base, false)); err != nil {
		return err
	}
	if r.addressFile == "" {
		return nil
	}
	return os.WriteFile(r.addressFile, []byte(base+"\n"), 0o644)
}

// checkListen refuses an address that other machines can reach, unless that is
// allowed.
func (r *simRun) checkListen() error {
	if r.remote {
		return nil
	}
	host, _, err := net.SplitHostPort(r.listen)
	if err != nil {
		return fmt.Errorf("sim: --listen %q: %w", r.listen, err)
	}
	if ip := net.ParseIP(host); host == "localhost" || (ip != nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("sim: --listen %q is not a loopback address; --allow-remote permits it", r.listen)
}

// serveUntil serves until ctx is done and gives open answers a moment to end.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("sim: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close() // the grace is over
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("sim: %w", err)
	}
	return nil
}
