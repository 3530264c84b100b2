package sim

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// request is what the client asked, read whole.
type request struct {
	method string
	url    *url.URL
	host   string
	scheme string
	header http.Header
	body   []byte
	query  url.Values
	fields map[string]any
}

// newRequest reads r and its body.
func newRequest(r *http.Request, scheme string) (*request, error) {
	q := &request{method: r.Method, url: r.URL, host: r.Host, scheme: scheme, header: r.Header}
	if q.host == "" {
		q.host = r.URL.Host
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		q.body = body
	}
	q.parse()
	return q, nil
}

// parse reads the query and, where it is a JSON object, the body.
func (q *request) parse() {
	q.query = q.url.Query()
	if len(q.body) == 0 {
		return
	}
	d := json.NewDecoder(strings.NewReader(string(q.body)))
	d.UseNumber()
	if d.Decode(&q.fields) != nil {
		q.fields = nil
	}
}

// value is a parameter by name, from the query or by dotted path from the
// body; false where it is absent, null or empty.
func (q *request) value(name string, body bool) (string, bool) {
	if name == "" {
		return "", false
	}
	if !body {
		v := q.query.Get(name)
		return v, v != ""
	}
	var at any = q.fields
	for _, key := range strings.Split(name, ".") {
		m, ok := at.(map[string]any)
		if !ok {
			return "", false
		}
		at = m[key]
	}
	return scalar(at)
}

// scalar is the text of a string or a number.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, v != ""
	case json.Number:
		return v.String(), true
	default:
		return "", false
	}
}
