package sink

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// TestAnyHistory lets a run live through any history of batches, syncs, lost ledger writes, stops, power
// cuts, failing disks and closes, and wants every item exactly once at its end.
func TestAnyHistory(t *testing.T) {
	for _, ending := range crashEndings {
		t.Run(ending, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { newHistory(t, ending).play(t) })
		})
	}
}

// A history is a run under everything that can happen to it.
type history struct {
	*pull
	disk *disk
	old  bool
	f    *File // nil while no process lives
	at   int   // the next item to write
}

func newHistory(t *rapid.T, ending string) *history {
	d := newDisk(rapid.Uint64().Draw(t, "seed"))
	h := &history{disk: d, old: rapid.Bool().Draw(t, "old")}
	h.pull = &pull{files: d, target: "out/items" + ending}
	if h.items = rapid.SliceOfN(item(), 0, 40).Draw(t, "items"); formOf(ending) != nil {
		h.items = numbered(len(h.items)) // forms are made of JSON
	}
	if h.old {
		d.put(h.target, oldFile, 0o600)
	}
	return h
}

// item is any line of bytes that is not empty, and now and then one larger than the buffers.
func item() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		b := rapid.SliceOfN(rapid.Byte().Filter(func(c byte) bool { return c != '\n' }), 1, 30).Draw(t, "bytes")
		if rapid.IntRange(0, 19).Draw(t, "large") == 0 {
			b = append(b, make([]byte, 70_000)...)
		}
		return b
	})
}

func (h *history) play(t *rapid.T) {
	for range rapid.IntRange(0, 25).Draw(t, "events") {
		h.event(t)
		h.checkTarget(t)
	}
	h.die(false)
	out, err := h.finish(true)
	if err != nil || !out.Committed || out.Items != int64(len(h.items)) {
		t.Fatalf("finish: %+v, %v", out, err)
	}
	h.disk.reboot(true)
	got, _ := h.disk.get(h.target)
	if content := unpackRapid(t, h.target, got); string(content) != string(lines(h.items)) {
		t.Fatalf("the target holds %q, want %q", content, lines(h.items))
	}
	if _, aside := h.disk.get(asideOf(h.target)); aside {
		t.Fatal("a file is left aside")
	}
}

var events = []string{"write", "write", "write", "sync", "sync", "close", "kill", "power", "break", "finish"}

func (h *history) event(t *rapid.T) {
	switch rapid.SampledFrom(events).Draw(t, "event") {
	case "write":
		h.write(t)
	case "sync":
		h.sync(t)
	case "close":
		h.close(t)
	case "kill":
		h.die(false)
	case "power":
		h.die(true)
	case "break":
		err := rapid.SampledFrom([]error{errCrash, syscall.ENOSPC, syscall.EIO, errShort}).Draw(t, "fault")
		h.disk.hook = failAt(rapid.IntRange(0, 8).Draw(t, "in"), err)
	case "finish":
		h.die(false)
		// A run that is not complete may be finished and taken up again.
		if _, err := h.finish(false); err != nil {
			h.failed(t, err)
		}
	}
}

// alive opens the file with what the ledger knows, unless it is open.
func (h *history) alive(t *rapid.T) bool {
	if h.f != nil {
		return true
	}
	if h.finishing && h.mark == nil {
		h.mark = &Mark{}
	}
	o := optionsOf(h.disk, h.target)
	o.Resume, o.ResumeCommitted = h.mark, h.finishing
	f, err := open(h.disk, o)
	if err != nil {
		h.failed(t, err)
		return false
	}
	h.f, h.at = f, h.held()
	return true
}

func (h *history) write(t *rapid.T) {
	if !h.alive(t) {
		return
	}
	end := min(len(h.items), h.at+rapid.IntRange(0, 6).Draw(t, "n"))
	if err := h.f.Write(h.items[h.at:end]); err != nil {
		h.failed(t, err)
		return
	}
	h.at = end
}

// sync writes the mark into the ledger, or loses it there, as a stop between the two would.
func (h *history) sync(t *rapid.T) {
	if !h.alive(t) {
		return
	}
	m, err := h.f.Sync()
	if err != nil {
		h.failed(t, err)
		return
	}
	if m.Items != int64(h.at) {
		t.Fatalf("%+v, want %d items", m, h.at)
	}
	if rapid.IntRange(0, 4).Draw(t, "ledger") > 0 {
		h.mark = &m
	}
}

func (h *history) close(t *rapid.T) {
	if h.f == nil {
		return
	}
	err := h.f.Close()
	h.f = nil
	if err != nil {
		h.failed(t, err)
	}
}

// failed is a process that ends for an error, which a fault must have caused.
func (h *history) failed(t *rapid.T, err error) {
	faults := []error{errCrash, errOff, syscall.ENOSPC, syscall.EIO, errShort, io.ErrShortWrite}
	if !slices.ContainsFunc(faults, func(fault error) bool { return errors.Is(err, fault) }) {
		t.Fatalf("no fault explains: %v", err)
	}
	if h.f != nil {
		_ = h.f.Close()
		h.f = nil
	}
	if h.disk.dead {
		h.disk.reboot(true)
	}
	h.disk.hook = nil
}

// die ends the process, and with power the machine.
func (h *history) die(power bool) {
	h.f = nil
	h.disk.reboot(power)
}

// finish lets a new process write a part of what is left, or all, and finish.
func (h *history) finish(complete bool) (Output, error) {
	h.batch, h.every = 3, 2
	upTo := len(h.items)
	if !complete {
		upTo = (h.held() + upTo) / 2
	}
	return h.run(upTo, complete)
}

// checkTarget wants an old good file to stay until the run is complete.
func (h *history) checkTarget(t *rapid.T) {
	if got, _ := h.disk.get(h.target); h.old && string(got) != string(oldFile) {
		t.Fatalf("the old file became %q", got)
	}
}

func unpackRapid(t *rapid.T, name string, data []byte) []byte {
	out, err := decompress(name, data)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	return out
}
