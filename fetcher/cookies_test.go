package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// sessions is an API whose tokens are good in the session that they were handed
// out in, and that the first request of a session opens. It has n items, ten on
// a page.
type sessions struct {
	n int

	mu     sync.Mutex
	opened int
	tokens map[string]string // by token, the session
	asked  []string          // the Cookie header and the token of each request
}

func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := r.FormValue("token")
	s.asked = append(s.asked, r.Header.Get("Cookie")+" "+token)
	sid := ""
	if k, err := r.Cookie("sid"); err == nil {
		sid = k.Value
	}
	if token == "" {
		s.opened++
		sid = fmt.Sprintf("session-%d", s.opened)
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: sid, Path: "/", HttpOnly: true})
	} else if s.tokens[token] != sid {
		http.Error(w, "no such page in the session "+sid, http.StatusBadRequest)
		return
	}
	from := 0
	_, _ = fmt.Sscanf(token, "t%d-", &from)
	var b strings.Builder
	for i := from; i < min(s.n, from+10); i++ {
		fmt.Fprintf(&b, `,{"id":%d}`, i)
	}
	next := "null"
	if from+10 < s.n {
		next = fmt.Sprintf("t%d-%d", from+10, len(s.asked))
		if s.tokens == nil {
			s.tokens = map[string]string{}
		}
		s.tokens[next] = sid
		next = `"` + next + `"`
	}
	fmt.Fprintf(w, `{"rows":[%s],"next":%s}`, strings.TrimPrefix(b.String(), ","), next)
}

func sessionSpec(base string) adapters.Spec {
	return adapters.Spec{URL: base + "/rows", Pages: adapters.Pages{Style: "cursor", CursorParam: "token", CursorPath: "next"},
		Items: adapters.Items{Path: "rows", IDs: []string{"id"}}}
}

// Cookies go back to the origin that set them; without the key they do not.
func TestCookies(t *testing.T) {
	for _, c := range []struct {
		cookies bool
		verdict judge.Verdict
		lines   int
	}{{true, judge.Complete, 35}, {false, judge.Truncated, 10}} {
		api := &sessions{n: 35}
		client := quick()
		client.Cookies = c.cookies
		o, s := options(t, sessionSpec(serve(t, api.ServeHTTP).URL), client)
		f, err := Drain(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := ruled(f); got != c.verdict || len(s.lines) != c.lines || api.opened != 1 {
			t.Errorf("cookies %v: %v with %d lines in %d sessions; want %v with %d in 1", c.cookies, got, len(s.lines), api.opened, c.verdict, c.lines)
		}
	}
}

// One walk is one session: a second pass begins without cookies, and a resumed
// run goes on from the start, with no position of the first life in its state.
func TestCookiesOfAWalk(t *testing.T) {
	api := &sessions{n: 35}
	srv := serve(t, api.ServeHTTP)
	client := quick()
	client.Cookies = true
	o, s := options(t, sessionSpec(srv.URL), client)
	o.Budget = Budget{Pages: 2}
	keep := &lastState{store: s}
	o.Ledger = keep
	f, err := Drain(context.Background(), o)
	if err != nil || f.Stop != reconcile.StopBudget || f.Distinct != 20 {
		t.Fatalf("%v, %d items, %v", f.Stop, f.Distinct, err)
	}
	if f.At != (judge.Resume{Kind: "offset", Value: "0"}) {
		t.Errorf("the run goes on at %+v, want the start", f.At)
	}
	if strings.Contains(string(keep.state), "t20") || strings.Contains(string(keep.state), "session-") {
		t.Errorf("the stored state holds a position of the session: %s", keep.state)
	}
	o.Budget, o.Resume = Budget{}, &Resume{State: keep.state, Keys: keep.keys}
	if f, err = Drain(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if got := ruled(f); got != judge.Complete || len(s.lines) != 35 {
		t.Errorf("%v with %d lines after the resume, want COMPLETE with 35", got, len(s.lines))
	}
	want := []string{" ", "sid=session-1 t10-1", " ", "sid=session-2 t10-3", "sid=session-2 t20-4", "sid=session-2 t30-5"}
	if !slices.Equal(api.asked, want) {
		t.Errorf("asked %q, want %q", api.asked, want)
	}
	slices.Sort(s.lines)
	if len(slices.Compact(s.lines)) != 35 {
		t.Error("a line stands twice")
	}
}

// Once the server takes the session back, what it shows is a guest's view, whose
// "no more" is no end of the list. A new session that lasts drains it.
func TestSessionTakenBack(t *testing.T) {
	for _, c := range []struct {
		name    string
		times   int // how many sessions are taken back, on their second page
		verdict judge.Verdict
		lines   int
	}{{"once", 1, judge.Complete, 35}, {"always", 1000, judge.Truncated, 10}} {
		api := &sessions{n: 35}
		taken := 0
		handler := func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("token") == "" || taken >= c.times {
				api.ServeHTTP(w, r)
				return
			}
			taken++
			http.SetCookie(w, &http.Cookie{Name: "sid", Path: "/", MaxAge: -1})
			fmt.Fprint(w, `{"rows":[{"id":10},{"id":11}],"next":null}`)
		}
		client := quick()
		client.Cookies = true
		o, s := options(t, sessionSpec(serve(t, handler).URL), client)
		f, err := Drain(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := ruled(f); got != c.verdict || len(s.lines) != c.lines {
			t.Errorf("taken back %s: %v with %d lines, want %v with %d", c.name, got, len(s.lines), c.verdict, c.lines)
		}
		if taken == 0 || taken > 10 {
			t.Errorf("taken back %s: %d sessions", c.name, taken)
		}
	}
}

// lastState keeps what a resume needs.
type lastState struct {
	*store
	state []byte
	items int64
	held  [][]byte
}

func (l *lastState) Commit(ctx context.Context, c Checkpoint) error {
	l.state, l.items = slices.Clone(c.State), c.Mark.Items
	for _, a := range c.Attempts {
		l.held = append(l.held, slices.Clone(a.Keys))
	}
	return l.store.Commit(ctx, c)
}

func (l *lastState) keys(yield func([]byte) error) error {
	for _, k := range l.held {
		if err := yield(k); err != nil {
			return err
		}
	}
	return nil
}

// Cookies never go to another origin, nor are those of another one taken; an
// answer's headers are free of them, and every value is told.
func TestCookiesStayAtTheirOrigin(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := r.Header.Get("Cookie"); c != "" {
			t.Errorf("the other origin was sent %q", c)
		}
		http.SetCookie(w, &http.Cookie{Name: "theirs", Value: "other-secret", Path: "/"})
		fmt.Fprint(w, `{"rows":[]}`)
	}))
	t.Cleanup(other.Close)
	var got []string
	source := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Cookie"))
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other.URL+"/away", http.StatusFound)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "first-secret", Path: "/"})
		if r.URL.Path == "/here" {
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "second-secret", Path: "/"})
			http.Redirect(w, r, "/rows", http.StatusFound)
			return
		}
		fmt.Fprint(w, `{"rows":[]}`)
	})
	var told []string
	client := quick()
	client.Cookies, client.Learn = true, func(v string) { told = append(told, v) }
	client.Auth = func(r *http.Request) { r.Header.Set("X-Tenant", "17") }
	d := walk(t, rowsSpec(source.URL), client)
	if r := once(t, d, other.URL+"/rows"); r.status != 200 {
		t.Errorf("the other origin: status %d, %v", r.status, r.err)
	}
	if r := once(t, d, source.URL+"/here"); r.status != 200 || len(r.header.Values("Set-Cookie")) > 0 {
		t.Errorf("status %d, headers %v, %v", r.status, r.header, r.err)
	}
	if r := once(t, d, source.URL+"/away"); r.status != 0 || !strings.Contains(fmt.Sprint(r.err), "another origin") {
		t.Errorf("a redirect to another origin was followed: %d, %v", r.status, r.err)
	}
	if want := []string{"", "sid=second-secret", "sid=first-secret"}; !slices.Equal(got, want) {
		t.Errorf("cookies %q, want %q", got, want)
	}
	if want := []string{"first-secret", "second-secret", "first-secret"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	d.client.anew()
	if once(t, d, source.URL+"/rows"); got[len(got)-1] != "" {
		t.Errorf("a walk began with %q", got[len(got)-1])
	}
}

// A redirect to another origin is not followed where cookies say who asks.
func TestCookiesAloneKeepARedirectHome(t *testing.T) {
	away := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"rows":[]}`) })
	source := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, away.URL+"/away", http.StatusFound)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "secret-session", Path: "/"})
	})
	client := quick()
	client.Cookies = true
	d := walk(t, rowsSpec(source.URL), client)
	if r := once(t, d, source.URL+"/away"); r.status != 200 {
		t.Errorf("without a cookie: status %d, %v", r.status, r.err)
	}
	once(t, d, source.URL+"/rows")
	if r := once(t, d, source.URL+"/away"); r.status != 0 {
		t.Errorf("with one: status %d", r.status)
	}
}
