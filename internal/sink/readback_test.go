package sink

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"lastdrop/internal/sink/codec"
)

// TestReadBackFindsDamage lets the disk lie after the last fsync and wants Finish to find out, to say what is
// there, and to keep the old file.
func TestReadBackFindsDamage(t *testing.T) {
	for _, ending := range endings {
		for name, harm := range map[string]func([]byte) []byte{
			"a flipped bit":       func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
			"last byte gone":      func(b []byte) []byte { return b[:len(b)-1] },
			"last member gone":    func(b []byte) []byte { return b[:len(b)/2] },
			"all gone":            func(b []byte) []byte { return nil },
			"zeros at the end":    func(b []byte) []byte { return append(b, 0, 0, 0, 0, 0, 0, 0, 0) },
			"an item twice":       func(b []byte) []byte { return append(b, b...) },
			"a newline too much":  func(b []byte) []byte { return append(b, '\n') },
			"zeros in the middle": func(b []byte) []byte { clear(b[6:10]); return b },
		} {
			t.Run(ending+"/"+name, func(t *testing.T) {
				d := newDisk(1)
				target := "out/x" + ending
				d.put(target, oldFile, 0o600)
				f, err := open(d, Options{Target: target})
				if err != nil {
					t.Fatal(err)
				}
				write(t, f, "1234567")
				syncMark(t, f)
				write(t, f, "1234567")
				syncMark(t, f)
				node := d.names[target+".partial"]
				node.data = harm(slices.Clone(node.data))
				out, err := f.Finish(true)
				if !errors.Is(err, ErrReadBack) || !oneLiner(err.Error()) || out.Committed {
					t.Errorf("%+v, %v, want ErrReadBack", out, err)
				}
				if got, _ := d.get(target); !bytes.Equal(got, oldFile) {
					t.Errorf("the old file became %q", got)
				}
			})
		}
	}
}

func TestTornIsTold(t *testing.T) {
	d := newDisk(1)
	f, err := open(d, Options{Target: "out/x.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "1", "2")
	syncMark(t, f)
	node := d.names["out/x.jsonl.partial"]
	node.data = node.data[:3]
	out, err := f.Finish(false)
	if !out.Torn || out.Items != 1 || out.Bytes != 3 || !strings.Contains(err.Error(), "last line") {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestNoPrefixPasses cuts a file at every byte: none but the whole is as it was marked.
func TestNoPrefixPasses(t *testing.T) {
	for _, ending := range endings {
		d := newDisk(1)
		f, err := open(d, Options{Target: "out/x" + ending})
		if err != nil {
			t.Fatal(err)
		}
		var m Mark
		for range 5 {
			write(t, f, "12", "34")
			m = syncMark(t, f)
		}
		whole, _ := d.get("out/x" + ending + ".partial")
		for n := range len(whole) + 1 {
			got, err := inspect(bytes.NewReader(whole[:n]), f.place.(*aside).format)
			if err == nil {
				err = got.compare(m)
			}
			if (err == nil) != (n == len(whole)) {
				t.Errorf("%s: %d of %d bytes: %v", ending, n, len(whole), err)
			}
		}
	}
}

func TestEmptyIsNotGzip(t *testing.T) {
	if _, _, err := (jsonl{codec.Gzip{}}).count(bytes.NewReader(nil)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, want io.ErrUnexpectedEOF", err)
	}
}

func FuzzCountIsStrict(f *testing.F) {
	for i, ending := range endings {
		d := newDisk(1)
		file, err := open(d, Options{Target: "out/x" + ending})
		if err != nil {
			f.Fatal(err)
		}
		writeErr := file.Write([][]byte{[]byte("{}"), []byte("[]")})
		if _, err := file.Sync(); err != nil || writeErr != nil {
			f.Fatal(err, writeErr)
		}
		data, _ := d.get("out/x" + ending + ".partial")
		f.Add(uint8(i), data)
		f.Add(uint8(i), data[:len(data)-1])
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		ending := endings[int(which)%len(endings)]
		format, err := formatOf(ending)
		if err != nil {
			t.Fatal(err)
		}
		got, err := inspect(bytes.NewReader(data), format)
		if err != nil {
			return
		}
		if got.length != int64(len(data)) {
			t.Errorf("%d bytes of %d were read", got.length, len(data))
		}
		text, err := decompress(ending, data)
		if err != nil {
			t.Fatalf("counted what cannot be read: %v", err)
		}
		if got.items != int64(bytes.Count(text, newline)) || got.torn != (len(text) > 0 && text[len(text)-1] != '\n') {
			t.Errorf("%d items, torn %v, in %q", got.items, got.torn, text)
		}
	})
}
