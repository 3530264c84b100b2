package fetcher_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"

	"lastdrop/adapters"
	"lastdrop/fetcher"
	"lastdrop/fetcher/fetchertest"
	"lastdrop/judge/reconcile"
)

// Drain walks a source into a sink and gives the facts to rule on.
func ExampleDrain() {
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.FormValue("page"))
		fmt.Fprintf(w, `{"pets":[{"id":%d},{"id":%d}],"total":6}`, 2*page-1, 2*page)
	}))
	defer source.Close()
	reader, err := adapters.NewReader(adapters.Spec{
		URL:   source.URL,
		Pages: adapters.Pages{Style: "page", NumberParam: "page", NumberFirst: 1, SizeParam: "size", SizeStart: 2},
		Items: adapters.Items{Path: "pets", IDs: []string{"id"}},
		Total: adapters.TotalSpec{Path: "total"},
	})
	if err != nil {
		panic(err)
	}
	var held fetchertest.Memory // a sink and a ledger in memory
	facts, err := fetcher.Drain(context.Background(), fetcher.Options{Reader: reader, Sink: &held, Ledger: &held})
	if err != nil {
		panic(err)
	}
	for _, line := range held.Lines {
		fmt.Println(string(line))
	}
	ruling := reconcile.Rule(facts)
	fmt.Println(ruling.Verdict, ruling.Strength, ruling.Evidence[0].Text)
	// Output:
	// {"id":1}
	// {"id":2}
	// {"id":3}
	// {"id":4}
	// {"id":5}
	// {"id":6}
	// COMPLETE counted held 6 distinct of 6 declared
}
