package judge_test

import (
	"maps"
	"math/big"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"lastdrop/judge"
)

// The oracle is the contract's rule table written a second time, another way:
// each rule is a plain formula over numbers without bounds, and only which
// verdicts a rule gives is asked for. The property tests hold the judge
// against it.
type oracle struct {
	s           judge.Snapshot
	offset, end *big.Int // nil: not known
	next, other bool     // Link has rel next; has prev, first or last
}

func big64(c judge.Count) *big.Int {
	if !c.OK {
		return nil
	}
	return big.NewInt(c.N)
}

// less is a < b where both are known.
func less(a, b *big.Int) bool { return a != nil && b != nil && a.Cmp(b) < 0 }

func same(a, b *big.Int) bool { return a != nil && b != nil && a.Cmp(b) == 0 }

// newOracle understands the snapshots that the generator draws: their Link
// headers are plain enough to be read by looking for words.
func newOracle(s judge.Snapshot) *oracle {
	o := &oracle{s: s, offset: big.NewInt(0)}
	q := s.Request
	switch {
	case q.Offset.OK:
		o.offset = big64(q.Offset)
	case q.Page.OK:
		first := big.NewInt(1)
		if q.FirstPage.OK {
			first = big64(q.FirstPage)
		}
		before := new(big.Int).Sub(big64(q.Page), first)
		switch {
		case before.Sign() < 0:
			o.offset = nil
		case before.Sign() == 0:
		case q.Limit.OK && q.Limit.N > 0:
			o.offset = before.Mul(before, big64(q.Limit))
		default:
			o.offset = nil
		}
	}
	if o.offset != nil && s.Response.Items.OK {
		o.end = new(big.Int).Add(o.offset, big64(s.Response.Items))
	}
	for _, values := range s.Response.Headers {
		for _, v := range values {
			o.next = o.next || strings.Contains(v, "next")
			o.other = o.other || strings.Contains(v, "prev") || strings.Contains(v, "last")
		}
	}
	return o
}

// zero is the offset as the contract has it for TR002: 0 where not known.
func (o *oracle) zero() bool { return o.offset == nil || o.offset.Sign() == 0 }

func (o *oracle) exact() bool {
	return o.s.Response.TotalKind == "" || o.s.Response.TotalKind == judge.Exact
}

func (o *oracle) ended() bool {
	r := o.s.Response
	read := same(big64(r.LinesRead), big64(r.LinesTotal)) && same(big64(r.BytesRead), big64(r.BytesExpected))
	return r.HasMore == judge.No || r.EndMarker == judge.Yes || o.other && !o.next || r.NextCursor == judge.T("") || r.NextURL == judge.T("") || read
}

// joined tells whether all before the offset is known to be held.
func (o *oracle) joined() bool {
	return o.offset != nil && (o.offset.Sign() == 0 || o.s.Held.Items.OK && !less(big64(o.s.Held.Items), o.offset))
}

func (o *oracle) evident() bool {
	st := o.s.Response.Status
	if st.OK && (st.N < 200 || st.N > 299) || !o.joined() {
		return false
	}
	return o.ended() || o.exact() && same(big64(o.s.Response.Total), o.end)
}

// rules gives each rule that fires, once for each verdict.
func (o *oracle) rules() []string {
	r, q := o.s.Response, o.s.Request
	on := map[string]bool{}
	items, total := big64(r.Items), big64(r.Total)
	believed := r.TotalKind != judge.Estimate
	bad := r.Status.OK && (r.Status.N < 200 || r.Status.N > 299)
	reached := o.end
	if reached == nil { // items that are not stated, or a place that is not known, count as 0
		reached = new(big.Int)
		if items != nil {
			reached.Set(items)
		} else if o.offset != nil {
			reached.Set(o.offset)
		}
	}

	kept := big64(r.ReturnedCount)
	if kept == nil {
		kept = items
	}
	on["TR001 TRUNCATED"] = strings.Contains(r.Text, "truncated") || strings.Contains(r.Error, "EOF") || r.NextOffset.OK ||
		r.Truncated == judge.Yes || r.TruncatedBy != "" || less(kept, big64(r.OriginalCount))
	on["TR002 TRUNCATED"] = o.zero() && believed && less(items, total)
	on["TR003 TRUNCATED"] = r.HasMore == judge.Yes || r.NextCursor.S != "" || r.NextURL.S != "" || r.NextPage.OK
	on["TR004 TRUNCATED"] = o.next
	on["TR005 TRUNCATED"] = r.ParseOK == judge.No && !bad || less(big64(r.BytesRead), big64(r.BytesExpected)) ||
		less(big64(r.LinesRead), big64(r.LinesTotal)) || less(big64(r.CharsRead), big64(r.CharsTotal))
	silent := !r.Total.OK && r.HasMore == judge.NotSaid && r.EndMarker == judge.NotSaid && len(r.Headers) == 0 &&
		!r.NextOffset.OK && !r.NextPage.OK && !r.NextCursor.OK && !r.NextURL.OK
	on["TR006 UNKNOWN"] = less(items, big64(q.Limit)) && slices.Contains(judge.CommonCaps, r.Items.N) && silent
	early := slices.Contains(slices.Collect(maps.Values(on)), true)

	empty := r.Items.OK && r.Items.N == 0
	some := r.Total.OK && r.Total.N > 0
	on["TR007 TRUNCATED"] = empty && some && believed
	on["TR007 UNKNOWN"] = empty && some && !believed || empty && !r.Total.OK && !early && !o.ended()
	on["TR008 TRUNCATED"] = o.offset != nil && o.offset.Sign() > 0 && believed && less(o.end, total)
	later := o.offset == nil || o.offset.Sign() > 0
	atEnd := items != nil && total != nil && !less(reached, total)
	first := o.offset
	if first == nil {
		first = big.NewInt(0)
	}
	on["TR008 UNKNOWN"] = r.FirstIndex.OK && !same(big64(r.FirstIndex), first) || later && !o.joined() && (atEnd || o.ended())
	lost := false
	for id, fires := range on {
		lost = lost || fires && strings.HasSuffix(id, "TRUNCATED")
	}
	on["TR009 UNKNOWN"] = !lost && !o.evident()
	on["TR010 UNKNOWN"] = bad
	on["TR011 UNKNOWN"] = o.odd(reached)
	var fired []string
	for id, fires := range on {
		if fires {
			fired = append(fired, id)
		}
	}
	slices.Sort(fired)
	return fired
}

func (o *oracle) odd(reached *big.Int) bool {
	r, q := o.s.Response, o.s.Request
	limits := new(big.Int).SetUint64(1<<63 - 1)
	ways := r.NextOffset.OK || r.NextPage.OK || r.NextCursor.S != "" || r.NextURL.S != "" || o.next
	first := judge.N(1)
	if q.FirstPage.OK {
		first = q.FirstPage
	}
	return o.exact() && less(big64(r.Total), reached) ||
		less(big64(r.BytesExpected), big64(r.BytesRead)) || less(big64(r.LinesTotal), big64(r.LinesRead)) || less(big64(r.CharsTotal), big64(r.CharsRead)) ||
		r.HasMore == judge.No && ways ||
		r.ReturnedCount.OK && r.Items.OK && r.ReturnedCount != r.Items ||
		!q.Offset.OK && q.Page.OK && q.Page.N < first.N ||
		less(limits, o.offset) || less(limits, reached)
}

func (o *oracle) verdict() judge.Verdict {
	v := judge.Complete
	for _, id := range o.rules() {
		if strings.HasSuffix(id, "TRUNCATED") {
			v = judge.Truncated
		} else if v != judge.Truncated {
			v = judge.Unknown
		}
	}
	return v
}

// genSnapshot draws snapshots of few, small numbers, so that they often meet,
// and leaves most fields unsaid.
func genSnapshot() *rapid.Generator[judge.Snapshot] {
	return rapid.Custom(func(t *rapid.T) judge.Snapshot {
		count := func(name string, of ...int64) judge.Count {
			if rapid.IntRange(0, 2).Draw(t, name+"?") > 0 {
				return judge.Count{}
			}
			return judge.N(rapid.SampledFrom(of).Draw(t, name))
		}
		claim := func(name string) judge.Claim {
			return rapid.SampledFrom([]judge.Claim{0, 0, judge.Yes, judge.No, judge.No}).Draw(t, name)
		}
		text := func(name string, of ...string) judge.Text {
			if rapid.IntRange(0, 3).Draw(t, name+"?") > 0 {
				return judge.Text{}
			}
			return judge.T(rapid.SampledFrom(of).Draw(t, name))
		}
		var s judge.Snapshot
		s.Kind = rapid.SampledFrom([]judge.Kind{judge.KindList, judge.KindHTTP, judge.KindFile, judge.KindTool}).Draw(t, "kind")
		s.Request = judge.Request{
			Limit: count("limit", 0, 10, 11, 20, 1<<62), Offset: count("offset", 0, 10, 20, 1<<63-1),
			Page: count("page", 0, 1, 2, 3, 1<<40), FirstPage: count("first_page", 0, 1, 2),
		}
		r := &s.Response
		r.Status = count("status", 200, 201, 200, 404, 503)
		if rapid.Bool().Draw(t, "items?") {
			r.Items = judge.N(rapid.SampledFrom([]int64{0, 10, 10, 11, 20, 1<<63 - 1}).Draw(t, "items"))
		}
		if rapid.Bool().Draw(t, "total?") {
			r.Total = judge.N(rapid.SampledFrom([]int64{0, 10, 20, 30, 1<<63 - 1}).Draw(t, "total"))
		}
		r.TotalKind = rapid.SampledFrom([]judge.TotalKind{"", "", judge.Exact, judge.Estimate, judge.LowerBound}).Draw(t, "total_kind")
		r.HasMore, r.EndMarker, r.ParseOK, r.Truncated = claim("has_more"), claim("end_marker"), claim("parse_ok"), claim("truncated")
		r.NextOffset, r.NextPage = count("next_offset", 0, 20), count("next_page", 0, 2)
		r.NextCursor, r.NextURL = text("next_cursor", "", "", "c"), text("next_url", "", "", "/n")
		r.FirstIndex = count("first_index", 0, 10)
		r.BytesRead, r.BytesExpected = count("bytes_read", 0, 5), count("bytes_expected", 0, 5)
		r.LinesRead, r.LinesTotal = count("lines_read", 0, 5), count("lines_total", 0, 5)
		r.CharsRead, r.CharsTotal = count("chars_read", 0, 5), count("chars_total", 0, 5)
		r.OriginalCount, r.ReturnedCount = count("original_count", 10, 20), count("returned_count", 10, 20)
		r.TruncatedBy = text("truncated_by", "", "bytes").S
		r.Text, r.Error = text("text", "", "fine", "it was truncated").S, text("error", "", "reset", "unexpected EOF").S
		if rapid.IntRange(0, 2).Draw(t, "Link?") == 0 {
			r.Headers = map[string][]string{
				rapid.SampledFrom([]string{"Link", "link", "LINK"}).Draw(t, "name"): rapid.SliceOfN(rapid.SampledFrom([]string{
					`</n>; rel="next"`, "</p>; rel=prev", `</p>; title="a, b"; rel='last'`, "</s>; rel=self", "</x>; rel=self, </n>; rel=next",
				}), 1, 3).Draw(t, "Link"),
			}
		}
		s.Held.Items = count("held", 0, 10, 20, 1<<63-1)
		return s
	})
}
