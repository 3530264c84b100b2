package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// reference walks the parts of a plain path of simple names through raw with encoding/json alone. It returns nil where
// the path leads nowhere.
func reference(t tester, raw json.RawMessage, parts []string) (value json.RawMessage, twice bool) {
	if len(parts) == 0 {
		return bytes.TrimSpace(raw), false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	open, err := d.Token()
	if err != nil {
		t.Fatalf("encoding/json refuses %s: %v", raw, err)
	}
	if open != json.Delim('{') && open != json.Delim('[') {
		return nil, false
	}
	var found json.RawMessage
	for n := 0; d.More(); n++ {
		hit := strconv.Itoa(n) == parts[0] || n == 0 && parts[0] == "00"
		if open == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				t.Fatalf("encoding/json refuses %s: %v", raw, err)
			}
			hit = key == parts[0]
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			t.Fatalf("encoding/json refuses %s: %v", raw, err)
		}
		if hit && found != nil {
			return nil, true
		}
		if hit {
			found = v
		}
	}
	if found == nil {
		return nil, false
	}
	return reference(t, found, parts[1:])
}

// Find, Items and Page find what encoding/json finds.
func TestFindAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(drawName, 1, 3).Draw(t, "path")
		doc := []byte(drawDoc(t, 5))
		p := mustPath(t, strings.Join(parts, "."))
		want, twice := reference(t, doc, parts)

		v, err := p.Find(doc)
		if errors.Is(err, ErrDuplicateKey) != twice || !twice && err != nil || string(v.Raw) != string(want) {
			t.Fatalf("Find(%q) in %s = %s, %v, want %s, twice %v", p, doc, v.Raw, err, want, twice)
		}
		w, err := NewWant(p, nil, []Path{p})
		if err != nil {
			t.Fatal(err)
		}
		var got Got
		err = Page(doc, w, &got)
		if errors.Is(err, ErrDuplicateKey) != twice || !twice && err != nil || string(got.Envelope[0].In(doc)) != string(want) {
			t.Fatalf("Page of %q in %s: %s, %v, want %s, twice %v", p, doc, got.Envelope[0].In(doc), err, want, twice)
		}
		var items []json.RawMessage
		if v.IsArray() {
			if err := json.Unmarshal(want, &items); err != nil {
				t.Fatal(err)
			}
		}
		spans, _, _ := p.Items(doc, nil)
		if len(spans) != len(items) || len(got.Items) != len(items) {
			t.Fatalf("%q in %s: Items finds %d, Page %d, want %d", p, doc, len(spans), len(got.Items), len(items))
		}
		for i, item := range items {
			if string(spans[i].In(doc)) != string(item) || got.Items[i] != spans[i] {
				t.Fatalf("%q in %s, item %d: %s and %s, want %s", p, doc, i, spans[i].In(doc), got.Items[i].In(doc), item)
			}
		}
	})
}

// A duplicate anywhere on the path is found in whatever way its key is spelled, and at the place that the error names.
func TestEverySpellingOfADuplicate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringN(1, 5, -1).Draw(t, "key")
		spell := func() string {
			var b strings.Builder
			for _, r := range key {
				b.WriteString(renderRune(t, r))
			}
			return b.String()
		}
		p := Path{src: "test", steps: []step{{"in", -1}, {key, -1}}}
		doc := `{"in":{"` + spell() + `":1,"another":[],"` + spell() + `":`
		at := len(doc)
		doc += `2}}`
		var twice *DuplicateKeyError
		if _, err := p.Find([]byte(doc)); !errors.As(err, &twice) || twice.Key != key || twice.Offset != at {
			t.Fatalf("Find in %s: %v, want %q twice, again at %d", doc, err, key, at)
		}
		w, err := NewWant(Path{}, nil, []Path{p})
		if err != nil {
			t.Fatal(err)
		}
		if err := Page([]byte(doc), w, new(Got)); !errors.As(err, &twice) || twice.Key != key || twice.Offset != at {
			t.Fatalf("Page of %s: %v, want %q twice, again at %d", doc, err, key, at)
		}
	})
}

// One Want and one Path serve many goroutines, and canonical texts made at once don't mix.
func TestConcurrentUse(t *testing.T) {
	body, want, total := benchPage(30, 300), benchWant(t), mustPath(t, "nbHits")
	canon := AppendCanonical(nil, body)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var got Got
			var dst []byte
			for range 20 {
				if err := Page(body, want, &got); err != nil || len(got.Items) != 30 {
					t.Errorf("Page: %d items, %v", len(got.Items), err)
				}
				if v, err := total.Find(body); err != nil || string(v.Raw) != "533692" {
					t.Errorf("Find: %s, %v", v.Raw, err)
				}
				if dst = AppendCanonical(dst[:0], body); !bytes.Equal(dst, canon) {
					t.Error("AppendCanonical gives two texts for one value")
				}
			}
		})
	}
	wg.Wait()
}
