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
	f.w = jsonl{plain{}}.writer(&f.tally)
	return f, nil
}

var errShortPipe = errors.New("standard output took less than it was given")

// A pipe is an output that cannot be taken back: standard output.
type pipe struct {
	w io.Writer
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

func (p *pipe) finish(want Mark, _ bool) (Output, error) {
	out := Output{Path: Stdout, Committed: true, Items: want.Items, Bytes: p.length, SHA256: p.digest()}
	return out, nil
}
