package judge_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lastdrop/judge"
)

// link makes a Link with its rel among the parameters.
func link(url, rel string, params ...string) judge.Link {
	l := judge.Link{URL: url, Params: map[string]string{}}
	if rel != "" {
		l.Rel, l.Params["rel"] = strings.Fields(strings.ToLower(rel)), rel
	}
	for i := 0; i < len(params); i += 2 {
		l.Params[params[i]] = params[i+1]
	}
	return l
}

func TestParseLinks(t *testing.T) {
	tests := []struct {
		name   string
		values []string
		links  []judge.Link
		broken []string
	}{
		{"nothing", nil, nil, nil},
		{"empty", []string{"", " \t", ",", " , ,"}, nil, nil},
		{"one", []string{`<https://a/b?page=2>; rel="next"`}, []judge.Link{link("https://a/b?page=2", "next")}, nil},
		{"two in one value", []string{`</2>; rel="next", </9>; rel="last"`}, []judge.Link{link("/2", "next"), link("/9", "last")}, nil},
		{"two values", []string{`</2>; rel=next`, `</9>; rel=last`}, []judge.Link{link("/2", "next"), link("/9", "last")}, nil},
		{"no space at all", []string{`</2>;rel=next,</9>;rel=last`}, []judge.Link{link("/2", "next"), link("/9", "last")}, nil},
		{"space everywhere", []string{` < /2 > ; rel = "next" , </9> ;rel	=	last `}, []judge.Link{link("/2", "next"), link("/9", "last")}, nil},
		{"folded over lines", []string{"</2>;\r\n rel=next,\r\n</9>; rel=last"}, []judge.Link{link("/2", "next"), link("/9", "last")}, nil},
		{"unquoted", []string{`</2>; rel=next; title=two`}, []judge.Link{link("/2", "next", "title", "two")}, nil},
		{"single quotes", []string{`</2>; rel='next'`}, []judge.Link{link("/2", "next")}, nil},
		{"any order", []string{`</2>; title="x"; rel="next"; type="a/b"`}, []judge.Link{link("/2", "next", "title", "x", "type", "a/b")}, nil},
		{"upper case", []string{`</2>; REL="Next"; Title="X"`}, []judge.Link{link("/2", "Next", "title", "X")}, nil},
		{"several relations", []string{`</2>; rel="next  last http://a.b/c"`}, []judge.Link{link("/2", "next  last http://a.b/c")}, nil},
		{"no relation", []string{`</2>`, `</3>; title="x"`}, []judge.Link{link("/2", ""), link("/3", "", "title", "x")}, nil},
		{"empty relation", []string{`</2>; rel=""`}, []judge.Link{{URL: "/2", Rel: []string{}, Params: map[string]string{"rel": ""}}}, nil},
		{"parameter without a value", []string{`</2>; crossorigin; rel=next`}, []judge.Link{link("/2", "next", "crossorigin", "")}, nil},
		{"parameter with an empty value", []string{`</2>; a=; rel=next`}, []judge.Link{link("/2", "next", "a", "")}, nil},
		{"semicolons too many", []string{`</2>;; rel=next; ;`}, []judge.Link{link("/2", "next")}, nil},
		{"commas too many", []string{`,, </2>; rel=next,, </9>; rel=last,`}, []judge.Link{link("/2", "next"), link("/9", "last")}, nil},
		{"separators in quotes", []string{`</2>; title="a, b; rel=\"prev\" <x>"; rel=next, </9>; rel=last`}, []judge.Link{link("/2", "next", "title", `a, b; rel="prev" <x>`), link("/9", "last")}, nil},
		{"separators in the URL", []string{`</2?a=1,2;b=3&rel="prev">; rel=next`}, []judge.Link{link(`/2?a=1,2;b=3&rel="prev"`, "next")}, nil},
		{"escapes", []string{`</2>; title="a \"b\" \\ c"; rel=next`}, []judge.Link{link("/2", "next", "title", `a "b" \ c`)}, nil},
		{"first of a name counts", []string{`</2>; title=a; title=b; rel=next`}, []judge.Link{link("/2", "next", "title", "a")}, nil},
		{"the same relation twice", []string{`</2>; rel=next; rel="NEXT"`}, []judge.Link{link("/2", "next")}, nil},
		{"no semicolon after the URL", []string{`</2> rel="next"`}, []judge.Link{link("/2", "next")}, nil},
		{"no semicolon after a value", []string{`</2>; title="x" rel="next"`}, []judge.Link{link("/2", "next", "title", "x")}, nil},
		{"no comma between links", []string{`</2>; rel="next" </9>; rel=last`, "</2>; rel=next\n</9>; rel=last"}, []judge.Link{link("/2", "next"), link("/9", "last"), link("/2", "next"), link("/9", "last")}, nil},
		{"empty URL", []string{`<>; rel=next`}, []judge.Link{link("", "next")}, nil},
		{"not ASCII in a title", []string{`</2>; title="zwölf"; rel=next`}, []judge.Link{link("/2", "next", "title", "zwölf")}, nil},

		{"no bracket", []string{`/2>; rel="next"`}, nil, []string{`/2>; rel="next"`}},
		{"no brackets", []string{`https://a/b?x=1,2; rel="next"`}, nil, []string{`https://a/b?x=1,2; rel="next"`}},
		{"no bracket, then a good one", []string{`/2>; rel="next", </9>; rel=last`}, []judge.Link{link("/9", "last")}, []string{`/2>; rel="next"`}},
		{"a good one, then no bracket", []string{`</9>; rel=last, /2>; rel="next"`}, []judge.Link{link("/9", "last")}, []string{`/2>; rel="next"`}},
		{"bracket not closed", []string{`</2; rel="next", </9>; rel=last`}, []judge.Link{link("/9", "last")}, []string{`</2; rel="next"`}},
		{"bracket not closed at the end", []string{`</2; rel="next"`, `</2`}, nil, []string{`</2; rel="next"`, `</2`}},
		{"quote not closed", []string{`</2>; rel="next, </9>; rel=last`}, nil, []string{`</2>; rel="next, </9>; rel=last`}},
		{"quote never opened", []string{`</2>; rel=next"`}, nil, []string{`</2>; rel=next"`}},
		{"quote in the middle", []string{`</2>; rel=ne"xt"`}, nil, []string{`</2>; rel=ne"xt"`}},
		{"a separator in quotes of a broken part", []string{`/2>; title="a, <b>"; rel="next", </9>; rel=last`}, []judge.Link{link("/9", "last")}, []string{`/2>; title="a, <b>"; rel="next"`}},
		{"an escape in a broken part", []string{`/2; title="\", <b>", </9>; rel=last`}, []judge.Link{link("/9", "last")}, []string{`/2; title="\", <b>"`}},
		{"two relations", []string{`</2>; rel=prev; rel=next`}, nil, []string{`</2>; rel=prev; rel=next`}},
		{"typographic quotes", []string{`</2>; rel=”next”`}, nil, []string{`</2>; rel=”next”`}},
		{"a relation that is none", []string{`</2>; rel="ne,xt"`}, nil, []string{`</2>; rel="ne,xt"`}},
		{"no name", []string{`</2>; =next`, `</2>; "next"`}, nil, []string{`</2>; =next`, `</2>; "next"`}},
		{"closing bracket as a value", []string{`</2>; rel=a>b`}, nil, []string{`</2>; rel=a>b`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			links, broken := judge.ParseLinks(tt.values)
			if diff := cmp.Diff(tt.links, links); diff != "" {
				t.Errorf("%q: links (-want +got):\n%s", tt.values, diff)
			}
			if diff := cmp.Diff(tt.broken, broken); diff != "" {
				t.Errorf("%q: broken (-want +got):\n%s", tt.values, diff)
			}
		})
	}
}

func TestLinkHas(t *testing.T) {
	l := judge.Link{Rel: []string{"next", "http://a.b/c"}}
	for rel, want := range map[string]bool{"next": true, "NEXT": true, "prev": false, "": false, "http://a.b/c": true} {
		if l.Has(rel) != want {
			t.Errorf("Has(%q) = %v", rel, !want)
		}
	}
}

func TestNamesNext(t *testing.T) {
	tests := map[string]bool{
		`/2>; rel="next"`:              true,
		`/2>; rel=next`:                true,
		`/2>; REL = 'NEXT'`:            true,
		`/2>; rel="last next"`:         true,
		`</2>; rel="next`:              true,
		`</2>; rel=”next”`:             true,
		`/1>; rel=prev, /2>; rel=next`: true,
		`/2>; rel="prev"`:              false,
		`/2>; rel="prev"; title=next`:  false,
		`/next>; rel="prev"`:           false,
		`/2>; rel="nextish"`:           false,
		`/2>; barrel="next"`:           true, // rather once too often
		`</2?page=3rel="next"`:         true, // the part between was lost
		``:                             false,
	}
	for raw, want := range tests {
		if got := judge.NamesNext(raw); got != want {
			t.Errorf("NamesNext(%q) = %v, want %v", raw, got, want)
		}
	}
}

// Whatever is done to a header that names a next page, short of cutting the
// name itself, it is never read as having none.
func TestBrokenNextIsNeverAnEnd(t *testing.T) {
	const good = `</p?page=1>; rel="prev", </p?page=3>; rel="next"`
	name := strings.Index(good, `rel="next`)
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, name-1).Draw(t, "at")
		n := rapid.IntRange(1, 3).Draw(t, "characters")
		cut := good[:at] + good[min(at+n, name):]
		s := judge.Snapshot{Response: judge.Response{Headers: map[string][]string{"Link": {cut}}}}
		if got := judge.Judge(s); got.Verdict != judge.Truncated {
			t.Fatalf("Link: %s\n%v %v %q", cut, got.Verdict, got.Rules, got.CompleteEvidence)
		}
	})
}

func TestLinksRoundTrip(t *testing.T) {
	word := rapid.StringMatching(`[a-z][a-z0-9-]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "links")
		var want []judge.Link
		var written []string
		for range n {
			url := rapid.StringMatching(`[a-z/?&=,;."]{0,12}`).Draw(t, "url")
			rel := strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "rel"), " ")
			title := rapid.StringMatching(`[ -~]{0,12}`).Draw(t, "title")
			want = append(want, link(url, rel, "title", title))
			quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(title)
			written = append(written, `<`+url+`>; title="`+quoted+`"; rel="`+rel+`"`)
		}
		links, broken := judge.ParseLinks([]string{strings.Join(written, ", ")})
		if diff := cmp.Diff(want, links); diff != "" || len(broken) > 0 {
			t.Fatalf("%q: broken %q (-want +got):\n%s", written, broken, diff)
		}
	})
}

func FuzzParseLinks(f *testing.F) {
	f.Add(`<https://api.example/c?page=2>; rel="next", <https://api.example/c?page=9>; rel="last"`)
	f.Add(`</2>; title="a, b; \"c\" <x>"; rel=next`)
	f.Add(`/2>; rel="next, </9>`)
	f.Add(`</2; rel='next last' ;;, ,`)
	f.Fuzz(func(t *testing.T, value string) {
		links, broken := judge.ParseLinks([]string{value})
		for _, l := range links {
			if !strings.Contains(value, l.URL) || strings.ContainsAny(l.URL, "<>") {
				t.Errorf("%q: URL %q", value, l.URL)
			}
			if l.Params == nil {
				t.Errorf("%q: no parameters", value)
			}
		}
		for _, raw := range broken {
			if raw == "" || !strings.Contains(value, raw) {
				t.Errorf("%q: broken %q", value, raw)
			}
		}
		if strings.Contains(value, "<") && len(links)+len(broken) == 0 {
			t.Errorf("%q: nothing was read and nothing is broken", value)
		}
	})
}
