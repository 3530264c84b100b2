package pull

import (
	"regexp"
	"strings"
	"sync"

	"lastdrop/internal/secret"
)

// secretParam finds parameters in any text, so that those whose names say
// that they hold a secret are hidden even where no config names the value: a
// server may mint one into a next link.
var secretParam = regexp.MustCompile(`([?&;]|%3[fF]|%26)([A-Za-z0-9_.\-\[\]%]{1,64})=([^&\s"'<>#;,)]+)`)

// userInfo finds a name and password in front of a host.
var userInfo = regexp.MustCompile(`://[^/\s@"'<>]+@`)

// hide takes what looks like a secret out of a text.
func hide(s string) string {
	if strings.IndexByte(s, '@') >= 0 {
		s = userInfo.ReplaceAllString(s, "://"+secret.Redacted+"@")
	}
	if plainNames(s) {
		return s
	}
	return secretParam.ReplaceAllStringFunc(s, func(m string) string {
		g := secretParam.FindStringSubmatch(m)
		if !secret.Sensitive(g[2]) || secret.SealedValue(g[3]) {
			return m
		}
		return g[1] + g[2] + "=" + secret.Redacted
	})
}

// plainNames reports whether no name before an equals sign is that of a secret, so
// that secretParam has nothing to hide. It is asked for every address of a run,
// whose names are always the same.
func plainNames(s string) bool {
	for {
		i := strings.IndexByte(s, '=')
		if i < 0 {
			return true
		}
		from := i
		for from > 0 && nameByte(s[from-1]) {
			from--
		}
		if !plainName(s[from:i]) {
			return false
		}
		s = s[i+1:]
	}
}

func nameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_.-[]%", c) >= 0
}

var plainSeen struct {
	sync.RWMutex
	names map[string]bool
}

// plainName reports whether neither a name nor what follows an escaped separator
// in it is that of a secret. It remembers some of those that are not.
func plainName(name string) bool {
	if len(name) > 64 {
		return false // the pattern takes a part of it
	}
	plainSeen.RLock()
	known := plainSeen.names[name]
	plainSeen.RUnlock()
	if known {
		return true
	}
	for rest := name; ; {
		if secret.Sensitive(rest) {
			return false
		}
		i := strings.IndexByte(rest, '%')
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		if len(rest) >= 2 && (strings.EqualFold(rest[:2], "3f") || rest[:2] == "26") {
			rest = rest[2:]
		}
	}
	plainSeen.Lock()
	if len(plainSeen.names) > 1000 {
		plainSeen.names = nil
	}
	if plainSeen.names == nil {
		plainSeen.names = map[string]bool{}
	}
	plainSeen.names[strings.Clone(name)] = true
	plainSeen.Unlock()
	return true
}
