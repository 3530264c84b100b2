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
	if n, err := strconv.ParseInt(string(s.Step), 10, 64); err == nil && n > 0 {
		return n, nil
	}
	if d, err := time.ParseDuration(string(s.Step)); err == nil && d > 0 && k.Ticks(d) > 0 {
		return k.Ticks(d), nil
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
	r.checkSliceKey("slice", &s.SliceKey)
	if s.Then != nil {
		r.checkSliceKey("slice.then", s.Then)
	}
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

// checkSliceKey checks one key; path is where it stands.
func (r *reading) checkSliceKey(path string, s *SliceKey) {
	switch {
	case s.Type == "" && len(s.Values) > 0:
		s.Type = string(slicing.Values)
	case s.Type == "":
		r.lacks(path+".type", "say what the key is: int, time, date or values")
		return
	}
	if s.Bounds == "" {
		s.Bounds = "[)"
	}
	if s.Type == string(slicing.Values) {
		r.checkListed(path, s)
		return
	}
	r.checkWritten(path, s)
	k := s.key()
	if _, err := k.Whole(string(s.From), string(s.To), time.Now(), 0); err != nil {
		r.bad(path+"."+strings.SplitN(err.Error(), ":", 2)[0], strings.TrimPrefix(strings.TrimPrefix(err.Error(), "from: "), "to: "), "")
	}
	r.checkEnds(path, s)
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
	case !s.Params.hold("{value}") && !s.Params.hold("{from}"):
		r.lacks(path+".params", "name the parameters that ask for one value, with {value}, e.g. params: {state: \"{value}\"}")
	}
}

var layoutHint = regexp.MustCompile(`2006|06|Jan|01|02|15`)

// checkWritten checks how bounds are written.
func (r *reading) checkWritten(path string, s *SliceKey) {
	if r.said(path + ".values") {
		r.bad(path+".values", "a key of type "+s.Type+" has a range", "say type: values, or take the list away")
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
	if _, err := time.LoadLocation(s.Zone); err != nil {
		r.bad(path+".zone", r.quote(s.Zone)+" is no time zone", "write it as Europe/Berlin")
	}
	if _, err := s.step(&slicing.Key{Kind: slicing.Kind(s.Type), Format: s.Format}); err != nil {
		r.bad(path+".step", r.quote(string(s.Step))+" is no step", "write a whole number, or for times a duration such as 15m")
	}
}

// checkEnds checks that every slice can be asked for: bounded ones, and those
// that are open where the range is.
func (r *reading) checkEnds(path string, s *SliceKey) {
	whole := s.Params.hold("{from}") && s.Params.hold("{to}")
	lower, upper := s.FromParams.hold("{from}"), s.ToParams.hold("{to}")
	switch {
	case len(s.Params) > 0 && !whole:
		r.bad(path+".params", "must hold {from} and {to}", "e.g. params: {filter: \"ts>={from},ts<{to}\"}")
	case r.said(path+".from_params") && !lower:
		r.bad(path+".from_params", "must hold {from}", "")
	case r.said(path+".to_params") && !upper:
		r.bad(path+".to_params", "must hold {to}", "")
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
