package fetcher

import "sync"

// buffers keep the memory of answers whose items are written, for further ones.
// The zero value is ready; it can be used by several goroutines.
type buffers struct {
	mu   sync.Mutex
	free [][]byte
}

const (
	buffersKept = 16
	bufferMost  = 8 << 20 // bytes; larger ones are left to the garbage collector
)

// spoil, set by tests, overwrites what is given back, so that whoever still reads
// it is found.
var spoil bool

// get gives an empty buffer with room for n bytes.
func (b *buffers) get(n int) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(b.free) - 1; i >= 0; i-- {
		if p := b.free[i]; cap(p) >= n {
			b.free = append(b.free[:i], b.free[i+1:]...)
			return p[:0]
		}
	}
	return make([]byte, 0, n)
}

// put takes a buffer back. Nothing may refer to it any more.
func (b *buffers) put(p []byte) {
	if p = p[:cap(p)]; len(p) == 0 || len(p) > bufferMost {
		return
	}
	if spoil {
		for i := range p {
			p[i] = 0xff
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.free) == buffersKept { // the oldest may be too small for what comes now
		b.free = append(b.free[:0], b.free[1:]...)
	}
	b.free = append(b.free, p)
}
