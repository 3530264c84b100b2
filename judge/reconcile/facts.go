package reconcile

import (
	"time"

	"lastdrop/judge"
)

// Stop says why a walk stopped. The zero value is the natural one: the walk
// came to where nothing further was offered.
type Stop uint8

// The reasons to stop.
const (
	StopEnd     Stop = iota // nothing further was offered, or the end was said
	StopLoop                // a continuation or page came again
	StopBudget              // max_requests, --max-pages, --max-items
	StopSignal              // the process was asked to stop
	StopWait                // the server asked for a longer wait than limits.max_wait
	StopFault               // a page failed for a passing cause, and the retries are spent
	StopRefused             // the server refused a page
	StopHalf                // a page stayed half at the smallest size
	StopBroken              // a continuation is there and cannot be followed
	StopNoPage              // an answer that is no page: another format, an error object, no items path
	StopReach               // the server hands out no more than its reach
	StopExpired             // the position is gone, twice in vain
	StopFirst               // the first request was refused or never answered: the run could not start
	StopNotSaid             // nothing said whether there is more
)

var stopNames = [...]string{"end", "loop", "budget", "signal", "max_wait", "fault", "refused", "half_body",
	"broken_continuation", "no_page", "reach", "expired", "first_request", "not_said"}

// String gives the reason's name as it stands in events and the store.
func (s Stop) String() string {
	if int(s) < len(stopNames) {
		return stopNames[s]
	}
	return "stop"
}

// Resumable reports whether a run stopped for this reason can sensibly go on
// from where it is: the cause passes, and the position is known.
func (s Stop) Resumable() bool {
	switch s {
	case StopBudget, StopSignal, StopWait, StopFault:
		return true
	}
	return false
}

// Counts are the items and pages of a run, or of one pass of it.
type Counts struct {
	Received, Distinct, Repeated int64
	NoID, Nulls, Rejected        int64
	Held, Attempts, Half, Failed int64
	Unused                       int64 // attempts ahead of the walk, which did not need them
	Requests, Bytes              int64
}

// Movement is what was seen of a source that changes under the walk, or has
// no stable order. All of it is about one pass.
type Movement struct {
	// Shifts counts borders where items had moved; Unverified those borders
	// that could not be shown to be whole (a total moved, or items came again
	// out of place, where the style cannot overlap).
	Shifts, Unverified int
	// Unstable counts items that came again in one pass although no total
	// moved: the order is not stable.
	Unstable int64
	// Moved counts the changes of the total during the pass.
	Moved int
	// Marked counts passes in which the mark of change (complete.still) does
	// not show that nothing moved, over borders that count rows and that could
	// not be shown to be whole.
	Marked int
}

// Clean reports that nothing of the kind was seen.
func (m Movement) Clean() bool { return m == Movement{} }

// Verified reports that whatever moved, every border was shown to be whole.
func (m Movement) Verified() bool { return m.Unverified == 0 && m.Unstable == 0 && m.Marked == 0 }

// Sentinel is what complete.sentinel came to: an item or an answer that must be
// there.
type Sentinel struct {
	Asked bool   // it is configured
	OK    bool   // it was looked for after the end, and is there
	Text  string // why it is not OK, in words; "" where the walk did not come so far
}

// Still is what the mark of change (complete.still) said of the last pass.
type Still struct {
	Asked bool   // it was read after the last page
	Equal bool   // it was there before the first page and after the last, the same
	Text  string // what was read, in words
}

// Freshness is how old the newest item may be (complete.freshness).
type Freshness struct {
	Path   string        // of the time inside an item; "": it does not matter
	MaxAge time.Duration // before Start
	Start  time.Time     // of the run
}

// Facts is all that a run knows about itself at its end.
type Facts struct {
	Counts
	HasIDs    bool     // items.id is configured
	Merges    bool     // items arrive in several parts (items.merge)
	Conflicts int64    // ids that came twice with other content
	SameID    int64    // of them, twice on one page: the id is no identity
	Examples  []string // a few of those ids, for the report

	Totals     Totals
	Disagree   []string // totals from different sources that disagree, a text each
	NoTotal    string   // where a total is looked for, as the config names it, and nothing stood in any answer; "": nowhere, or it stood there
	TotalLike  []string // numbers of such an answer that may be it, as "path = number"
	TotalWalks bool     // every page that the total claims was asked for and came empty: the total is wrong

	Passes     int
	Movement   Movement // of the last pass
	Everything Movement // of all passes together
	PassTotals Totals   // the totals of the last pass alone
	PassItems  int64    // distinct items seen in the last pass
	PassNew    int64    // of them, never held before it

	// Anchored: positions hold whatever moves. Rows were counted, and the last
	// answer's own total ended where its rows did; or pages went on after the
	// last item's own key, to an end that was said or confirmed.
	Anchored bool

	// TotalAtCap: the total is just what one query is documented to hand out, and
	// may be cut to it as the list is.
	TotalAtCap bool

	// EndShort: the last answer's own total lies beyond the last of its rows.
	EndShort bool

	// The end: by which word, how strong that is by itself, and whether the
	// confirming request past a full page contradicted or failed it.
	EndReached  bool
	EndStrength Strength
	EndWord     string
	Lied        string // an end word that a later page contradicted
	Unconfirmed string // why the request past the end did not settle it

	Stop     Stop
	StopText string
	// MoreKnown says that something shows that more is there where the walk
	// stopped: a has-more flag, a link, a cursor.
	MoreKnown bool
	Reach     judge.Count
	ReachText string

	// At is where the walk stands, as a resume point: kind and value.
	At       judge.Resume
	PageSize SizeSummary
	Waited   time.Duration // in pauses, for limits and retries

	// Slices is set where the run was cut into slices; the walks' own facts
	// then stand in the rulings on its leaves.
	Slices *Slices
	// Second is the last further reading of the whole source, held against the
	// one before it; nil where none was made. All other facts but the counts are
	// then those of the first reading.
	Second *Reading

	HalfLeft    []string // pages that stayed half
	PartialLeft []string // pages that said themselves that they were a part, and stayed so
	Wording     []string // words of truncation in an envelope
	Notices     []string // rows that said that the answer was cut
	Ties        string   // a keyset that can lose ties, in words
	Suspicion   string   // the judge's, of a silent cap (TR006)
	Skips       int      // next links that moved by more than came, corrected
	Clamped     int      // effective page size where the server cut the one asked for

	Sentinel Sentinel
	Still    Still
	Newest   time.Time // the latest time at Freshness.Path in the items held; zero where none has one

	// The sink, read back at the end; OK false before that.
	ReadBack judge.Count
	SinkTorn string

	// Asked says, of an incremental run, what it asked for, and what came that
	// is older.
	Asked []string

	// What the operator asks for.
	Require   Strength
	Tolerance Tolerance
	MaxDrift  float64 // percent
	MinItems  int64
	MaxFall   float64 // percent
	FallSaid  bool    // MaxFall was asked for, and is not the default
	Freshness Freshness
	// LastComplete is the distinct count of the last COMPLETE run of the
	// same name.
	LastComplete judge.Count
}
