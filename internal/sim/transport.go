package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// Transport serves the Sim without sockets, as an HTTP/1 transport that does
// not decode codings on its own (DisableCompression) would show it: a body
// short of its length, or of its last chunk, ends in [io.ErrUnexpectedEOF], a
// close-delimited one ends cleanly wherever it was cut, a reset is
// [syscall.ECONNRESET]. It starts no goroutine and waits only where the
// answer does, so it works under testing/synctest.
func (s *Sim) Transport() http.RoundTripper { return transport{s} }

type transport struct{ sim *Sim }

// RoundTrip answers r; it reads and closes the request's body.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if err := ctx.Err(); err != nil {
		closeBody(r)
		return nil, err
	}
	q, err := newRequest(r, r.URL.Scheme)
	closeBody(r)
	if err != nil {
		return nil, err
	}
	a := t.sim.exchange(q)
	if !pause(ctx.Done(), a.hold) {
		return nil, context.Cause(ctx)
	}
	if a.sent < 0 {
		return nil, a.fail.err()
	}
	return a.response(r), nil
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close() // it was read whole
	}
}

// err is the failure as a client sees it.
func (f failure) err() error {
	switch f {
	case refusedConn:
		return &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("connect: %w", syscall.ECONNREFUSED)}
	case resetConn:
		return &net.OpError{Op: "read", Net: "tcp", Err: fmt.Errorf("read: %w", syscall.ECONNRESET)}
	default:
		return io.EOF
	}
}

// response is the answer as net/http hands it out.
func (a *answer) response(r *http.Request) *http.Response {
	resp := &http.Response{
		Status:     strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.wireHeader(), Request: r,
	}
	if a.bodiless() {
		resp.Body = http.NoBody
		return resp
	}
	b := &body{ctx: r.Context(), rest: a.body[:a.sent], stall: a.stall, end: io.EOF}
	switch a.framing {
	case Chunked:
		resp.Header.Del("Transfer-Encoding")
		resp.TransferEncoding = []string{"chunked"}
		resp.ContentLength = -1
		if a.sent < len(a.body) {
			b.end = io.ErrUnexpectedEOF
		}
	case ByClose:
		resp.ContentLength = -1
		resp.Close = true
	default:
		length := a.declaredLength()
		resp.ContentLength = int64(length)
		b.rest = b.rest[:min(length, len(b.rest))]
		if len(b.rest) < length {
			b.end = io.ErrUnexpectedEOF
		}
	}
	if a.fail == resetConn && (a.framing == ByClose || b.end != io.EOF) {
		b.end = resetConn.err()
	}
	resp.Body = b
	if r.Method == http.MethodHead {
		resp.Body = http.NoBody
	}
	return resp
}

// errClosed is what reading a closed body gives.
var errClosed = errors.New("http: read on closed response body")

// body is a response's body that ends as the answer says.
type body struct {
	ctx    context.Context //nolint:containedctx // a body lives as long as its request
	rest   []byte
	stall  time.Duration
	end    error
	closed bool
}

func (b *body) Read(p []byte) (int, error) {
	if b.closed {
		return 0, errClosed
	}
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if len(b.rest) == 0 {
		stall := b.stall
		b.stall = 0
		if !pause(b.ctx.Done(), stall) {
			return 0, context.Cause(b.ctx)
		}
		return 0, b.end
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *body) Close() error {
	b.closed = true
	return nil
}
