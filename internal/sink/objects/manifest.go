package objects

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// version is that of the manifest.
const version = 1

// A manifest says which objects hold the items of a run. All names are relative to the folder of the manifest.
type manifest struct {
	Version int    `json:"lastdrop_manifest"`
	Name    string `json:"name"`
	Run     string `json:"run"`
	// Verdict is the run's: COMPLETE, but with output.on: any.
	Verdict string    `json:"verdict"`
	Written time.Time `json:"written"`
	Items   int64     `json:"items"`
	// Bytes and SHA256 are those of the items as lines, one behind another, not compressed.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Parts  []part `json:"parts"`
	// Previous are the parts of the manifest before, which stay until the next one for those who still read them.
	Previous []string `json:"previous"`
}

// A part is one object of lines.
type part struct {
	Name  string `json:"name"`
	Items int64  `json:"items"`
	// Bytes and SHA256 are those of the object.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func (m *manifest) encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", " ")
	return append(data, '\n'), err
}

// parse reads a manifest, of this version only.
func parse(data []byte) (*manifest, error) {
	m := &manifest{}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(m); err != nil || m.Version < 1 {
		return nil, errors.New("it was not written by lastdrop: name another folder")
	}
	if m.Version > version {
		return nil, fmt.Errorf("it was written by a newer lastdrop (version %d): use that one, or name another folder", m.Version)
	}
	return m, nil
}

// names are those of the parts.
func (m *manifest) names() []string {
	if m == nil {
		return []string{}
	}
	all := make([]string, len(m.Parts))
	for i, p := range m.Parts {
		all[i] = p.Name
	}
	return all
}

// runOf is the run that wrote a part, by its name.
func runOf(name string) string {
	try, _, _ := strings.Cut(strings.TrimPrefix(name, partsFolder), "/")
	i := strings.LastIndexByte(try, '-')
	if i < 0 {
		return ""
	}
	return try[:i]
}
