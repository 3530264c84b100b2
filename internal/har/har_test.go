package har_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lastdrop/internal/har"
	"lastdrop/judge"
)

// wrap makes an archive of entries that are written as JSON.
func wrap(entries ...string) []byte {
	return []byte(`{"log":{"version":"1.2","entries":[` + strings.Join(entries, ",") + `]}}`)
}

// one reads an archive of one entry.
func one(t testing.TB, entry string) judge.Snapshot {
	t.Helper()
	all, err := har.Read(wrap(entry))
	if err != nil {
		t.Fatalf("%s: %v", entry, err)
	}
	if len(all) != 1 {
		t.Fatalf("%s: %d snapshots, want 1", entry, len(all))
	}
	return all[0]
}

// get makes an entry that asks for a URL and gets a JSON body.
func get(url, body string) string {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return `{"request":{"method":"GET","url":"` + url + `"},"response":{"status":200,"headers":[],"bodySize":-1,"content":{"size":-1,"mimeType":"application/json","text":` + string(text) + `}}}`
}

// withBody gives the response that a JSON body is read as.
func withBody(t testing.TB, body string) judge.Response {
	t.Helper()
	r := one(t, get("https://api.example/", body)).Response
	r.Headers = nil
	return r
}

func TestReadSession(t *testing.T) {
	data, err := os.ReadFile("testdata/session.har")
	if err != nil {
		t.Fatal(err)
	}
	got, err := har.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	link := []string{
		`<https://api.example/v1/things?per_page=3&page=2>; rel="next"`,
		`<https://api.example/v1/things?per_page=3&page=9>; rel="last"`,
	}
	want := []judge.Snapshot{
		{Kind: judge.KindHTTP, Request: judge.Request{Limit: judge.N(3), Page: judge.N(1)}, Response: judge.Response{
			Status: judge.N(200), ParseOK: judge.Yes, Items: judge.N(3), BytesRead: judge.N(7), BytesExpected: judge.N(7),
			Headers: map[string][]string{"Content-Type": {"application/json; charset=utf-8"}, "Content-Length": {"7"}, "Link": link}}},
		{Kind: judge.KindHTTP, Request: judge.Request{Limit: judge.N(5000), Page: judge.N(0), FirstPage: judge.N(0)}, Response: judge.Response{
			Status: judge.N(200), ParseOK: judge.Yes, Items: judge.N(2), Total: judge.N(533689), BytesRead: judge.N(900), BytesExpected: judge.N(900),
			Headers: map[string][]string{"content-type": {"application/json"}, "content-encoding": {"br"}, "content-length": {"900"}}}},
		{Kind: judge.KindHTTP, Request: judge.Request{Limit: judge.N(10), Offset: judge.N(0)}, Response: judge.Response{
			Status: judge.N(200), ParseOK: judge.No, BytesRead: judge.N(44), BytesExpected: judge.N(65536),
			Headers: map[string][]string{"Content-Type": {"application/json"}, "Content-Length": {"65536"}}}},
		{Kind: judge.KindHTTP, Response: judge.Response{Status: judge.N(200), Headers: map[string][]string{}}},
		{Kind: judge.KindHTTP, Response: judge.Response{Error: "net::ERR_CONNECTION_RESET", Headers: map[string][]string{}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	verdicts := []judge.Verdict{judge.Truncated, judge.Truncated, judge.Truncated, judge.Unknown, judge.Unknown}
	for i, s := range got {
		if r := judge.Judge(s); r.Verdict != verdicts[i] {
			t.Errorf("entry %d: %v %v, want %v", i, r.Verdict, r.Rules, verdicts[i])
		}
	}
}

func TestReadRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", "not an HTTP archive: unexpected end of JSON input"},
		{"no JSON", "hello", "not an HTTP archive: invalid character 'h' looking for beginning of value"},
		{"half", `{"log":{"entries":[`, "not an HTTP archive: unexpected end of JSON input"},
		{"text after it", `{"log":{"entries":[]}} x`, "not an HTTP archive: invalid character 'x' after top-level value"},
		{"an array", `[]`, "not an HTTP archive: it is of the wrong type: array"},
		{"an empty object", `{}`, "not an HTTP archive: log.entries is missing"},
		{"a log without entries", `{"log":{}}`, "not an HTTP archive: log.entries is missing"},
		{"null entries", `{"log":{"entries":null}}`, "not an HTTP archive: log.entries is missing"},
		{"entries of another type", `{"log":{"entries":{}}}`, "not an HTTP archive: log.entries is of the wrong type: object"},
		{"a URL of another type", string(wrap(`{"request":{"url":5},"response":{}}`)), "not an HTTP archive: log.entries.request.url is of the wrong type: number"},
		{"no response", string(wrap(get("u", "[]"), `{"request":{}}`)), "log.entries[1].response: is missing"},
		{"null response", string(wrap(`{"request":{},"response":null}`)), "log.entries[0].response: is missing"},
		{"bad base64", string(wrap(`{"request":{},"response":{"content":{"encoding":"base64","text":"%%"}}}`)), "log.entries[0].response.content.text: is not the base64 that it claims to be"},
		{"another encoding", string(wrap(`{"request":{},"response":{"content":{"encoding":"rot13","text":"x"}}}`)), `log.entries[0].response.content.text: has an encoding that is not known: "rot13"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := har.Read([]byte(tt.text))
			if err == nil || err.Error() != tt.want {
				t.Fatalf("got %v, %v\nwant %s", got, err, tt.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not one line", err)
			}
		})
	}
}

func TestReadTolerates(t *testing.T) {
	for name, text := range map[string]string{
		"a byte order mark": "\xEF\xBB\xBF" + string(wrap(get("u", "[]"))),
		"fields of its own": `{"log":{"entries":[{"_x":1,"request":{"_y":[]},"response":{"_z":{}}}],"_v":2},"_w":3}`,
		"null sizes":        string(wrap(`{"request":{},"response":{"status":200,"bodySize":null,"content":{"size":null}}}`)),
		"text for a size":   string(wrap(`{"request":{},"response":{"status":200,"bodySize":"7","content":{"size":1.5}}}`)),
	} {
		if all, err := har.Read([]byte(text)); err != nil || len(all) != 1 {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
	if all, err := har.Read(wrap()); err != nil || len(all) != 0 || all == nil {
		t.Errorf("no entries: %v, %v, want an empty list", all, err)
	}
}

func TestQuery(t *testing.T) {
	n := judge.N
	tests := []struct {
		query string
		want  judge.Request
	}{
		{"", judge.Request{}},
		{"limit=10", judge.Request{Limit: n(10)}},
		{"per_page=10", judge.Request{Limit: n(10)}},
		{"page_size=10", judge.Request{Limit: n(10)}},
		{"pagesize=10", judge.Request{Limit: n(10)}},
		{"size=10", judge.Request{Limit: n(10)}},
		{"hitsPerPage=10", judge.Request{Limit: n(10)}},
		{"$limit=10", judge.Request{Limit: n(10)}},
		{"%24top=10", judge.Request{Limit: n(10)}},
		{"offset=10", judge.Request{Offset: n(10)}},
		{"skip=10", judge.Request{Offset: n(10)}},
		{"$skip=10", judge.Request{Offset: n(10)}},
		{"start=10", judge.Request{Offset: n(10)}},
		{"page=2", judge.Request{Page: n(2)}},
		{"page=0", judge.Request{Page: n(0), FirstPage: n(0)}},
		{"hitsPerPage=10&page=2", judge.Request{Limit: n(10), Page: n(2), FirstPage: n(0)}},
		{"limit=10&page=2", judge.Request{Limit: n(10), Page: n(2)}},
		{"limit=10&offset=20", judge.Request{Limit: n(10), Offset: n(20)}},
		{"limit=10&size=10", judge.Request{Limit: n(10)}},
		{"limit=10&size=20", judge.Request{}},
		{"limit=10&limit=20", judge.Request{}},
		{"limit=10&limit=10", judge.Request{Limit: n(10)}},
		{"limit=-1&offset=x&page=1.5", judge.Request{}},
		{"limit=99999999999999999999", judge.Request{}},
		{"limit=", judge.Request{}},
		{"Limit=10&PER_PAGE=10&pageSize=10&count=10&n=10", judge.Request{}},
	}
	for _, tt := range tests {
		got := one(t, get("https://api.example/things?"+tt.query, "[]")).Request
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.query, diff)
		}
	}
}

func TestQueryStringCountsWhereTheURLHasNone(t *testing.T) {
	listed := `{"request":{"url":%q,"queryString":[{"name":"limit","value":"7"}]},"response":{"status":200}}`
	for url, want := range map[string]judge.Count{
		"https://api.example/":          judge.N(7),
		"https://api.example/?limit=9":  judge.N(9),
		"https://api.example/?other=9":  {},
		"://%zz":                        judge.N(7),
		"":                              judge.N(7),
		"https://api.example/?limit=%z": {},
	} {
		if got := one(t, fmt.Sprintf(listed, url)).Request.Limit; got != want {
			t.Errorf("%q: limit %v, want %v", url, got, want)
		}
	}
}

func TestItems(t *testing.T) {
	tests := []struct {
		body string
		want judge.Count
	}{
		{`[]`, judge.N(0)},
		{` [1, null, {"items":[1,2]}] `, judge.N(3)},
		{`{"items":[1]}`, judge.N(1)},
		{`{"anything":[1,2]}`, judge.N(2)},
		{`{"anything":[1,2],"other":[]}`, judge.Count{}},
		{`{"anything":[1,2],"errors":[]}`, judge.N(2)},
		{`{"data":[1,2],"items":[1]}`, judge.N(1)},
		{`{"results":[1,2],"data":[1]}`, judge.N(1)},
		{`{"hits":[1,2],"results":[1]}`, judge.N(1)},
		{`{"records":[1,2],"hits":[1]}`, judge.N(1)},
		{`{"rows":[1,2],"records":[1]}`, judge.N(1)},
		{`{"value":[1,2],"rows":[1]}`, judge.N(1)},
		{`{"entries":[1,2],"value":[1]}`, judge.N(1)},
		{`{"list":[1,2],"entries":[1]}`, judge.N(1)},
		{`{"list":[1,2],"other":[1]}`, judge.N(2)},
		{`{"items":{"a":1},"other":[1,2]}`, judge.N(2)},
		{`{"items":null,"data":[1]}`, judge.N(1)},
		{`{"items":[1],"items":[1,2]}`, judge.Count{}},
		{`{"data":{"items":[1]}}`, judge.Count{}},
		{`{"errors":[1]}`, judge.Count{}},
		{`{"warnings":[],"messages":[],"links":[],"facets":[],"included":[],"_links":[]}`, judge.Count{}},
		{`{}`, judge.Count{}},
		{`"text"`, judge.Count{}},
		{`5`, judge.Count{}},
		{`null`, judge.Count{}},
	}
	for _, tt := range tests {
		if got := withBody(t, tt.body); got.Items != tt.want || got.ParseOK != judge.Yes {
			t.Errorf("%s: items %v, parse_ok %v, want %v, yes", tt.body, got.Items, got.ParseOK, tt.want)
		}
	}
}

func TestBodyFields(t *testing.T) {
	parsed := judge.Response{Status: judge.N(200), ParseOK: judge.Yes}
	with := func(change func(*judge.Response)) judge.Response {
		r := parsed
		change(&r)
		return r
	}
	total := func(n int64) judge.Response { return with(func(r *judge.Response) { r.Total = judge.N(n) }) }
	tests := []struct {
		body string
		want judge.Response
	}{
		{`{"total":5}`, total(5)},
		{`{"total_count":5}`, total(5)},
		{`{"totalResults":5.0}`, total(5)},
		{`{"@odata.count":5}`, total(5)},
		{`{"total":5,"totalCount":5}`, total(5)},
		{`{"total":5,"totalCount":6}`, parsed},
		{`{"total":"5"}`, parsed},
		{`{"total":-1}`, parsed},
		{`{"total":5.5}`, parsed},
		{`{"total":null}`, parsed},
		{`{"total":{"value":5}}`, parsed},
		{`{"total":5,"total":5}`, parsed},
		{`{"count":5}`, parsed},
		{`{"meta":{"total":5}}`, parsed},
		{`{"nbHits":5,"exhaustiveNbHits":true}`, total(5)},
		{`{"nbHits":5,"exhaustiveNbHits":false}`, with(func(r *judge.Response) { r.Total, r.TotalKind = judge.N(5), judge.Estimate })},
		{`{"has_more":true}`, with(func(r *judge.Response) { r.HasMore = judge.Yes })},
		{`{"hasNextPage":false}`, with(func(r *judge.Response) { r.HasMore = judge.No })},
		{`{"has_more":false,"hasMore":true}`, with(func(r *judge.Response) { r.HasMore = judge.Yes })},
		{`{"has_more":"true"}`, parsed},
		{`{"has_more":null}`, parsed},
		{`{"isLast":true}`, with(func(r *judge.Response) { r.EndMarker = judge.Yes })},
		{`{"isLast":false}`, with(func(r *judge.Response) { r.HasMore = judge.Yes })},
		{`{"isLast":false,"has_more":false}`, with(func(r *judge.Response) { r.HasMore = judge.Yes })},
		{`{"truncated":true}`, with(func(r *judge.Response) { r.Truncated = judge.Yes })},
		{`{"incomplete_results":false}`, with(func(r *judge.Response) { r.Truncated = judge.No })},
		{`{"next_cursor":"c"}`, with(func(r *judge.Response) { r.NextCursor = judge.T("c") })},
		{`{"nextPageToken":""}`, with(func(r *judge.Response) { r.NextCursor = judge.T("") })},
		{`{"next_cursor":"","nextToken":"t"}`, with(func(r *judge.Response) { r.NextCursor = judge.T("t") })},
		{`{"next_cursor":null}`, parsed},
		{`{"cursor":"c"}`, parsed},
		{`{"next":"https://api.example/2"}`, with(func(r *judge.Response) { r.NextURL = judge.T("https://api.example/2") })},
		{`{"next":"?page=2"}`, with(func(r *judge.Response) { r.NextURL = judge.T("?page=2") })},
		{`{"next":"abc"}`, with(func(r *judge.Response) { r.NextCursor = judge.T("abc") })},
		{`{"next":"abc","next_cursor":"first"}`, with(func(r *judge.Response) { r.NextCursor = judge.T("first") })},
		{`{"next":{"href":"/2"}}`, with(func(r *judge.Response) { r.NextURL = judge.T("/2") })},
		{`{"next":{"other":"/2"}}`, parsed},
		{`{"next":""}`, with(func(r *judge.Response) { r.NextURL = judge.T("") })},
		{`{"next":"","nextLink":"/2"}`, with(func(r *judge.Response) { r.NextURL = judge.T("/2") })},
		{`{"next":2}`, with(func(r *judge.Response) { r.NextPage = judge.N(2) })},
		{`{"next":null}`, parsed},
		{`{"next_page":3}`, with(func(r *judge.Response) { r.NextPage = judge.N(3) })},
		{`{"next_page":"/3"}`, with(func(r *judge.Response) { r.NextURL = judge.T("/3") })},
		{`{"next_offset":30}`, with(func(r *judge.Response) { r.NextOffset = judge.N(30) })},
		{`{"@odata.nextLink":"/n"}`, with(func(r *judge.Response) { r.NextURL = judge.T("/n") })},
		{`{"count":9,"next":"/2","previous":null,"results":[]}`, with(func(r *judge.Response) {
			r.Items, r.Total, r.NextURL = judge.N(0), judge.N(9), judge.T("/2")
		})},
		{`{"count":1,"next":null,"previous":null,"results":[1]}`, with(func(r *judge.Response) {
			r.Items, r.Total, r.EndMarker = judge.N(1), judge.N(1), judge.Yes
		})},
		{`{"count":1,"total":7,"next":null,"previous":null,"results":[1]}`, with(func(r *judge.Response) {
			r.Items, r.Total, r.EndMarker = judge.N(1), judge.N(7), judge.Yes
		})},
		{`{"count":1,"next":null,"results":[1]}`, with(func(r *judge.Response) { r.Items = judge.N(1) })},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, withBody(t, tt.body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.body, diff)
		}
	}
}

func TestParseOK(t *testing.T) {
	tests := []struct {
		mime, text string
		want       judge.Claim
	}{
		{"application/json", `[]`, judge.Yes},
		{"application/json; charset=utf-8", `[]`, judge.Yes},
		{"Application/JSON;", `[]`, judge.Yes},
		{"application/vnd.github+json", `[]`, judge.Yes},
		{"text/json", `[]`, judge.Yes},
		{"application/json; charset", `[`, judge.No},
		{"application/json", `\uFEFF[]`, judge.Yes},
		{"application/json", `[1,2`, judge.No},
		{"application/json", `[1] [2]`, judge.No},
		{"application/json", `<html>`, judge.No},
		{"application/json", ``, judge.NotSaid},
		{"application/x-ndjson", `{}\n{}`, judge.NotSaid},
		{"text/html", `[1,2`, judge.NotSaid},
		{"text/plain", `[1,2]`, judge.NotSaid},
		{"", `[1,2`, judge.NotSaid},
	}
	for _, tt := range tests {
		entry := `{"request":{},"response":{"status":200,"content":{"mimeType":"` + tt.mime + `","text":"` + tt.text + `"}}}`
		if got := one(t, entry).Response.ParseOK; got != tt.want {
			t.Errorf("%s %q: parse_ok %v, want %v", tt.mime, tt.text, got, tt.want)
		}
	}
	plain := `{"request":{},"response":{"status":200,"content":{"mimeType":"text/plain","text":"[1,2]"}}}`
	if got := one(t, plain).Response.Items; got != judge.N(2) {
		t.Errorf("JSON that does not claim to be: items %v, want 2", got)
	}
}

func TestNoAnswer(t *testing.T) {
	tests := []struct{ response, err, by string }{
		{`{"status":0}`, "no answer was recorded", ""},
		{`{"status":-1}`, "no answer was recorded", ""},
		{`{}`, "no answer was recorded", ""},
		{`{"status":0,"_error":"net::ERR_FAILED"}`, "net::ERR_FAILED", ""},
		{`{"status":200,"_error":"net::ERR_INCOMPLETE_CHUNKED_ENCODING"}`, "net::ERR_INCOMPLETE_CHUNKED_ENCODING", "net::ERR_INCOMPLETE_CHUNKED_ENCODING"},
		{`{"status":200}`, "", ""},
	}
	for _, tt := range tests {
		r := one(t, `{"request":{},"response":`+tt.response+`}`).Response
		if r.Error != tt.err || r.TruncatedBy != tt.by || r.Status.OK != strings.Contains(tt.response, "200") {
			t.Errorf("%s: status %v, error %q, truncated_by %q", tt.response, r.Status, r.Error, r.TruncatedBy)
		}
		if v := judge.Judge(judge.Snapshot{Response: r}).Verdict; (v == judge.Truncated) != (tt.by != "") {
			t.Errorf("%s: %v", tt.response, v)
		}
	}
}

// No strict prefix of a JSON list, however it is recorded, makes COMPLETE.
func TestHalfABodyIsNeverComplete(t *testing.T) {
	const body = `{"total":2,"has_more":false,"items":[{"id":1},{"id":2}]}`
	if v := judge.Judge(one(t, get("https://api.example/", body))).Verdict; v != judge.Complete {
		t.Fatalf("the whole body: %v, want COMPLETE", v)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, len(body)-1).Draw(t, "bytes")
		all, err := har.Read(wrap(get("https://api.example/", body[:n])))
		if err != nil {
			t.Fatal(err)
		}
		if v := judge.Judge(all[0]).Verdict; v == judge.Complete {
			t.Fatalf("%q is COMPLETE", body[:n])
		}
	})
}

func ExampleRead() {
	all, err := har.Read([]byte(`{"log":{"entries":[{
		"request":{"method":"GET","url":"https://api.example/things?limit=2"},
		"response":{"status":200,"content":{"mimeType":"application/json","text":"{\"total\":5,\"items\":[{},{}]}"}}}]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range all {
		fmt.Println(s.Request.Limit, s.Response.Items, s.Response.Total, judge.Judge(s).Verdict)
	}
	// Output:
	// 2 2 5 TRUNCATED
}

func FuzzHAR(f *testing.F) {
	data, err := os.ReadFile("testdata/session.har")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(wrap(get("https://api.example/?limit=1&page=0", `{"items":[1],"next":null,"count":1,"previous":null,"results":[1]}`)))
	f.Add(wrap(`{"request":{"method":"HEAD"},"response":{"status":200,"headers":[{"name":"Content-Length","value":"5"}],"bodySize":3,"content":{"size":4}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := har.Read(data)
		if err != nil {
			if all != nil || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v beside the error %q", all, err)
			}
			return
		}
		for i, s := range all {
			if s.Kind != judge.KindHTTP {
				t.Fatalf("snapshot %d is of kind %q", i, s.Kind)
			}
			r := s.Response
			if r.BytesRead.OK != r.BytesExpected.OK || r.BytesRead.N > r.BytesExpected.N {
				t.Fatalf("snapshot %d: %v of %v bytes", i, r.BytesRead, r.BytesExpected)
			}
			judge.Judge(s)
		}
	})
}
