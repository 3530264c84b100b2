package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// How much of a run is shown at once.
const (
	maxCells    = 2000
	chartSteps  = 300
	eventsShown = 40
	eventsMost  = 10_000
	sizesShown  = 40
	childrenMax = 200
)

// A fact is a figure of a run in words.
type fact struct{ Name, Text string }

// A runView is all that the page of a run shows.
type runView struct {
	store.Info
	Report   *reconcile.Report // nil: there is none yet
	Interim  string            // what becomes of a run without a report
	Counts   store.Counts
	Distinct int64
	Cover    coverage
	Facts    []fact
	Evidence []evidence
	Drifts   []store.Drift
	Map      pageMap
	Chart    []chartRow
	Totals   bool // the chart has totals
	TotalOf  string
	Sizes    []sizeRow
	SizesAll int
	Icicle   *icicle
	Children *childTable
	Events   store.EventList
	Took     time.Duration
}

// evidence is a finding with its rule's title.
type evidence struct {
	reconcile.Evidence
	Mark  chip
	Title string
}

// find is the run that an address names, by its whole id.
func (s *Server) find(ctx context.Context, r *http.Request) (store.Info, error) {
	id := r.PathValue("run")
	info, err := s.Store.RunByID(ctx, id)
	if err != nil {
		return info, err
	}
	if info.Run != id && id != "last" {
		return info, store.ErrNoRun
	}
	return info, nil
}

// run is the page of one run.
func (s *Server) run(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	info, err := s.find(ctx, r)
	if err != nil {
		return err
	}
	if info.Run != r.PathValue("run") {
		http.Redirect(w, r, runPath(info.Run), http.StatusFound)
		return nil
	}
	v := &runView{Info: info}
	for _, gather := range []func(context.Context, *http.Request, *runView) error{
		s.verdict, s.pageMap, s.chart, s.sizes, s.slices, s.children, s.happened,
	} {
		if err := gather(ctx, r, v); err != nil {
			return err
		}
	}
	p := page{Title: info.Name + " " + info.Run, Nav: "pulls", Charts: len(v.Chart) > 1}
	if info.State == store.Running || info.State == store.Stopped {
		p.Watch = "run:" + info.Run
	}
	s.render(w, r, http.StatusOK, "run", p, v)
	return nil
}

// verdict gathers the report, or what can be said without one.
func (s *Server) verdict(ctx context.Context, _ *http.Request, v *runView) error {
	var err error
	if v.Counts, err = s.Store.Counts(ctx, v.Run); err != nil {
		return err
	}
	if v.Drifts, err = s.Store.Drifts(ctx, v.Run); err != nil {
		return err
	}
	report, err := s.Store.Report(ctx, v.Run)
	if err != nil && !errors.Is(err, store.ErrNoReport) {
		return err
	}
	if err != nil || v.State == store.Running {
		v.interim()
		return nil
	}
	v.Report = &report
	v.Distinct = report.Items.Distinct
	v.Cover = coverageOf(report.Items.Distinct, report.Total.Last)
	v.Took = report.Ended.Sub(report.Started)
	v.Facts = reportFacts(report)
	for _, e := range report.Evidence {
		v.Evidence = append(v.Evidence, evidence{e, markOf(e), ruleTitles[e.ID]})
	}
	return nil
}

// interim says how far a run without a report has come.
func (v *runView) interim() {
	v.Distinct = v.Counts.New
	if v.Distinct == 0 {
		v.Distinct = v.Items
	}
	var total *int64
	if len(v.Drifts) > 0 && v.Drifts[0].Last.OK {
		total = &v.Drifts[0].Last.N
	}
	v.Cover = coverageOf(v.Distinct, total)
	v.Took = v.Updated.Sub(v.Started)
	switch {
	case v.Holder != nil:
		v.Interim = "It is under way, and has no verdict yet."
	case v.State == store.Abandoned:
		v.Interim = "It was given up for a fresh start, and never goes on."
	default:
		v.Interim = "Its process ended without a report. The next run of this pull goes on from here."
	}
}

// reportFacts are the figures of a report.
func reportFacts(r reconcile.Report) []fact {
	held := plural(r.Items.Distinct, "distinct item")
	if r.Items.Received != r.Items.Distinct {
		held += fmt.Sprintf(" (%s received, %s repeated)", thousands(r.Items.Received), thousands(r.Items.Repeated))
	}
	facts := []fact{{"held", held}, {"declared", declaredText(r)}}
	add := func(name, text string) {
		if text != "" {
			facts = append(facts, fact{name, text})
		}
	}
	if r.Missing != nil {
		add("missing", thousands(*r.Missing))
	}
	if r.Reach != nil {
		add("reach", plural(*r.Reach, "item")+": the server hands out no more at once")
	}
	add("pages", pagesText(r))
	if r.Slices.Splits > 0 {
		text := fmt.Sprintf("%s, cut %s", plural(int64(r.Slices.Leaves), "slice"), times(int64(r.Slices.Splits)))
		if r.Slices.Irreducible > 0 {
			text += fmt.Sprintf(", %d cannot be cut further", r.Slices.Irreducible)
		}
		add("slices", text)
	}
	took := tookText(r.Ended.Sub(r.Started))
	if w := time.Duration(r.Waited); w >= time.Millisecond {
		took += ", of that " + tookText(w) + " waiting"
	}
	add("took", took)
	add("read", sizeText(r.Bytes))
	if r.Resume != nil {
		add("goes on at", r.Resume.Kind+" "+r.Resume.Value)
	}
	add("source", r.Source)
	return facts
}

func declaredText(r reconcile.Report) string {
	t := r.Total
	switch {
	case t.Last == nil:
		return "nothing: the source stated no total"
	case t.Kind == string(judge.Exact) && t.Min != nil && t.Max != nil && *t.Min != *t.Max:
		return fmt.Sprintf("%s, moving between %s and %s", thousands(*t.Last), thousands(*t.Min), thousands(*t.Max))
	case t.Kind == string(judge.LowerBound):
		return "at least " + thousands(*t.Last)
	case t.Kind == string(judge.Estimate):
		return "about " + thousands(*t.Last) + " (an estimate)"
	}
	return thousands(*t.Last)
}

func pagesText(r reconcile.Report) string {
	parts := []string{thousands(r.Pages.Held) + " held", plural(r.Requests, "request")}
	for _, p := range []struct {
		n    int64
		word string
	}{{r.Pages.Half, "half"}, {r.Pages.Failed, "failed"}, {r.Pages.Unused, "asked for ahead and not used"}} {
		if p.n > 0 {
			parts = append(parts, thousands(p.n)+" "+p.word)
		}
	}
	text := strings.Join(parts, ", ")
	if r.PageSize.Start > 0 {
		text += fmt.Sprintf("; page size %d", r.PageSize.Start)
		if r.PageSize.Min != r.PageSize.Start {
			text += fmt.Sprintf(", down to %d", r.PageSize.Min)
		}
	}
	if r.Passes > 1 {
		text += fmt.Sprintf("; %d passes", r.Passes)
	}
	return text
}

// A chartRow is a moment of a run: a row of the table that the chart is drawn from.
type chartRow struct {
	At       time.Time
	Seq      int64
	Total    *int64 // the last one, where it was believed
	Min, Max *int64 // the band of the totals so far
	Held     int64
	Doubted  *int64 // the last one, where it was not believed
	Remark   string
}

// chart gathers how the main total and the items moved; without a total the items alone.
func (s *Server) chart(ctx context.Context, _ *http.Request, v *runView) error {
	main, ok := mainTotal(v.Drifts)
	v.Totals, v.TotalOf = ok, main.Source
	rows, known := s.charts.get(v.Run, v.Counts.LastSeq)
	if !known {
		var err error
		if rows, err = s.chartOf(ctx, v, main, ok); err != nil {
			return err
		}
		s.charts.put(v.Run, v.Counts.LastSeq, rows)
	}
	v.Chart = slices.Clip(rows)
	// A total is read before its page is held: what the run holds at its end comes after the last of them.
	if n := len(rows); n > 0 && v.Distinct > rows[n-1].Held {
		last := rows[n-1]
		last.At, last.Seq, last.Held, last.Total, last.Doubted, last.Remark = v.Updated, v.Counts.LastSeq, v.Distinct, nil, nil, ""
		v.Chart = append(v.Chart, last)
	}
	return nil
}

func (s *Server) chartOf(ctx context.Context, v *runView, main store.Drift, ok bool) ([]chartRow, error) {
	var totals []store.TotalStep
	var growth []store.GrowthStep
	var err error
	if ok {
		if totals, err = s.Store.TotalSteps(ctx, v.Run, main.Source, chartSteps); err != nil {
			return nil, err
		}
	}
	// Where nearly every page stated it, the totals themselves tell what was held, and nothing has to be added up.
	if !ok || 2*(main.Seen+main.NotBelieved) < v.Counts.Attempts {
		if growth, err = s.Store.Growth(ctx, v.Run, chartSteps); err != nil {
			return nil, err
		}
	}
	return chartRows(totals, growth), nil
}

// chartCache keeps the last charts, which are dear to make of huge runs, while people look into parts of them. A chart counts as
// long as no attempt has come.
type chartCache struct {
	mu   sync.Mutex
	rows map[string]cachedChart
}

type cachedChart struct {
	seq  int64
	rows []chartRow
}

const maxCharts = 32

func (c *chartCache) get(run string, seq int64) ([]chartRow, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.rows[run]
	return found.rows, ok && found.seq == seq
}

func (c *chartCache) put(run string, seq int64, rows []chartRow) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil || len(c.rows) >= maxCharts {
		c.rows = map[string]cachedChart{}
	}
	c.rows[run] = cachedChart{seq, rows}
}

// mainTotal is the total of the whole that was seen most; ok is false where there is none.
func mainTotal(drifts []store.Drift) (store.Drift, bool) {
	i := slices.IndexFunc(drifts, func(d store.Drift) bool { return !strings.HasSuffix(d.Source, " of a slice") })
	if i < 0 {
		return store.Drift{}, false
	}
	return drifts[i], true
}

// chartRows puts totals and items into one order. Where no growth is given, the totals say what was held.
func chartRows(totals []store.TotalStep, growth []store.GrowthStep) []chartRow {
	var rows []chartRow
	var least, most *int64
	held, own := int64(0), len(growth) == 0
	for len(totals)+len(growth) > 0 {
		if len(totals) == 0 || len(growth) > 0 && growth[0].Seq < totals[0].Seq {
			g := growth[0]
			growth, held = growth[1:], g.Items
			rows = append(rows, chartRow{At: g.At, Seq: g.Seq, Held: held, Min: least, Max: most})
			continue
		}
		t := totals[0]
		totals = totals[1:]
		if own {
			held = t.Distinct
		}
		if t.Min.OK {
			low, high := t.Min.N, t.Max.N
			if least != nil {
				low, high = min(low, *least), max(high, *most)
			}
			least, most = &low, &high
		}
		row := chartRow{At: t.At, Seq: t.Seq, Held: held, Min: least, Max: most, Remark: t.Remark}
		if t.Live {
			row.Total = &t.Value
		} else {
			row.Doubted = &t.Value
		}
		rows = append(rows, row)
	}
	return rows
}

// A sizeRow is a step of the page size in words.
type sizeRow struct {
	store.SizeStep
	Text string
}

func (s *Server) sizes(ctx context.Context, _ *http.Request, v *runView) error {
	all, err := s.Store.PageSizes(ctx, v.Run)
	if err != nil {
		return err
	}
	steps := slices.DeleteFunc(all, func(p store.SizeStep) bool { return p.Slice > 0 && !p.Before.OK }) // where a slice just begins
	v.SizesAll = len(steps)
	for _, p := range steps[:min(len(steps), sizesShown)] {
		text := p.Cause
		if text == "" {
			text = "to overlap with the page before, or to go on from what came"
		}
		v.Sizes = append(v.Sizes, sizeRow{p, text})
	}
	return nil
}

// A childTable lists the children of a fan-out, those that are not COMPLETE first.
type childTable struct {
	Rows []childRow
	All  int
}

type childRow struct {
	Value string
	Info  *store.Info // nil: it has not begun
}

func (s *Server) children(ctx context.Context, _ *http.Request, v *runView) error {
	list, err := s.Store.Children(ctx, v.Run)
	if err != nil || len(list) == 0 {
		return err
	}
	rows := make([]childRow, 0, len(list))
	for _, c := range list {
		row := childRow{Value: c.Value}
		if c.Run != "" {
			info, err := s.Store.RunByID(ctx, c.Run)
			if err != nil && !errors.Is(err, store.ErrNoRun) {
				return err
			}
			if err == nil {
				row.Info = &info
			}
		}
		rows = append(rows, row)
	}
	whole := func(c childRow) int {
		if c.Info != nil && c.Info.Verdict != nil && *c.Info.Verdict == judge.Complete {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(rows, func(a, b childRow) int { return whole(a) - whole(b) })
	v.Children = &childTable{Rows: rows[:min(len(rows), childrenMax)], All: len(rows)}
	return nil
}

// happened gathers the events.
func (s *Server) happened(ctx context.Context, r *http.Request, v *runView) (err error) {
	limit := eventsShown
	if r.URL.Query().Get("events") == "all" {
		limit = eventsMost
	}
	v.Events, err = s.Store.Events(ctx, v.Run, limit)
	return err
}

// report gives the report as it stands in the store.
func (s *Server) report(w http.ResponseWriter, r *http.Request) error {
	info, err := s.find(r.Context(), r)
	if err != nil {
		return err
	}
	report, err := s.Store.Report(r.Context(), info.Run)
	if errors.Is(err, store.ErrNoReport) {
		return problem{http.StatusNotFound, "This run has no report yet."}
	}
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	s.write(w, r, http.StatusOK, "application/json", append(text, '\n'))
	return nil
}

// attempt is one attempt: a page of its own, or with ?part=1 what the page of the run shows of it.
func (s *Server) attempt(w http.ResponseWriter, r *http.Request) error {
	info, err := s.find(r.Context(), r)
	if err != nil {
		return err
	}
	seq, err := strconv.ParseInt(r.PathValue("seq"), 10, 64)
	if err != nil || seq < 1 {
		return problem{http.StatusNotFound, "There is no such request in this run."}
	}
	list, err := s.Store.Pages(r.Context(), info.Run, store.PageFilter{After: seq - 1, Limit: 1})
	if err != nil {
		return err
	}
	if len(list) == 0 || list[0].Seq != seq {
		return problem{http.StatusNotFound, "There is no such request in this run."}
	}
	body := struct {
		Run, Name string
		A         reconcile.Attempt
		O         outcomeMark
		Rules     []evidence
		Last      int64
	}{Run: info.Run, Name: info.Name, A: list[0], O: markOfOutcome(list[0].Outcome), Last: info.Attempts}
	for _, rule := range list[0].Rules {
		e := reconcile.Evidence{ID: rule.ID, Verdict: rule.Verdict, Text: rule.Evidence}
		body.Rules = append(body.Rules, evidence{e, markOf(e), ruleTitles[e.ID]})
	}
	s.render(w, r, http.StatusOK, "attempt", page{Title: fmt.Sprintf("%s, request %d", info.Name, seq), Nav: "pulls"}, body)
	return nil
}
