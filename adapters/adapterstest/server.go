package adapterstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"lastdrop/adapters"
)

// Where the built-in servers stand, and how many rows they have.
const (
	source = "https://api.example.test/v1/rows"
	rows   = 19
	usual  = 4 // the size of a page where none is asked for
)

// A window is the part of the rows that one request is answered with.
type window struct {
	from, to int // rows from+1 … to
	asked    int // the size asked for, usual where there was none
}

// cut makes the window of a size (as text) that begins after row from.
func cut(from int64, size string, capped int) window {
	asked := usual
	if n, err := strconv.Atoi(size); err == nil && n > 0 {
		asked = n
	}
	n := asked
	if capped > 0 {
		n = min(n, capped)
	}
	lo := int(min(max(from, 0), rows))
	return window{lo, min(lo+n, rows), asked}
}

// size is how many rows a whole page of this kind has.
func (w window) size(capped int) int64 {
	if capped > 0 {
		return int64(min(w.asked, capped))
	}
	return int64(w.asked)
}

func (w window) last() bool { return w.to >= rows }

// items writes the rows as objects.
func (w window) items() []any {
	out := []any{}
	for i := w.from + 1; i <= w.to; i++ {
		out = append(out, map[string]any{"id": i, "name": fmt.Sprintf("row %d", i)})
	}
	return out
}

// params gives a request's parameters by name: of the query, or of the body by
// a dotted path.
func params(req adapters.Request) func(name string) string {
	u, err := url.Parse(req.URL)
	if err != nil {
		panic(err)
	}
	var tree any
	if len(req.Body) > 0 {
		dec := json.NewDecoder(bytes.NewReader(req.Body))
		dec.UseNumber()
		if err := dec.Decode(&tree); err != nil {
			panic(err)
		}
	}
	return func(name string) string {
		if tree == nil {
			return u.Query().Get(name)
		}
		return dig(tree, name)
	}
}

func dig(tree any, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		m, ok := tree.(map[string]any)
		if !ok {
			return ""
		}
		tree = m[key]
	}
	switch v := tree.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// answer writes a 200 with a JSON body.
func answer(body any) adapters.Response {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return adapters.Response{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: b}
}

// link gives the source's URL with other parameters than the request's, in
// pairs of name and value; an empty value takes the name away.
func link(req adapters.Request, pairs ...string) string {
	u, err := url.Parse(req.URL)
	if err != nil {
		panic(err)
	}
	q := u.Query()
	for i := 0; i < len(pairs); i += 2 {
		q.Del(pairs[i])
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// base is the part of a spec that all built-in APIs share.
func base(style string) adapters.Spec {
	return adapters.Spec{
		URL:   source + "?kind=a%2Cb",
		Pages: adapters.Pages{Style: style, SizeParam: "size", SizeStart: 4, SizeMin: 1},
		Items: adapters.Items{Path: "items", IDs: []string{"id"}},
	}
}

func post(s adapters.Spec) adapters.Spec {
	s.Method = http.MethodPost
	s.Body = map[string]any{"filter": map[string]any{"kind": "a"}}
	return s
}
