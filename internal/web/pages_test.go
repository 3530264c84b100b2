package web_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"lastdrop/internal/web"
)

// get asks for a page and gives its status and text. Every answer must carry the policy.
func (s *site) get(path string) (int, string) {
	s.t.Helper()
	return s.ask(http.MethodGet, path, nil, nil)
}

func (s *site) ask(method, path string, form url.Values, head map[string]string) (int, string) {
	s.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for k, v := range head {
		req.Header.Set(k, v)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Security-Policy"); got != web.CSP {
		s.t.Errorf("%s: policy %q", path, got)
	}
	if resp.StatusCode == http.StatusSeeOther || resp.StatusCode == http.StatusFound {
		return resp.StatusCode, resp.Header.Get("Location")
	}
	return resp.StatusCode, string(text)
}

func TestSmoke(t *testing.T) {
	s := newSite(t)
	s.add("honest", "honest", false)
	s.add("half-bodies", "half-bodies", false)
	s.add("capped", "hard-cap", false)
	s.add("sliced", "hard-cap", true)
	for _, n := range []string{"honest", "half-bodies", "capped", "sliced"} {
		r := s.drain(n)
		t.Log(n, r.Verdict, r.Requests, r.Ended.Sub(r.Started))
		for _, p := range []string{"/runs/" + r.Run, "/runs/" + r.Run + "/attempts/1", "/pulls/" + n} {
			code, text := s.get(p)
			t.Log(p, code, len(text))
			if code != 200 {
				t.Log(text)
			}
		}
	}
	for _, p := range []string{"/", "/queue", "/judge", "/rules", "/nope"} {
		code, text := s.get(p)
		t.Log(p, code, len(text))
	}
}
