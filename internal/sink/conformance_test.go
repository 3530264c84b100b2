package sink_test

import (
	"bytes"
	"context"
	"database/sql"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"lastdrop/internal/pgtest"
	"lastdrop/internal/s3test"
	"lastdrop/internal/secret"
	"lastdrop/internal/sink"
	"lastdrop/internal/sink/codec"
	"lastdrop/internal/sink/command"
	"lastdrop/internal/sink/csv"
	"lastdrop/internal/sink/objects"
	parquetform "lastdrop/internal/sink/parquet"
	"lastdrop/internal/sink/postgres"
	"lastdrop/internal/sink/singer"
	"lastdrop/internal/sink/sqlite"
)

// A place is one output of one kind, as those who write and those who read it see it.
type place struct {
	// options open it for a run.
	options func(run string) sink.Options
	// found are the items that a reader finds there, each as it came; nil where nothing stands there.
	found func(t *testing.T) []string
	// guarded is found, where what cannot be taken back is left out of it; nil is found.
	guarded func(t *testing.T) []string
	// counts tells that only the number of what is found can be held against the items.
	counts bool
	// closed tells that nothing but a COMPLETE run gets there, even where nothing stands there.
	closed bool
	// stream tells that there is no gate and nothing to resume.
	stream bool
}

// sinks make a place of each kind.
func sinks(t *testing.T) map[string]func(t *testing.T) place {
	t.Helper()
	server := pgtest.Start(t)
	all := map[string]func(*testing.T) place{"sqlite": sqlitePlace, "singer": singerPlace, "exec": execPlace}
	for _, ending := range []string{".jsonl", ".jsonl.gz", ".jsonl.zst"} {
		all[ending] = func(t *testing.T) place { return linesPlace(filepath.Join(t.TempDir(), "x"+ending)) }
	}
	for ending, form := range map[string]sink.Form{".csv": csv.Form{Codec: codec.Plain{}}, ".csv.gz": csv.Form{Codec: codec.Gzip{}}, ".csv.zst": csv.Form{Codec: codec.Zstd{}},
		".parquet": parquetform.Form{}} {
		all[ending] = func(t *testing.T) place { return formPlace(filepath.Join(t.TempDir(), "x"+ending), form) }
	}
	for _, merge := range []bool{false, true} {
		all[fmt.Sprintf("postgres, merge %v", merge)] = func(t *testing.T) place { return postgresPlace(t, server, merge) }
	}
	for _, compress := range []string{"gzip", "zstd", "none"} {
		all["s3, "+compress] = func(t *testing.T) place { return s3Place(t, compress) }
	}
	return all
}

func linesPlace(target string) place {
	return place{options: func(string) sink.Options { return sink.Options{Target: target} },
		found: func(t *testing.T) []string {
			if !stands(t, target) {
				return nil
			}
			all := []string{}
			if err := sink.Items(target, func(item []byte) error { all = append(all, string(item)); return nil }); err != nil {
				t.Fatal(err)
			}
			return all
		}}
}

func stands(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func formPlace(target string, form sink.Form) place {
	return place{counts: true, options: func(string) sink.Options { return sink.Options{Target: target, Form: form} },
		found: func(t *testing.T) []string {
			if !stands(t, target) {
				return nil
			}
			return make([]string, rowsOf(t, target))
		}}
}

// rowsOf counts the rows of a file by a reader that is not ours.
func rowsOf(t *testing.T, target string) int64 {
	t.Helper()
	data, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	var r io.Reader = bytes.NewReader(data)
	switch filepath.Ext(target) {
	case ".parquet":
		f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		return f.NumRows()
	case ".gz":
		r, err = gzip.NewReader(r)
	case ".zst":
		var z *zstd.Decoder
		z, err = zstd.NewReader(r)
		r = z
	}
	if err != nil {
		t.Fatal(err)
	}
	rows, err := stdcsv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return int64(len(rows) - 1)
}

func sqlitePlace(t *testing.T) place {
	path := filepath.Join(t.TempDir(), "x.db")
	return place{
		options: func(run string) sink.Options {
			return sink.Options{Target: path, Table: &sqlite.Table{Path: path, Table: "items", Run: run}}
		},
		found: func(t *testing.T) []string {
			if !stands(t, path) {
				return nil
			}
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			rows, err := db.Query("SELECT _item FROM items ORDER BY rowid")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			all := []string{}
			for rows.Next() {
				var item string
				if err := rows.Scan(&item); err != nil {
					t.Fatal(err)
				}
				all = append(all, item)
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			return all
		},
	}
}

func postgresPlace(t *testing.T, server *pgtest.Server, merge bool) place {
	dsn, dir := server.Database(t), t.TempDir()
	var ids []string
	if merge {
		ids = []string{"n"}
	}
	return place{
		options: func(run string) sink.Options {
			return sink.Options{Target: "postgres:items", Beside: filepath.Join(dir, "x"),
				Table: &postgres.Table{DSN: secret.Value(dsn), Table: "items", Run: run, Merge: merge, ID: ids}}
		},
		found: func(t *testing.T) []string {
			conn := pgtest.Connect(t, dsn)
			defer conn.Close(context.Background())
			rows, err := conn.Query(t.Context(), "SELECT _item FROM items ORDER BY _n")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			all := []string{}
			for rows.Next() {
				var item []byte
				if err := rows.Scan(&item); err != nil {
					t.Fatal(err)
				}
				all = append(all, string(item))
			}
			if rows.Err() != nil {
				return nil // there is no such table
			}
			return all
		},
	}
}

func s3Place(t *testing.T, compress string) place {
	b, dir := s3test.Start(t), t.TempDir()
	return place{closed: true,
		options: func(run string) sink.Options {
			return sink.Options{Target: "s3://things/x", Beside: filepath.Join(dir, "x"), Table: &objects.Target{Bucket: s3test.Name, Folder: "x", Endpoint: b.URL,
				Region: "eu-central-1", AccessKey: s3test.Key, SecretKey: s3test.Secret, Compress: compress, PartSize: 256 << 10, Dir: dir, Run: run}}
		},
		found: func(t *testing.T) []string {
			text := b.Published(t, "x")
			if text == nil {
				return nil
			}
			return split(string(text))
		},
	}
}

func split(text string) []string {
	all := strings.Split(text, "\n")
	return all[:len(all)-1]
}

func singerPlace(*testing.T) place {
	var out bytes.Buffer
	return place{stream: true, counts: true,
		options: func(run string) sink.Options {
			return sink.Options{Target: sink.Stdout, Stdout: &out, Stream: func(w io.Writer) sink.Stream { return singer.New(w, singer.Stream{Name: "x", Run: run}) }}
		},
		found: func(*testing.T) []string { return make([]string, strings.Count(out.String(), `"type":"RECORD"`)) },
	}
}

// execPlace is what a command was given.
func execPlace(t *testing.T) place {
	dir := t.TempDir()
	target, taken := filepath.Join(dir, "x.jsonl.zst"), filepath.Join(dir, "taken")
	p := linesPlace(target)
	found := p.found
	return place{closed: true, guarded: found,
		options: func(string) sink.Options {
			return sink.Options{Target: target, Before: func(_ int64, items sink.Lines) error {
				return command.Command{Args: []string{"tee", taken}}.Run(items)
			}}
		},
		found: func(t *testing.T) []string {
			if !stands(t, taken) {
				return nil
			}
			text, err := os.ReadFile(taken)
			if err != nil {
				t.Fatal(err)
			}
			if all := found(t); !slices.Equal(all, split(string(text))) {
				t.Errorf("the command was given %d items, and the file has %d", len(split(string(text))), len(all))
			}
			return split(string(text))
		}}
}

// holds wants exactly these items there.
func (p place) holds(t *testing.T, step string, want []string) {
	t.Helper()
	got := p.found(t)
	if (got == nil) != (want == nil) || len(got) != len(want) {
		t.Fatalf("%s: %d items (nothing there: %v), want %d (%v)", step, len(got), got == nil, len(want), want == nil)
	}
	for i := range got {
		if !p.counts && got[i] != want[i] {
			t.Fatalf("%s: item %d of %d bytes is not the one of %d bytes that was written", step, i, len(got[i]), len(want[i]))
		}
	}
}

// writes opens the place for a run, from a mark or anew, and writes items, with a mark now and then.
func (p place) writes(t *testing.T, run string, mark *sink.Mark, items []string) (*sink.File, *sink.Mark) {
	t.Helper()
	o := p.options(run)
	if err := sink.Check(o); err != nil {
		t.Fatal(err)
	}
	o.Resume, o.ResumeCommitted = mark, mark != nil
	f, err := sink.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	for i, item := range items {
		if err := f.Write([][]byte{[]byte(item)}); err != nil {
			t.Fatal(err)
		}
		if i%5 == 4 {
			if _, err := f.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	m, err := f.Sync()
	if err != nil {
		t.Fatal(err)
	}
	return f, &m
}

// ends finishes a run and lets go of it as pull does.
func ends(t *testing.T, f *sink.File, complete, keep, committed bool, items int) sink.Output {
	t.Helper()
	out, err := f.Finish(complete)
	if err != nil {
		t.Fatal(err)
	}
	if out.Committed != committed || out.Items != int64(items) || (items > 0 && out.Bytes == 0) || (len(out.SHA256) != 64 && out.Path != sink.Stdout) {
		t.Fatalf("%+v, want %d items, committed %v", out, items, committed)
	}
	if keep {
		err = f.Close()
	} else {
		err = f.Discard()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func numbers(from, to int) []string {
	var all []string
	for n := from; n <= to; n++ {
		all = append(all, fmt.Sprintf(`{"n":%d,"pad":%q}`, n, strings.Repeat("x", n)))
	}
	return all
}

// TestConformance holds every sink to what all of them promise.
func TestConformance(t *testing.T) {
	for name, make := range sinks(t) {
		t.Run(name, func(t *testing.T) {
			for rule, holds := range map[string]func(*testing.T, place){"odd items": oddItems, "no items": noItems, "the gate": gate, "going on": goingOn, "stopped": stoppedInFinish} {
				t.Run(rule, func(t *testing.T) {
					p := make(t)
					if p.stream && (rule == "the gate" || rule == "going on" || rule == "stopped") {
						return
					}
					holds(t, p)
				})
			}
		})
	}
}

// oddItems come through as they are.
func oddItems(t *testing.T, p place) {
	var odd []string
	for _, item := range sink.OddJSON() {
		odd = append(odd, string(item))
	}
	f, _ := p.writes(t, "r1", nil, odd)
	ends(t, f, true, false, true, len(odd))
	p.holds(t, "odd items", odd)
}

// noItems are a result too, and another thing than none.
func noItems(t *testing.T, p place) {
	f, _ := p.writes(t, "r1", nil, nil)
	ends(t, f, true, false, true, 0)
	p.holds(t, "no items", []string{})
}

// gate: what is not complete never takes the place of what stands there.
func gate(t *testing.T, p place) {
	f, _ := p.writes(t, "r1", nil, numbers(1, 3))
	ends(t, f, false, false, !p.closed, 3)
	if p.closed {
		p.holds(t, "truncated, nothing there", nil)
	} else {
		p.holds(t, "truncated, nothing there", numbers(1, 3))
	}
	f, _ = p.writes(t, "r2", nil, numbers(1, 9))
	ends(t, f, true, false, true, 9)
	p.holds(t, "complete", numbers(1, 9))

	f, mark := p.writes(t, "r3", nil, numbers(1, 4))
	ends(t, f, false, true, false, 4)
	p.holds(t, "truncated", numbers(1, 9))
	f, _ = p.writes(t, "r3", mark, numbers(5, 12))
	p.holds(t, "gone on with", numbers(1, 9))
	ends(t, f, true, false, true, 12)
	p.holds(t, "then complete", numbers(1, 12))

	open := p.options
	p.options = func(run string) sink.Options {
		o := open(run)
		o.OnAny = true
		return o
	}
	f, _ = p.writes(t, "r4", nil, numbers(1, 12))
	ends(t, f, false, false, true, 12)
	p.holds(t, "any", numbers(1, 12))
}

// goingOn stops a run after each of its marks, and behind them, also after its end, and goes on from there.
func goingOn(t *testing.T, p place) {
	all := numbers(1, 8)
	f, _ := p.writes(t, "r0", nil, numbers(1, 1))
	ends(t, f, true, false, true, 1)
	var mark *sink.Mark
	for n := range all {
		f, mark = p.writes(t, "r1", mark, all[n:n+1])
		if err := f.Write([][]byte{[]byte(`{"behind":"the mark"}`)}); err != nil {
			t.Fatal(err)
		}
		if n%2 == 1 {
			if _, err := f.Sync(); err != nil { // which the ledger does not come to know
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		p.holds(t, "stopped", numbers(1, 1))
	}
	for range 2 { // the second as if the ledger had not come to know of the first
		f, _ = p.writes(t, "r1", mark, nil)
		ends(t, f, true, true, true, len(all))
		p.holds(t, "complete", all)
	}
}

// stoppedInFinish asks Finish to stop at each of its steps.
func stoppedInFinish(t *testing.T, p place) {
	f, _ := p.writes(t, "r0", nil, numbers(1, 2))
	ends(t, f, true, false, true, 2)
	if p.guarded != nil {
		p.found = p.guarded
	}
	stopped := errors.New("asked to stop")
	open := p.options
	before, items := numbers(1, 2), numbers(1, 7)
	for n := 0; ; n++ {
		run := fmt.Sprint("r", n+1)
		left := n
		p.options = func(run string) sink.Options {
			o := open(run)
			o.Stop = func() error {
				if left--; left < 0 {
					return stopped
				}
				return nil
			}
			return o
		}
		f, mark := p.writes(t, run, nil, items)
		_, err := f.Finish(true)
		if closed := f.Close(); closed != nil {
			t.Fatal(closed)
		}
		p.options = open
		if err == nil {
			if n < 2 {
				t.Errorf("only %d steps can be stopped", n)
			}
			p.holds(t, "not stopped", items)
			return
		}
		if !errors.Is(err, stopped) {
			t.Fatalf("step %d: %v", n, err)
		}
		p.holds(t, "stopped", before)
		if n == 0 {
			f, _ = p.writes(t, run, mark, nil)
			ends(t, f, true, false, true, len(items))
			p.holds(t, "gone on with", items)
			before, items = items, numbers(1, 9)
		}
	}
}
