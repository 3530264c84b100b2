package har

import (
	"fmt"
	"slices"
	"testing"

	"lastdrop/judge"
)

// read gives what a body of these members says.
func read(t *testing.T, format string, args ...any) judge.Response {
	t.Helper()
	var r judge.Response
	readBody(fmt.Appendf(nil, format, args...), "application/json", &r)
	if r.ParseOK != judge.Yes {
		t.Fatalf("%s does not parse", fmt.Sprintf(format, args...))
	}
	return r
}

func TestEveryBodyNameIsRead(t *testing.T) {
	for _, name := range itemNames {
		if r := read(t, `{%q:[1,2],"other":[]}`, name); r.Items != judge.N(2) {
			t.Errorf("%s: items %v", name, r.Items)
		}
	}
	for _, name := range noItems {
		if r := read(t, `{%q:[1,2]}`, name); r.Items.OK {
			t.Errorf("%s: items %v", name, r.Items)
		}
	}
	for _, name := range totalNames {
		if r := read(t, `{%q:7}`, name); r.Total != judge.N(7) {
			t.Errorf("%s: total %v", name, r.Total)
		}
	}
	for _, name := range moreNames {
		for text, want := range map[string]judge.Claim{"true": judge.Yes, "false": judge.No, "null": judge.NotSaid, "1": judge.NotSaid} {
			if r := read(t, `{%q:%s}`, name, text); r.HasMore != want {
				t.Errorf("%s %s: has_more %v", name, text, r.HasMore)
			}
		}
	}
	for _, name := range lastNames {
		if r := read(t, `{%q:true}`, name); r.EndMarker != judge.Yes || r.HasMore != judge.NotSaid {
			t.Errorf("%s: end_marker %v, has_more %v", name, r.EndMarker, r.HasMore)
		}
	}
	for _, name := range cutNames {
		if r := read(t, `{%q:true}`, name); r.Truncated != judge.Yes {
			t.Errorf("%s: truncated %v", name, r.Truncated)
		}
	}
}

func TestEveryContinuationNameIsRead(t *testing.T) {
	for _, name := range cursorNames {
		if r := read(t, `{%q:"/c?"}`, name); r.NextCursor != judge.T("/c?") {
			t.Errorf("%s: next_cursor %v", name, r.NextCursor)
		}
	}
	for _, name := range urlNames {
		if r := read(t, `{%q:"u"}`, name); r.NextURL != judge.T("u") {
			t.Errorf("%s: next_url %v", name, r.NextURL)
		}
	}
	for _, name := range offsetOnName {
		if r := read(t, `{%q:9}`, name); r.NextOffset != judge.N(9) {
			t.Errorf("%s: next_offset %v", name, r.NextOffset)
		}
	}
	for _, name := range eitherNames {
		if r := read(t, `{%q:9}`, name); r.NextPage != judge.N(9) {
			t.Errorf("%s: next_page %v", name, r.NextPage)
		}
		if r := read(t, `{%q:"c"}`, name); r.NextCursor != judge.T("c") {
			t.Errorf("%s: next_cursor %v", name, r.NextCursor)
		}
		if r := read(t, `{%q:"/u"}`, name); r.NextURL != judge.T("/u") {
			t.Errorf("%s: next_url %v", name, r.NextURL)
		}
	}
}

func TestEveryQueryNameIsRead(t *testing.T) {
	for _, table := range []struct {
		names []string
		get   func(judge.Request) judge.Count
	}{
		{limitNames, func(r judge.Request) judge.Count { return r.Limit }},
		{offsetNames, func(r judge.Request) judge.Count { return r.Offset }},
		{pageNames, func(r judge.Request) judge.Count { return r.Page }},
	} {
		for _, name := range table.names {
			r := request{URL: "https://api.example/?" + name + "=7"}
			if got := table.get(r.paging()); got != judge.N(7) {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}

// One name in two tables would say two things at once.
func TestNamesStandOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range slices.Concat(itemNames, noItems, totalNames, moreNames, lastNames, cutNames, cursorNames, urlNames, eitherNames, offsetOnName) {
		if seen[name] {
			t.Errorf("%q stands in two tables", name)
		}
		seen[name] = true
	}
}

func TestCount(t *testing.T) {
	tests := map[string]judge.Count{
		"0": judge.N(0), "7": judge.N(7), "7.0": judge.N(7), "9223372036854775807": judge.N(1<<63 - 1),
		"-1": {}, "7.5": {}, "1e3": {}, "": {}, "null": {}, "true": {}, `"7"`: {}, "9223372036854775808": {}, "[7]": {},
	}
	for text, want := range tests {
		if got := count([]byte(text)); got != want {
			t.Errorf("count(%s) = %v, want %v", text, got, want)
		}
	}
}

func TestSettle(t *testing.T) {
	tests := []struct {
		sizes []int64
		got   int64
		ok    bool
	}{
		{nil, 0, false},
		{[]int64{100}, 100, true},
		{[]int64{60, 100, 140}, 100, true},
		{[]int64{60, 99}, 99, true},
		{[]int64{101}, 101, false},
		{[]int64{99, 101}, 101, false},
	}
	for _, tt := range tests {
		if got, ok := settle(tt.sizes, 100); got != tt.got || ok != tt.ok {
			t.Errorf("settle(%v, 100) = %d, %v, want %d, %v", tt.sizes, got, ok, tt.got, tt.ok)
		}
	}
}
