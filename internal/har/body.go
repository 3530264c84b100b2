package har

import (
	"bytes"
	"encoding/json"
	"mime"
	"slices"
	"strconv"
	"strings"

	"lastdrop/judge"
)

// The well-known names at the top of a JSON body.
var (
	itemNames = []string{"items", "data", "results", "hits", "records", "rows", "value", "entries", "list"}
	// noItems are lists that go with a page and are not it.
	noItems = []string{"errors", "error", "warnings", "messages", "links", "_links", "facets", "included"}

	totalNames  = []string{"total", "total_count", "totalCount", "total_results", "totalResults", "total_items", "totalItems", "total_hits", "totalHits", "nbHits", "totalElements", "@odata.count"}
	moreNames   = []string{"has_more", "hasMore", "has_next", "hasNext", "has_next_page", "hasNextPage"}
	lastNames   = []string{"is_last", "isLast", "is_last_page", "isLastPage"}
	cutNames    = []string{"truncated", "is_truncated", "isTruncated", "IsTruncated", "incomplete_results"}
	cursorNames = []string{"next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_token", "nextToken"}
	urlNames    = []string{"next_url", "nextUrl", "next_link", "nextLink", "@odata.nextLink"}
	// eitherNames stand for a number, an address or a cursor, whichever it looks like.
	eitherNames  = []string{"next", "next_page", "nextPage"}
	offsetOnName = []string{"next_offset", "nextOffset"}
)

// readBody reads what a body says about itself and its set.
func readBody(body []byte, mimeType string, into *judge.Response) {
	if len(body) == 0 {
		return
	}
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
	valid := json.Valid(body)
	if claimsJSON(mimeType) {
		into.ParseOK = judge.Said(valid)
	}
	if !valid {
		return
	}
	switch top := bytes.TrimLeft(body, " \t\r\n"); top[0] {
	case '[':
		into.Items = length(top)
	case '{':
		o, twice := members(top)
		o.read(into)
		into.Text = o.wording()
		if twice || o.doubtful(2) {
			doubt(into)
		}
	}
}

// claimsJSON reports whether a media type means one JSON value.
func claimsJSON(mimeType string) bool {
	media, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		media, _, _ = strings.Cut(mimeType, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// object is the top of a JSON body: its members by name, without those whose
// name stands twice.
type object map[string]json.RawMessage

// members reads the top of an object that is valid JSON, and whether a name
// stands there twice.
func members(body []byte) (o object, twice bool) {
	o = object{}
	seen := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(body))
	if _, err := dec.Token(); err != nil {
		return o, true
	}
	for dec.More() {
		var raw json.RawMessage
		token, err := dec.Token()
		name, ok := token.(string)
		if err != nil || !ok || dec.Decode(&raw) != nil {
			return object{}, true // cannot be in valid JSON; if it is, nothing is read
		}
		o[name] = raw
		if seen[name] {
			delete(o, name)
			twice = true
		}
		seen[name] = true
	}
	return o, twice
}

// read fills in everything that the members say.
func (o object) read(into *judge.Response) {
	into.Items = o.items()
	into.Total = o.count(totalNames)
	if o.claim([]string{"exhaustiveNbHits"}) == judge.No {
		into.TotalKind = judge.Estimate
	}
	into.HasMore = o.claim(moreNames)
	into.Truncated = o.claim(cutNames)
	switch o.claim(lastNames) {
	case judge.Yes:
		into.EndMarker = judge.Yes
	case judge.No: // the server says that this is not the last page
		into.HasMore = judge.Yes
	case judge.NotSaid:
	}
	o.readContinuation(into)
	o.readNumbered(into)
}

// readContinuation reads every way on.
func (o object) readContinuation(into *judge.Response) {
	into.NextOffset = o.count(offsetOnName)
	into.NextPage = o.count(eitherNames)
	into.NextCursor = o.text(cursorNames)
	into.NextURL = o.text(urlNames)
	either := o.text(eitherNames)
	if href := o.href("next"); href != "" {
		either = judge.T(href)
	}
	switch {
	case !either.OK:
	case either.S == "" || strings.ContainsAny(either.S, "/?"):
		fill(&into.NextURL, either)
	default:
		fill(&into.NextCursor, either)
	}
}

// fill states t where nothing, or an empty text, was stated.
func fill(into *judge.Text, t judge.Text) {
	if into.S == "" {
		*into = t
	}
}

// readNumbered reads the shape {count, next, previous, results}, in which count
// is the size of the set and a next that is null is the end, because next is
// always there. Elsewhere count is as often the size of the page, and a null as
// often nothing at all; neither is read.
func (o object) readNumbered(into *judge.Response) {
	if !o.has("count") || !o.has("next") || !o.has("previous") || !o.has("results") {
		return
	}
	if !into.Total.OK {
		into.Total = count(o["count"])
	}
	if string(o["next"]) == "null" {
		into.EndMarker = judge.Yes
	}
}

func (o object) has(name string) bool {
	_, ok := o[name]
	return ok
}

// items gives the length of the list that the page is about.
func (o object) items() judge.Count {
	for _, name := range itemNames {
		if n := length(o[name]); n.OK {
			return n
		}
	}
	var only judge.Count
	for name, raw := range o {
		n := length(raw)
		if !n.OK || slices.Contains(noItems, name) {
			continue
		}
		if only.OK {
			return judge.Count{}
		}
		only = n
	}
	return only
}

// count gives the one count that stands under any of the names; counts that
// differ say nothing.
func (o object) count(names []string) (one judge.Count) {
	for _, name := range names {
		n := count(o[name])
		if n.OK && one.OK && n != one {
			return judge.Count{}
		}
		if n.OK {
			one = n
		}
	}
	return one
}

// claim gives what the booleans under the names say: yes outweighs no.
func (o object) claim(names []string) (one judge.Claim) {
	for _, name := range names {
		switch string(o[name]) {
		case "true":
			return judge.Yes
		case "false":
			one = judge.No
		}
	}
	return one
}

// text gives the first string under the names, one that is not empty before
// one that is.
func (o object) text(names []string) (first judge.Text) {
	for _, name := range names {
		var s string
		if raw := o[name]; len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
			continue
		}
		if s != "" {
			return judge.T(s)
		}
		first = judge.T("")
	}
	return first
}

// href gives the address inside a link that is an object, or "".
func (o object) href(name string) string {
	var link struct {
		Href string `json:"href"`
	}
	if raw := o[name]; len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &link) != nil {
		return ""
	}
	return link.Href
}

// length gives the length of a JSON array, and nothing for all else.
func length(raw []byte) judge.Count {
	var elements []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &elements) != nil {
		return judge.Count{}
	}
	return judge.N(int64(len(elements)))
}

// count reads a JSON number that is an integer and not negative.
func count(raw []byte) judge.Count {
	text := strings.TrimSuffix(string(raw), ".0")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return judge.Count{}
	}
	return judge.N(n)
}
