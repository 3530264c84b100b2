package secret

import (
	"net/url"
	"strings"
)

// HideURL returns a URL without secrets: those of the set, the user and
// password before the host, and the values of query and fragment parameters
// whose names are Sensitive; a sealed value stays. It takes texts that are no
// valid URLs too.
func (s *Set) HideURL(u string) string {
	u = hideUserinfo(u)
	u = RewriteParams(u, func(name, value string) (string, bool) {
		return Redacted, value != "" && Sensitive(name) && !SealedValue(value)
	})
	return s.Hide(u)
}

// hideUserinfo replaces what stands between // and @ in a URL's authority.
func hideUserinfo(u string) string {
	at := strings.Index(u, "//")
	if at < 0 {
		return u
	}
	from := at + len("//")
	to := len(u)
	if end := strings.IndexAny(u[from:], `/?#\`); end >= 0 {
		to = from + end
	}
	if user := strings.LastIndexByte(u[from:to], '@'); user >= 0 {
		return u[:from] + Redacted + u[from+user:]
	}
	return u
}

// RewriteParams calls replace for each parameter of a URL's query and
// fragment, with name and value unescaped, and puts what it returns with true,
// as it is, in the place of the value. Everything else stays byte by byte.
func RewriteParams(u string, replace func(name, value string) (string, bool)) string {
	at := strings.IndexAny(u, "?#")
	if at < 0 {
		return u
	}
	var b strings.Builder
	b.WriteString(u[:at])
	for rest := u[at:]; rest != ""; {
		b.WriteByte(rest[0]) // ? # & or ;
		rest = rest[1:]
		end := strings.IndexAny(rest, "?#&;")
		if end < 0 {
			end = len(rest)
		}
		b.WriteString(rewritePair(rest[:end], replace))
		rest = rest[end:]
	}
	return b.String()
}

func rewritePair(pair string, replace func(name, value string) (string, bool)) string {
	name, value, ok := strings.Cut(pair, "=")
	if !ok {
		return pair
	}
	if v, hit := replace(unescape(name), unescape(value)); hit {
		return name + "=" + v
	}
	return pair
}

// unescape undoes query escapes where it can.
func unescape(s string) string {
	if t, err := url.QueryUnescape(s); err == nil {
		return t
	}
	return s
}
