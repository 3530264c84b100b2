package adapters

import (
	"fmt"
	"regexp"
	"strings"

	"lastdrop/internal/jsonscan"
	"lastdrop/internal/secret"
	"lastdrop/judge"
)

// A counter reads the total out of an answer.
type counter struct {
	spec     TotalSpec
	path     field
	inner    field // the value inside, where the total is an object
	relation field // beside the value
	kind     field
	match    *regexp.Regexp
}

// newCounter registers a spec's total. Where there is none, or it has a request
// of its own, an answer to a page states none.
func newCounter(c *compiler) counter {
	t := c.spec.Total
	n := counter{spec: t}
	if t.Match != "" {
		re, err := regexp.Compile(t.Match)
		switch {
		case err != nil:
			c.fault("total.match: %w", err)
		case re.NumSubexp() != 1:
			c.fault("total.match: %q has %d groups, not one", t.Match, re.NumSubexp())
		}
		n.match = re
	}
	if t.None || t.URL != "" {
		n.spec.Header = ""
		return n
	}
	if t.Path != "" && t.Header != "" {
		c.fault("total: a path or a header, not both")
	}
	n.path = c.field("total.path", t.Path)
	n.kind = c.field("total.kind.path", t.KindPath)
	if t.Path != "" { // search engines write {"value":10000,"relation":"gte"}
		parent, isValue := strings.CutSuffix(t.Path, ".value")
		n.relation = c.field("total.path", parent+".relation")
		if !isValue {
			n.inner = c.field("total.path", t.Path+".value")
		}
	}
	return n
}

// read returns the total that an answer states, from a source. before is the
// number of rows that stand before what the answer begins with.
func (n counter) read(a *Answer, source TotalSource, before int64) (Total, bool) {
	v := a.value(n.path)
	if v.IsObject() {
		v = a.value(n.inner)
	}
	value, kind, ok := int64(0), judge.TotalKind(""), false
	switch {
	case n.spec.Header != "":
		if source == FromBody {
			source = FromHeader
		}
		value, kind, ok = n.number(a.header(n.spec.Header).S)
	case v.IsNumber():
		value, ok = v.Int64()
		ok = ok && value >= 0
	case v.IsString():
		value, kind, ok = n.number(v.Str())
	}
	if !ok {
		return Total{}, false
	}
	if n.spec.CountsRest {
		value = addSat(value, before)
	}
	return Total{Source: source, Value: value, Kind: weaker(weaker(kind, n.stated(a)), relationKind(a.value(n.relation)))}, true
}

// unread says that a total stands where the config names one and is no whole
// number. "" where it is absent, null, or could be read.
func (n counter) unread(a *Answer) string {
	v := a.value(n.path)
	if v.IsObject() && a.value(n.inner).Exists() {
		v = a.value(n.inner)
	}
	if n.spec.Path == "" || !v.Exists() || v.IsNull() || v.IsString() && v.Str() == "" {
		return ""
	}
	if _, ok := n.read(a, FromBody, 0); ok {
		return ""
	}
	return fmt.Sprintf("total.path %q holds %s, which is no whole number: use total.match", n.spec.Path, oneLine(valueText(v)))
}

// absent reports that nothing stands where the config names a total.
func (n counter) absent(a *Answer) bool {
	if n.spec.Header != "" {
		return len(a.Header.Values(n.spec.Header)) == 0
	}
	return n.path != 0 && !a.value(n.path).Exists()
}

// TotalPlace says where the config, or the style, looks for the total in an answer: ""
// where it looks nowhere.
func (r *Reader) TotalPlace() string {
	switch t := r.total; {
	case t.spec.Header != "":
		return fmt.Sprintf("total.header %q", t.spec.Header)
	case t.path != 0:
		return fmt.Sprintf("total.path %q", t.spec.Path)
	}
	return ""
}

// likeTotals is how many numbers of an answer are named that may be its total.
const likeTotals = 5

// TotalsLike names numbers of an answer that may be the total which the config looks
// for elsewhere, as "path = number": those near the top, no less than what came, and
// first those whose names speak of one. What has the name of a secret is none.
func (r *Reader) TotalsLike(body []byte, received int) []string {
	var named, others []string
	for _, n := range jsonscan.TopLevelNumbers(body, int64(max(1, received))) {
		text := oneLine(fmt.Sprintf("%s = %d", n.Path, n.N))
		switch name := strings.ToLower(n.Key); {
		case secret.Sensitive(n.Key):
		case strings.Contains(name, "total"), strings.Contains(name, "count"), strings.Contains(name, "hits"):
			named = append(named, text)
		default:
			others = append(others, text)
		}
	}
	all := append(named, others...)
	return all[:min(len(all), likeTotals)]
}

// stated is the kind that the config or a field of the answer gives a total.
func (n counter) stated(a *Answer) judge.TotalKind {
	switch {
	case n.kind == 0 && n.spec.Kind == "":
		return judge.Exact
	case n.kind == 0:
		return n.spec.Kind
	}
	v := a.value(n.kind)
	if v.Exists() && !v.IsNull() && valueText(v) == n.spec.KindExact {
		return judge.Exact
	}
	if relationKind(v) == judge.LowerBound {
		return judge.LowerBound
	}
	return judge.Estimate
}

// relationKind reads the relation that search engines put beside a total.
func relationKind(v jsonscan.Value) judge.TotalKind {
	switch strings.ToLower(v.Str()) {
	case "gte", "gt", ">=", ">":
		return judge.LowerBound
	}
	return judge.Exact
}

// weaker returns the kind that may be believed less far: an estimate, then a
// lower bound, then an exact total.
func weaker(a, b judge.TotalKind) judge.TotalKind {
	for _, k := range []judge.TotalKind{judge.Estimate, judge.LowerBound} {
		if a == k || b == k {
			return k
		}
	}
	return judge.Exact
}

var grouped = regexp.MustCompile(`^\d{1,3}(,\d{3})+$`)

// number reads a total that is written as a text: "2350", "2,350", "10000+",
// ">10000", "~120". What is no whole number says nothing.
//
// A range of bytes is no count of items, whatever header it stands in.
func (n counter) number(text string) (value int64, kind judge.TotalKind, ok bool) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(strings.ToLower(text), "bytes ") {
		return 0, "", false
	}
	if n.match != nil {
		groups := n.match.FindStringSubmatch(text)
		if groups == nil {
			return 0, "", false
		}
		text = strings.TrimSpace(groups[1])
	}
	kind = judge.Exact
	if rest, cut := strings.CutSuffix(text, "+"); cut {
		text, kind = rest, judge.LowerBound
	}
	for _, mark := range []struct {
		text string
		kind judge.TotalKind
	}{{">=", judge.LowerBound}, {"≥", judge.LowerBound}, {">", judge.LowerBound}, {"~", judge.Estimate}, {"≈", judge.Estimate}} {
		if rest, cut := strings.CutPrefix(text, mark.text); cut {
			text, kind = rest, mark.kind
			break
		}
	}
	text = strings.TrimSpace(text)
	if grouped.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	value, ok = digits(text)
	return value, kind, ok
}

// lastPages reads how many pages the server says there are.
func (r *Reader) lastPages(a *Answer) judge.Count {
	if h := r.spec.Pages.LastHeader; h != "" {
		return headerCount(a.header(h))
	}
	return count(a.value(r.last))
}

// fromLast is the total that the first page's count of pages comes to: no more
// than an estimate, since the last page need not be full. Where another total
// is stated too, it is only given if the two cannot both be true.
func (r *Reader) fromLast(req Request, a *Answer, p *Page, others []Total) (Total, bool) {
	pages := p.LastPages
	if !pages.OK {
		pages = r.linkLast(a)
	}
	if !pages.OK || req.Size <= 0 {
		return Total{}, false
	}
	for _, t := range others {
		for _, size := range []int64{int64(req.Size), int64(p.Received)} {
			if size > 0 && pages.N == t.Value/size+min(t.Value%size, 1) {
				return Total{}, false
			}
		}
	}
	return Total{Source: FromLast, Value: mulSat(pages.N, int64(req.Size)), Kind: judge.Estimate}, true
}

// linkLast returns how many pages the Link with rel=last makes.
func (r *Reader) linkLast(a *Answer) judge.Count {
	for _, l := range a.Links {
		if !l.Has("last") {
			continue
		}
		_, raw, _ := strings.Cut(l.URL, "?")
		name, n, ok := r.tmpl.pageParam(parseQuery(raw))
		if !ok {
			continue
		}
		if p := r.spec.Pages; name == p.NumberParam && p.NumberFirst == 0 {
			n = addSat(n, 1)
		}
		return judge.N(n)
	}
	return judge.Count{}
}
