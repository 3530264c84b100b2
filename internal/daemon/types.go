package daemon

import (
	"errors"
	"time"

	"lastdrop/fetcher"
	"lastdrop/judge/reconcile"
)

// A Pull is what the daemon knows of one config file. Secrets are hidden in all of it.
type Pull struct {
	Name string `json:"name"`
	File string `json:"file"` // its base name
	URL  string `json:"url"`
	// Config is the text of the last good version.
	Config string    `json:"config"`
	Loaded time.Time `json:"loaded"` // when that version was taken up
	// Problem says why the file as it stands now is not taken; the last good version
	// stays in use. "": it is.
	Problem  string     `json:"problem,omitempty"`
	Schedule string     `json:"schedule"` // "": only by hand
	Zone     string     `json:"zone"`
	Paused   bool       `json:"paused"` // the schedule; by hand it runs all the same
	Next     *time.Time `json:"next"`   // the next fire; nil: none
	Last     *time.Time `json:"last"`   // the last fire; nil: none yet
	// Job is the one that is not over, the first of several; nil: none.
	Job *Job `json:"job"`
}

// A Broken is a file of the folder that has no good version yet.
type Broken struct {
	File    string    `json:"file"` // its base name
	Problem string    `json:"problem"`
	Since   time.Time `json:"since"`
}

// Why a job was made.
const (
	BySchedule = "schedule"
	ByHand     = "hand"
	ByCatchUp  = "catch_up"
	ByBackfill = "backfill"
)

// The states of a job.
const (
	JobWaiting   = "waiting"   // for its turn
	JobRunning   = "running"   // its run is under way, or is being taken up
	JobDone      = "done"      // its run came to an end, whatever the verdict
	JobFailed    = "failed"    // its run could not begin
	JobCancelled = "cancelled" // by hand
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
	Error   string     `json:"error,omitempty"` // of the last lease
}

// Over reports whether nothing is to come of the job any more.
func (j Job) Over() bool {
	return j.State == JobDone || j.State == JobFailed || j.State == JobCancelled
}

// A JobFilter says which jobs are wanted, newest first.
type JobFilter struct {
	Pull   string // "": any
	State  string // "": any
	Before int64  // only jobs with a lower ID; 0: from the newest
	Limit  int    // 0: no limit
}

// A JobList is a part of the jobs that a filter lets through.
type JobList struct {
	Jobs  []Job
	Total int64 // let through by Pull and State, wherever they stand
	Rest  int64 // of those, from Before on
}

// A Request asks for a run by hand.
type Request struct {
	Fresh    bool
	From, To string // a backfill where one is not ""
}

// An Event tells subscribers what has changed, so that they can look again.
type Event struct {
	Kind string    `json:"kind"` // pull, job, run, progress
	Pull string    `json:"pull"`
	Job  int64     `json:"job,omitempty"`
	Run  string    `json:"run,omitempty"`
	At   time.Time `json:"at"`
	// Progress is that of a run that is under way, a few times a second at most.
	Progress *fetcher.Progress `json:"progress,omitempty"`
	// Report is that of a run that has come to its end.
	Report *reconcile.Report `json:"report,omitempty"`
}

// What callers may have to tell apart.
var (
	ErrNoPull = errors.New("no such pull")
	ErrNoJob  = errors.New("no such job")
	ErrOver   = errors.New("the job is over")
	// ErrOverlap: a job of the pull is not over.
	ErrOverlap = errors.New("a job of this pull is not over")
)
