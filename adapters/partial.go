package adapters

import (
	"fmt"

	"lastdrop/judge"
)

// A sign is a condition that says that an answer is only a part.
type sign struct {
	Condition
	at, below field
}

// builtinSigns are looked for in every answer: a search that gave up early, or
// that not all parts of an index took part in.
var builtinSigns = []Condition{
	{Path: "incomplete_results", Is: new("true")},
	{Path: "timed_out", Is: new("true")},
	{Path: "truncated", Is: new("true")},
	{Path: "_shards.successful", Below: "_shards.total"},
	{Path: "shards.successful", Below: "shards.total"},
}

// wordFields are the top-level names that hold words of the envelope.
var wordFields = []string{"message", "note", "notes", "notice", "remark", "warning", "warnings", "info", "detail"}

// newSigns registers the signs of a spec and those that are built in.
func newSigns(c *compiler) []sign {
	var out []sign
	for i, cond := range c.spec.Partial {
		key := fmt.Sprintf("partial[%d]", i)
		if cond.Path == "" {
			c.fault("%s.path is missing", key)
		}
		if cond.Is == nil && cond.Below == "" && !cond.Present {
			c.fault("%s: one of is, below and present is missing", key)
		}
		out = append(out, sign{cond, c.field(key+".path", cond.Path), c.field(key+".below", cond.Below)})
	}
	for _, cond := range builtinSigns {
		out = append(out, sign{cond, c.builtin(cond.Path), c.builtin(cond.Below)})
	}
	return out
}

// newWords registers the names that hold words of the envelope.
func newWords(c *compiler) []field {
	var out []field
	for _, name := range wordFields {
		if c.spec.Items.Path != c.top(name) {
			out = append(out, c.builtin(name))
		}
	}
	return out
}

// read returns what the sign says, "" if it does not stand in the answer.
func (s sign) read(a *Answer) string {
	v := a.value(s.at)
	if !v.Exists() || v.IsNull() {
		return ""
	}
	switch {
	case s.Is != nil && valueText(v) == *s.Is:
		return fmt.Sprintf("%s is %s", s.Path, oneLine(valueText(v)))
	case s.Below != "":
		n, of := count(v), count(a.value(s.below))
		if n.OK && of.OK && n.N < of.N {
			return fmt.Sprintf("%s is %d, below %s, %d", s.Path, n.N, s.Below, of.N)
		}
	case s.Present && !empty(v):
		return fmt.Sprintf("%s is there: %s", s.Path, oneLine(valueText(v)))
	}
	return ""
}

// partial collects the signs that an answer is only a part.
func (r *Reader) partial(a *Answer) []string {
	var out []string
	for _, s := range r.signs {
		if text := s.read(a); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// wording collects the envelope's texts that have the wording of truncation.
func (r *Reader) wording(a *Answer) []string {
	var out []string
	for _, f := range r.words {
		if v := a.value(f); v.IsString() && hasWording(v.Str(), judge.TruncationWording) {
			out = append(out, oneLine(v.Str()))
		}
	}
	return out
}
