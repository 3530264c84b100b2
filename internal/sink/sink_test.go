package sink

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// must opens and fails the test if it cannot.
func must(t *testing.T, o Options) *File {
	t.Helper()
	f, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func write(t *testing.T, f *File, items ...string) {
	t.Helper()
	batch := make([][]byte, len(items))
	for i, item := range items {
		batch[i] = []byte(item)
	}
	if err := f.Write(batch); err != nil {
		t.Fatal(err)
	}
}

func syncMark(t *testing.T, f *File) Mark {
	t.Helper()
	m, err := f.Sync()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func finish(t *testing.T, f *File, complete bool) Output {
	t.Helper()
	out, err := f.Finish(complete)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func absent(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s: %v, want nothing there", path, err)
	}
}

// tree lists a folder and the contents of its files.
func tree(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(path + " ")
		if entry.Type().IsRegular() {
			b.Write(read(t, path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryEnding(t *testing.T) {
	for _, format := range formats {
		t.Run(format.ending, func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "items"+strings.ToUpper(format.ending[:3])+format.ending[3:])
			f := must(t, Options{Target: target})
			write(t, f, `{"id":1}`, `{"id":2}`)
			first := syncMark(t, f)
			write(t, f, `{"id":3}`)
			out := finish(t, f, true)

			data := read(t, target)
			sum := sha256.Sum256(data)
			want := Output{Path: target, Committed: true, Items: 3, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
			if !reflect.DeepEqual(out, want) {
				t.Errorf("output %+v, want %+v", out, want)
			}
			same(t, "all", unpack(t, format.ending, data), []byte("{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n"))
			same(t, "up to the mark", unpack(t, format.ending, data[:first.Length]), []byte("{\"id\":1}\n{\"id\":2}\n"))
			absent(t, target+".partial")
		})
	}
}

func TestGate(t *testing.T) {
	for _, c := range []struct {
		name                 string
		old, complete, onAny bool
		committed            bool
	}{
		{"nothing there, truncated", false, false, false, true},
		{"nothing there, complete", false, true, false, true},
		{"a file there, truncated", true, false, false, false},
		{"a file there, complete", true, true, false, true},
		{"a file there, truncated, any", true, false, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "x.jsonl")
			if c.old {
				if err := os.WriteFile(target, oldFile, 0o604); err != nil {
					t.Fatal(err)
				}
			}
			f := must(t, Options{Target: target, OnAny: c.onAny})
			write(t, f, "1")
			out := finish(t, f, c.complete)
			want := map[bool]string{true: target, false: target + ".partial"}[c.committed]
			if out.Committed != c.committed || out.Path != want {
				t.Errorf("%+v, want committed %v at %s", out, c.committed, want)
			}
			same(t, "written", read(t, out.Path), []byte("1\n"))
			if !c.committed {
				same(t, "old", read(t, target), oldFile)
			}
			if c.old {
				if info, _ := os.Stat(target); info.Mode().Perm() != 0o604 {
					t.Errorf("permissions %v, want those of the old file", info.Mode())
				}
			}
		})
	}
}

// A file that appears at the target during the run is protected like one that was there before.
func TestGateSeesLateFile(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x.jsonl")
	f := must(t, Options{Target: target})
	write(t, f, "1")
	if err := os.WriteFile(target, oldFile, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := finish(t, f, false); out.Committed {
		t.Errorf("%+v replaced it", out)
	}
	same(t, "late file", read(t, target), oldFile)
}

func TestItemsAreOneLineEach(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x.jsonl")
	f := must(t, Options{Target: target})
	for _, bad := range []string{"", "\n", "{\"a\":\n1}", "1\n"} {
		err := f.Write([][]byte{[]byte("good"), []byte(bad)})
		if !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), "item 1") || !oneLiner(err.Error()) {
			t.Errorf("%q: %v, want a refusal that names item 1", bad, err)
		}
	}
	write(t, f, "{}")
	if out := finish(t, f, true); out.Items != 1 {
		t.Errorf("%+v, want the one item after the refused batches", out)
	}
	same(t, "file", read(t, target), []byte("{}\n"))
}

func TestOddItems(t *testing.T) {
	odd := [][]byte{
		[]byte(`{}`), []byte(`0`), []byte(`null`), []byte(`""`), []byte(` `), []byte("\r"), []byte("\x00"),
		[]byte(`{"n":123456789012345678901234567890123456789012345678901234567890}`),
		[]byte(`{"nul":"\u0000","newline":"\n"}`),
		[]byte("{\"bad\":\"\xff\xfe\xc3\"}"),
		[]byte("{\"line separators\":\"\u2028\u2029\u0085\"}"),
		[]byte(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)),
		fmt.Appendf(nil, `{"large":"%s"}`, bytes.Repeat([]byte("0123456789"), 1<<20)),
		bytes.Repeat([]byte("x"), bufferSize), bytes.Repeat([]byte("y"), bufferSize-1),
	}
	for _, ending := range endings {
		t.Run(ending, func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "x"+ending)
			f := must(t, Options{Target: target})
			for _, item := range odd {
				write(t, f, string(item))
			}
			if out := finish(t, f, true); out.Items != int64(len(odd)) {
				t.Errorf("%d items, want %d", out.Items, len(odd))
			}
			same(t, "file", unpack(t, target, read(t, target)), lines(odd))
		})
	}
}

// A file without items is legal in its format, so that every reader can tell it from a broken one.
func TestNoItems(t *testing.T) {
	for _, ending := range endings {
		target := filepath.Join(t.TempDir(), "x"+ending)
		f := must(t, Options{Target: target})
		if m := syncMark(t, f); m != (Mark{}) {
			t.Errorf("%s: %+v, want the zero mark", ending, m)
		}
		if out := finish(t, f, true); out.Items != 0 || !out.Committed {
			t.Errorf("%s: %+v", ending, out)
		}
		data := read(t, target)
		if got := unpack(t, target, data); len(got) != 0 {
			t.Errorf("%s holds %q", ending, got)
		}
		if plain := ending == ".jsonl"; plain != (len(data) == 0) {
			t.Errorf("%s has %d bytes", ending, len(data))
		}
	}
}

// An idle checkpoint costs nothing: no empty member, no fsync.
func TestSyncOfNothingNew(t *testing.T) {
	for _, ending := range endings {
		d := newDisk(1)
		f, err := open(d, Options{Target: "out/x" + ending})
		if err != nil {
			t.Fatal(err)
		}
		write(t, f, "1")
		first := syncMark(t, f)
		before := len(d.log)
		write(t, f)
		if again := syncMark(t, f); again != first || len(d.log) != before {
			t.Errorf("%s: %+v after %+v, and the disk was asked to %v", ending, again, first, d.log[before:])
		}
	}
}

func TestClosed(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x.jsonl")
	for name, end := range map[string]func(f *File) error{
		"close":   (*File).Close,
		"discard": (*File).Discard,
		"finish":  func(f *File) error { _, err := f.Finish(true); return err },
	} {
		f := must(t, Options{Target: target})
		write(t, f, "1")
		if err := end(f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, syncErr := f.Sync()
		_, finishErr := f.Finish(true)
		for _, err := range []error{f.Write(nil), syncErr, finishErr} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("after %s: %v, want ErrClosed", name, err)
			}
		}
		if err := errors.Join(f.Close(), f.Discard()); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
	same(t, "finished file", read(t, target), []byte("1\n"))
}

func TestDiscard(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x.jsonl")
	f := must(t, Options{Target: target})
	write(t, f, "1")
	syncMark(t, f)
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	absent(t, target)
	absent(t, target+".partial")
}

// What others put in the place of the file aside is not this run's to remove.
func TestDiscardOnlyItsOwn(t *testing.T) {
	aside := filepath.Join(t.TempDir(), "x.jsonl.partial")
	for name, end := range map[string]func(f *File) error{"close": (*File).Close, "discard": (*File).Discard} {
		f := must(t, Options{Target: strings.TrimSuffix(aside, ".partial")})
		if err := errors.Join(os.Remove(aside), os.WriteFile(aside, []byte("theirs\n"), 0o600), end(f)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name, read(t, aside), []byte("theirs\n"))
	}
}

// Opening and closing leaves everything as it was: a first request that fails costs nothing.
func TestOpenChangesNothing(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "x.jsonl")
	if err := must(t, Options{Target: target}).Close(); err != nil {
		t.Fatal(err)
	}
	absent(t, target+".partial")
	if err := os.WriteFile(target+".partial", []byte("earlier\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := must(t, Options{Target: target}).Close(); err != nil {
		t.Fatal(err)
	}
	same(t, "earlier file aside", read(t, target+".partial"), []byte("earlier\n"))
	f := must(t, Options{Target: target})
	write(t, f, "new")
	finish(t, f, true)
	same(t, "target", read(t, target), []byte("new\n"))
}

func TestWriteAllocatesNothing(t *testing.T) {
	f := must(t, Options{Target: filepath.Join(t.TempDir(), "x.jsonl")})
	page := records(100)
	allocs := testing.AllocsPerRun(100, func() {
		if err := f.Write(page); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations a page of 100 items", allocs)
	}
}
