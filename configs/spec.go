package configs

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
	"lastdrop/internal/secret"
	"lastdrop/judge"
)

// Spec gives what the adapters need: how the API pages. Headers with secrets
// are not among its headers: Auth holds them. source.cache is not part of it
// either.
func (c *Config) Spec() adapters.Spec {
	s := adapters.Spec{
		URL: c.Source.URL, Method: c.Source.Method, Body: c.Source.Body.V,
		Params: map[string][]string{}, Headers: map[string]string{},
		Pages: c.Pages.spec(), Items: c.Items.spec(), Total: c.Total.spec(),
		Errors: c.Errors.strings(), ErrorsSet: c.Errors != nil,
	}
	for name, values := range c.Source.Params {
		s.Params[name] = values
	}
	for name, value := range c.Source.Headers {
		if !secret.Sensitive(name) {
			s.Headers[name] = value
		}
	}
	for _, sign := range c.Partial {
		s.Partial = append(s.Partial, sign.spec())
	}
	return s
}

// Sets gives the parameters that turn the order round; none without them.
func (v *Reverse) Sets() []adapters.Set {
	if v == nil {
		return nil
	}
	var out []adapters.Set
	for _, name := range slices.Sorted(maps.Keys(v.Params)) {
		set := adapters.Set{Param: name}
		for _, value := range v.Params[name] {
			set.Values = append(set.Values, value)
		}
		out = append(out, set)
	}
	return out
}

// Probe gives the sentinel's request; nil where the sentinel is an item.
func (s *Sentinel) Probe() *adapters.Probe {
	if s == nil || !s.asks() {
		return nil
	}
	p := &adapters.Probe{URL: s.URL, Path: string(s.Path), Params: map[string][]string{}}
	for name, values := range s.Params {
		p.Params[name] = values
	}
	return p
}

// ItemID gives the canonical id of the item that must be held, as adapters.Item
// has it; nil where the sentinel is a request.
func (s *Sentinel) ItemID() []byte {
	if s == nil || s.ID.V == nil {
		return nil
	}
	return jsonscan.AppendCanonical(nil, mustEncode(s.ID.V))
}

// Probe gives the request for the mark of change; nil without one.
func (s *Still) Probe() *adapters.Probe {
	if s == nil {
		return nil
	}
	return &adapters.Probe{URL: s.URL, Path: string(s.Path)}
}

func (s Sign) spec() adapters.Condition {
	cond := adapters.Condition{Path: string(s.Path), Below: string(s.Below), Present: s.Present}
	if s.Is != nil {
		is := string(*s.Is)
		cond.Is = &is
	}
	return cond
}

func (i Items) spec() adapters.Items {
	s := adapters.Items{Path: string(i.Path), IDs: i.ID.strings(), AbsentIsEmpty: i.AbsentIsEmpty, Format: i.Format, Merge: i.Merge, Batch: string(i.Batch)}
	if s.Format == "" {
		s.Format = "json"
	}
	if i.Check != nil {
		s.CheckPath, s.CheckEquals = string(i.Check.Path), string(i.Check.Equals)
	}
	return s
}

func (t Total) spec() adapters.TotalSpec {
	return adapters.TotalSpec{
		Path: string(t.Path), Header: t.Header, Match: t.Match, URL: t.URL, Method: t.Method, Body: t.Body.V, None: t.None,
		Kind: t.Kind.Word, KindPath: string(t.Kind.Path), KindExact: string(t.Kind.Exact), CountsRest: t.Counts == "rest",
	}
}

func (p *Pages) spec() adapters.Pages {
	s := adapters.Pages{Style: p.Style, Reach: p.Reach, SizeParam: p.Size.Param, SizeStart: p.Size.Start, SizeMin: p.Size.Min, SizeMax: p.Size.Max}
	p.positions(&s)
	p.endMarks(&s)
	if p.Pin != nil {
		s.PinParam, s.PinPath = p.Pin.Param, string(p.Pin.Path)
	}
	if p.Sort != nil {
		s.SortParam, s.SortValue, s.SortUnique = p.Sort.Param, string(p.Sort.Value), p.Sort.Unique
	}
	return s
}

// positions says how a position travels.
func (p *Pages) positions(s *adapters.Pages) {
	if n := p.Number; n != nil {
		s.NumberParam = n.Param
		if n.First != nil {
			s.NumberFirst = *n.First
		}
		if n.Echo != nil {
			s.NumberEcho = string(n.Echo.Path)
		}
	}
	if o := p.Offset; o != nil {
		s.OffsetParam, s.OffsetFirst = o.Param, o.First
		if o.Advance != nil {
			s.OffsetAdvance = string(o.Advance.Path)
		}
	}
	if k := p.Cursor; k != nil {
		s.CursorPath, s.CursorHeader, s.SameIsEnd = string(k.Path), k.Header, k.SameIsEnd
		if k.Param != nil {
			s.CursorParam = *k.Param
		}
	}
	if n := p.Next; n != nil {
		s.NextPath, s.NextRebase = string(n.Path), n.Rebase
	}
	if k := p.Keyset; k != nil {
		s.KeysetParam, s.KeysetPath, s.KeysetInclusive, s.KeysetQuoteJSON = k.Param, string(k.Path), k.Inclusive, k.Quote == "json"
	}
}

// endMarks says what the API says about its end.
func (p *Pages) endMarks(s *adapters.Pages) {
	if m := p.More; m != nil {
		s.MorePath, s.MoreHeader, s.MoreEndWhen = string(m.Path), m.Header, m.EndWhen
		if m.Absent != nil {
			endWhen := m.EndWhen != nil && *m.EndWhen
			s.MoreAbsent = judge.Said(*m.Absent != endWhen)
		}
	}
	if l := p.Last; l != nil {
		s.LastPath, s.LastHeader = string(l.Path), l.Header
	}
	if p.Link != nil {
		s.LinkEndWhen = maps.Clone(p.Link.EndWhen)
	}
	for _, e := range p.End {
		switch e.Word {
		case shortPage:
			s.EndShortPage = true
		case emptyPage:
			s.EndEmptyPage = true
		case absentLink, absentContinuation:
			s.EndAbsentContinuation = true
		default:
			s.EndStatus = append(s.EndStatus, adapters.EndStatus{Status: e.Status, Path: string(e.Path), Is: string(e.Is)})
		}
	}
}

// AuthKind says how credentials are sent. The zero value is "not at all".
type AuthKind uint8

// The kinds of credentials.
const (
	AuthNone AuthKind = iota
	AuthBearer
	AuthBasic
	AuthHeader
	AuthQuery
)

// String names the kind as the config does; none is empty.
func (k AuthKind) String() string {
	switch k {
	case AuthNone:
		return ""
	case AuthBearer:
		return "bearer"
	case AuthBasic:
		return "basic"
	case AuthHeader:
		return "header"
	case AuthQuery:
		return "query"
	default:
		return ""
	}
}

// Credentials are what a request carries as proof of who asks. They belong to
// the origin of source.url and must never be sent to another one.
type Credentials struct {
	Kind     AuthKind
	User     secret.Value // basic
	Password secret.Value // basic
	Name     string       // header, query
	Value    secret.Value // bearer, header, query
	// Headers are those of source.headers whose names say that they hold
	// secrets; they may be there with any kind.
	Headers map[string]secret.Value
}

// Auth gives the credentials.
func (c *Config) Auth() Credentials {
	k := Credentials{Headers: map[string]secret.Value{}}
	for name, value := range c.Source.Headers {
		if secret.Sensitive(name) {
			k.Headers[name] = secret.Value(value)
		}
	}
	switch a := c.Source.Auth; {
	case a == nil:
	case a.Bearer != "":
		k.Kind, k.Value = AuthBearer, a.Bearer
	case a.Basic != nil:
		k.Kind, k.User, k.Password = AuthBasic, a.Basic.User, a.Basic.Password
	case a.Header != nil:
		k.Kind, k.Name, k.Value = AuthHeader, a.Header.Name, a.Header.Value
	case a.Query != nil:
		k.Kind, k.Name, k.Value = AuthQuery, a.Query.Name, a.Query.Value
	}
	return k
}

// Apply puts the credentials into a request, in the place of what stands there
// under their names. All else in its URL stays byte by byte. Whoever calls it
// has made sure that the request goes to the source's own origin.
func (k Credentials) Apply(req *http.Request) {
	for name, value := range k.Headers {
		req.Header.Set(name, value.Reveal())
	}
	switch k.Kind {
	case AuthNone:
	case AuthBearer:
		req.Header.Set("Authorization", "Bearer "+k.Value.Reveal())
	case AuthBasic:
		req.SetBasicAuth(k.User.Reveal(), k.Password.Reveal())
	case AuthHeader:
		req.Header.Set(k.Name, k.Value.Reveal())
	case AuthQuery:
		req.URL.RawQuery = setParam(req.URL.RawQuery, k.Name, k.Value.Reveal())
	}
}

// setParam gives a query one value of a parameter.
func setParam(query, name, value string) string {
	var parts []string
	for part := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(key); part != "" && (err != nil || plain != name) {
			parts = append(parts, part)
		}
	}
	return strings.Join(append(parts, url.QueryEscape(name)+"="+url.QueryEscape(value)), "&")
}
