package adapters_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lastdrop/adapters"
	"lastdrop/judge"
)

const source = "https://api.example.test/v1/rows"

// plain is a spec of a style that is good as it is.
func plain(change func(*adapters.Spec)) adapters.Spec {
	s := adapters.Spec{
		URL:   source,
		Pages: adapters.Pages{Style: "page", SizeParam: "size", SizeStart: 10, NumberParam: "page", NumberFirst: 1},
		Items: adapters.Items{Path: "rows", IDs: []string{"id"}},
	}
	if change != nil {
		change(&s)
	}
	return s
}

// TestNewReaderRefuses lists specs that cannot work, with what the error must
// name.
func TestNewReaderRefuses(t *testing.T) {
	for _, tc := range []struct {
		want   string
		change func(*adapters.Spec)
	}{
		{"pages.style", func(s *adapters.Spec) { s.Pages.Style = "pages" }},
		{"absolute", func(s *adapters.Spec) { s.URL = "/v1/rows" }},
		{"absolute", func(s *adapters.Spec) { s.URL = "ftp://api.example.test/" }},
		{"no URL", func(s *adapters.Spec) { s.URL = "https://api example" }},
		{"user", func(s *adapters.Spec) { s.URL = "https://me:secret@api.example.test/" }},
		{"items.path", func(s *adapters.Spec) { s.Items.Path = "" }},
		{"items.path", func(s *adapters.Spec) { s.Items.Path = `rows\` }},
		{"items.format", func(s *adapters.Spec) { s.Items.Format = "toml" }},
		{"items.path", func(s *adapters.Spec) { s.Items.Format = "xml" }}, // a root alone
		{"items.path", func(s *adapters.Spec) { s.Items.Format, s.Items.Path = "xml", "feed.items.#.item" }},
		{"items.path", func(s *adapters.Spec) { s.Items.Format, s.Items.Path = "xml", "" }},
		{"items.id", func(s *adapters.Spec) { s.Items.IDs = []string{`id\`} }},
		{"items.check", func(s *adapters.Spec) { s.Items.CheckPath = `id\` }},
		{"total.match", func(s *adapters.Spec) { s.Total = adapters.TotalSpec{Header: "X", Match: "("} }},
		{"total.match", func(s *adapters.Spec) { s.Total = adapters.TotalSpec{Header: "X", Match: `\d+`} }},
		{"not both", func(s *adapters.Spec) { s.Total = adapters.TotalSpec{Header: "X", Path: "n"} }},
		{"not both", func(s *adapters.Spec) { s.Pages.MorePath, s.Pages.MoreHeader = "a", "b" }},
		{"not both", func(s *adapters.Spec) { s.Pages.LastPath, s.Pages.LastHeader = "a", "b" }},
		{"pages.number.param", func(s *adapters.Spec) { s.Pages.NumberParam = "" }},
		{"pages.offset.param", func(s *adapters.Spec) { s.Pages.Style = "offset" }},
		{"pages.cursor", func(s *adapters.Spec) { s.Pages.Style = "cursor" }},
		{"pages.next.path", func(s *adapters.Spec) { s.Pages.Style = "next_url" }},
		{"pages.keyset.param", func(s *adapters.Spec) { s.Pages.Style = "keyset" }},
		{"pages.keyset.path", func(s *adapters.Spec) { s.Pages.Style = "keyset" }},
		{"source.body", func(s *adapters.Spec) { s.Pages.Style = "graphql" }},
		{"{offset}", func(s *adapters.Spec) {
			s.Pages.Style, s.Pages.CursorPath = "cursor", "next"
			s.Params = map[string][]string{"q": {"from {offset}"}}
		}},
		{"pages.size.start", func(s *adapters.Spec) {
			s.Params = map[string][]string{"q": {"limit {size}"}}
			s.Pages.SizeStart = 0
		}},
		{"no envelope", func(s *adapters.Spec) { s.Items.Format, s.Total.Path = "ndjson", "total" }},
		{"partial[0]", func(s *adapters.Spec) { s.Partial = []adapters.Condition{{Path: "warn"}} }},
		{"partial[0].path", func(s *adapters.Spec) { s.Partial = []adapters.Condition{{Present: true}} }},
		{"body parameter", func(s *adapters.Spec) {
			s.Method, s.Body, s.Pages.NumberParam = "POST", map[string]any{"a": "text"}, "a.page"
		}},
	} {
		r, err := adapters.NewReader(plain(tc.change))
		if err == nil || r != nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("want an error that names %s, got %v", tc.want, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells a secret: %v", err)
		}
	}
	if _, err := adapters.NewReader(plain(nil)); err != nil {
		t.Errorf("the plain spec: %v", err)
	}
}

// TestSnapshot states which words of a page the judge gets.
func TestSnapshot(t *testing.T) {
	cursor := func(s *adapters.Spec) {
		s.Pages = adapters.Pages{Style: "cursor", SizeParam: "size", SizeStart: 2, CursorParam: "after", CursorPath: "next", MorePath: "more"}
		s.Total.Path = "total"
	}
	linked := func(s *adapters.Spec) {
		s.Pages = adapters.Pages{Style: "link", LinkEndWhen: map[string]string{"results": "false"}}
	}
	next := `<https://api.example.test/v1/rows?after=2>; rel="next"`
	for _, tc := range []struct {
		name   string
		change func(*adapters.Spec)
		link   string
		body   string
		want   judge.Response
	}{
		{"a flag outranks the cursor beside it", cursor, next, `{"rows":[{"id":1}],"more":false,"next":"t"}`, judge.Response{HasMore: judge.No}},
		{"a flag that says more", cursor, "", `{"rows":[{"id":1}],"more":true,"next":"t"}`, judge.Response{HasMore: judge.Yes, NextCursor: judge.T("t")}},
		{"more, and no cursor", cursor, "", `{"rows":[{"id":1}],"more":true,"next":null}`, judge.Response{HasMore: judge.Yes}},
		{"a cursor", cursor, "", `{"rows":[{"id":1}],"next":"t"}`, judge.Response{NextCursor: judge.T("t")}},
		{"an end by cursor, a link beside it", cursor, next, `{"rows":[{"id":1}],"next":null}`, judge.Response{NextCursor: judge.T(""), Headers: map[string][]string{"Link": {next}}}},
		{"a broken cursor", cursor, "", `{"rows":[{"id":1}],"next":"https://other.example.test/"}`, judge.Response{HasMore: judge.Yes}},
		{"an end by link", linked, `<?page=1>; rel="prev"`, `{"rows":[{"id":1}]}`, judge.Response{Headers: map[string][]string{"Link": {`<?page=1>; rel="prev"`}}}},
		{"an end by attribute", linked, next + `; results="false"`, `{"rows":[{"id":1}]}`, judge.Response{EndMarker: judge.Yes}},
		{"signs and words", cursor, "", `{"rows":[{"id":1}],"next":null,"total":9,"timed_out":true,"message":"Truncated!"}`,
			judge.Response{NextCursor: judge.T(""), Total: judge.N(9), TotalKind: judge.Exact, TruncatedBy: "timed_out is true", Text: "Truncated!"}},
	} {
		r, err := adapters.NewReader(plain(tc.change))
		if err != nil {
			t.Fatal(err)
		}
		at := adapters.Position{Offset: 40, Cursor: json.RawMessage(`"s"`)}
		req, err := r.Style().Request(at, 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		resp := adapters.Response{Status: 200, Header: http.Header{"Set-Cookie": {"secret"}}, Body: []byte(tc.body), URL: req.URL}
		if tc.link != "" {
			resp.Header.Set("Link", tc.link)
		}
		page, err := r.Read(at, req, resp)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		got := r.Snapshot(at, page, resp, 39)
		want := judge.Snapshot{Kind: judge.KindHTTP, Request: judge.Request{Offset: judge.N(40)}, Response: tc.want, Held: judge.Held{Items: judge.N(39)}}
		want.Response.Status, want.Response.Items, want.Response.ParseOK = judge.N(200), judge.N(1), judge.Yes
		if req.Size > 0 {
			want.Request.Limit = judge.N(2)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestReadCount(t *testing.T) {
	for _, tc := range []struct {
		spec adapters.TotalSpec
		body string
		want string
	}{
		{adapters.TotalSpec{Path: "count"}, `{"count":"2350"}`, `{"source":"count_request","value":2350,"kind":"exact"}`},
		{adapters.TotalSpec{Path: "@this", URL: "https://api.example.test/count"}, ` 12 `, `{"source":"count_request","value":12,"kind":"exact"}`},
		{adapters.TotalSpec{Path: "n", Kind: judge.LowerBound}, `{"n":5}`, `{"source":"count_request","value":5,"kind":"lower_bound"}`},
		{adapters.TotalSpec{Path: "n"}, `{"m":5}`, "trouble missing"},
		{adapters.TotalSpec{Path: "n"}, `{"n":5,"error":"timeout"}`, "trouble passing"},
		{adapters.TotalSpec{Path: "n"}, `{"n":5,"n":6}`, "trouble malformed"},
		{adapters.TotalSpec{Path: `n\`}, `{"n":5}`, "error"},
	} {
		total, err := adapters.ReadCount(tc.spec, adapters.Response{Status: 200, Body: []byte(tc.body)})
		got := "error"
		if trouble, ok := err.(*adapters.Trouble); ok {
			got = "trouble " + trouble.Kind.String()
		} else if err == nil {
			b, err := json.Marshal(total)
			if err != nil {
				t.Fatal(err)
			}
			got = string(b)
		}
		if got != tc.want {
			t.Errorf("%+v of %s: %s (%v), want %s", tc.spec, tc.body, got, err, tc.want)
		}
	}
}

// TestErrorPaths states when an error path speaks.
func TestErrorPaths(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*adapters.Spec)
		body   string
		want   bool
	}{
		{"the default", nil, `{"rows":[],"error":"x"}`, true},
		{"a default that the list itself stands under", func(s *adapters.Spec) { s.Items.Path = "errors" }, `{"errors":[{"id":1}]}`, false},
		{"a default below it", func(s *adapters.Spec) { s.Items.Path = "error.rows" }, `{"error":{"rows":[]}}`, false},
		{"replaced", func(s *adapters.Spec) { s.Errors, s.ErrorsSet = []string{"status.fault"}, true }, `{"rows":[],"error":"x","status":{"fault":"y"}}`, true},
		{"replaced, and not there", func(s *adapters.Spec) { s.Errors, s.ErrorsSet = []string{"status.fault"}, true }, `{"rows":[],"error":"x"}`, false},
		{"switched off", func(s *adapters.Spec) { s.ErrorsSet = true }, `{"rows":[],"error":"x"}`, false},
		{"inside an item", nil, `{"rows":[{"id":1,"error":"x"}]}`, false},
		{"blank", nil, `{"rows":[],"error":"  ","errors":[ ]}`, false},
		{"a list of one null", nil, `{"rows":[],"errors":[null]}`, true},
	} {
		r, err := adapters.NewReader(plain(tc.change))
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Read(adapters.Position{}, adapters.Request{}, adapters.Response{Status: 200, Body: []byte(tc.body)})
		if (err != nil) != tc.want {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
