package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Redacted stands wherever a secret stood.
const Redacted = "REDACTED"

// A Value is a secret text. However it is printed, logged or encoded (fmt with
// any verb, JSON, YAML, text, slog) it comes out as REDACTED, the empty one
// too; only Reveal gives the text. Keep a Value in exported fields: fmt reads
// unexported ones without asking their methods.
type Value string

// Reveal returns the secret itself: for requests, never for people.
func (v Value) Reveal() string { return string(v) }

// String returns REDACTED.
func (Value) String() string { return Redacted }

// GoString returns REDACTED.
func (Value) GoString() string { return Redacted }

// Format writes REDACTED, whatever the verb.
func (Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// MarshalText returns REDACTED; encoders of JSON and XML use it.
func (Value) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// MarshalYAML returns REDACTED.
func (Value) MarshalYAML() (any, error) { return Redacted, nil }

// LogValue returns REDACTED.
func (Value) LogValue() slog.Value { return slog.StringValue(Redacted) }
