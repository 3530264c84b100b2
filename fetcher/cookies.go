package fetcher

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"sync"
)

// cookies are those of one walk over a session-paged source. They belong to
// the source's own origin: only its answers are read for them, and only its
// requests carry them. A walk begins with none, so that each pass is a session
// of its own, and so is the one that a resumed run begins anew.
//
// A session that the server takes back in the middle of a walk is over: what
// comes then may be another caller's view of the list, so that no answer of the
// walk counts any more. A changed value says nothing; many servers renew theirs
// with every answer.
type cookies struct {
	learn func(value string) // is told every value, so that texts can hide it

	mu   sync.Mutex
	jar  http.CookieJar
	gone string // a cookie that was sent and taken back
}

func newCookies(learn func(string)) *cookies {
	c := &cookies{learn: learn}
	c.forget()
	return c
}

// forget begins a session.
func (c *cookies) forget() {
	jar, err := cookiejar.New(nil) // other domains are never asked with it, so it needs no list of public suffixes
	if err != nil {
		panic(err) // New fails for no options
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jar, c.gone = jar, ""
}

func (c *cookies) of(u *url.URL) []*http.Cookie {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.jar.Cookies(u)
}

// keep takes what an answer sets, and takes it out of the answer's headers.
func (c *cookies) keep(u *url.URL, resp *http.Response) {
	set := resp.Cookies()
	resp.Header.Del("Set-Cookie")
	for _, k := range set {
		c.learn(k.Value)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.jar.Cookies(u)
	c.jar.SetCookies(u, set)
	if c.gone != "" || len(set) == 0 {
		return
	}
	after := c.jar.Cookies(u)
	for _, k := range before {
		if !slices.ContainsFunc(after, func(b *http.Cookie) bool { return b.Name == k.Name }) {
			c.gone = k.Name
		}
	}
}

// over names the cookie whose session the server took back, "" for none.
func (c *cookies) over() string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}
