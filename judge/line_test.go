package judge_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lastdrop/judge"
)

var update = flag.Bool("update", false, "write the golden files")

// samples reads the six snapshots that the rules were written from.
func samples(t *testing.T) map[string]judge.Result {
	t.Helper()
	names, err := filepath.Glob("testdata/samples/*.json")
	if err != nil || len(names) != 6 {
		t.Fatalf("%d samples, %v, want 6", len(names), err)
	}
	results := map[string]judge.Result{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		results[strings.TrimSuffix(filepath.Base(name), ".json")] = judge.Judge(decode(t, string(data)))
	}
	return results
}

func TestSamples(t *testing.T) {
	type want struct {
		Verdict  judge.Verdict
		Rules    []string
		Evidence int
		Resume   string
		Action   judge.Action
	}
	const github = "https://api.github.com/repositories/2325298/commits?per_page=100&page=2"
	wants := map[string]want{
		"read_file_big_file":                       {judge.Truncated, []string{"TR001", "TR001", "TR001", "TR005", "TR005"}, 0, "offset 1043", judge.ActionContinue},
		"algolia_hits_cap":                         {judge.Truncated, []string{"TR002"}, 0, "offset 1000", judge.ActionContinue},
		"github_per_page_100_complete_but_not_all": {judge.Truncated, []string{"TR004"}, 0, "url " + github, judge.ActionContinue},
		"github_per_page_1000_short_body":          {judge.Truncated, []string{"TR001", "TR004", "TR005", "TR005"}, 0, "", judge.ActionRetrySmaller},
		"constructed_silent_cap":                   {judge.Unknown, []string{"TR006", "TR009"}, 0, "", judge.ActionFindTotal},
		"constructed_complete":                     {judge.Complete, nil, 2, "", judge.ActionNone},
	}
	for name, r := range samples(t) {
		got := want{Verdict: r.Verdict, Evidence: len(r.CompleteEvidence), Action: r.Action}
		for _, rule := range r.Rules {
			got.Rules = append(got.Rules, rule.ID)
		}
		if r.Resume != nil {
			got.Resume = r.Resume.Kind + " " + r.Resume.Value
		}
		if diff := cmp.Diff(wants[name], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSamplesForPeople(t *testing.T) {
	for name, r := range samples(t) {
		golden(t, filepath.Join("testdata", "golden", name+".txt"), judge.Line{Input: name + ".json", Result: r}.String())
	}
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestLineJSON(t *testing.T) {
	tests := []struct{ name, snapshot, want string }{
		{"loss", `{"kind":"list","response":{"items":1000,"total":5000}}`,
			`{"input":"in","kind":"list","verdict":"TRUNCATED","rules":[{"id":"TR002","layer":"set","verdict":"TRUNCATED","evidence":"total 5000 declared, 1000 items received: 4000 missing"}],"complete_evidence":[],"resume":{"kind":"offset","value":"1000","caveat":"assumes offset semantics and a stable order; a hard cap may stand in the way, so judge the next answer too"},"action":"continue"}`},
		{"complete", `{"kind":"tool","response":{"has_more":false}}`,
			`{"input":"in","kind":"tool","verdict":"COMPLETE","rules":[],"complete_evidence":["has_more is false"],"resume":null,"action":"none"}`},
		{"characters that HTML knows", `{"kind":"http","response":{"next_url":"/a?b=1&c=<2>"}}`,
			`{"input":"in","kind":"http","verdict":"TRUNCATED","rules":[{"id":"TR003","layer":"set","verdict":"TRUNCATED","evidence":"next_url is \"/a?b=1&c=<2>\""}],"complete_evidence":[],"resume":{"kind":"url","value":"/a?b=1&c=<2>","caveat":"the server's own continuation: judge the next answer too"},"action":"continue"}`},
	}
	for _, tt := range tests {
		line := judge.Line{Input: "in", Result: judge.Judge(decode(t, tt.snapshot))}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(line); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want+"\n", b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestResultJSONHasNoInput(t *testing.T) {
	for name, r := range map[string]judge.Result{
		"judged": judge.Judge(judge.Snapshot{Kind: judge.KindTool}),
		"empty":  {},
	} {
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(out, &keys); err != nil {
			t.Fatal(err)
		}
		if len(keys) != 6 || keys["input"] != nil {
			t.Errorf("%s: %s, want the six keys of a result", name, out)
		}
		for _, list := range []string{"rules", "complete_evidence"} {
			if !strings.HasPrefix(string(keys[list]), "[") {
				t.Errorf("%s: %s is %s, want a list", name, list, keys[list])
			}
		}
	}
}

func TestLineJSONWithoutAName(t *testing.T) {
	out, err := json.Marshal(judge.Line{})
	if err != nil || !strings.HasPrefix(string(out), `{"input":"","kind":"","verdict":"UNKNOWN","rules":[],"complete_evidence":[],"resume":null,`) {
		t.Errorf("got %s, %v: every key is always there", out, err)
	}
}

func TestLineForPeople(t *testing.T) {
	outweighed := judge.Line{Input: "a", Result: judge.Judge(parts(t, "", `"items":5,"total":5,"has_more":true`, ""))}
	want := `TRUNCATED  a (list)
  TR003 TRUNCATED  has_more is true
  completeness  total 5 = items 5 (outweighed)
  resume        none
  action        find_total: more evidence is needed, a retry brings none
`
	if diff := cmp.Diff(want, outweighed.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a server says may not reach a terminal as a command.
func TestLineCannotSteerATerminal(t *testing.T) {
	hostile := "\x1b]0;title\x07\x1b[2J\r\n\u202Egreen\u0085\u2028"
	s := judge.Snapshot{Kind: judge.Kind(hostile)}
	s.Response.NextCursor = judge.T(hostile)
	s.Response.TruncatedBy = hostile
	s.Response.Headers = map[string][]string{"Link": {"<" + hostile + ">; rel=next", hostile + "; rel=next"}}
	text := judge.Line{Input: hostile, Result: judge.Judge(s)}.String()
	if strings.ContainsAny(text, "\x1b\x07\r\u202e\u0085\u2028") {
		t.Errorf("it can: %q", text)
	}
	if n := strings.Count(text, "\n"); n != 8 {
		t.Errorf("%d lines, want 8: %q", n, text)
	}
}

func TestEvidenceIsCutWithItsLength(t *testing.T) {
	s := judge.Snapshot{}
	s.Response.NextCursor = judge.T(strings.Repeat("ä", 1200))
	r := judge.Judge(s)
	if e := r.Rules[0].Evidence; !strings.HasSuffix(e, `ä" and 1000 more characters`) || len(e) > 500 {
		t.Errorf("evidence %q", e)
	}
	if len(r.Resume.Value) != 2400 {
		t.Error("the resume point itself was cut")
	}
}

func TestLineIsLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := judge.Judge(genSnapshot().Draw(t, "snapshot"))
		text := judge.Line{Input: rapid.String().Draw(t, "input"), Result: r}.String()
		if n := strings.Count(text, "\n"); n != 4+len(r.Rules) || !strings.HasSuffix(text, "\n") {
			t.Fatalf("%d lines for %d rules: %q", n, len(r.Rules), text)
		}
		if !strings.HasPrefix(text, r.Verdict.String()+"  ") {
			t.Fatalf("the verdict does not stand first: %q", text)
		}
	})
}
