package judge_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"lastdrop/judge"
)

var verdicts = []judge.Verdict{judge.Unknown, judge.Truncated, judge.Complete}

func TestVerdictZeroIsUnknown(t *testing.T) {
	var v judge.Verdict
	if v != judge.Unknown {
		t.Errorf("the zero verdict is %v, want UNKNOWN: a forgotten verdict must never be green", v)
	}
}

func TestVerdictText(t *testing.T) {
	names := map[judge.Verdict]string{
		judge.Unknown:   "UNKNOWN",
		judge.Truncated: "TRUNCATED",
		judge.Complete:  "COMPLETE",
	}
	for v, want := range names {
		if got := v.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
		text, err := v.MarshalText()
		if err != nil || string(text) != want {
			t.Errorf("MarshalText() = %q, %v, want %q", text, err, want)
		}
		var back judge.Verdict
		if err := back.UnmarshalText(text); err != nil || back != v {
			t.Errorf("UnmarshalText(%q) = %v, %v, want %v", text, back, err, v)
		}
	}
}

func TestVerdictOutOfRange(t *testing.T) {
	if got := judge.Verdict(200).String(); got != "UNKNOWN" {
		t.Errorf("Verdict(200) is %q, want UNKNOWN", got)
	}
	if got := judge.Worst(judge.Verdict(200), judge.Complete); got != judge.Verdict(200) {
		t.Errorf("Worst(Verdict(200), COMPLETE) = %v: what is no verdict must not be green", got)
	}
}

func TestVerdictUnmarshalRefuses(t *testing.T) {
	for _, text := range []string{"", "complete", "COMPLETE ", "GREEN", "2"} {
		v := judge.Truncated
		if err := v.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("UnmarshalText(%q) = nil, want an error", text)
		}
		if v != judge.Truncated {
			t.Errorf("UnmarshalText(%q) changed the verdict to %v", text, v)
		}
	}
}

func TestVerdictInJSON(t *testing.T) {
	out, err := json.Marshal(map[string]judge.Verdict{"v": judge.Truncated})
	if err != nil || string(out) != `{"v":"TRUNCATED"}` {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestWorstTable(t *testing.T) {
	tests := []struct{ a, b, want judge.Verdict }{
		{judge.Complete, judge.Complete, judge.Complete},
		{judge.Complete, judge.Unknown, judge.Unknown},
		{judge.Complete, judge.Truncated, judge.Truncated},
		{judge.Unknown, judge.Unknown, judge.Unknown},
		{judge.Unknown, judge.Truncated, judge.Truncated},
		{judge.Truncated, judge.Truncated, judge.Truncated},
	}
	for _, tt := range tests {
		if got := judge.Worst(tt.a, tt.b); got != tt.want {
			t.Errorf("Worst(%v, %v) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
		if got := judge.Worst(tt.b, tt.a); got != tt.want {
			t.Errorf("Worst(%v, %v) = %v, want %v", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestWorstIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) judge.Verdict { return rapid.SampledFrom(verdicts).Draw(t, name) }
		a, b, c := draw("a"), draw("b"), draw("c")
		left := judge.Worst(judge.Worst(a, b), c)
		right := judge.Worst(a, judge.Worst(b, c))
		if left != right {
			t.Fatalf("(%v %v) %v = %v, but %v (%v %v) = %v", a, b, c, left, a, b, c, right)
		}
	})
}

func TestOptionalValuesStartUnstated(t *testing.T) {
	var c judge.Count
	var claim judge.Claim
	var text judge.Text
	if c.OK || claim != judge.NotSaid || text.OK {
		t.Errorf("zero values state something: %+v %v %+v", c, claim, text)
	}
	if c == judge.N(0) {
		t.Error("not stated and a stated zero are the same")
	}
	if text == judge.T("") {
		t.Error("not stated and a stated empty text are the same")
	}
}

func TestOptionalValuesPrint(t *testing.T) {
	tests := []struct{ got, want string }{
		{judge.Count{}.String(), "not stated"},
		{judge.N(0).String(), "0"},
		{judge.N(-3).String(), "-3"},
		{judge.NotSaid.String(), "not said"},
		{judge.Yes.String(), "yes"},
		{judge.No.String(), "no"},
		{judge.Claim(9).String(), "not said"},
		{judge.Said(true).String(), "yes"},
		{judge.Said(false).String(), "no"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
