package pull_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A total that is looked for in the wrong place is no source without one: the report
// says where it was looked for, and which numbers it could be, without secrets.
func TestTotalElsewhere(t *testing.T) {
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Count", "3")
		fmt.Fprintf(w, `{"took":4,"limit":1,"meta":{"totalCount":3,"api_key":777777,%q:888888},"items":[{"id":1},{"id":2},{"id":3}]}`, token)
	})
	for total, want := range map[string]string{
		"path: meta.totalcount": `total.path "meta.totalcount" is in no answer; numbers that may be the total: meta.totalCount = 3, took = 4, meta.REDACTED = 888888`,
		"header: X-Totl":        `total.header "X-Totl" is in no answer; numbers that may be the total: meta.totalCount = 3, took = 4, meta.REDACTED = 888888`,
		"path: meta.totalCount": "",
		"header: X-Count":       "",
	} {
		s := scenario{id: "X001", config: "source: {url: \"${BASE}/\", auth: {bearer: \"${TOKEN}\"}}\npages: {style: single}\nitems: {path: items, id: id}\ntotal: {" + total + "}"}
		rep := s.drain(t, server).report
		got := ""
		for _, e := range rep.Evidence {
			if e.ID == "RC066" {
				got = e.Text
			}
		}
		advised := strings.Contains(strings.Join(rep.Advice, "\n"), "correct total.")
		if got != want || advised != (want != "") {
			t.Errorf("total: {%s}: %q, want %q; advice %q", total, got, want, rep.Advice)
		}
		if text := fmt.Sprint(rep); strings.Contains(text, token) || strings.Contains(text, "777777") {
			t.Errorf("a secret stands in the report: %s", text)
		}
	}
}

// The report says how many requests could be under way at once, where more than one.
func TestReportSaysConcurrency(t *testing.T) {
	server := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[{"id":1}]`) })
	for limits, want := range map[string]int{"": 0, "limits: {concurrency: 3}": 3} {
		s := scenario{id: "X002", config: "source: {url: \"${BASE}/\"}\npages: {style: single}\nitems: {id: id}\n" + limits}
		if got := s.drain(t, server).report.Concurrency; got != want {
			t.Errorf("%q: %d at once, want %d", limits, got, want)
		}
	}
}
