package judge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lastdrop/judge"
)

func TestCompleteEvidence(t *testing.T) {
	total, more, marker := "total", "has_more is false", "an end marker"
	cursor, url, link := "next_cursor is empty", "next_url is empty", `Link has rel="prev" and no rel="next"`
	whole := "all 4 lines and all 90 bytes read"
	read := `"lines_read":4,"lines_total":4,"bytes_read":90,"bytes_expected":90`
	tests := []struct {
		name                    string
		request, response, held string
		want                    []string // "total" stands for the phrase that counts
	}{
		{"total met", "", `"items":5,"total":5`, "", []string{total}},
		{"empty set", "", `"items":0,"total":0`, "", []string{total}},
		{"total met, said to be exact", "", `"items":5,"total":5,"total_kind":"exact"`, "", []string{total}},
		{"estimate met", "", `"items":5,"total":5,"total_kind":"estimate"`, "", nil},
		{"lower bound met", "", `"items":5,"total":5,"total_kind":"lower_bound"`, "", nil},
		{"total missed", "", `"items":4,"total":5`, "", nil},
		{"total without items", "", `"total":5`, "", nil},
		{"total of 0 without items", "", `"total":0`, "", nil},
		{"end met, all held", `"offset":10`, `"items":5,"total":15`, `"items":10`, []string{total}},
		{"end met, more held", `"offset":10`, `"items":5,"total":15`, `"items":11`, []string{total}},
		{"end met, too little held", `"offset":10`, `"items":5,"total":15`, `"items":9`, nil},
		{"end met, nothing held", `"offset":10`, `"items":5,"total":15`, ``, nil},
		{"total met in the middle", `"offset":10`, `"items":5,"total":5`, `"items":10`, nil},
		{"end met by page", `"limit":5,"page":3`, `"items":5,"total":15`, `"items":10`, []string{total}},
		{"total met on a page without a size", `"page":3`, `"items":5,"total":5`, `"items":10`, nil},
		{"no more", "", `"has_more":false`, "", []string{more}},
		{"end marker", "", `"end_marker":true`, "", []string{marker}},
		{"end marker that says no", "", `"end_marker":false`, "", nil},
		{"empty cursor", "", `"next_cursor":""`, "", []string{cursor}},
		{"empty URL", "", `"next_url":""`, "", []string{url}},
		{"prev", "", `"headers":{"Link":"</p>; rel=prev"}`, "", []string{link}},
		{"first", "", `"headers":{"Link":"</p>; rel=first"}`, "", []string{`Link has rel="first" and no rel="next"`}},
		{"last", "", `"headers":{"Link":"</p>; rel=last"}`, "", []string{`Link has rel="last" and no rel="next"`}},
		{"prev in several values", "", `"headers":{"link":["</a>; rel=self","</p>; rel=PREV"]}`, "", []string{link}},
		{"prev and next", "", `"headers":{"Link":"</p>; rel=prev, </n>; rel=next"}`, "", nil},
		{"prev and a broken part", "", `"headers":{"Link":"</p>; rel=prev, n>; rel=other"}`, "", nil},
		{"prev and a broken value", "", `"headers":{"Link":["</p>; rel=prev","x"]}`, "", nil},
		{"prev of another resource", "", `"headers":{"Link":"</p>; rel=prev; anchor=\"/other\""}`, "", nil},
		{"self only", "", `"headers":{"Link":"</p>; rel=self"}`, "", nil},
		{"empty Link", "", `"headers":{"Link":""}`, "", nil},
		{"read whole", "", read, "", []string{whole}},
		{"lines only", "", `"lines_read":4,"lines_total":4`, "", nil},
		{"bytes only", "", `"bytes_read":4,"bytes_expected":4`, "", nil},
		{"characters only", "", `"chars_read":4,"chars_total":4`, "", nil},
		{"lines whole, bytes not", "", `"lines_read":4,"lines_total":4,"bytes_read":3,"bytes_expected":4`, "", nil},
		{"all ends in the middle, all held", `"offset":10`, `"has_more":false,"end_marker":true,"next_cursor":"","next_url":"","headers":{"Link":"</p>; rel=prev"},` + read, `"items":10`, []string{more, marker, link, cursor, url, whole}},
		{"all ends in the middle, one short", `"offset":10`, `"has_more":false,"end_marker":true,"next_cursor":"","next_url":"","headers":{"Link":"</p>; rel=prev"},` + read, `"items":9`, nil},
		{"a clean answer is none", `"limit":100`, `"status":200,"parse_ok":true,"items":7`, "", nil},
		{"an empty page is none", `"limit":100`, `"status":200,"parse_ok":true,"items":0`, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := parts(t, tt.request, tt.response, tt.held)
			got := judge.Judge(s).CompleteEvidence
			if got == nil {
				t.Fatal("the list is nil, want it empty")
			}
			want := append([]string{}, tt.want...)
			for i := range want {
				if want[i] == total && len(got) > i {
					want[i] = got[i]
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCountedEvidenceCarriesItsNumbers(t *testing.T) {
	start := judge.Judge(parts(t, "", `"items":12,"total":12`, ""))
	if want := []string{"total 12 = items 12"}; !cmp.Equal(want, start.CompleteEvidence) {
		t.Errorf("got %q, want %q", start.CompleteEvidence, want)
	}
	middle := judge.Judge(parts(t, `"offset":200`, `"items":50,"total":250`, `"items":201`))
	if want := []string{"total 250 = offset 200 + items 50, and 201 held before it"}; !cmp.Equal(want, middle.CompleteEvidence) {
		t.Errorf("got %q, want %q", middle.CompleteEvidence, want)
	}
}

func TestPrecedence(t *testing.T) {
	tests := []struct {
		name, response string
		want           judge.Verdict
	}{
		{"loss before evidence", `"items":5,"total":5,"truncated":true`, judge.Truncated},
		{"loss before doubt", `"items":5,"total":4,"truncated":true`, judge.Truncated},
		{"loss before an error answer", `"status":500,"truncated":true`, judge.Truncated},
		{"doubt before evidence", `"items":5,"total":5,"first_index":1`, judge.Unknown},
		{"evidence", `"items":5,"total":5`, judge.Complete},
		{"nothing", ``, judge.Unknown},
	}
	for _, tt := range tests {
		if got := judge.Judge(parts(t, "", tt.response, "")); got.Verdict != tt.want {
			t.Errorf("%s: %v %v, want %v", tt.name, got.Verdict, got.Rules, tt.want)
		}
	}
}

func TestRulesStandInOrder(t *testing.T) {
	s := parts(t, `"offset":10`, `"status":500,"items":0,"total":3,"text":"truncated","has_more":true,"bytes_read":1,"bytes_expected":2,"first_index":1,"headers":{"Link":"</n>; rel=next"}`, "")
	got := fired(judge.Judge(s))
	want := []string{
		"TR001 TRUNCATED", "TR003 TRUNCATED", "TR004 TRUNCATED", "TR005 TRUNCATED", "TR007 TRUNCATED",
		"TR008 UNKNOWN", "TR008 UNKNOWN", "TR010 UNKNOWN", "TR011 UNKNOWN",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = fired(judge.Judge(parts(t, `"offset":10`, `"status":404,"items":0,"total":3`, `"items":1`)))
	want = []string{"TR007 TRUNCATED", "TR008 UNKNOWN", "TR010 UNKNOWN", "TR011 UNKNOWN"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAction(t *testing.T) {
	type resume struct{ Kind, Value string }
	tests := []struct {
		name              string
		request, response string
		want              judge.Action
		resume            *resume
	}{
		{"429", "", `"status":429,"next_cursor":"c"`, judge.ActionWait, nil},
		{"503", "", `"status":503,"parse_ok":false`, judge.ActionWait, nil},
		{"408", "", `"status":408`, judge.ActionRetry, nil},
		{"425", "", `"status":425`, judge.ActionRetry, nil},
		{"500", "", `"status":500,"items":0,"total":9`, judge.ActionRetry, nil},
		{"502", "", `"status":502`, judge.ActionRetry, nil},
		{"599", "", `"status":599`, judge.ActionRetry, nil},
		{"600", "", `"status":600`, judge.ActionFixRequest, nil},
		{"400", "", `"status":400,"next_url":"/n"`, judge.ActionFixRequest, nil},
		{"304", "", `"status":304`, judge.ActionFixRequest, nil},
		{"100", "", `"status":100`, judge.ActionFixRequest, nil},
		{"no parse, before a continuation", "", `"parse_ok":false,"next_url":"/n"`, judge.ActionRetrySmaller, nil},
		{"a URL, the first of all", "", `"next_url":"/u","next_cursor":"c","next_page":2,"next_offset":3,"headers":{"Link":"</l>; rel=next"}`, judge.ActionContinue, &resume{"url", "/u"}},
		{"a Link, the second", "", `"next_cursor":"c","next_page":2,"next_offset":3,"headers":{"Link":"</l>; rel=next"}`, judge.ActionContinue, &resume{"url", "/l"}},
		{"a cursor, the third", "", `"next_cursor":"c","next_page":2,"next_offset":3`, judge.ActionContinue, &resume{"cursor", "c"}},
		{"a page, the fourth", "", `"next_page":2,"next_offset":3`, judge.ActionContinue, &resume{"page", "2"}},
		{"an offset, the fifth", "", `"next_offset":3,"bytes_read":1,"bytes_expected":2`, judge.ActionContinue, &resume{"offset", "3"}},
		{"empty ones are none", "", `"next_url":"","next_cursor":"","next_page":2`, judge.ActionContinue, &resume{"page", "2"}},
		{"a Link without a URL is none", "", `"next_cursor":"c","headers":{"Link":"<>; rel=next"}`, judge.ActionContinue, &resume{"cursor", "c"}},
		{"a Link that cannot be read is none", "", `"headers":{"Link":"/n>; rel=next"}`, judge.ActionFindTotal, nil},
		{"the own one, before the total", "", `"items":1,"total":5,"next_cursor":"c"`, judge.ActionContinue, &resume{"cursor", "c"}},
		{"bytes short", "", `"bytes_read":1,"bytes_expected":2,"items":0,"total":5`, judge.ActionRetrySmaller, nil},
		{"lines short", "", `"lines_read":1,"lines_total":2`, judge.ActionRetrySmaller, nil},
		{"characters short", "", `"chars_read":1,"chars_total":2`, judge.ActionRetrySmaller, nil},
		{"empty, and a total", `"offset":7`, `"items":0,"total":9`, judge.ActionRetry, nil},
		{"empty, and an estimate", "", `"items":0,"total":9,"total_kind":"estimate"`, judge.ActionRetry, nil},
		{"a total above", "", `"items":2,"total":9`, judge.ActionContinue, &resume{"offset", "2"}},
		{"a total above the end", `"offset":5`, `"items":2,"total":9`, judge.ActionContinue, &resume{"offset", "7"}},
		{"a total above the end by page", `"limit":2,"page":3`, `"items":2,"total":9`, judge.ActionContinue, &resume{"offset", "6"}},
		{"a lower bound above", "", `"items":2,"total":9,"total_kind":"lower_bound"`, judge.ActionContinue, &resume{"offset", "2"}},
		{"an estimate above", "", `"items":2,"total":9,"total_kind":"estimate"`, judge.ActionFindTotal, nil},
		{"a total above an unknown place", `"page":3`, `"items":2,"total":9`, judge.ActionFindTotal, nil},
		{"a total without items", "", `"total":9`, judge.ActionFindTotal, nil},
		{"complete", "", `"items":9,"total":9`, judge.ActionNone, nil},
		{"more, and no way on", "", `"items":9,"total":9,"has_more":true`, judge.ActionFindTotal, nil},
		{"nothing", "", ``, judge.ActionFindTotal, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := judge.Judge(parts(t, tt.request, tt.response, ""))
			if r.Action != tt.want {
				t.Errorf("action %q, want %q", r.Action, tt.want)
			}
			var got *resume
			if r.Resume != nil {
				got = &resume{r.Resume.Kind, r.Resume.Value}
				if r.Resume.Caveat == "" {
					t.Error("the resume point has no caveat")
				}
			}
			if diff := cmp.Diff(tt.resume, got); diff != "" {
				t.Errorf("resume (-want +got):\n%s", diff)
			}
		})
	}
}
