//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// A tap stands before a server and hands everything through. It counts the
// requests, and lets something happen at the server between two of them: that
// is how a source moves at a known place of a drain.
type tap struct {
	base string

	mu    sync.Mutex
	to    *server
	count int
	at    map[int]func() error
	each  func() error // happens before every request but the first
	err   error
}

// newTap puts a tap before a server. at gives what happens before the request
// of that number, the first being 1.
func newTap(t *testing.T, s *server, at map[int]func() error) *tap {
	t.Helper()
	p := &tap{to: s, at: at}
	front := httptest.NewServer(through(p.before))
	t.Cleanup(func() {
		front.Close()
		if p.err != nil {
			t.Errorf("what was to happen in mid-drain failed: %v", p.err)
		}
		for n := range p.at {
			t.Errorf("request %d, before which something was to happen, never came: %d came", n, p.count)
		}
	})
	p.base = front.URL
	return p
}

// through hands requests on to where to says.
func through(to func() *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		ErrorLog: log.New(io.Discard, "", 0), // a client that is killed is no error
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			panic(http.ErrAbortHandler) // no answer from there is no answer here
		},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to())
			r.Out.Host = r.In.Host // servers build their links of it
		},
	}
}

// before does what is to happen before a request, and gives the server that
// the request goes to.
func (p *tap) before() *url.URL {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	if do := p.at[p.count]; do != nil {
		delete(p.at, p.count)
		p.err = firstOf(p.err, do())
	}
	if p.each != nil && p.count > 1 {
		p.err = firstOf(p.err, p.each())
	}
	return &url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", p.to.port)}
}

// turnTo lets later requests go to another server.
func (p *tap) turnTo(s *server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = s
}

// requests is how many requests went through.
func (p *tap) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
