package adapters

import (
	"encoding/json"

	"lastdrop/internal/jsonscan"
)

// keyset walks by a value of the last item: ?starting_after=ID. The
// continuation is always computed.
type keyset struct {
	tmpl  *template
	param string
	path  jsonscan.Path
}

func newKeyset(c *compiler) Style {
	p := c.spec.Pages
	c.needs("pages.keyset.param", p.KeysetParam, holdCursor)
	if p.KeysetPath == "" {
		c.fault("pages.keyset.path is missing: where the key stands in an item")
	}
	return keyset{tmpl: c.tmpl, param: p.KeysetParam, path: c.path("pages.keyset.path", p.KeysetPath)}
}

// Request asks for what stands behind the position's key; at the start it
// names no key.
func (s keyset) Request(at Position, size, _ int) (Request, error) {
	return s.tmpl.request(s.tmpl.cursorPlace(at, size, s.param, s.tmpl.spec.Pages.KeysetQuoteJSON))
}

// Next takes the key of the last row that is not null. A page without such a
// row gives no position, and a row without a key cannot be gone on from.
// With an inclusive bound the next page begins with that row again.
func (s keyset) Next(at Position, _ Request, a *Answer) Continuation {
	if a.Last == nil {
		return Continuation{}
	}
	v, err := s.path.Find(a.Last)
	if err != nil {
		return Continuation{State: Broken, Word: wordCursor, Reason: "the last item's key: " + err.Error()}
	}
	if !v.Exists() || v.IsNull() {
		return Continuation{State: Broken, Word: wordCursor, Reason: "the last item has no key at " + s.path.String()}
	}
	rows := int64(a.Received)
	if s.tmpl.spec.Pages.KeysetInclusive {
		rows--
	}
	return Continuation{At: Position{Cursor: compact(v.Raw), Offset: addSat(at.Offset, max(rows, 0))}, HasAt: true}
}

// cursorPlace is the place of a token or key. At the start the parameter is
// left out: a seed that the params give stays.
func (t *template) cursorPlace(at Position, size int, param string, quote bool) place {
	pl := place{at: at, size: t.sizeOf(size), quote: quote}
	if len(at.Cursor) == 0 {
		return pl
	}
	pl.cursor = at.Cursor
	var value any = json.RawMessage(at.Cursor)
	if t.inBody && quote {
		value = string(at.Cursor)
	}
	pl.set = positioned(param, value)
	return pl
}
