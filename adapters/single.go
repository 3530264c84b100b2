package adapters

// single is an API without paging: one answer, which says nothing about going
// on. A page that offers more all the same shows in Page.Offered.
type single struct{ tmpl *template }

func newSingle(c *compiler) Style { return single{c.tmpl} }

// offerFields are top-level names under which servers say that there is more.
// They are read where no paging is configured, which may be a mistake.
var offerFields = []string{"has_more", "hasMore", "has_next", "hasNext", "has_next_page", "hasNextPage", "next",
	"next_page", "nextPage", "next_url", "nextLink", `\@odata\.nextLink`, "next_cursor", "nextCursor",
	"next_page_token", "nextPageToken", "next_token", "nextToken"}

// newOffers registers those names.
func newOffers(c *compiler) []field {
	var out []field
	for _, name := range offerFields {
		if c.spec.Items.Path != c.top(name) {
			out = append(out, c.builtin(name))
		}
	}
	return out
}

// Request builds the one request; there is no other position than the start.
func (s single) Request(at Position, size, _ int) (Request, error) {
	return s.tmpl.request(place{at: at, size: s.tmpl.sizeOf(size)})
}

// Next says nothing.
func (s single) Next(Position, Request, *Answer) Continuation { return Continuation{} }
