// Package fetcher walks a paginated source to its end, or to the reason why
// it cannot. It is the one package that waits and connects.
//
// Drain holds the main loop; what to do after each answer is decided by pure
// code (step.go, walk.go), and which verdict the run deserves by package
// reconcile. Sinks and ledgers are written through the two interfaces in
// ports.go, in one order that stands in this package and nowhere else: items
// durable in the sink, then the rows that say so, then the next page.
package fetcher

import (
	"log/slog"
	"net/http"
	"time"

	"lastdrop/adapters"
	"lastdrop/internal/slicing"
	"lastdrop/judge/reconcile"
)

// Options say what to drain and how. Reader, Sink and Ledger are required;
// every other zero value works.
type Options struct {
	Reader *adapters.Reader

	Sink   Sink
	Ledger Ledger
	// Resume takes an unfinished run up; nil starts anew.
	Resume *Resume
	// Seed keys the identity hashes; a resumed run must give the same one.
	Seed uint64

	Client Client
	Budget Budget
	Doubts Doubts
	Second Second

	// Slicing says how to cut a source that hands out less than it has; nil
	// leaves it whole.
	Slicing *slicing.Spec

	// Passes is the most walks over the source; 0 means 1.
	Passes int
	// Tolerance saves further passes where the operator allows a difference.
	Tolerance reconcile.Tolerance
	// MaxDrift, in percent, is how far totals may drift and still count; where
	// they drift further another pass may be quieter. 0: any drift counts.
	MaxDrift float64

	// Progress, if set, is called after every attempt, from the loop's own
	// goroutine; it must not block.
	Progress func(Progress)
	Log      *slog.Logger
}

// Client says how to ask.
type Client struct {
	// Transport sends the requests; nil means a plain HTTP/1.1 transport of
	// its own with keep-alive.
	Transport http.RoundTripper
	// HTTP2 speaks HTTP/2 where the server does.
	HTTP2 bool
	// Auth adds the credentials to a request of the source's own origin.
	Auth func(*http.Request)
	// Hide removes secrets from texts; nil leaves them.
	Hide func(string) string
	// Seal and Unseal turn secrets in stored positions into placeholders and
	// back; ok false means that the text holds something that must not be
	// stored. nil stores positions as they are.
	Seal   func(string) (string, bool)
	Unseal func(string) string

	// Cookies keeps what the source's own origin sets, for one walk, and sends
	// it back there. The positions of such a walk belong to its session: none is
	// stored, and a resumed run begins its pass anew. Learn, if set, is told
	// every value, for Hide to hide.
	Cookies bool
	Learn   func(value string)

	UserAgent   string
	CacheBypass bool

	// Concurrency is how many requests may be under way at once, where positions
	// can be computed and the source stands still; 0: 1.
	Concurrency int

	// PublicOnly refuses to connect to this machine, to private networks and to
	// link-local addresses, whatever name, redirect or link leads there.
	PublicOnly bool

	Rate    float64 // requests a second; 0: no limit
	Burst   int
	Pace    *Pace         // in place of Rate, Burst and the bound of Concurrency, where several runs share one
	Timeout time.Duration // of one request, body included; 0: 30 s
	Retries int           // of one page, beyond the first try; negative: none; 0: 5
	MaxWait time.Duration // longest wait that a server may ask for; 0: 15 min
	MaxBody int64         // bytes; 0: 64 MiB

	// BackoffMin and BackoffMax bound the pauses between retries; 0: 200 ms
	// and 20 s.
	BackoffMin, BackoffMax time.Duration
}

// Budget bounds a run. A budget that is reached is never an end.
type Budget struct {
	Requests, Pages, Items int64 // 0: no bound
	// Checkpoint is the least time between two checkpoints; 0: 200 ms.
	Checkpoint time.Duration
}

// Progress is where a run stands.
type Progress struct {
	Slice, Pass, Size    int
	Pages, Attempts      int64
	Distinct, Total      int64
	HasTotal             bool
	Waiting              time.Duration // a pause that begins now
	Outcome              reconcile.Outcome
	Status               int
	Requests, Half, Fail int64
}

// defaults fills what the caller left open.
func (o *Options) defaults() {
	c := &o.Client
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&c.Timeout, 30*time.Second)
	set(&c.MaxWait, 15*time.Minute)
	set(&c.BackoffMin, 200*time.Millisecond)
	set(&c.BackoffMax, 20*time.Second)
	set(&o.Budget.Checkpoint, 200*time.Millisecond)
	switch {
	case c.Retries == 0:
		c.Retries = 5
	case c.Retries < 0:
		c.Retries = 0
	}
	c.Concurrency = max(1, c.Concurrency)
	if c.MaxBody == 0 {
		c.MaxBody = 64 << 20
	}
	if c.UserAgent == "" {
		c.UserAgent = "lastdrop"
	}
	if c.Learn == nil {
		c.Learn = func(string) {}
	}
	if c.Cookies {
		c.Seal = func(string) (string, bool) { return "", false }
	}
	if c.Hide == nil {
		c.Hide = func(s string) string { return s }
	}
	if o.Passes < 1 {
		o.Passes = 1
	}
	if o.MaxDrift == 0 {
		o.MaxDrift = 100
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}
