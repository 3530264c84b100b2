package slicing

import (
	"math"
	"slices"
	"time"
)

// A Range is the ticks from Lo up to but not including Hi; an open end has no
// bound.
type Range struct {
	Lo     int64 `json:"lo,omitempty"`
	Hi     int64 `json:"hi,omitempty"`
	OpenLo bool  `json:"open_lo,omitempty"`
	OpenHi bool  `json:"open_hi,omitempty"`
}

// bounded reports whether both ends are.
func (r Range) bounded() bool { return !r.OpenLo && !r.OpenHi }

// width is the number of ticks of a bounded range.
func (r Range) width() float64 { return float64(r.Hi) - float64(r.Lo) }

// split cuts a range in two.
func (r Range) split(at int64) (lo, hi Range) {
	lo, hi = r, r
	lo.Hi, lo.OpenHi = at, false
	hi.Lo, hi.OpenLo = at, false
	return lo, hi
}

// holds reports whether a cut lies inside, so that both sides are not empty.
func (r Range) holds(at int64) bool {
	return (r.OpenLo || at > r.Lo) && (r.OpenHi || at < r.Hi)
}

// Cut gives a place near a wanted one at which a range can be cut: on the key's
// grid, and where the bound as it is written means one moment only (a local hour
// that daylight saving repeats does not). ok is false where there is none.
func (k *Key) Cut(r Range, want float64) (at int64, ok bool) {
	lo, hi := math.Inf(-1), math.Inf(1)
	if !r.OpenLo {
		lo = float64(r.Lo)
	}
	if !r.OpenHi {
		hi = float64(r.Hi)
	}
	if least, most := k.limits(); true {
		lo, hi = math.Max(lo, least), math.Min(hi, most)
	}
	want = math.Min(math.Max(want, lo+1), hi-1)
	skip := k.skip()
	for i := range int64(200) { // around the place wanted
		below, above := int64(want)-i*skip, int64(want)+i*skip
		if float64(below) < lo-float64(skip) && float64(above) > hi+float64(skip) {
			break
		}
		for _, near := range []int64{below, above} {
			if at := k.floor(near); r.holds(at) && float64(at) > lo && float64(at) < hi && k.fits(at) {
				return at, true
			}
		}
	}
	return 0, false
}

// outward is the nearest tick, in the direction given, that can be a bound.
func (k *Key) outward(tick, way int64) int64 {
	if tick < math.MinInt64/2 || tick > math.MaxInt64/2 {
		return tick
	}
	for i := range int64(200) {
		if at := k.floor(tick + way*i*k.skip()); (at-tick)*way >= 0 && k.fits(at) {
			return at
		}
	}
	return tick
}

// fits reports whether a tick can be a bound: it stands on the grid, and as it
// is written it means just this moment.
func (k *Key) fits(tick int64) bool {
	return floorDiv(tick+k.wall(tick), k.step())*k.step() == tick+k.wall(tick) && k.clear(tick)
}

// floor is the greatest place at or before a tick that the grid and the layout
// allow.
func (k *Key) floor(tick int64) int64 {
	at := floorDiv(tick+k.wall(tick), k.step())*k.step() - k.wall(tick)
	if k.Kind == Time && k.layout() {
		if t, err := time.ParseInLocation(k.Format, k.moment(at).Format(k.Format), k.zone()); err == nil {
			return k.tickOf(t)
		}
	}
	return at
}

// wall is what the zone's clocks are ahead by: a grid of times is one of the
// wall clock, but for unix times.
func (k *Key) wall(tick int64) int64 {
	if k.Kind != Time || k.step() == 1 || k.Format == "unix" || k.Format == "unix_ms" {
		return 0
	}
	_, off := k.moment(tick).Zone()
	return int64(time.Duration(off) * time.Second / k.unit())
}

// Later is the range of what lies beyond the end of r, ten years far: what came
// since that end was fixed, and what had a later key from the beginning.
func (k *Key) Later(r Range) Range {
	far := k.Ticks(3660 * 24 * time.Hour)
	return Range{Lo: r.Hi, Hi: r.Hi + far/k.step()*k.step()}
}

// Around gives ranges that are all of r: cut at a place, where r has no end at
// all, and just before and behind a key inside it, where bounds that neighbours
// share do not forbid it.
func (k *Key) Around(r Range, at, key int64) []Range {
	var out []Range
	cuts := []int64{key, key + k.step()}
	switch {
	case k.Shares() && r.OpenLo && r.OpenHi:
		cuts = []int64{at}
	case k.Shares():
		cuts = nil
	}
	for _, c := range cuts {
		if c%k.step() == 0 && r.holds(c) && k.clear(c) {
			var front Range
			front, r = r.split(c)
			out = append(out, front)
		}
	}
	return append(out, r)
}

// limits are the least and the greatest tick that a cut may take.
func (k *Key) limits() (float64, float64) {
	if k.Kind == Int {
		return -9e18, 9e18
	}
	first := time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
	last := time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC)
	return float64(k.tickOf(first)), float64(k.tickOf(last))
}

// skip is how far another place to cut is looked for: a grid step, or more
// where bounds are written by a layout, which may name days only, or a local
// time that comes twice.
func (k *Key) skip() int64 {
	if k.Kind != Time || !k.layout() {
		return k.step()
	}
	far := 10 * time.Minute
	if k.writesDays() {
		far = 12 * time.Hour
	}
	return max(k.step(), int64(far/k.unit())/k.step()*k.step())
}

// clear reports whether a bound, read as the zone reads it, is this moment and
// no other: a layout may leave a part of it out, and an hour that daylight
// saving repeats comes twice.
func (k *Key) clear(tick int64) bool {
	if !k.layout() {
		return true
	}
	t := k.moment(tick)
	text := t.Format(k.Format)
	if k.Kind == Time {
		if back, err := time.ParseInLocation(k.Format, text, k.zone()); err != nil || !back.Equal(t) {
			return false
		}
	}
	start, end := t.ZoneBounds()
	return !k.twice(t, start.Add(-time.Second)) && !k.twice(t, end)
}

// twice reports whether the offset that the zone has at another moment gives a
// second moment that is written as t is.
func (k *Key) twice(t, at time.Time) bool {
	o := k.other(t, at)
	_, mine := t.Zone()
	_, its := o.Zone()
	return !o.Equal(t) && o.Unix()+int64(its) == t.Unix()+int64(mine) && o.Format(k.Format) == t.Format(k.Format)
}

// join adds a range to a list of separate ones, in order, and merges those that
// touch. It reports false where the range overlaps what is there.
func join(list []Range, r Range) ([]Range, bool) {
	i := 0
	for i < len(list) && before(list[i], r) {
		i++
	}
	if i < len(list) && !before(r, list[i]) {
		return list, false
	}
	list = slices.Insert(list, i, r)
	for _, k := range []int{i, i - 1} {
		if k >= 0 && k+1 < len(list) && !list[k].OpenHi && !list[k+1].OpenLo && list[k].Hi == list[k+1].Lo {
			list[k].Hi, list[k].OpenHi = list[k+1].Hi, list[k+1].OpenHi
			list = slices.Delete(list, k+1, k+2)
		}
	}
	return list, true
}

// before reports whether all of a lies before all of b.
func before(a, b Range) bool { return !a.OpenHi && !b.OpenLo && a.Hi <= b.Lo }
