package fetcher

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
)

// beside sends a request beside the pages (a count, a sentinel, a mark of
// change) and lets read take its whole answer, as JSON. What may pass is tried again
// as often as a page is, within the same rate and budget; the error says in one
// line why there is no answer that read could take.
func (d *drain) beside(ctx context.Context, p adapters.Probe, read func(adapters.Response) error) error {
	if d.requestsSpent() {
		return errors.New("not asked: limits.max_requests is reached")
	}
	req, err := d.opt.Reader.ProbeRequest(p)
	if err != nil {
		return err
	}
	if u, err := url.Parse(req.URL); err != nil || !sameOrigin(u, d.client.origin) {
		bare(req.Header)
	}
	d.tries = 0
	fault := errors.New("the request could not be sent")
	came, err := d.client.do(ctx, req, nil, func(r raw) (bool, time.Duration) {
		d.tries++
		d.state.Counts.Requests++
		d.state.Counts.Bytes += r.wire
		var passing bool
		if fault, passing = d.besideFault(r, read); !passing {
			return false, 0
		}
		return d.besidePatience(r)
	})
	d.state.Waited += came.waited
	if err != nil {
		return err
	}
	return fault
}

// besidePatience says whether a try that may pass is made again, and after which
// pause: at a rate limit the server's own, as far as limits.max_wait allows.
func (d *drain) besidePatience(r raw) (again bool, pause time.Duration) {
	c := d.opt.Client
	pause = backoff(c.BackoffMin, c.BackoffMax, d.tries)
	if !limited(r) {
		return d.tries <= c.Retries, pause
	}
	a := answer{raw: r}
	a.limit(time.Now())
	if again, pause = d.limitPatience(&a, pause); again {
		d.event("wait", fmt.Sprintf("%s: waiting %s", a.text, pause.Round(time.Millisecond)))
	}
	return again, pause
}

// besideFault says what is wrong with one answer beside the pages, nil for
// nothing, and whether that may pass by itself.
func (d *drain) besideFault(r raw, read func(adapters.Response) error) (fault error, passing bool) {
	switch {
	case r.err != nil:
		return errors.New(faultText(r.err)), !errors.Is(r.err, errRedirect) && !errors.Is(r.err, errPrivate)
	case r.status != http.StatusOK:
		passing = limited(r) || r.status == 408 || r.status == 425 || r.status >= 500
		return fmt.Errorf("status %d: %s", r.status, excerpt(r.body)), passing
	case r.short:
		return fmt.Errorf("half a body: it ended after %d bytes", r.wire), true
	case r.undone != nil:
		return fmt.Errorf("the body cannot be decoded: %w", r.undone), true
	}
	body, bad := d.opt.Reader.JSON(r.body)
	if bad == nil {
		bad = jsonscan.Validate(body) // beside pages of lines stands JSON
	}
	if bad != nil {
		return fmt.Errorf("the answer is not whole: %s", bad.Msg), true
	}
	err := read(adapters.Response{Status: r.status, Header: r.header, Body: body, URL: r.url})
	var t *adapters.Trouble
	return err, errors.As(err, &t) && t.Kind == adapters.TroublePassing
}
