package judge_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lastdrop/judge"
)

// full names every field once.
const full = `{
 "kind": "http",
 "meta": {"when": "today", "total": [1.5, {"totl": null}], "total": 2},
 "request": {"limit": 1, "offset": 2, "page": 3, "first_page": 4},
 "response": {
  "status": 200, "items": 5, "total": 6, "total_kind": "lower_bound", "has_more": true,
  "next_offset": 7, "next_page": 8, "next_cursor": "c", "next_url": "u", "end_marker": false, "first_index": 9,
  "headers": {"Link": ["a", "b"], "Server": "x", "Empty": [], "Gone": null},
  "parse_ok": true, "bytes_read": 10, "bytes_expected": 11, "lines_read": 12, "lines_total": 13,
  "chars_read": 14, "chars_total": 15, "truncated": false, "truncated_by": "bytes",
  "original_count": 16, "returned_count": 17, "text": "t", "error": "e"},
 "held": {"items": 18}
}`

func TestDecodeEveryField(t *testing.T) {
	want := judge.Snapshot{
		Kind:    judge.KindHTTP,
		Request: judge.Request{Limit: judge.N(1), Offset: judge.N(2), Page: judge.N(3), FirstPage: judge.N(4)},
		Response: judge.Response{
			Status: judge.N(200), Items: judge.N(5), Total: judge.N(6), TotalKind: judge.LowerBound, HasMore: judge.Yes,
			NextOffset: judge.N(7), NextPage: judge.N(8), NextCursor: judge.T("c"), NextURL: judge.T("u"),
			EndMarker: judge.No, FirstIndex: judge.N(9),
			Headers: map[string][]string{"Link": {"a", "b"}, "Server": {"x"}, "Empty": {}},
			ParseOK: judge.Yes, BytesRead: judge.N(10), BytesExpected: judge.N(11), LinesRead: judge.N(12), LinesTotal: judge.N(13),
			CharsRead: judge.N(14), CharsTotal: judge.N(15), Truncated: judge.No, TruncatedBy: "bytes",
			OriginalCount: judge.N(16), ReturnedCount: judge.N(17), Text: "t", Error: "e",
		},
		Held: judge.Held{Items: judge.N(18)},
	}
	if diff := cmp.Diff(want, decode(t, full)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecodeNullIsAbsent(t *testing.T) {
	absent := decode(t, `{"kind":"tool"}`)
	for _, text := range []string{
		`{"kind":"tool","meta":null,"request":null,"response":null,"held":null}`,
		`{"kind":"tool","request":{},"response":{},"held":{}}`,
		nulled(t, full),
	} {
		got := decode(t, text)
		got.Kind = judge.KindTool
		if len(got.Response.Headers) == 0 {
			got.Response.Headers = nil
		}
		if diff := cmp.Diff(absent, got); diff != "" {
			t.Errorf("%s (-absent +null):\n%s", text, diff)
		}
	}
}

// nulled sets every field of every section to null.
func nulled(t *testing.T, text string) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{"request", "response", "held"} {
		fields := all[section].(map[string]any)
		for name := range fields {
			fields[name] = nil
		}
	}
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestDecodeIntegers(t *testing.T) {
	tests := map[string]int64{
		"0": 0, "-0": 0, "0.0": 0, "-0.0": 0, "0e5": 0, "0e-5": 0, "0e999999999999999999999": 0, "0.000e-9": 0,
		"7": 7, "1.0": 1, "1.000": 1, "1e3": 1000, "1E3": 1000, "1e+3": 1000, "1.5e1": 15, "1000e-3": 1, "12.50e2": 1250,
		"0.001e3": 1, "1e18": 1e18, "9007199254740993": 9007199254740993,
		"9223372036854775807": 1<<63 - 1, "9223372036854775807.0": 1<<63 - 1, "922337203685477580.7e1": 1<<63 - 1,
		"92233720368547758070e-1": 1<<63 - 1,
	}
	for number, want := range tests {
		s := decode(t, `{"kind":"list","response":{"total":`+number+`}}`)
		if s.Response.Total != judge.N(want) {
			t.Errorf("%s is read as %v, want %d", number, s.Response.Total, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	response := func(fields string) string { return `{"kind":"list","response":{` + fields + `}}` }
	long := strings.Repeat("9", 1000)
	tests := []struct{ name, text, want string }{
		// Names.
		{"misspelt", response(`"totl":5`), "response.totl: unknown field; did you mean total?"},
		{"camel case", response(`"hasMore":true`), "response.hasMore: unknown field; did you mean has_more?"},
		{"capital", response(`"Total":5`), "response.Total: unknown field; did you mean total?"},
		{"dash", response(`"next-page":5`), "response.next-page: unknown field; did you mean next_page?"},
		{"nothing near", response(`"wibble":5`), "response.wibble: unknown field"},
		{"of another section", response(`"limit":5`), "response.limit: unknown field"},
		{"odd characters", response(`"a b\n":5`), `response."a b\n": unknown field`},
		{"empty name", response(`"":5`), `response."": unknown field`},
		{"in the request", `{"kind":"list","request":{"ofset":5}}`, "request.ofset: unknown field; did you mean offset?"},
		{"in held", `{"kind":"list","held":{"item":5}}`, "held.item: unknown field; did you mean items?"},
		{"at the top", `{"kind":"list","respons":{}}`, "respons: unknown field; did you mean response?"},
		{"misspelt and null", response(`"totl":null`), "response.totl: unknown field; did you mean total?"},
		{"misspelt beyond reason", response(`"` + strings.Repeat("x", 50) + `":1`), "response." + strings.Repeat("x", 50) + ": unknown field"},
		{"twice", response(`"total":5,"total":6`), "response.total: stands twice"},
		{"twice by an escape", response(`"total":5,"tot\u0061l":6`), "response.total: stands twice"},
		{"section twice", `{"kind":"list","held":{},"held":{}}`, "held: stands twice"},
		{"header twice", response(`"headers":{"Link":"a","Link":"b"}`), "response.headers.Link: stands twice"},
		// Kinds.
		{"no kind", `{"response":{}}`, "kind: is required: list, http, file or tool"},
		{"null kind", `{"kind":null}`, "kind: is required: list, http, file or tool"},
		{"empty kind", `{"kind":""}`, `kind: must be list, http, file or tool, not ""`},
		{"another kind", `{"kind":"page"}`, `kind: must be list, http, file or tool, not "page"`},
		{"a number for a kind", `{"kind":1}`, "kind: must be a string, not a number"},
		{"another total kind", response(`"total_kind":"about"`), `response.total_kind: must be exact, estimate or lower_bound, not "about"`},
		{"a number for a total kind", response(`"total_kind":1`), "response.total_kind: must be a string, not a number"},
		// Numbers.
		{"negative", response(`"total":-1`), "response.total: must not be negative, as -1 is"},
		{"negative page", `{"kind":"list","request":{"first_page":-1}}`, "request.first_page: must not be negative, as -1 is"},
		{"fraction", response(`"total":1.5`), "response.total: must be an integer, not 1.5"},
		{"small fraction", response(`"total":1e-1`), "response.total: must be an integer, not 1e-1"},
		{"smallest fraction", response(`"total":1e-99999999999999999999`), "response.total: must be an integer, not 1e-99999999999999999999"},
		{"negative fraction", response(`"total":-0.5`), "response.total: must be an integer, not -0.5"},
		{"one too large", response(`"total":9223372036854775808`), "response.total: does not fit into 64 bits: 9223372036854775808"},
		{"large", response(`"total":1e19`), "response.total: does not fit into 64 bits: 1e19"},
		{"largest", response(`"total":1e999999999999`), "response.total: does not fit into 64 bits: 1e999999999999"},
		{"long", response(`"total":` + long), "response.total: does not fit into 64 bits: " + long[:40] + "…"},
		{"text for a number", response(`"total":"5"`), "response.total: must be an integer, not a string"},
		{"array for a number", response(`"total":[5]`), "response.total: must be an integer, not an array"},
		{"boolean for a number", response(`"status":true`), "response.status: must be an integer, not a boolean"},
		// Other types.
		{"text for items", response(`"items":"5"`), "response.items: must be an integer or an array, not a string"},
		{"object for items", response(`"items":{}`), "response.items: must be an integer or an array, not an object"},
		{"negative items", response(`"items":-5`), "response.items: must not be negative, as -5 is"},
		{"number for a boolean", response(`"has_more":1`), "response.has_more: must be true or false, not a number"},
		{"text for a boolean", response(`"has_more":"false"`), "response.has_more: must be true or false, not a string"},
		{"number for a text", response(`"next_cursor":5`), "response.next_cursor: must be a string, not a number"},
		{"object for a text", response(`"text":{}`), "response.text: must be a string, not an object"},
		{"array for an object", `{"kind":"list","response":[]}`, "response: must be an object, not an array"},
		{"number for an object", `{"kind":"list","held":5}`, "held: must be an object, not a number"},
		{"array for headers", response(`"headers":[]`), "response.headers: must be an object, not an array"},
		{"number for a header", response(`"headers":{"Link":5}`), "response.headers.Link: must be a string or an array of strings, not a number"},
		{"number in a header", response(`"headers":{"Link":["a",5]}`), "response.headers.Link[1]: must be a string, not a number"},
		{"null in a header", response(`"headers":{"Link":["a",null]}`), "response.headers.Link[1]: must be a string, not null"},
		{"array in a header", response(`"headers":{"X Y":[["a"]]}`), `response.headers."X Y"[0]: must be a string, not an array`},
		// The snapshot itself.
		{"null", `null`, "the snapshot must be an object, not null"},
		{"number", `5`, "the snapshot must be an object, not a number"},
		{"text", `"kind"`, "the snapshot must be an object, not a string"},
		{"null in an array", `[{"kind":"list"},null]`, "[1]: must be an object, not null"},
		{"array in an array", `[[]]`, "[0]: must be an object, not an array"},
		{"no kind in an array", `[{"kind":"list"},{}]`, "[1].kind: is required: list, http, file or tool"},
		{"deep in an array", `[{"kind":"list"},{"kind":"list"},{"kind":"list"},` + response(`"total":-1`) + `]`, "[3].response.total: must not be negative, as -1 is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := judge.Decode([]byte(tt.text))
			if err == nil || err.Error() != tt.want {
				t.Fatalf("Decode(%s)\n got %v, %v\nwant %s", tt.text, got, err, tt.want)
			}
			var field *judge.FieldError
			if !errors.As(err, &field) {
				t.Errorf("%v is a %T, want a *FieldError", err, err)
			}
			if got != nil {
				t.Errorf("got %v beside an error", got)
			}
		})
	}
}

func TestDecodeRefusesWhatIsNotJSON(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"half an object", `{"kind":"list"`, "not JSON: line 1, column 14: unexpected end of JSON input"},
		{"text after it", `{"kind":"list"} x`, "not JSON: line 1, column 17: invalid character 'x' after top-level value"},
		{"another value after it", "{\"kind\":\"list\"}\n{}", "not JSON: line 2, column 1: invalid character '{' after top-level value"},
		{"comma at the end", "[\n {\"kind\":\"list\"},\n]", "not JSON: line 3, column 1: invalid character ']' looking for beginning of value"},
		{"a word", `kind`, "not JSON: line 1, column 1: invalid character 'k' looking for beginning of value"},
		{"a leading zero", `{"kind":"list","response":{"total":05}}`, "not JSON: line 1, column 37: invalid character '5' after object key:value pair"},
		{"bad JSON in meta", `{"kind":"list","meta":{a:1}}`, "not JSON: line 1, column 24: invalid character 'a' looking for beginning of object key string"},
		{"a space that JSON does not know", "\u00a0{}", "not JSON: line 1, column 1: invalid character 'Â' looking for beginning of value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := judge.Decode([]byte(tt.text)); err == nil || err.Error() != tt.want {
				t.Errorf("Decode(%q)\n got %v\nwant %s", tt.text, err, tt.want)
			}
		})
	}
}

func TestDecodeHoldsNothing(t *testing.T) {
	for _, text := range []string{"", " \r\n\t", "[]", " [ ]\n", "\uFEFF", "\uFEFF[]"} {
		if got, err := judge.Decode([]byte(text)); err != nil || len(got) != 0 {
			t.Errorf("Decode(%q) = %v, %v, want nothing and no error", text, got, err)
		}
	}
}

func TestDecodeArray(t *testing.T) {
	got, err := judge.Decode([]byte("\uFEFF [{\"kind\":\"list\"}, " + full + " ]\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []judge.Snapshot{{Kind: judge.KindList}, decode(t, full)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecodeItemsByLength(t *testing.T) {
	for text, want := range map[string]int64{"[]": 0, "[1]": 1, `[null,{"a":[1,2]},"x,y"]`: 3} {
		s := decode(t, `{"kind":"list","response":{"items":`+text+`}}`)
		if s.Response.Items != judge.N(want) {
			t.Errorf("items %s: %v, want %d", text, s.Response.Items, want)
		}
	}
}

// encode writes a snapshot as Decode reads it.
func encode(s judge.Snapshot) []byte {
	section := map[string]map[string]any{"request": {}, "response": {}, "held": {}}
	count := func(in, name string, c judge.Count) {
		if c.OK {
			section[in][name] = c.N
		}
	}
	claim := func(name string, c judge.Claim) {
		if c != judge.NotSaid {
			section["response"][name] = c == judge.Yes
		}
	}
	text := func(name string, s judge.Text) {
		if s.OK {
			section["response"][name] = s.S
		}
	}
	q, r := s.Request, s.Response
	count("request", "limit", q.Limit)
	count("request", "offset", q.Offset)
	count("request", "page", q.Page)
	count("request", "first_page", q.FirstPage)
	for name, c := range map[string]judge.Count{
		"status": r.Status, "items": r.Items, "total": r.Total, "next_offset": r.NextOffset, "next_page": r.NextPage,
		"first_index": r.FirstIndex, "bytes_read": r.BytesRead, "bytes_expected": r.BytesExpected,
		"lines_read": r.LinesRead, "lines_total": r.LinesTotal, "chars_read": r.CharsRead, "chars_total": r.CharsTotal,
		"original_count": r.OriginalCount, "returned_count": r.ReturnedCount,
	} {
		count("response", name, c)
	}
	claim("has_more", r.HasMore)
	claim("end_marker", r.EndMarker)
	claim("parse_ok", r.ParseOK)
	claim("truncated", r.Truncated)
	text("next_cursor", r.NextCursor)
	text("next_url", r.NextURL)
	text("truncated_by", judge.Text{S: r.TruncatedBy, OK: r.TruncatedBy != ""})
	text("total_kind", judge.Text{S: string(r.TotalKind), OK: r.TotalKind != ""})
	text("text", judge.T(r.Text))
	text("error", judge.T(r.Error))
	if r.Headers != nil {
		section["response"]["headers"] = r.Headers
	}
	count("held", "items", s.Held.Items)
	out, err := json.Marshal(map[string]any{"kind": s.Kind, "request": section["request"], "response": section["response"], "held": section["held"]})
	if err != nil {
		panic(err)
	}
	return out
}

func TestDecodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(genSnapshot(), 1, 3).Draw(t, "snapshots")
		texts := make([]string, len(want))
		for i, s := range want {
			texts[i] = string(encode(s))
		}
		got, err := judge.Decode([]byte("[" + strings.Join(texts, ",") + "]"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// No part of a snapshot's text is another snapshot: what was cut is an error,
// never a smaller truth.
func TestDecodeRefusesEveryPrefix(t *testing.T) {
	for n := 1; n < len(full); n++ {
		if got, err := judge.Decode([]byte(full[:n])); err == nil {
			t.Errorf("the first %d bytes were read as %v", n, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(`[{"kind":"list","response":{"total":1e3,"items":[]}}]`))
	f.Add([]byte(`{"kind":"list","response":{"totl":1}}`))
	samples, err := filepath.Glob("testdata/samples/*.json")
	if err != nil || len(samples) == 0 {
		f.Fatalf("no samples: %v", err)
	}
	for _, name := range samples {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := judge.Decode(data)
		if err != nil {
			if all != nil || err.Error() == "" {
				t.Fatalf("%v beside the error %q", all, err)
			}
			return
		}
		for _, s := range all {
			r := judge.Judge(s)
			if (r.Verdict == judge.Complete) != (r.Action == judge.ActionNone) {
				t.Fatalf("%v with action %s", r.Verdict, r.Action)
			}
			again, err := judge.Decode(encode(s))
			if err != nil || len(again) != 1 {
				t.Fatalf("written and read again: %v, %v", again, err)
			}
			if second := judge.Judge(again[0]); second.Verdict != r.Verdict {
				t.Fatalf("%v, and %v when written and read again", r.Verdict, second.Verdict)
			}
		}
	})
}
