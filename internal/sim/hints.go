package sim

// ClientHints says how a client has to be configured for a Sim, in the words
// of the config file. Paths are dotted, a dot inside a name is written \.; an
// empty field is not configured. Everything here is what the API documents, so
// it is true even where an answer lies.
type ClientHints struct {
	// Path is the collection, below the base URL; Params go into the query.
	Method, Path string
	Params       map[string]string
	Headers      map[string]string
	// Body is the template of a POST body, with {size} and {cursor} where
	// those go. Where the client writes the position into the body itself, by
	// dotted path, Body has a valid first request with no position.
	Body string

	Style string
	// Size: the parameter, a size to start with, the server's known range. Max
	// is 0 where no maximum is documented.
	Size struct {
		Param           string
		Start, Min, Max int
	}
	Number struct {
		Param string
		First int
	}
	Offset struct {
		Param string
		First int
	}
	Cursor struct {
		Param, Path, Header string
		// Seed is the value of the first request.
		Seed      string
		SameIsEnd bool
	}
	Next struct {
		Path   string
		Rebase bool
	}
	Keyset struct {
		Param, Path      string
		Inclusive, Quote bool
	}
	Link struct {
		// EndWhen is a link attribute that means the end.
		EndWhen map[string]string
	}
	More struct {
		Path, Header string
		// EndWhen is the flag's value at the end.
		EndWhen bool
		// AbsentIsEnd: a flag that would say the end is left out.
		AbsentIsEnd bool
	}
	Last struct {
		Path, Header string
		// Documented number of items that a page is counted with; 0: the size.
		Size int
	}
	Pin struct{ Param, Path string }
	// End lists documented ends: short_page, empty_page, absent_link,
	// absent_continuation.
	End []string
	// EndStatus is the status of an answer past the end; 0 is none.
	EndStatus int

	Items  string
	Format string
	// ID is the path inside an item; "" where items have none.
	ID            string
	AbsentIsEmpty bool

	Total struct {
		Path, Header, Match string
		// Kind is exact, estimate or lower_bound; KindPath names a field that
		// says so, KindExact its JSON value for an exact total.
		Kind, KindPath, KindExact string
		// Rest: it counts what is left.
		Rest bool
		// URL is the path of a count request whose total is at URLPath.
		URL, URLPath string
	}
	Partial []PartialSign
	Errors  []string
	// Echo are the paths of the page number, the offset and the size that the
	// answer repeats.
	EchoPage, EchoOffset, EchoSize string
	// Reach is a documented cap; 0 is none.
	Reach int
	// Require is the strength that COMPLETE needs at most for this API to be
	// drained: declared, or assumed where only the contract tells the end.
	Require string
	// Slice tells how a range is asked for.
	Slice struct {
		By, Type, Bounds, Format string
		Params                   map[string]string
		From, To                 int64
	}
	// Check is a filter that every item must satisfy.
	Check struct{ Path, Equals string }
	// Reverse are the parameters for the reverse order.
	Reverse map[string]string
	// Unique: the order has no ties, whatever comes.
	Unique bool
}

// PartialSign is a field that tells that an answer is a part: it is Is (raw
// JSON), or it is a number below the one at Below.
type PartialSign struct{ Path, Is, Below string }

// Hints describes the client's configuration.
func (s *Sim) Hints() ClientHints {
	a := s.API.normal()
	h := ClientHints{
		Method: "GET", Path: a.Path, Style: string(a.Style), Items: a.Items, ID: a.ID,
		Format: string(a.Format), End: s.Contract.Ends, Reach: s.Contract.Reach,
		Errors: []string{"remark", "errors", "error"}, Headers: map[string]string{},
		EchoPage: a.Echo.Page, EchoOffset: a.Echo.Offset, EchoSize: a.Size.Echo,
		AbsentIsEmpty: a.EmptyItems != EmptyArray,
	}
	if a.Items == "" {
		h.Items = "@this"
	}
	if a.Edges {
		h.Items = a.Items + ".#.node"
	}
	if s.anonymous() {
		h.ID = ""
	}
	if a.Auth.Name != "" {
		h.Headers[a.Auth.Name] = a.Auth.Value
	}
	if a.Post {
		h.Method, h.Body = "POST", a.bodyTemplate()
	}
	if code := atoi(string(a.PastEnd), 0); code > 0 {
		h.EndStatus = code
	}
	h.Unique = s.unique()
	a.placeHints(&h)
	a.endHints(&h)
	a.totalHints(&h)
	s.sliceHints(&h)
	h.Require = s.require()
	if a.Format == XML {
		h.inXML()
	}
	return h
}

// anonymous reports whether no item has an id.
func (s *Sim) anonymous() bool {
	for _, it := range s.World.Items {
		if it.ID.Kind != NoID {
			return false
		}
	}
	return len(s.World.Items) > 0
}

// unique reports whether the order has no ties, at the start and after each change.
func (s *Sim) unique() bool {
	w := s.World
	if w.Churn.Every > 0 && !w.Ordered {
		return false // its inserts end without room between two keys
	}
	t := newTimeline(w)
	for {
		for i, it := range t.items {
			if i > 0 && t.items[i-1].Sort == it.Sort {
				return false
			}
		}
		if t.done == len(t.changes) {
			return true
		}
		t.advance(t.changes[t.done].Before)
	}
}

// placeHints says how places and sizes are asked for.
func (a API) placeHints(h *ClientHints) {
	h.Size.Param = a.Params.Size
	h.Size.Start, h.Size.Min = a.Size.Default, 1
	if a.Size.Max > 0 && a.Size.Over == OverReject {
		h.Size.Max = a.Size.Max
	}
	if a.Addressing == ByKey && a.Key.Inclusive {
		h.Size.Min = 2 // the bound itself takes one place
	}
	if a.Plan != nil {
		h.Size.Min = a.Size.Default
	}
	switch a.Addressing {
	case ByPage:
		h.Number.Param, h.Number.First = a.Params.Page, a.FirstPage
	case ByOffset:
		h.Offset.Param = a.Params.Offset
	case ByToken:
		h.Cursor.Param, h.Cursor.Seed = a.Params.Cursor, a.Token.Seed
		h.Cursor.Path, h.Cursor.Header = a.Token.Path, a.Token.Header
		h.Cursor.SameIsEnd = a.Token.End == EndSame
	case ByKey:
		h.Keyset.Param, h.Keyset.Inclusive, h.Keyset.Quote = a.Params.Key, a.Key.Inclusive, a.Key.Quote
		h.Keyset.Path = a.SortField
		if a.Key.ID || a.Key.ByItem {
			h.Keyset.Path = a.ID
		}
	}
	h.Next.Path, h.Next.Rebase = a.Next.Path, a.Next.Host != ""
	h.Pin.Param, h.Pin.Path = a.Params.Pin, a.Echo.Pin
	if a.Reverse != "" {
		h.Reverse = map[string]string{a.Reverse: "desc"}
	}
}

// endHints says how the end is told.
func (a API) endHints(h *ClientHints) {
	h.More.Path, h.More.Header = a.More.Path, a.More.Header
	h.More.EndWhen, h.More.AbsentIsEnd = a.More.Inverted, a.More.AbsentFalse
	h.Last.Path, h.Last.Header, h.Last.Size = a.Last.Path, a.Last.Header, a.Last.Size
	if a.Style == Link && a.Links.Form == LinkResults {
		h.Link.EndWhen = map[string]string{"results": "false"}
	}
	for _, kind := range []string{"timed_out", "incomplete"} {
		h.Partial = append(h.Partial, PartialSign{Path: partialSigns[kind][1].Path, Is: "true"})
	}
	h.Partial = append(h.Partial, PartialSign{Path: "_shards.successful", Below: "_shards.total"})
}

// totalHints says where a total stands and what it is.
func (a API) totalHints(h *ClientHints) {
	rule := a.Total
	if a.Count != "" {
		h.Total.URL, h.Total.URLPath, h.Total.Kind = a.Count, "count", "exact"
	}
	if rule.Kind == TotalNone {
		return
	}
	h.Total.Path, h.Total.Header = rule.Path, rule.Header
	h.Total.Rest = rule.Kind == TotalRest
	h.Total.Kind, h.Total.KindPath = "exact", rule.KindPath
	if rule.Range {
		h.Total.Match = `/(\d+)$`
	}
	switch rule.Kind {
	case TotalEstimate:
		h.Total.Kind, h.Total.KindExact = "estimate", "true"
	case TotalBound:
		h.Total.Kind, h.Total.KindExact = "lower_bound", `"eq"`
	default:
		h.Total.KindExact = "true"
	}
}

// sliceHints says how a range is asked for.
func (s *Sim) sliceHints(h *ClientHints) {
	a := s.API.normal()
	if a.Filter.Group != "" {
		h.Check.Path, h.Check.Equals = "set", "A"
		h.Params = map[string]string{a.Filter.Group: "A"}
	}
	if a.Filter.Numeric == "" && a.Filter.From == "" {
		return
	}
	h.Slice.By, h.Slice.Type, h.Slice.Bounds, h.Slice.Format = a.SortField, "int", "[)", "unix"
	if a.SortTime {
		h.Slice.Type, h.Slice.Format = "time", "rfc3339"
	}
	if a.Filter.Closed {
		h.Slice.Bounds = "[]"
	}
	h.Slice.Params = map[string]string{}
	if a.Filter.Numeric != "" {
		h.Slice.Params[a.Filter.Numeric] = a.SortField + ">={from}," + a.SortField + "<{to}"
	} else {
		h.Slice.Params[a.Filter.From], h.Slice.Params[a.Filter.To] = "{from}", "{to}"
	}
	for _, it := range s.World.Items {
		if h.Slice.To == 0 {
			h.Slice.From, h.Slice.To = it.Sort, it.Sort+1
		}
		h.Slice.From, h.Slice.To = min(h.Slice.From, it.Sort), max(h.Slice.To, it.Sort+1)
	}
}

// graphQuery selects everything that a GraphQL API can say.
const graphQuery = `query($first:Int,$after:String){things(first:$first,after:$after)` +
	`{totalCount pageInfo{hasNextPage endCursor} edges{cursor node{id}} nodes{id}}}`

// bodyTemplate is a POST body for the first request.
func (a API) bodyTemplate() string {
	var e envelope
	if a.Style == GraphQL {
		e.put("query", rawText(graphQuery))
	}
	e.put(a.Params.Size, []byte("{size}"))
	if a.Addressing == ByToken {
		e.put(a.Params.Cursor, []byte(`"{cursor}"`))
	}
	return string(e.append(nil))
}

// explicit reports whether the API says in so many words where it ends.
func (a API) explicit() bool {
	switch {
	case a.Total.Kind == TotalExact || a.Total.Kind == TotalRest || a.Count != "":
		return true
	case a.More.Header != "" || (a.More.Path != "" && !a.barren()):
		return true
	case a.Last.Header != "" || (a.Last.Path != "" && !a.barren()):
		return true
	case a.Style == Link:
		return a.Links.Others || a.Links.EmptyAtEnd || a.Links.Form == LinkResults
	case a.Style == NextURL:
		return a.Next.End != EndAbsent && !a.Next.Always && !a.barren()
	case a.Addressing == ByToken && a.Style != Link:
		if a.Token.Header != "" {
			return a.Token.End == EndEmpty
		}
		return a.Token.End != EndAbsent && !a.barren()
	default:
		return false
	}
}

// barren reports whether there is no envelope.
func (a API) barren() bool { return a.Items == "" || a.Format != JSON && a.Format != XML }

// require is the least strength that this API can reach.
func (s *Sim) require() string {
	if s.API.normal().explicit() {
		return "declared"
	}
	return "assumed"
}

// documented are the ends that a well-kept API of this shape may document, so
// that a client has something to go by.
func (a API) documented() []string {
	switch {
	case a.Style == Link:
		return []string{"absent_link"}
	case a.Style == Single:
		return []string{"short_page"}
	case a.Style == NextURL || a.Addressing == ByToken:
		return []string{"absent_continuation"}
	default:
		return []string{"empty_page"}
	}
}
