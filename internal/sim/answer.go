package sim

import (
	"bytes"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Framing is how a body's end is told.
type Framing string

// The framings. Rewritten is a proxy that declares what it sends, which is
// less than there was.
const (
	ByLength  Framing = "length"
	Chunked   Framing = "chunked"
	ByClose   Framing = "close"
	Rewritten Framing = "rewritten"
)

// failure is how an exchange ends without a whole answer.
type failure string

const (
	noFailure   failure = ""
	refusedConn failure = "refused"
	resetConn   failure = "reset"
	closedConn  failure = "closed"
)

// answer is what goes over the wire.
type answer struct {
	status int
	header http.Header
	// body is all that would be sent; sent bytes of it are.
	body []byte
	sent int
	// declared is the Content-Length under ByLength; -1 is the body's.
	declared int
	framing  Framing
	// fail ends the exchange: before the status where sent is negative,
	// otherwise behind the bytes that were sent.
	fail failure
	// hold is waited before the answer; stall behind the bytes sent.
	hold, stall time.Duration
	// charset is what the body was re-encoded in; empty is UTF-8.
	charset string
	// signed is the digest of the honest bytes.
	signed uint64
}

// newAnswer is a whole answer.
func newAnswer(status int, contentType string, body []byte) answer {
	h := http.Header{}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	return answer{status: status, header: h, body: body, sent: len(body), declared: -1, framing: ByLength}
}

// setBody replaces the bytes, all of them sent.
func (a *answer) setBody(b []byte) {
	a.body, a.sent = b, len(b)
}

// cut sends only the first n bytes, under a framing. A whole body stays
// whole.
func (a *answer) cut(n int, f Framing) {
	n = min(max(n, 0), len(a.body))
	a.sent = n
	a.framing = f
	if f == Rewritten {
		a.framing = ByLength
		a.setBody(a.body[:n])
	}
}

// whole reports whether everything is sent and said.
func (a *answer) whole() bool {
	return a.sent == len(a.body) && a.declaredLength() == len(a.body) && a.fail == noFailure
}

func (a *answer) declaredLength() int {
	if a.declared >= 0 {
		return a.declared
	}
	return len(a.body)
}

// bodiless reports whether the status allows no body.
func (a *answer) bodiless() bool {
	return a.status == http.StatusNoContent || a.status == http.StatusNotModified || a.status < 200
}

// zip compresses the body.
func (a *answer) zip() {
	a.setBody(zipped(a.body))
	a.header.Set("Content-Encoding", "gzip")
}

// writers are compressors that wait for the next body: making one costs more
// than most bodies do.
var writers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is legal
	return w
}}

// zipped is one gzip member.
func zipped(b []byte) []byte {
	var out bytes.Buffer
	w, _ := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(&out)
	// Writing to a buffer never fails.
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// digest identifies an answer's status, headers and body, whatever the text of
// a token is.
func (a *answer) digest(token string) uint64 {
	h := fnv.New64a()
	write := func(s string) { // a hash never fails
		if token != "" {
			s = strings.ReplaceAll(s, token, "*")
		}
		_, _ = io.WriteString(h, s+"\n")
	}
	write(strconv.Itoa(a.status))
	names := make([]string, 0, len(a.header))
	for name := range a.header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		write(name)
		for _, v := range a.header[name] {
			write(v)
		}
	}
	body := a.body
	if token != "" {
		body = bytes.ReplaceAll(body, []byte(token), []byte("*"))
	}
	_, _ = h.Write(body)
	return h.Sum64()
}
