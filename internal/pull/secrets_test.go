package pull_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lastdrop/configs"
	"lastdrop/internal/pull"
	"lastdrop/store"
)

// echoing is a server that repeats the caller's credential in all that a run
// may keep: error texts, links, cursors, totals' words, headers.
func echoing(n int, answer func(w http.ResponseWriter, r *http.Request, from int) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := 0
		fmt.Sscan(r.URL.Query().Get("from"), &from)
		if answer != nil && answer(w, r, from) {
			return
		}
		next := fmt.Sprintf("http://%s/items?from=%d&access=%s", r.Host, from+10, bearer(r))
		if from+10 >= n {
			fmt.Fprintf(w, `{"items":%s,"next":null}`, items(from, n-from))
			return
		}
		fmt.Fprintf(w, `{"items":%s,"next":%q}`, items(from, 10), next)
	})
}

func items(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"id":%d}`, from+i+1)
	}
	return "[" + strings.TrimPrefix(b.String(), ",") + "]"
}

// baking is a server whose callers are known by a cookie, set with every answer.
func baking(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "lang", Value: "en"})
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: token, Path: "/"})
		r.Header.Set("Authorization", "Bearer "+token)
		inner.ServeHTTP(w, r)
	})
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// fails answers from an item on with a status that quotes the credential.
func fails(status, at int) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, from int) bool {
		if from < at {
			return false
		}
		w.Header().Set("Warning", "299 - "+bearer(r))
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message":"bad token Bearer %s","error":%q}`, bearer(r), "not for "+bearer(r))
		return true
	}
}

// TestNoSecretIsKept runs sources that repeat the credential wherever they can
// and looks for it in every byte that a run leaves behind: store, log, report.
func TestNoSecretIsKept(t *testing.T) {
	half := func(w http.ResponseWriter, r *http.Request, from int) bool {
		if from < 20 {
			return false
		}
		w.Header().Set("Content-Length", "4000")
		fmt.Fprintf(w, `{"items":[{"id":1,"of":%q}`, bearer(r))
		return true
	}
	wordy := func(w http.ResponseWriter, r *http.Request, from int) bool {
		if from < 20 {
			return false
		}
		fmt.Fprintf(w, `{"error":{"code":7,"message":"%s is out of quota"}}`, bearer(r))
		return true
	}
	cutShort := func(w http.ResponseWriter, r *http.Request, from int) bool {
		if from < 20 {
			return false
		}
		fmt.Fprintf(w, `{"items":[{"id":21},{"notice":"results truncated for %[1]s"}],"message":"the list was truncated for %[1]s","next":null}`, bearer(r))
		return true
	}
	const auth, cookies = `auth: {bearer: "${TOKEN}"}`, "cookies: true"
	for name, c := range map[string]struct {
		server   http.Handler
		maxPages int64
		source   string
	}{
		"401 at once":           {echoing(100, fails(401, 0)), 0, auth},
		"403 later":             {echoing(100, fails(403, 20)), 0, auth},
		"400 later":             {echoing(100, fails(400, 20)), 0, auth},
		"404 later":             {echoing(100, fails(404, 20)), 0, auth},
		"500 later":             {echoing(100, fails(500, 20)), 0, auth},
		"429 later":             {echoing(100, fails(429, 20)), 0, auth},
		"half a body":           {echoing(100, half), 0, auth},
		"an error with 200":     {echoing(100, wordy), 0, auth},
		"stopped in the middle": {echoing(100, nil), 2, auth},
		"all of it":             {echoing(100, nil), 0, auth},
		"words of a cut":        {echoing(100, cutShort), 0, auth},

		"a cookie, 400 later":             {baking(echoing(100, fails(400, 20))), 0, cookies},
		"a cookie, half a body":           {baking(echoing(100, half)), 0, cookies},
		"a cookie, an error with 200":     {baking(echoing(100, wordy)), 0, cookies},
		"a cookie, stopped in the middle": {baking(echoing(100, nil)), 2, cookies},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			server := httptest.NewServer(c.server)
			defer server.Close()
			log := &bytes.Buffer{}
			run := func(maxPages int64) {
				env := map[string]string{"BASE": server.URL, "OUT": filepath.Join(dir, "items.jsonl"), "TOKEN": token}
				text := `
version: 1
name: echo
source: {url: "${BASE}/items", ` + c.source + `}
pages: {style: next_url, next: {path: next}, end: [absent_continuation]}
items: {path: items, id: id}
limits: {retries: 1}
output: {to: "${OUT}"}`
				cfg, err := configs.Parse("echo.yaml", []byte(text), func(k string) (string, bool) { v, ok := env[k]; return v, ok })
				if err != nil {
					t.Fatal(err)
				}
				st, err := store.Open(context.Background(), filepath.Join(dir, "runs.db"))
				if err != nil {
					t.Fatal(err)
				}
				rep, err := pull.Run(context.Background(), pull.Options{Config: cfg, Store: st, MaxPages: maxPages, Version: "test",
					BackoffMin: time.Millisecond, BackoffMax: 2 * time.Millisecond,
					Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(log, "%+v\n", rep)
				seek(t, dir, log.Bytes()) // with the store open, its journal beside it
				if err := st.Close(); err != nil {
					t.Fatal(err)
				}
				seek(t, dir, log.Bytes())
			}
			run(c.maxPages)
			if c.maxPages > 0 {
				run(0) // taken up from the sealed position
				body, err := os.ReadFile(filepath.Join(dir, "items.jsonl"))
				if err != nil || bytes.Count(body, []byte("\n")) != 100 {
					t.Errorf("after the resume %d lines, %v", bytes.Count(body, []byte("\n")), err)
				}
			}
		})
	}
}

// seek looks for the token in every file of a folder, and in what was logged.
func seek(t *testing.T, dir string, log []byte) {
	t.Helper()
	files := map[string][]byte{"the log and the report": log}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		body, err := os.ReadFile(path)
		files[filepath.Base(path)] = body
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range files {
		if i := bytes.Index(body, []byte(token)); i >= 0 {
			t.Errorf("%s holds the token: …%s…", name, body[max(0, i-80):min(len(body), i+40)])
		}
	}
}
