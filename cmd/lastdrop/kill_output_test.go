package main

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	_ "modernc.org/sqlite"
)

// killEndings are the outputs that are killed while they are written.
var killEndings = []string{".jsonl", ".jsonl.gz", ".jsonl.zst", ".csv", ".parquet", ".db"}

// itemsAt reads all items of an output strictly, each as the source served it. A file that is not there is fs.ErrNotExist.
func itemsAt(path, table string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	switch filepath.Ext(path) {
	case ".csv":
		return csvItems(data)
	case ".parquet":
		return parquetItems(data)
	case ".db":
		return tableItems(path, table)
	case ".gz":
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(z); err != nil {
			return nil, err
		}
	case ".zst":
		z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		if data, err = io.ReadAll(z); err != nil {
			return nil, err
		}
	}
	if len(data) == 0 {
		return nil, nil
	}
	text, whole := strings.CutSuffix(string(data), "\n")
	if !whole {
		return nil, errors.New("the last line is torn")
	}
	return strings.Split(text, "\n"), nil
}

// itemOf is an item of the source by its columns.
func itemOf(id, at int64, name string) string {
	return fmt.Sprintf(`{"id":%d,"at":%d,"name":"%s"}`, id, at, name)
}

func csvItems(data []byte) ([]string, error) {
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || strings.Join(rows[0], ",") != "id,at,name" {
		return nil, errors.New("no header")
	}
	var items []string
	for _, row := range rows[1:] {
		id, idErr := strconv.ParseInt(row[0], 10, 64)
		at, atErr := strconv.ParseInt(row[1], 10, 64)
		if err := errors.Join(idErr, atErr); err != nil {
			return nil, err
		}
		items = append(items, itemOf(id, at, row[2]))
	}
	return items, nil
}

func parquetItems(data []byte) ([]string, error) {
	type row struct {
		ID   int64  `parquet:"id,optional"`
		At   int64  `parquet:"at,optional"`
		Name string `parquet:"name,optional"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(data), int64(len(data)))
	var items []string
	for _, r := range rows {
		items = append(items, itemOf(r.ID, r.At, r.Name))
	}
	return items, err
}

// tableItems reads the items of a table out of a copy of its file, so that looking undoes nothing that a resume has to.
func tableItems(path, table string) ([]string, error) {
	dir, err := os.MkdirTemp("", "lastdrop-table-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, "copy.db")
	if err := copyStore(path, copied); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", copied)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var sound string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		return nil, fmt.Errorf("integrity: %s, %w", sound, err)
	}
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_master WHERE name = ?", table).Scan(&tables); err != nil {
		return nil, err
	}
	if tables == 0 {
		return nil, fs.ErrNotExist // the file is there, its table not yet
	}
	rows, err := db.Query("SELECT _item, id, at, name FROM " + table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []string
	for rows.Next() {
		var item, name string
		var id, at int64
		if err := rows.Scan(&item, &id, &at, &name); err != nil {
			return nil, err
		}
		if item != itemOf(id, at, name) {
			return nil, fmt.Errorf("the columns of %s are not its own", item)
		}
		items = append(items, item)
	}
	return items, rows.Err()
}

// copyStore copies a SQLite file and what SQLite keeps beside it, while nobody has it open.
func copyStore(from, to string) error {
	for _, beside := range []string{"", "-wal", "-journal"} {
		data, err := os.ReadFile(from + beside)
		if errors.Is(err, fs.ErrNotExist) && beside != "" {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+beside, data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
