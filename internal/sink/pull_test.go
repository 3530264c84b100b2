package sink

import (
	"bytes"
	"fmt"
	"io"
	"sort"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// endings are one target a codec.
var endings = []string{".jsonl", ".ndjson.gz", ".jsonl.zst"}

// A pull drives a File as a run does: it knows what its ledger knows and nothing else.
type pull struct {
	files  layer
	target string
	items  [][]byte // the truth
	batch  int      // items a Write
	every  int      // batches a Sync
	onAny  bool

	mark      *Mark // the ledger's word, nil before the first
	finishing bool  // the ledger's word that Finish is about to be called
}

// run goes on from the ledger's word up to an item and finishes.
func (p *pull) run(upTo int, complete bool) (Output, error) {
	if p.finishing && p.mark == nil {
		p.mark = &Mark{}
	}
	f, err := open(p.files, Options{Target: p.target, Resume: p.mark, ResumeCommitted: p.finishing, OnAny: p.onAny})
	if err != nil {
		return Output{}, err
	}
	defer f.Close()
	if err := p.write(f, upTo); err != nil {
		return Output{}, err
	}
	p.finishing = true
	return f.Finish(complete)
}

func (p *pull) write(f *File, upTo int) error {
	for n := 0; p.held() < upTo; {
		at := p.held()
		for range p.every {
			end := min(at+p.batch, upTo)
			if err := f.Write(p.items[at:end]); err != nil {
				return err
			}
			at = end
		}
		m, err := f.Sync()
		if err != nil {
			return err
		}
		p.mark = &m
		if n++; n > upTo {
			return fmt.Errorf("the mark does not move: %+v", m)
		}
	}
	return nil
}

// held is how many items the ledger counts.
func (p *pull) held() int {
	if p.mark == nil {
		return 0
	}
	return int(p.mark.Items)
}

// numbered makes items that differ, of which one is larger than the buffers.
func numbered(n int) [][]byte {
	items := make([][]byte, n)
	for i := range items {
		items[i] = fmt.Appendf(nil, `{"id":%d,"pad":"%s"}`, i, strings.Repeat("=", i))
		if i == 6 {
			items[i] = fmt.Appendf(nil, `{"id":%d,"pad":"%s"}`, i, strings.Repeat("=", bufferSize))
		}
	}
	return items
}

// lines is the content that items should have.
func lines(items [][]byte) []byte {
	return append(bytes.Join(items, []byte("\n")), bytes.Repeat([]byte("\n"), min(1, len(items)))...)
}

// unpack is decompress that must succeed.
func unpack(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	out, err := decompress(name, data)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// decompress reads all members with readers of its own making.
func decompress(name string, data []byte) ([]byte, error) {
	r := bytes.NewReader(data)
	switch {
	case strings.HasSuffix(name, ".gz"):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return io.ReadAll(z)
	}
	return data, nil
}

// same compares contents and says where they part.
func same(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	at := common(got, want)
	t.Fatalf("%s: %d bytes (%d lines), want %d (%d lines); they part at byte %d (line %d)", what,
		len(got), bytes.Count(got, newline), len(want), bytes.Count(want, newline), at, bytes.Count(want[:at], newline))
}

// common is the length of the common start.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	if bytes.Equal(a[:n], b[:n]) {
		return n
	}
	return sort.Search(n, func(i int) bool { return !bytes.Equal(a[:i+1], b[:i+1]) })
}
