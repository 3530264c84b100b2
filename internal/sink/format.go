package sink

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"lastdrop/internal/sink/codec"
)

// bufferSize is that of the buffers between compressor and file, linesSize of the one that gathers items: a write costs
// the system a fifth less then than in pieces of 64 KB.
const (
	bufferSize = 64 << 10
	linesSize  = 256 << 10
)

// A format lays items out as bytes of a file that may be cut wherever a writer has ended a member.
type format interface {
	// writer returns a writer that appends to w.
	writer(w io.Writer) itemWriter
	// count reads a whole file strictly: what a reader could not read is an error. torn tells that the
	// last item is not ended.
	count(r io.Reader) (items int64, torn bool, err error)
	// reader gives the items back, each with its newline.
	reader(r io.Reader) (io.ReadCloser, error)
}

// An itemWriter appends items.
type itemWriter interface {
	// item appends one item, buffered.
	item(line []byte) error
	// end hands on all that is buffered, so that the file can be read, cut and appended to at this place.
	end() error
}

// formats are told by the ending of the target, the longer ending first.
var formats = []struct {
	ending string
	format format
}{
	{".jsonl.gz", jsonl{codec.Gzip{}}},
	{".jsonl.zst", jsonl{codec.Zstd{}}},
	{".ndjson.gz", jsonl{codec.Gzip{}}},
	{".ndjson.zst", jsonl{codec.Zstd{}}},
	{".jsonl", jsonl{codec.Plain{}}},
	{".ndjson", jsonl{codec.Plain{}}},
}

// formatOf finds the format by the ending of a target.
func formatOf(target string) (format, error) {
	lower := strings.ToLower(target)
	endings := make([]string, 0, len(formats))
	for _, f := range formats {
		if strings.HasSuffix(lower, f.ending) {
			return f.format, nil
		}
		endings = append(endings, f.ending)
	}
	hint := "endings that work: " + strings.Join(endings, ", ")
	return nil, &Error{Op: "open", Path: target, Err: errEnding, Hint: hint}
}

// emptyLength is that of a finished file without items.
func emptyLength(f format) int64 {
	m := meter{}
	if err := f.writer(&m).end(); err != nil {
		return 0
	}
	return m.length
}

var errEnding = errors.New("its ending names no known format")

// plainLines are lines that no ending asks for: those on standard output, and those that a target is made of.
var plainLines = jsonl{codec.Plain{}}

// jsonl is a line an item, compressed or not.
type jsonl struct{ codec codec.Codec }

func (j jsonl) writer(w io.Writer) itemWriter {
	enc := j.codec.Encoder(w)
	return &lineWriter{in: bufio.NewWriterSize(enc, linesSize), enc: enc}
}

func (j jsonl) reader(r io.Reader) (io.ReadCloser, error) { return j.codec.Decoder(r) }

func (j jsonl) count(r io.Reader) (items int64, torn bool, err error) {
	dec, err := j.codec.Decoder(bufio.NewReaderSize(r, bufferSize))
	if err != nil {
		return 0, false, err
	}
	defer dec.Close()
	buf := make([]byte, bufferSize)
	for {
		n, err := dec.Read(buf)
		if n > 0 {
			items += int64(bytes.Count(buf[:n], newline))
			torn = buf[n-1] != '\n'
		}
		if errors.Is(err, io.EOF) {
			return items, torn, nil
		}
		if err != nil {
			return items, torn, err
		}
	}
}

var newline = []byte{'\n'}

type lineWriter struct {
	in  *bufio.Writer
	enc codec.Encoder
}

func (l *lineWriter) item(line []byte) error {
	if _, err := l.in.Write(line); err != nil {
		return err
	}
	return l.in.WriteByte('\n')
}

func (l *lineWriter) end() error {
	if err := l.in.Flush(); err != nil {
		return err
	}
	return l.enc.End()
}
