// Package sinktest gives items to outputs and holds what they say against them. Only tests import it.
package sinktest

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"lastdrop/internal/sink"
)

// Of are items as an output gets them.
func Of(items ...string) sink.Lines {
	return func(each func([]byte) error) error {
		for _, item := range items {
			if err := each([]byte(item)); err != nil {
				return err
			}
		}
		return nil
	}
}

// Text is a file of lines of items.
func Text(items []string) string {
	return strings.Join(items, "\n") + strings.Repeat("\n", min(1, len(items)))
}

// Loaded loads items into a table or what is like one. It must succeed, and give back what it was given.
func Loaded(t *testing.T, to interface {
	Load(sink.Lines) (sink.Output, error)
}, items ...string) sink.Output {
	t.Helper()
	out, err := to.Load(Of(items...))
	if err != nil {
		t.Fatal(err)
	}
	text := Text(items)
	sum := sha256.Sum256([]byte(text))
	want := sink.Output{Items: int64(len(items)), Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:]), Notes: out.Notes}
	if !reflect.DeepEqual(out, want) {
		t.Fatalf("%+v, want %+v", out, want)
	}
	return out
}
