package metrics

import (
	"context"
	"io"
	"math"
	"net/http"
	"time"
)

var inf = math.Inf(1)

// Healthz says that the process serves.
func Healthz() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok\n") })
}

// Readyz says whether the daemon takes work: ready gives the reason why not, which is for
// the log alone.
func Readyz(ready func(ctx context.Context) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, stop := context.WithTimeout(r.Context(), 5*time.Second)
		defer stop()
		if err := ready(ctx); err != nil {
			say(w, http.StatusServiceUnavailable, "not ready\n")
			return
		}
		say(w, http.StatusOK, "ready\n")
	})
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // the client may have gone
}
