// Package parquet lays the items of a run out as a Parquet file.
//
// Every column may be null, which a member that is null and one that is missing both are. What a column's type is
// follows from all of its values: see table.Kind.
package parquet

import (
	"cmp"
	"errors"
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"lastdrop/internal/jsonscan"
	"lastdrop/internal/sink/table"
)

// groupSize is how many bytes of items go into one row group, which has to fit into memory.
const groupSize = 64 << 20

// compression keeps its encoders from file to file. It may be used by several at once.
var compression = &zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}

// Form is Parquet, its pages compressed by zstd.
type Form struct {
	group int // bytes of items in a row group; 0: groupSize
}

// Write writes the columns that all items have together, and a row an item.
func (f Form) Write(w io.Writer, items func(each func(line []byte) error) error) ([]string, error) {
	l := layout{most: cmp.Or(f.group, groupSize)}
	if err := items(l.cols.Add); err != nil {
		return nil, err
	}
	schema := l.schema()
	l.out = parquet.NewGenericWriter[any](w, schema, parquet.Compression(compression),
		parquet.CreatedBy("lastdrop", "", ""))
	if err := items(l.item); err != nil {
		return nil, err
	}
	if err := l.out.Close(); err != nil {
		return nil, err
	}
	notes := append(l.cols.Notes(), l.cols.KindNotes()...)
	return append(notes, table.RenameNotes(l.cols.Keys(), l.names)...), nil
}

// layout is a file being written.
type layout struct {
	cols  table.Columns
	names []string // of the keys' columns
	whole bool     // a last column has the item as JSON
	rest  bool     // a last column has the members beyond the columns
	out   *parquet.GenericWriter[any]
	row   table.Row
	cells parquet.Row
	group int // bytes of items in the open row group
	most  int // of these
}

// schema names the columns.
func (l *layout) schema() *parquet.Schema {
	keys := l.cols.Keys()
	l.rest = l.cols.HasRest()
	l.whole = len(keys) == 0 // a file must have a column
	l.names = table.Names(keys, []string{table.Rest, table.Item}, func(name string) string { return name }, nil)
	var root columns
	for i, name := range l.names {
		root.add(name, nodeOf(l.cols.Kind(i)))
	}
	if l.rest {
		root.add(table.Rest, parquet.JSON())
	}
	if l.whole {
		root.add(table.Item, parquet.JSON())
	}
	return parquet.NewSchema("item", &root)
}

func nodeOf(k table.Kind) parquet.Node {
	switch k {
	case table.Bool:
		return parquet.Leaf(parquet.BooleanType)
	case table.Int:
		return parquet.Int(64)
	case table.Double:
		return parquet.Leaf(parquet.DoubleType)
	case table.JSON:
		return parquet.JSON()
	case table.Bytes:
		return parquet.Leaf(parquet.ByteArrayType)
	}
	return parquet.String()
}

// columns is a group that keeps the order of its fields.
type columns struct {
	parquet.Group
	fields []parquet.Field
}

func (c *columns) add(name string, n parquet.Node) {
	c.fields = append(c.fields, field{parquet.Optional(n), name})
	if c.Group == nil {
		c.Group = parquet.Group{}
	}
	c.Group[name] = c.fields[len(c.fields)-1]
}

// Fields returns the columns in the order in which they were added.
func (c *columns) Fields() []parquet.Field { return c.fields }

type field struct {
	parquet.Node
	name string
}

// Name is the column's.
func (f field) Name() string { return f.name }

// Value is never asked for, since rows are written and no Go values.
func (f field) Value(base reflect.Value) reflect.Value { return base.MapIndex(reflect.ValueOf(f.name)) }

// item writes a row.
func (l *layout) item(item []byte) error {
	if err := l.cols.Lay(item, &l.row); err != nil {
		return err
	}
	l.cells = l.cells[:0]
	for i, v := range l.row.Cells {
		l.cell(l.value(i, v))
	}
	if l.rest {
		l.cell(textOf(l.row.Rest))
	}
	if l.whole {
		l.cell(parquet.ByteArrayValue(item))
	}
	if _, err := l.out.WriteRows([]parquet.Row{l.cells}); err != nil {
		return err
	}
	if l.group += len(item); l.group < l.most {
		return nil
	}
	l.group = 0
	return l.out.Flush()
}

func (l *layout) cell(v parquet.Value) {
	defined := 1
	if v.IsNull() {
		defined = 0
	}
	l.cells = append(l.cells, v.Level(0, defined, len(l.cells)))
}

func (l *layout) value(i int, v jsonscan.Value) parquet.Value {
	if !v.Exists() || v.IsNull() {
		return parquet.NullValue()
	}
	switch l.cols.Kind(i) {
	case table.Bool:
		return parquet.BooleanValue(v.Bool())
	case table.Int:
		n, _ := table.Whole(v)
		return parquet.Int64Value(n)
	case table.Double:
		f, _ := table.Exact(v)
		return parquet.DoubleValue(f)
	}
	return textOf(v)
}

func textOf(v jsonscan.Value) parquet.Value {
	switch v.Type {
	case jsonscan.TypeAbsent:
		return parquet.NullValue()
	case jsonscan.TypeString:
		return parquet.ByteArrayValue([]byte(v.Str()))
	}
	return parquet.ByteArrayValue(v.Raw)
}

// Count reads every row.
func (Form) Count(r io.ReaderAt, size int64) (int64, error) {
	f, err := parquet.OpenFile(r, size)
	if err != nil {
		return 0, err
	}
	var n int64
	rows := make([]parquet.Row, 64)
	for _, g := range f.RowGroups() {
		got, err := countRows(g.Rows(), rows)
		n += got
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func countRows(from parquet.Rows, rows []parquet.Row) (n int64, err error) {
	defer from.Close()
	for {
		got, err := from.ReadRows(rows)
		n += int64(got)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
