package adapters

import "lastdrop/judge"

// A Spec is all that is known of an API's paging: the config's words in the
// form that the styles and the Reader use. Package configs fills it, checked
// and with defaults; every field's zero value means "not configured".
type Spec struct {
	URL     string
	Method  string              // GET or POST
	Params  map[string][]string // query parameters; {size} {offset} {page} {cursor} are replaced
	Headers map[string]string   // without credentials
	Body    any                 // a JSON tree (maps, slices, scalars) for POST; placeholders are replaced in its strings

	// Set are further parameters of every request, such as the bounds of a
	// slice. They take the place of params of the same name.
	Set []Set

	Pages   Pages
	Items   Items
	Total   TotalSpec
	Partial []Condition
	// Errors are the paths that must be absent, null, empty, false or 0. Where
	// ErrorsSet is false the defaults apply: a top-level error or errors.
	Errors    []string
	ErrorsSet bool
}

// A Set is a parameter and its values, each a string or an int64. In a POST
// with a body Param is a dotted path inside the body, and several values are a
// list; else it is a query parameter. Placeholders in strings are replaced.
type Set struct {
	Param  string
	Values []any
}

// Pages says where position and size travel. In a POST with a body a Param is
// a dotted path inside the body; else it is a query parameter.
type Pages struct {
	Style string // a key of the styles table

	SizeParam string
	SizeStart int // 0: no size is asked for
	SizeMin   int
	SizeMax   int // 0: not known

	Reach int64 // the most items that one query hands out, as documented; 0: not known

	NumberParam string
	NumberFirst int64
	NumberEcho  string // path of the page number that the server says it answered with

	OffsetParam   string
	OffsetFirst   int64
	OffsetAdvance string // path of the number of rows that the server scanned

	CursorParam  string // empty, and no {cursor}: a token that is an object is merged into the request
	CursorPath   string
	CursorHeader string
	SameIsEnd    bool // the token that was sent, with no items, is the end

	NextPath   string
	NextRebase bool

	KeysetParam     string
	KeysetPath      string
	KeysetInclusive bool
	KeysetQuoteJSON bool

	MorePath    string
	MoreHeader  string
	MoreEndWhen *bool       // nil: false ends. &true: an inverted flag
	MoreAbsent  judge.Claim // what an absent flag says: No where pages.more.absent is false

	LastPath   string
	LastHeader string

	LinkEndWhen map[string]string // link attributes that outrank rel=next, e.g. results: "false"

	PinParam, PinPath string
	SortParam         string
	SortValue         string
	SortUnique        bool

	// End lists what the API documents as its end.
	EndShortPage          bool
	EndEmptyPage          bool
	EndAbsentContinuation bool // absent_link too
	EndStatus             []EndStatus
}

// EndStatus is a documented error past the end: a status, and a path in its
// body with the value that it must have (Path may be empty: any body).
type EndStatus struct {
	Status int
	Path   string
	Is     string
}

// Items says where the items are and what makes their identity.
type Items struct {
	Path          string   // GJSON path; "@this" for a bare array
	IDs           []string // GJSON paths inside an item; empty: no id
	AbsentIsEmpty bool
	Format        string // json (default), ndjson, csv, xml
	CheckPath     string // every item must satisfy Check…
	CheckEquals   string
	// Merge says that the parts of one item, known by its id, come on one page,
	// or on the pages up to a mark at the path Batch. Who reads pages merges them.
	Merge bool
	Batch string
}

// TotalSpec says where the total stands. At most one of Path, Header and URL
// is set; None says that the server's total counts something else.
type TotalSpec struct {
	Path   string
	Header string
	Match  string // regular expression with one group, for a total inside a text
	URL    string // a count request of its own; Path then reads its answer
	Method string
	Body   any
	None   bool
	Kind   judge.TotalKind // where KindPath is empty
	// KindPath is a field that says how far the total may be believed: exact
	// where its text equals KindExact, else an estimate.
	KindPath  string
	KindExact string
	// CountsRest says that the total counts what is left from the page on.
	CountsRest bool
}

// A Condition is a sign that an answer is partial.
type Condition struct {
	Path    string
	Is      *string // the value's text, e.g. "true"
	Below   string  // a path whose number is greater
	Present bool    // the path is there and is not null, false or empty
}
