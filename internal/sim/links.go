package sim

import "strings"

// linkLines are the Link headers of the page.
func (x *exchange) linkLines() []string {
	if x.page.links != nil {
		return x.page.links
	}
	rule := x.api.Links
	links := x.otherLinks()
	switch {
	case !x.ended():
		links = append(links, x.link(x.page.next, "next"))
	case rule.Form == LinkResults:
		next := x.urlFor(x.page.next, rule.Relative, "")
		links = append(links, "<"+next+`>; rel="next"; results="false"`)
	}
	switch {
	case len(links) == 0 && rule.EmptyAtEnd:
		return []string{""}
	case len(links) == 0:
		return nil
	case rule.Form == LinkSplit:
		return links
	default:
		return []string{strings.Join(links, ", ")}
	}
}

// otherLinks are the relations beside next.
func (x *exchange) otherLinks() []string {
	rule, p := x.api.Links, x.ask.place
	var out []string
	if rule.Others {
		out = append(out, x.link(x.firstPlace(), "first"))
	}
	if rule.Last && p.how == ByPage && x.page.last > 0 {
		last := place{how: ByPage, page: x.api.FirstPage + x.page.last - 1}
		out = append(out, x.link(last, "last"))
	}
	return out
}

// firstPlace is the start of the list.
func (x *exchange) firstPlace() place {
	p := place{how: x.api.Addressing, page: x.api.FirstPage}
	switch p.how {
	case ByToken, ByKey:
		p.how = ByNone
	}
	return p
}

// link writes one link value.
func (x *exchange) link(p place, rel string) string {
	u := "<" + x.urlFor(p, x.api.Links.Relative, "") + ">"
	switch x.api.Links.Form {
	case LinkAttrs:
		return u + `; title="to, the; ` + rel + `"; rel="` + rel + `"; type="application/json"`
	case LinkUnquoted:
		return u + "; rel=" + rel + `; title="two"`
	case LinkMulti:
		return u + `; rel="item ` + rel + `"`
	case LinkUpper:
		return u + `;REL="` + strings.ToUpper(rel) + `"`
	case LinkResults:
		return u + `; rel="` + rel + `"; results="true"`
	default:
		return u + `; rel="` + rel + `"`
	}
}
