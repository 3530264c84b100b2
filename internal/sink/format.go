package sink

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// bufferSize is that of the buffers between items, compressor and file.
const bufferSize = 64 << 10

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
	{".jsonl.gz", jsonl{gzipped{}}},
	{".jsonl.zst", jsonl{zstandard{}}},
	{".ndjson.gz", jsonl{gzipped{}}},
	{".ndjson.zst", jsonl{zstandard{}}},
	{".jsonl", jsonl{plain{}}},
	{".ndjson", jsonl{plain{}}},
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

// jsonl is a line an item, compressed or not.
type jsonl struct{ codec codec }

func (j jsonl) writer(w io.Writer) itemWriter {
	enc := j.codec.encoder(w)
	return &lineWriter{in: bufio.NewWriterSize(enc, bufferSize), enc: enc}
}

func (j jsonl) reader(r io.Reader) (io.ReadCloser, error) { return j.codec.decoder(r) }

func (j jsonl) count(r io.Reader) (items int64, torn bool, err error) {
	dec, err := j.codec.decoder(bufio.NewReaderSize(r, bufferSize))
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
	enc encoder
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
	return l.enc.end()
}

// A codec is a compression whose members can stand one behind another in a file.
type codec interface {
	encoder(w io.Writer) encoder
	decoder(r io.Reader) (io.ReadCloser, error)
}

// An encoder compresses what it is given.
type encoder interface {
	io.Writer
	// end ends the member, an empty one too, and hands it on whole. The next Write starts another.
	end() error
}

// plain compresses nothing.
type plain struct{}

func (plain) encoder(w io.Writer) encoder                { return plainEncoder{w} }
func (plain) decoder(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(r), nil }

type plainEncoder struct{ io.Writer }

func (plainEncoder) end() error { return nil }

// gzipped is a gzip member a Sync.
type gzipped struct{}

func (gzipped) encoder(w io.Writer) encoder {
	out := bufio.NewWriterSize(w, bufferSize)
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	return &memberEncoder{out: out, z: z, err: err}
}

func (gzipped) decoder(r io.Reader) (io.ReadCloser, error) {
	z, err := gzip.NewReader(r)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	return z, nil
}

// zstdWindow is how far back a frame refers. Items repeat one another at short distance, and a reader has to
// keep a window in memory.
const zstdWindow = 1 << 20

// zstandard is a zstd frame, with its checksum, a Sync.
type zstandard struct{}

func (zstandard) encoder(w io.Writer) encoder {
	out := bufio.NewWriterSize(w, bufferSize)
	z, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstdWindow),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true), zstd.WithZeroFrames(true))
	return &memberEncoder{out: out, z: z, err: err}
}

func (zstandard) decoder(r io.Reader) (io.ReadCloser, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return z.IOReadCloser(), nil
}

// memberEncoder ends a member by closing the compressor and starting it anew.
type memberEncoder struct {
	out *bufio.Writer
	z   interface {
		io.WriteCloser
		Reset(w io.Writer)
	}
	err error // of making the compressor
}

func (m *memberEncoder) Write(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	return m.z.Write(p)
}

func (m *memberEncoder) end() error {
	if m.err != nil {
		return m.err
	}
	if err := m.z.Close(); err != nil {
		return err
	}
	if err := m.out.Flush(); err != nil {
		return err
	}
	m.z.Reset(m.out)
	return nil
}
