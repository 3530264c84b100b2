package fetcher

import (
	"context"
	"encoding/json"

	"lastdrop/judge/reconcile"
)

// A Mark says how far a sink is durable: the file's length in bytes, the
// items in it, and a checksum of these bytes where the sink keeps one.
type Mark struct {
	Length int64  `json:"length"`
	Items  int64  `json:"items"`
	Sum    uint32 `json:"sum,omitempty"`
}

// A Sink takes items, a line each, which it must not keep or change. After Sync returns, everything written
// before it survives a crash; Write may be lost before that.
type Sink interface {
	Write(lines [][]byte) error
	Sync() (Mark, error)
}

// A Checkpoint is what becomes durable at once: the attempts since the last
// one, and the state to go on from. Mark is the sink's, synced before.
type Checkpoint struct {
	Attempts []reconcile.Attempt
	Totals   []reconcile.TotalSeen
	Events   []reconcile.Event
	Slices   []reconcile.Slice // those that came to an end
	Mark     Mark
	State    []byte // opaque JSON of the walk; holds no secret
}

// MarkOf gives the sink's mark that stands in a stored state: where the sink
// is to be cut before the run goes on. No state means no mark.
func MarkOf(state []byte) (Mark, error) {
	var s struct {
		Mark Mark `json:"mark"`
	}
	if len(state) == 0 {
		return Mark{}, nil
	}
	err := json.Unmarshal(state, &s)
	return s.Mark, err
}

// A Ledger keeps checkpoints. Commit is atomic and durable when it returns
// nil: either all of a checkpoint is there after a crash, or nothing of it.
type Ledger interface {
	Commit(ctx context.Context, c Checkpoint) error
}

// A Resume is where an unfinished run goes on: what its last checkpoint holds.
type Resume struct {
	State []byte
	// Keys yields the identity hashes of all new items of the run, 16 bytes
	// each, in the order of attempts: a call may hold those of several pages, good until it returns.
	Keys func(yield func(keys []byte) error) error
}
