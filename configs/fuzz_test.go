package configs

import (
	"bytes"
	"errors"
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
		for _, at := range c.marks {
			for _, v := range at.secrets {
				if len(v) >= 4 && c.Secrets.Has(string(c.Redacted())) {
					t.Fatalf("the stored form holds %q:\n%s", v, c.Redacted())
				}
			}
		}
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
