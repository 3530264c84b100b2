package adapters_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"lastdrop/adapters"
)

// read lets an answer be read as the first page of a spec.
func read(t *testing.T, spec adapters.Spec, header http.Header, body string) (adapters.Page, error) {
	t.Helper()
	r, err := adapters.NewReader(spec)
	if err != nil {
		t.Fatal(err)
	}
	req, err := r.Style().Request(adapters.Position{}, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r.Read(adapters.Position{}, req, adapters.Response{Status: 200, Header: header, Body: []byte(body), URL: req.URL})
}

func format(name string) func(*adapters.Spec) {
	return func(s *adapters.Spec) { s.Items.Format, s.Items.Path = name, "" }
}

func TestFramedBodies(t *testing.T) {
	for _, tc := range []struct {
		name, format, body string
		items              int
		half               bool                 // an error that is no trouble: half a body
		trouble            adapters.TroubleKind // counts where items is -1 and half is not set
	}{
		{"no lines", "ndjson", "", 0, false, 0},
		{"white lines", "ndjson", "\n \r\n\t\n", 0, false, 0},
		{"a word", "ndjson", "{\"id\":1}\nforbidden", 0, true, 0},
		{"two values on a line", "ndjson", `{"id":1} {"id":2}`, 0, true, 0},
		{"a key twice in an id", "ndjson", `{"id":1,"id":2}` + "\n", -1, false, adapters.TroubleMalformed},
		{"a header row only", "csv", "id,name\n", 0, false, 0},
		{"nothing at all", "csv", "", -1, false, adapters.TroubleMissing},
		{"a column twice", "csv", "id,id\n1,2\n", -1, false, adapters.TroubleMalformed},
		{"an open quote", "csv", "id,name\n1,\"a\n", 0, true, 0},
		{"an open quote in the header row", "csv", "id,\"name\n", 0, true, 0},
		{"blank cells are no notice", "csv", "id,name\n1,a\n,\n", 2, false, 0},
		{"a notice before the end is a row", "csv", "id,name\ntruncated,truncated\n1,a\n", 2, false, 0},
		{"bytes that are no UTF-8", "csv", "id,name\n\xff,a\n\xfe,b\n", 2, false, 0},
	} {
		p, err := read(t, plain(format(tc.format)), nil, tc.body)
		var trouble *adapters.Trouble
		isTrouble := errors.As(err, &trouble)
		switch {
		case tc.half && (err == nil || isTrouble):
			t.Errorf("%s: %v, %v; want an error that is no trouble", tc.name, p, err)
		case !tc.half && tc.items < 0 && (!isTrouble || trouble.Kind != tc.trouble):
			t.Errorf("%s: %v; want trouble of the kind %v", tc.name, err, tc.trouble)
		case !tc.half && tc.items >= 0 && (err != nil || len(p.Items) != tc.items):
			t.Errorf("%s: %d items, %v; want %d", tc.name, len(p.Items), err, tc.items)
		}
		if tc.name == "bytes that are no UTF-8" && string(p.Items[0].ID) == string(p.Items[1].ID) {
			t.Errorf("ids that differ in a byte are one: %q", p.Items[0].ID)
		}
	}
}

func TestLineErrors(t *testing.T) {
	set := func(s *adapters.Spec) {
		format("ndjson")(s)
		s.Errors, s.ErrorsSet = []string{"fault"}, true
	}
	noIDs := func(s *adapters.Spec) {
		format("ndjson")(s)
		s.Items.IDs = nil
	}
	for _, tc := range []struct {
		name   string
		change func(*adapters.Spec)
		body   string
		want   bool
	}{
		{"a configured path, beside an id", set, `{"id":1,"fault":"x"}` + "\n", true},
		{"the default is replaced", set, `{"error":"x"}` + "\n", false},
		{"without ids an error may be a row", noIDs, `{"error":"x"}` + "\n", false},
		{"with ids a row without one may not", format("ndjson"), `{"error":"x"}` + "\n", true},
	} {
		if _, err := read(t, plain(tc.change), nil, tc.body); (err != nil) != tc.want {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// TestManyIDs reads more id paths than one walk takes, and an odd one.
func TestManyIDs(t *testing.T) {
	for _, ids := range [][]string{{"a", "b", "c", "d", "e"}, {"a", "l.#.x"}} {
		p, err := read(t, plain(func(s *adapters.Spec) { s.Items.IDs = ids }), nil,
			`{"rows":[{"a":1,"b":"2","c":3,"d":true,"e":[],"l":[{"x":1},{"x":2}]},{"a":1}]}`)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Items) != 2 || p.NoID != 1 || !json.Valid(p.Items[0].ID) {
			t.Errorf("ids %v: %q, %d without", ids, p.Items[0].ID, p.NoID)
		}
	}
}

// TestManyPaths reads an envelope with more paths than one walk takes.
func TestManyPaths(t *testing.T) {
	spec := plain(func(s *adapters.Spec) {
		for i := range 80 {
			s.Partial = append(s.Partial, adapters.Condition{Path: "w" + strings.Repeat("x", i), Present: true})
		}
		s.Total.Path = "total"
	})
	p, err := read(t, spec, nil, `{"rows":[{"id":1}],"total":7,"wxxx":"careful"}`)
	if err != nil || len(p.Partial) != 1 || len(p.Totals) != 1 || string(p.Items[0].ID) != "1" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := read(t, spec, nil, `{"rows":[{"id":1}],"total":7,"total":8}`); err == nil {
		t.Error("a key that stands twice is taken")
	}
	if _, err := read(t, spec, nil, `{"rows":[{"id":1,"id":2}],"total":7}`); err == nil {
		t.Error("a key that stands twice in an item is taken")
	}
}

func TestStoredLinks(t *testing.T) {
	r, err := adapters.NewReader(plain(func(s *adapters.Spec) {
		s.Pages = adapters.Pages{Style: "next_url", SizeParam: "size", SizeStart: 10, NextPath: "next"}
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"https://other.example.test/v1/rows", "http://api.example.test/v1/rows", "https://a@api.example.test/", "https://api.example.test:8443/", "::"} {
		if req, err := r.Style().Request(adapters.Position{URL: url}, 10, 0); err == nil {
			t.Errorf("a stored link to %s is asked for: %s", url, req.URL)
		}
	}
	for url, want := range map[string]string{
		"https://api.example.test/r?size=max&a=%2f": "https://api.example.test/r?size=5&a=%2f",
		"https://api.example.test/r?a=%2f":          "https://api.example.test/r?a=%2f",
		"https://api.example.test/r?size=5":         "https://api.example.test/r?size=5",
	} {
		req, err := r.Style().Request(adapters.Position{URL: url}, 5, 0)
		if err != nil || req.URL != want {
			t.Errorf("%s is asked for as %s, %v; want %s", url, req.URL, err, want)
		}
	}
}

// TestPostedLinks follows a link with the body of the first request: the size
// in it is rewritten, the link is left alone.
func TestPostedLinks(t *testing.T) {
	r, err := adapters.NewReader(plain(func(s *adapters.Spec) {
		s.Method, s.Body = http.MethodPost, map[string]any{"q": []any{"a", json.Number("1.50")}, "n": new(big.Int).Lsh(big.NewInt(1), 80)}
		s.Pages = adapters.Pages{Style: "next_url", SizeParam: "page.size", SizeStart: 10, NextPath: "next"}
		s.Headers = map[string]string{"content-type": "application/vnd.x+json"}
	}))
	if err != nil {
		t.Fatal(err)
	}
	req, err := r.Style().Request(adapters.Position{URL: "https://api.example.test/r?page=2&page.size=3", Number: 1, Size: 3, Param: "page", Offset: 3}, 5, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"n":1208925819614629174706176,"page":{"size":5},"q":["a",1.50]}`; string(req.Body) != want || req.Size != 5 {
		t.Errorf("body %s, size %d", req.Body, req.Size)
	}
	if req.Method != http.MethodPost || req.URL != "https://api.example.test/r?page=2&page.size=3" || req.Header.Get("Content-Type") != "application/vnd.x+json" {
		t.Errorf("%s %s %v", req.Method, req.URL, req.Header)
	}
}

// TestConfiguredOffsetInLinks follows links with the row number that the config
// names.
func TestConfiguredOffsetInLinks(t *testing.T) {
	spec := plain(func(s *adapters.Spec) {
		s.Pages = adapters.Pages{Style: "next_url", SizeParam: "size", SizeStart: 10, NextPath: "next", OffsetParam: "row", OffsetFirst: 1}
	})
	p, err := read(t, spec, nil, `{"rows":[{"id":1},{"id":2}],"next":"?row=11&size=10"}`)
	if err != nil || p.Next.Note != "skip" || !strings.HasSuffix(p.Next.At.URL, "?row=3&size=2") {
		t.Errorf("%+v, %v", p.Next, err)
	}
	p, err = read(t, spec, nil, `{"rows":[{"id":1},{"id":2}],"next":"?row=3&size=10"}`)
	if err != nil || p.Next.Note != "" || !strings.HasSuffix(p.Next.At.URL, "?row=3&size=10") {
		t.Errorf("%+v, %v", p.Next, err)
	}
}

// TestFarPositions takes positions at the end of the numbers: nothing wraps.
func TestFarPositions(t *testing.T) {
	far := int64(math.MaxInt64)
	for _, style := range []string{"page", "offset"} {
		r, err := adapters.NewReader(plain(func(s *adapters.Spec) { s.Pages.Style, s.Pages.OffsetParam = style, "offset" }))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []adapters.Position{{Offset: far, Number: far, Size: 10}, {Offset: -far, Number: -far, Size: 10}} {
			req, err := r.Style().Request(at, 10, 0)
			if err != nil || req.Start.N < 0 && at.Offset > 0 || strings.Contains(req.URL, "=-") {
				t.Errorf("%s: %+v is asked for as %s from %v, %v", style, at, req.URL, req.Start, err)
			}
			next := r.Style().Next(at, req, &adapters.Answer{Received: 10})
			if at.Offset > 0 && (next.At.Offset < 0 || next.At.Number < 0) {
				t.Errorf("%s: behind %+v stands %+v", style, at, next.At)
			}
		}
	}
}

// TestLastPages reads counts of pages.
func TestLastPages(t *testing.T) {
	inHeader := func(s *adapters.Spec) { s.Pages.LastHeader = "X-Pages" }
	for _, tc := range []struct {
		values []string
		want   int64
		ok     bool
	}{{[]string{"7"}, 7, true}, {[]string{" 7 "}, 7, true}, {[]string{"7", "7"}, 7, true}, {[]string{"7", "8"}, 0, false}, {[]string{""}, 0, false}, {[]string{"-1"}, 0, false}, {nil, 0, false}} {
		p, err := read(t, plain(inHeader), http.Header{"X-Pages": tc.values}, `{"rows":[]}`)
		if err != nil || p.LastPages.N != tc.want || p.LastPages.OK != tc.ok {
			t.Errorf("%q: %v, %v", tc.values, p.LastPages, err)
		}
	}
}
