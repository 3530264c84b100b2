package judge_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lastdrop/judge"
)

// decode reads one snapshot that a test vouches for.
func decode(t testing.TB, text string) judge.Snapshot {
	t.Helper()
	all, err := judge.Decode([]byte(text))
	if err != nil {
		t.Fatalf("Decode(%s): %v", text, err)
	}
	if len(all) != 1 {
		t.Fatalf("Decode(%s): %d snapshots, want 1", text, len(all))
	}
	return all[0]
}

// parts makes a snapshot of JSON texts for its request, response and held.
func parts(t testing.TB, request, response, held string) judge.Snapshot {
	t.Helper()
	return decode(t, `{"kind":"list","request":{`+request+`},"response":{`+response+`},"held":{`+held+`}}`)
}

// fired lists the rules of a result as "TR001 TRUNCATED".
func fired(r judge.Result) []string {
	ids := []string{}
	for _, rule := range r.Rules {
		ids = append(ids, rule.ID+" "+rule.Verdict.String())
	}
	return ids
}

// has tells whether a rule fired with a verdict.
func has(r judge.Result, id string, v judge.Verdict) bool {
	return slices.Contains(fired(r), id+" "+v.String())
}

// A ruleRow is one condition of one rule, met or nearly met.
type ruleRow struct {
	name                    string
	request, response, held string
	want                    string // "TR001 TRUNCATED", or "" where the rule must not fire
}

// checkRows demands of each row that the rule fires as wanted, and only so.
func checkRows(t *testing.T, id string, rows []ruleRow) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := judge.Judge(parts(t, row.request, row.response, row.held))
			var got []string
			for _, f := range fired(r) {
				if strings.HasPrefix(f, id) {
					got = append(got, f)
				}
			}
			if strings.Join(got, ", ") != row.want {
				t.Errorf("request {%s} response {%s} held {%s}\n got %v\nwant %q", row.request, row.response, row.held, r.Rules, row.want)
			}
		})
	}
}

func TestTR001(t *testing.T) {
	const loss = "TR001 TRUNCATED"
	checkRows(t, "TR001", []ruleRow{
		{"wording in text", "", `"text":"[output truncated]"`, "", loss},
		{"wording in error", "", `"error":"unexpected EOF"`, "", loss},
		{"wording in both", "", `"text":"(showing 3)","error":"IncompleteRead"`, "", loss + ", " + loss},
		{"other wording", "", `"text":"all 12 shown","error":"connection reset"`, "", ""},
		{"next_offset", "", `"next_offset":100`, "", loss},
		{"next_offset 0", "", `"next_offset":0`, "", loss},
		{"next_offset null", "", `"next_offset":null`, "", ""},
		{"truncated", "", `"truncated":true`, "", loss},
		{"not truncated", "", `"truncated":false`, "", ""},
		{"truncated_by", "", `"truncated_by":"lines"`, "", loss},
		{"truncated_by empty", "", `"truncated_by":""`, "", ""},
		{"original above returned", "", `"original_count":50,"returned_count":20`, "", loss},
		{"original is returned", "", `"original_count":20,"returned_count":20`, "", ""},
		{"original below returned", "", `"original_count":10,"returned_count":20`, "", ""},
		{"original above items", "", `"original_count":50,"items":20`, "", loss},
		{"original is items", "", `"original_count":20,"items":20`, "", ""},
		{"returned outranks items", "", `"original_count":50,"returned_count":50,"items":20`, "", ""},
		{"original alone", "", `"original_count":50`, "", ""},
	})
}

func TestEveryTruncationWording(t *testing.T) {
	want := []string{
		"truncat", "(showing", "showing first", "showing lines", "showing top", "more expected",
		"incompleteread", "unexpected eof", "output omitted", "content omitted", "response too large",
		"results omitted", "only the first", "已截断", "内容截断", "截断显示", "仅显示前", "部分结果",
	}
	if diff := cmp.Diff(want, judge.TruncationWording); diff != "" {
		t.Errorf("the table is not the contract's (-want +got):\n%s", diff)
	}
	for _, w := range want {
		for _, text := range []string{w, strings.ToUpper(w), "note: " + w + "!"} {
			for field, s := range map[string]judge.Snapshot{
				"text":  {Response: judge.Response{Text: text}},
				"error": {Response: judge.Response{Error: text}},
			} {
				r := judge.Judge(s)
				if r.Verdict != judge.Truncated || len(r.Rules) == 0 || !strings.Contains(r.Rules[0].Evidence, w) {
					t.Errorf("%s %q: got %v %v, want a TR001 that quotes %q", field, text, r.Verdict, r.Rules, w)
				}
			}
		}
	}
}

func TestWordingQuotesEveryHit(t *testing.T) {
	r := judge.Judge(parts(t, "", `"text":"(showing lines 1-1042 of 5000, truncated)"`, ""))
	want := `text says that it was cut: "truncat", "(showing", "showing lines"`
	if len(r.Rules) != 1 || r.Rules[0].Evidence != want {
		t.Errorf("got %v, want one rule with %s", r.Rules, want)
	}
}

func TestTR002(t *testing.T) {
	const loss = "TR002 TRUNCATED"
	checkRows(t, "TR002", []ruleRow{
		{"total above items", "", `"items":10,"total":11`, "", loss},
		{"total is items", "", `"items":10,"total":10`, "", ""},
		{"total below items", "", `"items":10,"total":9`, "", ""},
		{"lower bound above", "", `"items":10,"total":11,"total_kind":"lower_bound"`, "", loss},
		{"estimate above", "", `"items":10,"total":11,"total_kind":"estimate"`, "", ""},
		{"said to be exact", "", `"items":10,"total":11,"total_kind":"exact"`, "", loss},
		{"offset 0 stated", `"offset":0`, `"items":10,"total":11`, "", loss},
		{"first page", `"limit":10,"page":1`, `"items":10,"total":11`, "", loss},
		{"first page from 0", `"limit":10,"page":0,"first_page":0`, `"items":10,"total":11`, "", loss},
		{"offset 1", `"offset":1`, `"items":10,"total":110`, "", ""},
		{"second page", `"limit":10,"page":2`, `"items":10,"total":110`, "", ""},
		{"offset outranks page", `"limit":10,"page":2,"offset":0`, `"items":10,"total":110`, "", loss},
		{"no items stated", "", `"total":11`, "", ""},
		{"no total stated", "", `"items":11`, "", ""},
		{"items as an array", "", `"items":[1,null,{}],"total":4`, "", loss},
		{"no tolerance", "", `"items":533688,"total":533689`, "", loss},
	})
}

func TestTR003(t *testing.T) {
	const loss = "TR003 TRUNCATED"
	checkRows(t, "TR003", []ruleRow{
		{"has_more", "", `"has_more":true`, "", loss},
		{"no more", "", `"has_more":false`, "", ""},
		{"cursor", "", `"next_cursor":"c"`, "", loss},
		{"empty cursor", "", `"next_cursor":""`, "", ""},
		{"null cursor", "", `"next_cursor":null`, "", ""},
		{"url", "", `"next_url":"/p2"`, "", loss},
		{"empty url", "", `"next_url":""`, "", ""},
		{"page", "", `"next_page":2`, "", loss},
		{"page 0", "", `"next_page":0`, "", loss},
		{"next_offset is another rule's", "", `"next_offset":2`, "", ""},
		{"all of them", "", `"has_more":true,"next_cursor":"c","next_url":"/p2","next_page":2`, "", strings.Join([]string{loss, loss, loss, loss}, ", ")},
	})
}

func TestTR004(t *testing.T) {
	const loss = "TR004 TRUNCATED"
	header := func(value string) string { return `"headers":{"Link":` + value + `}` }
	checkRows(t, "TR004", []ruleRow{
		{"next", "", header(`"</p2>; rel=\"next\""`), "", loss},
		{"name in lower case", "", `"headers":{"link":"</p2>; rel=next"}`, "", loss},
		{"name in upper case", "", `"headers":{"LINK":"</p2>; rel=next"}`, "", loss},
		{"relation in upper case", "", header(`"</p2>; REL=NEXT"`), "", loss},
		{"second link", "", header(`"</p0>; rel=prev, </p2>; rel=next"`), "", loss},
		{"second value", "", header(`["</p0>; rel=prev","</p2>; rel=next"]`), "", loss},
		{"one of several relations", "", header(`"</p2>; rel=\"last next\""`), "", loss},
		{"no next", "", header(`"</p0>; rel=prev"`), "", ""},
		{"next in the URL only", "", header(`"</next>; rel=prev"`), "", ""},
		{"next in a title only", "", header(`"</p0>; rel=prev; title=next"`), "", ""},
		{"longer word", "", header(`"</p0>; rel=nextish"`), "", ""},
		{"another header", "", `"headers":{"X-Link":"</p2>; rel=next"}`, "", ""},
		{"no bracket", "", header(`"/p2>; rel=\"next\""`), "", loss},
		{"bracket not closed", "", header(`"</p2; rel=\"next\""`), "", loss},
		{"quote not closed", "", header(`"</p2>; rel=\"next"`), "", loss},
		{"two relations that differ", "", header(`"</p2>; rel=prev; rel=next"`), "", loss},
		{"broken, and not next", "", header(`"/p0>; rel=\"prev\""`), "", ""},
	})
}

func TestTR005(t *testing.T) {
	const loss = "TR005 TRUNCATED"
	checkRows(t, "TR005", []ruleRow{
		{"200 and no parse", "", `"status":200,"parse_ok":false`, "", loss},
		{"206 and no parse", "", `"status":206,"parse_ok":false`, "", loss},
		{"299 and no parse", "", `"status":299,"parse_ok":false`, "", loss},
		{"no status and no parse", "", `"parse_ok":false`, "", loss},
		{"199 and no parse", "", `"status":199,"parse_ok":false`, "", ""},
		{"300 and no parse", "", `"status":300,"parse_ok":false`, "", ""},
		{"500 and no parse", "", `"status":500,"parse_ok":false`, "", ""},
		{"200 and parsed", "", `"status":200,"parse_ok":true`, "", ""},
		{"bytes short", "", `"bytes_read":9,"bytes_expected":10`, "", loss},
		{"bytes short under a 500", "", `"status":500,"bytes_read":9,"bytes_expected":10`, "", loss},
		{"bytes whole", "", `"bytes_read":10,"bytes_expected":10`, "", ""},
		{"bytes read alone", "", `"bytes_read":9`, "", ""},
		{"bytes expected alone", "", `"bytes_expected":9`, "", ""},
		{"lines short", "", `"lines_read":9,"lines_total":10`, "", loss},
		{"characters short", "", `"chars_read":9,"chars_total":10`, "", loss},
		{"everything", "", `"parse_ok":false,"bytes_read":0,"bytes_expected":1,"lines_read":0,"lines_total":1,"chars_read":0,"chars_total":1`, "", strings.Join([]string{loss, loss, loss, loss}, ", ")},
	})
}

func TestTR006(t *testing.T) {
	const doubt = "TR006 UNKNOWN"
	checkRows(t, "TR006", []ruleRow{
		{"a cap", `"limit":5000`, `"items":1000`, "", doubt},
		{"one below the limit", `"limit":101`, `"items":100`, "", doubt},
		{"as many as asked", `"limit":100`, `"items":100`, "", ""},
		{"more than asked", `"limit":50`, `"items":100`, "", ""},
		{"no cap", `"limit":5000`, `"items":999`, "", ""},
		{"no limit", ``, `"items":1000`, "", ""},
		{"a total", `"limit":5000`, `"items":1000,"total":1000`, "", ""},
		{"an estimated total", `"limit":5000`, `"items":1000,"total":1,"total_kind":"estimate"`, "", ""},
		{"has_more", `"limit":5000`, `"items":1000,"has_more":false`, "", ""},
		{"a cursor", `"limit":5000`, `"items":1000,"next_cursor":"c"`, "", ""},
		{"an empty cursor", `"limit":5000`, `"items":1000,"next_cursor":""`, "", ""},
		{"an empty URL", `"limit":5000`, `"items":1000,"next_url":""`, "", ""},
		{"a next page", `"limit":5000`, `"items":1000,"next_page":2`, "", ""},
		{"a next offset", `"limit":5000`, `"items":1000,"next_offset":1000`, "", ""},
		{"an end marker", `"limit":5000`, `"items":1000,"end_marker":true`, "", ""},
		{"an end marker that says no", `"limit":5000`, `"items":1000,"end_marker":false`, "", ""},
		{"a Link", `"limit":5000`, `"items":1000,"headers":{"Link":"</p0>; rel=prev"}`, "", ""},
		{"an empty Link", `"limit":5000`, `"items":1000,"headers":{"Link":" "}`, "", doubt},
		{"another header", `"limit":5000`, `"items":1000,"headers":{"Server":"x"}`, "", doubt},
		{"in the middle", `"limit":5000,"offset":1000`, `"items":1000`, `"items":1000`, doubt},
	})
}

func TestEveryCommonCap(t *testing.T) {
	want := []int64{10, 20, 25, 30, 50, 100, 200, 250, 300, 500, 1000, 2000, 2500, 5000, 10000, 50000, 100000}
	if diff := cmp.Diff(want, judge.CommonCaps); diff != "" {
		t.Errorf("the table is not the contract's (-want +got):\n%s", diff)
	}
	for _, c := range want {
		for n := c - 1; n <= c+1; n++ {
			s := judge.Snapshot{Request: judge.Request{Limit: judge.N(1 << 40)}, Response: judge.Response{Items: judge.N(n)}}
			if got := has(judge.Judge(s), "TR006", judge.Unknown); got != (n == c) {
				t.Errorf("%d items: TR006 fires: %v", n, got)
			}
		}
	}
}

func TestTR007(t *testing.T) {
	const loss, doubt = "TR007 TRUNCATED", "TR007 UNKNOWN"
	checkRows(t, "TR007", []ruleRow{
		{"a total", "", `"items":0,"total":1`, "", loss},
		{"a lower bound", "", `"items":0,"total":1,"total_kind":"lower_bound"`, "", loss},
		{"an estimate", "", `"items":0,"total":1,"total_kind":"estimate"`, "", doubt},
		{"a total in the middle", `"offset":10`, `"items":0,"total":533692`, "", loss},
		{"a total of 0", "", `"items":0,"total":0`, "", ""},
		{"an estimate of 0", "", `"items":0,"total":0,"total_kind":"estimate"`, "", ""},
		{"one item", "", `"items":1,"total":2`, "", ""},
		{"items not stated", "", `"total":2`, "", ""},
		{"no word", "", `"items":0`, "", doubt},
		{"no word under a 200", "", `"items":0,"status":200,"parse_ok":true`, "", doubt},
		{"no word in the middle", `"offset":10`, `"items":0`, "", doubt},
		{"an empty array", "", `"items":[]`, "", doubt},
		{"no more", "", `"items":0,"has_more":false`, "", ""},
		{"an end marker", "", `"items":0,"end_marker":true`, "", ""},
		{"an end marker that says no", "", `"items":0,"end_marker":false`, "", doubt},
		{"an empty cursor", "", `"items":0,"next_cursor":""`, "", ""},
		{"an empty URL", "", `"items":0,"next_url":""`, "", ""},
		{"a Link without next", "", `"items":0,"headers":{"Link":"</p0>; rel=prev"}`, "", ""},
		{"a Link that cannot be read", "", `"items":0,"headers":{"Link":"</p0>; rel=prev, /p1"}`, "", doubt},
		{"read whole", "", `"items":0,"bytes_read":0,"bytes_expected":0,"lines_read":0,"lines_total":0`, "", ""},
		{"TR001 fires", "", `"items":0,"truncated":true`, "", ""},
		{"TR003 fires", "", `"items":0,"has_more":true`, "", ""},
		{"TR004 fires", "", `"items":0,"headers":{"Link":"</p2>; rel=next"}`, "", ""},
		{"TR005 fires", "", `"items":0,"parse_ok":false`, "", ""},
	})
}

func TestTR008(t *testing.T) {
	const loss, doubt = "TR008 TRUNCATED", "TR008 UNKNOWN"
	checkRows(t, "TR008", []ruleRow{
		{"another index", `"offset":100`, `"first_index":0`, "", doubt},
		{"another index at the start", ``, `"first_index":1`, "", doubt},
		{"another index by page", `"limit":50,"page":3`, `"first_index":50`, "", doubt},
		{"the index asked for", `"offset":100`, `"first_index":100`, "", ""},
		{"the index asked for by page", `"limit":50,"page":3`, `"first_index":100`, "", ""},
		{"index 0", ``, `"first_index":0`, "", ""},
		{"not up to the total", `"offset":100`, `"items":100,"total":201`, `"items":100`, loss},
		{"not up to a lower bound", `"offset":100`, `"items":100,"total":201,"total_kind":"lower_bound"`, `"items":100`, loss},
		{"not up to an estimate", `"offset":100`, `"items":100,"total":201,"total_kind":"estimate"`, `"items":100`, ""},
		{"from the start", `"offset":0`, `"items":100,"total":201`, ``, ""},
		{"items not stated", `"offset":100`, `"total":201`, ``, ""},
		{"up to the total, nothing held", `"offset":100`, `"items":100,"total":200`, ``, doubt},
		{"up to the total, too little held", `"offset":100`, `"items":100,"total":200`, `"items":99`, doubt},
		{"up to the total, all held", `"offset":100`, `"items":100,"total":200`, `"items":100`, ""},
		{"up to the total, more held", `"offset":100`, `"items":100,"total":200`, `"items":150`, ""},
		{"past the total, nothing held", `"offset":100`, `"items":100,"total":150`, ``, doubt},
		{"past an estimate, nothing held", `"offset":100`, `"items":100,"total":150,"total_kind":"estimate"`, ``, doubt},
		{"no more, nothing held", `"offset":100`, `"items":100,"has_more":false`, ``, doubt},
		{"no more, all held", `"offset":100`, `"items":100,"has_more":false`, `"items":100`, ""},
		{"an end marker, nothing held", `"offset":100`, `"end_marker":true`, ``, doubt},
		{"an empty cursor, nothing held", `"offset":100`, `"next_cursor":""`, ``, doubt},
		{"an empty URL, nothing held", `"offset":100`, `"next_url":""`, ``, doubt},
		{"a last Link, nothing held", `"offset":100`, `"headers":{"Link":"</p0>; rel=prev"}`, ``, doubt},
		{"read whole, nothing held", `"offset":100`, `"lines_read":1,"lines_total":1,"bytes_read":2,"bytes_expected":2`, ``, doubt},
		{"no end stated", `"offset":100`, `"items":100`, ``, ""},
		{"both index and total", `"offset":100`, `"items":100,"total":201,"first_index":0`, ``, doubt + ", " + loss},
		{"by page from 0", `"limit":100,"page":1,"first_page":0`, `"items":100,"has_more":false`, ``, doubt},
		{"by page from 1", `"limit":100,"page":1,"first_page":1`, `"items":100,"has_more":false`, ``, ""},
		{"a page number without a page size", `"page":2`, `"items":100,"has_more":false`, `"items":1000`, doubt},
		{"a page number with a page size of 0", `"page":2,"limit":0`, `"items":100,"total":100`, ``, doubt},
		{"a first page without a page size", `"page":1`, `"items":100,"has_more":false`, ``, ""},
	})
}

func TestTR009(t *testing.T) {
	const doubt = "TR009 UNKNOWN"
	checkRows(t, "TR009", []ruleRow{
		{"nothing", "", "", "", doubt},
		{"a clean answer", "", `"status":200,"parse_ok":true,"items":7`, "", doubt},
		{"a short page", `"limit":100`, `"status":200,"items":7`, "", doubt},
		{"beside TR006", `"limit":1000`, `"items":100`, "", doubt},
		{"beside TR007", "", `"items":0`, "", doubt},
		{"beside TR008", `"offset":5`, `"items":5,"total":10`, "", doubt},
		{"beside TR010", "", `"status":500,"items":5,"total":5`, "", doubt},
		{"beside TR011", "", `"items":5,"total":4`, "", doubt},
		{"TR011 with evidence", "", `"items":5,"total":5,"bytes_read":2,"bytes_expected":1`, "", ""},
		{"evidence", "", `"items":5,"total":5`, "", ""},
		{"evidence of loss", "", `"truncated":true`, "", ""},
		{"both", "", `"items":5,"total":5,"truncated":true`, "", ""},
	})
}

func TestTR010(t *testing.T) {
	const doubt = "TR010 UNKNOWN"
	checkRows(t, "TR010", []ruleRow{
		{"0", "", `"status":0`, "", doubt},
		{"199", "", `"status":199`, "", doubt},
		{"200", "", `"status":200`, "", ""},
		{"204", "", `"status":204`, "", ""},
		{"299", "", `"status":299`, "", ""},
		{"300", "", `"status":300`, "", doubt},
		{"304", "", `"status":304`, "", doubt},
		{"404", "", `"status":404`, "", doubt},
		{"503", "", `"status":503`, "", doubt},
		{"not stated", "", ``, "", ""},
	})
}

func TestTR010SilencesEvidence(t *testing.T) {
	whole := `"items":5,"total":5,"has_more":false,"end_marker":true,"next_cursor":"","next_url":"","headers":{"Link":"</p0>; rel=first"},"bytes_read":1,"bytes_expected":1,"lines_read":1,"lines_total":1`
	good := judge.Judge(parts(t, "", `"status":200,`+whole, ""))
	if good.Verdict != judge.Complete || len(good.CompleteEvidence) != 7 {
		t.Fatalf("under a 200: %v %q, want COMPLETE with 7 pieces of evidence", good.Verdict, good.CompleteEvidence)
	}
	bad := judge.Judge(parts(t, "", `"status":500,`+whole, ""))
	if diff := cmp.Diff([]string{"TR009 UNKNOWN", "TR010 UNKNOWN"}, fired(bad)); diff != "" {
		t.Errorf("under a 500 (-want +got):\n%s", diff)
	}
	if bad.Verdict != judge.Unknown || len(bad.CompleteEvidence) != 0 {
		t.Errorf("under a 500: %v %q, want UNKNOWN and no evidence", bad.Verdict, bad.CompleteEvidence)
	}
}

func TestTR011(t *testing.T) {
	const doubt = "TR011 UNKNOWN"
	huge := `9223372036854775807`
	checkRows(t, "TR011", []ruleRow{
		{"total below items", "", `"items":5,"total":4`, "", doubt},
		{"total below the end", `"offset":10`, `"items":5,"total":14`, `"items":10`, doubt},
		{"total at the end", `"offset":10`, `"items":5,"total":15`, `"items":10`, ""},
		{"a collapsed total", `"offset":1000`, `"items":0,"total":0`, `"items":1000`, doubt},
		{"a total below the offset alone", `"offset":1000`, `"total":10`, ``, doubt},
		{"a lower bound below", "", `"items":5,"total":4,"total_kind":"lower_bound"`, "", ""},
		{"an estimate below", "", `"items":5,"total":4,"total_kind":"estimate"`, "", ""},
		{"bytes above", "", `"bytes_read":2,"bytes_expected":1`, "", doubt},
		{"lines above", "", `"lines_read":2,"lines_total":1`, "", doubt},
		{"characters above", "", `"chars_read":2,"chars_total":1`, "", doubt},
		{"no more and an offset", "", `"has_more":false,"next_offset":1`, "", doubt},
		{"no more and a page", "", `"has_more":false,"next_page":1`, "", doubt},
		{"no more and a cursor", "", `"has_more":false,"next_cursor":"c"`, "", doubt},
		{"no more and a URL", "", `"has_more":false,"next_url":"u"`, "", doubt},
		{"no more and a next link", "", `"has_more":false,"headers":{"Link":"</p2>; rel=next"}`, "", doubt},
		{"no more and a broken next link", "", `"has_more":false,"headers":{"Link":"/p2>; rel=next"}`, "", doubt},
		{"no more and empty continuations", "", `"has_more":false,"next_cursor":"","next_url":""`, "", ""},
		{"more and a cursor", "", `"has_more":true,"next_cursor":"c"`, "", ""},
		{"returned is not items", "", `"returned_count":2,"items":3`, "", doubt},
		{"returned is items", "", `"returned_count":3,"items":3`, "", ""},
		{"returned alone", "", `"returned_count":3`, "", ""},
		{"a page before the first", `"limit":10,"page":0`, `"items":3,"total":3`, "", doubt},
		{"a page before the first, from 5", `"limit":10,"page":4,"first_page":5`, ``, "", doubt},
		{"a page beyond counting", `"limit":4611686018427387904,"page":4`, `"items":0`, "", doubt},
		{"an end beyond counting", `"offset":` + huge, `"items":1,"total":` + huge, "", doubt},
		{"the last position of all", `"offset":` + huge, `"items":0,"total":` + huge, "", ""},
	})
}

func TestOverflowNeverCompletes(t *testing.T) {
	max := judge.N(math.MaxInt64)
	for _, r := range []judge.Request{
		{Limit: max, Page: judge.N(3)},
		{Limit: max, Page: max},
		{Limit: judge.N(1 << 32), Page: judge.N(1<<31 + 1)},
		{Limit: judge.N(2), Page: max, FirstPage: judge.N(0)},
	} {
		for _, total := range []judge.Count{{}, judge.N(0), judge.N(9), max} {
			s := judge.Snapshot{Request: r, Held: judge.Held{Items: max}}
			s.Response = judge.Response{Items: judge.N(9), Total: total, HasMore: judge.No, EndMarker: judge.Yes}
			got := judge.Judge(s)
			if got.Verdict == judge.Complete || got.Resume != nil {
				t.Errorf("request %+v, total %v: %v, resume %v", r, total, got.Verdict, got.Resume)
			}
		}
	}
	s := judge.Snapshot{Request: judge.Request{Offset: max}, Held: judge.Held{Items: max}}
	s.Response = judge.Response{Items: judge.N(1), Total: max}
	if got := judge.Judge(s); got.Verdict != judge.Unknown {
		t.Errorf("offset + items beyond int64: %v, want UNKNOWN", got.Verdict)
	}
}

func TestNegativeCountsContradict(t *testing.T) {
	s := judge.Snapshot{Kind: judge.KindTool}
	s.Response = judge.Response{Items: judge.N(5), Total: judge.N(-1), HasMore: judge.No, NextPage: judge.N(-1)}
	s.Held.Items = judge.N(-9)
	got := judge.Judge(s)
	want := []string{"TR011 UNKNOWN", "TR011 UNKNOWN", "TR011 UNKNOWN"}
	if diff := cmp.Diff(want, fired(got)); diff != "" || got.Verdict != judge.Unknown {
		t.Errorf("%v (-want +got):\n%s", got.Verdict, diff)
	}
	if s.Response.Total != judge.N(-1) {
		t.Error("Judge changed its snapshot")
	}
}

func TestUnknownTotalKindIsAnEstimate(t *testing.T) {
	for _, items := range []int64{5, 6, 4} {
		s := judge.Snapshot{Response: judge.Response{Items: judge.N(items), Total: judge.N(5), TotalKind: "rumour"}}
		if got := judge.Judge(s); len(got.Rules) != 1 || got.Rules[0].ID != "TR009" {
			t.Errorf("%d items of a rumoured 5: %v, want TR009 alone", items, got.Rules)
		}
	}
}

func TestRuleTableIsTheWholeTruth(t *testing.T) {
	layers := map[string]string{
		"TR001": "semantic", "TR002": "set", "TR003": "set", "TR004": "stream", "TR005": "stream", "TR006": "set",
		"TR007": "semantic", "TR008": "set", "TR009": "none", "TR010": "stream", "TR011": "set",
	}
	if len(judge.RuleTable) != len(layers) {
		t.Fatalf("%d rules, want %d", len(judge.RuleTable), len(layers))
	}
	for i, r := range judge.RuleTable {
		if r.Layer != layers[r.ID] || r.Title == "" || r.Doc == "" || len(r.Verdicts) == 0 {
			t.Errorf("rule %d: %+v, want layer %q, a title, a text and verdicts", i, r, layers[r.ID])
		}
		if i > 0 && judge.RuleTable[i-1].ID >= r.ID {
			t.Errorf("%s stands after %s", r.ID, judge.RuleTable[i-1].ID)
		}
		if slices.Contains(r.Verdicts, judge.Complete) {
			t.Errorf("%s can say COMPLETE: only evidence can", r.ID)
		}
	}
}
