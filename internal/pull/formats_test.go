package pull_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lastdrop/judge"
)

// TestFormats drains bodies that are no JSON, and items that come in parts.
func TestFormats(t *testing.T) { runAll(t, append(xmlListings(), batches()...)) }

const byListing = `
source: {url: "${BASE}/bucket", params: {list-type: 2}}
pages:
  style: cursor
  cursor: {param: continuation-token, path: ListBucketResult.NextContinuationToken}
  more: {path: ListBucketResult.IsTruncated}
  size: {param: max-keys, start: 10, max: 1000}
items: {format: xml, path: ListBucketResult.Contents, id: id, absent_is_empty: true}
limits: {retries: 2, max_requests: 100}`

// listing serves the objects 1 to n of a bucket; odd, where it says so, answers
// the request for what comes after an object in its place.
func listing(n int, odd func(after int, whole string) (string, bool)) func() http.Handler {
	return handle(func(h http.Header, r *http.Request) string {
		h.Set("Content-Type", "application/xml")
		after := number(r, "continuation-token")
		to := min(n, after+number(r, "max-keys"))
		var b strings.Builder
		fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>%v</IsTruncated>`, to < n)
		for id := after + 1; id <= to; id++ {
			fmt.Fprintf(&b, "<Contents><id>%d</id><Key>a &amp; %d</Key></Contents>", id, id)
		}
		if to < n {
			fmt.Fprintf(&b, "<NextContinuationToken>%d</NextContinuationToken>", to)
		}
		b.WriteString("</ListBucketResult>")
		if odd != nil {
			if body, ok := odd(after, b.String()); ok {
				return body
			}
		}
		return b.String()
	})
}

func xmlListings() []scenario {
	const slowDown = `<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`
	at := func(place int, body func(whole string) string) func(int, string) (string, bool) {
		return func(after int, whole string) (string, bool) { return body(whole), after == place }
	}
	return []scenario{
		{
			id: "xml", about: "a bucket of 35 objects, the last page with less",
			server: listing(35, nil), ids: 35, config: byListing, verdict: judge.Complete, items: 35, requests: 5,
		},
		{
			id: "xml-one", about: "the last page has one object, which is a list all the same",
			server: listing(31, nil), ids: 31, config: byListing, verdict: judge.Complete, items: 31,
		},
		{
			id: "xml-error", about: "an error document in the place of a page is never a page of no objects",
			server: listing(35, at(20, func(string) string { return slowDown })), ids: 35, config: byListing, verdict: judge.Truncated, items: 20,
		},
		{
			id: "xml-half", about: "a page that always ends early, without a declared length that says so",
			server: listing(35, at(10, func(whole string) string { return whole[:len(whole)-3] })), ids: 35, config: byListing, verdict: judge.Truncated, items: 10,
			detect: []string{"json_parse_fail_200"},
		},
		{
			id: "xml-absent", about: "a page without objects that says that there is more, and has no token",
			server: listing(35, at(20, func(string) string {
				return "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"
			})), ids: 35, config: byListing, verdict: judge.Truncated, items: 20,
		},
		{
			id: "xml-login", about: "a login page that is good XML",
			server: listing(35, at(10, func(string) string { return "<html><body>Please sign in</body></html>" })), ids: 35, config: byListing,
			verdict: judge.Truncated, items: 10,
		},
	}
}

const byBatch = `
source: {url: "${BASE}/api", params: {action: query}}
pages: {style: cursor, size: {param: gaplimit, start: 10, min: 5}, cursor: {param: "", path: continue}, end: [absent_continuation]}
items: {path: query.pages, id: id, merge: true, batch: batchcomplete}
complete: {require: assumed}
limits: {retries: 2, max_requests: 100}`

// batched serves n items, each of them in three parts, a batch in three
// answers. always, where it says so, answers the part of a batch in its place.
func batched(n int, always func(from, part int) (string, bool)) func() http.Handler {
	return handle(func(_ http.Header, r *http.Request) string {
		from, part := number(r, "gapcontinue"), number(r, "plcontinue")
		if body, ok := "", false; always != nil {
			if body, ok = always(from, part); ok {
				return body
			}
		}
		to := min(n, from+number(r, "gaplimit"))
		var pages []string
		for id := from + 1; id <= to; id++ {
			pages = append(pages, record(id, fmt.Sprintf(`,"links":[%d]`, part)))
		}
		goOn, mark := fmt.Sprintf(`,"continue":{"gapcontinue":%d,"plcontinue":%d}`, from, part+1), ""
		if part == 2 {
			goOn, mark = "", `"batchcomplete":"",`
			if to < n {
				goOn = fmt.Sprintf(`,"continue":{"gapcontinue":%d}`, to)
			}
		}
		return fmt.Sprintf(`{%s"query":{"pages":%s}%s}`, mark, list(pages), goOn)
	})
}

func batches() []scenario {
	at := func(from, part int, body string) func(int, int) (string, bool) {
		return func(f, p int) (string, bool) { return body, f == from && p == part }
	}
	return []scenario{
		{
			id: "parts", about: "a batch of ten items comes in three answers",
			server: batched(35, nil), ids: 35, config: byBatch, verdict: judge.Complete, items: 35, requests: 12,
		},
		{
			id: "parts-failing", about: "the third answer of a batch never comes: its items are not written in part",
			server: batched(35, at(10, 2, `{"query":{"pages":[{"id":11`)), ids: 35, config: byBatch, verdict: judge.Truncated, items: 10,
		},
		{
			id: "parts-unmarked", about: "no answer has the mark: nothing is known to be whole",
			server: batched(35, func(from, part int) (string, bool) {
				return fmt.Sprintf(`{"query":{"pages":%s}}`, list(records(from+1, from+10))), true
			}), ids: 35, config: byBatch, verdict: judge.Truncated, items: 0,
		},
		{
			id: "parts-deduplicated", about: "without merge: true the second part of a batch is a page that came before, which is no end",
			server: batched(35, nil), ids: 35, config: strings.Replace(byBatch, ", merge: true, batch: batchcomplete", "", 1), verdict: judge.Unknown, items: 10,
		},
	}
}

// TestPartsAreWrittenOnce holds the file of merged items against what they are.
func TestPartsAreWrittenOnce(t *testing.T) {
	out := scenario{id: "parts", config: byBatch}.drain(t, batched(23, nil)())
	var want strings.Builder
	for id := range 23 {
		want.WriteString(record(id+1, `,"links":[0,1,2]`) + "\n")
	}
	if out.report.Verdict != judge.Complete || out.file != want.String() {
		t.Errorf("%s, and the file holds\n%s%s", out.report.Verdict, out.file, out.story())
	}
}
