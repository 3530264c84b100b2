package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lastdrop/internal/rows"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// newPagesCmd makes `lastdrop pages`.
func newPagesCmd() *cobra.Command {
	var f listFlags
	var filter store.PageFilter
	cmd := &cobra.Command{
		Use:   "pages RUN",
		Short: "List a run's requests, and what came of each",
		Long: `Pages lists every attempt of a run, a line each: what was asked, what came, and why
the next thing was done. Rows come in the order in which the run decided on the
answers, which is that of positions; with several requests under way at once, times
may go to and fro. The column judge is the verdict on this one answer alone, as
"lastdrop judge" gives it: a page with more after it is TRUNCATED there, one that
shows nothing of the end UNKNOWN, and neither says anything against the run. A
position is the page's number as it was sent, if it has one, and where its new items
begin, counted from 0; the request may begin a little before, to overlap with the
page before. A RUN is an id, the start
of one, the name of a pull (its newest run), or "last".

The list says how many attempts there are in all, and the command that shows the
next ones. With --json it prints one object an attempt, a line each, with the
rules that fired, and says the rest on standard error.`,
		Example: `  lastdrop pages last
  lastdrop pages issues --outcome half
  lastdrop pages last --limit 0 --json | jq -c '[.seq, .cause]'`,
		Args: oneRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkPageFilter(filter); err != nil {
				return err
			}
			return f.withStore(cmd, func(ctx context.Context, r *store.Reader) error {
				l := lister{flags: f, out: cmd.OutOrStdout(), errs: cmd.ErrOrStderr()}
				return l.pages(ctx, r, args[0], filter)
			})
		},
	}
	f.add(cmd, 50, "attempts")
	cmd.Flags().StringVar(&filter.Outcome, "outcome", "", "only attempts with this outcome: "+strings.Join(outcomes(), ", "))
	cmd.Flags().Int64Var(&filter.After, "after", 0, "only attempts after this one (its number in the column seq)")
	return cmd
}

// outcomes are the words for what an attempt came to.
func outcomes() []string {
	var words []string
	for _, o := range []reconcile.Outcome{reconcile.Held, reconcile.Half, reconcile.Partial, reconcile.Limited, reconcile.Refused, reconcile.Unused, reconcile.Failed} {
		words = append(words, o.String())
	}
	return words
}

func checkPageFilter(f store.PageFilter) error {
	switch {
	case f.Outcome != "" && !slices.Contains(outcomes(), f.Outcome):
		return exitError{exitNotRun, fmt.Sprintf("--outcome %q: use %s", f.Outcome, strings.Join(outcomes(), ", "))}
	case f.After < 0:
		return exitError{exitNotRun, "--after takes the number of an attempt"}
	}
	return nil
}

// chunk is how many attempts are read at a time, whatever is asked for.
const chunk = 500

// pages prints attempts part by part, so that a long list needs no memory.
func (l *lister) pages(ctx context.Context, r *store.Reader, ref string, f store.PageFilter) error {
	i, err := r.RunByID(ctx, ref)
	if err != nil {
		return err
	}
	var t table
	returned := int64(0)
	for more := true; more; {
		f.Limit = chunk
		if l.flags.limit > 0 {
			f.Limit = min(chunk, l.flags.limit-int(returned))
		}
		part, err := r.Pages(ctx, i.Run, f)
		if err != nil {
			return err
		}
		if err := l.attempts(&t, i.Run, part); err != nil {
			return err
		}
		returned += int64(len(part))
		if len(part) > 0 {
			f.After = part[len(part)-1].Seq
		}
		more = len(part) == f.Limit && (l.flags.limit == 0 || returned < int64(l.flags.limit))
	}
	total, rest, err := r.CountPages(ctx, i.Run, f)
	if err != nil {
		return err
	}
	next := fmt.Sprintf("lastdrop pages %s --after %d --limit %d", i.Run, f.After, l.flags.limit)
	if f.Outcome != "" {
		next += " --outcome " + f.Outcome
	}
	return l.sum(total, returned, rest, next)
}

// attempts prints one part.
func (l *lister) attempts(t *table, run string, attempts []reconcile.Attempt) error {
	if len(attempts) == 0 {
		return nil
	}
	if l.flags.asJSON {
		for _, a := range attempts {
			if err := printJSON(l.out, rows.PageOf(run, a)); err != nil {
				return err
			}
		}
		return nil
	}
	if t.head == nil {
		t.head = []string{">seq", "time", "position", ">try", ">size", ">status", ">bytes", ">items", ">new", ">total", "outcome", "judge", "action", "cause"}
	}
	var rows [][]string
	for _, a := range attempts {
		rows = append(rows, pageRow(a))
	}
	t.print(l.out, rows)
	return nil
}

// pageRow is an attempt for people. Pass and slice are said where they are not
// the first.
func pageRow(a reconcile.Attempt) []string {
	position := a.Position
	if a.Pass > 1 {
		position = fmt.Sprintf("pass %d, %s", a.Pass, position)
	}
	if a.Slice > 0 {
		position = fmt.Sprintf("slice %d, %s", a.Slice, position)
	}
	return []string{strconv.FormatInt(a.Seq, 10), a.Started.Format("15:04:05.000"), position, strconv.Itoa(a.Try), unlessZero(a.SizeAsked),
		unlessZero(a.Status), bytesText(a), strconv.Itoa(a.Items), strconv.Itoa(a.New), countText(a.Total), a.Outcome.String(),
		a.Verdict.String(), string(a.Action), a.Cause}
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func countText(c judge.Count) string {
	if !c.OK {
		return ""
	}
	return strconv.FormatInt(c.N, 10)
}

// bytesText says how many bytes came, and of how many where that differs.
func bytesText(a reconcile.Attempt) string {
	if a.BytesExpected.OK && a.BytesExpected.N != a.BytesRead {
		return fmt.Sprintf("%d/%d", a.BytesRead, a.BytesExpected.N)
	}
	return strconv.FormatInt(a.BytesRead, 10)
}
