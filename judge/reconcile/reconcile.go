// Package reconcile rules on a whole run: it holds what was read against what
// the source declared, and gives the verdict with its strength and evidence.
//
// Like package judge it is pure: it connects to nothing, reads no clock and
// keeps no state of its own. The fetcher gathers Facts; Rule turns them into
// a Ruling; the same facts always give the same ruling.
package reconcile

import (
	"fmt"
	"strings"
	"time"

	"lastdrop/judge"
)

// Strength is how strong the evidence of the end is. The zero value is none.
type Strength uint8

// The strengths, weakest first.
const (
	None         Strength = iota
	Assumed               // the operator's contract only (pages.end)
	Declared              // the server's explicit word
	Corroborated          // an independent second reading gives the same set
	Counted               // distinct items lie inside the band of live totals
)

var strengthNames = [...]string{"", "assumed", "declared", "corroborated", "counted"}

// String gives the strength's name in configs and reports; none is empty.
func (s Strength) String() string {
	if int(s) < len(strengthNames) {
		return strengthNames[s]
	}
	return fmt.Sprintf("strength(%d)", uint8(s))
}

// MarshalJSON writes the name, or null for none.
func (s Strength) MarshalJSON() ([]byte, error) {
	if s == None {
		return []byte("null"), nil
	}
	return []byte(`"` + s.String() + `"`), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Strength) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*s = None
		return nil
	}
	v, ok := ParseStrength(strings.Trim(string(b), `"`))
	if !ok {
		return fmt.Errorf("unknown strength %s", b)
	}
	*s = v
	return nil
}

// ParseStrength reads a strength's name.
func ParseStrength(name string) (Strength, bool) {
	for i, n := range strengthNames {
		if n == name && i > 0 {
			return Strength(i), true
		}
	}
	return None, false
}

// Outcome sorts what one attempt came to. The zero value is "failed".
type Outcome uint8

// The outcomes of an attempt.
const (
	Failed  Outcome = iota // no answer, or an answer that is none (fault, error status, other format)
	Held                   // a page, its items counted
	Half                   // half a body
	Limited                // a rate limit
	Partial                // parses, but says itself that it is only a part
	Refused                // a page that was read but not held (its border did not fit; a repeat)
	Unused                 // asked for ahead of the walk, which did not need it
)

var outcomeNames = [...]string{"failed", "held", "half", "limited", "partial", "refused", "unused"}

// String gives the outcome's name as it stands in the store.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// An Attempt is one request and what came of it: one row of the ledger's
// pages table. Secrets are hidden before an Attempt is made.
type Attempt struct {
	Seq      int64 // 1, 2, 3… within the run, in the order of requests
	Slice    int   // 0 in a run of one slice
	Pass     int   // 1, 2, 3…
	Page     int   // the page's ordinal within its pass, from 1
	Try      int   // the how-manieth try at this page, from 1
	Started  time.Time
	Duration time.Duration

	URL      string // without secrets
	Position string // the position for people: "offset 100", "page 3 (offset 200)", "cursor abc…"
	Offset   int64  // the position's conservative row count

	SizeAsked int // 0: none was asked for
	Status    int // 0: no answer

	BytesRead     int64       // of the body, on the wire
	BytesExpected judge.Count // as declared

	Items    int // in the answer
	New      int // of them, never held before in this run
	Repeated int // of them, held before in this pass
	Nulls    int

	Total     judge.Count
	TotalKind judge.TotalKind
	More      string // what the answer says about going on: "", follow, ended, broken

	Outcome Outcome
	Verdict judge.Verdict // the page verdict, by the judge
	Rules   []judge.Rule
	Action  judge.Action // what the loop does next
	Cause   string       // why: one line with numbers
	Keys    []byte       // 16 bytes a new item, in order: identity hashes
}

// A TotalSeen is one total at the moment when it was read.
type TotalSeen struct {
	Seq       int64 // of the attempt; 0 for a count request before the run
	At        time.Time
	Source    string
	Value     int64
	Kind      judge.TotalKind
	Live      bool // false: collapsed, echo or otherwise not believed
	Distinct  int64
	Remark    string // why it is not live
	Collapsed bool
}

// An Event is something that happened to a run and is no attempt: a size
// change, a wait, a new pass, a step back, a shift, a resume.
type Event struct {
	Seq  int64 // of the attempt after which it happened
	At   time.Time
	Kind string // size, wait, pass, step_back, shift, reach, loop, resume, end, stop, note
	Text string // one line with numbers, without secrets
}

// A Slice is a part of a sliced run, as it stands.
type Slice struct {
	Slice     int         // its number, as in Attempt.Slice
	Parent    judge.Count // the slice that was split into this one
	Key       string      // what the range is over
	From, To  string      // as they were sent; "": open
	Bounds    string      // "[)" or "[]"
	State     string      // open, walking, held, split, irreducible, failed
	Total     judge.Count // what the source declared for it
	TotalKind judge.TotalKind
	Items     int64 // distinct items held in it
	Remark    string
}

// Evidence is one finding of a run: a rule that spoke, and in which words.
type Evidence struct {
	ID      string        `json:"id"`
	Verdict judge.Verdict `json:"verdict"`
	Text    string        `json:"text"`
}

// Report is what a run says at its end. Its JSON keys are a contract with
// scripts: all of them are always there.
type Report struct {
	Run      string        `json:"run"`
	Name     string        `json:"name"`
	State    string        `json:"state"` // finished, stopped, failed
	Error    string        `json:"error,omitempty"`
	Verdict  judge.Verdict `json:"verdict"`
	Strength Strength      `json:"strength"`
	Exit     int           `json:"exit"`
	Items    ItemCounts    `json:"items"`
	Total    TotalSummary  `json:"total"`
	// Missing is the number of items known to be missing; nil where no total
	// tells.
	Missing  *int64        `json:"missing"`
	Pages    PageCounts    `json:"pages"`
	PageSize SizeSummary   `json:"page_size"`
	Reach    *int64        `json:"reach"`
	Slices   SliceCounts   `json:"slices"`
	Evidence []Evidence    `json:"evidence"`
	Resume   *judge.Resume `json:"resume"`
	Output   []Output      `json:"output"`
	Started  time.Time     `json:"started"`
	Ended    time.Time     `json:"ended"`
	Requests int64         `json:"requests"`
	// Advice says what would make a run that is not COMPLETE so, a line each.
	Advice []string `json:"advice"`
	// Source tells, without secrets, what was asked: the method and URL.
	Source string `json:"source"`
	// Passes is the number of walks made.
	Passes int `json:"passes"`
	// Bytes is the number of body bytes read from the wire.
	Bytes int64 `json:"bytes"`
	// Waited is the time spent waiting for rate limits and retries.
	Waited Duration `json:"waited"`
	// Concurrency is how many requests could be under way at once, where more than
	// one (limits.concurrency).
	Concurrency int `json:"concurrency,omitempty"`
	// Children counts the runs that this one, a fan-out, is the whole of.
	Children *ChildCounts `json:"children,omitempty"`
}

// ChildCounts counts the children of a fan-out by what became of them.
type ChildCounts struct {
	Total     int64 `json:"total"`
	Complete  int64 `json:"complete"`
	Truncated int64 `json:"truncated"`
	Unknown   int64 `json:"unknown"`
	Failed    int64 `json:"failed"` // could not run
	Open      int64 `json:"open"`   // not asked, or not at its end
}

// Duration is a time.Duration that is written as text ("1m30s").
type Duration time.Duration

// MarshalText writes the duration as time.Duration prints it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// ItemCounts counts items: received with repeats, distinct by identity,
// repeated, and written to the sink (by reading it back).
type ItemCounts struct {
	Received int64 `json:"received"`
	Distinct int64 `json:"distinct"`
	Repeated int64 `json:"repeated"`
	Written  int64 `json:"written"`
	NoID     int64 `json:"no_id"` // of the distinct ones, known by content only
	Nulls    int64 `json:"nulls"`
}

// TotalSummary is what the source declared over the run; nil where it did not.
type TotalSummary struct {
	First     *int64 `json:"first"`
	Last      *int64 `json:"last"`
	Min       *int64 `json:"min"`
	Max       *int64 `json:"max"`
	Kind      string `json:"kind"` // "" where no total was seen
	Collapsed bool   `json:"collapsed"`
}

// PageCounts counts attempts by what came of them.
type PageCounts struct {
	Held     int64 `json:"held"`
	Attempts int64 `json:"attempts"`
	Half     int64 `json:"half"`
	Failed   int64 `json:"failed"`
	Unused   int64 `json:"unused,omitempty"` // asked for ahead of the walk, which did not need them
}

// SizeSummary is the page size asked for: at the start, the least, the last.
type SizeSummary struct {
	Start int `json:"start"`
	Min   int `json:"min"`
	Last  int `json:"last"`
}

// SliceCounts counts slices. A run of one slice has one leaf.
type SliceCounts struct {
	Leaves      int `json:"leaves"`
	Splits      int `json:"splits"`
	Irreducible int `json:"irreducible"`
}

// Output is one written file. Committed false: it was held back by the
// commit gate and stands at Path beside its target.
type Output struct {
	Path      string `json:"path"`
	Committed bool   `json:"committed"`
	Items     int64  `json:"items"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
	// Notes say what is not as a reader of the output would expect.
	Notes []string `json:"notes,omitempty"`
}
