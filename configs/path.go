package configs

import (
	"regexp"
	"strconv"
	"strings"
)

// A pointer names a place in a config as a JSON pointer does: /pages/size.
type pointer string

// root is the config as a whole.
const root pointer = ""

// at turns a path of plain keys, as people write it, into a pointer.
func at(path string) pointer {
	if path == "" {
		return root
	}
	return pointer("/" + strings.ReplaceAll(path, ".", "/"))
}

var (
	escapeKey   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeKey = strings.NewReplacer("~1", "/", "~0", "~")
	plainKey    = regexp.MustCompile(`^[\p{L}\p{N}_$@-]+$`)
)

// child is the place of a key inside p.
func (p pointer) child(key string) pointer { return p + "/" + pointer(escapeKey.Replace(key)) }

// item is the place of a list's item inside p.
func (p pointer) item(i int) pointer { return p + "/" + pointer(strconv.Itoa(i)) }

// parent is the place that p lies in; the root is its own.
func (p pointer) parent() pointer { return p[:max(strings.LastIndexByte(string(p), '/'), 0)] }

// last is the last key.
func (p pointer) last() string {
	return unescapeKey.Replace(string(p[strings.LastIndexByte(string(p), '/')+1:]))
}

// within reports whether p lies inside another place.
func (p pointer) within(other pointer) bool { return strings.HasPrefix(string(p), string(other)+"/") }

// String is the path as people write it: pages.size, end[0].status.
func (p pointer) String() string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(string(p), "/"), "/") {
		key := unescapeKey.Replace(part)
		_, err := strconv.ParseUint(key, 10, 16)
		switch {
		case err == nil && b.Len() > 0:
			b.WriteString("[" + key + "]")
			continue
		case !plainKey.MatchString(key):
			key = quote(key)
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(key)
	}
	return b.String()
}

// clip bounds what a message quotes, in characters.
const clip = 60

// quote renders a text for a message: quoted and not too long.
func quote(s string) string {
	if r := []rune(s); len(r) > clip {
		s = string(r[:clip]) + "…"
	}
	return strconv.Quote(s)
}
