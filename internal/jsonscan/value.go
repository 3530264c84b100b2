package jsonscan

import "bytes"

// Type is what a JSON value is. The zero Type is that of a value that is not there.
type Type int

// The types.
const (
	TypeAbsent Type = iota
	TypeNull
	TypeBool
	TypeNumber
	TypeString
	TypeArray
	TypeObject
)

var typeNames = [...]string{"absent", "null", "bool", "number", "string", "array", "object"}

// String returns the type's name in lower case.
func (t Type) String() string {
	if t < 0 || int(t) >= len(typeNames) {
		return "unknown"
	}
	return typeNames[t]
}

// Value is a view of one JSON value. The zero Value is one that is not there, which is not the same as null.
type Value struct {
	Raw  []byte // the value's text without white space around it; it shares memory with the text it was found in
	Type Type
}

// ValueOf returns the view of raw, which must be one valid value without white space around it, or empty for a value
// that is not there. The type is taken from the first byte; one that begins no value makes an absent value.
func ValueOf(raw []byte) Value {
	if len(raw) == 0 {
		return Value{}
	}
	switch c := raw[0]; c {
	case '{':
		return Value{raw, TypeObject}
	case '[':
		return Value{raw, TypeArray}
	case '"':
		return Value{raw, TypeString}
	case 't', 'f':
		return Value{raw, TypeBool}
	case 'n':
		return Value{raw, TypeNull}
	default:
		if c == '-' || isDigit(c) {
			return Value{raw, TypeNumber}
		}
		return Value{}
	}
}

// Exists reports whether there is a value; null is one.
func (v Value) Exists() bool { return v.Type != TypeAbsent }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.Type == TypeNull }

// IsBool reports whether v is true or false.
func (v Value) IsBool() bool { return v.Type == TypeBool }

// IsNumber reports whether v is a number.
func (v Value) IsNumber() bool { return v.Type == TypeNumber }

// IsString reports whether v is a string.
func (v Value) IsString() bool { return v.Type == TypeString }

// IsArray reports whether v is an array.
func (v Value) IsArray() bool { return v.Type == TypeArray }

// IsObject reports whether v is an object.
func (v Value) IsObject() bool { return v.Type == TypeObject }

// Bool reports whether v is true. It is false for everything that is no bool: ask IsBool first.
func (v Value) Bool() bool { return v.Type == TypeBool && v.Raw[0] == 't' }

// Str returns what a string means, and "" for everything else. Bytes that are no UTF-8 stay as they are, and half a
// surrogate pair comes out as the three bytes that it would have in UTF-8, so that different strings stay different.
func (v Value) Str() string {
	in := v.inside()
	if bytes.IndexByte(in, '\\') < 0 {
		return string(in)
	}
	return string(appendText(nil, in))
}

// inside returns the raw text between a string's quotes, or nil.
func (v Value) inside() []byte {
	if v.Type != TypeString || len(v.Raw) < 2 {
		return nil
	}
	return v.Raw[1 : len(v.Raw)-1]
}

// Int64 returns the number v if it is an integer that an int64 can hold, however it is written: 12, 12.0 and 1.2e1 are
// the same. ok is false for every other number and every other type.
func (v Value) Int64() (n int64, ok bool) {
	if v.Type != TypeNumber {
		return 0, false
	}
	return parseInt64(v.Raw)
}

// IntText is Int64 for a string that holds nothing but a JSON number ("12", not "012", "+12" or " 12").
func (v Value) IntText() (n int64, ok bool) {
	in := v.inside()
	if bytes.IndexByte(in, '\\') >= 0 {
		in = appendText(nil, in)
	}
	return parseInt64(in)
}

// Items appends the extents in v.Raw of the elements of an array to dst[:0] and returns them, with what v is.
func (v Value) Items(dst []Span) ([]Span, State) {
	dst = dst[:0]
	if !v.Exists() {
		return dst, Missing
	}
	state := stateOf(v.Raw[0])
	if state != Array {
		return dst, state
	}
	s := scanner{b: v.Raw}
	for c := s.cursor(0, 0); c.next(); {
		dst = append(dst, c.val)
	}
	if s.bad.Kind != 0 {
		return dst[:0], Missing
	}
	return dst, Array
}

// Members calls f with each member of an object, in order: its key, a string as it stands in the text, and its value.
// Both share v's memory. A key that stands twice comes twice. ok is false where v is no whole object; f may then have
// been called for a part of it.
func (v Value) Members(f func(key, value Value)) (ok bool) {
	if v.Type != TypeObject {
		return false
	}
	s := scanner{b: v.Raw}
	c := s.cursor(0, 0)
	for c.next() {
		f(Value{v.Raw[c.keyAt : c.keyAt+len(c.key)+2], TypeString}, ValueOf(c.val.In(v.Raw)))
	}
	return s.close(c.i) == nil
}
