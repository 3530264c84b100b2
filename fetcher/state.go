package fetcher

import (
	"encoding/json"
	"slices"
	"time"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A confirmation is a request past a place where the walk may have ended.
type confirmation string

// What a request past the end is to settle.
const (
	confirmNone  confirmation = ""
	confirmEnd   confirmation = "end"   // an end word on a full page without a total
	confirmEcho  confirmation = "echo"  // a total that may only echo its own page
	confirmZero  confirmation = "zero"  // no items at all: the same page once more
	confirmSize  confirmation = "size"  // a total that may only echo: the first page in another size
	confirmEmpty confirmation = "empty" // an end that rests on one empty page: the same page once more
)

// A State is where a walk stands. It is plain data: step.go and walk.go
// change it without any I/O, and a checkpoint stores it.
type State struct {
	Pass int `json:"pass"` // from 1
	Page int `json:"page"` // pages held in this pass

	At   adapters.Position   `json:"at"`             // the page to ask for
	Back []adapters.Position `json:"back,omitempty"` // where the last pages of this pass were, oldest first

	// The page size: asked now, the least and the greatest to ask for, the
	// size that failed lately, and the whole pages since.
	Size    int `json:"size"`
	Least   int `json:"least"`
	Ceiling int `json:"ceiling"` // learned maximum, 0: none
	Bad     int `json:"bad"`
	Streak  int `json:"streak"`

	High      int64             `json:"high"`     // rows read in this pass, by position
	Overlap   int               `json:"overlap"`  // items to overlap with the page before
	Unlapped  int               `json:"unlapped"` // borders of this pass that were not overlapped
	Followed  bool              `json:"followed"` // At is the server's own continuation
	Refusals  int               `json:"refusals"` // steps back because an overlap was refused
	GoodAt    adapters.Position `json:"good_at"`  // the last request that a page answered
	GoodSize  int               `json:"good_size"`
	SizeCheck int               `json:"size_check"` // the size before the last change, until a page has shown that the server follows it
	Locked    bool              `json:"locked"`     // the server does not follow another size
	Mixed     bool              `json:"mixed"`      // the pages of this pass had several sizes
	EchoAgain bool              `json:"echo_again"` // the empty page past a doubtful total was asked for twice
	NoLap     bool              `json:"no_lap"`     // pages are too small to overlap and get on
	Borders   int               `json:"borders"`    // steps back at this border
	Loose     bool              `json:"loose"`      // borders of this pass are not looked at any more
	Forced    bool              `json:"forced"`     // a border was given up as unverified: hold the page as it comes
	Probing   bool              `json:"probing"`    // one page on past an early empty one
	Empties   int               `json:"empties"`    // empty pages in a row before the total
	Reasked   int               `json:"reasked"`    // early empty pages asked again here
	Expired   int               `json:"expired"`    // dead positions in a row
	Shrinks   int               `json:"shrinks"`    // sizes tried for this page
	Tries     int               `json:"tries"`      // tries at this page, over all sizes
	Checking  bool              `json:"checking"`   // the page before a failing one is read again, to tell a reach from an outage
	Reread    bool              `json:"reread"`     // the page at At was held in part: what comes again there is no sign
	Renewals  int               `json:"renewals"`   // passes begun anew because a position was dead
	Failing   adapters.Position `json:"failing"`    // where the failing page is, while Checking
	Failure   string            `json:"failure"`    // that place and how it failed, in words

	Confirming confirmation `json:"confirming"`
	ZeroAsked  bool         `json:"zero_asked"`

	Counts     reconcile.Counts   `json:"counts"`
	PassItems  int64              `json:"pass_items"`
	PassNew    int64              `json:"pass_new"`
	MaxRows    int                `json:"max_rows"`  // on one page of this run
	Untold     int                `json:"untold"`    // pages without a total since the last one with
	PassRows   int64              `json:"pass_rows"` // with nulls and rejected ones
	Totals     reconcile.Totals   `json:"totals"`
	PassTotals reconcile.Totals   `json:"pass_totals"`
	Move       reconcile.Movement `json:"move"`
	Everything reconcile.Movement `json:"everything"`

	Unfilled int `json:"unfilled"` // least size of a page of this pass that was not filled before its total
	// Thrown says, by request, what pages showed that were asked for ahead of the
	// walk and thrown away, in this pass.
	Thrown      map[string]uint64  `json:"thrown,omitempty"`
	Beyond      bool               `json:"beyond"`    // a page of this pass held rows beyond its total
	NotFull     bool               `json:"not_full"`  // of a keyset: the last page held fewer rows than the server gives elsewhere
	PastEnd     bool               `json:"past_end"`  // a request past the last item brought nothing
	EndShort    bool               `json:"end_short"` // the last answer's own total lies beyond its rows
	EndRank     bool               `json:"end_rank"`  // the last answer's own total ended where its rows did
	EndStrength reconcile.Strength `json:"end_strength"`
	EndWord     string             `json:"end_word"`
	Ended       bool               `json:"ended"`
	Lied        string             `json:"lied"`
	Unconfirmed string             `json:"unconfirmed"`

	Done     bool           `json:"done"`
	Stop     reconcile.Stop `json:"stop"`
	StopText string         `json:"stop_text"`
	MoreHere bool           `json:"more_here"` // something says that more is there from At on

	Reach     judge.Count `json:"reach"`
	ReachText string      `json:"reach_text"`
	LastPages int64       `json:"last_pages"` // the server's page count, 0: none
	LastSize  int         `json:"last_size"`  // and the size that it counts with
	Grown     int64       `json:"grown"`      // how far the total rose with this page

	HalfLeft    []string `json:"half_left,omitempty"`
	PartialLeft []string `json:"partial_left,omitempty"`
	PartialSign string   `json:"partial_sign"` // the sign of the last of them: it stayed, whatever was tried
	Wording     []string `json:"wording,omitempty"`
	Notices     []string `json:"notices,omitempty"`
	Examples    []string `json:"examples,omitempty"`
	Conflicts   int64    `json:"conflicts"`
	SameID      int64    `json:"same_id"`
	Ties        string   `json:"ties"`
	Skips       int      `json:"skips"`
	Clamped     int      `json:"clamped"`
	Suspicion   string   `json:"suspicion"` // the judge's, of a silent cap
	TotalWalks  bool     `json:"total_walks"`
	Disagree    []string `json:"disagree,omitempty"`
	Counted     bool     `json:"counted"` // the count request before the run was made
	// TotalThere: an answer had something where the total is looked for. TotalLike are
	// numbers of the first page, where it had not.
	TotalThere bool     `json:"total_there"`
	TotalLike  []string `json:"total_like,omitempty"`

	Still reconcile.Still `json:"still"`
	Stood string          `json:"stood"` // the mark of change when it was read last, "" where it could not be

	Waited time.Duration `json:"waited"` // in pauses

	Later      bool `json:"later"`        // another walk of the run went before
	Trusted    bool `json:"trusted"`      // whose totals were no echo
	Cut        bool `json:"cut"`          // what is above the reach is cut
	TotalAtCap bool `json:"total_at_cap"` // the total is just what one query hands out
	Deadline   bool `json:"deadline"`     // the server's own deadline cut the page that stayed half

	// Restarted says that the stored pass begins anew: what it had seen does
	// not count for it.
	Restarted bool `json:"restarted"`

	// Loop detection: not stored. After a resume a loop is found one turn
	// later.
	reread  bool        // the page in hand was read again
	lap     int         // the overlap of the request in flight
	number  judge.Count // its page number, as it was sent
	visited map[string]bool
	prints  map[uint64]bool
}

// newState is a walk that has not begun.
func newState(p adapters.Pages) *State {
	s := &State{Pass: 1, Size: p.SizeStart, Least: p.SizeStart}
	s.forget()
	return s
}

// forget clears the memory of the pass for loops.
func (s *State) forget() {
	s.visited, s.prints = map[string]bool{}, map[uint64]bool{}
}

// sealed gives a copy to store, with secrets sealed in positions and hidden in
// texts. A position that must not be stored is left out, and the pass then
// begins anew on a resume.
func (s *State) sealed(seal func(string) (string, bool), hide func(string) string) *State {
	c := *s
	c.hideTexts(hide)
	if seal == nil {
		return &c
	}
	c.Back = slices.Clone(s.Back)
	fine := true
	for _, p := range c.positions() {
		var ok bool
		*p, ok = sealed(*p, seal)
		fine = fine && ok
	}
	if !fine {
		c.restart()
		c.GoodAt, c.Restarted = adapters.Position{}, true
	}
	return &c
}

// positions are all places of the source that a state holds.
func (s *State) positions() []*adapters.Position {
	all := []*adapters.Position{&s.At, &s.GoodAt, &s.Failing}
	for i := range s.Back {
		all = append(all, &s.Back[i])
	}
	return all
}

// hideTexts hides secrets in every text that may quote the server.
func (s *State) hideTexts(hide func(string) string) {
	for _, t := range []*string{&s.Failure, &s.EndWord, &s.Lied, &s.Unconfirmed, &s.StopText, &s.ReachText, &s.Ties, &s.Suspicion, &s.Still.Text, &s.Stood, &s.PartialSign} {
		*t = hide(*t)
	}
	for _, list := range []*[]string{&s.HalfLeft, &s.PartialLeft, &s.Wording, &s.Notices, &s.Examples, &s.Disagree, &s.TotalLike} {
		*list = slices.Clone(*list)
		for i, t := range *list {
			(*list)[i] = hide(t)
		}
	}
}

func sealed(p adapters.Position, seal func(string) (string, bool)) (adapters.Position, bool) {
	u, fine := seal(p.URL)
	p.URL = u
	for _, v := range []*json.RawMessage{&p.Cursor, &p.Pin} {
		if len(*v) == 0 {
			continue
		}
		c, ok := seal(string(*v))
		if !json.Valid([]byte(c)) {
			return adapters.Position{}, false
		}
		*v, fine = json.RawMessage(c), fine && ok
	}
	return p, fine
}

// unseal makes a stored state one to go on from. A walk that stood in its
// second pass or later begins that pass anew: which items it had seen is not
// stored.
func (s *State) unseal(unseal func(string) string) {
	if unseal != nil {
		for _, p := range s.positions() {
			*p = unsealed(*p, unseal)
		}
	}
	if s.Pass > 1 && !s.Done {
		s.restart()
		s.Restarted = true
	}
	s.forget()
}

func unsealed(p adapters.Position, unseal func(string) string) adapters.Position {
	p.URL = unseal(p.URL)
	for _, v := range []*json.RawMessage{&p.Cursor, &p.Pin} {
		if len(*v) > 0 {
			*v = json.RawMessage(unseal(string(*v)))
		}
	}
	return p
}

// restart takes the walk back to the start of its pass.
func (s *State) restart() {
	s.Page, s.At, s.Back = 0, adapters.Position{}, nil
	s.PassItems, s.PassNew, s.PassRows, s.PassTotals, s.Untold = 0, 0, 0, reconcile.Totals{}, 0
	s.Move = reconcile.Movement{}
	s.Failing, s.Failure = adapters.Position{}, ""
	s.Loose, s.SizeCheck = false, 0
	s.Borders, s.Forced, s.Probing, s.Empties, s.Reasked, s.Expired, s.Shrinks, s.Tries = 0, false, false, 0, 0, 0, 0, 0
	s.Confirming, s.Checking, s.MoreHere = confirmNone, false, false
	s.EndStrength, s.EndWord, s.Ended, s.Unconfirmed, s.EndRank, s.EndShort, s.PastEnd = reconcile.None, "", false, "", false, false, false
	s.Unfilled, s.Beyond, s.NotFull, s.Thrown = 0, false, false, nil
	s.Mixed, s.EchoAgain = false, false
	s.TotalWalks, s.High, s.Unlapped, s.Followed, s.Refusals = false, 0, 0, false, 0
	s.forget()
}

// nextPass begins another walk from the start.
func (s *State) nextPass() {
	s.Everything = addMovement(s.Everything, s.Move)
	s.Pass++
	proven := s.Totals.Proven
	s.restart()
	s.PassTotals.Proven = proven // shown to be no echo once, it is none
	s.Done, s.Stop, s.StopText = false, reconcile.StopEnd, ""
}

func addMovement(a, b reconcile.Movement) reconcile.Movement {
	return reconcile.Movement{Shifts: a.Shifts + b.Shifts, Unverified: a.Unverified + b.Unverified,
		Unstable: a.Unstable + b.Unstable, Moved: a.Moved + b.Moved, Marked: a.Marked + b.Marked}
}

// stop ends the walk.
func (s *State) stop(why reconcile.Stop, text string) {
	s.Done, s.Stop, s.StopText = true, why, text
}
