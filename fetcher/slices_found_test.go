package fetcher_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"lastdrop/internal/slicing"
	"lastdrop/judge"
)

// A rack is a search over items with a number and a set, of which one query hands
// out reach at most, by pages of 10. Its fields make it go wrong.
type rack struct {
	ts    []int
	sets  string
	reach int
	total func(n int) int // what it declares of n; nil: nothing
	least int             // a from above 0 and below it is taken for it
	name  string          // of the key in an item
	move  func(asked int, ts []int)
	asked int
}

func (k *rack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	num := func(name string, missing int) int {
		n, err := strconv.Atoi(r.URL.Query().Get(name))
		if err != nil {
			return missing
		}
		return n
	}
	if k.asked++; k.move != nil {
		k.move(k.asked, k.ts)
	}
	var hits []string
	for i, t := range k.ts {
		from := num("from", -1)
		if from >= 0 {
			from = max(from, k.least)
		}
		set := string(k.sets[i%len(k.sets)])
		if want := r.URL.Query().Get("set"); t < from || t >= num("to", t+1) || want != "" && want != set {
			continue
		}
		hits = append(hits, fmt.Sprintf(`{"id":%d,%q:%d,"set":%q}`, i, k.name, t, set))
	}
	body := ""
	if k.total != nil {
		body = fmt.Sprintf(`"total":%d,`, k.total(len(hits)))
	}
	at := min(10*num("page", 0), len(hits), k.reach)
	end := min(at+10, len(hits), k.reach)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{%s"more":%v,"items":[%s]}`, body, end < min(len(hits), k.reach), strings.Join(hits[at:end], ","))
}

// TestWhatSlicesOnceBelieved holds what people who tried to make slices wrong
// found: none of these may be COMPLETE.
func TestWhatSlicesOnceBelieved(t *testing.T) {
	count := func(n int) int { return n }
	key := func() *slicing.Key {
		return &slicing.Key{By: "ts", Kind: slicing.Int, Params: map[string][]string{"from": {"{from}"}, "to": {"{to}"}},
			FromParams: map[string][]string{"from": {"{from}"}}, ToParams: map[string][]string{"to": {"{to}"}}}
	}
	sets := &slicing.Key{By: "set", Kind: slicing.Values, Values: []string{"A", "B"}, Params: map[string][]string{"set": {"{value}"}}}
	bounded := slicing.Range{Lo: 0, Hi: 1000}
	open := slicing.Range{OpenLo: true, OpenHi: true}
	for name, c := range map[string]struct {
		rack  rack
		spec  slicing.Spec
		whole int64 // distinct items that a COMPLETE run must hold
	}{
		"a row that moves from a slice to be read into one that was": {
			rack{total: count, move: func(asked int, ts []int) {
				if asked == 12 {
					ts[190] = 2
				}
			}}, slicing.Spec{Keys: []*slicing.Key{key()}, Wholes: []slicing.Range{bounded}}, 200},
		"a reach that cannot be cut: no item shows the key": {
			rack{name: "when"}, slicing.Spec{Keys: []*slicing.Key{key()}, Wholes: []slicing.Range{open}, Reach: 30}, 200},
		"a lower bound that is clamped": {
			rack{total: count, least: 99}, slicing.Spec{Keys: []*slicing.Key{key()}, Wholes: []slicing.Range{bounded}, RangeOnly: true}, 200},
		"a second key with a value that is not listed": {
			rack{sets: "ABC", move: func(_ int, ts []int) {
				for i := 80; i < 130; i++ {
					ts[i] = 80
				}
			}}, slicing.Spec{Keys: []*slicing.Key{key(), sets}, Wholes: []slicing.Range{bounded, {}}, Reach: 30, RangeOnly: true}, 200},
		"totals that are cut to the reach": {
			rack{total: func(n int) int { return min(n, 30) }}, slicing.Spec{Keys: []*slicing.Key{key()}, Wholes: []slicing.Range{bounded}, Reach: 30}, 200},
		"totals that are one too small": {
			rack{total: func(n int) int { return max(0, n-1) }}, slicing.Spec{Keys: []*slicing.Key{key()}, Wholes: []slicing.Range{bounded}}, 200},
	} {
		k := c.rack
		k.reach, k.name = 30, firstOf(k.name, "ts")
		k.sets = firstOf(k.sets, "A")
		for i := range 200 {
			k.ts = append(k.ts, i)
		}
		r, f := drainRack(t, &k, c.spec)
		if r.Verdict == judge.Complete && f.Distinct < c.whole {
			t.Errorf("%s: COMPLETE (%s) with %d of %d\n%v", name, r.Strength, f.Distinct, c.whole, r.Evidence)
		}
		t.Logf("%s: %s, %d held; %v", name, r.Verdict, f.Distinct, r.Evidence[0])
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
