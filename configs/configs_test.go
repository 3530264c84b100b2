package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lastdrop/adapters"
	"lastdrop/internal/daemon/schedule"
	"lastdrop/judge/reconcile"
)

// Each bad config stands beside the exact text of its errors.
func TestBadConfigs(t *testing.T) {
	for _, file := range glob(t, "testdata/bad/*.yaml") {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			c, err := Parse(name, readFile(t, file), testEnv)
			if err == nil {
				t.Fatalf("taken, as %s", c.Redacted())
			}
			if _, ok := errors.AsType[Errors](err); c != nil || !ok {
				t.Errorf("got the config %v beside an error of type %T", c, err)
			}
			got := err.Error() + "\n"
			golden := strings.TrimSuffix(file, ".yaml") + ".err"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(readFile(t, golden)), got); d != "" {
				t.Errorf("other errors (-want +got):\n%s", d)
			}
			if strings.Contains(got, "s3cr3t") {
				t.Errorf("the errors hold a secret:\n%s", got)
			}
		})
	}
}

func TestGoodConfigs(t *testing.T) {
	for _, file := range append(glob(t, "examples/*.yaml"), glob(t, "testdata/good/*.yaml")...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c, err := Load(file, testEnv)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Parse("again", c.source(), testEnv)
			if err != nil {
				t.Fatalf("the normalised form is refused: %v\n%s", err, c.source())
			}
			if c.Hash() != again.Hash() {
				t.Errorf("the normalised form hashes otherwise:\n%s\n%s", c.source(), again.source())
			}
			for _, v := range []string{"tok-0123456789abcdef", "s3cr3t", "key-fedcba9876543210"} {
				if strings.Contains(string(c.Redacted()), v) {
					t.Errorf("the stored form holds %q:\n%s", v, c.Redacted())
				}
			}
		})
	}
}

func TestEachStyleHasAnExample(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range glob(t, "examples/*.yaml") {
		c, err := Load(file, testEnv)
		if err != nil {
			t.Fatal(err)
		}
		seen[c.Pages.Style] = true
	}
	for _, style := range styles() {
		if !seen[style] {
			t.Errorf("configs/examples has nothing for style %s", style)
		}
	}
	if want := adapters.StyleNames(); len(want) != len(styles()) || len(want) != len(seen) {
		t.Errorf("styles %q, and the adapters know %q", styles(), want)
	}
}

func TestLoadWithoutFile(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"), testEnv)
	if _, bad := errors.AsType[*Error](err); bad || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestFileForms(t *testing.T) {
	const good = "version: 1\nname: x\nsource: {url: https://api.example.com/}\npages: {style: single}\n"
	for _, tc := range []struct{ name, data, want string }{
		{"byte order mark", "\xef\xbb\xbf" + good, ""},
		{"CRLF", strings.ReplaceAll(good, "\n", "\r\n"), ""},
		{"document marks", "---\n" + good + "...\n", ""},
		{"no newline at the end", strings.TrimSpace(good), ""},
		{"empty", "", "x.yaml:1:1: the file is empty; lastdrop validate --schema prints the keys of a config"},
		{"not UTF-8", good + "# ü \xff\n", "x.yaml:5:5: not UTF-8; save the file as UTF-8"},
		{"too long", good + strings.Repeat("#", maxFile), "x.yaml: the file has 262226 bytes, and a config at most 262144"},
		{"flags from the environment", good + "items: {absent_is_empty: \"${STRICT}\"}", ""},
		{"no environment", good + "items: {path: \"${REGION}\"}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse("x.yaml", []byte(tc.data), testEnv)
			if got := fmt.Sprint(err); got != tc.want && (err != nil || tc.want != "") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := Parse("x.yaml", []byte(good+"items: {path: \"${REGION}\"}"), nil); err == nil || !strings.Contains(err.Error(), "REGION is not set") {
		t.Errorf("with a nil environment: %v", err)
	}
}

// Every key of the contract that waits for its means says so, and none of them
// is ignored.
func TestLaterKeysAreRefused(t *testing.T) {
	for _, l := range later {
		value := l.value
		if value == "" {
			value = "soon"
		}
		parts := strings.Split(l.path, ".")
		doc := "version: 1\nname: x\nsource: {url: https://api.example.com/}\n"
		block := strings.Join(parts, ": {") + ": " + value + strings.Repeat("}", len(parts)-1)
		if parts[0] == "source" {
			doc = "version: 1\nname: x\n"
		}
		if parts[0] != "pages" {
			doc += "pages: {style: single}\n"
		}
		_, err := Parse("x.yaml", []byte(doc+block+"\n"), nil)
		if want := "comes with "; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", block, err)
		}
	}
}

func TestVocabularyIsThatOfTheJudges(t *testing.T) {
	for _, word := range enumOf[Complete]("require") {
		if _, ok := reconcile.ParseStrength(word); !ok {
			t.Errorf("complete.require takes %q, which is no strength", word)
		}
	}
	for _, k := range []AuthKind{AuthBearer, AuthBasic, AuthHeader, AuthQuery} {
		if _, ok := fieldsOf(reflect.TypeFor[Auth]()).byName[k.String()]; !ok {
			t.Errorf("%q is no key of source.auth", k)
		}
	}
	if AuthNone.String() != "" || AuthKind(99).String() != "" {
		t.Error("no credentials have a name")
	}
}

func TestBodies(t *testing.T) {
	const head = "version: 1\nname: x\npages: {style: cursor, cursor: {path: next}, size: {start: 5}}\nitems: {path: a}\nsource:\n  url: https://h/\n  method: POST\n  body: "
	for _, tc := range []struct{ body, want string }{
		{`{after: "{cursor}", page: ["{size}"]}`, `{"after":"{cursor}","page":["{size}"]}`},
		{`["{cursor} {size}", 1, 1.50, 1e3, -0, 0x1F, 0o17, 0b11, 1_000, +5, .5, 5.]`, `["{cursor} {size}",1,1.50,1e3,-0,31,15,3,1000,5,0.5,5]`},
		{`{a: "{cursor}{size}", b: 123456789012345678901234567890, c: "12", d: 18446744073709551615, e: yes, f: 2026-01-01}`,
			`{"a":"{cursor}{size}","b":123456789012345678901234567890,"c":"12","d":18446744073709551615,"e":"yes","f":"2026-01-01"}`},
		{`{a: "{cursor}{size}", 1: ~, true: [], 1.5: {}}`, `{"1":null,"1.5":{},"a":"{cursor}{size}","true":[]}`},
		{`{a: "{cursor}{size}", b: .inf}`, "x.yaml:8:34: source.body.b: is no plain number; quote it where it is text, else write it without leading zeros"},
		{`{a: "{cursor}{size}", b: 007}`, "x.yaml:8:34: source.body.b: is no plain number; quote it where it is text, else write it without leading zeros"},
		{`{a: {b: c}}`, "x.yaml:3:46: pages.size.param: missing"},
	} {
		c, err := Parse("x.yaml", []byte(head+tc.body+"\n"), nil)
		got := fmt.Sprint(err)
		if err == nil {
			got = string(mustEncode(c.Spec().Body))
		}
		if !strings.HasPrefix(got, tc.want) && !strings.Contains(got, tc.want) {
			t.Errorf("body %s: got %s, want %s", tc.body, got, tc.want)
		}
	}
}

// The decoder reads these kinds of fields, and no others may be in Config.
func TestFieldKinds(t *testing.T) {
	var walk func(path string, typ reflect.Type)
	walk = func(path string, typ reflect.Type) {
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if _, ok := reflect.New(typ).Interface().(decodable); ok {
			return
		}
		switch typ.Kind() {
		case reflect.String, reflect.Bool, reflect.Int, reflect.Int64:
		case reflect.Struct:
			known := fieldsOf(typ)
			for _, name := range known.names {
				walk(path+"."+name, known.byName[name].Type)
			}
		default:
			t.Errorf("%s: the decoder cannot read a %s", path, typ)
		}
	}
	walk("", reflect.TypeFor[Config]())
}

func TestDefaults(t *testing.T) {
	c := parse(t, "version: 1\nname: x\nsource: {url: https://api.example.com/}\npages: {style: single}\n")
	want := Config{
		Version: 1, Name: "x", Source: Source{URL: "https://api.example.com/", Method: "GET"},
		Pages: Pages{Style: "single", Size: Size{Min: 1}}, Items: Items{Path: "@this"},
		Complete: Complete{Require: "declared", Passes: 3, MaxDrift: 1, MaxFall: 50},
		Limits:   Limits{Burst: 1, Concurrency: 1, Timeout: Duration(30 * time.Second), Retries: 5, MaxWait: Duration(15 * time.Minute), MaxBody: 64 << 20},
		Output:   Output{On: "complete"},
	}
	if d := cmp.Diff(want, *c, cmpopts(), cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Secrets" || p.String() == "marks" }, cmp.Ignore())); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for rate, burst := range map[string]int{"0.5": 1, "5/s": 5, "90/m": 2, "5000/h": 2, "2.5": 3, "1/d": 1} {
		c := parse(t, "version: 1\nname: x\nsource: {url: https://api.example.com/}\npages: {style: single}\nlimits: {rate: "+rate+"}\n")
		if c.Limits.Burst != burst {
			t.Errorf("rate %s: burst %d, want %d", rate, c.Limits.Burst, burst)
		}
	}
}

// cmpopts lets cmp compare a Config field by field.
func cmpopts() cmp.Option { return cmp.AllowUnexported(Config{}) }

// parse reads a config that must be good.
func parse(t *testing.T, data string) *Config {
	t.Helper()
	c, err := Parse("x.yaml", []byte(data), testEnv)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return c
}

// source gives the normalised config in a form that Parse reads again, to a
// config of the same hash.
func (c *Config) source() []byte {
	return mustEncode(c.tree(func(m *mark) string { return m.shown }, escape))
}

// A schedule is one expression, or a mapping; both say the same where the mapping says no more.
func TestSchedules(t *testing.T) {
	const head = "version: 1\nname: x\nsource: {url: https://api.example.com/}\npages: {style: single}\n"
	for _, tc := range []struct {
		doc, shown string
		want       schedule.Spec
	}{
		{`"0 3 * * *"`, `"schedule":"0 3 * * *"`, schedule.Spec{Cron: "0 3 * * *", Zone: "UTC", Overlap: "skip", CatchUp: "none"}},
		{`'@daily'`, `"schedule":"@daily"`, schedule.Spec{Cron: "@daily", Zone: "UTC", Overlap: "skip", CatchUp: "none"}},
		{`{cron: '@daily', jitter: 0s}`, `"schedule":"@daily"`, schedule.Spec{Cron: "@daily", Zone: "UTC", Overlap: "skip", CatchUp: "none"}},
		{`{cron: '@daily', zone: Asia/Tokyo, jitter: 1h30m, overlap: queue, catch_up: all}`,
			`"schedule":{"catch_up":"all","cron":"@daily","jitter":"1h30m0s","overlap":"queue","zone":"Asia/Tokyo"}`,
			schedule.Spec{Cron: "@daily", Zone: "Asia/Tokyo", Jitter: 90 * time.Minute, Overlap: "queue", CatchUp: "all"}},
	} {
		c := parse(t, head+"schedule: "+tc.doc+"\n")
		if d := cmp.Diff(tc.want, c.Schedule.Spec()); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.doc, d)
		}
		if got := string(c.Redacted()); !strings.Contains(got, tc.shown) {
			t.Errorf("%s is shown as %s", tc.doc, got)
		}
		if c.Hash() != parse(t, head).Hash() {
			t.Errorf("%s changes the hash", tc.doc)
		}
	}
	for key, words := range map[string][]string{"overlap": {schedule.Skip, schedule.Queue}, "catch_up": {schedule.None, schedule.One, schedule.All}} {
		if d := cmp.Diff(words, enumOf[Schedule](key)); d != "" {
			t.Errorf("%s (-want +got):\n%s", key, d)
		}
	}
}
