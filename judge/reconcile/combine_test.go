package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

func part(name string, v judge.Verdict, s reconcile.Strength, missing int64) reconcile.Part {
	p := reconcile.Part{Name: name, State: "finished", Verdict: v, Strength: s, Why: "why " + name}
	if missing >= 0 {
		p.Missing = &missing
	}
	return p
}

func TestCombine(t *testing.T) {
	const u, tr, c = judge.Unknown, judge.Truncated, judge.Complete
	good := func(name string) reconcile.Part { return part(name, c, reconcile.Counted, 0) }
	weak := part("weak", c, reconcile.Declared, -1)
	lost := part("lost", tr, reconcile.None, 7)
	doubtful := part("doubtful", u, reconcile.None, -1)
	failed := reconcile.Part{Name: "gone", State: "failed", Why: "404"}
	stopped := reconcile.Part{Name: "halfway", State: "stopped", Verdict: u, Why: "stopped by a signal"}
	unasked := reconcile.Part{Name: "later"}
	parent := func(p reconcile.Part) reconcile.List { return reconcile.List{Parent: &p, Values: 2} }
	none := int64(-1)
	for _, tc := range []struct {
		name     string
		list     reconcile.List
		parts    []reconcile.Part
		verdict  judge.Verdict
		strength reconcile.Strength
		missing  int64
		says     []string // ID VERDICT part of the text
	}{
		{"all complete", reconcile.List{}, []reconcile.Part{good("a"), good("b")}, c, reconcile.Counted, 0, []string{"RC048 COMPLETE COMPLETE: 2 children"}},
		{"the least strength", reconcile.List{}, []reconcile.Part{good("a"), weak}, c, reconcile.Declared, none, []string{"RC048 COMPLETE COMPLETE: 2 children"}},
		{"one lost", reconcile.List{}, []reconcile.Part{good("a"), doubtful, lost}, tr, reconcile.None, none, []string{
			"RC048 TRUNCATED lost is TRUNCATED: why lost", "RC048 UNKNOWN doubtful is UNKNOWN: why doubtful"}},
		{"what is missing adds up", reconcile.List{}, []reconcile.Part{good("a"), lost, lost}, tr, reconcile.None, 14, nil},
		{"one in doubt", reconcile.List{}, []reconcile.Part{good("a"), doubtful}, u, reconcile.None, none, []string{"RC048 UNKNOWN doubtful is UNKNOWN: why doubtful"}},
		{"one failed", reconcile.List{}, []reconcile.Part{good("a"), failed}, u, reconcile.None, none, []string{"RC048 UNKNOWN gone is UNKNOWN, for it could not run: 404"}},
		{"one stopped, one not asked", reconcile.List{Stopped: "stopped by a signal"}, []reconcile.Part{good("a"), stopped, unasked}, u, reconcile.None, none,
			[]string{"RC048 UNKNOWN 1 of 3 children not asked: stopped by a signal", "RC048 UNKNOWN halfway is UNKNOWN, stopped"}},
		{"a stopped one is not complete", reconcile.List{}, []reconcile.Part{{Name: "x", State: "stopped", Verdict: c, Strength: reconcile.Counted}}, u, reconcile.None, none, nil},
		{"a whole list", parent(good("repos")), []reconcile.Part{good("a"), good("b")}, c, reconcile.Counted, 0, []string{"RC049 COMPLETE the list is whole: repos is COMPLETE (counted) and gave 2 values"}},
		{"a weak list", parent(weak), []reconcile.Part{good("a"), good("b")}, c, reconcile.Declared, 0, nil},
		{"a list in doubt", parent(doubtful), []reconcile.Part{good("a")}, u, reconcile.None, none, []string{"RC049 UNKNOWN the list may not be whole: doubtful is UNKNOWN"}},
		{"a list cut short", parent(lost), []reconcile.Part{good("a")}, tr, reconcile.None, none, []string{"RC049 TRUNCATED the list is not whole"}},
		{"a list in doubt, a child lost", parent(doubtful), []reconcile.Part{lost}, tr, reconcile.None, none, nil},
		{"no child, a whole list", parent(weak), nil, c, reconcile.Declared, 0, []string{"RC049 COMPLETE"}},
		{"no child, a list in doubt", parent(doubtful), nil, u, reconcile.None, none, []string{"RC049 UNKNOWN"}},
		{"no child and no list", reconcile.List{}, nil, u, reconcile.None, 0, []string{"RC007 UNKNOWN"}},
		{"an item without a value", reconcile.List{Parent: &weak, Useless: 1, Example: "the value is empty"}, []reconcile.Part{good("a")}, u, reconcile.None, none,
			[]string{"RC049 UNKNOWN 1 item of the list gave no value, and so no child was asked: the value is empty"}},
		{"a value again", reconcile.List{Repeated: 2}, []reconcile.Part{good("a")}, c, reconcile.Counted, 0, []string{"RC068 UNKNOWN 2 values came again"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := reconcile.Combine(tc.list, tc.parts)
			if r.Verdict != tc.verdict || r.Strength != tc.strength {
				t.Errorf("%s (%s), want %s (%s): %v", r.Verdict, r.Strength, tc.verdict, tc.strength, r.Evidence)
			}
			if tc.missing == none && r.Missing != nil || tc.missing != none && (r.Missing == nil || *r.Missing != tc.missing) {
				t.Errorf("missing %v, want %d", r.Missing, tc.missing)
			}
			for _, want := range tc.says {
				if !slices.ContainsFunc(r.Evidence, func(e reconcile.Evidence) bool {
					return strings.HasPrefix(fmt.Sprintf("%s %s %s", e.ID, e.Verdict, e.Text), want)
				}) {
					t.Errorf("nothing says %q: %v", want, r.Evidence)
				}
			}
		})
	}
}

// The evidence names so many children and counts the others: all are told.
func TestCombineNamesAndCounts(t *testing.T) {
	for _, n := range [][2]int{{19, 1}, {20, 0}, {21, 0}, {0, 30}, {20, 5}, {25, 7}} {
		var parts []reconcile.Part
		for i := range n[0] {
			parts = append(parts, part(fmt.Sprint("lost", i), judge.Truncated, reconcile.None, 1))
		}
		for i := range n[1] {
			parts = append(parts, part(fmt.Sprint("open", i), judge.Unknown, reconcile.None, 1))
		}
		named, counted := 0, 0
		for _, e := range reconcile.Combine(reconcile.List{}, parts).Evidence {
			more := 0
			if _, err := fmt.Sscanf(e.Text, "… and %d more", &more); err == nil {
				counted += more
			} else {
				named++
			}
		}
		if named > 20 || named+counted != n[0]+n[1] {
			t.Errorf("%v: %d named, %d counted", n, named, counted)
		}
	}
}

// The whole is COMPLETE only where everything is, in whatever order it stands.
func TestCombineLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	for range 20000 {
		draw := func(i int) reconcile.Part {
			p := part(fmt.Sprint("p", i), judge.Complete, reconcile.Strength(1+r.IntN(4)), r.Int64N(3)-1)
			if r.IntN(6) == 0 {
				p.State = []string{"", "stopped", "failed", "finished"}[r.IntN(4)]
				p.Verdict = []judge.Verdict{judge.Unknown, judge.Truncated}[r.IntN(2)]
				p.Strength = reconcile.None
			}
			return p
		}
		var l reconcile.List
		all, lost, least := true, false, reconcile.Counted
		look := func(p reconcile.Part) {
			if p.State != "finished" || p.Verdict != judge.Complete {
				all = false
				lost = lost || p.State != "" && p.Verdict == judge.Truncated
			}
			least = min(least, p.Strength)
		}
		if r.IntN(2) == 0 {
			p := draw(99)
			p.State = []string{"stopped", "failed", "finished"}[r.IntN(3)]
			l.Parent = &p
			look(p)
		}
		var parts []reconcile.Part
		for i := range r.IntN(6) {
			parts = append(parts, draw(i))
			look(parts[i])
		}
		if r.IntN(10) == 0 {
			l.Useless, all = 1, false
		}
		all = all && (len(parts) > 0 || l.Parent != nil)
		got := reconcile.Combine(l, parts)
		want := judge.Unknown
		switch {
		case lost:
			want = judge.Truncated
		case all:
			want = judge.Complete
		}
		if want != judge.Complete {
			least = reconcile.None
		}
		if got.Verdict != want || got.Strength != least {
			t.Fatalf("%s (%s), want %s (%s) for %+v of %+v", got.Verdict, got.Strength, want, least, parts, l)
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		if again := reconcile.Combine(l, parts); again.Verdict != got.Verdict || again.Strength != got.Strength || len(again.Evidence) != len(got.Evidence) {
			t.Fatalf("in another order %s (%s)", again.Verdict, again.Strength)
		}
	}
}
