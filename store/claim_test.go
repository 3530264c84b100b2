package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClaim(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.WriteFile(path+".serve.lock", []byte(`{"pid":1,"host":"of one that died long ago, with a name longer than ours"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := s.Claim("serve")
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = r.Claim("serve")
	if !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), fmt.Sprintf("serve is running on this store already (process %d on ", os.Getpid())) {
		t.Errorf("a second claim: %v", err)
	}
	if err := c.Release(); err != nil {
		t.Fatal(err)
	}
	if c, err = r.Claim("serve"); err != nil {
		t.Fatal(err)
	}
	if err := c.Release(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(path + "*.lock"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
