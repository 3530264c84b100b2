package har_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lastdrop/internal/har"
	"lastdrop/judge"
)

// exchange is an entry; what is empty is usual.
type exchange struct{ method, query, post, status, mime, headers, body string }

func (x exchange) entry() string {
	or := func(s, usual string) string {
		if s == "" {
			return usual
		}
		return s
	}
	text, _ := json.Marshal(or(x.body, `{"items":[1,2,3],"total":3,"has_more":false}`))
	post, _ := json.Marshal(x.post)
	return `{"request":{"method":"` + or(x.method, "GET") + `","url":"https://api.example/x?` + x.query + `","postData":{"text":` + string(post) +
		`}},"response":{` + or(x.status, `"status":200`) + `,"headers":[` + x.headers +
		`],"content":{"mimeType":"` + or(x.mime, "application/json") + `","text":` + string(text) + `}}}`
}

func TestWhatIsNotReadIsNeverComplete(t *testing.T) {
	var tests []exchange
	for _, s := range []string{`"status":"500"`, `"status":null`, `"x":1`, `"status":5e2`, `"status":500,"status":200`, `"status":200,"Status":500`} {
		tests = append(tests, exchange{status: s})
	}
	for _, q := range []string{
		"cursor=abc", "starting_after=abc", "page_token=x", "startAt=300&maxResults=3", "page[number]=9",
		"pageNumber=9&pageSize=3", "start_index=301", "from=300&size=3", "p=9", "PAGE=9", "page=1&page=9",
		"offset=0&offset=300", "offset=3.5", "page=99999999999999999999&per_page=10", "page=9&offset=0", "a=1;page=9",
	} {
		tests = append(tests, exchange{query: q}, exchange{query: q, body: `[1]`, headers: `{"name":"link","value":"</x>; rel=\"prev\""}`})
	}
	for _, p := range []string{`{"offset":100,"limit":3}`, `{"cursor":"abc"}`, `{"a":{"page": 2}}`, `page=2&x=1`, `{"query":"{x(after:\"c\"){id}}"}`} {
		tests = append(tests, exchange{method: "POST", post: p})
	}
	for _, more := range []string{
		`"links":{"next":"https://x?p=2"}`, `"_links":{"next":{"href":"https://x"}}`, `"response_metadata":{"next_cursor":"abc"}`,
		`"pagination":{"has_more":true}`, `"nbPages":9`, `"total_pages":5`, `"hasMore":"true"`, `"truncated":1`,
		`"continuation":"abc"`, `"next":{"offset":3}`, `"links":[{"rel":"next","href":"/2"}]`, `"hasNext":false,"hasNext":true`,
		`"message":"results truncated"`, `"warnings":["only the first 3 are shown"]`, `"note":"showing first 3"`,
		`"partial":true`, `"timed_out":true`,
		`"ok":false`, `"success":false`, `"error":"ratelimited"`, `"errors":[{"message":"shard failed"}]`,
	} {
		tests = append(tests, exchange{body: `{"items":[1,2,3],"total":3,"has_more":false,` + more + `}`})
	}
	tests = append(tests,
		exchange{status: `"status":206`, headers: `{"name":"Content-Range","value":"items 0-2/1000"}`},
		exchange{status: `"status":206`},
		exchange{mime: "application/problem+json"},
		exchange{method: "DELETE"})
	for _, x := range tests {
		all, err := har.Read(wrap(x.entry()))
		if err != nil {
			if !strings.Contains(err.Error(), "log.entries[0].response.status") {
				t.Errorf("%+v: %v names no path", x, err)
			}
			continue
		}
		if r := judge.Judge(all[0]); r.Verdict == judge.Complete {
			t.Errorf("%+v is COMPLETE: %v", x, r.CompleteEvidence)
		}
	}
}

// The words that say nothing bad leave the evidence alone.
func TestWhatIsReadStaysComplete(t *testing.T) {
	for _, x := range []exchange{
		{}, {query: "limit=10&page=1"}, {query: "offset=0&q=x"}, {query: "from=0&size=10"}, {query: "page[size]=9"},
		{method: "POST", post: `{"from":0,"size":10,"cursor":null}`},
		{body: `{"items":[1],"total":1,"errors":[],"error":null,"ok":true,"total_pages":1,"next":null,"partial":false,"links":{"next":null}}`},
		{status: `"status":206`, headers: `{"name":"Content-Range","value":"items 0-2/3"}`},
	} {
		if r := judge.Judge(one(t, x.entry())); r.Verdict != judge.Complete {
			t.Errorf("%+v: %v %v, want COMPLETE", x, r.Verdict, r.Rules)
		}
	}
}
