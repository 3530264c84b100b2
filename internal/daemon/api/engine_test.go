package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lastdrop/fetcher"
	"lastdrop/internal/daemon"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// engine is a small daemon over a real store: the pulls it knows, jobs in a list, and
// runs that are over at once.
type engine struct {
	store *store.Store

	mu     sync.Mutex
	pulls  []daemon.Pull
	broken []daemon.Broken
	jobs   []daemon.Job // by id, from 1
	subs   []chan daemon.Event
	fault  error
}

func (e *engine) Pulls(context.Context) ([]daemon.Pull, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.pulls), e.fault
}

func (e *engine) at(name string) (int, error) {
	i := slices.IndexFunc(e.pulls, func(p daemon.Pull) bool { return p.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("%q: %w", name, daemon.ErrNoPull)
	}
	return i, e.fault
}

func (e *engine) Pull(_ context.Context, name string) (daemon.Pull, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i, err := e.at(name)
	if err != nil {
		return daemon.Pull{}, err
	}
	return e.pulls[i], nil
}

func (e *engine) Broken(context.Context) ([]daemon.Broken, error) { return e.broken, e.fault }

func (e *engine) RunNow(ctx context.Context, name string, r daemon.Request) (daemon.Job, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i, err := e.at(name)
	if err != nil {
		return daemon.Job{}, err
	}
	if e.pulls[i].Job != nil {
		return daemon.Job{}, daemon.ErrOverlap
	}
	now := time.Now().UTC()
	j := daemon.Job{ID: int64(len(e.jobs)) + 1, Pull: name, Why: daemon.ByHand, Fresh: r.Fresh, From: r.From, To: r.To, State: daemon.JobWaiting, Created: now}
	if r.From+r.To != "" {
		j.Why, e.pulls[i].Job = daemon.ByBackfill, &j // a backfill takes its time
	}
	e.jobs = append(e.jobs, j)
	for _, s := range e.subs {
		s <- daemon.Event{Kind: "job", Pull: name, Job: j.ID, At: now, Progress: &fetcher.Progress{Pages: 3, Outcome: reconcile.Held}}
	}
	return j, nil
}

func (e *engine) Pause(_ context.Context, name string, paused bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	i, err := e.at(name)
	if err == nil {
		e.pulls[i].Paused = paused
	}
	return err
}

func (e *engine) Cancel(_ context.Context, id int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case id > int64(len(e.jobs)):
		return daemon.ErrNoJob
	case e.jobs[id-1].Over():
		return daemon.ErrOver
	}
	e.jobs[id-1].State = daemon.JobCancelled
	return nil
}

func (e *engine) Jobs(_ context.Context, f daemon.JobFilter) (daemon.JobList, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var l daemon.JobList
	for _, j := range slices.Backward(e.jobs) {
		if f.Pull != "" && j.Pull != f.Pull || f.State != "" && j.State != f.State {
			continue
		}
		l.Total++
		if f.Before != 0 && j.ID >= f.Before {
			continue
		}
		l.Rest++
		if f.Limit == 0 || len(l.Jobs) < f.Limit {
			l.Jobs = append(l.Jobs, j)
		}
	}
	return l, e.fault
}

func (e *engine) Job(_ context.Context, id int64) (daemon.Job, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id > int64(len(e.jobs)) {
		return daemon.Job{}, daemon.ErrNoJob
	}
	return e.jobs[id-1], nil
}

func (e *engine) Subscribe(ctx context.Context) <-chan daemon.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := make(chan daemon.Event, 16)
	e.subs = append(e.subs, c)
	return c
}

func (e *engine) Reload(context.Context) error { return e.fault }

// A bench is an API over a store with something in it, served over HTTP.
type bench struct {
	*engine
	t      *testing.T
	url    string
	closes chan struct{}
	log    *lockedText
}

// lockedText is a log that several write.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "lastdrop.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b := &bench{t: t, engine: &engine{store: s}, closes: make(chan struct{}), log: &lockedText{}}
	server := httptest.NewServer(New(Options{Engine: b.engine, Store: s.Reader, Version: "test", Log: textLog(b.log), Closing: b.closes}))
	t.Cleanup(server.Close)
	b.url = server.URL
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	b.pulls = []daemon.Pull{{Name: "b", File: "b.yaml", URL: "https://b.example/", Config: "version: 1", Loaded: at, Schedule: "@daily", Zone: "UTC", Next: &at},
		{Name: "a", File: "a.yaml", Loaded: at, Problem: "line 3: no"}}
	b.broken = []daemon.Broken{{File: "x.yaml", Problem: "line 1", Since: at}}
	return b
}

// addRun puts a finished run of a name with some attempts into the store.
func (b *bench) addRun(name string, attempts int) string {
	b.t.Helper()
	id, err := addRun(b.t.Context(), b.store, name, attempts)
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

func addRun(ctx context.Context, s *store.Store, name string, attempts int) (string, error) {
	run, err := s.Begin(ctx, store.BeginOptions{Name: name, ConfigHash: "h", Config: "c", Version: "1", Fresh: true})
	if err != nil {
		return "", err
	}
	if err := run.Commit(ctx, store.Checkpoint{
		Attempts: attemptsFrom(1, attempts),
		Totals:   []reconcile.TotalSeen{{Seq: 1, At: time.Now(), Source: "total", Value: 3, Kind: judge.Exact, Live: true}, {Seq: 2, At: time.Now(), Source: "total", Value: 3, Kind: judge.Exact}},
		Events:   []reconcile.Event{{Seq: 1, At: time.Now(), Kind: "note", Text: "one"}, {Seq: 2, At: time.Now(), Kind: "note", Text: "two"}},
		Slices:   []reconcile.Slice{{Slice: 0, Key: "k", From: "1", Bounds: "[)", State: "split"}, {Slice: 1, Parent: judge.N(0), Key: "k", Bounds: "[]", State: "held"}},
		Children: []store.Child{{N: 1, Value: "x"}, {N: 2, Value: "y", Run: run.ID()}},
		State:    []byte("{}"),
	}); err != nil {
		return "", err
	}
	n := int64(attempts)
	return run.ID(), run.Finish(ctx, reconcile.Report{Run: run.ID(), Name: name, State: store.Finished, Verdict: judge.Complete, Strength: reconcile.Counted,
		Items: reconcile.ItemCounts{Distinct: n}, Total: reconcile.TotalSummary{Last: &n}, Missing: new(int64), Pages: reconcile.PageCounts{Held: n, Attempts: n},
		Evidence: []reconcile.Evidence{{ID: "RC001", Verdict: judge.Complete, Text: "all"}}, Started: run.Started(), Ended: time.Now(), Waited: reconcile.Duration(time.Second),
		Output: []reconcile.Output{{Path: "a"}, {Path: "b", Notes: []string{"n"}}, {Path: "c"}}, Children: &reconcile.ChildCounts{Total: 2}})
}

func attemptsFrom(first, n int) []reconcile.Attempt {
	var all []reconcile.Attempt
	for seq := int64(first); seq < int64(first+n); seq++ {
		a := reconcile.Attempt{Seq: seq, Pass: 1, Page: int(seq), Try: 1, Started: time.Now(), URL: "https://b.example/?page=1&n=2", Status: 200, SizeAsked: 10 + int(seq)%2,
			Total: judge.N(3), TotalKind: judge.Exact, Outcome: reconcile.Held, Verdict: judge.Truncated, Action: judge.ActionContinue,
			Rules: []judge.Rule{{ID: "TR002", Layer: "set", Verdict: judge.Truncated, Evidence: "e"}}}
		if seq%3 == 0 {
			a.Outcome = reconcile.Half
		}
		all = append(all, a)
	}
	return all
}

// An answer is what came of a request.
type answer struct {
	status int
	header http.Header
	body   string
}

func (b *bench) ask(method, path, body string, headers ...string) answer {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(text)}
}

// list follows next from a path to its end and gives every part.
func (b *bench) list(path string, between func()) (parts []List[map[string]any]) {
	b.t.Helper()
	for path != "" {
		a := b.ask("GET", path, "")
		if a.status != 200 {
			b.t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		var l List[map[string]any]
		if err := json.Unmarshal([]byte(a.body), &l); err != nil {
			b.t.Fatalf("%s: %v", path, err)
		}
		if l.Returned != len(l.Items) || l.HasMore != (l.Next != nil) || l.Items == nil {
			b.t.Fatalf("%s: %+v", path, l)
		}
		parts = append(parts, l)
		path = ""
		if l.Next != nil {
			path = *l.Next
		}
		if between != nil {
			between()
		}
	}
	return parts
}
