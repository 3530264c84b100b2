// Package web is the pages of `lastdrop serve`: what the pulls are, what each run proved and why, every request of it, the
// queue, and the judge to try. They are rendered on the server and work without scripts; small scripts add charts and keep
// them up to date.
//
// Everything that a source may have had a hand in (addresses, causes, texts, names) is hostile: html/template escapes it,
// and no control or direction character of it reaches a page. Nothing outside of the daemon is ever asked for.
package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"lastdrop/internal/daemon"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// CSP is the policy that all answers carry: the daemon's own files, and nothing inline.
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'"

// An Engine is the daemon. Errors that the pages tell apart are daemon.ErrNoPull, ErrNoJob, ErrOver and ErrOverlap.
//
// Where it also has Fires(ctx, name, n) ([]time.Time, error), the next fires of a pull are shown.
type Engine interface {
	Pulls(ctx context.Context) ([]daemon.Pull, error)
	Pull(ctx context.Context, name string) (daemon.Pull, error)
	Broken(ctx context.Context) ([]daemon.Broken, error)
	Jobs(ctx context.Context, f daemon.JobFilter) (daemon.JobList, error)
	RunNow(ctx context.Context, name string, r daemon.Request) (daemon.Job, error)
	Pause(ctx context.Context, name string, on bool) error
	Cancel(ctx context.Context, id int64) error
	// Subscribe gives events until ctx ends; the channel is closed then.
	Subscribe(ctx context.Context) <-chan daemon.Event
}

// A Store is the ledger; *store.Reader is one.
type Store interface {
	Runs(ctx context.Context, f store.RunFilter) (store.RunList, error)
	RunByID(ctx context.Context, ref string) (store.Info, error)
	Report(ctx context.Context, run string) (reconcile.Report, error)
	Counts(ctx context.Context, run string) (store.Counts, error)
	Pages(ctx context.Context, run string, f store.PageFilter) ([]reconcile.Attempt, error)
	PageMap(ctx context.Context, run string, from, to int64, cells int) ([]store.Cell, error)
	TotalSteps(ctx context.Context, run, source string, steps int) ([]store.TotalStep, error)
	Growth(ctx context.Context, run string, steps int) ([]store.GrowthStep, error)
	Drifts(ctx context.Context, run string) ([]store.Drift, error)
	Events(ctx context.Context, run string, limit int) (store.EventList, error)
	PageSizes(ctx context.Context, run string) ([]store.SizeStep, error)
	Slices(ctx context.Context, run string) ([]reconcile.Slice, error)
	Children(ctx context.Context, run string) ([]store.Child, error)
}

// Options say what the pages show. Engine and Store are required.
type Options struct {
	Engine Engine
	Store  Store
	// Judge judges a snapshot; nil is judge.Judge.
	Judge   func(judge.Snapshot) judge.Result
	Version string
	// Sessions: people log in, and the pages have a button that posts to /logout.
	Sessions bool
	Log      *slog.Logger
}

// A Server serves the pages.
type Server struct {
	Options
	handler http.Handler
	mux     *http.ServeMux
	streams chan struct{} // a place for each stream of events
	charts  chartCache
}

// New makes the pages. They refuse changes that other sites send (http.CrossOriginProtection), and set the
// headers that they need; who is behind a request, and how many may come, is for the handlers around them.
func New(o Options) *Server {
	if o.Judge == nil {
		o.Judge = judge.Judge
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Options: o, mux: http.NewServeMux(), streams: make(chan struct{}, maxStreams)}
	for pattern, h := range map[string]handler{
		"GET /{$}":                       s.pulls,
		"GET /pulls/{name}":              s.pull,
		"POST /pulls/{name}/run":         s.runNow,
		"POST /pulls/{name}/pause":       s.pause,
		"GET /runs/{run}":                s.run,
		"GET /runs/{run}/attempts/{seq}": s.attempt,
		"GET /runs/{run}/report.json":    s.report,
		"GET /judge":                     s.judgeForm,
		"POST /judge":                    s.judgeAnswer,
		"GET /queue":                     s.queue,
		"POST /jobs/{id}/cancel":         s.cancel,
		"GET /rules":                     s.rules,
		"GET /events":                    s.events,
		"/":                              s.nowhere,
	} {
		s.mux.Handle(pattern, s.guarded(h))
	}
	s.mux.Handle("GET "+assetRoot, assets())
	own := http.NewCrossOriginProtection()
	own.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, problem{http.StatusForbidden, "This change was sent by another site, so it was refused."})
	}))
	s.handler = headers(own.Handler(s.mux))
	return s
}

// ServeHTTP answers with a page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Asset reports whether a path is that of a file which the pages need, the form of Login too.
func Asset(path string) bool { return strings.HasPrefix(path, assetRoot) }

// Login answers with the form for the token, at whatever address was asked for. It posts
// "token" and "next" to /login. says is empty, or why the last try failed.
func (s *Server) Login(w http.ResponseWriter, r *http.Request, status int, says string) {
	next := r.FormValue("next")
	if next == "" && r.URL.Path != "/login" {
		next = r.URL.RequestURI()
	}
	headers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.render(w, r, status, "login", page{Title: "Log in", Bare: true}, struct{ Next, Says string }{next, says})
	})).ServeHTTP(w, r)
}

// headers sets what keeps a browser from doing more than the pages ask for.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", CSP)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// A handler answers, or says in its error why it cannot; it has not written anything then.
type handler func(w http.ResponseWriter, r *http.Request) error

// A problem is an error that is told to whoever asked.
type problem struct {
	status int
	text   string
}

func (p problem) Error() string { return p.text }

// guarded makes a page of an error.
func (s *Server) guarded(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// fail answers with a page that says what went wrong. What is not a problem or known by its kind is logged, and not shown.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody is there any more
	}
	var p problem
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &p):
	case errors.As(err, &tooBig):
		p = problem{http.StatusRequestEntityTooLarge, fmt.Sprintf("That is more than %s, the most that is taken.", sizeText(tooBig.Limit))}
	case errors.Is(err, store.ErrNoRun), errors.Is(err, store.ErrAmbiguous):
		p = problem{http.StatusNotFound, "There is no such run. It may have been removed with lastdrop gc."}
	case errors.Is(err, daemon.ErrNoPull):
		p = problem{http.StatusNotFound, "There is no such pull. Its file may have been removed or renamed."}
	case errors.Is(err, daemon.ErrNoJob):
		p = problem{http.StatusNotFound, "There is no such job."}
	case errors.Is(err, daemon.ErrOver):
		p = problem{http.StatusConflict, "The job is over already: nothing is left to cancel."}
	case errors.Is(err, daemon.ErrNoBackfill):
		p = problem{http.StatusConflict, "This pull has no range that a backfill could narrow."}
	case errors.Is(err, daemon.ErrOverlap):
		p = problem{http.StatusConflict, "A job of this pull is not over yet, and the pull runs one at a time."}
	default:
		s.Log.Error("a page failed", "path", r.URL.Path, "error", err)
		p = problem{http.StatusInternalServerError, "The page could not be made. The daemon's log says why."}
	}
	s.render(w, r, p.status, "error", page{Title: fmt.Sprintf("%d %s", p.status, http.StatusText(p.status))}, p.text)
}

// nowhere answers what no page is for.
func (s *Server) nowhere(_ http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return problem{http.StatusMethodNotAllowed, "Nothing can be sent to this address."}
	}
	return problem{http.StatusNotFound, "There is no page at this address."}
}

// A page is what all pages have.
type page struct {
	Title string
	Nav   string // the entry of the navigation that this page is
	// Watch says whose events concern the page: "all", "pull:NAME" or "run:ID"; "": none do.
	Watch string
	// Charts: the page has some, and needs the library.
	Charts bool
	// Bare: nobody is logged in.
	Bare bool
	Note string // what a form did

	Version string
	Logout  bool
	Now     time.Time
	Body    any
}

// render writes a page. It is rendered as a whole first, so that a fault cannot leave half of one.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, name string, p page, body any) {
	p.Version, p.Now, p.Body = s.Version, time.Now(), body
	p.Logout = s.Sessions && !p.Bare
	var b bytes.Buffer
	if err := pages[name].ExecuteTemplate(&b, "base", p); err != nil {
		s.Log.Error("a page could not be rendered", "page", name, "path", r.URL.Path, "error", err)
		http.Error(w, "the page could not be rendered", http.StatusInternalServerError)
		return
	}
	s.write(w, r, status, "text/html; charset=utf-8", plain(b.Bytes()))
}

// write sends an answer that is there as a whole.
func (s *Server) write(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, bytes.NewReader(body)); err != nil {
		s.Log.Debug("an answer was not taken", "path", r.URL.Path, "error", err)
	}
}

// plain shows characters that are not seen but change how others are (controls, direction marks, joiners) as U+FFFD: in all
// of a page, so that none is forgotten.
func plain(html []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unseen(r) {
			return '\uFFFD'
		}
		return r
	}, html)
}
