// Package catalog keeps the folder of configs: the last good version of each
// file, and what is wrong with its text as it is now. It is watched by file
// events, and looked at now and then where there are none.
//
// A file that is broken keeps its last good version; a file that is gone takes
// its entry with it. Of two files with one name or one target the one that was
// there first counts, of new ones the first by file name. If the folder itself
// cannot be read, everything stays as it was, and [Catalog.Broken] says so.
package catalog

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lastdrop/configs"
	"lastdrop/internal/daemon/schedule"
)

// An Entry is one pull: the last good version of a config file. Nobody changes
// what it points to.
type Entry struct {
	Name     string
	File     string             // its base name
	Config   *configs.Config    // of for_each the whole
	Schedule *schedule.Schedule // nil: only by hand
	Loaded   time.Time          // when this version was taken up
	// Problem says why the file's text as it is now is not taken, a line a fault, without secrets; "": it is.
	Problem string
}

// A Broken is a file that has no good version. File is "." for the folder itself.
type Broken struct {
	File    string // its base name
	Problem string // without secrets
	Since   time.Time
}

// A Catalog may be used from several goroutines.
type Catalog struct {
	dir     string
	lookup  func(string) (string, bool)
	log     *slog.Logger
	changed chan struct{}
	poll    time.Duration

	reload sync.Mutex // one at a time
	files  map[string]*file
	seen   prints // of what files was made of

	mu      sync.Mutex // of what is handed out
	entries []Entry
	broken  []Broken
}

// A file is one config file of the folder.
type file struct {
	base  string
	text  [sha256.Size]byte // of the file and of those that it reads
	fresh *configs.Config   // the text as it is now; nil: it is broken
	fault string            // why
	good  *Entry            // the last good version; nil: none
	since time.Time         // of the fault, without a good version
}

// Open reads a folder. lookup gives variables of the environment, as
// os.LookupEnv does. The error says that the folder cannot be read; files that
// are broken are none.
func Open(dir string, lookup func(string) (string, bool), log *slog.Logger) (*Catalog, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		_, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("configs: %w", err)
	}
	c := &Catalog{dir: dir, lookup: lookup, log: log, changed: make(chan struct{}, 1), poll: 30 * time.Second, files: map[string]*file{}}
	c.Reload()
	select {
	case <-c.changed: // what was read first is no change
	default:
	}
	return c, nil
}

// Entries gives the pulls, by name.
func (c *Catalog) Entries() []Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.entries)
}

// Entry gives the pull of a name.
func (c *Catalog) Entry(name string) (Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := slices.BinarySearchFunc(c.entries, name, func(e Entry, name string) int { return cmp.Compare(e.Name, name) })
	if !ok {
		return Entry{}, false
	}
	return c.entries[i], true
}

// Broken gives the files without a good version, by file name.
func (c *Catalog) Broken() []Broken {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.broken)
}

// Changed tells that entries or broken files are others than before. Several
// changes may come as one; it is for one reader.
func (c *Catalog) Changed() <-chan struct{} { return c.changed }

// Reload reads the folder anew.
func (c *Catalog) Reload() {
	c.reload.Lock()
	defer c.reload.Unlock()
	seen, err := c.look()
	if err != nil {
		c.publish("the folder cannot be read, and what is known of it stays in use: " + err.Error())
		return
	}
	files := map[string]*file{}
	for _, base := range slices.Sorted(maps.Keys(seen.files)) {
		f := c.files[base]
		if f == nil {
			f = &file{base: base}
		}
		c.read(f)
		files[base] = f
	}
	c.renamed(files, seen)
	c.files, c.seen = files, seen
	c.settle()
	for _, f := range files { // what they read beside themselves is known now
		seen.add(f)
	}
	c.publish("")
}

// read parses a file whose text is another than before.
func (c *Catalog) read(f *file) {
	path := filepath.Join(c.dir, f.base)
	if text, err := textOf(path, f.fresh); err == nil && f.fresh != nil && text == f.text {
		f.fault = ""
		return
	}
	var err error
	f.fresh = nil
	if info, missing := os.Stat(path); missing == nil && !info.Mode().IsRegular() { // reading a pipe may never end
		err = fmt.Errorf("%s: is no regular file", path)
	} else {
		f.fresh, err = configs.Load(path, c.lookup)
	}
	if err != nil {
		f.fault = err.Error()
		return
	}
	f.fault = ""
	if f.text, err = textOf(path, f.fresh); err != nil {
		f.text = [sha256.Size]byte{} // it has gone meanwhile: it is read again
	}
}

// most is more than a config may have.
const most = 1 << 20

// textOf gives a hash of a file, and of those that its config is made of.
func textOf(path string, made *configs.Config) (sum [sha256.Size]byte, err error) {
	hash := sha256.New()
	paths := []string{path}
	if made != nil {
		paths = append(paths, made.Reads()...)
	}
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return sum, err
		}
		if !info.Mode().IsRegular() {
			return sum, fmt.Errorf("%s: is no regular file", p)
		}
		file, err := os.Open(p)
		if err != nil {
			return sum, err
		}
		_, err = io.Copy(hash, io.LimitReader(file, most))
		_ = file.Close()
		if err != nil {
			return sum, err
		}
		hash.Write([]byte{0})
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}

// renamed lets a file that has the name and the text of one that is gone go on as that one: of several the very same file, else the
// first by name.
func (c *Catalog) renamed(files map[string]*file, seen prints) {
	for base, old := range c.files {
		if files[base] != nil || old.good == nil || old.fresh != old.good.Config {
			continue
		}
		var heir *file
		for _, now := range slices.Sorted(maps.Keys(files)) {
			f := files[now]
			if f.good != nil || f.fresh == nil || f.fresh.Name != old.good.Name || f.text != old.text {
				continue
			}
			if is := os.SameFile(c.seen.files[base], seen.files[now]); heir == nil || is {
				heir = f
			}
		}
		if heir != nil {
			heir.good, heir.fresh = old.good, old.fresh
		}
	}
}

// settle decides for each file whether its text is taken. What is in use has
// its name and targets before what is new: a file whose new text is refused
// keeps those of its last good version, and then all is decided again.
func (c *Catalog) settle() {
	all := slices.SortedFunc(maps.Values(c.files), func(a, b *file) int { return cmp.Compare(a.base, b.base) })
	stays := map[*file]bool{}
	for _, f := range all {
		stays[f] = f.good != nil && (f.fresh == nil || f.fresh == f.good.Config)
	}
	problems := map[*file]string{}
	for again := true; again; {
		again = false
		var owners configs.Owners
		for _, f := range all {
			if !stays[f] {
				continue
			}
			// Two that were good together are so still, but for what they read beside themselves: then both stay, and the later says so.
			if err := owners.Claim(filepath.Join(c.dir, f.base), f.good.Config); err != nil && problems[f] == "" {
				problems[f] = err.Error()
			}
		}
		for _, f := range all {
			if stays[f] || f.fresh == nil {
				continue
			}
			err := owners.Claim(filepath.Join(c.dir, f.base), f.fresh)
			problems[f] = ""
			if err == nil {
				continue
			}
			problems[f] = err.Error()
			if f.good != nil {
				stays[f], again = true, true
				break
			}
		}
	}
	now := time.Now()
	for _, f := range all {
		f.decide(cmp.Or(f.fault, problems[f]), stays[f], now)
	}
}

// decide takes a file's text up, or notes why not.
func (f *file) decide(problem string, stays bool, now time.Time) {
	if problem == "" && !stays {
		good := &Entry{Name: f.fresh.Name, Config: f.fresh, Loaded: now}
		if s := f.fresh.Schedule; s != nil {
			var err error
			if good.Schedule, err = schedule.Parse(s.Spec()); err != nil { // configs has parsed it too
				problem = err.Error()
			}
		}
		if problem == "" {
			f.good = good
		}
	}
	f.fault = problem
	switch {
	case problem == "" || f.good != nil:
		f.since = time.Time{}
	case f.since.IsZero():
		f.since = now
	}
}

// publish hands out what the files are now, and tells of what has changed.
func (c *Catalog) publish(folder string) {
	var entries []Entry
	var broken []Broken
	if folder != "" {
		broken = append(broken, Broken{File: ".", Problem: folder, Since: time.Now()})
	}
	for _, base := range slices.Sorted(maps.Keys(c.files)) {
		f := c.files[base]
		if f.good == nil {
			broken = append(broken, Broken{File: base, Problem: f.fault, Since: f.since})
			continue
		}
		e := *f.good
		e.File, e.Problem = base, f.fault
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })

	c.mu.Lock()
	was, wasBroken := c.entries, c.broken
	if i := slices.IndexFunc(wasBroken, func(b Broken) bool { return b.File == "." }); i >= 0 && folder != "" {
		broken[0].Since = wasBroken[i].Since
	}
	c.entries, c.broken = entries, broken
	c.mu.Unlock()
	if slices.Equal(was, entries) && slices.Equal(wasBroken, broken) {
		return
	}
	c.tell(was, entries, wasBroken, broken)
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// tell logs what is new.
func (c *Catalog) tell(was, entries []Entry, wasBroken, broken []Broken) {
	old := map[string]Entry{}
	for _, e := range was {
		old[e.Name] = e
	}
	for _, e := range entries {
		before := old[e.Name]
		delete(old, e.Name)
		if before.Config != e.Config {
			c.log.Info("config taken up", "pull", e.Name, "file", e.File)
		}
		if e.Problem != "" && e.Problem != before.Problem {
			c.log.Warn("config not taken; its last good version stays in use", "pull", e.Name, "file", e.File, "problem", e.Problem)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		c.log.Info("config gone", "pull", name, "file", old[name].File)
	}
	for _, b := range broken {
		if !slices.Contains(wasBroken, b) {
			c.log.Warn("config not taken", "file", b.File, "problem", b.Problem)
		}
	}
}

// isConfig reports whether a file name is that of a config: not that of a
// hidden file, which editors and Kubernetes make.
func isConfig(base string) bool {
	ext := strings.ToLower(filepath.Ext(base))
	return (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(base, ".")
}
