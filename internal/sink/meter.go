package sink

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"io"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A meter counts and sums the bytes that pass; with a hash it hashes them too.
type meter struct {
	length int64
	sum    uint32
	hash   hash.Hash
}

func newHash() hash.Hash { return sha256.New() }

// Write never fails.
func (m *meter) Write(p []byte) (int, error) {
	m.length += int64(len(p))
	m.sum = crc32.Update(m.sum, castagnoli, p)
	if m.hash != nil {
		m.hash.Write(p)
	}
	return len(p), nil
}

// digest is empty without a hash.
func (m *meter) digest() string {
	if m.hash == nil {
		return ""
	}
	return hex.EncodeToString(m.hash.Sum(nil))
}

// A tally passes bytes on and keeps the length and sum of what arrived.
type tally struct {
	w      io.Writer
	length int64
	sum    uint32
}

func (t *tally) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.length += int64(n)
	t.sum = crc32.Update(t.sum, castagnoli, p[:n])
	return n, err
}
