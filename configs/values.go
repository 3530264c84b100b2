package configs

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"lastdrop/internal/jsonscan"
)

// A Path is a GJSON path that compiles.
type Path string

func (p *Path) decode(r *reading, n *node) {
	s := r.text(n, "")
	if n.kind != text {
		return
	}
	if _, err := jsonscan.Compile(s); err != nil {
		r.fail(n, "is no GJSON path", pathCure(s))
		return
	}
	*p = Path(s)
}

// pathCure says what is wrong with a path that does not compile.
func pathCure(s string) string {
	if s == "" {
		return `a bare array is "@this"`
	}
	return `it ends in a backslash; in double quotes write a backslash twice`
}

// Paths are paths, written as one or as a list.
type Paths []Path

func (p *Paths) decode(r *reading, n *node) {
	*p = Paths{}
	r.each(n, func(item *node) {
		var one Path
		one.decode(r, item)
		*p = append(*p, one)
	})
}

// strings gives the paths as text.
func (p Paths) strings() []string {
	var out []string
	for _, one := range p {
		out = append(out, string(one))
	}
	return out
}

// A Scalar is a single value (text, number, true, false) as its text.
type Scalar string

func (s *Scalar) decode(r *reading, n *node) { *s = Scalar(r.scalar(n)) }

// Words are single values as their texts, written as one or as a list.
type Words []string

func (w *Words) decode(r *reading, n *node) {
	*w = Words{}
	r.each(n, func(item *node) { *w = append(*w, r.scalar(item)) })
}

// Params are parameters with their values; several of one are sent in order.
type Params map[string]Words

func (p *Params) decode(r *reading, n *node) {
	*p = Params{}
	r.entries(n, func(key string, v *node) {
		var w Words
		w.decode(r, v)
		(*p)[key] = w
	})
}

// Texts are names with a text each.
type Texts map[string]string

func (t *Texts) decode(r *reading, n *node) {
	*t = Texts{}
	r.entries(n, func(key string, v *node) { (*t)[key] = r.scalar(v) })
}

// entries calls one for each key of a mapping with free keys.
func (r *reading) entries(n *node, one func(key string, v *node)) {
	if n.kind != mapping {
		r.fail(n, "must be a mapping of names and values, not "+n.kind.String(), "")
		return
	}
	for _, f := range n.fields {
		if f.value.kind == nothing {
			r.failKey(f.value, "has no value", `give it one, or "" for an empty one`)
			continue
		}
		one(f.key, f.value)
	}
}

// A Duration is a time.Duration, written as 30s, 15m, 1h30m, 3d.
type Duration time.Duration

func (d *Duration) decode(r *reading, n *node) {
	if n.kind == number {
		r.fail(n, "has no unit", "write it as 30s, 15m or 1h")
		return
	}
	v, err := parseDuration(r.text(n, ""))
	if n.kind == text && err != nil {
		r.fail(n, r.quote(n.text)+" is no duration", "write it as 30s, 15m or 1h")
	}
	*d = Duration(v)
}

// parseDuration is time.ParseDuration with days, of 24 hours, before the rest.
func parseDuration(s string) (time.Duration, error) {
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	n, good := amount(days)
	if !good || n > 100_000 {
		return 0, fmt.Errorf("%q is no number of days", days)
	}
	v := time.Duration(n * float64(24*time.Hour))
	if rest == "" {
		return v, nil
	}
	more, err := time.ParseDuration(rest)
	if err == nil && (more < 0 || v+more < v) {
		err = fmt.Errorf("%q is out of range", s)
	}
	return v + more, err
}

// MarshalText writes the duration as time.Duration prints it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// A Rate is a number of requests a second, written as 5/s, 30/m, 5000/h, or as
// a number. 0 is no limit.
type Rate float64

func (v *Rate) decode(r *reading, n *node) {
	s := r.scalar(n)
	count, unit, ok := strings.Cut(s, "/")
	per := map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86400}[strings.TrimSpace(unit)]
	if !ok {
		per = 1
	}
	f, good := amount(strings.TrimSpace(count))
	switch {
	case n.kind != text && n.kind != number:
		r.fail(n, "must be a rate, not "+n.kind.String(), "write it as 5/s, 30/m or 5000/h")
	case !good || per == 0:
		r.fail(n, r.quote(s)+" is no rate", "write it as 5/s, 30/m or 5000/h")
	case f == 0:
		r.fail(n, "must be above 0", "take the key away for no limit")
	default:
		*v = Rate(f / per)
	}
}

// amount reads a finite number that is not negative.
func amount(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f >= 0 && !math.IsInf(f, 0) && strings.Trim(s, "0123456789.") == ""
}

// Bytes is a number of bytes, written as 65536, 64MiB or 10MB.
type Bytes int64

// byteUnits are in the order in which endings are tried.
var byteUnits = []struct {
	ending string
	size   float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
}

func (b *Bytes) decode(r *reading, n *node) {
	const cure = "write it as 64MiB, 512KiB or a number of bytes"
	s := r.scalar(n)
	if n.kind != text && n.kind != number {
		r.fail(n, "must be a number of bytes, not "+n.kind.String(), cure)
		return
	}
	for _, u := range byteUnits {
		if count, ok := strings.CutSuffix(s, u.ending); ok {
			f, good := amount(strings.TrimSpace(count))
			if f *= u.size; good && f == math.Trunc(f) && f < 1<<53 {
				*b = Bytes(f)
				return
			}
			break
		}
	}
	r.fail(n, r.quote(s)+" is no number of bytes", cure)
}

// A Percent is a share of a hundred, written as 0.1 or 0.1%.
type Percent float64

func (p *Percent) decode(r *reading, n *node) {
	s := r.scalar(n)
	if n.kind != text && n.kind != number {
		r.fail(n, "must be a percentage, not "+n.kind.String(), "write it as 0.1 or 0.1%")
		return
	}
	f, ok := amount(strings.TrimSpace(strings.TrimSuffix(s, "%")))
	switch {
	case !ok:
		r.fail(n, r.quote(s)+" is no percentage", "write it as 0.1 or 0.1%")
	case f > 100:
		r.fail(n, fmt.Sprintf("%v%% is above 100%%", f), "")
	default:
		*p = Percent(f)
	}
}
