package jsonscan

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxDepth is how many arrays and objects may be open at once: the limit of encoding/json and jsontext.
const maxDepth = 10000

// scanner walks one text. Its methods take the index to start at and return the index after what they read, or -1 after
// noting the first fault in bad. They read no byte twice, look never behind the text's end, and trust nothing in it.
type scanner struct {
	b   []byte
	bad Error // Kind is 0 while all is well
}

// fail notes a fault at i, unless one is known already. At the end of the text it means that more was due there.
func (s *scanner) fail(i int, where string) int {
	switch {
	case s.bad.Kind != 0:
	case i >= len(s.b):
		s.bad = Error{Offset: len(s.b), Msg: "ended " + where, Kind: Short}
	default:
		s.bad = Error{Offset: i, Msg: fmt.Sprintf("%q %s", string(s.b[i:i+1]), where), Kind: Broken}
	}
	return -1
}

// open returns the index of the text's value, or -1 where none begins.
func (s *scanner) open() int {
	i := s.ws(0)
	if i == len(s.b) {
		s.bad = Error{Offset: i, Msg: "no value", Kind: Empty}
		return -1
	}
	if c := s.b[i]; c != '{' && c != '[' && c != '"' && !isDigit(c) && c != '-' && c != 't' && c != 'f' && c != 'n' {
		s.bad = Error{Offset: i, Msg: "no JSON value begins like this", Kind: NotJSON}
		return -1
	}
	return i
}

// close judges what follows the text's value, which ended at i (-1: it failed), and returns the first fault of the text.
func (s *scanner) close(i int) *Error {
	if i >= 0 {
		if i = s.ws(i); i < len(s.b) {
			s.bad = Error{Offset: i, Msg: "text after the value", Kind: Trailing}
		}
	} else if s.bad.Kind == Broken && isLetter(s.b[s.ws(0)]) {
		s.bad.Kind = NotJSON
	}
	if s.bad.Kind == 0 {
		return nil
	}
	bad := s.bad // a copy, so that the scanner itself stays off the heap
	return &bad
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isLetter(c byte) bool { return c|0x20-'a' <= 'z'-'a' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// ws returns the index of the first byte from i on that is no white space, or the text's length.
func (s *scanner) ws(i int) int {
	if i < len(s.b) && s.b[i] <= ' ' {
		return s.space(i)
	}
	return i
}

// space is ws for an index at which white space is likely.
func (s *scanner) space(i int) int {
	b := s.b
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// skip reads the value that begins at i, inside depth open containers.
func (s *scanner) skip(i, depth int) int {
	if i >= len(s.b) {
		return s.fail(i, "where a value was due")
	}
	switch c := s.b[i]; c {
	case '"':
		i, _ = s.text(i)
		return i
	case '{':
		return s.object(i, depth+1)
	case '[':
		return s.array(i, depth+1)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	default:
		if c == '-' || isDigit(c) {
			return s.number(i)
		}
		return s.fail(i, "where a value was due")
	}
}

// object reads the object at i, the depth-th open container.
func (s *scanner) object(i, depth int) int {
	i, more := s.enter(i, depth, '}')
	for more {
		_, v, _ := s.key(i)
		if v < 0 {
			return -1
		}
		if i = s.skip(v, depth); comma(s.b, i) {
			i++
		} else {
			i, more = s.next(i, '}')
		}
	}
	return i
}

// array reads the array at i, the depth-th open container.
func (s *scanner) array(i, depth int) int {
	i, more := s.enter(i, depth, ']')
	for more {
		if i = s.skip(i, depth); comma(s.b, i) {
			i++
		} else {
			i, more = s.next(i, ']')
		}
	}
	return i
}

// enter steps into the container at i. It returns the index of its first key or value, or, where there is none, the index
// after the container (-1: a fault) and false.
func (s *scanner) enter(i, depth int, end byte) (int, bool) {
	if depth > maxDepth {
		s.bad = Error{Offset: i, Msg: fmt.Sprintf("more than %d containers open", maxDepth), Kind: Broken}
		return -1, false
	}
	if i = s.ws(i + 1); i < len(s.b) && s.b[i] == end {
		return i + 1, false
	}
	return i, true
}

// comma reports whether a comma is all that stands between a value that ended at i and the next key or value.
func comma(b []byte, i int) bool {
	return uint(i) < uint(len(b)-1) && b[i] == ',' && b[i+1] > ' '
}

// next steps past what follows a value that ended at i: to the next key or value, or, with false, out of the container.
func (s *scanner) next(i int, end byte) (int, bool) {
	if i < 0 {
		return -1, false
	}
	b := s.b
	i = s.ws(i)
	switch {
	case i < len(b) && b[i] == ',':
		return s.ws(i + 1), true
	case i < len(b) && b[i] == end:
		return i + 1, false
	case end == '}':
		return s.fail(i, "where a comma or a brace was due"), false
	default:
		return s.fail(i, "where a comma or a bracket was due"), false
	}
}

// key reads a key that begins at i and its colon. The key's text is b[i+1:end-1], with escapes in it if esc is set, and v
// is the index of its value (-1: a fault).
func (s *scanner) key(i int) (end, v int, esc bool) {
	b := s.b
	if i >= len(b) || b[i] != '"' {
		return 0, s.fail(i, "where a key was due"), false
	}
	if end, esc = s.text(i); end < 0 {
		return 0, -1, false
	}
	if v = end; v+1 < len(b) && b[v] == ':' && b[v+1] > ' ' {
		return end, v + 1, esc
	}
	if v = s.ws(v); v >= len(b) || b[v] != ':' {
		return 0, s.fail(v, "where a colon was due"), false
	}
	return end, s.ws(v + 1), esc
}

// Eight bytes at a time: every byte of ones is 1, of highs 0x80.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// text reads the string whose opening quote is at i, and reports whether there are escapes in it.
func (s *scanner) text(i int) (end int, esc bool) {
	b := s.b
	for i++; uint(i)+8 <= uint(len(b)); {
		// A byte below 0x20 or a quote is below 0x21 once its 0x02 bit is flipped, and no other byte is. The lowest mark is
		// right even where a borrow sets a wrong one above it.
		w := binary.LittleEndian.Uint64(b[i : i+8])
		q, e := w^(ones*0x02), w^(ones*'\\')
		m := ((q - ones*0x21) | (e - ones)) &^ w & highs
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		if b[i] == '"' {
			return i + 1, esc
		}
		if i = s.textStop(i); i < 0 {
			return -1, esc
		}
		esc = true
	}
	return s.textTail(i, esc)
}

// textTail is text for the last bytes of b, from inside the string.
func (s *scanner) textTail(i int, esc bool) (int, bool) {
	for i >= 0 {
		for i < len(s.b) && s.b[i] >= ' ' && s.b[i] != '"' && s.b[i] != '\\' {
			i++
		}
		if i < len(s.b) && s.b[i] == '"' {
			return i + 1, esc
		}
		i, esc = s.textStop(i), true
	}
	return -1, esc
}

// textStop reads what ends a run of plain text at i, other than a quote: an escape, or it is a fault.
func (s *scanner) textStop(i int) int {
	b := s.b
	if i >= len(b) || b[i] != '\\' {
		return s.fail(i, "inside a string")
	}
	if i++; i < len(b) {
		switch b[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			return i + 1
		case 'u':
			return s.hex(i + 1)
		}
	}
	return s.fail(i, "inside an escape")
}

// hex reads the four hexadecimal digits at i.
func (s *scanner) hex(i int) int {
	for end := i + 4; i < end; i++ {
		if i >= len(s.b) || !isHex(s.b[i]) {
			return s.fail(i, "inside an escape")
		}
	}
	return i
}

func isHex(c byte) bool { return isDigit(c) || c|0x20-'a' <= 'f'-'a' }

// literal reads word at i, whose first byte is known to match.
func (s *scanner) literal(i int, word string) int {
	for k := 1; k < len(word); k++ {
		if i+k >= len(s.b) || s.b[i+k] != word[k] {
			return s.fail(i+k, "inside a literal")
		}
	}
	return i + len(word)
}

// number reads the number at i, which begins with a minus or a digit.
func (s *scanner) number(i int) int {
	b := s.b
	if b[i] == '-' {
		if i++; i >= len(b) || !isDigit(b[i]) {
			return s.fail(i, "inside a number")
		}
	}
	if i++; b[i-1] != '0' {
		for i < len(b) && isDigit(b[i]) {
			i++
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i = s.digits(i)
	}
	return i
}

// digits reads one digit or more at i.
func (s *scanner) digits(i int) int {
	b, from := s.b, i
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	if i == from {
		return s.fail(i, "where a digit was due")
	}
	return i
}
