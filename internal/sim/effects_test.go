package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"
)

// pages asks for offsets 0, 2, 4… and notes what each page holds: its ids, or
// its status, and with a total that too.
func pages(s *Sim, n int) []string {
	var out []string
	for i := range n {
		got := fetch(s, fmt.Sprintf("/items?offset=%d", 2*i))
		if got.Status != http.StatusOK {
			out = append(out, fmt.Sprint(got.Status))
			continue
		}
		text := ids(got.Body, "items")
		if total := gjson.Get(got.Body, "total"); total.Exists() {
			text += " of " + total.Raw
		}
		if more := gjson.Get(got.Body, "more"); more.Exists() {
			text += map[bool]string{true: " more", false: " end"}[more.Bool()]
		}
		out = append(out, strings.TrimSpace(text))
	}
	return out
}

// eight is an offset API over eight items, two a page, with every word.
func eight(faults ...Fault) *Sim {
	a := API{Style: Offset, Items: "items", Total: exact("total"), More: MoreRule{Path: "more"}}
	a.Size.Default = 2
	return New(NewWorld(8, IntID), a, 1, faults...)
}

func TestWhatPagesHold(t *testing.T) {
	cases := []struct {
		name  string
		fault Fault
		want  []string
	}{
		{"nothing wrong", Fault{Effect: NoTotal{}}, []string{"1 2 more", "3 4 more", "5 6 more", "7 8 end", "end"}},
		{"cap that collapses", Fault{Effect: Cap{At: 4, Past: CapCollapse}}, []string{"1 2 of 8 more", "3 4 of 8 more", "of 0 end"}},
		{"cap with a steady total", Fault{Effect: Cap{At: 4, Past: CapEmpty}}, []string{"1 2 of 8 more", "3 4 of 8 more", "of 8 end"}},
		{"cap with an error", Fault{Effect: Cap{At: 3, Past: CapError, Code: 422}}, []string{"1 2 of 8 more", "3 of 8 more", "422", "422"}},
		{"cap that serves the page whole", Fault{Effect: Cap{At: 3, Past: CapError, Code: 400, Whole: true}},
			[]string{"1 2 of 8 more", "3 4 of 8 more", "400"}},
		{"cap that repeats", Fault{Effect: Cap{At: 4, Past: CapRepeat}}, []string{"1 2 of 8 more", "3 4 of 8 more", "3 4 of 8 more"}},
		{"cap that ends", Fault{Effect: Cap{At: 4, Past: CapEnd}}, []string{"1 2 of 8 more", "3 4 of 8 end", "of 8 end"}},
		{"short page", Fault{Match{From: 2, To: 2}, Short{1}}, []string{"1 2 of 8 more", "3 of 8 more", "5 6 of 8 more"}},
		{"empty page", Fault{Match{From: 2, To: 2}, Empty{}}, []string{"1 2 of 8 more", "of 8 end", "5 6 of 8 more"}},
		{"repeated page", Fault{Match{From: 2, To: 2}, Repeat{}}, []string{"1 2 of 8 more", "1 2 of 8 more", "5 6 of 8 more"}},
		{"served twice", Fault{Match{From: 2, To: 2}, Twice{}}, []string{"1 2 of 8 more", "2 3 4 of 8 more", "5 6 of 8 more"}},
		{"end too early", Fault{Match{From: 2}, EndEarly{}}, []string{"1 2 of 8 more", "3 4 of 8 end", "5 6 of 8 end"}},
		{"no end", Fault{Effect: Endless{}}, []string{"1 2 of 8 more", "3 4 of 8 more", "5 6 of 8 more", "7 8 of 8 more", "of 8 more"}},
		{"swap at borders", Fault{Effect: Swap{}}, []string{"1 2 of 8 more", "2 4 of 8 more", "4 6 of 8 more", "6 8 of 8 end"}},
		{"silent drop", Fault{Effect: Drop{Every: 3, Agrees: true}}, []string{"1 2 of 6 more", "4 5 of 6 more", "7 8 of 6 end"}},
		{"drop that the total counts", Fault{Effect: Drop{Every: 3}}, []string{"1 2 of 8 more", "4 5 of 8 more", "7 8 of 8 end"}},
		{"lagging replica", Fault{Match{Every: 2}, Lag{1}}, []string{"1 2 of 8 more", "3 4 of 7 more", "5 6 of 8 more", "7 of 7 end"}},
		{"only a few", Fault{Effect: Keep{3}}, []string{"1 2 of 3 more", "3 of 3 end"}},
		{"place ignored", Fault{Effect: Ignore{Place: true}}, []string{"1 2 of 8 more", "1 2 of 8 more"}},
		{"place and size ignored", Fault{Effect: Ignore{Place: true, Size: true}}, []string{"1 2 3 4 5 6 7 8 of 8 end"}},
		{"null instead", Fault{Match{From: 2, To: 2}, Nulls{}}, []string{"1 2 of 8 more", " 4 of 8 more"}},
		{"wrong total", Fault{Effect: WrongTotal{-3}}, []string{"1 2 of 5 more"}},
		{"phantom items", Fault{Effect: Phantom{11}}, []string{"1 2 of 11 more", "3 4 of 11 more", "5 6 of 11 more", "7 8 of 11 more", "of 11 more", "of 11 end"}},
		{"status from an offset", Fault{Match{From: 4}, Status{Code: 500}}, []string{"1 2 of 8 more", "3 4 of 8 more", "500", "500"}},
		{"overrun", Fault{Effect: Overrun{2}}, []string{"1 2 of 8 more", "3 4 of 8 more", "5 6 of 8 more", "7 8 of 8 end", "7 8 of 8 end"}},
		{"hollow page with a remark", Fault{Match{From: 2, To: 2}, Beside{"remark", `"late"`, true}}, []string{"1 2 of 8 more", "of 0 end"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := pages(eight(c.fault), len(c.want))
			for i := range got {
				if strings.TrimSpace(c.want[i]) != got[i] {
					t.Errorf("page %d: %q, want %q", i+1, got[i], c.want[i])
				}
			}
		})
	}
}

func TestMatch(t *testing.T) {
	urls := []string{"/items", "/items?offset=2", "/items?offset=2", "/items?offset=2&limit=5", "/items?offset=4&top=1", "/items?offset=6"}
	cases := []struct {
		name  string
		match Match
		want  []int // numbers of the requests that fail
	}{
		{"all", Match{}, []int{1, 2, 3, 4, 5, 6}},
		{"page", Match{Page: 3}, []int{5}},
		{"from", Match{From: 4}, []int{5, 6}},
		{"from and to", Match{From: 2, To: 4}, []int{2, 3, 4, 5}},
		{"size", Match{SizeOver: 4}, []int{4}},
		{"attempts", Match{Attempts: []int{1}}, []int{1, 2, 5, 6}},
		{"second attempts", Match{Attempts: []int{2}}, []int{3}},
		{"every", Match{Every: 3}, []int{3, 6}},
		{"after", Match{After: 4}, []int{5, 6}},
		{"param", Match{UnlessParam: "top"}, []int{1, 2, 3, 4, 6}},
		{"header", Match{IfHeader: "If-None-Match"}, nil},
		{"no header", Match{UnlessHeader: "If-None-Match", Page: 1}, []int{1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := eight(Fault{c.match, Status{Code: 503}})
			var got []int
			for i, u := range urls {
				if fetch(s, u).Status == 503 {
					got = append(got, i+1)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("requests %v failed, want %v", got, c.want)
			}
		})
	}
}

func TestPercentDependsOnTheSeedAlone(t *testing.T) {
	run := func(seed uint64) (out []int) {
		s := eight(Fault{Match{Percent: 40}, Status{Code: 503}})
		s.Seed = seed
		for i := range 200 {
			if fetch(s, "/items").Status == 503 {
				out = append(out, i)
			}
		}
		return out
	}
	a := run(1)
	if !slices.Equal(a, run(1)) || slices.Equal(a, run(2)) || len(a) < 50 || len(a) > 110 {
		t.Errorf("%d of 200 failed", len(a))
	}
}

func TestRetryAfterForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for retry, want := range map[RetryAfter]string{
			RetryNone: "", RetrySeconds: "7", RetryNonsense: "soon",
			RetryDate: now.Add(7 * time.Second).UTC().Format(http.TimeFormat),
			RetryPast: now.Add(-time.Hour).UTC().Format(http.TimeFormat),
		} {
			got := fetch(eight(Fault{Effect: Status{Code: 429, Retry: retry, Wait: 7}}), "/items")
			if v := got.Header.Get("Retry-After"); v != want || got.Status != 429 {
				t.Errorf("%s: status %d, Retry-After %q, want %q", retry, got.Status, v, want)
			}
		}
		got := fetch(eight(Fault{Effect: Status{Code: 403, Retry: RetryReset, Wait: 7}}), "/items")
		if v := got.Header.Get("X-Ratelimit-Reset"); v != fmt.Sprint(now.Unix()+7) {
			t.Errorf("reset at %s", v)
		}
	})
}

func TestHangWaitsForTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := eight(Fault{Match{Attempts: []int{1}}, Hang{time.Minute}})
		c := &http.Client{Transport: s.Transport(), Timeout: 30 * time.Second}
		start := time.Now()
		if got := look(c, http.MethodGet, "http://x/items", nil, ""); got.Err == "" {
			t.Errorf("an answer after %s: %+v", time.Since(start), got)
		}
		if d := time.Since(start); d != 30*time.Second {
			t.Errorf("gave up after %s", d)
		}
		if got := look(c, http.MethodGet, "http://x/items", nil, ""); got.Status != 200 {
			t.Errorf("second try: %+v", got)
		}
	})
}

// chain follows cursors and notes the ids of each page.
func chain(s *Sim, most int) []string {
	var out []string
	url := "/items"
	for range most {
		got := fetch(s, url)
		out = append(out, ids(got.Body, "items"))
		next := gjson.Get(got.Body, "next").String()
		if next == "" {
			break
		}
		url = "/items?cursor=" + next
	}
	return out
}

func TestCursorFaults(t *testing.T) {
	cases := []struct {
		name  string
		kind  TokenKind
		fault Fault
		want  []string
	}{
		{"plain", TokenKey, Fault{Effect: NoTotal{}}, []string{"1 2", "3 4", "5 6", "7 8"}},
		{"loop of one", TokenKey, Fault{Match{From: 2}, Loop{1}}, []string{"1 2", "3 4", "3 4", "3 4", "3 4"}},
		{"loop of two", TokenOffset, Fault{Match{From: 4}, Loop{2}}, []string{"1 2", "3 4", "5 6", "3 4", "5 6"}},
		{"loop to the start", TokenKey, Fault{Match{From: 4}, Loop{3}}, []string{"1 2", "3 4", "5 6", "1 2", "3 4"}},
		{"skip", TokenKey, Fault{Match{From: 2, To: 2}, Skip{1}}, []string{"1 2", "3 4", "6 7", "8"}},
		{"short page", TokenKey, Fault{Match{From: 2, To: 2}, Short{1}}, []string{"1 2", "3", "4 5", "6 7", "8"}},
		{"empty pages with a next", TokenKey, Fault{Match{From: 4, To: 4}, Empty{Next: true, Run: 2}}, []string{"1 2", "3 4", "", "", "5 6"}},
		{"empty pages first", TokenOffset, Fault{Match{To: 1}, Empty{Next: true}}, []string{"", "1 2", "3 4"}},
		{"null cursor at a cap", TokenKey, Fault{Effect: Cap{At: 4, Past: CapEnd}}, []string{"1 2", "3 4"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := API{Style: Cursor, Items: "items", Token: TokenRule{Kind: c.kind, Path: "next"}}
			a.Size.Default = 2
			got := chain(New(NewWorld(8, IntID), a, 1, c.fault), 5)
			if !slices.Equal(got[:min(len(got), len(c.want))], c.want) {
				t.Errorf("pages %q, want %q", got, c.want)
			}
		})
	}
}

func TestSameTokenEnds(t *testing.T) {
	a := API{Style: Cursor, Items: "items", Token: TokenRule{Path: "next", End: EndSame}}
	a.Size.Default = 4
	s := New(NewWorld(8, IntID), a, 1)
	if got := chain(s, 5); !slices.Equal(got, []string{"1 2 3 4", "5 6 7 8", "", "", ""}) {
		t.Errorf("pages %q", got)
	}
	log := s.Log()
	if log[3].Place != log[2].Place {
		t.Errorf("places %q and %q", log[2].Place, log[3].Place)
	}
}

func TestBadLinks(t *testing.T) {
	a := API{Style: Link, Items: "items", FirstPage: 1}
	s := New(NewWorld(50, IntID), a, 1, Fault{Effect: BadLink{}})
	if got := fetch(s, "/items").Header.Get("Link"); got != `http://api.test/items?page=2>; rel="next"` {
		t.Errorf("broken link %s", got)
	}
	a = API{Style: NextURL, Items: "items", Next: NextRule{Path: "next"}}
	s = New(NewWorld(50, IntID), a, 1, Fault{Effect: BadLink{Host: "inner.invalid"}})
	if got := gjson.Get(fetch(s, "/items").Body, "next").String(); got != "http://inner.invalid/items?offset=20" {
		t.Errorf("next %s", got)
	}
}

func TestAskedSizeSkipsItems(t *testing.T) {
	a := API{Style: NextURL, Items: "items", Next: NextRule{Path: "next", Asked: true}}
	a.Size.Max = 3
	s := New(NewWorld(9, IntID), a, 1)
	if got := gjson.Get(fetch(s, "/items?limit=5").Body, "next").String(); got != "http://api.test/items?limit=5&offset=5" {
		t.Errorf("next %s", got)
	}
}

func TestLogTellsWhatHappened(t *testing.T) {
	s := eight(Fault{Match{From: 2, Attempts: []int{1}}, Half{Framing: ByLength}})
	for _, u := range []string{"/items", "/items?offset=2&limit=3", "/items?offset=2"} {
		fetch(s, u)
	}
	log := s.Log()
	if len(log) != 3 || s.Requests() != 3 || s.Counts()["half_length"] != 1 {
		t.Fatalf("log %+v, counts %v", log, s.Counts())
	}
	second := log[1]
	if !second.Void || second.From != 2 || second.Asked != 3 || second.Attempt != 1 || second.Items != 0 ||
		!slices.Equal(second.Faults, []string{"half_length"}) {
		t.Errorf("second request: %+v", second)
	}
	if third := log[2]; third.Void || third.Attempt != 2 || third.Items != 2 || third.Size != 2 {
		t.Errorf("third request: %+v", third)
	}
	s.Reset()
	if len(s.Log()) != 0 || s.Requests() != 0 || len(s.Counts()) != 0 {
		t.Error("a reset leaves something behind")
	}
}
