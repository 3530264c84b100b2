package jsonscan

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

func TestCompilePlain(t *testing.T) {
	tests := []struct {
		path  string
		plain bool
		steps int // walked by ourselves
		tail  string
	}{
		{"items", true, 1, ""},
		{"data.0.x", true, 3, ""},
		{"@this", true, 0, ""},
		{"@this.rows", true, 1, ""},
		{"data.@this.rows", true, 2, ""},
		{`@odata\.nextLink`, true, 1, ""},
		{"@odata.nextLink", true, 2, ""},
		{`\@this`, true, 1, ""},
		{"@", true, 1, ""},
		{"a.@b", true, 2, ""},
		{`a\.b\*\?\#\|c`, true, 1, ""},
		{"a..b", true, 3, ""},
		{"a.", true, 2, ""},
		{"a.!true", true, 2, ""},
		{"data.*.rows", false, 1, "*.rows"},
		{"data.ro?s", false, 1, "ro?s"},
		{"edges.#.node", false, 1, "#.node"},
		{"a.0.#(x==1)#.y", false, 2, "#(x==1)#.y"},
		{"a.b|c", true, 3, ""},
		{"a.b|", true, 3, ""},
		{"|a", true, 2, ""},
		{"a|@this|b", true, 2, ""},
		{"a|#.b", false, 1, "#.b"},
		{"a|!true", false, 1, "!true"},
		{"a|..0", false, 1, "..0"},
		{"a.@reverse", false, 1, "@reverse"},
		{"@this|a", true, 1, ""},
		{"@this:1.a", false, 0, "@this:1.a"},
		{"@pretty", false, 0, "@pretty"},
		{"a.[b,c]", false, 1, "[b,c]"},
		{"{a,b}", false, 0, "{a,b}"},
		{"!true", false, 0, "!true"},
		{"..0.a", false, 0, "..0.a"},
		{"@this...a", false, 0, "..a"},
		{`a.!"x*`, false, 0, `a.!"x*`}, // behind a dot the mark is no literal, at the start it is
	}
	for _, test := range tests {
		p := mustPath(t, test.path)
		if p.Plain() != test.plain || len(p.steps) != test.steps || p.tail != test.tail || p.String() != test.path {
			t.Errorf("Compile(%q): %q, plain %v, %d steps, tail %q; want plain %v, %d steps, tail %q",
				test.path, p, p.Plain(), len(p.steps), p.tail, test.plain, test.steps, test.tail)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, path := range []string{"", `a\`, `a.b\`} {
		if p, err := Compile(path); err == nil || p.Plain() {
			t.Errorf("Compile(%q) = %q, %v, want an error", path, p, err)
		}
	}
}

const findDoc = ` {"items":[{"id":1,"tags":["x","y"]},{"id":"2"},null],"@odata.nextLink":"u","@odata":{"nextLink":"v"},
	"a.b":{"c*":true,"#":"h"},"0":"zero","00":"two zeros","":{"":0},"n":null,"\u00e9":"e","i\u0064s":[ [ 1 , 2 ] ,3],
	"text":"{\"x\":1} [9]","list":"[9]","@this":"t","!true":"m","e":{}} `

func TestFind(t *testing.T) {
	tests := []struct{ path, want string }{
		{"items.0.id", `1`},
		{"items.1.id", `"2"`},
		{"items.00.id", `1`},
		{"items.2", `null`},
		{"items.3", ``},
		{"items.99999999999999999999", ``},
		{"items.-1", ``},
		{"items.id", ``},
		{"items.0.tags", `["x","y"]`},
		{`items.\0.id`, ``},
		{`@odata\.nextLink`, `"u"`},
		{"@odata.nextLink", `"v"`},
		{`a\.b.c\*`, `true`},
		{`a\.b.\#`, `"h"`},
		{"0", `"zero"`},
		{"00", `"two zeros"`},
		{"a..", ``},
		{"@this..", `0`},
		{"n", `null`},
		{"n.x", ``},
		{"é", `"e"`},
		{"ids.0.1", `2`},
		{"ids.0", `[ 1 , 2 ]`},
		{"text.x", ``},
		{"text.0", ``},
		{`\@this`, `"t"`},
		{`@this.!true`, `true`},
		{"e", `{}`},
		{"e.x", ``},
		{"@this", strings.TrimSpace(findDoc)},
		{"items.0|tags|1", `"y"`},
		{"text|x", ``},
		{"list|0", ``},
		{"e|x", ``},
		// gjson's part
		{"items.#", `3`},
		{"items.#.id", `[1,"2"]`},
		{`items.#(id=="2").id`, `"2"`},
		{"it*.0.id", `1`},
		{"items.0.@keys", `["id","tags"]`},
		{"[n,e]", `[null,{}]`},
		{"text.*", ``},
		{"list.#", ``},
		{"list|#", ``},
		{"list.[0]", ``},
		{"n|!true", `true`},
		{"items.#.tags|0|1", `"y"`},
		{"list.@this|@tostr", `"\"[9]\""`},
		{"nothing.@keys", ``},
		{"n.@this|@tostr", `"null"`},
		{"ids.0.@pretty", "[1, 2]"},
	}
	for _, test := range tests {
		got, err := mustPath(t, test.path).Find([]byte(findDoc))
		if err != nil || string(got.Raw) != test.want || got.Exists() != (test.want != "") {
			t.Errorf("Find(%q) = %q, %v, want %q", test.path, got.Raw, err, test.want)
		}
	}
	if got, err := mustPath(t, "text.@fromstr").Find([]byte(findDoc)); err == nil || got.Exists() {
		t.Errorf("Find gives %q, %v for two values in a string, want an error", got.Raw, err)
	}
	if got, err := (Path{}).Find([]byte(`[1]`)); err != nil || got.Exists() {
		t.Errorf("the zero path finds %q, %v", got.Raw, err)
	}
}

func TestFindRefusesDuplicates(t *testing.T) {
	tests := []struct{ path, doc, key string }{
		{"id", `{"id":1,"id":1}`, "id"},
		{"id", `{"id":1,"\u0069d":2}`, "id"},
		{"id", `{"\u0069\u0064":1,"i\u0064":2}`, "id"},
		{"a.b", `{"a":{"b":1},"x":0,"a":3}`, "a"},
		{"a.b", `{"a":3,"a":{"b":1}}`, "a"},
		{"a.b", `{"a":{"b":1,"c":[],"b":2}}`, "b"},
		{"a|b", `{"a":{"b":1,"c":[],"b":2}}`, "b"},
		{"rows.1.id", `{"rows":[0,{"id":1,"id":2}]}`, "id"},
		{"missing.x", `{"missing":0,"missing":0}`, "missing"},
		{"😀", `{"😀":1,"\ud83d\uDE00":2}`, "😀"},
		{`a\/b`, `{"a/b":1,"a\/b":2}`, "a/b"},
		{"a.#", `{"a":[],"a":[1]}`, "a"},
		{"a.b*", `{"a":{"c":1,"\u0063":2}}`, "c"},
		{"edges.#.node", `{"edges":[{"node":1},{"node":2,"node":3}]}`, "node"},
		{"it*", `{"items":[],"x":1,"x":2}`, "x"},
	}
	for _, test := range tests {
		p := mustPath(t, test.path)
		_, err := p.Find([]byte(test.doc))
		var twice *DuplicateKeyError
		if !errors.Is(err, ErrDuplicateKey) || !errors.As(err, &twice) || twice.Key != test.key || twice.Path != test.path {
			t.Errorf("Find(%q) in %s: %v, want the key %q twice", test.path, test.doc, err, test.key)
		}
		if _, state, err := p.Items([]byte(test.doc), nil); !errors.Is(err, ErrDuplicateKey) || state != Missing {
			t.Errorf("Items(%q) in %s: %v, %v, want the key %q twice", test.path, test.doc, state, err, test.key)
		}
	}
	// Elsewhere duplicates are nobody's business.
	for path, doc := range map[string]string{
		"a.b":   `{"x":1,"x":2,"a":{"c":1,"c":2,"b":{"d":1,"d":2}}}`,
		"a.0":   `{"a":[1,{"0":1,"0":2}]}`,
		"id":    `{"id":1,"ID":2,"id ":3,"\u0130d":4}`,
		"a|b":   `{"a":{"b":{"c":1,"c":2}},"x":1,"x":2}`,
		"a.#":   `{"a":[[{"c":1,"c":2}]]}`,
		"@this": `{"c":1,"c":2}`,
	} {
		if v, err := mustPath(t, path).Find([]byte(doc)); err != nil || !v.Exists() {
			t.Errorf("Find(%q) in %s = %q, %v, want a value", path, doc, v.Raw, err)
		}
	}
}

func TestDuplicateKeyErrorText(t *testing.T) {
	_, err := mustPath(t, "a.id").Find([]byte(`{"a":{"id":1,"i\u0064":2}}`))
	const want = `key "id" stands twice in one object on the path "a.id" (again at byte 23)`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestItems(t *testing.T) {
	doc := []byte(` {"rows":[ {"id":1} , null,"x" ],"none":[],"null":null,"n":3,"pages":[[1],[2,3]],"edges":[{"node":7}]} `)
	tests := []struct {
		path  string
		state State
		want  []string
		err   error
	}{
		{"rows", Array, []string{`{"id":1}`, `null`, `"x"`}, nil},
		{"none", Array, nil, nil},
		{"null", Null, nil, nil},
		{"n", NotArray, nil, nil},
		{"@this", NotArray, nil, nil},
		{"absent", Missing, nil, nil},
		{"rows.0.id", NotArray, nil, nil},
		{"pages.1", Array, []string{"2", "3"}, nil},
		{"r*", Array, []string{`{"id":1}`, `null`, `"x"`}, nil},
		{"@this|pages|1", Array, []string{"2", "3"}, nil},
		{"edges.#.node", Missing, nil, ErrBuilt},
		{"edges.#", NotArray, nil, nil},
		{"absent.#.x", Missing, nil, nil},
	}
	dst := make([]Span, 5)
	for _, test := range tests {
		got, state, err := mustPath(t, test.path).Items(doc, dst)
		if state != test.state || err != test.err || len(got) != len(test.want) {
			t.Errorf("Items(%q) = %v, %v, %v, want %v, %v, %v", test.path, got, state, err, test.want, test.state, test.err)
			continue
		}
		for i, s := range got {
			if string(s.In(doc)) != test.want[i] {
				t.Errorf("Items(%q), element %d: %q, want %q", test.path, i, s.In(doc), test.want[i])
			}
		}
	}
	v, err := mustPath(t, "edges.#.node").Find(doc)
	if got, state := v.Items(nil); err != nil || state != Array || len(got) != 1 || string(got[0].In(v.Raw)) != "7" {
		t.Errorf("Find and Value.Items of a built array: %v, %v, %v", got, state, err)
	}
}

// What gjson builds must not share memory with anything that others may write to.
func TestFindBuiltIsOurs(t *testing.T) {
	doc := []byte(`{"a":[{"b":1},{"b":2}]}`)
	for _, path := range []string{"a.#.b", "a.#", "!true", "a.@reverse"} {
		v, err := mustPath(t, path).Find(doc)
		if err != nil || !v.Exists() {
			t.Fatalf("Find(%q) = %q, %v", path, v.Raw, err)
		}
		before := string(v.Raw)
		v.Raw[0]++
		if again, _ := mustPath(t, path).Find(doc); string(again.Raw) != before {
			t.Errorf("Find(%q): %q, then %q", path, before, again.Raw)
		}
	}
}

// checkPath holds Find against gjson, wherever gjson can be trusted to have one answer.
func checkPath(t tester, doc []byte, path string) {
	p, err := Compile(path)
	if err != nil {
		return
	}
	got, err := p.Find(doc)
	if Validate(doc) != nil {
		return // no promise, but no panic either
	}
	if err == nil && got.Exists() && Validate(got.Raw) != nil {
		t.Errorf("Find(%q) in %q = %q, which is no JSON", path, doc, got.Raw)
	}
	spans, state, itemsErr := p.Items(doc, nil)
	if itemsErr == nil && (state == Array) != got.IsArray() {
		t.Errorf("Items(%q) in %q = %v, %v, but Find gives %q", path, doc, spans, state, got.Raw)
	}
	if !trustGJSON(doc, path) {
		return
	}
	want := strings.Trim(gjson.GetBytes(doc, path).Raw, " \t\r\n")
	if p.Plain() && (err != nil || string(got.Raw) != want) {
		t.Errorf("Find(%q) in %q = %q, %v; gjson: %q", path, doc, got.Raw, err, want)
	}
	if err == nil && got.Exists() && string(got.Raw) != want {
		t.Errorf("Find(%q) in %q = %q; gjson: %q", path, doc, got.Raw, want)
	}
}

var oddEscape = regexp.MustCompile(`(?i)\\ud[89a-f]`)

// trustGJSON leaves out what gjson reads in its own way: duplicate keys, a scalar at the top (it looks for a bracket inside
// strings), half surrogate pairs, an escaped bar before an array, and indexes longer than it takes.
func trustGJSON(doc []byte, path string) bool {
	strict := jsontext.Value(doc).IsValid(jsontext.AllowInvalidUTF8(true))
	top := bytes.TrimSpace(doc)[0]
	return strict && (top == '{' || top == '[') && !oddEscape.Match(doc) && !strings.Contains(path, `\|`) &&
		len(path) < 100 && !regexp.MustCompile(`\d{17}`).MatchString(path)
}

func TestFindAgreesWithGJSON(t *testing.T) {
	paths := strings.Fields(`items items.0 items.1.id items.#.id items.#(id==2).name total next @this @this.0 0 1.0 4.0 data.rows.0.id
		data data.* data.*.0 a\.b a\.b.@odata\.nextLink @this.. .. ..0 ..#.id id i? bytes long 0|id @keys items.@reverse.0.id
		data.repository.issues.edges.#.node data.repository.issues.edges.0.node.id {data,items} items|0|id items.#.id|0 @values|0`)
	for _, doc := range documents {
		for _, path := range paths {
			checkPath(t, []byte(doc), path)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 20000 {
		checkPath(t, mutate(r, documents[n%len(documents)]), paths[r.IntN(len(paths))])
	}
}

// A key, escaped, is found whatever it is, and where it is written with JSON escapes too.
func TestFindEveryKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringN(1, 6, -1).Draw(t, "key")
		p, err := Compile(gjson.Escape(key))
		if err != nil || !p.Plain() {
			t.Fatalf("Compile(%q): %v, plain %v", gjson.Escape(key), err, p.Plain())
		}
		var units strings.Builder
		for _, r := range key {
			units.WriteString(renderRune(t, r))
		}
		doc := []byte(`{"other":0,"` + units.String() + `":[1]}`)
		if v, err := p.Find(doc); err != nil || string(v.Raw) != "[1]" {
			t.Fatalf("Find(%q) in %s = %q, %v", p, doc, v.Raw, err)
		}
	})
}

func FuzzPath(f *testing.F) {
	for i, path := range []string{"items.0.id", "@this", `a\.b.@odata\.nextLink`, "data.*.rows|0", "items.#(id==2)#.name",
		"a.!true", "..#.id", "[a,b]", "@pretty:{\"indent\":\"\"}.0"} {
		f.Add([]byte(documents[(3+i)%len(documents)]), path)
	}
	f.Fuzz(func(t *testing.T, doc []byte, path string) { checkPath(t, doc, path) })
}

func TestFindAllocatesNothing(t *testing.T) {
	doc := []byte(`{"x":[1,2],"a":{"\u0062":{"i\u0064":"v"}}}`)
	p := mustPath(t, "a.b.id")
	if n := testing.AllocsPerRun(20, func() {
		if v, err := p.Find(doc); err != nil || !v.IsString() {
			t.Fatal(v, err)
		}
	}); n != 0 {
		t.Errorf("Find: %v allocations, want 0", n)
	}
}
