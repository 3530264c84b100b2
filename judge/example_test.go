package judge_test

import (
	"encoding/json"
	"fmt"
	"os"

	"lastdrop/judge"
)

// An answer that parses, with a clean status and as many items as servers like
// to cap at: neither whole nor cut, as far as anyone can tell.
func ExampleJudge() {
	r := judge.Judge(judge.Snapshot{
		Kind:     judge.KindHTTP,
		Request:  judge.Request{Limit: judge.N(5000)},
		Response: judge.Response{Status: judge.N(200), ParseOK: judge.Yes, Items: judge.N(1000)},
	})
	fmt.Println(r.Verdict)
	for _, rule := range r.Rules {
		fmt.Println(rule.ID)
	}
	fmt.Println(r.Action)
	// Output:
	// UNKNOWN
	// TR006
	// TR009
	// find_total
}

// Evidence of loss outweighs every optimistic sign.
func ExampleJudge_precedence() {
	s := judge.Snapshot{Kind: judge.KindList}
	s.Response.Items, s.Response.Total = judge.N(12), judge.N(12)
	fmt.Println(judge.Judge(s).Verdict)
	s.Response.NextCursor = judge.T("eyJwIjoyfQ")
	fmt.Println(judge.Judge(s).Verdict)
	// Output:
	// COMPLETE
	// TRUNCATED
}

func ExampleDecode() {
	_, err := judge.Decode([]byte(`[{"kind":"list","response":{"items":3,"totl":5}}]`))
	fmt.Println(err)
	// Output:
	// [0].response.totl: unknown field; did you mean total?
}

func ExampleParseLinks() {
	links, broken := judge.ParseLinks([]string{
		`<https://api.example/things?page=2>; rel="next", https://api.example/things?page=9>; rel="last"`,
	})
	for _, l := range links {
		fmt.Println(l.Has("next"), l.URL)
	}
	fmt.Println("broken:", broken)
	// Output:
	// true https://api.example/things?page=2
	// broken: [https://api.example/things?page=9>; rel="last"]
}

func ExampleWorst() {
	worst := judge.Complete
	for _, v := range []judge.Verdict{judge.Complete, judge.Unknown, judge.Complete} {
		worst = judge.Worst(worst, v)
	}
	fmt.Println(worst)
	// Output:
	// UNKNOWN
}

func ExampleLine_String() {
	s := judge.Snapshot{Kind: judge.KindList, Response: judge.Response{Items: judge.N(2), Total: judge.N(5)}}
	fmt.Print(judge.Line{Input: "page.json", Result: judge.Judge(s)})
	// Output:
	// TRUNCATED  page.json (list)
	//   TR002 TRUNCATED  total 5 declared, 2 items received: 3 missing
	//   completeness  no evidence
	//   resume        offset 2 (assumes offset semantics and a stable order; a hard cap may stand in the way, so judge the next answer too)
	//   action        continue: ask on at the resume point
}

func ExampleLine_MarshalJSON() {
	s := judge.Snapshot{Kind: judge.KindList, Response: judge.Response{EndMarker: judge.Yes}}
	err := json.NewEncoder(os.Stdout).Encode(judge.Line{Input: "page.json", Result: judge.Judge(s)})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"input":"page.json","kind":"list","verdict":"COMPLETE","rules":[],"complete_evidence":["an end marker"],"resume":null,"action":"none"}
}
