package configs

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// A decodable reads itself from a node, and notes what is wrong.
type decodable interface {
	decode(r *reading, n *node)
}

// structure reads a mapping into a struct, by its tags. into is a pointer.
func (r *reading) structure(n *node, into any) {
	if n.kind != mapping {
		r.fail(n, "must be a mapping of keys, not "+n.kind.String(), "known here: "+strings.Join(keysOf(reflect.TypeOf(into).Elem()), ", "))
		return
	}
	v := reflect.ValueOf(into).Elem()
	known := fieldsOf(v.Type())
	for _, f := range n.fields {
		k, ok := known.byName[f.key]
		if !ok {
			r.unknown(n, f, known.names)
			continue
		}
		r.value(f.value, v.FieldByIndex(k.Index), k.Tag)
	}
	for _, name := range known.names {
		p := n.at.child(name)
		if cure := known.byName[name].Tag.Get("need"); cure != "" && r.nodes[p] == nil {
			if cure == "@style" {
				p, cure = "/pages/style", styleCure()
			}
			r.missing(p, "missing", cure)
		}
	}
}

// value reads a node into v, which is a field with the tag.
func (r *reading) value(n *node, v reflect.Value, tag reflect.StructTag) {
	if d, ok := v.Addr().Interface().(decodable); ok {
		if n.kind != nothing {
			d.decode(r, n)
			return
		}
	}
	switch {
	case n.kind == nothing:
		if !r.faulty[n.at] {
			r.failKey(n, "has no value", "give it one, or take the key away")
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.value(n, v.Elem(), tag)
	case v.Kind() == reflect.Struct:
		r.structure(n, v.Addr().Interface())
	case v.Kind() == reflect.String:
		v.SetString(r.text(n, tag.Get("enum")))
	case v.Kind() == reflect.Bool:
		v.SetBool(r.truth(n))
	default: // int and int64: a test holds Config to these kinds
		v.SetInt(r.integer(n))
	}
}

// text reads a text, one of the words where there are any.
func (r *reading) text(n *node, words string) string {
	if n.kind != text {
		cure := ""
		if n.kind == number || n.kind == truth {
			cure = "put it into quotes"
		}
		r.fail(n, "must be text, not "+n.kind.String(), cure)
		return ""
	}
	if words != "" {
		return r.word(n, strings.Fields(words))
	}
	return n.text
}

// word reads one of some words.
func (r *reading) word(n *node, words []string) string {
	for _, w := range words {
		if n.kind == text && n.text == w {
			return w
		}
	}
	if n.kind != text {
		r.fail(n, "must be a word, not "+n.kind.String(), "one of "+strings.Join(words, ", "))
		return ""
	}
	words = now(n.at, words)
	cure := "write " + strings.Join(words, ", ")
	if len(words) > 1 {
		cure = "one of " + strings.Join(words, ", ")
	}
	if near, ok := nearest(n.text, words); ok {
		cure = fmt.Sprintf("did you mean %q?", near)
	}
	r.fail(n, r.quote(n.text)+" is not known", cure)
	return ""
}

// truth reads true or false.
func (r *reading) truth(n *node) bool {
	if n.kind == truth || n.kind == text && n.fromEnv {
		if b, err := strconv.ParseBool(n.text); err == nil && len(n.text) > 1 {
			return b
		}
	}
	r.fail(n, "must be true or false, not "+n.kind.String(), "")
	return false
}

// integer reads a whole number; from the environment it comes as text.
func (r *reading) integer(n *node) int64 {
	if n.kind != number && (n.kind != text || !n.fromEnv) {
		switch digits := n.kind == text && isInteger(n.text); {
		case digits && n.plain: // the YAML parser gives up on large ones
			r.fail(n, "is too large", "")
		case digits:
			r.fail(n, "must be a whole number, not text", "take the quotes away")
		default:
			r.fail(n, "must be a whole number, not "+n.kind.String(), "")
		}
		return 0
	}
	if !isInteger(n.text) {
		r.fail(n, "must be a whole number", "write it in plain digits")
		return 0
	}
	i, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil {
		r.fail(n, "is too large", "")
	}
	return i
}

// isInteger reports whether a text is a whole number in plain digits.
func isInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" && (digits == "0" || digits[0] != '0')
}

// scalar reads any single value as its text.
func (r *reading) scalar(n *node) string {
	switch n.kind {
	case text, number, truth:
		return n.text
	}
	r.fail(n, "must be a single value, not "+n.kind.String(), "")
	return ""
}

// each calls one for each item of a list, or for a single value.
func (r *reading) each(n *node, one func(*node)) {
	if n.kind != list {
		n.lifted = true
		one(n)
		return
	}
	for _, item := range n.items {
		one(item)
	}
}

// knownFields are the keys of a struct, embedded ones too.
type knownFields struct {
	names  []string // in the order of the struct
	byName map[string]reflect.StructField
}

// fieldsOf lists the keys of a struct type.
func fieldsOf(t reflect.Type) knownFields {
	k := knownFields{byName: map[string]reflect.StructField{}}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		k.names = append(k.names, name)
		k.byName[name] = f
	}
	return k
}

func keysOf(t reflect.Type) []string { return fieldsOf(t).names }
