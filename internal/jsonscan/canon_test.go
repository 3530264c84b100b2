package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func TestAppendCanonical(t *testing.T) {
	for item, want := range map[string]string{
		` { "b" : [ 1.0 , true ] , "a" : null } `: `{"a":null,"b":[1,true]}`,
		`{"b":1,"a":2,"b":0,"a":1}`:               `{"a":2,"a":1,"b":1,"b":0}`,
		`{"b":{"d":1,"c":[{"f":1,"e":2}]},"":0}`:  `{"":0,"b":{"c":[{"e":2,"f":1}],"d":1}}`,
		`{"\u0062":1,"a\/":2,"a\n":3}`:            `{"a/":2,"a\u000a":3,"b":1}`,
		`[]`:                                      `[]`, `{}`: `{}`, ` "x" `: `"x"`, ` true`: `true`, "null\n": `null`, `"1"`: `"1"`,
		`"\u00e9\u0041\/\t\"\\"`: `"éA/\u0009\"\\"`,
		`"\uD83D\uDE00"`:         `"😀"`,
		`"\uD800\udfff"`:         "\"\U000103ff\"",
		`"\uD800x\uDFFF"`:        `"\ud800x\udfff"`,
		`"\ufffd"`:               "\"\ufffd\"",
		"\"\xff\xed\xa0\x80\"":   "\"\xff\xed\xa0\x80\"",
		"\"\x7f\\u007f\"":        "\"\x7f\x7f\"",
	} {
		if got := string(AppendCanonical([]byte("> "), []byte(item))); got != "> "+want {
			t.Errorf("AppendCanonical(%s) = %q, want %q", item, got, "> "+want)
		}
	}
}

func TestCanonicalNumbers(t *testing.T) {
	nines, zeros := strings.Repeat("9", 18), strings.Repeat("0", 18)
	for want, numbers := range map[string][]string{
		"0":                  {"0", "-0", "0.0", "-0.000e5", "0e999999999999999999999999999", "0E-1"},
		"1":                  {"1", "1.0", "1e0", "10e-1", "0.1e1", "1E+0", "1.000e00", "0.0001e4", "100000e-5"},
		"-12e2":              {"-1200", "-1.2e3", "-12E2", "-1200.0", "-120e+1"},
		"12e-3":              {"0.012", "12e-3", "1.2e-2", "0.0120", "120e-4"},
		"9007199254740993":   {"9007199254740993", "9007199254740993.0", "900719925474099.3e1"},
		"9007199254740992":   {"9007199254740992"},
		"1e999999999":        {"1e999999999", "10e999999998", "0.1e1000000000"},
		"1e-999999999":       {"1e-999999999", "0.1e-999999998"},
		"1e1" + zeros:        {"1e1" + zeros, "10e" + nines, "0.1e1" + zeros[1:] + "1", "100e" + nines[1:] + "8"},
		"1e-1" + zeros:       {"1e-1" + zeros, "0.1e-" + nines, "10e-1" + zeros[1:] + "1"},
		"1e" + nines:         {"1e" + nines, "0.1e1" + zeros, "0.01e1" + zeros[1:] + "1", "10e" + nines[1:] + "8"},
		"1e-" + nines:        {"1e-" + nines, "10e-1" + zeros, "1e-000" + nines},
		"1e9" + nines:        {"1e9" + nines, "10e9" + nines[1:] + "8", "0.1e1" + zeros + "0"},
		"15e3" + nines + "9": {"15e3" + nines + "9", "1.5e4" + zeros + "0", "15000e3" + nines + "6"},
	} {
		for _, number := range numbers {
			if got := string(AppendCanonical(nil, []byte(number))); got != want {
				t.Errorf("AppendCanonical(%s) = %s, want %s", number, got, want)
			}
		}
	}
}

// Members with one key stay in their order, however many there are.
func TestCanonicalKeepsDuplicatesInOrder(t *testing.T) {
	var item, as, bs []string
	for n := range 100 {
		a, b := fmt.Sprintf(`"a":%d`, n*2+1), fmt.Sprintf(`"b":%d`, n*2+1)
		item, as, bs = append(item, b, a), append(as, a), append(bs, b)
	}
	want := "{" + strings.Join(append(as, bs...), ",") + "}"
	if got := string(AppendCanonical(nil, []byte("{"+strings.Join(item, " , ")+"}"))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is no valid value stays itself, apart from every value.
func TestCanonicalOfWhatIsNotValid(t *testing.T) {
	for _, item := range []string{``, ` `, `{`, `{"a":1`, `[1,]`, `01`, `1 2`, `"a`, `nul`, `<html>`, `{"a":1}x`, `{"a"}`} {
		if got := string(AppendCanonical(nil, []byte(item))); got != "!"+item {
			t.Errorf("AppendCanonical(%q) = %q, want %q", item, got, "!"+item)
		}
	}
}

// model is a JSON value by its meaning; rendered, it may be spelled in many ways.
type model struct {
	kind   byte // one of n, t, f, #, ", [, {
	neg    bool
	digits string // of a number: no zeros at either end, empty for 0
	exp    int
	units  []unit
	parts  []model
	keys   [][]unit // of the parts of an object, each once
}

// unit is a rune, a lone surrogate, or, as -1-b, a raw byte b.
type unit rune

var unitGen = rapid.OneOf(
	rapid.Map(rapid.SampledFrom([]rune(`ab"\/`+"\x00\n\x1f\x7fé\u0301\u2028\ufffd😀")), func(r rune) unit { return unit(r) }),
	rapid.SampledFrom([]unit{0xD800, 0xDBFF, 0xDC00, 0xDFFF, -1 - 0xff, -1 - 0xed, -1 - 0xa0, -1 - 0x80, -1 - 0xc3}),
)

func drawUnits(t *rapid.T) []unit {
	return rapid.SliceOfN(unitGen, 0, 4).Draw(t, "units")
}

// means returns what units spell: two halves of a pair that meet are one rune, and raw bytes may make one.
func meaning(units []unit) string {
	var b strings.Builder
	for i := 0; i < len(units); i++ {
		switch u := units[i]; {
		case u < 0:
			b.WriteByte(byte(-1 - u))
		case u >= 0xD800 && u < 0xDC00 && i+1 < len(units) && units[i+1] >= 0xDC00 && units[i+1] < 0xE000:
			b.WriteRune(0x10000 + (rune(u)-0xD800)<<10 + (rune(units[i+1]) - 0xDC00))
			i++
		case u >= 0xD800 && u < 0xE000:
			fmt.Fprintf(&b, "\xff\xff<%x>", u) // generated raw bytes never make this
		default:
			b.WriteRune(rune(u))
		}
	}
	return b.String()
}

func drawModel(t *rapid.T, depth int) model {
	kinds := []byte(`ntf##""`)
	if depth > 0 {
		kinds = append(kinds, "[{{"...)
	}
	m := model{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	switch m.kind {
	case '#':
		m.digits = strings.Trim(rapid.StringMatching(`[0-9]{0,3}|[0-9]{17}`).Draw(t, "digits"), "0")
		if m.digits != "" {
			m.neg = rapid.Bool().Draw(t, "neg")
			m.exp = rapid.IntRange(-3, 3).Draw(t, "exp")
		}
	case '"':
		m.units = drawUnits(t)
	case '[', '{':
		for range rapid.IntRange(0, 3).Draw(t, "size") {
			if m.kind == '{' {
				key := drawUnits(t)
				if slices.ContainsFunc(m.keys, func(k []unit) bool { return meaning(k) == meaning(key) }) {
					continue
				}
				m.keys = append(m.keys, key)
			}
			m.parts = append(m.parts, drawModel(t, depth-1))
		}
	}
	return m
}

// String says what m means, and is the same for two models if and only if they mean the same.
func (m model) String() string {
	switch m.kind {
	case '#':
		return fmt.Sprintf("#%v %s %d", m.neg, m.digits, m.exp)
	case '"':
		return strconv.Quote(meaning(m.units))
	case '[':
		return fmt.Sprint(m.parts)
	case '{':
		var members []string
		for i, p := range m.parts {
			members = append(members, strconv.Quote(meaning(m.keys[i]))+":"+p.String())
		}
		slices.Sort(members)
		return fmt.Sprintf("{%s}", strings.Join(members, ","))
	default:
		return string(m.kind)
	}
}

// render spells m in one of its many ways.
func (m model) render(t *rapid.T) string {
	space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "space") }
	switch m.kind {
	case '#':
		return space() + m.renderNumber(t) + space()
	case '"':
		return space() + renderUnits(t, m.units) + space()
	case '[', '{':
		var parts []string
		for i, p := range m.parts {
			part := p.render(t)
			if m.kind == '{' {
				part = space() + renderUnits(t, m.keys[i]) + space() + ":" + part
			}
			parts = append(parts, part)
		}
		if m.kind == '{' {
			parts = rapid.Permutation(parts).Draw(t, "order")
		}
		return space() + string(m.kind) + space() + strings.Join(parts, ",") + string(m.kind+2) + space()
	default:
		return space() + map[byte]string{'n': "null", 't': "true", 'f': "false"}[m.kind] + space()
	}
}

func renderUnits(t *rapid.T, units []unit) string {
	var b strings.Builder
	for _, u := range units {
		switch {
		case u < 0:
			b.WriteByte(byte(-1 - u))
		case u >= 0xD800 && u < 0xE000:
			fmt.Fprintf(&b, rapid.SampledFrom([]string{`\u%x`, `\u%X`}).Draw(t, "case"), u)
		default:
			b.WriteString(renderRune(t, rune(u)))
		}
	}
	return `"` + b.String() + `"`
}

func (m model) renderNumber(t *rapid.T) string {
	zeros := rapid.IntRange(0, 3).Draw(t, "zeros")
	digits, exp := m.digits+strings.Repeat("0", zeros), m.exp-zeros
	if m.digits == "" {
		digits, exp = strings.Repeat("0", zeros+1), rapid.IntRange(-9, 9).Draw(t, "exp of zero")
	}
	frac := ""
	if point := rapid.IntRange(0, len(digits)+2).Draw(t, "point"); point > 0 {
		digits = strings.Repeat("0", max(0, point+1-len(digits))) + digits
		digits, frac, exp = digits[:len(digits)-point], digits[len(digits)-point:], exp+point
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		digits = "0"
	}
	if frac != "" {
		digits += "." + frac
	}
	if m.neg || m.digits == "" && rapid.Bool().Draw(t, "minus") {
		digits = "-" + digits
	}
	if exp == 0 && rapid.Bool().Draw(t, "no exponent") {
		return digits
	}
	form := rapid.SampledFrom([]string{"e%d", "E%d", "e%+d", "E%+03d"}).Draw(t, "form")
	return digits + fmt.Sprintf(form, exp)
}

// Two values have the same canonical text if and only if they mean the same, however they are spelled.
func TestCanonicalMeansEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawModel(t, 2)
		b := a
		if !rapid.Bool().Draw(t, "same") {
			b = drawModel(t, 2)
		}
		rawA, rawB := a.render(t), b.render(t)
		if Validate([]byte(rawA)) != nil || Validate([]byte(rawB)) != nil {
			t.Fatalf("the test renders what is not valid: %q, %q", rawA, rawB)
		}
		canonA, canonB := AppendCanonical(nil, []byte(rawA)), AppendCanonical(nil, []byte(rawB))
		if bytes.Equal(canonA, canonB) != (a.String() == b.String()) {
			t.Fatalf("%q and %q mean %s and %s, and are %q and %q", rawA, rawB, a, b, canonA, canonB)
		}
		checkCanonical(t, []byte(rawA))
	})
}

// One change of meaning anywhere changes the canonical text.
func TestCanonicalSeesEveryChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := []string{`null`, `true`, `false`, `0`, `1`, `-1`, `0.1`, `10`,
			`9007199254740992`, `9007199254740993`, `1e400`, `1e401`, `""`, `"1"`, `"null"`, `"a"`, `"A"`, "\"\u00e9\"", "\"e\u0301\"", `"\ud800"`, `"\ud801"`, `"\ufffd"`, "\"\xff\"", "\"\xed\xa0\x80\"", `"\\ud800"`,
			`"\u0000"`, `[]`, `{}`, `[[]]`, `[null]`, `{"a":null}`, `{"a":[]}`, `{"A":[]}`, `{"a":null,"a":null}`, `"[]"`}
		two := rapid.Permutation(texts).Draw(t, "texts")[:2]
		around := rapid.SampledFrom([]string{"%s", "[%s]", "[1,%s]", `{"k":%s}`, `{"k":1,"k":%s}`, `{"k":[{"l":%s},2],"j":0}`}).Draw(t, "around")
		a, b := fmt.Sprintf(around, two[0]), fmt.Sprintf(around, two[1])
		if bytes.Equal(AppendCanonical(nil, []byte(a)), AppendCanonical(nil, []byte(b))) {
			t.Fatalf("%s and %s have the same canonical text", a, b)
		}
	})
}

// checkCanonical holds for every text: a valid one has a canonical text that is valid, that is its own canonical text, and
// that encoding/json reads as it reads the item.
func checkCanonical(t tester, item []byte) {
	canon := AppendCanonical(nil, item)
	if Validate(item) != nil {
		if string(canon) != "!"+string(item) {
			t.Errorf("AppendCanonical(%q) = %q of what is not valid", item, canon)
		}
		return
	}
	if bad := Validate(canon); bad != nil {
		t.Errorf("AppendCanonical(%q) = %q, which is not valid: %v", item, canon, bad)
	}
	if again := AppendCanonical(nil, canon); !bytes.Equal(again, canon) {
		t.Errorf("AppendCanonical(%q) = %q, and of that %q", item, canon, again)
	}
	if !jsontext.Value(item).IsValid(jsontext.AllowInvalidUTF8(true)) {
		return // of members whose keys it takes for the same, encoding/json reads the last, and their order may change
	}
	var before, after any
	if json.Unmarshal(item, &before) != nil {
		return // a number that no float64 can hold
	}
	if err := json.Unmarshal(canon, &after); err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("AppendCanonical(%q) = %q: encoding/json reads %v, then %v, %v", item, canon, before, after, err)
	}
}

func TestCanonicalOfMutants(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 20000 {
		checkCanonical(t, mutate(r, documents[n%len(documents)]))
	}
}

func FuzzCanonical(f *testing.F) {
	for _, doc := range append([]string{`-1200.50E-3`, `0.1e1000000000000000000`, `"\ud800\udc00\ud800"`}, documents...) {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, item []byte) { checkCanonical(t, item) })
}

// Nothing that a server can send makes the canonical text large, or costs memory out of proportion.
func TestCanonicalStaysCheap(t *testing.T) {
	const size = 1 << 18
	nested := func(open, shut string) string {
		return strings.Repeat(open, maxDepth-1) + `"` + strings.Repeat("x", size) + `"` + strings.Repeat(shut, maxDepth-1)
	}
	for name, item := range map[string]string{
		"exponent":       `1e999999999`,
		"long exponent":  `1.5e` + strings.Repeat("9", size),
		"long negative":  `1.5e-1` + strings.Repeat("0", size),
		"long number":    strings.Repeat("9", size) + "." + strings.Repeat("0", size),
		"zeros":          "0." + strings.Repeat("0", size) + "1e" + strconv.Itoa(size),
		"deep arrays":    nested(`[1,`, `]`),
		"deep objects":   nested(`{"b":1,"a":`, `}`),
		"many members":   `{"k":1` + strings.Repeat(`,"k":1`, size/6) + `}`,
		"many long keys": `{"":1` + strings.Repeat(`,"`+strings.Repeat("k", 4000)+`":1`, size/4000) + `}`,
		"escapes":        `"` + strings.Repeat(`\u0001`, size/6) + `"`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		canon := AppendCanonical(nil, []byte(item))
		runtime.ReadMemStats(&after)
		took := after.TotalAlloc - before.TotalAlloc
		if len(canon) > len(item)+8 || took > 1<<16+200*uint64(len(item)) {
			t.Errorf("%s: %d bytes became %d and took %d of memory", name, len(item), len(canon), took)
		}
	}
}

func TestCanonicalAllocatesNothing(t *testing.T) {
	item := []byte(`{"name":"caf\u00e9","id":12.50,"tags":["b","a"],"user":{"k\u0065y":null,"a":true}}`)
	dst := make([]byte, 0, 200)
	tree := new(tree) // the pool may lose its trees at any time
	if n := testing.AllocsPerRun(100, func() {
		dst = tree.appendItem(dst[:0], item)
		tree.reset()
	}); n != 0 {
		t.Errorf("a tree in use: %v allocations, want 0", n)
	}
	number := []byte(`12.50`)
	if n := testing.AllocsPerRun(100, func() { dst = AppendCanonical(dst[:0], number) }); n != 0 {
		t.Errorf("AppendCanonical of a number: %v allocations, want 0", n)
	}
}
