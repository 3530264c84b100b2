package fetcher

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// kinds are the names of kinds, for messages.
var kinds = [...]string{"fault", "page", "partial", "half", "deadline", "nothing", "other", "trouble", "limit", "passing", "refused", "expired", "end"}

// An answer is sorted by its status first; only a 2xx is looked into.
func TestClassifyStatus(t *testing.T) {
	const page = `{"total":1,"rows":[{"id":1}]}`
	for _, c := range []struct {
		status int
		body   string
		header http.Header
		want   kind
	}{
		{200, page, nil, kindPage},
		{201, page, nil, kindPage},
		{203, page, nil, kindPage},
		{204, "", nil, kindNothing},
		{206, page, nil, kindHalf},
		{206, page, header("Content-Range", "bytes 0-28/29"), kindPage},
		{206, page, header("Content-Range", "bytes 0-27/29"), kindHalf},
		{206, page, header("Content-Range", "bytes 1-28/29"), kindHalf},
		{206, page, header("Content-Range", "bytes 0-28/*"), kindHalf},
		{304, "", nil, kindNothing},
		{400, page, nil, kindRefused},
		{401, page, nil, kindRefused},
		{403, page, nil, kindRefused},
		{403, page, header("Retry-After", "1"), kindLimit},
		{403, page, header("X-RateLimit-Remaining", "0"), kindLimit},
		{403, page, header("X-RateLimit-Remaining", "1"), kindRefused},
		{403, `{"message":"API rate limit exceeded"}`, nil, kindLimit},
		{404, `{"rows":[]}`, nil, kindRefused},
		{408, page, nil, kindPassing},
		{409, `{"rows":[]}`, nil, kindRefused},
		{410, page, nil, kindExpired},
		{413, page, nil, kindRefused},
		{414, page, nil, kindRefused},
		{422, page, nil, kindRefused},
		{425, page, nil, kindPassing},
		{429, page, nil, kindLimit},
		{429, "", header("Retry-After", "soon"), kindLimit},
		{400, `{"error":"cursor has expired"}`, nil, kindExpired},
		{401, `{"error":"token expired"}`, nil, kindRefused},
		{403, `{"error":"token expired"}`, nil, kindRefused},
		{500, page, nil, kindPassing},
		{502, "<html>", nil, kindPassing},
		{503, page, nil, kindPassing},
		{503, page, header("Retry-After", "5"), kindLimit},
		{504, "", nil, kindPassing},
		{599, "", nil, kindPassing},
	} {
		d := walk(t, rowsSpec("http://127.0.0.1"), quick())
		if c.header == nil {
			c.header = header()
		}
		a := sorted(t, d, raw{status: c.status, header: c.header, body: []byte(c.body), url: d.spec.URL, wire: int64(len(c.body))})
		if a.kind != c.want {
			t.Errorf("%d %v %s is sorted as %s, want %s: %s", c.status, c.header, c.body, kinds[a.kind], kinds[c.want], a.text)
		}
		if a.kind != kindPage && (len(a.page.Items) > 0 || a.text == "") {
			t.Errorf("%d %s: %d items, %q", c.status, c.body, len(a.page.Items), a.text)
		}
	}
}

// A 2xx is sorted by its body, as a whole and strictly.
func TestClassifyBody(t *testing.T) {
	const page = `{"total":1,"rows":[{"id":1}]}`
	for _, c := range []struct {
		name string
		raw  raw
		want kind
	}{
		{"white space around it", raw{body: []byte(" \r\n\t" + page + "\n\n")}, kindPage},
		{"no items", raw{body: []byte(`{"total":0,"rows":[]}`)}, kindPage},
		{"an empty body", raw{}, kindNothing},
		{"an empty body that was to be longer", raw{short: true, expected: judge.N(5)}, kindHalf},
		{"only white space", raw{body: []byte(" \n")}, kindNothing},
		{"HTML", raw{body: []byte("<!doctype html><title>Log in</title>")}, kindOther},
		{"plain text", raw{body: []byte("upstream is down")}, kindOther},
		{"cut in the middle", raw{body: []byte(page[:20])}, kindHalf},
		{"whole JSON, and bytes are missing", raw{body: []byte(page), short: true, expected: judge.N(99)}, kindHalf},
		{"whole, and the connection broke after it", raw{body: []byte(page), reset: true}, kindPage},
		{"cut by max_body", raw{cut: true, short: true}, kindHalf},
		{"a second value behind it", raw{body: []byte(page + page)}, kindHalf},
		{"one bracket too many", raw{body: []byte(page + "}")}, kindHalf},
		{"an error text in its tail", raw{body: []byte(page[:len(page)-2] + ",\nERROR: canceling statement due to statement timeout")}, kindDeadline},
		{"an error text behind it", raw{body: []byte(page + "\nFatal error: out of memory")}, kindDeadline},
		{"a comma too many", raw{body: []byte(`{"total":1,"rows":[{"id":1},]}`)}, kindHalf},
		{"a comment", raw{body: []byte(`{"total":1,/**/"rows":[{"id":1}]}`)}, kindHalf},
		{"single quotes", raw{body: []byte(`{'rows':[]}`)}, kindHalf},
		{"NaN", raw{body: []byte(`{"total":NaN,"rows":[{"id":1}]}`)}, kindHalf},
		{"a number with a leading zero", raw{body: []byte(`{"total":01,"rows":[{"id":1}]}`)}, kindHalf},
		{"a raw line end in a string", raw{body: []byte("{\"rows\":[{\"id\":\"a\nb\"}]}")}, kindHalf},
		{"no list at the items path", raw{body: []byte(`{"data":[]}`)}, kindTrouble},
		{"an object at the items path", raw{body: []byte(`{"rows":{}}`)}, kindTrouble},
		{"an error beside the items", raw{body: []byte(`{"error":"boom","rows":[]}`)}, kindTrouble},
		{"errors of GraphQL", raw{body: []byte(`{"errors":[{"message":"boom"}],"rows":[]}`)}, kindTrouble},
		{"an empty error field", raw{body: []byte(`{"error":null,"errors":[],"total":1,"rows":[{"id":1}]}`)}, kindPage},
		{"the items path twice", raw{body: []byte(`{"rows":[{"id":1}],"rows":[]}`)}, kindTrouble},
		{"a body that cannot be decoded", raw{undone: errCoding}, kindOther},
		{"no answer", raw{err: errors.New("connection refused")}, kindFault},
		{"a redirect that was refused", raw{err: errRedirect}, kindRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := walk(t, rowsSpec("http://127.0.0.1"), quick())
			c.raw.status, c.raw.header, c.raw.url = 200, header(), d.spec.URL
			if c.raw.err != nil {
				c.raw.status = 0
			}
			c.raw.wire = int64(len(c.raw.body))
			if a := sorted(t, d, c.raw); a.kind != c.want {
				t.Errorf("sorted as %s, want %s: %s", kinds[a.kind], kinds[c.want], a.text)
			}
		})
	}
}

// The content type is not what makes a page: the body is.
func TestClassifyContentType(t *testing.T) {
	for _, c := range []struct {
		contentType, body string
		want              kind
	}{
		{"text/html", `{"rows":[]}`, kindPage},
		{"", `{"rows":[]}`, kindPage},
		{"application/problem+json", `{"title":"no"}`, kindTrouble},
		{"application/json", "<html></html>", kindOther},
	} {
		srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{c.contentType}
			_, _ = w.Write([]byte(c.body))
		})
		d := walk(t, rowsSpec(srv.URL), quick())
		if a := sorted(t, d, once(t, d, srv.URL+"/rows")); a.kind != c.want {
			t.Errorf("%q %s is sorted as %s, want %s", c.contentType, c.body, kinds[a.kind], kinds[c.want])
		}
	}
}

// A documented end counts behind the start of the source only.
func TestDocumentedEnd(t *testing.T) {
	spec := rowsSpec("http://127.0.0.1")
	spec.Pages.EndStatus = []adapters.EndStatus{{Status: 404, Path: "code", Is: "no_more"}}
	for _, c := range []struct {
		page int
		body string
		want kind
	}{
		{0, `{"code":"no_more"}`, kindRefused},
		{1, `{"code":"no_more"}`, kindEnd},
		{1, `{"code":"no_such_table"}`, kindRefused},
		{1, `{"code":"no_more"`, kindRefused},
		{1, ``, kindRefused},
	} {
		d := walk(t, spec, quick())
		d.state.Page = c.page
		if a := sorted(t, d, raw{status: 404, url: spec.URL, body: []byte(c.body)}); a.kind != c.want {
			t.Errorf("page %d, %s: %s, want %s", c.page, c.body, kinds[a.kind], kinds[c.want])
		}
	}
}

// A body above limits.max_body is never parsed as if it were whole; one just
// as large is.
func TestMaxBody(t *testing.T) {
	text := `{"total":2,"rows":[{"id":1},{"id":2}]}`
	for _, c := range []struct {
		coding string
		length bool
	}{{"", true}, {"", false}, {"gzip", true}, {"gzip", false}} {
		for _, over := range []int{0, 1} {
			body := coded(t, c.coding, text)
			srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.coding != "" {
					w.Header().Set("Content-Encoding", c.coding)
				}
				if !c.length {
					w.(http.Flusher).Flush() // now it goes out in chunks
				}
				_, _ = w.Write(body)
			})
			client := quick()
			client.MaxBody = int64(max(len(text), len(body)) - over)
			d := walk(t, rowsSpec(srv.URL), client)
			r := once(t, d, srv.URL+"/rows")
			a, want := sorted(t, d, r), kindPage
			if over > 0 {
				want = kindHalf
				if !strings.Contains(a.text, "limits.max_body") || !r.cut || len(r.body) > 0 {
					t.Errorf("%q, length %v: cut %v, %d bytes, %s", c.coding, c.length, r.cut, len(r.body), a.text)
				}
			}
			if a.kind != want {
				t.Errorf("%q, length %v, %d over: %s, want %s: %s", c.coding, c.length, over, kinds[a.kind], kinds[want], a.text)
			}
		}
	}
}

// The whole run over bodies that are too large: smaller pages fit, and where
// none does the run is TRUNCATED, never COMPLETE.
func TestMaxBodyOfARun(t *testing.T) {
	for _, c := range []struct {
		name    string
		maxBody int64
		verdict judge.Verdict
		stop    reconcile.Stop
	}{{"smaller pages fit", 1500, judge.Complete, reconcile.StopEnd}, {"none fits", 100, judge.Truncated, reconcile.StopHalf}} {
		t.Run(c.name, func(t *testing.T) {
			client := quick()
			client.MaxBody = c.maxBody
			o, s := options(t, rowsSpec(serve(t, rows(120)).URL), client)
			f, err := Drain(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := ruled(f); got != c.verdict || f.Stop != c.stop {
				t.Errorf("%v, stopped for %v; want %v, %v", got, f.Stop, c.verdict, c.stop)
			}
			if c.verdict == judge.Complete && (len(s.lines) != 120 || f.PageSize.Min >= 100) {
				t.Errorf("%d lines, least size %d", len(s.lines), f.PageSize.Min)
			}
		})
	}
}

// A time-out in the middle of a body is half a body or no answer, never a page.
func TestTimeoutMidBody(t *testing.T) {
	block := make(chan struct{})
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"total":2,"rows":[{"id":1}`))
		w.(http.Flusher).Flush()
		<-block
	})
	t.Cleanup(func() { close(block) }) // runs before the server closes
	client := quick()
	client.Timeout = 20 * time.Millisecond
	d := walk(t, rowsSpec(srv.URL), client)
	if a := sorted(t, d, once(t, d, srv.URL+"/rows")); a.kind != kindHalf && a.kind != kindFault {
		t.Errorf("sorted as %s: %s", kinds[a.kind], a.text)
	}
}
