package fetcher

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"lastdrop/judge/reconcile"
)

func TestServerWait(t *testing.T) {
	at := func(d time.Duration) string { return moment.Add(d).Format(http.TimeFormat) }
	unix := func(d time.Duration) string { return fmt.Sprint(moment.Add(d).Unix()) }
	const none = -1
	for _, c := range []struct {
		name   string
		header http.Header
		want   time.Duration
	}{
		{"nothing said", header(), none},
		{"seconds", header("Retry-After", "30"), 30 * time.Second},
		{"seconds among blanks", header("Retry-After", " 30 "), 30 * time.Second},
		{"a part of a second", header("Retry-After", "1.5"), 1500 * time.Millisecond},
		{"a date", header("Retry-After", at(90*time.Second)), 90 * time.Second},
		{"a date of the old form", header("Retry-After", moment.Add(time.Minute).Format(time.RFC850)), time.Minute},
		{"a date in the past", header("Retry-After", at(-time.Hour)), none},
		{"a date that is now", header("Retry-After", at(0)), none},
		{"zero seconds", header("Retry-After", "0"), none},
		{"seconds below zero", header("Retry-After", "-5"), none},
		{"no number", header("Retry-After", "soon"), none},
		{"not a number", header("Retry-After", "NaN"), none},
		{"infinite", header("Retry-After", "Inf"), none},
		{"a year is still believed", header("Retry-After", "31622400"), 366 * 24 * time.Hour},
		{"more than a year is nonsense", header("Retry-After", "31622401"), none},

		{"the RateLimit field", header("RateLimit", `"default";r=0;t=12`), 12 * time.Second},
		{"the RateLimit field, older form", header("RateLimit", "limit=100, remaining=0, reset=7"), 7 * time.Second},
		{"the RateLimit field without a reset", header("RateLimit", `"default";r=0`), none},
		{"RateLimit-Reset", header("RateLimit-Reset", "9"), 9 * time.Second},

		{"X-RateLimit-Reset as a moment", header("X-RateLimit-Reset", unix(45*time.Second)), 45 * time.Second},
		{"as a moment in milliseconds", header("X-RateLimit-Reset", fmt.Sprint(moment.Add(45*time.Second).UnixMilli())), 45 * time.Second},
		{"as seconds from now", header("X-RateLimit-Reset", "20"), 20 * time.Second},
		{"as a moment in the past", header("X-RateLimit-Reset", unix(-time.Second)), none},
		{"another spelling", header("X-Rate-Limit-Reset", "20"), 20 * time.Second},
		{"no number, and another spelling", header("X-RateLimit-Reset", "soon", "X-Rate-Limit-Reset", "20"), 20 * time.Second},

		{"Retry-After comes first", header("Retry-After", "5", "X-RateLimit-Reset", "60", "RateLimit-Reset", "30"), 5 * time.Second},
		{"RateLimit comes before X-RateLimit-Reset", header("X-RateLimit-Reset", "60", "RateLimit-Reset", "30"), 30 * time.Second},
		{"nonsense hides no later word", header("Retry-After", "0", "X-RateLimit-Reset", "60"), time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := serverWait(c.header, moment)
			if !ok {
				got = none
			}
			if got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A pause doubles from try to try, stays inside its bounds, and is never less
// than half of what it may be.
func TestBackoff(t *testing.T) {
	lo, hi := 200*time.Millisecond, 20*time.Second
	for n := 1; n <= 64; n++ {
		most := hi
		if n < 8 {
			most = min(hi, lo*time.Duration(1<<(n-1)))
		}
		for range 50 {
			if d := backoff(lo, hi, n); d < most/2 || d > most {
				t.Fatalf("try %d: %v is not in %v..%v", n, d, most/2, most)
			}
		}
	}
	seen := map[time.Duration]bool{}
	for range 20 {
		seen[backoff(lo, hi, 5)] = true
	}
	if len(seen) < 2 {
		t.Error("there is no jitter")
	}
}

// inMemory sends requests to a handler without a socket: a real one cannot be
// waited for in a bubble, where the minutes that a server asks for cost none.
type inMemory struct{ http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// A limit is waited out for just as long as the server says, the same page is
// asked for again, and a wait that is too long stops a run that can go on.
func TestLimitIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  int
		after   string
		maxWait time.Duration
		waited  time.Duration
		tooLong bool
	}{
		{"429 for 30 s", 429, "30", time.Minute, 30 * time.Second, false},
		{"429 for just max_wait", 429, "60", time.Minute, time.Minute, false},
		{"429 for more than max_wait", 429, "61", time.Minute, 0, true},
		{"503 with a time", 503, "30", time.Minute, 30 * time.Second, false},
		{"403 with a time", 403, "30", time.Minute, 30 * time.Second, false},
		{"429 with nonsense: the default pause", 429, "-1", time.Minute, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked = append(asked, r.URL.String())
					if len(asked) == 1 {
						w.Header().Set("Retry-After", c.after)
						w.WriteHeader(c.status)
						return
					}
					fmt.Fprint(w, `{"total":3,"rows":[{"id":1},{"id":2},{"id":3}]}`)
				})
				client := Client{Transport: inMemory{h}, MaxWait: c.maxWait, BackoffMin: 1, BackoffMax: 1}
				spec := rowsSpec("http://api.test")
				spec.Pages.Style, spec.Pages.OffsetParam = "single", ""
				o, _ := options(t, spec, client)
				began := time.Now()
				f, err := Drain(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if c.tooLong {
					if f.Stop != reconcile.StopWait || !f.Stop.Resumable() || len(asked) != 1 {
						t.Errorf("stopped for %v after %d requests, want a stop for max_wait after one", f.Stop, len(asked))
					}
				} else if f.Distinct != 3 || len(asked) < 2 || asked[0] != asked[1] {
					t.Errorf("%d items are held after %v, want 3 after the same page again", f.Distinct, asked)
				}
				if passed := time.Since(began); f.Waited != c.waited || passed != c.waited {
					t.Errorf("waited %v by the clock and %v by its own count, want %v", passed, f.Waited, c.waited)
				}
			})
		})
	}
}

// A source that limits for ever is given up after the retries, as a fault that
// passes, and never as an end.
func TestLimitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked++; w.WriteHeader(429) })
		o, _ := options(t, rowsSpec("http://api.test"), Client{Transport: inMemory{h}, Retries: 3})
		f, err := Drain(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if asked != 4 || f.Stop != reconcile.StopFault || f.EndReached {
			t.Errorf("asked %d times, stopped for %v, end %v; want 4 times and a fault", asked, f.Stop, f.EndReached)
		}
	})
}
