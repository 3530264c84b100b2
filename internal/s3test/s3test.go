// Package s3test serves one bucket of an object store in the process, for tests, and reads it as a stranger would.
package s3test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Name is the bucket's, Key and Secret are credentials for it.
const (
	Name   = "things"
	Key    = "key-of-tests"
	Secret = "secret-of-tests"
)

// What becomes of a request whose answer does not come.
const (
	Lost = -1 // the server never sees it
	Done = -2 // the server does it
)

// A Bucket is the server.
type Bucket struct {
	URL string
	// Hook, if set, sees each request before the server does. What it returns but 0 is the status of the answer in the server's
	// place, or one of Lost and Done.
	Hook func(r *http.Request) int

	backend *s3mem.Backend
	inner   http.Handler
}

// Start serves an empty bucket until the end of the test.
func Start(t testing.TB) *Bucket {
	t.Helper()
	b := &Bucket{backend: s3mem.New()}
	if err := b.backend.CreateBucket(Name); err != nil {
		t.Fatal(err)
	}
	b.inner = gofakes3.New(b.backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := 0
		if b.Hook != nil {
			status = b.Hook(r)
		}
		switch status {
		case 0:
			b.inner.ServeHTTP(w, r)
		case Done:
			b.inner.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case Lost:
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(server.Close)
	b.URL = server.URL
	return b
}

// Get gives an object, past the server.
func (b *Bucket) Get(t testing.TB, key string) []byte {
	t.Helper()
	o, err := b.backend.GetObject(Name, key, nil)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	defer o.Contents.Close()
	data, err := io.ReadAll(o.Contents)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return data
}

// Put writes an object, past the hook.
func (b *Bucket) Put(t testing.TB, key string, data []byte) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPut, "/"+Name+"/"+key, bytes.NewReader(data))
	r.Header.Set("Content-Length", strconv.Itoa(len(data))) // which the server looks for there
	b.inner.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", key, w.Code, w.Body)
	}
}

// List names the objects of a folder, without it.
func (b *Bucket) List(t testing.TB, folder string) []string {
	t.Helper()
	list, err := b.backend.ListBucket(Name, &gofakes3.Prefix{HasPrefix: true, Prefix: folder + "/"}, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range list.Contents {
		names = append(names, strings.TrimPrefix(o.Key, folder+"/"))
	}
	return names
}

// Published are the lines that a reader gets who goes by the manifest of a folder and checks what it says; nil without a manifest.
func (b *Bucket) Published(t testing.TB, folder string) []byte {
	t.Helper()
	if _, err := b.backend.HeadObject(Name, folder+"/manifest.json"); err != nil {
		return nil
	}
	var m struct {
		Items, Bytes int64
		SHA256       string
		Parts        []struct {
			Name, SHA256 string
			Items, Bytes int64
		}
	}
	if err := json.Unmarshal(b.Get(t, folder+"/manifest.json"), &m); err != nil {
		t.Fatal(err)
	}
	all := []byte{}
	for _, p := range m.Parts {
		data := b.Get(t, folder+"/"+p.Name)
		if int64(len(data)) != p.Bytes || sum(data) != p.SHA256 {
			t.Fatalf("%s is not as the manifest says", p.Name)
		}
		text := unpack(t, p.Name, data)
		if int64(bytes.Count(text, []byte{'\n'})) != p.Items {
			t.Fatalf("%s has not the %d items that the manifest says", p.Name, p.Items)
		}
		all = append(all, text...)
	}
	if int64(bytes.Count(all, []byte{'\n'})) != m.Items || int64(len(all)) != m.Bytes || sum(all) != m.SHA256 {
		t.Fatalf("the manifest says %d items in %d bytes, and there are %d bytes", m.Items, m.Bytes, len(all))
	}
	return all
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

func unpack(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(data)
	var err error
	switch {
	case strings.HasSuffix(name, ".gz"):
		r, err = gzip.NewReader(r)
	case strings.HasSuffix(name, ".zst"):
		var z *zstd.Decoder
		z, err = zstd.NewReader(r)
		r = z
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}
