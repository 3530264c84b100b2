package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"lastdrop/adapters"
	"lastdrop/judge"
)

// A page that holds fewer rows than its own total leaves room for has lost some,
// however well the borders fit and however much the total moves.
func TestGapInAMovingList(t *testing.T) {
	const n, lost = 300, 15
	for _, c := range []struct {
		name  string
		drop  bool // whether the item is left out
		total int  // of the page where it stands
		want  judge.Verdict
	}{
		{name: "left out of its page", drop: true, total: n - 1, want: judge.Unknown},
		{name: "counted out, and there", total: n - 1, want: judge.Complete},
	} {
		handler := func(w http.ResponseWriter, r *http.Request) {
			from, _ := strconv.Atoi(r.FormValue("offset"))
			size, _ := strconv.Atoi(r.FormValue("limit"))
			var rows []string
			total := n
			for i := from; i < min(n, from+size); i++ {
				if i == lost {
					total = c.total
					if c.drop {
						continue
					}
				}
				rows = append(rows, fmt.Sprintf(`{"id":%d}`, i))
			}
			fmt.Fprintf(w, `{"rows":[%s],"total":%d}`, strings.Join(rows, ","), total)
		}
		spec := adapters.Spec{URL: serve(t, handler).URL + "/rows",
			Pages: adapters.Pages{Style: "offset", OffsetParam: "offset", SizeParam: "limit", SizeStart: 10, SizeMax: 20},
			Items: adapters.Items{Path: "rows", IDs: []string{"id"}}, Total: adapters.TotalSpec{Path: "total"}}
		o, s := options(t, spec, quick())
		f, err := Drain(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := ruled(f); got != c.want {
			t.Errorf("%s: %v with %d lines, want %v", c.name, got, len(s.lines), c.want)
		}
	}
}
