package judge

import (
	"fmt"
	"slices"
	"strings"
)

// apply runs every rule and returns those that fired, in rule order. evident
// says whether any completeness evidence stands.
func (f *facts) apply(evident bool) []Rule {
	rules := []Rule{} // never nil: the list is always there
	for _, rule := range []func(*facts) []Rule{tr001, tr002, tr003, tr004, tr005, tr006} {
		rules = append(rules, rule(f)...)
	}
	rules = append(rules, tr007(f, len(rules) > 0)...)
	rules = append(rules, tr008(f)...)
	last := append(tr010(f), tr011(f)...)
	rules = append(rules, tr009(evident, lost(rules))...)
	return append(rules, last...)
}

// lost reports whether any rule says Truncated. TR010 and TR011 never do.
func lost(rules []Rule) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.Verdict == Truncated })
}

// fire makes a rule that fired; its layer comes from the table.
func fire(id string, v Verdict, format string, args ...any) Rule {
	return Rule{ID: id, Layer: layerOf[id], Verdict: v, Evidence: fmt.Sprintf(format, args...)}
}

// tr001: the answer says in words or marker fields that it was cut.
func tr001(f *facts) (fired []Rule) {
	r := f.s.Response
	loss := func(format string, args ...any) { fired = append(fired, fire("TR001", Truncated, format, args...)) }
	if hits := wording(r.Text); len(hits) > 0 {
		loss("text says that it was cut: %s", strings.Join(hits, ", "))
	}
	if hits := wording(r.Error); len(hits) > 0 {
		loss("error says that it was cut: %s", strings.Join(hits, ", "))
	}
	if r.NextOffset.OK {
		loss("next_offset is %d: the server names what follows", r.NextOffset.N)
	}
	if r.Truncated == Yes {
		loss("truncated is true")
	}
	if r.TruncatedBy != "" {
		loss("truncated_by is %s", quote(r.TruncatedBy))
	}
	name, kept := "returned_count", r.ReturnedCount
	if !kept.OK {
		name, kept = "items", r.Items
	}
	if r.OriginalCount.OK && kept.OK && r.OriginalCount.N > kept.N {
		loss("original_count %d, %s %d: %d left out", r.OriginalCount.N, name, kept.N, r.OriginalCount.N-kept.N)
	}
	return fired
}

// wording gives every entry of TruncationWording that s has, quoted.
func wording(s string) (hits []string) {
	if s == "" {
		return nil
	}
	low := strings.ToLower(s)
	for _, w := range TruncationWording {
		if strings.Contains(low, w) {
			hits = append(hits, quote(w))
		}
	}
	return hits
}

// tr002: from the start, fewer items than the declared total.
func tr002(f *facts) []Rule {
	r := f.s.Response
	if f.offset != 0 || !r.Items.OK {
		return nil
	}
	if n := f.missing(r.Items.N); n > 0 {
		return []Rule{fire("TR002", Truncated, "%s declared, %d items received: %s missing", f.totalWords(), r.Items.N, f.amount(n))}
	}
	return nil
}

// totalWords names the total with its kind, where that is not exact.
func (f *facts) totalWords() string {
	r := f.s.Response
	switch {
	case r.TotalKind.exact():
		return fmt.Sprintf("total %d", r.Total.N)
	case r.TotalKind == LowerBound:
		return fmt.Sprintf("a total of at least %d", r.Total.N)
	default:
		return fmt.Sprintf("an estimated total of %d", r.Total.N)
	}
}

// amount says how many are missing by a total of this kind.
func (f *facts) amount(n int64) string {
	if f.s.Response.TotalKind == LowerBound {
		return fmt.Sprintf("at least %d", n)
	}
	return fmt.Sprint(n)
}

// tr003: the server says that there is more, or hands out a way on.
func tr003(f *facts) (fired []Rule) {
	r := f.s.Response
	loss := func(format string, args ...any) { fired = append(fired, fire("TR003", Truncated, format, args...)) }
	if r.HasMore == Yes {
		loss("has_more is true")
	}
	if r.NextCursor.filled() {
		loss("next_cursor is %s", quote(r.NextCursor.S))
	}
	if r.NextURL.filled() {
		loss("next_url is %s", quote(r.NextURL.S))
	}
	if r.NextPage.OK {
		loss("next_page is %d", r.NextPage.N)
	}
	return fired
}

// tr004: a Link header names a next page, be it readable or not.
func tr004(f *facts) (fired []Rule) {
	links, raw := f.next()
	for _, l := range links {
		fired = append(fired, fire("TR004", Truncated, `Link has rel="next": %s`, quote(l.URL)))
	}
	for _, part := range raw {
		fired = append(fired, fire("TR004", Truncated, `Link cannot be read, and names rel="next": %s`, quote(part)))
	}
	return fired
}

// tr005: half a body.
func tr005(f *facts) (fired []Rule) {
	if f.s.Response.ParseOK == No && !f.errorAnswer() {
		status := ""
		if f.ok2xx() {
			status = fmt.Sprintf("status %d, and ", f.s.Response.Status.N)
		}
		fired = append(fired, fire("TR005", Truncated, "%sthe body does not parse: half a body, not bad data", status))
	}
	for _, m := range f.measures() {
		if m.short() {
			fired = append(fired, fire("TR005", Truncated, "%d of %d %s read: %d short", m.got.N, m.want.N, m.unit, m.want.N-m.got.N))
		}
	}
	return fired
}

// tr006: fewer than asked, as many as servers like to cap at, and no word
// about the set. A suspicion, and so never more than Unknown.
func tr006(f *facts) []Rule {
	limit, items := f.s.Request.Limit, f.s.Response.Items
	if !limit.OK || !items.OK || limit.N <= items.N || !slices.Contains(CommonCaps, items.N) || f.spoken() {
		return nil
	}
	return []Rule{fire("TR006", Unknown, "%d asked for, %d items received, a common cap, and no total, has_more, continuation, end marker or Link: a silent cap and the whole set look alike", limit.N, items.N)}
}

// spoken reports whether the answer says anything at all about the set.
func (f *facts) spoken() bool {
	r := f.s.Response
	return r.Total.OK || r.HasMore != NotSaid || r.EndMarker != NotSaid || f.hasLink ||
		r.NextOffset.OK || r.NextPage.OK || r.NextCursor.OK || r.NextURL.OK
}

// tr007: an empty page. earlier says whether any of TR001 to TR006 fired.
func tr007(f *facts, earlier bool) []Rule {
	r := f.s.Response
	if !r.Items.is(0) {
		return nil
	}
	switch {
	case r.Total.OK && r.Total.N > 0 && r.TotalKind.atLeast():
		return []Rule{fire("TR007", Truncated, "0 items, and %s declared: an empty page is no end", f.totalWords())}
	case r.Total.OK && r.Total.N > 0:
		return []Rule{fire("TR007", Unknown, "0 items, and %s", f.totalWords())}
	case !r.Total.OK && !earlier && len(f.ends()) == 0:
		return []Rule{fire("TR007", Unknown, "0 items and no other word: an empty page is no end")}
	}
	return nil
}

// tr008: what was received does not fit to where it was asked for, or to what
// the caller holds.
func tr008(f *facts) (fired []Rule) {
	r := f.s.Response
	if r.FirstIndex.OK && r.FirstIndex.N != f.offset {
		fired = append(fired, fire("TR008", Unknown, "asked for offset %d, the first item received has index %d", f.offset, r.FirstIndex.N))
	}
	if n := f.missing(f.end); n > 0 && f.offset > 0 && r.Items.OK {
		fired = append(fired, fire("TR008", Truncated, "items %d to %d received, %s declared: %s missing", f.offset, f.end, f.totalWords(), f.amount(n)))
	}
	atEnd := r.Total.OK && r.Items.OK && f.end >= r.Total.N
	if f.later() && (atEnd || len(f.ends()) > 0) && !f.joined() {
		fired = append(fired, fire("TR008", Unknown, "%s", f.gap()))
	}
	return fired
}

// gap says why what stands before the answer is not known to be held.
func (f *facts) gap() string {
	switch {
	case f.offset == 0:
		return fmt.Sprintf("page %d asked for, and nothing says where it begins: what stands before it may not be held", f.s.Request.Page.N)
	case !f.s.Held.Items.OK:
		return fmt.Sprintf("asked from offset %d, and nothing says that the %d items before it are held", f.offset, f.offset)
	default:
		return fmt.Sprintf("asked from offset %d, and only %d of the items before it are held", f.offset, f.s.Held.Items.N)
	}
}

// tr009: no evidence either way.
func tr009(evident, lost bool) []Rule {
	if evident || lost {
		return nil
	}
	return []Rule{fire("TR009", Unknown, "no evidence of loss and none of completeness: that nothing says truncated proves nothing")}
}

// tr010: an error answer.
func tr010(f *facts) []Rule {
	if !f.errorAnswer() {
		return nil
	}
	return []Rule{fire("TR010", Unknown, "status %d: an error answer says nothing about the set", f.s.Response.Status.N)}
}

// tr011: the answer contradicts itself.
func tr011(f *facts) (fired []Rule) {
	r := f.s.Response
	odd := func(format string, args ...any) { fired = append(fired, fire("TR011", Unknown, format, args...)) }
	if r.Total.OK && r.TotalKind.exact() && r.Total.N < f.end {
		odd("total %d declared, and the answer reaches from offset %d to %d", r.Total.N, f.offset, f.end)
	}
	for _, m := range f.measures() {
		if m.over() {
			odd("%d %s read, and only %d expected", m.got.N, m.unit, m.want.N)
		}
	}
	if r.HasMore == No && f.continued() {
		odd("has_more is false, and a continuation is given")
	}
	if r.ReturnedCount.OK && r.Items.OK && r.ReturnedCount.N != r.Items.N {
		odd("returned_count %d, and %d items received", r.ReturnedCount.N, r.Items.N)
	}
	for _, o := range f.oddity {
		odd("%s", o)
	}
	return fired
}
