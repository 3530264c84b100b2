package fetcher

import (
	"fmt"
	"strconv"
	"strings"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// onFailure moves the state by an answer that is no page, after the same
// request was tried as often as it deserves. It decides about another size,
// another position, or the stop.
func (s *State) onFailure(sh shape, a *answer, asked int) step {
	st := step{action: judge.ActionFindTotal, state: outcomeOf(a.kind), cause: a.text}
	if s.Checking {
		s.outage(&st)
		return st
	}
	if s.lap > 0 && (a.kind == kindEnd || a.kind == kindRefused && noSuchPage(a.status) && !a.window) && s.Refusals < 2 {
		s.Refusals++ // are the items that the overlap begins with gone, or is this a refusal of another kind?
		s.Borders++
		s.stepBack(sh, "the overlap is refused: are the items that it begins with gone?", &st)
		return st
	}
	if s.complete() && s.Counts.Held > 0 && s.Confirming == confirmNone && saysNoMore(a) {
		s.Ended, s.MoreHere = true, false
		s.stop(reconcile.StopEnd, "the total is reached, and the page after it is an error: "+a.text)
		return st
	}
	if asked > s.Size && s.Ceiling == 0 && !s.canShrink(sh) && (a.kind == kindHalf || a.kind == kindDeadline || a.kind == kindPassing) {
		s.Ceiling = s.Size
		st.action = judge.ActionRetrySmaller
		st.note("size", "%d items, an overlap included, do not come (%s): at most %d from now on", asked, a.text, s.Size)
		return st
	}
	where := s.here()
	switch a.kind {
	case kindHalf, kindDeadline:
		s.half(sh, a, &st)
	case kindEnd:
		if s.Followed { // the server's own continuation led here: no end that it says in words
			s.halt(reconcile.StopRefused, fmt.Sprintf("%s: %s, but the server itself had pointed there", where, a.text))
			break
		}
		if s.Confirming != confirmNone && s.EndStrength != reconcile.None { // it was said in words before
			s.endAt(s.EndStrength, s.EndWord+"; past it: "+a.text)
			break
		}
		s.EndShort = sh.rank && s.PassTotals.Believed() && !s.pastTotal(sh, s.At)
		s.endAt(reconcile.Assumed, a.text)
	case kindExpired:
		s.expired(a, &st)
	case kindRefused:
		s.refused(sh, a, asked, &st)
	case kindPassing, kindFault:
		s.passing(sh, a, &st)
	case kindLimit:
		why := reconcile.StopFault
		if a.wait > 0 {
			why = reconcile.StopWait
		}
		st.action = judge.ActionWait
		s.halt(why, fmt.Sprintf("%s: %s, %s", where, a.text, s.waitText(a)))
	case kindPartial: // at a size that cannot be lowered
		s.halt(reconcile.StopNoPage, fmt.Sprintf("%s: %s", where, a.text))
	default:
		s.noPage(sh, a, &st)
	}
	return st
}

// saysNoMore reports whether an answer that is no page settles, once an exact
// total is held, that nothing follows: an error of the server's own. Half a
// body or a limit says the contrary, and no answer says nothing.
func saysNoMore(a *answer) bool {
	switch a.kind {
	case kindExpired, kindPassing, kindRefused, kindTrouble, kindNothing:
		return !denied(a) && !a.window
	}
	return false
}

// denied reports an answer that is about who asks, and says nothing of the list.
func denied(a *answer) bool { return a.status == 401 || a.status == 403 }

// noSuchPage knows the statuses with which servers refuse a page past the end.
func noSuchPage(status int) bool {
	return status == 404 || status == 416 || status == 400 || status == 422
}

func outcomeOf(k kind) reconcile.Outcome {
	switch k {
	case kindHalf, kindDeadline:
		return reconcile.Half
	case kindLimit:
		return reconcile.Limited
	case kindPartial:
		return reconcile.Partial
	case kindPage:
		return reconcile.Held
	}
	return reconcile.Failed
}

func (s *State) waitText(a *answer) string {
	if a.wait > 0 {
		return fmt.Sprintf("and asks to wait %s, longer than limits.max_wait", a.wait.Round(1e9))
	}
	return fmt.Sprintf("%d times, and the retries are spent; a lower limits.rate asks less often", s.Tries)
}

// first is the stop for a first page that does not come: the run could not
// start, unless another walk of it went before.
func (s *State) first(later reconcile.Stop) reconcile.Stop {
	if s.Later {
		return later
	}
	return reconcile.StopFirst
}

// halt stops for a failing page. The first page of a run that never held one
// could not start at all.
func (s *State) halt(why reconcile.Stop, text string) {
	if s.Confirming == confirmEnd || s.Confirming == confirmEcho {
		s.Unconfirmed = "the request past the end was not answered by a page: " + text
		s.Ended = s.EndStrength != reconcile.None
		s.stop(reconcile.StopEnd, text)
		return
	}
	if s.short() > 0 {
		s.MoreHere = true
	}
	s.stop(why, text)
}

// half lowers the page size, and gives up where it cannot be lowered.
func (s *State) half(sh shape, a *answer, st *step) {
	st.action = judge.ActionRetrySmaller
	if s.shrink(sh, a.text, st) {
		return
	}
	text := fmt.Sprintf("%s: %s", s.here(), a.text)
	if sh.sized {
		text += fmt.Sprintf(", also at the smallest size (%d)", s.Size)
	}
	if s.Confirming == confirmNone {
		s.HalfLeft = append(s.HalfLeft, text)
	}
	s.Deadline = a.kind == kindDeadline
	s.halt(reconcile.StopHalf, text)
}

// shrink halves the page size. It reports false where that is not possible.
//
// A cursor that is a whole number may be a page number, which counts in pages
// of the size that it was made with: such a walk begins anew.
func (s *State) shrink(sh shape, why string, st *step) bool {
	if !s.canShrink(sh) {
		return false
	}
	s.setSize(max(sh.min, s.Size/2), why, st)
	if s.countsPages() {
		s.Renewals++
		st.note("pass", "%s may count in pages of the old size: the walk begins anew, what is held is kept", describe(s.At))
		s.nextPass()
	}
	return true
}

// countsPages reports whether the cursor may be a page number, or the link
// holds one.
func (s *State) countsPages() bool {
	if s.At.Param != "" {
		return true
	}
	text := strings.Trim(string(s.At.Cursor), `"`)
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && n >= 0 && n <= int64(s.Page)+2
}

func (s *State) setSize(n int, why string, st *step) {
	st.note("size", "page size from %d to %d: %s", s.Size, n, why)
	s.Bad, s.Streak, s.Size = s.Size, 0, n
	s.checkSize()
	s.Least = min(s.Least, n)
	s.Shrinks++
}

// checkSize asks for an overlap with the next page, where its number counts in
// pages of another size and no total would show what a wrong place skips.
func (s *State) checkSize() {
	switch {
	case s.Size == s.At.Size:
		s.SizeCheck = 0
	case !s.PassTotals.Believed() && s.At.Size > 0 && s.SizeCheck == 0 && s.Page > 0:
		s.SizeCheck = s.At.Size
	}
}

// Whole pages in a row before the size grows again, and before it may grow to
// a size that failed lately.
const (
	growAfter   = 8
	forgetAfter = 64
)

// grow raises the size again after a stretch of whole pages.
func (s *State) grow(sh shape) {
	s.Streak++
	if s.Streak < growAfter || !s.mayGrow(sh) {
		return
	}
	n := min(sh.pages.SizeStart, 2*s.Size)
	if s.Bad > 0 && n >= s.Bad && s.Streak < forgetAfter {
		return
	}
	s.raise(n)
}

// mayGrow reports whether pages may be made greater again. Not where numbers would no
// longer count the server's pages: it gives no more than it gave, or does not follow.
func (s *State) mayGrow(sh shape) bool {
	return sh.sized && !s.Locked && s.Size < sh.pages.SizeStart && !s.countsPages() && (s.Clamped == 0 || sh.always)
}

// raise makes pages greater. The next one has to show that the server follows.
func (s *State) raise(n int) {
	s.Size, s.Streak = n, 0
	s.checkSize()
}

// expired steps back to where a position is still good, else begins another
// pass over what is there; twice in vain, it stops.
func (s *State) expired(a *answer, st *step) {
	st.action = judge.ActionRetry
	s.Expired++
	switch {
	case s.Counts.Held == 0:
		s.halt(s.first(reconcile.StopExpired), a.text)
	case s.Expired == 1 && len(s.Back) > 0:
		s.At = s.Back[len(s.Back)-1]
		s.Back = s.Back[:len(s.Back)-1]
		s.Reread = true
		st.note("step_back", "the position is gone (%s): back to %s", a.text, describe(s.At))
	case s.Renewals < 2:
		s.Renewals++
		st.note("pass", "the position is gone (%s): the walk begins anew, what is held is kept", a.text)
		s.nextPass()
	default:
		s.MoreHere = true
		s.stop(reconcile.StopExpired, fmt.Sprintf("the position is gone again and again: %s", a.text))
	}
}

// passing lowers the size after a failure that may pass by itself. At a place
// that fails for good while the page before it still comes, it is a reach.
func (s *State) passing(sh shape, a *answer, st *step) {
	st.action = judge.ActionRetry
	if a.kind == kindPassing && s.Shrinks < 12 && s.shrink(sh, a.text, st) {
		return
	}
	switch {
	case s.Counts.Held == 0:
		s.halt(s.first(reconcile.StopFault), a.text)
	case a.kind == kindPassing && (sh.rank || s.Cut) && s.Page > 0 && s.Confirming == confirmNone:
		s.Checking, s.Failing, s.Failure = true, s.At, fmt.Sprintf("%s gives %s", s.here(), a.text)
		st.note("reach", "%s for good: does the page before it still come?", s.Failure)
		s.At = s.GoodAt
	default:
		s.halt(reconcile.StopFault, fmt.Sprintf("%s: %s; tried %d times", s.here(), a.text, s.Tries))
	}
}

// outage ends a check whose page failed too: the server is down, no reach.
func (s *State) outage(st *step) {
	s.Checking = false
	s.At = s.Failing
	s.halt(reconcile.StopFault, s.Failure+"; and the page before it fails too")
}

// checked ends a check whose page came: the failing place is a reach.
func (s *State) checked() step {
	st := step{action: judge.ActionFindTotal, state: reconcile.Refused, cause: "the page before the failing one still comes"}
	s.Checking = false
	s.At = s.Failing
	if s.short() > 0 {
		s.MoreHere = true
	}
	s.reach(s.Failure + " for good, while the page before it still comes")
	return st
}

// refused sorts a request that the server will not serve: a size above its
// maximum, the end, a reach, or a fault of ours.
func (s *State) refused(sh shape, a *answer, asked int, st *step) {
	st.action = judge.ActionFixRequest
	sizeStatus := a.status == 400 || a.status == 413 || a.status == 422
	switch {
	case sizeStatus && asked > s.Size && s.Ceiling == 0 && s.MaxRows < asked:
		s.Ceiling = s.Size
		st.note("size", "the server refuses %d items a page: at most %d from now on", asked, s.Size)
		st.action = judge.ActionRetrySmaller
	case sizeStatus && s.Counts.Held == 0 && sh.sized && s.Shrinks < 4 && s.Size > sh.min:
		s.setSize(smallerMaximum(s.Size, sh.min), a.text, st)
		st.action = judge.ActionRetrySmaller
	case s.Confirming == confirmEnd || s.Confirming == confirmEcho:
		s.refusedPast(sh, a, st)
	case s.Counts.Held == 0 && a.window && s.Later:
		s.reach(a.text)
	case s.Counts.Held == 0:
		s.stop(s.first(reconcile.StopRefused), a.text)
	case s.atEnd(sh) && !denied(a):
		s.Ended = true
		s.stop(reconcile.StopEnd, "the total is reached, and the server refuses the page after it: "+a.text)
	case a.window || (sh.rank && s.short() > 0 && (sizeStatus || a.status == 416)):
		s.MoreHere = true
		s.reach(fmt.Sprintf("%s is refused: %s", s.here(), a.text))
	default:
		s.halt(reconcile.StopRefused, fmt.Sprintf("%s is refused: %s", s.here(), a.text))
	}
}

// atEnd reports whether the walk stands after the last item by a live total.
func (s *State) atEnd(sh shape) bool {
	if s.PassTotals.Live == 0 || s.PassTotals.EchoOnly || s.MoreHere && s.short() > 0 {
		return false
	}
	if sh.rank && s.Move.Moved+s.Move.Shifts > 0 {
		return s.pastTotal(sh, s.At) // items that went and came count in what is held, not in where the walk stands
	}
	return s.short() == 0 || s.pastTotal(sh, s.At)
}

// refusedPast ends a walk whose request past the end was refused: there is no
// such page. In the wording of a window limit it says the contrary.
func (s *State) refusedPast(sh shape, a *answer, st *step) {
	if a.window {
		s.Confirming, s.MoreHere = confirmNone, true
		s.EndStrength, s.EndWord = reconcile.None, ""
		s.reach(fmt.Sprintf("%s is refused: %s", s.here(), a.text))
		return
	}
	if denied(a) {
		s.halt(reconcile.StopRefused, a.text)
		return
	}
	st.note("end", "the page past the end is refused: %s", a.text)
	if s.Confirming == confirmEcho {
		s.Confirming = confirmNone // any error may look so: only an empty page shows that a total is no echo
		s.stop(reconcile.StopEnd, "the page past the total is refused: "+a.text)
		return
	}
	s.settleConfirmed(sh, nil, 0, st)
	if s.EndStrength == reconcile.None {
		s.StopText = "the page past the last one is refused: " + a.text
	}
}

// smallerMaximum guesses a size below one that a server refused: the next of
// the maxima that servers use.
func smallerMaximum(n, least int) int {
	for _, m := range []int{1000, 500, 250, 200, 100, 50, 25, 20, 10} {
		if m < n {
			return max(m, least)
		}
	}
	return max(least, n/2)
}

// noPage stops at an answer that is no page at all.
func (s *State) noPage(sh shape, a *answer, st *step) {
	if a.trouble != nil && a.trouble.Kind == adapters.TroubleCost {
		st.action = judge.ActionRetrySmaller
		if s.shrink(sh, a.text, st) {
			return
		}
	}
	switch {
	case a.window && s.Counts.Held > 0:
		s.MoreHere = true
		s.reach(fmt.Sprintf("%s is refused: %s", s.here(), a.text))
	case a.kind == kindTrouble && s.Counts.Held > 0 && s.Confirming != confirmNone && a.trouble.Kind == adapters.TroubleError:
		s.settleConfirmed(sh, nil, 0, st)
	case a.kind == kindTrouble && s.Confirming != confirmNone && a.trouble.Kind == adapters.TroubleMissing && sh.absentIsEmpty:
		s.settleConfirmed(sh, nil, 0, st)
	default:
		s.halt(reconcile.StopNoPage, fmt.Sprintf("%s: %s", s.here(), a.text))
	}
}
