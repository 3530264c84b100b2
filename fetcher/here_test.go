package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lastdrop/adapters"
)

// numberedFrom1 is an API by page numbers, the first of which is 1, over n items.
// What broken says of a page number and size is answered with 500.
func numberedFrom1(t *testing.T, n int, broken func(page, size int) bool) adapters.Spec {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var page, size int
		_, _ = fmt.Sscan(r.FormValue("page"), &page)
		_, _ = fmt.Sscan(r.FormValue("limit"), &size)
		if broken(page, size) {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		r.Form.Set("offset", fmt.Sprint((page-1)*size))
		rows(n)(w, r)
	})
	spec := rowsSpec(s.URL)
	spec.Pages = adapters.Pages{Style: "page", NumberParam: "page", NumberFirst: 1, SizeParam: "limit", SizeStart: 100, SizeMin: 10}
	return spec
}

// TestPositionIsWhatWasSent: a row names the page by the number in its own address,
// whatever the page size was.
func TestPositionIsWhatWasSent(t *testing.T) {
	spec := numberedFrom1(t, 1000, func(page, size int) bool { return size == 100 && page == 3 })
	o, kept := options(t, spec, quick())
	if _, err := Drain(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	sizes := map[int]bool{}
	for _, a := range kept.attempts {
		sizes[a.SizeAsked] = true
		want := fmt.Sprintf("page %s (offset %d)", mustURL(t, a.URL).Query().Get("page"), a.Offset)
		if a.Offset == 0 {
			want = "the start"
		}
		if a.Position != want {
			t.Errorf("request %d, %s: position %q, want %q", a.Seq, a.URL, a.Position, want)
		}
	}
	if len(sizes) < 2 {
		t.Errorf("all pages had one size: %v", sizes)
	}
}

// TestEvidenceNamesThePageSent: so do the texts of the report.
func TestEvidenceNamesThePageSent(t *testing.T) {
	spec := numberedFrom1(t, 1000, func(page, size int) bool { return page*size > 200 })
	spec.Pages.SizeMin = 100
	o, _ := options(t, spec, quick())
	f, err := Drain(context.Background(), o)
	if want := "page 3 (offset 200) gives "; err != nil || !strings.HasPrefix(f.ReachText, want) {
		t.Errorf("%q, want %q; %v", f.ReachText, want, err)
	}
}
