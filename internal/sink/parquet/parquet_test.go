package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"lastdrop/internal/sink/sinktest"
)

func written(t testing.TB, items ...string) (columns []string, rows []string, notes []string) {
	t.Helper()
	return writtenAs(t, Form{}, items...)
}

// writtenAs gives the file's columns with their types, its rows as text, and the notes.
func writtenAs(t testing.TB, form Form, items ...string) (columns []string, rows []string, notes []string) {
	t.Helper()
	var b bytes.Buffer
	notes, err := form.Write(&b, sinktest.Of(items...))
	if err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(b.Bytes())
	if n, err := (Form{}).Count(r, int64(b.Len())); err != nil || n != int64(len(items)) {
		t.Fatalf("%d items are read back, %v; want %d", n, err, len(items))
	}
	f, err := parquet.OpenFile(r, int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range f.Schema().Fields() {
		if !field.Optional() {
			t.Errorf("column %q is not optional", field.Name())
		}
		columns = append(columns, field.Name()+" "+field.Type().String())
	}
	for _, g := range f.RowGroups() {
		rows = append(rows, texts(t, g)...)
	}
	return columns, rows, notes
}

func texts(t testing.TB, g parquet.RowGroup) (all []string) {
	rows := g.Rows()
	defer rows.Close()
	for row := make([]parquet.Row, 1); ; {
		n, err := rows.ReadRows(row)
		if n == 1 {
			var cells []string
			for _, v := range row[0] {
				cells = append(cells, v.String())
			}
			all = append(all, strings.Join(cells, "|"))
		}
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsWritten(t *testing.T) {
	for name, c := range map[string]struct{ items, columns, rows []string }{
		"types in order of appearance": {
			[]string{`{"z":1,"b":true,"f":1.5,"t":"x","n":{"a": 1}}`, `{"z":-9223372036854775808}`, `{"f":2,"t":null}`},
			[]string{"z INT(64,true)", "b BOOLEAN", "f DOUBLE", "t STRING", "n JSON"},
			[]string{`1|true|1.5|x|{"a": 1}`, `-9223372036854775808|<null>|<null>|<null>|<null>`, `<null>|<null>|2|<null>|<null>`}},
		"nothing is rounded": {
			[]string{`{"a":9223372036854775808,"b":9007199254740993}`, `{"a":1,"b":0.5}`},
			[]string{"a STRING", "b STRING"}, []string{"9223372036854775808|9007199254740993", "1|0.5"}},
		"mixtures": {
			[]string{`{"a":1}`, `{"a":"1"}`, `{"a":[1]}`, `{"a":false}`}, []string{"a STRING"}, []string{"1", "1", "[1]", "false"}},
		"bytes":                    {[]string{"{\"a\":\"\xff\\u0000\"}"}, []string{"a BYTE_ARRAY"}, []string{"\xff\x00"}},
		"keys that differ by case": {[]string{`{"id":1,"ID":2}`}, []string{"id INT(64,true)", "ID INT(64,true)"}, []string{"1|2"}},
		"odd keys":                 {[]string{`{"":1,"a.b":2,"\u0000":3}`}, []string{" INT(64,true)", "a.b INT(64,true)", "\x00 INT(64,true)"}, []string{"1|2|3"}},
		"only empty objects":       {[]string{`{}`, `{}`}, []string{"_item JSON"}, []string{"{}", "{}"}},
		"only nulls":               {[]string{`{"a":null}`}, []string{"a STRING"}, []string{"<null>"}},
		"no items":                 {nil, []string{"_item JSON"}, nil},
		"other types":              {[]string{`5`, `"x"`}, []string{"value STRING"}, []string{"5", "x"}},
		"a key called like ours":   {[]string{`{"_item":1}`}, []string{"_item_2 INT(64,true)"}, []string{"1"}},
	} {
		columns, rows, _ := written(t, c.items...)
		if !reflect.DeepEqual(columns, c.columns) || !reflect.DeepEqual(rows, c.rows) {
			t.Errorf("%s:\n got %q\n     %q\nwant %q\n     %q", name, columns, rows, c.columns, c.rows)
		}
	}
}

func TestNotes(t *testing.T) {
	_, _, notes := written(t, `{"a":1,"_rest":1}`, `{"a":1.5}`, `7`)
	want := []string{"1 item came as no object: the column value holds them", `column "a": whole numbers and decimals, kept as doubles`,
		`key "_rest": its column is called "_rest_2"`}
	if !reflect.DeepEqual(notes, want) {
		t.Errorf("%q, want %q", notes, want)
	}
}

func TestManyColumnsAndLargeItems(t *testing.T) {
	var b strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	large := strings.Repeat("x", 10<<20)
	columns, rows, _ := written(t, "{"+b.String()[1:]+"}", `{"k3":"`+large+`"}`, `{"k5":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`}`)
	if len(columns) != 1001 || columns[1000] != "_rest JSON" || !strings.HasSuffix(rows[0], `,"k1099":1099}`) {
		t.Errorf("%d columns, the last %s", len(columns), columns[len(columns)-1])
	}
	if !strings.Contains(rows[1], "|"+large+"|") {
		t.Error("the large item is not there")
	}
}

// TestRowGroups writes more than one group's size, and finds all of it in order.
func TestRowGroups(t *testing.T) {
	pad := strings.Repeat("x", 1<<10)
	var items []string
	for i := range 140 {
		items = append(items, fmt.Sprintf(`{"i":%d,"pad":"%s"}`, i, pad))
	}
	_, rows, _ := writtenAs(t, Form{group: 10_000}, items...)
	if len(rows) != len(items) {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		if !strings.HasPrefix(row, fmt.Sprintf("%d|x", i)) {
			t.Fatalf("row %d begins with %.10s", i, row)
		}
	}
}

func TestCountIsStrict(t *testing.T) {
	var b bytes.Buffer
	if _, err := (Form{}).Write(&b, sinktest.Of(`{"a":"some text that is here"}`, `{"a":"and more"}`)); err != nil {
		t.Fatal(err)
	}
	for n := range b.Len() {
		if got, err := (Form{}).Count(bytes.NewReader(b.Bytes()[:n]), int64(n)); err == nil {
			t.Fatalf("%d of %d bytes hold %d items", n, b.Len(), got)
		}
	}
}

func TestErrors(t *testing.T) {
	if _, err := (Form{}).Write(io.Discard, sinktest.Of(`{"a":`)); err == nil {
		t.Error("half an item was written")
	}
	gone := errors.New("gone")
	if _, err := (Form{}).Write(failing{gone}, sinktest.Of(`{"a":1}`)); !errors.Is(err, gone) {
		t.Errorf("%v, want the writer's error", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func BenchmarkWrite(b *testing.B) {
	item := `{"id":123456,"author":"user17","points":88,"text":"` + strings.Repeat("completeness is a property. ", 20) + `","tags":["story","comment"]}`
	items := make([]string, 10_000)
	for i := range items {
		items[i] = item
	}
	b.SetBytes(int64(len(item) * len(items)))
	for b.Loop() {
		if _, err := (Form{}).Write(io.Discard, sinktest.Of(items...)); err != nil {
			b.Fatal(err)
		}
	}
}
