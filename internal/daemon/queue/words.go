package queue

import (
	"errors"
	"time"
)

// Why a job was made.
const (
	BySchedule = "schedule"
	ByHand     = "hand"
	ByCatchUp  = "catch_up"
	ByBackfill = "backfill"
)

// The states of a job.
const (
	Waiting   = "waiting"   // for its turn
	Running   = "running"   // its run is under way, or is being taken up
	Done      = "done"      // its run came to an end, whatever the verdict
	Failed    = "failed"    // its run could not begin, or could not go on
	Cancelled = "cancelled" // by hand
)

// A Job is one run of a pull that is to be, is or was.
type Job struct {
	ID      int64      `json:"id"`
	Pull    string     `json:"pull"`
	Why     string     `json:"why"`
	Fire    *time.Time `json:"fire"` // the moment that the schedule named
	Fresh   bool       `json:"fresh"`
	From    string     `json:"from,omitempty"` // of a backfill: bounds of the slice key
	To      string     `json:"to,omitempty"`
	State   string     `json:"state"`
	Created time.Time  `json:"created"`
	Started *time.Time `json:"started"`
	Ended   *time.Time `json:"ended"`
	Leases  int        `json:"leases"`          // how many there were
	Run     string     `json:"run,omitempty"`   // in the store, once it has begun
	Error   string     `json:"error,omitempty"` // why it failed
}

// Over reports whether nothing is to come of the job any more.
func (j Job) Over() bool {
	return j.State == Done || j.State == Failed || j.State == Cancelled
}

// A Filter says which jobs are wanted, newest first.
type Filter struct {
	Pull   string // "": any
	State  string // "": any
	Before int64  // only jobs with a lower ID; 0: from the newest
	Limit  int    // 0: no limit
}

// A List is a part of the jobs that a filter lets through.
type List struct {
	Jobs  []Job
	Total int64 // let through by Pull and State, wherever they stand
	Rest  int64 // of those, from Before on
}

// What callers may have to tell apart.
var (
	ErrNoJob = errors.New("no such job")
	ErrOver  = errors.New("the job is over")
	// ErrOverlap: a job of the pull is not over.
	ErrOverlap = errors.New("a job of this pull is not over")
	// ErrNewer: a newer lastdrop made the queue.
	ErrNewer = errors.New("made by a newer lastdrop")
)
