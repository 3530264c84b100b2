package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// facts is a snapshot with everything that several rules need worked out once.
type facts struct {
	s Snapshot // without negative counts

	offset int64 // stated or derived, else 0; saturated
	placed bool  // the offset is really known: no page number without a page size
	end    int64 // offset + items, items counting as 0 where not stated; saturated
	exact  bool  // end is really known: placed, items stated, no overflow

	links   []Link
	broken  []string // raw parts of Link headers that cannot be read
	hasLink bool     // a Link header stands there with anything in it
	oddity  []string // what cannot be, in words: TR011
}

// read works the facts out. It does not change s.
func read(s Snapshot) *facts {
	f := &facts{}
	f.oddity = s.dropNegatives()
	f.s = s
	f.place()
	f.reach()
	f.readLinks()
	return f
}

// place finds the offset.
func (f *facts) place() {
	r := f.s.Request
	f.placed = true
	switch {
	case r.Offset.OK:
		f.offset = r.Offset.N
	case r.Page.OK:
		f.placeByPage(r)
	}
}

func (f *facts) placeByPage(r Request) {
	first := int64(1)
	if r.FirstPage.OK {
		first = r.FirstPage.N
	}
	before := r.Page.N - first // neither is negative: no overflow
	switch {
	case before < 0:
		f.placed = false
		f.oddity = append(f.oddity, fmt.Sprintf("page %d stands before the first page, %d", r.Page.N, first))
	case before == 0: // the first page begins at 0 whatever its size
	case !r.Limit.OK || r.Limit.N == 0:
		f.placed = false
	default:
		var fits bool
		if f.offset, fits = mulSat(before, r.Limit.N); !fits {
			f.placed = false
			f.oddity = append(f.oddity, fmt.Sprintf("page %d of %d items each begins beyond every countable position", r.Page.N, r.Limit.N))
		}
	}
}

// reach finds the end of what was received.
func (f *facts) reach() {
	items := f.s.Response.Items
	var fits bool
	f.end, fits = addSat(f.offset, items.N)
	f.exact = f.placed && items.OK && fits
	if !fits && f.placed {
		f.oddity = append(f.oddity, fmt.Sprintf("%d items from offset %d end beyond every countable position", items.N, f.offset))
	}
}

func (f *facts) readLinks() {
	var names []string
	for name := range f.s.Response.Headers {
		if strings.EqualFold(strings.TrimSpace(name), "Link") {
			names = append(names, name)
		}
	}
	slices.Sort(names) // so that two spellings of one name give one result
	var values []string
	for _, name := range names {
		values = append(values, f.s.Response.Headers[name]...)
	}
	f.links, f.broken = ParseLinks(values)
	f.hasLink = len(f.links)+len(f.broken) > 0
}

// next gives the links with rel="next" that can be read, and the raw parts
// that cannot but name it.
func (f *facts) next() (links []Link, raw []string) {
	for _, l := range f.links {
		if l.Has("next") {
			links = append(links, l)
		}
	}
	for _, part := range f.broken {
		if NamesNext(part) {
			raw = append(raw, part)
		}
	}
	return links, raw
}

// later reports whether something stands before what was received, or may.
func (f *facts) later() bool { return f.offset > 0 || !f.placed }

// joined reports whether the answer begins where what the caller holds ends:
// at the start, or with as many items held as stand before the offset.
func (f *facts) joined() bool {
	if !f.placed {
		return false
	}
	return f.offset == 0 || f.s.Held.Items.OK && f.s.Held.Items.N >= f.offset
}

// ok2xx reports whether the status is 2xx; a status that is not stated is
// neither 2xx nor anything else.
func (f *facts) ok2xx() bool {
	st := f.s.Response.Status
	return st.OK && st.N >= 200 && st.N <= 299
}

// errorAnswer reports whether the status is stated and not 2xx.
func (f *facts) errorAnswer() bool { return f.s.Response.Status.OK && !f.ok2xx() }

// continued reports whether the answer offers any continuation, readable or not.
func (f *facts) continued() bool {
	r := f.s.Response
	links, raw := f.next()
	return r.NextOffset.OK || r.NextPage.OK || r.NextCursor.filled() || r.NextURL.filled() || len(links)+len(raw) > 0
}

// missing gives how many items the declared total has beyond n, 0 if none; an
// estimate never tells.
func (f *facts) missing(n int64) int64 {
	r := f.s.Response
	if !r.Total.OK || !r.TotalKind.atLeast() || r.Total.N <= n {
		return 0
	}
	return r.Total.N - n
}

// A measure is one of the ways to say how much of an answer was read.
type measure struct {
	unit      string
	got, want Count
}

func (f *facts) measures() [3]measure {
	r := f.s.Response
	return [3]measure{
		{"bytes", r.BytesRead, r.BytesExpected},
		{"lines", r.LinesRead, r.LinesTotal},
		{"characters", r.CharsRead, r.CharsTotal},
	}
}

// short reports whether less was read than there is.
func (m measure) short() bool { return m.got.OK && m.want.OK && m.got.N < m.want.N }

// over reports whether more was read than there is.
func (m measure) over() bool { return m.got.OK && m.want.OK && m.got.N > m.want.N }

// whole reports whether exactly as much was read as there is.
func (m measure) whole() bool { return m.got.OK && m.want.OK && m.got.N == m.want.N }

// addSat adds two numbers that are not negative, stopping at the largest.
func addSat(a, b int64) (sum int64, fits bool) {
	if a > math.MaxInt64-b {
		return math.MaxInt64, false
	}
	return a + b, true
}

// mulSat multiplies two numbers that are not negative, stopping at the largest.
func mulSat(a, b int64) (product int64, fits bool) {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64, false
	}
	return a * b, true
}
