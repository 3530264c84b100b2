package configs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lastdrop/adapters"
)

// evidenceLine is where a preset says what its API can prove at best.
var evidenceLine = regexp.MustCompile(`(?m)^# evidence: (counted|declared|assumed|UNKNOWN)[,: ]`)

// bare is the least config that uses a preset, with what it leaves open.
func bare(name string) string {
	return "version: 1\nname: x\npreset: " + name + "\nsource: {url: https://api.example.com/items}\n"
}

// Each preset is a whole config but for what depends on the site, and says in
// its comments what can be known of a run.
func TestPresets(t *testing.T) {
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			said := evidenceLine.FindStringSubmatch(p.Text)
			if said == nil || p.Summary == "" || !strings.Contains(p.Text, "\n# reach: ") {
				t.Fatal("the comments lack a summary, # evidence: or # reach:")
			}
			s := parse(t, bare(p.Name)).Spec()
			if s.Items.Path == "" || len(s.Items.IDs) == 0 {
				t.Errorf("items.path %q, items.id %q: both are needed", s.Items.Path, s.Items.IDs)
			}
			if s.Pages.SizeParam != "" && s.Pages.SizeMax == 0 {
				t.Error("pages.size has no max")
			}
			for _, line := range strings.Split(p.Text, "\n") {
				if len([]rune(line)) > 160 {
					t.Errorf("a line of %d characters", len([]rune(line)))
				}
			}
			if !proves(s, said[1]) {
				t.Errorf("the comment says %s, and no key can give that", said[1])
			}
		})
	}
}

// proves reports whether a spec has what an evidence rests on.
func proves(s adapters.Spec, evidence string) bool {
	p := s.Pages
	switch evidence {
	case "counted":
		return s.Total.Path != "" || s.Total.Header != ""
	case "declared":
		return p.MorePath != "" || p.MoreHeader != "" || p.LastPath != "" || p.CursorPath != "" || p.NextPath != "" || p.Style == "link"
	case "assumed":
		return p.EndAbsentContinuation || p.EndEmptyPage || p.EndShortPage || len(p.EndStatus) > 0
	}
	return true
}

// What is the operator's own to say no preset says for him.
func TestPresetsLeaveTheOperatorsOwn(t *testing.T) {
	for _, p := range Presets() {
		r := newReading(p.Name, nil)
		if r.tree([]byte(p.Text)); len(r.errs) > 0 {
			t.Errorf("%s: %v", p.Name, r.errs)
		}
		for _, key := range []string{"version", "name", "preset", "complete", "output", "schedule", "slice", "for_each", "incremental", "source.auth"} {
			if r.said(key) {
				t.Errorf("%s sets %s", p.Name, key)
			}
		}
	}
}

func TestEachPresetHasAnExample(t *testing.T) {
	seen := map[string]string{}
	for _, file := range glob(t, "examples/preset-*.yaml") {
		c, err := Load(file, testEnv)
		if err != nil {
			t.Error(err)
			continue
		}
		seen[c.Preset] = file
	}
	for _, p := range Presets() {
		if want := "examples/preset-" + p.Name + ".yaml"; seen[p.Name] != want {
			t.Errorf("preset %s: its example is %q, want %s", p.Name, seen[p.Name], want)
		}
	}
}

// Keys of the file win, one by one, and take away what rests on them alone.
func TestKeysOverAPreset(t *testing.T) {
	for _, tc := range []struct {
		name, preset, text string
		change             func(*adapters.Spec)
	}{
		{"nothing", "github-search", "", func(*adapters.Spec) {}},
		{"one value", "github-search", "items: {id: sha}", func(s *adapters.Spec) { s.Items.IDs = []string{"sha"} }},
		{"a header beside its own", "github-search", "source: {url: https://api.example.com/items, headers: {X-A: b}}", func(s *adapters.Spec) { s.Headers["X-A"] = "b" }},
		{"a list as a whole", "hn-algolia", "partial: {path: cut, present: true}", func(s *adapters.Spec) { s.Partial = []adapters.Condition{{Path: "cut", Present: true}} }},
		{"an empty list", "hn-algolia", "partial: []", func(s *adapters.Spec) { s.Partial = nil }},
		{"no total", "hn-algolia", "total: none", func(s *adapters.Spec) { s.Total = adapters.TotalSpec{None: true} }},
		{"no reach", "notion", "pages: {reach: 0}", func(s *adapters.Spec) { s.Pages.Reach = 0 }},
		{"a size", "ckan", "pages: {size: {max: 100}}", func(s *adapters.Spec) { s.Pages.SizeStart, s.Pages.SizeMax = 100, 100 }},
		{"a total elsewhere", "ckan", "total: {header: X-Total, kind: exact}", func(s *adapters.Spec) {
			s.Total = adapters.TotalSpec{Header: "X-Total", Kind: "exact"}
		}},
		{"another flag is not inverted", "jira-v3", "pages: {more: {path: hasMore}}", func(s *adapters.Spec) { s.Pages.MorePath, s.Pages.MoreEndWhen = "hasMore", nil }},
		{"another token has no documented end", "kubernetes", "pages: {cursor: {header: X-Next}}", func(s *adapters.Spec) {
			s.Pages.CursorPath, s.Pages.CursorHeader, s.Pages.EndAbsentContinuation = "", "X-Next", false
		}},
		{"another sort is not unique", "wordpress", "pages: {sort: {value: date}}", func(s *adapters.Spec) { s.Pages.SortValue, s.Pages.SortUnique = "date", false }},
		{"a GET has no body", "notion", "source: {url: https://api.example.com/items, method: GET}", func(s *adapters.Spec) { s.Method, s.Body = "GET", nil }},
		{"a body is joined", "elasticsearch", "source: {url: https://api.example.com/items, body: {pit: {id: abc}}}", func(s *adapters.Spec) {
			s.Body.(map[string]any)["pit"].(map[string]any)["id"] = "abc"
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := parse(t, bare(tc.preset)).Spec()
			tc.change(&want)
			text := bare(tc.preset)
			if strings.HasPrefix(tc.text, "source:") {
				text, _, _ = strings.Cut(text, "source:")
			}
			if d := cmp.Diff(want, parse(t, text+tc.text+"\n").Spec()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Errors stand where the file is wrong; what a preset has a part in stands at
// the line that names it.
func TestErrorsOverAPreset(t *testing.T) {
	const head = "version: 1\nname: x\n"
	for _, tc := range []struct{ text, want string }{
		{"preset: github-serch\n", `x.yaml:3:9: preset: "github-serch" is no preset; did you mean "github-search"?`},
		{"preset: nothing-like-it\n", `x.yaml:3:9: preset: "nothing-like-it" is no preset; lastdrop presets lists them all`},
		{"preset: 5\nsource: {url: https://h/}\npages: {style: single}\n", `x.yaml:3:9: preset: must be text, not a number; put it into quotes`},
		{"preset: gitlab\n", `x.yaml:1:1: source: missing; say what to ask, e.g. source: {url: https://api.example.com/items}`},
		{"preset: socrata\n", `x.yaml:3:9: source.url: missing; add the address of the first page`},
		{"preset: gitlab\nsource: {url: https://h/}\npages: {size: {start: 200}}\n", `x.yaml:5:23: pages.size.start: start 200 is above max 100`},
		{"preset: gitlab\nsource: {url: https://h/}\npages: {reach: -1}\n", `x.yaml:5:16: pages.reach: is -1, and must be at least 0`},
		{"preset: hn-algolia\npages: {size: {min: 600, max: 1000}, style: keyset}\n",
			"x.yaml:4:1: pages.keyset.param: missing; name the parameter that asks for what comes after a key, e.g. keyset: {param: starting_after, path: id}\n" +
				"x.yaml:4:1: pages.keyset.path: missing; say which field of the last item starts the next page, e.g. path: id"},
		{"preset: gitlab\nsource: {url: https://h/, boddy: {}}\n", `x.yaml:4:27: source.boddy: unknown key; did you mean "body"?`},
	} {
		_, err := Parse("x.yaml", []byte(head+tc.text), testEnv)
		if got := fmt.Sprint(err); got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.text, got, tc.want)
		}
	}
}

// The hash is that of the joined keys: one that is written out is the same
// config, one that says otherwise is another.
func TestHashCoversThePreset(t *testing.T) {
	c := parse(t, bare("github-search"))
	if again := parse(t, string(c.source())); again.Hash() != c.Hash() || again.Preset != "" {
		t.Errorf("written out, it has another hash:\n%s", c.source())
	}
	for _, other := range []string{bare("github-rest"), bare("github-search") + "pages: {reach: 999}\n"} {
		if parse(t, other).Hash() == c.Hash() {
			t.Errorf("the same hash as\n%s", other)
		}
	}
}
