package pull_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"lastdrop/internal/sim"
)

// world serves n items with the ids 1 to n.
func world(n int, a sim.API, faults ...sim.Fault) func() http.Handler {
	return func() http.Handler { return sim.New(sim.NewWorld(n, sim.IntID), a, 1, faults...) }
}

// exact is an exact total at a path.
func exact(path string) sim.TotalRule { return sim.TotalRule{Kind: sim.TotalExact, Path: path} }

// handle serves JSON bodies that a function makes of the request.
func handle(body func(h http.Header, r *http.Request) string) func() http.Handler {
	return func() http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			// A client that went away is no fault of ours.
			_, _ = w.Write([]byte(body(w.Header(), r)))
		})
	}
}

// number is a parameter of the request, 0 without it.
func number(r *http.Request, param string) int {
	n, _ := strconv.Atoi(r.URL.Query().Get(param)) // 0 is what no number means
	return n
}

// records are the items from, from+1, up to to.
func records(from, to int) []string {
	var out []string
	for id := from; id <= to; id++ {
		out = append(out, record(id, ""))
	}
	return out
}

// record is one item, with further fields.
func record(id int, more string) string {
	return fmt.Sprintf(`{"id":%d,"name":"thing %[1]d"%s}`, id, more)
}

// list is a JSON array of items.
func list(items []string) string { return "[" + strings.Join(items, ",") + "]" }

// base is the address under which the client sees the server.
func base(r *http.Request) string { return "http://" + r.Host + r.URL.Path }
