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

// TestPageCountBesideAnEnd: an end word on empty pages is doubted where the server's
// own page count says that more must be there.
func TestPageCountBesideAnEnd(t *testing.T) {
	for _, c := range []struct {
		pages int // that the server counts; five of them hold ten rows each
		want  judge.Verdict
	}{{40, judge.Unknown}, {6, judge.Complete}, {5, judge.Complete}} {
		h := func(w http.ResponseWriter, r *http.Request) {
			page, _ := strconv.Atoi(r.FormValue("page"))
			var rows []string
			for i := 10 * page; page < 5 && i < 10*page+10; i++ {
				rows = append(rows, fmt.Sprintf(`{"id":%d}`, i))
			}
			fmt.Fprintf(w, `{"rows":[%s],"pages":%d,"more":%v}`, strings.Join(rows, ","), c.pages, page+1 < c.pages)
		}
		spec := adapters.Spec{URL: serve(t, h).URL + "/rows",
			Pages: adapters.Pages{Style: "page", NumberParam: "page", SizeParam: "limit", SizeStart: 10, SizeMin: 10, LastPath: "pages", MorePath: "more"},
			Items: adapters.Items{Path: "rows", IDs: []string{"id"}}, Total: adapters.TotalSpec{None: true}}
		o, s := options(t, spec, quick())
		f, err := Drain(context.Background(), o)
		if err != nil || ruled(f) != c.want || len(s.lines) != 50 {
			t.Errorf("%d pages: %v with %d lines, want %v (%v)", c.pages, ruled(f), len(s.lines), c.want, err)
		}
	}
}

// TestPageCountBesideShortPages: a server that leaves the last row of every page out, by its
// place, says an end one page before the last one that it counts.
func TestPageCountBesideShortPages(t *testing.T) {
	for _, n := range []int{19, 28, 60, 133} {
		h := func(w http.ResponseWriter, r *http.Request) {
			page, _ := strconv.Atoi(r.FormValue("page"))
			var rows []string
			for i := 10 * page; i < min(n, 10*page+9); i++ {
				rows = append(rows, fmt.Sprintf(`{"id":%d}`, i))
			}
			fmt.Fprintf(w, `{"rows":[%s],"pages":%d,"more":%v}`, strings.Join(rows, ","), (n+8)/9, 10*page+9 < n)
		}
		spec := adapters.Spec{URL: serve(t, h).URL + "/rows",
			Pages: adapters.Pages{Style: "page", NumberParam: "page", SizeParam: "limit", SizeStart: 10, SizeMin: 1, LastPath: "pages", MorePath: "more"},
			Items: adapters.Items{Path: "rows", IDs: []string{"id"}}, Total: adapters.TotalSpec{None: true}}
		o, s := options(t, spec, quick())
		f, err := Drain(context.Background(), o)
		if err != nil || ruled(f) == judge.Complete {
			t.Errorf("%v with %d of %d items: %s (%v)", ruled(f), len(s.lines), n, f.StopText, err)
		}
	}
}

// TestGrowUnderASilentMaximum: after half a body the page size does not grow above
// what the server gives: page numbers would count in another size than its own.
func TestGrowUnderASilentMaximum(t *testing.T) {
	const n, most = 160, 7
	cut := true
	h := func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.FormValue("page"))
		size, _ := strconv.Atoi(r.FormValue("limit"))
		size = min(size, most)
		var rows []string
		for i := page * size; i < min(n, page*size+size); i++ {
			rows = append(rows, fmt.Sprintf(`{"id":%d}`, i))
		}
		body := fmt.Sprintf(`{"rows":[%s],"total":%d}`, strings.Join(rows, ","), n)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		if cut {
			cut, body = false, body[:len(body)/2]
		}
		fmt.Fprint(w, body)
	}
	spec := adapters.Spec{URL: serve(t, h).URL + "/rows",
		Pages: adapters.Pages{Style: "page", NumberParam: "page", SizeParam: "limit", SizeStart: 17, SizeMin: 1},
		Items: adapters.Items{Path: "rows", IDs: []string{"id"}}, Total: adapters.TotalSpec{Path: "total"}}
	o, s := options(t, spec, quick())
	f, err := Drain(context.Background(), o)
	if err != nil || ruled(f) != judge.Complete || len(s.lines) != n {
		t.Errorf("%v with %d lines, want COMPLETE with %d: %s (%v)", ruled(f), len(s.lines), n, f.StopText, err)
	}
}

// TestEmptyPageBesideAnotherList: a page that goes on without items, while another list of
// its answer has some, leaves an end word unproven; so does a total below its own page.
func TestEmptyPageBesideAnotherList(t *testing.T) {
	page := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch r.FormValue("after") {
			case "":
				fmt.Fprint(w, `{"rows":[{"id":1},{"id":2}],"next":"b"}`)
			case "b":
				fmt.Fprint(w, body)
			default:
				fmt.Fprint(w, `{"rows":[{"id":5}],"next":null}`)
			}
		}
	}
	for body, want := range map[string]judge.Verdict{
		`{"rows":[],"data":[{"id":3},{"id":4}],"next":"c"}`: judge.Unknown,
		`{"rows":[],"data":[],"next":"c"}`:                  judge.Complete,
		`{"rows":[],"next":"c"}`:                            judge.Complete,
	} {
		spec := adapters.Spec{URL: serve(t, page(body)).URL + "/rows",
			Pages: adapters.Pages{Style: "cursor", CursorParam: "after", CursorPath: "next"},
			Items: adapters.Items{Path: "rows", IDs: []string{"id"}}, Total: adapters.TotalSpec{None: true}}
		o, _ := options(t, spec, quick())
		f, err := Drain(context.Background(), o)
		if err != nil || ruled(f) != want {
			t.Errorf("%s: %v, want %v: %s (%v)", body, ruled(f), want, f.StopText, err)
		}
	}
}
