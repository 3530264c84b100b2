package configs

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"examples/*.yaml", "testdata/good/*.yaml", "testdata/bad/*.yaml"} {
		for _, file := range glob(f, pattern) {
			f.Add(readFile(f, file))
		}
	}
	f.Add([]byte(secretDoc))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4<<10 {
			return
		}
		c, err := Parse("x.yaml", data, testEnv)
		if err != nil {
			checkErrors(t, data, err)
			return
		}
		again, err := Parse("again.yaml", c.source(), testEnv)
		if err != nil {
			t.Fatalf("the normalised form is refused: %v\n%s", err, c.source())
		}
		if c.Hash() != again.Hash() {
			t.Fatalf("the normalised form hashes otherwise:\n%s\n%s", c.source(), again.source())
		}
		var stored any
		if err := json.Unmarshal(c.Redacted(), &stored); err != nil {
			t.Fatalf("stored as %s: %v", c.Redacted(), err)
		}
		eachText(stored, func(text string) {
			if c.Secrets.Has(text) && !strings.Contains(text, "${") { // the name of a variable may spell one
				t.Fatalf("the stored form holds a secret in %q:\n%s", text, c.Redacted())
			}
		})
	})
}

// checkErrors holds each error to its contract.
func checkErrors(t *testing.T, data []byte, err error) {
	t.Helper()
	list, ok := errors.AsType[Errors](err)
	if !ok || len(list) == 0 {
		t.Fatalf("an error of type %T, %d long", err, len(list))
	}
	lines := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")) + 2
	for _, e := range list {
		if e.Msg == "" || e.Line < 0 || e.Line > lines || (e.Line > 0) != (e.Column > 0) || bytes.ContainsAny([]byte(e.Error()), "\n\r") {
			t.Fatalf("%#v: %v", e, e)
		}
	}
}

// eachText calls visit for each text of a JSON tree.
func eachText(tree any, visit func(string)) {
	switch v := tree.(type) {
	case map[string]any:
		for _, sub := range v {
			eachText(sub, visit)
		}
	case []any:
		for _, sub := range v {
			eachText(sub, visit)
		}
	case string:
		visit(v)
	}
}
