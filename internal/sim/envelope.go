package sim

import (
	"strconv"
	"strings"
)

// envelope is a JSON object under construction, in the order of its fields.
type envelope struct{ fields []field }

type field struct {
	name string
	raw  []byte
	sub  *envelope
}

// put appends raw JSON at a dotted path (a dot inside a name is written \.).
// Objects on the way are shared; the last name is always a new field, so that
// putting a path twice gives a duplicate key.
func (e *envelope) put(path string, raw []byte) {
	if path == "" {
		return
	}
	names := splitPath(path)
	for _, name := range names[:len(names)-1] {
		e = e.child(name)
	}
	e.fields = append(e.fields, field{name: names[len(names)-1], raw: raw})
}

// child finds or makes an object.
func (e *envelope) child(name string) *envelope {
	for _, f := range e.fields {
		if f.name == name && f.sub != nil {
			return f.sub
		}
	}
	sub := new(envelope)
	e.fields = append(e.fields, field{name: name, sub: sub})
	return sub
}

// only drops the top-level fields that are not listed.
func (e *envelope) only(names string) {
	kept := e.fields[:0]
	for _, f := range e.fields {
		if listed(names, f.name) {
			kept = append(kept, f)
		}
	}
	e.fields = kept
}

// listed reports whether a projection such as "files(id,name),next" names a
// top-level field.
func listed(projection, name string) bool {
	depth, start := 0, 0
	for i := 0; i <= len(projection); i++ {
		if i == len(projection) || (projection[i] == ',' && depth == 0) {
			word, _, _ := strings.Cut(projection[start:i], "(")
			if strings.TrimSpace(word) == name {
				return true
			}
			start = i + 1
			continue
		}
		switch projection[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	return false
}

// append writes the object.
func (e *envelope) append(b []byte) []byte {
	b = append(b, '{')
	for i, f := range e.fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, f.name), ':')
		if f.sub != nil {
			b = f.sub.append(b)
		} else {
			b = append(b, f.raw...)
		}
	}
	return append(b, '}')
}

// splitPath cuts a dotted path into names.
func splitPath(path string) []string {
	if !strings.Contains(path, `\`) {
		return strings.Split(path, ".")
	}
	var names []string
	var name strings.Builder
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '\\' && i+1 < len(path):
			i++
			name.WriteByte(path[i])
		case path[i] == '.':
			names = append(names, name.String())
			name.Reset()
		default:
			name.WriteByte(path[i])
		}
	}
	return append(names, name.String())
}

func rawInt(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

func rawBool(b bool) []byte { return strconv.AppendBool(nil, b) }

func rawText(s string) []byte { return appendText(nil, s) }

// appendText writes s as a JSON string; s holds no control characters but
// line ends.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
