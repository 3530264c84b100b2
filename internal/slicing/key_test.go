package slicing

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// A form is one way in which bounds are written.
type form struct {
	kind   Kind
	format string
	zone   string
	steps  []int64
}

const (
	minutes = "2006-01-02 15:04"
	seconds = "2006-01-02T15:04:05"
	millis  = "02.01.2006 15:04:05.000"
	offset  = "2006-01-02T15:04:05-0700"
)

func forms() []form {
	var all []form
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo", "America/Havana"} {
		for _, f := range []string{"unix", "rfc3339", "", seconds, offset} {
			all = append(all, form{Time, f, zone, []int64{0, 0, 60, 900, 3600, 86400}})
		}
		all = append(all,
			form{Time, minutes, zone, []int64{0, 15, 60}}, form{Time, "2006-01-02 15", zone, []int64{0, 60}}, form{Time, "20060102", zone, []int64{0}},
			form{Time, millis, zone, []int64{0, 60_000}}, form{Time, "unix_ms", zone, []int64{0, 1000}})
		for _, f := range []string{"", "date", "20060102", seconds, offset, "unix", "rfc3339"} {
			all = append(all, form{Date, f, zone, []int64{0, 0, 7}})
		}
	}
	return append(all, form{Int, "", "UTC", []int64{0, 0, 15, 1000}})
}

// turns are moments at which zones jump, and one that is nothing special.
var turns = []string{
	"2024-03-31T01:00:00Z", "2024-10-27T01:00:00Z", "2024-03-10T07:00:00Z", "2024-11-03T06:00:00Z", "2024-04-06T15:00:00Z", "2024-10-05T15:30:00Z",
	"2011-12-30T10:00:00Z", "2018-11-04T03:00:00Z", "2018-02-18T02:00:00Z", "2024-11-03T05:00:00Z", "2024-06-15T12:34:56Z",
}

// readings are what a server may take a bound for: the numbers that its items'
// keys are compared with. A local time that comes twice has two.
func (f form) readings(t *testing.T, z *time.Location, v any) []int64 {
	t.Helper()
	if n, ok := v.(int64); ok {
		switch f.format {
		case "unix":
			return []int64{n * 1000}
		}
		return []int64{n}
	}
	text := v.(string)
	layout := cmp.Or(f.format, map[Kind]string{Time: time.RFC3339, Date: time.DateOnly}[f.kind])
	switch layout {
	case "rfc3339":
		layout = time.RFC3339
	case "date":
		layout = time.DateOnly
	}
	in := z
	if f.kind == Date && (layout == time.DateOnly || layout == "20060102") {
		in = time.UTC // such a server compares days as they are written
	}
	first, err := time.ParseInLocation(layout, text, in)
	if err != nil {
		t.Fatal(err)
	}
	var out []int64
	for d := -3 * time.Hour; d <= 3*time.Hour; d += 30 * time.Minute {
		if first.Add(d).In(in).Format(time.StampMicro) == first.Format(time.StampMicro) && first.Add(d).In(in).Format(layout) == text {
			out = append(out, first.Add(d).UnixMilli())
		}
	}
	return out
}

// keyed is the number by which a server compares an item that exists from a
// moment on; ok is false where no item can have such a key.
func (f form) keyed(z *time.Location, k *Key, ms int64) int64 {
	switch {
	case f.kind == Int:
		return ms
	case f.format == "unix":
		ms = floorDiv(ms, 1000) * 1000
	case f.kind == Date && k.writesDays():
		y, m, d := time.UnixMilli(ms).In(z).Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).UnixMilli()
	}
	return ms
}

// TestLeavesHoldEverythingOnce cuts random ranges at random places, reads the
// bounds of all leaves as a server would, and looks for items that are in none
// of them, or in two that share no bound.
func TestLeavesHoldEverythingOnce(t *testing.T) {
	for _, f := range forms() {
		for _, closed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %q %s closed %v", f.kind, f.format, f.zone, closed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(len(f.format)), uint64(len(f.zone))))
				z := zone(t, f.zone)
				for i := range 12 {
					k := &Key{
						By: "k", Kind: f.kind, Format: f.format, Zone: z, Closed: closed, Step: f.steps[i%len(f.steps)],
						Params: map[string][]string{"from": {"{from}"}, "to": {"{to}"}},
					}
					f.try(t, k, r, turns[i%len(turns)])
				}
			})
		}
	}
}

func (f form) try(t *testing.T, k *Key, r *rand.Rand, turn string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, turn)
	if err != nil {
		t.Fatal(err)
	}
	unit := map[Kind]int64{Int: 1, Date: 86_400_000}[f.kind]
	if f.kind == Time {
		unit = k.unit().Milliseconds()
	}
	width := (1 + r.Int64N([]int64{3, 100, 20_000, 300_000}[r.IntN(4)])) * min(unit, 1000)
	if f.kind == Date {
		width = (1 + r.Int64N(20)) * unit
	}
	lo := at.UnixMilli() - r.Int64N(width) + r.Int64N(2)*3_600_000
	hi := lo + width
	asked := Range{Lo: floorDiv(lo, unit), Hi: floorDiv(hi, unit) + 1}
	if f.kind == Date {
		asked = Range{Lo: k.tickOf(time.UnixMilli(lo)), Hi: k.tickOf(time.UnixMilli(hi)) + 1}
	}
	whole := Range{Lo: k.outward(asked.Lo, -1), Hi: k.outward(asked.Hi, 1)}
	if whole.Lo > asked.Lo || whole.Hi < asked.Hi {
		t.Fatalf("%+v became %+v", asked, whole)
	}
	leaves := shred(k, whole, r, 4)
	probes := []int64{lo, hi}
	for range 40 {
		probes = append(probes, lo+r.Int64N(width))
	}
	var read [][2][]int64
	for _, l := range leaves {
		sets := k.Sets(Bound{Range: l})
		from, to := f.readings(t, k.zone(), sets[0].Values[0]), f.readings(t, k.zone(), sets[1].Values[0])
		read = append(read, [2][]int64{from, to})
		for _, b := range append(from, to...) {
			probes = append(probes, b-1, b, b+1, b-1000, b+999)
		}
		if on := k.step(); on > 1 && (f.kind == Int || f.format == "unix" || f.format == "unix_ms") && f.kind != Date {
			for i := range 2 {
				if n := sets[i].Values[0].(int64); n%on != 0 {
					t.Fatalf("the bound %d of %+v stands beside the grid of %d", n, l, on)
				}
			}
		}
	}
	for _, p := range probes {
		if p < lo || p > hi {
			continue
		}
		key := f.keyed(k.zone(), k, p)
		in, shared := 0, false
		for _, b := range read {
			from, to := b[0][r.IntN(len(b[0]))], b[1][r.IntN(len(b[1]))]
			if key >= from && (key < to || k.Closed && key == to) {
				shared = shared || key == to
				if from < to || !k.Shares() { // a day that the zone left out is none
					in++
				}
			}
		}
		if in == 0 || in > 1 && (!shared || !k.Shares() || in > 2) {
			t.Fatalf("%s, step %d: the item at %d (%s) is in %d of %d leaves of %s", turn, k.Step, key, time.UnixMilli(key).In(k.zone()), in, len(leaves), k.Text(Bound{Range: whole}))
		}
	}
}

// shred cuts a range at random places.
func shred(k *Key, r Range, rnd *rand.Rand, depth int) []Range {
	if at, ok := k.Cut(r, float64(r.Lo)+rnd.Float64()*r.width()); ok && depth > 0 {
		lo, hi := r.split(at)
		return append(shred(k, lo, rnd, depth-1), shred(k, hi, rnd, depth-1)...)
	}
	return []Range{r}
}

// Every range that holds a place to cut is cut, down to one unit.
func TestCutGoesDownToOneUnit(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, k := range []*Key{
		{Kind: Int}, {Kind: Int, Step: 15}, {Kind: Int, Closed: true}, {Kind: Date, Zone: berlin}, {Kind: Time, Format: "unix"},
		{Kind: Time, Zone: berlin, Format: minutes, Step: 15}, {Kind: Time, Zone: berlin, Format: seconds}, {Kind: Time, Format: "rfc3339", Closed: true},
	} {
		step := k.step()
		for lo := int64(-3 * step); lo <= 3*step; lo++ {
			for hi := lo + 1; hi < lo+40 && hi < lo+3*step+2; hi++ {
				r := Range{Lo: lo, Hi: hi}
				at, ok := k.Cut(r, float64(lo)+r.width()/2)
				if want := floorDiv(hi-1, step)*step > lo; ok != want {
					t.Fatalf("%s %q step %d: %+v is cut: %v, want %v", k.Kind, k.Format, step, r, ok, want)
				}
				if ok && (at <= lo || at >= hi || floorDiv(at, step)*step != at) {
					t.Fatalf("%s %q step %d: %+v is cut at %d", k.Kind, k.Format, step, r, at)
				}
			}
		}
	}
}

// Closed neighbours neither overlap nor leave a gap where keys are no finer than
// their bounds, and share a bound where they may be.
func TestWrittenBounds(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct {
		key            Key
		lo, hi         int64
		from, to, next any // next: where the slice above begins
	}{
		{Key{Kind: Int}, 0, 10, int64(0), int64(10), int64(10)},
		{Key{Kind: Int, Closed: true}, 0, 10, int64(0), int64(9), int64(10)},
		{Key{Kind: Int, Closed: true, Step: 5}, 0, 10, int64(0), int64(10), int64(10)},
		{Key{Kind: Time, Format: "unix", Closed: true}, 60, 90, int64(60), int64(89), int64(90)},
		{Key{Kind: Time, Format: "unix_ms", Closed: true}, 60, 90, int64(60), int64(89), int64(90)},
		{Key{Kind: Time, Format: "unix_ms"}, 60, 90, int64(60), int64(90), int64(90)},
		{Key{Kind: Time, Closed: true}, 60, 90, "1970-01-01T00:01:00Z", "1970-01-01T00:01:30Z", "1970-01-01T00:01:30Z"},
		{Key{Kind: Time, Closed: true, Format: minutes, Zone: berlin}, 60, 90, "1970-01-01 02:00", "1970-01-01 02:30", "1970-01-01 02:30"},
		{Key{Kind: Date, Closed: true, Zone: berlin}, 0, 31, "1970-01-01", "1970-01-31", "1970-02-01"},
		{Key{Kind: Date, Closed: true, Format: "02.01.2006", Zone: berlin}, 0, 31, "01.01.1970", "31.01.1970", "01.02.1970"},
		{Key{Kind: Date, Zone: berlin}, 0, 31, "1970-01-01", "1970-02-01", "1970-02-01"},
		// A day that is written as a moment ends when the next one begins.
		{Key{Kind: Date, Closed: true, Format: "unix"}, 0, 1, int64(0), int64(86400), int64(86400)},
		{Key{Kind: Date, Closed: true, Format: seconds}, 0, 1, "1970-01-01T00:00:00", "1970-01-02T00:00:00", "1970-01-02T00:00:00"},
		// Days that a zone's clocks jump over the midnight of, or over as a whole.
		{Key{Kind: Date, Zone: zone(t, "America/Sao_Paulo")}, 17838, 17839, "2018-11-03", "2018-11-04", "2018-11-04"},
		{Key{Kind: Date, Zone: zone(t, "America/Sao_Paulo"), Format: seconds}, 17839, 17840, "2018-11-04T01:00:00", "2018-11-05T00:00:00", "2018-11-05T00:00:00"},
		{Key{Kind: Date, Zone: zone(t, "Pacific/Apia")}, 15338, 15339, "2011-12-30", "2011-12-31", "2011-12-31"},
		{Key{Kind: Date, Zone: zone(t, "Pacific/Apia"), Format: offset}, 15337, 15338, "2011-12-29T00:00:00-1000", "2011-12-31T00:00:00+1400", "2011-12-31T00:00:00+1400"},
		{Key{Kind: Date, Zone: zone(t, "America/Havana"), Format: offset}, 20030, 20031, "2024-11-03T00:00:00-0400", "2024-11-04T00:00:00-0500", "2024-11-04T00:00:00-0500"},
	} {
		k := c.key
		k.Params = map[string][]string{"from": {"{from}"}, "to": {"{to}"}}
		sets := k.Sets(Bound{Range: Range{Lo: c.lo, Hi: c.hi}})
		next := k.Sets(Bound{Range: Range{Lo: c.hi, Hi: c.hi + 1}})
		if sets[0].Values[0] != c.from || sets[1].Values[0] != c.to || next[0].Values[0] != c.next {
			t.Errorf("%s %q closed %v: from %v to %v, then from %v; want %v, %v, %v", k.Kind, k.Format, k.Closed,
				sets[0].Values[0], sets[1].Values[0], next[0].Values[0], c.from, c.to, c.next)
		}
	}
}

// What a config asks for, and the ticks that it becomes.
func TestWhole(t *testing.T) {
	now := time.Date(2024, 10, 27, 1, 30, 20, 500_000_000, time.UTC) // 02:30 in Berlin, for the second time
	berlin, kolkata := zone(t, "Europe/Berlin"), zone(t, "Asia/Kolkata")
	sec := func(text string) int64 {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at.Unix()
	}
	for _, c := range []struct {
		key      Key
		from, to string
		lag      time.Duration
		lo, hi   int64
	}{
		{Key{Kind: Int}, "5", "8", 0, 5, 8},
		{Key{Kind: Int, Closed: true}, "5", "8", 0, 5, 9},
		{Key{Kind: Int, Step: 15}, "-1", "31", 0, -15, 45},
		{Key{Kind: Int, Step: 15, Closed: true}, "0", "30", 0, 0, 30},
		{Key{Kind: Int}, "0", "now", 0, 0, now.Unix() + 1},
		{Key{Kind: Int, Format: "unix_ms"}, "0", "now", 0, 0, now.UnixMilli() + 1},
		{Key{Kind: Time}, "2024-01-31", "now", 0, sec("2024-01-31T00:00:00Z"), now.Unix() + 1},
		{Key{Kind: Time}, "2024-01-31", "now", time.Hour, sec("2024-01-31T00:00:00Z"), now.Unix() - 3600 + 1},
		{Key{Kind: Time, Format: "unix_ms"}, "0", "now", 0, 0, now.UnixMilli() + 1},
		{Key{Kind: Time, Zone: berlin}, "2024-07-01", "2024-07-02T12:00:00", 0, sec("2024-06-30T22:00:00Z"), sec("2024-07-02T10:00:00Z")},
		// Written by a local time that comes twice it could leave half an hour out.
		{Key{Kind: Time, Zone: berlin, Format: seconds}, "2024-10-01", "now", 0, sec("2024-09-30T22:00:00Z"), sec("2024-10-27T02:00:21Z")},
		{Key{Kind: Time, Zone: kolkata, Format: "2006-01-02 15"}, "2024-10-27 03", "now", 0, sec("2024-10-26T21:30:00Z") / 60, sec("2024-10-27T02:30:00Z") / 60},
		{Key{Kind: Time, Zone: kolkata, Format: minutes, Step: 60}, "2024-10-27 03:10", "2024-10-27 05:00", 0, sec("2024-10-26T21:30:00Z") / 60, sec("2024-10-26T23:30:00Z") / 60},
		{Key{Kind: Time, Zone: berlin, Format: "20060102"}, "20241026", "now", 0, sec("2024-10-25T22:00:00Z") / 60, sec("2024-10-27T23:00:00Z") / 60},
		{Key{Kind: Date, Format: "20060102"}, "20240101", "20240201", 0, 19723, 19754},
		{Key{Kind: Date, Closed: true}, "2024-01-01", "2024-01-31", 0, 19723, 19754},
		{Key{Kind: Date, Zone: zone(t, "Pacific/Auckland")}, "2024-10-01", "now", 0, 19997, 20024}, // it is 14:30 there
	} {
		r, err := c.key.Whole(c.from, c.to, now, c.lag)
		if err != nil || r != (Range{Lo: c.lo, Hi: c.hi}) {
			t.Errorf("%s %q from %s to %s: %+v, %v; want from %d to %d", c.key.Kind, c.key.Format, c.from, c.to, r, err, c.lo, c.hi)
		}
	}
	for _, c := range []struct {
		kind     Kind
		from, to string
	}{
		{Int, "a", "5"}, {Int, "1.5", "5"}, {Int, "5", "5"}, {Int, "6", "5"}, {Time, "yesterday", "now"}, {Time, "now", "2020-01-01"}, {Date, "2024-13-01", "now"}, {Values, "now", "now"},
	} {
		if r, err := (&Key{Kind: c.kind}).Whole(c.from, c.to, now, 0); err == nil {
			t.Errorf("%s from %s to %s became %+v", c.kind, c.from, c.to, r)
		}
	}
	if r, err := (&Key{Kind: Int, Closed: true}).Whole("0", fmt.Sprint(int64(math.MaxInt64)), now, 0); err == nil {
		t.Errorf("a bound that cannot be: %+v", r)
	}
	if r, err := (&Key{Kind: Int}).Whole("", "", now, 0); err != nil || !r.OpenLo || !r.OpenHi {
		t.Errorf("no bounds: %+v, %v", r, err)
	}
}

// Where an item's key lies.
func TestTick(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	at := time.Date(2024, 1, 31, 10, 20, 30, 0, time.UTC)
	for _, c := range []struct {
		key  Key
		raw  string
		want int64
		ok   bool
	}{
		{Key{Kind: Int}, `7`, 7, true},
		{Key{Kind: Int}, `"7"`, 7, true},
		{Key{Kind: Int}, `-7.5`, -8, true},
		{Key{Kind: Int}, `7e2`, 700, true},
		{Key{Kind: Int}, `9223372036854775807`, math.MaxInt64, true},
		{Key{Kind: Int}, `9223372036854775808`, 0, false},
		{Key{Kind: Int}, `"NaN"`, 0, false},
		{Key{Kind: Int}, `"Inf"`, 0, false},
		{Key{Kind: Int}, `null`, 0, false},
		{Key{Kind: Int}, `""`, 0, false},
		{Key{Kind: Int}, ``, 0, false},
		{Key{Kind: Int}, `[7]`, 0, false},
		{Key{Kind: Int}, `{"a":7}`, 0, false},
		{Key{Kind: Int}, `true`, 0, false},
		{Key{Kind: Time}, fmt.Sprint(at.Unix()), at.Unix(), true},
		{Key{Kind: Time}, fmt.Sprint(at.UnixMilli()), at.Unix(), true},
		{Key{Kind: Time}, fmt.Sprintf(`"%d"`, at.Unix()), at.Unix(), true},
		{Key{Kind: Time}, fmt.Sprintf(`%d.75`, at.Unix()), at.Unix(), true},
		{Key{Kind: Time, Format: "unix_ms"}, fmt.Sprint(at.UnixMilli() + 5), at.UnixMilli() + 5, true},
		{Key{Kind: Time, Format: millis}, fmt.Sprintf(`%d.123`, at.Unix()), at.UnixMilli() + 123, true},
		{Key{Kind: Time, Format: millis}, `"31.01.2024 10:20:30.007"`, at.UnixMilli() + 7, true},
		{Key{Kind: Time}, `"2024-01-31T10:20:30Z"`, at.Unix(), true},
		{Key{Kind: Time}, `"2024-01-31T10:20:30.999Z"`, at.Unix(), true},
		{Key{Kind: Time}, `"2024-01-31T15:50:30+05:30"`, at.Unix(), true},
		{Key{Kind: Time}, `"2024-01-31T15:50:30.000+0530"`, at.Unix(), true},
		{Key{Kind: Time, Zone: berlin}, `"2024-01-31T11:20:30"`, at.Unix(), true},
		{Key{Kind: Time, Zone: berlin}, `"2024-01-31 11:20:30"`, at.Unix(), true},
		{Key{Kind: Time, Zone: berlin, Format: minutes}, `"2024-01-31 11:20"`, at.Unix() / 60, true},
		{Key{Kind: Time}, `"soon"`, 0, false},
		{Key{Kind: Time}, `1e300`, 0, false},
		{Key{Kind: Time}, `"NaN"`, 0, false},
		{Key{Kind: Date}, `"2024-01-31"`, 19753, true},
		{Key{Kind: Date, Format: "20060102"}, `20240131`, 19753, true},
		{Key{Kind: Date, Format: "20060102"}, `"20240131"`, 19753, true},
		{Key{Kind: Date, Zone: berlin}, `"2024-01-30T23:30:00Z"`, 19753, true},
		{Key{Kind: Date, Zone: berlin}, `"1969-12-31T20:00:00Z"`, -1, true},
		{Key{Kind: Values}, `"a"`, 0, false},
	} {
		if got, ok := c.key.Tick([]byte(c.raw)); got != c.want || ok != c.ok {
			t.Errorf("%s %q: %s lies at %d, %v; want %d, %v", c.key.Kind, c.key.Format, c.raw, got, ok, c.want, c.ok)
		}
	}
}

// Which items show that they do not belong to a slice.
func TestOutside(t *testing.T) {
	ten := Bound{Range: Range{Lo: 0, Hi: 10}}
	for _, c := range []struct {
		key   Key
		bound Bound
		raw   string
		want  bool
	}{
		{Key{Kind: Int}, ten, `-1`, false}, {Key{Kind: Int}, ten, `-2`, true},
		{Key{Kind: Int}, ten, `11`, false}, {Key{Kind: Int}, ten, `12`, true}, {Key{Kind: Int}, ten, `"x"`, false},
		{Key{Kind: Int}, Bound{Range: Range{OpenLo: true, Hi: 10}}, `-9223372036854775808`, false},
		{Key{Kind: Int}, Bound{Range: Range{Lo: math.MinInt64, Hi: math.MaxInt64}}, `5`, false},
		{Key{Kind: Int}, Bound{Range: Range{Lo: math.MaxInt64 - 1, Hi: math.MaxInt64}}, `-9223372036854775808`, true},
		{Key{Kind: Int, Step: 15}, ten, `-15`, false}, {Key{Kind: Int, Step: 15}, ten, `26`, true},
		{Key{Kind: Date}, ten, `"1969-12-30"`, false}, {Key{Kind: Date}, ten, `"1969-12-29"`, true},
		{Key{Kind: Values}, Bound{Value: "a"}, `"a"`, false}, {Key{Kind: Values}, Bound{Value: "a"}, `"A"`, false}, {Key{Kind: Values}, Bound{Value: "a"}, `"b"`, true},
		{Key{Kind: Values}, Bound{Value: "7"}, `7`, false}, {Key{Kind: Values}, Bound{Value: "true"}, `false`, true},
		{Key{Kind: Values}, Bound{Value: "a"}, `["b","a"]`, false}, {Key{Kind: Values}, Bound{Value: "a"}, `null`, false}, {Key{Kind: Values}, Bound{Value: "a"}, ``, false},
	} {
		if got := c.key.Outside([]byte(c.raw), c.bound); got != c.want {
			t.Errorf("%s step %d: %s is outside of %+v: %v", c.key.Kind, c.key.Step, c.raw, c.bound, got)
		}
	}
}

// What is sent, by parameter.
func TestSets(t *testing.T) {
	k := &Key{
		Kind: Int, Params: map[string][]string{"filter": {"k>={from}", "k<{to}"}, "n": {"{from}"}},
		FromParams: map[string][]string{"filter": {"k>={from}"}}, ToParams: map[string][]string{"filter": {"k<{to}"}},
	}
	list := &Key{Kind: Values, Params: map[string][]string{"state": {"{value}"}, "q": {"is:{value} {to}"}}}
	second := &Key{Kind: Int, Params: map[string][]string{"filter": {"j>={from},j<{to}"}}}
	for _, c := range []struct {
		got  []Set
		want string
	}{
		{k.Sets(Bound{Range: Range{Lo: 1, Hi: 5}}), `[{filter [k>=1 k<5]} {n [1]}]`},
		{k.Sets(Bound{Range: Range{Lo: 1, OpenHi: true}}), `[{filter [k>=1]}]`},
		{k.Sets(Bound{Range: Range{Hi: 5, OpenLo: true}}), `[{filter [k<5]}]`},
		{(&Key{Kind: Int, FromParams: k.FromParams, ToParams: k.ToParams}).Sets(Bound{Range: Range{Lo: 1, Hi: 5}}), `[{filter [k>=1 k<5]}]`},
		{list.Sets(Bound{Value: "a {from} b"}), `[{q [is:a {from} b {to}]} {state [a {from} b]}]`},
		{(&Plan{Keys: []*Key{k, second}}).Sets(Slice{Bounds: []Bound{{Range: Range{Lo: 1, Hi: 2}}, {Range: Range{Lo: 3, Hi: 4}}}}),
			`[{filter [k>=1 k<2 j>=3,j<4]} {n [1]}]`},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if v := k.Sets(Bound{Range: Range{Lo: 1, Hi: 5}})[1].Values[0]; v != any(int64(1)) {
		t.Errorf("a bound that stands alone is sent as %T", v)
	}
	if text, ok := k.FillURL("/count?f={from}&t={to}", Bound{Range: Range{Lo: 1, OpenHi: true}}); ok {
		t.Errorf("an open end is asked for: %s", text)
	}
	stamp := &Key{Kind: Time, Format: offset}
	if text, ok := stamp.FillURL("/count?f={from}", Bound{Range: Range{Lo: 0, Hi: 5}}); !ok || text != "/count?f=1970-01-01T00%3A00%3A00%2B0000" {
		t.Errorf("%s, %v", text, ok)
	}
}

// FuzzKey holds that no item's key upsets a slice, and that one inside a slice
// is never called outside.
func FuzzKey(f *testing.F) {
	for _, raw := range []string{`7`, `"2024-01-31T10:20:30Z"`, `1706696430123`, `"NaN"`, `-1e400`, `"`, `"\ud800"`, `null`, `["a"]`, `"20240131"`, "\xff", `9223372036854775807`} {
		f.Add([]byte(raw), int64(0), int64(100))
	}
	f.Add([]byte(`0`), int64(math.MinInt64), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, raw []byte, lo, hi int64) {
		for _, k := range []*Key{
			{Kind: Int}, {Kind: Int, Step: 15, Closed: true}, {Kind: Values}, {Kind: Date, Format: "20060102"}, {Kind: Date}, {Kind: Time}, {Kind: Time, Format: "unix_ms"},
			{Kind: Time, Format: minutes}, {Kind: Time, Format: "rfc3339", Closed: true},
		} {
			tick, ok := k.Tick(raw)
			r := Range{Lo: lo, Hi: hi}
			if ok && tick >= lo && tick < hi && k.Outside(raw, Bound{Range: r}) {
				t.Errorf("%s %q: %q at %d is said to be outside of %+v", k.Kind, k.Format, raw, tick, r)
			}
			k.Outside(raw, Bound{Value: strconv.Quote(string(raw))})
			if lo < hi && k.Kind != Values {
				if at, ok := k.Cut(r, float64(tick)); ok && !r.holds(at) {
					t.Errorf("%s %q: %+v is cut at %d", k.Kind, k.Format, r, at)
				}
			}
		}
	})
}

// Keys that lie between two bounds as they are written.
func TestBetween(t *testing.T) {
	for _, c := range []struct {
		key  Key
		raw  string
		want bool
	}{
		{Key{Kind: Int}, `7`, false}, {Key{Kind: Int}, `"7"`, false}, {Key{Kind: Int}, `7.0`, false}, {Key{Kind: Int}, `7.5`, true}, {Key{Kind: Int}, `"7.5"`, true},
		{Key{Kind: Int}, `"x"`, false}, {Key{Kind: Int}, `9223372036854775807`, false},
		{Key{Kind: Time, Format: "unix"}, `1706696430`, false}, {Key{Kind: Time, Format: "unix"}, `1706696430.25`, true},
		{Key{Kind: Time, Format: "unix"}, `1706696430000`, false}, {Key{Kind: Time, Format: "unix"}, `1706696430001`, true},
		{Key{Kind: Time, Format: "unix"}, `"2024-01-31T10:20:30Z"`, false}, {Key{Kind: Time, Format: "unix"}, `"2024-01-31T10:20:30.5Z"`, true},
		{Key{Kind: Time, Format: "unix_ms"}, `1706696430001`, false}, {Key{Kind: Time, Format: "unix_ms"}, `"2024-01-31T10:20:30.0005Z"`, true},
		{Key{Kind: Date}, `"2024-01-31"`, false}, {Key{Kind: Date}, `"2024-01-31T00:00:00Z"`, false}, {Key{Kind: Date}, `"2024-01-31T00:00:01Z"`, true},
	} {
		if got := c.key.Between([]byte(c.raw)); got != c.want {
			t.Errorf("%s %q: %s lies between: %v", c.key.Kind, c.key.Format, c.raw, got)
		}
	}
	for _, c := range []struct {
		key  Key
		want bool
	}{
		{Key{Kind: Int}, true}, {Key{Kind: Int, Closed: true}, false}, {Key{Kind: Int, Closed: true, Step: 5}, true}, {Key{Kind: Values, Closed: true}, true},
		{Key{Kind: Time, Closed: true}, true}, {Key{Kind: Time, Closed: true, Format: "unix"}, false}, {Key{Kind: Date, Closed: true}, false},
		{Key{Kind: Date, Closed: true, Format: "rfc3339"}, true},
	} {
		if got := c.key.Gapless(); got != c.want {
			t.Errorf("%+v is gapless: %v", c.key, got)
		}
	}
}
