package configs

import "testing"

func TestFormatOf(t *testing.T) {
	for file, want := range map[string]string{
		"x.jsonl": ".jsonl", "out/X.NDJSON.GZ": ".ndjson.gz", "x.csv.zst": ".csv.zst", "x.y.parquet": ".parquet", "x.sqlite3": ".sqlite3",
		"postgres://u:p@h/x.db": "postgres", "PostgreSQL:///x": "postgres", "s3://b/x.jsonl": "s3", "mysql://h/x.db": "",
		"": "", "-": "", ".csv": "", "x": "", "x.csv.bz2": "", "x.parquet.gz": "",
	} {
		if got := FormatOf(file); got != want {
			t.Errorf("the format of %q is %q, want %q", file, got, want)
		}
	}
	for _, f := range formats {
		if FormatOf("x"+f) != f {
			t.Errorf("the format of x%s is %q", f, FormatOf("x"+f))
		}
	}
}

func TestTableOf(t *testing.T) {
	for _, c := range []struct{ name, table, file, want string }{
		{"a.b", "", "x.db", "a.b"}, {"a", "t", "x.sqlite", "t"}, {"a", "", "x.csv", ""}, {"a", "", "-", ""}, {"a/of this", "", "x.db", "a"},
	} {
		if got := (&Config{Name: c.name, Output: Output{Table: c.table}}).TableOf(c.file); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
