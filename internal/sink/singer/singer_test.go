package singer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// said writes items and gives the messages, one a line.
func said(t *testing.T, id []string, complete bool, items ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := New(&b, Stream{Name: "my items", ID: id, Run: "r1"})
	for _, item := range items {
		if err := w.Item([]byte(item)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(complete); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMessages(t *testing.T) {
	got := said(t, []string{"id"}, true, `{"id":1,"a":"x"}`, `{"id":2}`, `{"id":3.5,"a":null}`, `{"id":4,"a":{"b": 1},"c":[true]}`)
	want := `{"type":"SCHEMA","stream":"my items","schema":{"type":"object","properties":{"a":{"type":["null","string"]},"id":{"type":["null","number"]}}},"key_properties":["id"]}
{"type":"RECORD","stream":"my items","record":{"id":1,"a":"x"}}
{"type":"RECORD","stream":"my items","record":{"id":2}}
{"type":"RECORD","stream":"my items","record":{"id":3.5,"a":null}}
{"type":"SCHEMA","stream":"my items","schema":{"type":"object","properties":{"a":{"type":["null","string","object"]},"c":{"type":["null","array"]},"id":{"type":["null","number"]}}},"key_properties":["id"]}
{"type":"RECORD","stream":"my items","record":{"id":4,"a":{"b": 1},"c":[true]}}
{"type":"STATE","value":{"bookmarks":{"my items":{"run":"r1","items":4}}}}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNoStateUnlessComplete(t *testing.T) {
	if got := said(t, nil, false, `{"id":1}`); strings.Contains(got, "STATE") {
		t.Error(got)
	}
}

func TestNoItems(t *testing.T) {
	got := said(t, nil, true)
	if !strings.HasPrefix(got, `{"type":"SCHEMA","stream":"my items","schema":{"type":"object","properties":{}},"key_properties":[]}`) || strings.Count(got, "\n") != 2 {
		t.Error(got)
	}
}

func TestOddItems(t *testing.T) {
	got := said(t, []string{"id", "deep.id"}, true, `7`, `[1]`, `{"value":"x","id":123456789012345678901234567890}`, "{\"a\":\"\xff\"}", `{}`)
	if !strings.Contains(got, `"record":{"value":7}}`) || !strings.Contains(got, `"key_properties":[]`) || !strings.Contains(got, ":123456789012345678901234567890}") ||
		!strings.Contains(got, "\"record\":{\"a\":\"\xff\"}}") {
		t.Error(got)
	}
	for line := range strings.Lines(got) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

// A schema names no more than the first keys, so that keys without end cost no memory.
func TestKeysWithoutEnd(t *testing.T) {
	var items []string
	for i := range 1_100 {
		items = append(items, fmt.Sprintf(`{"k%d":1}`, i))
	}
	if n := strings.Count(said(t, nil, true, items...), `"SCHEMA"`); n != 1_000 {
		t.Errorf("%d schemas", n)
	}
}

func TestErrors(t *testing.T) {
	w := New(failing{}, Stream{})
	err := w.Item([]byte(`{"a":"` + strings.Repeat("x", 1<<17) + `"}`))
	if err := errors.Join(err, w.Flush()); err == nil {
		t.Error("a failing writer gave no error")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("gone") }
