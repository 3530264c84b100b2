package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lastdrop/internal/secret"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// answerWithin is how long a receiver may take for its whole answer.
const answerWithin = 30 * time.Second

// newClient makes a client that never follows a redirect: a body that is signed for one place is for no other.
func newClient(transport *http.Transport) *http.Client {
	return &http.Client{
		Transport: transport, Timeout: answerWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A hook is one webhook.
type hook struct {
	Webhook
	client  *http.Client
	secrets *secret.Set
}

// name is the hook's place in the settings and its host: the rest of its address may be secret.
func (h hook) name(i int) string {
	host := ""
	if u, err := url.Parse(h.URL.Reveal()); err == nil {
		host = " " + u.Host
	}
	return fmt.Sprintf("webhooks[%d]%s", i, host)
}

func (h hook) body(rep reconcile.Report, before judge.Verdict, hadBefore bool) ([]byte, error) {
	if h.Format == Slack {
		return json.Marshal(map[string]string{"text": slackText(rep, before, hadBefore)})
	}
	return reportBody(rep, before, hadBefore)
}

// send posts a message once.
func (h hook) send(ctx context.Context, m message) (again bool, wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL.Reveal(), bytes.NewReader(m.body))
	if err != nil {
		return false, 0, errors.New("the address is none")
	}
	for name, v := range h.Headers {
		req.Header.Set(name, v.Reveal())
	}
	req.Header.Set("Content-Type", "application/json")
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "lastdrop")
	}
	if h.Secret != "" {
		req.Header.Set("Lastdrop-Signature", sign(h.Secret.Reveal(), time.Now(), m.body))
	}
	resp, err := h.client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok { // it quotes the address
			err = e.Err
		}
		return true, 0, errors.New(hide(h.secrets, err.Error()))
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection serves again
	_ = resp.Body.Close()
	switch code := resp.StatusCode; {
	case code >= 200 && code < 300:
		return false, 0, nil
	case code >= 300 && code < 400:
		return false, 0, fmt.Errorf("answered %d: redirects are not followed; write the new address into the settings", code)
	case code == http.StatusTooManyRequests || code >= 500:
		return true, retryAfter(resp.Header.Get("Retry-After")), fmt.Errorf("answered %d", code)
	default:
		return false, 0, fmt.Errorf("answered %d", code)
	}
}

// retryAfter reads a number of seconds; dates are not looked at.
func retryAfter(v string) time.Duration {
	seconds, err := strconv.ParseUint(strings.TrimSpace(v), 10, 20)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// sign gives the value of Lastdrop-Signature.
func sign(key string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

// slackText says in a few lines what a run came to: verdict, counts, and the evidence for that verdict.
func slackText(rep reconcile.Report, before judge.Verdict, hadBefore bool) string {
	var b strings.Builder
	b.WriteString(rep.Verdict.String())
	if rep.Strength != reconcile.None {
		b.WriteString(" (" + rep.Strength.String() + ")")
	}
	b.WriteString("  " + rep.Name)
	if hadBefore && before != rep.Verdict {
		b.WriteString(", was " + before.String())
	}
	if rep.Error != "" {
		b.WriteString("\ncould not run: " + rep.Error)
	}
	fmt.Fprintf(&b, "\n%d items", rep.Items.Distinct)
	if rep.Total.Last != nil {
		fmt.Fprintf(&b, " of %d declared", *rep.Total.Last)
	}
	if rep.Missing != nil && *rep.Missing > 0 {
		fmt.Fprintf(&b, ", %d missing", *rep.Missing)
	}
	if rep.Children != nil {
		fmt.Fprintf(&b, ", %d of %d children COMPLETE", rep.Children.Complete, rep.Children.Total)
	}
	const most = 3
	shown := 0
	for _, e := range rep.Evidence {
		if e.Verdict == rep.Verdict && shown < most {
			b.WriteString("\n" + e.ID + " " + e.Text)
			shown++
		}
	}
	fmt.Fprintf(&b, "\nrun %s", rep.Run)
	return slackEscape.Replace(clip(b.String(), 2000))
}

// clip shortens a text to some runes.
func clip(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// slackEscape keeps texts of the source from being links and mentions.
var slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
