package fetcher

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// whole is a page with what makes JSON hard to cut: nested values, escapes,
// numbers with exponents, a bracket in a string, text beyond ASCII.
const whole = `{"total":3,"rows":[{"id":1,"v":[1.5e3,null,true]},{"id":2,"s":"a\"]}é\u00e9"},{"id":3,"o":{"k":{}}}]}`

// coded gives text in a content coding, by the standard library where it has
// that coding.
func coded(t testing.TB, coding, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "bare deflate":
		w, err = flate.NewWriter(&b, flate.DefaultCompression)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	default:
		return []byte(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func header(kv ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(kv); i += 2 {
		h.Add(kv[i], kv[i+1])
	}
	return h
}

func TestDecodeCoding(t *testing.T) {
	gz := coded(t, "gzip", whole)
	for _, c := range []struct {
		name   string
		wire   []byte
		header http.Header
	}{
		{"none", []byte(whole), header()},
		{"identity", []byte(whole), header("Content-Encoding", "identity")},
		{"gzip", gz, header("Content-Encoding", "gzip")},
		{"in capitals", gz, header("Content-Encoding", " GZIP ")},
		{"x-gzip", gz, header("Content-Encoding", "x-gzip")},
		{"gzip without a word about it", gz, header()},
		{"two gzip members", append(coded(t, "gzip", whole[:20]), coded(t, "gzip", whole[20:])...), header("Content-Encoding", "gzip")},
		{"deflate", coded(t, "deflate", whole), header("Content-Encoding", "deflate")},
		{"deflate, bare", coded(t, "bare deflate", whole), header("Content-Encoding", "deflate")},
		{"zstd", coded(t, "zstd", whole), header("Content-Encoding", "zstd")},
		{"two codings, in their order", coded(t, "gzip", string(coded(t, "zstd", whole))), header("Content-Encoding", "zstd, gzip")},
		{"two codings in two headers", coded(t, "gzip", string(coded(t, "deflate", whole))), header("Content-Encoding", "deflate", "Content-Encoding", "gzip")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := decodeCoding(c.wire, c.header, 1<<20, new(buffers))
			if err != nil || string(got) != whole {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// However a coded body is cut, it is half a body: its coding says so.
func TestDecodeCutCoding(t *testing.T) {
	for _, coding := range []string{"gzip", "deflate", "bare deflate", "zstd"} {
		wire := coded(t, coding, whole)
		h := header("Content-Encoding", strings.TrimPrefix(coding, "bare "))
		for n := 1; n < len(wire); n++ {
			if got, err := decodeCoding(wire[:n], h, 1<<20, new(buffers)); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, %d of %d bytes: %q, %v", coding, n, len(wire), got, err)
			}
		}
	}
}

// A body whose checksum does not fit is half a body too.
func TestDecodeBadChecksum(t *testing.T) {
	for _, c := range []struct {
		coding string
		at     int // the changed byte, from the end
	}{{"gzip", 8}, {"deflate", 1}, {"zstd", 1}} {
		wire := coded(t, c.coding, whole)
		wire[len(wire)-c.at] ^= 1
		if _, err := decodeCoding(wire, header("Content-Encoding", c.coding), 1<<20, new(buffers)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", c.coding, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	bomb := strings.Repeat(" ", 1<<16)
	for _, c := range []struct {
		name   string
		wire   []byte
		coding string
		want   error
	}{
		{"an unknown coding", []byte(whole), "br", errCoding},
		{"an unknown coding below a known one", coded(t, "gzip", whole), "br, gzip", errCoding},
		{"plain text that says it is gzip", []byte(whole), "gzip", errCoding},
		{"plain text that says it is zstd", []byte(whole), "zstd", errCoding},
		{"gzip, larger than the limit once undone", coded(t, "gzip", bomb), "gzip", errTooLarge},
		{"zstd, larger than the limit once undone", coded(t, "zstd", bomb), "zstd", errTooLarge},
		{"deflate, larger than the limit once undone", coded(t, "deflate", bomb), "deflate", errTooLarge},
	} {
		if _, err := decodeCoding(c.wire, header("Content-Encoding", c.coding), 1<<15, new(buffers)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// The limit itself is allowed; one byte above it is not.
func TestDecodeLimitIsExact(t *testing.T) {
	for _, coding := range []string{"gzip", "deflate", "zstd"} {
		wire, h := coded(t, coding, whole), header("Content-Encoding", coding)
		if got, err := decodeCoding(wire, h, int64(len(whole)), new(buffers)); err != nil || string(got) != whole {
			t.Errorf("%s at the limit: %q, %v", coding, got, err)
		}
		if _, err := decodeCoding(wire, h, int64(len(whole))-1, new(buffers)); !errors.Is(err, errTooLarge) {
			t.Errorf("%s above the limit: %v", coding, err)
		}
	}
}

func TestDecodeCharset(t *testing.T) {
	utf16 := func(mark, text string, big bool) string {
		for _, r := range text {
			b := []byte{byte(r), byte(r >> 8)}
			if big {
				b[0], b[1] = b[1], b[0]
			}
			mark += string(b)
		}
		return mark
	}
	for _, c := range []struct {
		name, body, contentType, want string
		fails                         bool
	}{
		{"none declared", `"é"`, "", `"é"`, false},
		{"declared UTF-8", `"é"`, "application/json; charset=UTF-8", `"é"`, false},
		{"a byte order mark", "\ufeff\"é\"", "application/json", `"é"`, false},
		{"UTF-16 by its mark, little end first", utf16("\xff\xfe", `"é"`, false), "", `"é"`, false},
		{"UTF-16 by its mark, big end first", utf16("\xfe\xff", `"é"`, true), "", `"é"`, false},
		{"Latin-1", "\"\xe9\"", "application/json; charset=iso-8859-1", `"é"`, false},
		{"said to be Latin-1, and whole UTF-8", `"é"`, "application/json; charset=iso-8859-1", `"é"`, false},
		{"an unknown one, and whole UTF-8", `"é"`, "application/json; charset=klingon", `"é"`, false},
		{"an unknown one, and no UTF-8", "\"\xe9\"", "application/json; charset=klingon", "", true},
		{"a header that cannot be read", `"é"`, "application/json; charset", `"é"`, false},
		{"XML that says it is Latin-1", "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>", "application/xml", "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>", false},
		{"XML whose header says otherwise", `<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>`, "text/xml; charset=utf-8", `<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>`, false},
		{"XML that says what it is not", `<?xml version="1.0" encoding="utf-8"?>` + "<a>\xe9</a>", "", "", true},
		{"JSON that quotes XML", "\"<?xml encoding='iso-8859-1'?>é\"", "", "\"<?xml encoding='iso-8859-1'?>é\"", false},
		{"Shift JIS", "\"\x93\xfa\"", "application/json; charset=shift_jis", `"日"`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := decodeCharset([]byte(c.body), header("Content-Type", c.contentType))
			if (err != nil) != c.fails || string(got) != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
			if err != nil && !errors.Is(err, errCoding) {
				t.Errorf("%v is no errCoding", err)
			}
		})
	}
}

// No strict prefix of a body passes as a whole page, even where nothing but
// the body itself can tell: no length, no chunks, no coding.
func TestPrefixIsNoPage(t *testing.T) {
	d := walk(t, rowsSpec("http://127.0.0.1"), quick())
	for n := range len(whole) {
		a := sorted(t, d, raw{status: 200, url: d.spec.URL, body: []byte(whole[:n]), wire: int64(n)})
		if want := kindHalf; a.kind != want && n > 0 {
			t.Errorf("%d bytes are sorted as %d, want half a body: %s", n, a.kind, a.text)
		}
		if len(a.page.Items) > 0 {
			t.Errorf("%d bytes give %d items", n, len(a.page.Items))
		}
	}
	a := sorted(t, d, raw{status: 200, url: d.spec.URL, body: []byte(whole), wire: int64(len(whole))})
	if a.kind != kindPage || len(a.page.Items) != 3 {
		t.Fatalf("the whole body is no page: %d, %s", a.kind, a.text)
	}
}

// The same over a real connection that the server closes early, in each way
// that HTTP has to say how long a body is.
func TestPrefixOverTheWireIsNoPage(t *testing.T) {
	gz := coded(t, "gzip", whole)
	for _, c := range []struct {
		name string
		head string
		body []byte
	}{
		{"a declared length", fmt.Sprintf("Content-Length: %d\r\n", len(whole)), []byte(whole)},
		{"chunks", "Transfer-Encoding: chunked\r\n", fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(whole), whole)},
		{"until the connection closes", "Connection: close\r\n", []byte(whole)},
		{"gzip until the connection closes", "Connection: close\r\nContent-Encoding: gzip\r\n", gz},
		{"gzip and a declared length", fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n", len(gz)), gz},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n int
			srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%s\r\n%s", c.head, c.body[:n])
			})
			d := walk(t, rowsSpec(srv.URL), quick())
			for n = 0; n < len(c.body); n += 3 {
				a := sorted(t, d, once(t, d, srv.URL+"/rows"))
				if a.kind == kindPage || len(a.page.Items) > 0 {
					t.Errorf("%d of %d bytes pass as a page: %s", n, len(c.body), a.text)
				}
			}
			n = len(c.body)
			if a := sorted(t, d, once(t, d, srv.URL+"/rows")); a.kind != kindPage || len(a.page.Items) != 3 {
				t.Errorf("the whole body is no page: %d, %s", a.kind, a.text)
			}
		})
	}
}
