package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"lastdrop/internal/daemon"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

const (
	// maxStreams bounds how many pages are kept up to date at once.
	maxStreams = 256
	heartbeat  = 15 * time.Second
	// sendTime is how long one message may take to be sent.
	sendTime = 20 * time.Second
)

// A message is an event as the pages get it.
type message struct {
	Kind     string    `json:"kind"`
	Pull     string    `json:"pull"`
	Job      int64     `json:"job,omitempty"`
	Run      string    `json:"run,omitempty"`
	At       time.Time `json:"at"`
	Progress *progress `json:"progress,omitempty"`
	Report   *verdict  `json:"report,omitempty"`
}

type progress struct {
	Distinct int64  `json:"distinct"`
	Total    *int64 `json:"total"`
	Pages    int64  `json:"pages"`
	Attempts int64  `json:"attempts"`
	Size     int    `json:"size"`
	Waiting  int64  `json:"waiting_ms"`
}

type verdict struct {
	Verdict  judge.Verdict      `json:"verdict"`
	Strength reconcile.Strength `json:"strength"`
	State    string             `json:"state"`
}

func messageOf(e daemon.Event) message {
	m := message{Kind: e.Kind, Pull: e.Pull, Job: e.Job, Run: e.Run, At: e.At}
	if p := e.Progress; p != nil {
		m.Progress = &progress{Distinct: p.Distinct, Pages: p.Pages, Attempts: p.Attempts, Size: p.Size, Waiting: p.Waiting.Milliseconds()}
		if p.HasTotal {
			m.Progress.Total = &p.Total
		}
	}
	if r := e.Report; r != nil {
		m.Report = &verdict{r.Verdict, r.Strength, r.State}
	}
	return m
}

// events tells a page what happens, a JSON object a message, until either side ends it. A comment every 15 seconds shows both
// sides that the other one is there. An event that is missed while a page reconnects is not sent again: the page looks anew
// when it is connected.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return problem{http.StatusServiceUnavailable, "Too many pages are being kept up to date at once."}
	}
	stream := http.NewResponseController(w)
	send := func(text string) bool {
		_ = stream.SetWriteDeadline(time.Now().Add(sendTime)) // a server without deadlines has none to set
		if _, err := fmt.Fprint(w, text); err != nil {
			return false
		}
		return stream.Flush() == nil
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	changes := s.Engine.Subscribe(r.Context())
	if !send("retry: 2000\n\n") {
		return nil
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return nil
		case <-beat.C:
			if !send(": still here\n\n") {
				return nil
			}
		case e, ok := <-changes:
			if !ok {
				return nil
			}
			text, err := json.Marshal(messageOf(e))
			if err != nil {
				s.Log.Error("an event could not be written", "kind", e.Kind, "error", err)
				continue
			}
			if !send("data: " + string(text) + "\n\n") {
				return nil
			}
		}
	}
}
