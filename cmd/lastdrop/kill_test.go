package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lastdrop/internal/racing"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

var (
	kills     = flag.Int("kills", racing.Less(40, 2), "how many processes TestKilledAnywhere kills")
	killFor   = flag.Duration("kill-time", 4*time.Minute, "the most time that TestKilledAnywhere takes; fewer kills than asked for are a failure then")
	killWith  = flag.String("lastdrop", "", "the program that the tests kill, stop and starve; by default it is built")
	killSeeds = flag.Uint64("kill-seed", rand.Uint64(), "what TestKilledAnywhere draws from; the instants of its kills still differ")
)

// program is the program as its users have it: built without what the tests are built with, so that a race detector makes none of them slow.
func program(t *testing.T) string {
	t.Helper()
	if *killWith != "" {
		return *killWith
	}
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildProgram = sync.OnceValues(func() (string, error) {
	beside, err := exec.LookPath("lastdrop") // in a folder that TestMain removes
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(beside), "built", "lastdrop")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
})

// TestKilledAnywhere kills `lastdrop drain` with SIGKILL at random instants: while it opens its store, at a request, within
// a write, a checkpoint, the making of the output, the commit gate, and again while it takes the run up. A run that was killed
// up to six times holds every item once, no torn line, and has the verdict of one that nobody disturbed. At every kill the target holds
// what stood there before, or everything. No page that the ledger held is asked for again.
func TestKilledAnywhere(t *testing.T) {
	s := newSource(t)
	c := &killing{t: t, source: s, rng: rand.New(rand.NewPCG(*killSeeds, 1)), calm: map[string]calm{}, kills: map[string]int{}}
	t.Logf("-kill-seed %d", *killSeeds)
	for _, way := range killWays {
		c.undisturbed(way)
	}
	began, told := time.Now(), 0
	for c.killed < *kills && time.Since(began) < *killFor && !t.Failed() {
		c.tell()
		if c.killed/100 > told {
			told = c.killed / 100
			t.Log(c.counts())
		}
	}
	t.Log(c.counts())
	if c.killed < *kills && !t.Failed() {
		t.Errorf("only %d kills of %d in %s", c.killed, *kills, *killFor)
	}
}

var killWays = []string{"offset", "wide", "cursor", "sliced", "each"}

// A calm is a run that nobody disturbed.
type calm struct {
	verdict, strength string
	requests          int
	times             map[string]int // that each came: once, but for the total of the whole that slices are held against
}

// killing counts what was killed and what came of it.
type killing struct {
	t      *testing.T
	source *source
	rng    *rand.Rand
	calm   map[string]calm

	stories, killed, resumed, lost, doubled, again int
	kills                                          map[string]int // by instant
}

func (c *killing) counts() string {
	return fmt.Sprintf("%d runs, %d kills %v, %d resumed, %d items lost, %d doubled, %d pages fetched again that were held",
		c.stories, c.killed, c.kills, c.resumed, c.lost, c.doubled, c.again)
}

// A killStory is one pull in a folder of its own, started and killed again and again.
type killStory struct {
	*killing
	way, ending, dir string
	old              bool     // something stood at the targets before
	held             ledger   // at the last kill
	good             bool     // the ledger called a run COMPLETE: a further one, which begins anew, must not take its items away
	log              []string // what happened
	stdout, stderr   bytes.Buffer
	exit             int
}

const killOld = "what stood there before\n"

func (c *killing) newStory(way, ending string) *killStory {
	k := &killStory{killing: c, way: way, ending: ending, dir: c.t.TempDir()}
	if err := os.WriteFile(k.path("pull.yaml"), []byte(c.source.killConfig(way, k.path(k.name()))), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return k
}

// tell tells one story: some kills, then a run to its end.
func (c *killing) tell() {
	c.stories++
	k := c.newStory(killWays[c.rng.IntN(len(killWays))], killEndings[c.rng.IntN(len(killEndings))])
	defer os.RemoveAll(k.dir)
	k.old = c.rng.IntN(2) == 0 && k.ending != ".db"
	for target := range k.targets() {
		if k.old {
			c.must(os.WriteFile(target, []byte(killOld), 0o600))
		}
	}
	killed := true
	for left := min(1+c.rng.IntN(6), *kills-c.killed); killed && left > 0; left-- {
		at := k.instant()
		if killed = k.drain(at); !killed {
			break // it came to its end before
		}
		c.killed++
		c.kills[at.name]++
		if k.held = k.ledger(); k.held.open {
			c.resumed++
		}
		k.good = k.good || k.held.done
		k.checkTargets(k.good)
	}
	if killed {
		k.drain(instant{})
		most := c.calm[k.way].requests - len(k.held.urls)
		if k.way == "wide" {
			most += 3 // asked ahead, for nothing
		}
		if asked := len(c.source.requests()); asked > most {
			k.fatalf("%d requests to go on from %d held pages; undisturbed it takes %d in all: %s",
				asked, len(k.held.urls), c.calm[k.way].requests, strings.Join(c.source.requests(), "\n"))
		}
	}
	k.checkEnd()
}

// undisturbed drains once and kills nobody.
func (c *killing) undisturbed(way string) {
	k := c.newStory(way, ".jsonl")
	k.drain(instant{})
	got, rep := c.source.requests(), k.report()
	times := map[string]int{}
	for _, url := range got {
		times[url]++
	}
	c.calm[way] = calm{rep.Verdict.String(), rep.Strength.String(), len(got), times}
	k.checkEnd()
}

func (k *killStory) path(name string) string { return filepath.Join(k.dir, name) }

// name is that of the output, as the config has it.
func (k *killStory) name() string {
	if k.way == "each" {
		return "out-{v}" + k.ending
	}
	return "out" + k.ending
}

// targets are the outputs, each with the way that its items come from.
func (k *killStory) targets() map[string]string {
	if k.way != "each" {
		return map[string]string{k.path(k.name()): k.way}
	}
	all := map[string]string{}
	for _, v := range killValues {
		all[k.path(strings.ReplaceAll(k.name(), "{v}", v))] = "each/" + v
	}
	return all
}

func (k *killStory) fatalf(format string, args ...any) {
	k.t.Helper()
	files, _ := filepath.Glob(k.path("*"))
	k.t.Fatalf("%s to %s: %s\n%s\nexit status %d, said %s\nfiles: %v", k.way, k.ending, fmt.Sprintf(format, args...),
		strings.Join(k.log, "\n"), k.exit, &k.stderr, files)
}

func (c *killing) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// An instant is when a process is killed: after a wait for something to happen, and then a pause. The zero instant never comes.
type instant struct {
	name  string
	after int               // requests
	last  bool              // the request for the last item
	seen  func() (size any) // what to watch from outside, and
	turns int               // how often it changes before
	pause time.Duration
}

// instant draws one.
func (k *killStory) instant() instant {
	up := func(most time.Duration) time.Duration { return time.Duration(k.rng.Int64N(int64(most))) }
	// The files of any part of a fan-out.
	sizes := func(pattern string) func() any {
		return func() any {
			var all string
			names, _ := filepath.Glob(k.path(pattern))
			for _, name := range names {
				if info, err := os.Stat(name); err == nil {
					all += fmt.Sprint(name, " ", info.Size(), " ", info.ModTime().UnixNano(), "\n")
				}
			}
			return all
		}
	}
	switch k.rng.IntN(6) {
	case 0: // opening the store, its migrations, taking the run up
		return instant{name: "start", pause: up(80 * time.Millisecond)}
	case 1:
		return instant{name: "checkpoint", seen: sizes("runs.db*"), turns: 1 + k.rng.IntN(12), pause: up(time.Millisecond)}
	case 2:
		return instant{name: "write", seen: sizes("*.partial"), turns: 1 + k.rng.IntN(8), pause: up(time.Millisecond)}
	case 3:
		return instant{name: "end", last: true, pause: up(30 * time.Millisecond)}
	case 4: // where the target is made or takes its place
		return instant{name: "gate", seen: sizes("out*[a-z][a-z]"), turns: 1 + k.rng.IntN(6), pause: up(3 * time.Millisecond)}
	}
	rest := max(1, k.calm[k.way].requests-len(k.held.urls))
	return instant{name: "request", after: 1 + k.rng.IntN(rest), pause: up(3 * time.Millisecond)}
}

// drain runs the program, and kills it at an instant unless it ends before.
func (k *killStory) drain(at instant) (killed bool) {
	k.t.Helper()
	come := make(chan struct{}, 1)
	k.source.since(func(asked int, last bool) {
		if asked == at.after || at.last && last {
			select {
			case come <- struct{}{}:
			default:
			}
		}
	})
	k.stdout.Reset()
	k.stderr.Reset()
	cmd := exec.Command(program(k.t), "drain", k.path("pull.yaml"), "--db", k.path("runs.db"), "--json")
	cmd.Stdout, cmd.Stderr = &k.stdout, &k.stderr
	k.must(cmd.Start())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // its state tells
	}()
	k.await(at, come, gone)
	if at.name != "" {
		_ = cmd.Process.Kill()
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		<-gone
		k.fatalf("it did not end within a minute")
	}
	k.source.CloseClientConnections() // a request of the dead that the server has not read yet is none of the next process
	k.exit = cmd.ProcessState.ExitCode()
	killed = k.exit == -1
	k.log = append(k.log, fmt.Sprintf("%s after %s, %d turns, %d requests: killed %v, %d requests", at.name, at.pause, at.turns, at.after, killed, len(k.source.requests())))
	for _, url := range k.source.requests() {
		if k.held.urls[url] && k.calm[k.way].times[url] < 2 {
			k.again++
			k.t.Errorf("%s was held, and is asked for again", url)
		}
	}
	if k.t.Failed() {
		k.fatalf("see above")
	}
	return killed
}

// await waits for an instant, or for the end of the process.
func (k *killStory) await(at instant, come, gone <-chan struct{}) {
	switch {
	case at.name == "":
		return
	case at.seen != nil:
		for was := at.seen(); at.turns > 0; {
			select {
			case <-gone:
				return
			case <-time.After(100 * time.Microsecond):
			}
			if now := at.seen(); now != was {
				was = now
				at.turns--
			}
		}
	case at.after > 0 || at.last:
		select {
		case <-gone:
			return
		case <-come:
		}
	}
	time.Sleep(at.pause)
}

// A ledger is what the store knew at a kill.
type ledger struct {
	open bool            // there is a run to go on with
	done bool            // the latest run is COMPLETE
	urls map[string]bool // of the pages that it holds
}

// ledger looks into a copy of the store, so that what a resume has to undo stays there.
func (k *killStory) ledger() ledger {
	k.t.Helper()
	var l ledger
	path := k.path("copy/runs.db")
	k.must(os.MkdirAll(filepath.Dir(path), 0o700))
	defer os.RemoveAll(filepath.Dir(path))
	err := copyStore(k.path("runs.db"), path)
	if errors.Is(err, fs.ErrNotExist) {
		return l
	}
	k.must(err)
	st, err := store.Open(k.t.Context(), path) // a killed migration too is gone on with
	if err != nil {
		k.fatalf("the store: %v", err)
	}
	defer st.Close()
	list, err := st.Runs(k.t.Context(), store.RunFilter{})
	k.must(err)
	var whole store.Info
	for _, r := range list.Runs {
		if r.Name == k.way && r.Run > whole.Run {
			whole = r
		}
	}
	l.done = whole.State == store.Finished && whole.Verdict != nil && *whole.Verdict == judge.Complete
	if l.open = whole.Unfinished(); !l.open {
		return l
	}
	l.urls = map[string]bool{}
	for _, r := range list.Runs {
		if r.Run < whole.Run {
			continue
		}
		pages, err := st.Pages(k.t.Context(), r.Run, store.PageFilter{Outcome: reconcile.Held.String()})
		k.must(err)
		for _, p := range pages {
			l.urls[p.URL] = true
		}
	}
	return l
}

// report is the last of the run that came to its end: that of the whole.
func (k *killStory) report() (rep reconcile.Report) {
	k.t.Helper()
	lines := strings.Split(strings.TrimSpace(k.stdout.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &rep); err != nil {
		k.fatalf("no report: %v", err)
	}
	return rep
}

// checkEnd wants the verdict of a calm run, every item once, and nothing left behind.
func (k *killStory) checkEnd() {
	k.t.Helper()
	rep, want := k.report(), k.calm[k.way]
	if k.exit != 0 || rep.Verdict.String() != want.verdict || rep.Strength.String() != want.strength || rep.Verdict != judge.Complete ||
		rep.Items.Distinct != killItems || rep.Items.Written != killItems {
		k.fatalf("%s (%s), %d items, %d written; undisturbed it is %s (%s)", rep.Verdict, rep.Strength, rep.Items.Distinct, rep.Items.Written, want.verdict, want.strength)
	}
	k.checkTargets(true)
	// A child that was killed between its report and the end is not taken up again: its lines go with its next run.
	for _, left := range []string{"*.partial", "*.making", "*-journal", "out*-wal"} {
		if names, _ := filepath.Glob(k.path(left)); len(names) > 0 && !(k.way == "each" && left == "*.partial") {
			k.fatalf("%v is left behind", names)
		}
	}
}

// checkTargets wants at each target all items once; before the end, what stood there before will do too.
func (k *killStory) checkTargets(end bool) {
	k.t.Helper()
	for target, from := range k.targets() {
		data, err := os.ReadFile(target)
		before := errors.Is(err, fs.ErrNotExist) && !k.old || err == nil && k.old && string(data) == killOld
		if before && !end {
			continue
		}
		items, err := itemsAt(target, k.way)
		if !end && errors.Is(err, fs.ErrNotExist) && !k.old {
			continue // a file of a table that is not there yet
		}
		if err != nil {
			k.fatalf("%s: %v", target, err)
		}
		k.count(target, from, items)
	}
}

// count counts what is lost and what is doubled.
func (k *killStory) count(target, from string, items []string) {
	k.t.Helper()
	times := map[string]int{}
	for _, item := range items {
		times[item]++
	}
	lost, doubled := 0, len(items)-len(times)
	for n := range countOf(from) {
		item := killItem(from, n)
		if times[item] == 0 {
			lost++
		}
		delete(times, item)
	}
	k.lost += lost
	k.doubled += doubled
	if lost+doubled+len(times) > 0 {
		k.fatalf("%s: %d items lost, %d doubled, %d that nobody served", target, lost, doubled, len(times))
	}
}
