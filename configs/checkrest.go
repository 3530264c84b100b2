package configs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

func (r *reading) checkTotal(t *Total) {
	n := r.nodes["/total"]
	if n == nil || n.kind != mapping {
		return
	}
	var sources []string
	for _, s := range []struct {
		key  string
		used bool
	}{{"path", t.Path != "" && t.URL == ""}, {"header", t.Header != ""}, {"url", t.URL != ""}} {
		if s.used {
			sources = append(sources, s.key)
		}
	}
	switch {
	case len(sources) > 1:
		r.fail(n, "has more than one source: "+strings.Join(sources, ", "), "keep one")
	case t.URL != "" && t.Path == "" && !r.said("total.path"):
		r.lacks("total.path", "say where the count request's answer holds the total")
	case len(sources) == 0 && !r.said("total.path") && !r.said("total.url"):
		r.lacks("total.path", "say where the total stands: a path, a header, or a url with a path; or write total: none")
	}
	r.checkCountRequest(t)
	if re, err := regexp.Compile(t.Match); err != nil {
		r.bad("total.match", "is no regular expression", "in double quotes write a backslash twice")
	} else if r.said("total.match") && re.NumSubexp() != 1 {
		r.bad("total.match", fmt.Sprintf("has %d groups", re.NumSubexp()), `one group holds the total, e.g. "/(\\d+)$"`)
	}
}

func (r *reading) checkCountRequest(t *Total) {
	switch {
	case t.URL != "":
		r.checkURL("total.url", t.URL, "the count request is sent with source.auth")
	case r.said("total.method"):
		r.bad("total.method", "stands without a url", "a method belongs to a count request")
	case r.said("total.body"):
		r.bad("total.body", "stands without a url", "a body belongs to a count request")
	}
	if r.nodes["/slice"] == nil && slices.ContainsFunc(bounds, func(b string) bool { return strings.Contains(t.URL, b) }) {
		r.bad("total.url", "has the bounds of a slice, and there is none", "add slice, or take {from}, {to} and {value} away")
	}
	if t.URL != "" && r.said("total.body") && t.Method != "POST" {
		r.bad("total.body", "a GET has no body", "add total.method: POST")
	}
}

// mostConcurrency is the most requests that may be under way at once.
const mostConcurrency = 100

func (r *reading) checkLimits(l *Limits) {
	r.atLeast("limits.burst", int64(l.Burst), 1)
	r.atLeast("limits.concurrency", int64(l.Concurrency), 1)
	if l.Concurrency > mostConcurrency {
		r.bad("limits.concurrency", fmt.Sprintf("is above %d", mostConcurrency), "no server is asked for more pages at once")
	}
	r.atLeast("limits.retries", int64(l.Retries), 0)
	r.atLeast("limits.max_requests", l.MaxRequests, 0)
	r.atLeast("limits.max_body", int64(l.MaxBody), 1)
	if r.said("limits.timeout") && l.Timeout <= 0 {
		r.bad("limits.timeout", "must be above 0", "write it as 30s, 15m or 1h")
	}
	if l.MaxWait < 0 {
		r.bad("limits.max_wait", "must not be below 0", "")
	}
}

// atLeast notes that a number that the file gives is too small.
func (r *reading) atLeast(path string, got, least int64) {
	if r.said(path) && got < least {
		r.bad(path, fmt.Sprintf("is %d, and must be at least %d", got, least), "")
	}
}
