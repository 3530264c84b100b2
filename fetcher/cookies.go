package fetcher

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"
)

// cookies are those of one walk over a session-paged source. They belong to
// the source's own origin: only its answers are read for them, and only its
// requests carry them. A walk begins with none, so that each pass is a session
// of its own, and so is the one that a resumed run begins anew.
type cookies struct {
	learn func(value string) // is told every value, so that texts can hide it

	mu  sync.Mutex
	jar http.CookieJar
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
	c.jar = jar
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
	c.jar.SetCookies(u, set)
}
