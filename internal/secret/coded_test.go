package secret

import (
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestHideCoded hides a value however often and in whatever mixture it is escaped,
// and leaves what stands around it.
func TestHideCoded(t *testing.T) {
	const value = "s3cr3t+TOK/en==x"
	s := NewSet(value)
	twice := url.QueryEscape("https://api.test/items?api_key=" + url.QueryEscape(value) + "&page=2")
	quoted := strings.ReplaceAll(url.QueryEscape(value), "%2F", "/") // as Python's quote leaves it
	for _, text := range []string{
		"https://other.test/login?return=" + twice + "&x=1",
		"https://other.test/?t=" + quoted,
		`<p>no such key: s3cr3t&#43;TOK/en&#61;&#x3D;x</p>`,
		`<a href="/?k=` + html.EscapeString(url.QueryEscape(value)) + `">`,
		"%2573" + value[1:],
	} {
		got := s.Hide(text)
		if !strings.Contains(got, Redacted) || !s.Has(text) || s.Has(got) {
			t.Errorf("%s: %s", text, got)
		}
		for round := text; ; {
			next, _ := decode(got)
			if strings.Contains(next, value) {
				t.Errorf("%s: %s says it still", text, got)
			}
			if got == next || round == next {
				break
			}
			got = next
		}
	}
	if got := s.Hide("https://other.test/login?return=" + twice + "&x=1"); !strings.HasPrefix(got, "https://other.test/login?return=") || !strings.HasSuffix(got, "%26page%3D2&x=1") {
		t.Errorf("too much is hidden: %s", got)
	}
	if plain := "50 % of it & more; 100%25 &amp; %zz &#; %"; s.Hide(plain) != plain {
		t.Errorf("%q became %q", plain, s.Hide(plain))
	}
}

// TestHideJSONEscapes hides a value in whichever of its letters JSON writers escape, in
// either case, also twice over.
func TestHideJSONEscapes(t *testing.T) {
	all := func(format string) func(string) string {
		return func(v string) string {
			var b strings.Builder
			for _, c := range utf16.Encode([]rune(v)) {
				fmt.Fprintf(&b, format, c)
			}
			return b.String()
		}
	}
	one := func(of, to string) func(string) string {
		return func(v string) string { return strings.ReplaceAll(v, of, to) }
	}
	for value, escapes := range map[string][]func(string) string{
		"tok&live_5fQ9zL":      {one("&", `\u0026`), all(`\u%04x`), all(`\u%04X`)},
		"tok>live_5fQ9zL":      {one(">", `\u003E`), one(">", `\u003e`)},
		"abc/DEF+live5fQ9zL==": {one("+", `\u002B`), one("+", `\u002b`), one("=", `\u003D`), one("=", `\u003d`), one("/", `\/`), one("/", `\\/`), one("+", `\\u002B`)},
		"pa'ss&word5fQ9zL":     {one("'", `\u0027`)},
		`pa"ss\word5fQ9zL`:     {one(`"`, `\u0022`), one(`\`, `\u005C`), one(`\`, `\\`)},
		"schlüssel-🔑-5fQ9zL":   {all(`\u%04x`), all(`\u%04X`), one("ü", `\u00FC`), one("🔑", `\uD83D\uDD11`), one("🔑", `\ud83d\uDD11`)},
	} {
		s := NewSet(value)
		for _, esc := range escapes {
			text := `{"error":"no such key: ` + esc(value) + `, sorry"}`
			if got := s.Hide(text); got != `{"error":"no such key: `+Redacted+`, sorry"}` {
				t.Errorf("%s: %s", text, got)
			}
		}
	}
	if plain := `a \u00 and \ud83d alone, C:\users\u1234 and \`; NewSet("tok&live_5fQ9zL").Hide(plain) != plain {
		t.Errorf("what holds no secret is changed: %s", plain)
	}
}

// TestSealCoded: what holds a secret in escapes alone cannot be sealed, and is hidden.
func TestSealCoded(t *testing.T) {
	for _, text := range []string{"RED%2B+", "after=%74%6fk-5fQ9zL", `{"after":"\u0074ok-5fQ9zL"}`} {
		s := NewSet("+", "tok-5fQ9zL")
		if got, ok := s.Seal(text); ok || s.Has(got) {
			t.Errorf("%s: %s, %v", text, got, ok)
		}
	}
}

// TestUnescapePositions: each byte of what is undone knows where it stood.
func TestUnescapePositions(t *testing.T) {
	parts := []string{`\u0041`, `\uD83D\uDD11`, `\ud83d`, `\u00`, `\/`, `\`, "%41", "%4", "%", "&amp;", "&#65;", "&", ";", "a", "é", "%C3%A9", "&nosuch;"}
	rng := rand.New(rand.NewPCG(8, 9))
	for range 5000 {
		var b strings.Builder
		for range rng.IntN(8) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		plain, at := decode(b.String())
		if len(at) != len(plain)+1 || at[len(plain)] != b.Len() {
			t.Fatalf("%q: %q, %v", b.String(), plain, at)
		}
		for i := 1; i < len(at); i++ {
			if at[i] < at[i-1] {
				t.Fatalf("%q: %v goes back", b.String(), at)
			}
		}
	}
}
