package reconcile

import (
	"fmt"
	"slices"

	"lastdrop/judge"
)

// A Reading is a further walk over the whole source, held against the walk
// before it. Two whole readings that give the same items in opposite orders show
// that no end of the list was cut off: a cap cuts different ends. Two in
// different page sizes show only that no item was lost between two pages.
type Reading struct {
	Reverse bool  // in the opposite order; else in another page size alone
	Number  int   // the how-manieth reading of the run it is, from 2
	Passes  int   // walks that the readings after the first one took
	Items   int64 // distinct items of this reading
	Before  int64 // and of the one before it
	New     int64 // items of this one that the one before had not
	// Same and Turned count the neighbours of this reading that followed each
	// other in the one before in the same order, and in the opposite one.
	Same, Turned int64
	// Size and SizeBefore are the page sizes asked for, Rows and RowsBefore the
	// most that came on one page.
	Size, SizeBefore, Rows, RowsBefore int
	// Said: the server's own word ended both readings.
	Said bool
	// Trouble says why this reading or the one before it is not whole by itself.
	Trouble string
}

// Missed is how many items of the reading before this one has not.
func (s *Reading) Missed() int64 { return s.Before - (s.Items - s.New) }

// Agrees reports whether both readings hold the same items.
func (s *Reading) Agrees() bool { return s.New == 0 && s.Missed() == 0 }

// Capped reports whether the two readings hold as many items each and not one in
// common: the two ends of a longer list.
func (s *Reading) Capped() bool {
	return s.Reverse && s.Trouble == "" && s.Items > 1 && s.Items == s.Before && s.New == s.Items
}

// turned reports whether this reading is just the one before it from its end.
func (s *Reading) turned() bool { return s.Same == 0 && s.Turned == s.Items-1 }

// meets reports whether two readings from the two ends of the list hold just the
// same items, and nothing else says that there are more: each went as far as the
// other one's start.
func (f *Facts) meets() bool {
	s := f.Second
	return s != nil && s.Reverse && s.Trouble == "" && s.Agrees() && s.turned() && s.Items > 1 && !f.MoreKnown && !f.estimatesMore()
}

// estimatesMore reports whether the source's own estimate lies far above what is
// held.
func (f *Facts) estimatesMore() bool { return f.Totals.Estimate > 2*f.Distinct+int64(f.PageSize.Start) }

// second rules on a second reading.
func (r *ruler) second() {
	s := r.f.Second
	if s == nil {
		return
	}
	switch {
	case s.Trouble != "":
		r.nothingShown(s, s.Trouble)
	case s.Capped():
		r.lose("RC046", "%s gave %s items and %s as many, and none of them is the same: a cap of %s, which cuts the two ends of a longer list",
			before(s), num(s.Before), s.Name(), num(s.Items))
		r.advise("the server hands out no more than about %s items a query: ask in slices (by time or id) that each stay below that", num(s.Items))
	case !s.Agrees():
		r.disagree(s)
	default:
		r.agree(s)
	}
}

// disagree rules on readings that hold different items.
func (r *ruler) disagree(s *Reading) {
	text := fmt.Sprintf("the readings disagree: %s found %s that %s had not, and missed %s", s.Name(), count(s.New, "item"), before(s), num(s.Missed()))
	if s.Reverse && s.New > 0 && s.Items == s.Before {
		text += fmt.Sprintf("; each holds %s, as under a cap that cuts different ends", num(s.Items))
	}
	r.wonder("RC046", "%s", text)
	r.advise("all that any reading gave is held; allow more readings (complete.passes) where the source moved, or ask in slices where it is capped")
}

// agree rules on readings that hold the same items: what that shows depends on
// how the second one was made.
func (r *ruler) agree(s *Reading) {
	f := r.f
	switch {
	case f.MoreKnown:
		r.nothingShown(s, "both readings hold the same items, and the source still says that there is more")
	case f.estimatesMore():
		r.nothingShown(s, fmt.Sprintf("both readings hold the same items, and the source's own estimate of %s is far above: the order may be turned round inside of a cap only", num(f.Totals.Estimate)))
	case s.Items < 2:
		r.nothingShown(s, fmt.Sprintf("%s cannot show that the order was turned round or that pages were cut elsewhere", count(s.Items, "item")))
	case s.Reverse:
		r.agreeReverse(s)
	default:
		r.agreeSize(s)
	}
}

func (r *ruler) agreeReverse(s *Reading) {
	switch {
	case r.met:
		r.prove(Corroborated, "RC045", "%s and %s hold the same %s, each from its own end: a cap would have cut different ends", before(s), s.Name(), count(s.Items, "item"))
	case s.Turned == 0:
		r.nothingShown(s, "the second reading gave the same items in the same order: pages.reverse is ignored")
		r.advise("check pages.reverse against what this API documents")
	default:
		r.nothingShown(s, fmt.Sprintf("the second reading is not the first one turned round: %s stand in the order of before", count(s.Same, "neighbour")))
		r.advise("ask for a sort by a unique key (pages.sort), so that the reverse order is its very reverse")
	}
}

// agreeSize rules on the same items in another page size. It can strengthen the
// server's own word for the end and cannot stand for a missing one: a cap by
// items gives the same ones in every size.
func (r *ruler) agreeSize(s *Reading) {
	border := func(size int) bool { return size > 0 && s.Items%int64(size) == 0 }
	full := func(rows int) bool { return int64(rows) < s.Items && border(rows) }
	switch {
	case s.Rows == s.RowsBefore:
		r.nothingShown(s, fmt.Sprintf("pages of %d and of %d were asked for, and both times at most %d items came on one: no border between two pages lay elsewhere", s.SizeBefore, s.Size, s.Rows))
	case !s.Said || r.f.EndStrength < Declared:
		r.nothingShown(s, fmt.Sprintf("pages of %d and of %d hold the same %s, and the server's own word ends neither: a cap by items would look the same", s.SizeBefore, s.Size, count(s.Items, "item")))
		r.advise("another page size cannot show an end: give pages.reverse, slices, a total, or the end mark")
	case border(s.Size) || border(s.SizeBefore) || full(s.Rows) || full(s.RowsBefore) || slices.Contains(judge.CommonCaps, s.Items) || r.f.Reach.OK && r.f.Reach.N == s.Items:
		r.nothingShown(s, fmt.Sprintf("pages of %d and of %d both end after %s, on the border of a page or where servers like to cap", s.SizeBefore, s.Size, count(s.Items, "item")))
		r.advise("give pages.reverse, slices or a total: another page size cannot tell such an end from a cap")
	default:
		r.prove(Corroborated, "RC045", "pages of %d and of %d hold the same %s, and the server's own word ends both: nothing was lost between two pages", s.SizeBefore, s.Size, count(s.Items, "item"))
	}
}

// nothingShown doubts a run whose second reading could not be made or shows
// nothing: it is made only where the first one is not enough.
func (r *ruler) nothingShown(s *Reading, text string) {
	r.wonder("RC047", "no second reading: %s", text)
}

// Name names a reading by its number and kind.
func (s *Reading) Name() string {
	how := "in pages of " + num(int64(s.Size))
	if s.Reverse {
		how = "in reverse"
		if s.Number%2 == 1 {
			how = "in the first order"
		}
	}
	return fmt.Sprintf("reading %d (%s)", s.Number, how)
}

func before(s *Reading) string { return fmt.Sprintf("reading %d", s.Number-1) }
