// Package notify tells of reports: by webhooks, signed, and by a command.
//
// Each receiver has a queue of its own, so that one that is down keeps no other
// from being told. What it is told comes in order, and at least once: a receiver
// knows a report again by its run.
//
// A signed webhook has the header
//
//	Lastdrop-Signature: t=1760000000,v1=5257a869…
//
// t is the moment of sending in Unix seconds; v1 is the HMAC-SHA256, in hex, of t, a
// dot and the body, under the shared secret. A receiver compares v1 in constant
// time, and refuses a t that is minutes old.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"lastdrop/internal/secret"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

const (
	// queued is the number of messages that wait for one receiver.
	queued = 256
	// trying is how long one message is tried for.
	trying = 10 * time.Minute
)

// A Notifier tells of reports until it is closed.
type Notifier struct {
	receivers []*receiver
	cancel    context.CancelFunc // ends what is under way
	done      sync.WaitGroup
	closed    sync.Once
	idle      func()
}

// A message is one report for one receiver.
type message struct {
	run, pull string
	body      []byte
	at        time.Time
}

// A delivery is one try: again reports whether another is worth it, after no less than wait.
type delivery func(ctx context.Context, m message) (again bool, wait time.Duration, err error)

// A receiver is told by one goroutine.
type receiver struct {
	name string // for the log
	on   string
	body func(rep reconcile.Report, before judge.Verdict, hadBefore bool) ([]byte, error)
	send delivery
	log  *slog.Logger

	mu     sync.Mutex
	queue  []message
	ending bool
	woken  chan struct{} // holds one: the queue or ending has changed
}

// New starts a Notifier. Nothing that it logs holds a secret of the settings.
func New(s Settings, log *slog.Logger) *Notifier {
	return start(s, log, &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: answerWithin,
		IdleConnTimeout: 30 * time.Second, MaxIdleConnsPerHost: 1, ForceAttemptHTTP2: true,
	})
}

func start(s Settings, log *slog.Logger, transport *http.Transport) *Notifier {
	ctx, cancel := context.WithCancel(context.Background())
	n := &Notifier{cancel: cancel, idle: transport.CloseIdleConnections}
	client := newClient(transport)
	for i, w := range s.Webhooks {
		h := hook{w, client, s.Secrets}
		n.receivers = append(n.receivers, &receiver{name: h.name(i), on: w.On, body: h.body, send: h.send})
	}
	if s.Exec != nil {
		x := runner{*s.Exec, s.Secrets, log}
		n.receivers = append(n.receivers, &receiver{name: "exec", on: s.Exec.On, body: reportBody, send: x.send})
	}
	for _, r := range n.receivers {
		r.log, r.woken = log.With("receiver", r.name), make(chan struct{}, 1)
		n.done.Go(func() { r.run(ctx) })
	}
	return n
}

// Report tells of a report, and returns at once. before is the verdict of the pull's last
// report; without hadBefore there was none. A run that was stopped and can go on is no
// news: nobody is told of it.
func (n *Notifier) Report(rep reconcile.Report, before judge.Verdict, hadBefore bool) {
	if rep.State == "stopped" {
		return
	}
	for _, r := range n.receivers {
		if !wants(r.on, rep.Verdict, before, hadBefore) {
			continue
		}
		body, err := r.body(rep, before, hadBefore)
		if err != nil {
			r.log.Error("a report cannot be told", "pull", rep.Name, "run", rep.Run, "error", err)
			continue
		}
		r.put(message{run: rep.Run, pull: rep.Name, body: body, at: time.Now()})
	}
}

func wants(on string, now, before judge.Verdict, hadBefore bool) bool {
	switch on {
	case Change:
		return !hadBefore || now != before
	case NotComplete:
		return now != judge.Complete
	}
	return true
}

// Close delivers what is queued, retries included, until ctx ends; then what is under way is
// ended too, and the error says how many messages are lost. Reports that come later are told
// to nobody. A second Close waits for the same.
func (n *Notifier) Close(ctx context.Context) error {
	n.closed.Do(func() {
		for _, r := range n.receivers {
			r.end()
		}
	})
	over := make(chan struct{})
	go func() { n.done.Wait(); close(over) }()
	select {
	case <-over:
	case <-ctx.Done():
		n.cancel()
		<-over
	}
	n.cancel()
	n.idle()
	lost := 0
	for _, r := range n.receivers {
		lost += len(r.queue)
	}
	if lost > 0 {
		return fmt.Errorf("notify: %d messages were not delivered: %w", lost, context.Cause(ctx))
	}
	return nil
}

// put queues a message. A full queue drops its oldest.
func (r *receiver) put(m message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ending {
		r.log.Warn("a report came after the end, and is not told", "pull", m.pull, "run", m.run)
		return
	}
	if len(r.queue) == queued {
		r.log.Warn("the queue is full: its oldest report is not told", "pull", r.queue[0].pull, "run", r.queue[0].run, "queued", queued)
		r.queue = r.queue[1:]
	}
	r.queue = append(r.queue, m)
	r.wake()
}

func (r *receiver) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ending = true
	r.wake()
}

func (r *receiver) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// run delivers until the receiver ends with nothing queued, or ctx ends.
func (r *receiver) run(ctx context.Context) {
	for {
		m, ok, ending := r.first()
		switch {
		case ok:
			if !r.deliver(ctx, m) {
				r.putBack(m) // counted by Close
				return
			}
		case ending:
			return
		default:
			<-r.woken
		}
	}
}

// first takes the oldest message.
func (r *receiver) first() (m message, ok, ending bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		return m, false, r.ending
	}
	m, r.queue = r.queue[0], r.queue[1:]
	return m, true, r.ending
}

func (r *receiver) putBack(m message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append([]message{m}, r.queue...)
	r.log.Warn("the end came before all reports were told", "not_told", len(r.queue))
}

// deliver tries a message until it is taken, refused, or too old. It is false where ctx ended first.
func (r *receiver) deliver(ctx context.Context, m message) bool {
	first := time.Now()
	for try, pause := 1, time.Second; ; try, pause = try+1, min(2*pause, time.Minute) {
		again, wait, err := r.send(ctx, m)
		if err == nil {
			r.log.Debug("told", "pull", m.pull, "run", m.run, "try", try)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		wait = max(wait, pause)
		if !again || time.Since(first)+wait > trying {
			r.log.Error("a report could not be told", "pull", m.pull, "run", m.run, "tries", try, "error", err)
			return true
		}
		r.log.Warn("a report is not told yet", "pull", m.pull, "run", m.run, "try", try, "again_in", wait, "error", err)
		if !r.rest(ctx, wait) {
			return false
		}
	}
}

// rest waits; the end of the receiver cuts a long wait to a second.
func (r *receiver) rest(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	until := time.Now().Add(wait)
	for {
		r.mu.Lock()
		ending := r.ending
		r.mu.Unlock()
		if ending {
			timer.Reset(min(time.Until(until), time.Second))
		}
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-r.woken: // by a report, or by the end
		}
	}
}

// reportBody is the report as `drain --json` prints it.
func reportBody(rep reconcile.Report, _ judge.Verdict, _ bool) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(rep)
	return b.Bytes(), err
}

// hide takes secrets out of an error's text, which may have been cut.
func hide(s *secret.Set, text string) string { return s.Hide(secret.Clip(text, 500)) }
