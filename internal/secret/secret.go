// Package secret keeps secrets out of everything that this program prints,
// logs or stores. A Set knows the secret values of one config and hides them
// in any text; names tell which headers and parameters hold secrets that no
// config names; a Value is a secret that cannot be printed by accident.
package secret

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// A Set holds secret values. The zero value and a nil pointer are empty sets.
// All methods may be called from several goroutines, Add too.
type Set struct {
	mu    sync.RWMutex
	slots []slot
	forms []form
}

// A slot is one added secret, in all the forms that it may take in a text.
// Its place among the slots names it in sealed texts.
type slot struct {
	forms []string // by kind; an empty one is not used
	tag   string   // tells another secret in the same place; see Seal
	long  bool     // may be sealed
}

// A form is one text to look for.
type form struct {
	text       string
	slot, kind int
}

// NewSet returns a set of the values, in their order.
func NewSet(values ...string) *Set {
	s := &Set{}
	s.Add(values...)
	return s
}

// Add adds values, each in a place of its own, even those that are empty or
// there already: sealed texts name a secret by its place.
func (s *Set) Add(values ...string) {
	for _, v := range values {
		s.add(v, formsOf(v))
	}
}

// AddBasic adds a user and a password, and the base64 forms of both together
// in which HTTP's basic authentication sends them.
func (s *Set) AddBasic(user, password string) {
	s.Add(user, password)
	joined := user + ":" + password
	s.add(joined, append(basicForms(joined), joined))
}

func (s *Set) add(value string, forms []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := len(s.slots)
	if blank(value) {
		forms = nil
	}
	s.slots = append(s.slots, slot{forms: forms, tag: tagOf(at, value), long: len(value) >= sealable})
	for kind, text := range forms {
		if text == "" || text == Redacted || slices.Contains(forms[:kind], text) {
			continue
		}
		s.forms = append(s.forms, form{text: text, slot: at, kind: kind})
	}
}

// blank reports whether a value, or a basic pair, is nothing that could be hidden.
func blank(value string) bool { return value == ":" || strings.TrimSpace(value) == "" }

// known returns the forms to look for. The slice only ever grows at its end.
func (s *Set) known() []form {
	if s == nil {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.forms
}

// rounds bounds the search for secrets that the hiding itself spells out.
const rounds = 8

// Hide returns text with every occurrence of every secret replaced by
// REDACTED: the value as it is, escaped for a URL's query or path, escaped for
// JSON, and a basic pair's base64; and in percent escapes or character references of
// any mixture, a few times over. A form shorter than 4 bytes is hidden where
// it stands between characters that are no letters, digits or underscores, as
// is one that the word REDACTED contains. White space alone is no secret. What
// Hide returns holds none of the forms that it looks for.
func (s *Set) Hide(text string) string {
	forms := s.known()
	for range rounds {
		spans := append(find(forms, text), coded(forms, text)...)
		if len(spans) == 0 {
			return text
		}
		text = cut(text, sorted(spans))
	}
	return Redacted
}

// Clip returns text as it is where it has at most n bytes. Of a longer one it
// returns the beginning up to the last space, quote or angle bracket within n
// bytes, and "…": a text is often cut before it comes to a place that knows
// the secrets, and half a secret would not be found there.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:strings.LastIndexAny(text[:n+1], " \t\r\n\"'<>")+1] + "…"
}

// Has reports whether a secret stands in text, in any form.
func (s *Set) Has(text string) bool {
	forms := s.known()
	return len(find(forms, text)) > 0 || len(coded(forms, text)) > 0
}

// A span is a part of a text that spells a form.
type span struct{ from, to, form int }

// short is the length below which a form is only looked for between borders.
const short = 4

// bordered reports whether a form only counts between borders of words.
func (f form) bordered() bool { return len(f.text) < short || strings.Contains(Redacted, f.text) }

// find returns all occurrences, overlapping ones too, in order.
func find(forms []form, text string) []span {
	var spans []span
	for i, f := range forms {
		for from := 0; ; {
			at := strings.Index(text[from:], f.text)
			if at < 0 {
				break
			}
			from += at
			if end := from + len(f.text); !f.bordered() || alone(text, from, end) {
				spans = append(spans, span{from, end, i})
			}
			from++
		}
	}
	return sorted(spans)
}

// sorted puts spans in order, the longer of those that begin together first.
func sorted(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	return spans
}

// alone reports whether text[from:to] stands between borders of words.
func alone(text string, from, to int) bool {
	return (from == 0 || !wordByte(text[from-1])) && (to == len(text) || !wordByte(text[to]))
}

func wordByte(b byte) bool {
	return b == '_' || b >= 0x80 || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// cut replaces the union of the spans: one REDACTED for spans that touch.
func cut(text string, spans []span) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(spans); {
		from, to := spans[i].from, spans[i].to
		for i++; i < len(spans) && spans[i].from <= to; i++ {
			to = max(to, spans[i].to)
		}
		b.WriteString(text[done:from])
		b.WriteString(Redacted)
		done = to
	}
	b.WriteString(text[done:])
	return b.String()
}

// Format writes REDACTED, whatever the verb: a Set is never printed.
func (s *Set) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// String returns REDACTED.
func (s *Set) String() string { return Redacted }

// MarshalText returns REDACTED.
func (s *Set) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// LogValue returns REDACTED.
func (s *Set) LogValue() slog.Value { return slog.StringValue(Redacted) }
