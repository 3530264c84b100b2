package adapters

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"lastdrop/internal/jsonscan"
)

// A Probe is one request beside the pages, and where to look in its answer.
type Probe struct {
	// URL is an address of its own. Where it is empty, the probe is the source's
	// first request with Params in the place of its query parameters of these
	// names.
	URL    string
	Method string // of the own address; GET where empty
	Body   any    // a JSON tree, sent to the own address
	Params map[string][]string
	Path   string // in the answer, which must be JSON
}

// ProbeRequest builds a probe's request. It carries the spec's headers; whoever
// sends it takes them off where it leaves the source's origin.
func (r *Reader) ProbeRequest(p Probe) (Request, error) {
	if p.URL == "" {
		return r.probeSource(p.Params)
	}
	req := Request{Method: p.Method, URL: p.URL, Header: http.Header{}}
	if req.Method == "" {
		req.Method = http.MethodGet
	}
	for name, value := range r.spec.Headers {
		req.Header.Set(name, value)
	}
	var err error
	if p.Body != nil {
		req.Body, err = encodeBody(p.Body)
	}
	return req, err
}

// probeSource is the source's first request with other parameters.
func (r *Reader) probeSource(params map[string][]string) (Request, error) {
	req, err := r.style.Request(Position{}, r.spec.Pages.SizeStart, 0)
	if err != nil {
		return Request{}, err
	}
	u, err := url.Parse(req.URL)
	if err != nil {
		return Request{}, err
	}
	q := parseQuery(u.RawQuery)
	for _, name := range slices.Sorted(maps.Keys(params)) {
		q = q.without(name)
		for _, value := range params[name] {
			q = q.add(name, value)
		}
	}
	u.RawQuery = q.encode()
	req.URL = u.String()
	return req, nil
}

// ReadProbe reads the value at a probe's path in its answer: whole, valid JSON
// with a 2xx status. The error is a *Trouble where the answer holds an error
// object or nothing at the path. What an error object is, the spec says for the
// source's own requests; elsewhere it is a top-level error or errors.
func (r *Reader) ReadProbe(p Probe, resp Response) (jsonscan.Value, error) {
	spec := Spec{Items: Items{Path: p.Path, Format: formatJSON}}
	if p.URL == "" {
		spec.Errors, spec.ErrorsSet = r.spec.Errors, r.spec.ErrorsSet
	}
	c := newCompiler(&spec)
	at := c.field("path", p.Path)
	a, err := openBeside(c, resp)
	if err != nil {
		return jsonscan.Value{}, err
	}
	v := a.value(at)
	if !v.Exists() || v.IsNull() {
		return jsonscan.Value{}, &Trouble{Kind: TroubleMissing, Msg: fmt.Sprintf("nothing stands at %q: %s", p.Path, oneLine(string(resp.Body)))}
	}
	return v, nil
}

// ProbeCount gives the number that a value stands for: how many elements a list
// has that are not null, or a whole number that is not negative.
func ProbeCount(v jsonscan.Value) (n int64, ok bool) {
	if !v.IsArray() {
		c := count(v)
		return c.N, c.OK
	}
	spans, _ := v.Items(nil)
	for _, s := range spans {
		if !jsonscan.ValueOf(s.In(v.Raw)).IsNull() {
			n++
		}
	}
	return n, true
}

// openBeside opens an answer that is no page: for the fields that c has
// registered, and for error objects.
func openBeside(c *compiler, resp Response) (*Answer, error) {
	r := Reader{errors: newErrors(c)}
	if c.err != nil {
		return nil, c.err
	}
	r.spec.Items.Format = formatJSON
	r.paths = c.paths
	a, err := r.open(resp)
	if err != nil {
		return nil, err
	}
	if t := r.trouble(a); t != nil {
		return nil, t
	}
	return a, nil
}

// Counted reports whether a position counts rows or pages, as far as it shows:
// such a place holds other items once one was inserted or deleted before it.
func (p Position) Counted() bool {
	if p.Size > 0 || p.Param != "" {
		return true
	}
	if n, ok := digits(cursorText(p.Cursor, false)); ok && n <= addSat(p.Offset, 1) {
		return true
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(parseQuery(u.RawQuery), func(q pair) bool {
		_, ok := digits(q.text)
		return ok && (wellKnown(pageNames, q.key) || wellKnown(offsetNames, q.key))
	})
}
