package adapters

import (
	"net/http"
	"strings"

	"lastdrop/judge"
)

// graphql walks a Relay connection: POST with size and cursor as variables,
// pageInfo beside the list.
type graphql struct {
	tmpl *template
	end  field
}

// graphQLDefaults fills in the names of Relay: variables.first and
// variables.after, and pageInfo in the object that holds the list.
func graphQLDefaults(s *Spec) {
	fillIn(&s.Method, http.MethodPost)
	t := template{spec: s, inBody: true, uses: map[string]bool{}}
	t.findPlaceholders()
	if !t.uses[holdSize] && s.Pages.SizeStart > 0 {
		fillIn(&s.Pages.SizeParam, "variables.first")
	}
	if !t.uses[holdCursor] {
		fillIn(&s.Pages.CursorParam, "variables.after")
	}
	info := pageInfo(s.Items.Path)
	if s.Pages.CursorHeader == "" {
		fillIn(&s.Pages.CursorPath, info+"endCursor")
	}
	if s.Pages.MoreHeader == "" {
		fillIn(&s.Pages.MorePath, info+"hasNextPage")
	}
}

// pageInfo is the path of the pageInfo beside the list at a path, with a dot.
func pageInfo(list string) string {
	list, _, _ = strings.Cut(list, ".#") // edges.#.node
	parent := ""
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '\\':
			i++
		case '.':
			parent = list[:i+1]
		}
	}
	return parent + "pageInfo."
}

func newGraphQL(c *compiler) Style {
	if c.spec.Method != http.MethodPost || c.spec.Body == nil {
		c.fault("style graphql needs source.method POST and a source.body with the query")
	}
	return graphql{c.tmpl, c.field("pages.cursor.path", c.spec.Pages.CursorPath)}
}

// Request sends size and cursor as variables; at the start there is no cursor.
func (s graphql) Request(at Position, size, _ int) (Request, error) {
	return s.tmpl.request(s.tmpl.cursorPlace(at, size, s.tmpl.spec.Pages.CursorParam, false))
}

// Next reads hasNextPage and endCursor together: the first decides, and
// without it an endCursor that is null says nothing, since an empty page has
// none either.
func (s graphql) Next(at Position, _ Request, a *Answer) Continuation {
	v := a.value(s.end)
	switch {
	case a.More == judge.No:
		return Continuation{State: Ended, Word: wordMore}
	case v.Exists() && !noToken(v):
		return Continuation{State: Follow, Word: wordCursor,
			At: Position{Cursor: compact(v.Raw), Offset: addSat(at.Offset, int64(a.Received))}}
	case a.More == judge.Yes:
		return Continuation{State: Broken, Word: wordCursor, Reason: "hasNextPage is true, but there is no endCursor"}
	default:
		return Continuation{Reason: "neither hasNextPage nor an endCursor stands in the answer: select them in the query"}
	}
}
