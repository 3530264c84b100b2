package notify

import (
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"lastdrop/internal/secret"
)

// When something is told.
const (
	Always      = "always"       // of each report
	Change      = "change"       // where the verdict is another than before; the first one of a pull is
	NotComplete = "not_complete" // where the verdict is not COMPLETE
)

// The forms of a webhook's body.
const (
	JSON  = "json"  // the report
	Slack = "slack" // {"text": …}, as Slack and what is like it take it
)

// Settings say who is told of reports. The zero value tells nobody.
type Settings struct {
	Webhooks []Webhook   `yaml:"webhooks"`
	Exec     *Exec       `yaml:"exec"`
	Secrets  *secret.Set `yaml:"-"` // what must not show in a log
}

// A Webhook is an address that is sent a POST.
type Webhook struct {
	URL     secret.Value            `yaml:"url"`
	On      string                  `yaml:"on"`     // Always (default), Change or NotComplete
	Secret  secret.Value            `yaml:"secret"` // signs the body; empty: it is not signed
	Format  string                  `yaml:"format"` // JSON (default) or Slack
	Headers map[string]secret.Value `yaml:"headers"`
}

// An Exec is a command that is given the report as JSON on its standard input. No shell reads it.
type Exec struct {
	Command []string `yaml:"command"`
	On      string   `yaml:"on"` // Always (default), Change or NotComplete
}

// maxFile bounds a settings file's length.
const maxFile = 256 << 10

// Load reads settings from a YAML file, strictly. Its texts may name variables of the environment, as ${NAME}; lookup gives them, as
// os.LookupEnv does. The error tells file, line, column, field and what to do, a line a fault, and holds no secret.
func Load(path string, lookup func(string) (string, bool)) (Settings, error) {
	file, err := os.Open(path)
	if err != nil {
		return Settings{}, fmt.Errorf("notify: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return Settings{}, fmt.Errorf("notify: %w", err)
	}
	if len(data) > maxFile {
		return Settings{}, fmt.Errorf("%s: the file has more than %d bytes; take out what is no setting", path, maxFile)
	}
	return parse(path, data, lookup)
}

// A reading is a file on its way to Settings.
type reading struct {
	file   string
	lookup func(string) (string, bool)
	body   ast.Node
	errs   []error
	set    *secret.Set
}

func parse(file string, data []byte, lookup func(string) (string, bool)) (Settings, error) {
	r := &reading{file: file, lookup: lookup, set: secret.NewSet()}
	var s Settings
	if !r.decode(data, &s) {
		return Settings{}, errors.Join(r.errs...)
	}
	for i := range s.Webhooks {
		r.webhook(fmt.Sprintf("webhooks[%d]", i), &s.Webhooks[i])
	}
	if s.Exec != nil {
		r.exec(s.Exec)
	}
	if len(s.Webhooks) == 0 && s.Exec == nil && len(r.errs) == 0 {
		r.bad("", "tells nobody", "add webhooks or exec, or serve without --notify")
	}
	if len(r.errs) > 0 {
		return Settings{}, errors.Join(r.errs...)
	}
	s.Secrets = r.set
	return s, nil
}

// decode reads YAML into the settings. What the parser says quotes the file, which may hold secrets: only the place and the reason are
// taken.
func (r *reading) decode(data []byte, s *Settings) bool {
	doc, err := parser.ParseBytes(data, 0)
	switch {
	case err != nil:
	case len(doc.Docs) > 1:
		r.note(0, 0, "", "holds several documents", "keep one")
		return false
	case len(doc.Docs) == 1 && doc.Docs[0].Body != nil:
		r.body = doc.Docs[0].Body
		err = yaml.NodeToValue(r.body, s, yaml.Strict())
	}
	if err == nil {
		return true
	}
	line, column, msg := 0, 0, "is not readable"
	if e, ok := errors.AsType[yaml.Error](err); ok {
		if tk := e.GetToken(); tk != nil && tk.Position != nil {
			line, column = tk.Position.Line, tk.Position.Column
		}
		msg, _, _ = strings.Cut(e.GetMessage(), "\n")
	}
	if m := unknownField.FindStringSubmatch(msg); m != nil {
		r.note(line, column, m[1], "unknown key", "known: webhooks (url, on, secret, format, headers) and exec (command, on)")
		return false
	}
	msg, _, _ = strings.Cut(msg, `"`)
	r.note(line, column, "", "YAML: "+strings.TrimSpace(msg), "see lastdrop serve --help for the form")
	return false
}

var unknownField = regexp.MustCompile(`^unknown field "([A-Za-z0-9_-]+)"`)

func (r *reading) note(line, column int, field, msg, cure string) {
	where := r.file
	if line > 0 {
		where += fmt.Sprintf(":%d:%d", line, column)
	}
	if field != "" {
		where += ": " + field
	}
	r.errs = append(r.errs, fmt.Errorf("%s: %s; %s", where, msg, cure))
}

// bad notes what is wrong with a field, at the nearest place around it that the file has.
func (r *reading) bad(field, msg, cure string) {
	n, _ := r.find(field)
	if n == nil {
		r.note(0, 0, field, msg, cure)
		return
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	at := n.GetToken().Position
	r.note(at.Line, at.Column, field, msg, cure)
}

// find gives the value of a field such as webhooks[0].url, or the nearest around it.
func (r *reading) find(field string) (n ast.Node, exact bool) {
	n = r.body
	for _, step := range strings.FieldsFunc(field, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
		below := child(n, step)
		if below == nil {
			return n, false
		}
		n = below
	}
	return n, true
}

func child(n ast.Node, step string) ast.Node {
	switch v := n.(type) {
	case *ast.MappingNode:
		for _, one := range v.Values {
			if one.Key.GetToken().Value == step {
				return one.Value
			}
		}
	case *ast.MappingValueNode:
		if v.Key.GetToken().Value == step {
			return v.Value
		}
	case *ast.SequenceNode:
		for i, one := range v.Values {
			if fmt.Sprint(i) == step {
				return one
			}
		}
	}
	return nil
}

var variable = regexp.MustCompile(`\$\{([^}]*)\}?`)

// expand replaces each ${NAME} of a text.
func (r *reading) expand(field, text string) string {
	return variable.ReplaceAllStringFunc(text, func(ref string) string {
		name := strings.Trim(ref, "${}")
		v, ok := r.lookup(name)
		switch {
		case !strings.HasSuffix(ref, "}") || name == "":
			r.bad(field, `"${" begins no variable`, "write ${NAME}")
		case !ok:
			r.bad(field, "the environment variable "+name+" is not set", "set it, or take it out")
		case secret.SensitiveVariable(name):
			r.set.Add(v)
		}
		return v
	})
}

func (r *reading) hidden(field string, v *secret.Value) {
	*v = secret.Value(r.expand(field, v.Reveal()))
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func (r *reading) webhook(at string, w *Webhook) {
	r.hidden(at+".url", &w.URL)
	r.hidden(at+".secret", &w.Secret)
	r.address(at+".url", w.URL.Reveal())
	r.word(at+".on", &w.On, Always, Change, NotComplete)
	r.word(at+".format", &w.Format, JSON, Slack)
	r.set.Add(w.URL.Reveal(), w.Secret.Reveal())
	if _, said := r.find(at + ".secret"); said && w.Secret == "" {
		r.bad(at+".secret", "is empty", "give it one, or take the key away")
	}
	for name, v := range w.Headers {
		field := at + ".headers." + name
		r.hidden(field, &v)
		w.Headers[name] = v
		r.set.Add(v.Reveal())
		switch own := textproto.CanonicalMIMEHeaderKey(name); {
		case !headerName.MatchString(name):
			r.bad(at+".headers", "holds a name that is none of a header", "use letters, digits and dashes")
		case strings.ContainsAny(v.Reveal(), "\r\n\x00"):
			r.bad(field, "must be one line", "take the line breaks out")
		case own == "Lastdrop-Signature" || own == "Content-Type" || own == "Content-Length" || own == "Host":
			r.bad(field, "is written by lastdrop itself", "take it away")
		}
	}
}

// address checks an address. It never quotes it: it may be a secret.
func (r *reading) address(field, raw string) {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		r.bad(field, "is missing", "say where to post, e.g. url: ${HOOK_URL}")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		r.bad(field, "is no absolute http or https URL", "write it as https://host/path")
	case u.User != nil:
		r.bad(field, "holds a user or password", "write headers: {Authorization: ...}")
	case u.Fragment != "":
		r.bad(field, "holds a fragment, which is never sent", "take the # and what follows away")
	}
}

// word checks one of some words; the first is the default.
func (r *reading) word(field string, v *string, words ...string) {
	if *v == "" {
		*v = words[0]
	}
	if !slices.Contains(words, *v) {
		r.bad(field, fmt.Sprintf("%.40q is not known", *v), "one of "+strings.Join(words, ", "))
	}
}

func (r *reading) exec(e *Exec) {
	r.word("exec.on", &e.On, Always, Change, NotComplete)
	for i := range e.Command {
		e.Command[i] = r.expand(fmt.Sprintf("exec.command[%d]", i), e.Command[i])
	}
	if len(e.Command) == 0 || e.Command[0] == "" {
		r.bad("exec.command", "names no command", `no shell reads it: write the command and each argument on its own, e.g. ["/usr/bin/notify", "-"]`)
	}
}
