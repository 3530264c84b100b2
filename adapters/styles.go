package adapters

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// The names of the styles.
const (
	styleSingle  = "single"
	styleLink    = "link"
	stylePage    = "page"
	styleOffset  = "offset"
	styleAlgolia = "algolia"
	styleCursor  = "cursor"
	styleNextURL = "next_url"
	styleKeyset  = "keyset"
	styleGraphQL = "graphql"
)

// The words of a continuation: who said it.
const (
	wordMore    = "more"
	wordCursor  = "cursor"
	wordLink    = "link"
	wordNextURL = "next_url"
	wordEndMark = "end_mark"
)

// A family is how a style is made: what it fills in where the spec leaves it
// empty, which placeholders its requests can fill beside {size}, and the style
// itself. build notes faults in the compiler.
type family struct {
	defaults func(*Spec)
	holds    []string
	build    func(*compiler) Style
}

// styles is the table of all styles.
var styles = map[string]family{
	styleSingle:  {build: newSingle},
	styleLink:    {build: newLink, holds: []string{holdPage}},
	stylePage:    {build: newPage, holds: []string{holdPage, holdOffset}},
	styleOffset:  {build: newOffset, holds: []string{holdOffset}},
	styleAlgolia: {build: newPage, holds: []string{holdPage, holdOffset}, defaults: algoliaDefaults},
	styleCursor:  {build: newCursor, holds: []string{holdCursor}},
	styleNextURL: {build: newNextURL},
	styleKeyset:  {build: newKeyset, holds: []string{holdCursor}},
	styleGraphQL: {build: newGraphQL, holds: []string{holdCursor}, defaults: graphQLDefaults},
}

// StyleNames lists the styles that NewReader knows, in order.
func StyleNames() []string { return slices.Sorted(maps.Keys(styles)) }

// placeholders notes placeholders that the style cannot fill.
func (c *compiler) placeholders(holds []string) {
	for _, h := range placeholders {
		if c.tmpl.uses[h] && h != holdSize && !slices.Contains(holds, h) {
			c.fault("style %s cannot fill %s in params or body", c.spec.Pages.Style, h)
		}
	}
	if c.tmpl.uses[holdSize] && c.spec.Pages.SizeStart <= 0 {
		c.fault("pages.size.start is missing: params or body have {size}")
	}
}

// needs notes that a style has no way to send its position.
func (c *compiler) needs(key, param, hold string) {
	if param == "" && !c.tmpl.uses[hold] {
		c.fault("%s is missing, and no %s stands in params or body", key, hold)
	}
}

// positioned is a setting for a parameter, none where it is not configured.
func positioned(param string, value any) []setting {
	if param == "" {
		return nil
	}
	return []setting{{param, value}}
}

// compact returns JSON without the white space between its tokens.
func compact(raw []byte) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return slices.Clone(raw)
	}
	return b.Bytes()
}
