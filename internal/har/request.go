package har

import (
	"net/url"
	"slices"
	"strconv"

	"lastdrop/judge"
)

// The query parameters that say what was asked for.
var (
	limitNames  = []string{"limit", "per_page", "page_size", "pagesize", "size", "hitsPerPage", "$limit", "$top"}
	offsetNames = []string{"offset", "skip", "$skip", "start"}
	pageNames   = []string{"page"}
)

// zeroBased is the limit whose APIs count their pages from 0.
const zeroBased = "hitsPerPage"

// paging reads what was asked for from the query.
func (r request) paging() judge.Request {
	q := r.query()
	p := judge.Request{
		Limit:  q.count(limitNames),
		Offset: q.count(offsetNames),
		Page:   q.count(pageNames),
	}
	fromZero := len(q[zeroBased]) > 0 || p.Page.N == 0
	if p.Page.OK && fromZero {
		p.FirstPage = judge.N(0)
	}
	return p
}

// query is a request's parameters by name.
type query map[string][]string

// query gives the parameters of the URL, or those that the archive lists where
// the URL has none. Some recorders list them without decoding them.
func (r request) query() query {
	if u, err := url.Parse(r.URL); err == nil && u.RawQuery != "" {
		return query(u.Query())
	}
	q := query{}
	for _, p := range r.Query {
		q[p.Name] = append(q[p.Name], p.Value)
	}
	return q
}

// count gives the one count that stands under any of the names. Values that
// differ, or are no count, leave it unsaid.
func (q query) count(names []string) judge.Count {
	var values []string
	for _, n := range names {
		values = append(values, q[n]...)
	}
	slices.Sort(values)
	if values = slices.Compact(values); len(values) != 1 {
		return judge.Count{}
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || n < 0 {
		return judge.Count{}
	}
	return judge.N(n)
}
