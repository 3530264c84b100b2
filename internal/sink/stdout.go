package sink

import (
	"errors"
	"io"
	"os"
)

// openStdout is an output that cannot be cut back and hence not resumed.
func openStdout(o Options) (*File, error) {
	if o.Resume != nil && o.Resume.Length > 0 {
		return nil, errors.New("standard output cannot be resumed; start anew, or write to a file")
	}
	w := o.Stdout
	if w == nil {
		w = os.Stdout
	}
	p := newPipe(w)
	f := &File{place: p}
	f.tally = tally{w: p}
	f.w = plainLines.writer(&f.tally)
	if o.Stream != nil {
		p.stream = o.Stream(&f.tally)
		f.w = streamWriter{p.stream}
	}
	return f, nil
}

// A Stream makes what goes to standard output of the items.
type Stream interface {
	// Item appends one item, buffered.
	Item(line []byte) error
	// Flush hands on all that is buffered.
	Flush() error
	// End appends what follows the last item, and hands it on.
	End(complete bool) error
}

type streamWriter struct{ s Stream }

func (w streamWriter) item(line []byte) error { return w.s.Item(line) }
func (w streamWriter) end() error             { return w.s.Flush() }

var errShortPipe = errors.New("standard output took less than it was given")

// A pipe is an output that cannot be taken back: standard output.
type pipe struct {
	w      io.Writer
	stream Stream // nil: lines
	meter
}

func newPipe(w io.Writer) *pipe { return &pipe{w: w, meter: meter{hash: newHash()}} }

func (p *pipe) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if err == nil && n < len(b) {
		err = errShortPipe
	}
	_, _ = p.meter.Write(b[:n])
	return n, fault("write", "standard output", err)
}

func (p *pipe) begin() error       { return nil }
func (p *pipe) settle(int64) error { return nil }
func (p *pipe) release(bool) error { return nil }

func (p *pipe) finish(want Mark, complete bool) (Output, error) {
	if p.stream != nil {
		if err := p.stream.End(complete); err != nil {
			return Output{}, err
		}
	}
	out := Output{Path: Stdout, Committed: true, Items: want.Items, Bytes: p.length, SHA256: p.digest()}
	return out, nil
}
