package api

import (
	"net/url"
	"strconv"
)

// A List is a part of a list. Following Next to its end gives every item once.
type List[T any] struct {
	Items    []T     `json:"items"`
	Total    int64   `json:"total" jsonschema:"how many items the whole list has, not this part"`
	Returned int     `json:"returned" jsonschema:"how many items stand here"`
	HasMore  bool    `json:"has_more"`
	AsOf     *string `json:"as_of" jsonschema:"the moment of which this list is: the newest that counts; null where there is none"`
	Next     *string `json:"next" jsonschema:"the path of the next part; null where this is the last"`
}

// part makes the answer of a list out of the rows that came for one more than its
// limit: row gives the item and its key.
func part[R, T any](q *query, rows []R, total int64, asOf string, row func(R) (item T, key string)) List[T] {
	l := List[T]{Items: []T{}, Total: total, HasMore: len(rows) > q.limit()}
	var last string
	for _, r := range rows[:min(len(rows), q.limit())] {
		item, key := row(r)
		l.Items = append(l.Items, item)
		last = key
	}
	l.Returned = len(l.Items)
	if asOf != "" {
		l.AsOf = &asOf
	}
	if l.HasMore {
		next := q.next(last, asOf)
		l.Next = &next
	}
	return l
}

// next is this request's path and query, gone on to what comes after a key.
func (q *query) next(after, asOf string) string {
	v := url.Values{}
	for name := range q.said {
		v.Set(name, q.said.Get(name))
	}
	v.Set("after", after)
	if asOf != "" {
		v.Set("as_of", asOf)
	}
	path := q.URL.EscapedPath()
	if q.path != "" {
		path = q.path
	}
	return path + "?" + v.Encode()
}

// text is a number as a key; 0 is none.
func text(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
