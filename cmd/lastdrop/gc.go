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

// A collector is one call of `lastdrop gc`.
type collector struct {
	options store.GCOptions
	db      string
	dryRun  bool
	vacuum  bool
	asJSON  bool
}

// newGCCmd makes `lastdrop gc`.
func newGCCmd() *cobra.Command {
	var c collector
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove old runs from the store, and give their space back",
		Long: `Gc removes from the store all runs of each pull but the newest ones, with their
requests, totals and events. What stays whatever its age: a run that can go on
(unless --stopped), the last COMPLETE run of a pull, and all parts of a for_each
that stays. The files that runs wrote are not touched, nor are the marks of
incremental pulls.

It also removes identity hashes that a run at its end left behind, and reaches of
sources that were met more than 30 days ago. Processes that drain into the same
store are not disturbed: rows go in small steps.

The file shrinks as far as its end becomes free. A store that an early version
made cannot shrink in steps: there the space is used by later runs. --vacuum writes
the file anew, as small as it can be; it needs as much room again on the disk, and
no run may be going on.`,
		Example: `  lastdrop gc --dry-run
  lastdrop gc --keep 7
  lastdrop gc --keep 1 --stopped --vacuum --json | jq .file`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.options.Keep < 0 {
				return exitError{exitNotRun, "--keep takes the number of runs of each pull that stay, from 0 up"}
			}
			if c.dryRun && c.vacuum {
				return exitError{exitNotRun, "--dry-run changes nothing: leave --vacuum out"}
			}
			if err := c.run(cmd.Context(), cmd.OutOrStdout()); err != nil {
				return exitError{exitNotRun, err.Error()}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&c.db, "db", defaultDB(), "the store")
	cmd.Flags().IntVar(&c.options.Keep, "keep", 30, "how many of the newest runs of each pull stay")
	cmd.Flags().BoolVar(&c.options.Stopped, "stopped", false, "count unfinished runs that no process drains like the others: those that go can never go on")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "say what would go, and change nothing")
	cmd.Flags().BoolVar(&c.vacuum, "vacuum", false, "write the file anew, as small as it can be")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print one JSON object")
	return cmd
}

// A gcObject is what gc did, or would do, as JSON.
type gcObject struct {
	DryRun bool `json:"dry_run"`
	Keep   int  `json:"keep"`
	store.Garbage
	store.Weight
	File gcFile `json:"file"`
}

// A gcFile is the size of the store in bytes, before and after.
type gcFile struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
	Free   int64 `json:"free"` // within it, after: later runs use it
}

func (c *collector) run(ctx context.Context, out io.Writer) error {
	r, err := store.OpenReader(ctx, c.db)
	if errors.Is(err, store.ErrNoStore) {
		return noStore(c.db)
	}
	if err != nil {
		return err
	}
	o := gcObject{DryRun: c.dryRun, Keep: c.options.Keep}
	before, err := r.Space(ctx)
	after := before
	if err == nil && c.dryRun {
		o.Garbage, err = r.Garbage(ctx, c.options)
	}
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	if !c.dryRun {
		if o.Garbage, after, err = c.collect(ctx); err != nil {
			return err
		}
	}
	for n, i := range o.Runs {
		if i.State == store.Running { // no process holds what may go
			o.Runs[n].State = store.Stopped
		}
	}
	o.Weight, o.File = o.Sum(), gcFile{before.File, after.File, after.Free}
	if c.asJSON {
		return printJSON(out, o)
	}
	return c.print(out, o)
}

// collect removes what may go, and says how big the store is then.
func (c *collector) collect(ctx context.Context) (g store.Garbage, after store.Space, err error) {
	s, err := store.Open(ctx, c.db)
	if err != nil {
		return g, after, err
	}
	g, err = s.GC(ctx, c.options)
	if err == nil && c.vacuum {
		err = s.Vacuum(ctx)
	}
	if err == nil {
		after, err = s.Space(ctx)
	}
	return g, after, errors.Join(err, s.Close())
}

func (c *collector) print(out io.Writer, o gcObject) error {
	if len(o.Runs) > 0 {
		t := table{head: []string{"run", "name", "state", "verdict", "started (UTC)", ">rows", ">about"}}
		var rows [][]string
		for _, i := range o.Runs {
			verdict := ""
			if i.Verdict != nil {
				verdict = i.Verdict.String()
			}
			rows = append(rows, []string{i.Run, i.Name, i.State, verdict, i.Started.Format(time.DateTime), thousands(i.Rows), sizeText(i.Bytes)})
		}
		t.print(out, rows)
	}
	verb := "removed"
	if c.dryRun {
		verb = "would remove"
	}
	fmt.Fprintf(out, "%s %s of %s runs: %s rows, about %s", verb, thousands(int64(len(o.Runs))), thousands(int64(len(o.Runs))+o.Stay), thousands(o.Rows), sizeText(o.Bytes))
	if o.Leftovers.Rows > 0 {
		fmt.Fprintf(out, ", %s rows and %s of them left behind by runs at their end", thousands(o.Leftovers.Rows), sizeText(o.Leftovers.Bytes))
	}
	if o.Reaches > 0 {
		fmt.Fprintf(out, "; %s old reaches", thousands(o.Reaches))
	}
	text := fmt.Sprintf("\n%s: %s", c.db, sizeText(o.File.After))
	if o.File.After != o.File.Before {
		text += fmt.Sprintf(", %s before", sizeText(o.File.Before))
	}
	if o.File.Free > 0 {
		text += fmt.Sprintf("; %s of it are free for later runs", sizeText(o.File.Free))
		if !c.dryRun && !c.vacuum {
			text += " (--vacuum gives them back)"
		}
	}
	_, err := fmt.Fprintln(out, text)
	return err
}
