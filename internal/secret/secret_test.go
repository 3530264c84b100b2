package secret

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"
)

func TestHide(t *testing.T) {
	for _, tc := range []struct {
		name    string
		secrets []string
		in, out string
	}{
		{"nothing to hide", nil, "plain text", "plain text"},
		{"the value", []string{"s3cr3t"}, "a s3cr3t b", "a REDACTED b"},
		{"inside a word", []string{"s3cr3t"}, "xs3cr3ty", "xREDACTEDy"},
		{"query escaped", []string{"a b&c/d"}, "?k=a+b%26c%2Fd", "?k=REDACTED"},
		{"query escaped, spaces as %20", []string{"a b&c/d"}, "?k=a%20b%26c%2Fd", "?k=REDACTED"},
		{"query escaped, small hex", []string{"a b&c/d"}, "?k=a+b%26c%2fd", "?k=REDACTED"},
		{"path escaped", []string{"a b/c="}, "/x/a%20b%2Fc=/y", "/x/REDACTED/y"},
		{"path as written by net/url", []string{"a b/c="}, "/x/a%20b/c=/y", "/x/REDACTED/y"},
		{"JSON escaped", []string{"a\"b\\c<d"}, `{"k":"a\"b\\c<d"}`, `{"k":"REDACTED"}`},
		{"JSON escaped for HTML", []string{"ab<cd"}, `{"k":"ab\u003ccd"}`, `{"k":"REDACTED"}`},
		{"JSON with escaped slashes", []string{"ab/cd"}, `{"k":"ab\/cd"}`, `{"k":"REDACTED"}`},
		{"JSON in ASCII", []string{"pässwört𝄞"}, `"p\u00e4ssw\u00f6rt\ud834\udd1e"`, `"REDACTED"`},
		{"short, alone", []string{"abc"}, "x=abc;", "x=REDACTED;"},
		{"short, inside a word", []string{"abc"}, "xabcy abc1 _abc", "xabcy abc1 _abc"},
		{"two that touch", []string{"first1", "second2"}, "first1second2", "REDACTED"},
		{"one inside the other", []string{"token", "token-long"}, "my token-long", "my REDACTED"},
		{"overlapping itself", []string{"abab"}, "ababab", "REDACTED"},
		{"blank values", []string{"", " "}, "a b", "a b"},
		{"a part of REDACTED", []string{"DACT"}, "DACT xDACTx", "REDACTED xDACTx"},
		{"REDACTED", []string{"REDACTED"}, "x REDACTED", "x REDACTED"},
		{"spelled out by hiding", []string{"abcd", "zRED"}, "zabcd", "REDACTEDACTED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := NewSet(tc.secrets...).Hide(tc.in); got != tc.out {
				t.Errorf("Hide(%q) with %q: got %q, want %q", tc.in, tc.secrets, got, tc.out)
			}
		})
	}
}

// A text may be cut anywhere before the secrets are hidden in it: wherever the
// cut falls, nothing of a secret may stay.
func TestClipLeavesNoHalfSecret(t *testing.T) {
	const token = "s3cr3t-9f8e7d6c5b4a"
	set := NewSet(token)
	for _, text := range []string{
		"Bearer " + token + " is not known", `{"error":"denied","got":"` + token + `","more":"text"}`, "<b>" + token + "</b> and more", token + token,
	} {
		for n := range len(text) + 2 {
			got := set.Hide(Clip(text, n))
			if strings.Contains(got, token[:3]) {
				t.Errorf("Clip(%q, %d) gives %q", text, n, got)
			}
			if n >= len(text) && Clip(text, n) != text {
				t.Errorf("Clip(%q, %d) cuts", text, n)
			}
		}
	}
}

func TestAddBasicHidesHeader(t *testing.T) {
	s := NewSet()
	s.AddBasic("us er", "pässwörd?>")
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		text := "Authorization: Basic " + enc.EncodeToString([]byte("us er:pässwörd?>"))
		if got := s.Hide(text); got != "Authorization: Basic REDACTED" {
			t.Errorf("Hide(%q) = %q", text, got)
		}
	}
	if got := s.Hide("us er / pässwörd?>"); got != "REDACTED / REDACTED" {
		t.Errorf("the parts: %q", got)
	}
}

func TestNilAndZeroSets(t *testing.T) {
	var none *Set
	if got := none.Hide("a"); got != "a" {
		t.Errorf("nil set: %q", got)
	}
	if got := none.HideURL("https://u:p@h/?token=x"); got != "https://REDACTED@h/?token=REDACTED" {
		t.Errorf("nil set: %q", got)
	}
	if got, ok := none.Seal("a"); got != "a" || !ok {
		t.Errorf("nil set: %q, %v", got, ok)
	}
	if _, ok := none.Unseal("⟦S0.0.beef⟧"); ok {
		t.Error("a nil set turned a placeholder back")
	}
	var zero Set
	zero.Add("s3cr3t")
	if !zero.Has("x s3cr3t") || zero.Has("x") {
		t.Error("the zero set does not hold what was added")
	}
}

// The law of this package: what was hidden holds no secret, in any form.
func TestHiddenHoldsNoSecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(genSecret(), 1, 4).Draw(t, "secrets")
		s := NewSet(values...)
		text := genText(values).Draw(t, "text")
		for name, got := range map[string]string{"Hide": s.Hide(text), "HideURL": s.HideURL(text)} {
			for _, v := range values {
				if blank(v) {
					continue
				}
				for _, form := range append(formsOf(v), v) {
					if spells(got, form) {
						t.Fatalf("%s(%q) = %q still holds %q (a form of %q)", name, text, got, form, v)
					}
				}
			}
		}
	})
}

// spells reports whether text holds the form f where it would have to be hidden.
func spells(text, f string) bool {
	if f == Redacted {
		return false
	}
	if len(f) >= short && !strings.Contains(Redacted, f) {
		return strings.Contains(text, f)
	}
	return len(find([]form{{text: f}}, text)) > 0
}

func TestSealTurnsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(genSecret(), 1, 4).Draw(t, "secrets")
		s := NewSet(values...)
		text := genText(values).Draw(t, "text")
		sealed, ok := s.Seal(text)
		if s.Has(sealed) {
			t.Fatalf("Seal(%q) = %q, %v still holds a secret of %q", text, sealed, ok, values)
		}
		if !ok {
			return
		}
		if got, ok := NewSet(values...).Unseal(sealed); !ok || got != text {
			t.Fatalf("Unseal(%q) = %q, %v, want %q", sealed, got, ok, text)
		}
	})
}

func TestSeal(t *testing.T) {
	const next = "https://api.example.com/items?after=12&api_key=tok%2Fen-1234"
	s := NewSet("other-secret", "tok/en-1234")
	sealed, ok := s.Seal(next)
	if !ok || strings.Contains(sealed, "en-1234") || !strings.HasPrefix(sealed, "https://api.example.com/items?after=12&api_key=⟦S1.") {
		t.Fatalf("Seal = %q, %v", sealed, ok)
	}
	if got, ok := s.Unseal(sealed); !ok || got != next {
		t.Errorf("the same set: %q, %v", got, ok)
	}
	if got := s.HideURL(sealed); got != sealed {
		t.Errorf("HideURL takes a sealed value for a secret: %q", got)
	}
	if got, ok := s.Seal(`{"next":"tok\/en-1234"}`); !ok || !json.Valid([]byte(got)) {
		t.Errorf("a sealed cursor is no JSON: %q, %v", got, ok)
	}
	for name, other := range map[string]*Set{
		"an empty set":            NewSet(),
		"another secret":          NewSet("other-secret", "tok/en-9999"),
		"the secrets in disorder": NewSet("tok/en-1234", "other-secret"),
	} {
		if got, ok := other.Unseal(sealed); ok || got != "" {
			t.Errorf("%s turned it into %q", name, got)
		}
	}
	for _, bad := range []string{"⟦", "⟧", "a⟧b", "⟦⟧", "⟦S⟧", "⟦S1.0⟧", "⟦S1.99.beef⟧", "⟦S-1.0.x⟧", "⟦x1.0.0⟧", "⟦Sx.y.z⟧", "⟦S1.0.beef"} {
		if got, ok := s.Unseal(bad); ok {
			t.Errorf("Unseal(%q) = %q", bad, got)
		}
	}
}

func TestSealRefuses(t *testing.T) {
	for _, tc := range []struct {
		name    string
		secrets []string
		in, out string
	}{
		{"a short secret", []string{"abc"}, "?k=abc", "?k=REDACTED"},
		{"secrets that overlap", []string{"abcdefgh", "ghijklmn"}, "abcdefghijklmn", "REDACTED"},
		{"a bracket", []string{"abcdefgh"}, "abcdefgh⟧", "REDACTED⟧"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := NewSet(tc.secrets...).Seal(tc.in); ok || got != tc.out {
				t.Errorf("Seal(%q) = %q, %v, want %q, false", tc.in, got, ok, tc.out)
			}
		})
	}
}

func TestValueNeverPrints(t *testing.T) {
	const text = "s3cr3t-value"
	v := Value(text)
	type box struct {
		V Value  `json:"v" yaml:"v" xml:"v"`
		P *Value `json:"p" yaml:"p" xml:"p"`
		S *Set   `json:"s" yaml:"-" xml:"-"`
	}
	b := box{v, &v, NewSet(text)}
	var printed []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%08s", "%.3s", "%c", "%U"} {
		printed = append(printed, fmt.Sprintf(verb, v), fmt.Sprintf(verb, &v), fmt.Sprintf(verb, b), fmt.Sprintf(verb, &b),
			fmt.Sprintf(verb, []Value{v}), fmt.Sprintf(verb, map[Value]Value{v: v}), fmt.Sprintf(verb, b.S))
	}
	js, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	ym, err := yaml.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	xm, err := xml.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v, "s", b.S, "b", b)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v, "s", b.S, "b", b)
	printed = append(printed, string(js), string(ym), string(xm), log.String(), v.String(), v.GoString(), b.S.String())
	for _, p := range printed {
		if strings.Contains(p, text) || strings.Contains(p, fmt.Sprintf("%x", text)) || !strings.Contains(p, Redacted) {
			t.Errorf("printed %q", p)
		}
	}
	if v.Reveal() != text {
		t.Errorf("Reveal() = %q", v.Reveal())
	}
}

func genSecret() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9_.~+/=-]{1,24}`),
		rapid.StringMatching(`[REDACTx ]{1,9}`),
		rapid.StringN(1, 12, 40),
		rapid.StringMatching(`[ab&?#"\\<]{1,10}`),
	)
}

// genText makes texts of secrets in all their forms and of other stuff.
func genText(values []string) *rapid.Generator[string] {
	var parts []string
	for _, v := range values {
		parts = append(parts, formsOf(v)...)
		parts = append(parts, url.QueryEscape(v))
	}
	part := rapid.OneOf(
		rapid.SampledFrom(parts),
		rapid.SampledFrom([]string{"RED", "REDACTED", "DACTED", "https://", "u:p@", "?a=", "&token=", "#", "/", " ", "⟦", "⟧", "x"}),
		rapid.StringN(0, 6, 20),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "")
	})
}

func TestSetFromSeveralGoroutines(t *testing.T) {
	s := NewSet()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			v := fmt.Sprintf("secret-number-%d", i)
			s.Add(v)
			if got := s.Hide("x " + v); strings.Contains(got, v) {
				t.Errorf("Hide = %q", got)
			}
			if sealed, ok := s.Seal(v); !ok || s.Has(sealed) {
				t.Errorf("Seal = %q, %v", sealed, ok)
			}
		})
	}
	group.Wait()
}
