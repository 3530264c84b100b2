package judge

import (
	"fmt"
	"strings"
)

// A Verdict says whether an answer is all there is. The zero value is Unknown,
// so a forgotten field can lose a Complete but never invent one.
type Verdict uint8

// The three verdicts.
const (
	Unknown   Verdict = iota // neither evidence of loss nor of completeness: a conclusion, never green
	Truncated                // positive evidence that something is missing
	Complete                 // positive evidence that this is the whole set
)

// String gives TRUNCATED, COMPLETE or, for everything else, UNKNOWN.
func (v Verdict) String() string {
	switch v {
	case Truncated:
		return "TRUNCATED"
	case Complete:
		return "COMPLETE"
	case Unknown:
		return "UNKNOWN"
	default:
		return "UNKNOWN"
	}
}

// MarshalText writes what String gives; it never fails.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads exactly what MarshalText writes and refuses all else,
// leaving v as it was.
func (v *Verdict) UnmarshalText(text []byte) error {
	for _, known := range []Verdict{Unknown, Truncated, Complete} {
		if string(text) == known.String() {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("judge: %q is no verdict (UNKNOWN, TRUNCATED or COMPLETE)", text)
}

// Worst returns the verdict that counts when both stand: Truncated before
// Unknown before Complete. It is commutative, associative and has Complete as
// its neutral element.
func Worst(a, b Verdict) Verdict {
	if a.badness() >= b.badness() {
		return a
	}
	return b
}

// badness orders verdicts, the worst highest.
func (v Verdict) badness() int {
	switch v {
	case Truncated:
		return 2
	case Complete:
		return 0
	case Unknown:
		return 1
	default:
		return 1
	}
}

// A Count is a number that may not have been stated. Its zero value is "not
// stated", which is another thing than zero.
type Count struct {
	N  int64
	OK bool
}

// N is the stated count n.
func N(n int64) Count { return Count{N: n, OK: true} }

// String gives the number, or "not stated".
func (c Count) String() string {
	if !c.OK {
		return "not stated"
	}
	return fmt.Sprint(c.N)
}

// is reports whether c is stated and equal to n.
func (c Count) is(n int64) bool { return c.OK && c.N == n }

// A Claim is a yes or no that may not have been said. Its zero value is
// NotSaid, which is another thing than No.
type Claim uint8

// The three claims.
const (
	NotSaid Claim = iota
	Yes
	No
)

// Said is the claim that states b.
func Said(b bool) Claim {
	if b {
		return Yes
	}
	return No
}

// String gives "not said", "yes" or "no".
func (c Claim) String() string {
	switch c {
	case Yes:
		return "yes"
	case No:
		return "no"
	case NotSaid:
		return "not said"
	default:
		return "not said"
	}
}

// A Text is a string that may not have been stated, where an empty string says
// something of its own: an empty cursor is "no continuation", an absent one is
// nothing at all.
type Text struct {
	S  string
	OK bool
}

// T is the stated text s.
func T(s string) Text { return Text{S: s, OK: true} }

// filled reports whether t is stated and not empty.
func (t Text) filled() bool { return t.OK && t.S != "" }

// empty reports whether t is stated as the empty string.
func (t Text) empty() bool { return t.OK && t.S == "" }

// clip bounds the length of a quote in an evidence text.
const clip = 200

// quote renders foreign text for an evidence line: quoted, control characters
// escaped, and cut at clip characters with the number left out named.
func quote(s string) string {
	r := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(r) <= clip {
		return fmt.Sprintf("%q", string(r))
	}
	return fmt.Sprintf("%q and %d more characters", string(r[:clip]), len(r)-clip)
}
