// Package problem writes errors as RFC 9457 problem details.
package problem

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// A Problem is what a client is told of an error.
type Problem struct {
	// Type is a URN that programs branch on: Space and the word of a Kind.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail says what is wrong with this request, and what to do about it.
	Detail string `json:"detail"`
	// Instance names this very answer; the log of the daemon has it too.
	Instance string `json:"instance"`

	retry time.Duration
	allow string
}

// Space is what every Type begins with.
const Space = "urn:lastdrop:problem:"

// Realm is what a client without a token is told.
const Realm = `Bearer realm="lastdrop"`

// A Kind is a sort of problem: the end of its Type, its title and status.
type Kind struct {
	Word, Title string
	Status      int
}

// The kinds.
var (
	BadParameter = Kind{"bad-parameter", "a parameter is wrong", http.StatusBadRequest}
	BadBody      = Kind{"bad-body", "the body is wrong", http.StatusBadRequest}
	BadRun       = Kind{"ambiguous-run", "several runs could be meant", http.StatusBadRequest}
	NoToken      = Kind{"no-token", "a token is needed", http.StatusUnauthorized}
	Refused      = Kind{"refused", "the request is refused", http.StatusForbidden}
	NotFound     = Kind{"not-found", "there is nothing here", http.StatusNotFound}
	NoPull       = Kind{"no-pull", "no such pull", http.StatusNotFound}
	NoRun        = Kind{"no-run", "no such run", http.StatusNotFound}
	NoReport     = Kind{"no-report", "the run has no report yet", http.StatusNotFound}
	NoJob        = Kind{"no-job", "no such job", http.StatusNotFound}
	BadMethod    = Kind{"bad-method", "the method is not allowed here", http.StatusMethodNotAllowed}
	Overlap      = Kind{"overlap", "a job of this pull is not over", http.StatusConflict}
	NoBackfill   = Kind{"no-backfill", "this pull has no such backfill", http.StatusConflict}
	Over         = Kind{"over", "the job is over", http.StatusConflict}
	TooLong      = Kind{"too-long", "the body is too long", http.StatusRequestEntityTooLarge}
	BadType      = Kind{"bad-type", "the body is of another type", http.StatusUnsupportedMediaType}
	TooMany      = Kind{"too-many", "too many requests", http.StatusTooManyRequests}
	Internal     = Kind{"internal", "something went wrong here", http.StatusInternalServerError}
	Busy         = Kind{"busy", "not now", http.StatusServiceUnavailable}
)

// With makes a problem of the kind. Secrets do not belong into detail.
func (k Kind) With(detail string) *Problem {
	return &Problem{Type: Space + k.Word, Title: k.Title, Status: k.Status, Detail: detail}
}

// Error gives the detail.
func (p *Problem) Error() string { return p.Detail }

// After says when to ask again.
func (p *Problem) After(d time.Duration) *Problem {
	p.retry = d
	return p
}

// NewInstance makes an Instance.
func NewInstance() string { return "urn:lastdrop:answer:" + rand.Text() }

// At gives the problem an Instance that is known already.
func (p *Problem) At(instance string) *Problem {
	p.Instance = instance
	return p
}

// Allow names the methods that are allowed.
func (p *Problem) Allow(methods string) *Problem {
	p.allow = methods
	return p
}

// Write answers a request with the problem.
func (p *Problem) Write(w http.ResponseWriter) {
	said := *p
	if said.Instance == "" {
		said.Instance = NewInstance()
	}
	h := w.Header()
	if p.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.retry+time.Second-1)/time.Second)))
	}
	if p.allow != "" {
		h.Set("Allow", p.allow)
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", Realm)
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(said) // the client may have gone
}
