package configs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lastdrop/internal/slicing"
)

const sliced = "version: 1\nname: x\nsource: {url: https://api.example.com/}\npages: {style: link}\nitems: {path: data, id: id}\nslice: "

// What a config's slice becomes.
func TestSlicing(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 500, time.UTC)
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	q := map[string][]string{"q": {"{from}-{to}"}}
	for _, tc := range []struct {
		name, slice string
		want        slicing.Spec
	}{
		{"of whole numbers", `{by: id, type: int, from: 1, to: 9, bounds: "[]", params: {q: "{from}-{to}"}, reach: 1000}`, slicing.Spec{
			Keys: []*slicing.Key{{By: "id", Kind: slicing.Int, Closed: true, Step: 1, Params: q}}, Wholes: []slicing.Range{{Lo: 1, Hi: 10}}, Reach: 1000,
		}},
		{"to now", `{by: at, type: time, format: unix, from: 0, to: now, lag: 1h, step: 15m, params: {q: "{from}-{to}"}, reach: auto}`, slicing.Spec{
			Keys:   []*slicing.Key{{By: "at", Kind: slicing.Time, Format: "unix", Step: 900, Params: q}},
			Wholes: []slicing.Range{{Lo: 0, Hi: now.Add(-45 * time.Minute).Unix()}}, ToNow: true,
		}},
		{"only a range of days", `{by: day, type: date, zone: Asia/Tokyo, from: 2026-01-01, to: now, params: {q: "{from}-{to}"}, covers: range}`, slicing.Spec{
			Keys: []*slicing.Key{{By: "day", Kind: slicing.Date, Zone: tokyo, Step: 1, Params: q}}, Wholes: []slicing.Range{{Lo: 20454, Hi: 20514}}, ToNow: true, RangeOnly: true,
		}},
		{"of values, then of whole numbers, and of what has none", `{by: kind, values: [a, 7], params: {kind: "{value}"}, without: {params: {none: 1, also: [x, y]}},
  then: {by: n, type: int, from_params: {min: "{from}"}, to_params: {max: "{to}"}}}`, slicing.Spec{
			Keys: []*slicing.Key{
				{By: "kind", Kind: slicing.Values, Values: []string{"a", "7"}, Step: 1, Params: map[string][]string{"kind": {"{value}"}}},
				{By: "n", Kind: slicing.Int, Step: 1, FromParams: map[string][]string{"min": {"{from}"}}, ToParams: map[string][]string{"max": {"{to}"}}},
			},
			Wholes:  []slicing.Range{{OpenLo: true, OpenHi: true}, {OpenLo: true, OpenHi: true}},
			Without: []slicing.Set{{Param: "also", Values: []any{"x", "y"}}, {Param: "none", Values: []any{"1"}}},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := parse(t, sliced+tc.slice+"\n").Slicing(now)
			for _, k := range tc.want.Keys {
				for _, m := range []*map[string][]string{&k.Params, &k.FromParams, &k.ToParams} {
					if *m == nil {
						*m = map[string][]string{}
					}
				}
				if k.Zone == nil {
					k.Zone = time.UTC
				}
			}
			same := cmp.Comparer(func(a, b *time.Location) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
			if d := cmp.Diff(&tc.want, got, same); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	if s := parse(t, strings.TrimSuffix(sliced, "slice: ")).Slicing(now); s != nil {
		t.Errorf("without slice: %+v", s)
	}
}

// Every key of a slice is part of what a run pulls.
func TestSliceKeysAreHashed(t *testing.T) {
	const base = `{by: at, type: time, from: 2024-01-01, to: 2024-02-01, params: {q: "{from}-{to}"}%s}`
	seen := map[string]string{}
	for _, more := range []string{
		"", `, bounds: "[]"`, ", format: unix", ", zone: Asia/Tokyo", ", step: 15m", ", reach: 500", ", covers: range", ", without: {params: {none: 1}}", `, from_params: {a: "{from}"}`,
		`, to_params: {b: "{to}"}`, `, then: {by: kind, values: [a], params: {k: "{value}"}}`, `, then: {by: kind, values: [a, b], params: {k: "{value}"}}`,
		`, then: {by: kind, values: [a], params: {kind: "{value}"}}`,
	} {
		hash := parse(t, sliced+fmt.Sprintf(base, more)+"\n").Hash()
		if other, twice := seen[hash]; twice {
			t.Errorf("%q and %q have one hash", more, other)
		}
		seen[hash] = more
	}
	for _, change := range [][2]string{{"by: at", "by: on"}, {"2024-01-01", "2024-01-02"}, {"2024-02-01", "now"}, {"2024-02-01", "now, lag: 5m"}, {"q:", "p:"}, {"type: time", "type: date"}} {
		text := strings.Replace(fmt.Sprintf(base, ""), change[0], change[1], 1)
		hash := parse(t, sliced+text+"\n").Hash()
		if other, twice := seen[hash]; twice {
			t.Errorf("%q and %q have one hash", change, other)
		}
		seen[hash] = change[1]
	}
	plain := parse(t, sliced+fmt.Sprintf(base, "")+"\n").Hash()
	if got := parse(t, sliced+fmt.Sprintf(base, `, bounds: "[)"`)+"\n").Hash(); got != plain {
		t.Error("a default that is written out changes the hash")
	}
}
