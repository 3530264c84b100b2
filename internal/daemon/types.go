package daemon

import (
	"errors"
	"time"

	"lastdrop/fetcher"
	"lastdrop/internal/daemon/queue"
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
	BySchedule = queue.BySchedule
	ByHand     = queue.ByHand
	ByCatchUp  = queue.ByCatchUp
	ByBackfill = queue.ByBackfill
)

// The states of a job.
const (
	JobWaiting   = queue.Waiting   // for its turn
	JobRunning   = queue.Running   // its run is under way, or is being taken up
	JobDone      = queue.Done      // its run came to an end, whatever the verdict
	JobFailed    = queue.Failed    // its run could not begin, or could not go on
	JobCancelled = queue.Cancelled // by hand
)

// The words of the queue are those of the daemon.
type (
	// A Job is one run of a pull that is to be, is or was.
	Job = queue.Job
	// A JobFilter says which jobs are wanted, newest first.
	JobFilter = queue.Filter
	// A JobList is a part of the jobs that a filter lets through.
	JobList = queue.List
)

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
	ErrNoJob  = queue.ErrNoJob
	ErrOver   = queue.ErrOver
	// ErrOverlap: a job of the pull is not over.
	ErrOverlap = queue.ErrOverlap
	// ErrNoBackfill: the pull has no range that a backfill could narrow, or nowhere to put a part of it.
	ErrNoBackfill = errors.New("no backfill")
)
