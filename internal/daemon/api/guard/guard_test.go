package guard

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lastdrop/internal/daemon/api/problem"
)

const (
	token   = "Kk9-this.is-a-token-of-the-test"
	another = "Another-token-of-the-test-0123456789"
)

// write makes a file and gives its path.
func write(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func tokens(t *testing.T) *Tokens {
	t.Helper()
	all, err := OpenTokens(write(t, "# for tests\n\n"+token+"\n  "+another+"  \n", 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// inner is what is guarded: it says what it was sent.
var inner = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		http.Error(w, "too long", http.StatusRequestEntityTooLarge)
		return
	}
	fmt.Fprintf(w, "inside, %d bytes", n)
})

// A request in short: method, path and headers.
func ask(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func post(h http.Handler, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "http://127.0.0.1:8080"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func login(h http.Handler, token string) *httptest.ResponseRecorder {
	return post(h, "/login", url.Values{"token": {token}}.Encode())
}

func TestCheckListen(t *testing.T) {
	for _, c := range []struct {
		addr, file string
		noAuth, ok bool
	}{
		{"127.0.0.1:8080", "", false, true}, {"localhost:0", "", false, true}, {"[::1]:8080", "", false, true}, {"127.9.9.9:1", "", false, true},
		{"[::ffff:127.0.0.1]:1", "", false, true},
		{":8080", "", false, false}, {"0.0.0.0:8080", "", false, false}, {"[::]:8080", "", false, false}, {"192.168.1.5:80", "", false, false},
		{"example.org:80", "", false, false}, {"localhost.example.org:80", "", false, false}, {"127.0.0.1.example.org:80", "", false, false},
		{":8080", "tokens", false, true}, {":8080", "", true, true}, {":8080", "tokens", true, false}, {"8080", "", false, false},
	} {
		if err := CheckListen(c.addr, c.file, c.noAuth); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestTokens(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		says string
	}{
		"short":          {"# a\nshort-secret\n", 0o600, "line 2"},
		"none":           {"# nothing\n\n", 0o600, "no token"},
		"spaces":         {"a token with spaces in it is none\n", 0o600, "line 1"},
		"world-readable": {token, 0o644, "chmod 600"},
	} {
		_, err := OpenTokens(write(t, c.text, c.mode))
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "short-secret") || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", name, err)
		}
	}
	all := tokens(t)
	for said, want := range map[string]bool{token: true, another: true, "": false, token[:len(token)-1]: false, token + "x": false, "# for tests": false} {
		if _, ok := all.match(said); ok != want {
			t.Errorf("%q: %v", said, ok)
		}
	}
	if err := os.WriteFile(all.path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := all.match(token); all.Reload() == nil || !ok {
		t.Error("a broken file took the place of good tokens")
	}
}

// Without a token nobody gets in; what needs none is open.
func TestAuthentication(t *testing.T) {
	g := New(Options{Tokens: tokens(t), Listen: "0.0.0.0:8080", Open: func(p string) bool { return strings.HasPrefix(p, "/assets/") }})
	h := g.Wrap(inner)
	for _, c := range []struct {
		path   string
		header []string
		status int
	}{
		{"/api/v1/runs", nil, 401}, {"/metrics", nil, 401}, {"/", nil, 401}, {"/", []string{"Accept", "text/html"}, 401},
		{"/healthz", nil, 200}, {"/readyz", nil, 200}, {"/healthz/", nil, 401}, {"/assets/a.js", nil, 200}, {"/login", nil, 200}, {"/logout", nil, 405},
		{"/login/../api/v1/runs", nil, 401}, {"//login", nil, 401},
		{"/", []string{"Authorization", "Bearer " + token}, 200}, {"/", []string{"Authorization", "bearer  " + another}, 200},
		{"/", []string{"Authorization", "Bearer " + token + "x"}, 401}, {"/", []string{"Authorization", "Bearer "}, 401},
		{"/", []string{"Authorization", "Basic " + token}, 401}, {"/", []string{"Authorization", token}, 401},
		{"/?token=" + token, nil, 401}, {"/", []string{"Cookie", "lastdrop=" + token}, 401}, {"/", []string{"Cookie", "lastdrop="}, 401},
	} {
		w := ask(h, "GET", c.path, c.header...)
		if w.Code != c.status || (w.Code == 200) != strings.Contains(w.Body.String(), "inside") && c.path != "/login" {
			t.Errorf("%s %v: %d %s, want %d", c.path, c.header, w.Code, w.Body, c.status)
		}
		if w.Code == 401 && w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s: 401 without WWW-Authenticate", c.path)
		}
	}
}

func TestSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := tokens(t)
		g := New(Options{Tokens: all, Listen: ":8080"})
		h := g.Wrap(inner)
		if w := login(h, token+"x"); w.Code != 401 || w.Header().Get("Set-Cookie") != "" || strings.Contains(w.Body.String(), token) {
			t.Errorf("wrong token: %d %v %s", w.Code, w.Header(), w.Body)
		}
		begin := func() string {
			t.Helper()
			w := login(h, token)
			said := w.Header().Get("Set-Cookie")
			for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"} {
				if w.Code != 303 || !strings.Contains(said, part) {
					t.Fatalf("%d %s: no %s", w.Code, said, part)
				}
			}
			cookie, _, _ := strings.Cut(said, ";")
			if len(cookie) != len("lastdrop=")+43 {
				t.Errorf("%s is not 256 bits", cookie)
			}
			return cookie
		}
		in := func(cookie string) bool { return ask(h, "GET", "/", "Cookie", cookie).Code == 200 }
		cookie := begin()
		if !in(cookie) || in(cookie+"x") || begin() == cookie {
			t.Error("a session is not what its cookie says")
		}
		if post(h, "/logout", "", "Cookie", cookie); in(cookie) {
			t.Error("a session lives after logout")
		}
		cookie = begin()
		time.Sleep(sessionLasts - time.Second)
		if !in(cookie) {
			t.Error("a session ended early")
		}
		time.Sleep(time.Second)
		if in(cookie) {
			t.Error("a session lives for ever")
		}
		cookie = begin()
		if err := os.WriteFile(all.path, []byte(another), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := all.Reload(); err != nil || in(cookie) {
			t.Errorf("a session outlives its token: %v", err)
		}
		time.Sleep(time.Second)
		first := begin2(g, all)
		time.Sleep(time.Second)
		for range maxSessions {
			begin2(g, all)
			time.Sleep(time.Millisecond)
		}
		if in("lastdrop="+first) || len(g.sessions.all) > maxSessions {
			t.Errorf("%d sessions", len(g.sessions.all))
		}
	})
}

func begin2(g *Guard, all *Tokens) string { return g.sessions.begin((*all.sums.Load())[0], g.now()) }

// After the login a browser is where it wanted to be, and never at another site.
func TestNext(t *testing.T) {
	h := New(Options{Tokens: tokens(t), Burst: 1000}).Wrap(inner)
	for said, want := range map[string]string{
		"/runs/a?x=1": "/runs/a?x=1", "": "/", "//evil.example": "/", "https://evil.example/": "/", "/\\evil.example": "/", "javascript:alert(1)": "/", "runs": "/",
		"/\t/evil.example": "/", "/login": "/", "\x00": "/", "/%2Fevil.example": "/%2Fevil.example",
	} {
		w := post(h, "/login", url.Values{"token": {token}, "next": {said}}.Encode())
		if got := w.Header().Get("Location"); w.Code != 303 || got != want {
			t.Errorf("%q: %d %q, want %q", said, w.Code, got, want)
		}
	}
	w := ask(h, "GET", "/runs/a?x=%22%3E", "Accept", "text/html,*/*")
	if w.Code != 401 || !strings.Contains(w.Body.String(), `name="next" value="/runs/a?x=%22%3E"`) || w.Header().Get("Referrer-Policy") != "same-origin" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

// Under TLS the cookie is Secure, also behind a proxy.
func TestSecureCookie(t *testing.T) {
	h := New(Options{Tokens: tokens(t), Secure: true}).Wrap(inner)
	if said := login(h, token).Header().Get("Set-Cookie"); !strings.HasPrefix(said, "__Host-lastdrop=") || !strings.Contains(said, "Secure") {
		t.Error(said)
	}
}

// A name that another site made to lead here gets nothing, and no page of another site
// changes anything.
func TestForeignPages(t *testing.T) {
	local := New(Options{Listen: "127.0.0.1:8080", Hosts: []string{"drops.internal"}}).Wrap(inner)
	wide := New(Options{Listen: "0.0.0.0:8080"}).Wrap(inner)
	for _, c := range []struct {
		host        string
		local, wide bool
	}{
		{"127.0.0.1:8080", true, true}, {"localhost:8080", true, true}, {"LOCALHOST", true, true}, {"[::1]:8080", true, true}, {"[::1]", true, true},
		{"drops.internal:80", true, false}, {"evil.example", false, false}, {"127.0.0.1.evil.example:8080", false, false}, {"", false, false},
		{"localhost.evil.example", false, false}, {"192.168.1.9:8080", false, true}, {"evil.example:127.0.0.1", false, false},
	} {
		for name, h := range map[string]http.Handler{"local": local, "wide": wide} {
			want := c.local
			if name == "wide" {
				want = c.wide
			}
			if w := ask(h, "GET", "/", "Host", c.host); (w.Code == 200) != want {
				t.Errorf("%s, Host %q: %d", name, c.host, w.Code)
			}
		}
	}
	for _, c := range []struct {
		headers []string
		ok      bool
	}{
		{nil, true}, {[]string{"Origin", "http://127.0.0.1:8080"}, true}, {[]string{"Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:8080"}, true},
		{[]string{"Origin", "http://127.0.0.1:9090"}, false}, {[]string{"Origin", "https://evil.example"}, false}, {[]string{"Origin", "null"}, false}, {[]string{"Origin", ""}, false},
		{[]string{"Sec-Fetch-Site", "cross-site"}, false}, {[]string{"Sec-Fetch-Site", "same-site"}, false},
		{[]string{"Sec-Fetch-Site", "same-origin", "Origin", "https://evil.example"}, false}, {[]string{"Origin", "http://127.0.0.1:8080", "Origin", "https://evil.example"}, false},
	} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
			if w := ask(local, method, "/", c.headers...); (w.Code == 200) != c.ok {
				t.Errorf("%s %v: %d", method, c.headers, w.Code)
			}
		}
		if w := ask(local, "GET", "/", c.headers...); w.Code != 200 {
			t.Errorf("GET %v: %d", c.headers, w.Code)
		}
	}
	// The form too: a login that another site makes is one into its account.
	h := New(Options{Tokens: tokens(t)}).Wrap(inner)
	if w := post(h, "/login", "token="+token, "Origin", "https://evil.example"); w.Code != 403 {
		t.Errorf("login from elsewhere: %d", w.Code)
	}
}

func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Tokens: tokens(t), Rate: 10, Burst: 20})
		h := g.Wrap(inner)
		for range 20 {
			ask(h, "GET", "/healthz")
		}
		w := ask(h, "GET", "/healthz")
		if w.Code != 429 || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), problem.Space) {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		time.Sleep(time.Second)
		for i := range 10 {
			if w := ask(h, "GET", "/healthz"); w.Code != 200 {
				t.Errorf("request %d after the wait: %d", i, w.Code)
			}
		}
		time.Sleep(time.Minute)
		var last int
		for range 6 { // wrong logins use up the tries, then the right one is not looked at
			last = login(h, "x").Code
		}
		if good := login(h, token).Code; last != 429 || good != 429 {
			t.Errorf("the sixth wrong login: %d, then a right one: %d", last, good)
		}
		if w := ask(h, "GET", "/", "Authorization", "Bearer "+token); w.Code != 200 {
			t.Errorf("a good token beside wrong ones: %d", w.Code)
		}
		if w := ask(h, "GET", "/", "Authorization", "Bearer x"); w.Code != 429 {
			t.Errorf("one more wrong token: %d", w.Code)
		}
		time.Sleep(6 * time.Second)
		if w := login(h, token); w.Code != 303 {
			t.Errorf("a right login after the wait: %d", w.Code)
		}
		for i := range 3 * maxClients {
			g.rates.wait(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), time.Now())
		}
		if n := len(g.rates.young) + len(g.rates.old); n > 2*maxClients {
			t.Errorf("%d clients are remembered", n)
		}
	})
	if clientOf("[2001:db8:1:2:aaaa::1]:5") != clientOf("[2001:db8:1:2:bbbb::2]:6") || clientOf("[::ffff:10.0.0.1]:5") != clientOf("10.0.0.1:6") ||
		clientOf("10.0.0.1:5") == clientOf("10.0.0.2:5") || clientOf("nonsense").IsValid() {
		t.Error("clients are not told apart as they should be")
	}
}

func TestHeadersAndLimits(t *testing.T) {
	h := New(Options{Listen: "127.0.0.1:0"}).Wrap(inner)
	for _, host := range []string{"127.0.0.1", "evil.example"} {
		w := ask(h, "GET", "/", "Host", host)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s, %s: %q", host, name, got)
			}
		}
	}
	if w := post(h, "/", strings.Repeat("x", maxBody)); w.Code != 200 {
		t.Errorf("a body of the limit: %d", w.Code)
	}
	if w := post(h, "/", strings.Repeat("x", maxBody+1)); w.Code != 413 {
		t.Errorf("a body over the limit: %d", w.Code)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := Server(listener.Addr().String(), h, slog.New(slog.DiscardHandler))
	go server.Serve(listener) //nolint:errcheck // it ends by Close
	defer server.Close()
	if server.ReadHeaderTimeout == 0 || server.ReadTimeout == 0 || server.WriteTimeout == 0 || server.IdleTimeout == 0 {
		t.Error("a side has no time-out")
	}
	req, _ := http.NewRequest("GET", "http://"+listener.Addr().String()+"/", nil)
	req.Header.Set("X-Long", strings.Repeat("x", 70<<10))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("70 KiB of headers: %d", res.StatusCode)
	}
}

// Secrets that are sent anywhere come back nowhere, and stand in no log.
func TestSecretsStayAway(t *testing.T) {
	var log strings.Builder
	g := New(Options{Tokens: tokens(t), Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	h := g.Wrap(inner)
	wrong := "Wrong-" + token
	var said strings.Builder
	for _, secret := range []string{token, wrong} {
		for _, w := range []*httptest.ResponseRecorder{
			login(h, secret), post(h, "/login?token="+secret, secret), post(h, "/logout", secret, "Cookie", "lastdrop="+secret),
			ask(h, "GET", "/"+secret), ask(h, "GET", "/?"+secret+"="+secret), ask(h, "GET", "/", "Authorization", "Bearer "+secret),
			ask(h, "GET", "/", "Authorization", "Basic "+secret), ask(h, "GET", "/", "Cookie", "lastdrop="+secret), ask(h, "GET", "/login?token="+secret),
			ask(h, "POST", "/"+secret, "Origin", "https://"+secret), ask(h, secret, "/login"), ask(h, "HEAD", "/"+secret, "Accept", "text/html"),
		} {
			fmt.Fprintln(&said, w.Header(), w.Body)
		}
	}
	for _, text := range []string{said.String(), log.String()} {
		if strings.Contains(text, token) {
			t.Errorf("a secret came back:\n%s", text)
		}
	}
	if !strings.Contains(log.String(), "a wrong token") {
		t.Error("wrong tokens are not logged")
	}
}

// TLS by files, which may be replaced while it serves.
func TestCertificate(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := LoadCertificate(cert, key); err == nil {
		t.Error("files that are not there")
	}
	makePair(t, cert, key, 1)
	c, err := LoadCertificate(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(New(Options{Listen: "127.0.0.1:0", Tokens: tokens(t)}).Wrap(inner))
	server.Listener = tls.NewListener(server.Listener, c.Config())
	server.Start()
	defer server.Close()
	serial := func() int64 {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: insecure(), DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := client.PostForm("https://"+server.Listener.Addr().String()+"/login", url.Values{"token": {token}})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if said := res.Header.Get("Set-Cookie"); !strings.Contains(said, "; Secure") {
			t.Errorf("under TLS: %s", said)
		}
		return res.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if n := serial(); n != 1 {
		t.Errorf("certificate %d", n)
	}
	makePair(t, cert, key, 2)
	if err := c.Reload(); err != nil || serial() != 2 {
		t.Errorf("after a reload: %v", err)
	}
	if err := os.WriteFile(key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Reload(); err == nil || serial() != 2 {
		t.Errorf("after a reload that failed: %v", err)
	}
}

func makePair(t *testing.T, certFile, keyFile string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func insecure() *tls.Config { return &tls.Config{InsecureSkipVerify: true} } //nolint:gosec // the test made the certificate
