package fetcher

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lastdrop/adapters"
	"lastdrop/internal/jsonscan"
	"lastdrop/internal/secret"
)

// A kind sorts what one try came to. The zero value is a transport fault.
type kind uint8

const (
	kindFault    kind = iota // no answer
	kindPage                 // a whole page
	kindPartial              // a page that says itself that it is only a part
	kindHalf                 // half a body
	kindDeadline             // an error text in the tail of a body that began well
	kindNothing              // 204, 304, an empty body
	kindOther                // another format, or a body that cannot be decoded
	kindTrouble              // whole, and not a page
	kindLimit                // a rate limit
	kindPassing              // 408, 425, 5xx
	kindRefused              // 4xx: the request is wrong, or the position is
	kindExpired              // the cursor is no longer good
	kindEnd                  // a documented error past the end
)

// An answer is one try, read as far as it can be.
type answer struct {
	raw
	kind    kind
	page    adapters.Page
	trouble *adapters.Trouble
	text    string        // one line: what came, in words with numbers
	wait    time.Duration // kindLimit: what the server asks for
	asked   bool          // the server named that wait
	window  bool          // an error in the wording of a window limit
}

// read sorts one try. It is pure but for the clock that dates are held
// against.
func (d *drain) read(at adapters.Position, req adapters.Request, a raw, now time.Time) answer {
	out := answer{raw: a}
	switch {
	case a.err != nil && errors.Is(a.err, errRedirect):
		out.kind, out.text = kindRefused, faultText(a.err)
	case a.err != nil:
		out.text = faultText(a.err)
	case d.elsewhere(a):
		out.kind, out.text = kindOther, fmt.Sprintf("a redirect led to another origin, which answered with status %d", a.status)
	case limited(a):
		out.limit(now)
	case a.session != "":
		out.kind, out.text = kindExpired, "the server ended the session: it took the cookie "+strconv.Quote(secret.Clip(a.session, 60))+" back"
	case d.documentedEnd(a):
		out.kind, out.text = kindEnd, fmt.Sprintf("status %d, which this API documents as its end", a.status)
	case a.status == http.StatusGone:
		out.kind, out.text = kindExpired, "status 410: "+excerpt(a.body)
	case a.status == 408 || a.status == 425 || a.status >= 500:
		out.kind, out.text = kindPassing, fmt.Sprintf("status %d: %s", a.status, excerpt(a.body))
	case a.status == http.StatusNoContent || a.status == http.StatusNotModified:
		out.kind, out.text = kindNothing, fmt.Sprintf("status %d, no body", a.status)
	case a.status == 202 || a.status == 205 || a.status == 207 || a.status == 208 || a.status == 226: // not yet, nothing, of several, a difference
		out.kind, out.text = kindOther, fmt.Sprintf("status %d is no whole page: %s", a.status, excerpt(a.body))
	case a.status < 200 || a.status >= 300:
		out.refused()
	default:
		d.body(at, req, &out)
	}
	return out
}

// elsewhere reports whether an answer that is no page came from another origin,
// by a redirect: it says nothing about the source.
func (d *drain) elsewhere(a raw) bool {
	if a.status >= 200 && a.status < 300 {
		return false
	}
	u, err := url.Parse(a.url)
	return err != nil || !sameOrigin(u, d.client.origin)
}

func (a *answer) refused() {
	a.kind, a.text = kindRefused, fmt.Sprintf("status %d: %s", a.status, excerpt(a.body))
	a.window = windowWording(a.body)
	if !denied(a) && expiredWording(a.body) {
		a.kind = kindExpired
	}
}

func (a *answer) limit(now time.Time) {
	a.kind, a.text = kindLimit, fmt.Sprintf("status %d, a rate limit", a.status)
	a.wait, a.asked = serverWait(a.header, now)
}

// limited knows a rate limit by its status, never by its body; a 403 needs a
// header or wording that says so, a 503 the time when to come back.
func limited(a raw) bool {
	switch a.status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusServiceUnavailable:
		return a.header.Get("Retry-After") != ""
	case http.StatusForbidden:
		return a.header.Get("Retry-After") != "" || a.header.Get("X-RateLimit-Remaining") == "0" ||
			anyFold(a.body, "rate limit", "ratelimit", "too many requests", "secondary rate", "throttl")
	}
	return false
}

// documentedEnd reports whether an answer is the error past the end that the
// API documents. The start of the source is never past its end.
func (d *drain) documentedEnd(a raw) bool {
	if d.state.Page == 0 {
		return false
	}
	for _, e := range d.spec.Pages.EndStatus {
		if a.status != e.Status {
			continue
		}
		if e.Path == "" {
			return true
		}
		p, err := jsonscan.Compile(e.Path)
		body, bad := d.reader.JSON(a.body)
		if err != nil || bad != nil || jsonscan.Validate(body) != nil {
			continue
		}
		if v, err := p.Find(body); err == nil && v.Exists() && (v.Str() == e.Is || string(v.Raw) == e.Is) {
			return true
		}
	}
	return false
}

// body sorts a 2xx answer by its body.
func (d *drain) body(at adapters.Position, req adapters.Request, a *answer) {
	switch {
	case a.undone != nil:
		a.kind, a.text = kindOther, a.undone.Error()
		return
	case a.cut:
		a.kind, a.text = kindHalf, fmt.Sprintf("the body is larger than limits.max_body (%d bytes): cut by us", d.opt.Client.MaxBody)
		return
	case a.status == http.StatusPartialContent && !wholeRange(a.header.Get("Content-Range")):
		a.kind, a.text = kindHalf, "status 206: a part, by its Content-Range "+clip(a.header.Get("Content-Range"), 60)
		return
	}
	if (a.short || !d.reader.Checks()) && !d.syntax(a) {
		return
	}
	if a.short {
		a.kind, a.text = kindHalf, shortText(a)
		return
	}
	d.page(at, req, a)
}

// syntax checks the whole body strictly, puts its JSON in its place, and says
// what is wrong with it. Lines are checked by the reader.
func (d *drain) syntax(a *answer) bool {
	if len(bytes.TrimSpace(a.body)) == 0 && a.short {
		a.kind, a.text = kindHalf, shortText(a)
		return false
	}
	body, err := d.reader.JSON(a.body)
	if err != nil {
		d.broken(a, err)
		return false
	}
	a.body = body
	return true
}

// broken says what is wrong with a body that is not whole JSON.
func (d *drain) broken(a *answer, err *jsonscan.Error) {
	format := strings.ToUpper(d.spec.Items.Format)
	switch err.Kind {
	case jsonscan.Empty:
		a.kind, a.text = kindNothing, fmt.Sprintf("status %d, an empty body", a.status)
	case jsonscan.NotJSON:
		a.kind, a.text = kindOther, fmt.Sprintf("status %d, and the body is no %s: %s", a.status, format, excerpt(a.body))
	case jsonscan.Short:
		a.kind, a.text = kindHalf, shortText(a)
	case jsonscan.Trailing:
		a.kind, a.text = kindHalf, fmt.Sprintf("something follows the %s value at byte %d: %s", format, err.Offset, excerpt(a.body[err.Offset:]))
	default:
		a.kind, a.text = kindHalf, fmt.Sprintf("the %s breaks at byte %d of %d: %s", format, err.Offset, len(a.body), err.Msg)
	}
	if (err.Kind == jsonscan.Broken || err.Kind == jsonscan.Trailing) && deadlineWording(a.body[err.Offset:]) {
		a.kind, a.text = kindDeadline, fmt.Sprintf("the body ends in an error text: %s", excerpt(a.body[err.Offset:]))
	}
}

func shortText(a *answer) string {
	if a.expected.OK && a.expected.N != a.wire {
		return fmt.Sprintf("body ended at %d of %d bytes", a.wire, a.expected.N)
	}
	return fmt.Sprintf("body ended after %d bytes, before it was whole", a.wire)
}

func wholeRange(v string) bool {
	var from, to, total int64
	n, err := fmt.Sscanf(strings.TrimPrefix(v, "bytes "), "%d-%d/%d", &from, &to, &total)
	return err == nil && n == 3 && from == 0 && to == total-1
}

// page lets the reader read a whole body.
func (d *drain) page(at adapters.Position, req adapters.Request, a *answer) {
	resp := adapters.Response{Status: a.status, Header: a.header, Body: a.raw.body, URL: a.url}
	p, err := d.reader.Read(at, req, resp)
	var t *adapters.Trouble
	var bad *jsonscan.Error
	switch {
	case d.reader.Checks() && errors.As(err, &bad):
		d.broken(a, bad)
	case errors.As(err, &t):
		a.kind, a.trouble, a.text = kindTrouble, t, t.Msg
		if t.Kind == adapters.TroubleExpired {
			a.kind = kindExpired
		}
		if t.Kind == adapters.TroubleError && windowWording([]byte(t.Msg)) {
			a.window = true
		}
	case err != nil:
		a.kind, a.text = kindHalf, err.Error() // a line of a framed format that does not parse
	case len(p.Partial) > 0:
		a.kind, a.page, a.text = kindPartial, p, strings.Join(p.Partial, "; ")
	default:
		a.kind, a.page = kindPage, p
	}
}

// excerpt gives the beginning of a body as one printable line.
func excerpt(b []byte) string {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return "an empty body"
	}
	s := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(secret.Clip(string(b[:min(len(b), 161)]), 160), "?"))
	return strings.Join(strings.Fields(s), " ")
}

func anyFold(b []byte, words ...string) bool {
	low := bytes.ToLower(b[:min(len(b), 4096)])
	return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(low, []byte(w)) })
}

// windowWording knows the words of a limit on how far one may page.
func windowWording(b []byte) bool {
	return anyFold(b, "result window", "max_result_window", "window is too large", "too deep", "paging limit", "pagination limit",
		"only the first", "maximum offset", "must not exceed 10000", "must not exceed 10,000", "must not exceed 1000", "offset + limit", "limit + offset", "from + size", "offset limit", "offset too large", "cannot page", "beyond the", "exceeds the maximum number of results",
		"maximum of 10000", "maximum of 1000 ", "limited to 10", "deep pag", "out of the allowed range", "limit of 1000 ", "limit of 10000")
}

func expiredWording(b []byte) bool {
	return anyFold(b, "cursor expired", "cursor has expired", "expired cursor", "token expired", "token has expired", "expired token",
		"scroll expired", "no search context", "search_context_missing", "badresumptiontoken", "invalid cursor", "stale cursor", "compacted",
		"point in time", "page token is no longer")
}

// deadlineWording knows an error that a server wrote into a body that it had
// begun.
func deadlineWording(tail []byte) bool {
	return anyFold(tail, "timeout", "timed out", "time-out", "deadline", "exception", "fatal error", "internal server error", "out of memory",
		"memory limit", "query cancel", "aborted", "execution time")
}
