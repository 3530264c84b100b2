package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lastdrop/configs"
	"lastdrop/fetcher"
	"lastdrop/internal/pull"
	"lastdrop/internal/sink"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// drainFlags are the flags of `lastdrop drain`.
type drainFlags struct {
	asJSON, fresh, noProgress bool
	db, out                   string
	maxPages, maxItems        int64
	logLevel, logFormat       string
}

// newDrainCmd makes `lastdrop drain`.
func newDrainCmd() *cobra.Command {
	var f drainFlags
	cmd := &cobra.Command{
		Use:   "drain CONFIG...",
		Short: "Drain the sources of one or more configs, each to a verdict",
		Long: `Drain reads a whole paginated source and says whether it got everything.
A CONFIG is a YAML file; a folder means its *.yaml and *.yml.

An unfinished run of the same name and config goes on where it stopped; --fresh
begins anew. An output file that exists is only replaced by a COMPLETE run.

With for_each in it a config is drained once for each value of a list: a run and
a file for each child, and one verdict for the whole, which is the worst. With
incremental, only what is new since the last COMPLETE run is asked for; see
lastdrop state. --fresh does not touch that mark.

Exit status: 0 COMPLETE, 2 TRUNCATED, 3 UNKNOWN, 4 no config, 1 could not run;
130 and 143 when stopped by a signal. Of several configs the worst counts: 1, 2,
3, 0.`,
		Example: `  lastdrop drain issues.yaml
  lastdrop drain configs/ --json > reports.jsonl
  lastdrop drain issues.yaml --out - | jq .title`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d := drainRun{flags: f, out: cmd.OutOrStdout(), errs: cmd.ErrOrStderr()}
			return d.all(cmd.Context(), args)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.asJSON, "json", false, "print the report as one JSON object a run, a line each, on standard output")
	fl.StringVar(&f.db, "db", defaultDB(), "the store")
	fl.StringVar(&f.out, "out", "", "write the items here instead of output.to (- is standard output)")
	fl.BoolVar(&f.fresh, "fresh", false, "begin anew instead of going on with an unfinished run")
	fl.Int64Var(&f.maxPages, "max-pages", 0, "stop after this many pages (never COMPLETE)")
	fl.Int64Var(&f.maxItems, "max-items", 0, "stop after this many items (never COMPLETE)")
	fl.StringVar(&f.logLevel, "log-level", "warn", "debug, info, warn or error")
	fl.StringVar(&f.logFormat, "log-format", "text", "text or json")
	fl.BoolVar(&f.noProgress, "no-progress", false, "no live line on a terminal")
	return cmd
}

// defaultDB is where the store stands.
func defaultDB() string {
	if v := os.Getenv("LASTDROP_DB"); v != "" {
		return v
	}
	return "lastdrop.db"
}

// drainRun is one call of `lastdrop drain`.
type drainRun struct {
	flags     drainFlags
	out, errs io.Writer
	log       *slog.Logger
	bar       *progress
	color     bool
	nth       string // before the names on the live line, where there are several configs
	reports   []reconcile.Report
	paces     pull.Paces
}

func (d *drainRun) all(ctx context.Context, args []string) error {
	var err error
	if d.log, err = newLogger(d.errs, d.flags.logLevel, d.flags.logFormat); err != nil {
		return err
	}
	files, err := configFiles(args)
	if err != nil {
		return err
	}
	if err := d.checkFlags(files); err != nil {
		return err
	}
	cfgs, err := loadAll(files)
	if err != nil {
		return err
	}
	graceful.Store(true) // from here on a signal comes to a checkpoint
	st, err := store.Open(ctx, d.flags.db)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return exitError{128 + int(stopped.Load()), stoppedEarly}
	}
	if err != nil {
		return exitError{exitNotRun, err.Error()}
	}
	defer st.Close()
	d.bar, d.color = newProgress(d.errs, d.flags.noProgress), colourful(d.errs)
	worst := 0
	for i, c := range cfgs {
		if len(cfgs) > 1 {
			d.nth = fmt.Sprintf("[%d/%d] ", i+1, len(cfgs))
		}
		code, err := d.one(ctx, st, c)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%s: %s", c.Name, stoppedEarly)
		}
		if err != nil {
			fmt.Fprintln(d.errs, "lastdrop: "+err.Error())
		}
		worst = worseExit(worst, code)
		if ctx.Err() != nil {
			return exitError{128 + int(stopped.Load()), ""}
		}
	}
	d.sum(len(cfgs))
	return exitError{worst, ""}.orNil()
}

// stoppedEarly is what there is to say of a run that a signal met while its store, its output and what it holds were opened.
const stoppedEarly = "stopped by a signal before its first request"

// orNil is nil for the status of success.
func (e exitError) orNil() error {
	if e.code == 0 {
		return nil
	}
	return e
}

func (d *drainRun) checkFlags(files []string) error {
	f := d.flags
	switch {
	case f.maxPages < 0 || f.maxItems < 0:
		return exitError{exitNotRun, "--max-pages and --max-items take a number above 0"}
	case f.asJSON && f.out == sink.Stdout:
		return exitError{exitNotRun, "--json and --out - both want standard output: name a file for one of them"}
	case f.out != "" && len(files) > 1:
		return exitError{exitNotRun, fmt.Sprintf("--out names one file, and there are %d configs: set output.to in each", len(files))}
	}
	return nil
}

// one drains one config and gives its exit status.
func (d *drainRun) one(ctx context.Context, st *store.Store, c *configs.Config) (int, error) {
	if d.flags.asJSON && c.Output.To == sink.Stdout && d.flags.out == "" {
		return exitNotRun, fmt.Errorf("%s: output.to is - and --json wants standard output too: say --out FILE", c.Name)
	}
	var lost error
	rep, err := pull.Run(ctx, pull.Options{
		Config: c, Store: st, Target: d.flags.out, Fresh: d.flags.fresh, MaxPages: d.flags.maxPages, MaxItems: d.flags.maxItems,
		Stdout: d.out, Version: version(), Log: d.log, Progress: d.bar.update, Paces: &d.paces,
		Begun: d.begun, Reported: func(part reconcile.Report) { lost = errors.Join(lost, d.show(part)) },
	})
	d.bar.clear()
	var early *pull.NotStarted
	if errors.As(err, &early) {
		return exitNotRun, err
	}
	d.reports = append(d.reports, rep)
	if lost = errors.Join(lost, d.show(rep)); lost != nil {
		return exitNotRun, fmt.Errorf("%s: the report cannot be written: %w", c.Name, lost)
	}
	if err != nil && rep.Error == "" {
		return rep.Exit, fmt.Errorf("%s: %w", c.Name, err)
	}
	return rep.Exit, nil
}

// begun tells that a run is open.
func (d *drainRun) begun(name, run string, resumed bool, others []store.Info) {
	d.bar.begin(d.nth + name)
	if resumed {
		fmt.Fprintf(d.errs, "lastdrop: going on with run %s of %s (--fresh begins anew)\n", run, name)
	}
	fate := "is left alone"
	if d.flags.fresh {
		fate = "is given up if its items stood in the same file"
	}
	for _, o := range others {
		fmt.Fprintf(d.errs, "lastdrop: note: run %s of %s is unfinished under another config, and %s\n", o.Run, name, fate)
	}
}

// show prints a report. The error tells that a report asked for as JSON is
// lost, so that its reader has nothing to go by.
func (d *drainRun) show(rep reconcile.Report) error {
	d.bar.clear()
	if d.flags.asJSON {
		if rep.State == "failed" {
			fmt.Fprintf(d.errs, "lastdrop: %s: %s\n", rep.Name, rep.Error)
		}
		enc := json.NewEncoder(d.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(rep)
	}
	printReport(d.errs, rep, d.color)
	return nil
}

// sum is one line over several configs.
func (d *drainRun) sum(n int) {
	if n < 2 || d.flags.asJSON {
		return
	}
	byVerdict := map[string]int{}
	var items int64
	for _, r := range d.reports {
		byVerdict[r.Verdict.String()]++
		items += r.Items.Distinct
	}
	fmt.Fprintf(d.errs, "\n%d configs: %d COMPLETE, %d TRUNCATED, %d UNKNOWN, %d could not begin; %s items\n", n,
		byVerdict["COMPLETE"], byVerdict["TRUNCATED"], byVerdict["UNKNOWN"], n-len(d.reports), thousands(items))
}

// worseExit orders exit statuses: 1 is the worst, then 2, 3, 0.
func worseExit(a, b int) int {
	order := []int{0, exitUnknown, exitTruncated, exitNotRun}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// configFiles gives the config files that the arguments name: files, and the
// *.yaml and *.yml of folders.
func configFiles(args []string) ([]string, error) {
	var out []string
	for _, a := range args {
		if strings.Contains(a, "://") {
			return nil, exitError{exitNotRun, fmt.Sprintf("%s: draining a bare URL comes with a later version; write a config (see `lastdrop drain --help`)", a)}
		}
		info, err := os.Stat(a)
		if err != nil || !info.IsDir() {
			out = append(out, a) // loading it says what is wrong
			continue
		}
		for _, pattern := range []string{"*.yaml", "*.yml"} {
			found, err := filepath.Glob(filepath.Join(a, pattern))
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	slices.Sort(out)
	if len(out) == 0 {
		return nil, exitError{exitNothing, "no config: name a YAML file, or a folder that holds some"}
	}
	return slices.Compact(out), nil
}

// loadAll loads every config before the first request, so that a mistake in
// the last one costs nothing.
func loadAll(files []string) ([]*configs.Config, error) {
	var cfgs []*configs.Config
	var bad []string
	var owners configs.Owners
	for _, f := range files {
		c, err := configs.Load(f, os.LookupEnv)
		if err == nil {
			err = owners.Claim(f, c)
		}
		if err != nil {
			bad = append(bad, err.Error())
			continue
		}
		cfgs = append(cfgs, c)
	}
	if len(bad) > 0 {
		return nil, exitError{exitNotRun, strings.Join(bad, "\n")}
	}
	return cfgs, nil
}

func newLogger(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, exitError{exitNotRun, fmt.Sprintf("--log-level %q: use debug, info, warn or error", level)}
	}
	o := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, exitError{exitNotRun, fmt.Sprintf("--log-format %q: use text or json", format)}
}

var _ fetcher.Progress
