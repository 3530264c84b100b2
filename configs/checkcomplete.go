package configs

import (
	"fmt"
	"strings"

	"lastdrop/judge"
)

func (r *reading) checkComplete(c *Config) {
	r.atLeast("complete.tolerance.items", c.Complete.Tolerance.Items, 0)
	r.atLeast("complete.passes", int64(c.Complete.Passes), 1)
	r.atLeast("complete.min_items", c.Complete.MinItems, 0)
	r.checkSecond(c)
	r.checkSentinel(c)
	if f := c.Complete.Fresh; f != nil && r.said("complete.freshness.max_age") && f.MaxAge <= 0 {
		r.bad("complete.freshness.max_age", "must be above 0", "write it as 2h or 3d")
	}
	if s := c.Complete.Still; s != nil && r.said("complete.still.url") {
		r.checkURL("complete.still.url", s.URL, "the request is sent with source.auth")
	}
}

// checkSecond checks that second readings differ from the first one, and that one
// is there where corroboration is required.
func (r *reading) checkSecond(c *Config) {
	size, second := &c.Pages.Size, c.Complete.Second
	if v := c.Pages.Reverse; v != nil && r.said("pages.reverse.params") && len(v.Params) == 0 {
		r.bad("pages.reverse.params", "names no parameter", "e.g. params: {order: desc}")
	}
	if c.Complete.Require == "corroborated" && c.Pages.Reverse == nil && second == nil && r.nodes["/slice"] == nil && !c.Total.counts() {
		r.bad("complete.require", "nothing can corroborate", "add pages.reverse: {params: …}, complete.second: {size: …}, slice, or a total with a path, header or url")
	}
	if second == nil || !r.said("complete.second.size") {
		return
	}
	switch n := second.Size; {
	case size.Start == 0:
		r.bad("complete.second.size", "stands without a page size that could differ from it", "add pages.size: {param: …, start: …}")
	case n < max(1, size.Min):
		r.bad("complete.second.size", fmt.Sprintf("is %d, below pages.size.min %d", n, max(1, size.Min)), "")
	case size.Max > 0 && n > size.Max:
		r.bad("complete.second.size", fmt.Sprintf("is %d, above pages.size.max %d", n, size.Max), "")
	case n == size.Start:
		r.bad("complete.second.size", fmt.Sprintf("is %d, the size of the first reading", n), "name another size: its pages must have their borders elsewhere")
	case size.Max > 0 && n != size.Max && size.Start != size.Max:
		r.bad("complete.second.size", fmt.Sprintf("is %d and pages.size.start %d, and neither is pages.size.max", n, size.Start), fmt.Sprintf("make one of them %d: two small sizes can lose the same items twice", size.Max))
	}
}

// counts reports whether the total can count all items: it is no mere bound or
// estimate.
func (t *Total) counts() bool {
	return (t.Path != "" || t.Header != "" || t.URL != "") && (t.Kind.Word == "" || t.Kind.Word == judge.Exact)
}

// asks reports whether the sentinel is a request.
func (s *Sentinel) asks() bool { return s.URL != "" || len(s.Params) > 0 }

func (r *reading) checkSentinel(c *Config) {
	s, n := c.Complete.Sentinel, r.nodes["/complete/sentinel"]
	if s == nil || n.kind != mapping {
		return
	}
	var ways []string
	for _, way := range []string{"id", "url", "params"} {
		if r.said("complete.sentinel." + way) {
			ways = append(ways, way)
		}
	}
	if len(ways) != 1 {
		msg := "names nothing to look for"
		if len(ways) > 1 {
			msg = "has more than one kind: " + strings.Join(ways, ", ")
		}
		r.fail(n, msg, "one of id: an item that must be held; url or params with a path: a request that must give something")
		return
	}
	switch {
	case ways[0] == "id":
		r.checkSentinelID(c, s.ID.V)
		return
	case ways[0] == "url":
		r.checkURL("complete.sentinel.url", s.URL, "the request is sent with source.auth")
	case !c.isJSON():
		r.bad("complete.sentinel.params", "the source answers with "+c.Items.Format+", and a sentinel's answer must be JSON", "give a url of its own, or an id")
	case len(s.Params) == 0:
		r.bad("complete.sentinel.params", "names no parameter", "")
	}
	r.checkSentinelParams(s)
	if s.Path == "" && !r.said("complete.sentinel.path") {
		r.lacks("complete.sentinel.path", "say where the answer holds the list or the number to look at")
	}
	r.atLeast("complete.sentinel.min", s.Min, 1)
}

func (r *reading) checkSentinelParams(s *Sentinel) {
	for _, values := range s.Params {
		for _, v := range values {
			if hasPlaceholder(v) {
				r.bad("complete.sentinel.params", "placeholders are not replaced here", "write the value out")
			}
		}
	}
}

// checkSentinelID holds the id against what items.id makes of an item.
func (r *reading) checkSentinelID(c *Config, id any) {
	parts, isList := id.([]any)
	if !isList {
		parts = []any{id}
	}
	for _, part := range parts {
		switch part.(type) {
		case nil, map[string]any, []any:
			r.bad("complete.sentinel.id", "must be a number or a text, or a list of them", "")
			return
		}
	}
	for _, key := range []string{"path", "min"} {
		if r.said("complete.sentinel." + key) {
			r.bad("complete.sentinel."+key, "belongs to a request, not to an id", "take it away")
		}
	}
	switch paths := len(c.Items.ID); {
	case paths == 0:
		r.bad("complete.sentinel.id", "items have no id by which it could be found", "add items.id")
	case paths == 1 && isList, paths > 1 && len(parts) != paths:
		r.bad("complete.sentinel.id", fmt.Sprintf("has %s, and items.id has %s", plural(len(parts), "part"), plural(paths, "path")), "write the value of each path, in their order")
	}
}

// plural writes a number of things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
