package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// YAML is a config for the client that the hints describe, with the keys of
// the config file; base is the address of the API, without the path.
func (h ClientHints) YAML(name, base string) string {
	var y yamlText
	y.line(0, "version: 1")
	y.line(0, "name: %s", name)
	h.sourceYAML(&y, base)
	h.pagesYAML(&y)
	h.endYAML(&y)
	y.line(0, "items:")
	y.text(1, "path", h.Items)
	y.text(1, "id", h.ID)
	if h.AbsentIsEmpty {
		y.line(1, "absent_is_empty: true")
	}
	if h.Format != string(JSON) && h.Format != "" {
		y.line(1, "format: %s", h.Format)
	}
	if h.Check.Path != "" {
		y.flow(1, "check", "path", quoted(h.Check.Path), "equals", quoted(h.Check.Equals))
	}
	h.totalYAML(&y)
	h.restYAML(&y)
	return y.String()
}

// yamlText collects lines.
type yamlText struct{ strings.Builder }

func (y *yamlText) line(depth int, format string, args ...any) {
	fmt.Fprintf(y, strings.Repeat("  ", depth)+format+"\n", args...)
}

// text writes a key with a text, where there is one.
func (y *yamlText) text(depth int, key, value string) {
	if value != "" {
		y.line(depth, "%s: %q", key, value)
	}
}

// flow writes a key with a map on one line, from pairs of a key and a value
// that is written as it stands; nothing where all values are empty.
func (y *yamlText) flow(depth int, key string, pairs ...string) {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			parts = append(parts, pairs[i]+": "+pairs[i+1])
		}
	}
	if len(parts) > 0 {
		y.line(depth, "%s: {%s}", key, strings.Join(parts, ", "))
	}
}

// quoted is a YAML string; nothing for none.
func quoted(s string) string {
	if s == "" {
		return ""
	}
	return strconv.Quote(s)
}

// flag is "true"; nothing for false.
func flag(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// table writes a map in the order of its keys.
func (y *yamlText) table(depth int, key string, m map[string]string) {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	var pairs []string
	for _, k := range names {
		pairs = append(pairs, strconv.Quote(k), quoted(m[k]))
	}
	y.flow(depth, key, pairs...)
}

func (h ClientHints) sourceYAML(y *yamlText, base string) {
	y.line(0, "source:")
	y.text(1, "url", base+h.Path)
	if h.Method != "GET" {
		y.line(1, "method: %s", h.Method)
		// JSON is YAML too; placeholders stand in quotes there.
		y.line(1, "body: %s", strings.ReplaceAll(h.Body, ":{size}", `:"{size}"`))
	}
	y.table(1, "params", h.Params)
	y.table(1, "headers", h.Headers)
}

func (h ClientHints) pagesYAML(y *yamlText) {
	y.line(0, "pages:")
	y.line(1, "style: %s", h.Style)
	if h.Size.Param != "" {
		limits := fmt.Sprintf("start: %d, min: %d", h.Size.Start, h.Size.Min)
		if h.Size.Max > 0 {
			limits += fmt.Sprintf(", max: %d", h.Size.Max)
		}
		y.line(1, "size: {param: %q, %s}", h.Size.Param, limits)
	}
	switch Style(h.Style) {
	case Page, Algolia:
		y.line(1, "number: {param: %q, first: %d}", h.Number.Param, h.Number.First)
	case Offset:
		y.line(1, "offset: {param: %q, first: %d}", h.Offset.Param, h.Offset.First)
	case Cursor, GraphQL:
		y.flow(1, "cursor", "param", quoted(h.Cursor.Param), "path", quoted(h.Cursor.Path),
			"header", quoted(h.Cursor.Header), "same_is_end", flag(h.Cursor.SameIsEnd))
	case NextURL:
		y.flow(1, "next", "path", quoted(h.Next.Path), "rebase", flag(h.Next.Rebase))
	case Keyset:
		y.flow(1, "keyset", "param", quoted(h.Keyset.Param), "path", quoted(h.Keyset.Path),
			"inclusive", flag(h.Keyset.Inclusive), "quote", map[bool]string{true: "json"}[h.Keyset.Quote])
	case Link:
		if len(h.Link.EndWhen) > 0 {
			y.line(1, "link:")
			y.table(2, "end_when", h.Link.EndWhen)
		}
	}
	y.flow(1, "pin", "param", quoted(h.Pin.Param), "path", quoted(h.Pin.Path))
	if len(h.Reverse) > 0 {
		y.line(1, "reverse:")
		y.table(2, "params", h.Reverse)
	}
}

func (h ClientHints) endYAML(y *yamlText) {
	if h.More.Path != "" || h.More.Header != "" {
		absent := map[bool]string{true: "false"}[h.More.AbsentIsEnd]
		y.flow(1, "more", "path", quoted(h.More.Path), "header", quoted(h.More.Header),
			"end_when", flag(h.More.EndWhen), "absent", absent)
	}
	y.flow(1, "last", "path", quoted(h.Last.Path), "header", quoted(h.Last.Header))
	if len(h.End) > 0 {
		y.line(1, "end: [%s]", strings.Join(h.End, ", "))
	}
}

func (h ClientHints) totalYAML(y *yamlText) {
	if h.Total.Kind == "" {
		return
	}
	y.line(0, "total:")
	if h.Total.URL != "" {
		y.text(1, "url", h.Total.URL)
		y.text(1, "path", h.Total.URLPath)
		return
	}
	if h.Total.Path != "" {
		y.text(1, "path", h.Total.Path)
	} else {
		y.text(1, "header", h.Total.Header)
		y.text(1, "match", h.Total.Match)
	}
	switch {
	case h.Total.Rest:
		y.line(1, "counts: rest")
	case h.Total.KindPath != "":
		y.line(1, "kind: {path: %q, exact: %s}", h.Total.KindPath, h.Total.KindExact)
	default:
		y.line(1, "kind: %s", h.Total.Kind)
	}
}

// restYAML writes the signs of trouble and the strength.
func (h ClientHints) restYAML(y *yamlText) {
	if len(h.Partial) > 0 {
		y.line(0, "partial:")
		for _, p := range h.Partial {
			if p.Below != "" {
				y.line(1, "- {path: %q, below: %q}", p.Path, p.Below)
				continue
			}
			y.line(1, "- {path: %q, is: %s}", p.Path, p.Is)
		}
	}
	if len(h.Errors) > 0 {
		y.line(0, "errors: [%s]", strings.Join(h.Errors, ", "))
	}
	if h.Require != "" && h.Require != "declared" {
		y.line(0, "complete: {require: %s}", h.Require)
	}
	if h.Slice.By != "" {
		h.sliceYAML(y)
	}
}

// sliceYAML writes how to slice, as a comment: slicing is a choice.
func (h ClientHints) sliceYAML(y *yamlText) {
	var s yamlText
	s.line(0, "slice:")
	s.line(1, "by: %s", h.Slice.By)
	s.line(1, "type: %s", h.Slice.Type)
	s.line(1, "from: %d", h.Slice.From)
	s.line(1, "to: %d", h.Slice.To)
	s.line(1, "bounds: %q", h.Slice.Bounds)
	s.line(1, "format: %s", h.Slice.Format)
	s.table(1, "params", h.Slice.Params)
	for _, line := range strings.Split(strings.TrimSpace(s.String()), "\n") {
		y.line(0, "# %s", line)
	}
}
