package configs

import (
	"bytes"
	_ "embed"
)

//go:embed lastdrop.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of a config file, for
// editors. It is made from the types of this package by a test, which also
// holds the file to them. It knows keys and types; Parse knows the rest.
func Schema() []byte { return bytes.Clone(schema) }
