package adapters_test

import (
	"errors"
	"testing"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
)

func TestProbeRequest(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*adapters.Spec)
		probe  adapters.Probe
		want   string
	}{
		{"its own address", nil, adapters.Probe{URL: "https://other.test/n?a=%20b"}, "GET https://other.test/n?a=%20b "},
		{"its own body", nil, adapters.Probe{URL: "https://other.test/n", Method: "POST", Body: map[string]any{"a": "<b>"}}, `POST https://other.test/n {"a":"<b>"}`},
		{"params are added", nil, adapters.Probe{Params: map[string][]string{"q": {"a b"}, "box": {"1", "2"}}}, "GET " + source + "?size=10&page=1&box=1&box=2&q=a+b "},
		{"params are replaced", func(s *adapters.Spec) { s.URL += "?q=%7Eall&z=1" }, adapters.Probe{Params: map[string][]string{"q": {"known"}, "size": {"1"}}},
			"GET " + source + "?z=1&page=1&q=known&size=1 "},
		{"with the source's body", func(s *adapters.Spec) {
			s.Method, s.Body = "POST", map[string]any{"filter": "x"}
		}, adapters.Probe{Params: map[string][]string{"q": {"known"}}}, "POST " + source + `?q=known {"filter":"x","page":1,"size":10}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spec := plain(tc.change)
			spec.Headers = map[string]string{"X-Tenant": "acme"}
			r, err := adapters.NewReader(spec)
			if err != nil {
				t.Fatal(err)
			}
			req, err := r.ProbeRequest(tc.probe)
			if err != nil {
				t.Fatal(err)
			}
			if got := req.Method + " " + req.URL + " " + string(req.Body); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if req.Header.Get("X-Tenant") != "acme" {
				t.Error("the configured header is missing")
			}
		})
	}
}

func TestReadProbe(t *testing.T) {
	spec := plain(func(s *adapters.Spec) { s.Errors, s.ErrorsSet = []string{"remark"}, true })
	r, err := adapters.NewReader(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		probe adapters.Probe
		body  string
		want  string // the value, or the kind of trouble
		count int64  // -1: it is no number
	}{
		{adapters.Probe{Path: "a.b"}, `{"a":{"b":5}}`, "5", 5},
		{adapters.Probe{Path: "a"}, `{"a":"12"}`, `"12"`, 12},
		{adapters.Probe{Path: "a"}, `{"a":[1, null, {}]}`, "[1, null, {}]", 2},
		{adapters.Probe{Path: "a.#.b"}, `{"a":[{"b":1},{},{"b":2}]}`, "[1,2]", 2},
		{adapters.Probe{Path: "a.#"}, `{"a":[1,2,3]}`, "3", 3},
		{adapters.Probe{Path: "@this"}, `[]`, "[]", 0},
		{adapters.Probe{Path: "a"}, `{"a":-1}`, "-1", -1},
		{adapters.Probe{Path: "a"}, `{"a":1.5}`, "1.5", -1},
		{adapters.Probe{Path: "a"}, `{"a":{"b":5}}`, `{"b":5}`, -1},
		{adapters.Probe{Path: "a"}, `{"a":null}`, "missing", 0},
		{adapters.Probe{Path: "a"}, `{}`, "missing", 0},
		{adapters.Probe{Path: "a"}, `{"a":1,"a":2}`, "malformed", 0},
		{adapters.Probe{Path: "a"}, `{"a":1,"remark":"runtime error: timed out"}`, "passing", 0},
		{adapters.Probe{Path: "a"}, `{"a":1,"error":"no"}`, "1", 1}, // the source's errors are listed
		{adapters.Probe{Path: "a", URL: "https://other.test/"}, `{"a":1,"error":"no"}`, "error", 0},
		{adapters.Probe{Path: "a", URL: "https://other.test/"}, `{"a":1,"remark":"timed out"}`, "1", 1},
		{adapters.Probe{Path: "errors", URL: "https://other.test/"}, `{"errors":3}`, "3", 3}, // what is asked for is no error
	} {
		v, err := r.ReadProbe(tc.probe, adapters.Response{Status: 200, Body: []byte(tc.body)})
		got := string(v.Raw)
		if trouble, ok := errors.AsType[*adapters.Trouble](err); ok {
			got = trouble.Kind.String()
		} else if err != nil {
			t.Fatal(err)
		}
		if got != tc.want {
			t.Errorf("%s in %s is %s, want %s", tc.probe.Path, tc.body, got, tc.want)
		}
		if n, ok := adapters.ProbeCount(v); err == nil && (n != max(0, tc.count) || ok != (tc.count >= 0)) {
			t.Errorf("%s in %s counts %d, %v; want %d", tc.probe.Path, tc.body, n, ok, tc.count)
		}
	}
	if _, ok := adapters.ProbeCount(jsonscan.Value{}); ok {
		t.Error("nothing counts")
	}
}

func TestCounted(t *testing.T) {
	for _, tc := range []struct {
		at   adapters.Position
		want bool
	}{
		{adapters.Position{}, false},
		{adapters.Position{Number: 2, Size: 10}, true},
		{adapters.Position{URL: source + "?p=3", Param: "p"}, true},
		{adapters.Position{URL: source + "?page=3"}, true},
		{adapters.Position{URL: source + "?$skip=20"}, true},
		{adapters.Position{URL: source + "?page=x2f"}, false},
		{adapters.Position{URL: source + "?after=3"}, false},
		{adapters.Position{Cursor: []byte(`3`), Offset: 40}, true},
		{adapters.Position{Cursor: []byte(`"40"`), Offset: 40}, true},
		{adapters.Position{Cursor: []byte(`"41"`), Offset: 40}, true},
		{adapters.Position{Cursor: []byte(`9000`), Offset: 40}, false}, // a key, rather
		{adapters.Position{Cursor: []byte(`"eyJ9"`), Offset: 40}, false},
	} {
		if got := tc.at.Counted(); got != tc.want {
			t.Errorf("%+v counts: %v, want %v", tc.at, got, tc.want)
		}
	}
}
