// Package table lays JSON items out as rows: which columns they have together, what stands in each, and what a
// form with types can take a column for. Nothing is written here.
package table

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"lastdrop/internal/jsonscan"
)

// Most is how many keys become columns of their own. Members under further ones stand together in the column [Rest].
const Most = 1000

// The columns that the items do not name. A key of an item that is called so gets another name.
const (
	// Value holds items that are no objects. A key "value" shares it with them.
	Value = "value"
	// Rest holds an object of the members beyond [Most] columns.
	Rest = "_rest"
	// Item holds a whole item as JSON.
	Item = "_item"
)

// ErrItem is an item that is not one JSON value.
var ErrItem = errors.New("an item is not one JSON value")

// Columns collects what the items of a run have in common. The zero Columns has none.
type Columns struct {
	// Limit is how many keys become columns of their own; 0 is [Most].
	Limit int
	// Seen, if set, is told each member that Add comes across, and its column: -1 beyond the limit.
	Seen func(column int, key, v jsonscan.Value)

	cols    []column
	byName  map[string]int // decoded
	byText  map[string]int // as it stands in the items, with quotes
	items   int64
	twice   int64 // items that name a key twice
	scalars int64 // items that are no objects
	rest    int64 // items with members beyond the columns
}

type column struct {
	name string
	seen seen
	last int64 // the item that had it last, counted from 1
}

// Add takes the columns and types of one item into account.
func (c *Columns) Add(item []byte) error {
	c.items++
	twice, rest := false, false
	err := c.members(item, func(i int, key, v jsonscan.Value) {
		if c.Seen != nil {
			c.Seen(i, key, v)
		}
		if i < 0 {
			rest = true
			return
		}
		twice = twice || c.cols[i].last == c.items
		c.cols[i].last = c.items
		c.cols[i].seen |= look(v)
	}, true)
	if err != nil {
		return fmt.Errorf("item %d of %d bytes: %w", c.items, len(item), err)
	}
	if twice {
		c.twice++
	}
	if rest {
		c.rest++
	}
	return nil
}

// members calls f with each member of an item and its column, which is -1 beyond the most. With grow, new keys become
// columns.
func (c *Columns) members(item []byte, f func(i int, key, v jsonscan.Value), grow bool) error {
	v := jsonscan.ValueOf(item)
	if !v.IsObject() {
		if !v.Exists() || jsonscan.Validate(item) != nil {
			return ErrItem
		}
		if grow {
			c.scalars++
		}
		key := jsonscan.ValueOf([]byte(`"` + Value + `"`))
		f(c.column(key, grow), key, v)
		return nil
	}
	if !v.Members(func(key, v jsonscan.Value) {
		f(c.column(key, grow), key, v)
	}) {
		return ErrItem
	}
	return nil
}

// column finds the column of a key.
func (c *Columns) column(key jsonscan.Value, grow bool) int {
	if i, ok := c.byText[string(key.Raw)]; ok {
		return i
	}
	name := key.Str()
	i, ok := c.byName[name]
	switch {
	case ok:
	case !grow || len(c.cols) == c.limit():
		return -1
	default:
		i = c.add(name)
	}
	if len(c.byText) < 4*Most { // one key can be written in many ways
		c.byText[string(key.Raw)] = i
	}
	return i
}

func (c *Columns) limit() int {
	if c.Limit == 0 {
		return Most
	}
	return c.Limit
}

func (c *Columns) add(name string) int {
	if c.byName == nil {
		c.byName, c.byText = map[string]int{}, map[string]int{}
	}
	i := len(c.cols)
	c.cols = append(c.cols, column{name: name})
	c.byName[name] = i
	return i
}

// Items is how many were added.
func (c *Columns) Items() int64 { return c.items }

// Keys are the keys that became columns, in the order of their first appearance.
func (c *Columns) Keys() []string {
	keys := make([]string, len(c.cols))
	for i, col := range c.cols {
		keys[i] = col.name
	}
	return keys
}

// HasRest tells whether some item has members beyond the columns.
func (c *Columns) HasRest() bool { return c.rest > 0 }

// Kind is what the values of a column are.
func (c *Columns) Kind(i int) Kind { return c.cols[i].seen.kind() }

// A Row is one item laid out.
type Row struct {
	// Cells holds a value a column; one that is absent is the zero Value.
	Cells []jsonscan.Value
	// Rest is an object of the members beyond the columns, absent where there are none.
	Rest jsonscan.Value

	rest []byte
}

// Lay lays an item out in r. What r held before is overwritten, its memory used again. The values share the item's
// memory, and the row's.
func (c *Columns) Lay(item []byte, r *Row) error {
	if len(r.Cells) != len(c.cols) {
		r.Cells = make([]jsonscan.Value, len(c.cols))
	}
	clear(r.Cells)
	r.rest = r.rest[:0]
	err := c.members(item, func(i int, key, v jsonscan.Value) {
		if i >= 0 {
			r.Cells[i] = v
			return
		}
		r.rest = append(r.rest, "{,"[min(len(r.rest), 1)])
		r.rest = append(append(append(r.rest, key.Raw...), ':'), v.Raw...)
	}, false)
	r.Rest = jsonscan.Value{}
	if len(r.rest) > 0 {
		r.rest = append(r.rest, '}')
		r.Rest = jsonscan.ValueOf(r.rest)
	}
	return err
}

// Notes says what is not as a reader of the table would expect.
func (c *Columns) Notes() []string {
	var notes []string
	for _, n := range []struct {
		count int64
		text  string
	}{
		{c.twice, "%s named a key twice: its last value stands"},
		{c.scalars, "%s came as no object: the column " + Value + " holds them"},
		{c.rest, fmt.Sprintf("%%s had keys beyond the first %d: they stand as an object in the column %s", c.limit(), Rest)},
	} {
		if n.count > 0 {
			notes = append(notes, fmt.Sprintf(n.text, count(n.count)))
		}
	}
	return notes
}

func count(n int64) string {
	if n == 1 {
		return "1 item"
	}
	return strconv.FormatInt(n, 10) + " items"
}

// Names gives each key a name that no other key has, nor the columns that the items do not name. Names are the same
// that fold makes the same. free, if set, tells whether a name that is not the key itself may be taken.
func Names(keys, own []string, fold func(string) string, free func(name string) bool) []string {
	taken := map[string]bool{}
	for _, name := range own {
		taken[fold(name)] = true
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		name := key
		for n := 2; taken[fold(name)] || (free != nil && !free(name)); n++ {
			name = fmt.Sprintf("%s_%d", key, n)
		}
		taken[fold(name)], names[i] = true, name
	}
	return names
}

// RenameNotes says which keys got another name.
func RenameNotes(keys, names []string) []string {
	var notes []string
	for i, key := range keys {
		if names[i] != key {
			notes = append(notes, fmt.Sprintf("key %q: its column is called %q", key, names[i]))
		}
	}
	return notes
}

// KindNotes says which columns had to be widened.
func (c *Columns) KindNotes() []string {
	const most = 20
	var notes []string
	more := 0
	for _, col := range c.cols {
		why := col.seen.widened()
		switch {
		case why == "":
		case len(notes) == most:
			more++
		default:
			notes = append(notes, fmt.Sprintf("column %q: %s", col.name, why))
		}
	}
	if more > 0 {
		notes = append(notes, fmt.Sprintf("%d more columns hold mixtures, and are texts, bytes or doubles", more))
	}
	return notes
}

// Kind is what all values of a column can be taken for.
type Kind int

// The kinds. The zero Kind takes everything that is UTF-8.
const (
	Text Kind = iota
	Bytes
	JSON
	Bool
	Int
	Double
)

// seen is a set of the sorts of values that stood in a column.
type seen uint16

const (
	seenNull seen = 1 << iota
	seenBool
	seenInt    // that a double holds exactly
	seenWide   // beyond 2^53, and within 64 bits
	seenDouble // a number with a fraction or exponent that a double holds exactly
	seenBig    // a number that neither holds
	seenText
	seenNested
	seenBytes // no UTF-8
)

// names of what was seen, for notices.
var names = []struct {
	seen seen
	text string
}{
	{seenBool, "true or false"}, {seenInt | seenWide, "whole numbers"}, {seenDouble, "decimals"}, {seenBig, "numbers that no double holds exactly"},
	{seenText, "texts"}, {seenNested, "objects or lists"},
}

func look(v jsonscan.Value) seen {
	switch v.Type {
	case jsonscan.TypeNull:
		return seenNull
	case jsonscan.TypeBool:
		return seenBool
	case jsonscan.TypeNumber:
		return lookNumber(v)
	case jsonscan.TypeString:
		return seenText | unreadable([]byte(v.Str()))
	}
	return seenNested | unreadable(v.Raw)
}

func unreadable(text []byte) seen {
	if utf8.Valid(text) {
		return 0
	}
	return seenBytes
}

func lookNumber(v jsonscan.Value) seen {
	if n, ok := Whole(v); ok {
		const exact = 1 << 53
		if n > exact || n < -exact {
			return seenWide
		}
		return seenInt
	}
	if _, ok := Exact(v); ok {
		return seenDouble
	}
	return seenBig
}

// Whole returns a number that is written without fraction and exponent and fits 64 bits.
func Whole(v jsonscan.Value) (n int64, ok bool) {
	if !v.IsNumber() {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v.Raw), 10, 64)
	return n, err == nil
}

// Exact returns the double that a number is; ok is false where the double, written out, is another number.
func Exact(v jsonscan.Value) (f float64, ok bool) {
	if !v.IsNumber() {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.Raw), 64)
	if err != nil || math.IsInf(f, 0) {
		return 0, false
	}
	text := strconv.AppendFloat(nil, f, 'g', -1, 64)
	return f, string(jsonscan.AppendCanonical(nil, text)) == string(jsonscan.AppendCanonical(nil, v.Raw))
}

func (s seen) kind() Kind {
	only := func(of seen) bool { return s&^(of|seenNull) == 0 && s&of != 0 }
	switch {
	case s&seenBytes != 0:
		return Bytes
	case only(seenBool):
		return Bool
	case only(seenInt | seenWide):
		return Int
	case only(seenInt | seenDouble):
		return Double
	case only(seenNested):
		return JSON
	}
	return Text
}

// widened says why a column is of a wider kind than one of its values alone would make it.
func (s seen) widened() string {
	var had []string
	for _, n := range names {
		if s&n.seen != 0 {
			had = append(had, n.text)
		}
	}
	switch k := s.kind(); {
	case k == Bytes:
		return "texts that are not all UTF-8, kept as bytes"
	case k == Double && s&seenInt != 0:
		return "whole numbers and decimals, kept as doubles"
	case k == Text && (len(had) > 1 || s&seenBig != 0):
		return join(had) + ", kept as text"
	}
	return ""
}

func join(words []string) string {
	text := words[0]
	for i, w := range words[1:] {
		text += map[bool]string{true: " and ", false: ", "}[i == len(words)-2] + w
	}
	return text
}
