package sim

// api draws the shape of an honest API of one style.
func (r roll) api(style Style, p Profile) API {
	a := API{Style: style, Addressing: addressings[style]}
	a.Size.Default = pick(r, 20, 5, 10, 50, 1, r.between(2, 50))
	a.Items = pick(r, "items", "", "data.items", "hits", "results")
	a.ID = pick(r, "id", "id", "_id", "meta.id")
	a.FirstPage = pick(r, 1, 0)
	r.sizeRule(&a)
	r.shape(&a, style)
	r.totalRule(&a, p)
	r.endRules(&a)
	a.Gzip = pick(r, GzipNever, GzipAsked, GzipAsked)
	if a.Items != "" && r.yes(6) {
		a.Extra = []Extra{{"status", `"ok"`}, {"truncated", "false"}}
	}
	if r.yes(12) {
		a.Auth = Header{"X-Token", "secret"}
	}
	return a
}

// sizeRule draws the page size's rules.
func (r roll) sizeRule(a *API) {
	if r.yes(2) {
		return
	}
	a.Size.Max = a.Size.Default * r.between(1, 3)
	a.Size.Over = pick(r, OverClamp, OverClamp, OverReject)
	if a.Items != "" && r.yes(2) {
		a.Size.Echo = "limit"
		a.Size.EchoAsked = r.yes(4)
	}
}

// shape draws what belongs to a style.
func (r roll) shape(a *API, style Style) {
	switch style {
	case Algolia:
		a.Items, a.FirstPage, a.ID = "hits", 0, "objectID"
		a.Params = Params{Size: "hitsPerPage", Page: "page"}
		a.Last.Path, a.Echo.Page = "nbPages", "page"
	case Link:
		r.linkShape(a)
	case NextURL:
		r.nextShape(a)
	case Cursor:
		r.tokenShape(a)
	case GraphQL:
		r.graphShape(a)
	case Keyset:
		r.keyShape(a)
	case Page, Offset:
		if a.Items != "" && r.yes(3) {
			a.Echo = EchoRule{Page: "page", Offset: "offset"}
		}
		a.PastEnd = pick(r, PastEmpty, PastEmpty, Past404, Past422, PastClamp)
	case Single:
		a.Params.Size = ""
	}
}

func (r roll) linkShape(a *API) {
	a.Addressing = pick(r, ByPage, ByOffset, ByToken, ByKey)
	a.Links = LinkRule{
		Form:     pick(r, LinkPlain, LinkAttrs, LinkUnquoted, LinkMulti, LinkSplit, LinkUpper, LinkResults),
		Relative: r.yes(3), Others: !r.yes(3), Last: r.yes(2), EmptyAtEnd: r.yes(4),
	}
	if a.Addressing == ByKey {
		a.Key.ID = r.yes(2)
		a.Params.KeyThen = "after_id"
	}
}

func (r roll) nextShape(a *API) {
	r.enclose(a)
	a.Addressing = pick(r, ByOffset, ByPage, ByToken)
	a.Next = NextRule{
		Path: pick(r, "next", `@odata\.nextLink`, "links.next"), Relative: r.yes(3),
		End: pick(r, EndNull, EndAbsent, EndEmpty),
	}
	a.Token.Kind = pick(r, TokenKey, TokenOffset)
}

// enclose gives the API an envelope.
func (r roll) enclose(a *API) {
	if a.Items == "" {
		a.Items = pick(r, "items", "data")
	}
}

func (r roll) tokenShape(a *API) {
	a.Token = TokenRule{
		Kind: pick(r, TokenKey, TokenOffset, TokenSnapshot, TokenPage),
		End:  pick(r, EndNull, EndEmpty, EndAbsent, EndSame), Always: r.yes(4),
	}
	if r.yes(4) {
		a.Token.Header = "X-Next-Cursor"
		if a.Token.End == EndNull {
			a.Token.End = EndEmpty
		}
	} else {
		r.enclose(a)
		a.Token.Path = pick(r, "next_cursor", "paging.next.after", "meta.cursor")
	}
	if r.yes(8) && a.Token.Kind != TokenPage {
		a.Token.Seed = "*"
	}
	if a.Token.Path != "" && r.yes(4) {
		a.Post = true
		a.Params = Params{Size: "limit", Cursor: "after"}
	}
}

func (r roll) graphShape(a *API) {
	a.Edges = r.yes(2)
	a.Items = "data.things.nodes"
	if a.Edges {
		a.Items = "data.things.edges"
	}
	a.ID = "id"
	a.Token = TokenRule{
		Kind: pick(r, TokenKey, TokenOffset), Path: "data.things.pageInfo.endCursor", End: EndNull, Always: true,
	}
	a.More = MoreRule{Path: "data.things.pageInfo.hasNextPage"}
}

func (r roll) keyShape(a *API) {
	a.Key = KeyRule{ID: r.yes(2), Inclusive: r.yes(4), Quote: r.yes(5)}
	if !a.Key.ID {
		a.Key.ByItem = !r.yes(3)
	}
	if a.Key.ByItem {
		a.Key.Inclusive = false
	}
	if a.Key.Inclusive {
		a.Size.Default = max(a.Size.Default, 2)
		a.Size.Max = max(a.Size.Max, min(2*a.Size.Max, 2))
	}
	a.Params = Params{Key: pick(r, "starting_after", "last", "since_id")}
}

// totalRule draws a total.
func (r roll) totalRule(a *API, p Profile) {
	rule := TotalRule{Kind: pick(r, TotalExact, TotalNone, TotalExact, TotalEstimate, TotalBound, TotalRest)}
	if p != Clean && p != Faulty && r.yes(4) {
		rule.Kind = pick(r, TotalEcho, TotalFixed, TotalJitter)
	}
	switch rule.Kind {
	case TotalBound:
		rule.Value = r.between(1, 100)
	case TotalFixed:
		rule.Value = r.IntN(200)
	case TotalJitter:
		rule.Value = r.between(1, 3)
	}
	if a.Items == "" || r.yes(4) {
		rule.Header = pick(r, "X-Total-Count", "Content-Range")
		rule.Range = rule.Header == "Content-Range"
	} else {
		rule.Path = pick(r, "total", "meta.total_count")
		rule.Text = r.yes(6)
		rule.KindPath = map[TotalKind]string{TotalEstimate: "exhaustive", TotalBound: "relation"}[rule.Kind]
	}
	switch a.Style {
	case Algolia:
		rule = TotalRule{Kind: rule.Kind, Path: "nbHits", Value: rule.Value, KindPath: "exhaustiveNbHits"}
		if rule.Kind == TotalBound || rule.Kind == TotalNone || rule.Kind == TotalRest {
			rule.Kind = TotalExact
		}
	case GraphQL:
		rule.Path, rule.Header, rule.Range, rule.KindPath = "data.things.totalCount", "", false, ""
	}
	if rule.Kind == TotalNone {
		rule = TotalRule{}
	}
	a.Total = rule
}

// endRules draws the words for the end.
func (r roll) endRules(a *API) {
	a.Eager = r.yes(5) && a.PastEnd == "" && a.Style != Single && a.Style != Algolia
	if a.Style == GraphQL || a.Style == Algolia {
		return
	}
	if r.yes(2) {
		a.More = MoreRule{Inverted: r.yes(3), AbsentFalse: r.yes(4)}
		if a.More.Inverted {
			a.More.AbsentFalse = false
		}
		if a.Items == "" || r.yes(5) {
			a.More.Header = "X-Has-More"
		} else {
			a.More.Path = pick(r, "has_more", "meta.more")
		}
	}
	if a.Addressing == ByPage && r.yes(3) {
		if a.Items == "" {
			a.Last.Header = "X-Total-Pages"
		} else {
			a.Last.Path = "total_pages"
		}
	}
	if a.Items != "" {
		a.EmptyItems = pick(r, EmptyArray, EmptyArray, EmptyArray, EmptyNull, EmptyAbsent)
	}
}
