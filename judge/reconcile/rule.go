package reconcile

import (
	"fmt"
	"strings"

	"lastdrop/judge"
)

// A Ruling is the verdict of a run with all that it rests on.
type Ruling struct {
	Verdict  judge.Verdict
	Strength Strength
	Missing  *int64
	Evidence []Evidence
	Advice   []string
}

// Rule gives the verdict of a run. It is total and pure. Evidence of loss
// outweighs everything; doubt outweighs evidence of the end; COMPLETE needs
// evidence of at least the strength that the operator requires; the default
// is UNKNOWN.
func Rule(f Facts) Ruling {
	r := ruler{f: &f}
	r.met = f.meets()
	r.counting()
	r.slices()
	r.loss()
	r.doubt()
	r.end()
	r.second()
	r.notes()
	return r.decide()
}

type ruler struct {
	f        *Facts
	evidence []Evidence
	advice   []string
	lost     bool
	doubtful bool
	strength Strength // of the best evidence of the end
	missing  *int64
	inBand   bool // distinct items lie inside a band that may count
	exact    bool // inside without the operator's tolerance
	met      bool // two readings from both ends of the list met: how each stopped does not matter
}

func (r *ruler) say(id string, v judge.Verdict, format string, args ...any) {
	r.evidence = append(r.evidence, Evidence{ID: id, Verdict: v, Text: fmt.Sprintf(format, args...)})
}

// lose adds evidence of loss; wonder adds a reason for doubt; prove adds
// evidence of the end.
func (r *ruler) lose(id, format string, args ...any) {
	r.lost = true
	r.say(id, judge.Truncated, format, args...)
}

func (r *ruler) wonder(id, format string, args ...any) {
	r.doubtful = true
	r.say(id, judge.Unknown, format, args...)
}

func (r *ruler) prove(s Strength, id, format string, args ...any) {
	r.strength = max(r.strength, s)
	r.say(id, judge.Complete, format, args...)
}

func (r *ruler) advise(format string, args ...any) {
	r.advice = append(r.advice, fmt.Sprintf(format, args...))
}

// settled reports whether whatever moved under the walk was seen through:
// every border verified, or the last pass clean as a whole.
func (r *ruler) settled() bool {
	f := r.f
	if f.Everything.Clean() {
		return true
	}
	if lo, _, ok := f.PassTotals.Band(f.Tolerance); ok && f.PassItems < lo {
		return false // the last pass is itself short of its own total
	} else if !ok && f.Passes > 1 && f.PassNew > 0 {
		return false // passes end when one finds nothing new
	} else if !ok && f.Passes > 1 && f.EndStrength < Declared && f.PassItems < f.Distinct {
		return false // and an end that nobody said may have come too early in this one
	}
	return f.Movement.Verified() && !f.EndShort
}

// finished reports whether the walk came to an end of its own accord, so that
// a count can stand for the end.
func (r *ruler) finished() bool {
	switch r.f.Stop {
	case StopEnd:
		return true
	case StopNotSaid:
		return !r.f.MoreKnown
	case StopLoop, StopReach:
		return r.f.Totals.Min == r.f.Totals.Max && len(r.f.Disagree) == 0 // a total that moved, or that another one contradicts, says nothing about a walk that was cut
	}
	return false
}

// counting holds the distinct items against the band of live totals.
func (r *ruler) counting() {
	f := r.f
	t := &f.Totals
	if t.EchoOnly {
		r.wonder("RC014", "the total only echoes its own page (%s items came, and it says %s): it cannot be counted", num(f.Distinct), num(t.Last))
		r.advise("this total is none: say `total: none`, and name an end mark")
	}
	if t.LowerBound > f.Distinct {
		r.setMissing(t.LowerBound - f.Distinct)
		r.lose("RC002", "held %s distinct of at least %s declared: %s missing", num(f.Distinct), num(t.LowerBound), num(t.LowerBound-f.Distinct))
	}
	if t.Doubtful() && f.Distinct < t.Last {
		r.wonder("RC014", "the total %s may only echo the page size, and only %s items came: it can neither be counted nor passed over", num(t.Last), num(f.Distinct))
	} else if t.Doubtful() {
		r.say("RC014", judge.Unknown, "the total %s may only echo its own page, and no request past it has shown otherwise: it proves nothing", num(t.Last))
		r.advise("a total that equals its own page needs another word beside it: a has-more flag (pages.more), or pages.end with what documents this answer as the whole")
	}
	lo, hi, ok := t.Band(f.Tolerance)
	if !ok || f.TotalAtCap {
		return
	}
	if s := f.Slices; s != nil && s.InRange.OK {
		lo = min(lo, max(0, s.InRange.N-f.Tolerance.Of(t.Max)))
	}
	switch {
	case f.Distinct >= lo && f.Slices != nil && f.Slices.stand() && f.near():
		r.say("RC065", judge.Unknown, "held %s distinct of %s; read slice by slice, and compared with the whole at one moment", num(f.Distinct), r.declared())
	case f.Distinct >= lo && r.anchored():
		r.inBand, r.exact = true, true
		r.setMissing(0)
		r.prove(Counted, "RC001", "held %s distinct of %s declared, while it moved: every border joined what was read, and the walk came to its last item",
			num(f.Distinct), r.declared())
	case f.Distinct < lo && f.Slices != nil && f.Slices.stand() && (t.Moved > 0 || f.Slices.Stirred):
		r.setMissing(lo - f.Distinct)
		r.wonder("RC056", "held %s distinct of %s declared; slices and whole balanced at one moment, so that items went while they were read, or changed their key from a slice to be read into one that was",
			num(f.Distinct), r.declared())
	case f.Distinct < lo:
		r.below(lo)
	case f.Distinct > hi && !r.passFits():
		r.wonder("RC004", "held %s distinct items, more than the %s declared: %s%s", num(f.Distinct), num(t.Max), r.aboveText(), r.conflictText())
		r.advise("declare this total as `total: {kind: lower_bound}` if it can be too small, or check items.id")
	default:
		r.within(lo, hi)
	}
}

// anchored reports whether a source that moved was read whole by its positions:
// every border of the last pass was shown to be whole up to the last item, and
// what is held is more than the totals declare by no more than the changes that
// they showed.
func (r *ruler) anchored() bool {
	f := r.f
	t := &f.Totals
	return f.Anchored && f.Stop == StopEnd && t.Moved > 0 && f.Movement.Verified() && f.PassItems > 0 &&
		!t.TooWide(f.MaxDrift) && (f.Distinct >= t.Max || !t.toAndFro()) && t.Explains(f.Distinct) && f.PassTotals.Explains(f.PassItems)
}

// below rules on fewer items than the least live total.
func (r *ruler) below(lo int64) {
	f := r.f
	short := max(f.Totals.Last-f.Distinct, lo-f.Distinct)
	r.setMissing(short)
	if f.TotalWalks && !f.MoreKnown {
		r.wonder("RC016", "every page that the total %s claims was asked for; all after the first %s items came back empty: the total is probably wrong",
			num(f.Totals.Last), num(f.Distinct))
		r.advise("if the total counts something else (rows before a filter), say `total: none`")
		return
	}
	text := fmt.Sprintf("held %s distinct of %s declared: %s missing", num(f.Distinct), r.declared(), num(short))
	if !f.HasIDs && f.Repeated > 0 {
		text += fmt.Sprintf("; without items.id, %s items of equal content and missing ones look alike", num(f.Repeated))
		r.advise("set items.id, so that equal items and repeated ones can be told apart")
	}
	r.lose("RC002", "%s", text)
}

// within rules on a count inside the band (or a last pass that fits its own).
func (r *ruler) within(lo, hi int64) {
	f := r.f
	t := &f.Totals
	if t.TooWide(f.MaxDrift) && !t.Covered(f.Distinct) && !r.passFits() {
		r.wonder("RC020", "the total moved from %s to %s during the run, more than complete.max_drift (%.4g %%): it cannot count", num(t.Min), num(t.Max), f.MaxDrift)
		r.advise("read a smaller span at a time, freeze the set with a filter on time, or raise complete.max_drift")
		return
	}
	tolerated := f.Tolerance.Of(t.Max)
	flapped := f.Distinct < t.Max && (t.toAndFro() || t.Flapped && f.Distinct < t.Last) && !r.passFits()
	if flapped && t.Max-f.Distinct > tolerated {
		back := t.Last
		if t.toAndFro() {
			back = t.Max
		}
		r.wonder("RC006", "held %s distinct items; the total fell to %s and came back to %s: a page may have left items out of both", num(f.Distinct), num(t.Min), num(back))
		return
	}
	r.exact = f.Distinct >= t.Min && f.Distinct <= t.Max || r.passFits()
	loose := !r.exact || flapped || (!r.settled() && tolerated > 0)
	if !r.settled() && !loose {
		return // movement rules on it
	}
	if !r.finished() {
		return
	}
	r.inBand = true
	text := fmt.Sprintf("held %s distinct of %s declared", num(f.Distinct), r.declared())
	if loose {
		short := max(0, t.Last-f.Distinct)
		r.setMissing(short)
		r.prove(Counted, "RC001", "%s, within the tolerance of %s: up to %s may be missing", text, num(tolerated), num(tolerated))
		return
	}
	r.setMissing(0)
	r.prove(Counted, "RC001", "%s", text)
}

// passFits reports whether the last pass, clean as a whole, holds just what
// the totals of that pass declare. It then counts whatever went in and out
// before it.
func (r *ruler) passFits() bool {
	f := r.f
	p := &f.PassTotals
	return f.Passes > 1 && f.Movement.Clean() && p.Believed() && p.Min == p.Max && f.PassItems == p.Last && f.PassNew == 0
}

// aboveText says what more items than declared can come from.
func (r *ruler) aboveText() string {
	if !r.f.Everything.Clean() {
		return "items went and came while it was read, or the total or the id is wrong"
	}
	return "the total or the id is wrong"
}

func (r *ruler) declared() string {
	t := &r.f.Totals
	if t.Min == t.Max {
		return num(t.Last)
	}
	return fmt.Sprintf("%s (the total moved between %s and %s)", num(t.Last), num(t.Min), num(t.Max))
}

func (r *ruler) setMissing(n int64) { r.missing = &n }

func (r *ruler) conflictText() string {
	if len(r.f.Examples) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s came twice with other content, such as %s", count(r.f.Conflicts, "id"), strings.Join(r.f.Examples, ", "))
}

// decide puts the findings together.
func (r *ruler) decide() Ruling {
	out := Ruling{Missing: r.missing}
	switch {
	case r.lost:
		out.Verdict = judge.Truncated
	case r.doubtful || r.strength == None:
		out.Verdict = judge.Unknown
	case r.strength < r.f.Require:
		r.say("RC024", judge.Unknown, "the evidence is %s, and complete.require asks for %s", r.strength, r.f.Require)
		r.advise("give a total (total.path, total.header or total.url), or lower complete.require to %s", r.strength)
		out.Verdict = judge.Unknown
	default:
		out.Verdict, out.Strength = judge.Complete, r.strength
	}
	if out.Verdict == judge.Unknown && !r.doubtful && r.strength == None {
		r.say("RC007", judge.Unknown, "nothing shows that this is all: no total, no end mark; %s", r.stopText())
		r.advise("name the total (total.path) or the end mark (pages.more, pages.last), have it read in reverse too (pages.reverse), or list in pages.end what this API documents as its end")
	}
	if out.Verdict == judge.Unknown && r.strength == None && r.f.Distinct == 0 && r.f.Sentinel.OK {
		r.advise("the sentinel is there, so the source answers, and this query came back empty without a word: ask for it in smaller parts")
	}
	out.Evidence, out.Advice = sortEvidence(r.evidence, out.Verdict), dedupe(r.advice)
	return out
}

func (r *ruler) stopText() string {
	if r.f.StopText != "" {
		return r.f.StopText
	}
	return "an empty or short page ends nothing"
}
