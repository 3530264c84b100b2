package sim

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// ServeHTTP answers over a real connection. Answers that net/http would not
// write are written by hand on HTTP/1; on HTTP/2, and on any writer that gives
// its connection away to nobody, a short body is one that ends politely below
// its declared length, and a reset is an aborted handler.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	q, err := newRequest(r, scheme)
	if err != nil {
		return
	}
	a := s.exchange(q)
	if !pause(r.Context().Done(), a.hold) {
		return
	}
	if a.plain() {
		a.writePlain(w)
		return
	}
	if h, ok := w.(http.Hijacker); ok {
		a.writeRaw(h, r)
		return
	}
	a.writeAborted(w, r)
}

// pause waits; false where done came first.
func pause(done <-chan struct{}, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return false
	case <-timer.C:
		return true
	}
}

// plain reports whether net/http itself would send the answer so.
func (a *answer) plain() bool {
	return a.framing == ByLength && a.whole() && a.stall == 0
}

func (a *answer) writePlain(w http.ResponseWriter) {
	a.copyHeader(w.Header())
	if !a.bodiless() {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	// A client that went away is no fault of ours.
	_, _ = w.Write(a.body)
}

func (a *answer) copyHeader(h http.Header) {
	for name, values := range a.header {
		h[name] = values
	}
	if _, ok := a.header["Content-Type"]; !ok {
		h["Content-Type"] = nil
	}
}

// writeAborted does what can be done without the connection.
func (a *answer) writeAborted(w http.ResponseWriter, r *http.Request) {
	if a.sent < 0 {
		panic(http.ErrAbortHandler)
	}
	a.copyHeader(w.Header())
	if a.framing == ByLength {
		w.Header().Set("Content-Length", strconv.Itoa(a.declaredLength()))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body[:a.sent]) // a client that went away is no fault of ours
	if f, ok := w.(http.Flusher); ok && a.framing != ByLength {
		f.Flush()
	}
	pause(r.Context().Done(), a.stall)
	if a.fail == resetConn || (a.framing == Chunked && a.sent < len(a.body)) {
		panic(http.ErrAbortHandler)
	}
}

// writeRaw takes the connection and writes the answer by hand, then closes.
func (a *answer) writeRaw(h http.Hijacker, r *http.Request) {
	conn, rw, err := h.Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	if a.sent >= 0 {
		a.writeHead(rw.Writer)
		a.writeBody(rw.Writer)
		// Errors below mean that the client is gone.
		_ = rw.Flush()
		if a.stall > 0 {
			wait(conn, a.stall)
		}
	}
	if a.fail == resetConn || a.fail == refusedConn {
		linger(conn)
	}
}

// wait returns after d, or when the client closes.
func wait(conn net.Conn, d time.Duration) {
	_ = conn.SetReadDeadline(time.Now().Add(d))
	var b [1]byte
	_, _ = conn.Read(b[:])
}

// linger makes the close a reset.
func linger(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if t, ok := conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
}

func (a *answer) writeHead(w *bufio.Writer) {
	fmt.Fprintf(w, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	_ = a.wireHeader().Write(w)
	_, _ = w.WriteString("\r\n")
}

// wireHeader is the header with the framing's own fields.
func (a *answer) wireHeader() http.Header {
	h := a.header.Clone()
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	if a.bodiless() {
		return h
	}
	switch a.framing {
	case Chunked:
		h.Set("Transfer-Encoding", "chunked")
	case ByClose:
		h.Set("Connection", "close")
	default:
		h.Set("Content-Length", strconv.Itoa(a.declaredLength()))
	}
	return h
}

// chunk is the greatest size of one chunk.
const chunk = 4096

func (a *answer) writeBody(w *bufio.Writer) {
	body := a.body[:a.sent]
	if a.bodiless() {
		return
	}
	if a.framing != Chunked {
		_, _ = w.Write(body)
		return
	}
	for len(body) > 0 {
		n := min(chunk, len(body))
		size := n
		if n == len(body) && a.sent < len(a.body) {
			size = n + min(chunk, len(a.body)-a.sent)
		}
		fmt.Fprintf(w, "%x\r\n", size)
		_, _ = w.Write(body[:n])
		if size == n {
			_, _ = w.WriteString("\r\n")
		}
		body = body[n:]
	}
	if a.sent == len(a.body) {
		_, _ = w.WriteString("0\r\n\r\n")
	}
}
