package fetcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"lastdrop/adapters"
	"lastdrop/judge"
)

// A raw is one answer as it came over the wire, or the fault instead of one.
type raw struct {
	sent     bool          // the request went out
	waited   time.Duration // in pauses between the tries
	started  time.Time
	duration time.Duration
	url      string // the address that answered, after redirects
	status   int    // 0: no answer
	header   http.Header
	body     []byte // decoded
	mem      []byte // in which body stands
	wire     int64  // bytes read
	expected judge.Count
	err      error  // no answer at all
	short    bool   // the body ended before it was whole
	cut      bool   // by our own limits.max_body
	reset    bool   // the connection broke after the last declared byte
	undone   error  // the body cannot be decoded: no answer
	session  string // the cookie whose session the server took back
}

// A client asks for pages. Retries of the very same request run inside
// go-retryablehttp, whose response handler reads the whole body, so that the
// retry policy sees half a body too; whatever changes the request is the
// loop's to decide.
type client struct {
	opt     Client
	retry   *retryablehttp.Client
	pace    *Pace
	need    atomic.Int64 // further requests that the run expects, below 0: not known
	origin  *url.URL
	accept  string   // the kind of body to ask for
	cookies *cookies // nil: none are kept
	memory  buffers
}

// An exchange is one request with all its tries. The policy is asked after
// every try whether the same request goes out again, and after which pause.
type exchange struct {
	policy func(raw) (again bool, pause time.Duration)
	last   raw
	pause  time.Duration
	waited time.Duration // in pauses so far
	began  time.Time
	sent   bool // it went out, and did not only wait for the rate limit
	read   bool // the response handler ran for this try
	again  bool
	taken  bool // the policy is content with what was read
}

type exchangeKey struct{}

var (
	errAgain    = errors.New("the same request again")
	errRedirect = errors.New("a redirect was not followed")
)

func newClient(o Client, source string) (*client, error) {
	u, err := url.Parse(source)
	if err != nil {
		return nil, err
	}
	c := &client{opt: o, origin: u, accept: "application/json", pace: o.Pace}
	c.need.Store(-1)
	if c.pace == nil {
		c.pace = NewPace(o.Rate, o.Burst, o.Concurrency)
	}
	if o.Cookies {
		c.cookies = newCookies(o.Learn)
	}
	base := o.Transport
	if base == nil {
		base = defaultTransport(o)
	}
	c.retry = &retryablehttp.Client{
		HTTPClient: &http.Client{Transport: &guard{client: c, base: base}, CheckRedirect: c.redirect},
		RetryMax:   1 << 30, // the policy ends the tries
		CheckRetry: c.checkRetry,
		Backoff: func(_, _ time.Duration, _ int, _ *http.Response) time.Duration {
			return 0 // the policy's pause is waited for in checkRetry, where it is known
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	return c, nil
}

// defaultTransport speaks HTTP/1.1 with keep-alive, or HTTP/2 where asked for, and
// leaves content codings alone, so that the bytes on the wire can be counted.
func defaultTransport(o Client) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	if o.PublicOnly {
		t.DialContext = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Control: publicOnly}).DialContext
	}
	t.MaxIdleConnsPerHost = max(16, o.Concurrency)
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.Protocols.SetHTTP2(o.HTTP2)
	t.ForceAttemptHTTP2 = o.HTTP2
	return t
}

func (c *client) close() { c.retry.HTTPClient.CloseIdleConnections() }

// do sends a request until the policy is content with what came. Its first try
// may have been made ahead. The error is the context's only: a fault is a raw
// without a status.
func (c *client) do(ctx context.Context, r adapters.Request, first *flight, policy func(raw) (bool, time.Duration)) (raw, error) {
	x := &exchange{policy: policy}
	if first != nil {
		again, err := x.landed(ctx, first)
		if x.last.waited = x.waited; err != nil || !again {
			return x.last, err
		}
	}
	req, err := c.request(context.WithValue(ctx, exchangeKey{}, x), r)
	if err != nil {
		return raw{url: r.URL, err: err, started: time.Now()}, nil
	}
	req.SetResponseHandler(x.handle(c))
	x.began = time.Now()
	resp, err := c.retry.Do(req)
	if resp != nil {
		resp.Body.Close()
	}
	x.last.waited, x.last.sent = x.waited, x.sent
	if ctx.Err() != nil && !x.taken { // what was read whole counts, also where it came in the very last moment
		return x.last, ctx.Err()
	}
	if x.last.started.IsZero() {
		x.last = raw{url: r.URL, err: err, started: x.began, sent: x.sent}
	}
	return x.last, nil
}

// landed takes a try that was made ahead, asks the policy, and pauses as it says
// before the next one, counted from when that try came back.
func (x *exchange) landed(ctx context.Context, first *flight) (again bool, err error) {
	defer first.cancel()
	if x.last, err = first.wait(ctx); err != nil {
		return false, err
	}
	again, pause := x.policy(x.last)
	if !again {
		return false, nil
	}
	return true, x.pauses(ctx, pause-time.Since(x.last.started.Add(x.last.duration)))
}

// pauses waits before the next try.
func (x *exchange) pauses(ctx context.Context, pause time.Duration) error {
	pausing := time.Now()
	err := sleep(ctx, pause)
	x.began = time.Now()
	x.waited += x.began.Sub(pausing)
	return err
}

func (c *client) request(ctx context.Context, r adapters.Request) (*retryablehttp.Request, error) {
	var body any
	if len(r.Body) > 0 {
		body = r.Body
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, r.Method, r.URL, body)
	if err != nil {
		return nil, err
	}
	for k, v := range r.Header {
		req.Header[k] = v
	}
	def := func(k, v string) {
		if req.Header.Get(k) == "" {
			req.Header.Set(k, v)
		}
	}
	def("Accept", c.accept)
	def("User-Agent", c.opt.UserAgent)
	def("Accept-Encoding", "gzip, zstd")
	if c.opt.CacheBypass {
		def("Cache-Control", "no-cache")
	}
	if len(r.Body) > 0 {
		def("Content-Type", "application/json")
	}
	return req, nil
}

// checkRetry is called before the body is read and after. Before it, an
// answer is never retried; after it, as the policy said.
func (c *client) checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	if x == nil || ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err == nil && !x.read {
		return false, nil // now the response handler reads the body
	}
	if !x.read { // no answer at all
		x.last = raw{started: x.began, duration: time.Since(x.began), url: faultURL(err), err: err}
		x.again, x.pause = x.policy(x.last)
	}
	again, pause := x.again, x.pause
	x.read, x.again, x.pause = false, false, 0
	if !again {
		return false, nil
	}
	if err := x.pauses(ctx, pause); err != nil {
		return false, err
	}
	return true, nil
}

// handle reads the whole body and asks the policy.
func (x *exchange) handle(c *client) retryablehttp.ResponseHandlerFunc {
	return func(resp *http.Response) error {
		x.read = true
		x.last = readAnswer(resp, c.opt.MaxBody, &c.memory)
		x.last.started, x.last.duration = x.began, time.Since(x.began)
		x.last.session = c.cookies.over()
		x.again, x.pause = x.policy(x.last)
		if x.again {
			return errAgain
		}
		x.taken = !x.last.short
		return nil
	}
}

// readAnswer reads a response to its end and decodes it.
func readAnswer(resp *http.Response, limit int64, memory *buffers) raw {
	defer resp.Body.Close()
	a := raw{url: resp.Request.URL.String(), status: resp.StatusCode, header: resp.Header}
	if resp.ContentLength >= 0 {
		a.expected = judge.N(resp.ContentLength)
	}
	wire, err := readUpTo(resp.Body, resp.ContentLength, limit, memory)
	a.wire = int64(len(wire))
	switch {
	case a.wire > limit:
		a.cut, a.short = true, true
		return a
	case a.expected.OK && a.wire == a.expected.N:
		a.reset = err != nil
	case err != nil || a.expected.OK:
		a.short = true
	}
	body, err := decodeCoding(wire, resp.Header, limit, memory)
	switch {
	case errors.Is(err, errTooLarge):
		a.cut, a.short = true, true
		return a
	case errors.Is(err, io.ErrUnexpectedEOF):
		a.short, a.body = true, body
		return a
	case err != nil && a.short:
		return a // what came of it cannot be read either
	case err != nil:
		a.undone = err
		return a
	}
	if a.mem = body; len(wire) > 0 && len(body) > 0 && &wire[0] != &body[0] {
		memory.put(wire)
	}
	if a.body, err = decodeCharset(body, resp.Header); err != nil {
		a.undone, a.body = err, nil
	}
	return a
}

// readUpTo reads up to one byte past the limit.
func readUpTo(r io.Reader, length, limit int64, memory *buffers) ([]byte, error) {
	b := memory.get(int(min(max(length, 0), limit, 8<<20)) + 1)
	for int64(len(b)) <= limit {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):min(int64(cap(b)), limit+1)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// guard paces every request that goes out, redirects included, and adds the
// credentials and cookies where the request goes to the source's own origin.
type guard struct {
	client *client
	base   http.RoundTripper
}

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	c, asked := g.client, r
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	waited, err := c.pace.start(r.Context(), c.need.Load(), c.opt.MaxWait)
	if x != nil {
		x.waited += waited
		x.sent = x.sent || err == nil
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), c.opt.Timeout)
	over := func() { cancel(); c.pace.end() }
	r = r.WithContext(ctx)
	ours := sameOrigin(r.URL, c.origin)
	if ours && (c.opt.Auth != nil || c.cookies != nil) {
		r = r.Clone(r.Context())
		c.prove(r)
	}
	resp, err := g.base.RoundTrip(r)
	if resp == nil {
		over()
		return nil, err
	}
	resp.Body = &underWay{resp.Body, over}
	c.pace.heard(resp.Header, time.Now())
	c.pace.refused(resp, time.Now(), c.opt.MaxWait)
	resp.Request = asked // without the credentials
	if ours && c.cookies != nil {
		c.cookies.keep(r.URL, resp)
	}
	return resp, err
}

// underWay is the body of a request that is under way until it is closed.
type underWay struct {
	io.ReadCloser
	over func()
}

func (b *underWay) Close() error {
	err := b.ReadCloser.Close()
	if b.over != nil {
		b.over()
		b.over = nil
	}
	return err
}

// prove adds to a request of the source's own origin what proves who asks.
func (c *client) prove(r *http.Request) {
	if c.opt.Auth != nil {
		c.opt.Auth(r)
	}
	if c.cookies != nil {
		for _, k := range c.cookies.of(r.URL) {
			r.AddCookie(k)
		}
	}
}

// anew begins a walk over the source.
func (c *client) anew() {
	if c.cookies != nil {
		c.cookies.forget()
	}
}

func (g *guard) CloseIdleConnections() {
	if t, ok := g.base.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// redirect follows a few hops, never down to http, and takes the configured
// headers off a request that leaves the source's origin.
func (c *client) redirect(r *http.Request, via []*http.Request) error {
	from := via[len(via)-1]
	switch {
	case len(via) > 5:
		return fmt.Errorf("%w: stopped after %d of them", errRedirect, len(via))
	case r.URL.User != nil:
		return fmt.Errorf("%w: to an address with a user name in it", errRedirect)
	case from.URL.Scheme == "https" && r.URL.Scheme != "https":
		return fmt.Errorf("%w: from https down to %s", errRedirect, r.URL.Scheme)
	}
	asked, now := via[0].URL.Query(), r.URL.Query()
	for name, values := range asked {
		if !slices.Equal(values, now[name]) {
			return fmt.Errorf("%w: it changes the parameter %q, so that another page would come", errRedirect, name)
		}
	}
	if sameOrigin(r.URL, c.origin) {
		return nil
	}
	if c.authorized(via[0]) {
		return fmt.Errorf("%w: to another origin, %s, where the credentials do not go: it would answer as for anybody", errRedirect, r.URL.Host)
	}
	if r.Body != nil && r.Body != http.NoBody {
		return fmt.Errorf("%w: it would send the request body to another origin, %s", errRedirect, r.URL.Host)
	}
	if c.opt.Hide(r.URL.String()) != r.URL.String() {
		return fmt.Errorf("%w: it would carry a credential to another origin, %s", errRedirect, r.URL.Host)
	}
	bare(r.Header)
	return nil
}

// bare leaves nothing of the configured headers on a request to another origin
// but what it takes to be answered.
func bare(h http.Header) {
	for k := range h {
		switch k {
		case "Accept", "User-Agent", "Accept-Encoding", "Cache-Control":
		default:
			delete(h, k)
		}
	}
}

// authorized reports whether the config has credentials for a request.
func (c *client) authorized(r *http.Request) bool {
	bare := r.Clone(r.Context())
	bare.Header = http.Header{}
	address := bare.URL.String()
	c.prove(bare)
	return len(bare.Header) > 0 || bare.URL.String() != address
}

// sameOrigin compares scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if strings.EqualFold(u.Scheme, "https") {
		return "443"
	}
	return "80"
}

func faultURL(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.URL
	}
	return ""
}

// faultText says in one line what kept an answer from coming, without the
// address (which stands beside it) and in the same words on every platform.
func faultText(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "host not found: " + dns.Name
	case errors.Is(err, context.DeadlineExceeded):
		return "no whole answer within limits.timeout"
	}
	return strings.ReplaceAll(err.Error(), "\n", " ")
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
