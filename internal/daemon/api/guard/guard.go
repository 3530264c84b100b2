package guard

import (
	"cmp"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"lastdrop/internal/daemon/api/problem"
)

// Options say what is guarded, and how.
type Options struct {
	// Tokens let clients in; nil: everybody is.
	Tokens *Tokens
	// Listen is the address that the server listens on. Without tokens a request must
	// name its host, or this machine: a foreign name that leads here is an attack.
	Listen string
	// Hosts are further names of this server, as a proxy before it passes them on.
	Hosts []string
	// Secure says that browsers come by TLS though the server itself has none: a proxy.
	Secure bool
	// Open, if set, names further paths that need no token: the assets of LoginPage.
	Open func(path string) bool
	// LoginPage, if set, shows the form in the place of a plain one, to browsers that are
	// not logged in, wherever they ask: it posts "token" to /login, and as "next" where to go
	// then. says is empty, or why the last try failed. The page needs the Referrer-Policy
	// same-origin: under the guard's own browsers send no Origin.
	LoginPage func(w http.ResponseWriter, r *http.Request, status int, says string)
	// Rate and Burst bound the requests of one client; zero: 50 a second, 200 at once.
	Rate  rate.Limit
	Burst int
	Log   *slog.Logger
}

// A Guard lets requests through, or answers them itself.
type Guard struct {
	opt      Options
	hosts    []string
	anyIP    bool
	sessions sessions
	rates    rates // of all requests
	fails    rates // of tokens that were wrong
	now      func() time.Time
}

// New makes a Guard.
func New(o Options) *Guard {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	g := &Guard{opt: o, now: time.Now,
		rates: rates{every: cmp.Or(o.Rate, 50), burst: cmp.Or(o.Burst, 200)},
		fails: rates{every: rate.Every(5 * time.Second), burst: 5}}
	host, _, _ := net.SplitHostPort(o.Listen)
	g.hosts = append(g.hosts, o.Hosts...)
	g.hosts = append(g.hosts, host)
	if !loopback(host) { // no name can be made to lead here that is an address
		g.anyIP = true
		if name, err := os.Hostname(); err == nil {
			g.hosts = append(g.hosts, name)
		}
	}
	return g
}

// maxBody bounds the body of any request.
const maxBody = 1 << 20

// policy lets a page load nothing but this server's own files.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Wrap guards next. The paths /login and /logout are the guard's own.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w.Header())
		if p := g.check(r); p != nil {
			p.Write(w)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		switch {
		case g.opt.Tokens != nil && r.URL.Path == "/login":
			g.login(w, r)
		case g.opt.Tokens != nil && r.URL.Path == "/logout":
			g.logout(w, r)
		case g.open(r.URL.Path):
			next.ServeHTTP(w, r)
		default:
			g.let(w, r, next)
		}
	})
}

// headers are those of every answer; what may be kept by caches says so itself.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// check is what every request must pass, with a token or without.
func (g *Guard) check(r *http.Request) *problem.Problem {
	if wait := g.rates.wait(clientOf(r.RemoteAddr), g.now()); wait > 0 {
		return problem.TooMany.With("this client asks too often: wait as long as Retry-After says").After(wait)
	}
	if g.opt.Tokens == nil && !g.knows(r.Host) {
		return problem.Refused.With("the Host of the request is not this server: ask by its address, or name the host where it is started")
	}
	if !sameOrigin(r) {
		return problem.Refused.With("changes are taken from this server's own pages, and from programs that send no Origin")
	}
	return nil
}

// knows reports whether a Host header means this server.
func (g *Guard) knows(said string) bool {
	host := said
	if h, _, err := net.SplitHostPort(said); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
	if host == "" {
		return false
	}
	if _, err := netip.ParseAddr(host); err == nil && g.anyIP {
		return true
	}
	return loopback(host) || slices.ContainsFunc(g.hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// sameOrigin reports that a change does not come from another site's page.
func sameOrigin(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" {
			return false
		}
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	return true
}

// open reports that a path needs no token.
func (g *Guard) open(path string) bool {
	return g.opt.Tokens == nil || path == "/healthz" || path == "/readyz" || g.opt.Open != nil && g.opt.Open(path)
}

// let passes on a request that has a token or a session.
func (g *Guard) let(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if g.LoggedIn(r) {
		next.ServeHTTP(w, r)
		return
	}
	if _, ok := bearer(r); ok {
		g.fail(r).Write(w)
		return
	}
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		g.page(w, r, http.StatusUnauthorized, "", r.URL.RequestURI())
		return
	}
	problem.NoToken.With("send a token: Authorization: Bearer TOKEN").Write(w)
}

// LoggedIn reports whether a request has a token or a session that counts, or needs none.
func (g *Guard) LoggedIn(r *http.Request) bool {
	if g.opt.Tokens == nil {
		return true
	}
	if token, ok := bearer(r); ok {
		_, ok = g.opt.Tokens.match(token)
		return ok
	}
	return g.session(r)
}

func bearer(r *http.Request) (string, bool) {
	kind, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(kind, "Bearer")
}

// fail notes a wrong token, and is the answer.
func (g *Guard) fail(r *http.Request) *problem.Problem {
	g.opt.Log.Warn("a wrong token", "client", clientOf(r.RemoteAddr))
	if wait := g.fails.wait(clientOf(r.RemoteAddr), g.now()); wait > 0 {
		return problem.TooMany.With("too many wrong tokens came from this client: wait as long as Retry-After says").After(wait)
	}
	return problem.NoToken.With("this token is not known")
}

// session reports that a request has the cookie of a session whose token still counts.
func (g *Guard) session(r *http.Request) bool {
	c, err := r.Cookie(g.cookieName(r))
	if err != nil {
		return false
	}
	token, ok := g.sessions.token(c.Value, g.now())
	return ok && g.opt.Tokens.has(token)
}

func (g *Guard) secure(r *http.Request) bool { return r.TLS != nil || g.opt.Secure }

// cookieName: the prefix makes browsers refuse a cookie that another host of the domain set.
func (g *Guard) cookieName(r *http.Request) string {
	if g.secure(r) {
		return "__Host-lastdrop"
	}
	return "lastdrop"
}

func (g *Guard) cookie(r *http.Request, value string, age time.Duration) *http.Cookie {
	return &http.Cookie{Name: g.cookieName(r), Value: value, Path: "/", MaxAge: int(age / time.Second), HttpOnly: true,
		Secure: g.secure(r), SameSite: http.SameSiteStrictMode}
}

// login shows the form, or begins a session. Wrong tokens use up a client's tries, and
// further ones are then not looked at.
func (g *Guard) login(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		g.page(w, r, http.StatusOK, "", r.URL.Query().Get("next"))
		return
	case http.MethodPost:
	default:
		problem.BadMethod.With("this path takes GET, HEAD, POST").Allow("GET, HEAD, POST").Write(w)
		return
	}
	client := clientOf(r.RemoteAddr)
	if g.fails.of(client).TokensAt(g.now()) < 1 {
		w.Header().Set("Retry-After", "5")
		g.page(w, r, http.StatusTooManyRequests, "Too many wrong tokens. Wait a little.", r.PostFormValue("next"))
		return
	}
	token, ok := g.opt.Tokens.match(strings.TrimSpace(r.PostFormValue("token")))
	if !ok {
		p := g.fail(r)
		g.page(w, r, p.Status, "This token is not known.", r.PostFormValue("next"))
		return
	}
	http.SetCookie(w, g.cookie(r, g.sessions.begin(token, g.now()), sessionLasts))
	http.Redirect(w, r, ownPath(r.PostFormValue("next")), http.StatusSeeOther)
}

// ownPath is a path of this server, "/" where said is none: it may come from anybody.
func ownPath(said string) string {
	u, err := url.Parse(said)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(said, "/") || strings.HasPrefix(said, "//") ||
		strings.HasPrefix(said, "/login") || strings.ContainsAny(said, "\\\r\n\t") {
		return "/"
	}
	return said
}

func (g *Guard) logout(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		problem.BadMethod.With("this path takes POST").Allow("POST").Write(w)
		return
	}
	if c, err := r.Cookie(g.cookieName(r)); err == nil {
		g.sessions.end(c.Value)
	}
	http.SetCookie(w, g.cookie(r, "", -time.Second))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

var form = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>lastdrop</title>
<main><h1>lastdrop</h1>{{with .Says}}<p role="alert">{{.}}</p>{{end}}
<form method="post" action="/login"><input type="hidden" name="next" value="{{.Next}}">
<label>Token <input type="password" name="token" autocomplete="current-password" required autofocus></label>
<button>Log in</button></form></main></html>
`))

// page shows the form. next is where to go then.
func (g *Guard) page(w http.ResponseWriter, r *http.Request, status int, says, next string) {
	w.Header().Set("Referrer-Policy", "same-origin") // else the form's Origin would be null
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", problem.Realm)
	}
	if g.opt.LoginPage != nil {
		g.opt.LoginPage(w, r, status, says)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = form.Execute(w, struct{ Says, Next string }{says, ownPath(next)}) // the client may have gone
}
