package store

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"
)

// A run's id is 13 characters of lower-case base32 (Crockford's alphabet: no
// i, l, o, u): 10 for the milliseconds since 1970, 3 at random. It can be
// typed and double-clicked, it sorts by the time when the run began, and two
// ids of one store are never equal, whatever the clock does: newID starts
// above the newest one.
const (
	idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	idLength   = 13
	idRandom   = 15 // bits
)

// newID makes an id for a run that begins now in a store whose newest run is
// newest ("" for none). Where the clock stands still or went back, the id
// takes the millisecond after the newest one's.
func newID(now time.Time, newest string) string {
	millis := uint64(max(now.UnixMilli(), 0))
	if last, ok := idMillis(newest); ok && millis <= last {
		millis = last + 1
	}
	return encodeID(millis<<idRandom | randomBits()>>(64-idRandom))
}

func encodeID(value uint64) string {
	var id [idLength]byte
	for i := idLength - 1; i >= 0; i-- {
		id[i] = idAlphabet[value&31]
		value >>= 5
	}
	return string(id[:])
}

// idMillis reads the time out of an id; not ok: it is none.
func idMillis(id string) (millis uint64, ok bool) {
	if len(id) != idLength {
		return 0, false
	}
	var value uint64
	for i := range len(id) {
		digit := strings.IndexByte(idAlphabet, id[i])
		if digit < 0 {
			return 0, false
		}
		value = value<<5 | uint64(digit)
	}
	return value >> idRandom, true
}

// randomBits are 64 bits that nobody can foresee.
func randomBits() uint64 {
	var b [8]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	return binary.LittleEndian.Uint64(b[:])
}
