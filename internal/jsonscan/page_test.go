package jsonscan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPage(t *testing.T) {
	body := []byte(`{"total": 3, "data":{"rows":[ {"id":1,"k":{"n":"a"}} , null, {"k":{"n":"b"},"\u0069d":"2"}, [7,8], "s" ],
		"total":9}, "next" : null, "rows":[{"id":0}]}`)
	want := mustWant(t, "data.rows", []string{"id", "k.n", "1"}, []string{"total", "next", "more", "data.total", "data.rows.0.id", "data.rows.0"})
	var got Got
	for range 2 { // the second time in the same Got
		if err := Page(body, want, &got); err != nil {
			t.Fatal(err)
		}
		text := func(s Span) string { return string(s.In(body)) }
		var lines []string
		for n, item := range got.Items {
			lines = append(lines, fmt.Sprintf("%s %s/%s/%s", text(item), text(got.ID(n, 0)), text(got.ID(n, 1)), text(got.ID(n, 2))))
		}
		for _, s := range got.Envelope {
			lines = append(lines, text(s))
		}
		wantLines := []string{`{"id":1,"k":{"n":"a"}} 1/"a"/`, `null //`, `{"k":{"n":"b"},"\u0069d":"2"} "2"/"b"/`, `[7,8] //8`, `"s" //`,
			`3`, `null`, ``, `9`, `1`, `{"id":1,"k":{"n":"a"}}`}
		if got.State != Array || got.Nulls != 1 || !slices.Equal(lines, wantLines) {
			t.Errorf("%v, %d nulls, got\n%s\nwant\n%s", got.State, got.Nulls, strings.Join(lines, "\n"), strings.Join(wantLines, "\n"))
		}
	}
}

func TestPageStates(t *testing.T) {
	for body, want := range map[string]State{
		`{"rows":[]}`: Array, `{"rows":null}`: Null, `{"rows":{}}`: NotArray, `{"rows":"[]"}`: NotArray, `{}`: Missing,
		`[]`: Missing, `"rows"`: Missing, `{"data":{"rows":[]}}`: Missing, `{"error":"x"}`: Missing,
	} {
		var got Got
		if err := Page([]byte(body), mustWant(t, "rows", nil, nil), &got); err != nil || got.State != want {
			t.Errorf("Page(%s): %v, %v, want %v", body, got.State, err, want)
		}
	}
	var got Got
	if err := Page([]byte(` [ {"id":5} ] `), mustWant(t, "@this", []string{"id"}, nil), &got); err != nil || len(got.Items) != 1 || got.ID(0, 0) != (Span{9, 10}) {
		t.Errorf("a bare array: %+v, %v", got, err)
	}
	if err := Page([]byte(`[1]`), mustWant(t, "", nil, []string{"0"}), &got); err != nil || got.State != Missing || got.Envelope[0] != (Span{1, 2}) {
		t.Errorf("no items wanted: %+v, %v", got, err)
	}
	if err := Page([]byte(`[1]`), new(Want), &got); err != nil || len(got.Items)+len(got.IDs)+len(got.Envelope) != 0 {
		t.Errorf("nothing wanted: %+v, %v", got, err)
	}
}

func TestPageFaults(t *testing.T) {
	want := mustWant(t, "rows", []string{"id"}, []string{"total", "next.url"})
	tests := []struct {
		body string
		kind Kind // 0: a key stands twice
		key  string
	}{
		{``, Empty, ""},
		{`<html>`, NotJSON, ""},
		{`{"rows":[{"id":1},{"id"`, Short, ""},
		{`{"rows":[{"id":1},{"id":2}],"total":2`, Short, ""},
		{`{"rows":[{"id":1},{"id":2},]}`, Broken, ""},
		{`{"rows":[]} {}`, Trailing, ""},
		{`{"rows":[{"id":1,"id":2}],"total":01}`, Broken, ""}, // no JSON, whatever else it is
		{`{"rows":[{"id":1,"i\u0064":2}]}`, 0, "id"},
		{`{"rows":[],"rows":[1]}`, 0, "rows"},
		{`{"total":1,"rows":[],"\u0074otal":1}`, 0, "total"},
		{`{"next":{"url":1,"x":0,"url":1}}`, 0, "url"},
		{`{"next":1,"next":{"url":1}}`, 0, "next"},
	}
	got := Got{State: Array, Items: make([]Span, 3), IDs: make([]Span, 3), Nulls: 3}
	for _, test := range tests {
		err := Page([]byte(test.body), want, &got)
		var bad *Error
		var twice *DuplicateKeyError
		switch {
		case test.kind != 0 && (!errors.As(err, &bad) || bad.Kind != test.kind):
			t.Errorf("Page(%s): %v, want %v", test.body, err, test.kind)
		case test.kind == 0 && (!errors.As(err, &twice) || twice.Key != test.key):
			t.Errorf("Page(%s): %v, want the key %q twice", test.body, err, test.key)
		case got.State != Missing || len(got.Items)+len(got.IDs)+got.Nulls != 0 || slices.ContainsFunc(got.Envelope, func(s Span) bool { return s != Span{} }):
			t.Errorf("Page(%s) fails and leaves %+v", test.body, got)
		}
	}
}

func TestNewWantRefuses(t *testing.T) {
	five := mustPaths(t, []string{"a", "b", "c", "d", "e"})
	odd := mustPath(t, "a.#.b")
	many := make([]Path, MaxEnvelope+1)
	for i := range many {
		many[i] = mustPath(t, fmt.Sprint("k", i))
	}
	for name, err := range map[string]error{
		"five ids":         second(NewWant(five[0], five, nil)),
		"a long envelope":  second(NewWant(five[0], nil, many)),
		"odd items":        second(NewWant(odd, nil, nil)),
		"odd id":           second(NewWant(five[0], []Path{odd}, nil)),
		"odd envelope":     second(NewWant(five[0], nil, []Path{five[0], odd})),
		"an id not there":  second(NewWant(five[0], []Path{{}}, nil)),
		"a path not there": second(NewWant(five[0], nil, []Path{{}})),
	} {
		if err == nil {
			t.Errorf("NewWant takes %s", name)
		}
	}
	want, err := NewWant(five[0], five[:MaxIDs], many[:MaxEnvelope])
	if err != nil {
		t.Fatalf("NewWant refuses as much as is allowed: %v", err)
	}
	// The last bit of the walk's memory works as the first.
	body := fmt.Sprintf(`{"a":[{"d":1}],"k0":0,"k%d":1,"k%d":2}`, MaxEnvelope-1, MaxEnvelope-1)
	if err := Page([]byte(body), want, new(Got)); !errors.Is(err, ErrDuplicateKey) {
		t.Errorf("Page(%s): %v, want ErrDuplicateKey", body, err)
	}
}

func second(_ *Want, err error) error { return err }

// Keys are told apart whatever their lengths.
func TestPageKeysOfEveryLength(t *testing.T) {
	for n := range 130 {
		key := strings.Repeat("k", n)
		body := fmt.Sprintf(`{"%sk":0,"%s":[{"%s":1}],"k%s":2}`, key, key, key, key+"k")
		var got Got
		err := Page([]byte(body), mustWant(t, "@this."+key, []string{"@this." + key}, []string{"@this." + key + "k"}), &got)
		if err != nil || len(got.Items) != 1 || got.ID(0, 0) == (Span{}) || string(got.Envelope[0].In([]byte(body))) != "0" {
			t.Errorf("keys of %d bytes: %+v, %v", n, got, err)
		}
	}
}

// A path of many numbers, each a key or an index, makes no more places than it has components.
func TestNewWantOfManyIndexes(t *testing.T) {
	path := mustPath(t, strings.TrimSuffix(strings.Repeat("0.", 200), "."))
	want, err := NewWant(path, []Path{path}, []Path{path, mustPath(t, "00.0.00")})
	if err != nil {
		t.Fatal(err)
	}
	body := strings.Repeat(`[`, 100) + strings.Repeat(`{"0":`, 100) + `[3]` + strings.Repeat(`}`, 100) + strings.Repeat(`]`, 100)
	var got Got
	if err := Page([]byte(body), want, &got); err != nil || len(got.Items) != 1 || string(got.Envelope[0].In([]byte(body))) != "[3]" {
		t.Errorf("%+v, %v", got, err)
	}
}

// asked is what a page is asked for, as texts.
type asked struct {
	items    string
	ids, env []string
}

// checkPage holds Page against Validate, Items and Find.
func checkPage(t tester, b []byte, a asked) {
	items, err := Compile(a.items)
	if err != nil || !items.Plain() {
		return
	}
	var ids, env []Path
	for _, texts := range []struct {
		from []string
		to   *[]Path
	}{{a.ids, &ids}, {a.env, &env}} {
		for _, s := range texts.from {
			p, err := Compile(s)
			if err != nil || !p.Plain() {
				return
			}
			*texts.to = append(*texts.to, p)
		}
	}
	want, err := NewWant(items, ids, env)
	if err != nil {
		t.Fatalf("NewWant(%v): %v", a, err)
	}
	got := Got{Items: make([]Span, 2), IDs: make([]Span, 1), Envelope: make([]Span, 3), Nulls: 1, State: Null}
	err = Page(b, want, &got)
	if bad := Validate(b); bad != nil {
		var same *Error
		if !errors.As(err, &same) || *same != *bad {
			t.Errorf("Page(%q, %v): %v, Validate: %v", b, a, err, bad)
		}
		return
	}
	slow, slowErr := slowPage(b, items, ids, env)
	if errors.Is(err, ErrDuplicateKey) != errors.Is(slowErr, ErrDuplicateKey) || (err == nil) != (slowErr == nil) {
		t.Errorf("Page(%q, %v): %v, piece by piece: %v", b, a, err, slowErr)
	}
	if err == nil && fmt.Sprint(got) != fmt.Sprint(slow) {
		t.Errorf("Page(%q, %v):\n%+v, piece by piece:\n%+v", b, a, got, slow)
	}
}

// slowPage does what Page does, one path after the other.
func slowPage(b []byte, items Path, ids, env []Path) (got Got, err error) {
	got.ids = len(ids)
	if got.Items, got.State, err = items.Items(b, nil); err != nil {
		return got, err
	}
	for _, item := range got.Items {
		raw := item.In(b)
		if ValueOf(raw).IsNull() {
			got.Nulls++
		}
		for _, id := range ids {
			v, err := id.Find(raw)
			if err != nil {
				return got, err
			}
			got.IDs = append(got.IDs, spanOf(b, v))
		}
	}
	for _, p := range env {
		v, err := p.Find(b)
		if err != nil {
			return got, err
		}
		got.Envelope = append(got.Envelope, spanOf(b, v))
	}
	return got, nil
}

func spanOf(b []byte, v Value) Span {
	if !v.Exists() {
		return Span{}
	}
	off, ok := offsetIn(b, v.Raw)
	if !ok {
		panic("a plain path leads out of the text")
	}
	return Span{off, off + len(v.Raw)}
}

// Few names, so that paths meet each other and keys stand twice.
var (
	drawName = rapid.SampledFrom([]string{"a", "b", "0", "1", "00"})
	drawPath = rapid.OneOf(rapid.Just("@this"), rapid.Map(rapid.SliceOfN(drawName, 1, 3), func(s []string) string { return strings.Join(s, ".") }))
)

func drawDoc(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if depth == 0 || kind < 1 {
		return rapid.SampledFrom([]string{"null", "1", `"a"`, "true", "[]", "{}"}).Draw(t, "leaf")
	}
	var parts []string
	for range rapid.IntRange(0, 4).Draw(t, "size") {
		part := drawDoc(t, depth-1)
		if kind > 5 {
			key := drawName.Draw(t, "key")
			if rapid.IntRange(0, 3).Draw(t, "escaped") == 0 {
				key = fmt.Sprintf(`\u%04x`, key[0]) + key[1:]
			}
			part = `"` + key + `":` + part
		}
		parts = append(parts, part)
	}
	sep := rapid.SampledFrom([]string{",", " , ", ",\n\t"}).Draw(t, "separator")
	if kind > 5 {
		return "{" + strings.Join(parts, sep) + "}"
	}
	return "[" + strings.Join(parts, sep) + "]"
}

func TestPageIsTheSlowWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := asked{drawPath.Draw(t, "items"), rapid.SliceOfN(drawPath, 0, 4).Draw(t, "ids"), rapid.SliceOfN(drawPath, 0, 5).Draw(t, "envelope")}
		checkPage(t, []byte(drawDoc(t, 5)), a)
	})
}

func TestPageIsTheSlowWayOnMutants(t *testing.T) {
	all := []asked{
		{"items", []string{"id"}, []string{"total", "next"}},
		{"data.rows", []string{"id", "@this"}, []string{"has_more", "data"}},
		{"@this", []string{"id", "0", "1"}, []string{"0", "1.id", "@this", "4"}},
		{"data.repository.issues.edges", []string{"node.id", "cursor"}, []string{"data.repository.issues.pageInfo.hasNextPage"}},
		{`a\.b`, nil, []string{`a\.b.@odata\.nextLink`, "id", "..0"}},
	}
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 20000 {
		checkPage(t, mutate(r, documents[n%len(documents)]), all[r.IntN(len(all))])
	}
}

// A cut page is refused wherever it was cut.
func TestPageRefusesEveryPrefix(t *testing.T) {
	body, want := benchPage(12, 0), benchWant(t)
	var got Got
	for n := range len(body) {
		if err := Page(body[:n], want, &got); err == nil || len(got.Items) != 0 {
			t.Fatalf("Page takes %d of %d bytes for whole, with %d items", n, len(body), len(got.Items))
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add([]byte(documents[3]), "items", "id", "total")
	f.Add([]byte(documents[4]), "data.rows", "id", "data")
	f.Add([]byte(documents[6]), "@this", "id", "0.id")
	f.Add([]byte(documents[7]), `a\.b`, "0", `a\.b.@odata\.nextLink`)
	f.Add([]byte(documents[11]), "b.c", "", "a")
	f.Fuzz(func(t *testing.T, b []byte, items, id, env string) {
		checkPage(t, b, asked{items, []string{id, items}, []string{env, items, id}})
	})
}

func TestPageAllocatesNothing(t *testing.T) {
	body, want := benchPage(100, 638), benchWant(t)
	var got Got
	if n := testing.AllocsPerRun(20, func() {
		if err := Page(body, want, &got); err != nil || len(got.Items) != 100 {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Page: %v allocations, want 0", n)
	}
}
