package adapters

import (
	"errors"
	"fmt"
	"strings"

	"lastdrop/internal/jsonscan"
)

// A field is a value of the envelope that a Reader or its style wants of every
// answer: an index into Answer.values. The zero field is none, so a forgotten
// one reads as absent.
type field int

// A compiler collects, while a Reader is made, what is wanted of an answer.
// Faults are kept, not returned, so that the building code reads as a list.
type compiler struct {
	spec  *Spec
	tmpl  *template
	names []string        // of XML: the elements that lead to an item
	paths []jsonscan.Path // of field k+1
	known map[string]field
	err   error
}

func newCompiler(s *Spec) *compiler { return &compiler{spec: s, known: map[string]field{}} }

// fault notes that something is wrong with the spec.
func (c *compiler) fault(format string, args ...any) {
	c.err = errors.Join(c.err, fmt.Errorf(format, args...))
}

// path compiles a path of its own that is read elsewhere than in an envelope.
// An empty src gives the zero Path, which leads nowhere.
func (c *compiler) path(key, src string) jsonscan.Path {
	if src == "" {
		return jsonscan.Path{}
	}
	p, err := jsonscan.Compile(src)
	if err != nil {
		c.fault("%s: %w", key, err)
	}
	return p
}

// field registers a path that the config names; key is its name there, for
// messages. An empty src is none.
func (c *compiler) field(key, src string) field {
	if src == "" {
		return 0
	}
	if !c.spec.enveloped() {
		c.fault("%s: a body of %s has no envelope to read %q from", key, c.spec.Items.Format, src)
		return 0
	}
	if f, ok := c.known[src]; ok {
		return f
	}
	p := c.path(key, src)
	c.paths = append(c.paths, p)
	f := field(len(c.paths))
	c.known[src] = f
	return f
}

// builtin is field for a path that is looked at in every answer, whatever the
// config: of a body without an envelope it is none.
func (c *compiler) builtin(src string) field {
	if src == "" || !c.spec.enveloped() {
		return 0
	}
	return c.field(src, c.top(src))
}

// top is the path of a name at the top of the envelope: of XML that is inside
// the root element.
func (c *compiler) top(src string) string {
	if len(c.names) == 0 {
		return src
	}
	return gjsonKey(c.names[0]) + "." + src
}

// gjsonKey writes a key as one component of a path.
func gjsonKey(name string) string { return strings.ReplaceAll(name, ".", `\.`) }
