package jsonscan

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// init makes the properties run longer than rapid does by itself; -rapid.checks still wins.
func init() {
	if err := flag.Set("rapid.checks", "4000"); err != nil {
		panic(err)
	}
}

// tester is what testing and rapid have in common.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

func mustPath(t tester, path string) Path {
	t.Helper()
	p, err := Compile(path)
	if err != nil {
		t.Fatalf("Compile(%q): %v", path, err)
	}
	return p
}

func mustPaths(t tester, paths []string) []Path {
	t.Helper()
	var out []Path
	for _, p := range paths {
		out = append(out, mustPath(t, p))
	}
	return out
}

// mustWant compiles a Want; an empty items path is none.
func mustWant(t tester, items string, ids, envelope []string) *Want {
	t.Helper()
	var p Path
	if items != "" {
		p = mustPath(t, items)
	}
	w, err := NewWant(p, mustPaths(t, ids), mustPaths(t, envelope))
	if err != nil {
		t.Fatalf("NewWant(%q, %q, %q): %v", items, ids, envelope, err)
	}
	return w
}

// documents are valid, have every token of JSON in them, and begin with a bracket.
var documents = []string{
	`{}`,
	`[]`,
	` [ ] `,
	`{"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}],"total":2,"next":null}`,
	"{\n  \"data\": {\n    \"rows\": [\n      {\"id\": \"x\"}\n    ]\n  },\r\n\t\"has_more\": false\n}\n",
	`[1,-0,0.5,-1.25e+10,1E-3,12345678901234567890,true,false,null]`,
	`[{"id":"\u0041\"\\\/\b\f\n\r\t"},{"id":"\ud83d\ude00"},{"id":"\ud800"},{"id":"é😀"},[[],{}]]`,
	`{"":{"":[""]},"a.b":{"@odata.nextLink":"https://x.test/?a=1&b=%20"},"i\u0064":7}`,
	`{"data":{"repository":{"issues":{"edges":[{"node":{"id":"I_1"}},{"node":null}],"pageInfo":{"hasNextPage":true}}}}}`,
	`[[[[[[[[[[[[[[[[{"deep":[[[[[[[[]]]]]]]]}]]]]]]]]]]]]]]]]`,
	"{\"bytes\":\"\x7f\xff\xfe\xed\xa0\x80\",\"long\":\"0123456789abcdef0123456789abcdef0123456789abcdef\"}",
	`{"a":1,"a":2,"b":{"c":[],"c":{}}}`,
}

// mutate returns a damaged copy of doc: some bytes taken out, put in, replaced or repeated.
func mutate(r *rand.Rand, doc string) []byte {
	const bytes = "{}[]\",:\\ \t\n\r\x00\x1f\x7f\xff0123456789-+.eEtrufalsnbx/'#"
	b := []byte(doc)
	for range 1 + r.IntN(3) {
		i, c := r.IntN(len(b)+1), bytes[r.IntN(len(bytes))]
		j := min(len(b), i+r.IntN(4))
		switch r.IntN(5) {
		case 0:
			b = b[:i]
		case 1:
			b = append(b[:i:i], b[j:]...)
		case 2:
			b = append(append(b[:i:i], c), b[i:]...)
		case 3:
			b = append(append(b[:i:i], c), b[j:]...)
		default:
			b = append(b[:j:j], b[i:]...)
		}
	}
	return b
}

// renderRune writes one character of a JSON string in one of the ways that JSON allows.
func renderRune(t *rapid.T, r rune) string {
	way := rapid.IntRange(0, 2).Draw(t, "way")
	switch short := strings.IndexRune("\"\\/\b\f\n\r\t", r); {
	case way == 0 && short >= 0:
		return `\` + `"\/bfnrt`[short:short+1]
	case way == 1 && r >= ' ' && r != '"' && r != '\\':
		return string(r)
	case r > 0xFFFF:
		hi, lo := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04X`, hi, lo)
	case way == 2:
		return fmt.Sprintf(`\u%04X`, r)
	default:
		return fmt.Sprintf(`\u%04x`, r)
	}
}
