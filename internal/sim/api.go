package sim

// Style is how a client walks an API, by the names of the config file.
type Style string

// The styles.
const (
	Link    Style = "link"
	Page    Style = "page"
	Offset  Style = "offset"
	Algolia Style = "algolia"
	Cursor  Style = "cursor"
	NextURL Style = "next_url"
	Keyset  Style = "keyset"
	GraphQL Style = "graphql"
	Single  Style = "single"
)

// Styles lists every style.
func Styles() []Style {
	return []Style{Page, Offset, Link, Cursor, NextURL, Keyset, Algolia, GraphQL, Single}
}

// Addressing is how one request names its place in the list. Link and NextURL
// APIs use any; the other styles have one each.
type Addressing string

// The ways to name a place.
const (
	ByPage   Addressing = "page"
	ByOffset Addressing = "offset"
	ByToken  Addressing = "token"
	ByKey    Addressing = "key"
	ByNone   Addressing = "none"
)

// API is how a world is paged and how an answer looks. Every zero field is the
// simplest choice; [API.normal] fills in the rest.
type API struct {
	Style      Style
	Addressing Addressing
	// Path of the collection, below the root of the Sim; "/items" if empty.
	Path string
	// Post takes the parameters from a JSON body, at dotted paths.
	Post   bool
	Params Params
	Size   SizeRule
	// FirstPage is the number of the first page: 0 or 1.
	FirstPage int
	// Items is the path of the array; "" or "@this" is a bare array.
	Items string
	// Edges wraps each item as {"cursor":…,"node":{…}} (Relay).
	Edges bool
	// EmptyItems is what stands at the items path when a page has none.
	EmptyItems EmptyList
	// ID is the path of the id inside an item; "id" if empty.
	ID string
	// SortField is the item's sort key on the wire; "rank" if empty.
	SortField string
	// SortTime writes the sort key as an RFC 3339 time instead of a number.
	SortTime bool
	Total    TotalRule
	More     MoreRule
	Last     LastRule
	// Eager says after every full page that more follows, as servers do that
	// look at the size of the page only; the page behind the last one is empty.
	Eager   bool
	Token   TokenRule
	Next    NextRule
	Links   LinkRule
	Key     KeyRule
	PastEnd PastEnd
	Filter  FilterRule
	Echo    EchoRule
	// Reverse, where set, is a parameter that turns the order round.
	Reverse string
	// Count is the path of a count request that answers {"count":N}; "" is none.
	Count string
	// Plan, where set, is the number of items on each page in turn, whatever
	// size was asked; it needs ByToken.
	Plan []int
	// Extra fields stand first in the envelope.
	Extra []Extra
	// Format of the body; JSON if empty.
	Format Format
	Gzip   Gzip
	// Auth is a header that every request must carry; "" is none.
	Auth Header
}

// Header is a name and a value; it is unset without a name.
type Header struct{ Name, Value string }

// Extra is a constant field of the envelope: a dotted path and raw JSON.
type Extra struct{ Path, JSON string }

// Params names the request parameters: names in the query, or dotted paths in
// a POST body.
type Params struct {
	Size, Page, Offset, Cursor, Key string
	// KeyThen is the second half of a composite keyset position.
	KeyThen string
	// Fields is a projection that decides which top-level fields are sent.
	Fields string
	// Pin asks for the snapshot that an earlier answer named.
	Pin string
}

// SizeRule is the server's rule for page sizes.
type SizeRule struct {
	// Default holds where none is asked; 20 if zero.
	Default int
	// Max is the greatest size; 0 is no limit.
	Max int
	// Over is what happens above Max; OverClamp if empty.
	Over Over
	// Echo is a path that repeats the size in force; "" is none.
	Echo string
	// EchoAsked makes Echo repeat what was asked instead.
	EchoAsked bool
}

// Over is what a size above the maximum gets.
type Over string

// The reactions to a size above the maximum.
const (
	OverClamp  Over = "clamp"
	OverReject Over = "reject_400"
)

// EmptyList is what an empty page has at the items path.
type EmptyList string

// The forms of an empty list.
const (
	EmptyArray  EmptyList = "array"
	EmptyNull   EmptyList = "null"
	EmptyAbsent EmptyList = "absent"
)

// TotalKind is what a total means.
type TotalKind string

// The kinds of totals. Exact, estimate and lower bound are what an honest
// server has; rest counts what is left from the page on.
const (
	TotalNone     TotalKind = ""
	TotalExact    TotalKind = "exact"
	TotalEstimate TotalKind = "estimate"
	TotalBound    TotalKind = "lower_bound"
	TotalRest     TotalKind = "rest"
	// TotalEcho is the number of items on the page; it is called exact.
	TotalEcho TotalKind = "page_len"
	// TotalFixed is Value whatever the truth; it is called exact.
	TotalFixed TotalKind = "fixed"
	// TotalJitter is the truth plus or minus up to Value, by request; it is
	// called exact.
	TotalJitter TotalKind = "jitter"
)

// TotalRule is where a total stands and what it means.
type TotalRule struct {
	Kind TotalKind
	// Path or Header of the total; both may be set.
	Path, Header string
	// Range writes the header in the form "items 0-9/100".
	Range bool
	// Text writes the total as a JSON string.
	Text bool
	// Value belongs to the kind: the bound, the fixed number, the jitter, the
	// estimate (0: a fifth too much).
	Value int
	// KindPath is a field that says which kind it is: for estimates a boolean
	// that is true where the total is exact, for bounds "eq" or "gte".
	KindPath string
	// AbsentOver leaves the total out where it is above this; 0 is never.
	AbsentOver int
}

// MoreRule is a has-more flag.
type MoreRule struct {
	Path, Header string
	// Inverted says true at the end.
	Inverted bool
	// AbsentFalse leaves a false flag out.
	AbsentFalse bool
}

// LastRule is the server's own count of pages.
type LastRule struct {
	Path, Header string
	// Size is the page size that it is computed with; 0 is the real one.
	Size int
	// ZeroBased gives the number of the last page counted from 0.
	ZeroBased bool
}

// TokenKind is what an opaque token holds.
type TokenKind string

// The kinds of tokens.
const (
	TokenKey      TokenKind = "key"
	TokenOffset   TokenKind = "offset"
	TokenPage     TokenKind = "page"
	TokenSnapshot TokenKind = "snapshot"
)

// EndForm is what stands where a continuation would stand, at the end.
type EndForm string

// The forms of an end.
const (
	EndNull   EndForm = "null"
	EndEmpty  EndForm = "empty"
	EndAbsent EndForm = "absent"
	// EndSame hands back the token that was sent, with no items; pages with
	// items all have a new token.
	EndSame EndForm = "same"
)

// TokenRule is where a cursor stands and what it is.
type TokenRule struct {
	Kind         TokenKind
	Path, Header string
	End          EndForm
	// Always gives a token on the last page with items too; the page past it
	// is empty and has the end form.
	Always bool
	// Seed is the value that the first request must carry, such as "*"; ""
	// is none. Without it the answer has no continuation.
	Seed string
}

// NextRule is a next URL in the body.
type NextRule struct {
	Path     string
	Relative bool
	End      EndForm
	// Host replaces the host of absolute URLs.
	Host string
	// Asked makes the next offset advance by the size that was asked, not by
	// the one that was given: with a clamp this skips items.
	Asked bool
	// Always gives a next URL on every page; another word tells the end.
	Always bool
}

// LinkForm is the spelling of a Link header.
type LinkForm string

// The spellings. All are legal.
const (
	LinkPlain    LinkForm = "plain"
	LinkAttrs    LinkForm = "attrs"
	LinkUnquoted LinkForm = "unquoted"
	LinkMulti    LinkForm = "multi"
	LinkSplit    LinkForm = "split"
	LinkUpper    LinkForm = "upper"
	// LinkResults has rel=next on every page, and results="false" beside it
	// at the end.
	LinkResults LinkForm = "results"
)

// LinkRule is a Link header.
type LinkRule struct {
	Form     LinkForm
	Relative bool
	// Others adds first and prev, so that the header is there at the end too.
	Others bool
	// Last adds rel=last (page addressing only).
	Last bool
	// EmptyAtEnd sends an empty header where nothing is left to say.
	EmptyAtEnd bool
}

// KeyRule is a keyset position: items after a value.
type KeyRule struct {
	// ID compares the id (the world must be Ordered); else the sort field.
	ID bool
	// Inclusive gives the item with the value again.
	Inclusive bool
	// Quote expects the value as JSON.
	Quote bool
	// ByItem looks the item up by its id and answers 400 when it is gone.
	ByItem bool
}

// PastEnd is what a request past the last item gets.
type PastEnd string

// The reactions to a place past the end.
const (
	PastEmpty PastEnd = "empty"
	Past404   PastEnd = "404"
	Past400   PastEnd = "400"
	Past422   PastEnd = "422"
	PastClamp PastEnd = "clamp"
)

// FilterRule restricts the list.
type FilterRule struct {
	// Numeric is a parameter with conditions such as "f>=1,f<9" on SortField.
	Numeric string
	// From and To are parameters with bounds on SortField; From is included.
	From, To string
	// Closed includes To.
	Closed bool
	// Group is a parameter that selects one set.
	Group string
}

// EchoRule repeats the place of the page in the answer.
type EchoRule struct {
	Page, Offset string
	// Pin names the snapshot that the page was read from, for [Params].Pin.
	Pin string
}

// Format is the form of a body.
type Format string

// The formats.
const (
	JSON   Format = "json"
	NDJSON Format = "ndjson"
	CSV    Format = "csv"
	XML    Format = "xml"
)

// Gzip says when bodies are compressed.
type Gzip string

// When bodies are compressed.
const (
	GzipNever  Gzip = ""
	GzipAsked  Gzip = "asked"
	GzipAlways Gzip = "always"
)

// addressings is the place that each style uses where none is set.
var addressings = map[Style]Addressing{
	Link: ByPage, Page: ByPage, Algolia: ByPage, Offset: ByOffset, NextURL: ByOffset,
	Cursor: ByToken, GraphQL: ByToken, Keyset: ByKey, Single: ByNone,
}

// normal fills in what the zero values mean.
func (a API) normal() API {
	set(&a.Style, Page)
	set(&a.Addressing, addressings[a.Style])
	set(&a.Path, "/items")
	set(&a.ID, "id")
	set(&a.SortField, "rank")
	set(&a.EmptyItems, EmptyArray)
	set(&a.Size.Over, OverClamp)
	set(&a.Size.Default, 20)
	set(&a.Token.Kind, TokenKey)
	set(&a.Token.End, EndNull)
	set(&a.Next.End, EndNull)
	set(&a.Links.Form, LinkPlain)
	set(&a.PastEnd, PastEmpty)
	set(&a.Format, JSON)
	if a.Format == XML { // which has no null
		for _, end := range []*EndForm{&a.Token.End, &a.Next.End} {
			if *end == EndNull {
				*end = EndEmpty
			}
		}
		a.EmptyItems = EmptyAbsent
	}
	if a.Items == "@this" {
		a.Items = ""
	}
	if a.Style == GraphQL {
		a.Post = true
	}
	if a.Plan != nil {
		a.Token.Kind = TokenOffset
	}
	a.Params = a.Params.normal(a)
	return a
}

// normal names the parameters that the addressing needs.
func (p Params) normal(a API) Params {
	if a.Style == GraphQL {
		set(&p.Size, "variables.first")
		set(&p.Cursor, "variables.after")
		return p
	}
	if a.Addressing != ByNone {
		set(&p.Size, "limit")
	}
	set(&p.Page, "page")
	set(&p.Offset, "offset")
	set(&p.Cursor, "cursor")
	set(&p.Key, "after")
	return p
}

// set gives *v a value where it has none.
func set[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}
