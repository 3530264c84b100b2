package sim

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"
)

// Half sends a part of the body. Under every framing but Rewritten and ByClose
// the transport itself can tell.
type Half struct {
	Framing Framing
	// At is the number of bytes that are sent; 0 is half of them.
	At int
	// Gzip compresses first, so that the stream is cut.
	Gzip bool
	// Reset ends with a reset instead of an orderly close.
	Reset bool
	// Stall waits behind the bytes before it ends.
	Stall time.Duration
}

// Name implements [Effect].
func (e Half) Name() string {
	name := "half_" + string(e.Framing)
	if e.Gzip {
		name += "_gzip"
	}
	return name
}
func (Half) stage() stage { return onWire }
func (Half) harm() harm   { return passing }

func (e Half) apply(x *exchange) {
	if x.ans.sent < 0 || x.ans.bodiless() {
		x.idle()
		return
	}
	if e.Gzip && x.ans.header.Get("Content-Encoding") == "" {
		x.ans.zip()
	}
	at := e.At
	if at == 0 {
		at = len(x.ans.body) / 2
	}
	if at >= len(x.ans.body) {
		x.idle()
		return
	}
	x.ans.cut(at, e.Framing)
	if e.Reset {
		x.ans.fail = resetConn
	}
	x.ans.stall = e.Stall
	x.void = true
}

// GzipCut sends a compressed body without its end: without the trailer, or the
// first of two members only. The framing is whole, so that only the decoder,
// or only the parser, can tell.
type GzipCut struct {
	// Members sends the first of two members; else the trailer is lost.
	Members bool
	Close   bool
}

// Name implements [Effect].
func (e GzipCut) Name() string {
	if e.Members {
		return "gzip_member"
	}
	return "gzip_trailer"
}
func (GzipCut) stage() stage { return onWire }
func (GzipCut) harm() harm   { return passing }

func (e GzipCut) apply(x *exchange) {
	a := &x.ans
	if a.sent < 0 || a.bodiless() || len(a.body) < 2 || a.header.Get("Content-Encoding") != "" {
		x.idle()
		return
	}
	part := zipped(a.body)
	part = part[:len(part)-8]
	if e.Members {
		part = zipped(a.body[:len(a.body)/2])
	}
	a.header.Set("Content-Encoding", "gzip")
	a.setBody(part)
	if e.Close {
		a.framing = ByClose
	}
	x.void = true
}

// Trailing puts text behind the body's value.
type Trailing struct{ Text string }

// Name implements [Effect].
func (Trailing) Name() string { return "trailing" }
func (Trailing) stage() stage { return onWire }
func (Trailing) harm() harm   { return passing }

func (e Trailing) apply(x *exchange) {
	if !x.text() {
		x.idle()
		return
	}
	x.ans.setBody(append(bytes.Clone(x.ans.body), e.Text...))
	x.void = true
}

// text reports whether the answer is a body of plain bytes.
func (x *exchange) text() bool {
	a := &x.ans
	return a.sent >= 0 && a.whole() && !a.bodiless() && len(a.body) > 0 && a.header.Get("Content-Encoding") == ""
}

// ErrorTail ends a body that started well with an error's text.
type ErrorTail struct{ Text string }

// Name implements [Effect].
func (ErrorTail) Name() string { return "error_tail" }
func (ErrorTail) stage() stage { return onWire }
func (ErrorTail) harm() harm   { return passing }

func (e ErrorTail) apply(x *exchange) {
	if !x.text() {
		x.idle()
		return
	}
	half := bytes.Clone(x.ans.body[:len(x.ans.body)/2])
	x.ans.setBody(append(half, "\n"+e.Text+"\n"...))
	x.void = true
}

// BOM puts a byte order mark before the body.
type BOM struct{}

// Name implements [Effect].
func (BOM) Name() string { return "bom" }
func (BOM) stage() stage { return onWire }
func (BOM) harm() harm   { return harmless }

func (BOM) apply(x *exchange) {
	if !x.text() {
		x.idle()
		return
	}
	x.ans.setBody(append([]byte("\ufeff"), x.ans.body...))
}

// Charset sends the body in a declared charset: iso-8859-1 or utf-16.
type Charset struct{ Of string }

// Name implements [Effect].
func (e Charset) Name() string { return "charset_" + e.Of }
func (Charset) stage() stage   { return onWire }
func (Charset) harm() harm     { return harmless }

func (e Charset) apply(x *exchange) {
	if !x.text() || x.ans.charset != "" {
		x.idle() // a body has one charset
		return
	}
	encode := latin1
	if e.Of == "utf-16" {
		encode = utf16
	}
	x.ans.setBody(encode(x.ans.body))
	x.ans.charset = e.Of
	x.ans.header.Set("Content-Type", "application/json; charset="+e.Of)
}

// latin1 writes letters outside ISO-8859-1 as JSON escapes.
func latin1(b []byte) []byte {
	var out []byte
	for _, r := range string(b) {
		if r < 0x100 {
			out = append(out, byte(r))
		} else {
			out = fmt.Appendf(out, "\\u%04x", r)
		}
	}
	return out
}

// utf16 is big-endian with a byte order mark; bodies have no letters outside
// the first plane.
func utf16(b []byte) []byte {
	out := make([]byte, 0, 2+2*utf8.RuneCount(b))
	out = append(out, 0xfe, 0xff)
	for _, r := range string(b) {
		out = append(out, byte(r>>8), byte(r))
	}
	return out
}

// Unasked compresses whether or not it was asked for.
type Unasked struct{}

// Name implements [Effect].
func (Unasked) Name() string { return "gzip_unasked" }
func (Unasked) stage() stage { return onWire }
func (Unasked) harm() harm   { return harmless }

func (Unasked) apply(x *exchange) {
	if !x.text() {
		x.idle()
		return
	}
	x.ans.zip()
}

// Frame sends the whole body under another framing.
type Frame struct{ Framing Framing }

// Name implements [Effect].
func (e Frame) Name() string { return "framing_" + string(e.Framing) }
func (Frame) stage() stage   { return onWire }
func (Frame) harm() harm     { return harmless }

func (e Frame) apply(x *exchange) {
	if x.ans.sent < 0 || x.ans.bodiless() {
		x.idle()
		return
	}
	x.ans.framing = e.Framing
}

// ResetAfter resets the connection when every byte is sent.
type ResetAfter struct{}

// Name implements [Effect].
func (ResetAfter) Name() string { return "reset_after" }
func (ResetAfter) stage() stage { return onWire }
func (ResetAfter) harm() harm   { return harmless }

func (ResetAfter) apply(x *exchange) {
	if x.ans.sent < 0 || x.ans.framing == ByClose {
		x.idle()
		return
	}
	x.ans.fail = resetConn
}

// Part is a 206: a part of the body, or with Whole all of it by its
// Content-Range.
type Part struct{ Whole bool }

// Name implements [Effect].
func (e Part) Name() string {
	if e.Whole {
		return "part_whole"
	}
	return "part"
}
func (Part) stage() stage { return onWire }

func (e Part) harm() harm {
	if e.Whole {
		return harmless
	}
	return passing
}

func (e Part) apply(x *exchange) {
	if !x.text() || x.ans.status != http.StatusOK {
		x.idle()
		return
	}
	all := len(x.ans.body)
	n := all
	if !e.Whole {
		n = all / 2
		x.void = true
	}
	x.ans.status = http.StatusPartialContent
	x.ans.setBody(x.ans.body[:n])
	x.ans.header.Set("Content-Range", "bytes 0-"+strconv.Itoa(n-1)+"/"+strconv.Itoa(all))
}

// Lines sends the first Keep lines of a line format, close-delimited: every
// line is whole, and nothing tells that more were to come.
type Lines struct{ Keep int }

// Name implements [Effect].
func (Lines) Name() string { return "cut_lines" }
func (Lines) stage() stage { return onPage }
func (Lines) harm() harm   { return lying }

func (e Lines) apply(x *exchange) {
	if x.api.Format != NDJSON || len(x.page.rows) <= e.Keep {
		x.idle()
		return
	}
	x.page.rows = x.page.rows[:e.Keep]
}
