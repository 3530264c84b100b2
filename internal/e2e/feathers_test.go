//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// startNotes starts Feathers over n notes.
func startNotes(t *testing.T, n int) *server {
	t.Helper()
	script := must(filepath.Abs(filepath.Join("servers", "feathers.js")))(t)
	return start(t, "feathers", func(s *server) launch {
		return launch{ready: "/notes?$limit=1", args: []string{"node", script, filepath.Join(cache, "feathers"),
			filepath.Join(s.dir, strconv.Itoa(s.port)+".db"), strconv.Itoa(s.port), strconv.Itoa(n)}}
	})
}

// notes reads NeDB's file: lines of JSON, of which the last one of an id counts.
func notes(t *testing.T, s *server) []string {
	t.Helper()
	there := map[string]bool{}
	for line := range bytes.Lines(must(os.ReadFile(filepath.Join(s.dir, strconv.Itoa(s.port)+".db")))(t)) {
		var row struct {
			ID   string `json:"_id"`
			Gone bool   `json:"$$deleted"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		there[row.ID] = row.ID != "" && !row.Gone
	}
	maps.DeleteFunc(there, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(there))
}

const notesByOffset = `
source: {url: "${BASE}/notes", params: {"$sort[_id]": 1}}
pages: {style: offset, offset: {param: $skip}, size: {param: $limit, start: 50}}
items: {path: data, id: _id}
total: {path: total}
`

func TestFeathers(t *testing.T) {
	t.Parallel()
	s := startNotes(t, 505)
	ids := notes(t, s)

	t.Run("offset", func(t *testing.T) {
		r := drain(t, s.base, notesByOffset)
		r.is(t, complete, counted)
		r.equals(t, "_id", ids)
		r.asked(t, 12)
	})
	t.Run("above the silent cap of 50", func(t *testing.T) {
		r := drain(t, s.base, strings.Replace(notesByOffset, "start: 50", "start: 500", 1))
		r.is(t, complete, counted)
		r.equals(t, "_id", ids)
		r.asked(t, 13)
	})
	t.Run("one early note comes in mid-drain", func(t *testing.T) {
		p := newTap(t, s, map[int]func() error{4: func() error {
			_, _, err := ask("POST", s.base+"/notes", map[string]string{"_id": "a first note"})
			return err
		}})
		r := drain(t, p.base, notesByOffset)
		r.is(t, complete)
		r.law(t, "_id", ids, notes(t, s))
	})
	ids = notes(t, s)
	t.Run("no paging on its side", func(t *testing.T) {
		// A bare array that obeys $limit, with no sign of more.
		bare := strings.NewReplacer("/notes", "/bare", "path: data", `path: "@this"`, "total: {path: total}", "total: none").Replace(notesByOffset)
		r := drain(t, s.base, bare)
		r.is(t, unknown)
		r.equals(t, "_id", ids)
		r = drain(t, s.base, strings.Replace(bare, "pages: {", "pages: {end: short_page, ", 1)+"complete: {require: assumed}\n")
		r.is(t, complete, assumed)
		r.equals(t, "_id", ids)
	})
	t.Run("limit without its dollar", func(t *testing.T) {
		// Taken as a filter on a field named limit: 200, total 0, no items. It
		// agrees with itself, and the good pull before it must survive.
		p := newPlace(t)
		r := p.drain(t, s.base, notesByOffset)
		r.is(t, complete, counted)
		before := must(os.ReadFile(p.target()))(t)
		r = p.drain(t, s.base, strings.Replace(notesByOffset, "param: $limit", "param: limit", 1))
		r.is(t, unknown)
		if len(r.Output) != 1 || r.Output[0].Committed || r.Output[0].Path != p.target()+".partial" {
			t.Errorf("output %+v: the pull of before was not protected", r.Output)
		}
		if after := must(os.ReadFile(p.target()))(t); !bytes.Equal(before, after) {
			t.Errorf("the pull of before was overwritten")
		}
	})
	t.Run("limit without its dollar, at the first pull", func(t *testing.T) {
		r := drain(t, s.base, strings.Replace(notesByOffset, "param: $limit", "param: limit", 1))
		r.is(t, unknown)
	})
	t.Run("a filter that matches nothing", func(t *testing.T) {
		// The field is a number and the parameter a text: 200, total 0.
		r := drain(t, s.base, strings.Replace(notesByOffset, "params: {", "params: {colour: 3, ", 1))
		r.is(t, unknown)
	})
}
