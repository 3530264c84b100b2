// Package adapters knows how paginated APIs speak: how a position in the
// source becomes a request, and what an answer claims about itself. It does
// no I/O, keeps no state, and never decides: it turns bytes into claims, and
// the fetcher and the reconciler rule on them.
//
// The user-facing type is Reader, which holds all that the styles share
// (items, identities, totals, flags, error and partial signs). A Style adds
// only what differs from API family to API family: where the position stands
// in a request, and where the continuation stands in an answer.
package adapters

import (
	"encoding/json"
	"net/http"

	"lastdrop/judge"
)

// A Position says where in the source the next page begins. The zero value
// is the start. Which fields count depends on the style; a Position is stored
// as JSON and read back on resume.
type Position struct {
	// Offset is the number of rows that stand before the position, as far as
	// the walk can tell. Where rows can be counted in more than one way (a
	// server that clamps the page size, or trims pages) it is the least of
	// them, so that a request made from it never starts after the first item
	// that is not yet held.
	Offset int64 `json:"offset,omitempty"`
	// Number and Size are a page number, counted from 0 whatever the API's
	// first number is, and the page size with which that number counts. A
	// request with another size computes its number from Offset.
	Number int64 `json:"number,omitempty"`
	Size   int   `json:"size,omitempty"`
	// Cursor is a token or a keyset value: the JSON value as the server gave
	// it (for header cursors, a JSON string).
	Cursor json.RawMessage `json:"cursor,omitempty"`
	// URL is an absolute next link on the source's own origin.
	URL string `json:"url,omitempty"`
	// Param names the query parameter of URL that is a page number, where it
	// has one: with another size it is computed anew from Offset.
	Param string `json:"param,omitempty"`
	// Pin is the snapshot that all requests of the walk ask for (pages.pin),
	// the JSON value as the first answer gave it. A start may carry one.
	Pin json.RawMessage `json:"pin,omitempty"`
}

// IsStart reports whether p is the start of the source.
func (p Position) IsStart() bool {
	return p.Offset == 0 && p.Number == 0 && len(p.Cursor) == 0 && p.URL == ""
}

// A Request is one HTTP request without credentials: the fetcher adds those,
// for the source's own origin only.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
	// Size is the page size that this request really asks for, 0 where it
	// asks for none. It can be above the size wanted, for an overlap.
	Size int
	// Start is the offset of the first row that the request asks for, where
	// the style can tell (OK false for cursors and links).
	Start judge.Count
	// Number is the page number that the request asks for, as the API counts
	// it, where there is one.
	Number judge.Count
}

// A Response is one whole answer: decoded from its content coding and
// character set, and valid strict JSON as Reader.JSON gives it (or whole NDJSON
// or CSV lines). Half a body never gets here.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	// URL is the address that the request was sent to, for relative links.
	URL string
}

// A Style is one family of paging. It does no I/O and keeps no state; its
// methods may be called from several goroutines.
type Style interface {
	// Request builds the request for the page at a position, of a page size
	// (0: the API takes none), beginning overlap items before the position
	// where the style can compute that; styles that cannot ignore overlap.
	Request(at Position, size, overlap int) (Request, error)
	// Next reads the continuation out of an answer. req is the request as
	// Request built it.
	Next(at Position, req Request, a *Answer) Continuation
}

// State tells what an answer says about going on. The zero value is "not
// said", which is never an end.
type State uint8

// The states of a continuation.
const (
	NotSaid State = iota // nothing readable says whether there is more
	Follow               // the server names where to go on
	Ended                // the server says, in words, that there is no more
	Broken               // a continuation is there and cannot be read or followed
)

// A Continuation is what one answer says about the page after it.
type Continuation struct {
	State State
	// Word names who said so: more, cursor, link, next_url, last_page,
	// end_mark, status. Empty for a computed position.
	Word string
	// At is where to go on: the server's own position under Follow. Under
	// NotSaid it is the position that the style computes for itself (page
	// number, offset, keyset), if HasAt.
	At    Position
	HasAt bool
	// Reason says in words what is wrong with a Broken one, or what a style
	// had to correct (a next link that skips items).
	Reason string
	// Note is set where the continuation was corrected: skip (the next link
	// moved by more than came), rebase (another origin, put onto ours).
	Note string
}

// An Item is one record of a page.
type Item struct {
	// Raw is the item's own bytes, untouched.
	Raw []byte
	// ID is the canonical JSON of the id (of the list of ids where several
	// paths make one). Empty where no id is configured, or where this item
	// has none.
	ID []byte
}

// A TotalSource names where a total came from; sources are kept apart.
type TotalSource string

// The sources of totals.
const (
	FromBody    TotalSource = "body"
	FromHeader  TotalSource = "header"
	FromRequest TotalSource = "count_request"
	FromLast    TotalSource = "last_page" // an upper bound by pages × size, only ever a lower_bound or estimate
)

// A Total is one statement about the size of the whole set.
type Total struct {
	Source TotalSource     `json:"source"`
	Value  int64           `json:"value"`
	Kind   judge.TotalKind `json:"kind"`
}

// A Page is what one whole answer says.
type Page struct {
	Items []Item
	// Nulls counts nulls in the list; Rejected counts items that fail
	// items.check: neither is among Items. Received counts the rows that came,
	// all three together.
	Nulls, Rejected, Received int
	// Notices are rows that are not items but words that the answer was cut.
	Notices []string
	// NoID counts the Items without an id, where one is configured.
	NoID int
	// Totals holds every total that the answer states (none or one a source).
	Totals []Total
	// NoTotal reports that nothing stands where the config says that the total does.
	NoTotal bool
	// More is the has-more flag's word: Yes, No, or not said.
	More judge.Claim
	// LastPages is the server's own count of pages.
	LastPages judge.Count
	// EchoPage is the page number that the server says it answered with, and
	// AskedPage the one that the request asked for, both as the API counts.
	EchoPage, AskedPage judge.Count
	// Next is the style's continuation.
	Next Continuation
	// Offered reports that something in the answer offers a further page (a
	// has-more flag, a Link with rel=next), whatever the style follows.
	Offered bool
	// Aside names, of a page without items, another list of the answer that is not empty.
	Aside string
	// Doubt says what in the answer speaks against its own end word: a field
	// that no config names and that offers more, a total that cannot be read.
	// "" where there is nothing.
	Doubt string
	// Disorder says why the pages of a keyset cannot join, "" where they can.
	Disorder string
	// Batch says whether the batch of pages that share their items is whole:
	// not said where items.batch names no mark. Clashes are the ids of items
	// whose parts contradict each other; whoever merges them fills it in.
	Batch   judge.Claim
	Clashes []string
	// Partial holds one text a sign that the answer is only a part.
	Partial []string
	// Wording holds envelope texts with the wording of truncation.
	Wording []string
	// Size is the page size that the request asked for; Start as in Request.
	Size  int
	Start judge.Count
	// Pin is the snapshot that the answer names, as text, where pages.pin asks
	// for it. Next.At carries it on by itself.
	Pin string
}

// TroubleKind sorts the reasons why a whole answer is not a page.
type TroubleKind uint8

// The kinds of trouble.
const (
	TroubleMissing   TroubleKind = iota // the items path is missing, or is no array
	TroublePassing                      // an error object that names a passing cause: time-out, rate, overload
	TroubleCost                         // an error object that names cost: too large, too complex
	TroubleError                        // an error object of another kind
	TroubleMalformed                    // a key named twice on a path that we read
	TroubleExpired                      // a cursor that is no longer good
)

// Trouble is the error of a whole answer that is not a page. It is never
// zero items.
type Trouble struct {
	Kind TroubleKind
	Msg  string // one line, with the server's own words where it has some
}

func (t *Trouble) Error() string { return t.Msg }
