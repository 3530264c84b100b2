package judge_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lastdrop/judge"
)

// A world is a set of known size behind a server that is honest, but may keep
// silent, cap what it hands out, or lose the tail of an answer.
type world struct {
	size   int64 // items at the source
	held   int64 // items held from before the offset
	offset int64
	limit  int64
	limits int64 // the most that the server hands out at once
	lost   int64 // items that the answer lost on its way
	says   says
}

// says is what a server says about its set.
type says int

const (
	sayNothing says = iota
	sayTotal
	sayLowerBound
	sayEstimate
	sayHasMore
	sayCursor
	sayLink
	sayNoNext // prev, but never a next: only honest on the last page
	sayEverything
	sayKinds
)

// answer is what the server sends: how many items, and whether they are the
// last.
func (w world) answer() (items int64, last bool) {
	items = max(0, min(w.limit, w.limits, w.size-w.offset))
	return items, w.offset+items >= w.size
}

// snapshot is what a reader of the answer sees.
func (w world) snapshot() judge.Snapshot {
	items, last := w.answer()
	s := judge.Snapshot{Kind: judge.KindList}
	s.Request = judge.Request{Limit: judge.N(w.limit), Offset: judge.N(w.offset)}
	s.Held.Items = judge.N(w.held)
	r := &s.Response
	r.Status, r.ParseOK = judge.N(200), judge.Yes
	r.Items = judge.N(max(0, items-w.lost))
	if w.lost > 0 {
		r.ReturnedCount = judge.N(items)
	}
	if w.says == sayTotal || w.says == sayEverything {
		r.Total = judge.N(w.size)
	}
	if w.says == sayLowerBound {
		r.Total, r.TotalKind = judge.N(min(w.size, 3)), judge.LowerBound
	}
	if w.says == sayEstimate {
		r.Total, r.TotalKind = judge.N(w.size), judge.Estimate
	}
	if w.says == sayHasMore || w.says == sayEverything {
		r.HasMore = judge.Said(!last)
	}
	if w.says == sayCursor || w.says == sayEverything {
		r.NextCursor = judge.T("")
		if !last {
			r.NextCursor = judge.T("on")
		}
	}
	if w.says == sayLink || w.says == sayEverything {
		r.Headers = map[string][]string{"Link": {`</first>; rel="first"`}}
		if !last {
			r.Headers["Link"] = append(r.Headers["Link"], `</next>; rel="next"`)
		}
	}
	if w.says == sayNoNext && last {
		r.Headers = map[string][]string{"Link": {`</prev>; rel="prev"`}}
	}
	return s
}

// whole tells whether the reader now has everything: what stands before the
// offset, and all from there.
func (w world) whole() bool {
	items, last := w.answer()
	return w.held >= w.offset && last && w.offset <= w.size && min(w.lost, items) == 0
}

// eachWorld calls f with every small world.
func eachWorld(f func(world)) {
	for says := sayNothing; says < sayKinds; says++ {
		for size := range int64(5) {
			for offset := range int64(6) {
				for held := range int64(6) {
					for limits := range int64(5) {
						for lost := range int64(3) {
							f(world{size, held, offset, 4, limits, lost, says})
						}
					}
				}
			}
		}
	}
}

// The law, for one answer: COMPLETE means that nothing is missing.
func TestCompleteMeansWhole(t *testing.T) {
	complete := 0
	eachWorld(func(w world) {
		// A page past a set of this size is legal, and there its end is no lie.
		if w.offset > w.size || w.held > w.size {
			return
		}
		r := judge.Judge(w.snapshot())
		if r.Verdict == judge.Complete {
			complete++
			if !w.whole() {
				t.Errorf("%+v is COMPLETE: %q", w, r.CompleteEvidence)
			}
		}
	})
	if complete == 0 {
		t.Error("no world at all is COMPLETE")
	}
}

// TRUNCATED means that something is missing, at least from this answer. The
// one exception is known: an empty page beside a total is never an end.
func TestTruncatedMeansMissing(t *testing.T) {
	eachWorld(func(w world) {
		items, last := w.answer()
		r := judge.Judge(w.snapshot())
		if r.Verdict != judge.Truncated || items-w.lost <= 0 {
			return
		}
		if last && w.lost == 0 {
			t.Errorf("%+v is TRUNCATED: %v", w, r.Rules)
		}
	})
}

// A server that says everything, and a reader who holds all before, need no
// UNKNOWN: one of the two others is always known.
func TestEverythingSaidIsDecided(t *testing.T) {
	eachWorld(func(w world) {
		if w.says != sayEverything || w.lost > 0 || w.offset > w.size || w.held < w.offset {
			return
		}
		if r := judge.Judge(w.snapshot()); r.Verdict == judge.Unknown {
			t.Errorf("%+v is UNKNOWN: %v", w, r.Rules)
		}
	})
}

// A silent server is never believed.
func TestSilenceIsNeverComplete(t *testing.T) {
	eachWorld(func(w world) {
		if w.says != sayNothing && w.says != sayEstimate && w.says != sayLowerBound {
			return
		}
		if r := judge.Judge(w.snapshot()); r.Verdict == judge.Complete {
			t.Errorf("%+v is COMPLETE: %q", w, r.CompleteEvidence)
		}
	})
}

// Holding less never helps.
func TestHoldingLessNeverRaises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSnapshot().Draw(t, "snapshot")
		s.Held.Items = judge.N(rapid.Int64Range(1, 1<<62).Draw(t, "held"))
		more := judge.Judge(s).Verdict
		s.Held.Items = judge.N(rapid.Int64Range(0, s.Held.Items.N-1).Draw(t, "less"))
		less := judge.Judge(s).Verdict
		s.Held.Items = judge.Count{}
		unsaid := judge.Judge(s).Verdict
		if judge.Worst(more, less) != less || judge.Worst(less, unsaid) != unsaid {
			t.Fatalf("%v, with less held %v, with nothing said %v", more, less, unsaid)
		}
	})
}

// The kind only names the reading.
func TestKindDecidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSnapshot().Draw(t, "snapshot")
		want := judge.Judge(s)
		for _, kind := range []judge.Kind{judge.KindList, judge.KindHTTP, judge.KindFile, judge.KindTool, "", "other"} {
			s.Kind, want.Kind = kind, kind
			if diff := cmp.Diff(want, judge.Judge(s)); diff != "" {
				t.Fatalf("as %q:\n%s", kind, diff)
			}
		}
	})
}

// A page and a page size say the same as the offset that they make.
func TestPageIsAnOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSnapshot().Draw(t, "snapshot")
		limit := rapid.Int64Range(1, 30).Draw(t, "limit")
		first := rapid.Int64Range(0, 2).Draw(t, "first")
		before := rapid.Int64Range(0, 4).Draw(t, "pages before")
		s.Request = judge.Request{Limit: judge.N(limit), Offset: judge.N(before * limit)}
		want := judge.Judge(s)
		s.Request = judge.Request{Limit: judge.N(limit), Page: judge.N(first + before), FirstPage: judge.N(first)}
		if diff := cmp.Diff(want, judge.Judge(s)); diff != "" {
			t.Fatalf("by page:\n%s", diff)
		}
		if first != 1 {
			return
		}
		s.Request.FirstPage = judge.Count{}
		if diff := cmp.Diff(want, judge.Judge(s)); diff != "" {
			t.Fatalf("with the default first page:\n%s", diff)
		}
	})
}

// An offset outranks a page, whatever the page says.
func TestOffsetOutranksPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSnapshot().Draw(t, "snapshot")
		s.Request.Offset = judge.N(rapid.SampledFrom([]int64{0, 10}).Draw(t, "offset"))
		s.Request.Page, s.Request.FirstPage = judge.Count{}, judge.Count{}
		want := judge.Judge(s)
		s.Request.Page = judge.N(rapid.Int64Range(0, 1<<62).Draw(t, "page"))
		if diff := cmp.Diff(want, judge.Judge(s)); diff != "" {
			t.Fatalf("with a page beside it:\n%s", diff)
		}
	})
}

// Going on at the derived resume point leaves no gap.
func TestResumePointLeavesNoGap(t *testing.T) {
	eachWorld(func(w world) {
		r := judge.Judge(w.snapshot())
		if r.Resume == nil || r.Resume.Kind != "offset" {
			return
		}
		s := w.snapshot()
		if want := fmt.Sprint(w.offset + s.Response.Items.N); r.Resume.Value != want {
			t.Errorf("%+v: go on at %s, want %s", w, r.Resume.Value, want)
		}
	})
}
