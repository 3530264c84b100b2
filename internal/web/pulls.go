package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lastdrop/internal/daemon"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// How much of lists is shown at once.
const (
	stripLength = 30
	pullsShown  = 100
	runsShown   = 25
	jobsShown   = 50
	chartRuns   = 200
	nextFires   = 5
)

// A pullRow is a pull in the list.
type pullRow struct {
	daemon.Pull
	Last  *store.Info  // the newest run with a verdict
	Live  *store.Info  // the run that is under way
	Strip []store.Info // oldest first
	Cover coverage
	Back  string
}

// pulls is the page of all pulls, by name. Of many it shows a part: those whose names hold `q`, from after the name `after`.
func (s *Server) pulls(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	list, err := s.Engine.Pulls(ctx)
	if err != nil {
		return err
	}
	body := struct {
		Rows       []pullRow
		Broken     []daemon.Broken
		All, Found int64
		Query      string
		First      bool
		Next       string // the query of the page with those that come then
	}{All: int64(len(list)), Query: q.Get("q"), First: q.Get("after") == ""}
	if body.Broken, err = s.Engine.Broken(ctx); err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b daemon.Pull) int { return cmp.Compare(a.Name, b.Name) })
	list = slices.DeleteFunc(list, func(p daemon.Pull) bool { return !strings.Contains(p.Name, body.Query) })
	body.Found = int64(len(list))
	list = slices.DeleteFunc(list, func(p daemon.Pull) bool { return p.Name <= q.Get("after") })
	if len(list) > pullsShown {
		list = list[:pullsShown]
		next := url.Values{"after": {list[pullsShown-1].Name}}
		if body.Query != "" {
			next.Set("q", body.Query)
		}
		body.Next = "/?" + next.Encode()
	}
	for _, p := range list {
		row, err := s.row(ctx, p)
		if err != nil {
			return err
		}
		row.Back = "pulls"
		body.Rows = append(body.Rows, row)
	}
	s.render(w, r, http.StatusOK, "pulls", page{Title: "Pulls", Nav: "pulls", Watch: "all", Note: note(r)}, body)
	return nil
}

// row gathers what the store knows of a pull.
func (s *Server) row(ctx context.Context, p daemon.Pull) (pullRow, error) {
	row := pullRow{Pull: p}
	list, err := s.Store.Runs(ctx, store.RunFilter{Name: p.Name, Limit: stripLength})
	if err != nil {
		return row, err
	}
	runs := list.Runs
	if i := slices.IndexFunc(runs, func(i store.Info) bool { return i.Verdict != nil && i.State != store.Running }); i >= 0 {
		last := runs[i]
		row.Last, row.Cover = &last, coverageOf(last.Items, last.Total)
	}
	if i := slices.IndexFunc(runs, func(i store.Info) bool { return i.State == store.Running && i.Holder != nil }); i >= 0 {
		live := runs[i]
		row.Live = &live
	}
	slices.Reverse(runs)
	row.Strip = runs
	return row, nil
}

// pull is the page of one pull.
func (s *Server) pull(w http.ResponseWriter, r *http.Request) error {
	ctx, name := r.Context(), r.PathValue("name")
	p, err := s.Engine.Pull(ctx, name)
	if err != nil {
		return err
	}
	body := struct {
		pullRow
		Words string // the schedule
		Fires []time.Time
		Chart []store.Info // oldest first
		Runs  []store.Info
		Total int64
		Older string // the id to go on before
		First bool   // the newest are shown
		Jobs  daemon.JobList
	}{}
	if body.pullRow, err = s.row(ctx, p); err != nil {
		return err
	}
	body.Words, body.Back = scheduleText(p.Schedule), "pull"
	if f, ok := s.Engine.(interface {
		Fires(ctx context.Context, name string, n int) ([]time.Time, error)
	}); ok && p.Schedule != "" && !p.Paused {
		if body.Fires, err = f.Fires(ctx, name, nextFires); err != nil {
			return err
		}
	}
	list, err := s.Store.Runs(ctx, store.RunFilter{Name: name, Limit: chartRuns})
	if err != nil {
		return err
	}
	body.Total = list.Total
	for _, i := range slices.Backward(list.Runs) {
		if i.Verdict != nil {
			body.Chart = append(body.Chart, i)
		}
	}
	before := r.URL.Query().Get("before")
	body.First = before == ""
	if list, err = s.Store.Runs(ctx, store.RunFilter{Name: name, Before: before, Limit: runsShown + 1}); err != nil {
		return err
	}
	if body.Runs = list.Runs; len(body.Runs) > runsShown {
		body.Runs = body.Runs[:runsShown]
		body.Older = body.Runs[runsShown-1].Run
	}
	if body.Jobs, err = s.Engine.Jobs(ctx, daemon.JobFilter{Pull: name, Limit: 10}); err != nil {
		return err
	}
	s.render(w, r, http.StatusOK, "pull", page{Title: name, Nav: "pulls", Watch: "pull:" + name, Charts: true, Note: note(r)}, body)
	return nil
}

// The forms end at a page that says what they did: the note is a word of this list in the address, so that an address cannot
// put words of its own on a page.
var notes = map[string]string{
	"started":   "A run was asked for.",
	"backfill":  "A backfill was asked for.",
	"paused":    "The schedule is paused. By hand the pull runs all the same.",
	"resumed":   "The schedule goes on.",
	"cancelled": "The job was cancelled.",
}

func note(r *http.Request) string { return notes[r.URL.Query().Get("note")] }

// done leads back to where a form stood.
func done(w http.ResponseWriter, r *http.Request, name, what string) {
	to := "/"
	switch r.PostFormValue("back") {
	case "pull":
		to = pullPath(name)
	case "queue":
		to = "/queue"
	}
	http.Redirect(w, r, to+"?note="+what, http.StatusSeeOther)
}

// maxForm bounds the small forms.
const maxForm = 64 << 10

func (s *Server) runNow(w http.ResponseWriter, r *http.Request) error {
	if err := form(w, r); err != nil {
		return err
	}
	name := r.PathValue("name")
	ask := daemon.Request{Fresh: r.PostFormValue("fresh") != "", From: r.PostFormValue("from"), To: r.PostFormValue("to")}
	if _, err := s.Engine.RunNow(r.Context(), name, ask); err != nil {
		return said(err)
	}
	what := "started"
	if ask.From != "" || ask.To != "" {
		what = "backfill"
	}
	done(w, r, name, what)
	return nil
}

// said shows what the daemon says against a request, where it is none of the kinds that have a text of their own.
func said(err error) error {
	for _, known := range []error{daemon.ErrNoPull, daemon.ErrNoJob, daemon.ErrOver, daemon.ErrOverlap, context.Canceled} {
		if errors.Is(err, known) {
			return err
		}
	}
	return problem{http.StatusUnprocessableEntity, fmt.Sprintf("The daemon did not take this: %v.", err)}
}

func (s *Server) pause(w http.ResponseWriter, r *http.Request) error {
	if err := form(w, r); err != nil {
		return err
	}
	name, on := r.PathValue("name"), r.PostFormValue("on")
	if on != "true" && on != "false" {
		return problem{http.StatusBadRequest, "Say on=true to pause, or on=false to go on."}
	}
	if err := s.Engine.Pause(r.Context(), name, on == "true"); err != nil {
		return err
	}
	what := "resumed"
	if on == "true" {
		what = "paused"
	}
	done(w, r, name, what)
	return nil
}

func form(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		var tooBig *http.MaxBytesError
		if errors.As(err, &tooBig) {
			return err
		}
		return problem{http.StatusBadRequest, "The form could not be read."}
	}
	return nil
}

// queue is the page of the jobs.
func (s *Server) queue(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	states := []string{daemon.JobRunning, daemon.JobWaiting, daemon.JobDone, daemon.JobFailed, daemon.JobCancelled}
	state := q.Get("state")
	if state != "" && !slices.Contains(states, state) {
		return problem{http.StatusNotFound, "There is no such state of a job."}
	}
	before, err := optionalNumber(q.Get("before"))
	if err != nil {
		return err
	}
	type tab struct {
		State string
		N     int64
	}
	body := struct {
		Tabs  []tab
		All   int64
		State string
		Jobs  daemon.JobList
		Older int64
		First bool
	}{State: state, First: before == 0}
	for _, one := range states {
		list, err := s.Engine.Jobs(ctx, daemon.JobFilter{State: one, Limit: 1})
		if err != nil {
			return err
		}
		body.Tabs, body.All = append(body.Tabs, tab{one, list.Total}), body.All+list.Total
	}
	if body.Jobs, err = s.Engine.Jobs(ctx, daemon.JobFilter{State: state, Before: before, Limit: jobsShown}); err != nil {
		return err
	}
	if n := len(body.Jobs.Jobs); int64(n) < body.Jobs.Rest {
		body.Older = body.Jobs.Jobs[n-1].ID
	}
	s.render(w, r, http.StatusOK, "queue", page{Title: "Queue", Nav: "queue", Watch: "all", Note: note(r)}, body)
	return nil
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) error {
	if err := form(w, r); err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return daemon.ErrNoJob
	}
	if err := s.Engine.Cancel(r.Context(), id); err != nil {
		return err
	}
	done(w, r, r.PostFormValue("pull"), "cancelled")
	return nil
}

// optionalNumber reads a number of an address; "" is 0.
func optionalNumber(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, problem{http.StatusBadRequest, "The address has something else where a number must stand."}
	}
	return n, nil
}

// markOf is the mark of a piece of evidence: what it speaks for.
func markOf(e reconcile.Evidence) chip {
	v := e.Verdict
	c := chipOf(&v, reconcile.None)
	if reconcile.Informs(e.ID) && c.Class == "unknown" {
		return chip{Class: "none", Mark: "·", Word: "worth knowing"}
	}
	return c
}
