// Package rows gives the rows of a run the JSON in which programs read them: on the
// command line and over HTTP alike. Keys are the columns of the store's tables; what
// was not said is null.
package rows

import (
	"time"

	"lastdrop/fetcher"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// A Page is an attempt: one request and what came of it.
type Page struct {
	Run           string       `json:"run"`
	Seq           int64        `json:"seq"`
	At            time.Time    `json:"at"`
	Slice         int          `json:"slice"`
	Pass          int          `json:"pass"`
	Page          int          `json:"page"`
	Try           int          `json:"try"`
	Position      string       `json:"position"`
	RowOffset     int64        `json:"row_offset"`
	URL           string       `json:"url"`
	SizeAsked     *int         `json:"size_asked"`
	Items         int          `json:"items"`
	New           int          `json:"new"`
	Repeated      int          `json:"repeated"`
	Nulls         int          `json:"nulls"`
	Status        *int         `json:"status"`
	BytesRead     int64        `json:"bytes_read"`
	BytesExpected *int64       `json:"bytes_expected"`
	Total         *int64       `json:"total"`
	TotalKind     *string      `json:"total_kind"`
	More          string       `json:"more"`
	Outcome       string       `json:"outcome"`
	Verdict       string       `json:"verdict"`
	Rules         []judge.Rule `json:"rules"`
	DurationMS    float64      `json:"duration_ms"`
	Action        string       `json:"action"`
	Cause         string       `json:"cause"`
}

// PageOf is the row of an attempt.
func PageOf(run string, a reconcile.Attempt) Page {
	p := Page{
		Run: run, Seq: a.Seq, At: a.Started, Slice: a.Slice, Pass: a.Pass, Page: a.Page, Try: a.Try, Position: a.Position,
		RowOffset: a.Offset, URL: a.URL, SizeAsked: orNull(a.SizeAsked), Items: a.Items, New: a.New, Repeated: a.Repeated,
		Nulls: a.Nulls, Status: orNull(a.Status), BytesRead: a.BytesRead, BytesExpected: countOrNull(a.BytesExpected),
		Total: countOrNull(a.Total), TotalKind: orNull(string(a.TotalKind)), More: a.More, Outcome: a.Outcome.String(),
		Verdict: a.Verdict.String(), Rules: a.Rules, DurationMS: float64(a.Duration.Microseconds()) / 1000,
		Action: string(a.Action), Cause: a.Cause,
	}
	if p.Rules == nil {
		p.Rules = []judge.Rule{}
	}
	return p
}

// A Total is one that the source declared, N in the order in which they were seen.
type Total struct {
	Run       string    `json:"run"`
	N         int64     `json:"n"`
	Seq       int64     `json:"seq"`
	At        time.Time `json:"at"`
	Source    string    `json:"source"`
	Value     int64     `json:"value"`
	Kind      string    `json:"kind"`
	Live      bool      `json:"live"`
	Held      int64     `json:"held"`
	Remark    string    `json:"remark"`
	Collapsed bool      `json:"collapsed"`
}

// TotalOf is the row of a total.
func TotalOf(run string, n int64, t reconcile.TotalSeen) Total {
	return Total{Run: run, N: n, Seq: t.Seq, At: t.At, Source: t.Source, Value: t.Value, Kind: string(t.Kind), Live: t.Live,
		Held: t.Distinct, Remark: t.Remark, Collapsed: t.Collapsed}
}

// An Event is something that happened to a run and is no attempt.
type Event struct {
	Run  string    `json:"run"`
	N    int64     `json:"n"`
	Seq  int64     `json:"seq"`
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	Text string    `json:"text"`
}

// EventOf is the row of an event.
func EventOf(run string, n int64, e reconcile.Event) Event {
	return Event{Run: run, N: n, Seq: e.Seq, At: e.At, Kind: e.Kind, Text: e.Text}
}

// A Slice is a part of a sliced run.
type Slice struct {
	Run       string  `json:"run"`
	Slice     int     `json:"slice"`
	Parent    *int64  `json:"parent"`
	Key       string  `json:"key"`
	From      *string `json:"range_from"`
	To        *string `json:"range_to"`
	Bounds    string  `json:"bounds"`
	State     string  `json:"state"`
	Total     *int64  `json:"total"`
	TotalKind *string `json:"total_kind"`
	Items     int64   `json:"items"`
	Remark    string  `json:"remark"`
}

// SliceOf is the row of a slice.
func SliceOf(run string, s reconcile.Slice) Slice {
	return Slice{Run: run, Slice: s.Slice, Parent: countOrNull(s.Parent), Key: s.Key, From: orNull(s.From), To: orNull(s.To), Bounds: s.Bounds,
		State: s.State, Total: countOrNull(s.Total), TotalKind: orNull(string(s.TotalKind)), Items: s.Items, Remark: s.Remark}
}

// A Size is a change of the page size, or the first size of a slice.
type Size struct {
	Run    string    `json:"run"`
	Slice  int       `json:"slice"`
	Seq    int64     `json:"seq"`
	At     time.Time `json:"at"`
	Before *int64    `json:"size_before"`
	Size   *int64    `json:"size"`
	Cause  string    `json:"cause"`
}

// SizeOf is the row of a step of the page size.
func SizeOf(run string, s store.SizeStep) Size {
	return Size{Run: run, Slice: s.Slice, Seq: s.Seq, At: s.At, Before: countOrNull(s.Before), Size: countOrNull(s.Size), Cause: s.Cause}
}

// A Child is one value of a fan-out, and the run that drains it.
type Child struct {
	Run   string  `json:"run"`
	N     int     `json:"n"`
	Value string  `json:"value"`
	Child *string `json:"child"`
}

// ChildOf is the row of a child.
func ChildOf(run string, c store.Child) Child {
	return Child{Run: run, N: c.N, Value: c.Value, Child: orNull(c.Run)}
}

// Progress is how far a run that is under way has come.
type Progress struct {
	Slice     int     `json:"slice"`
	Pass      int     `json:"pass"`
	Size      *int    `json:"size"`
	Pages     int64   `json:"pages"`
	Attempts  int64   `json:"attempts"`
	Distinct  int64   `json:"distinct"`
	Total     *int64  `json:"total"`
	WaitingMS float64 `json:"waiting_ms"` // a pause that begins now
	Outcome   string  `json:"outcome"`
	Status    *int    `json:"status"`
	Requests  int64   `json:"requests"`
	Half      int64   `json:"half"`
	Failed    int64   `json:"failed"`
}

// ProgressOf is the row of a run's progress.
func ProgressOf(p fetcher.Progress) Progress {
	row := Progress{Slice: p.Slice, Pass: p.Pass, Size: orNull(p.Size), Pages: p.Pages, Attempts: p.Attempts, Distinct: p.Distinct,
		WaitingMS: float64(p.Waiting.Microseconds()) / 1000, Outcome: p.Outcome.String(), Status: orNull(p.Status),
		Requests: p.Requests, Half: p.Half, Failed: p.Fail}
	if p.HasTotal {
		row.Total = &p.Total
	}
	return row
}

// orNull is null for a zero value, which means "none".
func orNull[V comparable](v V) *V {
	var zero V
	if v == zero {
		return nil
	}
	return &v
}

func countOrNull(c judge.Count) *int64 {
	if !c.OK {
		return nil
	}
	return &c.N
}

// RunOf is the row of a run. One that lost its process is stopped: it can be taken up
// as a stopped one can.
func RunOf(i store.Info) store.Info {
	if i.State == store.Running && i.Holder == nil {
		i.State = store.Stopped
	}
	return i
}
