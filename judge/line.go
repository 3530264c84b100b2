package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// wire is a Result as it is written; its key order is part of the contract.
type wire struct {
	Input            *string  `json:"input,omitempty"`
	Kind             Kind     `json:"kind"`
	Verdict          Verdict  `json:"verdict"`
	Rules            []Rule   `json:"rules"`
	CompleteEvidence []string `json:"complete_evidence"`
	Resume           *Resume  `json:"resume"`
	Action           Action   `json:"action"`
}

func (r Result) wire(input *string) wire {
	w := wire{input, r.Kind, r.Verdict, r.Rules, r.CompleteEvidence, r.Resume, r.Action}
	if w.Rules == nil {
		w.Rules = []Rule{}
	}
	if w.CompleteEvidence == nil {
		w.CompleteEvidence = []string{}
	}
	return w
}

// MarshalJSON writes every key, always; lists are [] and never null. URLs stay
// readable where the encoder around it does not escape HTML.
func (r Result) MarshalJSON() ([]byte, error) { return plain(r.wire(nil)) }

// A Line is a Result with the name of its input: what `lastdrop judge` prints
// for one snapshot.
type Line struct {
	Input  string
	Result Result
}

// MarshalJSON writes the Result's object with "input" as its first key.
func (l Line) MarshalJSON() ([]byte, error) { return plain(l.Result.wire(&l.Input)) }

// plain encodes v without escaping the & of URLs, and without a line end.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("judge: write a result: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// meaning says what an action asks for.
var meaning = map[Action]string{
	ActionNone:         "this is all",
	ActionContinue:     "ask on at the resume point",
	ActionRetry:        "ask the same again",
	ActionRetrySmaller: "ask the same again in smaller pieces",
	ActionWait:         "ask the same again when the server allows it",
	ActionFixRequest:   "the request is wrong, a retry brings nothing",
	ActionFindTotal:    "more evidence is needed, a retry brings none",
}

// String is the result for people, ending in a line end: the verdict first, a
// line for each rule that fired, the evidence of completeness, the resume point
// and the action. Nothing in it can steer a terminal.
func (l Line) String() string {
	r := l.Result
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s (%s)\n", r.Verdict, printable(l.Input), printable(string(r.Kind)))
	for _, rule := range r.Rules {
		fmt.Fprintf(&b, "  %s %-9s  %s\n", rule.ID, rule.Verdict, printable(rule.Evidence))
	}
	fmt.Fprintf(&b, "  completeness  %s\n", printable(r.completeness()))
	fmt.Fprintf(&b, "  resume        %s\n", r.resumption())
	fmt.Fprintf(&b, "  action        %s: %s\n", r.Action, meaning[r.Action])
	return b.String()
}

func (r Result) completeness() string {
	switch {
	case len(r.CompleteEvidence) == 0:
		return "no evidence"
	case r.Verdict != Complete:
		return strings.Join(r.CompleteEvidence, "; ") + " (outweighed)"
	default:
		return strings.Join(r.CompleteEvidence, "; ")
	}
}

func (r Result) resumption() string {
	if r.Resume == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s (%s)", r.Resume.Kind, printable(r.Resume.Value), r.Resume.Caveat)
}

// printable gives s as it is, or quoted where it holds anything that does not
// simply print.
func printable(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(s)
	}
	return s
}
