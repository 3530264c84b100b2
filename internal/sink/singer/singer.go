// Package singer writes the items of a run as Singer messages, for the targets of Meltano and others: a SCHEMA before the
// first record and whenever a key or a type is new, a RECORD an item, and a STATE only where the run is complete.
package singer

import (
	"bufio"
	"encoding/json"
	"io"
	"regexp"

	"lastdrop/internal/jsonscan"
	"lastdrop/internal/sink/table"
)

// Stream names what is written.
type Stream struct {
	Name string
	ID   []string // GJSON paths to an item's id
	Run  string
}

// Writer writes the messages of one stream.
type Writer struct {
	Stream
	out        *bufio.Writer
	properties map[string]types
	order      []string
	said       bool // a SCHEMA was written, and nothing is new since
	items      int64
}

// types is the set of JSON types that a key had.
type types uint8

var typeNames = [...]string{jsonscan.TypeNull: "null", jsonscan.TypeBool: "boolean", jsonscan.TypeNumber: "number", jsonscan.TypeString: "string",
	jsonscan.TypeArray: "array", jsonscan.TypeObject: "object"}

// New returns a writer of messages to w.
func New(w io.Writer, s Stream) *Writer {
	return &Writer{Stream: s, out: bufio.NewWriterSize(w, 64<<10), properties: map[string]types{}}
}

// Item writes a record, behind a schema if it has something new. An item that is no object becomes one with the key "value".
func (w *Writer) Item(item []byte) error {
	v := jsonscan.ValueOf(item)
	if v.IsObject() {
		v.Members(func(key, value jsonscan.Value) { w.learn(key.Str(), value.Type) })
	} else {
		w.learn("value", v.Type)
	}
	if !w.said {
		if err := w.schema(); err != nil {
			return err
		}
	}
	w.items++
	name, err := json.Marshal(w.Name)
	if err != nil {
		return err
	}
	parts := [][]byte{[]byte(`{"type":"RECORD","stream":`), name, []byte(`,"record":`), item, []byte("}\n")}
	if !v.IsObject() {
		parts = [][]byte{parts[0], name, []byte(`,"record":{"value":`), item, []byte("}}\n")}
	}
	for _, p := range parts {
		if _, err := w.out.Write(p); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) learn(key string, t jsonscan.Type) {
	had, known := w.properties[key]
	now := had | 1<<t | 1<<jsonscan.TypeNull
	if known && now == had {
		return
	}
	if !known && len(w.order) == table.Most {
		return // a schema need not name every key
	}
	if !known {
		w.order = append(w.order, key)
	}
	w.properties[key], w.said = now, false
}

type message struct {
	Type   string   `json:"type"`
	Stream string   `json:"stream,omitempty"`
	Schema *schema  `json:"schema,omitempty"`
	Keys   []string `json:"key_properties,omitzero"`
	Value  *state   `json:"value,omitempty"`
}

type schema struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
}

type property struct {
	Type []string `json:"type"`
}

type state struct {
	Bookmarks map[string]bookmark `json:"bookmarks"`
}

type bookmark struct {
	Run   string `json:"run"`
	Items int64  `json:"items"`
}

// schema says what is known of the items by now. Everything may be null.
func (w *Writer) schema() error {
	s := &schema{Type: "object", Properties: map[string]property{}}
	for _, key := range w.order {
		p := property{Type: []string{"null"}}
		for t, name := range typeNames {
			if w.properties[key]&(1<<t) != 0 && name != "null" {
				p.Type = append(p.Type, name)
			}
		}
		s.Properties[key] = p
	}
	w.said = true
	return w.write(message{Type: "SCHEMA", Stream: w.Name, Schema: s, Keys: w.keys()})
}

// plainKey is a GJSON path that is nothing but one key.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// keys are the id's paths, where all of them are keys of the record itself.
func (w *Writer) keys() []string {
	keys := []string{}
	for _, path := range w.ID {
		if !plainKey.MatchString(path) {
			return []string{}
		}
		keys = append(keys, path)
	}
	return keys
}

func (w *Writer) write(m message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = w.out.Write(append(text, '\n'))
	return err
}

// Flush hands on what is buffered.
func (w *Writer) Flush() error { return w.out.Flush() }

// End writes the schema of a stream without items, and the state of a complete run.
func (w *Writer) End(complete bool) error {
	if w.items == 0 {
		if err := w.schema(); err != nil {
			return err
		}
	}
	if complete {
		s := &state{Bookmarks: map[string]bookmark{w.Name: {Run: w.Run, Items: w.items}}}
		if err := w.write(message{Type: "STATE", Value: s}); err != nil {
			return err
		}
	}
	return w.out.Flush()
}
