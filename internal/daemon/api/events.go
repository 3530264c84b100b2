package api

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"lastdrop/internal/daemon"
	"lastdrop/internal/daemon/api/problem"
	"lastdrop/internal/rows"
	"lastdrop/judge/reconcile"
)

const (
	// maxStreams bounds the streams of events at a time.
	maxStreams = 64
	// writeWithin is how long a client may take over one event.
	writeWithin = 10 * time.Second
)

// beat is how often a stream says that it lives; tests set it lower.
var beat = 15 * time.Second

// An event is a daemon.Event as clients get it.
type event struct {
	Kind     string            `json:"kind"`
	Pull     string            `json:"pull"`
	Job      int64             `json:"job,omitempty"`
	Run      string            `json:"run,omitempty"`
	At       time.Time         `json:"at"`
	Progress *rows.Progress    `json:"progress,omitempty"`
	Report   *reconcile.Report `json:"report,omitempty"`
}

func eventOf(e daemon.Event) event {
	out := event{Kind: e.Kind, Pull: e.Pull, Job: e.Job, Run: e.Run, At: e.At, Report: e.Report}
	if e.Progress != nil {
		p := rows.ProgressOf(*e.Progress)
		out.Progress = &p
	}
	return out
}

// ids are those of events: they go up, in a later process too.
type ids struct{ last atomic.Int64 }

func (i *ids) next() string {
	for {
		last := i.last.Load()
		n := max(last+1, time.Now().UnixMicro())
		if i.last.CompareAndSwap(last, n) {
			return strconv.FormatInt(n, 10)
		}
	}
}

// events streams what happens until the client goes, the daemon ends or the server
// closes. What happened while nobody listened does not come again: a client that hears
// hello looks at everything anew.
func (a *api) events(w http.ResponseWriter, q *query) error {
	select {
	case a.streams <- struct{}{}:
		defer func() { <-a.streams }()
	default:
		return problem.Busy.With(fmt.Sprintf("%d streams of events are open, which is the most: close one", maxStreams)).After(writeWithin)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy is to pass events on at once
	s := stream{w: w, control: http.NewResponseController(w)}
	happens := a.Engine.Subscribe(q.Context())
	if err := s.send(a.clock.next(), event{Kind: "hello", At: time.Now().UTC()}); err != nil {
		return nil // the client has gone
	}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		var err error
		select {
		case e, open := <-happens:
			if !open {
				return nil
			}
			err = s.send(a.clock.next(), eventOf(e))
		case <-tick.C:
			err = s.write([]byte(": alive\n\n"))
		case <-a.Closing:
			return nil
		case <-q.Context().Done():
			return nil
		}
		if err != nil {
			return nil // the client has gone, or is too slow
		}
	}
}

// A stream writes events, each at once.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s stream) send(id string, e event) error {
	data, err := encode(e)
	if err != nil {
		return err
	}
	return s.write(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", id, e.Kind, bytes.TrimSpace(data)))
}

func (s stream) write(text []byte) error {
	// The server's own time-out would end the stream; where there is none, none is needed.
	_ = s.control.SetWriteDeadline(time.Now().Add(writeWithin))
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.control.Flush()
}
