// Command lastdrop drains paginated HTTP APIs to verified completeness, and
// judges single answers. Everything for people goes to standard error, so
// that standard output holds data only; the exit status is the verdict.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func main() {
	keepLean()
	os.Exit(run())
}

// run runs the program as the process's arguments say and gives its exit
// status. Tests run it too.
func run() int {
	return execute(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// stopped holds the signal that asked the process to stop, 0 without one.
var stopped atomic.Int32

// graceful is set by a command that ends by itself once its context is done;
// any other is ended at the first signal.
var graceful atomic.Bool

// execute runs one command line.
func execute(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signal.Ignore(syscall.SIGPIPE) // a reader that is gone is an error of the sink, with the store told
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go stopOnce(signals, cancel)
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	return guarded(errs, func() int { return status(root.ExecuteContext(ctx), errs) })
}

// guarded gives the status of do. A panic would end the process with 2, which
// means TRUNCATED: it is told, and is 1.
func guarded(errs io.Writer, do func() int) (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(errs, "lastdrop: internal error: %v\n%s", v, debug.Stack())
			code = exitNotRun
		}
	}()
	return do()
}

// another is the least time after which a second signal counts as one: a
// wrapper may send the same one to the process and to its group.
const another = time.Second

// stopOnce cancels at the first signal, so that the run comes to a checkpoint
// and a report, and ends the process at a later one. A command that does not
// look at its context is ended at once.
func stopOnce(signals <-chan os.Signal, cancel context.CancelFunc) {
	sig := <-signals
	first := time.Now()
	if s, is := sig.(syscall.Signal); is {
		stopped.Store(int32(s))
	}
	if !graceful.Load() {
		os.Exit(128 + int(stopped.Load()))
	}
	cancel()
	for range signals {
		if time.Since(first) > another {
			os.Exit(128 + int(stopped.Load()))
		}
	}
}

// status prints what an error has to say and gives its exit status.
func status(err error, errs io.Writer) int {
	if err == nil {
		return 0
	}
	var exit exitError
	if !errors.As(err, &exit) {
		exit = exitError{exitNotRun, err.Error()}
	}
	if exit.msg != "" {
		for line := range strings.SplitSeq(strings.TrimRight(exit.msg, "\n"), "\n") {
			if line = strings.TrimSpace(line); line == "" {
				continue // cobra sets its suggestions apart
			}
			fmt.Fprintln(errs, "lastdrop: "+line)
		}
	}
	return exit.code
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "lastdrop",
		Short: "Drain paginated HTTP APIs to verified completeness",
		Long: `lastdrop drains paginated HTTP APIs and says, with evidence, whether it got
everything: COMPLETE needs positive evidence, TRUNCATED has evidence of loss,
UNKNOWN is the default and is never green. The exit status is the verdict:

  0 COMPLETE    2 TRUNCATED    3 UNKNOWN
  1 could not run    4 no input    130, 143 stopped by a signal (resumable)

Begin with "lastdrop demo": it needs no network and no file.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
	}
	root.SetVersionTemplate("lastdrop {{.Version}}\n")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return exitError{exitNotRun, fmt.Sprintf("%v; see %s --help", err, c.CommandPath())}
	})
	root.AddCommand(newDemoCmd(), newDrainCmd(), newServeCmd(), newJudgeCmd(), newValidateCmd(), newRunsCmd(), newPagesCmd(), newStateCmd(), newGCCmd(), newRulesCmd(), newPresetsCmd(), newSimCmd(), newVersionCmd())
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			show := c.Run
			c.Run, c.RunE = nil, func(c *cobra.Command, args []string) error {
				if found, _, err := root.Find(args); err != nil || (found == root && len(args) > 0) {
					return exitError{exitNotRun, fmt.Sprintf("no help for %q: lastdrop --help lists the commands", strings.Join(args, " "))}
				}
				show(c, args)
				return nil
			}
		}
	}
	return root
}

func newVersionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "lastdrop %s\n", version())
			return err
		},
	}
}
