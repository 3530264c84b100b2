package fetcher

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// errTooLarge is the error of a body above limits.max_body.
var errTooLarge = errors.New("body above limits.max_body")

// errCoding is the error of a content coding that cannot be decoded at all
// (unknown, or the body is not of that coding); a coded body that ends too
// early is io.ErrUnexpectedEOF instead.
var errCoding = errors.New("content coding cannot be decoded")

// decodeCoding undoes the content codings of a whole wire body, in the order
// in which the server applied them. What could be decoded before an error is
// returned with it.
func decodeCoding(wire []byte, header http.Header, limit int64, memory *buffers) ([]byte, error) {
	var codings []string
	for _, v := range header.Values("Content-Encoding") {
		for c := range strings.SplitSeq(v, ",") {
			if c = strings.ToLower(strings.TrimSpace(c)); c != "" && c != "identity" {
				codings = append(codings, c)
			}
		}
	}
	body := wire
	if len(codings) == 0 && bytes.HasPrefix(wire, []byte{0x1f, 0x8b}) {
		codings = []string{"gzip"} // sent without a word about it; no text begins so
	}
	for i := len(codings) - 1; i >= 0; i-- {
		out, err := decodeOne(body, codings[i], limit, memory)
		if err != nil {
			return out, err
		}
		if i < len(codings)-1 {
			memory.put(body) // the wire is the caller's
		}
		body = out
	}
	return body, nil
}

// gzips are decoders to use again: to make one costs more than to decode a page.
var gzips sync.Pool

func decodeOne(b []byte, coding string, limit int64, memory *buffers) ([]byte, error) {
	var r io.Reader
	switch coding {
	case "gzip", "x-gzip":
		if len(b) == 0 {
			return nil, nil
		}
		z, _ := gzips.Get().(*gzip.Reader)
		if z == nil {
			z = new(gzip.Reader)
		}
		defer gzips.Put(z)
		if err := z.Reset(bytes.NewReader(b)); err != nil {
			return nil, codingError(coding, err)
		}
		r = z
	case "zstd":
		z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)+1<<20))
		if err != nil {
			return nil, codingError(coding, err)
		}
		defer z.Close()
		r = z
	case "deflate":
		if z, err := zlib.NewReader(bytes.NewReader(b)); err == nil {
			r = z
		} else {
			r = flate.NewReader(bytes.NewReader(b)) // some servers send it bare
		}
	default:
		return nil, fmt.Errorf("%w: %q is not one of gzip, deflate, zstd", errCoding, clip(coding, 20))
	}
	out, err := readUpTo(r, min(8*int64(len(b)), limit), limit, memory)
	if int64(len(out)) > limit {
		return nil, errTooLarge
	}
	if err != nil {
		return out, codingError(coding, err)
	}
	return out, nil
}

// codingError tells a coded body that ended too early, or whose checksum does
// not fit, from one that is not of that coding.
func codingError(coding string, err error) error {
	short := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, zlib.ErrChecksum) || errors.Is(err, zstd.ErrCRCMismatch)
	if short {
		return fmt.Errorf("%s body: %v: %w", coding, err, io.ErrUnexpectedEOF)
	}
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) {
		return fmt.Errorf("%s body: %v: %w", coding, err, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("%w: %s: %v", errCoding, coding, err)
}

// xmlCharset is the character set that an XML body itself declares.
var xmlCharset = regexp.MustCompile(`^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._-]+)`)

// decodeCharset turns a body into UTF-8: by its byte order mark first, else
// by the declared character set, of the header or of an XML body itself. A body that says it is Latin-1 and is whole
// UTF-8 all the same is left as it is.
func decodeCharset(b []byte, header http.Header) ([]byte, error) {
	switch {
	case bytes.HasPrefix(b, []byte{0xef, 0xbb, 0xbf}):
		return asUTF8(b[3:])
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return transcode(b, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM))
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return transcode(b, unicode.UTF16(unicode.BigEndian, unicode.UseBOM))
	}
	_, params, _ := mime.ParseMediaType(header.Get("Content-Type")) // one that cannot be read declares nothing
	name := strings.ToLower(params["charset"])
	if name == "" && bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n\f"), []byte("<?xml")) {
		if m := xmlCharset.FindSubmatch(b); m != nil {
			name = strings.ToLower(string(m[1]))
		}
	}
	if name == "" || name == "utf-8" || name == "us-ascii" {
		return asUTF8(b)
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		if utf8.Valid(b) {
			return b, nil
		}
		return nil, fmt.Errorf("%w: character set %q is not known", errCoding, clip(name, 20))
	}
	canonical, _ := htmlindex.Name(e)
	if canonical == "utf-8" {
		return asUTF8(b)
	}
	if canonical == "windows-1252" && utf8.Valid(b) {
		return b, nil
	}
	return transcode(b, e)
}

// asUTF8 takes a body that says it is UTF-8, and is.
func asUTF8(b []byte) ([]byte, error) {
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("%w: the body is no UTF-8", errCoding)
	}
	return b, nil
}

func transcode(b []byte, e encoding.Encoding) ([]byte, error) {
	out, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errCoding, err)
	}
	return out, nil
}
