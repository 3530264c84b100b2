// Package csv lays the items of a run out as CSV by RFC 4180: a header, CRLF, UTF-8 as it came.
//
// Texts are quoted, always; numbers, true, false and null stand bare and as they came; a missing member is an empty
// cell. So null and "null", missing and "", 7 and "7" stay apart. Objects and lists are quoted as JSON.
package csv

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"lastdrop/internal/jsonscan"
	"lastdrop/internal/sink/codec"
	"lastdrop/internal/sink/table"
)

// Form is CSV, compressed by its Codec.
type Form struct{ Codec codec.Codec }

// Write writes a header of all columns, and a line an item.
func (f Form) Write(w io.Writer, items func(each func(line []byte) error) error) ([]string, error) {
	var cols table.Columns
	if err := items(cols.Add); err != nil {
		return nil, err
	}
	enc := f.Codec.Encoder(w)
	out := &writer{Writer: bufio.NewWriter(enc), cols: &cols}
	names := out.header()
	if err := items(out.item); err != nil {
		return nil, err
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	return append(cols.Notes(), table.RenameNotes(cols.Keys(), names)...), enc.End()
}

// writer keeps the first error of its bufio.Writer.
type writer struct {
	*bufio.Writer
	cols  *table.Columns
	row   table.Row
	whole bool // a last column has the item as JSON
	rest  bool // a last column has the members beyond the columns
}

// header writes the names of the columns and returns those of the keys.
func (w *writer) header() []string {
	keys := w.cols.Keys()
	w.rest = w.cols.HasRest()
	// A line of one empty cell would be blank, and most readers pass over it.
	w.whole = len(keys) < 2
	var own []string
	if w.rest {
		own = append(own, table.Rest)
	}
	if w.whole {
		own = append(own, table.Item)
	}
	names := table.Names(keys, own, func(name string) string { return name }, nil)
	for i, name := range append(names[:len(names):len(names)], own...) {
		w.comma(i)
		w.quoted([]byte(name))
	}
	_, _ = w.WriteString("\r\n")
	return names
}

// item writes a line.
func (w *writer) item(item []byte) error {
	if err := w.cols.Lay(item, &w.row); err != nil {
		return err
	}
	for i, v := range w.row.Cells {
		w.comma(i)
		w.cell(v)
	}
	if w.rest {
		w.comma(1)
		w.cell(w.row.Rest)
	}
	if w.whole {
		w.comma(len(w.row.Cells))
		w.quoted(item)
	}
	_, err := w.WriteString("\r\n")
	return err
}

func (w *writer) comma(i int) {
	if i > 0 {
		_ = w.WriteByte(',')
	}
}

func (w *writer) cell(v jsonscan.Value) {
	switch v.Type {
	case jsonscan.TypeString:
		w.quoted([]byte(v.Str()))
	case jsonscan.TypeObject, jsonscan.TypeArray:
		w.quoted(v.Raw)
	default:
		_, _ = w.Write(v.Raw)
	}
}

func (w *writer) quoted(text []byte) {
	_ = w.WriteByte('"')
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			break
		}
		_, _ = w.Write(text[:i+1])
		_ = w.WriteByte('"')
		text = text[i+1:]
	}
	_, _ = w.Write(text)
	_ = w.WriteByte('"')
}

// Count reads all lines with the standard library's strict reader, and counts those below the header.
func (f Form) Count(r io.ReaderAt, size int64) (int64, error) {
	dec, err := f.Codec.Decoder(bufio.NewReader(io.NewSectionReader(r, 0, size)))
	if err != nil {
		return 0, err
	}
	defer dec.Close()
	lines := csv.NewReader(dec)
	lines.ReuseRecord = true
	if _, err := lines.Read(); err != nil {
		return 0, fmt.Errorf("the header: %w", err)
	}
	for n := int64(0); ; n++ {
		_, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
