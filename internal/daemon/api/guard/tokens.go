package guard

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// minToken is the length of the shortest token.
const minToken = 20

// maxTokenFile bounds a file of tokens.
const maxTokenFile = 1 << 20

// Tokens are those of a file: one a line; empty lines and those that begin with # do
// not count.
type Tokens struct {
	path string
	sums atomic.Pointer[[][sha256.Size]byte]
}

// OpenTokens reads a file of tokens. It refuses one that everybody on the machine can
// read, one without tokens, and short tokens; errors name lines and no tokens.
func OpenTokens(path string) (*Tokens, error) {
	t := &Tokens{path: path}
	if err := t.Reload(); err != nil {
		return nil, err
	}
	return t, nil
}

// Reload reads the file anew. After an error the earlier tokens stay in use. A session
// whose token is gone ends.
func (t *Tokens) Reload() error {
	f, err := os.Open(t.path)
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("tokens: %s is no ordinary file", t.path)
	}
	if worldReadable(info.Mode()) {
		return fmt.Errorf("tokens: everybody on this machine can read %s: chmod 600 it", t.path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	switch {
	case err != nil:
		return fmt.Errorf("tokens: %w", err)
	case len(text) > maxTokenFile:
		return fmt.Errorf("tokens: %s is longer than 1 MiB", t.path)
	}
	sums, err := parseTokens(text)
	if err != nil {
		return fmt.Errorf("tokens: %s: %w", t.path, err)
	}
	t.sums.Store(&sums)
	return nil
}

func parseTokens(text []byte) (sums [][sha256.Size]byte, err error) {
	for i, line := range bytes.Split(text, []byte("\n")) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0 || line[0] == '#':
			continue
		case len(line) < minToken:
			return nil, fmt.Errorf("line %d: a token has at least %d characters: openssl rand -hex 32 makes one", i+1, minToken)
		case bytes.ContainsFunc(line, func(r rune) bool { return r <= ' ' || r > '~' }):
			return nil, fmt.Errorf("line %d: a token has no spaces and nothing but ASCII", i+1)
		}
		sums = append(sums, sha256.Sum256(line))
	}
	if len(sums) == 0 {
		return nil, fmt.Errorf("no token in it: openssl rand -hex 32 makes one")
	}
	return sums, nil
}

// match is the hash of a token that is one of the file's. Its time does not depend on
// which token it is, or how much of it is right.
func (t *Tokens) match(token string) (sum [sha256.Size]byte, ok bool) {
	sum = sha256.Sum256([]byte(token))
	return sum, t.has(sum)
}

func (t *Tokens) has(sum [sha256.Size]byte) bool {
	found := 0
	for _, known := range *t.sums.Load() {
		found |= subtle.ConstantTimeCompare(known[:], sum[:])
	}
	return found == 1
}
