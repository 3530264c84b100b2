package table

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func columnsOf(t *testing.T, items ...string) *Columns {
	t.Helper()
	c := &Columns{}
	for _, item := range items {
		if err := c.Add([]byte(item)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// laid gives the cells of an item as text, absent ones as "-".
func laid(t *testing.T, c *Columns, item string) string {
	t.Helper()
	var r Row
	if err := c.Lay([]byte(item), &r); err != nil {
		t.Fatal(err)
	}
	var cells []string
	for _, v := range append(r.Cells, r.Rest) {
		text := "-"
		if v.Exists() {
			text = string(v.Raw)
		}
		cells = append(cells, text)
	}
	return strings.Join(cells, " ")
}

func TestColumnsStandInOrderOfAppearance(t *testing.T) {
	c := columnsOf(t, `{"b":1,"a":2}`, `{}`, `{"c":3,"\u0061":[1, 2]}`, `{"B":null}`)
	if got := c.Keys(); !reflect.DeepEqual(got, []string{"b", "a", "c", "B"}) {
		t.Errorf("keys %q", got)
	}
	for item, want := range map[string]string{
		`{"b":1,"a":2}`: "1 2 - - -", `{}`: "- - - - -", `{"c":3,"\u0061":[1, 2]}`: "- [1, 2] 3 - -", `{"B":null}`: "- - - null -",
	} {
		if got := laid(t, c, item); got != want {
			t.Errorf("%s is laid out as %s, want %s", item, got, want)
		}
	}
	if notes := c.Notes(); len(notes) != 0 || c.Items() != 4 {
		t.Errorf("%d items, notes %q", c.Items(), notes)
	}
}

func TestItemsThatAreNoObjects(t *testing.T) {
	c := columnsOf(t, `7`, `[1]`, `{"value":"x"}`, `null`)
	for item, want := range map[string]string{`7`: "7 -", `[1]`: "[1] -", `{"value":"x"}`: `"x" -`, `null`: "null -"} {
		if got := laid(t, c, item); got != want {
			t.Errorf("%s is laid out as %s, want %s", item, got, want)
		}
	}
	if want := []string{"3 items came as no object: the column value holds them"}; !reflect.DeepEqual(c.Notes(), want) {
		t.Errorf("notes %q, want %q", c.Notes(), want)
	}
	for _, bad := range []string{"", "{", `{"a":1`, "[1", "x", `{"a":1} 2`} {
		if err := c.Add([]byte(bad)); !errors.Is(err, ErrItem) {
			t.Errorf("%q: %v, want ErrItem", bad, err)
		}
	}
}

func TestKeyTwice(t *testing.T) {
	c := columnsOf(t, `{"a":1,"a":2,"\u0061":3}`, `{"a":4}`)
	if got := laid(t, c, `{"a":1,"a":2,"\u0061":3}`); got != "3 -" {
		t.Errorf("laid out as %s, want the last value", got)
	}
	if want := []string{"1 item named a key twice: its last value stands"}; !reflect.DeepEqual(c.Notes(), want) {
		t.Errorf("notes %q, want %q", c.Notes(), want)
	}
}

func TestMoreKeysThanColumns(t *testing.T) {
	var b strings.Builder
	for i := range Most + 2 {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	item := "{" + b.String()[1:] + "}"
	c := columnsOf(t, item, `{"k0":1}`)
	if len(c.Keys()) != Most || !c.HasRest() {
		t.Fatalf("%d columns, rest %v", len(c.Keys()), c.HasRest())
	}
	var r Row
	if err := c.Lay([]byte(item), &r); err != nil {
		t.Fatal(err)
	}
	if got, want := string(r.Rest.Raw), `{"k1000":1000,"k1001":1001}`; got != want || !r.Rest.IsObject() {
		t.Errorf("rest %s, want %s", got, want)
	}
	if err := c.Lay([]byte(`{"k0":1}`), &r); err != nil || r.Rest.Exists() {
		t.Errorf("rest %s of an item without, %v", r.Rest.Raw, err)
	}
	if n := c.Notes(); len(n) != 1 || !strings.HasPrefix(n[0], "1 item had keys beyond the first 1000") {
		t.Errorf("notes %q", n)
	}
}

func TestKinds(t *testing.T) {
	const exact, wide = "9007199254740992", "9007199254740993"
	for _, c := range []struct {
		values string // one a line
		want   Kind
		note   string
	}{
		{"true\nfalse\nnull", Bool, ""},
		{"1\n-2\nnull", Int, ""},
		{"9223372036854775807\n" + wide, Int, ""},
		{"9223372036854775808", Text, "numbers that no double holds exactly, kept as text"},
		{"123456789012345678901234567890", Text, "numbers that no double holds exactly, kept as text"},
		{"1.5\n-0.1\n1e300\n0.0", Double, ""},
		{"1\n1.5\n" + exact, Double, "whole numbers and decimals, kept as doubles"},
		{wide + "\n1.5", Text, "whole numbers and decimals, kept as text"},
		{"1e400", Text, "numbers that no double holds exactly, kept as text"},
		{"0.12345678901234567890123", Text, "numbers that no double holds exactly, kept as text"},
		{"\"a\"\nnull", Text, ""},
		{"null", Text, ""},
		{"1\n\"a\"\n[]\ntrue", Text, "true or false, whole numbers, texts and objects or lists, kept as text"},
		{"{}\n[1]", JSON, ""},
		{"\"a\"\n\"\xff\"", Bytes, "texts that are not all UTF-8, kept as bytes"},
		{`"\ud800"`, Bytes, "texts that are not all UTF-8, kept as bytes"},
		{"[\"\xff\"]", Bytes, "texts that are not all UTF-8, kept as bytes"},
	} {
		var items []string
		for v := range strings.SplitSeq(c.values, "\n") {
			items = append(items, `{"x":`+v+"}")
		}
		cols := columnsOf(t, items...)
		note := strings.TrimPrefix(strings.Join(cols.KindNotes(), "; "), `column "x": `)
		if got := cols.Kind(0); got != c.want || note != c.note {
			t.Errorf("%q: kind %d with note %q, want %d with %q", c.values, got, note, c.want, c.note)
		}
	}
}

func TestKindNotesAreFew(t *testing.T) {
	var b strings.Builder
	for i := range 25 {
		fmt.Fprintf(&b, `,"k%d":1e999`, i)
	}
	notes := columnsOf(t, "{"+b.String()[1:]+"}").KindNotes()
	if len(notes) != 21 || !strings.HasPrefix(notes[20], "5 more columns") {
		t.Errorf("%d notes, the last %q", len(notes), notes[len(notes)-1])
	}
}

func TestNames(t *testing.T) {
	same := func(s string) string { return s }
	for _, c := range []struct {
		keys, own, want string
		fold            func(string) string
		free            func(string) bool
	}{
		{"a b", "", "a b", same, nil},
		{"a _item _item_2", "_item", "a _item_2 _item_2_2", same, nil},
		{"id ID Id", "", "id ID_2 Id_3", strings.ToLower, nil},
		{"ID id", "", "ID_2 id", strings.ToLower, func(n string) bool { return n != "ID" }},
	} {
		keys := strings.Fields(c.keys)
		got := Names(keys, strings.Fields(c.own), c.fold, c.free)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s beside %s: %q, want %s", c.keys, c.own, got, c.want)
		}
		for i, n := range RenameNotes(keys, got) {
			if n == "" {
				t.Errorf("note %d is empty", i)
			}
		}
	}
}

func TestLayAllocatesNothing(t *testing.T) {
	item := []byte(`{"id":1,"name":"x","tags":["a","b"],"more":{"a":1}}`)
	c := columnsOf(t, string(item))
	var r Row
	if n := testing.AllocsPerRun(100, func() { _ = c.Lay(item, &r) }); n > 0 {
		t.Errorf("%v allocations an item", n)
	}
	if n := testing.AllocsPerRun(100, func() { _ = c.Add(item) }); n > 0 {
		t.Errorf("%v allocations an item", n)
	}
}
