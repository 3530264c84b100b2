package sim

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkRandom is what a world costs before its first request.
func BenchmarkRandom(b *testing.B) {
	for i := range b.N {
		Random(rand.New(rand.NewPCG(uint64(i), 7)), Mixed)
	}
}

// BenchmarkPage is what one page of twenty costs without a socket.
func BenchmarkPage(b *testing.B) {
	a := API{Style: Offset, Items: "items", Total: exact("total")}
	s := New(NewWorld(300, IntID), a, 1)
	s.LogLimit = 100
	for range b.N {
		fetch(s, "/items?offset=40")
	}
}
