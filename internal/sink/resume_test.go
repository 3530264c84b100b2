package sink

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stopped leaves a file aside with three items up to the mark and a torn tail behind it.
func stopped(t *testing.T, ending string) (target string, m Mark) {
	t.Helper()
	target = filepath.Join(t.TempDir(), "x"+ending)
	f := must(t, Options{Target: target})
	write(t, f, "1", "22")
	syncMark(t, f)
	write(t, f, "333")
	m = syncMark(t, f)
	write(t, f, "lost", "lost too")
	syncMark(t, f)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	appendTo(t, target+".partial", "torn")
	return target, m
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	data := append(read(t, path), text...)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestResume(t *testing.T) {
	for _, ending := range endings {
		for _, sum := range []bool{true, false} {
			target, m := stopped(t, ending)
			if !sum {
				m.Sum = 0 // a ledger that does not keep it
			}
			f := must(t, Options{Target: target, Resume: &m})
			write(t, f, "4444")
			if out := finish(t, f, true); out.Items != 4 || out.Path != target {
				t.Errorf("%s: %+v", ending, out)
			}
			same(t, ending, unpack(t, target, read(t, target)), []byte("1\n22\n333\n4444\n"))
		}
	}
}

// damage is what others can do to a stopped run's files, and the error that a resume must give.
var damage = []struct {
	name string
	do   func(t *testing.T, target string, m Mark)
	want error
}{
	{"cut", func(t *testing.T, target string, m Mark) {
		if err := os.Truncate(target+".partial", m.Length-1); err != nil {
			t.Fatal(err)
		}
	}, ErrShort},
	{"removed", func(t *testing.T, target string, _ Mark) {
		if err := os.Remove(target + ".partial"); err != nil {
			t.Fatal(err)
		}
	}, ErrShort},
	{"moved to the target by hand, uncommitted", func(t *testing.T, target string, _ Mark) {
		if err := os.Rename(target+".partial", target); err != nil {
			t.Fatal(err)
		}
	}, ErrShort},
	{"written by another run", func(t *testing.T, target string, _ Mark) {
		f := must(t, Options{Target: target})
		for range 100 {
			write(t, f, "another run's items, many of them")
			syncMark(t, f)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}, ErrChanged},
	{"a flipped bit", func(t *testing.T, target string, _ Mark) {
		data := read(t, target+".partial")
		data[0] ^= 4
		if err := os.WriteFile(target+".partial", data, 0o600); err != nil {
			t.Fatal(err)
		}
	}, ErrChanged},
}

func TestResumeRefusesDamage(t *testing.T) {
	for _, ending := range endings {
		for _, c := range damage {
			t.Run(ending+"/"+c.name, func(t *testing.T) {
				target, m := stopped(t, ending)
				c.do(t, target, m)
				t.Chdir(filepath.Dir(target))
				before := tree(t)
				_, err := Open(Options{Target: target, Resume: &m})
				if !errors.Is(err, c.want) || !oneLiner(err.Error()) {
					t.Fatalf("%v, want %v", err, c.want)
				}
				for _, part := range []string{target + ".partial", "3 items", "--fresh"} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q does not say %q", err, part)
					}
				}
				same(t, "the folder after the refusal", []byte(tree(t)), []byte(before))
			})
		}
	}
}

// Without a sum the count of items is the evidence.
func TestResumeCountsWithoutSum(t *testing.T) {
	for _, ending := range endings {
		target, m := stopped(t, ending)
		for _, wrong := range []Mark{
			{Length: m.Length, Items: m.Items + 1}, {Length: m.Length, Items: m.Items - 1},
			{Length: m.Length - 1, Items: m.Items}, {Length: m.Length + 1, Items: m.Items},
		} {
			if _, err := Open(Options{Target: target, Resume: &wrong}); !errors.Is(err, ErrChanged) {
				t.Errorf("%s: %+v: %v, want ErrChanged", ending, wrong, err)
			}
		}
		long := Mark{Length: m.Length + 1000, Items: m.Items}
		if _, err := Open(Options{Target: target, Resume: &long}); !errors.Is(err, ErrShort) {
			t.Errorf("%s: %+v: %v, want ErrShort", ending, long, err)
		}
	}
}

func TestMarksThatNoSyncReturns(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x.jsonl")
	for _, m := range []Mark{{Length: -1}, {Length: 1, Items: -1}, {Items: 1}} {
		if _, err := Open(Options{Target: target, Resume: &m}); err == nil {
			t.Errorf("%+v was taken", m)
		}
	}
}

// committed leaves a truncated run's file of two items at the target.
func committed(t *testing.T, ending string) (string, Mark) {
	t.Helper()
	target := filepath.Join(t.TempDir(), "x"+ending)
	f := must(t, Options{Target: target})
	write(t, f, "1", "22")
	m := syncMark(t, f)
	if out := finish(t, f, false); !out.Committed {
		t.Fatalf("%+v", out)
	}
	return target, m
}

func TestTakeUpCommitted(t *testing.T) {
	for _, ending := range endings {
		for _, empty := range []bool{false, true} {
			target, m := committed(t, ending)
			if empty { // another run was stopped before its first item
				appendEmpty(t, target+".partial")
			}
			f := must(t, Options{Target: target, Resume: &m, ResumeCommitted: true})
			if len(read(t, target)) == 0 {
				t.Fatal("the open alone changed the target")
			}
			write(t, f, "333")
			absent(t, target)
			if out := finish(t, f, false); !out.Committed || out.Items != 3 {
				t.Errorf("%+v", out)
			}
			same(t, ending, unpack(t, target, read(t, target)), []byte("1\n22\n333\n"))
		}
	}
}

func appendEmpty(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A good file that is not this run's own stays, whatever the ledger says.
func TestTakeUpOnlyItsOwn(t *testing.T) {
	target, m := stopped(t, ".jsonl")
	if err := os.Remove(target + ".partial"); err != nil {
		t.Fatal(err)
	}
	good := []byte(strings.Repeat("{\"good\":1}\n", 100))
	if err := os.WriteFile(target, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Target: target, Resume: &m, ResumeCommitted: true}); !errors.Is(err, ErrChanged) {
		t.Errorf("%v, want ErrChanged", err)
	}
	same(t, "good file", read(t, target), good)

	f := must(t, Options{Target: target, Resume: &Mark{}, ResumeCommitted: true})
	write(t, f, "1")
	if out := finish(t, f, false); out.Committed {
		t.Errorf("%+v: a truncated run replaced a good file", out)
	}
	same(t, "good file", read(t, target), good)
}

// A file at the target that is too short to be the run's is no better than none.
func TestTakeUpOfShort(t *testing.T) {
	target, m := committed(t, ".jsonl")
	if err := os.Truncate(target, m.Length-1); err != nil {
		t.Fatal(err)
	}
	before := read(t, target)
	if _, err := Open(Options{Target: target, Resume: &m, ResumeCommitted: true}); !errors.Is(err, ErrShort) {
		t.Errorf("%v, want ErrShort", err)
	}
	same(t, "short file", read(t, target), before)
}

// Two files could be the run's: the one aside counts.
func TestAsideComesBeforeCommitted(t *testing.T) {
	target, m := stopped(t, ".jsonl")
	if err := os.WriteFile(target, oldFile, 0o600); err != nil {
		t.Fatal(err)
	}
	f := must(t, Options{Target: target, Resume: &m, ResumeCommitted: true})
	if out := finish(t, f, true); out.Items != 3 {
		t.Errorf("%+v", out)
	}
	same(t, "target", read(t, target), []byte("1\n22\n333\n"))
}

// What appears aside between the opening and the first item is not written over.
func TestTakeUpBesideNewcomer(t *testing.T) {
	target, m := committed(t, ".jsonl")
	f := must(t, Options{Target: target, Resume: &m, ResumeCommitted: true})
	if err := os.WriteFile(target+".partial", []byte("newcomer\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Write([][]byte{[]byte("333")}); !errors.Is(err, ErrMoved) {
		t.Errorf("%v, want ErrMoved", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	same(t, "newcomer", read(t, target+".partial"), []byte("newcomer\n"))
	same(t, "committed", read(t, target), []byte("1\n22\n"))
}

// A file that replaces the committed one between the opening and the first item is not taken for it.
func TestTakeUpOfReplaced(t *testing.T) {
	target, m := committed(t, ".jsonl")
	f := must(t, Options{Target: target, Resume: &m, ResumeCommitted: true})
	if err := errors.Join(os.Remove(target), os.WriteFile(target, oldFile, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := f.Write([][]byte{[]byte("333")}); !errors.Is(err, ErrMoved) {
		t.Errorf("%v, want ErrMoved", err)
	}
	same(t, "newcomer", read(t, target), oldFile)
}

// A file that is put aside between the reading back and the commit is not committed.
func TestCommitOfReplaced(t *testing.T) {
	d := newDisk(1)
	files := &between{disk: d}
	f, err := open(files, Options{Target: "out/x.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "1")
	files.do = func() { d.put("out/x.jsonl.partial", oldFile, 0o600) }
	if out, err := f.Finish(true); !errors.Is(err, ErrMoved) || out.Committed {
		t.Errorf("%+v, %v, want ErrMoved", out, err)
	}
	if got, there := d.get("out/x.jsonl"); there {
		t.Errorf("%q was committed", got)
	}
}

// A file that is moved away, replaced, cut or lengthened while it is written must not be believed durable.
func TestMovedWhileWritten(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"removed": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".elsewhere") },
		"replaced": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte("1\n2\n"), 0o600))
		},
		"cut":      func(path string) error { return os.Truncate(path, 1) },
		"extended": func(path string) error { return os.Truncate(path, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "x.jsonl")
			f := must(t, Options{Target: target})
			write(t, f, "1")
			syncMark(t, f)
			if err := harm(target + ".partial"); err != nil {
				t.Fatal(err)
			}
			write(t, f, "2")
			_, err := f.Sync()
			if !errors.Is(err, ErrMoved) || !oneLiner(err.Error()) {
				t.Errorf("%v, want ErrMoved", err)
			}
			if _, again := f.Finish(true); !errors.Is(again, ErrMoved) {
				t.Errorf("%v, want the first error again", again)
			}
			absent(t, target)
		})
	}
}

// TestStoppedWhileOpened: a large file is read to its mark before a run goes on, and a signal ends that.
func TestStoppedWhileOpened(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x.jsonl")
	f := must(t, Options{Target: target})
	write(t, f, "1")
	m := syncMark(t, f)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	halt := errors.New("halt")
	if _, err := Open(Options{Target: target, Resume: &m, Stop: func() error { return halt }}); !errors.Is(err, halt) {
		t.Errorf("%v, want what it was stopped with", err)
	}
	f = must(t, Options{Target: target, Resume: &m})
	write(t, f, "2")
	finish(t, f, true)
	same(t, "target", read(t, target), []byte("1\n2\n"))
}
