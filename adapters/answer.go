package adapters

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"lastdrop/internal/jsonscan"
	"lastdrop/judge"
)

// An Answer is one whole answer as the styles see it: what the Reader made of
// it before it asked for the continuation.
type Answer struct {
	Response
	// Received counts the rows that came: items, nulls and rejected ones.
	Received int
	// More is the has-more flag's word.
	More judge.Claim
	// Links and BrokenLinks are the Link header, read.
	Links       []judge.Link
	BrokenLinks []string
	// Last is the last row that is not null, nil where there is none.
	Last []byte

	values []jsonscan.Value // by field-1
	list   listing
	*scratch
}

// scratch is memory that is used again for the next answer: nothing of a Page
// refers to it.
type scratch struct {
	spans jsonscan.Got
	rows  []row
	ids   []jsonscan.Value
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// value returns what stands at a field; a value that is absent for none.
func (a *Answer) value(f field) jsonscan.Value {
	if f <= 0 || int(f) > len(a.values) {
		return jsonscan.Value{}
	}
	return a.values[f-1]
}

// header returns the value of a header: OK false where it is absent. Several
// equal values are one; of several that differ none can be believed.
func (a *Answer) header(name string) judge.Text {
	if name == "" {
		return judge.Text{}
	}
	values := a.Header.Values(name)
	if len(values) == 0 {
		return judge.Text{}
	}
	for _, v := range values[1:] {
		if strings.TrimSpace(v) != strings.TrimSpace(values[0]) {
			return judge.Text{}
		}
	}
	return judge.T(strings.TrimSpace(values[0]))
}

// open reads the envelope of an answer, and where the items stand.
func (r *Reader) open(resp Response) (*Answer, error) {
	a := &Answer{Response: resp, scratch: scratches.Get().(*scratch)}
	a.Links, a.BrokenLinks = judge.ParseLinks(resp.Header.Values("Link"))
	if !r.spec.enveloped() {
		return a, nil
	}
	if r.want != nil {
		return a, r.walk(a)
	}
	a.values = make([]jsonscan.Value, len(r.paths))
	for i, p := range r.paths {
		v, err := p.Find(resp.Body)
		if err != nil {
			return nil, malformed(err)
		}
		a.values[i] = v
	}
	v, err := r.items.Find(resp.Body)
	if err != nil {
		return nil, malformed(err)
	}
	a.list.whole = v
	if r.each != nil { // a path like edges.#.node drops the elements without a node
		spans, _, err := r.each.Items(resp.Body, nil)
		if err != nil {
			return nil, malformed(err)
		}
		a.list.elements = len(spans)
		if r.lists != nil {
			a.list.elements = 0
			if inner, _, err := r.lists.Items(resp.Body, nil); err != nil || len(inner) < len(spans) {
				return nil, &Trouble{Kind: TroubleMissing, Msg: fmt.Sprintf("%d of %d elements have no list at items.path %q", len(spans)-len(inner), len(spans), r.spec.Items.Path)}
			}
		}
	}
	return a, nil
}

// Checks reports whether Read checks a JSON body as a whole by itself, in the
// one walk in which it reads it: its error is then a *jsonscan.Error.
func (r *Reader) Checks() bool { return r.want != nil && r.spec.Items.Format == formatJSON }

// walk is open in one pass over the body, for paths that are all plain.
func (r *Reader) walk(a *Answer) error {
	if err := jsonscan.Page(a.Body, r.want, &a.spans); err != nil {
		if bad := (*jsonscan.Error)(nil); errors.As(err, &bad) {
			return bad
		}
		return malformed(err)
	}
	a.values = make([]jsonscan.Value, len(a.spans.Envelope))
	for i, s := range a.spans.Envelope {
		a.values[i] = jsonscan.ValueOf(s.In(a.Body))
	}
	a.list.walked = true
	return nil
}

// malformed is the trouble of a body that does not say one thing.
func malformed(err error) *Trouble {
	var twice *jsonscan.DuplicateKeyError
	if errors.As(err, &twice) {
		return &Trouble{Kind: TroubleMalformed, Msg: "malformed answer: " + twice.Error()}
	}
	return &Trouble{Kind: TroubleMalformed, Msg: fmt.Sprintf("malformed answer: %v", err)}
}
