package adapters

import (
	"net/url"
	"strconv"
	"strings"
)

// A query is the raw query of a URL as a list of pairs, so that one parameter
// can be changed while all others keep their bytes: a server's token must come
// back as it was given.
type query []pair

type pair struct {
	raw  string // as it stands in the URL
	key  string // decoded
	text string // the value, decoded
}

// parseQuery splits a raw query. A part that cannot be decoded is kept under
// its raw text.
func parseQuery(raw string) query {
	var q query
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		k, v, _ := strings.Cut(part, "=")
		q = append(q, pair{part, unescape(k), unescape(v)})
	}
	return q
}

func unescape(s string) string {
	if out, err := url.QueryUnescape(s); err == nil {
		return out
	}
	return s
}

// get returns the first value of key; no key has none.
func (q query) get(key string) (string, bool) {
	for _, p := range q {
		if p.key == key && key != "" {
			return p.text, true
		}
	}
	return "", false
}

// number returns the first value of key where it is a whole number, not
// negative and written in digits only.
func (q query) number(key string) (int64, bool) {
	text, ok := q.get(key)
	if !ok {
		return 0, false
	}
	return digits(text)
}

// digits reads a number that is written in nothing but digits.
func digits(text string) (int64, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// set gives key one value, in the place of its first one and with that one's
// spelling of the key, else at the end.
func (q query) set(key, value string) query {
	out := make(query, 0, len(q)+1)
	placed := false
	for _, p := range q {
		switch {
		case p.key != key:
			out = append(out, p)
		case !placed:
			spelled, _, _ := strings.Cut(p.raw, "=")
			out = append(out, pair{spelled + "=" + url.QueryEscape(value), key, value})
			placed = true
		}
	}
	if !placed {
		out = out.add(key, value)
	}
	return out
}

// add appends one more value of key.
func (q query) add(key, value string) query {
	return append(q, pair{url.QueryEscape(key) + "=" + url.QueryEscape(value), key, value})
}

// without drops every value of key.
func (q query) without(key string) query {
	out := make(query, 0, len(q))
	for _, p := range q {
		if p.key != key {
			out = append(out, p)
		}
	}
	return out
}

// encode gives the raw query again.
func (q query) encode() string {
	parts := make([]string, len(q))
	for i, p := range q {
		parts[i] = p.raw
	}
	return strings.Join(parts, "&")
}
