package adapters

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"lastdrop/internal/jsonscan"
	"lastdrop/internal/secret"
	"lastdrop/judge"
)

// A truth is what a value means as a flag.
//
// A JSON true or false is itself. A number is false where it is 0. A text is
// false for "false", "no", "n", "f", "off" and any spelling of 0, true for
// "true", "yes", "y", "t", "on" and any other number, without regard to case
// and outer space. Everything else says nothing: null, "", other words, lists
// and objects.
func truth(v jsonscan.Value) judge.Claim {
	switch {
	case v.IsBool():
		return judge.Said(v.Bool())
	case v.IsNumber():
		return textTruth(string(v.Raw))
	case v.IsString():
		return textTruth(v.Str())
	default:
		return judge.NotSaid
	}
}

func textTruth(text string) judge.Claim {
	switch text = strings.ToLower(strings.TrimSpace(text)); text {
	case "true", "yes", "y", "t", "on":
		return judge.Yes
	case "false", "no", "n", "f", "off":
		return judge.No
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return judge.NotSaid
	}
	return judge.Said(f != 0)
}

// A flag is where the has-more flag stands.
type flag struct {
	path    field
	header  string
	endWhen bool        // the value at which there is no more
	absent  judge.Claim // what it says where it is absent; null is not absent
}

// newFlag registers the has-more flag of a spec.
func newFlag(c *compiler) flag {
	p := &c.spec.Pages
	if p.MorePath != "" && p.MoreHeader != "" {
		c.fault("pages.more: a path or a header, not both")
	}
	f := flag{path: c.field("pages.more.path", p.MorePath), header: p.MoreHeader, absent: p.MoreAbsent}
	f.endWhen = p.MoreEndWhen != nil && *p.MoreEndWhen
	return f
}

// read says whether there is more, by the flag.
func (f flag) read(a *Answer) judge.Claim {
	if f.path == 0 && f.header == "" {
		return judge.NotSaid
	}
	said := judge.NotSaid
	if f.header != "" {
		if len(a.Header.Values(f.header)) == 0 {
			return f.absent
		}
		said = textTruth(a.header(f.header).S)
	} else {
		v := a.value(f.path)
		if !v.Exists() {
			return f.absent
		}
		said = truth(v)
	}
	if said == judge.NotSaid {
		return judge.NotSaid
	}
	return judge.Said((said == judge.Yes) != f.endWhen)
}

// count reads a number that a value states: an integer that is not negative,
// as a number or as a text of one.
func count(v jsonscan.Value) judge.Count {
	n, ok := v.Int64()
	if !ok {
		n, ok = digits(strings.TrimSpace(v.Str()))
	}
	if !ok || n < 0 {
		return judge.Count{}
	}
	return judge.N(n)
}

// headerCount reads a number that a header states.
func headerCount(t judge.Text) judge.Count {
	if n, ok := digits(t.S); ok {
		return judge.N(n)
	}
	return judge.Count{}
}

// oneLine makes a foreign text fit for a message: one line, no control
// characters, at most 200 bytes.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == '\u2028' || r == '\u2029'
	}), " ")
	return secret.Clip(text, 200)
}

// isURL reports whether a text is an absolute http or https URL.
func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https"))
}
