package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func TestValidateFaults(t *testing.T) {
	deep := strings.Repeat("[", maxDepth)
	tests := []struct {
		name, body string
		kind       Kind
		offset     int
	}{
		{"nothing", "", Empty, 0},
		{"white space", " \r\n\t", Empty, 4},
		{"page of HTML", "\n<html>", NotJSON, 1},
		{"error text", "error: overloaded", NotJSON, 0},
		{"status text", "Too Many Requests", NotJSON, 0},
		{"word with the first letter of a literal", "no healthy upstream", NotJSON, 1},
		{"the same, longer", "false alarm", Trailing, 6},
		{"byte order mark", "\xef\xbb\xbf{}", NotJSON, 0},
		{"closing bracket", "]", NotJSON, 0},
		{"form feed is no white space", "\f{}", NotJSON, 0},
		{"object that ends early", `{"a":1`, Short, 6},
		{"after a comma", `[1,`, Short, 3},
		{"after a colon", `{"a":`, Short, 5},
		{"inside a key", `{"a`, Short, 3},
		{"after a backslash", `["\`, Short, 3},
		{"inside a code unit", `["\u12`, Short, 6},
		{"inside a literal", `[tru`, Short, 4},
		{"word that may become a literal", `nul`, Short, 3},
		{"minus", `-`, Short, 1},
		{"point", `[0.`, Short, 3},
		{"exponent", `[1e`, Short, 3},
		{"exponent's sign", `[1e+`, Short, 4},
		{"as deep as can be", deep, Short, maxDepth},
		{"too deep", deep + "[", Broken, maxDepth},
		{"too deep by an object", deep + "{", Broken, maxDepth},
		{"error text in the tail", `{"items":[{"id":1},upstream timed out`, Broken, 19},
		{"wrong bracket", `{"a":1]`, Broken, 6},
		{"comma before the end", `[1,]`, Broken, 3},
		{"comma before the brace", `{"a":1,}`, Broken, 7},
		{"no colon", `{"a" 1}`, Broken, 5},
		{"no comma", `[1 2]`, Broken, 3},
		{"key that is no string", `{a:1}`, Broken, 1},
		{"control byte in a string", "[\"a\nb\"]", Broken, 3},
		{"control byte in a key", "{\"0123456789\x00\":1}", Broken, 12},
		{"unknown escape", `["\x"]`, Broken, 3},
		{"code unit with a wrong digit", `["\u12g4"]`, Broken, 6},
		{"leading zero", `[01]`, Broken, 2},
		{"plus", `[+1]`, Broken, 1},
		{"point without a digit before", `[.5]`, Broken, 1},
		{"point without a digit behind", `[1.]`, Broken, 3},
		{"exponent without a digit", `[1e]`, Broken, 3},
		{"bare word", `[nil]`, Broken, 2},
		{"NaN", `[NaN]`, Broken, 1},
		{"comment", `[1/*x*/]`, Broken, 2},
		{"two values", `{}{}`, Trailing, 2},
		{"text behind the value", "[] \n<!-- x -->", Trailing, 4},
		{"leading zero at the top", `01`, Trailing, 1},
		{"zero byte behind the value", "{}\x00", Trailing, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Validate([]byte(test.body))
			if got == nil || got.Kind != test.kind || got.Offset != test.offset {
				t.Errorf("Validate(%.40q) = %v, want %v at byte %d", test.body, got, test.kind, test.offset)
			}
		})
	}
}

func TestValidateAccepts(t *testing.T) {
	for _, doc := range append([]string{`0`, `-0`, `"x"`, ` true `, "null\n", `1e999999999`,
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)}, documents...) {
		if bad := Validate([]byte(doc)); bad != nil {
			t.Errorf("Validate(%.60q) = %v, want nil", doc, bad)
		}
	}
}

// A body that was cut anywhere is never taken for whole. Documents that begin with a bracket are never valid when cut; a
// number at the top may be, and then Validate can't know.
func TestValidateRefusesEveryPrefix(t *testing.T) {
	for _, doc := range append([]string{`"text"`, `true`, `null`, string(benchPage(12, 0))}, documents...) {
		doc = strings.TrimSpace(doc)
		for n := range len(doc) {
			want := Error{Offset: n, Kind: Short}
			if n == 0 {
				want.Kind = Empty
			}
			got := Validate([]byte(doc[:n]))
			if got == nil || got.Kind != want.Kind || got.Offset != n {
				t.Fatalf("Validate(%q) = %v, want %v at byte %d", doc[:n], got, want.Kind, n)
			}
		}
	}
	if bad := Validate([]byte(`-12.5`)[:3]); bad != nil {
		t.Errorf("a cut number at the top: %v, want nil", bad)
	}
}

// checkValidate holds Validate against both oracles, and its offset against itself.
func checkValidate(t tester, b []byte) {
	got := Validate(b)
	if want := json.Valid(b); (got == nil) != want {
		t.Errorf("Validate(%q) = %v, encoding/json.Valid = %v", b, got, want)
	}
	d := jsontext.NewDecoder(bytes.NewReader(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, err := d.ReadValue()
	whole := err == nil
	if whole {
		_, err = d.ReadToken()
	}
	ok := whole && err == io.EOF
	if (got == nil) != ok {
		t.Errorf("Validate(%q) = %v, jsontext: %v", b, got, err)
	}
	if got == nil {
		return
	}
	if short := !whole && errors.Is(err, io.ErrUnexpectedEOF); short != (got.Kind == Short) {
		t.Errorf("Validate(%q) = %v, jsontext: %v", b, got, err)
	}
	if (got.Kind == Trailing) != (whole && !ok) {
		t.Errorf("Validate(%q) = %v, jsontext: whole value %v, then %v", b, got, whole, err)
	}
	if got.Kind == Short || got.Kind == Empty {
		if got.Offset != len(b) {
			t.Errorf("Validate(%q) = %v, want offset %d", b, got, len(b))
		}
		return
	}
	// The byte that is named is the one that decides: without it the text can go on, with it it can't.
	if before := Validate(b[:got.Offset]); before != nil && before.Kind != Short && before.Kind != Empty {
		t.Errorf("Validate(%q) = %v, but before that byte it is %v", b, got, before)
	}
	if upTo := Validate(b[:got.Offset+1]); upTo == nil || upTo.Kind != got.Kind || upTo.Offset != got.Offset {
		t.Errorf("Validate(%q) = %v, but up to that byte it is %v", b, got, upTo)
	}
}

func TestValidateAgreesOnMutants(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	valid := 0
	for n := range 40000 {
		b := mutate(r, documents[n%len(documents)])
		checkValidate(t, b)
		if Validate(b) == nil {
			valid++
		}
	}
	if valid < 2000 || valid > 38000 {
		t.Errorf("%d of 40000 mutants are valid: the mutations test little", valid)
	}
}

func TestValidateAgreesOnTokens(t *testing.T) {
	token := rapid.SampledFrom([]string{"{", "}", "[", "]", ",", ":", `"a"`, `"\u00e9\n"`, `"`, `\`, "1", "-0.5e3", "0", "-",
		"true", "null", "fal", " ", "\n", "x", "\x01", "\xe9"})
	rapid.Check(t, func(t *rapid.T) {
		checkValidate(t, []byte(strings.Join(rapid.SliceOfN(token, 0, 12).Draw(t, "tokens"), "")))
	})
}

func FuzzValidate(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
		f.Add([]byte(doc[:len(doc)/2]))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkValidate(t, b) })
}

func TestValidateAllocatesNothing(t *testing.T) {
	body := benchPage(100, 638)
	if n := testing.AllocsPerRun(20, func() { Validate(body) }); n != 0 {
		t.Errorf("Validate: %v allocations, want 0", n)
	}
}

func TestErrorText(t *testing.T) {
	for body, want := range map[string]string{
		`{"a":1`: "short at byte 6: ended where a comma or a brace was due",
		`{"a":x`: `broken at byte 5: "x" where a value was due`,
		"[\"\n":  `broken at byte 2: "\n" inside a string`,
		"":       "empty at byte 0: no value",
		"<html>": "not json at byte 0: no JSON value begins like this",
		`{} {`:   "trailing at byte 3: text after the value",
	} {
		if got := Validate([]byte(body)).Error(); got != want {
			t.Errorf("Validate(%q): %s, want %s", body, got, want)
		}
	}
}

// Every constant has a name of its own, and every other value has one too.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{Kind(0).String(), Empty.String(), NotJSON.String(), Short.String(), Broken.String(),
		Trailing.String(), Missing.String(), NotArray.String(), Null.String(), Array.String(), TypeAbsent.String(),
		TypeNull.String() + " type", TypeBool.String(), TypeNumber.String(), TypeString.String(),
		TypeArray.String() + " type", TypeObject.String()} {
		if name == "" || seen[name] {
			t.Errorf("the name %q is empty or stands for two constants", name)
		}
		seen[name] = true
	}
	for _, name := range []string{Kind(-1).String(), Kind(6).String(), Type(-1).String(), Type(7).String()} {
		if name != "unknown" {
			t.Errorf("a value that is no constant is called %q", name)
		}
	}
	if got := State(9).String(); got != "State(9)" {
		t.Errorf("State(9) is called %q", got)
	}
}
