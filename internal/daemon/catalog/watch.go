package catalog

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long nothing more must happen before the folder is read, patience how long that is waited for.
	quiet    = 100 * time.Millisecond
	patience = time.Second
)

// Watch reloads the folder when something in it changes, until ctx ends: then
// it returns nil. Where the system gives no events, or not all of them, it
// looks for changes every 30 seconds.
func (c *Catalog) Watch(ctx context.Context) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		c.log.Warn("no file events: the folder of configs is looked at every 30 s", "error", err)
		return c.follow(ctx, nil, nil, nil)
	}
	defer w.Close()
	// The folder above tells when the folder itself is put in another's place.
	if err := w.Add(filepath.Dir(c.dir)); err != nil {
		c.log.Warn("no file events from the folder above that of the configs", "error", err)
	}
	return c.follow(ctx, &folder{dir: c.dir, w: w}, w.Events, w.Errors)
}

// A folder is watched, whatever now stands at its path.
type folder struct {
	dir string
	w   *fsnotify.Watcher
	is  os.FileInfo // what is watched
}

// renew watches what stands at the path now, and reports whether it is another than before. A nil folder is not watched.
func (f *folder) renew() bool {
	if f == nil {
		return false
	}
	is, err := os.Stat(f.dir)
	if err != nil {
		f.is = nil
		return false
	}
	if f.is != nil && os.SameFile(f.is, is) {
		return false
	}
	_ = f.w.Remove(f.dir) // it is watched no more where it is gone
	if err := f.w.Add(f.dir); err != nil {
		return false // the slow look tries again
	}
	f.is = is
	return true
}

// follow reloads after events, and after what a slow look finds. at is nil where there are no events.
func (c *Catalog) follow(ctx context.Context, at *folder, events <-chan fsnotify.Event, errs <-chan error) error {
	look := time.NewTicker(c.poll)
	defer look.Stop()
	settled := time.NewTimer(0) // at the start: something may have changed since it was read
	defer settled.Stop()
	var first time.Time // of the events that are collected; zero: none
	happened := func() {
		if first.IsZero() {
			first = time.Now()
		}
		settled.Reset(min(quiet, max(0, patience-time.Since(first))))
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-events:
			if !ok {
				events = nil
			} else if c.concerns(e) {
				if filepath.Clean(e.Name) == c.dir {
					at.is = nil // another may stand there, with the same number
				}
				happened()
			}
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			c.log.Warn("file events were lost: the folder of configs is read anew", "error", err)
			happened()
		case <-settled.C:
			first = time.Time{}
			at.renew()
			c.Reload()
		case <-look.C:
			if renewed := at.renew(); renewed || c.stale() {
				c.Reload()
			}
		}
	}
}

// concerns reports whether an event may be one of the folder: those of its neighbours are none.
func (c *Catalog) concerns(e fsnotify.Event) bool {
	name := filepath.Clean(e.Name)
	return e.Op != fsnotify.Chmod && (name == c.dir || filepath.Dir(name) == c.dir)
}

// prints tell whether files are others than before, without reading them.
type prints struct {
	files  map[string]os.FileInfo // of the folder, by base name; nil: it cannot be seen
	others map[string]os.FileInfo // that they read, by path; nil: not there
}

// look finds the config files of the folder. A link counts as what it leads to.
func (c *Catalog) look() (prints, error) {
	p := prints{files: map[string]os.FileInfo{}, others: map[string]os.FileInfo{}}
	list, err := os.ReadDir(c.dir)
	if err != nil {
		return p, err
	}
	for _, e := range list {
		if !isConfig(e.Name()) {
			continue
		}
		info, err := os.Stat(filepath.Join(c.dir, e.Name()))
		if err == nil && info.IsDir() {
			continue
		}
		p.files[e.Name()] = info // nil where a link leads to nothing: reading it says so
	}
	return p, nil
}

// add notes the files that a config reads beside its own.
func (p prints) add(f *file) {
	if f.fresh == nil {
		return
	}
	for _, path := range f.fresh.Reads() {
		info, _ := os.Stat(path)
		p.others[path] = info
	}
}

// stale reports whether a look at the folder shows something else than what was read. While a file is not taken it always is: what it
// waits for may be anywhere.
func (c *Catalog) stale() bool {
	c.reload.Lock()
	defer c.reload.Unlock()
	now, err := c.look()
	if err != nil || len(now.files) != len(c.seen.files) {
		return true
	}
	for _, f := range c.files {
		if f.fault != "" {
			return true
		}
	}
	for base, info := range now.files {
		if !same(info, c.seen.files[base]) {
			return true
		}
	}
	for path, was := range c.seen.others {
		if info, _ := os.Stat(path); !same(info, was) {
			return true
		}
	}
	return false
}

func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
