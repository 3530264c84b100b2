package table

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"lastdrop/internal/jsonscan"
)

// KeyOf is what identifies an item in a table: the canonical JSON of its id, or of
// several a list; for an item without, the hash of its content. It is nil where
// there are no paths.
func KeyOf(item []byte, ids []jsonscan.Path) ([]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var texts [][]byte
	for _, p := range ids {
		v, err := p.Find(item)
		if err != nil {
			return nil, err
		}
		if !v.Exists() || v.IsNull() {
			return Hashed("", jsonscan.AppendCanonical(nil, item)), nil
		}
		texts = append(texts, jsonscan.AppendCanonical(nil, v.Raw))
	}
	if len(texts) == 1 {
		return texts[0], nil
	}
	return []byte("[" + string(bytes.Join(texts, []byte(","))) + "]"), nil
}

// Paths compiles the paths to an item's id.
func Paths(ids []string) ([]jsonscan.Path, error) {
	var paths []jsonscan.Path
	for _, id := range ids {
		p, err := jsonscan.Compile(id)
		if err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// Hashed is a key that stands for a text: what it is, and its hash.
func Hashed(what string, text []byte) []byte {
	sum := sha256.Sum256(text)
	return []byte(what + "sha256:" + hex.EncodeToString(sum[:]))
}
