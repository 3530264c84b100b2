package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"lastdrop/internal/sink"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// printReport writes a run's report for people: the verdict first, then what
// was held against what was declared, each piece of evidence in one line, and
// what to do next.
func printReport(w io.Writer, r reconcile.Report, color bool) {
	p := printer{w: w, color: color}
	p.headline(r)
	p.row("held", heldText(r))
	if r.Children == nil {
		p.row("declared", declaredText(r))
	} else {
		p.row("children", childrenText(*r.Children))
	}
	if r.Missing != nil && *r.Missing > 0 {
		p.row("missing", thousands(*r.Missing))
	}
	if r.Reach != nil {
		p.row("reach", thousands(*r.Reach)+" items")
	}
	p.row("pages", pagesText(r))
	if r.Children != nil {
		p.row("output", outputsText(r.Output))
	} else {
		p.row("slices", slicesText(r))
		for _, o := range r.Output {
			p.row("output", outputText(o, r.Verdict, r.State == "stopped"))
			for _, n := range o.Notes {
				p.wrapped("            ", n)
			}
		}
	}
	p.row("took", tookText(r))
	p.line("")
	for _, e := range r.Evidence {
		p.evidence(e)
	}
	if next := nextSteps(r); len(next) > 0 {
		p.line("")
		for _, n := range next {
			p.wrapped("  next: ", n)
		}
	}
}

type printer struct {
	w     io.Writer
	color bool
}

func (p printer) line(s string) { fmt.Fprintln(p.w, s) }

func (p printer) row(name, text string) {
	if text != "" {
		fmt.Fprintf(p.w, "  %-9s %s\n", name, text)
	}
}

func (p printer) headline(r reconcile.Report) {
	word := r.Verdict.String()
	head := p.paint(r.Verdict, word)
	if r.Strength != reconcile.None {
		head += " (" + r.Strength.String() + ")"
	}
	tail := ""
	switch r.State {
	case "stopped":
		tail = ", stopped; it can be resumed"
	case "failed":
		tail = ", could not run: " + r.Error
	}
	fmt.Fprintf(p.w, "%s  %s%s  [run %s]\n", head, r.Name, tail, r.Run)
}

func (p printer) evidence(e reconcile.Evidence) {
	mark := map[judge.Verdict]string{judge.Complete: "+", judge.Truncated: "-", judge.Unknown: "?"}[e.Verdict]
	if e.Verdict == judge.Unknown && reconcile.Informs(e.ID) {
		mark = "·"
	}
	p.wrapped("  "+mark+" "+e.ID+"  ", e.Text)
}

// wrapped writes a text under a hanging indent.
func (p printer) wrapped(head, text string) {
	indent := strings.Repeat(" ", len([]rune(head)))
	for i, l := range wrap(text, 100-len([]rune(head))) {
		if i > 0 {
			head = indent
		}
		fmt.Fprintln(p.w, head+l)
	}
}

// paint colours a verdict's word; the word itself says all that the colour does.
func (p printer) paint(v judge.Verdict, word string) string {
	if !p.color {
		return word
	}
	code := map[judge.Verdict]string{judge.Complete: "1;32", judge.Truncated: "1;31", judge.Unknown: "1;33"}[v]
	return "\x1b[" + code + "m" + word + "\x1b[0m"
}

func heldText(r reconcile.Report) string {
	s := thousands(r.Items.Distinct) + " distinct items"
	if r.Items.Received != r.Items.Distinct {
		s += fmt.Sprintf(" (%s received, %s repeated)", thousands(r.Items.Received), thousands(r.Items.Repeated))
	}
	return s
}

func declaredText(r reconcile.Report) string {
	t := r.Total
	switch {
	case t.Last == nil && slices.ContainsFunc(r.Evidence, func(e reconcile.Evidence) bool { return e.ID == "RC066" }):
		return "nothing: the total is not where the config says (RC066)"
	case t.Last == nil:
		return "nothing: the source stated no total"
	case t.Kind == string(judge.Exact) && t.Min != nil && *t.Min != *t.Max:
		return fmt.Sprintf("%s, drifting between %s and %s", thousands(*t.Last), thousands(*t.Min), thousands(*t.Max))
	case t.Kind == string(judge.Exact):
		return thousands(*t.Last) + share(r)
	case t.Kind == string(judge.LowerBound):
		return "at least " + thousands(*t.Last)
	case t.Kind == string(judge.Estimate):
		return "about " + thousands(*t.Last) + " (an estimate)"
	}
	return thousands(*t.Last) + " (" + t.Kind + ")"
}

// share gives the part that is held, rounded down: 99.99 % is never shown as
// 100.
func share(r reconcile.Report) string {
	if *r.Total.Last == 0 {
		return ""
	}
	pct := float64(r.Items.Distinct) / float64(*r.Total.Last) * 100
	pct = float64(int64(pct*100)) / 100
	return fmt.Sprintf("  (held: %s %%)", strconv.FormatFloat(pct, 'f', -1, 64))
}

func pagesText(r reconcile.Report) string {
	s := fmt.Sprintf("%s held, %s %s", thousands(r.Pages.Held), thousands(r.Requests), plural(r.Requests, "request"))
	if r.Concurrency > 1 {
		s += fmt.Sprintf(", up to %d at once", r.Concurrency)
	}
	if r.Pages.Half > 0 {
		s += fmt.Sprintf(", %s half", thousands(r.Pages.Half))
	}
	if r.Pages.Failed > 0 {
		s += fmt.Sprintf(", %s failed or rate-limited", thousands(r.Pages.Failed))
	}
	if r.Pages.Unused > 0 {
		s += fmt.Sprintf(", %s asked for ahead and not used", thousands(r.Pages.Unused))
	}
	if r.PageSize.Start > 0 {
		s += fmt.Sprintf("; page size %d", r.PageSize.Start)
		if r.PageSize.Min != r.PageSize.Start {
			s += fmt.Sprintf(", down to %d", r.PageSize.Min)
		}
	}
	if r.Passes > 1 {
		s += fmt.Sprintf("; %d passes", r.Passes)
	}
	return s
}

func slicesText(r reconcile.Report) string {
	s := r.Slices
	if s.Splits == 0 {
		return ""
	}
	text := fmt.Sprintf("%s read, cut %s", thousands(int64(s.Leaves)), times(int64(s.Splits)))
	if s.Irreducible > 0 {
		text += fmt.Sprintf(", %d irreducible", s.Irreducible)
	}
	return text
}

func outputText(o reconcile.Output, v judge.Verdict, stopped bool) string {
	s := fmt.Sprintf("%s  %s items, %s", o.Path, thousands(o.Items), sizeText(o.Bytes))
	switch {
	case strings.HasSuffix(o.Path, ".partial") && stopped:
		s += "  (so far)"
	case !o.Committed:
		s += "  (held back: the earlier file was not touched)"
	case v != judge.Complete && o.Path != sink.Stdout:
		s += "  (not COMPLETE)"
	}
	return s
}

// outputsText sums up the files of the children, each of which names its own.
func outputsText(list []reconcile.Output) string {
	if len(list) == 0 {
		return ""
	}
	var items, bytes, back int64
	for _, o := range list {
		items, bytes = items+o.Items, bytes+o.Bytes
		if !o.Committed {
			back++
		}
	}
	s := fmt.Sprintf("%s %s  %s items, %s", thousands(int64(len(list))), plural(int64(len(list)), "file"), thousands(items), sizeText(bytes))
	if back > 0 {
		s += fmt.Sprintf("  (%s not committed)", thousands(back))
	}
	return s
}

// childrenText counts the children of a fan-out.
func childrenText(c reconcile.ChildCounts) string {
	s := thousands(c.Total)
	for _, part := range []struct {
		n    int64
		word string
	}{{c.Complete, "COMPLETE"}, {c.Truncated, "TRUNCATED"}, {c.Unknown, "UNKNOWN"}, {c.Failed, "could not run"}, {c.Open, "open"}} {
		if part.n > 0 {
			s += fmt.Sprintf(", %s %s", thousands(part.n), part.word)
		}
	}
	return s
}

func plural(n int64, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func tookText(r reconcile.Report) string {
	d := r.Ended.Sub(r.Started).Round(time.Millisecond)
	s := d.String()
	if w := time.Duration(r.Waited).Round(time.Millisecond); w > 0 {
		s += fmt.Sprintf(", of that %s waiting", w)
	}
	return s
}

// nextSteps is the report's advice, and how to go on.
func nextSteps(r reconcile.Report) []string {
	if r.Verdict == judge.Complete {
		return nil
	}
	next := append([]string{}, r.Advice...)
	if r.State == "stopped" {
		next = append(next, "run the same command again: it goes on from here")
	}
	if r.Children != nil {
		return append(next, fmt.Sprintf("every child is in the store: lastdrop runs show %s", r.Run))
	}
	return append(next, fmt.Sprintf("every request is in the store: lastdrop pages %s", r.Run))
}

func sizeText(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 10<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return thousands(n) + " bytes"
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	neg := ""
	if n < 0 {
		neg, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return neg + s
}
