package adapters

import (
	"strings"

	"lastdrop/judge"
)

// Snapshot states what one page claims, for the judge: at is the position that
// was asked for, held the number of items that the caller holds from before
// it.
//
// Where several words say whether there is more, only the most explicit one
// goes in: an end mark, then the has-more flag, then a link or cursor. Of the
// headers only Link does, and only where it may speak.
func (r *Reader) Snapshot(at Position, p Page, resp Response, held int64) judge.Snapshot {
	s := judge.Snapshot{Kind: judge.KindHTTP, Held: judge.Held{Items: judge.N(held)}}
	if p.Size > 0 {
		s.Request.Limit = judge.N(int64(p.Size))
	}
	s.Request.Offset = judge.N(at.Offset)
	if p.Start.OK {
		s.Request.Offset = p.Start
	}
	out := &s.Response
	if resp.Status != 0 {
		out.Status = judge.N(int64(resp.Status))
	}
	out.Items = judge.N(int64(p.Received))
	out.ParseOK = judge.Yes
	if t, ok := bestTotal(p.Totals); ok {
		out.Total, out.TotalKind = judge.N(t.Value), t.Kind
	}
	out.TruncatedBy = strings.Join(p.Partial, "; ")
	out.Text = strings.Join(append(append([]string(nil), p.Wording...), p.Notices...), "; ")
	sayMore(out, p, resp)
	return s
}

// sayMore puts the most explicit word about going on into a snapshot.
func sayMore(out *judge.Response, p Page, resp Response) {
	switch {
	case p.Next.State == Ended && p.Next.Word == wordEndMark:
		out.EndMarker = judge.Yes
		return
	case p.More == judge.No:
		out.HasMore = judge.No
		return
	case p.More == judge.Yes || p.Next.State == Broken:
		out.HasMore = judge.Yes
	}
	if v := resp.Header.Values("Link"); len(v) > 0 && (out.HasMore != judge.Yes || p.Next.Word == wordLink) {
		out.Headers = map[string][]string{"Link": v}
	}
	switch {
	case p.Next.State == Follow && p.Next.At.URL != "":
		out.NextURL = judge.T(p.Next.At.URL)
	case p.Next.State == Follow && len(p.Next.At.Cursor) > 0:
		out.NextCursor = judge.T(cursorText(p.Next.At.Cursor, false))
	case p.Next.State != Ended || out.HasMore == judge.Yes || p.Next.Word == wordLink:
	case p.Next.Word == wordNextURL:
		out.NextURL = judge.T("")
	case p.Next.Word == wordCursor:
		out.NextCursor = judge.T("")
	default:
		out.EndMarker = judge.Yes
	}
}

// bestTotal chooses the total that the judge sees: the body's, else a header's;
// never one that is only computed from a count of pages.
func bestTotal(totals []Total) (Total, bool) {
	for _, source := range []TotalSource{FromBody, FromHeader} {
		for _, t := range totals {
			if t.Source == source {
				return t, true
			}
		}
	}
	return Total{}, false
}
