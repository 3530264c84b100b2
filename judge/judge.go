// Package judge decides whether one answer is all there is.
//
// Judge is a pure function: one Snapshot in, one Result with its evidence out.
// It opens no connection, reads no file, looks at no clock and remembers
// nothing. The snapshot's fields are facts that the caller vouches for.
//
// There are three verdicts. Complete needs positive evidence that nothing is
// missing, Truncated positive evidence that something is, and everything else
// is Unknown. Evidence of loss outweighs every optimistic sign: a clean status,
// a body that parses, a short or empty page prove nothing.
//
// The package imports nothing that could open, store or time anything, and a
// test keeps it so.
package judge

// A Rule is one rule that fired, with what it saw.
type Rule struct {
	ID       string  `json:"id"`
	Layer    string  `json:"layer"`
	Verdict  Verdict `json:"verdict"`
	Evidence string  `json:"evidence"`
}

// A Resume is where to ask on. It is advice, not a promise: Caveat says what it
// takes for granted.
type Resume struct {
	Kind   string `json:"kind"` // offset, page, cursor or url
	Value  string `json:"value"`
	Caveat string `json:"caveat"`
}

// An Action is what to do about an answer.
type Action string

// The actions.
const (
	ActionNone         Action = "none"          // nothing: this is all
	ActionContinue     Action = "continue"      // ask on at the resume point
	ActionRetry        Action = "retry"         // ask the same again
	ActionRetrySmaller Action = "retry_smaller" // ask the same again in smaller pieces
	ActionWait         Action = "wait"          // ask the same again when the server allows
	ActionFixRequest   Action = "fix_request"   // the request is wrong; a retry brings nothing
	ActionFindTotal    Action = "find_total"    // more evidence is needed; a retry brings none
)

// A Result is the judgement of one snapshot. Rules stand in rule order, and a
// rule may stand more than once. CompleteEvidence lists what speaks for
// completeness even where it is outweighed. Resume is nil where there is no
// point to go on from.
type Result struct {
	Kind             Kind
	Verdict          Verdict
	Rules            []Rule
	CompleteEvidence []string
	Resume           *Resume
	Action           Action
}

// Judge decides what s proves. It is total and pure: it never panics, never
// changes s, and gives the same Result for the same Snapshot. Verdict is
// Complete exactly where Action is ActionNone.
func Judge(s Snapshot) Result {
	f := read(s)
	evidence := f.evidence()
	rules := f.apply(len(evidence) > 0)
	r := Result{Kind: s.Kind, Rules: rules, CompleteEvidence: evidence}
	r.Verdict = conclude(rules, evidence)
	r.Action, r.Resume = f.act(r.Verdict)
	return r
}

// conclude is the precedence: any rule that says Truncated, then any that says
// Unknown, then completeness evidence.
func conclude(rules []Rule, evidence []string) Verdict {
	verdict := Unknown
	if len(evidence) > 0 {
		verdict = Complete
	}
	for _, r := range rules {
		verdict = Worst(verdict, r.Verdict)
	}
	return verdict
}
