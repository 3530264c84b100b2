// Package fetchertest drains simulated worlds and holds the outcome against
// their truth: the one law as code. Only tests import it.
package fetchertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"lastdrop/adapters"
	"lastdrop/fetcher"
	"lastdrop/internal/sim"
	"lastdrop/internal/slicing"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// Base is the address at which a Sim's transport answers.
const Base = "http://sim.test"

// Spec turns what a Sim documents about itself into a spec.
func Spec(h sim.ClientHints, base string) adapters.Spec {
	s := adapters.Spec{URL: base + h.Path, Method: h.Method, Headers: h.Headers, Params: map[string][]string{}}
	for k, v := range h.Params {
		s.Params[k] = []string{v}
	}
	if h.Body != "" {
		s.Body = body(h)
	}
	s.Errors, s.ErrorsSet = h.Errors, len(h.Errors) > 0
	p := &s.Pages
	p.Style = h.Style
	p.SizeParam, p.SizeStart, p.SizeMin, p.SizeMax = h.Size.Param, h.Size.Start, h.Size.Min, h.Size.Max
	if p.SizeParam == "" {
		p.SizeStart = 0
	}
	p.NumberParam, p.NumberFirst, p.NumberEcho = h.Number.Param, int64(h.Number.First), h.EchoPage
	p.OffsetParam, p.OffsetFirst = h.Offset.Param, int64(h.Offset.First)
	p.CursorParam, p.CursorPath, p.CursorHeader, p.SameIsEnd = h.Cursor.Param, h.Cursor.Path, h.Cursor.Header, h.Cursor.SameIsEnd
	if h.Cursor.Seed != "" && h.Body == "" {
		s.Params[p.CursorParam] = []string{h.Cursor.Seed}
	}
	p.NextPath, p.NextRebase = h.Next.Path, h.Next.Rebase
	p.KeysetParam, p.KeysetPath, p.KeysetInclusive, p.KeysetQuoteJSON = h.Keyset.Param, h.Keyset.Path, h.Keyset.Inclusive, h.Keyset.Quote
	p.LinkEndWhen = h.Link.EndWhen
	p.MorePath, p.MoreHeader = h.More.Path, h.More.Header
	if h.More.EndWhen {
		yes := true
		p.MoreEndWhen = &yes
	}
	if h.More.AbsentIsEnd {
		p.MoreAbsent = judge.No
	}
	p.LastPath, p.LastHeader = h.Last.Path, h.Last.Header
	p.PinParam, p.PinPath = h.Pin.Param, h.Pin.Path
	p.SortUnique = h.Unique
	p.EndShortPage, p.EndEmptyPage = slices.Contains(h.End, "short_page"), slices.Contains(h.End, "empty_page")
	p.EndAbsentContinuation = slices.Contains(h.End, "absent_link") || slices.Contains(h.End, "absent_continuation")
	if h.EndStatus != 0 {
		p.EndStatus = []adapters.EndStatus{{Status: h.EndStatus}}
	}
	s.Items = adapters.Items{Path: h.Items, AbsentIsEmpty: h.AbsentIsEmpty, Format: h.Format, CheckPath: h.Check.Path, CheckEquals: h.Check.Equals}
	if h.ID != "" {
		s.Items.IDs = []string{h.ID}
	}
	s.Total = total(h, base)
	for _, sign := range h.Partial {
		c := adapters.Condition{Path: sign.Path, Below: sign.Below}
		if sign.Is != "" {
			c.Is = &sign.Is
		}
		s.Partial = append(s.Partial, c)
	}
	return s
}

func body(h sim.ClientHints) any {
	text := strings.ReplaceAll(h.Body, `:{size}`, `:"{size}"`)
	if h.Cursor.Seed != "" {
		text = strings.ReplaceAll(text, `"{cursor}"`, `"`+h.Cursor.Seed+`"`) // the start's value; the style replaces it
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("the sim's body template is no JSON: %v: %s", err, h.Body))
	}
	return v
}

func total(h sim.ClientHints, base string) adapters.TotalSpec {
	t := adapters.TotalSpec{Path: h.Total.Path, Header: h.Total.Header, Match: h.Total.Match, KindPath: h.Total.KindPath,
		KindExact: strings.Trim(h.Total.KindExact, `"`), CountsRest: h.Total.Rest}
	switch h.Total.Kind {
	case "estimate":
		t.Kind = judge.Estimate
	case "lower_bound":
		t.Kind = judge.LowerBound
	default:
		t.Kind = judge.Exact
	}
	if h.Total.URL != "" {
		t = adapters.TotalSpec{URL: base + h.Total.URL, Path: h.Total.URLPath, Kind: judge.Exact}
	}
	return t
}

// Memory is a sink and a ledger in memory, for worlds. It fails where a
// caller breaks their order: a row may not claim items before the sink is
// synced.
type Memory struct {
	Lines    [][]byte
	Attempts []reconcile.Attempt
	Events   []reconcile.Event
	State    []byte
	Mark     fetcher.Mark
	synced   int
	claimed  int
}

// Write keeps copies of the lines.
func (m *Memory) Write(lines [][]byte) error {
	for _, l := range lines {
		m.Lines = append(m.Lines, slices.Clone(l))
	}
	return nil
}

// Sync makes everything written durable.
func (m *Memory) Sync() (fetcher.Mark, error) {
	m.synced = len(m.Lines)
	return fetcher.Mark{Length: int64(m.synced), Items: int64(m.synced)}, nil
}

// Commit takes a checkpoint.
func (m *Memory) Commit(_ context.Context, c fetcher.Checkpoint) error {
	for _, a := range c.Attempts {
		m.claimed += len(a.Keys) / 16
		m.Attempts = append(m.Attempts, a)
	}
	if m.claimed > m.synced {
		return fmt.Errorf("rows claim %d items, the sink has synced %d", m.claimed, m.synced)
	}
	m.Events = append(m.Events, c.Events...)
	m.State, m.Mark = slices.Clone(c.State), c.Mark
	return nil
}

// Resume gives what a restarted process would find, with everything after the
// last checkpoint lost.
func (m *Memory) Resume() *fetcher.Resume {
	m.Lines = m.Lines[:m.Mark.Items]
	m.synced = len(m.Lines)
	return &fetcher.Resume{State: m.State, Keys: func(yield func([]byte) error) error {
		for _, a := range m.Attempts {
			if err := yield(a.Keys); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Options are the options for a Sim in memory.
func Options(s *sim.Sim, m *Memory) (fetcher.Options, error) {
	spec := Spec(s.Hints(), Base)
	r, err := adapters.NewReader(spec)
	if err != nil {
		return fetcher.Options{}, err
	}
	cut := Slicing(s)
	auth := func(*http.Request) {}
	return fetcher.Options{
		Reader: r, Slicing: cut, Sink: m, Ledger: m, Seed: 1, Passes: 3,
		Client: fetcher.Client{Transport: uneven{s.Transport()}, Auth: auth, Retries: 5, Timeout: 30 * time.Second, Concurrency: 1 + len(s.World.Items)%4},
		Budget: fetcher.Budget{Requests: 3000},
	}, nil
}

// An uneven transport lets requests that are under way at once arrive in another
// order than they were sent in, the same one every time.
type uneven struct{ http.RoundTripper }

func (u uneven) RoundTrip(r *http.Request) (*http.Response, error) {
	h := fnv.New32a()
	h.Write([]byte(r.URL.RequestURI()))
	select {
	case <-time.After(time.Duration(1 + h.Sum32()%1e6)):
	case <-r.Context().Done():
	}
	return u.RoundTripper.RoundTrip(r)
}

// Slicing is how a Sim's range filter cuts it: from end to end of what it held
// at the start, or with open ends, as the Sim's seed says; nil where it has
// none.
func Slicing(s *sim.Sim) *slicing.Spec {
	h := s.Hints().Slice
	if h.By == "" {
		return nil
	}
	k := &slicing.Key{By: h.By, Kind: slicing.Kind(h.Type), Closed: h.Bounds == "[]", Format: h.Format,
		Params: map[string][]string{}, FromParams: map[string][]string{}, ToParams: map[string][]string{}}
	for name, v := range h.Params {
		k.Params[name] = []string{v}
		lower, upper, both := strings.Cut(v, ",")
		if both {
			k.FromParams[name], k.ToParams[name] = []string{lower}, []string{upper}
			continue
		}
		if v == "{from}" {
			k.FromParams[name] = []string{v}
		} else {
			k.ToParams[name] = []string{v}
		}
	}
	whole := slicing.Range{Lo: h.From, Hi: h.To, OpenLo: s.Seed%4 == 1 || s.Seed%4 == 2, OpenHi: s.Seed%4 == 1}
	if whole.OpenLo {
		whole.Lo = 0
	}
	if whole.OpenHi {
		whole.Hi = 0
	}
	return &slicing.Spec{Keys: []*slicing.Key{k}, Wholes: []slicing.Range{whole}, ToNow: s.Seed%4 == 3}
}

// A Result is a drained world.
type Result struct {
	Sim    *sim.Sim
	Memory *Memory
	Facts  reconcile.Facts
	Ruling reconcile.Ruling
}

// Run drains a Sim, with changed options, and rules on it by the strength that
// its API can give.
func Run(ctx context.Context, s *sim.Sim, change ...func(*fetcher.Options)) (Result, error) {
	m := &Memory{}
	o, err := Options(s, m)
	if err != nil {
		return Result{}, err
	}
	for _, c := range change {
		c(&o)
	}
	f, err := fetcher.Drain(ctx, o)
	if err != nil {
		return Result{}, err
	}
	return Judge(s, m, f), nil
}

// errKilled ends a process in RunKilled.
var errKilled = errors.New("killed")

// mortal is a ledger whose process dies at a checkpoint: before it is durable,
// or right after.
type mortal struct {
	*Memory
	left  int
	after bool
}

func (m *mortal) Commit(ctx context.Context, c fetcher.Checkpoint) error {
	if m.left--; m.left > 0 {
		return m.Memory.Commit(ctx, c)
	}
	if m.after {
		if err := m.Memory.Commit(ctx, c); err != nil {
			return err
		}
	}
	return errKilled
}

// RunKilled drains a Sim, with changed options, in several lives: up to five
// times the process dies at a checkpoint that the dice choose, and the next one
// takes the run up, half of the runs without any position of the life before. It
// gives the number of deaths.
func RunKilled(ctx context.Context, s *sim.Sim, dice sim.Dice, change ...func(*fetcher.Options)) (Result, int, error) {
	m, session := &Memory{}, dice.IntN(2) == 1
	for deaths := 0; ; deaths++ {
		o, err := Options(s, m)
		if err != nil {
			return Result{}, deaths, err
		}
		o.Client.Cookies = session
		for _, c := range change {
			c(&o)
		}
		o.Budget.Checkpoint = -1 // after every attempt: in a bubble the clock stands still
		if deaths > 0 {
			o.Resume = m.Resume()
		}
		if deaths < 5 {
			o.Ledger = &mortal{Memory: m, left: 1 + dice.IntN(12), after: dice.IntN(2) == 0}
		}
		f, err := fetcher.Drain(ctx, o)
		if errors.Is(err, errKilled) {
			continue
		}
		if err != nil {
			return Result{}, deaths, err
		}
		return Judge(s, m, f), deaths, nil
	}
}

// Judge rules on facts as the worlds do: any strength will do, and drift may
// be as large as it likes, for worlds are small; but not where totals are wrong
// by themselves.
func Judge(s *sim.Sim, m *Memory, f reconcile.Facts) Result {
	f.Require, f.MaxDrift, f.MaxFall = reconcile.Assumed, 100, 100
	switch s.API.Total.Kind {
	case sim.TotalEcho, sim.TotalFixed, sim.TotalJitter:
		f.MaxDrift = 1
	}
	f.ReadBack = judge.N(int64(len(m.Lines)))
	return Result{Sim: s, Memory: m, Facts: f, Ruling: reconcile.Rule(f)}
}

// Breach says how a result breaks the one law; "" where it does not. A run
// that is not COMPLETE breaks it only by doubling or inventing an item.
func (r Result) Breach() string {
	held := map[string]int{}
	for _, l := range r.Memory.Lines {
		k, err := r.Sim.KeyOf(l)
		if err != nil {
			return fmt.Sprintf("the sink holds a line that is no item: %.80s", l)
		}
		held[k]++
	}
	truth := r.Sim.Truth()
	for k, n := range held {
		if n > 1 {
			return fmt.Sprintf("item %s is held %d times", k, n)
		}
		if !truth.Ever[k] {
			return fmt.Sprintf("item %s is held and never existed", k)
		}
	}
	if r.Ruling.Verdict != judge.Complete {
		return ""
	}
	var lost []string
	for _, k := range truth.Always {
		if held[k] == 0 {
			lost = append(lost, k)
		}
	}
	if len(lost) == 0 || r.settled(lost) != "" {
		return ""
	}
	return fmt.Sprintf("COMPLETE (%s) with %d of %d lasting items missing: %s", r.Ruling.Strength, len(lost), len(truth.Always), strings.Join(lost[:min(5, len(lost))], " "))
}

// Story tells a run for a failure message: the world, the requests, the
// evidence.
func (r Result) Story() string {
	var b strings.Builder
	fmt.Fprintf(&b, "world: %d items desc=%v changes=%v churn=%+v\n", len(r.Sim.World.Items), r.Sim.World.Desc, r.Sim.World.Changes, r.Sim.World.Churn)
	fmt.Fprintf(&b, "api: %+v\n", r.Sim.API)
	for _, f := range r.Sim.Faults {
		fmt.Fprintf(&b, "fault: %s %+v when %+v\n", f.Effect.Name(), f.Effect, f.Match)
	}
	fmt.Fprintf(&b, "contract: %+v\n", r.Sim.Contract)
	for i, a := range r.Memory.Attempts {
		if i >= 5 && i < len(r.Memory.Attempts)-16 {
			continue
		}
		fmt.Fprintf(&b, "  %d slice %d pass %d page %d try %d %s size %d: status %d items %d new %d again %d total %v more %q %s; %s %s %s\n", a.Seq, a.Slice, a.Pass, a.Page, a.Try,
			a.Position, a.SizeAsked, a.Status, a.Items, a.New, a.Repeated, a.Total, a.More, a.Outcome, a.Action, a.Cause, strings.TrimPrefix(a.URL, Base))
	}
	for _, e := range r.Memory.Events {
		fmt.Fprintf(&b, "  event after %d: %s: %s\n", e.Seq, e.Kind, e.Text)
	}
	fmt.Fprintf(&b, "stop: %s %s; move %+v; totals %+v; pass totals %+v\n", r.Facts.Stop, r.Facts.StopText, r.Facts.Everything, r.Facts.Totals, r.Facts.PassTotals)
	fmt.Fprintf(&b, "verdict: %s %s, distinct %d of %d\n", r.Ruling.Verdict, r.Ruling.Strength, r.Facts.Distinct, len(r.Sim.World.Items))
	for _, e := range r.Ruling.Evidence {
		fmt.Fprintf(&b, "  %s %s %s\n", e.ID, e.Verdict, e.Text)
	}
	t := r.Sim.Truth()
	fmt.Fprintf(&b, "truth: always %d, served %d, drainable %v (%s), unknowable %v (%s); fired %v\n", len(t.Always), len(t.Served), t.Drainable, t.Why, t.Unknowable, t.Reason, sortedCounts(r.Sim.Counts()))
	return b.String()
}

func sortedCounts(m map[string]int) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s×%d", k, m[k]))
	}
	return out
}
