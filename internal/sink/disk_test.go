package sink

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A disk is a file system in memory that knows what a power cut would leave: bytes count as durable only
// once they were fsynced, names only once their folder was. Its hook sees every operation and may let it
// fail or stop the machine there.
type disk struct {
	dirs     map[string]bool
	names    map[string]*inode
	durable  map[string]*inode
	pending  []nameChange // since the last SyncDir, in order
	readOnly map[string]error
	rng      *rand.Rand

	// hook is asked before each operation. errCrash stops the machine within the operation, errShort lets a
	// write take less than it was given without an error, any other error is what the operation fails with.
	hook func(op string) error
	dead bool
	log  []string // operations so far

	loaded bool // a farTable was loaded by the run of the test
}

var (
	errCrash = errors.New("the machine stops")
	errOff   = errors.New("the machine is off")
	errShort = errors.New("short write")
)

type nameChange struct {
	name  string
	inode *inode // nil: removed
	gone  string // the old name of a rename
}

type inode struct {
	data, durable []byte
	// stale is what a failed fsync left: bytes that the system believes to be on disk and never writes
	// again, until they are overwritten.
	staleFrom, staleTo int
	mode, durableMode  fs.FileMode
	locks              map[*diskHandle]lockKind
}

func newDisk(seed uint64) *disk {
	return &disk{
		dirs:     map[string]bool{"out": true, ".": true},
		names:    map[string]*inode{},
		durable:  map[string]*inode{},
		readOnly: map[string]error{},
		rng:      rand.New(rand.NewPCG(seed, 1)),
	}
}

// put lays a durable file down.
func (d *disk) put(name string, data []byte, mode fs.FileMode) {
	node := &inode{data: bytes.Clone(data), durable: bytes.Clone(data), mode: mode, durableMode: mode}
	d.names[name], d.durable[name] = node, node
}

// get returns what a reader of the file would see.
func (d *disk) get(name string) ([]byte, bool) {
	node, ok := d.names[name]
	if !ok {
		return nil, false
	}
	return node.data, true
}

// step counts an operation and asks the hook.
func (d *disk) step(op string) error {
	if d.dead {
		return errOff
	}
	d.log = append(d.log, op)
	if d.hook == nil {
		return nil
	}
	err := d.hook(op)
	d.dead = errors.Is(err, errCrash)
	return err
}

// change does an operation that happens wholly or not at all; a stop within it leaves either.
func (d *disk) change(op string, do func()) error {
	err := d.step(op)
	if err == nil || (errors.Is(err, errCrash) && d.rng.IntN(2) == 0) {
		do()
	}
	return err
}

// reboot starts the machine again: after a kill all that was written is there, after a power cut what was
// durable and some of the rest.
func (d *disk) reboot(power bool) {
	if power {
		kept := d.rng.IntN(len(d.pending) + 1)
		for _, c := range d.pending[:kept] {
			c.apply(d.durable)
		}
		d.names = map[string]*inode{}
		for name, node := range d.durable {
			d.names[name] = node
			node.data = node.survivor(d.rng)
			if d.rng.IntN(2) == 0 {
				node.mode = node.durableMode
			}
		}
		d.pending = nil
	}
	for _, node := range d.names {
		node.locks = nil
		if power {
			node.durable = bytes.Clone(node.data)
			node.staleFrom, node.staleTo = 0, 0
		}
	}
	d.dead, d.hook, d.log = false, nil, nil
}

// survivor is a file after a power cut: what was durable and is unchanged, then any of the old bytes, the
// new ones and zeros, of any length between.
func (n *inode) survivor(rng *rand.Rand) []byte {
	same := common(n.data, n.durable)
	length := same + rng.IntN(max(len(n.data), len(n.durable))-same+1)
	if rng.IntN(3) == 0 {
		length = len(n.data)
	}
	out := make([]byte, length)
	copy(out, n.data[:same])
	if rng.IntN(3) > 0 && same < len(n.durable) {
		copy(out[min(same, length):], n.durable[same:])
	}
	if written := same + rng.IntN(len(n.data)-same+1); written > same {
		copy(out[min(same, length):], n.data[same:written])
	}
	return out
}

func (c nameChange) apply(names map[string]*inode) {
	if c.gone != "" {
		delete(names, c.gone)
	}
	if c.inode == nil {
		delete(names, c.name)
		return
	}
	names[c.name] = c.inode
}

func (d *disk) rename(c nameChange) {
	c.apply(d.names)
	d.pending = append(d.pending, c)
}

func (d *disk) OpenFile(name string, flag int, perm fs.FileMode) (handle, error) {
	if d.dead {
		return nil, errOff
	}
	node, ok := d.names[name]
	if !ok && flag&os.O_CREATE == 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	if !ok {
		node = &inode{mode: perm, durableMode: perm}
		if err := d.change("create", func() { d.rename(nameChange{name: name, inode: node}) }); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	return &diskHandle{disk: d, node: node, name: name, append: flag&os.O_APPEND != 0}, nil
}

func (d *disk) Rename(from, to string) error {
	node, ok := d.names[from]
	if !ok {
		return syscall.ENOENT
	}
	return d.change("rename", func() {
		if d.names[to] != node {
			d.rename(nameChange{name: to, inode: node, gone: from})
		}
	})
}

func (d *disk) Remove(name string) error {
	if _, ok := d.names[name]; !ok {
		return syscall.ENOENT
	}
	return d.change("remove", func() { d.rename(nameChange{name: name}) })
}

func (d *disk) SyncDir(string) error {
	return d.change("syncdir", func() {
		for _, c := range d.pending {
			c.apply(d.durable)
		}
		d.pending = nil
	})
}

func (d *disk) Same(h handle, name string) (bool, error) {
	if d.dead {
		return false, errOff
	}
	return d.names[name] == h.(*diskHandle).node, nil
}

func (d *disk) Stat(name string) (fs.FileInfo, error) { return d.Lstat(name) }

func (d *disk) Lstat(name string) (fs.FileInfo, error) {
	if d.dead {
		return nil, errOff
	}
	if d.dirs[filepath.Clean(name)] {
		return diskInfo{mode: fs.ModeDir | 0o755}, nil
	}
	node, ok := d.names[name]
	if !ok {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: syscall.ENOENT}
	}
	return diskInfo{size: int64(len(node.data)), mode: node.mode}, nil
}

func (d *disk) Readlink(string) (string, error) { return "", syscall.EINVAL }
func (d *disk) Writable(name string) error      { return d.readOnly[filepath.Clean(name)] }

type diskInfo struct {
	size int64
	mode fs.FileMode
}

func (i diskInfo) Name() string       { return "" }
func (i diskInfo) Size() int64        { return i.size }
func (i diskInfo) Mode() fs.FileMode  { return i.mode }
func (i diskInfo) ModTime() time.Time { return time.Time{} }
func (i diskInfo) IsDir() bool        { return i.mode.IsDir() }
func (i diskInfo) Sys() any           { return nil }

type diskHandle struct {
	disk   *disk
	node   *inode
	name   string
	at     int
	append bool
	closed bool
}

func (h *diskHandle) Read(p []byte) (int, error) {
	if err := h.disk.step("read"); err != nil {
		return 0, &fs.PathError{Op: "read", Path: h.name, Err: err}
	}
	if h.at >= len(h.node.data) {
		return 0, io.EOF
	}
	n := copy(p, h.node.data[h.at:])
	h.at += n
	return n, nil
}

func (h *diskHandle) ReadAt(p []byte, at int64) (int, error) {
	if err := h.disk.step("read"); err != nil {
		return 0, &fs.PathError{Op: "read", Path: h.name, Err: err}
	}
	return bytes.NewReader(h.node.data).ReadAt(p, at)
}

// Write takes a part of what it is given when it fails, as disks do.
func (h *diskHandle) Write(p []byte) (int, error) {
	err := h.disk.step("write")
	if errors.Is(err, errOff) {
		return 0, err
	}
	if err != nil {
		p = p[:h.disk.rng.IntN(len(p))]
	}
	if !h.append {
		return 0, syscall.EBADF
	}
	h.node.data = append(h.node.data, p...)
	if errors.Is(err, errShort) {
		return len(p), nil
	}
	if err != nil {
		return len(p), &fs.PathError{Op: "write", Path: h.name, Err: err}
	}
	return len(p), nil
}

func (h *diskHandle) Seek(offset int64, _ int) (int64, error) {
	h.at = int(offset)
	return offset, nil
}

func (h *diskHandle) Truncate(size int64) error {
	return h.disk.change("truncate", func() {
		h.node.data = h.node.data[:size:size]
		h.node.staleTo = min(h.node.staleTo, int(size))
	})
}

// Sync that fails loses what it should have written: the system takes it for clean from then on.
func (h *diskHandle) Sync() error {
	n := h.node
	err := h.disk.change("sync", n.flush)
	if err != nil && !h.disk.dead {
		n.staleFrom = common(n.data, n.durable)
		n.staleTo = len(n.data)
	}
	return err
}

func (n *inode) flush() {
	disk := bytes.Clone(n.data)
	if n.staleFrom < n.staleTo {
		clear(disk[n.staleFrom:n.staleTo])
	}
	n.durable, n.durableMode = disk, n.mode
}

func (h *diskHandle) Stat() (fs.FileInfo, error) {
	if h.disk.dead {
		return nil, errOff
	}
	return diskInfo{size: int64(len(h.node.data)), mode: h.node.mode}, nil
}

func (h *diskHandle) Chmod(mode fs.FileMode) error {
	return h.disk.change("chmod", func() { h.node.mode = mode })
}

func (h *diskHandle) Lock(how lockKind) error {
	for other, kind := range h.node.locks {
		if other != h && (how == lockExclusive || kind == lockExclusive) {
			return ErrBusy
		}
	}
	if h.node.locks == nil {
		h.node.locks = map[*diskHandle]lockKind{}
	}
	h.node.locks[h] = how
	return nil
}

func (h *diskHandle) Close() error {
	if h.closed {
		return fs.ErrClosed
	}
	h.closed = true
	delete(h.node.locks, h)
	return nil
}
