package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A FieldError says which field of a snapshot is wrong, and how.
type FieldError struct {
	Path    string // response.total, or [3].response.total in an array; "" for the snapshot itself
	Problem string
}

// Error gives the path and the problem.
func (e *FieldError) Error() string {
	if e.Path == "" {
		return "the snapshot " + e.Problem
	}
	return e.Path + ": " + e.Problem
}

// Decode reads a snapshot, or an array of them, in the JSON form of the
// contract. It is strict, because a misspelt total must not quietly turn into
// UNKNOWN: unknown and duplicate names, wrong types, negative numbers, numbers
// that are no integers or do not fit into 64 bits, and anything after the value
// are errors. Those that concern a field are a *FieldError.
//
// null means absent. A number is an integer if its value is: 1.0 and 1e3 are, 1.5
// is not. Anything that is valid JSON goes inside meta. A byte order mark in
// front is skipped. Text that is nothing but white space, and an empty array,
// hold no snapshot, which is no error.
func Decode(data []byte) ([]Snapshot, error) {
	data = bytes.Trim(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")), " \t\r\n")
	if len(data) == 0 {
		return nil, nil
	}
	if err := wellFormed(data); err != nil {
		return nil, err
	}
	if data[0] != '[' {
		s, problem := decodeOne(data, "")
		if problem != nil {
			return nil, problem
		}
		return []Snapshot{s}, nil
	}
	return decodeArray(data)
}

func decodeArray(data []byte) ([]Snapshot, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	all := make([]Snapshot, 0, len(raw))
	for i, r := range raw {
		s, problem := decodeOne(r, index("", i))
		if problem != nil {
			return nil, problem
		}
		all = append(all, s)
	}
	return all, nil
}

// wellFormed checks that data is one JSON value, and says where it stops being
// one.
func wellFormed(data []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		at := min(int(syntax.Offset), len(data))
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		column := at - bytes.LastIndexByte(data[:at], '\n') - 1
		return fmt.Errorf("not JSON: line %d, column %d: %w", line, max(column, 1), err)
	default:
		return fmt.Errorf("not JSON: %w", err)
	}
}

// decodeOne reads one snapshot. at is the path of the snapshot itself.
func decodeOne(raw json.RawMessage, at string) (s Snapshot, problem *FieldError) {
	members, problem := object(raw, at)
	if problem != nil {
		return s, problem
	}
	for _, m := range members {
		if problem := decodeMember(m, join(at, m.name), &s); problem != nil {
			return s, problem
		}
	}
	if s.Kind == "" {
		return s, &FieldError{join(at, "kind"), "is required: list, http, file or tool"}
	}
	return s, nil
}

func decodeMember(m member, path string, s *Snapshot) *FieldError {
	switch m.name {
	case "kind":
		return decodeKind(m.raw, path, &s.Kind)
	case "meta":
		return nil // anything goes
	case "request":
		return decodeSection(m.raw, path, s.Request.fields())
	case "response":
		return decodeSection(m.raw, path, s.Response.fields())
	case "held":
		return decodeSection(m.raw, path, s.Held.fields())
	default:
		return unknown(path, m.name, []string{"kind", "meta", "request", "response", "held"})
	}
}

func decodeSection(raw json.RawMessage, at string, fields []field) *FieldError {
	if null(raw) {
		return nil
	}
	members, problem := object(raw, at)
	if problem != nil {
		return problem
	}
	for _, m := range members {
		path := join(at, m.name)
		into, names := lookup(fields, m.name)
		if into == nil {
			return unknown(path, m.name, names)
		}
		if null(m.raw) {
			continue
		}
		if problem := decodeInto(m.raw, path, into); problem != nil {
			return problem
		}
	}
	return nil
}

// lookup finds the place of a name, or all the names.
func lookup(fields []field, name string) (into any, names []string) {
	for _, f := range fields {
		if f.name == name {
			return f.into, nil
		}
		names = append(names, f.name)
	}
	return nil, names
}

// A member is one name of an object with its value.
type member struct {
	name string
	raw  json.RawMessage
}

// object reads the members of an object in their order and refuses a name that
// stands twice. raw is valid JSON.
func object(raw json.RawMessage, at string) ([]member, *FieldError) {
	if t := typeOf(raw); t != "an object" {
		return nil, &FieldError{at, "must be an object, not " + t}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, &FieldError{at, err.Error()}
	}
	var members []member
	seen := map[string]bool{}
	for dec.More() {
		m, err := nextMember(dec)
		if err != nil {
			return nil, &FieldError{at, err.Error()}
		}
		if seen[m.name] {
			return nil, &FieldError{join(at, m.name), "stands twice"}
		}
		seen[m.name] = true
		members = append(members, m)
	}
	return members, nil
}

func nextMember(dec *json.Decoder) (m member, err error) {
	token, err := dec.Token()
	if err != nil {
		return m, err
	}
	name, ok := token.(string)
	if !ok {
		return m, io.ErrUnexpectedEOF
	}
	m.name = name
	return m, dec.Decode(&m.raw)
}

// join appends a name to a path. A name that is no plain word is quoted.
func join(at, name string) string {
	plain := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if !plain {
		name = quote(name)
	}
	if at == "" {
		return name
	}
	return at + "." + name
}

// index appends an array index to a path.
func index(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }
