package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"lastdrop/internal/daemon"
	"lastdrop/internal/daemon/api/problem"
	"lastdrop/store"
)

// An Engine is what the API asks of the daemon. Its errors are those of package
// daemon, or faults that clients are not told about.
type Engine interface {
	Pulls(ctx context.Context) ([]daemon.Pull, error)
	// Pull: ErrNoPull.
	Pull(ctx context.Context, name string) (daemon.Pull, error)
	Broken(ctx context.Context) ([]daemon.Broken, error)
	// RunNow: ErrNoPull, ErrOverlap.
	RunNow(ctx context.Context, name string, r daemon.Request) (daemon.Job, error)
	// Pause pauses or resumes a schedule: ErrNoPull.
	Pause(ctx context.Context, name string, paused bool) error
	// Cancel: ErrNoJob, ErrOver.
	Cancel(ctx context.Context, id int64) error
	Jobs(ctx context.Context, f daemon.JobFilter) (daemon.JobList, error)
	// Job: ErrNoJob.
	Job(ctx context.Context, id int64) (daemon.Job, error)
	// Subscribe gives what happens from now on, until ctx or the daemon ends, which
	// closes the channel. A subscriber that is slow misses events.
	Subscribe(ctx context.Context) <-chan daemon.Event
	// Reload looks at the folder of configs.
	Reload(ctx context.Context) error
}

// Options say what the API stands on. Engine and Store are required.
type Options struct {
	Engine  Engine
	Store   *store.Reader
	Version string       // of the program
	Log     *slog.Logger // nil: nothing is logged
	// Closing, if set, is closed when the server is to stop: streams of events end then.
	Closing <-chan struct{}
}

// Prefix is what the path of every route begins with.
const Prefix = "/api/v1"

// maxBody bounds the body of a request.
const maxBody = 1 << 20

type api struct {
	Options
	mux     *http.ServeMux
	routes  []route
	streams chan struct{} // a place for each stream of events
	clock   ids
}

// New makes the handler of everything under Prefix. It checks no tokens: package guard
// does, around it.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &api{Options: o, mux: http.NewServeMux(), streams: make(chan struct{}, maxStreams)}
	a.routes = a.table()
	for _, r := range a.routes {
		a.mux.Handle(r.method+" "+Prefix+r.path, a.serve(r))
	}
	a.mux.HandleFunc("/", a.unknown)
	return a.mux
}

// serve answers a route: parameters and body are checked before its handler is called.
func (a *api) serve(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		q := &query{Request: req, route: r}
		err := q.read(w)
		if err == nil && r.stream != nil {
			err = r.stream(w, q)
			if err == nil {
				return
			}
		}
		var answer any
		if err == nil {
			answer, err = r.handle(q)
		}
		if err != nil {
			a.fail(w, req, err)
			return
		}
		a.write(w, req, r.status, answer)
	})
}

func (a *api) write(w http.ResponseWriter, req *http.Request, status int, answer any) {
	text, err := encode(answer)
	if err != nil {
		a.fail(w, req, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have gone
}

// encode writes JSON with a line end, URLs readable.
func encode(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return []byte(b.String()), err
}

// fail answers with the problem that an error is. What the client can do nothing
// about is logged, and not told: it may name files.
func (a *api) fail(w http.ResponseWriter, req *http.Request, err error) {
	p := problemOf(err)
	if p == nil {
		instance := problem.NewInstance()
		if req.Context().Err() == nil {
			a.Log.Error("request failed", "route", req.Pattern, "instance", instance, "err", err)
		}
		p = problem.Internal.With("the log of the daemon says more, under this instance").At(instance)
	}
	p.Write(w)
}

// problemOf is the problem that an error means; nil: an inner fault.
func problemOf(err error) *problem.Problem {
	var p *problem.Problem
	if errors.As(err, &p) {
		return p
	}
	for _, c := range []struct {
		err    error
		kind   problem.Kind
		detail string
	}{
		{daemon.ErrNoPull, problem.NoPull, "no config of this name is loaded: GET " + Prefix + "/pulls lists those that are, " + Prefix + "/broken those that cannot be"},
		{daemon.ErrNoJob, problem.NoJob, "GET " + Prefix + "/jobs lists the jobs that are known"},
		{daemon.ErrOver, problem.Over, "a job that is over cannot be cancelled"},
		{daemon.ErrOverlap, problem.Overlap, "wait for it, or cancel it: GET " + Prefix + "/jobs?state=running lists it"},
		{daemon.ErrNoBackfill, problem.NoBackfill, "a backfill narrows the range of slice.from and slice.to, and needs an output that a part may go to"},
		{store.ErrNoRun, problem.NoRun, "GET " + Prefix + "/runs lists the runs that are stored"},
		{store.ErrAmbiguous, problem.BadRun, "write more of the run's id"},
		{store.ErrNoReport, problem.NoReport, "it goes on, or its process died: GET " + Prefix + "/runs/{run} says how far it is"},
		{store.ErrLocked, problem.Busy, "the store is locked by another program: ask again"},
	} {
		if errors.Is(err, c.err) {
			return c.kind.With(c.detail)
		}
	}
	return nil
}

// unknown answers what no route does: the path is unknown, or only the method is.
func (a *api) unknown(w http.ResponseWriter, req *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		probe := req.Clone(req.Context())
		probe.Method = method
		if _, pattern := a.mux.Handler(probe); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		methods := strings.Join(allowed, ", ")
		problem.BadMethod.With("this path takes " + methods).Allow(methods).Write(w)
		return
	}
	problem.NotFound.With("no such path: GET " + Prefix + "/openapi.json describes those that there are").Write(w)
}

// readBody reads a JSON body strictly into v. An empty one is the zero value where the
// route allows that.
func readBody(w http.ResponseWriter, req *http.Request, optional bool) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, problem.TooLong.With("a body has at most 1 MiB here")
	case err != nil:
		return nil, problem.BadBody.With("the body could not be read to its end")
	case len(data) == 0 && optional:
		return nil, nil
	}
	kind, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil, problem.BadType.With("send the body as application/json")
	}
	return data, nil
}
