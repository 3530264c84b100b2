package configs

import (
	"strings"
	"testing"
	"time"
)

const ranged = `version: 1
name: orders
source: {url: https://api.example.com/orders}
pages: {style: page, number: {param: page}, size: {param: n, start: 10}}
items: {path: rows, id: id}
complete: {sentinel: {id: "7"}, min_items: 100}
slice: {by: at, type: time, from: 2020-01-01, to: now, lag: 5m, params: {q: "at>={from},at<{to}"}, without: {params: {q: none}}}
output: {to: "out/{start}.jsonl"}
`

func TestBackfill(t *testing.T) {
	c, err := Parse("x.yaml", []byte(ranged), nil)
	if err != nil {
		t.Fatal(err)
	}
	before := string(c.Redacted())
	b, err := c.Backfill("2024-01-01", "2024-02-01")
	if err != nil {
		t.Fatal(err)
	}
	if b.Name != "orders/backfill" || b.Hash() == c.Hash() || string(c.Redacted()) != before {
		t.Errorf("%s; the config itself: %s", b.Name, c.Redacted())
	}
	spec := b.Slicing(time.Now())
	if !spec.RangeOnly || spec.ToNow || len(spec.Without) > 0 || b.Complete.Sentinel != nil || b.Complete.MinItems > 0 {
		t.Errorf("%+v", spec)
	}
	if text := string(b.Redacted()); !strings.Contains(text, `"from":"2024-01-01"`) || !strings.Contains(text, `"to":"2024-02-01"`) || strings.Contains(text, "lag") {
		t.Error(text)
	}
	if half, err := c.Backfill("2024-01-01", ""); err != nil || !half.Slicing(time.Now()).ToNow {
		t.Errorf("to the end: %v", err)
	}
	for name, bad := range map[string]struct{ config, from, to, want string }{
		"no time":      {ranged, "soon", "", `from "soon" is no bound of this pull`},
		"empty":        {ranged, "2024-02-01", "2024-01-01", "is empty"},
		"no slice":     {strings.ReplaceAll(ranged, "slice:", "# slice:"), "2024-02-01", "", "has no range to narrow"},
		"values":       {strings.ReplaceAll(ranged, "slice: {", "slice: {values: [a, b], params: {s: \"{value}\"}}\n# {"), "1", "", "has no range to narrow"},
		"one file":     {strings.ReplaceAll(ranged, "{start}", "all"), "2024-02-01", "", "would replace out/all.jsonl by a part of it: put {start} into its name"},
		"table, no id": {strings.NewReplacer("{start}.jsonl", "all.db", ", id: id", "", "sentinel: {id: \"7\"}, ", "").Replace(ranged), "2024-02-01", "", "let its rows be upserted"},
	} {
		c, err := Parse("x.yaml", []byte(bad.config), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := c.Backfill(bad.from, bad.to); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v; want %s", name, err, bad.want)
		}
	}
	c, err = Parse("x.yaml", []byte(strings.ReplaceAll(ranged, "{start}.jsonl", "all.db")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := c.Backfill("2024-01-01", ""); err != nil || b.TableOf(b.Output.To) != "orders" {
		t.Errorf("upserted: %v", err)
	}
}
