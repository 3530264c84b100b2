package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lastdrop/internal/racing"
)

var powerCuts = flag.Int("power-cuts", racing.Less(20, 2), "how many power cuts TestPowerCut tries")

// TestPowerCut records with strace what the program asks of the file system, of sink and store together and in their order, in a run that is
// killed once and goes on. Then it cuts the power after operations drawn at random: what was fsynced is there, of later writes any
// part in any order, of names that no fsync of their folder made durable the first few. Each time the target holds what stood there before, or
// everything, and everything where the ledger calls the run COMPLETE; and a run from there holds every item once.
func TestPowerCut(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("strace is Linux's own")
	}
	if out, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Fatalf("strace does not run here (%v %s): \"make tools\" installs it", err, out)
	}
	s := newSource(t)
	c := &killing{t: t, source: s, rng: rand.New(rand.NewPCG(*killSeeds, 2)), calm: map[string]calm{}, kills: map[string]int{}}
	t.Logf("-kill-seed %d", *killSeeds)
	c.undisturbed("offset")
	cuts, operations, complete := 0, 0, 0
	for endings := killEndings; cuts < *powerCuts; endings = append(endings[1:], endings[0]) {
		k := c.newStory("offset", endings[0])
		k.old = c.rng.IntN(2) == 0 && k.ending != ".db"
		if k.old {
			write(t, k.path(k.name()), killOld)
		}
		log := k.record()
		operations += len(log)
		for range min(max(4, *powerCuts/20), *powerCuts-cuts) {
			at := c.rng.IntN(len(log) + 1)
			if c.rng.IntN(2) == 0 { // at the end, where the ledger, the target and what is beside it change
				at = len(log) - c.rng.IntN(len(log)/4)
			}
			k.cut(log[:at])
			cuts++
			k.log = []string{fmt.Sprintf("power cut after operation %d of %d, after %s", at, len(log), log[max(0, at-1)])}
			if k.held = k.ledger(); k.held.done {
				complete++
			}
			k.checkTargets(k.held.done)
			s.pause = func() time.Duration { return 0 }
			k.drain(instant{})
			k.checkEnd()
		}
		_ = os.RemoveAll(k.dir)
	}
	t.Logf("%d power cuts within %d operations, %d of them behind a COMPLETE; %d items lost, %d doubled, %d pages fetched again that were held",
		cuts, operations, complete, c.lost, c.doubled, c.again)
}

// record drains twice under strace, of which the first time is killed, and gives what the program did to its files.
func (k *killStory) record() []change {
	k.t.Helper()
	k.source.pause = func() time.Duration { return time.Duration(k.rng.IntN(int(8 * time.Millisecond))) }
	defer func() { k.source.pause = func() time.Duration { return 0 } }()
	var all []change
	for _, killed := range []bool{true, false} {
		trace := k.path("trace")
		come := make(chan struct{}, 1)
		at := 20 + k.rng.IntN(80)
		k.source.since(func(asked int, _ bool) {
			if asked == at && killed {
				come <- struct{}{}
			}
		})
		// -D: the tracer is the child of the program, which can be killed as ever.
		cmd := exec.Command("strace", "-D", "-f", "-y", "-xx", "-s", "100000000", "-o", trace, "-e", "signal=none",
			"-e", "trace=open,openat,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat",
			program(k.t), "drain", k.path("pull.yaml"), "--db", k.path("runs.db"), "--json")
		var said bytes.Buffer
		cmd.Stderr = &said // which strace holds too: Wait waits for the end of both
		k.must(cmd.Start())
		gone := make(chan struct{})
		go func() { defer close(gone); _ = cmd.Wait() }()
		select {
		case <-come:
			_ = cmd.Process.Kill()
			<-gone
		case <-gone:
		case <-time.After(2 * time.Minute):
			_ = cmd.Process.Kill()
			<-gone
			k.fatalf("under strace it did not end")
		}
		all = append(all, k.read(trace)...)
		k.must(os.Remove(trace))
	}
	k.checkTargets(true)
	return all
}

// A change is one operation on a file in the folder of a story.
type change struct {
	op   string // create, write, append, cut, sync, rename, remove, syncdir
	name string
	to   string // rename
	at   int64  // write; cut: the length
	data []byte
}

func (c change) String() string { return fmt.Sprint(c.op, " ", c.name, " ", c.at) }

// read reads the changes out of a trace, in the order in which they ended.
func (k *killStory) read(trace string) []change {
	k.t.Helper()
	text, err := os.ReadFile(trace)
	k.must(err)
	var all []change
	begun := map[string]string{} // of a thread
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		line := lines.Text()
		if head, ok := strings.CutSuffix(line, "<unfinished ...>"); ok {
			thread, _, _ := strings.Cut(head, " ")
			begun[thread] = head
			continue
		}
		thread, call, _ := strings.Cut(line, " ")
		if _, rest, ok := strings.Cut(call, " resumed>"); ok && strings.HasPrefix(strings.TrimSpace(call), "<...") {
			_, call, _ = strings.Cut(begun[thread]+rest, " ")
		}
		call, args, _ := strings.Cut(strings.TrimSpace(call), "(")
		end := strings.LastIndex(args, " = ")
		if end < 0 || args[end+3] == '-' || args[end+3] == '?' {
			continue // it failed, or is no call
		}
		result, _, _ := strings.Cut(args[end+3:], "<")
		if c, ok := k.change(call, strings.TrimRight(args[:end], " )"), result); ok {
			all = append(all, c)
		}
	}
	k.must(lines.Err())
	return all
}

func unhex(s string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	if err != nil {
		return s
	}
	return string(b)
}

// change is one system call; not ok: it changed nothing here.
func (k *killStory) change(call, args, result string) (c change, ok bool) {
	_, name, _ := strings.Cut(args, "<")
	name, _, _ = strings.Cut(name, ">")
	name = unhex(name)
	var texts []string
	for i, text := range strings.Split(args, `"`) {
		if i%2 == 1 {
			texts = append(texts, unhex(text))
		}
	}
	number := func() int64 {
		n, err := strconv.ParseInt(args[strings.LastIndex(args, " ")+1:], 10, 64)
		k.must(err)
		return n
	}
	switch call {
	case "open", "openat":
		c = change{op: "create", name: texts[0]}
		ok = strings.Contains(args, "O_CREAT")
		if strings.Contains(args, "O_TRUNC") && ok && k.ours(c.name) {
			k.fatalf("a file is cut as it is opened: %.200s", args)
		}
	case "write", "pwrite64":
		if name == "" || !k.ours(name) {
			return c, false
		}
		n, err := strconv.Atoi(result)
		k.must(err)
		c, ok = change{op: "append", name: name, data: []byte(texts[0][:n])}, true
		if call == "pwrite64" {
			c.op, c.at = "write", number()
		}
	case "ftruncate":
		c, ok = change{op: "cut", name: name}, true
		if k.ours(name) {
			c.at = number()
		}
	case "fsync", "fdatasync":
		if name == k.dir {
			return change{op: "syncdir", name: name}, true
		}
		c, ok = change{op: "sync", name: name}, true
	case "rename", "renameat", "renameat2":
		c, ok = change{op: "rename", name: texts[0], to: texts[1]}, true
	case "unlink", "unlinkat":
		c, ok = change{op: "remove", name: texts[0]}, true
	}
	return c, ok && k.ours(c.name)
}

// ours are the files of a story that have to outlive a power cut. SQLite makes its shared memory anew.
func (k *killStory) ours(name string) bool {
	return filepath.Dir(name) == k.dir && !strings.HasSuffix(name, "-shm") && name != k.path("trace")
}

// A node is a file: what is durable of it, and what was done to it since.
type node struct {
	data, durable []byte
	since         []change
}

func (c change) apply(data []byte) []byte {
	size := c.at
	if c.op == "append" {
		c.at = int64(len(data))
	}
	if c.op != "cut" {
		size = max(int64(len(data)), c.at+int64(len(c.data)))
	}
	out := make([]byte, size)
	copy(out, data)
	if c.op != "cut" {
		copy(out[c.at:], c.data)
	}
	return out
}

// cut lays down what a power cut leaves after some changes.
func (k *killStory) cut(log []change) {
	k.t.Helper()
	// A named change is of a name: made is the file that it makes.
	type named struct {
		change
		made *node
	}
	rename := func(c named, names map[string]*node) {
		switch c.op {
		case "create":
			names[c.name] = c.made
		case "rename":
			names[c.to] = names[c.name]
			delete(names, c.name)
		case "remove":
			delete(names, c.name)
		}
	}
	names := map[string]*node{}
	if k.old {
		names[k.path(k.name())] = &node{data: []byte(killOld), durable: []byte(killOld)}
	}
	durable := maps.Clone(names)
	var waiting []named // for an fsync of the folder
	for _, c := range log {
		n := names[c.name]
		switch c.op {
		case "create":
			if n == nil {
				waiting = append(waiting, named{c, &node{}})
				rename(waiting[len(waiting)-1], names)
			}
		case "rename", "remove":
			if n != nil {
				waiting = append(waiting, named{c, nil})
				rename(waiting[len(waiting)-1], names)
			}
		case "syncdir":
			durable, waiting = maps.Clone(names), nil
		case "sync":
			if n != nil {
				n.durable, n.since = n.data, nil
			}
		default:
			if n != nil { // a file that was removed is written by nobody's name
				n.data, n.since = c.apply(n.data), append(n.since, c)
			}
		}
	}
	for _, w := range waiting[:k.rng.IntN(len(waiting)+1)] {
		if w.op == "create" || durable[w.name] != nil {
			rename(w, durable)
		}
	}
	entries, err := os.ReadDir(k.dir)
	k.must(err)
	for _, e := range entries {
		if e.Name() != "pull.yaml" {
			k.must(os.RemoveAll(k.path(e.Name())))
		}
	}
	for name, n := range durable {
		k.must(os.WriteFile(name, n.survivor(k.rng), 0o600))
	}
}

// survivor is what is left of a file: what is durable, and of what was done since nothing, all, the first changes, or any of them, the last of
// them torn.
func (n *node) survivor(rng *rand.Rand) []byte {
	since := slices.Clone(n.since)
	switch rng.IntN(4) {
	case 0:
		since = nil
	case 1:
	case 2:
		since = since[:rng.IntN(len(since)+1)]
	case 3:
		since = slices.DeleteFunc(since, func(change) bool { return rng.IntN(2) == 0 })
	}
	data := n.durable
	for i, c := range since {
		if i == len(since)-1 && len(c.data) > 0 && rng.IntN(2) == 0 {
			c.data = c.data[:rng.IntN(len(c.data)+1)]
		}
		if c.op == "cut" && c.at > int64(len(data)) {
			c.at = int64(len(data))
		}
		data = c.apply(data)
	}
	return data
}
