// Package schedule tells when a pull is due: cron expressions with a time zone,
// jitter, and what was missed. It is pure: it reads no clock.
//
// # Clocks that are put forward and back
//
// A cron expression names times of the wall clock of its zone. Two kinds of them are
// no plain moments, and what they mean is what RFC 5545 (calendars) says: the offset
// that held before the change counts.
//
//   - A time that the wall clock leaps over fires once, as late as if the clock had not
//     been put forward: 02:30 in Berlin, on the day when 02:00 becomes 03:00, is 03:30,
//     which is 24 hours after the 02:30 of the day before. Where the expression names
//     that moment too, both are one fire.
//   - A time that comes twice fires the first time only.
//
// An expression that names every hour of the day (hour field *) means an interval, not
// hours: it fires both times. So hourly fires stay an hour apart, and those of */15 a
// quarter, through both changes. Where clocks move by half an hour (Lord Howe), hourly
// fires follow the wall clock, and the one step over the change is half an hour off.
package schedule

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // zones on machines without a zone database
)

// What becomes of a fire while a job of its pull is not over.
const (
	Skip  = "skip"  // it makes none
	Queue = "queue" // its job waits
)

// What becomes of fires in down time.
const (
	None = "none" // they are dropped
	One  = "one"  // the newest is made up for
	All  = "all"  // each is
)

// A Spec is a schedule as a config states it. Empty fields have defaults.
type Spec struct {
	Cron    string        // five fields, or @hourly @daily @weekly @monthly @yearly
	Zone    string        // of the zone database, e.g. Europe/Berlin. Default: UTC
	Jitter  time.Duration // each start is delayed by less than this
	Overlap string        // Skip (default) or Queue
	CatchUp string        // None (default), One or All
}

// A Schedule gives the fires of a Spec. It never changes, and may be shared.
type Schedule struct {
	spec     Spec
	at       fields
	zone     *time.Location
	interval bool // all hours are named: a time that comes twice fires twice
}

// Spec gives what was parsed, with its defaults.
func (s *Schedule) Spec() Spec { return s.spec }

// A civil is a time of the wall clock, kept as if it were in UTC.
type civil = time.Time

const (
	day = 24 * time.Hour
	// apart is more than a wall clock can be from UTC, and than it can leap.
	apart = 26 * time.Hour
	// rarest is more days than pass between two fires of any expression: 29 February on one day of the week, over the year 2100.
	rarest = 41 * 366
)

// Next gives the first fire strictly after a moment, in the schedule's zone; the zero
// time where there is none.
func (s *Schedule) Next(after time.Time) time.Time {
	date := s.dateOf(after).Add(-day) // what was leapt over on one day may fire on the next
	var found time.Time
	for range rarest {
		fires := s.firesOf(date)
		i, same := slices.BinarySearchFunc(fires, after, time.Time.Compare)
		if same {
			i++
		}
		earlier := i < len(fires) && (found.IsZero() || fires[i].Before(found))
		if !found.IsZero() { // the day after the first with a fire: no later one has an earlier
			if earlier {
				found = fires[i]
			}
			break
		}
		if earlier {
			found = fires[i]
		}
		date = date.Add(day)
	}
	return found
}

// Start is when the run of a fire is to begin: the fire, delayed by a part of the jitter
// that is the same for the same pull and fire, and so that it is before the next fire.
func (s *Schedule) Start(pull string, fire time.Time) time.Time {
	span := s.spec.Jitter
	if span <= 0 {
		return fire
	}
	if next := s.Next(fire); !next.IsZero() {
		span = min(span, next.Sub(fire))
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", fire.Unix(), pull))
	return fire.Add(time.Duration(binary.BigEndian.Uint64(sum[:]) % uint64(span)))
}

// Missed gives the fires after last up to now, now included, in order; of more than most
// the newest. With a zero last there was none to miss.
func (s *Schedule) Missed(last, now time.Time, most int) []time.Time {
	if last.IsZero() || most <= 0 {
		return nil
	}
	var missed []time.Time
	first := s.dateOf(last).Add(-day)
	for date, enough := s.dateOf(now).Add(day), false; !date.Before(first) && !enough; date = date.Add(-day) {
		enough = len(missed) >= most // and this day is the last: it may have a fire among those of the next
		for _, t := range s.firesOf(date) {
			if t.After(last) && !t.After(now) {
				missed = append(missed, t)
			}
		}
	}
	missed = sorted(missed)
	return missed[max(0, len(missed)-most):]
}

// dateOf gives the date in the zone at a moment.
func (s *Schedule) dateOf(t time.Time) civil {
	y, m, d := t.In(s.zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// firesOf gives the fires that a date of the wall clock names, in order, each once.
func (s *Schedule) firesOf(date civil) []time.Time {
	if !s.at.onDay(date) {
		return nil
	}
	before, after := s.offset(date.Add(-apart)), s.offset(date.Add(day+apart))
	steady := date.Add(-before).In(s.zone)
	var fires []time.Time
	for h := range 24 {
		if !has(s.at.hours, h) {
			continue
		}
		for m := range 60 {
			switch of := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute; {
			case !has(s.at.minutes, m):
			case before == after:
				fires = append(fires, steady.Add(of))
			default:
				fires = append(fires, s.moments(date.Add(of), before, after)...)
			}
		}
	}
	if before == after {
		return fires
	}
	return sorted(fires)
}

// sorted puts moments in order, and takes out what is there twice.
func sorted(list []time.Time) []time.Time {
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}

// offset is how far the wall clock is ahead of UTC at a moment.
func (s *Schedule) offset(t time.Time) time.Duration {
	_, seconds := t.In(s.zone).Zone()
	return time.Duration(seconds) * time.Second
}

// moments gives the moments that a time of the wall clock means near a change of clocks,
// from the one offset to the other.
func (s *Schedule) moments(wall civil, before, after time.Duration) []time.Time {
	early, late := wall.Add(-before).In(s.zone), wall.Add(-after).In(s.zone)
	isEarly, isLate := s.offset(early) == before, s.offset(late) == after
	switch {
	case isEarly && isLate && s.interval:
		return []time.Time{early, late}
	case isLate && !isEarly:
		return []time.Time{late}
	}
	return []time.Time{early}
}

// An Error is one thing that is wrong with a Spec.
type Error struct {
	Field string // cron, zone, jitter, overlap, catch_up
	Msg   string
	Cure  string
}

// Error returns one line: field: message; cure.
func (e *Error) Error() string { return e.Field + ": " + e.Msg + "; " + e.Cure }

// Parse checks a Spec and makes its Schedule. The error joins an [*Error] for each field
// that is wrong.
func Parse(spec Spec) (*Schedule, error) {
	spec.Zone = cmp.Or(spec.Zone, "UTC")
	spec.Overlap = cmp.Or(spec.Overlap, Skip)
	spec.CatchUp = cmp.Or(spec.CatchUp, None)
	s := &Schedule{spec: spec}
	if err := s.parse(); err != nil {
		return nil, err
	}
	return s, nil
}
