package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lastdrop/internal/importtest"
	"lastdrop/internal/secret"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// TestMain lets the test binary be the command.
func TestMain(m *testing.M) {
	switch mode, file, _ := strings.Cut(os.Getenv("NOTIFY_TEST"), " "); mode {
	case "":
		os.Exit(m.Run())
	case "keep":
		data, err := io.ReadAll(os.Stdin)
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			os.Exit(9)
		}
	case "fail":
		fmt.Println("no mail server for " + hookSecret)
		os.Exit(3)
	case "hang":
		held, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			os.Exit(9)
		}
		for {
			_, _ = held.WriteString("x")
			time.Sleep(time.Hour)
		}
	}
	os.Exit(0)
}

const hookSecret = "whsec-0123456789abcdef"

// opensslSays is the HMAC that openssl computes.
const opensslSays = "5f2db4fbfe82c254ac32f1ccc5eff02389f2609d76031aa8b300fac9565df6f6"

// A logbook is a log that tests read.
type logbook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logbook) log() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func report(run string, v judge.Verdict) reconcile.Report {
	missing, last := int64(9), int64(50)
	return reconcile.Report{
		Run: run, Name: "issues", State: "finished", Verdict: v, Items: reconcile.ItemCounts{Distinct: 41}, Missing: &missing,
		Total:    reconcile.TotalSummary{Last: &last},
		Evidence: []reconcile.Evidence{{ID: "RC001", Verdict: judge.Truncated, Text: "41 of 50 <!channel> & more"}, {ID: "RC002", Verdict: judge.Complete, Text: "ended"}},
	}
}

func settings(url string, more ...func(*Webhook)) Settings {
	w := Webhook{URL: secret.Value(url), On: Always, Format: JSON}
	for _, f := range more {
		f(&w)
	}
	return Settings{Webhooks: []Webhook{w}, Secrets: secret.NewSet(url, hookSecret)}
}

func signed(w *Webhook) { w.Secret = hookSecret }

func closeWell(t *testing.T, n *Notifier) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestAWebhookIsSigned(t *testing.T) {
	type got struct {
		body   []byte
		header http.Header
		query  string
	}
	posts := make(chan got, 9)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posts <- got{body, r.Header, r.URL.RawQuery}
	}))
	defer srv.Close()
	var log logbook
	n := New(settings(srv.URL+"/hook?token=s3cr3t-in-query", signed, func(w *Webhook) { w.Headers = map[string]secret.Value{"X-Team": "data"} }), log.log())
	rep := report("r1", judge.Truncated)
	n.Report(rep, judge.Complete, true)
	stopped := report("r2", judge.Unknown)
	stopped.State = "stopped"
	n.Report(stopped, judge.Complete, true)
	closeWell(t, n)
	n.Report(report("r3", judge.Truncated), judge.Complete, true)
	if len(posts) != 1 {
		t.Fatalf("%d posts", len(posts))
	}
	p := <-posts
	var back reconcile.Report
	if err := json.Unmarshal(p.body, &back); err != nil || back.Run != "r1" || back.Verdict != judge.Truncated {
		t.Errorf("%v: %s", err, p.body)
	}
	stamp, mac, _ := strings.Cut(strings.TrimPrefix(p.header.Get("Lastdrop-Signature"), "t="), ",v1=")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if want := sign(hookSecret, time.Unix(seconds, 0), p.body); err != nil || !hmac.Equal([]byte(want), []byte(p.header.Get("Lastdrop-Signature"))) || len(mac) != 64 {
		t.Errorf("signature %q, want %q", p.header.Get("Lastdrop-Signature"), want)
	}
	if p.header.Get("X-Team") != "data" || p.header.Get("Content-Type") != "application/json" || p.query != "token=s3cr3t-in-query" {
		t.Errorf("%v %q", p.header, p.query)
	}
	if text := log.String(); strings.Contains(text, "s3cr3t") || strings.Contains(text, hookSecret) || !strings.Contains(text, `"run":"r3"`) {
		t.Error(text)
	}
}

// The signature is one that anybody can compute: `printf '1760000000.{}' | openssl dgst -sha256 -hmac key`.
func TestSign(t *testing.T) {
	const want = "t=1760000000,v1=" + opensslSays
	if got := sign("key", time.Unix(1_760_000_000, 0), []byte("{}")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWhoIsTold(t *testing.T) {
	for _, tc := range []struct {
		on          string
		now, before judge.Verdict
		had, want   bool
	}{
		{Always, judge.Complete, judge.Complete, true, true},
		{Change, judge.Complete, judge.Complete, true, false},
		{Change, judge.Truncated, judge.Complete, true, true},
		{Change, judge.Complete, judge.Unknown, false, true},
		{Change, judge.Unknown, judge.Unknown, false, true},
		{NotComplete, judge.Complete, judge.Truncated, true, false},
		{NotComplete, judge.Truncated, judge.Truncated, true, true},
		{NotComplete, judge.Unknown, judge.Complete, false, true},
	} {
		if got := wants(tc.on, tc.now, tc.before, tc.had); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

func TestSlackText(t *testing.T) {
	const want = "TRUNCATED  issues, was COMPLETE\n41 items of 50 declared, 9 missing\nRC001 41 of 50 &lt;!channel&gt; &amp; more\nrun r1"
	if d := cmp.Diff(want, slackText(report("r1", judge.Truncated), judge.Complete, true)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	body, err := hook{Webhook: Webhook{Format: Slack}}.body(report("r1", judge.Complete), judge.Complete, true)
	if err != nil || !strings.HasPrefix(string(body), `{"text":"COMPLETE  issues\n`) {
		t.Errorf("%s, %v", body, err)
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	var elsewhere, here int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		here++
		http.Redirect(w, r, other.URL+"/?token=s3cr3t-there", http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	var log logbook
	n := New(settings(srv.URL, signed), log.log())
	n.Report(report("r1", judge.Truncated), 0, false)
	closeWell(t, n)
	if here != 1 || elsewhere != 0 || !strings.Contains(log.String(), "answered 307: redirects are not followed") || strings.Contains(log.String(), "s3cr3t") {
		t.Errorf("%d here, %d elsewhere: %s", here, elsewhere, log.String())
	}
}

// A pipes is a listener whose connections live in memory, so that time in a bubble can pass.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// inBubble runs a test with a real server, over pipes, in a bubble of time.
func inBubble(t *testing.T, handle http.HandlerFunc, test func(t *testing.T, n *Notifier, log *logbook)) {
	synctest.Test(t, func(t *testing.T) {
		p := make(pipes)
		srv := &http.Server{Handler: handle}
		go func() { _ = srv.Serve(p) }()
		var log logbook
		n := start(settings("http://hook.example/x?token=s3cr3t-in-query", signed), log.log(), &http.Transport{DialContext: p.dial})
		test(t, n, &log)
		_ = srv.Close()
		if text := log.String(); strings.Contains(text, "s3cr3t") || strings.Contains(text, hookSecret) {
			t.Error(text)
		}
	})
}

func TestRetries(t *testing.T) {
	var times []time.Duration
	var first time.Time
	answers := []int{503, 429, 0, 500, 204}
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		if first.IsZero() {
			first = time.Now()
		}
		times = append(times, time.Since(first))
		code := answers[len(times)-1]
		if code == 0 {
			panic(http.ErrAbortHandler)
		}
		if code == 429 {
			w.Header().Set("Retry-After", "100")
		}
		w.WriteHeader(code)
	}, func(t *testing.T, n *Notifier, log *logbook) {
		n.Report(report("r1", judge.Truncated), 0, false)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		want := []time.Duration{0, 1 * time.Second, 101 * time.Second, 105 * time.Second, 113 * time.Second}
		if d := cmp.Diff(want, times); d != "" {
			t.Errorf("(-want +got):\n%s\n%s", d, log)
		}
		closeWell(t, n)
	})
}

func TestRetriesEnd(t *testing.T) {
	for code, tries := range map[int]int{503: 15, 404: 1, 401: 1} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			n := 0
			begun := time.Duration(0)
			inBubble(t, func(w http.ResponseWriter, r *http.Request) {
				n++
				w.WriteHeader(code)
			}, func(t *testing.T, notifier *Notifier, log *logbook) {
				notifier.Report(report("r1", judge.Truncated), 0, false)
				at := time.Now()
				time.Sleep(20 * time.Minute)
				begun = time.Since(at)
				synctest.Wait()
				if n != tries || !strings.Contains(log.String(), "a report could not be told") {
					t.Errorf("%d tries in %v, want %d: %s", n, begun, tries, log)
				}
				closeWell(t, notifier)
			})
		})
	}
}

func TestAFullQueueDropsItsOldest(t *testing.T) {
	var runs []string
	up := false
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		if !up {
			w.WriteHeader(503)
			return
		}
		var rep reconcile.Report
		_ = json.NewDecoder(r.Body).Decode(&rep)
		runs = append(runs, rep.Run)
	}, func(t *testing.T, n *Notifier, log *logbook) {
		n.Report(report("first", judge.Truncated), 0, false)
		synctest.Wait() // it is under way now
		for i := range queued + 3 {
			n.Report(report(fmt.Sprint(i), judge.Truncated), 0, false)
		}
		up = true
		closeWell(t, n)
		if len(runs) != queued+1 || runs[0] != "first" || runs[1] != "3" || runs[queued] != fmt.Sprint(queued+2) {
			t.Errorf("%d were told: %v", len(runs), runs[:min(5, len(runs))])
		}
		if got := strings.Count(log.String(), "the queue is full"); got != 3 {
			t.Errorf("%d are logged as dropped", got)
		}
	})
}

func TestCloseGivesUpWithItsContext(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) }, func(t *testing.T, n *Notifier, log *logbook) {
		for i := range 3 {
			n.Report(report(fmt.Sprint(i), judge.Truncated), 0, false)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begun := time.Now()
		if err := n.Close(ctx); err == nil || !strings.Contains(err.Error(), "3 messages were not delivered") {
			t.Error(err)
		}
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("closed after %v", took)
		}
	})
}

// A receiver that is down keeps no other from being told.
func TestReceiversDoNotWaitForEachOther(t *testing.T) {
	told := make(chan string, 9)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			w.WriteHeader(503)
			return
		}
		told <- r.URL.Path
	}))
	defer srv.Close()
	s := settings(srv.URL + "/down")
	s.Webhooks = append(s.Webhooks, settings(srv.URL+"/up").Webhooks...)
	n := New(s, slog.New(slog.NewTextHandler(t.Output(), nil)))
	n.Report(report("r1", judge.Truncated), 0, false)
	if got := <-told; got != "/up" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Close(ctx); err == nil {
		t.Error("closed with nothing lost")
	}
}

func command(t *testing.T, mode string) Settings {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOTIFY_TEST", mode)
	return Settings{Exec: &Exec{Command: []string{self}, On: NotComplete}, Secrets: secret.NewSet(hookSecret)}
}

func TestExec(t *testing.T) {
	file := filepath.Join(t.TempDir(), "got")
	var log logbook
	n := New(command(t, "keep "+file), log.log())
	n.Report(report("r0", judge.Complete), 0, false)
	n.Report(report("r1", judge.Truncated), 0, false)
	closeWell(t, n)
	data, err := os.ReadFile(file)
	var rep reconcile.Report
	if err != nil || json.Unmarshal(data, &rep) != nil || rep.Run != "r1" {
		t.Errorf("%v: %s", err, data)
	}
	if !strings.Contains(log.String(), "exec ended with status 0") || strings.Contains(log.String(), "r0") {
		t.Error(log.String())
	}
}

func TestExecThatFails(t *testing.T) {
	var log logbook
	n := New(command(t, "fail"), log.log())
	n.Report(report("r1", judge.Truncated), 0, false)
	closeWell(t, n)
	if text := log.String(); !strings.Contains(text, "ended with status 3: no mail server for REDACTED") || strings.Contains(text, hookSecret) {
		t.Error(text)
	}
	n = New(Settings{Exec: &Exec{Command: []string{"/nowhere/at-all"}, On: Always}, Secrets: secret.NewSet()}, log.log())
	n.Report(report("r1", judge.Truncated), 0, false)
	closeWell(t, n)
	if !strings.Contains(log.String(), "no such file") {
		t.Error(log.String())
	}
}

// The end of its context kills a command, with the shell around it and what that started.
func TestExecIsKilledWithItsGroup(t *testing.T) {
	dir := t.TempDir()
	s := command(t, "hang "+filepath.Join(dir, "begun"))
	s.Exec.Command = []string{"/bin/sh", "-c", `"$0" & wait`, s.Exec.Command[0]}
	fifo := filepath.Join(dir, "begun")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil { // it is opened when the command has begun
		t.Fatal(err)
	}
	var log logbook
	n := New(s, log.log())
	n.Report(report("r1", judge.Truncated), 0, false)
	held, err := os.Open(fifo) // by the grandchild too, as long as it lives
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := held.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Close(ctx); err == nil {
		t.Error("closed with nothing lost")
	}
	_ = held.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := held.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("what the shell started lives on: %v", err)
	}
}

func TestLoad(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"HOOK_SECRET": hookSecret, "HOOK_TOKEN": "tok-fedcba98", "HOST": "hooks.example.com"}[name]
		return v, ok
	}
	load := func(text string) (Settings, error) {
		file := filepath.Join(t.TempDir(), "notify.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Load(file, env)
		if err != nil {
			err = fmt.Errorf("%s", strings.ReplaceAll(err.Error(), file, "notify.yaml"))
		}
		return s, err
	}
	s, err := load(`
webhooks:
  - url: "https://${HOST}/a?token=${HOOK_TOKEN}"
    on: change
    secret: ${HOOK_SECRET}
    headers: {Authorization: "Bearer ${HOOK_TOKEN}"}
  - {url: https://hooks.example.com/b, format: slack}
exec: {command: [/bin/mail, "${HOST}"], on: not_complete}
`)
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.Webhooks[0], s.Webhooks[1]
	if a.URL.Reveal() != "https://hooks.example.com/a?token=tok-fedcba98" || a.On != Change || a.Secret.Reveal() != hookSecret || a.Format != JSON || a.Headers["Authorization"].Reveal() != "Bearer tok-fedcba98" {
		t.Errorf("%q %+v", a.URL.Reveal(), a)
	}
	if b.On != Always || b.Format != Slack || !slices.Equal(s.Exec.Command, []string{"/bin/mail", "hooks.example.com"}) || s.Exec.On != NotComplete || !s.Secrets.Has("tok-fedcba98") {
		t.Errorf("%+v %+v", b, s.Exec)
	}
	if shown := fmt.Sprintf("%+v", s); strings.Contains(shown, "tok-") || strings.Contains(shown, "whsec") {
		t.Error(shown)
	}
	for _, tc := range []struct{ text, want string }{
		{"", "notify.yaml: tells nobody; add webhooks or exec, or serve without --notify"},
		{"webhook: []\n", "notify.yaml:1:1: webhook: unknown key; known: webhooks (url, on, secret, format, headers) and exec (command, on)"},
		{"webhooks:\n  - url: https://h/\n    when: always\n", "notify.yaml:3:5: when: unknown key; known: webhooks (url, on, secret, format, headers) and exec (command, on)"},
		{"webhooks:\n  - on: always\n", "notify.yaml:2:5: webhooks[0].url: is missing; say where to post, e.g. url: ${HOOK_URL}"},
		{"webhooks:\n  - url: ftp://h/?token=whsec-x\n    on: never\n    format: xml\n    secret: ''\n", `notify.yaml:2:10: webhooks[0].url: is no absolute http or https URL; write it as https://host/path
notify.yaml:3:9: webhooks[0].on: "never" is not known; one of always, change, not_complete
notify.yaml:4:13: webhooks[0].format: "xml" is not known; one of json, slack
notify.yaml:5:13: webhooks[0].secret: is empty; give it one, or take the key away`},
		{"webhooks:\n  - url: https://a:whsec-x@h/\n", "notify.yaml:2:10: webhooks[0].url: holds a user or password; write headers: {Authorization: ...}"},
		{"webhooks:\n  - url: ${NONE}\n", "notify.yaml:2:10: webhooks[0].url: the environment variable NONE is not set; set it, or take it out\nnotify.yaml:2:10: webhooks[0].url: is missing; say where to post, e.g. url: ${HOOK_URL}"},
		{"webhooks:\n  - url: https://h/\n    headers: {host: x}\n", "notify.yaml:3:21: webhooks[0].headers.host: is written by lastdrop itself; take it away"},
		{"exec: {command: []}\n", `notify.yaml:1:17: exec.command: names no command; no shell reads it: write the command and each argument on its own, e.g. ["/usr/bin/notify", "-"]`},
		{"exec: {command: mail whsec-x}\n", "notify.yaml:1:17: YAML: string was used where sequence is expected; see lastdrop serve --help for the form"},
		{"exec: {command: [mail}\n", "notify.yaml:1:22: YAML: ',' or ']' must be specified; see lastdrop serve --help for the form"},
		{"exec: {command: [mail]}\n---\nexec: {command: [mail]}\n", "notify.yaml: holds several documents; keep one"},
	} {
		_, err := load(tc.text)
		if d := cmp.Diff(tc.want, fmt.Sprint(err)); d != "" {
			t.Errorf("%q (-want +got):\n%s", tc.text, d)
		}
		if strings.Contains(fmt.Sprint(err), "whsec") {
			t.Errorf("%q: the error holds a secret: %v", tc.text, err)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none"), env); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestImports(t *testing.T) {
	allowed := []string{
		"lastdrop/judge", "lastdrop/judge/reconcile", "lastdrop/internal/secret",
		"github.com/goccy/go-yaml", "github.com/goccy/go-yaml/ast", "github.com/goccy/go-yaml/parser",
	}
	for _, f := range importtest.Files(t, "*.go") {
		for _, path := range f.Imports(t) {
			first, _, _ := strings.Cut(path, "/")
			if (first == "lastdrop" || strings.Contains(first, ".")) && !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s: being told knows reports only", f.Name, path)
			}
		}
	}
}
