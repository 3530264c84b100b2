package fetcher

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// parted is an API in the manner of MediaWiki: a batch of items comes in
// several answers, each with some more of the items' links, and the last one
// has a mark. Item i has i%5 links. What odd returns stands in the place of an
// answer, where it returns something.
type parted struct {
	n, links int // items in all, links on one answer
	odd      func(from, link int, whole map[string]any) string
	asked    []string
}

func (s *parted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var from, link, limit int
	_, _ = fmt.Sscan(r.FormValue("gapfrom"), &from)
	_, _ = fmt.Sscan(r.FormValue("plfrom"), &link)
	_, _ = fmt.Sscan(r.FormValue("limit"), &limit)
	s.asked = append(s.asked, fmt.Sprintf("%d+%d", from, link))
	to := min(s.n, from+limit)
	var pages []any
	at := 0
	for i := from; i < to; i++ {
		page := map[string]any{"id": i, "title": fmt.Sprint("page ", i)}
		var here []any
		for k := range i % 5 {
			if at >= link && at < link+s.links {
				here = append(here, k)
			}
			at++
		}
		if here != nil {
			page["links"] = here
		}
		pages = append(pages, page)
	}
	answer := map[string]any{"pages": pages}
	switch {
	case at > link+s.links:
		answer["continue"] = map[string]any{"gapfrom": fmt.Sprint(from), "plfrom": fmt.Sprint(link + s.links)}
	case to < s.n:
		answer["batchcomplete"], answer["continue"] = true, map[string]any{"gapfrom": fmt.Sprint(to)}
	default:
		answer["batchcomplete"], answer["continue"] = true, nil
	}
	if s.odd != nil {
		if text := s.odd(from, link, answer); text != "" {
			_, _ = w.Write([]byte(text))
			return
		}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// lines are the items as they must be written.
func (s *parted) lines() []string {
	var all []string
	for i := range s.n {
		item := map[string]any{"id": i, "title": fmt.Sprint("page ", i)}
		if i%5 > 0 {
			item["links"] = []int{0, 1, 2, 3}[:i%5]
		}
		b, _ := json.Marshal(item)
		all = append(all, string(b))
	}
	return all
}

func partedSpec(base string) adapters.Spec {
	return adapters.Spec{URL: base + "/api",
		Pages: adapters.Pages{Style: "cursor", SizeParam: "limit", SizeStart: 8, SizeMin: 2, CursorPath: "continue"},
		Items: adapters.Items{Path: "pages", IDs: []string{"id"}, Merge: true, Batch: "batchcomplete"}}
}

// sortedLines gives lines with their members in order, in the order of ids.
func sortedLines(t *testing.T, lines []string) []string {
	t.Helper()
	out := make([]string, len(lines))
	id := func(line string) int {
		var item struct{ ID int }
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			t.Error(err)
		}
		return item.ID
	}
	for i, line := range lines {
		var item map[string]any
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			t.Error(err)
		}
		b, _ := json.Marshal(item)
		out[i] = string(b)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(id(a), id(b)) })
	return out
}

// Items that come in parts are written once and whole, whatever fails on the
// way; what never comes whole is never COMPLETE.
func TestBatches(t *testing.T) {
	encode := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	once := func(s *parted, f func(whole map[string]any) string) func(int, int, map[string]any) string {
		return func(from, link int, whole map[string]any) string {
			if from != 8 || link != 3 || slices.Index(s.asked, "8+3") != len(s.asked)-1 {
				return ""
			}
			return f(whole)
		}
	}
	always := func(f func(whole map[string]any) string) func(int, int, map[string]any) string {
		return func(from, link int, whole map[string]any) string {
			if from < 8 || link == 0 {
				return ""
			}
			return f(whole)
		}
	}
	for _, c := range []struct {
		name    string
		odd     func(s *parted) func(int, int, map[string]any) string
		verdict judge.Verdict
		whole   int // items that are written whole, at least
	}{
		{"nothing odd", nil, judge.Complete, 30},
		{"half a body in a batch, once", func(s *parted) func(int, int, map[string]any) string {
			return once(s, func(whole map[string]any) string { return encode(whole)[:20] })
		}, judge.Complete, 30},
		{"an error object in a batch, once", func(s *parted) func(int, int, map[string]any) string {
			return once(s, func(map[string]any) string { return `{"error":{"code":"internal","info":"deadlock"}}` })
		}, judge.Complete, 30},
		{"the end is said before the batch is whole, once", func(s *parted) func(int, int, map[string]any) string {
			return once(s, func(whole map[string]any) string {
				return encode(map[string]any{"pages": whole["pages"], "continue": nil})
			})
		}, judge.Complete, 30},
		{"half a body in a batch, always", func(*parted) func(int, int, map[string]any) string {
			return always(func(whole map[string]any) string { return encode(whole)[:20] })
		}, judge.Truncated, 8},
		{"the end is said before a batch is whole, always", func(*parted) func(int, int, map[string]any) string {
			return always(func(whole map[string]any) string {
				return encode(map[string]any{"pages": whole["pages"], "continue": nil})
			})
		}, judge.Truncated, 8},
		{"a batch that points back into itself", func(*parted) func(int, int, map[string]any) string {
			return always(func(whole map[string]any) string {
				return encode(map[string]any{"pages": whole["pages"], "continue": map[string]any{"gapfrom": "8"}})
			})
		}, judge.Truncated, 8},
		{"a mark that never comes", func(*parted) func(int, int, map[string]any) string {
			return func(_, _ int, whole map[string]any) string { delete(whole, "batchcomplete"); return encode(whole) }
		}, judge.Truncated, 0},
		{"parts that contradict each other", func(s *parted) func(int, int, map[string]any) string {
			return once(s, func(whole map[string]any) string { return strings.ReplaceAll(encode(whole), "page 9", "renamed") })
		}, judge.Unknown, 30},
		{"a part that comes after its batch", func(*parted) func(int, int, map[string]any) string {
			return func(from, link int, whole map[string]any) string {
				if from < 16 || link > 0 {
					return ""
				}
				whole["pages"] = append(whole["pages"].([]any), map[string]any{"id": 4, "title": "page 4", "links": []int{9}})
				return encode(whole)
			}
		}, judge.Unknown, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := &parted{n: 30, links: 3}
			if c.odd != nil {
				api.odd = c.odd(api)
			}
			client := quick()
			client.Retries = 1
			o, s := options(t, partedSpec(serve(t, api.ServeHTTP).URL), client)
			o.Budget.Requests, o.Passes = 200, 3
			f, err := Drain(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := ruled(f); got != c.verdict {
				t.Errorf("%v, stopped for %v (%s); want %v after %q", got, f.Stop, f.StopText, c.verdict, api.asked)
			}
			got, want := sortedLines(t, s.lines), api.lines()
			if len(got) < c.whole || len(got) > 30 || !slices.Equal(got, want[:len(got)]) {
				t.Errorf("%d lines, not the first ones of the source: %q", len(got), got)
			}
		})
	}
}

// Without a mark each page has its items whole, and the rows of one id on it
// are one item.
func TestPartsOnOnePage(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"pages":[{"id":1,"a":[1]},{"id":2},{"id":1,"a":[2],"b":{"c":1}},{"id":1,"b":{"d":null}}],"continue":null}`)
	})
	spec := partedSpec(srv.URL)
	spec.Items.Batch = ""
	o, s := options(t, spec, quick())
	f, err := Drain(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`{"id":1,"a":[1,2],"b":{"c":1,"d":null}}`, `{"id":2}`}
	if ruled(f) != judge.Complete || !slices.Equal(s.lines, want) {
		t.Errorf("%v, %q; want %q", ruled(f), s.lines, want)
	}
}

// hostile answers one time in four with what is no part of a batch, or with one
// that leaves it open.
func hostile(dice *rand.Rand) func(int, int, map[string]any) string {
	return func(_, _ int, whole map[string]any) string {
		text, _ := json.Marshal(whole)
		switch dice.IntN(20) {
		case 0:
			return string(text[:dice.IntN(len(text))]) + " "
		case 1:
			return `{"error":{"code":"internal_api_error_DBQueryTimeoutError","info":"time out"}}`
		case 2:
			return "<html>Please sign in</html>"
		case 3:
			delete(whole, "continue")
			delete(whole, "batchcomplete")
		case 4:
			delete(whole, "pages")
		default:
			return ""
		}
		text, _ = json.Marshal(whole)
		return string(text)
	}
}

// A budget that is spent, and a process that dies, in the middle of a batch
// leave nothing of it behind: the next life asks for all of it again. Whatever
// the server does, no item is written in part or twice.
func TestBatchesAcrossKills(t *testing.T) {
	complete := 0
	for seed := range uint64(80) {
		dice := rand.New(rand.NewPCG(seed, 1))
		api := &parted{n: 1 + dice.IntN(40), links: 1 + dice.IntN(6)}
		honest := seed%2 == 0
		if !honest {
			api.odd = hostile(dice)
		}
		srv := serve(t, api.ServeHTTP)
		o, s := options(t, partedSpec(srv.URL), quick())
		keep := &lastState{store: s}
		for life := 0; ; life++ {
			o.Ledger, o.Budget = keep, Budget{Checkpoint: -1}
			if life < 4 {
				o.Budget.Requests = int64(1 + dice.IntN(9))
				if dice.IntN(2) == 0 {
					o.Ledger = &shortLived{Ledger: keep, left: dice.IntN(4)}
				}
			}
			f, err := Drain(context.Background(), o)
			if err != nil && !errors.Is(err, errDied) {
				t.Fatal(err)
			}
			if err == nil && f.Stop != reconcile.StopBudget {
				if got := ruled(f); got == judge.Complete {
					complete++
				} else if honest {
					t.Errorf("seed %d: %v (%s)", seed, got, f.StopText)
				} else {
					api.n = len(s.lines) // not all of it, and what there is of the first items
				}
				break
			}
			s.lines = s.lines[:keep.items] // the sink is cut back to the mark
			if err != nil && f.Stop == reconcile.StopEnd && len(s.lines) == api.n {
				break // the walk was over and stored; only the last word of it was not
			}
			o.Resume = &Resume{State: keep.state, Keys: keep.keys}
		}
		if got, want := sortedLines(t, s.lines), api.lines(); !slices.Equal(got, want) {
			t.Errorf("seed %d: %d lines of %d: %q", seed, len(got), len(want), got)
		}
	}
	t.Logf("%d of 80 runs COMPLETE", complete)
	if complete < 50 {
		t.Errorf("only %d of 80 runs were COMPLETE", complete)
	}
}

var errDied = errors.New("died")

// shortLived is a ledger that fails after some checkpoints.
type shortLived struct {
	Ledger
	left int
}

func (l *shortLived) Commit(ctx context.Context, c Checkpoint) error {
	if l.left--; l.left < 0 {
		return errDied
	}
	return l.Ledger.Commit(ctx, c)
}
