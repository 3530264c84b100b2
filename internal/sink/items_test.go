package sink_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lastdrop/internal/sink"
)

// What a sink wrote is read back item by item, in every format, from the target
// and from the file beside it.
func TestItems(t *testing.T) {
	for _, ending := range []string{".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst"} {
		target := filepath.Join(t.TempDir(), "items"+ending)
		long := `{"id":2,"text":"` + strings.Repeat("x", 100_000) + `"}`
		want := []string{`{"id":1}`, long, `{"id":3}`}
		for _, complete := range []bool{true, false} { // the second stays beside the first
			f, err := sink.Open(sink.Options{Target: target})
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range want {
				if err := f.Write([][]byte{[]byte(item)}); err != nil {
					t.Fatal(err)
				}
				if _, err := f.Sync(); err != nil {
					t.Fatal(err)
				}
			}
			out, err := f.Finish(complete)
			if err != nil || out.Committed != complete {
				t.Fatalf("%+v, %v", out, err)
			}
			var got []string
			err = sink.Items(out.Path, func(item []byte) error {
				got = append(got, string(item))
				return nil
			})
			if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: %d items, %v", out.Path, len(got), err)
			}
		}
	}
}

func TestItemsFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "items.jsonl")
	none := func([]byte) error { return nil }
	if err := sink.Items(path, none); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	if err := os.WriteFile(path, []byte("1\n2"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sink.Items(path, none); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a torn file: %v", err)
	}
	stop := errors.New("stop")
	if err := sink.Items(path, func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("do says stop: %v", err)
	}
	if err := sink.Items(path+".txt", none); err == nil {
		t.Error("another format is read")
	}
}
