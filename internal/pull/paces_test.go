package pull

import (
	"fmt"
	"testing"

	"lastdrop/configs"
)

// TestPaces: configs of one origin and credential share a budget, and no others do.
func TestPaces(t *testing.T) {
	env := func(name string) (string, bool) { return "the value of " + name, true }
	config := func(address, key string) *configs.Config {
		c, err := configs.Parse("a.yaml", fmt.Appendf(nil, "version: 1\nname: a\nsource: {url: %q, auth: {bearer: %q}}\npages: {style: single}\nitems: {path: items}\noutput: {to: a.jsonl}\n", address, key), env)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	var p Paces
	first := p.For(config("https://api.test/a", "${KEY_A}"))
	for _, c := range []struct {
		address, key string
		same         bool
	}{
		{"https://api.test/b?x=1", "${KEY_A}", true},
		{"https://API.test/", "${KEY_A}", true},
		{"https://api.test/a", "${KEY_B}", false},
		{"http://api.test/a", "${KEY_A}", false},
		{"https://other.test/a", "${KEY_A}", false},
	} {
		if got := p.For(config(c.address, c.key)); (got == first) != c.same {
			t.Errorf("%s with %s: shared %v, want %v", c.address, c.key, got == first, c.same)
		}
	}
}
