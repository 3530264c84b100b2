package adapters_test

import (
	"fmt"
	"net/http"

	"lastdrop/adapters"
)

// A Reader's style builds the request for a position; the Reader reads what
// came back; the page's continuation is the next position.
func ExampleReader() {
	r, err := adapters.NewReader(adapters.Spec{
		URL: "https://api.example.test/rows",
		Pages: adapters.Pages{Style: "cursor", SizeParam: "limit", SizeStart: 2,
			CursorParam: "after", CursorPath: "paging.next"},
		Items: adapters.Items{Path: "rows", IDs: []string{"id"}},
		Total: adapters.TotalSpec{Path: "paging.total"},
	})
	if err != nil {
		panic(err)
	}
	answers := []string{
		`{"rows":[{"id":1},{"id":2}],"paging":{"next":"t1","total":3}}`,
		`{"rows":[{"id":3}],"paging":{"next":null,"total":3}}`,
	}
	var at adapters.Position
	for _, body := range answers {
		req, err := r.Style().Request(at, 2, 0)
		if err != nil {
			panic(err)
		}
		page, err := r.Read(at, req, adapters.Response{Status: http.StatusOK, Body: []byte(body), URL: req.URL})
		if err != nil {
			panic(err)
		}
		fmt.Println(req.URL, len(page.Items), "items, total", page.Totals[0].Value, "and then:", page.Next.State)
		at = page.Next.At
	}
	// Output:
	// https://api.example.test/rows?limit=2 2 items, total 3 and then: follow
	// https://api.example.test/rows?limit=2&after=t1 1 items, total 3 and then: ended
}

// An answer that is not a page is an error of its own kind, never zero items.
func ExampleTrouble() {
	r, err := adapters.NewReader(adapters.Spec{
		URL:   "https://api.example.test/rows",
		Pages: adapters.Pages{Style: "single"},
		Items: adapters.Items{Path: "data"},
	})
	if err != nil {
		panic(err)
	}
	_, err = r.Read(adapters.Position{}, adapters.Request{}, adapters.Response{Status: http.StatusOK, Body: []byte(`{"rows":[1,2,3]}`)})
	fmt.Println(err)
	// Output:
	// no list at items.path "data" (missing); lists in the answer: rows (3)
}
