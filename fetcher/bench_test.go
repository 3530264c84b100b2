package fetcher_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"lastdrop/adapters"
	"lastdrop/fetcher"
	"lastdrop/judge/reconcile"
)

// pageItems are the 100 items of a page, of 600 bytes each with the ids that they get.
func pageItems() []string {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"agent", "cursor", "page", "verified", "items", "https://example.test/", "total", "naïve", `\"quoted\"`}
	items := make([]string, 100)
	for i := range items {
		text := fmt.Sprintf(`,"author":"user%d","points":%d,"tags":["story","comment"],"text":"`, rng.IntN(5000), rng.IntN(900))
		for len(text) < 560 {
			text += words[rng.IntN(len(words))] + " "
		}
		items[i] = text + strings.Repeat("x", 583-len(text)) + `"}`
	}
	return items
}

// A counter is a sink and a ledger that count and keep nothing, so that the
// benchmark measures the fetcher alone and its memory does not grow with the
// number of pages. What a file and SQLite add is measured in their packages.
type counter struct{ items, bytes, rows int64 }

func (c *counter) Write(lines [][]byte) error {
	for _, l := range lines {
		c.items++
		c.bytes += int64(len(l))
	}
	return nil
}

func (c *counter) Sync() (fetcher.Mark, error) {
	return fetcher.Mark{Length: c.bytes, Items: c.items}, nil
}

func (c *counter) Commit(_ context.Context, p fetcher.Checkpoint) error {
	c.rows += int64(len(p.Attempts))
	return nil
}

// transport hands requests to a handler without a socket.
type transport struct{ http.Handler }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	t.ServeHTTP(w, r)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// BenchmarkPage is one page of 100 items of 600 bytes through the real loop:
// ask, read, check as strict JSON, find items, totals and ids, judge, drop
// repeats, write. Every page has new ids. "memory" is without sockets (its
// figures include the making of the page, "server" those of both sides of a
// connection on the loopback interface).
func BenchmarkPage(b *testing.B) {
	items := pageItems()
	body := func(from, total int) []byte {
		out := make([]byte, 0, 64<<10)
		out = fmt.Appendf(out, `{"total":%d,"rows":[`, total)
		for i := from; i < min(from+100, total); i++ {
			if i > from {
				out = append(out, ',')
			}
			out = strconv.AppendInt(append(out, `{"id":`...), 1e8+int64(i), 10)
			out = append(out, items[i%100]...)
		}
		return append(out, "]}"...)
	}
	for _, way := range []string{"memory", "server"} {
		b.Run(way, func(b *testing.B) {
			total := 100 * b.N
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				page, _ := strconv.Atoi(r.URL.Query().Get("page"))
				text := body(100*(page-1), total)
				w.Header().Set("Content-Length", strconv.Itoa(len(text)))
				_, _ = w.Write(text)
			})
			base, client := "http://api.test", fetcher.Client{Transport: transport{h}}
			if way == "server" {
				srv := httptest.NewServer(h)
				defer srv.Close()
				base, client.Transport = srv.URL, nil
			}
			reader, err := adapters.NewReader(adapters.Spec{
				URL:   base,
				Pages: adapters.Pages{Style: "page", NumberParam: "page", NumberFirst: 1, SizeParam: "size", SizeStart: 100},
				Items: adapters.Items{Path: "rows", IDs: []string{"id"}},
				Total: adapters.TotalSpec{Path: "total"},
			})
			if err != nil {
				b.Fatal(err)
			}
			var c counter
			b.SetBytes(int64(len(body(0, 100))))
			b.ReportAllocs()
			b.ResetTimer()
			f, err := fetcher.Drain(b.Context(), fetcher.Options{Reader: reader, Sink: &c, Ledger: &c, Client: client})
			b.StopTimer()
			if err != nil || c.items != int64(total) || f.Stop != reconcile.StopEnd {
				b.Fatalf("%d of %d items, stopped for %v (%s), %v", c.items, total, f.Stop, f.StopText, err)
			}
		})
	}
}
