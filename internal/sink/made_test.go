package sink

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lastdrop/internal/sink/codec"
)

// madeEndings are one target a form.
var madeEndings = []string{".csv", ".csv.gz", ".csv.zst", ".parquet"}

// oddJSON are items as sources really send them.
func oddJSON() [][]byte {
	columns := make([]string, 500)
	for i := range columns {
		columns[i] = fmt.Sprintf(`"c%d":%d`, i, i)
	}
	return [][]byte{
		[]byte(`{"id":1}`), []byte(`{}`), []byte(`0`), []byte(`null`), []byte(`""`), []byte(`[]`),
		[]byte(`{"id":123456789012345678901234567890123456789012345678901234567890}`),
		[]byte(`{"id":18446744073709551616,"ID":9223372036854775807,"Id":-0.1e-7}`),
		[]byte(`{"nul":"\u0000","newline":"\r\n","":"no key","\u0000":1,"half":"\ud83d"}`),
		[]byte("{\"bad\":\"\xff\xfe\xc3\",\"\xff\":1}"),
		[]byte("{\"line separators\":\"\u2028\u2029\u0085\"}"),
		[]byte(`{"deep":` + strings.Repeat("[", 9_990) + strings.Repeat("]", 9_990) + `}`),
		[]byte(`{"twice":1,"twice":2}`),
		[]byte(`{` + strings.Join(columns, ",") + `}`),
		fmt.Appendf(nil, `{"large":"%s"}`, bytes.Repeat([]byte("0123456789"), 1<<20)),
		[]byte(`{"_item":1,"_rest":2,"_key":3,"value":4}`),
	}
}

func TestMadeOfOddItems(t *testing.T) {
	items := oddJSON()
	for _, ending := range madeEndings {
		t.Run(ending, func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "x"+ending)
			f := must(t, Options{Target: target, Form: formOf(target)})
			for _, item := range items {
				write(t, f, string(item))
			}
			out := finish(t, f, true)
			data := read(t, target)
			sum := sha256.Sum256(data)
			if len(out.Notes) == 0 {
				t.Error("no notes on a key that stands twice")
			}
			out.Notes = nil
			want := Output{Path: target, Committed: true, Items: int64(len(items)), Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
			if !reflect.DeepEqual(out, want) {
				t.Errorf("%+v, want %+v", out, want)
			}
			if n, err := formOf(target).Count(bytes.NewReader(data), int64(len(data))); err != nil || n != int64(len(items)) {
				t.Errorf("%d items are in the file, %v", n, err)
			}
			absent(t, target+".making")
			same(t, "lines", read(t, target+".partial")[:len(lines(items))], lines(items))
			if err := f.Discard(); err != nil {
				t.Fatal(err)
			}
			absent(t, target+".partial")
			same(t, "target", read(t, target), data)
		})
	}
}

func TestMadeGate(t *testing.T) {
	for _, c := range []struct {
		name                 string
		old, complete, onAny bool
		committed            bool
	}{
		{"nothing there, truncated", false, false, false, true},
		{"a file there, truncated", true, false, false, false},
		{"a file there, complete", true, true, false, true},
		{"a file there, truncated, any", true, false, true, true},
	} {
		for _, ending := range madeEndings {
			target := filepath.Join(t.TempDir(), "x"+ending)
			if c.old {
				if err := os.WriteFile(target, oldFile, 0o604); err != nil {
					t.Fatal(err)
				}
			}
			f := must(t, Options{Target: target, OnAny: c.onAny, Form: formOf(target)})
			write(t, f, `{"id":1,"pad":""}`)
			out := finish(t, f, c.complete)
			if err := f.Discard(); err != nil {
				t.Fatal(err)
			}
			absent(t, target+".making")
			if out.Committed != c.committed {
				t.Errorf("%s: %+v", c.name, out)
			}
			if c.committed {
				same(t, "target", unpack(t, target, read(t, target)), []byte("{\"id\":1,\"pad\":\"\"}\n"))
				absent(t, target+".partial")
			} else {
				same(t, "old file", read(t, target), oldFile)
				same(t, "lines", read(t, out.Path), []byte("{\"id\":1,\"pad\":\"\"}\n"))
			}
			if info, _ := os.Stat(target); c.old && info.Mode().Perm() != 0o604 {
				t.Errorf("%s: permissions %v, want those of the old file", c.name, info.Mode())
			}
		}
	}
}

// A run that was finished and goes on takes its own target away, and nobody else's.
func TestMadeTakesUpOnlyItsOwn(t *testing.T) {
	for _, theirs := range []bool{false, true} {
		target := filepath.Join(t.TempDir(), "x.csv")
		f := must(t, Options{Target: target, Form: formOf(target)})
		write(t, f, `{"id":1,"pad":""}`)
		m := syncMark(t, f)
		finish(t, f, false)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if theirs {
			if err := os.WriteFile(target, bytes.Repeat([]byte("x"), len(read(t, target))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f = must(t, Options{Target: target, Form: formOf(target), Resume: &m, ResumeCommitted: true})
		write(t, f, `{"id":2,"pad":""}`)
		if out := finish(t, f, false); out.Committed == theirs || out.Items != 2 {
			t.Errorf("theirs %v: %+v", theirs, out)
		}
	}
}

// While it holds the lines of a finished run, no other run may write them.
func TestMadeHoldsItsLines(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x.csv")
	f := must(t, Options{Target: target, Form: formOf(target)})
	write(t, f, `{"id":1}`)
	finish(t, f, false)
	if _, err := Open(Options{Target: target, Form: formOf(target)}); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	must(t, Options{Target: target, Form: formOf(target)})
}

// lying writes or counts otherwise than it should.
type lying struct {
	Form
	count int64
	err   error
}

func (l lying) Count(io.ReaderAt, int64) (int64, error) { return l.count, l.err }

func TestMadeReadBack(t *testing.T) {
	form := formOf(".csv")
	for name, c := range map[string]struct {
		form Form
		harm func(d *disk)
	}{
		"an item less":      {lying{form, 1, nil}, nil},
		"an item more":      {lying{form, 3, nil}, nil},
		"cannot be read":    {lying{form, 2, errors.New("no table")}, nil},
		"a flipped bit":     {form, func(d *disk) { d.names["out/x.csv.making"].data[1] ^= 1 }},
		"its end gone":      {form, func(d *disk) { n := d.names["out/x.csv.making"]; n.data = n.data[:len(n.data)-8] }},
		"the lines changed": {form, func(d *disk) { d.names["out/x.csv.partial"].data[1] ^= 1 }},
	} {
		d := newDisk(1)
		d.put("out/x.csv", oldFile, 0o600)
		f, err := open(d, Options{Target: "out/x.csv", Form: c.form})
		if err != nil {
			t.Fatal(err)
		}
		write(t, f, `{"a":1,"b":2}`, `{"a":1,"b":2}`)
		syncs := 0
		d.hook = func(op string) error {
			if op == "read" && c.harm != nil {
				_, making := d.names["out/x.csv.making"]
				if lines := strings.HasPrefix(name, "the lines"); lines || (making && syncs == 2) {
					c.harm(d)
					c.harm = nil
				}
			}
			if op == "sync" {
				syncs++
			}
			return nil
		}
		out, err := f.Finish(true)
		if !errors.Is(err, ErrReadBack) || !oneLiner(err.Error()) || out.Committed {
			t.Errorf("%s: %+v, %v, want ErrReadBack", name, out, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := d.get("out/x.csv"); !bytes.Equal(got, oldFile) {
			t.Errorf("%s: the old file became %q", name, got)
		}
	}
}

// taking is a table in memory.
type taking struct {
	guarded bool
	got     []byte
	out     func(Output) Output
	err     error
}

func (*taking) Name() string             { return "items" }
func (*taking) Check() error             { return nil }
func (k *taking) Guarded() (bool, error) { return k.guarded, nil }

func (k *taking) Load(items Lines) (Output, error) {
	n := int64(0)
	if err := items(func(line []byte) error {
		k.got = append(append(k.got, line...), '\n')
		n++
		return nil
	}); err != nil {
		return Output{}, err
	}
	sum := sha256.Sum256(k.got)
	return k.out(Output{Items: n, Bytes: int64(len(k.got)), SHA256: hex.EncodeToString(sum[:])}), k.err
}

func TestTable(t *testing.T) {
	asIs := func(o Output) Output { return o }
	for name, c := range map[string]struct {
		table               taking
		complete, committed bool
		err                 error
	}{
		"complete":            {taking{guarded: true, out: asIs}, true, true, nil},
		"truncated, guarded":  {taking{guarded: true, out: asIs}, false, false, nil},
		"truncated, new":      {taking{out: asIs}, false, true, nil},
		"an item less":        {taking{out: func(o Output) Output { o.Items--; return o }}, true, false, ErrReadBack},
		"other items":         {taking{out: func(o Output) Output { o.SHA256 = ""; return o }}, true, false, ErrReadBack},
		"fails":               {taking{out: asIs, err: ErrBusy}, true, false, ErrBusy},
		"truncated and fails": {taking{out: asIs, err: ErrBusy}, false, false, ErrBusy},
	} {
		target := filepath.Join(t.TempDir(), "x.db")
		f := must(t, Options{Target: target, Table: &c.table})
		write(t, f, `{"id":1}`, `{"id":2}`)
		out, err := f.Finish(c.complete)
		if !errors.Is(err, c.err) || out.Committed != c.committed || (err != nil && !oneLiner(err.Error())) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		if c.committed {
			same(t, name, c.table.got, []byte("{\"id\":1}\n{\"id\":2}\n"))
			if err := f.Discard(); err != nil || out.Path != target {
				t.Errorf("%s: %+v, %v", name, out, err)
			}
			absent(t, target+".items.partial")
			continue
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		same(t, name, read(t, target+".items.partial"), []byte("{\"id\":1}\n{\"id\":2}\n"))
	}
}

// TestFreshRunLeavesTarget begins anew beside the lines of a run that was killed once its report was stored, before it dropped them: what that run
// made is a good file, and no less replaces it.
func TestFreshRunLeavesTarget(t *testing.T) {
	for _, ending := range madeEndings {
		target := filepath.Join(t.TempDir(), "x"+ending)
		f := must(t, Options{Target: target, Form: formOf(target)})
		write(t, f, `{"id":1,"pad":""}`, `{"id":2,"pad":""}`)
		finish(t, f, true)
		if err := f.Close(); err != nil { // and not Discard
			t.Fatal(err)
		}
		good := read(t, target)
		f = must(t, Options{Target: target, Form: formOf(target)})
		write(t, f, `{"id":1,"pad":""}`)
		m := syncMark(t, f)
		same(t, "the target while a fresh run reads", read(t, target), good)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		f = must(t, Options{Target: target, Form: formOf(target), Resume: &m, ResumeCommitted: true})
		if out := finish(t, f, false); out.Committed {
			t.Errorf("%s: %+v", ending, out)
		}
		same(t, "the target after less", read(t, target), good)
	}
}

// TestBefore lets a command take the items: only of a run that is complete or may be anything, and the target only
// after it.
func TestBefore(t *testing.T) {
	refused := errors.New("refused")
	for _, c := range []struct {
		name            string
		complete, onAny bool
		fails           bool
		committed       bool
	}{
		{"complete", true, false, false, true},
		{"truncated", false, false, false, false},
		{"truncated, any", false, true, false, true},
		{"refused", true, false, true, false},
	} {
		for _, ending := range append(madeEndings, endings...) {
			var got []byte
			target := filepath.Join(t.TempDir(), "x"+ending)
			f := must(t, Options{Target: target, Form: formOf(target), OnAny: c.onAny, Before: func(n int64, items Lines) error {
				absent(t, target)
				if n != 1 {
					t.Errorf("%s: told of %d items", c.name, n)
				}
				err := items(func(line []byte) error { got = append(append(got, line...), '\n'); return nil })
				if c.fails {
					return refused
				}
				return err
			}})
			write(t, f, `{"id":1,"pad":""}`)
			out, err := f.Finish(c.complete)
			if out.Committed != c.committed || errors.Is(err, refused) != c.fails || (err != nil && !c.fails) {
				t.Errorf("%s: %+v, %v", c.name, out, err)
			}
			if want := c.committed || c.fails; want != (len(got) > 0) {
				t.Errorf("%s: it got %q", c.name, got)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// stream marks what it is called with.
type stream struct{ w io.Writer }

func (s stream) Item(line []byte) error { _, err := fmt.Fprintf(s.w, "<%s>", line); return err }
func (s stream) Flush() error           { _, err := io.WriteString(s.w, "~"); return err }
func (s stream) End(complete bool) error {
	_, err := fmt.Fprint(s.w, complete)
	return err
}

func TestStream(t *testing.T) {
	var b bytes.Buffer
	f := must(t, Options{Target: Stdout, Stdout: &b, Stream: func(w io.Writer) Stream { return stream{w} }})
	write(t, f, "1", "2")
	if m := syncMark(t, f); m.Items != 2 {
		t.Errorf("%+v", m)
	}
	write(t, f, "3")
	out := finish(t, f, true)
	if b.String() != "<1><2>~<3>~true" || out.Items != 3 || out.Bytes != int64(b.Len()) {
		t.Errorf("%q, %+v", b.String(), out)
	}
}

func TestEachLine(t *testing.T) {
	long := strings.Repeat("x", 3*bufferSize)
	target := filepath.Join(t.TempDir(), "x.jsonl.zst")
	f := must(t, Options{Target: target})
	write(t, f, "1", long, "2")
	syncMark(t, f)
	write(t, f, "3")
	m := syncMark(t, f)
	var got []string
	a := f.place.(*aside)
	if a.format != (jsonl{codec.Zstd{}}) {
		t.Fatalf("format %T", a.format)
	}
	if err := a.items(m.Length)(func(line []byte) error { got = append(got, string(line)); return nil }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, []string{"1", long, "2", "3"}) {
		t.Errorf("%d lines", len(got))
	}
	if err := a.items(m.Length - 1)(func([]byte) error { return nil }); err == nil {
		t.Error("a cut file gave no error")
	}
}

// TestStoppedByRequest asks Finish to stop at any of its steps: nothing is committed, and the run goes on from there.
func TestStoppedByRequest(t *testing.T) {
	stopped := errors.New("asked to stop")
	for _, ending := range append(madeEndings, endings...) {
		for n := 0; ; n++ {
			target := filepath.Join(t.TempDir(), "x"+ending)
			if err := os.WriteFile(target, oldFile, 0o600); err != nil {
				t.Fatal(err)
			}
			left := n
			f := must(t, Options{Target: target, Form: formOf(target), Stop: func() error {
				if left--; left < 0 {
					return stopped
				}
				return nil
			}})
			write(t, f, `{"id":1,"pad":"x"}`)
			m := syncMark(t, f)
			if _, err := f.Finish(true); err == nil {
				if n < 2 {
					t.Errorf("%s: only %d steps can be stopped", ending, n)
				}
				break
			} else if !errors.Is(err, stopped) || f.Mark() != m {
				t.Fatalf("%s, step %d: %v", ending, n, err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			same(t, "old file", read(t, target), oldFile)
			f = must(t, Options{Target: target, Form: formOf(target), Resume: &m, ResumeCommitted: true})
			if out := finish(t, f, true); !out.Committed {
				t.Errorf("%+v", out)
			}
			same(t, "target", unpack(t, target, read(t, target)), []byte("{\"id\":1,\"pad\":\"x\"}\n"))
		}
	}
}
