//go:build e2e

package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// startRegistry starts docker-registry and pushes a blob to n repositories.
func startRegistry(t *testing.T, n int) *server {
	t.Helper()
	s := start(t, "docker-registry", func(s *server) launch {
		config := filepath.Join(s.dir, "config.yml")
		text := fmt.Sprintf("version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: \"127.0.0.1:%d\"}\n",
			filepath.Join(s.dir, "data"), s.port)
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return launch{ready: "/v2/", args: []string{"docker-registry", "serve", config}}
	})
	names := make(chan string)
	errs := make(chan error, 4)
	var work sync.WaitGroup
	for range cap(errs) {
		work.Go(func() {
			var err error
			for name := range names {
				if err == nil {
					err = push(s, name)
				}
			}
			errs <- err
		})
	}
	for i := range n {
		names <- fmt.Sprintf("crew-%d/ship.%d", i%7, i+1)
	}
	close(names)
	work.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// push uploads one small blob, which is what makes a repository.
func push(s *server, name string) error {
	header, _, err := ask("POST", s.base+"/v2/"+name+"/blobs/uploads/", nil)
	if err != nil {
		return err
	}
	u, err := url.Parse(header.Get("Location"))
	if err != nil {
		return err
	}
	q := u.Query()
	q.Set("digest", fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("{}"))))
	u.RawQuery = q.Encode()
	_, _, err = ask("PUT", u.String(), []byte("{}"))
	return err
}

// repositories reads the registry's folders.
func repositories(t *testing.T, s *server) []string {
	t.Helper()
	root := filepath.Join(s.dir, "data/docker/registry/v2/repositories")
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "_layers" {
			return err
		}
		name, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		names = append(names, filepath.ToSlash(name))
		return fs.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// There is no total; the last page has no Link, and the registry's API
// documents that as its end.
const catalog = `
source: {url: "${BASE}/v2/_catalog"}
pages: {style: link, size: {param: n, start: 25}, end: [absent_link]}
items: {path: repositories}
complete: {require: assumed}
`

func TestDockerRegistry(t *testing.T) {
	t.Parallel()
	s := startRegistry(t, 150)
	names := repositories(t, s)
	if len(names) != 150 {
		t.Fatalf("%d repositories on the disk, want 150", len(names))
	}

	for _, size := range []string{"25", "40"} { // the last page full, and not
		t.Run("pages of "+size, func(t *testing.T) {
			r := drain(t, s.base, strings.Replace(catalog, "start: 25", "start: "+size, 1))
			r.is(t, complete, assumed)
			r.equals(t, "", names)
			r.asked(t, 7)
		})
	}
	t.Run("without the operator's word for the end", func(t *testing.T) {
		r := drain(t, s.base, strings.Replace(catalog, ", end: [absent_link]", "", 1))
		r.is(t, unknown)
		r.equals(t, "", names)
		r = drain(t, s.base, strings.Replace(catalog, "complete: {require: assumed}", "", 1))
		r.is(t, unknown)
		r.shows(t, "RC024")
	})
	t.Run("above the loud cap", func(t *testing.T) {
		// n=1001 is refused with 400, which does not name the limit.
		r := drain(t, s.base, strings.Replace(catalog, "start: 25", "start: 1001", 1))
		r.is(t, complete, assumed)
		r.equals(t, "", names)
		r.asked(t, 3)
		if r.PageSize.Start != 1001 || r.PageSize.Min != 1000 {
			t.Errorf("page sizes %+v", r.PageSize)
		}
	})
	t.Run("n=0", func(t *testing.T) {
		// An empty list without a Link: it looks just like an empty registry.
		zero := strings.NewReplacer("size: {param: n, start: 25}, ", "", "_catalog\"", "_catalog\", params: {n: 0}").Replace(catalog)
		r := drain(t, s.base, strings.Replace(zero, "require: assumed", "require: assumed, min_items: 1", 1))
		r.is(t, unknown)
		r = drain(t, s.base, strings.Replace(zero, "complete: {require: assumed}", "", 1))
		r.is(t, unknown)
	})
}
