package configs

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"

	"lastdrop/judge"
)

// A Tree is a JSON value of any shape: map[string]any, []any, string,
// json.Number, bool or nil. The zero Tree is "not given".
type Tree struct {
	V any
}

// MarshalJSON writes the value.
func (t Tree) MarshalJSON() ([]byte, error) { return json.Marshal(t.V) }

func (t *Tree) decode(r *reading, n *node) { t.V = r.tree1(n) }

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// tree1 turns a node into a JSON value.
func (r *reading) tree1(n *node) any {
	switch n.kind {
	case mapping:
		m := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			m[f.key] = r.tree1(f.value)
		}
		return m
	case list:
		l := make([]any, 0, len(n.items))
		for _, item := range n.items {
			l = append(l, r.tree1(item))
		}
		return l
	case truth:
		return n.text == "true"
	case number:
		return r.jsonNumber(n)
	case text:
		if n.plain && !n.fromEnv && jsonNumber.MatchString(n.text) { // the YAML parser gives up on large ones
			return json.Number(n.text)
		}
		return n.text
	default:
		return nil
	}
}

// jsonNumber writes a YAML number as a JSON one: as it stands, where it can.
func (r *reading) jsonNumber(n *node) json.Number {
	if jsonNumber.MatchString(n.text) {
		return json.Number(n.text)
	}
	switch v := n.number.(type) {
	case uint64:
		if n.text[0] != '0' || len(n.text) > 1 && (n.text[1] == 'x' || n.text[1] == 'o' || n.text[1] == 'b') {
			return json.Number(strconv.FormatUint(v, 10))
		}
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case float64:
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			return json.Number(strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	r.fail(n, "is no plain number", "quote it where it is text, else write it without leading zeros")
	return "0"
}

// Total says where the server declares how many items there are.
type Total struct {
	None   bool   `json:"-"` // written as the word none: the server's total counts something else
	Path   Path   `json:"path,omitempty" doc:"Where the total stands in the body."`
	Header string `json:"header,omitempty" doc:"The header that holds the total."`
	Match  string `json:"match,omitempty" doc:"A regular expression with one group, for a total inside a text."`
	URL    string `json:"url,omitempty" doc:"A count request of its own; path then reads its answer."`
	Method string `json:"method,omitempty" enum:"GET POST" doc:"The count request's method. Default: GET."`
	Body   Tree   `json:"body,omitzero" doc:"The count request's JSON body."`
	Kind   Kind   `json:"kind,omitzero" doc:"How far the total may be believed: exact (default), estimate, lower_bound, or a field that tells."`
	Counts string `json:"counts,omitempty" enum:"rest" doc:"rest: the total counts what is left from the page on."`
}

// plainTotal is Total without its methods.
type plainTotal Total

func (t *Total) decode(r *reading, n *node) {
	switch {
	case n.kind == text && n.text == "none":
		t.None = true
	case n.kind == text:
		r.fail(n, r.quote(n.text)+" is not known", "write none, or where the total stands, e.g. total: {path: total}")
	default:
		r.structure(n, (*plainTotal)(t))
	}
}

// MarshalJSON writes the word none or the mapping.
func (t Total) MarshalJSON() ([]byte, error) {
	if t.None {
		return []byte(`"none"`), nil
	}
	return json.Marshal(plainTotal(t))
}

// Kind says how far a total may be believed: a word, or a field of the answer
// that says exact where it has a value.
type Kind struct {
	Word  judge.TotalKind `json:"-"`
	Path  Path            `json:"path" need:"say which field tells" doc:"The field that tells how far the total may be believed."`
	Exact Scalar          `json:"exact" need:"say which value means an exact total, e.g. exact: true" doc:"The value that means an exact total; any other means an estimate."`
}

type plainKind Kind

func (k *Kind) decode(r *reading, n *node) {
	if n.kind == mapping {
		r.structure(n, (*plainKind)(k))
		return
	}
	k.Word = judge.TotalKind(r.word(n, []string{string(judge.Exact), string(judge.Estimate), string(judge.LowerBound)}))
}

// MarshalJSON writes the word or the mapping.
func (k Kind) MarshalJSON() ([]byte, error) {
	if k.Word != "" {
		return json.Marshal(k.Word)
	}
	return json.Marshal(plainKind(k))
}

// A Sign is a sign that an answer is partial.
type Sign struct {
	Path    Path    `json:"path" need:"say where the sign stands" doc:"Where the sign stands in the body."`
	Is      *Scalar `json:"is,omitempty" doc:"The value that marks a partial answer."`
	Below   Path    `json:"below,omitempty" doc:"A path whose number is greater where the answer is partial."`
	Present bool    `json:"present,omitempty" doc:"true: that something stands there marks a partial answer."`
}

// Signs are signs, written as one or as a list.
type Signs []Sign

func (s *Signs) decode(r *reading, n *node) {
	*s = Signs{}
	r.each(n, func(item *node) {
		var one Sign
		r.structure(item, &one)
		*s = append(*s, one)
	})
}

// An EndRule is what an API documents as its end: a word, or an error status
// past the end.
type EndRule struct {
	Word   string `json:"-"`
	Status int    `json:"status" need:"name the status past the end, e.g. status: 404" doc:"The HTTP status past the end."`
	Path   Path   `json:"path,omitempty" doc:"Where that answer's body says so."`
	Is     Scalar `json:"is,omitempty" doc:"The value that stands there."`
}

// The words of pages.end.
const (
	shortPage          = "short_page"
	emptyPage          = "empty_page"
	absentLink         = "absent_link"
	absentContinuation = "absent_continuation"
)

var endWords = []string{shortPage, emptyPage, absentLink, absentContinuation}

type plainEndRule EndRule

// MarshalJSON writes the word or the mapping.
func (e EndRule) MarshalJSON() ([]byte, error) {
	if e.Word != "" {
		return json.Marshal(e.Word)
	}
	return json.Marshal(plainEndRule(e))
}

// EndRules are end rules, written as one or as a list.
type EndRules []EndRule

func (e *EndRules) decode(r *reading, n *node) {
	*e = EndRules{}
	r.each(n, func(item *node) {
		var one EndRule
		if item.kind == mapping {
			r.structure(item, (*plainEndRule)(&one))
		} else {
			one.Word = r.word(item, endWords)
		}
		*e = append(*e, one)
	})
}
