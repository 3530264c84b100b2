package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// fill returns a copy of a body tree in which every string is replaced by what
// put makes of it. path is the dotted path of the tree itself.
func fill(tree any, path string, put func(path, text string) any) any {
	switch v := tree.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, sub := range v {
			out[k] = fill(sub, joinPath(path, k), put)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, sub := range v {
			out[i] = fill(sub, joinPath(path, strconv.Itoa(i)), put)
		}
		return out
	case string:
		return put(path, v)
	default:
		return tree
	}
}

// EachText returns a copy of a body tree in which every string is replaced by
// what put makes of it.
func EachText(tree any, put func(text string) any) any {
	return fill(tree, "", func(_, text string) any { return put(text) })
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// assign puts a value at a dotted path into a body tree and returns the tree.
// Objects that are missing on the way are made; a backslash before a dot makes
// it part of a key; a number indexes a list that is there. It is an error
// where something else than an object or a list stands in the way.
func assign(tree any, path string, value any) (any, error) {
	if path == "" {
		return value, nil
	}
	key, rest := splitPath(path)
	switch v := tree.(type) {
	case nil:
		return assign(map[string]any{}, path, value)
	case map[string]any:
		sub, err := assign(v[key], rest, value)
		if err != nil {
			return nil, err
		}
		v[key] = sub
		return v, nil
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(v) {
			return nil, fmt.Errorf("%q is no index of a list of %d", key, len(v))
		}
		v[i], err = assign(v[i], rest, value)
		return v, err
	default:
		return nil, fmt.Errorf("%q leads into a %T, not into an object", path, tree)
	}
}

// splitPath cuts the first key off a dotted path.
func splitPath(path string) (key, rest string) {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '\\' && i+1 < len(path):
			i++
			b.WriteByte(path[i])
		case path[i] == '.':
			return b.String(), path[i+1:]
		default:
			b.WriteByte(path[i])
		}
	}
	return b.String(), ""
}

// encodeBody writes a tree as JSON: keys sorted, no HTML escapes, numbers as
// they are.
func encodeBody(tree any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(tree); err != nil {
		return nil, fmt.Errorf("source.body: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
