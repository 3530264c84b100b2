package configs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxFile bounds a config's length: a file beyond it is no config.
const maxFile = 256 << 10

// kind is what a node is.
type kind uint8

const (
	nothing kind = iota
	truth
	number
	text
	list
	mapping
)

// String names the kind in messages.
func (k kind) String() string {
	return [...]string{"nothing", "a yes or no (true, false)", "a number", "text", "a list", "a mapping"}[k]
}

// A node is one value of a config file, with its place.
type node struct {
	kind kind
	at   pointer
	// text is a scalar as it is written, without quotes, and with variables
	// replaced; plain tells that it stood without quotes, fromEnv that a part of
	// it came from the environment.
	text           string
	plain, fromEnv bool
	number         any // of a number: int64, uint64 or float64

	line, column       int
	keyLine, keyColumn int // of the key before it; the value's own where there is none

	fields []field
	items  []*node

	mark   *mark // set where the scalar holds a secret
	lifted bool  // stands alone where a list may stand
}

// A field is one key of a mapping and its value.
type field struct {
	key   string
	value *node
}

// tree reads YAML into nodes. It returns nil where there is nothing to go on
// with; what is wrong is noted.
func (r *reading) tree(data []byte) *node {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch {
	case len(data) > maxFile:
		r.note(root, 0, 0, fmt.Sprintf("the file has %d bytes, and a config at most %d", len(data), maxFile), "")
		return nil
	case !utf8.Valid(data):
		line, column := placeOf(data, invalidAt(data))
		r.note(root, line, column, "not UTF-8", "save the file as UTF-8")
		return nil
	}
	body := r.document(data)
	if body == nil {
		return nil
	}
	n := r.node(body, root)
	if n != nil && n.kind != mapping {
		r.note(root, n.line, n.column, "must be a mapping of keys, not "+n.kind.String(), "")
		return nil
	}
	return n
}

// document parses the one document of a file. Errors of the parser quote the
// source, which may hold secrets: only their place and their reason are used.
func (r *reading) document(data []byte) ast.Node {
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			p := doc.Body.GetToken().Position
			r.note(root, p.Line, p.Column, "a second document begins here", "one pull a file: split it")
			return nil
		default:
			body = doc.Body
		}
	}
	if body == nil {
		r.note(root, 1, 1, "the file is empty", "lastdrop validate --schema prints the keys of a config")
	}
	return body
}

// syntax notes what the parser says, without the source that it quotes.
func (r *reading) syntax(err error) {
	e, ok := errors.AsType[yaml.Error](err)
	if !ok {
		r.note(root, 0, 0, "YAML: not readable", "")
		return
	}
	line, column := 0, 0
	if tk := e.GetToken(); tk != nil && tk.Position != nil {
		line, column = tk.Position.Line, tk.Position.Column
	}
	msg, _, _ := strings.Cut(e.GetMessage(), `"`)
	msg = strings.ReplaceAll(strings.TrimSpace(msg), "\t", `\t`)
	cure := ""
	switch {
	case strings.Contains(msg, `\t`):
		cure = "indent with spaces"
	case strings.Contains(msg, "end character"):
		cure = "close the quotes"
	case strings.Contains(msg, "must be specified"), strings.Contains(msg, "not allowed"), strings.Contains(msg, "reserved"):
		cure = `check the indentation, and put a value with special characters into quotes, e.g. "${NAME}"`
	}
	r.note(root, line, column, "YAML: "+msg, cure)
}

// invalidAt is the index of the first byte that is not UTF-8.
func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// placeOf gives the line and column of a byte, from 1.
func placeOf(data []byte, i int) (line, column int) {
	before := data[:i]
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

// node turns one value into a node and remembers it by its place.
func (r *reading) node(a ast.Node, at pointer) *node {
	n := &node{at: at}
	if tk := a.GetToken(); tk != nil && tk.Position != nil {
		n.line, n.column = tk.Position.Line, tk.Position.Column
	}
	r.nodes[at] = n
	switch v := a.(type) {
	case *ast.MappingNode:
		r.mapping(n, v.Values)
	case *ast.MappingValueNode:
		r.mapping(n, []*ast.MappingValueNode{v})
	case *ast.SequenceNode:
		n.kind = list
		for i, item := range v.Values {
			n.items = append(n.items, r.node(item, at.item(i)))
		}
	default:
		r.leaf(n, a)
	}
	n.keyLine, n.keyColumn = n.line, n.column
	return n
}

// mapping fills a node with the keys of a mapping.
func (r *reading) mapping(n *node, values []*ast.MappingValueNode) {
	n.kind = mapping
	first := map[string]int{}
	for i, v := range values {
		tk := v.Key.GetToken()
		line, column := tk.Position.Line, tk.Position.Column
		if i == 0 && tk.Position.Line >= n.line {
			n.line, n.column = line, column
		}
		key, ok := keyText(v.Key)
		if !ok {
			r.note(n.at, line, column, "a key must be plain text", "anchors, aliases, merges and complex keys are not read: write it out")
			continue
		}
		if at, twice := first[key]; twice {
			r.note(n.at.child(key), line, column, fmt.Sprintf("set twice; the first is in line %d", at), "keep one")
			continue
		}
		first[key] = line
		if strings.Contains(key, "${") {
			r.note(n.at, line, column, "a key is never read from the environment", "write it out")
			continue
		}
		value := r.node(v.Value, n.at.child(key))
		value.keyLine, value.keyColumn = line, column
		n.fields = append(n.fields, field{key, value})
	}
}

// keyText returns a key as it is written.
func keyText(k ast.MapKeyNode) (string, bool) {
	switch v := k.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return v.GetToken().Value, true
	default:
		return "", false
	}
}

// leaf fills a node with a single value.
func (r *reading) leaf(n *node, a ast.Node) {
	tk := a.GetToken()
	switch v := a.(type) {
	case *ast.StringNode:
		n.kind, n.plain = text, tk.Type == token.StringType
		r.expand(n, v.Value)
	case *ast.LiteralNode:
		n.kind = text
		r.expand(n, v.Value.Value)
	case *ast.IntegerNode:
		n.kind, n.text, n.plain, n.number = number, tk.Value, true, v.Value
	case *ast.FloatNode:
		n.kind, n.text, n.plain, n.number = number, tk.Value, true, v.Value
	case *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text, n.plain, n.number = number, tk.Value, true, math.NaN()
	case *ast.BoolNode:
		n.kind, n.text, n.plain = truth, strings.ToLower(tk.Value), true
	case *ast.NullNode:
		n.kind = nothing
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		r.fail(n, "anchors and aliases are not read", "write the value out")
	case *ast.TagNode:
		r.fail(n, "tags are not read", "quote what must be text")
	default:
		r.fail(n, "not a value", "")
	}
	r.conceal(n)
}
