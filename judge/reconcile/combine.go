package reconcile

import (
	"lastdrop/judge"
)

// A Part is a run that is one of several: a child of a fan-out, or its parent.
type Part struct {
	Name     string
	State    string // of its report; "": it was not asked
	Verdict  judge.Verdict
	Strength Strength
	Missing  *int64
	Why      string // in words, where it is not COMPLETE
}

// complete reports whether a part is finished and COMPLETE.
func (p Part) complete() bool { return p.State == "finished" && p.Verdict == judge.Complete }

// A List is where the values of a fan-out came from.
type List struct {
	Parent   *Part // the pull whose items gave the values; nil: the operator named them
	Values   int64
	Repeated int64  // values that came again; each is drained once
	Useless  int64  // items of the parent that gave no value
	Example  string // why one of them gave none
	Stopped  string // why the whole stopped before its last child; "": it did not
}

// namedParts is how many parts the evidence names one by one.
const namedParts = 20

// Combine gives the verdict of a fan-out: the worst of its children and of the
// list that named them. It is total and pure. COMPLETE needs every child
// COMPLETE and the whole list; with no child at all it rests on the parent.
func Combine(l List, parts []Part) Ruling {
	r := ruler{f: &Facts{}}
	if len(parts) > 0 || l.Parent != nil {
		r.strength = Counted // lowered by each part
	}
	r.list(l)
	r.parts(l, parts)
	if l.Repeated > 0 {
		r.say("RC068", judge.Unknown, "%s came again: each is drained once", count(l.Repeated, "value"))
	}
	if r.lost || r.doubtful {
		r.strength = None
	}
	r.missing = sumMissing(l, parts)
	return r.decide()
}

// list rules on where the values came from.
func (r *ruler) list(l List) {
	p := l.Parent
	switch {
	case p == nil:
	case p.complete():
		r.strength = min(r.strength, p.Strength)
		r.say("RC049", judge.Complete, "the list is whole: %s is COMPLETE (%s) and gave %s", p.Name, p.Strength, count(l.Values, "value"))
	case p.Verdict == judge.Truncated:
		r.lose("RC049", "the list is not whole, and so not all children are known: %s is TRUNCATED: %s", p.Name, p.Why)
	default:
		r.wonder("RC049", "the list may not be whole: %s is %s: %s", p.Name, p.word(), p.Why)
	}
	if l.Useless > 0 {
		r.wonder("RC049", "%s of the list gave no value, and so no child was asked: %s", count(l.Useless, "item"), l.Example)
	}
}

// word says what became of a part.
func (p Part) word() string {
	switch p.State {
	case "failed":
		return "UNKNOWN, for it could not run"
	case "stopped":
		return p.Verdict.String() + ", stopped"
	}
	return p.Verdict.String()
}

// parts rules on the children. Those with evidence of loss are named first.
func (r *ruler) parts(l List, parts []Part) {
	var lost, open []Part
	unasked := int64(0)
	for _, p := range parts {
		switch {
		case p.complete():
			r.strength = min(r.strength, p.Strength)
		case p.State == "":
			unasked++
		case p.Verdict == judge.Truncated:
			lost = append(lost, p)
		default:
			open = append(open, p)
		}
	}
	if unasked > 0 {
		r.wonder("RC048", "%s of %s not asked: %s", num(unasked), count(int64(len(parts)), "child"), l.Stopped)
	}
	r.name(lost, r.lose, namedParts)
	r.name(open, r.wonder, namedParts-min(namedParts, len(lost)))
	if bad := int64(len(lost)+len(open)) + unasked; bad == 0 && len(parts) > 0 {
		r.say("RC048", judge.Complete, "COMPLETE: %s", count(int64(len(parts)), "child"))
	}
}

// name speaks of parts that are not COMPLETE, most of them one by one.
func (r *ruler) name(parts []Part, speak func(id, format string, args ...any), most int) {
	for i, p := range parts {
		if i == most {
			speak("RC048", "… and %s more, %s", num(int64(len(parts)-i)), parts[i].Verdict)
			return
		}
		speak("RC048", "%s is %s: %s", p.Name, p.word(), p.Why)
	}
}

// sumMissing adds up what is missing, nil where a part does not tell.
func sumMissing(l List, parts []Part) *int64 {
	if l.Useless > 0 || l.Parent != nil && !l.Parent.complete() {
		return nil
	}
	sum := int64(0)
	for _, p := range parts {
		if p.Missing == nil {
			return nil
		}
		sum += *p.Missing
	}
	return &sum
}
