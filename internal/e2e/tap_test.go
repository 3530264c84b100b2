//go:build e2e

package e2e

import (
	"io"
	"log"
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
	count int
	at    map[int]func() error
	err   error
}

// newTap puts a tap before a server. at gives what happens before the request
// of that number, the first being 1.
func newTap(t *testing.T, s *server, at map[int]func() error) *tap {
	t.Helper()
	to := must(url.Parse(s.base))(t)
	p := &tap{at: at}
	front := httptest.NewServer(&httputil.ReverseProxy{
		ErrorLog: log.New(io.Discard, "", 0), // a client that is killed is no error
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // servers build their links of it
			p.before()
		},
	})
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

func (p *tap) before() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	do := p.at[p.count]
	if do == nil {
		return
	}
	delete(p.at, p.count)
	if err := do(); err != nil && p.err == nil {
		p.err = err
	}
}

// requests is how many requests went through.
func (p *tap) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}
