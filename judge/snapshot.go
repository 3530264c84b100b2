package judge

// A Kind names what was read. Every rule looks at every kind.
type Kind string

// The kinds that a snapshot may have.
const (
	KindList Kind = "list"
	KindHTTP Kind = "http"
	KindFile Kind = "file"
	KindTool Kind = "tool"
)

// A TotalKind says how far a declared total may be believed. The empty string
// means Exact, as in the contract; any value that is not listed here is
// believed no further than an Estimate.
type TotalKind string

// The kinds of total.
const (
	Exact      TotalKind = "exact"       // the size of the set
	Estimate   TotalKind = "estimate"    // proves nothing, neither way
	LowerBound TotalKind = "lower_bound" // can show that something is missing, never that all is there
)

// exact reports whether a total of this kind is the size of the set.
func (k TotalKind) exact() bool { return k == "" || k == Exact }

// atLeast reports whether the set has at least as many items as the total says.
func (k TotalKind) atLeast() bool { return k.exact() || k == LowerBound }

// A Snapshot is what a caller vouches for about one answer. Every field that
// is left at its zero value is "not stated".
//
// The meaning of each field is that of the JSON field whose name it mirrors.
// Counts are never negative: one that is contradicts itself (TR011) and counts
// as not stated everywhere else.
type Snapshot struct {
	Kind     Kind
	Request  Request
	Response Response
	Held     Held
}

// A Request is what was asked for.
type Request struct {
	Limit  Count // items asked for: the page size
	Offset Count // index of the first item asked for
	// Page and FirstPage are the page asked for and the number of the first
	// page (default 1). With a Limit, and no Offset, they give the offset
	// (Page - FirstPage) * Limit.
	Page, FirstPage Count
}

// A Response is what came back.
type Response struct {
	Status    Count // HTTP status, if there was one
	Items     Count // items received
	Total     Count // the size of the whole set that the server declares
	TotalKind TotalKind
	HasMore   Claim // the server's own word
	// NextOffset, NextPage, NextCursor and NextURL are continuations that the
	// server gives. A cursor or URL that is stated and empty is an explicit end.
	NextOffset, NextPage Count
	NextCursor, NextURL  Text
	EndMarker            Claim // an explicit end; only Yes says anything
	FirstIndex           Count // index of the first item received, where the server says so
	// Headers has names in any case; Link is read by ParseLinks.
	Headers map[string][]string
	ParseOK Claim // the body parsed as the format it claims
	// What was read of how much: bytes, lines, and characters of text that is
	// handed to a model.
	BytesRead, BytesExpected Count
	LinesRead, LinesTotal    Count
	CharsRead, CharsTotal    Count
	Truncated                Claim  // a marker field
	TruncatedBy              string // a marker field; any non-empty value counts
	// OriginalCount and ReturnedCount are what a tool states when it cuts its
	// own result.
	OriginalCount, ReturnedCount Count
	Text                         string // the envelope's wording, never the items' own content
	Error                        string // the transport's or parser's error text
}

// Held is what the caller already has.
type Held struct {
	Items Count // items that the caller holds from before the offset
}

// A field ties a JSON name to the place it is read into. The three tables
// below are the one list of names: the decoder reads by them, and the judge
// looks through them for counts that cannot be.
type field struct {
	name string
	into any
}

// itemCount is a Count that may also be given as an array, by its length.
type itemCount struct{ *Count }

func (r *Request) fields() []field {
	return []field{
		{"limit", &r.Limit},
		{"offset", &r.Offset},
		{"page", &r.Page},
		{"first_page", &r.FirstPage},
	}
}

func (r *Response) fields() []field {
	return []field{
		{"status", &r.Status},
		{"items", itemCount{&r.Items}},
		{"total", &r.Total},
		{"total_kind", &r.TotalKind},
		{"has_more", &r.HasMore},
		{"next_offset", &r.NextOffset},
		{"next_page", &r.NextPage},
		{"next_cursor", &r.NextCursor},
		{"next_url", &r.NextURL},
		{"end_marker", &r.EndMarker},
		{"first_index", &r.FirstIndex},
		{"headers", &r.Headers},
		{"parse_ok", &r.ParseOK},
		{"bytes_read", &r.BytesRead},
		{"bytes_expected", &r.BytesExpected},
		{"lines_read", &r.LinesRead},
		{"lines_total", &r.LinesTotal},
		{"chars_read", &r.CharsRead},
		{"chars_total", &r.CharsTotal},
		{"truncated", &r.Truncated},
		{"truncated_by", &r.TruncatedBy},
		{"original_count", &r.OriginalCount},
		{"returned_count", &r.ReturnedCount},
		{"text", &r.Text},
		{"error", &r.Error},
	}
}

func (h *Held) fields() []field {
	return []field{{"items", &h.Items}}
}

// dropNegatives unstates every negative count and returns one phrase for each.
func (s *Snapshot) dropNegatives() []string {
	var found []string
	drop := func(section string, fields []field) {
		for _, f := range fields {
			c, ok := f.into.(*Count)
			if arr, isItems := f.into.(itemCount); isItems {
				c, ok = arr.Count, true
			}
			if ok && c.OK && c.N < 0 {
				found = append(found, section+"."+f.name+" is "+c.String()+": nothing counts below zero")
				*c = Count{}
			}
		}
	}
	drop("request", s.Request.fields())
	drop("response", s.Response.fields())
	drop("held", s.Held.fields())
	return found
}
