package fetcher

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

const token = "s3cret-of-the-source"

// credentials is a client that proves who it is in each way that a config
// allows: a header, and a query parameter.
func credentials() Client {
	c := quick()
	c.Retries = -1
	c.Auth = func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
		q := r.URL.Query()
		q.Set("api_key", token)
		r.URL.RawQuery = q.Encode()
	}
	c.Hide = func(s string) string { return strings.ReplaceAll(s, token, "REDACTED") }
	return c
}

// A listener keeps what came to a host, in the words of the wire.
type listener struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func listen(t *testing.T, answer http.HandlerFunc) *listener {
	l := &listener{}
	l.Server = serve(t, func(w http.ResponseWriter, r *http.Request) {
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL)
		_ = r.Header.Write(&b)
		l.mu.Lock()
		l.seen = append(l.seen, b.String())
		l.mu.Unlock()
		answer(w, r)
	})
	return l
}

func (l *listener) requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.seen...)
}

// secretIn says which of the configured secrets a request carries.
func secretIn(request string) string {
	for _, s := range []string{token, "Authorization", "X-Tenant", "Cookie", "Referer"} {
		if strings.Contains(request, s) {
			return s
		}
	}
	return ""
}

func get(t *testing.T, d *drain, target string, h http.Header) raw {
	t.Helper()
	r, err := d.client.do(context.Background(), adapters.Request{Method: "GET", URL: target, Header: h}, nil, func(raw) (bool, time.Duration) { return false, 0 })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCredentialsStayAtTheSource(t *testing.T) {
	const page = `{"total":1,"rows":[{"id":1}]}`
	say := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) }
	var source, other *listener
	other = listen(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			http.Redirect(w, r, source.URL+"/end", http.StatusFound)
			return
		}
		say(w, r)
	})
	source = listen(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL+"/rows", http.StatusTemporaryRedirect)
		case "/away-and-back":
			http.Redirect(w, r, other.URL+"/back", http.StatusFound)
		case "/home":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/leak":
			http.Redirect(w, r, other.URL+"/rows?from="+r.URL.Query().Get("api_key"), http.StatusFound)
		case "/user":
			http.Redirect(w, r, strings.Replace(other.URL, "://", "://me:word@", 1), http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			say(w, r)
		}
	})
	d := walk(t, rowsSpec(source.URL), credentials())
	for _, c := range []struct {
		path   string
		kind   kind
		status int
		there  int // requests that the other host sees
		home   int // and the source
	}{
		{"/rows", kindPage, 200, 0, 1},
		{"/home", kindPage, 200, 0, 2},
		{"/away", kindRefused, 0, 0, 1}, // it would answer as for anybody
		{"/away-and-back", kindRefused, 0, 0, 1},
		{"/leak", kindRefused, 0, 0, 1},
		{"/user", kindRefused, 0, 0, 1},
		{"/round", kindRefused, 0, 0, 6},
	} {
		t.Run(c.path, func(t *testing.T) {
			there, home := len(other.requests()), len(source.requests())
			r := get(t, d, source.URL+c.path, header("X-Tenant", "17", "Cookie", "session=1"))
			a := sorted(t, d, r)
			if a.kind != c.kind {
				t.Errorf("sorted as %s, want %s: %s", kinds[a.kind], kinds[c.kind], a.text)
			}
			seen := other.requests()[there:]
			if len(seen) != c.there {
				t.Errorf("the other host saw %d requests, want %d", len(seen), c.there)
			}
			for _, request := range seen {
				if s := secretIn(request); s != "" {
					t.Errorf("%s went to the other host:\n%s", s, request)
				}
			}
			seen = source.requests()[home:]
			if len(seen) != c.home {
				t.Errorf("the source saw %d requests, want %d", len(seen), c.home)
			}
			for _, request := range seen {
				if !strings.Contains(request, "Authorization: Bearer "+token) || !strings.Contains(request, "api_key="+token) {
					t.Errorf("a request to the source is without credentials:\n%s", request)
				}
			}
			if strings.Contains(a.text, token) || r.err == nil && strings.Contains(r.url, token) {
				t.Errorf("the answer tells the key: %s, %s", r.url, a.text)
			}
		})
	}
}

// An answer of another host that is no page says nothing about the source: a
// 404 there is no refusal, and a 429 no limit.
func TestElsewhere(t *testing.T) {
	for _, status := range []int{401, 404, 410, 429, 500} {
		other := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		source := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
		d := walk(t, rowsSpec(source.URL), Client{})
		if a := sorted(t, d, once(t, d, source.URL+"/rows")); a.kind != kindOther || !strings.Contains(a.text, "another origin") {
			t.Errorf("%d: sorted as %s: %s", status, kinds[a.kind], a.text)
		}
	}
}

// A body is not sent to another host either.
func TestBodyStaysAtTheSource(t *testing.T) {
	other := listen(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"rows":[]}`) })
	source := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusPermanentRedirect)
	})
	d := walk(t, rowsSpec(source.URL), credentials())
	r, err := d.client.do(context.Background(), adapters.Request{Method: "POST", URL: source.URL, Header: header(), Body: []byte(`{"q":"all"}`)},
		nil, func(raw) (bool, time.Duration) { return false, 0 })
	if err != nil || r.err == nil || len(other.requests()) != 0 {
		t.Errorf("%v, %v; the other host saw %v", err, r.err, other.requests())
	}
}

// A source with https is not followed down to http, not even on its own host.
func TestNoDowngrade(t *testing.T) {
	plain := listen(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"rows":[]}`) })
	source := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	t.Cleanup(source.Close)
	client := credentials()
	client.Transport = source.Client().Transport
	d := walk(t, rowsSpec(source.URL), client)
	a := sorted(t, d, once(t, d, source.URL+"/rows"))
	if a.kind != kindRefused || !strings.Contains(a.text, "from https down to http") || len(plain.requests()) != 0 {
		t.Errorf("sorted as %s: %s; over http came %v", kinds[a.kind], a.text, plain.requests())
	}
}

// A next link to another host ends the run as TRUNCATED, and that host is
// never asked.
func TestNextLinkToAnotherHost(t *testing.T) {
	other := listen(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"rows":[],"next":null}`) })
	source := listen(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"rows":[{"id":1}],"next":%q}`, other.URL+"/rows?page=2")
	})
	spec := adapters.Spec{URL: source.URL + "/rows", Pages: adapters.Pages{Style: "next_url", NextPath: "next"},
		Items: adapters.Items{Path: "rows", IDs: []string{"id"}}}
	o, _ := options(t, spec, credentials())
	f, err := Drain(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if f.Stop != reconcile.StopBroken || ruled(f) != judge.Truncated || len(other.requests()) != 0 {
		t.Errorf("stopped for %v (%s), %v; the other host saw %v", f.Stop, f.StopText, ruled(f), other.requests())
	}
}

// Nothing that a run stores tells the key, even where the server repeats it in
// an error or an address.
func TestNothingStoredTellsTheKey(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"message":"key %s may not read %s"}`, r.FormValue("api_key"), r.URL)
		},
		"a redirect to another host": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.2:9/"+r.FormValue("api_key"), http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := listen(t, answer)
			o, s := options(t, rowsSpec(source.URL), credentials())
			f, err := Drain(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if len(source.requests()) == 0 || len(s.attempts) == 0 {
				t.Errorf("%d requests, %d attempts", len(source.requests()), len(s.attempts))
			}
			if text := fmt.Sprintf("%+v %+v %+v", f, s.attempts, s.events); strings.Contains(text, token) {
				t.Errorf("the key stands in what is kept: %s", text)
			}
		})
	}
}

func TestSameOrigin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"https://api.test/a", "https://api.test/b?c=d", true},
		{"https://api.test", "https://API.TEST", true},
		{"https://api.test", "https://api.test:443", true},
		{"http://api.test:80", "http://api.test", true},
		{"https://api.test", "http://api.test", false},
		{"https://api.test", "http://api.test:443", false},
		{"https://api.test", "https://api.test:8443", false},
		{"https://api.test", "https://www.api.test", false},
		{"https://api.test", "https://api.test.evil.test", false},
		{"https://api.test", "https://api.test@evil.test", false},
		{"http://[::1]:80", "http://[::1]", true},
	} {
		if got := sameOrigin(mustURL(t, c.a), mustURL(t, c.b)); got != c.same {
			t.Errorf("%s and %s: %v, want %v", c.a, c.b, got, c.same)
		}
	}
}

// A request says what it takes, and a header of the config outranks that.
func TestRequestHeaders(t *testing.T) {
	source := listen(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"rows":[]}`) })
	client := quick()
	client.UserAgent, client.CacheBypass = "tester/1", true
	d := walk(t, rowsSpec(source.URL), client)
	get(t, d, source.URL, header("Accept", "application/vnd.test+json"))
	request := strings.Join(source.requests(), "")
	for _, want := range []string{"Accept: application/vnd.test+json\r\n", "User-Agent: tester/1\r\n", "Accept-Encoding: gzip, zstd\r\n", "Cache-Control: no-cache\r\n"} {
		if !strings.Contains(request, want) {
			t.Errorf("%q is missing:\n%s", want, request)
		}
	}
}

// The bytes on the wire are counted, not those that they decode to.
func TestWireBytes(t *testing.T) {
	body := coded(t, "gzip", strings.Repeat(" ", 5000)+`{"rows":[]}`)
	source := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body)
	})
	d := walk(t, rowsSpec(source.URL), quick())
	r := once(t, d, source.URL)
	if r.wire != int64(len(body)) || r.expected != judge.N(int64(len(body))) || len(r.body) != 5011 || r.short {
		t.Errorf("wire %d of %v, body %d, short %v; want %d and 5011", r.wire, r.expected, len(r.body), r.short, len(body))
	}
}

// TestHTTP2 speaks HTTP/2 where it is asked for and the server does, and only then.
func TestHTTP2(t *testing.T) {
	var spoke string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		spoke = r.Proto
		rows(250)(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	for want, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		c := quick()
		c.HTTP2 = http2
		base := defaultTransport(c)
		base.TLSClientConfig = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
		c.Transport = base
		o, kept := options(t, rowsSpec(s.URL), c)
		f, err := Drain(context.Background(), o)
		if err != nil || ruled(f) != judge.Complete || len(kept.lines) != 250 || spoke != want {
			t.Errorf("%s: %v, %d lines, spoke %s, %v", want, ruled(f), len(kept.lines), spoke, err)
		}
	}
}
