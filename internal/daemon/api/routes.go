package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"lastdrop/internal/daemon"
	"lastdrop/internal/daemon/api/problem"
	"lastdrop/internal/rows"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A route is one thing that can be asked: it drives the mux and the document alike.
type route struct {
	method, path string
	about        string
	params       []param
	body         reflect.Type // of POST; nil: none
	optional     bool         // the body may be empty
	answer       reflect.Type
	status       int
	problems     []problem.Kind // beside those that every route has
	handle       func(*query) (any, error)
	stream       func(http.ResponseWriter, *query) error // in the place of handle
}

// get makes a route that answers a T.
func get[T any](path, about string, params []param, problems []problem.Kind, handle func(*query) (T, error)) route {
	return route{method: http.MethodGet, path: path, about: about, params: params, answer: reflect.TypeFor[T](), status: http.StatusOK,
		problems: problems, handle: func(q *query) (any, error) { return handle(q) }}
}

// post makes a route that changes something and answers a T.
func post[T any](path, about string, problems []problem.Kind, handle func(*query) (T, error)) route {
	r := get(path, about, nil, problems, handle)
	r.method = http.MethodPost
	return r
}

var (
	limitParam = param{name: "limit", about: "at most so many items (100)", number: true, least: 1, most: maxLimit}
	// byNumber and byText page a list by a number or a text.
	byNumber = []param{limitParam, {name: "after", about: "only items after the one with this number; next says it", number: true}}
	byText   = []param{limitParam, {name: "after", about: "only items after the one of this name; next says it"}}
	asOf     = param{name: "as_of", about: "only items up to this number, the newest there was when the walk began; next says it", number: true, least: 1}
	growing  = append(slices.Clone(byNumber), asOf)
	noRun    = []problem.Kind{problem.NoRun, problem.BadRun}
	noReport = append(slices.Clone(noRun), problem.NoReport)
	noPull   = []problem.Kind{problem.NoPull}
	noJob    = []problem.Kind{problem.NoJob}
)

var runParams = []param{limitParam,
	{name: "after", about: "only runs older than the one with this id; next says it", run: true},
	{name: "as_of", about: "only runs up to the one with this id, the newest there was when the walk began; next says it", run: true}}

// outcomes are the words for what an attempt came to.
var outcomes = func() (words []string) {
	for o := reconcile.Failed; !strings.HasPrefix(o.String(), "outcome("); o++ { // those that have a name
		words = append(words, o.String())
	}
	return words
}()

var jobStates = []string{daemon.JobWaiting, daemon.JobRunning, daemon.JobDone, daemon.JobFailed, daemon.JobCancelled}

// table lists the routes.
func (a *api) table() []route {
	run := post("/pulls/{name}/run", "Run a pull now, or a backfill of a range of its slice key", []problem.Kind{problem.NoPull, problem.Overlap}, a.runNow)
	run.body, run.optional, run.status = reflect.TypeFor[runRequest](), true, http.StatusAccepted
	judged := post("/judge", "Judge a snapshot of one answer: is this all there is?", nil, a.judge)
	judged.body = reflect.TypeFor[judge.Snapshot]()
	events := route{method: http.MethodGet, path: "/events", about: "What happens from now on, as server-sent events: hello first, then pull, job, run and progress",
		answer: reflect.TypeFor[event](), status: http.StatusOK, problems: []problem.Kind{problem.Busy}, stream: a.events}
	return []route{
		get("/pulls", "The pulls, by name", byText, nil, a.pulls),
		get("/pulls/{name}", "One pull", nil, noPull, func(q *query) (daemon.Pull, error) { return a.Engine.Pull(q.Context(), q.PathValue("name")) }),
		get("/pulls/{name}/runs", "The runs of a pull, newest first; of a fan-out, the whole ones", runParams, nil, func(q *query) (List[store.Info], error) {
			return a.listRuns(q, q.PathValue("name"))
		}),
		run,
		post("/pulls/{name}/pause", "Pause the schedule of a pull", noPull, func(q *query) (daemon.Pull, error) { return a.pause(q, true) }),
		post("/pulls/{name}/resume", "Let the schedule of a pull go on", noPull, func(q *query) (daemon.Pull, error) { return a.pause(q, false) }),
		get("/runs", "The runs, newest first", append(slices.Clone(runParams), param{name: "name", about: "only the runs of this pull; of one child of a fan-out: pull/child"}), nil,
			func(q *query) (List[store.Info], error) { return a.listRuns(q, q.text("name")) }),
		get("/runs/{run}", `One run: by its id, the start of one, the name of a pull (its newest run) or "last"`, nil, noRun, func(q *query) (store.Info, error) {
			i, err := a.run(q)
			return rows.RunOf(i), err
		}),
		get("/runs/{run}/report", "The report of a run that came to its end or was stopped", nil, noReport, a.report),
		get("/runs/{run}/pages", "Every attempt of a run, in the order of requests", append(slices.Clone(growing),
			param{name: "outcome", about: "only attempts that came to this", words: outcomes}), noRun, a.pages),
		get("/runs/{run}/totals", "Every total that the source declared", growing, noRun, numbered(a, "/totals", a.Store.TotalsIn, rows.TotalOf)),
		get("/runs/{run}/events", "What happened to a run and is no attempt", growing, noRun, numbered(a, "/events", a.Store.EventsIn, rows.EventOf)),
		get("/runs/{run}/slices", "The slices of a run; a plain run has none", growing, noRun, numbered(a, "/slices", a.Store.SlicesIn,
			func(run string, _ int64, s reconcile.Slice) rows.Slice { return rows.SliceOf(run, s) })),
		get("/runs/{run}/sizes", "The page size over time, with the cause of each change", growing, noRun, numbered(a, "/sizes", a.Store.SizesIn,
			func(run string, _ int64, s store.SizeStep) rows.Size { return rows.SizeOf(run, s) })),
		get("/runs/{run}/children", "The values of a fan-out and their runs; any other run has none", growing, noRun, numbered(a, "/children", a.Store.ChildrenIn,
			func(run string, _ int64, c store.Child) rows.Child { return rows.ChildOf(run, c) })),
		get("/runs/{run}/outputs", "What a run wrote", byNumber, noReport, a.outputs),
		get("/jobs", "The jobs, newest first", append(slices.Clone(growing), param{name: "pull", about: "only jobs of this pull"},
			param{name: "state", about: "only jobs that are in this state now", words: jobStates}), nil, a.jobs),
		get("/jobs/{id}", "One job", nil, noJob, func(q *query) (daemon.Job, error) {
			return withID(q, func(id int64) (daemon.Job, error) { return a.Engine.Job(q.Context(), id) })
		}),
		post("/jobs/{id}/cancel", "Cancel a job; its run stays as far as it came", []problem.Kind{problem.NoJob, problem.Over}, a.cancel),
		judged,
		get("/broken", "The files that cannot be read as configs and have no good version, by name", byText, nil, a.broken),
		post("/reload", "Look at the folder of configs now; answers as GET /broken", nil, func(q *query) (List[daemon.Broken], error) {
			if err := a.Engine.Reload(q.Context()); err != nil {
				return List[daemon.Broken]{}, err
			}
			return a.broken(q)
		}),
		events,
		get("/openapi.json", "This document", nil, nil, func(*query) (document, error) { return a.document() }),
	}
}

func (a *api) pulls(q *query) (List[daemon.Pull], error) {
	all, err := a.Engine.Pulls(q.Context())
	if err != nil {
		return List[daemon.Pull]{}, err
	}
	name := func(p daemon.Pull) string { return p.Name }
	return byName(q, all, name), nil
}

func (a *api) broken(q *query) (List[daemon.Broken], error) {
	all, err := a.Engine.Broken(q.Context())
	if err != nil {
		return List[daemon.Broken]{}, err
	}
	return byName(q, all, func(b daemon.Broken) string { return b.File }), nil
}

// byName is a part of a list that is held whole.
func byName[T any](q *query, all []T, name func(T) string) List[T] {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	from := 0
	if after := q.text("after"); after != "" {
		from, _ = slices.BinarySearchFunc(sorted, after+"\x00", func(t T, after string) int { return cmp.Compare(name(t), after) })
	}
	return part(q, sorted[from:], int64(len(sorted)), "", func(t T) (T, string) { return t, name(t) })
}

// A runRequest is the body of POST run.
type runRequest struct {
	Fresh bool   `json:"fresh,omitempty" jsonschema:"begin anew, not from where an unfinished run stands"`
	From  string `json:"from,omitempty" jsonschema:"of a backfill: the first value of the slice key"`
	To    string `json:"to,omitempty" jsonschema:"of a backfill: where the range ends"`
}

func (a *api) runNow(q *query) (daemon.Job, error) {
	var r runRequest
	if err := q.decode(&r); err != nil {
		return daemon.Job{}, err
	}
	return a.Engine.RunNow(q.Context(), q.PathValue("name"), daemon.Request{Fresh: r.Fresh, From: r.From, To: r.To})
}

func (a *api) pause(q *query, paused bool) (daemon.Pull, error) {
	if err := a.Engine.Pause(q.Context(), q.PathValue("name"), paused); err != nil {
		return daemon.Pull{}, err
	}
	return a.Engine.Pull(q.Context(), q.PathValue("name"))
}

// listRuns lists runs up to the newest one of the walk's first answer.
func (a *api) listRuns(q *query, name string) (List[store.Info], error) {
	f := store.RunFilter{Name: name, UpTo: q.text("as_of"), Limit: 1}
	if f.UpTo == "" {
		newest, err := a.Store.Runs(q.Context(), f)
		if err != nil || len(newest.Runs) == 0 {
			return part(q, newest.Runs, newest.Total, "", infoRow), err
		}
		f.UpTo = newest.Runs[0].Run
	}
	f.Before, f.Limit = q.text("after"), q.limit()+1
	list, err := a.Store.Runs(q.Context(), f)
	return part(q, list.Runs, list.Total, f.UpTo, infoRow), err
}

func infoRow(i store.Info) (store.Info, string) { return rows.RunOf(i), i.Run }

// run is the run that the path means.
func (a *api) run(q *query) (store.Info, error) {
	i, err := a.Store.RunByID(q.Context(), q.PathValue("run"))
	return i, err
}

func (a *api) report(q *query) (reconcile.Report, error) {
	i, err := a.run(q)
	if err != nil {
		return reconcile.Report{}, err
	}
	r, err := a.Store.Report(q.Context(), i.Run)
	r.Evidence, r.Output, r.Advice = notNil(r.Evidence), notNil(r.Output), notNil(r.Advice)
	return r, err
}

func notNil[T any](list []T) []T { return append([]T{}, list...) }

// pages lists attempts up to the last one of the walk's first answer.
func (a *api) pages(q *query) (List[rows.Page], error) {
	i, err := a.run(q)
	if err != nil {
		return List[rows.Page]{}, err
	}
	q.path = runPath(i.Run, "/pages")
	f := store.PageFilter{After: q.number("after"), UpTo: q.number("as_of"), Outcome: q.text("outcome"), Limit: q.limit() + 1}
	row := func(at reconcile.Attempt) (rows.Page, string) { return rows.PageOf(i.Run, at), text(at.Seq) }
	if f.UpTo == 0 {
		counts, err := a.Store.Counts(q.Context(), i.Run)
		if err != nil || counts.LastSeq == 0 {
			return part(q, nil, 0, "", row), err
		}
		f.UpTo = counts.LastSeq
	}
	list, err := a.Store.Pages(q.Context(), i.Run, f)
	if err != nil {
		return List[rows.Page]{}, err
	}
	f.After = 0 // the count of what is left is not asked for
	total, _, err := a.Store.CountPages(q.Context(), i.Run, f)
	return part(q, list, total, text(f.UpTo), row), err
}

// runPath is the path of what a run has, by its whole id: a walk that began at "last"
// stays with its run.
func runPath(run, of string) string { return Prefix + "/runs/" + url.PathEscape(run) + of }

// numbered lists what is numbered in a run, up to the highest number of the walk's
// first answer.
func numbered[R, T any](a *api, of string, in func(context.Context, string, store.Span) (store.Part[R], error), rowOf func(run string, n int64, r R) T) func(*query) (List[T], error) {
	return func(q *query) (List[T], error) {
		i, err := a.run(q)
		if err != nil {
			return List[T]{}, err
		}
		q.path = runPath(i.Run, of)
		found, err := in(q.Context(), i.Run, store.Span{After: q.number("after"), UpTo: q.number("as_of"), Limit: q.limit() + 1})
		return part(q, found.Items, found.Total, text(found.End), func(r store.Numbered[R]) (T, string) {
			return rowOf(i.Run, r.N, r.Item), text(r.N)
		}), err
	}
}

func (a *api) outputs(q *query) (List[reconcile.Output], error) {
	i, err := a.run(q)
	if err != nil {
		return List[reconcile.Output]{}, err
	}
	q.path = runPath(i.Run, "/outputs")
	r, err := a.Store.Report(q.Context(), i.Run)
	n := min(int(q.number("after")), len(r.Output))
	return part(q, r.Output[n:], int64(len(r.Output)), "", func(o reconcile.Output) (reconcile.Output, string) {
		n++
		return o, strconv.Itoa(n)
	}), err
}

// jobs lists jobs up to the newest one of the walk's first answer.
func (a *api) jobs(q *query) (List[daemon.Job], error) {
	f := daemon.JobFilter{Pull: q.text("pull"), State: q.text("state"), Limit: 1}
	row := func(j daemon.Job) (daemon.Job, string) { return j, text(j.ID) }
	newest := q.number("as_of")
	if newest == 0 {
		list, err := a.Engine.Jobs(q.Context(), f)
		if err != nil || len(list.Jobs) == 0 {
			return part(q, list.Jobs, list.Total, "", row), err
		}
		newest = list.Jobs[0].ID
	}
	f.Before = newest + 1
	all, err := a.Engine.Jobs(q.Context(), f)
	if err != nil {
		return List[daemon.Job]{}, err
	}
	if after := q.number("after"); after > 0 {
		f.Before = min(f.Before, after)
	}
	f.Limit = q.limit() + 1
	list, err := a.Engine.Jobs(q.Context(), f)
	return part(q, list.Jobs, all.Rest, text(newest), row), err
}

func withID[T any](q *query, do func(id int64) (T, error)) (T, error) {
	id, err := q.id()
	if err != nil {
		var zero T
		return zero, err
	}
	return do(id)
}

func (a *api) cancel(q *query) (daemon.Job, error) {
	return withID(q, func(id int64) (daemon.Job, error) {
		if err := a.Engine.Cancel(q.Context(), id); err != nil {
			return daemon.Job{}, err
		}
		return a.Engine.Job(q.Context(), id)
	})
}

// judge gives the object that `lastdrop judge --json -` prints.
func (a *api) judge(q *query) (judge.Line, error) {
	all, err := judge.Decode(q.body)
	var field *judge.FieldError
	switch {
	case errors.As(err, &field):
		says, _, _ := strings.Cut(field.Problem, `, not "`) // what was said is not said back
		return judge.Line{}, problem.BadBody.With(named(field.Path, "a field") + ": " + says)
	case err != nil:
		first, _, _ := strings.Cut(err.Error(), ": ")
		return judge.Line{}, problem.BadBody.With(first + ": send one snapshot as a JSON object")
	case len(all) != 1:
		return judge.Line{}, problem.BadBody.With("send one snapshot as a JSON object")
	}
	return judge.Line{Input: "-", Result: judge.Judge(all[0])}, nil
}
