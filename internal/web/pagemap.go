package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// An outcomeMark is how an outcome looks: a letter and a word beside the colour.
type outcomeMark struct {
	Class, Letter, Word, Means string
}

func markOfOutcome(o reconcile.Outcome) outcomeMark {
	switch o {
	case reconcile.Held:
		return outcomeMark{"h", "·", "held", "a page, its items counted"}
	case reconcile.Half:
		return outcomeMark{"b", "½", "half", "half a body"}
	case reconcile.Partial:
		return outcomeMark{"p", "P", "partial", "a page that says itself that it is only a part"}
	case reconcile.Limited:
		return outcomeMark{"l", "L", "limited", "a rate limit"}
	case reconcile.Refused:
		return outcomeMark{"r", "R", "refused", "read and not held: it did not join, or came again"}
	case reconcile.Unused:
		return outcomeMark{"u", "U", "unused", "asked for ahead, and not needed"}
	case reconcile.Failed:
		return outcomeMark{"f", "✕", "failed", "no answer, or one that is no page"}
	}
	return outcomeMark{"f", "✕", o.String(), ""}
}

// worst lists the outcomes, the one that a cell shows first.
var worst = []reconcile.Outcome{reconcile.Failed, reconcile.Half, reconcile.Partial, reconcile.Refused, reconcile.Limited, reconcile.Unused, reconcile.Held}

// A pageMap is the attempts of a run as cells.
type pageMap struct {
	Run      string
	From, To int64 // what is shown
	Last     int64 // of all attempts
	Width    int64 // attempts a cell, the last cell aside
	Cells    []cell
	Legend   []legend
	// Up is the wider range that leads back; the zero value: all is shown.
	Up, Before, After span
}

type span struct{ From, To int64 }

// A legend is an outcome that is there, and how often.
type legend struct {
	outcomeMark
	N int64
}

// A cell is one attempt, or several in a row.
type cell struct {
	Class, Title string
	From, To     int64
}

// One reports a cell of a single attempt.
func (c cell) One() bool { return c.From == c.To }

// pageMap gathers the cells of the range that is asked for.
func (s *Server) pageMap(ctx context.Context, r *http.Request, v *runView) error {
	q := r.URL.Query()
	from, err := optionalNumber(q.Get("from"))
	if err != nil {
		return err
	}
	to, err := optionalNumber(q.Get("to"))
	if err != nil {
		return err
	}
	list, err := s.Store.PageMap(ctx, v.Run, from, to, maxCells)
	if err != nil {
		return err
	}
	m := pageMap{Run: v.Run, Last: v.Counts.LastSeq}
	if len(list) == 0 {
		v.Map = m
		return nil
	}
	m.From, m.To, m.Width = list[0].From, list[len(list)-1].To, list[0].To-list[0].From+1
	rows := map[int64]reconcile.Attempt{}
	if m.Width == 1 {
		attempts, err := s.Store.Pages(ctx, v.Run, store.PageFilter{After: m.From - 1, Limit: len(list)})
		if err != nil {
			return err
		}
		for _, a := range attempts {
			rows[a.Seq] = a
		}
	}
	sum := store.Tally{}
	for _, c := range list {
		m.Cells = append(m.Cells, cellOf(c, rows))
		for o, n := range c.By {
			sum[o] += n
		}
	}
	for _, o := range worst {
		if sum[o] > 0 {
			m.Legend = append(m.Legend, legend{markOfOutcome(o), sum[o]})
		}
	}
	m.around()
	v.Map = m
	return nil
}

// around says where the ranges beside and above the one that is shown are.
func (m *pageMap) around() {
	if m.From == 1 && m.To == m.Last {
		return
	}
	m.Up = span{1, m.Last}
	n := m.To - m.From + 1
	if m.From > 1 {
		m.Before = span{max(1, m.From-n), m.From - 1}
	}
	if m.To < m.Last {
		m.After = span{m.To + 1, min(m.Last, m.To+n)}
	}
}

// cellOf is a cell with its look: the worst outcome in it, and how much of it is so.
func cellOf(c store.Cell, rows map[int64]reconcile.Attempt) cell {
	out := cell{From: c.From, To: c.To}
	n := c.To - c.From + 1
	var parts []string
	for _, o := range worst {
		if c.By[o] == 0 {
			continue
		}
		m := markOfOutcome(o)
		if out.Class == "" {
			out.Class = m.Class + part(c.By[o], n)
		}
		parts = append(parts, fmt.Sprintf("%s %s", thousands(c.By[o]), m.Word))
	}
	out.Title = fmt.Sprintf("%d to %d: %s", c.From, c.To, strings.Join(parts, ", "))
	if n > 1 {
		return out
	}
	a, ok := rows[c.From]
	if !ok {
		return out
	}
	out.Title = fmt.Sprintf("%d: %s, judged %s, %s", a.Seq, a.Outcome, a.Verdict, plural(int64(a.Items), "item"))
	if a.Status != 0 && a.Status != http.StatusOK {
		out.Title += fmt.Sprintf(", status %d", a.Status)
	}
	return out
}

// part is the class of a share: little, some, or most of a cell.
func part(n, of int64) string {
	switch {
	case n == of:
		return ""
	case n*4 <= of:
		return " s1"
	case n*5 <= of*3:
		return " s2"
	}
	return " s3"
}
