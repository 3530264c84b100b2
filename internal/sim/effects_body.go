package sim

// List breaks the items path: absent, null, object or renamed.
type List struct{ Shape string }

// Name implements [Effect].
func (e List) Name() string { return "items_" + e.Shape }
func (List) stage() stage   { return onPage }
func (List) harm() harm     { return passing }

func (e List) apply(x *exchange) {
	if x.api.Format == XML && listShape(e.Shape) == listObject { // one element there is a list of one
		x.idle()
		return
	}
	x.page.list = listShape(e.Shape)
	x.void = true
}

// Beside puts an error beside a page; with Hollow the page is empty.
type Beside struct {
	Path, JSON string
	Hollow     bool
}

// Name implements [Effect].
func (Beside) Name() string { return "error_beside" }
func (Beside) stage() stage { return onPage }
func (Beside) harm() harm   { return passing }

func (e Beside) apply(x *exchange) {
	if x.bare() {
		x.idle()
		return
	}
	x.page.extra = append(x.page.extra, Extra{e.Path, e.JSON})
	if e.Hollow {
		x.page.rows, x.page.window = nil, nil
		x.page.total.value = 0
		x.endPage()
	}
	x.void = true
}

// bare reports whether there is no envelope to put a field into.
func (x *exchange) bare() bool {
	return x.api.barren()
}

// Partial marks the answer as a part and leaves out what is behind Keep.
type Partial struct {
	// Kind is timed_out, incomplete or shards.
	Kind string
	Keep int
	// Total makes the total agree with what is left.
	Total bool
}

// Name implements [Effect].
func (e Partial) Name() string { return "partial_" + e.Kind }
func (Partial) stage() stage   { return onPage }
func (Partial) harm() harm     { return passing }

// PartialSigns are the fields that Partial sets, as an honest answer has them.
var partialSigns = map[string][2]Extra{
	"timed_out":  {{"timed_out", "false"}, {"timed_out", "true"}},
	"incomplete": {{"incomplete_results", "false"}, {"incomplete_results", "true"}},
	"shards": {
		{"_shards", `{"total":4,"successful":4,"failed":0}`},
		{"_shards", `{"total":4,"successful":3,"failed":0}`},
	},
}

func (e Partial) apply(x *exchange) {
	if x.bare() {
		x.idle()
		return
	}
	x.page.front = append(x.page.front, partialSigns[e.Kind][1])
	if keep := min(e.Keep, len(x.page.rows)); keep < len(x.page.rows) {
		x.page.rows = x.page.rows[:keep]
	}
	if e.Total {
		x.page.total.value = len(x.page.rows)
		x.endPage()
	}
	x.void = true
}

// Nulls puts a null into the list: instead of the first item, or, with Add,
// beside it.
type Nulls struct{ Add bool }

// Name implements [Effect].
func (Nulls) Name() string { return "null_items" }
func (Nulls) stage() stage { return onPage }

func (e Nulls) harm() harm {
	if e.Add {
		return capped
	}
	return lying
}

func (e Nulls) apply(x *exchange) {
	rows := x.page.rows
	switch {
	case len(rows) == 0 || x.api.Format != JSON:
		x.idle()
	case e.Add:
		x.page.rows = append([]row{{raw: []byte("null")}}, rows...)
	default:
		x.page.rows = append([]row{{raw: []byte("null")}}, rows[1:]...)
	}
}

// Notice adds a row that is a message, not an item.
type Notice struct{ Raw string }

// Name implements [Effect].
func (Notice) Name() string { return "notice_row" }
func (Notice) stage() stage { return onPage }
func (Notice) harm() harm   { return lying }

func (e Notice) apply(x *exchange) {
	x.page.rows = append(x.page.rows[:len(x.page.rows):len(x.page.rows)], row{raw: []byte(e.Raw)})
}

// TwoKeys names a key of the envelope twice: items, total or next. The second
// value contradicts the first.
type TwoKeys struct{ Which string }

// Name implements [Effect].
func (TwoKeys) Name() string { return "duplicate_key" }
func (TwoKeys) stage() stage { return onPage }
func (TwoKeys) harm() harm   { return passing }

func (e TwoKeys) apply(x *exchange) {
	path, raw := x.api.Items, "[]"
	switch {
	case e.Which == "total":
		path, raw = x.api.Total.Path, "0"
	case e.Which == "next" && x.api.Style == NextURL:
		path, raw = x.api.Next.Path, "null"
	case e.Which == "next":
		path, raw = x.api.Token.Path, "null"
	}
	if path == "" || x.bare() || (e.Which == "next" && x.api.Addressing != ByToken && x.api.Style != NextURL) {
		x.idle()
		return
	}
	x.page.extra = append(x.page.extra, Extra{path, raw})
	x.void = true
}

// WrongTotal adds By to the total.
type WrongTotal struct{ By int }

// Name implements [Effect].
func (WrongTotal) Name() string { return "wrong_total" }
func (WrongTotal) stage() stage { return onPage }
func (WrongTotal) harm() harm   { return capped }

func (e WrongTotal) apply(x *exchange) {
	if !x.page.total.show {
		x.idle()
		return
	}
	x.page.total.value = max(0, x.page.total.value+e.By)
}

// NoTotal leaves the total out of this answer.
type NoTotal struct{}

// Name implements [Effect].
func (NoTotal) Name() string { return "no_total" }
func (NoTotal) stage() stage { return onPage }
func (NoTotal) harm() harm   { return harmless }

func (NoTotal) apply(x *exchange) {
	if !x.page.total.show {
		x.idle()
		return
	}
	x.page.total.show = false
}

// BadLink breaks the continuation: a Link that does not parse, or a next URL
// on another host.
type BadLink struct {
	// Host, where set, is the other host; else the link is broken.
	Host string
}

// Name implements [Effect].
func (e BadLink) Name() string {
	if e.Host != "" {
		return "other_host"
	}
	return "broken_link"
}
func (BadLink) stage() stage { return onPage }
func (BadLink) harm() harm   { return capped }

func (e BadLink) apply(x *exchange) {
	if x.ended() || (x.api.Style != Link && x.api.Style != NextURL) {
		x.idle()
		return
	}
	text := x.urlFor(x.page.next, false, e.Host)
	if x.api.Style == Link {
		open := "<"
		if e.Host == "" {
			open = ""
		}
		x.page.links = []string{open + text + `>; rel="next"`}
		return
	}
	if e.Host == "" {
		text = "http://[broken/" + text
	}
	x.page.nextText = &text
}

// Phantom makes every word about what follows speak of Items items in all, of
// which those that do not exist are empty pages.
type Phantom struct{ Items int }

// Name implements [Effect].
func (Phantom) Name() string { return "phantom" }
func (Phantom) stage() stage { return onPage }
func (Phantom) harm() harm   { return capped }

func (e Phantom) apply(x *exchange) {
	x.page.more = x.from+x.ask.size < e.Items
	x.page.last = x.pageCount(e.Items)
	if x.page.total.show {
		x.page.total.value = e.Items
	}
}

// Overrun gives the last Items items of the list again on a place past its
// end, for ever.
type Overrun struct{ Items int }

// Name implements [Effect].
func (Overrun) Name() string { return "overrun" }
func (Overrun) stage() stage { return onPage }
func (Overrun) harm() harm   { return harmless }

func (e Overrun) apply(x *exchange) {
	n := len(x.view.items)
	if x.from < n || n == 0 {
		x.idle()
		return
	}
	x.page.rows = rowsOf(x.view.items[max(0, n-e.Items):])
}
