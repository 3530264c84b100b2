package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// filler is what padded items are padded with.
const filler = "abcdefghijklmnopqrstuvwxyz012345"

// appendItem writes an item as JSON.
func (s *Sim) appendItem(b []byte, it Item) []byte {
	outer, inner, nested := strings.Cut(s.api.ID, ".")
	b = append(b, '{')
	if it.ID.Kind != NoID {
		b = append(append(append(b, '"'), outer...), `":`...)
		if nested {
			b = append(append(append(b, `{"`...), inner...), `":`...)
		}
		b = it.ID.appendJSON(b)
		if nested {
			b = append(b, '}')
		}
		b = append(b, ',')
	}
	if !s.World.keyless(it) {
		b = append(append(append(b, '"'), s.api.SortField...), `":`...)
		if s.api.SortTime {
			b = append(s.appendSort(append(b, '"'), it), '"')
		} else {
			b = s.appendSort(b, it)
		}
		b = append(b, ',')
	}
	if g := s.World.group(it); g != "" {
		b = append(append(append(b, `"set":"`...), g...), `",`...)
	}
	b = s.appendTitle(append(b, `"title":"`...), it)
	b = append(b, '"')
	if s.World.Payload > 0 {
		b = s.appendFiller(append(b, `,"text":"`...))
		b = append(b, '"')
	}
	return append(b, '}')
}

// appendTitle writes the content that tells versions and items apart; it holds
// an escape and a letter outside ASCII.
func (s *Sim) appendTitle(b []byte, it Item) []byte {
	b = strconv.AppendInt(append(b, `caf\u00e9 é `...), it.ID.N, 10)
	return strconv.AppendInt(append(b, '.'), int64(it.Rev), 10)
}

func (s *Sim) appendFiller(b []byte) []byte {
	for left := s.World.Payload; left > 0; left -= len(filler) {
		b = append(b, filler[:min(left, len(filler))]...)
	}
	return b
}

// Key is an item's identity as text: the JSON of its id, or, without one, the
// canonical JSON of the item.
func (s *Sim) Key(it Item) string {
	switch {
	case it.ID.named() && s.api.Format == XML:
		return string(rawText(string(it.ID.appendText(nil))))
	case it.ID.named():
		return it.ID.String()
	}
	k, _ := canonical(s.appendItem(nil, it))
	return k
}

// KeyOf is the identity of an item as a client holds it, in the form of
// [Truth]: the JSON text of the id, or the canonical JSON of an item that has
// none or null. It fails on what is no JSON object.
func (s *Sim) KeyOf(item []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(item))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		return "", fmt.Errorf("item %.80q: %w", item, err)
	}
	if fields == nil {
		return "", errors.New("a null is no item")
	}
	var at any = fields
	for _, name := range strings.Split(s.api.ID, ".") {
		m, _ := at.(map[string]any)
		at = m[name]
	}
	switch v := at.(type) {
	case json.Number:
		return number(v), nil
	case string:
		return string(rawText(v)), nil
	default:
		return canonical(item)
	}
}

// canonical is JSON text with sorted keys and no spaces.
func canonical(item []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(item))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	out, err := json.Marshal(v)
	return string(out), err
}

// number is the exact decimal text of a number: 1, 1.0 and 1e0 are one.
func number(n json.Number) string {
	text := n.String()
	if !strings.ContainsAny(text, ".eE") {
		return text
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	if r.IsInt() {
		return r.Num().String()
	}
	return r.RatString()
}

// keys are the identities of items, each once, in their order.
func (s *Sim) keys(items []Item) []string {
	out := make([]string, 0, len(items))
	seen := make(map[string]bool, len(items))
	for _, it := range items {
		k := s.Key(it)
		if !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return slices.Clip(out)
}
