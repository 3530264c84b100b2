package adapters

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lastdrop/internal/jsonscan"
)

// The wording that sorts error objects, in lower case. Order matters: a
// throttled query often names its cost, and a query that is too complex often
// says that it timed out.
var (
	deadWording = regexp.MustCompile(`badresumptiontoken|badcontinue|search_context_missing|no search context found|` +
		`compacted|\b(cursor|scroll|continuation|resumption|search_after|page ?token|next ?token|sync ?token|delta ?token|skip ?token|token)` +
		`[^.;]{0,60}\b(expired|invalid|malformed|no longer|not found|not valid|stale|unknown|too old)\b|` +
		`\b(expired|invalid|malformed|bad|unknown|stale)[ _'"-]{1,3}([a-z]+[ _-])?(cursor|scroll|continuation|resumption|pagination|page ?token|next ?token|token)`)
	authWording     = regexp.MustCompile(`access[ _-]?token|api[ _-]?token|auth|bearer|jwt|refresh[ _-]?token|csrf|credential|invalid_token|login`)
	throttleWording = regexp.MustCompile(`rate[ _-]?limit|throttl|too[ _]many[ _]requests|quota|slow[ _-]?down`)
	costWording     = regexp.MustCompile(`too[ _]large|too[ _]complex|complexity|exceeds?[ _](the[ _])?max|max(imum)?[ _](query[ _])?cost|` +
		`node[ _]limit|too[ _]many[ _](nodes|results|items|rows)|too[ _]big|out of memory|memory limit`)
	passingWording = regexp.MustCompile(`time[ _-]?out|timed[ _]out|deadline|overload|temporar|try again later|retry later|` +
		`(service|server) (is )?(busy|unavailable)|unavailable|internal[ _](server )?error`)
)

// besideError are the top-level names whose words explain an error object.
var besideError = compileAll("message", "msg", "code", "error_code", "errorCode", "error_description", "detail", "reason", "status", "type", "title")

// insideError are the names in an error object, or in the first of a list of
// them, that hold its message.
var insideError = compileAll("message", "msg", "detail", "description", "title", "reason", "info", "code", "type",
	"0.message", "0.msg", "0.detail", "0.title", "0.reason", "0.code", "0", "Message", "Code")

// codePaths are where an error object keeps a status code.
var codePaths = compileAll("code", "status", "statusCode", "status_code", "0.code", "0.status", "0.extensions.code")

func compileAll(srcs ...string) []jsonscan.Path {
	paths := make([]jsonscan.Path, len(srcs))
	for i, src := range srcs {
		p, err := jsonscan.Compile(src)
		if err != nil {
			panic(err) // a constant of this file
		}
		paths[i] = p
	}
	return paths
}

// An errorPath is a path that must be absent or empty.
type errorPath struct {
	src string
	at  field
}

// newErrors registers a spec's error paths. The defaults leave out a name that
// the items path itself goes through.
func newErrors(c *compiler) []errorPath {
	var out []errorPath
	if c.spec.ErrorsSet {
		for _, src := range c.spec.Errors {
			if !c.spec.enveloped() {
				c.path("errors", src) // looked for in each line
				continue
			}
			out = append(out, errorPath{src, c.field("errors", src)})
		}
		return out
	}
	for _, src := range defaultErrors(c.spec) {
		if at := c.top(src); c.spec.Items.Path != at && !strings.HasPrefix(c.spec.Items.Path, at+".") {
			out = append(out, errorPath{at, c.builtin(src)})
		}
	}
	return out
}

// defaultErrors are the names at the top of an answer that hold errors. XML
// mostly writes its names large.
func defaultErrors(s *Spec) []string {
	if s.Items.Format == formatXML {
		return []string{"error", "errors", "Error", "Errors"}
	}
	return []string{"error", "errors"}
}

// empty reports whether a value at an error path says that there is no error:
// absent, null, false, 0, "", [] or {}.
func empty(v jsonscan.Value) bool {
	switch v.Type {
	case jsonscan.TypeAbsent, jsonscan.TypeNull:
		return true
	case jsonscan.TypeBool:
		return !v.Bool()
	case jsonscan.TypeNumber:
		n, ok := v.Int64()
		return ok && n == 0
	case jsonscan.TypeString:
		return strings.TrimSpace(v.Str()) == ""
	default:
		return len(bytes.Trim(v.Raw, "[]{} \t\r\n")) == 0
	}
}

// trouble returns what an error path of the answer says, nil if nothing.
func (r *Reader) trouble(a *Answer) *Trouble {
	if t := r.otherRoot(a); t != nil {
		return t
	}
	for _, e := range r.errors {
		if v := a.value(e.at); !empty(v) {
			return errorTrouble(e.src, v, a.Body)
		}
	}
	return nil
}

// lineTrouble looks for an error object among the rows of a body of lines. By
// default only a row that has no id, where ids are configured, can be one.
func (r *Reader) lineTrouble(rows []row) *Trouble {
	if r.spec.Items.Format != formatNDJSON || !r.spec.ErrorsSet && len(r.spec.Items.IDs) == 0 {
		return nil
	}
	for _, row := range rows {
		if !r.spec.ErrorsSet {
			if values, err := r.lookUp(row); err != nil || len(values) == 0 || values[0].Exists() {
				continue
			}
		}
		for _, path := range r.lineErrors {
			if v, err := path.Find(row.raw); err == nil && !empty(v) {
				return errorTrouble(path.String(), v, row.raw)
			}
		}
	}
	return nil
}

// errorTrouble sorts an error value, with the words beside it in whole.
func errorTrouble(path string, v jsonscan.Value, whole []byte) *Trouble {
	words := string(v.Raw)
	for _, p := range besideError {
		if b, err := p.Find(whole); err == nil && (b.IsString() || b.IsNumber()) {
			words += " " + valueText(b)
		}
	}
	said := serverWords(v)
	if v.IsBool() || v.IsNumber() {
		for _, p := range besideError {
			if b, err := p.Find(whole); err == nil && b.IsString() && !blank(b.Str()) {
				said += ": " + oneLine(b.Str())
				break
			}
		}
	}
	return &Trouble{Kind: troubleKind(words, codesOf(v, whole)), Msg: fmt.Sprintf("an error stands at %q: %s", path, said)}
}

// serverWords gives the message in an error value, else its JSON.
func serverWords(v jsonscan.Value) string {
	if v.IsObject() || v.IsArray() {
		for _, p := range insideError {
			if m, err := p.Find(v.Raw); err == nil && m.IsString() && !blank(m.Str()) {
				return oneLine(m.Str())
			}
		}
	}
	return oneLine(valueText(v))
}

// codesOf collects the numbers that an error value and its surroundings give
// as a status.
func codesOf(v jsonscan.Value, whole []byte) []int64 {
	var codes []int64
	for _, text := range [][]byte{v.Raw, whole} {
		for _, p := range codePaths {
			if c, err := p.Find(text); err == nil {
				if n := count(c); n.OK {
					codes = append(codes, n.N)
				}
			}
		}
	}
	return codes
}

// troubleKind sorts an error by its words and codes.
func troubleKind(words string, codes []int64) TroubleKind {
	if len(words) > 8192 {
		words = words[:8192]
	}
	words = strings.ToLower(words)
	coded := func(set ...int64) bool {
		return slices.ContainsFunc(codes, func(c int64) bool { return slices.Contains(set, c) })
	}
	switch {
	case deadWording.MatchString(words) && !authWording.MatchString(words), coded(410):
		return TroubleExpired
	case throttleWording.MatchString(words), coded(429):
		return TroublePassing
	case costWording.MatchString(words), coded(413):
		return TroubleCost
	case passingWording.MatchString(words), coded(408, 425, 500, 502, 503, 504):
		return TroublePassing
	default:
		return TroubleError
	}
}
