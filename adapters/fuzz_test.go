package adapters_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lastdrop/adapters"
	"lastdrop/adapters/adapterstest"
	"lastdrop/judge"
)

// FuzzX reads arbitrary answers with the style x.
func FuzzSingle(f *testing.F)  { fuzzStyle(f, "single") }
func FuzzPage(f *testing.F)    { fuzzStyle(f, "page") }
func FuzzOffset(f *testing.F)  { fuzzStyle(f, "offset") }
func FuzzAlgolia(f *testing.F) { fuzzStyle(f, "algolia") }
func FuzzCursor(f *testing.F)  { fuzzStyle(f, "cursor") }
func FuzzNextURL(f *testing.F) { fuzzStyle(f, "next_url") }
func FuzzLink(f *testing.F)    { fuzzStyle(f, "link") }
func FuzzKeyset(f *testing.F)  { fuzzStyle(f, "keyset") }
func FuzzGraphQL(f *testing.F) { fuzzStyle(f, "graphql") }

// fuzzStyle checks that no answer panics, that none that is not JSON makes a
// page, that a page has no more rows than its list has elements, and that the
// end is only read from a word that says so.
func fuzzStyle(f *testing.F, style string) {
	api := adapterstest.APIs(style)[0]
	seedAnswers(f, style, api)
	r, err := adapters.NewReader(api.Spec)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, link string, middle bool) {
		var at adapters.Position
		if middle {
			at = readFirst(t, r, api)
		}
		req, err := r.Style().Request(at, 4, 0)
		if err != nil {
			t.Fatal(err)
		}
		resp := adapters.Response{Status: 200, Header: http.Header{"Link": {link}}, Body: body, URL: req.URL}
		page, err := r.Read(at, req, resp)
		if err != nil {
			if len(page.Items) > 0 {
				t.Fatalf("an error with %d items", len(page.Items))
			}
			return
		}
		checkPage(t, r, page, resp)
		next := page.Next.At
		if page.Next.State == adapters.Follow || page.Next.HasAt {
			checkNext(t, r, next)
		}
		judge.Judge(r.Snapshot(at, page, resp, 0))
	})
}

// readFirst gives the position behind the first page of an honest server.
func readFirst(t *testing.T, r *adapters.Reader, api adapterstest.API) adapters.Position {
	t.Helper()
	req, err := r.Style().Request(adapters.Position{}, 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	resp := api.Serve(req)
	resp.URL = req.URL
	page, err := r.Read(adapters.Position{}, req, resp)
	if err != nil {
		t.Fatal(err)
	}
	return page.Next.At
}

// seedAnswers takes the honest server's answers and those of testdata.
func seedAnswers(f *testing.F, style string, api adapterstest.API) {
	f.Helper()
	for _, say := range api.Says {
		f.Add([]byte(say.Body), strings.Join(say.Header.Values("Link"), ", "), true)
	}
	files, err := filepath.Glob(filepath.Join("testdata", style, "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, answer, _ := strings.Cut(string(raw), "-- answer.http --\n")
		head, body, _ := strings.Cut(answer, "\n\n")
		body, _, _ = strings.Cut(body, "\n-- ")
		_, link, _ := strings.Cut(head, "Link: ")
		f.Add([]byte(strings.ReplaceAll(body, `"rows"`, `"items"`)), link, false)
	}
	f.Add([]byte(`{"items":[{"id":1},null,{"id":{"a":[]}}],"total":1e3,"next":[1]}`), `<?page=2>; rel="next"`, true)
	f.Add([]byte(`{"items":[1],"items":[2]}`), `<`, true)
}

// checkPage holds a page against what encoding/json makes of the body.
func checkPage(t *testing.T, r *adapters.Reader, p adapters.Page, resp adapters.Response) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(resp.Body))
	dec.UseNumber()
	var whole any
	if err := dec.Decode(&whole); err != nil || dec.More() {
		t.Fatalf("a page of what is no JSON: %q", resp.Body)
	}
	list, _ := digPath(whole, r.Spec().Items.Path).([]any)
	if p.Received != len(list) || len(p.Items)+p.Nulls+p.Rejected != p.Received {
		t.Fatalf("%d rows (%d items, %d null, %d rejected) of a list of %d", p.Received, len(p.Items), p.Nulls, p.Rejected, len(list))
	}
	for _, item := range p.Items {
		if !json.Valid(item.Raw) || len(item.ID) > 0 && !json.Valid(item.ID) {
			t.Fatalf("item %q with the id %q is no JSON", item.Raw, item.ID)
		}
	}
	if p.Next.State == adapters.Ended && !saysEnd(r, whole, resp) {
		t.Fatalf("read as an end (%+v): %q %q", p.Next, resp.Body, resp.Header)
	}
}

// saysEnd reports whether an answer has a word for the end, read in another
// way than the styles do.
func saysEnd(r *adapters.Reader, whole any, resp adapters.Response) bool {
	pages := r.Spec().Pages
	switch pages.Style {
	case "cursor", "next_url":
		parent, ok := whole.(map[string]any)
		v, there := parent[pages.CursorPath+pages.NextPath]
		text, isText := v.(string)
		return ok && there && (v == nil || v == false || isText && strings.TrimSpace(text) == "")
	case "graphql":
		switch v := digPath(whole, pages.MorePath).(type) {
		case bool:
			return !v
		case string, json.Number:
			return true // a text or number that means false: the table test knows which
		}
		return false
	case "link":
		low := strings.ToLower(resp.Header.Get("Link"))
		return strings.Contains(low, "prev") || strings.Contains(low, "first") || strings.Contains(low, "last")
	default:
		return false // these compute their positions
	}
}

func digPath(tree any, path string) any {
	if path == "@this" {
		return tree
	}
	for key := range strings.SplitSeq(path, ".") {
		m, ok := tree.(map[string]any)
		if !ok {
			return nil
		}
		tree = m[key]
	}
	return tree
}

// checkNext takes a position through JSON and asks for it with two sizes.
func checkNext(t *testing.T, r *adapters.Reader, at adapters.Position) {
	t.Helper()
	raw, err := json.Marshal(at)
	if err != nil {
		t.Fatalf("%+v: %v", at, err)
	}
	var back adapters.Position
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	for _, size := range []int{4, 3} {
		req, err := r.Style().Request(back, size, 0)
		if err != nil {
			t.Fatalf("Request(%+v): %v", back, err)
		}
		if u, err := url.Parse(req.URL); err != nil || u.Scheme != "https" || u.Host != "api.example.test" || u.User != nil {
			t.Fatalf("%+v leads to %q", at, req.URL)
		}
	}
}

// FuzzNextLink follows arbitrary links from an arbitrary page: whatever is
// followed stands on the source's origin, without a user.
func FuzzNextLink(f *testing.F) {
	for _, link := range []string{
		"?page=2", "/v1/rows?$skip=190&size=4", "https://api.example.test:443/x?start=9", "//other.test/x", "http://api.example.test/",
		"https://a@api.example.test/", "https://api.example.test/?page=3&page=4", "?offset=9999999999999999999&page=-1", "?%zz=1&size=0&p=2",
		"?from=1700000000", "https://[::1]/?a", "javascript:alert(1)", "?page=9223372036854775807&size=2", "?_page=0",
	} {
		f.Add(link, "?page=1", 4)
	}
	spec := adapterstest.APIs("next_url")[0].Spec
	r, err := adapters.NewReader(spec)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, link, from string, received int) {
		received = min(max(received, 0), 20)
		req, err := r.Style().Request(adapters.Position{}, 4, 0)
		if err != nil {
			t.Fatal(err)
		}
		if u, err := url.Parse("https://api.example.test/v1/rows" + from); err == nil && u.Host == "api.example.test" {
			req.URL = u.String()
		}
		rows := make([]any, received)
		for i := range rows {
			rows[i] = map[string]any{"id": i}
		}
		body, err := json.Marshal(map[string]any{"items": rows, "next": strings.ToValidUTF8(link, "?")})
		if err != nil {
			t.Fatal(err)
		}
		page, err := r.Read(adapters.Position{}, req, adapters.Response{Status: 200, Header: http.Header{}, Body: body, URL: req.URL})
		if err != nil {
			t.Fatal(err)
		}
		if page.Next.State != adapters.Follow {
			return
		}
		checkNext(t, r, page.Next.At)
	})
}
