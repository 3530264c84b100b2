package configs

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "write the generated files anew")

func TestSchemaFollowsTheTypes(t *testing.T) {
	s := structSchema(reflect.TypeFor[Config]())
	needed := takeRequired(s)
	s.Required = []string{"version", "name"}
	s.If, s.Else = &jsonschema.Schema{Required: []string{"preset"}}, needed // with a preset, Parse knows what is missing
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "lastdrop config"
	s.Description = "One pull: what to ask, how the API pages, and what it takes to call the result complete."
	want, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("lastdrop.schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(want), string(Schema())); d != "" {
		t.Errorf("lastdrop.schema.json is not what the types say (-types +file); go test ./configs -update writes it:\n%s", d)
	}
}

func TestSchemaDescribesEveryKey(t *testing.T) {
	var s *jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, s *jsonschema.Schema)
	walk = func(path string, s *jsonschema.Schema) {
		for name, sub := range s.Properties {
			if sub.Description == "" {
				t.Errorf("%s.%s has no description", path, name)
			}
			walk(path+"."+name, sub)
		}
		for _, sub := range append(s.AnyOf, s.Items) {
			if sub != nil {
				walk(path, sub)
			}
		}
	}
	walk("", s)
}

func TestSchemaTakesGoodConfigs(t *testing.T) {
	for _, file := range append(glob(t, "examples/*.yaml"), glob(t, "testdata/good/*.yaml")...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if err := validate(t, readFile(t, file)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			c, err := Load(file, testEnv)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(t, c.source()); err != nil {
				t.Errorf("%s, normalised: %v", file, err)
			}
		})
	}
}

func TestSchemaRefuses(t *testing.T) {
	const good = "version: 1\nname: x\nsource: {url: https://h/}\npages: {style: link}\n"
	if err := validate(t, []byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"version: 2", "name: X Y", "sorce: {}", "pages: {style: nope}", "pages: {size: {start: 0}}", "pages: {size: {start: abc}}",
		"items: {id: [1]}", "total: some", "total: {kind: sure}", "limits: {rate: fast}", "limits: {timeout: 30}", "source: {url: https://h/, auth: {bearer: 5}}",
		"schedule: ['@daily']", "schedule: {zone: UTC}", "schedule: {cron: '@daily', overlap: both}", "schedule: {cron: '@daily', jitter: 5}",
		"complete: {max_drift: 1 percent}", "pages: {style: link, end: [never]}", "source: {params: {a: {b: c}}, url: x}",
	} {
		doc := good
		key, _, _ := strings.Cut(bad, ":")
		for line := range strings.Lines(good) {
			if strings.HasPrefix(line, key+":") {
				doc = strings.Replace(doc, line, "", 1)
			}
		}
		if err := validate(t, []byte(doc+bad+"\n")); err == nil {
			t.Errorf("the schema takes %q", bad)
		}
	}
}

var resolveSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	var s *jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

// validate holds a config's text against the schema.
func validate(t *testing.T, data []byte) error {
	t.Helper()
	resolved, err := resolveSchema()
	if err != nil {
		t.Fatal(err)
	}
	js, err := yaml.YAMLToJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.NewDecoder(bytes.NewReader(js)).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return resolved.Validate(v)
}

// Schemas of the types that read themselves.
const (
	reference = `^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`
	durations = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d))+$`
	rates     = `^[0-9]+(\.[0-9]+)?(/[smhd])?$`
	sizes     = `^[0-9]+(\.[0-9]+)? ?(KiB|MiB|GiB|kB|KB|MB|GB|B)?$`
	percents  = `^[0-9]+(\.[0-9]+)? ?%?$`
)

func schemaOf(t reflect.Type, tag reflect.StructTag) *jsonschema.Schema {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[Scalar]():
		return &jsonschema.Schema{Types: []string{"string", "number", "boolean"}}
	case reflect.TypeFor[Words]():
		return oneOrList(schemaOf(reflect.TypeFor[Scalar](), ""))
	case reflect.TypeFor[Params]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: schemaOf(reflect.TypeFor[Words](), "")}
	case reflect.TypeFor[Texts]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: schemaOf(reflect.TypeFor[Scalar](), "")}
	case reflect.TypeFor[Paths]():
		return oneOrList(&jsonschema.Schema{Type: "string"})
	case reflect.TypeFor[Tree]():
		return &jsonschema.Schema{}
	case reflect.TypeFor[Duration]():
		return anyOf(pattern(durations), pattern(reference))
	case reflect.TypeFor[Rate]():
		return numberOr(rates)
	case reflect.TypeFor[Bytes]():
		return numberOr(sizes)
	case reflect.TypeFor[Percent]():
		return numberOr(percents)
	case reflect.TypeFor[Total]():
		return anyOf(words("none"), structSchema(t))
	case reflect.TypeFor[Kind]():
		return anyOf(words("exact", "estimate", "lower_bound"), structSchema(t))
	case reflect.TypeFor[Schedule]():
		return anyOf(&jsonschema.Schema{Type: "string"}, structSchema(t))
	case reflect.TypeFor[Signs]():
		return oneOrList(structSchema(reflect.TypeFor[Sign]()))
	case reflect.TypeFor[EndRules]():
		return oneOrList(anyOf(words(endWords...), structSchema(reflect.TypeFor[EndRule]())))
	}
	switch t.Kind() {
	case reflect.Struct:
		return structSchema(t)
	case reflect.Bool:
		return anyOf(&jsonschema.Schema{Type: "boolean"}, pattern(reference))
	case reflect.Int, reflect.Int64:
		return anyOf(&jsonschema.Schema{Type: "integer"}, pattern(reference))
	case reflect.String:
		if enum := strings.Fields(tag.Get("enum")); len(enum) > 0 {
			return anyOf(words(enum...), pattern(reference))
		}
		return &jsonschema.Schema{Type: "string"}
	default:
		panic("no schema for " + t.String())
	}
}

func structSchema(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	known := fieldsOf(t)
	s.PropertyOrder = known.names
	for _, name := range known.names {
		f := known.byName[name]
		sub := schemaOf(f.Type, f.Tag)
		sub.Description = f.Tag.Get("doc")
		s.Properties[name] = sub
		if f.Tag.Get("need") != "" {
			s.Required = append(s.Required, name)
		}
	}
	switch t {
	case reflect.TypeFor[Config]():
		var one any = 1
		s.Properties["version"] = &jsonschema.Schema{Const: &one, Description: s.Properties["version"].Description}
		s.Properties["name"].Pattern = `^([a-z0-9][a-z0-9._-]*|.*\$\{.*)$`
	case reflect.TypeFor[Size]():
		for _, key := range []string{"start", "min", "max"} {
			least := 1.0
			s.Properties[key].AnyOf[0].Minimum = &least
		}
	}
	return s
}

// takeRequired takes the required keys out of a schema and the mappings below
// it, and returns a schema of them alone; nil where there are none. Lists are
// left as they are: no preset adds to them.
func takeRequired(s *jsonschema.Schema) *jsonschema.Schema {
	out := &jsonschema.Schema{Required: s.Required, PropertyOrder: []string{}}
	s.Required = nil
	for _, name := range s.PropertyOrder {
		if below := takeRequired(s.Properties[name]); below != nil {
			if out.Properties == nil {
				out.Properties = map[string]*jsonschema.Schema{}
			}
			out.Properties[name] = below
			out.PropertyOrder = append(out.PropertyOrder, name)
		}
	}
	if len(out.Required) == 0 && len(out.Properties) == 0 {
		return nil
	}
	return out
}

func words(list ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	for _, w := range list {
		s.Enum = append(s.Enum, w)
	}
	return s
}

func anyOf(list ...*jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{AnyOf: list} }

func pattern(p string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Pattern: p} }

func numberOr(p string) *jsonschema.Schema {
	least := 0.0
	return anyOf(&jsonschema.Schema{Type: "number", Minimum: &least}, pattern(p), pattern(reference))
}

func oneOrList(s *jsonschema.Schema) *jsonschema.Schema {
	return anyOf(s, &jsonschema.Schema{Type: "array", Items: s})
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files (%v)", pattern, err)
	}
	return files
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// testEnv is the environment of the configs in testdata and examples.
func testEnv(name string) (string, bool) {
	v, ok := map[string]string{
		"API_TOKEN": "tok-0123456789abcdef", "API_USER": "ada", "API_PASSWORD": "s3cr3t pass/word", "API_KEY": "key-fedcba9876543210",
		"GITHUB_TOKEN": "gh-0123456789abcdef", "GITLAB_TOKEN": "gl-0123456789abcdef", "SLACK_TOKEN": "sl-0123456789abcdef",
		"NOTION_TOKEN": "no-0123456789abcdef", "DATABASE_URL": "postgres://ada:s3cr3t@db.example.com/x", "POINT_IN_TIME": "46ToAwMDaWR5", "STORE_KEY": "store-0123456789", "STORE_SECRET": "store-s3cr3t-0123456789",
		"REGION": "eu-west", "PAGE_SIZE": "50", "STRICT": "true", "EMPTY": "",
	}[name]
	return v, ok
}
