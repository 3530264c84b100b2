package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"lastdrop/store"
)

// newStateCmd makes `lastdrop state`: the marks of incremental runs.
func newStateCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Show or change up to when incremental pulls have everything",
		Long: `A config with incremental asks only for what is new since its mark: the start of
its last COMPLETE run. The mark moves when a run is COMPLETE, and never else.
State shows it, and changes it by hand. Each child of a for_each has a mark of its
own, under NAME/VALUE; a change of NAME means all of them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStateShowCmd(), newStateSetCmd(), newStateResetCmd())
	return cmd
}

func newStateShowCmd() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show the mark of a pull, or of all",
		Long: `Show lists the marks of a pull and of its children, or of all pulls: up to when
each has everything, and by which run. A pull that is not listed has no mark: its
next incremental run asks for everything. With --json it prints one object a mark,
a line each.`,
		Example: `  lastdrop state show
  lastdrop state show issues --json | jq -r .mark`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return f.withStore(cmd, func(ctx context.Context, r *store.Reader) error {
				return showMarks(ctx, r, name, cmd.OutOrStdout(), cmd.ErrOrStderr(), f.asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&f.db, "db", defaultDB(), "the store")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func showMarks(ctx context.Context, r *store.Reader, name string, out, errs io.Writer, asJSON bool) error {
	marks, err := r.Marks(ctx, name)
	if err != nil {
		return err
	}
	switch {
	case len(marks) == 0 && name == "":
		fmt.Fprintln(errs, "no marks: every incremental pull asks for everything")
	case len(marks) == 0:
		fmt.Fprintf(errs, "%s has no mark: its next incremental run asks for everything\n", name)
	case asJSON:
		for _, m := range marks {
			if err := printJSON(out, m); err != nil {
				return err
			}
		}
	default:
		t := table{head: []string{"name", "mark (UTC)", "by", "config", "written (UTC)"}}
		var rows [][]string
		for _, m := range marks {
			rows = append(rows, markRow(m))
		}
		t.print(out, rows)
	}
	return nil
}

func markRow(m store.Mark) []string {
	mark, by, config := "none", "hand", "any"
	if m.Mark != nil {
		mark = m.Mark.Format("2006-01-02 15:04:05.000")
	}
	if m.Run != "" {
		by = "run " + m.Run
	}
	if m.ConfigHash != "" {
		config = m.ConfigHash[:min(12, len(m.ConfigHash))]
	}
	return []string{m.Name, mark, by, config, m.At.Format(time.DateTime)}
}

func newStateSetCmd() *cobra.Command {
	var db string
	cmd := &cobra.Command{
		Use:   "set NAME TIME",
		Short: "Set the mark of a pull to a time",
		Long: `Set makes the next run of a pull ask for what is new since a time, which is
written as RFC 3339. It counts for any config of that name, and for its children,
in the place of all earlier marks. A run that is unfinished keeps the mark that it
began with.`,
		Example: `  lastdrop state set issues 2026-11-01T00:00:00Z`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := time.Parse(time.RFC3339, args[1])
			if err != nil {
				return exitError{exitNotRun, fmt.Sprintf("state set: %q is no time; write it as 2026-11-30T21:47:00Z", args[1])}
			}
			return setMark(cmd, db, args[0], &at)
		},
	}
	cmd.Flags().StringVar(&db, "db", defaultDB(), "the store")
	return cmd
}

func newStateResetCmd() *cobra.Command {
	var db string
	cmd := &cobra.Command{
		Use:   "reset NAME",
		Short: "Make the next run of a pull ask for everything",
		Long: `Reset takes the marks of a pull and of its children away: the next run asks for
everything. A run that is unfinished keeps the mark that it began with.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return setMark(cmd, db, args[0], nil) },
	}
	cmd.Flags().StringVar(&db, "db", defaultDB(), "the store")
	return cmd
}

// setMark sets a mark by hand and says what comes of it.
func setMark(cmd *cobra.Command, db, name string, at *time.Time) error {
	ctx, errs := cmd.Context(), cmd.ErrOrStderr()
	s, err := store.Open(ctx, db)
	if err != nil {
		return exitError{exitNotRun, err.Error()}
	}
	err = s.SetMark(ctx, name, at)
	var open string
	if err == nil {
		open, err = unfinished(ctx, s, name)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return exitError{exitNotRun, err.Error()}
	}
	if at == nil {
		fmt.Fprintf(errs, "%s: the next run asks for everything\n", name)
	} else {
		fmt.Fprintf(errs, "%s: the next run asks for what is new since %s\n", name, at.UTC().Format(time.RFC3339))
	}
	if open != "" {
		fmt.Fprintf(errs, "note: run %s of %s is unfinished and keeps the mark that it began with; lastdrop drain --fresh begins anew\n", open, name)
	}
	return nil
}

// unfinished gives the newest run of a name that can go on, "" without one.
func unfinished(ctx context.Context, s *store.Store, name string) (string, error) {
	list, err := s.Runs(ctx, store.RunFilter{Name: name})
	for _, i := range list.Runs {
		if i.Unfinished() {
			return i.Run, err
		}
	}
	return "", err
}
