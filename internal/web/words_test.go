package web

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

func TestWords(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ got, want string }{
		{relative(now.Add(4*time.Second), now), "now"},
		{relative(now.Add(-59*time.Second), now), "59 s ago"},
		{relative(now.Add(time.Minute), now), "in 1 min"},
		{relative(now.Add(-47*time.Hour), now), "47 h ago"},
		{relative(now.Add(50*time.Hour), now), "in 2 days"},
		{share(999_999, 1_000_000), "99.99 %"},
		{share(1, 3), "33.33 %"},
		{share(5, 5), "100 %"},
		{share(5, 0), ""},
		{thousands(-1234567), "-1,234,567"},
		{plural(1, "item"), "1 item"},
		{plural(1000, "item"), "1,000 items"},
		{sizeText(1), "1 byte"},
		{sizeText(20 << 20), "20.0 MiB"},
		{scheduleText("30 6 * * *"), "every day at 06:30"},
		{scheduleText("5 7 * * 1-5"), "on weekdays at 07:05"},
		{scheduleText("0 0 * * 0"), "on Sundays at 00:00"},
		{scheduleText("*/15 * * * *"), "every 15 minutes"},
		{scheduleText("* * * * *"), "every minute"},
		{scheduleText("7 * * * *"), "every hour at minute 7"},
		{scheduleText("0 */6 * * *"), "every 6 hours at minute 0"},
		{scheduleText("*/15 * * * 1"), ""},
		{scheduleText("0 6 1 * *"), ""},
		{scheduleText("0 6,18 * * *"), ""},
		{scheduleText("@daily"), ""},
		{string(plain([]byte("a\u202Eb\x1b\u200Bc\nd\te"))), "a\uFFFDb\uFFFD\uFFFDc\nd\te"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// A cell shows the worst of its outcomes, and how much of it is so.
func TestCells(t *testing.T) {
	by := func(pairs ...int64) (tally store.Tally) {
		for i := 0; i < len(pairs); i += 2 {
			tally[pairs[i]] = pairs[i+1]
		}
		return tally
	}
	held, half, limited := int64(reconcile.Held), int64(reconcile.Half), int64(reconcile.Limited)
	for _, c := range []struct {
		by           store.Tally
		class, title string
	}{
		{by(held, 500), "h", "1 to 500: 500 held"},
		{by(held, 499, half, 1), "b s1", "1 to 500: 1 half, 499 held"},
		{by(held, 300, limited, 200), "l s2", "1 to 500: 200 limited, 300 held"},
		{by(held, 1, limited, 1, half, 498), "b s3", "1 to 500: 498 half, 1 limited, 1 held"},
		{by(half, 500), "b", "1 to 500: 500 half"},
	} {
		if got := cellOf(store.Cell{From: 1, To: 500, By: c.by}, nil); got.Class != c.class || got.Title != c.title {
			t.Errorf("%v: %+v", c.by, got)
		}
	}
	for o := range reconcile.Unused + 1 {
		if m := markOfOutcome(o); m.Word != o.String() || m.Letter == "" || !slices.Contains(worst, o) {
			t.Errorf("%s: %+v", o, m)
		}
	}
}

// Totals and items come in one order; the band only widens.
func TestChartRows(t *testing.T) {
	at := func(seq int64) time.Time { return time.Unix(seq, 0) }
	total := func(seq, value, low, high, held int64, live bool) store.TotalStep {
		step := store.TotalStep{TotalSeen: reconcile.TotalSeen{Seq: seq, At: at(seq), Value: value, Live: live, Distinct: held}}
		if low > 0 {
			step.Min, step.Max = judge.N(low), judge.N(high)
		}
		return step
	}
	totals := []store.TotalStep{total(2, 10, 9, 10, 0, true), total(5, 0, 0, 0, 5, false), total(6, 12, 11, 12, 7, true)}
	text := func(rows []chartRow) (list []string) {
		n := func(p *int64) any {
			if p == nil {
				return "-"
			}
			return *p
		}
		for _, r := range rows {
			list = append(list, fmt.Sprint(r.Seq, " held ", r.Held, " total ", n(r.Total), " band ", n(r.Min), n(r.Max), " doubted ", n(r.Doubted)))
		}
		return list
	}
	for what, c := range map[string]struct{ got, want []string }{
		"totals": {text(chartRows(totals, nil)), []string{"2 held 0 total 10 band 9 10 doubted -", "5 held 5 total - band 9 10 doubted 0", "6 held 7 total 12 band 9 12 doubted -"}},
		"items": {text(chartRows(nil, []store.GrowthStep{{Seq: 1, At: at(1), Items: 3}, {Seq: 4, At: at(4), Items: 8}})),
			[]string{"1 held 3 total - band -- doubted -", "4 held 8 total - band -- doubted -"}},
		"both": {text(chartRows(totals[:2], []store.GrowthStep{{Seq: 1, At: at(1), Items: 3}, {Seq: 4, At: at(4), Items: 8}})),
			[]string{"1 held 3 total - band -- doubted -", "2 held 3 total 10 band 9 10 doubted -", "4 held 8 total - band 9 10 doubted -", "5 held 8 total - band 9 10 doubted 0"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q\nwant %q", what, c.got, c.want)
		}
	}
}

// The parts of a slice fill its width, and every slice is drawn or counted.
func TestIcicle(t *testing.T) {
	all := []reconcile.Slice{{Slice: 0, State: "split", Items: 10}}
	for n := 1; n <= 3000; n++ {
		s := reconcile.Slice{Slice: n, Parent: judge.N(0), State: "held", Items: int64(n % 7)}
		if n > 10 {
			s.Parent = judge.N(int64(n%10 + 1))
		}
		all = append(all, s)
	}
	tree := newTree(all)
	ic := &icicle{}
	ic.draw(tree, tree.by[0], 0, 100, 0)
	if len(ic.Boxes)+ic.Narrow != len(all) || len(ic.Boxes) > 1000 {
		t.Errorf("%d drawn and %d not, of %d", len(ic.Boxes), ic.Narrow, len(all))
	}
	sum := 0.0
	for n := 1; n <= 10; n++ {
		sum += tree.weight[n]
	}
	if d := sum - tree.weight[0]; d > 1e-6 || d < -1e-6 {
		t.Errorf("the parts weigh %f, the whole %f", sum, tree.weight[0])
	}
	ic.list(tree, tree.by[1])
	if len(ic.Rows) != 100 || ic.Below != 300 {
		t.Errorf("%d rows of %d", len(ic.Rows), ic.Below)
	}
}
