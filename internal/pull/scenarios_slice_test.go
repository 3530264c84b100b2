package pull_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"lastdrop/internal/sim"
	"lastdrop/judge"
)

const algolias = `
source: {url: "${BASE}/items"}
pages:
  style: algolia
  size: {param: hitsPerPage, start: %d, max: 1000}
limits: {retries: 3}`

// hits is a search of the Algolia kind.
func hits(n int, total sim.TotalRule, faults ...sim.Fault) func() http.Handler {
	return hitsOver(sim.NewWorld(n, sim.IntID), total, faults...)
}

func hitsOver(w sim.World, total sim.TotalRule, faults ...sim.Fault) func() http.Handler {
	return func() http.Handler {
		return sim.New(w, sim.API{
			Style: sim.Algolia, Items: "hits", ID: "objectID", Total: total, Last: sim.LastRule{Path: "nbPages"}, SortField: "created_at_i",
			Params: sim.Params{Size: "hitsPerPage"}, Size: sim.SizeRule{Max: 1000}, Echo: sim.EchoRule{Page: "page"}, Filter: sim.FilterRule{Numeric: "numericFilters"},
		}, 1, faults...)
	}
}

// week is a world of n items, even over a week.
func week(n int) sim.World {
	w := sim.NewWorld(n, sim.IntID)
	for i := range w.Items {
		w.Items[i].Sort = weekStart + int64(i)*weekLong/int64(n)
	}
	return w
}

const weekStart, weekLong = int64(1_700_000_000), int64(604_800)

// byWeek cuts a week by created_at_i.
var byWeek = fmt.Sprintf(`
slice:
  by: created_at_i
  type: int
  from: %d
  to: %d
  params: {numericFilters: "created_at_i>={from},created_at_i<{to}"}`, weekStart, weekStart+weekLong)

// walled is a search by cursor that answers 400 from item 10,000 on, and can be
// asked for a range of modified.
func walled(w sim.World) func() http.Handler {
	return func() http.Handler {
		return sim.New(w, sim.API{
			Style: sim.Cursor, Items: "results", Total: exact("total"), Size: sim.SizeRule{Max: 100}, SortField: "modified",
			Token: sim.TokenRule{Kind: sim.TokenOffset, Path: "paging.next.after"}, Filter: sim.FilterRule{From: "since", To: "until"},
		}, 1, sim.Fault{Effect: sim.Cap{At: 10_000, Past: sim.CapError, Code: 400}})
	}
}

const walls = `
source: {url: "${BASE}/items"}
pages:
  style: cursor
  cursor: {param: cursor, path: paging.next.after}
  size: {param: limit, start: 100, max: 100}
items: {path: results, id: id}
total: {path: total}
limits: {retries: 3}`

var byModified = fmt.Sprintf(`
slice: {by: modified, type: int, from: %d, to: %d, params: {since: "{from}", until: "{to}"}}`, weekStart, weekStart+weekLong)

// streams is a log of two streams whose limit of 1,000 lines cuts each stream on
// its own. 1,400 lines have one time.
func streams() http.Handler {
	const each, crowd = 3000, 700
	return handle(func(_ http.Header, r *http.Request) string {
		var lines []string
		for i, stream := range []string{"A", "B"} {
			if want := r.URL.Query().Get("stream"); want != "" && want != stream {
				continue
			}
			var in []string
			for n := range each {
				at := n
				if n >= 1000 && n < 1000+crowd {
					at = 1000
				}
				if within(r.URL.Query(), at) {
					in = append(in, record(i*each+n+1, fmt.Sprintf(`,"ts":%d,"stream":%q`, at, stream)))
				}
			}
			lines = append(lines, in[:min(len(in), 1000)]...)
		}
		return `{"lines":` + list(lines) + `}`
	})()
}

// within reports whether a request asks for a time.
func within(q url.Values, at int) bool {
	from, err := strconv.Atoi(q.Get("from"))
	if err == nil && at < from {
		return false
	}
	to, err := strconv.Atoi(q.Get("to"))
	return err != nil || at < to
}

const logs = `
source: {url: "${BASE}/items"}
pages: {style: single%s}
items: {path: lines, id: id}
limits: {retries: 3}`

// byTimeThenStream says what that API documents: fewer lines than the limit are
// all there are.
const byTimeThenStream = `
complete: {require: assumed}
slice:
  by: ts
  type: int
  from: 0
  to: 3000
  params: {from: "{from}", to: "{to}"}
  reach: 1000
  covers: range%s`

// ignored serves a search that forgets its filter.
func ignored() http.Handler {
	return hitsOver(week(3000), sim.TotalRule{Kind: sim.TotalExact, Path: "nbHits", KindPath: "exhaustiveNbHits"}, sim.Fault{Effect: sim.LoseFilter{}},
		sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapEmpty, Pages: true}})()
}

// sliced are servers that hand out less than they have, asked as they are and
// then in slices.
func sliced() []scenario {
	exhaustive := func(kind sim.TotalKind, off int) sim.TotalRule {
		return sim.TotalRule{Kind: kind, Path: "nbHits", KindPath: "exhaustiveNbHits", Value: off}
	}
	collapsing := hitsOver(week(5562), exhaustive(sim.TotalJitter, 3), sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapCollapse, Pages: true}})
	clipped := hitsOver(week(7572), exhaustive(sim.TotalExact, 0), sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapEmpty, Pages: true}})
	live := week(5562)
	live.Churn = sim.Churn{Every: 15, Rank: 5562}
	tied := week(10_040)
	for i := range 60 {
		tied.Items[9980+i].Sort = tied.Items[9980].Sort
	}
	crowded := week(3000)
	for i := range 1100 {
		crowded.Items[1000+i].Sort = crowded.Items[1000].Sort
	}
	keyless := week(2000)
	keyless.Keyless = 400
	capped := sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapEmpty, Pages: true}}
	return []scenario{
		{
			id: "B019", about: "5,562 hits, 1,000 of them in reach, and past them a total of 0",
			server: collapsing, config: fmt.Sprintf(algolias, 100), verdict: judge.Truncated, items: 1000,
			detect: []string{"cap_hit", "total_dropped_on_page", "total_gt_items"},
		},
		{
			id: "B019", variant: "in slices", about: "the same, cut by time",
			server: collapsing, config: fmt.Sprintf(algolias, 100) + byWeek + "\ncomplete: {tolerance: {items: 30}, max_drift: 5%}",
			verdict: judge.Complete, items: 5562, detect: []string{"cut"},
		},
		{
			// Totals that come and go are those of two copies of the source, too.
			id: "B019", variant: "in slices, without a tolerance", about: "all are held, and no slice's total stands still to show it",
			server: collapsing, config: fmt.Sprintf(algolias, 100) + byWeek, verdict: judge.Unknown, items: 5562, detect: []string{"cut"},
		},
		{
			id: "B019", variant: "in slices, of a live index", about: "hits come in at the young end while it is read",
			server: hitsOver(live, exhaustive(sim.TotalExact, 0), sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapCollapse, Pages: true}}),
			config: fmt.Sprintf(algolias, 100) + strings.Replace(byWeek, fmt.Sprint("to: ", weekStart+weekLong), "to: now", 1), verdict: judge.Complete, items: open,
			detect: []string{"cut"},
		},
		{
			id: "B020", about: "the count of pages is cut to the reach, the total is true",
			server: clipped, config: fmt.Sprintf(algolias, 1000), verdict: judge.Truncated, items: 1000,
			detect: []string{"pages_times_size_lt_total", "total_gt_items"},
		},
		{
			id: "B020", variant: "in slices", about: "the same, cut by time: the first page tells the reach",
			server: clipped, config: fmt.Sprintf(algolias, 1000) + byWeek, verdict: judge.Complete, items: 7572, requests: 14, detect: []string{"cut"},
		},
		{
			id: "B020", variant: "more than the reach in one second", about: "1,100 hits of one second cannot be cut",
			server: hitsOver(crowded, exhaustive(sim.TotalExact, 0), capped), config: fmt.Sprintf(algolias, 1000) + byWeek, verdict: judge.Truncated, items: 2900,
			detect: []string{"cut", "irreducible"},
		},
		{
			id: "B020", variant: "hits without a time", about: "5 hits lack the key, and are in no slice",
			server: hitsOver(keyless, exhaustive(sim.TotalExact, 0), capped), config: fmt.Sprintf(algolias, 1000) + byWeek, verdict: judge.Truncated, items: open,
			detect: []string{"cut", "outside_of_slices"},
		},
		{
			id: "B020", variant: "an ignored filter", about: "the filter makes no difference",
			server: ignored, config: fmt.Sprintf(algolias, 1000) + byWeek, verdict: judge.Truncated, items: open, requests: 20, detect: []string{"parameter_no_effect"},
		},
		{
			id: "B023", about: "paging past 10,000 of 12,500 is a 400",
			server: walled(week(12_500)), config: walls, verdict: judge.Truncated, items: 10_000,
			detect: []string{"error_at_offset_cap", "total_gt_items"},
		},
		{
			id: "B023", variant: "in slices", about: "the same, cut by time",
			server: walled(week(12_500)), config: walls + byModified, verdict: judge.Complete, items: 12_500, detect: []string{"cut"},
		},
		{
			id: "B119", about: "the same wall inside a block of items that share one time",
			server: walled(tied), config: walls, verdict: judge.Truncated, items: 10_000,
			detect: []string{"error_at_offset_cap", "total_gt_items"},
		},
		{
			id: "B119", variant: "in slices", about: "the same, cut by time: the block stays whole",
			server: walled(tied), config: walls + byModified, verdict: judge.Complete, items: 10_040, detect: []string{"cut", "tie_block_at_slice_boundary"},
		},
		{
			id: "B122", about: "the limit of 1,000 cuts each of two streams on its own",
			server: streams, ids: 6000, config: fmt.Sprintf(logs, ""), verdict: judge.Unknown, items: 2000, detect: []string{"no_end_evidence"},
		},
		{
			id: "B122", variant: "by time", about: "the same, cut by time: 1,400 lines of one time stay",
			server: streams, ids: 6000, config: fmt.Sprintf(logs, ", end: [absent_continuation]") + fmt.Sprintf(byTimeThenStream, ""), verdict: judge.Truncated, items: 6000,
			detect: []string{"cap_hit_per_stream", "irreducible"},
		},
		{
			id: "B122", variant: "by time and stream", about: "the same, cut by time and then by stream",
			server: streams, ids: 6000, config: fmt.Sprintf(logs, ", end: [absent_continuation]") + fmt.Sprintf(byTimeThenStream, `
  then: {by: stream, values: [A, B], params: {stream: "{value}"}}`), verdict: judge.Complete, items: 6000, detect: []string{"cap_hit_per_stream"},
		},
	}
}
