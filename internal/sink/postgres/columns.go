package postgres

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lastdrop/internal/jsonscan"
	"lastdrop/internal/sink/table"
)

// mostColumns is how many keys become columns. A row has to fit a page of 8 KiB; of a long value 24 bytes at most stay in it.
const mostColumns = 300

// kind is the type of a column.
type kind int

const (
	kindText kind = iota
	kindBytes
	kindBool
	kindInt
	kindNumber
	kindJSON
)

// typeNames are as format_type of PostgreSQL writes them.
var typeNames = [...]string{kindText: "text", kindBytes: "bytea", kindBool: "boolean", kindInt: "bigint", kindNumber: "numeric", kindJSON: "jsonb"}

func (k kind) String() string { return typeNames[k] }

// seen is a set of the sorts of values that stood in a column.
type seen uint8

const (
	seenBool seen = 1 << iota
	seenInt
	seenNumber
	seenVast // a number beyond numeric
	seenText
	seenNested
	seenOdd   // an object or list that jsonb does not hold
	seenBytes // what is no text in PostgreSQL: a NUL, or no UTF-8
)

func look(v jsonscan.Value) seen {
	switch v.Type {
	case jsonscan.TypeAbsent, jsonscan.TypeNull:
		return 0
	case jsonscan.TypeBool:
		return seenBool
	case jsonscan.TypeNumber:
		return lookNumber(v)
	case jsonscan.TypeString:
		if s := v.Str(); !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			return seenText | seenBytes
		}
		return seenText
	}
	return lookNested(v.Raw)
}

func lookNumber(v jsonscan.Value) seen {
	if _, ok := table.Whole(v); ok {
		return seenInt
	}
	if vast(v.Raw) {
		return seenVast
	}
	return seenNumber
}

func lookNested(raw []byte) seen {
	switch {
	case !utf8.Valid(raw):
		return seenNested | seenBytes
	case !fitsJSONB(raw):
		return seenNested | seenOdd
	}
	return seenNested
}

// vast reports whether numeric may not hold a number: it takes 131,072 digits before the point, and 16,383 behind it.
func vast(number []byte) bool {
	const most = 10_000
	digits, exponent, _ := strings.Cut(strings.ToLower(string(number)), "e")
	if len(digits) > most {
		return true
	}
	if exponent == "" {
		return false
	}
	n, err := strconv.Atoi(exponent)
	return err != nil || n > most || n < -most/2
}

// fitsJSONB reports whether jsonb takes a JSON value that is UTF-8: it refuses \u0000, half a surrogate pair, vast numbers, and
// what is nested or long beyond its bounds.
func fitsJSONB(raw []byte) bool {
	const deep, long = 1000, 200 << 20
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '{' || c == '[':
			if depth++; depth > deep {
				return false
			}
		case c == '}' || c == ']':
			depth--
		case c == '"':
			end, ok := textEnd(raw, i+1)
			if !ok {
				return false
			}
			i = end
		case c == '-' || '0' <= c && c <= '9':
			n := i + 1
			for n < len(raw) && strings.IndexByte("0123456789.eE+-", raw[n]) >= 0 {
				n++
			}
			if vast(raw[i:n]) {
				return false
			}
			i = n - 1
		}
	}
	return len(raw) <= long
}

// textEnd finds the end of a string whose inside begins at i; ok is false where it has an escape that jsonb refuses.
func textEnd(raw []byte, i int) (end int, ok bool) {
	for ; i < len(raw) && raw[i] != '"'; i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if i >= len(raw) || raw[i] != 'u' {
			continue
		}
		unit := hexUnit(raw, i+1)
		i += 4
		switch {
		case unit == 0, unit >= 0xDC00 && unit < 0xE000:
			return 0, false
		case unit >= 0xD800 && unit < 0xDC00:
			low := -1
			if bytes.HasPrefix(raw[min(i+1, len(raw)):], []byte(`\u`)) {
				low = hexUnit(raw, i+3)
			}
			if low < 0xDC00 || low > 0xDFFF {
				return 0, false
			}
			i += 6
		}
	}
	return i, true
}

// hexUnit reads four digits; -1 is none.
func hexUnit(raw []byte, i int) int {
	if i+4 > len(raw) {
		return -1
	}
	n, err := strconv.ParseUint(string(raw[i:i+4]), 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

// kind is the narrowest that holds all values exactly.
func (s seen) kind() kind {
	switch {
	case s&seenBytes != 0:
		return kindBytes
	case s == seenBool:
		return kindBool
	case s == seenInt:
		return kindInt
	case s != 0 && s&^(seenInt|seenNumber) == 0:
		return kindNumber
	case s == seenNested:
		return kindJSON
	}
	return kindText
}

// widened says why a column is of a wider kind than one of its values alone would make it.
func (s seen) widened() string {
	var had []string
	for _, n := range []struct {
		seen seen
		text string
	}{
		{seenBool, "true or false"}, {seenInt | seenNumber, "numbers"}, {seenVast, "numbers that numeric does not hold"}, {seenText, "texts"},
		{seenNested &^ seenOdd, "objects or lists"}, {seenOdd, `some that jsonb does not hold (\u0000, half a character, depth or length)`},
	} {
		if s&n.seen != 0 {
			had = append(had, n.text)
		}
	}
	switch k := s.kind(); {
	case k == kindBytes:
		return "texts with a NUL or with bytes that are no UTF-8, which no text of PostgreSQL holds: kept as bytea"
	case k == kindText && (len(had) > 1 || s&seenVast != 0):
		return strings.Join(had, " and ") + ": kept as text"
	}
	return ""
}

// columns are what the items of a run have in common.
type columns struct {
	table.Columns
	seen  []seen
	rest  seen // of the members beyond the columns
	bytes bool // an item is no UTF-8
	names []string
}

func newColumns() *columns {
	c := &columns{}
	c.Limit = mostColumns
	c.Seen = func(i int, key, v jsonscan.Value) {
		if i < 0 {
			c.rest |= lookNested(key.Raw) | lookNested(v.Raw)
			return
		}
		for len(c.seen) <= i {
			c.seen = append(c.seen, 0)
		}
		c.seen[i] |= look(v)
	}
	return c
}

// add takes one item into account.
func (c *columns) add(item []byte) error {
	c.bytes = c.bytes || !utf8.Valid(item)
	return c.Add(item)
}

// A column is one column of the table.
type column struct {
	name string
	kind kind
	none bool // has no values at all: any kind would do
}

// list gives the columns in the order of their values: _key, _run, _n, _item, those of the keys, _rest.
func (c *columns) list() []column {
	item := kindText
	if c.bytes {
		item = kindBytes
	}
	list := []column{{name: keyColumn}, {name: runColumn}, {name: orderColumn, kind: kindInt}, {name: itemColumn, kind: item}}
	c.names = names(c.Keys())
	for i, name := range c.names {
		list = append(list, column{name, c.seen[i].kind(), c.seen[i] == 0})
	}
	if c.HasRest() {
		list = append(list, column{name: table.Rest, kind: c.rest.kind()})
	}
	return list
}

// notes says what is not as a reader of the table would expect.
func (c *columns) notes() []string {
	const most = 20
	notes := append(c.Notes(), table.RenameNotes(c.Keys(), c.names)...)
	said := 0
	for i, s := range c.seen {
		why := s.widened()
		if why == "" {
			continue
		}
		if said++; said <= most {
			notes = append(notes, fmt.Sprintf("column %q: %s", c.names[i], why))
		}
	}
	if said > most {
		notes = append(notes, fmt.Sprintf("%d more columns hold mixtures, and are texts or bytes", said-most))
	}
	if c.bytes {
		notes = append(notes, "items with bytes that are no UTF-8: the column "+itemColumn+" is bytea")
	}
	return notes
}

// own are the names that no key's column may have: this package's, and those that PostgreSQL keeps for itself.
var own = []string{keyColumn, runColumn, orderColumn, itemColumn, table.Rest, "tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", "oid"}

// mostName is the length that PostgreSQL leaves of a name.
const mostName = 63

// names gives each key a column's name. A key that can be none gets digits of its SHA-256 behind what is left of it: the same
// key has the same name in every run.
func names(keys []string) []string {
	taken := map[string]bool{}
	for _, key := range keys {
		taken[key] = true
	}
	out := make([]string, len(keys))
	for i, key := range keys {
		name := legal(key)
		if name == key && name != "" && len(name) <= mostName && !slices.Contains(own, name) {
			out[i] = key
			continue
		}
		sum := sha256.Sum256([]byte(key))
		digits := hex.EncodeToString(sum[:])
		for n := 8; ; n += 8 {
			out[i] = cutText(name, mostName-1-n) + "_" + digits[:n]
			if !taken[out[i]] || n == mostName/9*8 {
				break
			}
		}
		taken[out[i]] = true
	}
	return out
}

func legal(key string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(key, "\uFFFD"), "\x00", "\uFFFD")
}

// cutText cuts a text between characters.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// appendCell writes a value as COPY reads it, in the text format.
func appendCell(dst []byte, k kind, v jsonscan.Value) []byte {
	if !v.Exists() || v.IsNull() {
		return append(dst, `\N`...)
	}
	text := v.Raw
	if v.IsString() && (k == kindText || k == kindBytes) {
		text = []byte(v.Str())
	}
	if k == kindBytes {
		return hex.AppendEncode(append(dst, `\\x`...), text)
	}
	return appendText(dst, text)
}

func appendText(dst, text []byte) []byte {
	for {
		i := bytes.IndexAny(text, "\\\n\r\t")
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:i]...), '\\', map[byte]byte{'\\': '\\', '\n': 'n', '\r': 'r', '\t': 't'}[text[i]])
		text = text[i+1:]
	}
}

// wider is the narrowest kind that holds what both hold.
func wider(a, b kind) kind {
	switch {
	case a == b:
		return a
	case a == kindBytes || b == kindBytes:
		return kindBytes
	case min(a, b) == kindInt && max(a, b) == kindNumber:
		return kindNumber
	}
	return kindText
}

// cast writes how the values of a column are changed to a wider kind.
func cast(name string, to kind) string {
	if to == kindBytes {
		return "convert_to(" + name + "::text, 'UTF8')"
	}
	return name + "::text::" + to.String()
}
