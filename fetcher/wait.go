package fetcher

import (
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// serverWait reads how long a server asks to wait: Retry-After in seconds or
// as a date, the RateLimit fields' reset, or X-RateLimit-Reset as a moment or
// as seconds. ok is false where nothing readable says so; a time in the past
// or nonsense counts as nothing.
func serverWait(h http.Header, now time.Time) (time.Duration, bool) {
	for _, read := range []func(http.Header, time.Time) (time.Duration, bool){retryAfter, rateLimitField, resetHeader} {
		if d, ok := read(h, now); ok {
			return d, true
		}
	}
	return 0, false
}

func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0, false
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return seconds(s)
	}
	t, err := http.ParseTime(v)
	if err != nil || !t.After(now) {
		return 0, false
	}
	return t.Sub(now), true
}

// rateLimitField reads the reset (t) of the RateLimit field, or the older
// RateLimit-Reset, both in seconds from now.
func rateLimitField(h http.Header, _ time.Time) (time.Duration, bool) {
	for name, v := range rateLimit(h) {
		if name != "t" && name != "reset" {
			continue
		}
		if s, err := strconv.ParseFloat(v, 64); err == nil {
			return seconds(s)
		}
	}
	if s, err := strconv.ParseFloat(strings.TrimSpace(h.Get("RateLimit-Reset")), 64); err == nil {
		return seconds(s)
	}
	return 0, false
}

// rateLimit gives the parameters of the RateLimit field, in either draft's form.
func rateLimit(h http.Header) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for p := range strings.FieldsFuncSeq(h.Get("RateLimit"), func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
			if name, v, ok := strings.Cut(p, "="); ok && !yield(name, v) {
				return
			}
		}
	}
}

// resetHeader reads X-RateLimit-Reset and its cousins. A value that looks
// like a moment (after 2001) is one, in seconds or milliseconds since 1970; a
// small one is a number of seconds.
func resetHeader(h http.Header, now time.Time) (time.Duration, bool) {
	for _, name := range []string{"X-RateLimit-Reset", "X-Rate-Limit-Reset", "X-Ratelimit-Reset-Requests"} {
		s, err := strconv.ParseFloat(strings.TrimSpace(h.Get(name)), 64)
		if err != nil {
			continue
		}
		switch {
		case s > 1e12:
			return until(time.UnixMilli(int64(s)), now)
		case s > 1e9:
			return until(time.Unix(int64(s), 0), now)
		default:
			return seconds(s)
		}
	}
	return 0, false
}

func until(t, now time.Time) (time.Duration, bool) { return t.Sub(now), t.After(now) }

// seconds refuses what is not above zero or beyond a year.
func seconds(s float64) (time.Duration, bool) {
	if !(s > 0) || s > 366*24*3600 {
		return 0, false
	}
	return time.Duration(s * float64(time.Second)), true
}

// backoff gives the pause before try n+1 (n counts from 1): doubling, with
// jitter, within bounds.
func backoff(lo, hi time.Duration, n int) time.Duration {
	d := hi
	if n < 20 {
		d = min(hi, lo<<(n-1))
	}
	return d/2 + time.Duration(rand.Int64N(int64(d/2)+1))
}
