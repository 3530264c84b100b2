package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lastdrop/adapters"
)

func TestChild(t *testing.T) {
	c, err := Load("testdata/good/each-values.yaml", testEnv)
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.List()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"ada/engine", "7", "true"}, list); d != "" {
		t.Fatalf("values (-want +got):\n%s", d)
	}
	before := string(c.source())
	child := c.Child("ada/a b?c&d")
	got := map[string]any{
		"name": child.Name, "url": child.Source.URL, "count": child.Total.URL, "header": child.Source.Headers["X-Repo"],
		"q": child.Source.Params["q"][0], "list": strings.Join(child.Source.Params["list"], " "), "body": string(mustEncode(child.Source.Body.V)),
		"each": child.ForEach == nil, "check": string(child.Items.Check.Equals),
	}
	want := map[string]any{
		"name":   "each-values/ada/a b?c&d",
		"url":    "https://api.example.com/repos/ada/a%20b%3Fc&d/issues?repo=ada%2Fa+b%3Fc%26d&token=tok-0123456789abcdef",
		"count":  "https://api.example.com/count/ada/a%20b%3Fc&d",
		"header": "ada/a b?c&d", "q": "repo:ada/a b?c&d", "list": "ada/a b?c&d 5",
		"body": `{"query":"query q","variables":{"n":[1,"ada/a b?c&d"],"repo":"ada/a b?c&d","size":"{size}"}}`,
		"each": true, "check": "ada/a b?c&d",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if !strings.HasPrefix(child.Output.To, "out/ada_a_b_c_d~") || !strings.HasSuffix(child.Output.To, "-{start}.jsonl") {
		t.Errorf("its file is %s", child.Output.To)
	}
	if _, err := adapters.NewReader(child.Spec()); err != nil {
		t.Errorf("the child cannot be read: %v", err)
	}
	if after := string(c.source()); after != before {
		t.Errorf("making a child changed the config:\n%s\n%s", before, after)
	}
}

// The placeholder is replaced wherever a child asks: in slices, sentinels and
// marks of change too, and nothing of the whole changes by it.
func TestChildOfEverything(t *testing.T) {
	c := parse(t, `version: 1
name: x
source: {url: "https://h/items", params: {repo: "{repo}"}}
pages: {style: page, size: {param: n, start: 5}, number: {param: p}}
items: {path: data, id: id}
slice:
  by: at
  type: int
  params: {q: "repo:{repo} at:{from}..{to}"}
  from_params: {a: "{repo}>{from}"}
  to_params: {b: "{repo}<{to}"}
  then: {by: id, type: int, params: {r: "{repo} {from} {to}"}, from_params: {s: "{repo} {from}"}, to_params: {t: "{repo} {to}"}}
  without: {params: {none: "{repo}"}}
complete: {sentinel: {url: "https://h/{repo}/count", path: n}, still: {url: "https://h/{repo}/seq", path: n}}
for_each: {as: repo, values: [a/b]}
output: {to: "{repo}.jsonl"}
`)
	before := string(c.source())
	child := c.Child("a/b")
	s := child.Slice
	got := []string{s.Params["q"][0], s.FromParams["a"][0], s.ToParams["b"][0], s.Then.Params["r"][0], s.Then.FromParams["s"][0], s.Then.ToParams["t"][0],
		s.Without.Params["none"][0], child.Complete.Sentinel.URL, child.Complete.Still.URL}
	want := []string{"repo:a/b at:{from}..{to}", "a/b>{from}", "a/b<{to}", "a/b {from} {to}", "a/b {from}", "a/b {to}", "a/b", "https://h/a/b/count", "https://h/a/b/seq"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if after := string(c.source()); after != before {
		t.Errorf("making a child changed the config:\n%s\n%s", before, after)
	}
}

// A child is known by its value and by all of the config but the rest of the
// list, and nothing of it shows a secret.
func TestChildHash(t *testing.T) {
	text := string(readFile(t, "testdata/good/each-values.yaml"))
	other := func(name string) (string, bool) {
		if name == "API_TOKEN" {
			return "another-token", true
		}
		return testEnv(name)
	}
	base := parse(t, text).Child("7").Hash()
	rotated, err := Parse("x.yaml", []byte(text), other)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		hash string
		same bool
	}{
		"again":            {parse(t, text).Child("7").Hash(), true},
		"another list":     {parse(t, strings.Replace(text, "7, true", "7, 8", 1)).Child("7").Hash(), true},
		"another secret":   {rotated.Child("7").Hash(), true},
		"another value":    {parse(t, text).Child("8").Hash(), false},
		"another question": {parse(t, strings.Replace(text, "repo:{repo}", "r:{repo}", 1)).Child("7").Hash(), false},
		"the whole":        {parse(t, text).Hash(), false},
	} {
		if (tc.hash == base) != tc.same {
			t.Errorf("%s: same hash %v, want %v", name, tc.hash == base, tc.same)
		}
	}
	stored := string(parse(t, text).Child("7").Redacted())
	if strings.Contains(stored, "tok-0123456789abcdef") || !strings.Contains(stored, `"values":["7"]`) {
		t.Errorf("stored as %s", stored)
	}
}

func TestFileNames(t *testing.T) {
	for value, want := range map[string]string{
		"engine": "engine", "v1.2_x-y": "v1.2_x-y", "7": "7",
		"Engine": "Engine~", "ada/engine": "ada_engine~", "../../etc/passwd": "____etc_passwd~", "..": "_~", ".hidden": "hidden~", "-rf": "rf~",
		"con": "con~", "nul.txt": "nul.txt~", "com1": "com1~", "a.": "a.~", "a..b": "a_b~", "é": "_~", "a~b": "a_b~",
		`c:\x`: "c_x~", strings.Repeat("x", 65): strings.Repeat("x", 64) + "~", strings.Repeat("ä", 500): "_~",
	} {
		got := fileName(value)
		if strings.HasSuffix(want, "~") {
			head, hash, ok := strings.Cut(got, "~")
			if !ok || len(hash) != 16 || (head+"~" != want && !strings.HasSuffix(head, strings.TrimSuffix(want, "~"))) {
				t.Errorf("%q: %s, want %s and a hash", value, got, want)
			}
		} else if got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
		if strings.ContainsAny(got, `/\`) || strings.Contains(got, "..") || len(got) > 90 {
			t.Errorf("%q: %s is no safe name", value, got)
		}
	}
	seen := map[string]string{}
	for _, v := range []string{"a", "A", "a/b", "a_b", "A_B", "a b", "a_b~", fileName("A"), "é", "É", "..", ".", "...", "ß", "ss"} {
		name := strings.ToLower(fileName(v))
		if other, twice := seen[name]; twice {
			t.Errorf("%q and %q share the file %s", v, other, name)
		}
		seen[name] = v
	}
}

func TestLines(t *testing.T) {
	c, err := Load("testdata/good/each-lines.yaml", testEnv)
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.List()
	if d := cmp.Diff([]string{"ada/engine", "ada/notes"}, list); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	dir := t.TempDir()
	for name, tc := range map[string]struct{ lines, want string }{
		"none.txt":    {"", "no line holds a value"},
		"blank.txt":   {"\n  \n", "no line holds a value"},
		"control.txt": {"a\nb\x00\n", "control.txt:2: the value holds what is no printable character"},
		"long.txt":    {"a\n" + strings.Repeat("x", 1025), "long.txt:2: the value has 1025 bytes, and may have 1024"},
		"hold.txt":    {"{cursor}", "hold.txt:1: the value holds a placeholder"},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(tc.lines), 0o600); err != nil {
			t.Fatal(err)
		}
		c := parse(t, strings.Replace(string(readFile(t, "testdata/good/each-lines.yaml")), "each-lines.txt", filepath.Join(dir, name), 1))
		if _, err := c.List(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %s", name, err, tc.want)
		}
	}
	missing := parse(t, strings.Replace(string(readFile(t, "testdata/good/each-lines.yaml")), "each-lines.txt", "none.txt", 1))
	if _, err := missing.List(); err == nil || !strings.Contains(err.Error(), "none.txt") {
		t.Errorf("without the file: %v", err)
	}
	// A value in a parameter alone may hold what a path may not.
	if err := c.CheckValue("https://x/../y"); err != nil {
		t.Error(err)
	}
}

func TestParent(t *testing.T) {
	c, err := Load("testdata/good/each-pull.yaml", testEnv)
	if err != nil || c.Parent == nil || c.Parent.Name != "repos" {
		t.Fatalf("parent %v, %v", c, err)
	}
	if list, err := c.List(); len(list) != 0 || err != nil {
		t.Errorf("its list is %v, %v", list, err)
	}
	dir := t.TempDir()
	each := string(readFile(t, "testdata/good/each-pull.yaml"))
	parent := string(readFile(t, "testdata/good/parent.yaml"))
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write("each.yaml", each)
	for name, tc := range map[string]struct{ parent, want string }{
		"itself":         {each, "each.yaml:6:28: for_each.pull: that config has a for_each itself"},
		"no output":      {strings.Replace(parent, "output: {to: out/repos.jsonl}", "", 1), "that config has no output.to"},
		"no lines":       {strings.Replace(parent, "out/repos.jsonl", "out/repos.csv", 1), "the output.to of that config is no file of lines"},
		"the same name":  {strings.Replace(parent, "name: repos", "name: each-pull", 1), "that config has the same name"},
		"incremental":    {strings.Replace(parent, "out/repos.jsonl", `"out/repos-{start}.jsonl"`, 1) + "incremental: {param: since}\n", "that config is incremental"},
		"a bad parent":   {parent + "sorce: x\n", "parent.yaml:7:1: sorce: "},
		"without parent": {"", "for_each.pull: "},
	} {
		write("parent.yaml", tc.parent)
		if tc.parent == "" {
			if err := os.Remove(filepath.Join(dir, "parent.yaml")); err != nil {
				t.Fatal(err)
			}
		}
		if c, err := Load(path, testEnv); c != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %s", name, err, tc.want)
		}
	}
}

func TestIncrementalTimes(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 59, 59, 999_900_000, time.FixedZone("", 3600))
	for format, want := range map[string]struct {
		text  any
		asked string
	}{
		"unix": {int64(1796079599), "2026-11-30T22:59:59Z"}, "unix_ms": {int64(1796079599999), "2026-11-30T22:59:59.999Z"},
		"rfc3339": {"2026-11-30T22:59:59Z", "2026-11-30T22:59:59Z"}, "date": {"2026-11-30", "2026-11-30T00:00:00Z"},
		"2006-01-02 15:04":             {"2026-11-30 22:59", "2026-11-30T22:59:00Z"},
		"2006-01-02T15:04:05.000Z0700": {"2026-11-30T22:59:59.999Z", "2026-11-30T22:59:59.999Z"},
	} {
		c := parse(t, "version: 1\nname: x\nsource: {url: https://h/}\npages: {style: single}\nincremental: {param: since, format: \""+format+"\"}\n")
		text, asked := c.Incremental.Write(at), c.Incremental.Asked(at)
		if text != want.text || asked.UTC().Format(time.RFC3339Nano) != want.asked {
			t.Errorf("%s: %v, which means %v, want %v", format, text, asked, want)
		}
		if asked.After(at) {
			t.Errorf("%s: %v is later than %v", format, asked, at)
		}
	}
	plain := parse(t, "version: 1\nname: x\nsource: {url: https://h/}\npages: {style: single}\nincremental: {param: since}\n")
	if got := fmt.Sprint(plain.Incremental.Format, plain.Incremental.LookBack); got != "rfc33390" {
		t.Errorf("defaults: %s", got)
	}
}
