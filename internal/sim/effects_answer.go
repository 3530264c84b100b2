package sim

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter is what a limit says about the time to wait.
type RetryAfter string

// The forms of a time to wait.
const (
	RetryNone     RetryAfter = ""
	RetrySeconds  RetryAfter = "seconds"
	RetryDate     RetryAfter = "date"
	RetryPast     RetryAfter = "past"
	RetryNonsense RetryAfter = "nonsense"
	// RetryReset is X-RateLimit-Reset with a Unix time and no Retry-After.
	RetryReset RetryAfter = "reset"
)

// Status answers with a status and an error body instead of a page.
type Status struct {
	Code  int
	Retry RetryAfter
	// Wait is the number of seconds that Retry speaks of.
	Wait int
	// HTML sends a page for people instead of a JSON error.
	HTML bool
	// Text is the message.
	Text string
}

// Name implements [Effect].
func (Status) Name() string { return "status" }
func (Status) stage() stage { return beforePage }

func (e Status) harm() harm {
	switch e.Code {
	case 408, 425, 429, 500, 502, 503, 504:
		return passing
	case 403:
		if e.Retry != RetryNone {
			return passing
		}
	}
	return capped
}

func (e Status) apply(x *exchange) {
	text := e.Text
	if text == "" {
		text = http.StatusText(e.Code)
	}
	x.answerError(e.Code, text)
	if e.HTML {
		x.ans = newAnswer(e.Code, "text/html; charset=utf-8",
			[]byte("<html><head><title>"+text+"</title></head><body><h1>"+text+"</h1></body></html>"))
	}
	e.retryHeader(x.ans.header)
	x.void = true
}

// retryHeader says when to come back.
func (e Status) retryHeader(h http.Header) {
	now := time.Now()
	switch e.Retry {
	case RetrySeconds:
		h.Set("Retry-After", strconv.Itoa(e.Wait))
	case RetryDate:
		h.Set("Retry-After", now.Add(time.Duration(e.Wait)*time.Second).UTC().Format(http.TimeFormat))
	case RetryPast:
		h.Set("Retry-After", now.Add(-time.Hour).UTC().Format(http.TimeFormat))
	case RetryNonsense:
		h.Set("Retry-After", "soon")
	case RetryReset:
		h.Set("X-Ratelimit-Limit", "60")
		h.Set("X-Ratelimit-Remaining", "0")
		h.Set("X-Ratelimit-Reset", strconv.FormatInt(now.Unix()+int64(e.Wait), 10))
	}
}

// NoAnswer breaks the connection before a status line. Kind is refused, reset
// or closed; over a real socket a refusal is a reset.
type NoAnswer struct{ Kind string }

// Name implements [Effect].
func (NoAnswer) Name() string { return "no_answer" }
func (NoAnswer) stage() stage { return beforePage }
func (NoAnswer) harm() harm   { return passing }

func (e NoAnswer) apply(x *exchange) {
	x.ans = newAnswer(0, "", nil)
	x.ans.sent = -1
	x.ans.fail = failure(e.Kind)
	x.done, x.void = true, true
}

// Hang waits before it answers; a client with less patience times out.
type Hang struct{ For time.Duration }

// Name implements [Effect].
func (Hang) Name() string { return "hang" }
func (Hang) stage() stage { return onWire }
func (Hang) harm() harm   { return passing }

func (e Hang) apply(x *exchange) { x.ans.hold = e.For }

// Replace answers with a body of its own, such as a login page or an error
// object with a 200. It never holds items.
type Replace struct {
	Code int
	Type string
	Body string
	// Location, where set, makes it a redirect.
	Location string
	// Stays marks a body that no second try changes.
	Stays bool
}

// Name implements [Effect].
func (e Replace) Name() string {
	if e.Location != "" {
		return "redirect"
	}
	if e.Type == htmlType {
		return "login_page"
	}
	return "error_object"
}
func (Replace) stage() stage { return beforePage }

func (e Replace) harm() harm {
	if e.Stays {
		return capped
	}
	return passing
}

func (e Replace) apply(x *exchange) {
	x.ans = newAnswer(e.Code, e.Type, []byte(e.Body))
	if e.Location != "" {
		x.ans.header.Set("Location", e.Location)
	}
	x.done, x.void = true, true
}

const htmlType = "text/html; charset=utf-8"

// LoginPage is a 200 with an HTML form.
func LoginPage() Replace {
	return Replace{
		Code: http.StatusOK, Type: htmlType,
		Body: "<!DOCTYPE html>\n<html><body><form action=\"/login\">Please sign in</form></body></html>",
	}
}

// ErrorObject is a 200 whose body is an error.
func ErrorObject(message string) Replace {
	return Replace{
		Code: http.StatusOK, Type: "application/json",
		Body: `{"error":{"code":"internal","message":` + string(rawText(message)) + `}}`,
	}
}

// Redirect sends the client elsewhere.
func Redirect(code int, to string) Replace {
	return Replace{Code: code, Location: to, Stays: true}
}

// GraphErrors is a GraphQL answer with errors: without data, or with the data
// beside them.
type GraphErrors struct{ Data bool }

// Name implements [Effect].
func (GraphErrors) Name() string { return "graphql_errors" }
func (GraphErrors) stage() stage { return onPage }
func (GraphErrors) harm() harm   { return passing }

func (e GraphErrors) apply(x *exchange) {
	const errs = `[{"message":"statement timeout","path":["things"]}]`
	x.void = true
	if e.Data {
		x.page.extra = append(x.page.extra, Extra{"errors", errs})
		return
	}
	x.ans = newAnswer(http.StatusOK, "application/json", []byte(`{"errors":`+errs+`,"data":null}`))
	x.done = true
}

// Blank keeps the headers of the page and sends no body, under a status: 200,
// 204 or 304.
type Blank struct{ Code int }

// Name implements [Effect].
func (Blank) Name() string { return "blank" }
func (Blank) stage() stage { return onWire }
func (Blank) harm() harm   { return passing }

func (e Blank) apply(x *exchange) {
	x.ans.status = e.Code
	x.ans.setBody(nil)
	x.ans.header.Del("Content-Encoding")
	if x.ans.bodiless() {
		x.ans.header.Del("Content-Type")
	}
	x.ans.framing, x.ans.declared = ByLength, -1
	x.void = true
}
