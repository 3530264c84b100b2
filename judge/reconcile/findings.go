package reconcile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lastdrop/judge"
)

// loss gathers what shows that something is missing.
func (r *ruler) loss() {
	f := r.f
	for _, t := range f.HalfLeft {
		r.lose("RC009", "%s", t)
	}
	for _, t := range dedupe(f.PartialLeft) {
		r.lose("RC017", "%s", t)
	}
	for _, t := range f.Notices {
		r.lose("RC018", "a row in the data says that it was cut: %q", t)
	}
	if f.Stop == StopBroken {
		r.lose("RC010", "%s", f.StopText)
	}
	r.reach()
	r.stopped()
	r.sink()
}

// reach names a cap, where one was met and the count does not overrule it.
func (r *ruler) reach() {
	f := r.f
	if f.Stop != StopReach && !f.Reach.OK {
		return
	}
	if r.inBand || f.Slices != nil {
		return
	}
	text := fmt.Sprintf("the server hands out %s items and no more: a reach; %s", num(f.Reach.N), f.ReachText)
	if f.Totals.Live > 0 && !f.Totals.EchoOnly {
		text = fmt.Sprintf("the server declares %s and hands out %s: a reach; %s", num(f.Totals.Last), num(f.Reach.N), f.ReachText)
	}
	if r.missing == nil && !f.MoreKnown {
		r.wonder("RC003", "%s", text)
	} else {
		r.lose("RC003", "%s", text)
	}
	r.advise("the server hands out no more than about %s items a query: ask in slices (by time or id) that each stay below that", num(f.Reach.N))
}

// stopRule names the rule of a stop on the way, "" for a stop of another kind.
func stopRule(s Stop) string {
	switch s {
	case StopBudget:
		return "RC011"
	case StopSignal, StopWait:
		return "RC028"
	case StopFault, StopRefused:
		return "RC022"
	case StopHalf:
		return "RC009"
	case StopExpired:
		return "RC023"
	case StopNoPage, StopFirst:
		return "RC021"
	}
	return ""
}

// stopRule names the rule of the stop on the way that the run came to, "" where
// it came to an end or where two readings met.
func (r *ruler) stopRule() string {
	if r.met && r.f.Stop == StopRefused {
		return ""
	}
	return stopRule(r.f.Stop)
}

// stopped rules on a walk that did not come to an end.
func (r *ruler) stopped() {
	f := r.f
	id := r.stopRule()
	if id == "" {
		return
	}
	text := f.StopText
	switch {
	case f.Stop == StopHalf && len(f.HalfLeft) > 0:
		r.lost = true
	case f.MoreKnown:
		r.lose(id, "%s; the source had said that there is more", text)
	default:
		r.wonder(id, "%s", text)
	}
}

// sink compares what was written, read back from the disk, with what is held.
func (r *ruler) sink() {
	f := r.f
	if f.SinkTorn != "" {
		r.lose("RC019", "%s", f.SinkTorn)
	}
	if f.ReadBack.OK && f.ReadBack.N != f.Distinct {
		r.lose("RC019", "the output holds %s items when read back, and the run held %s", num(f.ReadBack.N), num(f.Distinct))
	}
}

// doubt gathers what keeps a run from COMPLETE without showing a loss.
func (r *ruler) doubt() {
	f := r.f
	r.movement()
	if f.Stop == StopLoop && !r.inBand && !r.met {
		r.wonder("RC008", "%s; a repeat is no end", f.StopText)
		r.advise("check the position parameter (pages.number, pages.offset, pages.cursor): the server may ignore it")
	}
	if f.Nulls > 0 {
		r.wonder("RC005", "%s in the list: a null is no item, and may stand for one that could not be read", count(f.Nulls, "null"))
	}
	if f.Rejected > 0 {
		r.wonder("RC025", "%s did not satisfy items.check and were left out: the server may have dropped the filter", count(f.Rejected, "item"))
	}
	if f.SameID > 0 {
		r.wonder("RC026", "%s came twice on one page with other content, such as %s: items.id is not an identity", count(f.SameID, "id"), strings.Join(f.Examples, ", "))
		r.advise("name an items.id that is unique, or several paths together")
	}
	if f.Merges && f.NoID > 0 {
		r.wonder("RC026", "%s without an id: parts of one item cannot be put together", count(f.NoID, "item"))
	}
	if f.HasIDs && f.NoID > 0 && f.NoID == f.Distinct {
		r.wonder("RC026", "none of the %s held has what items.id names: one that came twice with a changed field counts as two", count(f.NoID, "item"))
		r.advise("correct items.id; without it, items are known by their content only")
	}
	if f.Lied != "" && !r.inBand {
		r.wonder("RC012", "%s", f.Lied)
	}
	if f.Unconfirmed != "" && !r.inBand {
		r.wonder("RC012", "%s", f.Unconfirmed)
	}
	if len(f.Wording) > 0 && !r.inBand {
		r.wonder("RC018", "the answer's own words speak of a cut: %q", f.Wording[0])
	}
	if f.Ties != "" && !r.inBand {
		r.wonder("RC015", "%s", f.Ties)
		r.advise("set pages.keyset.inclusive, or pages.sort.unique: true if no two items share a key")
	}
	r.fewer()
	r.sentinel()
	r.freshness()
}

// sentinel doubts a run that does not hold, or a source that does not give, what
// must be there.
func (r *ruler) sentinel() {
	s := r.f.Sentinel
	if !s.Asked || s.OK || r.stopRule() != "" {
		return // a walk that stopped on the way did not come as far as to look
	}
	text := s.Text
	if text == "" {
		text = "it was not looked for"
	}
	r.wonder("RC041", "the sentinel failed: %s", text)
	r.advise("ask the source by hand for what complete.sentinel names: if it is gone for good, name another")
}

// freshness doubts items that are all older than the operator allows. Where
// nothing is held there is no age to tell: that only informs.
func (r *ruler) freshness() {
	f := r.f
	w := f.Freshness
	switch age := w.Start.Sub(f.Newest); {
	case w.Path == "" || r.stopRule() != "":
	case f.Distinct == 0:
		r.say("RC060", judge.Unknown, "nothing is held, so that complete.freshness cannot tell how far behind the source is: take this span as provisional, and read it again later")
	case f.Newest.IsZero():
		r.wonder("RC042", "no item held has a readable time at %q (complete.freshness): RFC 3339, a date, or seconds or milliseconds since 1970", w.Path)
	case age > w.MaxAge:
		r.wonder("RC042", "the newest item held is of %s, %s before the start of the run: more than complete.freshness allows (%s)",
			f.Newest.UTC().Format(time.RFC3339), span(age), span(w.MaxAge))
		r.advise("the source may stand still, or leave its newest items out: look at it, or raise complete.freshness.max_age")
	}
}

// span writes a duration in days, hours, minutes and seconds.
func span(d time.Duration) string {
	d = d.Round(time.Second)
	days := d / (24 * time.Hour)
	text := (d - days*24*time.Hour).String()
	switch {
	case days == 0:
		return text
	case d%(24*time.Hour) == 0:
		return fmt.Sprintf("%dd", days)
	}
	return fmt.Sprintf("%dd%s", days, text)
}

// shuffled reports whether items stood at other places than before while the
// mark of change and every total stood still: then nothing moved, and the order
// is not stable.
func (r *ruler) shuffled() bool {
	last := r.f.Movement
	return r.f.Still.Equal && last.Moved == 0 && (last.Shifts > 0 || last.Unstable > 0)
}

// movement rules on a source that changed while it was read.
func (r *ruler) movement() {
	f := r.f
	m := f.Everything
	if m.Clean() || r.inBand || (r.lost && f.Reach.OK) {
		return
	}
	if r.settled() && !r.shuffled() {
		return
	}
	last := f.Movement
	if last.Marked > 0 {
		r.wonder("RC043", "%s; the walk counts rows or pages, and its borders were not shown to be whole: items may have slipped past", f.Still.Text)
		r.advise("allow more passes (complete.passes), or read the source while its mark of change stands still")
		last.Marked = 0
	}
	switch {
	case last.Clean() && f.Movement.Marked > 0:
	case r.shuffled():
		r.wonder("RC013", "%s, and yet %s did not join the page before it and %s came again in one pass: the order is not stable, and each repeat can hide a miss",
			f.Still.Text, count(int64(last.Shifts), "page"), count(last.Unstable, "item"))
		r.advise("ask for a sort by a unique key (pages.sort)")
	case last.Unstable > 0 && last.Moved == 0 && last.Shifts == 0:
		r.wonder("RC013", "%s came again in one pass although the total did not move: the order is not stable, and each repeat can hide a miss", count(last.Unstable, "item"))
		r.advise("ask for a sort by a unique key (pages.sort)")
	default:
		r.wonder("RC006", "the source moved while it was read (total moved %s, %s, %s came again), and %s did not give one clean reading",
			times(last.Moved), count(int64(last.Shifts), "shifted border"), count(last.Unstable, "item"), count(int64(f.Passes), "pass"))
		r.advise("allow more passes (complete.passes), ask for a stable sort (pages.sort), or set complete.tolerance")
	}
}

// fewer doubts a count that is lower than the operator or the last run says.
func (r *ruler) fewer() {
	f := r.f
	if r.stopRule() != "" {
		return // it stopped on the way: that few came is no wonder
	}
	if f.MinItems > 0 && f.Distinct < f.MinItems {
		r.wonder("RC027", "held %s items, fewer than complete.min_items (%s)", num(f.Distinct), num(f.MinItems))
	}
	if f.LastComplete.OK && f.LastComplete.N > 0 && f.MaxFall < 100 {
		fall := 100 * float64(f.LastComplete.N-f.Distinct) / float64(f.LastComplete.N)
		if fall > f.MaxFall {
			def := ", the default"
			if f.FallSaid {
				def = ""
			}
			r.wonder("RC027", "held %s items where the last COMPLETE run of this name held %s: a fall of %.0f %%, more than complete.max_fall (%.4g %%%s)",
				num(f.Distinct), num(f.LastComplete.N), fall, f.MaxFall, def)
			r.advise("if the source really shrank, raise complete.max_fall for one run")
		}
	}
}

// end gathers the evidence of the end that is not a count.
func (r *ruler) end() {
	f := r.f
	if !f.EndReached || f.EndStrength == None {
		return
	}
	id := "RC030"
	if f.EndStrength == Assumed {
		id = "RC031"
	}
	r.prove(f.EndStrength, id, "%s", f.EndWord)
}

// notes adds what is worth knowing and decides nothing.
func (r *ruler) notes() {
	f := r.f
	if f.Totals.Collapsed {
		last := max(f.Totals.Last, f.Totals.Estimate)
		r.say("RC032", judge.Unknown, "the total collapsed to %s on an empty page; the one before it, %s, stands", num(f.Totals.CollapsedTo), num(last))
		if !r.inBand && !r.lost {
			r.doubtful = true
		}
	}
	if f.Suspicion != "" && !r.inBand && r.strength == None {
		r.say("TR006", judge.Unknown, "%s", f.Suspicion)
	}
	if f.NoTotal != "" {
		text := f.NoTotal + " is in no answer"
		if len(f.TotalLike) > 0 {
			text += "; numbers that may be the total: " + strings.Join(f.TotalLike, ", ")
		}
		r.say("RC066", judge.Unknown, "%s", text)
		r.advise("correct %s, or say `total: none`", strings.Fields(f.NoTotal)[0])
	}
	for _, t := range f.Disagree {
		r.say("RC033", judge.Unknown, "%s", t)
	}
	if f.Totals.Estimates > 0 {
		r.say("RC034", judge.Unknown, "the total %s is an estimate: it proves nothing, neither way; %s held", num(f.Totals.Estimate), num(f.Distinct))
	}
	if f.Conflicts > 0 && f.SameID == 0 {
		r.say("RC035", judge.Unknown, "%s came again with other content, such as %s; the first reading is kept", count(f.Conflicts, "id"), strings.Join(f.Examples, ", "))
	}
	if f.HasIDs && f.NoID > 0 && f.NoID < f.Distinct {
		r.say("RC036", judge.Unknown, "%s without an id: known by content only", count(f.NoID, "item"))
	}
	if f.Skips > 0 {
		r.say("RC037", judge.Unknown, "the server's next position moved by more than it had given, %s: corrected by what came where it can be, and its end word doubted", times(f.Skips))
	}
	if f.Clamped > 0 {
		r.say("RC038", judge.Unknown, "the server gives at most %d items a page, less than asked", f.Clamped)
	}
	r.still()
	for _, t := range f.Asked {
		r.say("RC069", judge.Unknown, "%s", t)
	}
	if m := f.Everything; !m.Clean() && (r.inBand || r.settled() && !r.shuffled()) {
		r.say("RC039", judge.Unknown, "the source moved while it was read (total moved %s, %s, %s came again); seen through in %s",
			times(m.Moved), count(int64(m.Shifts), "shifted border"), count(m.Unstable, "item"), count(int64(f.Passes), "pass"))
	}
}

// still tells what the mark of change said, where it decided nothing.
func (r *ruler) still() {
	f := r.f
	switch {
	case !f.Still.Asked || r.stopRule() != "":
	case f.Still.Equal && f.Movement.Moved > 0:
		r.say("RC062", judge.Unknown, "%s, and the total moved all the same: it is no mark of what is counted here, and proves nothing", f.Still.Text)
	case f.Still.Equal:
		r.say("RC061", judge.Unknown, "%s: nothing moved while it was read", f.Still.Text)
	case f.Movement.Marked == 0 || r.inBand:
		r.say("RC062", judge.Unknown, "%s", f.Still.Text)
	}
}

// sortEvidence puts what decided the verdict first, keeping order otherwise.
func sortEvidence(ev []Evidence, v judge.Verdict) []Evidence {
	if ev == nil {
		ev = []Evidence{}
	}
	slices.SortStableFunc(ev, func(a, b Evidence) int { return rank(a, v) - rank(b, v) })
	return ev
}

func rank(e Evidence, v judge.Verdict) int {
	if e.Verdict == v && (v != judge.Unknown || !note(e.ID)) {
		return 0
	}
	if note(e.ID) {
		return 2
	}
	return 1
}

// note reports whether a rule only informs: RC032 to RC039, and RC060 to RC069.
func note(id string) bool {
	return (id >= "RC032" && id <= "RC039") || (id >= "RC060" && id <= "RC069")
}

func dedupe(s []string) []string {
	out := []string{}
	for _, t := range s {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// num writes a number with thousands separated by commas.
func num(n int64) string {
	s := strconv.FormatInt(n, 10)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		s = "-" + s
	}
	return s
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	switch {
	case what == "child":
		return num(n) + " children"
	case strings.HasSuffix(what, "s"):
		return fmt.Sprintf("%s %ses", num(n), what)
	}
	return fmt.Sprintf("%s %ss", num(n), what)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// Informs reports whether a rule decides nothing and only informs.
func Informs(id string) bool { return note(id) }
