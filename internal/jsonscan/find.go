package jsonscan

import "strconv"

// State says what stands where an array of items was looked for.
type State int

const (
	// Missing is the zero State: the path leads nowhere.
	Missing State = iota
	// NotArray is some other value.
	NotArray
	// Null is a null.
	Null
	// Array is an array, with or without elements.
	Array
)

var stateNames = [...]string{"missing", "not an array", "null", "array"}

// String returns the state in words.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return "State(" + strconv.Itoa(int(s)) + ")"
	}
	return stateNames[s]
}

// stateOf returns the state of a value by its first byte.
func stateOf(first byte) State {
	switch first {
	case '[':
		return Array
	case 'n':
		return Null
	default:
		return NotArray
	}
}

// Find returns the value at p in b, which must be valid; a value that is not there is no error. The value shares b's
// memory, except where gjson built a new one. The error is a [*DuplicateKeyError] where an object that a plain step
// passes through names the wanted key twice. Where gjson reads the rest of the path, no key may stand twice in the
// object that it starts from, nor in an object that is an element of the array that it starts from, wanted or not. On a
// text that is not valid, Find may return an [*Error].
func (p Path) Find(b []byte) (Value, error) {
	at, err := p.find(b)
	if err != nil || !p.odd {
		return ValueOf(at.In(b)), err
	}
	return p.findOdd(b, at)
}

// Items appends the extents in b of the elements of the array at p to dst[:0] and returns them, with what was found in
// the array's place. b must be valid. Errors are those of Find, and [ErrBuilt] where gjson built the array, so that it
// has no place in b: then Find and [Value.Items] give the elements.
func (p Path) Items(b []byte, dst []Span) ([]Span, State, error) {
	v, err := p.Find(b)
	if err != nil {
		return dst[:0], Missing, err
	}
	dst, state := v.Items(dst)
	if state != Array {
		return dst, state, nil
	}
	off, ok := offsetIn(b, v.Raw)
	if !ok {
		return dst[:0], Missing, ErrBuilt
	}
	for i := range dst {
		dst[i].Off += off
		dst[i].End += off
	}
	return dst, state, nil
}

// find walks p's steps through b and returns the extent of the value that they lead to.
func (p Path) find(b []byte) (Span, error) {
	if p.src == "" {
		return Span{}, nil
	}
	s := scanner{b: b}
	at := Span{Off: s.open()}
	if at.Off >= 0 && len(p.steps) == 0 {
		at.End = s.skip(at.Off, 0)
	}
	for depth, st := range p.steps {
		if at.Off < 0 {
			break
		}
		var again int
		if at, again = s.child(at.Off, depth, st); again > 0 {
			return Span{}, &DuplicateKeyError{Key: st.key, Path: p.src, Offset: again}
		}
		if at == (Span{}) {
			break
		}
	}
	if s.bad.Kind != 0 {
		bad := s.bad
		return Span{}, &bad
	}
	return at, nil
}

// child takes one step from the value at i. The result is the zero Span where the step leads nowhere; again is the index
// of a second value of the wanted key, or 0.
func (s *scanner) child(i, depth int, st step) (at Span, again int) {
	c := s.cursor(i, depth)
	for n := 0; c.next(); n++ {
		if c.end == ']' && n != st.index || c.end == '}' && !matches(c.key, c.esc, st.key) {
			continue
		}
		if at.End > 0 {
			return Span{}, c.val.Off
		}
		at = c.val
	}
	return at, 0
}

// cursor steps through the members of an object or the elements of an array.
type cursor struct {
	s     *scanner
	i     int  // where next goes on, or -1
	depth int  // of the container
	end   byte // the bracket that ends it; 0: there is no container
	begun bool
	key   []byte // of the member, raw, with escapes if esc is set
	esc   bool
	keyAt int // index of the key's opening quote
	val   Span
}

// cursor returns a cursor over the container at i, inside depth others; over nothing, if there is none.
func (s *scanner) cursor(i, depth int) cursor {
	c := cursor{s: s, i: i, depth: depth + 1}
	if i < len(s.b) && (s.b[i] == '{' || s.b[i] == '[') {
		c.end = s.b[i] + 2 // in ASCII each closing bracket is the second after its opening one
	}
	return c
}

// next goes to the first or following value. It returns false after the last one and at a fault, which s.bad shows.
func (c *cursor) next() bool {
	if c.end == 0 {
		return false
	}
	var more bool
	if c.begun {
		c.i, more = c.s.next(c.i, c.end)
	} else {
		c.i, more = c.s.enter(c.i, c.depth, c.end)
		c.begun = true
	}
	if !more {
		c.end = 0
		return false
	}
	v := c.i
	if c.end == '}' {
		var end int
		if end, v, c.esc = c.s.key(c.i); v < 0 {
			return false
		}
		c.key, c.keyAt = c.s.b[c.i+1:end-1], c.i
	}
	c.i = c.s.skip(v, c.depth)
	c.val = Span{v, c.i}
	return c.i >= 0
}
