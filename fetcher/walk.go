package fetcher

import (
	"fmt"
	"strconv"

	"lastdrop/adapters"
	"lastdrop/internal/secret"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// A shape is what the walk must know of a style.
type shape struct {
	rank   bool // positions are ranks: offset and page numbers
	always bool // every page overlaps its neighbour (offset)
	lap    bool // pages can be made to overlap
	keyset bool
	linked bool // the link style, walked on by number where no Link comes
	sized  bool // the page size can be changed
	min    int
	pages  adapters.Pages
	hasIDs bool
	keyIsID

	absentIsEmpty bool
}

// keyIsID says whether a keyset's key is an identity.
type keyIsID bool

func newShape(spec adapters.Spec) shape {
	p := spec.Pages
	sh := shape{pages: p, hasIDs: len(spec.Items.IDs) > 0, sized: p.SizeStart > 0, min: max(1, p.SizeMin),
		absentIsEmpty: spec.Items.AbsentIsEmpty}
	switch p.Style {
	case "offset":
		sh.rank, sh.always, sh.lap = true, true, true
	case "page", "algolia":
		sh.rank, sh.lap = true, sh.sized
	case "link":
		sh.linked = true
	case "keyset":
		sh.keyset = true
		for _, id := range spec.Items.IDs {
			sh.keyIsID = sh.keyIsID || keyIsID(id == p.KeysetPath && len(spec.Items.IDs) == 1)
		}
	}
	return sh
}

// tied reports whether items of one key may stand on both sides of a border:
// pages go on after the last key, and nothing says that no two items share one.
func (sh shape) tied() bool {
	return sh.keyset && !bool(sh.keyIsID) && !sh.pages.KeysetInclusive && !sh.pages.SortUnique
}

// A step is what the loop does with an answer.
type step struct {
	hold   bool              // the page's items are held
	action judge.Action      // in the judge's words
	cause  string            // one line, for the attempt's row
	events []event           // what happened beside it
	more   string            // what the answer says about going on
	state  reconcile.Outcome // held, refused…
}

type event struct{ kind, text string }

func (s *step) note(kind, format string, args ...any) {
	s.events = append(s.events, event{kind, fmt.Sprintf(format, args...)})
}

// onPage moves the state by one whole page. total is the page's main total
// with its judgement, nil where it has none.
func (s *State) onPage(sh shape, p *adapters.Page, m *match) step {
	st := step{action: judge.ActionContinue, state: reconcile.Refused, more: continuationWord(p)}
	lapped := s.lapped(p)
	moved := false
	if past := s.Confirming == confirmEnd || s.Confirming == confirmEcho; !past || m.Fresh > 0 || len(p.Items) == 0 || lapped > 0 {
		moved = s.observe(sh, p, m, &st) // what a repeated page past the end says of totals is about another page
	}
	if s.repeatedPage(sh, p, m, lapped, &st) {
		return st
	}
	if s.borderBroken(sh, p, m, lapped, moved, &st) {
		return st
	}
	st.hold, st.state = true, reconcile.Held
	s.judgeRepeats(sh, p, m, lapped, &st)
	s.holdPage(sh, p, m)
	s.goOn(sh, p, m, lapped, &st)
	return st
}

func continuationWord(p *adapters.Page) string {
	switch {
	case p.More == judge.No:
		return "ended"
	case p.Next.State == adapters.Follow:
		return "follow"
	case p.Next.State == adapters.Ended:
		return "ended"
	case p.Next.State == adapters.Broken:
		return "broken"
	}
	return ""
}

// lapped gives how many rows of the page stand before the position: those
// were read before and are asked for again.
func (s *State) lapped(p *adapters.Page) int64 {
	if !p.Start.OK || (s.lap == 0 && s.At.Size > 0 && s.At.Size == p.Size) {
		return 0 // the page after the last one, by its own number
	}
	return max(0, max(s.At.Offset, s.High)-p.Start.N)
}

// observe takes up the page's totals. It reports whether the main one moved
// within this pass.
func (s *State) observe(sh shape, p *adapters.Page, m *match, st *step) (moved bool) {
	before := s.PassTotals
	s.Grown = 0
	if p.LastPages.OK && s.Page > 0 && s.LastSize == p.Size && s.LastPages != p.LastPages.N {
		moved = true
		s.moved(sh)
		st.note("total", "the server's page count moved from %d to %d", s.LastPages, p.LastPages.N)
	}
	main, has := mainTotal(p)
	if !has && s.Totals.Live > 0 {
		s.Untold++
	}
	for _, t := range p.Totals {
		if !has || t != main {
			s.disagree(main, t, has)
			continue
		}
		o := reconcile.Observation{Value: t.Value, Kind: t.Kind, Items: len(p.Items) + p.Nulls + p.Rejected, Asked: p.Size, Size: p.Size - s.lap, Distinct: s.PassItems, Fresh: m.Fresh}
		live, remark := s.PassTotals.Observe(o)
		shifted := s.PassTotals.Moved > before.Moved
		if before.Bounds > 0 && t.Kind == judge.LowerBound && t.Value != before.LastBound {
			shifted = true // a bound of an unchanging set does not change
		}
		if s.PassTotals.Loose && !before.Loose {
			shifted = true // it is no longer counted exactly
		}
		o.Distinct = s.Counts.Distinct
		s.Totals.Observe(o)
		if !live && remark != "" && s.PassTotals.Collapsed && !before.Collapsed {
			st.note("reach", "the total %s", remark)
		}
		if shifted {
			moved = true
			s.Grown = max(0, s.PassTotals.Last-before.Last)
			if s.Untold > 0 && !sh.always && !sh.keyset {
				s.Move.Unverified++ // it may have moved at a border whose page stated no total
			}
			s.moved(sh)
			st.note("total", "the total moved, to %d", t.Value)
		}
	}
	if has {
		s.Untold = 0
	}
	return moved
}

// moved notes that the source has moved since the page before. Where only the
// server knows its positions, what lies between the two pages cannot be verified.
func (s *State) moved(sh shape) {
	s.Move.Moved++
	if s.Page > 0 && !sh.rank && !sh.keyset {
		s.Move.Unverified++
	}
}

// observeAgain takes up the total of an empty page that is asked for again: if it
// moved, the source did.
func (s *State) observeAgain(sh shape, p *adapters.Page) {
	t, ok := mainTotal(p)
	if !ok || t.Kind != judge.Exact || s.PassTotals.Live == 0 || t.Value == s.PassTotals.Last || t.Value < s.PassRows {
		return
	}
	o := reconcile.Observation{Value: t.Value, Kind: t.Kind, Distinct: s.PassItems}
	if live, _ := s.PassTotals.Observe(o); live {
		s.Totals.Observe(o)
		s.moved(sh)
	}
}

// mainTotal is the total that the run counts by. A total that is only worked
// out of a page count is none: it is held against the main one.
func mainTotal(p *adapters.Page) (adapters.Total, bool) {
	for _, t := range p.Totals {
		if t.Source != adapters.FromLast {
			return t, true
		}
	}
	return adapters.Total{}, false
}

// disagree notes a further total that the page's size cannot explain.
func (s *State) disagree(a, b adapters.Total, has bool) {
	if !has || a.Kind != judge.Exact || abs(a.Value-b.Value) <= int64(s.Size) || len(s.Disagree) >= 5 {
		return
	}
	s.Disagree = append(s.Disagree, fmt.Sprintf("totals disagree: %d by %s, %d by %s", a.Value, a.Source, b.Value, b.Source))
}

func abs(n int64) int64 { return max(n, -n) }

// repeatedPage notices a page that came before in this pass. It is no end;
// what it means depends on where the walk stands.
func (s *State) repeatedPage(sh shape, p *adapters.Page, m *match, lapped int64, st *step) bool {
	again := m.fingerprint != 0 && m.Fresh == 0 && s.prints[m.fingerprint] && s.Borders == 0
	if m.fingerprint != 0 {
		s.prints[m.fingerprint] = true
	}
	if s.rereading() || int64(len(p.Items)) <= lapped || (sh.keyset && sh.pages.KeysetInclusive) {
		return false
	}
	if p.EchoPage.OK && sh.rank && !sh.always && s.Page > 0 && len(p.Items) > 0 && m.Fresh == 0 && m.HasLast && s.clampedEcho(sh, p) {
		st.note("end", "asked for page %d, the server answered with page %d: it has no further one", p.AskedPage.N, p.EchoPage.N)
		st.cause = "the server answers with its last page"
		s.doubtPages()
		if s.Move.Moved > 0 {
			s.Move.Unverified++ // the border to the page that is not there was not looked at
		}
		s.endAt(reconcile.Declared, fmt.Sprintf("asked for page %d, the server named and sent page %d again: there is no further one", p.AskedPage.N, p.EchoPage.N))
		return true
	}
	if !again || s.At.IsStart() {
		return false
	}
	st.note("loop", "the page at %s came before in this pass", s.here())
	st.cause = "a page that came before"
	switch {
	case (s.Confirming == confirmEnd || s.Confirming == confirmEcho) && m.HasLast:
		s.settleConfirmed(sh, p, lapped, st)
	case s.complete() && s.Totals.Moved == 0:
		s.stop(reconcile.StopEnd, "the total is reached, and a page comes again")
	case s.Page == 1 && sh.rank:
		s.stop(reconcile.StopLoop, fmt.Sprintf("the second page is the first one again: the server ignores %s", s.positionParam(sh)))
	default:
		s.stop(reconcile.StopLoop, fmt.Sprintf("the page at %s had come before in this pass", s.here()))
		if sh.rank && s.short() > 0 {
			s.reach("the server repeats a page from there on")
		}
	}
	return true
}

// partialLeft notes a page that is held although it says that it is a part. A
// sign that stays may be one of the whole query, on every page: it is tried to
// be got rid of once, and a few of those pages are named.
func (s *State) partialLeft(sign string) {
	s.PartialSign = sign
	if len(s.PartialLeft) < 5 {
		s.PartialLeft = append(s.PartialLeft, fmt.Sprintf("%s: %s", s.here(), sign))
	}
}

func (s *State) clampedEcho(sh shape, p *adapters.Page) bool {
	if !p.AskedPage.OK || p.More == judge.Yes || p.Next.State == adapters.Follow || p.Offered || p.Doubt != "" || (p.LastPages.OK && p.AskedPage.N-sh.pages.NumberFirst < p.LastPages.N) {
		return false // the server's own count says that there is such a page
	}
	return p.EchoPage.N < p.AskedPage.N && p.EchoPage.N > sh.pages.NumberFirst // a parameter that was never read shows the first page
}

func (s *State) positionParam(sh shape) string {
	if sh.pages.Style == "offset" {
		return sh.pages.OffsetParam
	}
	return sh.pages.NumberParam
}

// short gives how many items the last live total of the pass says are still
// missing, 0 where it does not say.
func (s *State) short() int64 {
	if s.PassTotals.Live == 0 || s.PassTotals.EchoOnly {
		return 0
	}
	return max(0, s.PassTotals.Last-s.PassRows)
}

// complete reports whether a believed total of the pass is reached.
func (s *State) complete() bool {
	return s.PassTotals.Believed() && s.short() == 0 && s.Move.Moved == 0 && s.Move.Shifts == 0
}

// borderBroken checks that a page joins what this pass has read: where pages
// overlap, it must begin with an item that is held. If it does not, items
// have gone before it, and unread ones may have slipped past: the page is not
// held, and the walk steps back.
func (s *State) borderBroken(sh shape, p *adapters.Page, m *match, lapped int64, moved bool, st *step) bool {
	if !sh.rank || s.Page == 0 || s.Forced || s.Loose {
		s.Forced = false
		return false
	}
	rows := len(p.Items) + p.Nulls + p.Rejected
	regrid := !sh.always && s.At.Size > 0 && p.Size > 0 && p.Size != s.At.Size
	switch {
	case regrid && rows > p.Size:
		return s.sizeIgnored(p, st)
	case regrid && s.SizeCheck > 0 && lapped > 0 && !m.HasLast: // neighbours alone may stand anywhere
		return s.sizeIgnored(p, st)
	case lapped > 0 && m.Joins:
		s.SizeCheck = 0
	}
	if lapped == 0 {
		return s.wantLap(sh, p, m, moved, st)
	}
	if m.Joins {
		if m.Fresh > 0 {
			s.Borders = 0 // a page that brings nothing has not got past the border yet
		}
		return false
	}
	if len(p.Items) == 0 && s.short() > 0 {
		return false // an early empty page is asked again first
	}
	s.Move.Shifts++
	s.doubtUnlapped()
	s.Borders++
	if s.Borders > 12 {
		s.Borders, s.Forced, s.Loose, s.NoLap = 0, true, true, true
		s.Move.Unverified++
		st.note("shift", "the border at item %d cannot be verified: the source moves too fast", s.At.Offset)
		st.cause = "border given up as unverified"
		return true
	}
	s.stepBack(sh, "the page does not begin with a held item: items were deleted before it", st)
	return true
}

// sizeIgnored gives a page up whose number was counted in another size than
// the pages before it, and that shows that the server does not follow: it
// holds more than asked, or does not begin with what is held. The walk goes
// back to the size that the server's numbers count in, and stays there.
func (s *State) sizeIgnored(p *adapters.Page, st *step) bool {
	st.note("size", "a page of size %d does not join what is held: the server may not follow the size; back to %d, for good", p.Size, s.At.Size)
	st.cause = "the server may not follow another page size"
	s.Size, s.Locked, s.NoLap = s.At.Size, true, true
	s.Overlap, s.SizeCheck = 0, 0
	if s.Move.Moved > 0 {
		s.Move.Unverified++
	}
	return true
}

// wantLap asks for the same page again with an overlap, where something moved
// and the style can.
func (s *State) wantLap(sh shape, p *adapters.Page, m *match, moved bool, st *step) bool {
	if !moved {
		s.Unlapped++
		if s.Move.Moved+s.Move.Shifts > 0 && !s.declaredReach() {
			s.Move.Unverified++ // the source moves, and this border was not looked at
		}
		return false
	}
	s.doubtUnlapped()
	if !sh.lap || s.NoLap || s.Size < 2 || s.Overlap > 0 || s.declaredReach() {
		s.Move.Unverified++
		return false
	}
	s.Overlap = 1
	st.note("shift", "the total moved between two pages: the border at item %d is read again with an overlap", s.At.Offset)
	st.cause = "the total moved: again, with an overlap"
	return true
}

// doubtUnlapped doubts the borders before this one that were not looked at: a
// source that moves now may have moved then, one in and one out.
func (s *State) doubtUnlapped() {
	if s.Unlapped > 0 && !s.declaredReach() {
		s.Move.Unverified++
		s.Unlapped = 0
	}
}

// declaredReach reports that the server's own page count is so far below its
// total that the run cannot become whole: there is no use in verifying borders.
func (s *State) declaredReach() bool {
	return s.LastPages > 0 && s.PassTotals.Live > 0 && 10*s.LastPages*int64(s.LastSize) < 9*s.PassTotals.Last
}

// stepBack goes back by about a page, and widens the overlap.
func (s *State) stepBack(sh shape, why string, st *step) {
	back := int64(max(1, s.Size-1)) * int64(s.Borders)
	at := max(0, s.At.Offset-back)
	s.Overlap = min(max(1, s.Size/2), 2*s.Overlap+1)
	st.note("step_back", "at item %d %s; back to item %d", s.At.Offset, why, at)
	st.cause = "the border does not fit: stepping back"
	s.Confirming = confirmNone
	s.At = adapters.Position{Offset: at, Pin: s.At.Pin}
	if at == 0 {
		s.Page = 0 // the start needs no border
	}
}

// judgeRepeats sorts the items that this pass had seen before.
func (s *State) judgeRepeats(sh shape, p *adapters.Page, m *match, lapped int64, st *step) {
	again := len(p.Items) - m.Fresh
	if again == 0 || s.rereading() || (s.Confirming != confirmNone && m.Fresh == 0) {
		return
	}
	switch {
	case sh.rank:
		if extra := int64(m.Prefix) - lapped; extra > 0 {
			s.Move.Shifts++
			s.doubtUnlapped()
			if s.Grown < extra {
				s.Move.Unstable += extra // inserts would have raised the total
			}
			st.note("shift", "%d items came again at item %d", extra, s.At.Offset)
			if sh.lap && s.Size > 1 && s.Overlap == 0 && !s.declaredReach() {
				s.Overlap = 1
			}
		}
		s.Move.Unstable += int64(m.Later)
	case sh.keyset && sh.pages.KeysetInclusive:
		s.Move.Unstable += int64(m.Later)
		if !m.Tail {
			s.Move.Unstable += int64(m.Prefix) // more than the items of the last key came again
		}
	default:
		s.Move.Unstable += int64(again)
	}
}

// holdToTotal holds a page's rows against its own total: it may hold fewer rows than
// were asked for, although the total counts further ones behind them, or rows that
// lie beyond all that it counts.
func (s *State) holdToTotal(sh shape, p *adapters.Page, m *match) {
	rows := int64(len(p.Items) + p.Nulls + p.Rejected)
	if sh.keyset { // its rows are not counted, but what follows a page that is not full was left out of it
		s.Beyond = s.Beyond || s.NotFull && m.Fresh > 0
		s.NotFull = rows > 0 && rows < int64(min(p.Size, s.MaxRows))
	}
	end := p.Start.N + rows
	t, ok := mainTotal(p)
	if !sh.rank || !ok || t.Kind != judge.Exact || !p.Start.OK || rows == 0 {
		return
	}
	if size := p.Size; end < t.Value && end < p.Start.N+int64(size) && (s.Unfilled == 0 || size < s.Unfilled) {
		s.Unfilled = size
	}
	s.Beyond = s.Beyond || end > t.Value
}

// miscounts reports whether pages of this pass contradict the total that they
// state: one left something out, where the server fills pages of its size
// elsewhere, or showed more than the total counts.
func (s *State) miscounts() bool { return s.Beyond || s.Unfilled > 0 && s.MaxRows >= s.Unfilled }

// holdPage counts a held page.
func (s *State) holdPage(sh shape, p *adapters.Page, m *match) {
	c := &s.Counts
	c.Held++
	c.Received += int64(len(p.Items))
	c.Distinct += int64(m.New)
	c.Repeated += int64(len(p.Items) - m.New)
	c.Nulls += int64(p.Nulls)
	for i, it := range p.Items {
		if m.adds[i] && len(it.ID) == 0 {
			c.NoID++
		}
	}
	c.Rejected += int64(p.Rejected)
	s.Page++
	s.PassItems += int64(m.Fresh)
	s.PassNew += int64(m.New)
	s.MaxRows = max(s.MaxRows, len(p.Items)+p.Nulls+p.Rejected)
	s.PassRows += int64(m.Fresh + p.Nulls + p.Rejected)
	s.holdToTotal(sh, p, m)
	if p.Disorder != "" {
		s.Ties = p.Disorder
	}
	if p.Aside != "" && s.Unconfirmed == "" && (p.More == judge.Yes || p.Next.State == adapters.Follow) {
		s.Unconfirmed = fmt.Sprintf("the page at %s goes on without items, and another list of its answer has some: %s", describe(s.At), p.Aside)
	}
	s.Conflicts += int64(m.Conflicts)
	s.SameID += int64(m.SameID)
	for _, e := range m.Examples {
		if len(s.Examples) < 3 {
			s.Examples = append(s.Examples, e)
		}
	}
	keep := func(dst *[]string, src []string) {
		for _, t := range src {
			if len(*dst) < 5 {
				*dst = append(*dst, t)
			}
		}
	}
	keep(&s.Wording, p.Wording)
	keep(&s.Notices, p.Notices)
	if sh.tied() && s.Ties == "" {
		s.Ties = fmt.Sprintf("pages go on after the last %s, which is not the id: items that share one can be lost at a border", sh.pages.KeysetPath)
	}
	if sh.keyset && sh.pages.KeysetInclusive && s.Page > 1 && len(p.Items) > 0 && m.Fresh == len(p.Items) {
		s.Move.Unverified++ // an inclusive page begins with the item that it goes on from
	}
	if p.LastPages.OK {
		s.LastPages, s.LastSize = p.LastPages.N, p.Size
	}
	if p.Next.Note == "skip" {
		s.Skips++
	}
	s.Mixed = s.Mixed || (s.Page > 1 && p.Size != s.GoodSize && s.lap == 0)
	s.GoodAt, s.GoodSize = s.At, p.Size
	s.Empties = emptyRun(s.Empties, m.Fresh)
	s.Shrinks, s.Tries, s.Reasked, s.Probing = 0, 0, 0, s.Probing && m.Fresh == 0
	if m.Fresh > 0 {
		s.Expired = 0
	}
	if p.Start.OK {
		s.High = max(s.High, p.Start.N+int64(len(p.Items)+p.Nulls+p.Rejected))
	}
	s.reread, s.Reread = s.Reread, false
	s.grow(sh)
}

func emptyRun(n, fresh int) int {
	if fresh > 0 {
		return 0
	}
	return n + 1
}

// rereading reports whether the page was read before for a reason of our own,
// so that what comes again on it tells nothing.
func (s *State) rereading() bool {
	switch s.Confirming {
	case confirmZero, confirmEmpty, confirmSize:
		return true
	}
	return s.Reread
}

// here names the place that was asked for last: the page by its number as it was
// sent, where it was asked for by one, and the items before it.
func (s *State) here() string { return asked(s.At, s.number) }

// asked names a position for people, with the page number that was sent for it.
func asked(p adapters.Position, number judge.Count) string {
	if !number.OK || p.IsStart() {
		return describe(p)
	}
	return fmt.Sprintf("page %d (offset %d)", number.N, p.Offset)
}

// describe names a position for people: where its items begin, for the number of a
// page depends on the size that is asked for. What is cut is far longer than any
// secret, for a cut one could not be found and hidden.
func describe(p adapters.Position) string {
	switch {
	case p.URL != "":
		return "link " + clip((*secret.Set)(nil).HideURL(p.URL), 2000)
	case len(p.Cursor) > 0:
		return "cursor " + clip(string(p.Cursor), 500)
	case p.Offset > 0:
		return "offset " + strconv.FormatInt(p.Offset, 10)
	}
	return "the start"
}
