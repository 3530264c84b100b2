package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
	"lastdrop/judge/reconcile"
)

func TestReadTime(t *testing.T) {
	const noon = "2026-03-01T12:00:00Z"
	for raw, want := range map[string]string{
		`"2026-03-01T12:00:00Z"`:          noon,
		`"2026-03-01T12:00:00.5Z"`:        "2026-03-01T12:00:00.5Z",
		`"2026-03-01T14:00:00+02:00"`:     noon,
		`"2026-03-01"`:                    "2026-03-01T00:00:00Z",
		`1772366400`:                      noon,
		`1772366400.0`:                    noon,
		`1.7723664e9`:                     noon,
		`1772366400000`:                   noon,
		`1772366400250`:                   "2026-03-01T12:00:00.25Z",
		`"1772366400"`:                    noon,
		`"1772366400000"`:                 noon,
		`"2026"`:                          "",
		`"20260301"`:                      "",
		`2026`:                            "1970-01-01T00:33:46Z",
		`0`:                               "",
		`-5`:                              "",
		`1772366400000000`:                "", // microseconds
		`1e400`:                           "",
		`"2026-03-01T12:00:00"`:           "", // in which zone?
		`"2026-02-30"`:                    "",
		`"Sun, 01 Mar 2026 12:00:00 GMT"`: "",
		`"123456789e5"`:                   "",
		`"0x1234567890"`:                  "",
		`""`:                              "",
		`null`:                            "",
		`true`:                            "",
		`["2026-03-01"]`:                  "",
	} {
		got := ""
		if at, ok := readTime(jsonscan.ValueOf([]byte(raw))); ok {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%s is %q, want %q", raw, got, want)
		}
	}
}

// The newest time is that of an item that became held: not one of the far
// future, and not one that a repeated item brings later.
func TestNewest(t *testing.T) {
	at := func(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339) }
	newest := at(-time.Hour)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("offset") != "" && r.FormValue("offset") != "0" {
			fmt.Fprintf(w, `{"total":3,"rows":[{"id":3,"at":%q}]}`, at(-time.Minute)) // as it overlaps, 3 has been read
			return
		}
		fmt.Fprintf(w, `{"total":3,"rows":[{"id":1,"at":%q},{"id":2,"at":"9999-12-31T00:00:00Z"},{"id":3,"at":%q}]}`, newest, at(-2*time.Hour))
	})
	o, _ := options(t, rowsSpec(s.URL), quick())
	o.Doubts.NewestPath = "at"
	f, err := Drain(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Newest.Format(time.RFC3339); f.Distinct != 3 || got != newestUTC(t, newest) {
		t.Errorf("with %d items the newest is %s, want %s", f.Distinct, got, newest)
	}
	o.Doubts.NewestPath = `at\`
	if _, err := Drain(t.Context(), o); err == nil {
		t.Error("a path that does not compile is taken")
	}
}

func newestUTC(t *testing.T, text string) string {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC().Format(time.RFC3339)
}

// A limit beside the pages is waited out as one on a page is, and a longer wait
// than the operator allows ends the look, not the run.
func TestLimitBesideThePages(t *testing.T) {
	for _, c := range []struct {
		after  string
		waited time.Duration
		ok     bool
		asked  int
	}{{"60", time.Minute, true, 2}, {"61", 0, false, 1}} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/rows" {
					rows(3)(w, r)
					return
				}
				if asked++; asked == 1 {
					w.Header().Set("Retry-After", c.after)
					w.WriteHeader(429)
					return
				}
				fmt.Fprint(w, `{"n":1}`)
			})
			o, _ := options(t, rowsSpec("http://api.test"), Client{Transport: inMemory{h}, MaxWait: time.Minute, BackoffMin: 1, BackoffMax: 1})
			o.Doubts = Doubts{Sentinel: &adapters.Probe{URL: "http://api.test/aside", Path: "n"}, SentinelMin: 1}
			f, err := Drain(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if !f.Sentinel.Asked || f.Sentinel.OK != c.ok || asked != c.asked || f.Waited != c.waited || f.Distinct != 3 {
				t.Errorf("a wait of %s s: %+v after %d tries and %s, with %d items", c.after, f.Sentinel, asked, f.Waited, f.Distinct)
			}
		})
	}
}

// A run that is stopped while the sentinel is asked is stopped, and not doubted
// for it: it can go on.
func TestStoppedWhileTheSentinelIsAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/rows" {
			rows(3)(w, r)
			return
		}
		cancel()
		<-r.Context().Done()
	})
	o, _ := options(t, rowsSpec(s.URL), quick())
	o.Doubts = Doubts{Sentinel: &adapters.Probe{URL: s.URL + "/aside", Path: "n"}, SentinelMin: 1}
	f, err := Drain(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if f.Stop != reconcile.StopSignal || f.Sentinel.OK {
		t.Errorf("stopped for %v with %+v", f.Stop, f.Sentinel)
	}
	for _, e := range reconcile.Rule(f).Evidence {
		if e.ID == "RC041" {
			t.Errorf("it is doubted: %s", e.Text)
		}
	}
}
