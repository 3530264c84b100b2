package judge

import "fmt"

// evidence lists what speaks for completeness, in words; never nil. An error
// answer has none, and neither has an answer that does not join what the
// caller holds.
func (f *facts) evidence() []string {
	found := []string{}
	if f.errorAnswer() || !f.joined() {
		return found
	}
	if phrase := f.counted(); phrase != "" {
		found = append(found, phrase)
	}
	return append(found, f.ends()...)
}

// counted says that an exact total is met, or is empty.
func (f *facts) counted() string {
	r := f.s.Response
	switch {
	case !r.Total.OK || !r.TotalKind.exact() || !f.exact || r.Total.N != f.end:
		return ""
	case f.offset == 0:
		return fmt.Sprintf("total %d = items %d", r.Total.N, r.Items.N)
	default:
		return fmt.Sprintf("total %d = offset %d + items %d, and %d held before it", r.Total.N, f.offset, r.Items.N, f.s.Held.Items.N)
	}
}

// ends lists every way in which the answer states that it ends the set. It
// does not ask whether what stands before is held.
func (f *facts) ends() (found []string) {
	r := f.s.Response
	if r.HasMore == No {
		found = append(found, "has_more is false")
	}
	if r.EndMarker == Yes {
		found = append(found, "an end marker")
	}
	if rel := f.lastLink(); rel != "" {
		found = append(found, `Link has rel="`+rel+`" and no rel="next"`)
	}
	if r.NextCursor.empty() {
		found = append(found, "next_cursor is empty")
	}
	if r.NextURL.empty() {
		found = append(found, "next_url is empty")
	}
	if m := f.measures(); m[0].whole() && m[1].whole() {
		found = append(found, fmt.Sprintf("all %d lines and all %d bytes read", m[1].got.N, m[0].got.N))
	}
	return found
}

// lastLink gives the relation by which a Link header pages without having a
// next page, or "". A header that cannot be read whole never tells, and a link
// with an anchor speaks of another resource.
func (f *facts) lastLink() string {
	if len(f.broken) > 0 {
		return ""
	}
	if links, _ := f.next(); len(links) > 0 {
		return ""
	}
	for _, rel := range []string{"prev", "first", "last"} {
		for _, l := range f.links {
			if _, elsewhere := l.Params["anchor"]; l.Has(rel) && !elsewhere {
				return rel
			}
		}
	}
	return ""
}
