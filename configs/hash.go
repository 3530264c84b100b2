package configs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Hash names what a config pulls and how it judges: the SHA-256, in hex, of
// its normalised form, in which defaults and the preset's keys are filled in
// and every secret is only a mark in its place. Two files that differ in
// comments, order of keys, quoting or the values of secrets have one hash.
// Limits, output.on and the schedule are no part of it: they may change while
// a run is unfinished. A child of for_each is named by its config together
// with its value.
func (c *Config) Hash() string {
	tree := c.tree(func(m *mark) string { return m.hashed }, func(s string) string { return s })
	delete(tree, "limits")
	delete(tree, "schedule")
	if out, ok := tree["output"].(map[string]any); ok {
		delete(out, "on")
		if len(out) == 0 {
			delete(tree, "output")
		}
	}
	sum := sha256.Sum256(mustEncode(tree))
	return hex.EncodeToString(sum[:])
}

// Redacted gives the normalised config as JSON, for the store and for people.
// A secret that came from the environment shows as its ${NAME}, every other
// one as REDACTED.
func (c *Config) Redacted() []byte {
	return mustEncode(c.tree(func(m *mark) string { return c.Secrets.Hide(m.shown) }, func(s string) string { return c.Secrets.Hide(escape(s)) }))
}

// tree gives the normalised config as a JSON tree, with its texts written by
// marked where they hold a secret, else by plain.
func (c *Config) tree(marked func(*mark) string, plain func(string) string) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(mustEncode(c.plainConfig())))
	dec.UseNumber()
	var tree map[string]any
	if err := dec.Decode(&tree); err != nil {
		panic(fmt.Sprintf("configs: a config that does not decode: %v", err))
	}
	delete(tree, "preset") // its keys are filled in
	c.rewrite(tree, root, marked, plain)
	return tree
}

// plainConfig is Config without its methods, and with its credentials as text
// that the marks then replace.
type plainConfig Config

func (c *Config) plainConfig() *plainConfig {
	if c.template != nil {
		c = c.template
	}
	return (*plainConfig)(c)
}

// rewrite replaces the texts of a tree. A mark counts while the text is still
// the one that was read, or a secret.Value.
func (c *Config) rewrite(tree any, p pointer, marked func(*mark) string, plain func(string) string) any {
	switch v := tree.(type) {
	case map[string]any:
		for key, sub := range v {
			v[key] = c.rewrite(sub, p.child(key), marked, plain)
		}
	case []any:
		for i, sub := range v {
			v[i] = c.rewrite(sub, p.item(i), marked, plain)
		}
	case string:
		if m := c.marks[p]; m != nil && (v == m.value || p.inAuth()) {
			return marked(m)
		}
		return plain(v)
	case json.Number:
		if m := c.marks[p]; m != nil && v.String() == m.value {
			return marked(m)
		}
	}
	return tree
}

// mustEncode writes JSON with sorted keys and without HTML escapes. What is
// encoded always can be: trees, and the config itself.
func mustEncode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("configs: a config that does not encode: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
