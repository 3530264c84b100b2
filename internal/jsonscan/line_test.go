package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestCompactLine(t *testing.T) {
	for item, want := range map[string]string{
		`{"b": 1.0, "a" :"x" }`:            `{"b": 1.0, "a" :"x" }`,
		"{\"b\" : 1.0,\n \"a\":\t\"x\"}":   `{"b":1.0,"a":"x"}`,
		"[ 1 ,\r2e0 ]":                     `[1,2e0]`,
		"{\"a \\\" b\" :\n\" \\\\\"}":      `{"a \" b":" \\"}`,
		"[\"\\u000a\\n\",\r\n -0 , null ]": `["\u000a\n",-0,null]`,
		"\n12\n":                           `12`,
		``:                                 ``,
	} {
		if got := string(CompactLine([]byte("> "), []byte(item))); got != "> "+want {
			t.Errorf("CompactLine(%q) = %q, want %q", item, got, "> "+want)
		}
	}
}

// For whatever is valid, the line is one line and says the same, byte for byte but for white space.
func TestCompactLineKeepsAll(t *testing.T) {
	for _, doc := range documents {
		var indented bytes.Buffer
		if err := json.Indent(&indented, []byte(doc), "", "\t"); err != nil {
			t.Fatal(err)
		}
		want := jsontext.Value(doc)
		if err := want.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true)); err != nil {
			t.Fatal(err)
		}
		for _, item := range []string{indented.String() + "\n", "\r" + strings.ReplaceAll(indented.String(), "\n", "\r")} {
			got := CompactLine(nil, []byte(item))
			if bytes.ContainsAny(got, "\r\n") || string(got) != string(want) {
				t.Errorf("CompactLine(%q) = %q, want %q", item, got, want)
			}
		}
	}
}

func TestTopLevelArrays(t *testing.T) {
	tests := []struct {
		doc  string
		want []string
	}{
		{`{"meta":{"tags":["a","b"]},"rows":[1,2,3],"n":1}`, []string{"rows (3)", "meta.tags (2)"}},
		{`{"a":{"b":{"c":[1],"d":{"e":[1,2]}}}}`, []string{"a.b.c (1)"}},
		{`[{"rows":[1]},2]`, []string{"@this (2)"}},
		{` [] `, []string{"@this (0)"}},
		{`{"a.b":[[1,2],[]],"\u0063*":[],"d":[]}`, []string{`a\.b (2)`, `c\* (0)`, "d (0)"}},
		{`{"a":[1],"a":[1,2]}`, []string{"a (2)", "a (1)"}},
		{`{"` + strings.Repeat("k", 101) + `":[1],"b":[]}`, []string{"b (0)"}},
		{`{"a":1}`, []string{}},
		{`"text"`, []string{}},
		{`{"a":[1,2]`, nil},
		{`{"a":[1,2}`, nil},
		{``, nil},
		{`<html>`, nil},
	}
	for _, test := range tests {
		if got := TopLevelArrays([]byte(test.doc)); !slices.Equal(got, test.want) || (got == nil) != (test.want == nil) {
			t.Errorf("TopLevelArrays(%s) = %q, want %q", test.doc, got, test.want)
		}
	}
}

// However many arrays there are, only the longest are named, and their names are paths that lead to them.
func TestTopLevelArraysNamesFew(t *testing.T) {
	var doc strings.Builder
	for n := range 40 {
		fmt.Fprintf(&doc, `,"k.%d":[%s]`, n, strings.TrimSuffix(strings.Repeat("0,", n*7%40), ","))
	}
	body := []byte("{" + doc.String()[1:] + "}")
	names := TopLevelArrays(body)
	if len(names) != nameMost {
		t.Fatalf("%d names, want %d: %q", len(names), nameMost, names)
	}
	for i, name := range names {
		path, size, _ := strings.Cut(name, " ")
		items, state, err := mustPath(t, path).Items(body, nil)
		if err != nil || state != Array || len(items) != 39-i || size != fmt.Sprintf("(%d)", 39-i) {
			t.Errorf("name %d is %q, and there are %d items (%v, %v), want %d", i, name, len(items), state, err, 39-i)
		}
	}
}

func TestTopLevelNumbers(t *testing.T) {
	many := "{" + strings.TrimSuffix(strings.Repeat(`"n":7,`, 40), ",") + "}"
	tests := []struct {
		doc  string
		want []NamedNumber
	}{
		{`{"a":7,"rows":[{"id":9}],"meta":{"to.tal":12,"deep":{"n":8,"er":{"n":9}}},"b":4,"c":5.5,"d":"9","e":null,"f":1e1}`,
			[]NamedNumber{{"a", "a", 7}, {`meta.to\.tal`, "to.tal", 12}, {"meta.deep.n", "n", 8}, {"f", "f", 10}}},
		{`{"` + strings.Repeat("k", 101) + `":7}`, nil},
		{`[7]`, nil},
		{`{"a":7`, nil},
		{``, nil},
		{many, slices.Repeat([]NamedNumber{{"n", "n", 7}}, nameMost)},
	}
	for _, test := range tests {
		if got := TopLevelNumbers([]byte(test.doc), 5); !slices.Equal(got, test.want) {
			t.Errorf("TopLevelNumbers(%s) = %v, want %v", test.doc, got, test.want)
		}
	}
}
