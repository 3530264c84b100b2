package adapters

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lastdrop/internal/jsonscan"
	"lastdrop/judge"
)

func TestTruth(t *testing.T) {
	for raw, want := range map[string]judge.Claim{
		`true`: judge.Yes, `false`: judge.No, `null`: judge.NotSaid, ``: judge.NotSaid,
		`0`: judge.No, `0.0`: judge.No, `1`: judge.Yes, `-3`: judge.Yes, `12.5`: judge.Yes,
		`"false"`: judge.No, `"FALSE"`: judge.No, `" no "`: judge.No, `"off"`: judge.No, `"0"`: judge.No, `"n"`: judge.No, `"f"`: judge.No,
		`"true"`: judge.Yes, `"Yes"`: judge.Yes, `"on"`: judge.Yes, `"1"`: judge.Yes, `"y"`: judge.Yes, `"t"`: judge.Yes, `"2"`: judge.Yes,
		`""`: judge.NotSaid, `"maybe"`: judge.NotSaid, `"nan"`: judge.NotSaid, `"inf"`: judge.NotSaid, `[]`: judge.NotSaid, `[1]`: judge.NotSaid, `{"a":1}`: judge.NotSaid,
	} {
		if got := truth(jsonscan.ValueOf([]byte(raw))); got != want {
			t.Errorf("truth(%s) = %v, want %v", raw, got, want)
		}
	}
}

func TestFlag(t *testing.T) {
	inverted := true
	for _, tc := range []struct {
		name  string
		pages Pages
		body  string
		want  judge.Claim
	}{
		{"more", Pages{MorePath: "more"}, `{"rows":[],"more":true}`, judge.Yes},
		{"no more", Pages{MorePath: "more"}, `{"rows":[],"more":false}`, judge.No},
		{"null", Pages{MorePath: "more"}, `{"rows":[],"more":null}`, judge.NotSaid},
		{"null is not absent", Pages{MorePath: "more", MoreAbsent: judge.No}, `{"rows":[],"more":null}`, judge.NotSaid},
		{"absent", Pages{MorePath: "more"}, `{"rows":[]}`, judge.NotSaid},
		{"absent is no", Pages{MorePath: "more", MoreAbsent: judge.No}, `{"rows":[]}`, judge.No},
		{"done", Pages{MorePath: "done", MoreEndWhen: &inverted}, `{"rows":[],"done":true}`, judge.No},
		{"not done", Pages{MorePath: "done", MoreEndWhen: &inverted}, `{"rows":[],"done":"false"}`, judge.Yes},
		{"done, null", Pages{MorePath: "done", MoreEndWhen: &inverted}, `{"rows":[],"done":null}`, judge.NotSaid},
		{"not configured", Pages{}, `{"rows":[],"more":false}`, judge.NotSaid},
	} {
		tc.pages.Style = styleSingle
		p := mustRead(t, Spec{Pages: tc.pages, Items: Items{Path: "rows"}}, tc.body)
		if p.More != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, p.More, tc.want)
		}
	}
}

// mustRead reads a body as the first page of an API.
func mustRead(t *testing.T, spec Spec, body string) Page {
	t.Helper()
	p, err := readFirst(t, spec, body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return p
}

func readFirst(t *testing.T, spec Spec, body string) (Page, error) {
	t.Helper()
	spec.URL = "https://api.example.test/rows"
	r, err := NewReader(spec)
	if err != nil {
		t.Fatal(err)
	}
	req, err := r.Style().Request(Position{}, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r.Read(Position{}, req, Response{Status: 200, Body: []byte(body), URL: req.URL})
}

func TestTotalTexts(t *testing.T) {
	type total struct {
		N    int64
		Kind judge.TotalKind
		OK   bool
	}
	for body, want := range map[string]total{
		`2350`: {2350, judge.Exact, true}, `2350.0`: {2350, judge.Exact, true}, `2.35e3`: {2350, judge.Exact, true}, `0`: {0, judge.Exact, true},
		`-1`: {}, `2350.5`: {}, `null`: {}, `true`: {}, `[]`: {}, `{}`: {}, `99999999999999999999`: {},
		`"2350"`: {2350, judge.Exact, true}, `" 2350 "`: {2350, judge.Exact, true}, `"2,350"`: {2350, judge.Exact, true}, `"1,234,567"`: {1234567, judge.Exact, true},
		`"2,35"`: {}, `"2.350"`: {}, `"-5"`: {}, `""`: {}, `"many"`: {}, `"12 of 30"`: {},
		`"10000+"`: {10000, judge.LowerBound, true}, `">10,000"`: {10000, judge.LowerBound, true}, `">= 10"`: {10, judge.LowerBound, true},
		`"~120"`: {120, judge.Estimate, true}, `"≈ 120"`: {120, judge.Estimate, true},
		`{"value":10000,"relation":"gte"}`: {10000, judge.LowerBound, true}, `{"value":12,"relation":"eq"}`: {12, judge.Exact, true},
		`{"value":"12"}`: {12, judge.Exact, true},
	} {
		p := mustRead(t, Spec{Pages: Pages{Style: styleSingle}, Items: Items{Path: "rows"}, Total: TotalSpec{Path: "total"}}, `{"rows":[],"total":`+body+`}`)
		var got total
		if len(p.Totals) > 0 {
			got = total{p.Totals[0].Value, p.Totals[0].Kind, true}
		}
		if got != want {
			t.Errorf("a total of %s is %+v, want %+v", body, got, want)
		}
	}
}

func TestTotalKinds(t *testing.T) {
	for _, tc := range []struct {
		name string
		spec TotalSpec
		body string
		want judge.TotalKind
	}{
		{"nothing said", TotalSpec{Path: "n"}, `{"rows":[],"n":5}`, judge.Exact},
		{"a constant", TotalSpec{Path: "n", Kind: judge.Estimate}, `{"rows":[],"n":5}`, judge.Estimate},
		{"a constant and a text", TotalSpec{Path: "n", Kind: judge.Estimate}, `{"rows":[],"n":"5+"}`, judge.Estimate},
		{"a field", TotalSpec{Path: "n", KindPath: "sure", KindExact: "true"}, `{"rows":[],"n":5,"sure":true}`, judge.Exact},
		{"a field that says no", TotalSpec{Path: "n", KindPath: "sure", KindExact: "true"}, `{"rows":[],"n":5,"sure":false}`, judge.Estimate},
		{"a field that is absent", TotalSpec{Path: "n", KindPath: "sure", KindExact: "true"}, `{"rows":[],"n":5}`, judge.Estimate},
		{"a relation", TotalSpec{Path: "n", KindPath: "rel", KindExact: "eq"}, `{"rows":[],"n":5,"rel":"gte"}`, judge.LowerBound},
		{"a relation beside a value", TotalSpec{Path: "n.value", Kind: judge.Exact}, `{"rows":[],"n":{"value":5,"relation":"gte"}}`, judge.LowerBound},
	} {
		p := mustRead(t, Spec{Pages: Pages{Style: styleSingle}, Items: Items{Path: "rows"}, Total: tc.spec}, tc.body)
		if want := []Total{{FromBody, 5, tc.want}}; !cmp.Equal(p.Totals, want) {
			t.Errorf("%s: %+v, want %+v", tc.name, p.Totals, want)
		}
	}
}

func TestTroubleKinds(t *testing.T) {
	for body, want := range map[string]TroubleKind{
		`{"error":"boom"}`:                                   TroubleError,
		`{"error":"Query timed out"}`:                        TroublePassing,
		`{"errors":[{"message":"Timeout"}]}`:                 TroublePassing,
		`{"errors":[{"message":"x","type":"RATE_LIMITED"}]}`: TroublePassing,
		`{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED","cost":1}}]}`:       TroublePassing,
		`{"errors":[{"message":"x","extensions":{"code":"MAX_COST_EXCEEDED","y":"max cost"}}]}`: TroubleCost,
		`{"error":{"message":"server is overloaded"}}`:                                          TroublePassing,
		`{"error":{"code":503,"message":"x"}}`:                                                  TroublePassing,
		`{"error":{"status":429}}`:                                                              TroublePassing,
		`{"error":true,"message":"temporarily out of order"}`:                                   TroublePassing,
		`{"error":"response too large"}`:                                                        TroubleCost,
		`{"error":"query is too complex, it timed out"}`:                                        TroubleCost,
		`{"error":"page size exceeds the maximum"}`:                                             TroubleCost,
		`{"error":{"code":413}}`:                                                                TroubleCost,
		`{"error":"cursor expired"}`:                                                            TroubleExpired,
		`{"error":"Invalid cursor"}`:                                                            TroubleExpired,
		`{"error":{"code":"badcontinue","info":"Invalid continue param"}}`:                      TroubleExpired,
		`{"error":{"code":"badResumptionToken"}}`:                                               TroubleExpired,
		`{"error":{"root_cause":[{"type":"search_context_missing_exception"}]}}`:                TroubleExpired,
		`{"error":"the page token is no longer valid"}`:                                         TroubleExpired,
		`{"error":"etcdserver: mvcc: required revision has been compacted","code":11}`:          TroubleExpired,
		`{"error":"invalid_token","error_description":"The access token expired"}`:              TroubleError,
		`{"error":"invalid_grant","message":"auth token is invalid"}`:                           TroubleError,
		`{"error":{"message":"No such field: token"}}`:                                          TroubleError,
	} {
		_, err := readFirst(t, Spec{Pages: Pages{Style: styleSingle}, Items: Items{Path: "rows"}}, body)
		trouble, ok := err.(*Trouble)
		if !ok || trouble.Kind != want {
			t.Errorf("%s: %v, want the kind %v", body, err, want)
		} else if trouble.Error() == "" || oneLine(trouble.Msg) != trouble.Msg {
			t.Errorf("%s: the message %q is not one line", body, trouble.Msg)
		}
	}
}

func TestNames(t *testing.T) {
	for s := NotSaid; s <= Broken; s++ {
		text, err := s.MarshalText()
		var back State
		if err != nil || back.UnmarshalText(text) != nil || back != s {
			t.Errorf("state %d is %q and comes back as %v", s, text, back)
		}
	}
	for k := TroubleMissing; k <= TroubleExpired; k++ {
		text, err := k.MarshalText()
		var back TroubleKind
		if err != nil || back.UnmarshalText(text) != nil || back != k {
			t.Errorf("kind %d is %q and comes back as %v", k, text, back)
		}
	}
	if (Broken+1).String() != "not said" || (TroubleExpired+1).String() != "error" {
		t.Error("a value that is none has another name than the safe one")
	}
	var s State
	var k TroubleKind
	if s.UnmarshalText([]byte("end")) == nil || k.UnmarshalText([]byte("")) == nil {
		t.Error("a name that is none is taken")
	}
}

func TestQuery(t *testing.T) {
	q := parseQuery("a=1&%24skip=%32&a=2&x&b=c%2fd&&bad=%zz")
	if v, ok := q.get("$skip"); !ok || v != "2" {
		t.Errorf("$skip is %q, %v", v, ok)
	}
	if _, ok := q.get(""); ok {
		t.Error("there is a parameter without a name")
	}
	if got, want := q.set("$skip", "3 4").set("a", "9").set("new", "+").encode(), "a=9&%24skip=3+4&x&b=c%2fd&bad=%zz&new=%2B"; got != want {
		t.Errorf("set gives %s, want %s", got, want)
	}
	if got, want := q.without("a").encode(), "%24skip=%32&x&b=c%2fd&bad=%zz"; got != want {
		t.Errorf("without gives %s, want %s", got, want)
	}
}

func TestAssign(t *testing.T) {
	for _, tc := range []struct{ tree, path, want string }{
		{`{}`, `a`, `{"a":7}`},
		{`{"a":1,"b":2}`, `a`, `{"a":7,"b":2}`},
		{`{}`, `variables.first`, `{"variables":{"first":7}}`},
		{`{"a":{"b.c":1}}`, `a.b\.c`, `{"a":{"b.c":7}}`},
		{`{"requests":[{"page":0},{}]}`, `requests.1.page`, `{"requests":[{"page":0},{"page":7}]}`},
		{`{"a":null}`, `a.b`, `{"a":{"b":7}}`},
		{`{"a":1}`, `a.b`, `error`},
		{`[1]`, `5`, `error`},
		{`[1]`, `x`, `error`},
	} {
		var tree any
		if err := json.Unmarshal([]byte(tc.tree), &tree); err != nil {
			t.Fatal(err)
		}
		got := "error"
		if out, err := assign(tree, tc.path, int64(7)); err == nil {
			b, err := encodeBody(out)
			if err != nil {
				t.Fatal(err)
			}
			got = string(b)
		}
		if got != tc.want {
			t.Errorf("assign(%s, %s) = %s, want %s", tc.tree, tc.path, got, tc.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	long := ""
	for range 30 {
		long += "ten chars "
	}
	for in, want := range map[string]string{
		"a\n b\t\x00c\u2028d": "a b c d", "": "", "\xff": "\uFFFD",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := oneLine(long), strings.Repeat("ten chars ", 20)+"…"; got != want {
		t.Errorf("a long text is %q", got)
	}
}
