package simtest_test

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"lastdrop/internal/sim"
	"lastdrop/internal/sim/simtest"

	"github.com/tidwall/gjson"
)

// reader asks a Sim for page after page, whatever comes.
type reader struct {
	client *http.Client
	hints  sim.ClientHints
	size   int
	page   int
	offset int
	cursor string
	next   string
}

// walk makes a number of requests.
func walk(s *sim.Sim, size, requests int) {
	r := &reader{client: &http.Client{Transport: s.Transport()}, hints: s.Hints(), size: size}
	r.page = r.hints.Number.First
	for range requests {
		r.step()
	}
}

func (r *reader) step() {
	req, err := http.NewRequest(http.MethodGet, r.url(), nil)
	if err != nil {
		return
	}
	for k, v := range r.hints.Headers {
		req.Header.Set(k, v)
	}
	resp, err := r.client.Do(req)
	r.page++
	r.offset += r.size
	if err != nil {
		return
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return
	}
	r.next = ""
	for _, link := range strings.Split(resp.Header.Get("Link"), ", <") {
		if u, attrs, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">"); strings.Contains(attrs, "next") {
			r.next = u
		}
	}
	if p := r.hints.Next.Path; p != "" {
		r.next = gjson.GetBytes(b, p).String()
	}
	if p := r.hints.Cursor.Path; p != "" {
		r.cursor = gjson.GetBytes(b, p).String()
	} else {
		r.cursor = resp.Header.Get(r.hints.Cursor.Header)
	}
	if p := r.hints.Keyset.Path; p != "" && r.hints.Style == "keyset" {
		list := gjson.GetBytes(b, r.hints.Items).Array()
		if len(list) > 0 {
			r.cursor = list[len(list)-1].Get(p).String()
		}
	}
}

// url is the next request's.
func (r *reader) url() string {
	if strings.HasPrefix(r.next, "http://sim.test") {
		return r.next
	}
	if strings.HasPrefix(r.next, "/") {
		return "http://sim.test" + r.next
	}
	q := url.Values{}
	for k, v := range r.hints.Params {
		q.Set(k, v)
	}
	set := func(name, value string) {
		if name != "" && value != "" {
			q.Set(name, value)
		}
	}
	if r.size > 0 {
		set(r.hints.Size.Param, strconv.Itoa(r.size))
	}
	set(r.hints.Number.Param, strconv.Itoa(r.page))
	set(r.hints.Offset.Param, strconv.Itoa(r.offset))
	set(r.hints.Cursor.Param, r.cursor)
	if r.hints.Style == "keyset" {
		set(r.hints.Keyset.Param, r.cursor)
	}
	return "http://sim.test" + r.hints.Path + "?" + q.Encode()
}

// served is the number of items on whole pages, repeats included.
func served(s *sim.Sim) (n int) {
	for _, e := range s.Log() {
		n += e.Items
	}
	return n
}

// TestFieldCasesShowTheirFaults walks every case blindly: each of its faults
// must come up, and each case must serve something or have a reason.
func TestFieldCasesShowTheirFaults(t *testing.T) {
	elsewhere := map[string]bool{"B082": true, "B115": true} // need a request that this reader does not make
	seen := map[string]bool{}
	for _, c := range simtest.Field() {
		t.Run(c.ID, func(t *testing.T) {
			if seen[c.ID] || c.Why == "" || !strings.Contains("COMPLETE TRUNCATED UNKNOWN", c.Verdict) {
				t.Errorf("case %+v", c)
			}
			seen[c.ID] = true
			synctest.Test(t, func(t *testing.T) {
				s := c.New()
				walk(s, c.Start, min(130, 10+3*len(s.World.Items)/max(c.Start, 1)))
				walk(s, min(c.Start, 5), 5) // what large pages lose
				if n := served(s); n < min(c.Distinct, 10) {
					t.Errorf("served %d items, the report ends with %d", n, c.Distinct)
				}
				for _, f := range s.Faults {
					if s.Counts()[f.Effect.Name()] == 0 && !elsewhere[c.ID] {
						t.Errorf("%s never came up", f.Effect.Name())
					}
				}
			})
		})
	}
	if len(seen) < 50 {
		t.Errorf("%d cases", len(seen))
	}
}
