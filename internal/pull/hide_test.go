package pull

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lastdrop/internal/racing"
	"lastdrop/internal/secret"
)

// slowly is hide without its short ways.
func slowly(s string) string {
	s = userInfo.ReplaceAllString(s, "://"+secret.Redacted+"@")
	return secretParam.ReplaceAllStringFunc(s, func(m string) string {
		g := secretParam.FindStringSubmatch(m)
		if !secret.Sensitive(g[2]) || secret.SealedValue(g[3]) {
			return m
		}
		return g[1] + g[2] + "=" + secret.Redacted
	})
}

// TestHideShortWays: the short ways hide just what the patterns do.
func TestHideShortWays(t *testing.T) {
	parts := []string{"?", "&", ";", "%3F", "%3f", "%26", "=", "page", "token", "api_key", "sig", "x", "%", "%2", "page_token", "https://", "user:pw", "@", "host/",
		" ", "\"", "next", "-", "[a]", ".", "26", "3f", strings.Repeat("long", 17), "secret"}
	rng := rand.New(rand.NewPCG(5, 6))
	for range racing.Less(200_000, 10) {
		var b strings.Builder
		for range 1 + rng.IntN(9) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		if got, want := hide(b.String()), slowly(b.String()); got != want {
			t.Fatalf("%q: %q, want %q", b.String(), got, want)
		}
	}
}
