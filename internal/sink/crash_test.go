package sink

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"lastdrop/internal/racing"
)

// A story is what a run and its successor do to a target.
type story struct {
	name  string
	old   bool // a good file stands at the target before
	parts []part
}

// A part is one process: it drains up to an item and finishes.
type part struct {
	upTo      int
	complete  bool
	committed bool // wanted
}

const truth = 12

var stories = []story{
	{"fresh", false, []part{{truth, true, true}}},
	{"over an old file", true, []part{{truth, true, true}}},
	{"truncated, committed as nothing was there, taken up again", false, []part{{5, false, true}, {truth, true, true}}},
	{"truncated twice, then complete", false, []part{{5, false, true}, {9, false, true}, {truth, true, true}}},
	{"truncated, held back, then complete", true, []part{{5, false, false}, {truth, true, true}}},
	{"no items at all, then some", false, []part{{0, false, true}, {truth, true, true}}},
	{"complete with nothing", true, []part{{0, true, true}}},
}

var oldFile = []byte("{\"old\":true}\n")

// TestStoppedAnywhere stops the machine in each operation of each story, by kill and by power cut, goes on
// with what the ledger knew, and wants every item exactly once, and the old file or the new one, whole, at
// the target at every instant.
func TestStoppedAnywhere(t *testing.T) {
	for _, ending := range crashEndings {
		for _, s := range stories {
			t.Run(ending+"/"+s.name, func(t *testing.T) {
				ops := s.operations(t, ending)
				for _, n := range places(ops, ending) {
					for _, seed := range seedsOf(ending, n) {
						s.interrupted(t, ending, n, seed, seed > 0)
					}
				}
				if len(ops) < 6 {
					t.Fatalf("only %d operations were tried", len(ops))
				}
			})
		}
	}
}

// places are the operations to stop or fail in: all of them, but of the many reads one after another of a form only every
// fifth, since a stop in any of them leaves the same.
func places(ops []string, ending string) []int {
	var all []int
	for n, op := range ops {
		if racing.On && n%2 == 1 {
			continue // every other one is slow enough
		}
		if again := n > 0 && op == "read" && ops[n-1] == "read"; !again || n%5 == 0 || formOf(ending) == nil {
			all = append(all, n)
		}
	}
	return all
}

// seedsOf are those of the stops in an operation: 0 is a kill, all others are power cuts. A form takes long to make, and
// gets one of them for each operation.
func seedsOf(ending string, n int) []uint64 {
	if formOf(ending) != nil {
		return []uint64{0, uint64(n) + 1}
	}
	return []uint64{0, 1, 2}
}

// operations lists what the story does when nothing happens.
func (s story) operations(t *testing.T, ending string) []string {
	t.Helper()
	d, p := s.set(ending, 0)
	var all []string
	d.hook = func(op string) error { all = append(all, op); return nil }
	s.tell(t, d, p, 0)
	return all
}

func (s story) set(ending string, seed uint64) (*disk, *pull) {
	d := newDisk(seed)
	p := &pull{files: d, target: "out/items" + ending, items: numbered(truth), batch: 2, every: 2}
	if formOf(p.target) != nil {
		p.batch, p.every = truth, 1 // of the lines enough is seen without a form
	}
	if s.old {
		d.put(p.target, oldFile, 0o440)
	}
	return d, p
}

// tell does the parts from one on, which must all succeed, and checks what is left at the end.
func (s story) tell(t *testing.T, d *disk, p *pull, from int) {
	t.Helper()
	for _, part := range s.parts[from:] {
		out, err := p.run(part.upTo, part.complete)
		if err != nil {
			t.Fatal(err)
		}
		if out.Committed != part.committed || out.Items != int64(part.upTo) {
			t.Fatalf("output %+v, want %d items, committed %v", out, part.upTo, part.committed)
		}
	}
	d.reboot(true) // a finished run outlives a power cut
	s.checkEnd(t, d, p)
}

func (s story) checkEnd(t *testing.T, d *disk, p *pull) {
	t.Helper()
	last := s.parts[len(s.parts)-1]
	got, ok := d.get(p.target)
	if !ok {
		t.Fatal("nothing stands at the target")
	}
	same(t, "target", unpack(t, p.target, got), lines(p.items[:last.upTo]))
	if _, aside := d.get(asideOf(p.target)); aside {
		t.Fatal("a file is left aside")
	}
	if mode := d.names[p.target].mode; s.old && mode != 0o440 {
		t.Fatalf("the permissions became %v", mode)
	}
}

// interrupted tells the story with a stop in operation n.
func (s story) interrupted(t *testing.T, ending string, n int, seed uint64, power bool) {
	t.Helper()
	where := fmt.Sprintf("stop in operation %d, seed %d, power cut %v", n, seed, power)
	defer func() {
		if t.Failed() {
			t.Log(where)
		}
	}()
	d, p := s.set(ending, seed)
	d.hook = stopAt(n)
	at, err := s.until(p)
	if !errors.Is(err, errCrash) && !errors.Is(err, errOff) {
		t.Fatalf("%v, want the stop", err)
	}
	d.reboot(power)
	s.checkTarget(t, d, p)
	s.tell(t, d, p, at)
}

// until does part after part and returns which failed.
func (s story) until(p *pull) (int, error) {
	for i, part := range s.parts {
		if _, err := p.run(part.upTo, part.complete); err != nil {
			return i, err
		}
	}
	return len(s.parts), nil
}

// checkTarget wants a whole file at the target: the old one, or all that some part was to commit. A file
// may be missing only where none was before, or while this run's own is taken up again.
func (s story) checkTarget(t *testing.T, d *disk, p *pull) {
	t.Helper()
	got, ok := d.get(p.target)
	if !ok {
		if s.old {
			t.Fatal("the old file is gone")
		}
		return
	}
	if s.old && string(got) == string(oldFile) {
		return
	}
	content := unpack(t, p.target, got)
	if !slices.ContainsFunc(s.parts, func(part part) bool {
		return part.committed && string(content) == string(lines(p.items[:part.upTo]))
	}) {
		t.Fatalf("the target holds %d bytes that no part was to commit", len(got))
	}
}

func stopAt(n int) func(string) error { return failAt(n, errCrash) }

// failAt lets operation n fail, and none after it.
func failAt(n int, err error) func(string) error {
	return func(string) error {
		n--
		if n == -1 {
			return err
		}
		return nil
	}
}

// TestFailsAnywhere lets each operation of each story fail, and wants the failure to be told, the item
// count of the ledger to stay true, and the next attempt to bring everything, also when the power is cut
// after it.
func TestFailsAnywhere(t *testing.T) {
	for _, ending := range crashEndings {
		for _, s := range stories {
			t.Run(ending+"/"+s.name, func(t *testing.T) {
				ops := s.operations(t, ending)
				for _, n := range places(ops, ending) {
					for _, fault := range faultsOf(ops[n]) {
						s.failing(t, ending, n, ops[n], fault)
					}
				}
			})
		}
	}
}

// faultsOf are the ways in which an operation of a disk fails.
func faultsOf(op string) []error {
	switch op {
	case "write":
		return []error{syscall.ENOSPC, errShort}
	case "create", "rename":
		return []error{syscall.ENOSPC}
	}
	return []error{syscall.EIO}
}

func (s story) failing(t *testing.T, ending string, n int, op string, fault error) {
	t.Helper()
	agains := []func(*disk){
		func(*disk) {},
		func(d *disk) { d.reboot(false) },
		func(d *disk) { d.reboot(true) },
	}
	if formOf(ending) != nil { // which takes long to make: one of them in turn
		agains = agains[n%3 : n%3+1]
	}
	for _, again := range agains {
		d, p := s.set(ending, uint64(n))
		d.hook = failAt(n, fault)
		at, err := s.until(p)
		if err == nil {
			t.Fatalf("operation %d, a %s, failed with %q and nobody was told", n, op, fault)
		}
		var told *Error
		if !errors.As(err, &told) || told.Path == "" || !oneLiner(err.Error()) {
			t.Fatalf("%q is not one line that names the file", err)
		}
		again(d)
		s.checkTarget(t, d, p)
		s.tell(t, d, p, at)
	}
}

func oneLiner(text string) bool {
	return text != "" && !slices.ContainsFunc([]byte(text), func(c byte) bool { return c < ' ' })
}

// TestFailedSyncIsFinal lets fsync fail once. The system then takes the lost bytes for written, so a second
// fsync would succeed and promise what is not there.
func TestFailedSyncIsFinal(t *testing.T) {
	d := newDisk(1)
	f, err := open(d, Options{Target: "out/x.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "1")
	d.hook = func(op string) error {
		if op == "sync" {
			d.hook = nil
			return syscall.EIO
		}
		return nil
	}
	for range 3 {
		if m, err := f.Sync(); !errors.Is(err, syscall.EIO) || m != (Mark{}) {
			t.Errorf("%+v, %v, want the first error each time", m, err)
		}
	}
	_, finishErr := f.Finish(true)
	if err := f.Write([][]byte{[]byte("2")}); !errors.Is(err, syscall.EIO) || !errors.Is(finishErr, syscall.EIO) {
		t.Errorf("%v and %v, want the first error", err, finishErr)
	}
}

// TestCutIsDurable finishes a resumed run that had nothing left to write: what it cut off must not come back.
func TestCutIsDurable(t *testing.T) {
	for seed := range uint64(20) {
		d := newDisk(seed)
		p := &pull{files: d, target: "out/x.jsonl", items: numbered(6), batch: 1, every: 1}
		f, err := open(d, Options{Target: p.target})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.write(f, 6); err != nil {
			t.Fatal(err)
		}
		write(t, f, "behind the mark", "and synced, but the ledger did not come to know")
		syncMark(t, f)
		d.reboot(false)
		if _, err := p.run(6, true); err != nil {
			t.Fatal(err)
		}
		d.reboot(true)
		got, _ := d.get(p.target)
		same(t, "target", got, lines(p.items))
	}
}
