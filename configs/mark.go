package configs

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"lastdrop/internal/secret"
)

// hidden stands for a secret in what is hashed.
const hidden = "\x01"

// A mark says how a scalar that holds a secret is shown and hashed.
type mark struct {
	raw     string // as it stands in the file
	value   string // with variables replaced
	shown   string // as the file could say it without the secret
	hashed  string // with hidden in the place of each secret
	secrets []string
}

// marks are the scalars that hold secrets, by their place in the normalised
// config.
type marks map[pointer]*mark

// The places whose keys name what they hold.
var namedPlaces = []pointer{
	"/source/params", "/source/headers", "/source/body", "/total/body", "/pages/reverse/params",
	"/slice/params", "/slice/from_params", "/slice/to_params",
	"/slice/then/params", "/slice/then/from_params", "/slice/then/to_params", "/slice/without/params", "/complete/sentinel/params",
}

// The places that hold an address.
var addresses = []pointer{"/source/url", "/total/url", "/complete/sentinel/url", "/complete/still/url"}

// conceal decides whether a scalar is or holds a secret: by where it stands,
// by the name it stands under, and by the variables that it came from.
func (r *reading) conceal(n *node) {
	if n.kind != text && n.kind != number {
		n.mark = nil
		return
	}
	if n.mark == nil {
		n.mark = &mark{raw: n.text, value: n.text, shown: n.text, hashed: n.text}
	}
	m := n.mark
	switch {
	case n.at.inAuth(), n.at.hasSecretName() && credible(m.value):
		m.whole()
	case slices.Contains(addresses, n.at):
		m.params()
	case n.at == "/output/to" && FormatOf(m.value) == Postgres:
		m.database()
	}
	if len(m.secrets) == 0 {
		n.mark = nil
	}
	r.secrets.Add(m.secrets...)
}

// inAuth reports whether all that stands at a place is a credential.
func (p pointer) inAuth() bool {
	const auth, store pointer = "/source/auth", "/output/s3"
	switch p {
	case store + "/access_key", store + "/secret_key", store + "/session_token":
		return true
	}
	return p == auth || p.within(auth) && p != auth+"/header/name" && p != auth+"/query/name"
}

// hasSecretName reports whether a parameter, header or body value stands under
// a name that says that it is secret.
func (p pointer) hasSecretName() bool {
	name := p.last()
	if strings.Trim(name, "0123456789") == "" { // an item of a list
		name = p.parent().last()
	}
	return secret.Sensitive(name) && slices.ContainsFunc(namedPlaces, p.within)
}

// credible reports whether a value under a secret's name can be one: a
// placeholder of a position is none, nor is what has less than 4 bytes.
func credible(value string) bool {
	return len(value) >= 4 && !slices.ContainsFunc(slices.Concat(bounds, placeholders), func(p string) bool { return strings.Contains(value, p) })
}

// whole marks all of the text as a secret, and the token in an Authorization
// header's value for itself.
func (m *mark) whole() {
	if m.value == "" {
		return
	}
	m.secrets = append(m.secrets, m.value)
	if _, token, ok := strings.Cut(m.value, " "); ok {
		m.secrets = append(m.secrets, token)
	}
	m.hashed, m.shown = hidden, secret.Redacted
	if isReference(m.raw) {
		m.shown = m.raw
	}
}

// database marks the address of one: all of it is a secret.
func (m *mark) database() {
	m.secrets = append(m.secrets, m.value)
	if u, err := url.Parse(m.value); err == nil {
		if password, ok := u.User.Password(); ok && len(password) >= 4 {
			m.secrets = append(m.secrets, password)
		}
	}
	m.params()
	m.hashed, m.shown = Postgres+":"+hidden, "postgres://"+secret.Redacted
	if isReference(m.raw) {
		m.shown = m.raw
	}
}

// params marks the values of a URL's parameters with sensitive names.
func (m *mark) params() {
	secret.RewriteParams(m.value, func(name, value string) (string, bool) {
		if value != "" && secret.Sensitive(name) {
			m.secrets = append(m.secrets, value)
		}
		return "", false
	})
	m.hashed = secret.RewriteParams(m.hashed, func(name, value string) (string, bool) {
		return hidden, value != "" && secret.Sensitive(name)
	})
	m.shown = secret.RewriteParams(m.shown, func(name, value string) (string, bool) {
		return secret.Redacted, value != "" && secret.Sensitive(name) && !isReference(value)
	})
}

// isReference reports whether a text is nothing but one ${NAME}.
func isReference(raw string) bool { return variable.FindString(raw) == raw && raw != "" }

// collect gathers the marks below a node by their places in the normalised
// config, where a single value stands in a list of one.
func (n *node) collect(at pointer, into marks) {
	if n.lifted {
		at = at.item(0)
	}
	if n.mark != nil {
		into[at] = n.mark
	}
	for _, f := range n.fields {
		f.value.collect(at.child(f.key), into)
	}
	for i, item := range n.items {
		item.collect(at.item(i), into)
	}
}

// set makes the set of secrets, in an order that does not depend on the order
// of the file: sealed positions name a secret by its place.
func (m marks) set(auth *Auth) *secret.Set {
	s := secret.NewSet()
	places := make([]pointer, 0, len(m))
	for at := range m {
		places = append(places, at)
	}
	slices.SortFunc(places, func(a, b pointer) int { return cmp.Compare(a, b) })
	for _, at := range places {
		s.Add(m[at].secrets...)
	}
	if auth != nil && auth.Basic != nil {
		s.AddBasic(auth.Basic.User.Reveal(), auth.Basic.Password.Reveal())
	}
	return s
}
