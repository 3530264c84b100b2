package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lastdrop/internal/importtest"
)

const secretText = "s3cr3t-0123456789"

func env(name string) (string, bool) {
	if name == "API_TOKEN" {
		return secretText, true
	}
	return "", false
}

// pull is the text of a good config.
func pull(name string, more ...string) string {
	return fmt.Sprintf("version: 1\nname: %s\nsource: {url: 'https://api.example.com/'}\npages: {style: single}\n%s\n", name, strings.Join(more, "\n"))
}

// each is the text of a good fan-out.
func each(name, values string, more ...string) string {
	return strings.Replace(pull(name, append(more, "for_each: {as: x, "+values+"}")...), "com/", "com/{x}", 1)
}

func to(file string) string { return "output: {to: '" + file + "'}" }

func write(t *testing.T, dir, base, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, base), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace saves a file as editors do: under another name, then over the old one.
func replace(t *testing.T, dir, base, text string) {
	t.Helper()
	write(t, dir, "."+base+".new", text)
	must(t, os.Rename(filepath.Join(dir, "."+base+".new"), filepath.Join(dir, base)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *Catalog {
	t.Helper()
	c, err := Open(dir, env, slog.New(slog.NewTextHandler(t.Output(), nil)))
	must(t, err)
	return c
}

// state gives what a catalog holds in a line: name@file, with ! where its text is not taken, then the broken files.
func state(c *Catalog) string {
	var words []string
	for _, e := range c.Entries() {
		word := e.Name + "@" + e.File
		if e.Problem != "" {
			word += "!"
		}
		words = append(words, word)
	}
	for _, b := range c.Broken() {
		words = append(words, "-"+b.File)
	}
	return strings.Join(words, " ")
}

func expect(t *testing.T, c *Catalog, want string) {
	t.Helper()
	if got := state(c); got != want {
		t.Fatalf("the catalog holds %q, want %q; %+v", got, want, c.Broken())
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b.yaml", pull("one", `schedule: {cron: "0 3 * * *", zone: Europe/Berlin}`))
	write(t, dir, "a.yml", each("two", "values: [p, q]", to("out/{x}.jsonl")))
	write(t, dir, "c.yaml", "version: 1\nname: three\nsorce: {}\n")
	write(t, dir, ".hidden.yaml", "x")
	write(t, dir, "notes.txt", "x")
	must(t, os.Mkdir(filepath.Join(dir, "d.yaml"), 0o700))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "e.yaml")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "f.yaml"), 0o600))
	c := open(t, dir)
	expect(t, c, "one@b.yaml two@a.yml -c.yaml -e.yaml -f.yaml")
	e, ok := c.Entry("one")
	if !ok || e.Config.Name != "one" || e.Schedule == nil || e.Schedule.Spec().Zone != "Europe/Berlin" || e.Loaded.IsZero() {
		t.Errorf("%+v, %v", e, ok)
	}
	if two, _ := c.Entry("two"); two.Schedule != nil || two.Config.ForEach == nil {
		t.Errorf("%+v", two)
	}
	if _, ok := c.Entry("three"); ok {
		t.Error("a broken file has an entry")
	}
	b := c.Broken()[0]
	if !strings.Contains(b.Problem, filepath.Join(dir, "c.yaml")+":3:1: sorce: unknown key") || b.Since.IsZero() {
		t.Errorf("%+v", b)
	}
	if _, err := Open(filepath.Join(dir, "none"), env, slog.Default()); err == nil {
		t.Error("a folder that is not there was opened")
	}
}

func TestALastGoodVersionStays(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", pull("one"))
	c := open(t, dir)
	first, _ := c.Entry("one")
	write(t, dir, "a.yaml", "version: 1\nname: one\n")
	c.Reload()
	expect(t, c, "one@a.yaml!")
	e, _ := c.Entry("one")
	if e.Config != first.Config || !e.Loaded.Equal(first.Loaded) || !strings.Contains(e.Problem, "source: missing") {
		t.Errorf("%+v", e)
	}
	write(t, dir, "a.yaml", "")
	c.Reload()
	expect(t, c, "one@a.yaml!")
	write(t, dir, "a.yaml", pull("one"))
	c.Reload()
	expect(t, c, "one@a.yaml")
	write(t, dir, "a.yaml", pull("uno"))
	c.Reload()
	expect(t, c, "uno@a.yaml")
	must(t, os.Remove(filepath.Join(dir, "a.yaml")))
	c.Reload()
	expect(t, c, "")
}

func TestAReloadOfTheSameChangesNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", pull("one"))
	write(t, dir, "b.yaml", "x")
	c := open(t, dir)
	before, broken := c.Entries(), c.Broken()
	c.Reload()
	if after := c.Entries(); before[0] != after[0] || broken[0] != c.Broken()[0] {
		t.Errorf("%+v, then %+v", before, after)
	}
	select {
	case <-c.Changed():
		t.Error("a change is told")
	default:
	}
	write(t, dir, "b.yaml", pull("two"))
	c.Reload()
	write(t, dir, "c.yaml", pull("three"))
	c.Reload()
	<-c.Changed()
	select {
	case <-c.Changed():
		t.Error("two changes that nobody looked at are told twice")
	default:
	}
}

func TestOneNameAndTargetAFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b.yaml", pull("one", to("one.jsonl")))
	write(t, dir, "c.yaml", pull("one"))
	write(t, dir, "d.yaml", pull("two", to("./one.jsonl")))
	c := open(t, dir)
	expect(t, c, "one@b.yaml -c.yaml -d.yaml")
	if p := c.Broken()[0].Problem; !strings.Contains(p, `name: "one" is that of `+filepath.Join(dir, "b.yaml")) {
		t.Error(p)
	}
	if p := c.Broken()[1].Problem; !strings.Contains(p, `output.to: "./one.jsonl" is that of `+filepath.Join(dir, "b.yaml")) {
		t.Error(p)
	}
	write(t, dir, "a.yaml", pull("one")) // before b by name, but later
	c.Reload()
	expect(t, c, "one@b.yaml -a.yaml -c.yaml -d.yaml")
	must(t, os.Remove(filepath.Join(dir, "b.yaml")))
	c.Reload()
	expect(t, c, "one@a.yaml two@d.yaml -c.yaml")
	write(t, dir, "c.yaml", each("three", "values: [one, p]", to("{x}.jsonl")))
	c.Reload()
	expect(t, c, "one@a.yaml two@d.yaml -c.yaml")
	if p := c.Broken()[0].Problem; !strings.Contains(p, `output.to: "one.jsonl" is that of `) {
		t.Error(p)
	}
}

func TestAChangeDoesNotTakeWhatIsAnothers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		write(t, dir, name+".yaml", pull(name))
	}
	c := open(t, dir)
	write(t, dir, "a.yaml", pull("b")) // b moves on, but not to where it wants: so a cannot have its name
	write(t, dir, "b.yaml", pull("c"))
	c.Reload()
	expect(t, c, "a@a.yaml! b@b.yaml! c@c.yaml")
	write(t, dir, "c.yaml", pull("a")) // now all three change places
	c.Reload()
	expect(t, c, "a@c.yaml b@a.yaml c@b.yaml")
	write(t, dir, "a.yaml", "broken")
	write(t, dir, "c.yaml", pull("b"))
	c.Reload()
	expect(t, c, "a@c.yaml! b@a.yaml! c@b.yaml")
}

func TestARenamedFileStaysThePull(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b.yaml", pull("one"))
	c := open(t, dir)
	first, _ := c.Entry("one")
	must(t, os.Rename(filepath.Join(dir, "b.yaml"), filepath.Join(dir, "a.yaml")))
	write(t, dir, "0.yaml", pull("one")) // new, though before it by name
	c.Reload()
	expect(t, c, "one@a.yaml -0.yaml")
	if e, _ := c.Entry("one"); e.Config != first.Config || !e.Loaded.Equal(first.Loaded) {
		t.Errorf("%+v, then %+v", first, e)
	}
}

func TestAFolderThatIsAwayLosesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "configs")
	must(t, os.Mkdir(dir, 0o700))
	write(t, dir, "a.yaml", pull("one"))
	c := open(t, dir)
	must(t, os.Rename(dir, dir+".away"))
	c.Reload()
	expect(t, c, "one@a.yaml -.")
	must(t, os.Rename(dir+".away", dir))
	c.Reload()
	expect(t, c, "one@a.yaml")
}

func TestProblemsHoldNoSecret(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", pull("one", `output: {to: "${API_TOKEN}.jsonl"}`))
	write(t, dir, "b.yaml", pull("two", `output: {to: "${API_TOKEN}.jsonl"}`))
	write(t, dir, "c.yaml", pull("three", `schedule: "${API_TOKEN} * * * *"`))
	write(t, dir, "d.yaml", pull("${API_TOKEN}"))
	write(t, dir, "e.yaml", pull("five", `output: {to: "x.jsonl", on: "${API_TOKEN}"}`, "limits: {rate: '${API_TOKEN}'}"))
	c := open(t, dir)
	for _, b := range c.Broken() {
		if strings.Contains(b.Problem, secretText[:8]) {
			t.Errorf("%s: %s", b.File, b.Problem)
		}
	}
	if len(c.Broken()) != 3 && len(c.Broken()) != 4 {
		t.Errorf("%d broken: %s", len(c.Broken()), state(c))
	}
}

func TestWhatConfigsRead(t *testing.T) {
	dir, beside := t.TempDir(), t.TempDir()
	parent := func(more string) {
		write(t, beside, "parent.yaml", pull("parent", "items: {path: a, id: id}", to("parent.jsonl"), more))
	}
	parent("")
	write(t, dir, "a.yaml", each("one", "pull: "+filepath.Join(beside, "parent.yaml")+", path: id", to("{x}.jsonl")))
	c := open(t, dir)
	expect(t, c, "one@a.yaml")
	first, _ := c.Entry("one")
	if c.stale() {
		t.Error("nothing has changed, and the folder is stale")
	}
	parent("limits: {retries: 1}")
	if !c.stale() {
		t.Error("the parent has changed, and the folder is not stale")
	}
	c.Reload()
	if e, _ := c.Entry("one"); e.Config == first.Config || e.Config.Parent.Limits.Retries != 1 {
		t.Error("the parent was not read anew")
	}
	must(t, os.Remove(filepath.Join(beside, "parent.yaml")))
	c.Reload()
	expect(t, c, "one@a.yaml!")
	parent("")
	if !c.stale() {
		t.Error("the parent is back, and the folder is not stale")
	}
	c.Reload()
	expect(t, c, "one@a.yaml")
}

// until waits for a state that a watched folder comes to.
func until(t *testing.T, c *Catalog, want string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for state(c) != want {
		select {
		case <-c.Changed():
		case <-late:
			expect(t, c, want)
		}
	}
}

// watch watches a catalog for the time of a test.
func watch(t *testing.T, c *Catalog, how func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- how(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestWatch(t *testing.T) {
	for name, slow := range map[string]bool{"events": false, "the slow look": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "configs")
			must(t, os.Mkdir(dir, 0o700))
			write(t, dir, "a.yaml", pull("one"))
			c := open(t, dir)
			how := c.Watch
			if slow {
				c.poll = 5 * time.Millisecond
				how = func(ctx context.Context) error { return c.follow(ctx, nil, nil, nil) }
			} else {
				c.poll = time.Hour
			}
			watch(t, c, how)
			write(t, dir, "b.yaml", pull("two"))
			until(t, c, "one@a.yaml two@b.yaml")
			replace(t, dir, "a.yaml", pull("uno"))
			until(t, c, "two@b.yaml uno@a.yaml")
			replace(t, dir, "a.yaml", "broken")
			until(t, c, "two@b.yaml uno@a.yaml!")
			must(t, os.Remove(filepath.Join(dir, "b.yaml")))
			until(t, c, "uno@a.yaml!")
			must(t, os.Rename(filepath.Join(dir, "a.yaml"), filepath.Join(dir, "c.yaml")))
			until(t, c, "-c.yaml")

			must(t, os.RemoveAll(dir)) // the folder is replaced, with files of the same names
			until(t, c, "-. -c.yaml")
			must(t, os.Mkdir(dir, 0o700))
			until(t, c, "")
			write(t, dir, "c.yaml", pull("three"))
			until(t, c, "three@c.yaml")

			next := dir + ".next"
			must(t, os.Mkdir(next, 0o700))
			write(t, next, "d.yaml", pull("four"))
			must(t, os.Rename(dir, dir+".old"))
			must(t, os.Rename(next, dir))
			until(t, c, "four@d.yaml")
			write(t, dir, "d.yaml", pull("five"))
			until(t, c, "five@d.yaml")
		})
	}
}

// Kubernetes mounts a ConfigMap as links through ..data, and changes it by a rename of that link.
func TestAConfigMap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	version := func(n int, text string) {
		real := fmt.Sprintf("..version%d", n)
		must(t, os.Mkdir(filepath.Join(dir, real), 0o700))
		write(t, filepath.Join(dir, real), "a.yaml", text)
		must(t, os.Symlink(real, filepath.Join(dir, "..data_tmp")))
		must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	version(1, pull("one"))
	must(t, os.Symlink("..data/a.yaml", filepath.Join(dir, "a.yaml")))
	c := open(t, dir)
	c.poll = time.Hour
	watch(t, c, c.Watch)
	expect(t, c, "one@a.yaml")
	version(2, pull("two"))
	until(t, c, "two@a.yaml")
	version(3, pull("three"))
	until(t, c, "three@a.yaml")
}

// A folder that is itself a link may be led elsewhere.
func TestALinkedFolder(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, name := range []string{"one", "two"} {
		must(t, os.Mkdir(filepath.Join(base, name), 0o700))
		write(t, filepath.Join(base, name), "a.yaml", pull(name))
	}
	link := filepath.Join(base, "configs")
	must(t, os.Symlink("one", link))
	c := open(t, link)
	c.poll = time.Hour
	watch(t, c, c.Watch)
	must(t, os.Symlink("two", link+".new"))
	must(t, os.Rename(link+".new", link))
	until(t, c, "two@a.yaml")
	write(t, filepath.Join(base, "two"), "b.yaml", pull("three"))
	until(t, c, "three@b.yaml two@a.yaml")
}

func TestManyWritesAreFewReloads(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	c.poll = time.Hour
	watch(t, c, c.Watch)
	var want []string
	for i := range 200 {
		write(t, dir, fmt.Sprintf("p%03d.yaml", i), pull(fmt.Sprintf("p%03d", i)))
		want = append(want, fmt.Sprintf("p%03d@p%03d.yaml", i, i))
	}
	until(t, c, strings.Join(want, " "))
}

func TestImports(t *testing.T) {
	allowed := []string{"lastdrop/configs", "lastdrop/internal/daemon/schedule", "github.com/fsnotify/fsnotify"}
	for _, f := range importtest.Files(t, "*.go") {
		for _, path := range f.Imports(t) {
			first, _, _ := strings.Cut(path, "/")
			if (first == "lastdrop" || strings.Contains(first, ".") || first == "net") && !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s: the catalog knows configs only", f.Name, path)
			}
		}
	}
}
