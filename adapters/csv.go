package adapters

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lastdrop/judge"
)

// cutWording is what a row of nothing but notices says, beside the judge's own
// wording: some exports end in such a row where they hit a limit.
var cutWording = []string{"limit exceeded", "limit was exceeded", "limit reached", "limit has been reached", "exceeded the limit"}

// records reads a CSV body: the first record names the columns, each further
// one becomes an object of strings with its keys in the order of the columns.
// A last record of nothing but words that the answer was cut is a notice. What
// is no CSV, or has a record of another number of cells than columns, is half a
// body.
func records(body []byte) (rows []row, notices []string, err error) {
	rd := csv.NewReader(bytes.NewReader(body))
	rd.FieldsPerRecord = -1
	head, err := rd.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil, &Trouble{Kind: TroubleMissing, Msg: "no header row: the body is empty"}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the body is no CSV: %w", err)
	}
	if twice := firstTwice(head); twice != "" {
		return nil, nil, &Trouble{Kind: TroubleMalformed, Msg: fmt.Sprintf("the header row names %q twice", twice)}
	}
	keys := make([][]byte, len(head))
	for i, name := range head {
		keys[i] = quoteJSON(name)
	}
	cells, err := rd.ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("the body is no CSV: %w", err)
	}
	if n := len(cells); n > 0 && isNotice(cells[n-1]) {
		notices = append(notices, strings.Join(slices.Compact(slices.DeleteFunc(slices.Clone(cells[n-1]), blank)), "; "))
		cells = cells[:n-1]
	}
	for i, rec := range cells {
		if len(rec) != len(head) {
			return nil, nil, fmt.Errorf("record %d has %d cells, the header row %d", i+1, len(rec), len(head))
		}
		rows = append(rows, row{raw: object(keys, rec)})
	}
	return rows, notices, nil
}

func firstTwice(names []string) string {
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return n
		}
		seen[n] = true
	}
	return ""
}

// object writes one record as a JSON object of strings.
func object(keys [][]byte, cells []string) []byte {
	out := []byte{'{'}
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), quoteJSON(cells[i])...)
	}
	return append(out, '}')
}

// quoteJSON writes a JSON string. Bytes that need no escape stay as they are,
// also those that are no UTF-8: texts that differ stay different.
func quoteJSON(s string) []byte { return appendText(make([]byte, 0, len(s)+2), s) }

// appendText appends what quoteJSON writes.
func appendText(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

func blank(cell string) bool { return strings.TrimSpace(cell) == "" }

// isNotice reports whether a record has cells that are not blank, and every
// one of them says that something was cut.
func isNotice(cells []string) bool {
	said := false
	for _, c := range cells {
		if blank(c) {
			continue
		}
		if !hasWording(c, judge.TruncationWording) && !hasWording(c, cutWording) {
			return false
		}
		said = true
	}
	return said
}

// hasWording reports whether a text has any of some wordings, which are in
// lower case, without regard to case.
func hasWording(text string, words []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}
