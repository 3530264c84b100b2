package api

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lastdrop/internal/daemon/api/guard"
)

const secretToken = "Kk9-This.is-a-token-of-the-test"

// A guarded server: a stream of events outlives its time-outs, and what is secret comes
// back from nowhere, whoever sends it where.
func TestGuarded(t *testing.T) {
	old := beat
	beat = 50 * time.Millisecond
	defer func() { beat = old }()
	b := newBench(t)
	b.addRun("a", 3)
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(secretToken), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := guard.OpenTokens(path)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	g := guard.New(guard.Options{Tokens: tokens, Listen: listener.Addr().String(), Log: log})
	server := guard.Server(listener.Addr().String(), g.Wrap(New(Options{Engine: b.engine, Store: b.store.Reader, Log: log, Closing: b.closes})), log)
	server.ReadTimeout, server.WriteTimeout, server.ReadHeaderTimeout = 200*time.Millisecond, 200*time.Millisecond, 200*time.Millisecond
	go server.Serve(listener) //nolint:errcheck // it ends by Shutdown
	b.url = "http://" + listener.Addr().String()
	if a := b.ask("GET", Prefix+"/runs", ""); a.status != 401 {
		t.Fatalf("without a token: %d", a.status)
	}
	bearer := []string{"Authorization", "Bearer " + secretToken}
	if a := b.ask("GET", Prefix+"/runs", "", bearer...); a.status != 200 || a.header.Get("Content-Security-Policy") == "" {
		t.Fatalf("with a token: %d", a.status)
	}
	ended := make(chan string)
	started := time.Now()
	go func() { ended <- b.ask("GET", Prefix+"/events", "", bearer...).body }()
	var said strings.Builder
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/" + secretToken, ""}, {"GET", "/runs/" + secretToken, ""}, {"GET", "/runs/" + secretToken + "/pages", ""}, {"GET", "/pulls/" + secretToken, ""},
		{"GET", "/jobs/" + secretToken, ""}, {"GET", "/runs?" + secretToken + "=1", ""}, {"GET", "/runs?limit=" + secretToken, ""}, {"GET", "/runs?name=" + secretToken, ""},
		{"GET", "/runs?after=" + secretToken, ""}, {"GET", "/runs?as_of=" + secretToken, ""}, {"GET", "/runs/last/pages?outcome=" + secretToken, ""},
		{"POST", "/pulls/" + secretToken + "/run", ""}, {"POST", "/pulls/a/run", secretToken}, {"POST", "/pulls/a/run", `"` + secretToken + `"`},
		{"POST", "/pulls/a/run", `{"` + secretToken + `":1}`}, {"POST", "/pulls/a/run", `{"fresh":"` + secretToken + `"}`},
		{"POST", "/judge", secretToken}, {"POST", "/judge", `{"` + secretToken + `":1}`}, {"POST", "/judge", `{"kind":"` + secretToken + `"}`},
		{"POST", "/judge", `{"kind":"list","response":{"` + secretToken + `":1}}`}, {"POST", "/judge", `{"kind":"list","response":{"total":"` + secretToken + `"}}`},
		{"POST", "/judge", `{"kind":"list","response":{"total_kind":"` + secretToken + `"}}`}, {"POST", "/judge", `{"kind":"list","meta":1,"x ` + secretToken + `":{}}`},
		{"POST", "/" + secretToken, secretToken}, {"DELETE", "/runs/" + secretToken, ""},
	} {
		a := b.ask(c.method, Prefix+c.path, c.body, bearer...)
		fmt.Fprintln(&said, c.method, a.status, a.header, a.body)
	}
	for _, text := range []string{said.String(), b.log.String()} {
		for line := range strings.Lines(text) {
			if strings.Contains(line, secretToken) {
				t.Errorf("a secret came back: %s", line)
			}
		}
	}
	time.Sleep(time.Until(started.Add(600 * time.Millisecond)))
	close(b.closes)
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if text := <-ended; strings.Count(text, ": alive") < 8 {
		t.Errorf("the stream ended early: %s", text)
	}
	if _, err := http.Get(b.url); err == nil {
		t.Error("the server lives on")
	}
}
