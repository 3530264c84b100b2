package sink

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Lines calls each with every item of a run, in their order, until each fails. A line is only good until each
// returns. It may be called again.
type Lines = func(each func(line []byte) error) error

// A Form lays all items of a run out as one file, once they are all there.
type Form interface {
	// Write writes the file and returns notes on what is not as its readers would expect.
	Write(w io.Writer, items Lines) (notes []string, err error)
	// Count reads a whole file strictly and counts its items.
	Count(r io.ReaderAt, size int64) (int64, error)
}

// A Table takes all items of a run in one step, and is no file that could be replaced.
type Table interface {
	// Name tells tables of one target apart. It can be part of a file's name.
	Name() string
	// Check finds out, without touching anything, whether Load could work.
	Check() error
	// Guarded reports whether something stands there that is not this run's own.
	Guarded() (bool, error)
	// Load takes all items over or none. The Output is what was read back: the length and SHA-256 of the items as
	// lines.
	Load(items Lines) (Output, error)
}

// makingEnding is appended to the target's name for the file of a form while it is written.
const makingEnding = ".making"

// A made output keeps its items aside as lines, and makes the target of them at the end.
//
// Beyond the states of an aside, a stop can leave: a file of any content at <target>.making, which is written
// anew; and behind the lines a note with the length and hash of the file that is about to be the target. A target that is as
// the note says is this run's own. A resume takes it away, as an aside is renamed back, and then cuts the lines.
type made struct {
	*aside
	form  Form  // or
	table Table // one of them
	kept  bool  // the lines are still held: the run may be resumed
	// resumed: the lines, and a note behind them, are this run's. Those of an earlier run, which the ledger may call COMPLETE, are dropped, and its
	// target stays under the gate.
	resumed bool
}

// note stands as a line behind the lines of a made output.
type note struct {
	Made   string `json:"lastdrop_made"` // SHA-256 of the target
	Length int64  `json:"length"`
}

// begin takes the target away that this run made earlier, and cuts the lines back.
func (m *made) begin() error {
	if err := m.disown(); err != nil {
		return err
	}
	return m.aside.begin()
}

func (m *made) disown() error {
	if m.form == nil || !m.resumed {
		return nil
	}
	n, err := m.lastNote()
	if err != nil || n.Made == "" {
		return err
	}
	info, err := regular(m.files, m.target)
	if err != nil || info == nil || info.Size() != n.Length {
		return err
	}
	if sum, err := m.digest(m.target); err != nil || sum != n.Made {
		return fault("read", m.target, err)
	}
	if err := m.files.Remove(m.target); err != nil {
		return fault("take up", m.target, err)
	}
	// Before the note is cut off, else a power cut could bring the target back with nothing to know it by.
	return fault("sync the folder of", m.target, m.files.SyncDir(m.dir))
}

// digest is the SHA-256 of a file.
func (m *made) digest(name string) (string, error) {
	h, err := m.files.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer h.Close()
	got := meter{hash: newHash()}
	if _, err := io.CopyBuffer(&got, stoppable{h, m.stop}, make([]byte, bufferSize)); err != nil {
		return "", err
	}
	return got.digest(), nil
}

// lastNote reads the note at the end of the lines; the zero note is none.
func (m *made) lastNote() (note, error) {
	const most = 256
	info, err := m.h.Stat()
	if err != nil {
		return note{}, fault("read", m.path, err)
	}
	from := max(m.base.Length, info.Size()-most)
	tail, err := io.ReadAll(io.NewSectionReader(m.h, from, info.Size()-from))
	if err != nil {
		return note{}, fault("read", m.path, err)
	}
	tail, whole := bytes.CutSuffix(tail, newline)
	if i := bytes.LastIndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	var n note
	if !whole || json.Unmarshal(tail, &n) != nil {
		return note{}, nil
	}
	return n, nil
}

// finish reads the lines back, and makes the target of them if the gate is open. Then it goes on to hold the
// lines, until letGo.
func (m *made) finish(want Mark, complete bool) (Output, error) {
	out, err := m.check(want)
	if err != nil {
		return out, err
	}
	open, err := m.opened(complete)
	if err != nil {
		return out, err
	}
	if !open {
		return out, fault("close", out.Path, m.h.Close())
	}
	if err := m.handOver(want); err != nil {
		return out, err
	}
	lines := out
	if m.form != nil {
		out, err = m.makeFile(want)
	} else {
		out, err = m.load(lines, want)
	}
	if err != nil {
		return out, err
	}
	m.kept = true
	return out, nil
}

// opened is the commit gate.
func (m *made) opened(complete bool) (bool, error) {
	if m.table != nil {
		guarded, err := m.table.Guarded()
		return m.allowed(guarded, complete), fault("look into", m.shown, err)
	}
	_, open, err := m.gate(complete)
	return open, err
}

// load gives the lines to the table, which must hold them byte by byte.
func (m *made) load(lines Output, want Mark) (Output, error) {
	out, err := m.table.Load(m.items(want.Length))
	if err != nil {
		return lines, fault("load into", m.shown, err)
	}
	out.Path = m.shown
	switch {
	case out.Items != lines.Items:
		err = fmt.Errorf("%d items of %d", out.Items, lines.Items)
	case out.SHA256 != lines.SHA256:
		err = errors.New("the items are not those that were loaded")
	default:
		out.Committed = true
		return out, nil
	}
	return lines, unlike(m.shown, err)
}

// makeFile writes the form, reads it back and puts it at the target.
func (m *made) makeFile(want Mark) (Output, error) {
	making := m.target + makingEnding
	out := Output{Path: m.partial, Items: want.Items, Bytes: want.Length}
	wrote, notes, err := m.write(making, want)
	if err != nil {
		return out, err
	}
	got, err := m.count(making)
	switch {
	case err != nil:
	case got.items != want.Items:
		err = fmt.Errorf("%d items of %d", got.items, want.Items)
	case got.length != wrote.length || got.digest() != wrote.digest():
		err = fmt.Errorf("%d bytes, which are not the %d written", got.length, wrote.length)
	}
	if err != nil {
		return Output{Path: making, Items: got.items, Bytes: got.length, SHA256: got.digest()}, unlike(making, err)
	}
	if err := m.leave(note{Made: wrote.digest(), Length: wrote.length}); err != nil {
		return out, err
	}
	if err := m.files.Rename(making, m.target); err != nil {
		return out, fault("replace", m.shown, err)
	}
	if err := m.files.SyncDir(m.dir); err != nil {
		return out, fault("sync the folder of", m.target, err)
	}
	return Output{Path: m.shown, Committed: true, Items: got.items, Bytes: got.length, SHA256: got.digest(), Notes: notes}, nil
}

// write writes the form to a file of its own and makes it durable, with the permissions of the file it replaces.
func (m *made) write(making string, want Mark) (wrote meter, notes []string, err error) {
	if _, err := regular(m.files, making); err != nil {
		return meter{}, nil, err
	}
	lines, err := m.h.Stat()
	if err != nil {
		return meter{}, nil, fault("read", m.partial, err)
	}
	h, err := m.files.OpenFile(making, os.O_RDWR|os.O_APPEND|os.O_CREATE, lines.Mode().Perm())
	if err != nil {
		return meter{}, nil, fault("open", making, err)
	}
	defer func() { err = cmp.Or(err, fault("close", making, h.Close())) }()
	if err := h.Truncate(0); err != nil {
		return meter{}, nil, fault("write", making, err)
	}
	wrote = meter{hash: newHash()}
	b := bufio.NewWriterSize(io.MultiWriter(h, &wrote), bufferSize)
	if notes, err = m.form.Write(b, m.items(want.Length)); err == nil {
		err = b.Flush()
	}
	if err != nil {
		return wrote, nil, fault("write", making, err)
	}
	return wrote, notes, fault("sync", making, cmp.Or(m.dress(h), h.Sync()))
}

// dress gives a file the permissions of the one that it will replace, or of this run's own that was taken away.
func (m *made) dress(h handle) error {
	info, err := regular(m.files, m.target)
	switch {
	case err != nil:
		return err
	case info != nil:
		return h.Chmod(info.Mode().Perm())
	case m.mode != 0:
		return h.Chmod(m.mode)
	}
	return nil
}

// count reads the file of a form by its name: its items by the form's own reader, and its bytes.
func (m *made) count(making string) (found, error) {
	got := found{meter: meter{hash: newHash()}}
	h, err := m.files.OpenFile(making, os.O_RDONLY, 0)
	if err != nil {
		return got, err
	}
	defer h.Close()
	r := stoppable{h, m.stop}
	if _, err := io.CopyBuffer(&got.meter, r, make([]byte, bufferSize)); err != nil {
		return got, err
	}
	got.items, err = m.form.Count(r, got.length)
	return got, err
}

// leave writes a note behind the lines and makes it durable.
func (m *made) leave(n note) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if _, err := m.Write(append(text, '\n')); err != nil {
		return err
	}
	return fault("sync", m.path, m.h.Sync())
}

// letGo gives up the hold that finish kept. The lines stay for a resume, unless keep is false.
func (m *made) letGo(keep bool) error {
	if !m.kept {
		return nil
	}
	m.kept = false
	return m.release(keep)
}

// release also removes what was being made.
func (m *made) release(keep bool) error {
	var err error
	if m.form != nil {
		err = m.files.Remove(m.target + makingEnding)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	err = cmp.Or(m.aside.release(keep), fault("remove", m.target+makingEnding, err))
	if keep || err != nil {
		return err
	}
	return fault("sync the folder of", m.partial, m.files.SyncDir(m.dir)) // no lines come back that nobody waits for
}

// items reads the lines up to a length.
func (a *aside) items(length int64) Lines {
	return func(each func(line []byte) error) error {
		h, err := a.files.OpenFile(a.partial, os.O_RDONLY, 0)
		if err != nil {
			return fault("read", a.partial, err)
		}
		defer h.Close()
		dec, err := a.format.reader(io.LimitReader(stoppable{h, a.stop}, length))
		if err != nil {
			return fault("read", a.partial, err)
		}
		defer dec.Close()
		return eachLine(bufio.NewReaderSize(dec, bufferSize), each)
	}
}

// eachLine calls each with every line, without its end.
func eachLine(r *bufio.Reader, each func(line []byte) error) error {
	var long []byte
	for {
		part, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, part...)
			continue
		case errors.Is(err, io.EOF) && len(long)+len(part) == 0:
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		line := part
		if len(long) > 0 {
			long = append(long, part...)
			line, long = long, long[:0]
		}
		if err := each(line[:len(line)-1]); err != nil {
			return err
		}
	}
}
