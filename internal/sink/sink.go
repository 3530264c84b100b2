// Package sink writes the items of a run as JSON Lines and proves what it wrote.
//
// Items go to a file beside the target, <target>.partial, which takes the place of the target only through
// the commit gate at the end: a cut pull never destroys a good one. [File.Sync] makes what was written
// durable and returns a [Mark]; a run that was stopped at any instant opens the file again with the last
// mark that its ledger holds, and what stands behind the mark is cut off. [File.Finish] reads the file back
// before it commits, so that what is reported is what is on disk and not what was meant to be there.
//
// The order that makes a stop harmless: Write, Sync, the mark into the ledger, and only then are the items
// held. The states that a stop can leave are listed in place.go.
package sink

import (
	"bytes"
	"fmt"
	"io"
)

// Stdout is the target that means standard output.
const Stdout = "-"

// Options say where the items go. The zero value of all but Target is a fresh file under the commit gate.
type Options struct {
	// Target is the file to write, its format told by its ending, or [Stdout]. With Beside it is only what the Table is called.
	Target string
	// Beside stands for the target where that is no file of this machine: the items wait in a file beside it. For a Table only.
	Beside string
	// Stdout is what the target "-" writes to; os.Stdout when nil. Go ends a program whose standard output is
	// a broken pipe; one that calls signal.Ignore(syscall.SIGPIPE) gets the error instead.
	Stdout io.Writer
	// Resume is the mark to go on from; nil starts afresh and drops what an earlier run left aside.
	Resume *Mark
	// ResumeCommitted allows a resume to take the target up again when nothing stands aside. Set it when
	// the ledger knows that the run reached Finish: a truncated run that found no file at the target was
	// committed all the same, and a stop may fall between the commit and the ledger's word of it.
	ResumeCommitted bool
	// OnAny opens the commit gate whatever the verdict.
	OnAny bool
	// Stop is asked over and over while Finish reads and makes what may be large: its error ends Finish before the commit, and the
	// run can be resumed. Nil never stops.
	Stop func() error
	// Form makes the target of the items at the end; nil writes lines, as the target's ending says.
	Form Form
	// Table takes the items at the end, in the place of a file at the target.
	Table Table
	// Before gets the items, and how many they are, when the gate is open, and the target is only written once it returns without an error.
	// What it does cannot be taken back, so that a run which is not complete never reaches it but with OnAny.
	Before func(items int64, lines Lines) error
	// Stream makes what is written to standard output of the items; nil writes lines.
	Stream func(w io.Writer) Stream
}

// A Mark is a place up to which a file is durable and whole. The zero Mark is the start of the file.
type Mark struct {
	// Length is the length of the file in bytes.
	Length int64
	// Items is how many items these bytes hold.
	Items int64
	// Sum is the CRC-32C of these bytes; 0 means not known. A resume checks what it finds against the sum,
	// or, where it is not known, against the count of items.
	Sum uint32
}

// valid refuses a mark that no Sync returned.
func (m Mark) valid() error {
	if m.Length < 0 || m.Items < 0 || (m.Length == 0 && m.Items > 0) {
		return fmt.Errorf("sink: no file has a mark of %d bytes with %d items", m.Length, m.Items)
	}
	return nil
}

// Output is what a finished file turned out to be, read back from disk.
type Output struct {
	// Path is the target when Committed, else the file that stands beside it.
	Path string `json:"path"`
	// Committed tells whether the items are at the target.
	Committed bool `json:"committed"`
	// Items counts the lines read back.
	Items int64 `json:"items"`
	// Bytes is the length of the file.
	Bytes int64 `json:"bytes"`
	// SHA256 is that of the file's bytes, in lower-case hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Torn tells that the last line has no newline. A torn file is never committed.
	Torn bool `json:"torn,omitempty"`
	// Notes say what is not as a reader of the output would expect.
	Notes []string `json:"notes,omitempty"`
}

// A place is where the bytes of a file go.
type place interface {
	// begin makes the place ready for the first byte after the mark. Until then nothing was changed.
	begin() error
	io.Writer
	// settle makes the bytes written so far durable; length is how many the place must hold.
	settle(length int64) error
	// finish reports what the place holds, which must be as the mark says, passes the commit gate and lets
	// go of the place unless it fails.
	finish(want Mark, complete bool) (Output, error)
	// release lets go of the place. What is written stays, unless keep is false.
	release(keep bool) error
}

// A File takes the items of one run. One goroutine at a time may use it. Once a call other than a refused
// Write has failed, every later one returns the same error; what the last mark covers is still on disk, and
// Close keeps it for a resume.
type File struct {
	place   place
	w       itemWriter
	tally   tally
	items   int64
	begun   bool
	dirty   bool // items since the last Sync
	settled bool // a Sync has succeeded
	closed  bool
	err     error
}

// Open prepares an output and takes the lock that keeps other runs away from it. It changes no byte of any
// file: an earlier aside file is cut, and a committed target taken up, by the first Write, Sync or Finish.
//
// A resume fails with [ErrShort] when the file has fewer bytes than the mark, with [ErrChanged] when the
// bytes before the mark are not those that were marked. [ErrBusy] tells that another run writes the file.
func Open(o Options) (*File, error) {
	return open(system{}, o)
}

func open(files layer, o Options) (*File, error) {
	if o.Resume != nil {
		if err := o.Resume.valid(); err != nil {
			return nil, err
		}
	}
	if o.Target == Stdout {
		return openStdout(o)
	}
	a, err := openAside(files, o)
	if err != nil {
		return nil, err
	}
	f := &File{place: a, items: a.base.Items}
	if o.made() {
		f.place = &made{aside: a, form: o.Form, table: o.Table, resumed: o.Resume != nil}
	}
	f.tally = tally{w: a, length: a.base.Length, sum: a.base.Sum}
	f.w = a.format.writer(&f.tally)
	return f, nil
}

// Write appends each item and a newline. An item must be one line of text: one that is empty or holds a raw
// newline is refused with [ErrItem], and then nothing of lines was written and the file can still be used.
// What Write took is buffered; only Sync makes it durable. The slices are not kept.
func (f *File) Write(lines [][]byte) error {
	if err := f.usable(); err != nil {
		return err
	}
	for i, line := range lines {
		if len(line) == 0 || bytes.IndexByte(line, '\n') >= 0 {
			return refuse(i, line)
		}
	}
	if err := f.begin(); err != nil {
		return err
	}
	for _, line := range lines {
		if err := f.w.item(line); err != nil {
			return f.fail(err)
		}
	}
	f.items += int64(len(lines))
	f.dirty = f.dirty || len(lines) > 0
	return nil
}

// refuse says what is wrong with an item without repeating its text, which may be private or long.
func refuse(i int, line []byte) error {
	if len(line) == 0 {
		return fmt.Errorf("%w: item %d of the batch is empty", ErrItem, i)
	}
	return fmt.Errorf("%w: item %d of the batch has a raw newline at byte %d of %d",
		ErrItem, i, bytes.IndexByte(line, '\n'), len(line))
}

// Sync makes all that was written durable and returns the mark to resume from. The file may be cut at a
// mark and is whole there, also when it is compressed. With nothing new it returns the same mark again.
func (f *File) Sync() (Mark, error) {
	if err := f.usable(); err != nil {
		return Mark{}, err
	}
	if err := f.begin(); err != nil {
		return Mark{}, err
	}
	if err := f.sync(f.dirty); err != nil {
		return Mark{}, err
	}
	return f.Mark(), nil
}

// sync ends a member of the file if asked, then settles what is new.
func (f *File) sync(end bool) error {
	if end {
		if err := f.w.end(); err != nil {
			return f.fail(err)
		}
	}
	if end || !f.settled {
		if err := f.place.settle(f.tally.length); err != nil {
			return f.fail(err)
		}
	}
	f.dirty, f.settled = false, true
	return nil
}

// Mark is where everything written so far ends. It is durable where Sync or Finish has returned since.
func (f *File) Mark() Mark {
	return Mark{Length: f.tally.length, Items: f.items, Sum: f.tally.sum}
}

// Finish syncs, reads the file back from disk and passes the commit gate: the file takes the place of the
// target when the run is complete, when OnAny is set, or when no file stands at the target; else it stays
// aside. The target is replaced in one step and keeps its permissions.
//
// When what is read back is not what was written, Finish fails with [ErrReadBack], commits nothing, and the
// Output says what was found. When Finish fails, Close is still to be called; after a success the file is
// closed, but for the lines of which a Form or Table was made: Close keeps them for a resume, Discard removes them,
// which is for a run that the ledger knows to be over.
func (f *File) Finish(complete bool) (Output, error) {
	if err := f.usable(); err != nil {
		return Output{}, err
	}
	if err := f.begin(); err != nil {
		return Output{}, err
	}
	// A compressed file of no bytes would not be legal, so it gets a member without items.
	if err := f.sync(f.dirty || f.tally.length == 0); err != nil {
		return Output{}, err
	}
	out, err := f.place.finish(f.Mark(), complete)
	if err != nil {
		return out, f.fail(err)
	}
	f.closed = true
	return out, nil
}

// Close lets go of the file without finishing it and keeps what is aside for a resume from the last mark.
// What was written since the last Sync is not kept for certain. Closing a closed file does nothing.
func (f *File) Close() error { return f.release(true) }

// Discard is Close, but removes the file aside. A committed target that was not yet taken up again stays.
func (f *File) Discard() error { return f.release(false) }

func (f *File) release(keep bool) error {
	if m, ok := f.place.(*made); ok && f.closed {
		return m.letGo(keep)
	}
	if f.closed {
		return nil
	}
	f.closed = true
	return f.place.release(keep)
}

func (f *File) usable() error {
	if f.closed {
		return ErrClosed
	}
	return f.err
}

func (f *File) begin() error {
	if f.begun {
		return nil
	}
	if err := f.place.begin(); err != nil {
		return f.fail(err)
	}
	f.begun = true
	return nil
}

// fail keeps the first error: after a failed write or fsync nobody knows what the file holds behind the
// last mark, so nothing may be written or promised any more.
func (f *File) fail(err error) error {
	f.err = err
	return err
}
