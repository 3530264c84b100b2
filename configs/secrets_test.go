package configs

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// doc is a config with secrets in all places.
const secretDoc = `version: 1
name: x
source:
  url: https://api.example.com/${API_KEY}/items?access_token=literal-token&a=1
  params: {api_key: "literal-key", sort_key: created, page_token: first-page, token: "{cursor}", key: id}
  headers: {X-Auth-Token: "Bearer literal-header", Accept: json}
  auth: {basic: {user: "${API_USER}", password: "${API_PASSWORD}"}}
pages: {style: cursor, cursor: {path: next}}
items: {path: items}
total: {url: "https://api.example.com/count?sig=literal-sig", path: n}
complete:
  sentinel: {params: {access_token: literal-sentinel, box: known}, path: items}
  still: {url: "https://api.example.com/mark?token=literal-mark", path: n}
`

func TestSecretsAreKnown(t *testing.T) {
	c := parse(t, secretDoc)
	for _, v := range []string{"literal-token", "literal-key", "literal-header", "Bearer literal-header", "ada", "s3cr3t pass/word", "s3cr3t+pass%2Fword", "literal-sig", "literal-sentinel", "literal-mark", "key-fedcba9876543210", "YWRhOnMzY3IzdCBwYXNzL3dvcmQ="} {
		if got := c.Secrets.Hide("x=" + v + ";"); got != "x=REDACTED;" {
			t.Errorf("%q is not hidden: %s", v, got)
		}
	}
	for _, v := range []string{"created", "first-page", "{cursor}", "id", "json", "items"} {
		if c.Secrets.Has(v) {
			t.Errorf("%q is no secret", v)
		}
	}
	const want = `{"auth":{"basic":{"password":"${API_PASSWORD}","user":"${API_USER}"}},"headers":{"Accept":"json","X-Auth-Token":"REDACTED"},"method":"GET",` +
		`"params":{"api_key":["REDACTED"],"key":["id"],"page_token":["first-page"],"sort_key":["created"],"token":["{cursor}"]},` +
		`"url":"https://api.example.com/${API_KEY}/items?access_token=REDACTED&a=1"}`
	if got := string(c.Redacted()); !strings.Contains(got, want) {
		t.Errorf("stored as\n%s, want in it\n%s", got, want)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, c); got != "config x" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

// The address of a database is a secret as a whole, and another password makes no other run.
func TestDatabaseAddress(t *testing.T) {
	const base = "version: 1\nname: x\nsource: {url: https://h/}\npages: {style: single}\noutput: {to: %q}\n"
	doc := func(to string) *Config { return parse(t, fmt.Sprintf(base, to)) }
	c := doc("postgres://ada:literal%40pass@db.example.com:5432/shop?sslpassword=literal-key")
	for _, part := range []string{"literal%40pass", "literal@pass", "literal-key", "postgres://ada:literal%40pass@db.example.com:5432/shop?sslpassword=literal-key"} {
		if got := c.Secrets.Hide("x=" + part + ";"); got != "x=REDACTED;" {
			t.Errorf("%q is not hidden: %s", part, got)
		}
	}
	if got := string(c.Redacted()); !strings.Contains(got, `"to":"postgres://REDACTED"`) || strings.Contains(got, "example.com") {
		t.Errorf("stored as %s", got)
	}
	if got := string(doc("${DATABASE_URL}").Redacted()); !strings.Contains(got, `"to":"${DATABASE_URL}"`) || strings.Contains(got, "s3cr3t") {
		t.Errorf("stored as %s", got)
	}
	if a, b := c.Hash(), doc("postgres://eve:other@db.example.com:5432/shop?sslpassword=x").Hash(); a != b {
		t.Error("another password is another hash")
	}
	if got := c.Shown(c.Output.To); got != "postgres:x" {
		t.Errorf("shown as %s", got)
	}
	if a, b := PlaceOf(c.Output.To), PlaceOf("postgres://eve:other@db.example.com:5432/shop?sslpassword=x"); a != b {
		t.Error("another password is another place")
	}
	if a, b := PlaceOf(c.Output.To), PlaceOf("postgres://ada:literal%40pass@db.example.com:5432/other?sslpassword=x"); a == b {
		t.Error("another database is the same place")
	}
	if got := PlaceOf(c.Output.To); strings.Contains(got, "example") || strings.Contains(got, "literal") {
		t.Errorf("its place is %s", got)
	}
	store := parse(t, "version: 1\nname: x\nsource: {url: https://h/}\npages: {style: single}\n"+
		"output: {to: s3://b/x, s3: {access_key: \"${STORE_KEY}\", secret_key: literal-secret, session_token: literal-token}}\n")
	if got := string(store.Redacted()); !strings.Contains(got, `"s3":{"access_key":"${STORE_KEY}","secret_key":"REDACTED","session_token":"REDACTED"}`) {
		t.Errorf("stored as %s", got)
	}
	if got := store.Secrets.Hide("literal-secret literal-token store-0123456789"); got != "REDACTED REDACTED REDACTED" {
		t.Errorf("not hidden: %s", got)
	}
}

func TestHash(t *testing.T) {
	const base = `version: 1
name: x
source: {url: "https://api.example.com/items", params: {a: 1, b: [x, "y"]}, auth: {bearer: "${API_TOKEN}"}}
pages: {style: page, number: {param: page}, size: {param: n, start: 10}}
items: {path: items, id: [id]}
`
	want := parse(t, base).Hash()
	if len(want) != 64 {
		t.Fatalf("hash %q", want)
	}
	same := map[string]string{
		"comments, order, quotes, defaults": `# a comment
items:
  id: id
  path: "items"
pages:
  size: {start: 10, param: 'n', min: 1}
  number: {param: page, first: 1}
  style: page
source:
  auth:
    bearer: another-token-altogether
  method: GET
  params:
    b:
    - x
    - y
    a: "1"
  url: https://api.example.com/items
name: x
version: 1
complete: {require: declared, passes: 3, max_drift: 1%, max_fall: 50.0}
`,
		"limits, gate and schedule": base + "limits: {rate: 5/s, retries: 0}\noutput: {on: any}\nschedule: '@daily'\n",
	}
	for name, text := range same {
		if got := parse(t, text).Hash(); got != want {
			t.Errorf("%s: another hash", name)
		}
	}
	for name, change := range map[string][2]string{
		"name": {"name: x", "name: y"}, "url": {"/items", "/itemz"}, "param": {"a: 1", "a: 2"}, "more values": {`[x, "y"]`, "[x]"},
		"kind of auth": {"{bearer: ", "{query: {name: t, value: "}, "style": {"style: page", "style: link"}, "size": {"start: 10", "start: 20"},
		"id": {"[id]", "[id, b]"}, "require": {"items:", "complete: {require: assumed}\nitems:"}, "output": {"items:", "output: {to: a.jsonl}\nitems:"},
		"a sentinel": {"items:", "complete: {sentinel: {id: 5}}\nitems:"}, "freshness": {"items:", "complete: {freshness: {path: at, max_age: 2h}}\nitems:"},
		"a mark of change":      {"items:", "complete: {still: {url: https://h/, path: n}}\nitems:"},
		"a non-secret variable": {"a: 1", `a: "${REGION}"`},
	} {
		text := strings.Replace(base, change[0], change[1], 1)
		if name == "kind of auth" {
			text = strings.Replace(text, `${API_TOKEN}"}`, `${API_TOKEN}"}}`, 1)
		}
		if got := parse(t, text).Hash(); got == want {
			t.Errorf("%s: the same hash", name)
		}
	}
}

func TestHashDoesNotHoldSecrets(t *testing.T) {
	one := parse(t, secretDoc)
	two, err := Parse("x.yaml", []byte(strings.NewReplacer("literal-", "another-").Replace(secretDoc)), func(name string) (string, bool) {
		return "value-of-" + name, true
	})
	if err != nil {
		t.Fatal(err)
	}
	if one.Hash() != two.Hash() {
		t.Errorf("the hash depends on secrets:\n%s\n%s", one.source(), two.source())
	}
}

func TestSealedPositionsSurviveReordering(t *testing.T) {
	const next = "https://api.example.com/items?api_key=literal-key&cursor=abc&t=literal-header"
	c := parse(t, secretDoc)
	sealed, ok := c.Secrets.Seal(next)
	if !ok || strings.Contains(sealed, "literal") {
		t.Fatalf("Seal: %q, %v", sealed, ok)
	}
	lines := strings.SplitAfter(secretDoc, "\n")
	lines[4], lines[5], lines[6] = lines[6], lines[4], lines[5] // auth, params, headers
	again := parse(t, strings.Join(lines, ""))
	if again.Hash() != c.Hash() {
		t.Error("the order of keys changes the hash")
	}
	if got, ok := again.Secrets.Unseal(sealed); !ok || got != next {
		t.Errorf("Unseal: %q, %v", got, ok)
	}
}

// What a config calls secret never shows in an error, whatever else is wrong
// with the file: wrong types, unknown keys, broken YAML.
func TestErrorsHoldNoSecrets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		literal := "zQ" + rapid.StringMatching(`[A-Za-z0-9+/=]{8,30}`).Draw(t, "literal")
		env := "zX" + rapid.StringMatching(`[A-Za-z0-9 "'\n:{}#&*!|>%@-]{8,30}`).Draw(t, "env")
		place := rapid.SampledFrom([]string{
			"auth: %s", "auth: {bearer: %s}", "auth: {barer: %s}", "auth: {bearer: [%s]}", "auth: {basic: %s}", "auth: {basic: {user: %s, pasword: %s}}",
			"auth: {%s}", "auth: {%s: true}", "headers: {Authorization: %s}", "headers: {X-Api-Key: [%s]}", "params: {token: {a: %s}}", "params: {api_key: %s, api_key: %s}",
			"auth: bearer: %s", "auth: {bearer: %s", "auth: &a %s", "auth: !!str %s", "auth: {header: {name: A, value: %s, x: %s}}", "body: {password: %s}", "auth: '%s", "auth:\n\tbearer: %s",
		}).Draw(t, "place")
		value := rapid.SampledFrom([]string{literal, `"` + literal + `"`, `"${MY_TOKEN}"`, `"x ${MY_TOKEN} y"`}).Draw(t, "value")
		also := rapid.SampledFrom([]string{"", "method: \"${MY_TOKEN}\"", "cache: \"${MY_TOKEN}\"", "url: \"https://u:" + literal + "@h/?token=" + literal + "\"", "url: \"${MY_TOKEN}\""}).Draw(t, "also")
		text := "version: 1\nname: \"${MY_TOKEN}\"\nsource:\n  " + strings.ReplaceAll(place, "%s", value) + "\n  " + also +
			"\npages: {style: \"${MY_TOKEN}\"}\nschedule: \"${MY_TOKEN}\"\nlimits: {rate: \"${MY_TOKEN}\"}\n"
		_, err := Parse("x.yaml", []byte(text), func(name string) (string, bool) { return env, name == "MY_TOKEN" })
		if err == nil {
			t.Fatalf("taken:\n%s", text)
		}
		for _, v := range []string{literal, env, strings.Trim(fmt.Sprintf("%q", env), `"`)} {
			if strings.Contains(err.Error(), v) {
				t.Fatalf("%q stands in the errors:\n%v\nof\n%s", v, err, text)
			}
		}
	})
}
