package pull_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A shelf has the items 1 to n by page numbers, hands out the first ones of
// the order that is asked for, and says neither a total nor an end unless told.
type shelf struct {
	n, cap int
	said   bool // a has-more flag
	deaf   bool // the order is not read
	strict bool // another order than asc is refused
	local  bool // each page is turned round by itself
}

func (l shelf) answer(w http.ResponseWriter, r *http.Request) {
	items := records(1, l.n)
	turned := r.URL.Query().Get("order") == "desc"
	if l.strict && turned {
		http.Error(w, `{"message":"order must be asc"}`, http.StatusBadRequest)
		return
	}
	if turned && !l.deaf && !l.local {
		slices.Reverse(items)
	}
	if l.cap > 0 {
		items = items[:l.cap]
	}
	size := number(r, "size")
	from := min(len(items), (number(r, "page")-1)*size)
	page := slices.Clone(items[from:min(len(items), from+size)])
	if turned && l.local {
		slices.Reverse(page)
	}
	more := ""
	if l.said {
		more = fmt.Sprintf(`,"has_more":%v`, from+size < len(items))
	}
	fmt.Fprintf(w, `{"items":%s%s}`, list(page), more)
}

func (l shelf) serve() http.Handler { return http.HandlerFunc(l.answer) }

const (
	listed250 = `
source: {url: "${BASE}/items"}
items: {path: items, id: id}
limits: {retries: 2, max_requests: 100}
`
	byReverse = listed250 + `
pages: {style: page, number: {param: page}, size: {param: size, start: 40}, reverse: {params: {order: desc}}}
`
	bySize = listed250 + `
pages: {style: page, number: {param: page}, size: {param: size, start: 40}, more: {path: has_more}}
complete: {require: corroborated, second: {size: 30}}
`
)

// secondRows are sources that are read a second time.
func secondRows() []scenario {
	row := func(name string, l shelf, config string, v judge.Verdict, items int, detect string) scenario {
		return scenario{id: "second", variant: name, server: l.serve, ids: l.n, config: config, verdict: v, items: items, requests: 40, detect: []string{detect}}
	}
	const u, tr, c = judge.Unknown, judge.Truncated, judge.Complete
	sorted := strings.Replace(byReverse, "reverse:", "sort: {param: order, value: asc}, reverse:", 1)
	return []scenario{
		row("from both ends", shelf{n: 250}, byReverse, c, 250, "walks_agree"),
		row("in the place of a sort", shelf{n: 250}, sorted, c, 250, "walks_agree"),
		row("one page", shelf{n: 25}, byReverse, c, 25, "walks_agree"),
		row("a said end is stronger then", shelf{n: 250, said: true}, byReverse+"complete: {require: corroborated}", c, 250, "walks_agree"),
		row("one item", shelf{n: 1}, byReverse, u, 1, "no_second_walk"),
		row("capped below the half", shelf{n: 250, cap: 101}, byReverse, tr, 202, "walks_disagree"),
		row("capped above the half", shelf{n: 250, cap: 200}, byReverse, u, 250, "walks_disagree"),
		row("capped, and an end is said there", shelf{n: 250, cap: 101, said: true}, byReverse+"complete: {require: corroborated}", tr, 202, "walks_disagree"),
		row("the order is ignored", shelf{n: 250, deaf: true}, byReverse, u, 250, "no_second_walk"),
		row("the order is ignored under a cap", shelf{n: 250, cap: 100, deaf: true}, byReverse, u, 100, "no_second_walk"),
		row("the order is refused", shelf{n: 250, strict: true}, byReverse, u, 250, "no_second_walk"),
		row("only pages are turned round, under a cap", shelf{n: 250, cap: 120, local: true}, byReverse, u, 120, "no_second_walk"),
		row("another size and a said end", shelf{n: 257, said: true}, bySize, c, 257, "walks_agree"),
		row("another size, an end on a border", shelf{n: 250, cap: 240, said: true}, bySize, u, 240, "no_second_walk"),
		row("another size, an end where servers cap", shelf{n: 257, cap: 250, said: true}, bySize, u, 250, "no_second_walk"),
		row("another size and no end word", shelf{n: 257}, bySize, u, 257, "no_second_walk"),
		row("another size, an assumed end", shelf{n: 257, cap: 237}, strings.Replace(bySize, "more: {path: has_more}", "end: [short_page]", 1), u, 237, "no_second_walk"),
		{
			id: "second", variant: "not needed", server: shelf{n: 250, said: true}.serve, ids: 250, config: strings.Replace(byReverse, "reverse:", "more: {path: has_more}, reverse:", 1),
			verdict: c, items: 250, requests: 7, never: []string{"walks_agree"},
		},
		{
			id: "second", variant: "no budget left", server: shelf{n: 250}.serve, ids: 250, config: strings.Replace(byReverse, "max_requests: 100", "max_requests: 10", 1),
			verdict: u, items: 250, requests: 10, never: []string{"walks_agree"},
		},
	}
}

func TestSecondReadings(t *testing.T) { runAll(t, secondRows()) }

// A second reading that stopped on the way begins anew, and the report counts
// all walks.
func TestASecondReadingIsTakenUp(t *testing.T) {
	server := httptest.NewServer(shelf{n: 250}.serve())
	defer server.Close()
	dir := t.TempDir()
	rep := drainInto(t, dir, server.URL, byReverse, 10)
	if rep.Verdict != judge.Unknown || rep.State != "stopped" || rep.Resume == nil || rep.Items.Distinct != 250 {
		t.Errorf("stopped: %s, %s, %d items, resume %v, %v", rep.Verdict, rep.State, rep.Items.Distinct, rep.Resume, rep.Evidence)
	}
	rep = drainInto(t, dir, server.URL, byReverse, 0)
	if rep.Verdict != judge.Complete || rep.Strength != reconcile.Corroborated || rep.Items.Distinct != 250 || rep.Items.Written != 250 {
		t.Errorf("taken up: %s (%s), %+v, %v", rep.Verdict, rep.Strength, rep.Items, rep.Evidence)
	}
	if want := "reading 1 and reading 2 (in reverse) hold the same 250 items"; !strings.Contains(finding(rep, "RC045"), want) {
		t.Errorf("RC045 says %q, want %q in it", finding(rep, "RC045"), want)
	}
}

// A run that a long wait stopped goes on from there, and does not end with what
// it held.
func TestAStoppedRunGoesOn(t *testing.T) {
	busy := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if busy && number(r, "page") == 3 {
			w.Header().Set("Retry-After", "90000")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		shelf{n: 250, said: true}.answer(w, r)
	}))
	defer server.Close()
	dir := t.TempDir()
	config := strings.Replace(byReverse, "reverse:", "more: {path: has_more}, reverse:", 1)
	if rep := drainInto(t, dir, server.URL, config, 0); rep.State != "stopped" || rep.Items.Distinct != 80 {
		t.Fatalf("%s, %d items, %v", rep.State, rep.Items.Distinct, rep.Evidence)
	}
	busy = false
	if rep := drainInto(t, dir, server.URL, config, 0); rep.Verdict != judge.Complete || rep.Items.Written != 250 {
		t.Errorf("%s, %+v, %v", rep.Verdict, rep.Items, rep.Evidence)
	}
}
