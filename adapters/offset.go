package adapters

import "lastdrop/judge"

// offset walks by row numbers: ?offset=300&limit=100. The continuation is
// always computed, by the rows that came and never by those asked for.
type offset struct {
	tmpl    *template
	param   string
	first   int64
	scanned field // the server's own count of the rows that it went through
}

func newOffset(c *compiler) Style {
	s := offset{tmpl: c.tmpl, param: c.spec.Pages.OffsetParam, first: c.spec.Pages.OffsetFirst}
	s.scanned = c.field("pages.offset.advance.path", c.spec.Pages.OffsetAdvance)
	c.needs("pages.offset.param", s.param, holdOffset)
	return s
}

// Request asks from the position's row on. An overlap begins that many rows
// earlier, and asks for as many more where the largest size allows.
func (s offset) Request(at Position, size, overlap int) (Request, error) {
	size = s.tmpl.sizeOf(size)
	start := max(at.Offset-int64(max(overlap, 0)), 0)
	if more := size + int(at.Offset-start); size > 0 && (s.max() == 0 || more <= s.max()) {
		size = more
	}
	shown := addSat(start, max(s.first, 0))
	req, err := s.tmpl.request(place{at: at, size: size, offset: shown, set: positioned(s.param, shown)})
	req.Start = judge.N(start)
	return req, err
}

func (s offset) max() int { return s.tmpl.spec.Pages.SizeMax }

// Next computes the row after the last one that came. An empty page moves on
// by the size that was asked for; whoever follows it decides that the rows in
// between are not there.
func (s offset) Next(at Position, req Request, a *Answer) Continuation {
	start := at.Offset
	if req.Start.OK {
		start = req.Start.N
	}
	step := int64(a.Received)
	if n := count(a.value(s.scanned)); n.OK && n.N > 0 {
		step = n.N
	}
	if step == 0 {
		step = int64(req.Size)
	}
	return Continuation{At: Position{Offset: addSat(start, step)}, HasAt: step > 0}
}
