package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

// Strings are read eight bytes at a time: every byte at every place of such a group, near the end of the text and far
// from it, is judged as encoding/json does.
func TestEveryByteInAString(t *testing.T) {
	for size := range 20 {
		for at := range size {
			for c := range 256 {
				inside := []byte(strings.Repeat("x", size))
				inside[at] = byte(c)
				for _, after := range []string{`"`, `"]`, `","a long string behind it"]`} {
					doc := append(append([]byte(`["`), inside...), after...)
					got := Validate(doc)
					if (got == nil) != json.Valid(doc) {
						t.Fatalf("Validate(%q) = %v, encoding/json.Valid = %v", doc, got, json.Valid(doc))
					}
					if got != nil && got.Kind == Broken && c < ' ' && got.Offset != 2+at {
						t.Fatalf("Validate(%q) = %v, want the byte at %d", doc, got, 2+at)
					}
				}
			}
		}
	}
}

// Every byte between two tokens, before them and behind them, is judged as encoding/json does.
func TestEveryByteBetweenTokens(t *testing.T) {
	for _, form := range []string{"%s[]", "[%s]", "[1%s]", "[1%s,2]", "[1,%s2]", "{%s}", `{%s"a":1}`, `{"a"%s:1}`, `{"a":%s1}`, `{"a":1%s}`,
		`{"a":1%s,"b":2}`, `{"a":1,%s"b":2}`, `{"a":"b"%s}`, "{}%s", "true%s", `"a"%s`, "0%s", "-1.5%s"} {
		for c := range 256 {
			for _, gap := range []string{string([]byte{byte(c)}), " " + string([]byte{byte(c)}) + "\n"} {
				doc := []byte(fmt.Sprintf(form, gap))
				if got := Validate(doc); (got == nil) != json.Valid(doc) {
					t.Errorf("Validate(%q) = %v, encoding/json.Valid = %v", doc, got, json.Valid(doc))
				}
			}
		}
	}
}

// Every text of up to six bytes that numbers are made of is judged as encoding/json does.
func TestEveryShortNumber(t *testing.T) {
	const alphabet = "-+01.e"
	var walk func(text []byte)
	walk = func(text []byte) {
		for _, doc := range [][]byte{text, []byte("[" + string(text) + "]")} {
			if got := Validate(doc); (got == nil) != json.Valid(doc) {
				t.Fatalf("Validate(%q) = %v, encoding/json.Valid = %v", doc, got, json.Valid(doc))
			}
		}
		if len(text) < 6 {
			for _, c := range []byte(alphabet) {
				walk(append(text[:len(text):len(text)], c))
			}
		}
	}
	walk(nil)
}

// Every code unit is read as encoding/json reads it, but for halves of surrogate pairs, and no two are one.
func TestEveryCodeUnit(t *testing.T) {
	seen := map[string]int{}
	for u := range 0x10000 {
		raw := []byte(fmt.Sprintf([]string{`"\u%04x"`, `"\u%04X"`}[u%2], u))
		var want string
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		got := ValueOf(raw).Str()
		if utf16.IsSurrogate(rune(u)) != (got != want) {
			t.Errorf("Str of %s = %q, encoding/json: %q", raw, got, want)
		}
		canon := string(AppendCanonical(nil, raw))
		for _, text := range []string{got, canon} {
			if other, ok := seen[text]; ok {
				t.Errorf("the code units %#x and %#x both become %q", other, u, text)
			}
		}
		seen[got], seen[canon] = u, u
		if again := string(AppendCanonical(nil, []byte(canon))); again != canon {
			t.Errorf("the canonical text of %s is %q, and of that %q", raw, canon, again)
		}
	}
}

// Halves of pairs make a pair where a high one meets a low one, and nowhere else.
func TestSurrogatesMeet(t *testing.T) {
	halves := []rune{0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFFFD}
	for _, a := range halves {
		for _, b := range halves {
			got := ValueOf([]byte(fmt.Sprintf(`"\u%04x\u%04x"`, a, b))).Str()
			want := string(appendRune(appendRune(nil, a), b))
			if a >= 0xD800 && a < 0xDC00 && b >= 0xDC00 && b < 0xE000 {
				want = string(utf16.DecodeRune(a, b))
			}
			if got != want {
				t.Errorf("%x, %x: %q, want %q", a, b, got, want)
			}
			apart := ValueOf([]byte(fmt.Sprintf(`"\u%04x-\u%04x"`, a, b))).Str()
			if apart != string(appendRune(append(appendRune(nil, a), '-'), b)) {
				t.Errorf("%x, -, %x: %q", a, b, apart)
			}
		}
	}
}

// A body cut inside a character of several bytes is short like any other.
func TestCutInsideACharacter(t *testing.T) {
	doc := []byte(`["é€😀"]`)
	for n := 1; n < len(doc); n++ {
		if got := Validate(doc[:n]); got == nil || got.Kind != Short || got.Offset != n {
			t.Errorf("Validate(%q) = %v, want short", doc[:n], got)
		}
	}
}

// White space changes nothing of what a page holds.
func TestPageOfIndentedText(t *testing.T) {
	body := benchPage(40, 300)
	want := mustWant(t, "hits", []string{"id", "user.login", "_tags.1"}, []string{"page", "nbHits", "has_more", "next", "hits.7.user.id"})
	texts := func(body []byte) (out []string) {
		var got Got
		if err := Page(body, want, &got); err != nil || len(got.Items) != 40 {
			t.Fatalf("%d items, %v", len(got.Items), err)
		}
		for _, spans := range [][]Span{got.Items, got.IDs, got.Envelope} {
			for _, s := range spans {
				out = append(out, string(AppendCanonical(nil, s.In(body))))
			}
		}
		return out
	}
	plain := texts(body)
	for _, indent := range []string{"", " ", "\t", "                    "} {
		var b bytes.Buffer
		if err := json.Indent(&b, body, "\r", indent); err != nil {
			t.Fatal(err)
		}
		for i, text := range texts(b.Bytes()) {
			if text != plain[i] {
				t.Errorf("indented by %q: value %d is %s, want %s", indent, i, text, plain[i])
			}
		}
	}
}
