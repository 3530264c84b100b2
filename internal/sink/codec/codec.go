// Package codec compresses files that may be cut, and appended to, wherever a member of them has ended.
package codec

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// bufferSize is that of the buffer between compressor and file.
const bufferSize = 64 << 10

// A Codec is a compression whose members can stand one behind another in a file.
type Codec interface {
	// Encoder compresses what is written to it into w.
	Encoder(w io.Writer) Encoder
	// Decoder reads all members strictly.
	Decoder(r io.Reader) (io.ReadCloser, error)
}

// An Encoder compresses what it is given.
type Encoder interface {
	io.Writer
	// End ends the member, an empty one too, and hands it on whole. The next Write starts another.
	End() error
}

// Plain compresses nothing.
type Plain struct{}

// Encoder passes everything on.
func (Plain) Encoder(w io.Writer) Encoder { return plainEncoder{w} }

// Decoder passes everything on.
func (Plain) Decoder(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(r), nil }

type plainEncoder struct{ io.Writer }

func (plainEncoder) End() error { return nil }

// Gzip ends gzip members.
type Gzip struct{}

// Encoder compresses at the best speed.
func (Gzip) Encoder(w io.Writer) Encoder {
	out := bufio.NewWriterSize(w, bufferSize)
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	return &memberEncoder{out: out, z: z, err: err}
}

// Decoder fails where no member begins.
func (Gzip) Decoder(r io.Reader) (io.ReadCloser, error) {
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

// Zstd ends zstd frames, each with its checksum.
type Zstd struct{}

// Encoder compresses at the best speed.
func (Zstd) Encoder(w io.Writer) Encoder {
	out := bufio.NewWriterSize(w, bufferSize)
	z, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstdWindow),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true), zstd.WithZeroFrames(true))
	return &memberEncoder{out: out, z: z, err: err}
}

// Decoder checks each frame's checksum.
func (Zstd) Decoder(r io.Reader) (io.ReadCloser, error) {
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

func (m *memberEncoder) End() error {
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
