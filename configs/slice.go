package configs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // slice.zone on machines without it

	"lastdrop/internal/slicing"
)

// Slicing gives how the source is cut, nil where it is not; now is what the
// word now means.
func (c *Config) Slicing(now time.Time) *slicing.Spec {
	s := c.Slice
	if s == nil {
		return nil
	}
	out := &slicing.Spec{RangeOnly: s.Covers == "range", ToNow: s.To == "now"}
	out.Reach, _ = strconv.ParseInt(string(s.Reach), 10, 64)
	if out.Reach == 0 {
		out.Reach = c.Pages.Reach
	}
	for _, one := range s.keys() {
		k := one.key()
		whole, _ := k.Whole(string(one.From), string(one.To), now, time.Duration(s.Lag))
		out.Keys, out.Wholes = append(out.Keys, k), append(out.Wholes, whole)
	}
	for _, set := range s.Without.Sets() {
		out.Without = append(out.Without, slicing.Set(set))
	}
	return out
}

// keys are the keys that a source is cut by, the first one first.
func (s *Slice) keys() []*SliceKey {
	if s.Then == nil {
		return []*SliceKey{&s.SliceKey}
	}
	return []*SliceKey{&s.SliceKey, s.Then}
}

func (s *SliceKey) key() *slicing.Key {
	k := &slicing.Key{
		By: string(s.By), Kind: slicing.Kind(s.Type), Closed: s.Bounds == "[]", Format: s.Format, Values: s.Values,
		Params: s.Params.plain(), FromParams: s.FromParams.plain(), ToParams: s.ToParams.plain(),
	}
	k.Zone, _ = time.LoadLocation(s.Zone)
	k.Step, _ = s.step(k)
	return k
}

// step is the grid in ticks of the key: a number of them, or a time.
func (s *SliceKey) step(k *slicing.Key) (int64, error) {
	if s.Step == "" {
		return 1, nil
	}
	if n, err := strconv.ParseInt(string(s.Step), 10, 64); err == nil && n > 0 && (k.Kind != slicing.Time || k.Format == "unix" || k.Format == "unix_ms") {
		return n, nil
	}
	if d, err := time.ParseDuration(string(s.Step)); err == nil {
		if n, ok := k.Exactly(d); ok {
			return n, nil
		}
	}
	return 1, fmt.Errorf("%q is no step", s.Step)
}

func (p Params) plain() map[string][]string {
	out := make(map[string][]string, len(p))
	for name, values := range p {
		out[name] = values
	}
	return out
}

func (r *reading) checkSlice(s *Slice) {
	if s == nil {
		return
	}
	r.checkSliceKey("slice", &s.SliceKey, time.Duration(s.Lag))
	if s.Then != nil {
		r.checkSliceKey("slice.then", s.Then, 0)
	}
	if s.Covers == "range" && s.Type == string(slicing.Values) {
		r.bad("slice.covers", "a list of values is no range", "take the key away: what has none of the values is then told of")
	}
	r.checkAstray()
	if n, err := strconv.ParseInt(string(s.Reach), 10, 64); r.said("slice.reach") && s.Reach != "auto" && (err != nil || n < 1) {
		r.bad("slice.reach", r.quote(string(s.Reach))+" is no number of items", "write auto, or the most items that one query hands out")
	}
	if r.said("slice.lag") && s.To != "now" {
		r.bad("slice.lag", "holds back the youngest span, and the range does not end now", "write to: now")
	}
	if r.said("slice.lag") && s.Lag <= 0 {
		r.bad("slice.lag", "must be above 0", "write it as 30s, 15m or 1h")
	}
}

// checkAstray refuses bounds where nothing replaces them.
func (r *reading) checkAstray() {
	for _, place := range []string{"source.params", "slice.without.params"} {
		r.eachText(r.nodes[at(place)], func(n *node) {
			if slices.ContainsFunc(bounds, func(b string) bool { return strings.Contains(n.text, b) }) {
				r.fail(n, "has the bounds of a slice", "they are replaced in slice.params only: move this there")
			}
		})
	}
}

// eachText hands on the texts of a value.
func (r *reading) eachText(n *node, do func(*node)) {
	if n == nil {
		return
	}
	if n.kind == text {
		do(n)
	}
	for _, f := range n.fields {
		r.eachText(f.value, do)
	}
	for _, item := range n.items {
		r.eachText(item, do)
	}
}

// checkSliceKey checks one key; path is where it stands.
func (r *reading) checkSliceKey(path string, s *SliceKey, lag time.Duration) {
	switch {
	case s.Type == "" && len(s.Values) > 0:
		s.Type = string(slicing.Values)
	case s.Type == "":
		r.lacks(path+".type", "say what the key is: int, time, date or values")
		return
	}
	if s.Type == string(slicing.Values) {
		r.checkListed(path, s)
		return
	}
	if s.Bounds == "" {
		s.Bounds = "[)"
	}
	r.checkWritten(path, s)
	r.checkRange(path, s, lag)
	r.checkEnds(path, s)
}

// checkRange checks the ends of the range that is asked for.
func (r *reading) checkRange(path string, s *SliceKey, lag time.Duration) {
	k, now := s.key(), time.Now()
	what, cure := " is no time", "write it as 2024-01-31 or 2024-01-31T12:00:00Z, or now"
	if k.Kind == slicing.Int {
		what, cure = " is no whole number that a bound can be", "write a whole number, or now for the seconds of Unix time"
	}
	fine := true
	for _, end := range []struct {
		key  string
		text Scalar
	}{{".from", s.From}, {".to", s.To}} {
		if _, err := k.Parse(string(end.text), end.key == ".to", now); end.text != "" && err != nil {
			r.bad(path+end.key, r.quote(string(end.text))+what, cure)
			fine = false
		}
	}
	if _, err := k.Whole(string(s.From), string(s.To), now, lag); fine && err != nil {
		r.bad(path+".to", "is not after "+path+".from: the range is empty", "check both, and slice.lag")
	}
}

// checkListed checks a key of listed values.
func (r *reading) checkListed(path string, s *SliceKey) {
	for _, key := range []string{"from", "to", "bounds", "from_params", "to_params", "format", "zone", "step"} {
		if r.said(path + "." + key) {
			r.bad(path+"."+key, "listed values have no range", "take the key away")
		}
	}
	seen := map[string]bool{}
	for _, v := range s.Values {
		if seen[v] {
			r.bad(path+".values", r.quote(v)+" is listed twice", "list each value once")
		}
		seen[v] = true
	}
	switch {
	case len(s.Values) == 0:
		r.lacks(path+".values", "list the values of the key")
	case !s.Params.hold("{value}"):
		r.lacks(path+".params", "name the parameters that ask for one value, with {value}, e.g. params: {state: \"{value}\"}")
	}
}

var layoutHint = regexp.MustCompile(`2006|06|Jan|01|02|15`)

// checkWritten checks how bounds are written.
func (r *reading) checkWritten(path string, s *SliceKey) {
	if r.said(path + ".values") {
		r.bad(path+".values", "a key of type "+s.Type+" has a range", "say type: values, or take the list away")
	}
	if s.Type == string(slicing.Int) {
		r.checkWholeNumbers(path, s)
	}
	switch s.Format {
	case "", "unix", "unix_ms", "rfc3339", "date":
		if s.Format == "date" && s.Type == string(slicing.Time) {
			r.bad(path+".format", "a date does not name a time", "say type: date, or format: rfc3339")
		}
	default:
		if !layoutHint.MatchString(s.Format) {
			r.bad(path+".format", r.quote(s.Format)+" is no format", "one of unix, unix_ms, rfc3339, date, or a Go layout such as 2006-01-02 15:04:05")
		}
	}
	if _, err := time.LoadLocation(s.Zone); err != nil || s.Zone == "Local" {
		r.bad(path+".zone", r.quote(s.Zone)+" is no time zone", "write it as Europe/Berlin")
	}
	if _, err := s.step(&slicing.Key{Kind: slicing.Kind(s.Type), Format: s.Format}); err != nil {
		r.bad(path+".step", r.quote(string(s.Step))+" is no step", "write a whole number, or for times a duration such as 15m, of which bounds as they are written can make whole steps")
	}
}

// checkWholeNumbers checks what is said of times: whole numbers may be Unix times.
func (r *reading) checkWholeNumbers(path string, s *SliceKey) {
	if s.Format != "" && s.Format != "unix" && s.Format != "unix_ms" {
		r.bad(path+".format", "whole numbers are written as they are", "take it away, or say type: time")
	}
	if s.Zone != "" {
		r.bad(path+".zone", "whole numbers have no time zone", "take it away, or say type: time")
	}
}

// checkEnds checks that every slice can be asked for: bounded ones, and those
// that are open where the range is.
func (r *reading) checkEnds(path string, s *SliceKey) {
	whole := s.Params.hold("{from}") && s.Params.hold("{to}")
	lower, upper := s.FromParams.hold("{from}"), s.ToParams.hold("{to}")
	switch {
	case s.Params.hold("{value}") || s.FromParams.hold("{value}") || s.ToParams.hold("{value}"):
		r.bad(path+".params", "has {value}, and a key of type "+s.Type+" has a range", "write {from} and {to}")
	case len(s.Params) > 0 && !whole:
		r.bad(path+".params", "must hold {from} and {to}", "e.g. params: {filter: \"ts>={from},ts<{to}\"}")
	case r.said(path+".from_params") && !lower:
		r.bad(path+".from_params", "must hold {from}", "e.g. from_params: {since: \"{from}\"}")
	case r.said(path+".to_params") && !upper:
		r.bad(path+".to_params", "must hold {to}", "e.g. to_params: {until: \"{to}\"}")
	case !whole && !(lower && upper):
		r.lacks(path+".params", "name the parameters that ask for a range, with {from} and {to}")
	case s.From == "" && !upper:
		r.lacks(path+".from", "say where the range begins; or give from_params and to_params, so that the first slice can be open")
	case s.To == "" && !lower:
		r.lacks(path+".to", "say where the range ends (now is the start of the run); or give from_params and to_params, so that the last slice can be open")
	case (s.From == "" || s.To == "") && s.By == "":
		r.lacks(path+".by", "name the key inside an item: a range with an open end is cut where items show it")
	}
}

// hold reports whether a placeholder stands among the values.
func (p Params) hold(text string) bool {
	for _, values := range p {
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, text) }) {
			return true
		}
	}
	return false
}
