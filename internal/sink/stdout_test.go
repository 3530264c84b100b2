package sink

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"reflect"
	"syscall"
	"testing"
)

func TestStdout(t *testing.T) {
	var b bytes.Buffer
	f := must(t, Options{Target: Stdout, Stdout: &b})
	write(t, f, "1", "22")
	if b.Len() > 0 {
		t.Errorf("unbuffered: %q", b.String())
	}
	if m := syncMark(t, f); m.Length != 5 || m.Items != 2 || b.String() != "1\n22\n" {
		t.Errorf("%+v, %q", m, b.String())
	}
	write(t, f, "3")
	out := finish(t, f, false)
	sum := sha256.Sum256([]byte("1\n22\n3\n"))
	want := Output{Path: "-", Committed: true, Items: 3, Bytes: 7, SHA256: hex.EncodeToString(sum[:])}
	if !reflect.DeepEqual(out, want) || b.String() != "1\n22\n3\n" {
		t.Errorf("%+v, want %+v; wrote %q", out, want, b.String())
	}
}

func TestStdoutCannotBeResumed(t *testing.T) {
	if _, err := Open(Options{Target: Stdout, Resume: &Mark{Length: 2, Items: 1}}); err == nil {
		t.Error("was opened")
	}
	must(t, Options{Target: Stdout, Stdout: &bytes.Buffer{}, Resume: &Mark{}})
}

func TestBrokenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	f := must(t, Options{Target: Stdout, Stdout: w})
	write(t, f, "1")
	_, err = f.Finish(true)
	const want = "cannot write standard output: broken pipe; whoever read the output is gone"
	if !errors.Is(err, syscall.EPIPE) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := f.Write([][]byte{[]byte("2")}); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("%v, want the first error again", err)
	}
}

// lazy takes less than it is given and says nothing.
type lazy struct{}

func (lazy) Write(p []byte) (int, error) { return len(p) - 1, nil }

func TestStdoutThatTakesLess(t *testing.T) {
	f := must(t, Options{Target: Stdout, Stdout: lazy{}})
	write(t, f, "1")
	if _, err := f.Sync(); !errors.Is(err, errShortPipe) {
		t.Errorf("%v", err)
	}
}
