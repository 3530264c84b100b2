package judge_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lastdrop/judge"
)

// once sorts the rules of a result and drops repeats.
func once(r judge.Result) []string {
	ids := fired(r)
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return nil
	}
	return ids
}

func TestJudgeIsTheContract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSnapshot().Draw(t, "snapshot")
		want, got := newOracle(s), judge.Judge(s)
		if diff := cmp.Diff(want.rules(), once(got)); diff != "" {
			t.Fatalf("rules (-contract +judge):\n%s\n%+v", diff, got.Rules)
		}
		if got.Verdict != want.verdict() {
			t.Fatalf("verdict %v, the contract says %v", got.Verdict, want.verdict())
		}
		if (len(got.CompleteEvidence) > 0) != want.evident() {
			t.Fatalf("evidence %q, the contract has some: %v", got.CompleteEvidence, want.evident())
		}
	})
}

// losses are ways to add evidence of loss to a snapshot. Each fires a rule that
// says TRUNCATED, whatever else the snapshot says.
var losses = map[string]func(*judge.Snapshot){
	"has_more":       func(s *judge.Snapshot) { s.Response.HasMore = judge.Yes },
	"next_offset":    func(s *judge.Snapshot) { s.Response.NextOffset = judge.N(0) },
	"next_page":      func(s *judge.Snapshot) { s.Response.NextPage = judge.N(7) },
	"next_cursor":    func(s *judge.Snapshot) { s.Response.NextCursor = judge.T("more") },
	"next_url":       func(s *judge.Snapshot) { s.Response.NextURL = judge.T("/more") },
	"truncated":      func(s *judge.Snapshot) { s.Response.Truncated = judge.Yes },
	"truncated_by":   func(s *judge.Snapshot) { s.Response.TruncatedBy = "tokens" },
	"original_count": func(s *judge.Snapshot) { s.Response.OriginalCount, s.Response.ReturnedCount = judge.N(9), judge.N(8) },
	"text":           func(s *judge.Snapshot) { s.Response.Text += " Showing first 10" },
	"error":          func(s *judge.Snapshot) { s.Response.Error += " 部分结果" },
	"bytes":          func(s *judge.Snapshot) { s.Response.BytesRead, s.Response.BytesExpected = judge.N(8), judge.N(9) },
	"lines":          func(s *judge.Snapshot) { s.Response.LinesRead, s.Response.LinesTotal = judge.N(8), judge.N(9) },
	"characters":     func(s *judge.Snapshot) { s.Response.CharsRead, s.Response.CharsTotal = judge.N(8), judge.N(9) },
	"Link":           func(s *judge.Snapshot) { s.Response.Headers = map[string][]string{"link": {"<n>; rel=next"}} },
	"broken Link":    func(s *judge.Snapshot) { s.Response.Headers = map[string][]string{"Link": {`n>; rel="next"`}} },
	"no parse": func(s *judge.Snapshot) {
		s.Response.ParseOK, s.Response.Status = judge.No, judge.N(200)
	},
	"total": func(s *judge.Snapshot) {
		s.Request, s.Response.Items = judge.Request{}, judge.N(3)
		s.Response.Total, s.Response.TotalKind = judge.N(4), judge.Exact
	},
}

func TestLossOutweighsEverything(t *testing.T) {
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := genSnapshot().Draw(t, "snapshot")
				before := judge.Judge(s).Verdict
				lose(&s)
				after := judge.Judge(s)
				if after.Verdict != judge.Truncated {
					t.Fatalf("%v before, %v with evidence of loss: %v", before, after.Verdict, after.Rules)
				}
			})
		})
	}
}

func TestLossNeverRaises(t *testing.T) {
	names := make([]string, 0, len(losses))
	for name := range losses {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		s := genSnapshot().Draw(t, "snapshot")
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(t, "losses") {
			before := judge.Judge(s).Verdict
			losses[name](&s)
			if after := judge.Judge(s).Verdict; judge.Worst(before, after) != after {
				t.Fatalf("%s raised %v to %v", name, before, after)
			}
		}
	})
}

func TestCompleteIsTheOnlyNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := judge.Judge(genSnapshot().Draw(t, "snapshot"))
		if (r.Verdict == judge.Complete) != (r.Action == judge.ActionNone) {
			t.Fatalf("%v with action %s", r.Verdict, r.Action)
		}
		if (r.Action == judge.ActionContinue) != (r.Resume != nil) {
			t.Fatalf("action %s with resume %v", r.Action, r.Resume)
		}
		if r.Verdict == judge.Complete && (len(r.CompleteEvidence) == 0 || len(r.Rules) > 0) {
			t.Fatalf("COMPLETE with rules %v and evidence %q", r.Rules, r.CompleteEvidence)
		}
	})
}

func TestEveryRuleSaysOnlyWhatItMay(t *testing.T) {
	may := map[string]judge.RuleDoc{}
	for _, r := range judge.RuleTable {
		may[r.ID] = r
	}
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range judge.Judge(genSnapshot().Draw(t, "snapshot")).Rules {
			if doc := may[r.ID]; !slices.Contains(doc.Verdicts, r.Verdict) || doc.Layer != r.Layer || r.Evidence == "" {
				t.Fatalf("%+v is not in the table: %+v", r, doc)
			}
		}
	})
}

func TestHeaderOrderIsIrrelevant(t *testing.T) {
	links := []string{`</p1>; rel="prev"`, `</n>; rel="next"; title="a, b"`, "</f>; rel=first", "broken>; rel=up", "</s>; rel=self"}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(links), 1, 5, rapid.ID[string]).Draw(t, "links")
		other := rapid.Permutation(some).Draw(t, "another order")
		s := genSnapshot().Draw(t, "snapshot")
		s.Response.Headers = map[string][]string{"Link": some}
		first := judge.Judge(s)
		s.Response.Headers = map[string][]string{"LINK": other[:len(other)/2], "Server": {"x"}, "link": other[len(other)/2:]}
		second := judge.Judge(s)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("the order of headers changed the result:\n%s", diff)
		}
	})
}

func TestJudgeIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSnapshot().Draw(t, "snapshot")
		before, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		first, second := judge.Judge(s), judge.Judge(s)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("judged twice:\n%s", diff)
		}
		after, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if string(before) != string(after) {
			t.Fatalf("the snapshot changed from\n%s to\n%s", before, after)
		}
	})
}

// A snapshot made in Go may say anything at all.
func TestJudgeNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := func(name string) judge.Count {
			return judge.Count{N: rapid.Int64().Draw(t, name), OK: rapid.Bool().Draw(t, name+"?")}
		}
		var s judge.Snapshot
		s.Kind = judge.Kind(rapid.String().Draw(t, "kind"))
		s.Request = judge.Request{Limit: count("limit"), Offset: count("offset"), Page: count("page"), FirstPage: count("first")}
		r := &s.Response
		r.Status, r.Items, r.Total = count("status"), count("items"), count("total")
		r.TotalKind = judge.TotalKind(rapid.String().Draw(t, "total kind"))
		r.HasMore = judge.Claim(rapid.Uint8().Draw(t, "has_more"))
		r.NextOffset, r.NextPage, r.FirstIndex = count("next_offset"), count("next_page"), count("first_index")
		r.OriginalCount, r.ReturnedCount = count("original"), count("returned")
		r.BytesRead, r.BytesExpected = count("read"), count("expected")
		r.Headers = map[string][]string{"Link": rapid.SliceOf(rapid.String()).Draw(t, "Link")}
		s.Held.Items = count("held")
		got := judge.Judge(s)
		if got.Verdict != judge.Unknown && got.Verdict != judge.Truncated && got.Verdict != judge.Complete {
			t.Fatalf("verdict %d", got.Verdict)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Fatal(err)
		}
	})
}
