package fetcher

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/zeebo/xxh3"
)

func numbered(n uint64) key {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	return toKey(xxh3.Hash128Seed(b[:], 7))
}

// TestMarks holds the set against a map, for keys that come in any order and come
// again, far past the first growth of its shards, and for keys of one shard.
func TestMarks(t *testing.T) {
	crowd := func(n uint64) key {
		k := numbered(n)
		binary.BigEndian.PutUint32(k[12:], 5)
		return k
	}
	near := func(n uint64) (k key) {
		binary.BigEndian.PutUint64(k[:8], ^uint64(0)-n%97) // searches wrap round the end of the shard
		return k
	}
	for name, of := range map[string]func(uint64) key{"spread": numbered, "one shard": crowd, "the end of a shard": near} {
		rng := rand.New(rand.NewPCG(1, 2))
		m, model := newMarks(0), map[key]mark{}
		most := uint64(400_000)
		if name != "spread" {
			most = 3000
		}
		for i := range 2 * most {
			k := of(rng.Uint64N(most))
			got, held := m.get(k)
			if want, has := model[k]; held != has || got != want {
				t.Fatalf("%s: after %d steps: %v %v, want %v %v", name, i, got, held, want, has)
			}
			v := mark{turn: uint32(i) + 1, content: rng.Uint32() >> restBits}
			m.put(k, v)
			model[k] = v
		}
		for k, want := range model {
			if got, held := m.get(k); !held || got != want {
				t.Fatalf("%s: %v %v, want %v", name, got, held, want)
			}
		}
		if m.len != int64(len(model)) {
			t.Errorf("%s: %d keys, want %d", name, m.len, len(model))
		}
	}
}

func TestPageKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var p pageKeys
	for range 300 {
		keys := make([]key, rng.IntN(200))
		p.reset(len(keys))
		model := map[key]int{}
		for i := range keys {
			keys[i] = numbered(rng.Uint64N(150))
			want, has := model[keys[i]]
			if !has {
				model[keys[i]], want = i, i
			}
			if got, twice := p.add(keys, i); twice != has || got != want {
				t.Fatalf("key %d: %d %v, want %d %v", i, got, twice, want, has)
			}
		}
	}
}

// BenchmarkMarks adds keys that are new, a hundred looked up and then put, as
// pages do, up to ten million, and then begins anew; bytes/key is the heap behind
// the largest set.
func BenchmarkMarks(b *testing.B) {
	const most, page = 10_000_000, 100
	var m *marks
	var before, after runtime.MemStats
	keys := make([]key, page)
	b.ReportAllocs()
	for i := 0; i < b.N; i += page {
		if i%most == 0 {
			m = nil
			runtime.GC()
			runtime.ReadMemStats(&before)
			m = newMarks(0)
		}
		for j := range keys {
			keys[j] = numbered(uint64(i + j))
		}
		m.warm(keys)
		for _, k := range keys {
			if _, held := m.get(k); held {
				b.Fatal("a new key is held")
			}
		}
		for j, k := range keys {
			m.put(k, mark{turn: uint32(i%most+j) + firstTurn})
		}
	}
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(m.len), "bytes/key")
	runtime.KeepAlive(m)
}

// BenchmarkRestore takes up the keys of a stored run of ten million items, a
// hundred a page. One operation is one key.
func BenchmarkRestore(b *testing.B) {
	row := make([]byte, 100*len(key{}))
	s := newSeen(7)
	s.marks = newMarks(int64(b.N))
	b.ReportAllocs()
	for i := 0; i < b.N; i += 100 {
		for j := range 100 {
			k := numbered(uint64(i + j))
			copy(row[j*len(k):], k[:])
		}
		if err := s.restore(row, false); err != nil {
			b.Fatal(err)
		}
	}
}
