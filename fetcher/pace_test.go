package fetcher

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func quotaHeader(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestQuotaFields(t *testing.T) {
	for _, c := range []struct {
		h           http.Header
		left, limit int64
		ok          bool
	}{
		{quotaHeader("X-RateLimit-Remaining", "12", "X-RateLimit-Limit", "60"), 12, 60, true},
		{quotaHeader("RateLimit-Remaining", "0", "RateLimit-Limit", "5"), 0, 5, true},
		{quotaHeader("RateLimit", `"default";r=50;t=30`), 50, 0, true},
		{quotaHeader("RateLimit", "limit=100, remaining=7, reset=5"), 7, 100, true},
		{quotaHeader("X-RateLimit-Remaining", "many"), 0, 0, false},
		{quotaHeader("X-RateLimit-Remaining", "-1"), 0, 0, false},
		{quotaHeader("X-RateLimit-Limit", "60"), 0, 0, false},
	} {
		if left, limit, ok := quotaFields(c.h); ok != c.ok || ok && (left != c.left || limit != c.limit) {
			t.Errorf("%v: %d of %d, %v", c.h, left, limit, ok)
		}
	}
}

// A window is a server that allows so many requests a minute and says so.
type window struct {
	limit, used, over int
	begun             time.Time
}

func (w *window) answer() http.Header {
	if now := time.Now(); now.Sub(w.begun) >= time.Minute {
		w.begun, w.used = now, 0
	}
	if w.used++; w.used > w.limit {
		w.over++
	}
	return left(max(0, w.limit-w.used), w.limit, time.Until(w.begun.Add(time.Minute)))
}

func left(n, limit int, reset time.Duration) http.Header {
	return quotaHeader("RateLimit-Remaining", strconv.Itoa(n), "RateLimit-Limit", strconv.Itoa(limit), "RateLimit-Reset", strconv.FormatFloat(reset.Seconds(), 'f', 3, 64))
}

// send makes n requests one after another, and gives how long they took.
func send(t *testing.T, p *Pace, n int, need func(sent int) int64, answer func() http.Header) time.Duration {
	t.Helper()
	began := time.Now()
	for i := range n {
		if _, err := p.start(context.Background(), need(i), time.Hour); err != nil {
			t.Fatal(err)
		}
		p.heard(answer(), time.Now())
		p.end()
	}
	return time.Since(began)
}

func unknown(int) int64 { return -1 }

// TestPaceKeepsTheQuota: the limit that a server tells is never met, and not much
// of it is left unused.
func TestPaceKeepsTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{limit: 50}
		took := send(t, NewPace(0, 0, 4), 500, unknown, w.answer)
		if w.over > 0 || took > 11*time.Minute {
			t.Errorf("%d requests were too many, and 500 took %s", w.over, took)
		}
	})
}

// TestPaceWhatIsNeeded: as many as are left are not spread where no more are needed.
func TestPaceWhatIsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{limit: 50}
		if took := send(t, NewPace(0, 0, 4), 50, func(sent int) int64 { return int64(50 - sent) }, w.answer); took > 0 || w.over > 0 {
			t.Errorf("%s, %d too many", took, w.over)
		}
	})
}

// TestPaceDoesNotBelieveNothing: a header that says for ever that nothing is left
// is waited for once.
func TestPaceDoesNotBelieveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if took := send(t, NewPace(0, 0, 1), 300, unknown, func() http.Header { return left(0, 50, time.Minute) }); took > 2*time.Minute {
			t.Errorf("300 requests took %s", took)
		}
	})
}

// TestPaceIsShared: runs that share a budget hold to it in sum.
func TestPaceIsShared(t *testing.T) {
	p := NewPace(0, 0, 2)
	for range 2 {
		if _, err := p.start(context.Background(), -1, 0); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.start(ctx, -1, 0); err == nil {
		t.Error("a third request went out")
	}
	p.end()
	if _, err := p.start(context.Background(), -1, 0); err != nil {
		t.Error(err)
	}
}

// TestPaceBurst: a burst of limits on requests that were under way together halves
// how many may be so once; a limit on a later one does it again. What rises again is
// reported.
func TestPaceBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, began := NewPace(0, 0, 16), time.Now()
		time.Sleep(time.Second)
		for n := range 8 {
			if fewer := p.slower(began); fewer != (n == 0) || p.width() != 8 {
				t.Errorf("limit %d: fewer %v, %d at once", n, fewer, p.width())
			}
		}
		time.Sleep(time.Second)
		if fewer := p.slower(time.Now()); !fewer || p.width() != 4 {
			t.Errorf("a later limit: fewer %v, %d at once", fewer, p.width())
		}
		for n := range 16 {
			if more := p.quicker(); more != (n == 15) {
				t.Errorf("page %d: more %v", n, more)
			}
		}
	})
}
