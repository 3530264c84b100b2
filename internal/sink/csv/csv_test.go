package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lastdrop/internal/jsonscan"
	"lastdrop/internal/sink/codec"
	"lastdrop/internal/sink/sinktest"
)

func written(t testing.TB, items ...string) (string, []string) {
	t.Helper()
	var b bytes.Buffer
	f := Form{codec.Plain{}}
	notes, err := f.Write(&b, sinktest.Of(items...))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.Count(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil || n != int64(len(items)) {
		t.Fatalf("%d items are read back, %v; want %d", n, err, len(items))
	}
	return b.String(), notes
}

func TestWhatIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		items []string
		want  string // lines end with |
	}{
		"null, missing and texts like them stay apart": {
			[]string{`{"a":null,"b":1}`, `{"b":2}`, `{"a":"null","b":3}`, `{"a":"","b":4}`, `{"a":"7","b":7}`},
			`"a","b"|null,1|,2|"null",3|"",4|"7",7|`},
		"numbers and literals as they came": {
			[]string{`{"a":1e2,"b":true}`, `{"a":123456789012345678901234567890,"b":false}`, `{"a":-0.10,"b":0}`},
			`"a","b"|1e2,true|123456789012345678901234567890,false|-0.10,0|`},
		"quotes, commas, line ends": {
			[]string{`{"a\"b":"say \"hi\", now\r\nand\n","c":","}`},
			"\"a\"\"b\",\"c\"|\"say \"\"hi\"\", now\r\nand\n\",\",\"|"},
		"nested as JSON, as it came": {
			[]string{`{"a":{"x": [1, 2]},"b":["\u00e9"]}`},
			`"a","b"|"{""x"": [1, 2]}","[""\u00e9""]"|`},
		"bytes that are no UTF-8, NUL": {
			[]string{"{\"a\":\"\xff\\u0000\",\"b\":1}"}, "\"a\",\"b\"|\"\xff\x00\",1|"},
		"keys that differ by case": {[]string{`{"id":1,"ID":2}`, `{"Id":3}`}, `"id","ID","Id"|1,2,|,,3|`},
		"one column, never a blank line": {
			[]string{`{"a":1}`, `{}`}, `"a","_item"|1,"{""a"":1}"|,"{}"|`},
		"no column":              {[]string{`{}`}, `"_item"|"{}"|`},
		"no items":               {nil, `"_item"|`},
		"items of other types":   {[]string{`5`, `[1]`, `"x"`}, `"value","_item"|5,"5"|"[1]","[1]"|"x","""x"""|`},
		"a key called like ours": {[]string{`{"_item":1}`}, `"_item_2","_item"|1,"{""_item"":1}"|`},
	} {
		got, _ := written(t, c.items...)
		if got = strings.ReplaceAll(strings.ReplaceAll(got, "\r\n\"", "|\""), "\r\n", "|"); got != strings.ReplaceAll(c.want, "\r\n", "|") {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestNotes(t *testing.T) {
	if _, notes := written(t, `{"_item":1}`, `{"_item":1,"_item":2}`); len(notes) != 2 {
		t.Errorf("%q, want one for the key twice and one for its name", notes)
	}
}

// TestRoundTrip reads any items back with the standard library's reader, and finds every member's value.
func TestRoundTrip(t *testing.T) {
	key := rapid.StringMatching(`[a-dA-D_ ",]{0,3}`)
	value := rapid.SampledFrom([]string{`null`, `true`, `0`, `-12.50e3`, `18446744073709551616`, `""`, `"null"`, `"a,b"`, `"\"\n\r\n"`, `" "`, `[]`, `{"a":[{}]}`, `"\u0000é"`})
	rapid.Check(t, func(t *rapid.T) {
		var items []string
		for range rapid.IntRange(1, 8).Draw(t, "items") {
			var b strings.Builder
			seen := map[string]bool{}
			for range rapid.IntRange(0, 6).Draw(t, "members") {
				k := key.Draw(t, "key")
				if seen[k] {
					continue
				}
				seen[k] = true
				fmt.Fprintf(&b, ",%q:%s", k, value.Draw(t, "value"))
			}
			items = append(items, "{"+strings.TrimPrefix(b.String(), ",")+"}")
		}
		var b bytes.Buffer
		if _, err := (Form{codec.Plain{}}).Write(&b, sinktest.Of(items...)); err != nil {
			t.Fatal(err)
		}
		rows, err := stdcsv.NewReader(&b).ReadAll()
		if err != nil || len(rows) != len(items)+1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		for i, item := range items {
			found := 0
			jsonscan.ValueOf([]byte(item)).Members(func(k, v jsonscan.Value) {
				for c, name := range rows[0] {
					if name != k.Str() {
						continue
					}
					want := string(v.Raw)
					if v.IsString() {
						want = strings.ReplaceAll(v.Str(), "\r\n", "\n") // as that reader has it
					}
					if got := rows[i+1][c]; got != want {
						t.Fatalf("item %d, key %q: %q, want %q", i, name, got, want)
					}
					found++
				}
			})
			if found < strings.Count(item, `":`)-strings.Count(item, `{"a":[{}]}`) {
				t.Fatalf("%d members of %s are in the table", found, item)
			}
		}
	})
}

func TestCountIsStrict(t *testing.T) {
	f := Form{codec.Plain{}}
	for _, bad := range []string{"", "\"a\",\"b\"\r\n1\r\n", "\"a\r\n", "\"a\"\r\n\"x\" y\r\n", "a\r\n1\"2\r\n"} {
		if n, err := f.Count(strings.NewReader(bad), int64(len(bad))); err == nil {
			t.Errorf("%q holds %d items", bad, n)
		}
	}
}

func TestErrors(t *testing.T) {
	f := Form{codec.Gzip{}}
	if _, err := f.Write(&bytes.Buffer{}, sinktest.Of(`{"a":`)); err == nil {
		t.Error("half an item was written")
	}
	gone := errors.New("gone")
	if _, err := f.Write(failing{gone}, sinktest.Of(`{"a":1}`)); !errors.Is(err, gone) {
		t.Errorf("%v, want the writer's error", err)
	}
	if _, err := f.Write(&bytes.Buffer{}, func(func([]byte) error) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("%v, want the items' error", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func BenchmarkWrite(b *testing.B) {
	item := `{"id":123456,"author":"user17","points":88,"text":"` + strings.Repeat("completeness is a property. ", 20) + `","tags":["story","comment"]}`
	items := make([]string, 10_000)
	for i := range items {
		items[i] = item
	}
	b.SetBytes(int64(len(item) * len(items)))
	for b.Loop() {
		if _, err := (Form{codec.Plain{}}).Write(&bytes.Buffer{}, sinktest.Of(items...)); err != nil {
			b.Fatal(err)
		}
	}
}
