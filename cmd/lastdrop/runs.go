package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// newRunsCmd makes `lastdrop runs` and `lastdrop runs show`.
func newRunsCmd() *cobra.Command {
	var f listFlags
	var name string
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs in the store, newest first",
		Long: `Runs lists the runs in the store, newest first: what each is called, how far it
came, and what it proved. A run that is "killed" lost its process; like one that
is "stopped", it goes on when it is started again, and --json calls it that.

The list says how many runs there are in all. With --json it prints one object
a run, a line each, and says the rest on standard error.`,
		Example: `  lastdrop runs
  lastdrop runs --name issues --limit 0 --json | jq -r 'select(.verdict != "COMPLETE") | .run'
  lastdrop runs show last`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.withStore(cmd, func(ctx context.Context, r *store.Reader) error {
				l := lister{flags: f, out: cmd.OutOrStdout(), errs: cmd.ErrOrStderr()}
				return l.runs(ctx, r, name)
			})
		},
	}
	f.add(cmd, 20, "runs")
	cmd.Flags().StringVar(&name, "name", "", "only the runs of this pull")
	cmd.AddCommand(newRunsShowCmd())
	return cmd
}

// listFlags are the flags of the commands that look into the store.
type listFlags struct {
	db     string
	limit  int
	asJSON bool
}

// add adds the flags to a command that lists things.
func (f *listFlags) add(cmd *cobra.Command, limit int, things string) {
	cmd.Flags().StringVar(&f.db, "db", defaultDB(), "the store")
	cmd.Flags().IntVar(&f.limit, "limit", limit, "list at most this many "+things+" (0: all)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object a line")
}

// withStore opens the store, which must be there, for do.
func (f *listFlags) withStore(cmd *cobra.Command, do func(ctx context.Context, r *store.Reader) error) error {
	if f.limit < 0 {
		return exitError{exitNotRun, "--limit takes a number above 0, or 0 for all"}
	}
	r, err := store.OpenReader(cmd.Context(), f.db)
	if errors.Is(err, store.ErrNoStore) {
		return noStore(f.db)
	}
	if err == nil {
		err = errors.Join(do(cmd.Context(), r), r.Close())
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil // whoever read the list has seen enough
	}
	if err != nil {
		return exitError{exitNotRun, err.Error()}
	}
	return nil
}

// noStore is the error of what needs a store where there is none.
func noStore(db string) error {
	return exitError{exitNotRun, fmt.Sprintf("no store at %s; run lastdrop drain first, or name one with --db", db)}
}

// oneRun makes sure that the arguments name one run.
func oneRun(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return exitError{exitNotRun, cmd.CommandPath() + ` takes one run: its id or the start of it, the name of a pull for its newest run, or "last"`}
}

// A lister prints lists from the store.
type lister struct {
	flags     listFlags
	out, errs io.Writer
}

func (l *lister) runs(ctx context.Context, r *store.Reader, name string) error {
	list, err := r.Runs(ctx, store.RunFilter{Name: name, Limit: l.flags.limit})
	if err != nil {
		return err
	}
	if l.flags.asJSON {
		for _, i := range list.Runs {
			i.State = stateNow(i)
			if err := printJSON(l.out, i); err != nil {
				return err
			}
		}
	} else if len(list.Runs) > 0 {
		t := table{head: []string{"run", "name", "state", "verdict", "strength", ">items", ">total", ">missing", ">pages", "started (UTC)", ">duration"}}
		var rows [][]string
		for _, i := range list.Runs {
			rows = append(rows, runRow(i))
		}
		t.print(l.out, rows)
	}
	more := "lastdrop runs"
	if name != "" {
		more += " --name " + shellWord(name)
	}
	return l.sum(list.Total, int64(len(list.Runs)), list.Total-int64(len(list.Runs)), more+" --limit 0")
}

// sum says how much of a list was printed, and how to see what was not: on
// standard error where standard output is for programs.
func (l *lister) sum(total, returned, rest int64, command string) error {
	w := l.out
	if l.flags.asJSON {
		w = l.errs
	}
	text := fmt.Sprintf("total %d, returned %d", total, returned)
	if rest > 0 {
		if l.flags.db != defaultDB() {
			command += " --db " + shellWord(l.flags.db)
		}
		if l.flags.asJSON {
			command += " --json"
		}
		text += fmt.Sprintf(", %d more: %s", rest, command)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// stateNow is the state of a run for programs: one that lost its process is stopped,
// for it can be taken up as that one can.
func stateNow(i store.Info) string {
	if i.State == store.Running && i.Holder == nil {
		return store.Stopped
	}
	return i.State
}

func runRow(i store.Info) []string {
	state, verdict := i.State, ""
	if i.State == store.Running && i.Holder == nil {
		state = "killed"
	}
	if i.Verdict != nil {
		verdict = i.Verdict.String()
	}
	end := i.Updated
	if i.Ended != nil {
		end = *i.Ended
	}
	return []string{i.Run, i.Name, state, verdict, i.Strength.String(), thousands(i.Items), optional(i.Total), optional(i.Missing),
		thousands(i.Pages), i.Started.Format(time.DateTime), round(end.Sub(i.Started)).String()}
}

func optional(n *int64) string {
	if n == nil {
		return ""
	}
	return thousands(*n)
}

// round drops the digits of a duration that nobody reads.
func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

func newRunsShowCmd() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show one run: its verdict, the evidence, and what happened",
		Long: `Show prints the report of a run, how its page size and the totals of its source
moved, and the last events. A RUN is an id, the start of one, the name of a pull
(its newest run), or "last". With --json it prints the report alone.

A run without a report, because it goes on or was killed, is shown as far as it
is in the store; its verdict is UNKNOWN.`,
		Example: `  lastdrop runs show last
  lastdrop runs show issues --json | jq .missing`,
		Args: oneRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withStore(cmd, func(ctx context.Context, r *store.Reader) error {
				return showRun(ctx, r, args[0], f.db, cmd.OutOrStdout(), f.asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&f.db, "db", defaultDB(), "the store")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the report as one JSON object")
	return cmd
}

func showRun(ctx context.Context, r *store.Reader, ref string, db string, out io.Writer, asJSON bool) error {
	i, err := r.RunByID(ctx, ref)
	if err != nil {
		return err
	}
	report, err := r.Report(ctx, i.Run)
	if errors.Is(err, store.ErrNoReport) {
		report, err = interim(ctx, r, i)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(out, report)
	}
	printReport(out, report, colourful(out))
	s := shower{ctx, r, i.Run, db, out}
	return errors.Join(s.children(), s.slices(), s.sizes(), s.totals(), s.events())
}

// interim is what can be said of a run that has no report: what it holds by
// its last checkpoint. Its verdict is UNKNOWN.
func interim(ctx context.Context, r *store.Reader, i store.Info) (reconcile.Report, error) {
	counts, err := r.Counts(ctx, i.Run)
	if err != nil {
		return reconcile.Report{}, err
	}
	drifts, err := r.Drifts(ctx, i.Run)
	if err != nil {
		return reconcile.Report{}, err
	}
	p := reconcile.Report{
		Run: i.Run, Name: i.Name, State: stateNow(i), Error: i.Error, Verdict: judge.Unknown, Exit: exitUnknown,
		Items:    reconcile.ItemCounts{Received: counts.Items, Distinct: counts.New, Repeated: counts.Repeated, Written: i.Items, Nulls: counts.Nulls},
		Pages:    reconcile.PageCounts{Held: counts.Held, Attempts: counts.Attempts, Half: counts.Half, Failed: counts.Failed + counts.Limited, Unused: counts.Unused},
		Evidence: []reconcile.Evidence{}, Output: []reconcile.Output{}, Started: i.Started, Ended: i.Updated,
		Requests: counts.Attempts, Passes: counts.Passes, Bytes: counts.Bytes, Advice: []string{goingOn(i)},
	}
	children, err := childrenOf(ctx, r, i.Run)
	if err != nil {
		return reconcile.Report{}, err
	}
	if len(children) > 0 {
		p.Children = &reconcile.ChildCounts{Total: int64(len(children))}
		p.Items.Received, p.Items.Distinct = i.Items, i.Items
		for _, c := range children {
			if c.complete() {
				p.Children.Complete++
			} else {
				p.Children.Open++
			}
		}
	}
	if len(drifts) > 0 && drifts[0].Seen > 0 {
		d := drifts[0]
		p.Total = reconcile.TotalSummary{First: &d.First.N, Last: &d.Last.N, Min: &d.Min.N, Max: &d.Max.N, Kind: string(d.Kind), Collapsed: d.Collapsed > 0}
	}
	return p, nil
}

// goingOn says what becomes of a run that has no report.
func goingOn(i store.Info) string {
	switch {
	case i.Holder != nil:
		return fmt.Sprintf("process %d drains it since %s: wait for its report", i.Holder.PID, i.Holder.Since.Format(time.DateTime))
	case i.State == store.Abandoned:
		return "it was given up for a fresh start, and never goes on"
	}
	return "its process ended without a report"
}

// A shower prints what the store knows of a run beyond its report.
type shower struct {
	ctx context.Context
	r   *store.Reader
	run string
	db  string
	out io.Writer
}

// tail is how many lines of a section are shown; what is left out is said.
const tail = 10

func (s shower) section(title string, lines []string, total int64, view string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(s.out, "\n%s\n", title)
	if left := total - int64(len(lines)); left > 0 {
		fmt.Fprintf(s.out, "  the last %d of %d; all of them: sqlite3 %s \"SELECT * FROM %s WHERE run = '%s'\"\n",
			len(lines), total, shellWord(s.db), view, s.run)
	}
	for _, line := range lines {
		fmt.Fprintln(s.out, "  "+clean(line))
	}
}

// children lists those of a fan-out: first those that are not COMPLETE.
func (s shower) children() error {
	list, err := childrenOf(s.ctx, s.r, s.run)
	if err != nil || len(list) == 0 {
		return err
	}
	slices.SortStableFunc(list, func(a, b childRun) int { return cmp.Compare(a.rank(), b.rank()) })
	fmt.Fprintf(s.out, "\nchildren\n")
	for _, c := range list[:min(len(list), tail)] {
		fmt.Fprintln(s.out, "  "+clean(c.text()))
	}
	if left := len(list) - tail; left > 0 {
		fmt.Fprintf(s.out, "  and %d more; all of them: sqlite3 %s \"SELECT * FROM children WHERE run = '%s'\"\n", left, shellWord(s.db), s.run)
	}
	return nil
}

// A childRun is a child of a fan-out and its run, nil where none is in the store.
type childRun struct {
	store.Child
	info *store.Info
}

func childrenOf(ctx context.Context, r *store.Reader, run string) ([]childRun, error) {
	list, err := r.Children(ctx, run)
	if err != nil {
		return nil, err
	}
	out := make([]childRun, len(list))
	for i, c := range list {
		out[i].Child = c
		if c.Run == "" {
			continue
		}
		info, err := r.RunByID(ctx, c.Run)
		if err == nil {
			out[i].info = &info
		} else if !errors.Is(err, store.ErrNoRun) {
			return nil, err
		}
	}
	return out, nil
}

func (c childRun) complete() bool {
	return c.info != nil && c.info.State == store.Finished && c.info.Verdict != nil && *c.info.Verdict == judge.Complete
}

func (c childRun) rank() int {
	if c.complete() {
		return 1
	}
	return 0
}

func (c childRun) text() string {
	if c.info == nil {
		return c.Value + "  not asked"
	}
	row := runRow(*c.info)
	return fmt.Sprintf("%s  %s  %s items  [run %s]", c.Value, strings.TrimSpace(row[2]+" "+row[3]), thousands(c.info.Items), c.Run)
}

func (s shower) sizes() error {
	all, err := s.r.PageSizes(s.ctx, s.run)
	if err != nil {
		return err
	}
	steps := slices.DeleteFunc(all, func(p store.SizeStep) bool { return p.Slice > 0 && !p.Before.OK }) // where a slice just begins
	if len(steps) < 2 {
		return nil
	}
	var lines []string
	for _, p := range steps[max(0, len(steps)-tail):] {
		lines = append(lines, sizeStep(p))
	}
	s.section("page size", lines, int64(len(steps)), "page_sizes")
	return nil
}

// sizeStep is a page size in words, with the cause of its change.
func sizeStep(p store.SizeStep) string {
	size := "no size asked"
	if p.Size.OK {
		size = "size " + p.Size.String()
	}
	text := fmt.Sprintf("from request %d on: %s", p.Seq, size)
	if p.Slice > 0 {
		text = fmt.Sprintf("slice %d, %s", p.Slice, text)
	}
	if p.Before.OK {
		cause := p.Cause
		if cause == "" {
			cause = "to overlap with the page before, or to go on from what came"
		}
		text += fmt.Sprintf(" instead of %s: %s", p.Before, cause)
	}
	return text
}

// slices shows the last slices of a run that was cut.
func (s shower) slices() error {
	all, err := s.r.Slices(s.ctx, s.run)
	if err != nil {
		return err
	}
	var lines []string
	for _, sl := range all[max(0, len(all)-tail):] {
		lines = append(lines, sliceText(sl))
	}
	s.section("slices", lines, int64(len(all)), "slices")
	return nil
}

// sliceText tells of one slice.
func sliceText(s reconcile.Slice) string {
	text := fmt.Sprintf("slice %d: %s %s to %s", s.Slice, s.Key, orOpen(s.From), orOpen(s.To))
	if s.Slice == 0 {
		text = "the query without slices"
	}
	text += fmt.Sprintf(": %s, %s items", s.State, thousands(s.Items))
	if s.Total.OK {
		text += " of " + thousands(s.Total.N)
	}
	return text
}

func orOpen(bound string) string {
	if bound == "" {
		return "(open)"
	}
	return bound
}

func (s shower) totals() error {
	drifts, err := s.r.Drifts(s.ctx, s.run)
	if err != nil {
		return err
	}
	var lines []string
	for _, d := range drifts {
		lines = append(lines, driftText(d))
	}
	s.section("totals", lines, int64(len(lines)), "")
	return nil
}

// driftText tells how the totals of one source moved.
func driftText(d store.Drift) string {
	text := fmt.Sprintf("%s: seen %s", d.Source, times(d.Seen+d.NotBelieved))
	if d.Seen > 0 {
		text += fmt.Sprintf(", first %s, last %s", thousands(d.First.N), thousands(d.Last.N))
	}
	if d.Moved > 0 {
		text += fmt.Sprintf(", moved %s between %s and %s", times(d.Moved), thousands(d.Min.N), thousands(d.Max.N))
	}
	if d.NotBelieved > 0 {
		text += ", not believed " + times(d.NotBelieved)
	}
	if d.Collapsed > 0 {
		text += ", collapsed " + times(d.Collapsed)
	}
	return text
}

// times says how often.
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return thousands(n) + " times"
}

func (s shower) events() error {
	list, err := s.r.Events(s.ctx, s.run, tail)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range list.Events {
		lines = append(lines, fmt.Sprintf("%s  after request %d  %s: %s", e.At.Format(time.TimeOnly), e.Seq, e.Kind, e.Text))
	}
	s.section("events", lines, list.Total, "events")
	return nil
}

// printJSON prints a value as one line.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// A table prints rows under a head, in columns. A head that begins with ">" is
// of a column of numbers. Widths only grow, so that rows may come in parts.
type table struct {
	head   []string
	widths []int
}

func (t *table) print(w io.Writer, rows [][]string) {
	if t.widths == nil {
		t.widths = make([]int, len(t.head))
		head := make([]string, len(t.head))
		for i, h := range t.head {
			head[i] = strings.ToUpper(strings.TrimPrefix(h, ">"))
		}
		rows = append([][]string{head}, rows...)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = clean(row[i])
			if row[i] == "" {
				row[i] = "-"
			}
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		fmt.Fprintln(w, t.line(row))
	}
}

func (t *table) line(row []string) string {
	var line strings.Builder
	for i, cell := range row {
		pad := strings.Repeat(" ", t.widths[i]-utf8.RuneCountInString(cell))
		if strings.HasPrefix(t.head[i], ">") {
			line.WriteString(pad + cell + "  ")
		} else {
			line.WriteString(cell + pad + "  ")
		}
	}
	return strings.TrimRight(line.String(), " ")
}

// clean makes a text of foreign origin fit for a terminal: one line, without
// control characters.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// shellWord quotes a word where a shell would read it otherwise.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-/:@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
