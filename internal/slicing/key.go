// Package slicing cuts a source into ranges of a key that each stay below what
// the server hands out at once, and keeps the plan of which is asked next.
//
// It is pure: it asks nothing, reads no clock, and learns of each slice only
// what it is told. All ranges are half-open ranges of ticks; what a tick is (an
// integer, a second, a day) and how a bound is written the Key says.
package slicing

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Kind is what a key is.
type Kind string

// The kinds of keys.
const (
	Int    Kind = "int"
	Time   Kind = "time"
	Date   Kind = "date"
	Values Kind = "values"
)

// A Key is what slices are cut by, and how their bounds are asked for.
type Key struct {
	By     string // the key's path inside an item, "" where items do not show it
	Kind   Kind
	Closed bool // the upper bound that is sent belongs to the slice
	// Format is how bounds are written: unix, unix_ms, rfc3339, date, or a Go
	// layout. "": integers as they are, times as rfc3339, dates as date.
	Format string
	Zone   *time.Location // of dates and layouts; nil is UTC
	Step   int64          // bounds stand on multiples of it, in ticks; 0 is 1
	Values []string       // of kind values

	// Params hold {from} and {to}; of kind values {value}. Where one end of a
	// slice is open, only FromParams or ToParams are sent.
	Params, FromParams, ToParams map[string][]string
}

// A Set is a parameter of a slice's requests and its values, each a string or
// an int64.
type Set struct {
	Param  string
	Values []any
}

// A Bound is what a slice asks for by one key: a range, or a listed value.
type Bound struct {
	Range Range  `json:"range,omitzero"`
	Value string `json:"value,omitempty"`
}

// unit is the length of a tick of a time, 0 of other kinds.
func (k *Key) unit() time.Duration {
	if k.Kind != Time {
		return 0
	}
	switch f := k.Format; {
	case f == "" || f == "unix" || f == "rfc3339":
		return time.Second
	case f == "unix_ms" || strings.Contains(f, ".000") || strings.Contains(f, ".999"):
		return time.Millisecond
	case strings.Contains(f, "05"):
		return time.Second
	default: // of hours and days too: some zones are off by half an hour
		return time.Minute
	}
}

// layout reports whether bounds are written by a Go layout.
func (k *Key) layout() bool {
	switch k.Format {
	case "", "unix", "unix_ms", "rfc3339", "date":
		return false
	}
	return k.Kind == Time || k.Kind == Date
}

// writesDays reports whether bounds name a day and no time of it.
func (k *Key) writesDays() bool {
	if !k.layout() {
		return k.Kind == Date && (k.Format == "" || k.Format == "date")
	}
	night := time.Date(2001, 2, 3, 0, 0, 0, 0, time.UTC)
	return night.Format(k.Format) == night.Add(13*time.Hour+14*time.Minute+15*time.Second).Format(k.Format)
}

// dayLayout is the layout of bounds that name a day.
func (k *Key) dayLayout() string {
	if k.layout() {
		return k.Format
	}
	return time.DateOnly
}

// Shares reports whether closed neighbours share a bound: keys may be finer
// than the bounds are written, or every bound must stand on a grid, so that a
// range that ends one unit earlier would leave a gap.
func (k *Key) Shares() bool {
	switch {
	case !k.Closed:
		return false
	case k.step() > 1:
		return true
	case k.Kind == Date:
		return !k.writesDays()
	}
	return k.Kind == Time && k.Format != "unix" && k.Format != "unix_ms"
}

// Exactly is how many ticks of the key make a time; ok is false where no whole
// number of them does.
func (k *Key) Exactly(d time.Duration) (ticks int64, ok bool) {
	tick := k.second()
	switch k.Kind {
	case Time:
		tick = k.unit()
	case Date:
		tick = 24 * time.Hour
	}
	return int64(d / tick), d >= tick && d%tick == 0
}

// Ticks is how many ticks of the key make a time; 0 where none do.
func (k *Key) Ticks(d time.Duration) int64 {
	switch k.Kind {
	case Time:
		return int64(d / k.unit())
	case Date:
		return int64(d / (24 * time.Hour))
	case Int:
		return int64(d / k.second())
	}
	return 0
}

// second is what a tick of a whole number is, where that is a time.
func (k *Key) second() time.Duration {
	if k.Format == "unix_ms" {
		return time.Millisecond
	}
	return time.Second
}

func (k *Key) step() int64 { return max(1, k.Step) }

func (k *Key) zone() *time.Location {
	if k.Zone == nil {
		return time.UTC
	}
	return k.Zone
}

// now is the tick just after a moment: a range that ends there holds all that
// existed then.
func (k *Key) now(t time.Time) int64 { return k.tickOf(t) + 1 }

// tickOf is the tick in which a moment lies.
func (k *Key) tickOf(t time.Time) int64 {
	switch k.Kind {
	case Date:
		y, m, d := t.In(k.zone()).Date()
		return floorDiv(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix(), 86400)
	case Time:
		if u := k.unit(); u < time.Second {
			return t.UnixMilli()
		} else {
			return floorDiv(t.Unix(), int64(u/time.Second))
		}
	}
	if k.Format == "unix_ms" { // a whole number that is a time
		return t.UnixMilli()
	}
	return t.Unix()
}

// moment is when a tick of a time or a date begins.
func (k *Key) moment(tick int64) time.Time {
	if k.Kind == Date {
		return k.dawn(civil(tick))
	}
	if u := k.unit(); u >= time.Second {
		return time.Unix(tick*int64(u/time.Second), 0).In(k.zone())
	}
	return time.UnixMilli(tick).In(k.zone())
}

// civil is midnight UTC of the day that a tick of a date is.
func civil(tick int64) time.Time { return time.Unix(0, 0).UTC().AddDate(0, 0, int(tick)) }

// dawn is the first moment of a day in the key's zone, which is not midnight
// where the clocks go forward then. A day that the zone left out begins when the
// next one does.
func (k *Key) dawn(day time.Time) time.Time {
	y, m, d := day.Date()
	t := time.Date(y, m, d, 0, 0, 0, 0, k.zone())
	start, end := t.ZoneBounds()
	shown := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch {
	case shown.Before(day):
		return end
	case shown.After(day):
		return start
	}
	if before := k.other(t, start.Add(-time.Second)); before.Before(start) && before.Day() == d {
		return before // midnight comes twice
	}
	return t
}

// other is the moment that a wall clock shows the same at as at t, with the
// offset that the zone has at another moment.
func (k *Key) other(t, at time.Time) time.Time {
	_, mine := t.Zone()
	_, its := at.In(k.zone()).Zone()
	return t.Add(time.Duration(mine-its) * time.Second)
}

// write gives a tick as a bound is sent: a number where it is written as one.
func (k *Key) write(tick int64) any {
	if k.Kind == Int {
		return tick
	}
	switch f := k.Format; {
	case k.Kind == Date && k.writesDays():
		return civil(tick).Format(k.dayLayout())
	case f == "unix":
		return k.moment(tick).Unix()
	case f == "unix_ms":
		return k.moment(tick).UnixMilli()
	case f == "" || f == "rfc3339":
		return k.moment(tick).Format(time.RFC3339)
	}
	return k.moment(tick).Format(k.Format)
}

// upper is the bound that is sent for the end of a range.
func (k *Key) upper(hi int64) int64 {
	if k.Closed && !k.Shares() {
		return hi - 1
	}
	return hi
}

// holds are the placeholders of a bound; one of an open end is not among them.
func (k *Key) holds(b Bound) map[string]any {
	if k.Kind == Values {
		return map[string]any{"{value}": b.Value}
	}
	out := map[string]any{}
	if r := b.Range; !r.OpenLo {
		out["{from}"] = k.write(r.Lo)
	}
	if r := b.Range; !r.OpenHi {
		out["{to}"] = k.write(k.upper(r.Hi))
	}
	return out
}

// Sets gives the parameters that ask for a slice, by name.
func (k *Key) Sets(b Bound) []Set {
	hold, r := k.holds(b), b.Range
	var out []Set
	if k.Kind == Values || (r.bounded() && len(k.Params) > 0) {
		out = sets(out, k.Params, hold)
	} else {
		if !r.OpenLo {
			out = sets(out, k.FromParams, hold)
		}
		if !r.OpenHi {
			out = sets(out, k.ToParams, hold)
		}
	}
	slices.SortFunc(out, func(a, b Set) int { return strings.Compare(a.Param, b.Param) })
	return out
}

// sets adds params with their placeholders replaced. Params of one name are one
// parameter with several values.
func sets(out []Set, params map[string][]string, hold map[string]any) []Set {
	for name, texts := range params {
		i := slices.IndexFunc(out, func(s Set) bool { return s.Param == name })
		if i < 0 {
			out, i = append(out, Set{Param: name}), len(out)
		}
		for _, text := range texts {
			out[i].Values = append(out[i].Values, replace(text, hold, fmt.Sprint))
		}
	}
	return out
}

// replace puts the bounds into a text. A text that is nothing but a placeholder
// becomes the bound itself, with its own type.
func replace(text string, hold map[string]any, write func(...any) string) any {
	if v, ok := hold[text]; ok {
		return v
	}
	var pairs []string
	for h, v := range hold {
		pairs = append(pairs, h, write(v))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Fill puts a slice's bounds into a text of a body. ok is false where it asks
// for a bound that is open.
func (k *Key) Fill(text string, b Bound) (v any, ok bool) {
	v = replace(text, k.holds(b), fmt.Sprint)
	left, isText := v.(string)
	return v, !isText || !hasHold(left)
}

// FillURL puts a slice's bounds into an address, escaped.
func (k *Key) FillURL(text string, b Bound) (string, bool) {
	v := replace(text, k.holds(b), func(v ...any) string { return url.QueryEscape(fmt.Sprint(v...)) })
	out := fmt.Sprint(v)
	return out, !hasHold(out)
}

func hasHold(text string) bool {
	for _, h := range []string{"{from}", "{to}", "{value}"} {
		if strings.Contains(text, h) {
			return true
		}
	}
	return false
}

// Parse reads a bound as a config writes it. upper bounds that name a day or a
// unit stand at its end where bounds are closed.
func (k *Key) Parse(text string, upper bool, now time.Time) (int64, error) {
	if text == "now" {
		if k.Kind == Values {
			return 0, fmt.Errorf("values have no range")
		}
		return k.now(now), nil
	}
	tick, err := k.parse(text)
	if err == nil && upper && k.Closed && !k.Shares() {
		if tick == math.MaxInt64 {
			return 0, fmt.Errorf("%s is too great for a bound: leave the end open", text)
		}
		tick++
	}
	return tick, err
}

func (k *Key) parse(text string) (int64, error) {
	if k.Kind == Int {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no whole number", text)
		}
		return n, nil
	}
	if t, ok := k.parseTime(text); ok {
		return k.tickOf(t), nil
	}
	return 0, fmt.Errorf("%q is no time", text)
}

// parseTime reads a time as configs and items write it.
func (k *Key) parseTime(text string) (time.Time, bool) {
	if k.layout() { // before numbers, for some layouts write digits only
		if t, err := time.ParseInLocation(k.Format, text, k.zone()); err == nil {
			return t, true
		}
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return k.ofNumber(n)
	}
	for _, l := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(l, text, k.zone()); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// ofNumber reads a number of seconds or milliseconds: of milliseconds where it
// would be seconds of a far future.
func (k *Key) ofNumber(n float64) (time.Time, bool) {
	switch {
	case math.IsNaN(n) || math.Abs(n) > 1e17:
		return time.Time{}, false
	case k.Format == "unix_ms" || math.Abs(n) >= 1e11:
		return time.UnixMilli(int64(math.Floor(n))), true
	}
	return time.UnixMilli(int64(math.Floor(n*1000 + 0.0005))), true // 0.001 s is not quite a millisecond as a float
}

// Tick is where an item's key lies; raw is its JSON value. ok is false where
// the item has none, or none that can be read.
func (k *Key) Tick(raw []byte) (tick int64, ok bool) {
	text := string(raw)
	if len(raw) > 0 && raw[0] == '"' {
		if json.Unmarshal(raw, &text) != nil {
			return 0, false
		}
	}
	if text == "" || text == "null" || k.Kind == Values {
		return 0, false
	}
	if k.Kind == Int {
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			return n, true
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.Abs(f) > 9e15 {
			return 0, false
		}
		return int64(math.Floor(f)), true
	}
	t, ok := k.parseTime(text)
	if !ok {
		return 0, false
	}
	return k.tickOf(t), true
}

// Outside reports whether an item's key shows that the item does not belong to
// a slice. One unit of play at the edges is allowed: closed or half-open,
// rounded up or down; two days of dates, for zones.
func (k *Key) Outside(raw []byte, b Bound) bool {
	if k.Kind == Values {
		var text string
		if len(raw) == 0 || raw[0] == '[' || raw[0] == '{' || string(raw) == "null" {
			return false // several values at once, or none: no telling
		}
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		return !strings.EqualFold(text, b.Value) // some show a value in another case than they ask for it
	}
	tick, ok := k.Tick(raw)
	if !ok {
		return false
	}
	play := k.step()
	if k.Kind == Date {
		play++
	}
	return !b.Range.OpenLo && beyond(tick, b.Range.Lo, play) || !b.Range.OpenHi && beyond(b.Range.Hi, tick, play)
}

// Inside reports whether a tick lies in a range.
func (k *Key) Inside(tick int64, r Range) bool {
	return (r.OpenLo || tick >= r.Lo) && (r.OpenHi || tick < r.Hi)
}

// beyond reports whether a lies below b by more than play.
func beyond(a, b, play int64) bool { return a < b && uint64(b)-uint64(a) > uint64(play) }

// Gapless reports whether no key, however fine, can lie between two neighbours.
func (k *Key) Gapless() bool { return k.Kind == Values || !k.Closed || k.Shares() }

// Between reports whether an item's key lies between two ticks.
func (k *Key) Between(raw []byte) bool {
	tick, ok := k.Tick(raw)
	if !ok {
		return false
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	if k.Kind == Int {
		_, err := strconv.ParseInt(text, 10, 64)
		f, _ := strconv.ParseFloat(text, 64)
		return err != nil && f != math.Floor(f)
	}
	t, _ := k.parseTime(text)
	return !t.Equal(k.moment(tick))
}

// Whole is the range that a key is asked for: on the key's grid, and where
// bounds mean one moment only, so that it may be a little wider than asked.
func (k *Key) Whole(from, to string, now time.Time, lag time.Duration) (Range, error) {
	r := Range{OpenLo: from == "", OpenHi: to == ""}
	var err error
	if from != "" {
		if r.Lo, err = k.Parse(from, false, now); err != nil {
			return r, fmt.Errorf("from: %w", err)
		}
	}
	if to != "" {
		if to == "now" {
			now = now.Add(-lag)
		}
		if r.Hi, err = k.Parse(to, true, now); err != nil {
			return r, fmt.Errorf("to: %w", err)
		}
	}
	if !r.OpenLo && !r.OpenHi && r.Lo >= r.Hi {
		return r, fmt.Errorf("the range from %s to %s is empty", from, to)
	}
	if !r.OpenLo {
		r.Lo = k.outward(r.Lo, -1)
	}
	if !r.OpenHi {
		r.Hi = k.outward(r.Hi, 1)
	}
	return r, nil
}

// Text names a slice for people.
func (k *Key) Text(b Bound) string {
	name := k.By
	if name == "" {
		name = "slice"
	}
	if k.Kind == Values {
		return name + " = " + b.Value
	}
	from, to := k.Ends(b)
	switch {
	case from == "" && to == "":
		return "all of " + name
	case from == "":
		return fmt.Sprintf("%s before %s", name, to)
	case to == "":
		return fmt.Sprintf("%s from %s on", name, from)
	}
	end := ")"
	if k.Closed {
		end = "]"
	}
	return fmt.Sprintf("%s [%s, %s%s", name, from, to, end)
}

// Ends are a slice's bounds as they are sent; "" is open.
func (k *Key) Ends(b Bound) (from, to string) {
	if k.Kind == Values {
		return b.Value, b.Value
	}
	if !b.Range.OpenLo {
		from = fmt.Sprint(k.write(b.Range.Lo))
	}
	if !b.Range.OpenHi {
		to = fmt.Sprint(k.write(k.upper(b.Range.Hi)))
	}
	return from, to
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
