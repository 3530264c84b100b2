package objects

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"lastdrop/internal/s3test"
	"lastdrop/internal/sink"
	"lastdrop/internal/sink/sinktest"
)

const folder = "out/shop"

func at(t *testing.T, b *s3test.Bucket) *Target {
	t.Helper()
	return &Target{Bucket: s3test.Name, Folder: folder, Endpoint: b.URL, Region: "us-east-1", AccessKey: s3test.Key, SecretKey: s3test.Secret,
		Dir: t.TempDir(), Pull: "shop", Run: "r1", Verdict: func() string { return "COMPLETE" }}
}

// loaded must succeed, and give back what it was given.
func loaded(t *testing.T, b *s3test.Bucket, k *Target, items ...string) sink.Output {
	t.Helper()
	out, text := sinktest.Loaded(t, k, items...), sinktest.Text(items)
	if got := string(b.Published(t, folder)); got != text {
		t.Fatalf("published are %d bytes, want %d", len(got), len(text))
	}
	if left, _ := os.ReadDir(k.Dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return out
}

func index(t *testing.T, b *s3test.Bucket) *manifest {
	t.Helper()
	var m manifest
	if err := json.Unmarshal(b.Get(t, folder+"/manifest.json"), &m); err != nil {
		t.Fatal(err)
	}
	return &m
}

func many(n, size int) []string {
	items := make([]string, n)
	for i := range items {
		var noise strings.Builder
		for n := range size / 64 {
			fmt.Fprintf(&noise, "%x", sha256.Sum256(fmt.Append(nil, i, n)))
		}
		items[i] = fmt.Sprintf(`{"id":%d,"x":"%s"}`, i+1, noise.String())
	}
	return items
}

func TestParts(t *testing.T) {
	b := s3test.Start(t)
	for compress, c := range map[string]struct {
		ending string
		least  int
	}{"": {".jsonl.gz", 3}, "gzip": {".jsonl.gz", 3}, "zstd": {".jsonl.zst", 3}, "none": {".jsonl", 20}} {
		k := at(t, b)
		k.Compress, k.PartSize, k.Run = compress, 100_000, "r-"+compress
		loaded(t, b, k, many(2000, 1024)...)
		m := index(t, b)
		if len(m.Parts) < c.least || m.Version != 1 || m.Run != k.Run || m.Verdict != "COMPLETE" || m.Name != "shop" || m.Items != 2000 || m.Written.IsZero() {
			t.Errorf("%q: %+v", compress, m)
		}
		for i, p := range m.Parts {
			if want := fmt.Sprintf("/%05d%s", i+1, c.ending); !strings.HasPrefix(p.Name, "parts/"+k.Run+"-") || !strings.HasSuffix(p.Name, want) {
				t.Errorf("part %d is called %s", i+1, p.Name)
			}
		}
	}
}

func TestNoItems(t *testing.T) {
	b := s3test.Start(t)
	k := at(t, b)
	loaded(t, b, k)
	if text := string(b.Get(t, folder+"/manifest.json")); !strings.Contains(text, `"parts": []`) || !strings.Contains(text, `"previous": []`) {
		t.Error(text)
	}
}

// The set before stays for its readers until the next one; what is in no manifest goes.
func TestSets(t *testing.T) {
	b := s3test.Start(t)
	k := at(t, b)
	loaded(t, b, k, "1")
	first := index(t, b).names()
	k.Run = "r2"
	loaded(t, b, k, "2")
	second := index(t, b)
	if !reflect.DeepEqual(second.Previous, first) {
		t.Errorf("previous %q, want %q", second.Previous, first)
	}
	b.Get(t, folder+"/"+first[0])
	k.Run = "r3"
	if out := loaded(t, b, k, "3"); len(out.Notes) > 0 {
		t.Errorf("notes %q", out.Notes)
	}
	if all := b.List(t, folder); slices.Contains(all, first[0]) || !slices.Contains(all, second.Parts[0].Name) || len(all) != 3 {
		t.Errorf("in the folder: %q", all)
	}
}

// TestStoppedAnywhere ends a load in each of its requests, as a kill before or after the server has done it does, and lets the run go
// on: until the manifest is written the old set is published, and after it the new one, and nothing is left over at the end.
func TestStoppedAnywhere(t *testing.T) {
	items := many(60, 1024)
	for _, how := range []int{s3test.Lost, s3test.Done} {
		for n := 0; ; n++ {
			b := s3test.Start(t)
			k := at(t, b)
			loaded(t, b, k, "old")
			k.Run, k.PartSize, k.Compress = "r2", 20_000, "none"
			failing := errors.New("stop")
			var asked atomic.Int64
			k.Stop = func() error {
				if asked.Load() > int64(n) {
					return failing
				}
				return nil
			}
			b.Hook = func(*http.Request) int {
				switch i := asked.Add(1) - 1; {
				case i == int64(n):
					return how
				case i > int64(n):
					return s3test.Lost
				}
				return 0
			}
			out, err := k.Load(sinktest.Of(items...))
			b.Hook, k.Stop = nil, nil
			if asked.Load() <= int64(n) {
				if n < 8 {
					t.Errorf("only %d requests were made", n)
				}
				break
			}
			if got := string(b.Published(t, folder)); got != "old\n" && got != sinktest.Text(items) {
				t.Fatalf("request %d: %d bytes are published", n, len(got))
			} else if err == nil && got == "old\n" {
				t.Fatalf("request %d: %+v, but the old set is published", n, out)
			}
			out = loaded(t, b, k, items...)
			if m, all := index(t, b), b.List(t, folder); len(all) != 1+len(m.Parts)+len(m.Previous) {
				t.Errorf("request %d: in the folder %q; notes %q", n, all, out.Notes)
			}
		}
	}
}

// Parts of another run are left alone while that one may be alive.
func TestOthersParts(t *testing.T) {
	b := s3test.Start(t)
	other := at(t, b)
	b.Hook = func(r *http.Request) int {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "manifest.json") {
			return http.StatusForbidden
		}
		return 0
	}
	if _, err := other.Load(sinktest.Of("other")); err == nil {
		t.Fatal("no error")
	}
	b.Hook = nil
	k := at(t, b)
	k.Run = "r2"
	out := loaded(t, b, k, "1")
	if len(b.List(t, folder)) != 3 || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "of another run, is in no manifest") {
		t.Errorf("%q, %q", b.List(t, folder), out.Notes)
	}
	out = loaded(t, b, other, "mine") // its own left-over is named and removed
	if len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "left over from an earlier try and removed: parts/r1-") {
		t.Errorf("%q", out.Notes)
	}
}

// What the store gives back is looked at before anyone is told of it.
func TestReadBack(t *testing.T) {
	for name, change := range map[string]func(data []byte) []byte{
		"a flipped bit":  func(d []byte) []byte { d[len(d)/2] ^= 1; return d },
		"an item less":   func(d []byte) []byte { return d[:bytes.LastIndexByte(d[:len(d)-1], '\n')+1] },
		"all but a byte": func(d []byte) []byte { return d[:1] },
	} {
		for _, compress := range []string{"none", "gzip", "zstd"} {
			b := s3test.Start(t)
			k := at(t, b)
			k.Compress = compress
			loaded(t, b, k, "old")
			k.Run = "r2"
			harmed := false
			b.Hook = func(r *http.Request) int {
				if !harmed && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/parts/r2-") {
					harmed = true
					key := strings.TrimPrefix(r.URL.Path, "/"+s3test.Name+"/")
					b.Put(t, key, change(b.Get(t, key)))
				}
				return 0
			}
			_, err := k.Load(sinktest.Of(`{"a":1}`, `{"a":2}`, `{"a":3}`))
			b.Hook = nil
			if !errors.Is(err, sink.ErrReadBack) || !strings.Contains(err.Error(), "parts/r2-") {
				t.Errorf("%s, %q: %v, want ErrReadBack", name, compress, err)
			}
			if got := string(b.Published(t, folder)); got != "old\n" {
				t.Errorf("published is %q", got)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	b := s3test.Start(t)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	b.Put(t, "theirs/manifest.json", []byte(`{"entries":[]}`))
	b.Put(t, "newer/manifest.json", []byte(`{"lastdrop_manifest":2}`))
	for want, change := range map[string]func(k *Target){
		"no such bucket":       func(k *Target) { k.Bucket = "nothing" },
		"cannot be reached":    func(k *Target) { k.Endpoint = "http://127.0.0.1:1" },
		"no credentials":       func(k *Target) { k.AccessKey = "" },
		"no address of a stor": func(k *Target) { k.Endpoint = "127.0.0.1:9000" },
		"not written by lastd": func(k *Target) { k.Folder = "theirs" },
		"by a newer lastdrop":  func(k *Target) { k.Folder = "newer" },
		"may not do this":      func(k *Target) { b.Hook = func(*http.Request) int { return http.StatusForbidden } },
	} {
		k := at(t, b)
		change(k)
		_, loadErr := k.Load(sinktest.Of("1"))
		for _, err := range []error{k.Check(), loadErr} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "-of-tests") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, want)
			}
		}
		b.Hook = nil
	}
}

// The usual environment stands in for the config.
func TestEnvironment(t *testing.T) {
	b := s3test.Start(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "key-of-tests")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-of-tests")
	t.Setenv("AWS_ENDPOINT_URL", b.URL)
	t.Setenv("AWS_REGION", "eu-central-1")
	var signed string
	b.Hook = func(r *http.Request) int { signed = r.Header.Get("Authorization"); return 0 }
	k := &Target{Bucket: s3test.Name, Folder: folder, Dir: t.TempDir(), Run: "r1"}
	loaded(t, b, k, "1")
	if !strings.Contains(signed, "key-of-tests/") || !strings.Contains(signed, "/eu-central-1/s3/") {
		t.Errorf("signed %q", signed)
	}
	if text := fmt.Sprintf("%v %+v", at(t, b), at(t, b)); strings.Contains(text, "secret-of-tests") {
		t.Error("the secret is printed")
	}
}

func TestNothingOfAPart(t *testing.T) {
	b := s3test.Start(t)
	k := at(t, b)
	loaded(t, b, k, "old")
	k.Run = "r2"
	gone := errors.New("gone")
	if _, err := k.Load(func(each func([]byte) error) error { return errors.Join(each([]byte("1")), gone) }); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	if got := string(b.Published(t, folder)); got != "old\n" {
		t.Errorf("published is %q", got)
	}
	if guarded, err := k.Guarded(); !guarded || err != nil {
		t.Errorf("%v, %v", guarded, err)
	}
}
