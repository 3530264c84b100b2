package sink

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// records are items of some 640 bytes that compress as API answers do.
func records(n int) [][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"agent", "completeness", "cursor", "page", "verified", "items", "api", "https://example.com/", "total", "lost"}
	items := make([][]byte, n)
	for i := range items {
		b := fmt.Appendf(nil, `{"id":%d,"author":"user%d","points":%d,"text":"`, rng.Int64(), rng.IntN(5000), rng.IntN(900))
		for len(b) < 600 {
			b = append(b, words[rng.IntN(len(words))]...)
			b = fmt.Appendf(b, " %x ", rng.IntN(1<<16))
		}
		items[i] = append(b, `","tags":["story","comment"]}`...)
	}
	return items
}

// BenchmarkWrite is an item with its share of a Sync each 10,000 items.
func BenchmarkWrite(b *testing.B) {
	const page, checkpoint = 100, 10_000
	items := records(checkpoint)
	for _, ending := range endings {
		b.Run(ending, func(b *testing.B) {
			f, err := Open(Options{Target: filepath.Join(b.TempDir(), "items"+ending)})
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			b.SetBytes(int64(len(lines(items))) / checkpoint)
			b.ReportAllocs()
			var m Mark
			for n := 0; b.Loop(); n++ {
				if n%page == 0 {
					at := n % checkpoint
					if err := f.Write(items[at : at+page]); err != nil {
						b.Fatal(err)
					}
				}
				if n%checkpoint == checkpoint-1 {
					if m, err = f.Sync(); err != nil {
						b.Fatal(err)
					}
				}
			}
			if m.Items > 0 {
				b.ReportMetric(float64(m.Length)/float64(m.Items), "file-B/op")
			}
		})
	}
}

// BenchmarkReadBack is the check of a file of 10,000 items before its commit.
func BenchmarkReadBack(b *testing.B) {
	items := records(10_000)
	for _, ending := range endings {
		b.Run(ending, func(b *testing.B) {
			f, err := Open(Options{Target: filepath.Join(b.TempDir(), "items"+ending)})
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			if err := f.Write(items); err != nil {
				b.Fatal(err)
			}
			if _, err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(lines(items))))
			for b.Loop() {
				if got, err := f.place.(*aside).readBack(); err != nil || got.items != int64(len(items)) {
					b.Fatal(got.items, err)
				}
			}
		})
	}
}
