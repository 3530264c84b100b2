package fetcher

import (
	"fmt"

	"lastdrop/adapters"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// goOn decides, after a held page, where the walk goes: on, past the end to
// confirm it, or to a stop. The most explicit word wins: the has-more flag,
// then the style's own continuation, then what can be computed.
func (s *State) goOn(sh shape, p *adapters.Page, m *match, lapped int64, st *step) {
	if s.Page == 1 && s.Pass == 1 && len(p.Items)+p.Nulls+p.Rejected == 0 && s.zeroAgain(p, st) {
		return
	}
	if s.Confirming == confirmZero {
		s.Confirming = confirmNone
	}
	if s.Confirming != confirmNone {
		s.confirmed(sh, p, m, lapped, st)
		return
	}
	s.noteClamp(p, len(p.Items)+p.Nulls+p.Rejected, st)
	switch {
	case p.More == judge.No:
		s.saidEnd(sh, p, m, "the server says that there is no more (has-more flag)", st)
	case p.Next.State == adapters.Broken:
		s.MoreHere = true
		s.stop(reconcile.StopBroken, "a continuation is there and cannot be followed: "+p.Next.Reason)
	case p.Next.State == adapters.Follow:
		s.follow(sh, p, st)
	case p.Next.State == adapters.Ended && p.More != judge.Yes:
		s.saidEnd(sh, p, m, "the server says that there is no more ("+p.Next.Word+")", st)
	case p.Next.HasAt:
		s.computed(sh, p, m, lapped, st)
	case sh.keyset && len(p.Items) == 0 && p.More != judge.Yes:
		s.MoreHere = false
		s.empty(sh, p, st)
	case p.More == judge.Yes && len(p.Items) > 0:
		s.MoreHere = true
		s.stop(reconcile.StopBroken, "the has-more flag says that there is more, and there is nothing to follow")
	case p.More == judge.Yes:
		s.MoreHere = true
		s.stop(reconcile.StopBroken, "the has-more flag says that there is more, and the page is empty with nothing to follow")
	case p.LastPages.OK && !s.Mixed && int64(s.Page) >= p.LastPages.N:
		s.endAt(reconcile.Declared, fmt.Sprintf("this is the last of %d pages, by the server's own count", s.LastPages))
	case sh.pages.EndAbsentContinuation:
		s.endAt(reconcile.Assumed, "the last answer carries no continuation, which this API documents as its end")
	case s.PassTotals.Doubtful() && s.short() == 0 && s.otherSize(sh, p) > 0:
		s.Confirming = confirmSize
		s.move(adapters.Position{})
		st.cause = "the total may only echo its page: the first page once more, in another size"
	default:
		s.walksTotal(p)
		s.MoreHere = p.More == judge.Yes
		s.stop(reconcile.StopNotSaid, "the last answer does not say whether there is more")
	}
}

// otherSize gives a page size that would show whether a total only echoes its
// page, 0 where there is none.
func (s *State) otherSize(sh shape, p *adapters.Page) int {
	n := (len(p.Items) + p.Nulls + p.Rejected) / 2
	if !sh.sized || n < sh.min || s.Page != 1 {
		return 0
	}
	return n
}

// zeroAgain asks an empty first page once more before nothing is believed.
func (s *State) zeroAgain(p *adapters.Page, st *step) bool {
	if s.ZeroAsked || p.Next.State == adapters.Follow || p.More == judge.Yes || s.short() > 0 {
		return false
	}
	s.ZeroAsked, s.Confirming = true, confirmZero
	s.Page = 0
	st.action, st.cause = judge.ActionRetry, "no items at all: the same page once more"
	return true
}

// saidEnd takes an explicit end. A count that says otherwise outweighs it; a
// full page without a total is confirmed by one request past it.
func (s *State) saidEnd(sh shape, p *adapters.Page, m *match, word string, st *step) {
	s.walksTotal(p)
	s.EndStrength, s.EndWord = reconcile.Declared, word
	if p.Doubt != "" && !s.PassTotals.Believed() && s.Unconfirmed == "" {
		s.Unconfirmed = fmt.Sprintf("%s; in the same answer: %s", word, p.Doubt)
	}
	past, can := s.past(sh, p)
	full := s.fullPage(p)
	if s.Skips > 0 && !s.PassTotals.Believed() && s.Unconfirmed == "" {
		s.Unconfirmed = "the server's own positions skip items, so that its end word may come too early: " + word
	}
	switch {
	case can && s.PassTotals.Moved > 0 && s.Confirming == confirmNone:
		s.askPast(past, confirmEnd, word+", but the total moved: asking past it", st)
	case can && s.Skips > 0 && s.Confirming == confirmNone:
		s.askPast(past, confirmEnd, word+", but the server's own positions skip items: asking past it", st)
	case can && s.short() > 0 && !s.TotalWalks && !s.pastDeclared(sh, p):
		s.askPast(past, confirmEnd, fmt.Sprintf("%s, but the total says that %d are missing: asking past it", word, s.short()), st)
	case can && s.countedOn(sh, p) && !s.PassTotals.Believed() && s.Confirming == confirmNone:
		s.askPast(past, confirmEnd, fmt.Sprintf("%s, but the server counts %d pages: asking past it", word, s.LastPages), st)
	case can && full && !s.PassTotals.Believed():
		s.askPast(past, confirmEnd, word+", on a full page without a total: asking past it", st)
	default:
		s.endAt(reconcile.Declared, word)
	}
}

// fullPage reports whether a page holds all that was asked for, or all that
// this server ever gives.
func (s *State) fullPage(p *adapters.Page) bool {
	rows := len(p.Items) + p.Nulls + p.Rejected
	return p.Size > 0 && rows > 0 && (rows >= min(p.Size, s.Size) || (s.Clamped > 0 && rows >= s.Clamped))
}

// doubtPages doubts a page count that ends far below what an estimate says: a
// cap may be folded into it.
func (s *State) doubtPages() {
	if est := s.PassTotals.Estimate; s.PassTotals.Estimates > 0 && est > 2*(s.PassRows+int64(s.Size)) {
		s.Unconfirmed = fmt.Sprintf("the server's page count ends at %d items, far below its own estimate of %d: a cap may stand in it", s.PassRows, est)
	}
}

// past gives the position after this page, where the style can compute one.
func (s *State) past(sh shape, p *adapters.Page) (adapters.Position, bool) {
	if p.Next.State == adapters.Follow { // a flag says the end, and a token stands beside it; an address may always do
		return p.Next.At, p.More == judge.No && len(p.Next.At.Cursor) > 0
	}
	if !p.Next.HasAt {
		return adapters.Position{}, false
	}
	return p.Next.At, sh.rank || sh.keyset
}

func (s *State) askPast(at adapters.Position, why confirmation, text string, st *step) {
	s.Confirming = why
	s.move(at)
	st.cause = text
	st.note("end", "%s", text)
}

// confirmed reads the answer to a request past the end.
func (s *State) confirmed(sh shape, p *adapters.Page, m *match, lapped int64, st *step) {
	if s.Confirming == confirmSize {
		s.Confirming = confirmNone
		s.MoreHere = p.More == judge.Yes
		s.stop(reconcile.StopNotSaid, "the last answer does not say whether there is more")
		return
	}
	if m.Fresh == 0 && p.Nulls == 0 && p.Rejected == 0 {
		tail := sh.keyset && sh.pages.KeysetInclusive && m.Tail // the items of the last key alone
		if s.Confirming == confirmEmpty && int64(len(p.Items)) > lapped && !tail {
			s.Confirming = confirmNone
			s.Move.Unstable += int64(len(p.Items))
			s.stop(reconcile.StopLoop, fmt.Sprintf("an empty page came, and %d items that were read before in its place when it was asked for again", len(p.Items)))
			return
		}
		if len(p.Items) > 0 && !m.HasLast && !m.Joins {
			s.Unconfirmed = "the request past the end was answered with items from the middle of what had been read"
			s.Move.Unverified++
		}
		if rows := int64(len(p.Items)); m.HasLast && m.Joins && rows < int64(p.Size) && (!sh.keyset || tail) {
			lapped = rows // all of it was read before, up to the last item: what came before it pushed it on; a key is not pushed
		}
		s.settleConfirmed(sh, p, lapped, st)
		return
	}
	why := s.Confirming
	s.Confirming = confirmNone
	if why == confirmEnd || why == confirmEmpty {
		if s.Lied == "" && s.EndStrength != reconcile.None {
			s.Lied = fmt.Sprintf("an end was said (%s), and %d more items came after it: the end word cannot be trusted", s.EndWord, m.Fresh)
		}
		if s.Lied == "" && why == confirmEmpty {
			s.Lied = fmt.Sprintf("an empty page came, and %d items in its place when it was asked for again: an empty page is no end here", m.Fresh)
		}
		st.note("end", "%d more items came after an end", m.Fresh)
	}
	s.EndStrength, s.EndWord = reconcile.None, ""
	s.goOn(sh, p, m, 0, st)
}

// settleConfirmed ends a walk whose request past the end brought nothing new. p
// is nil where it was answered by no page: then nothing was shown of what stands
// there, and no total of it.
func (s *State) settleConfirmed(sh shape, p *adapters.Page, lapped int64, st *step) {
	why, shown := s.Confirming, p != nil
	if !shown {
		p = &adapters.Page{}
	}
	rows := len(p.Items) + p.Nulls + p.Rejected
	if why == confirmEcho && s.PassTotals.Doubtful() && rows == 0 && shown && !s.EchoAgain {
		s.EchoAgain = true // one empty page may be a passing fault, and much hangs on this one
		st.action, st.cause = judge.ActionRetry, "an empty page past a total that may only echo: once more"
		return
	}
	if int64(rows) > lapped && s.Move.Moved > 0 {
		s.Move.Unverified++ // the total moves, and what stands past it was not shown
	}
	s.Confirming, s.PastEnd = confirmNone, shown && int64(rows) <= lapped
	total := judge.Count{}
	if t, ok := mainTotal(p); ok {
		total = judge.N(t.Value)
		ranked := t.Kind == judge.Exact && p.Start.OK
		s.EndRank = ranked && p.Start.N+int64(rows) >= t.Value
		s.EndShort = ranked && p.Start.N+int64(rows) < t.Value && !s.pastTotal(sh, s.At) // of a page number the start may be too low
	}
	if shown && !s.PassTotals.Collapsed && (rows == 0 || (int64(rows) <= lapped && rows < p.Size)) { // nothing past the end: empty, or its overlap alone and not full
		s.Totals.Confirm(total)
		s.PassTotals.Confirm(total)
	}
	switch {
	case (why == confirmEnd || why == confirmEcho) && s.EndStrength != reconcile.None:
		s.endAt(s.EndStrength, s.EndWord+"; a request past it brought nothing")
	case why == confirmEmpty:
		s.endAt(reconcile.Assumed, "an empty page, twice, which this API documents as its end")
	case why == confirmEcho && p.More == judge.Yes:
		s.MoreHere = true
		s.stop(reconcile.StopNotSaid, "a page past the total is empty, and the server still says that there is more")
	default:
		text := "a page past the last one is empty"
		if rows > 0 {
			text = "a page past the last one brings nothing new"
		}
		s.stop(reconcile.StopEnd, text)
	}
}

// follow goes to the server's own next position.
func (s *State) follow(sh shape, p *adapters.Page, st *step) {
	key := visitKey(p.Next.At)
	if s.visited[key] && !s.reread {
		st.note("loop", "the server points to %s again", describe(p.Next.At))
		s.stop(reconcile.StopLoop, fmt.Sprintf("the server points back to %s, where this pass has been", describe(p.Next.At)))
		s.MoreHere = false
		return
	}
	if p.Next.Note != "" {
		st.note("note", "%s", p.Next.Reason)
	}
	s.visited[key] = true
	if len(p.Items)+p.Nulls+p.Rejected == 0 && s.enoughEmpties(sh, st) {
		return
	}
	s.MoreHere = true
	s.move(p.Next.At)
	s.Followed = true
}

// Empty pages in a row, each with a continuation, that are too many: once the
// total is held or an empty page is the documented end; and at all.
const (
	emptiesAtEnd = 3
	emptiesEver  = 1000
)

// enoughEmpties ends a walk that only gets empty pages any more.
func (s *State) enoughEmpties(sh shape, st *step) bool {
	switch {
	case s.Empties >= 2 && sh.pages.EndEmptyPage && s.short() == 0:
		s.endAt(reconcile.Assumed, "an empty page, and another after it, which this API documents as its end")
	case s.Empties >= emptiesAtEnd && s.complete():
		s.MoreHere = false
		s.stop(reconcile.StopEnd, fmt.Sprintf("the total is reached, and %d pages after it are empty", s.Empties))
	case s.Empties >= emptiesEver:
		s.stop(reconcile.StopLoop, fmt.Sprintf("%d empty pages in a row, each with a continuation", s.Empties))
	default:
		return false
	}
	return true
}

// visitKey names a position for the memory of where the pass has been: by the
// server's own token or link, where there is one.
func visitKey(p adapters.Position) string {
	if p.URL != "" || len(p.Cursor) > 0 {
		return string(p.Cursor) + "|" + p.URL
	}
	return fmt.Sprintf("%d|%d|%d", p.Offset, p.Number, p.Size)
}

// move goes to a position, remembering where this page was.
func (s *State) move(to adapters.Position) {
	if len(s.Back) == 4 {
		s.Back = append(s.Back[:0], s.Back[1:]...)
	}
	s.Back = append(s.Back, s.At)
	s.At, s.Followed = to, false
}

// computed goes on to a position that the style computes for itself, where
// the server names none: until the total, the server's page count, or an
// empty page.
func (s *State) computed(sh shape, p *adapters.Page, m *match, lapped int64, st *step) {
	s.MoreHere = p.More == judge.Yes || p.Offered || s.countedOn(sh, p)
	rows := len(p.Items) + p.Nulls + p.Rejected
	if m.Fresh == 0 && p.Nulls == 0 && p.Rejected == 0 && int64(rows) <= lapped {
		s.nothingNew(sh, p, m, rows, st)
		return
	}
	if m.Fresh == 0 && rows > 0 && sh.keyset && sh.pages.KeysetInclusive {
		s.tied(sh, p, rows, st)
		return
	}
	switch {
	case sh.linked && sh.pages.EndAbsentContinuation && !s.MoreHere && s.short() == 0:
		s.EndStrength, s.EndWord = reconcile.Assumed, "the last answer carries no link, which this API documents as its end"
		s.askPast(p.Next.At, confirmEnd, s.EndWord+": asking past it", st)
	case s.MoreHere:
		s.move(p.Next.At)
	case s.reached(sh, p):
		s.atTotal(sh, p, st)
	case s.lastPage(sh, p) && s.short() == 0:
		s.doubtPages()
		s.saidEnd(sh, p, m, fmt.Sprintf("this is the last of %d pages, by the server's own count", s.LastPages), st)
	case sh.pages.EndShortPage && p.Size > 0 && rows < s.Size && rows < p.Size:
		s.EndStrength, s.EndWord = reconcile.Assumed, "a short page, which this API documents as its end"
		s.askPast(p.Next.At, confirmEnd, "a short page: asking past it", st)
	default:
		s.move(p.Next.At)
	}
}

// nothingNew decides on a page that brings only rows that were read before by
// position: past the end, or on the way forward again after a step back.
func (s *State) nothingNew(sh shape, p *adapters.Page, m *match, rows int, st *step) {
	if rows > 0 && !m.HasLast {
		s.Move.Unverified++ // nothing shows that the page stands where the walk does
	}
	switch {
	case rows > 0 && rows >= p.Size && s.lap > 0 && p.Next.At.Offset == s.At.Offset && p.Next.At.Size != s.At.Size:
		s.move(p.Next.At) // all of it was read before, and it shows that the server follows this size
	case rows == 0 || !s.lapStands(p):
		s.empty(sh, p, st)
	case p.Next.At.Offset > s.At.Offset:
		s.move(p.Next.At)
	case !s.NoLap && s.lap > 0:
		s.NoLap, s.Overlap = true, 0
		st.action, st.cause = judge.ActionRetry, "pages are too small to overlap and get on: once more without"
	default:
		s.empty(sh, p, st)
	}
}

// lapStands reports whether a page that brought only its overlap is full, so
// that the walk would stand still.
func (s *State) lapStands(p *adapters.Page) bool {
	rows := len(p.Items) + p.Nulls + p.Rejected
	return p.Size == 0 || rows >= min(p.Size, s.MaxRows)
}

// countedOn reports whether the server's page count says that further pages
// follow.
func (s *State) countedOn(sh shape, p *adapters.Page) bool {
	return sh.rank && p.LastPages.OK && p.Next.At.Size > 0 && p.Next.At.Size == p.Size && p.Next.At.Number < p.LastPages.N
}

// tied decides on an inclusive keyset page with nothing new: the items of the
// last key alone, which is the end, or a page full of items that share one
// key, which the walk cannot get past.
func (s *State) tied(sh shape, p *adapters.Page, rows int, st *step) {
	if rows < p.Size && rows < s.MaxRows {
		s.empty(sh, p, st)
		return
	}
	s.stop(reconcile.StopLoop, fmt.Sprintf("a whole page of %d items shares one %s: the walk cannot get past it", rows, sh.pages.KeysetPath))
}

// reached reports whether the walk has come to the last live total, by the
// items seen or by position.
func (s *State) reached(sh shape, p *adapters.Page) bool {
	if s.PassTotals.Live == 0 || s.PassTotals.EchoOnly {
		return false
	}
	if sh.rank && s.Move.Moved+s.Move.Shifts > 0 {
		return s.pastTotal(sh, p.Next.At) // items that went and came count in what is held, not in where the walk stands
	}
	return s.short() == 0 || s.pastTotal(sh, p.Next.At)
}

// pastTotal reports whether a position stands at or past the last live total.
// A page number tells that only where the server gives as many as asked.
func (s *State) pastTotal(sh shape, at adapters.Position) bool {
	if !sh.rank || s.PassTotals.Live == 0 {
		return false
	}
	byNumber := s.Clamped == 0 && at.Number*int64(at.Size) >= s.PassTotals.Last && at.Size > 0
	return at.Offset >= s.PassTotals.Last || byNumber
}

// atTotal ends a walk at its total. A total that may only echo its page is
// settled by one request past it.
func (s *State) atTotal(sh shape, p *adapters.Page, st *step) {
	if s.lastPage(sh, p) {
		s.EndStrength, s.EndWord = reconcile.Declared, fmt.Sprintf("this is the last of %d pages, by the server's own count", s.LastPages)
	}
	switch {
	case s.Confirming != confirmNone || !p.Next.HasAt || len(p.Items) == 0:
	case sh.keyset:
		s.askPast(p.Next.At, confirmEcho, "the total is reached: asking past it", st)
		return
	case s.PassTotals.Doubtful():
		s.askPast(p.Next.At, confirmEcho, fmt.Sprintf("the total %d may only echo its own page: asking past it", s.PassTotals.Last), st)
		return
	case !s.Trusted && s.PassTotals.Echoes > 0 && s.PassTotals.Last == int64(len(p.Items)):
		s.askPast(p.Next.At, confirmEcho, fmt.Sprintf("the last page holds as many items as its total %d says: asking past it", s.PassTotals.Last), st)
		return
	case sh.rank && !s.pastTotal(sh, p.Next.At):
		s.askPast(p.Next.At, confirmEcho, fmt.Sprintf("as many items came as the total %d says, and the position stands before it: asking on", s.PassTotals.Last), st)
		return
	case s.Totals.Moved > 0 || s.Move.Shifts > 0: // one that stands still while rows move counts something else
		s.askPast(p.Next.At, confirmEcho, fmt.Sprintf("the source moved: asking past its total %d", s.PassTotals.Last), st)
		return
	}
	s.Ended = true
	s.stop(reconcile.StopEnd, "the total is reached")
}

// lastPage reports whether this page is the last by the server's page count.
func (s *State) lastPage(sh shape, p *adapters.Page) bool {
	return (sh.rank || sh.linked) && p.LastPages.OK && p.Next.At.Number >= p.LastPages.N && p.Next.At.Size > 0
}

// pastDeclared reports whether the page stands past the last one that the
// server's page count declares.
func (s *State) pastDeclared(sh shape, p *adapters.Page) bool {
	return sh.rank && s.LastPages > 0 && s.At.Size > 0 && s.At.Number >= s.LastPages
}

// noteClamp notices that the server gives fewer than asked while more follow.
func (s *State) noteClamp(p *adapters.Page, rows int, st *step) {
	if s.Page != 1 || p.Size == 0 || rows == 0 || rows >= p.Size {
		return
	}
	if s.short() > 0 || p.More == judge.Yes || p.Next.State == adapters.Follow {
		s.Clamped = rows
		st.note("size", "asked for %d items, the server gave %d", p.Size, rows)
	}
}

// empty decides on a page that brings nothing, in a style that computes its
// positions. It is no end by itself.
func (s *State) empty(sh shape, p *adapters.Page, st *step) {
	early := s.short() > 0
	if sh.keyset && sh.pages.KeysetInclusive && len(p.Items) == 0 && s.PassRows > 0 {
		s.Move.Unverified++ // the page begins with the last item itself: an empty one says that it is gone
	}
	switch {
	case !early && p.LastPages.OK && p.LastPages.N == 0 && s.PassRows == 0:
		s.endAt(reconcile.Declared, "the server counts 0 pages")
	case !early && s.countedOn(sh, p) && s.Empties < emptiesEver:
		s.move(p.Next.At) // the server's page count says that further pages follow
	case !early && s.PassTotals.Believed() && p.More == judge.Yes:
		s.MoreHere = true
		s.stop(reconcile.StopNotSaid, "a page past the total is empty, and the server still says that there is more")
	case !early && s.PassTotals.Believed():
		s.atTotal(sh, p, st)
	case !early && s.PassTotals.Doubtful():
		s.Confirming = confirmEcho
		s.settleConfirmed(sh, p, 0, st)
	case early && !p.Offered && s.pastTotal(sh, s.At):
		s.walksTotal(p)
		s.stop(reconcile.StopEnd, "the walk came to the total by position")
	case early && p.Offered && s.Empties < 1000:
		s.walksTotal(p)
		if s.TotalWalks {
			s.stop(reconcile.StopEnd, "every page that the total claims came back empty")
			return
		}
		s.move(p.Next.At)
	case early && !sh.rank:
		s.stop(reconcile.StopEnd, "an empty page, before what the total declares")
	case early && sh.rank && !sh.always && s.Overlap > 0:
		s.Overlap = 0 // a page that overlaps may not fit under a cap that whole pages fit under
		st.action, st.cause = judge.ActionRetry, "an empty page before the total: once more without an overlap"
	case early && s.pastDeclared(sh, p):
		s.reach(fmt.Sprintf("the server counts %d pages, fewer than its total needs, and the next one is empty", s.LastPages))
	case early && !s.Probing && sh.rank && !s.PassTotals.Collapsed:
		s.Probing = true
		st.note("reach", "an empty page before the total: trying one page on")
		s.move(p.Next.At)
	case early:
		s.reach("from there on the server gives empty pages")
	case s.MoreHere && visitKey(p.Next.At) != visitKey(s.At) && s.Empties < 1000:
		s.move(p.Next.At)
	case s.MoreHere:
		s.stop(reconcile.StopLoop, "the server says that there is more, and the walk stands still")
	case sh.pages.EndEmptyPage:
		s.Confirming = confirmEmpty
		st.action, st.cause = judge.ActionRetry, "an empty page: once more before it is believed"
	default:
		s.stop(reconcile.StopNotSaid, "the last page is empty, which ends nothing by itself")
	}
}

// walksTotal notices that all pages which the total claims were asked for,
// and that the later ones were all empty.
func (s *State) walksTotal(p *adapters.Page) {
	if s.Empties > 0 && s.short() > 0 && s.Size > 0 && int64(s.Page)*int64(s.Size) >= s.PassTotals.Last {
		s.TotalWalks = true
		s.MoreHere = false
	}
}

// reach stops at a cap of the server's.
func (s *State) reach(text string) {
	s.Reach, s.ReachText = judge.N(s.PassItems), text
	s.stop(reconcile.StopReach, s.ReachText)
}

// capped takes an end back that stands where the API is documented to hand out
// no more: an end claimed at a known cap looks like a real one. Only a total
// that is held can tell them apart, unless it is the cap itself.
func (s *State) capped(reach int64) {
	if reach == 0 || max(s.PassRows, s.High) < reach || s.PassTotals.Believed() && s.short() == 0 && s.PassTotals.Last != reach {
		return
	}
	if s.Stop != reconcile.StopEnd && s.Stop != reconcile.StopNotSaid {
		return
	}
	word := s.StopText
	s.TotalAtCap = s.PassTotals.Live > 0 && s.PassTotals.Last == reach
	s.EndStrength, s.EndWord, s.Ended = reconcile.None, "", false
	s.reach(fmt.Sprintf("pages.reach documents that one query hands out %d items at most, so that an end there is none: %s", reach, word))
}

// holdToPageCount doubts an end that was said where the server's own page count needs
// more items than came, and no total counts it. All pages but the last are full ones. Some
// servers count one more after a full last page; where each page holds fewer than asked,
// a further page means further items.
func (s *State) holdToPageCount(sh shape) {
	least := (s.LastPages - 1) * int64(min(s.LastSize, s.MaxRows))
	if s.MaxRows < s.LastSize && s.LastPages > 1 {
		least++
	}
	if !sh.rank || s.Stop != reconcile.StopEnd || s.PassTotals.Believed() || least <= s.PassRows || s.Unconfirmed != "" {
		return
	}
	s.Unconfirmed = fmt.Sprintf("the server counts %d pages, which takes %d items at least, and %d came", s.LastPages, least, s.PassRows)
}

// endAt ends the walk at an end of a given strength.
func (s *State) endAt(strength reconcile.Strength, word string) {
	s.EndStrength, s.EndWord, s.Ended, s.MoreHere = strength, word, true, false
	s.stop(reconcile.StopEnd, word)
}

// anchored reports whether positions hold whatever moves, to the very end.
func (s *State) anchored(sh shape) bool {
	switch {
	case sh.rank:
		return s.EndRank
	case sh.keyset:
		return s.Ties == "" && (s.EndStrength == reconcile.Declared || s.PastEnd)
	}
	return false
}

// wantsPass reports whether another walk could settle what this one could
// not.
func (s *State) wantsPass(sh shape, passes int, tol reconcile.Tolerance, maxDrift float64) bool {
	if s.Pass >= passes+s.Renewals {
		return false
	}
	switch s.Stop {
	case reconcile.StopEnd, reconcile.StopNotSaid:
	default:
		return false
	}
	if s.Stop == reconcile.StopNotSaid && s.PassTotals.Live == 0 {
		return false // without a total and an end word no pass can help
	}
	if s.anchored(sh) && s.Totals.Moved > 0 && s.Move.Verified() && s.Counts.Distinct >= s.Totals.Min && s.Totals.Explains(s.Counts.Distinct) && s.PassTotals.Explains(s.PassItems) &&
		!s.Totals.TooWide(maxDrift) {
		return false // it moved, and was read whole
	}
	lo, hi, ok := s.Totals.Band(tol)
	inside := ok && s.Counts.Distinct >= lo && s.Counts.Distinct <= hi
	if ok && s.Totals.Moved > 0 && !s.Totals.Covered(s.Counts.Distinct) && s.Totals.TooWide(maxDrift) {
		inside = false // a quieter pass may count where this one cannot
	}
	if inside && tol.Of(s.Totals.Max) > 0 {
		return false
	}
	if !s.Move.Verified() || (s.Totals.Flapped && s.Counts.Distinct < s.Totals.Max) {
		return true
	}
	if addMovement(s.Everything, s.Move).Clean() {
		return false
	}
	if !ok {
		return s.Pass > 1 && s.PassNew > 0
	}
	return !inside || s.short() > 0
}
