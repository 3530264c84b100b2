package adapters

import "lastdrop/judge"

// page walks by page numbers: ?page=3&per_page=100. The continuation is always
// computed; what the server says about the end is in the page's flags and
// counts.
type page struct {
	tmpl  *template
	param string
	first int64
}

func newPage(c *compiler) Style {
	p := page{tmpl: c.tmpl, param: c.spec.Pages.NumberParam, first: c.spec.Pages.NumberFirst}
	c.needs("pages.number.param", p.param, holdPage)
	return p
}

// Request asks for the page in which the first row lies that is not held. An
// overlap chooses a smaller page that begins earlier, or, where none can be
// had, the page before.
func (s page) Request(at Position, size, overlap int) (Request, error) {
	size = s.tmpl.sizeOf(size)
	if size == 0 && s.tmpl.sendsSize() {
		size = at.Size
	}
	number := numberAt(at, size)
	if overlap > 0 && number > 0 {
		size, number = s.overlap(at, number, size, overlap)
	}
	return s.ask(at, number, size)
}

// overlap chooses size and number of a page that begins at least overlap rows
// before the position. A grid that the server clamped has another size than we
// know, so that no page of it can be computed.
func (s page) overlap(at Position, number int64, size, overlap int) (int, int64) {
	clamped := size == at.Size && startAt(at, number, size) != mulSat(number, int64(size))
	if size > 0 && !clamped {
		if small, n, ok := overlapPage(at.Offset, overlap, size, s.tmpl.spec.Pages.SizeMin); ok {
			return small, n
		}
	}
	return size, number - 1
}

// ask builds the request for one page.
func (s page) ask(at Position, number int64, size int) (Request, error) {
	shown := addSat(number, max(s.first, 0))
	start := startAt(at, number, size)
	req, err := s.tmpl.request(place{
		at: at, size: size, page: shown,
		offset: addSat(mulSat(number, int64(size)), max(s.tmpl.spec.Pages.OffsetFirst, 0)),
		set:    positioned(s.param, shown),
	})
	req.Number = judge.N(shown)
	if size > 0 || number == 0 {
		req.Start = judge.N(start)
	}
	return req, err
}

// Next computes the page after the one that was asked for.
func (s page) Next(at Position, req Request, a *Answer) Continuation {
	return Continuation{At: s.after(at, req, int64(a.Received)), HasAt: true}
}

func (s page) after(at Position, req Request, received int64) Position {
	number := numberAt(at, req.Size)
	if req.Number.OK {
		number = max(req.Number.N-s.first, 0)
	}
	if req.Size <= 0 {
		next := Position{Number: addSat(number, 1), Offset: at.Offset}
		if number >= at.Number { // else the page before was read again
			next.Offset = addSat(next.Offset, received)
		}
		return next
	}
	return afterPage(at, number, req.Size, startAt(at, number, req.Size), received)
}
