package sink

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"lastdrop/internal/sink/codec"
	csvform "lastdrop/internal/sink/csv"
	pqform "lastdrop/internal/sink/parquet"
)

// endings are one target a codec.
var endings = []string{".jsonl", ".ndjson.gz", ".jsonl.zst"}

// crashEndings are those of lines, one of each form that is made at the end, and one for all that is no file.
var crashEndings = append(slices.Clone(endings), ".csv", ".parquet", far)

// far ends the name of what is no file: a table that is kept elsewhere.
const far = ".far"

// optionsOf are those for a target, by its ending.
func optionsOf(files layer, target string) Options {
	if strings.HasSuffix(target, far) {
		return Options{Target: "far:items", Beside: target, Table: &farTable{files.(*disk), target}}
	}
	return Options{Target: target, Form: formOf(target)}
}

// asideOf is the file where the lines of a target wait.
func asideOf(target string) string { return Aside(optionsOf((*disk)(nil), target)) }

// A farTable keeps its items as a file of the disk, which no stop and no power cut can harm: its changes happen as a whole, at once.
type farTable struct {
	disk   *disk
	target string
}

func (*farTable) Name() string { return "items" }
func (*farTable) Check() error { return nil }

func (f *farTable) Guarded() (bool, error) {
	err := f.disk.step("look")
	_, there := f.disk.get(f.target)
	return there && !f.disk.loaded, err
}

func (f *farTable) Load(items Lines) (Output, error) {
	var got []byte
	if err := items(func(line []byte) error { got = append(append(got, line...), '\n'); return nil }); err != nil {
		return Output{}, err
	}
	if err := f.disk.change("load", func() {
		mode := fs.FileMode(0o600)
		if old := f.disk.names[f.target]; old != nil {
			mode = old.mode
		}
		f.disk.put(f.target, got, mode)
		f.disk.loaded = true
	}); err != nil {
		return Output{}, err
	}
	if err := f.disk.step("look"); err != nil {
		return Output{}, err
	}
	back, _ := f.disk.get(f.target)
	m := meter{hash: newHash()}
	_, _ = m.Write(back)
	return Output{Items: int64(bytes.Count(back, newline)), Bytes: m.length, SHA256: m.digest()}, nil
}

// formOf is the form of a made target, nil for one of lines.
func formOf(target string) Form {
	switch {
	case strings.HasSuffix(target, ".csv"):
		return csvform.Form{Codec: codec.Plain{}}
	case strings.HasSuffix(target, ".csv.gz"):
		return csvform.Form{Codec: codec.Gzip{}}
	case strings.HasSuffix(target, ".csv.zst"):
		return csvform.Form{Codec: codec.Zstd{}}
	case strings.HasSuffix(target, ".parquet"):
		return pqform.Form{}
	}
	return nil
}

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
	over      bool  // the ledger's word that the run cannot go on
	out       Output
}

// run goes on from the ledger's word up to an item and finishes.
func (p *pull) run(upTo int, complete bool) (Output, error) {
	if p.over {
		return p.out, p.next()
	}
	if p.finishing && p.mark == nil {
		p.mark = &Mark{}
	}
	o := optionsOf(p.files, p.target)
	o.Resume, o.ResumeCommitted, o.OnAny = p.mark, p.finishing, p.onAny
	f, err := open(p.files, o)
	if err != nil {
		return Output{}, err
	}
	defer f.Close()
	if err := p.write(f, upTo); err != nil {
		return Output{}, err
	}
	p.finishing = true
	out, err := f.Finish(complete)
	switch {
	case err != nil:
	case complete:
		p.over, p.out = true, out
		err = f.Discard()
	default:
		err = f.Close()
	}
	return out, err
}

// next is what a further run of the name does with what the last one left aside.
func (p *pull) next() error {
	f, err := open(p.files, optionsOf(p.files, p.target))
	if err != nil {
		return err
	}
	return f.Discard()
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

// decompress reads all members with readers of its own making, and gives the lines of made forms back as JSON of the
// items that numbered makes.
func decompress(name string, data []byte) ([]byte, error) {
	r := bytes.NewReader(data)
	switch {
	case strings.Contains(name, ".csv"):
		_, ending, _ := strings.Cut(name, ".csv")
		text, err := decompress(ending, data)
		if err != nil {
			return nil, err
		}
		return csvLines(text)
	case strings.HasSuffix(name, ".parquet"):
		return parquetLines(data)
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

// csvLines reads a table of id and pad, which has a column _item where nothing came.
func csvLines(text []byte) ([]byte, error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("no table: %w", err)
	}
	if head := strings.Join(rows[0], ","); head != "id,pad" && head != "_item" && head != "old" {
		return nil, fmt.Errorf("columns %s", head)
	}
	var all []byte
	for _, row := range rows[1:] {
		all = fmt.Appendf(all, "{\"id\":%s,\"pad\":\"%s\"}\n", row[0], row[1])
	}
	return all, nil
}

func parquetLines(data []byte) ([]byte, error) {
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		defer rows.Close()
		for row := make([]parquet.Row, 1); ; {
			n, err := rows.ReadRows(row)
			if n == 1 {
				all = fmt.Appendf(all, "{\"id\":%d,\"pad\":\"%s\"}\n", row[0][0].Int64(), row[0][1].ByteArray())
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
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
