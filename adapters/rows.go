package adapters

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lastdrop/internal/jsonscan"
)

// The formats of a body.
const (
	formatJSON   = "json"
	formatNDJSON = "ndjson"
	formatCSV    = "csv"
	formatXML    = "xml"
)

// enveloped reports whether the items stand inside a document with paths, and
// are not the body's own lines.
func (s *Spec) enveloped() bool {
	return s.Items.Format == formatJSON || s.Items.Format == formatXML
}

// A listing is where an answer's rows are: found in one walk, or the value at
// the items path.
type listing struct {
	walked bool
	whole  jsonscan.Value
	// elements is how many elements the array has that the items are picked
	// from, where the items path goes through all elements of one.
	elements int
}

// A row is one element of the list, with the values at the id paths and the
// check path where they are known already.
type row struct {
	raw []byte
	ids []jsonscan.Value // nil: to be looked up
}

// rows lists an answer's rows. state says what stood in the list's place; a
// body of lines always is a list.
func (r *Reader) rows(a *Answer, p *Page) ([]row, jsonscan.State, error) {
	switch r.spec.Items.Format {
	case formatNDJSON:
		if err := a.openEnded(); err != nil {
			return nil, jsonscan.Array, err
		}
		rows, err := lines(a.Body)
		return rows, jsonscan.Array, err
	case formatCSV:
		if err := a.openEnded(); err != nil {
			return nil, jsonscan.Array, err
		}
		rows, notices, err := records(a.Body)
		p.Notices = notices
		return rows, jsonscan.Array, err
	}
	if a.list.walked {
		return r.walkedRows(a), a.spans.State, nil
	}
	spans, state := a.list.whole.Items(nil)
	rows := make([]row, len(spans))
	for i, s := range spans {
		rows[i].raw = s.In(a.list.whole.Raw)
	}
	p.Nulls += max(0, a.list.elements-len(rows))
	return rows, state, nil
}

// walkedRows lists the rows that one walk found, with their ids.
func (r *Reader) walkedRows(a *Answer) []row {
	n := len(r.inItem)
	m := len(a.spans.Items)
	a.rows, a.ids = slices.Grow(a.rows[:0], m)[:m], slices.Grow(a.ids[:0], m*n)[:m*n]
	for i, s := range a.spans.Items {
		a.rows[i] = row{raw: s.In(a.Body)}
		if !r.idsWalked {
			continue
		}
		ids := a.ids[i*n : (i+1)*n : (i+1)*n]
		for k := range n {
			ids[k] = jsonscan.ValueOf(a.spans.ID(i, k).In(a.Body))
		}
		a.rows[i].ids = ids
	}
	return a.rows
}

// openEnded is the error of lines whose last one may be cut: it has no newline,
// and no length was declared.
func (a *Answer) openEnded() error {
	if len(a.Body) == 0 || a.Body[len(a.Body)-1] == '\n' || a.Header.Get("Content-Length") != "" {
		return nil
	}
	return errors.New("the last line has no newline, and no Content-Length says that it is whole")
}

// lines splits a body of JSON lines. Empty lines are nothing; a last line
// without its newline is a line. A line that is not JSON makes half a body.
func lines(body []byte) ([]row, error) {
	var rows []row
	for n := 1; len(body) > 0; n++ {
		line := body
		if i := bytes.IndexByte(body, '\n'); i >= 0 {
			line, body = body[:i], body[i+1:]
		} else {
			body = nil
		}
		if line = bytes.Trim(line, " \t\r"); len(line) == 0 {
			continue
		}
		if bad := jsonscan.Validate(line); bad != nil {
			return nil, fmt.Errorf("line %d is not JSON: %w", n, bad)
		}
		rows = append(rows, row{raw: line[:len(line):len(line)]})
	}
	return rows, nil
}

// take sorts an answer's rows into the page: items with their ids, nulls,
// rejected ones.
func (r *Reader) take(a *Answer, rows []row, p *Page) error {
	p.Received, a.Received = len(rows), len(rows)
	p.Items = make([]Item, 0, len(rows))
	slab := make([]byte, 0, 24*len(rows))
	for _, row := range rows {
		if jsonscan.ValueOf(row.raw).IsNull() {
			p.Nulls++
			continue
		}
		a.Last = row.raw
		values, err := r.lookUp(row)
		if err != nil {
			return err
		}
		if r.checks && !r.passes(values[len(values)-1]) {
			p.Rejected++
			continue
		}
		var id []byte
		if id, slab = r.identity(values, slab); id == nil && len(r.spec.Items.IDs) > 0 {
			if isNoticeObject(row.raw) {
				p.Notices = append(p.Notices, oneLine(string(row.raw)))
				continue
			}
			p.NoID++
		}
		p.Items = append(p.Items, Item{Raw: row.raw, ID: id})
	}
	return nil
}

// isNoticeObject reports whether a row is an object that holds nothing but
// texts, every one of which says that something was cut. Only a row without
// the configured id is looked at: an item may well speak of cuts.
func isNoticeObject(raw []byte) bool {
	var cells []string
	var fields map[string]any
	if len(raw) > 1024 || json.Unmarshal(raw, &fields) != nil {
		return false
	}
	for _, v := range fields {
		s, ok := v.(string)
		if !ok && v != nil {
			return false
		}
		cells = append(cells, s)
	}
	return isNotice(cells)
}

// lookUp returns a row's values at the id paths and, last, the check path.
func (r *Reader) lookUp(row row) ([]jsonscan.Value, error) {
	if row.ids != nil || len(r.inItem) == 0 {
		return row.ids, nil
	}
	values := make([]jsonscan.Value, len(r.inItem))
	for k, path := range r.inItem {
		v, err := path.Find(row.raw)
		if err != nil {
			return nil, malformed(err)
		}
		values[k] = v
	}
	return values, nil
}

// passes reports whether the value at the check path is what it must be.
func (r *Reader) passes(v jsonscan.Value) bool {
	return v.Exists() && valueText(v) == r.spec.Items.CheckEquals
}

// identity makes an item's id of the values at the id paths, in slab, and
// returns both. There is none where a part is missing or null.
func (r *Reader) identity(values []jsonscan.Value, slab []byte) (id, grown []byte) {
	n := len(r.spec.Items.IDs)
	if n == 0 {
		return nil, slab
	}
	for _, v := range values[:n] {
		if !v.Exists() || v.IsNull() {
			return nil, slab
		}
	}
	from := len(slab)
	if n == 1 {
		slab = jsonscan.AppendCanonical(slab, values[0].Raw)
		return slab[from:len(slab):len(slab)], slab
	}
	for k, v := range values[:n] {
		slab = append(slab, "[,"[min(k, 1)])
		slab = jsonscan.AppendCanonical(slab, v.Raw)
	}
	slab = append(slab, ']')
	return slab[from:len(slab):len(slab)], slab
}

// valueText gives a value as a config writes it: a string as what it means, a
// number and a literal as they stand.
func valueText(v jsonscan.Value) string {
	if v.IsString() {
		return v.Str()
	}
	return strings.TrimSpace(string(v.Raw))
}
