package pull_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lastdrop/configs"
	"lastdrop/internal/pull"
	"lastdrop/judge"
	"lastdrop/store"
)

// BenchmarkDrain is a whole drain: fetch, strict check, identities, the ledger in
// SQLite with full synchronisation, a durable file that is read back. One
// operation is one item of 640 bytes, 100 of them a page; the server's own work
// on the same cores is counted too.
func BenchmarkDrain(b *testing.B) {
	const k = 100
	total := max(b.N, k)
	filler := strings.Repeat("lorem ipsum dolor sit amet ", 22)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		buf := make([]byte, 0, 70<<10)
		buf = append(buf, fmt.Sprintf(`{"nbHits":%d,"nbPages":%d,"page":%d,"hits":[`, total, (total+k-1)/k, page)...)
		for i := page * k; i < min(page*k+k, total); i++ {
			if i > page*k {
				buf = append(buf, ',')
			}
			buf = append(buf, `{"id":`...)
			buf = strconv.AppendInt(buf, int64(i), 10)
			buf = append(buf, `,"text":"`...)
			buf = append(append(buf, filler...), `"}`...)
		}
		buf = append(buf, "]}"...)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(buf)))
		w.Write(buf)
	}))
	defer server.Close()
	dir := b.TempDir()
	cfg, err := configs.Parse("bench.yaml", []byte(fmt.Sprintf(`
version: 1
name: bench
source: {url: %q}
pages:
  style: algolia
  size: {param: hitsPerPage, start: %d, min: %d, max: %d}
items: {path: hits, id: id}
total: {path: nbHits}
output: {to: %q}
`, server.URL+"/search", k, k, k, filepath.Join(dir, "out.jsonl"))), nil)
	if err != nil {
		b.Fatal(err)
	}
	st, err := store.Open(context.Background(), filepath.Join(dir, "bench.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	b.ReportAllocs()
	b.ResetTimer()
	rep, err := pull.Run(context.Background(), pull.Options{Config: cfg, Store: st, Fresh: true})
	if err != nil {
		b.Fatal(err)
	}
	if rep.Verdict != judge.Complete || rep.Items.Distinct != int64(total) {
		b.Fatalf("%s with %d of %d items", rep.Verdict, rep.Items.Distinct, total)
	}
	b.SetBytes(640)
}
