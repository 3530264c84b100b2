package configs

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lastdrop/adapters"
	"lastdrop/internal/secret"
	"lastdrop/judge"
)

func TestSpecOfAllKeys(t *testing.T) {
	c, err := Load("testdata/good/all-keys.yaml", testEnv)
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	want := adapters.Spec{
		URL: "https://api.example.com/items?fixed=1", Method: "POST",
		Params:  map[string][]string{"a": {"1"}, "b": {"x", "true", "2.5"}, "c": {""}, "region": {"eu-west"}, "size": {"{size}"}},
		Headers: map[string]string{"Accept": "application/json", "X-Number": "5"},
		Body: map[string]any{
			"filter":  map[string]any{"since": "2026-01-01", "deep": []any{json.Number("1"), json.Number("1e3"), json.Number("-2.50"), json.Number("31"), nil, false, "text"}},
			"big":     json.Number("123456789012345678901234567890"),
			"literal": "${NOT_A_VARIABLE}",
		},
		Pages: adapters.Pages{
			Style: "cursor", SizeParam: "page.size", SizeStart: 50, SizeMin: 5, SizeMax: 100,
			NumberParam: "page.number", NumberEcho: "page.number", OffsetParam: "offset", OffsetFirst: 1, OffsetAdvance: "scanned",
			CursorParam: "page.after", CursorHeader: "X-Next-Cursor", SameIsEnd: true, NextPath: "next", NextRebase: true,
			KeysetParam: "after", KeysetPath: "id", KeysetInclusive: true, KeysetQuoteJSON: true,
			MoreHeader: "X-Done", MoreEndWhen: &yes, MoreAbsent: judge.Yes, LastHeader: "X-Total-Pages",
			LinkEndWhen: map[string]string{"results": "false"}, PinParam: "revision", PinPath: "header.revision",
			SortParam: "order", SortValue: "id", SortUnique: true,
			Reach: 10000, EndShortPage: true, EndEmptyPage: true, EndAbsentContinuation: true,
			EndStatus: []adapters.EndStatus{{Status: 404}, {Status: 400, Path: "code", Is: "7"}},
		},
		Items:   adapters.Items{Path: "data.#.item", IDs: []string{"a", "b.c"}, Format: "json", CheckPath: "kind", CheckEquals: "story", Merge: true, Batch: "batchcomplete"},
		Total:   adapters.TotalSpec{Header: "Content-Range", Match: `/(\d+)$`, Kind: judge.LowerBound, CountsRest: true},
		Partial: []adapters.Condition{{Path: "warnings", Present: true}}, ErrorsSet: true,
	}
	if d := cmp.Diff(want, c.Spec()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestReverse(t *testing.T) {
	c, err := Load("testdata/good/all-keys.yaml", testEnv)
	if err != nil {
		t.Fatal(err)
	}
	want := []adapters.Set{{Param: "order", Values: []any{"-id"}}, {Param: "path", Values: []any{"a", "b"}}}
	if d := cmp.Diff(want, c.Pages.Reverse.Sets()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if c.Complete.Second.Size != 100 {
		t.Errorf("the second size is %d", c.Complete.Second.Size)
	}
	if none := (*Reverse)(nil).Sets(); none != nil {
		t.Errorf("without a reverse: %v", none)
	}
}

func TestSpecOfTheRest(t *testing.T) {
	const head = "version: 1\nname: x\nsource: {url: https://api.example.com/}\nitems: {path: a}\n"
	at := func(change func(*adapters.Spec)) adapters.Spec {
		s := adapters.Spec{
			URL: "https://api.example.com/", Method: "GET", Params: map[string][]string{}, Headers: map[string]string{},
			Pages: adapters.Pages{Style: "link", SizeMin: 1}, Items: adapters.Items{Path: "a", Format: "json"},
		}
		change(&s)
		return s
	}
	is := "true"
	for _, tc := range []struct {
		name, text string
		want       adapters.Spec
	}{
		{"nothing more", "pages: {style: link}", at(func(*adapters.Spec) {})},
		{"errors as one path", "pages: {style: link}\nerrors: message", at(func(s *adapters.Spec) { s.Errors, s.ErrorsSet = []string{"message"}, true })},
		{"no total", "pages: {style: link}\ntotal: none", at(func(s *adapters.Spec) { s.Total.None = true })},
		{"total by request", "pages: {style: link}\ntotal: {url: https://api.example.com/n, method: POST, body: {a: 1}, path: n}", at(func(s *adapters.Spec) {
			s.Total = adapters.TotalSpec{URL: "https://api.example.com/n", Method: "POST", Body: map[string]any{"a": json.Number("1")}, Path: "n"}
		})},
		{"total by a field", "pages: {style: link}\ntotal: {path: n, kind: {path: sure, exact: true}}", at(func(s *adapters.Spec) {
			s.Total = adapters.TotalSpec{Path: "n", KindPath: "sure", KindExact: "true"}
		})},
		{"signs", "pages: {style: link}\npartial: [{path: a, is: true}, {path: b, below: c}]", at(func(s *adapters.Spec) {
			s.Partial = []adapters.Condition{{Path: "a", Is: &is}, {Path: "b", Below: "c"}}
		})},
		{"absent flag", "pages: {style: link, more: {path: m, absent: false}}", at(func(s *adapters.Spec) {
			s.Pages.MorePath, s.Pages.MoreAbsent = "m", judge.No
		})},
		{"page number", "pages: {style: page, number: {param: p}, size: {param: n, max: 20}, last: {path: pages}}", at(func(s *adapters.Spec) {
			s.Pages = adapters.Pages{Style: "page", NumberParam: "p", NumberFirst: 1, SizeParam: "n", SizeStart: 20, SizeMin: 1, SizeMax: 20, LastPath: "pages"}
		})},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, parse(t, head+tc.text+"\n").Spec()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestDoubts(t *testing.T) {
	const head = "version: 1\nname: x\nsource: {url: https://api.example.com/}\npages: {style: link}\n"
	for id, want := range map[string]string{
		"5": "5", `"5"`: `"5"`, "five": `"five"`, "5.0": "5", "2e1": "2e1", "123456789012345678901": "123456789012345678901", "true": "true",
		"2026-01-01": `"2026-01-01"`, `"${REGION}"`: `"eu-west"`, "[5]": "", `[5, "5"]`: `[5,"5"]`,
	} {
		paths := "id"
		if strings.HasPrefix(id, "[") {
			paths = "[a, b]"
		}
		c, err := Parse("x.yaml", []byte(head+"items: {path: a, id: "+paths+"}\ncomplete: {sentinel: {id: "+id+"}}\n"), testEnv)
		if err != nil {
			if want != "" {
				t.Errorf("%s: %v", id, err)
			}
			continue
		}
		if got := string(c.Complete.Sentinel.ItemID()); got != want || c.Complete.Sentinel.Probe() != nil {
			t.Errorf("%s is the item %s, want %s", id, got, want)
		}
	}
	c := parse(t, head+`items: {path: a}
complete:
  sentinel: {params: {box: [known, 2]}, path: a}
  freshness: {path: at, max_age: 1d12h}
  still: {url: https://api.example.com/mark, path: n}
`).Complete
	if d := cmp.Diff(&adapters.Probe{Params: map[string][]string{"box": {"known", "2"}}, Path: "a"}, c.Sentinel.Probe()); d != "" || c.Sentinel.Min != 1 || c.Sentinel.ItemID() != nil {
		t.Errorf("the sentinel (-want +got):\n%s, min %d", d, c.Sentinel.Min)
	}
	if d := cmp.Diff(&adapters.Probe{URL: "https://api.example.com/mark", Path: "n"}, c.Still.Probe()); d != "" {
		t.Errorf("the mark (-want +got):\n%s", d)
	}
	if got := time.Duration(c.Fresh.MaxAge); got != 36*time.Hour {
		t.Errorf("max_age is %s", got)
	}
	none := parse(t, head+"items: {path: a}\n").Complete
	if none.Sentinel.Probe() != nil || none.Sentinel.ItemID() != nil || none.Still.Probe() != nil {
		t.Error("something is asked that the file does not name")
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{"30s": 30 * time.Second, "3d": 72 * time.Hour, "0.5d": 12 * time.Hour, "1d1h1m": 25*time.Hour + time.Minute} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%s is %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"d", "-1d", "1h1d", "1d1d", "9999999d", "1 d", "1d 1h", "1d-1h", "100000d2500000h", ""} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q is taken as %s", text, got)
		}
	}
}

func TestAlgoliaDefaults(t *testing.T) {
	s := parse(t, "version: 1\nname: x\nsource: {url: https://api.example.com/}\npages: {style: algolia, size: {start: 50}}\n").Spec()
	want := adapters.Spec{
		URL: "https://api.example.com/", Method: "GET", Params: map[string][]string{}, Headers: map[string]string{},
		Pages: adapters.Pages{Style: "algolia", SizeParam: "hitsPerPage", SizeStart: 50, SizeMin: 1, NumberParam: "page", LastPath: "nbPages"},
		Items: adapters.Items{Path: "hits", IDs: []string{"objectID"}, Format: "json"},
		Total: adapters.TotalSpec{Path: "nbHits", KindPath: "exhaustiveNbHits", KindExact: "true"},
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	s = parse(t, "version: 1\nname: x\nsource: {url: https://api.example.com/}\npages: {style: algolia, last: {path: p}, number: {first: 1}}\nitems: {path: h, id: i}\ntotal: none\n").Spec()
	if s.Pages.LastPath != "p" || s.Pages.NumberFirst != 1 || s.Items.Path != "h" || s.Items.IDs[0] != "i" || !s.Total.None || s.Total.Path != "" || s.Pages.SizeParam != "" {
		t.Errorf("what the file says does not win: %+v", s)
	}
}

func TestAuth(t *testing.T) {
	for _, tc := range []struct {
		name, source string
		want         Credentials
		header, url  string
	}{
		{"none", "", Credentials{}, "", "https://h/?a=%20b&x=1"},
		{"bearer", `, auth: {bearer: "${API_TOKEN}"}`, Credentials{Kind: AuthBearer, Value: "tok-0123456789abcdef"}, "Bearer tok-0123456789abcdef", "https://h/?a=%20b&x=1"},
		{"basic", `, auth: {basic: {user: ada, password: pass}}`, Credentials{Kind: AuthBasic, User: "ada", Password: "pass"}, "Basic YWRhOnBhc3M=", "https://h/?a=%20b&x=1"},
		{"basic without a password", `, auth: {basic: {user: "${API_KEY}"}}`, Credentials{Kind: AuthBasic, User: "key-fedcba9876543210"}, "Basic a2V5LWZlZGNiYTk4NzY1NDMyMTA6", "https://h/?a=%20b&x=1"},
		{"header", `, auth: {header: {name: Authorization, value: Token 12345}}`, Credentials{Kind: AuthHeader, Name: "Authorization", Value: "Token 12345"}, "Token 12345", "https://h/?a=%20b&x=1"},
		{"query", `, auth: {query: {name: x, value: a&b}}`, Credentials{Kind: AuthQuery, Name: "x", Value: "a&b"}, "", "https://h/?a=%20b&x=a%26b"},
		{"a secret header", `, headers: {X-A: b, Authorization: "Bearer ${API_KEY}"}`, Credentials{Headers: map[string]secret.Value{"Authorization": "Bearer key-fedcba9876543210"}}, "Bearer key-fedcba9876543210", "https://h/?a=%20b&x=1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := parse(t, "version: 1\nname: x\nsource: {url: https://h/"+tc.source+"}\npages: {style: single}\n")
			if tc.want.Headers == nil {
				tc.want.Headers = map[string]secret.Value{}
			}
			if d := cmp.Diff(tc.want, c.Auth()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if _, there := c.Spec().Headers["Authorization"]; there {
				t.Error("the spec carries a credential")
			}
			req, err := http.NewRequest(http.MethodGet, "https://h/?a=%20b&x=1", nil)
			if err != nil {
				t.Fatal(err)
			}
			c.Auth().Apply(req)
			if got := req.Header.Get("Authorization"); got != tc.header {
				t.Errorf("Authorization: %q, want %q", got, tc.header)
			}
			if got := req.URL.String(); got != tc.url {
				t.Errorf("URL %q, want %q", got, tc.url)
			}
		})
	}
}
