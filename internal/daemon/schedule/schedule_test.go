package schedule

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func parse(t testing.TB, spec Spec) *Schedule {
	t.Helper()
	s, err := Parse(spec)
	if err != nil {
		t.Fatalf("%+v: %v", spec, err)
	}
	return s
}

func moment(t testing.TB, s string) time.Time {
	t.Helper()
	m, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Each case gives the fires after a moment and up to another, as the wall clock shows them.
func TestFires(t *testing.T) {
	const (
		berlin = "Europe/Berlin"       // 2026: 29 March 02:00 to 03:00, 25 October 03:00 to 02:00
		york   = "America/New_York"    // 2026: 8 March 02:00 to 03:00, 1 November 02:00 to 01:00
		howe   = "Australia/Lord_Howe" // 2026: 5 April 02:00 to 01:30, 4 October 02:00 to 02:30
		paulo  = "America/Sao_Paulo"   // 2018: 18 February 00:00 to 23:00 the day before, 4 November 00:00 to 01:00
		apia   = "Pacific/Apia"        // 2011: no 30 December
	)
	for _, tc := range []struct {
		name, cron, zone, after, to string
		want                        string // "02 15:04Z07:00", separated by commas
	}{
		{"plain", "30 3 * * *", "", "2026-05-01T03:30:00Z", "2026-05-03T03:30:00Z", "02 03:30Z, 03 03:30Z"},
		{"seconds aside", "* * * * *", "", "2026-05-01T03:29:59.9Z", "2026-05-01T03:31:00Z", "01 03:30Z, 01 03:31Z"},
		{"names", "@daily", berlin, "2026-05-01T00:00:00Z", "2026-05-03T00:00:00Z", "02 00:00+02:00, 03 00:00+02:00"},
		{"weekdays", "0 8 * * MON-FRI", "", "2026-05-01T08:00:00Z", "2026-05-05T08:00:00Z", "04 08:00Z, 05 08:00Z"},
		{"day or weekday", "0 8 13 * FRI", "", "2026-05-07T08:00:00Z", "2026-05-16T00:00:00Z", "08 08:00Z, 13 08:00Z, 15 08:00Z"},
		{"a leap day on a Monday", "0 0 29 2 *", "", "2026-05-01T00:00:00Z", "2028-12-01T00:00:00Z", "29 00:00Z"},

		{"Berlin, spring: 24 hours after the last", "30 2 * * *", berlin, "2026-03-27T12:00:00Z", "2026-03-31T00:00:00Z", "28 02:30+01:00, 29 03:30+02:00, 30 02:30+02:00"},
		{"Berlin, spring: what falls on another is one", "30 2,3 * * *", berlin, "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z", "29 03:30+02:00"},
		{"Berlin, spring: the order is that of time", "30 2 * * *", berlin, "2026-03-29T01:29:00Z", "2026-03-29T12:00:00Z", "29 03:30+02:00"},
		{"Berlin, spring: hourly", "30 * * * *", berlin, "2026-03-28T23:31:00Z", "2026-03-29T03:00:00Z", "29 01:30+01:00, 29 03:30+02:00, 29 04:30+02:00"},
		{"Berlin, spring: quarters", "*/15 * * * *", berlin, "2026-03-29T00:30:00Z", "2026-03-29T01:15:00Z", "29 01:45+01:00, 29 03:00+02:00, 29 03:15+02:00"},
		{"Berlin, autumn: the first only", "30 2 * * *", berlin, "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z", "25 02:30+02:00, 26 02:30+01:00"},
		{"Berlin, autumn: asked between", "30 2 * * *", berlin, "2026-10-25T01:00:00Z", "2026-10-26T12:00:00Z", "26 02:30+01:00"},
		{"Berlin, autumn: hourly", "30 * * * *", berlin, "2026-10-24T23:31:00Z", "2026-10-25T03:00:00Z", "25 02:30+02:00, 25 02:30+01:00, 25 03:30+01:00"},
		{"Berlin, autumn: quarters", "*/15 * * * *", berlin, "2026-10-25T00:30:00Z", "2026-10-25T01:15:00Z", "25 02:45+02:00, 25 02:00+01:00, 25 02:15+01:00"},
		{"Berlin, autumn: quarters of one hour", "*/15 2 * * *", berlin, "2026-10-24T12:00:00Z", "2026-10-25T12:00:00Z",
			"25 02:00+02:00, 25 02:15+02:00, 25 02:30+02:00, 25 02:45+02:00"},
		{"Berlin, autumn: every second hour", "0 */2 * * *", berlin, "2026-10-24T22:00:00Z", "2026-10-25T05:00:00Z", "25 02:00+02:00, 25 04:00+01:00, 25 06:00+01:00"},
		{"New York, spring", "15 2 * * *", york, "2026-03-07T12:00:00Z", "2026-03-10T00:00:00Z", "08 03:15-04:00, 09 02:15-04:00"},
		{"New York, autumn", "15 1 * * *", york, "2026-10-31T12:00:00Z", "2026-11-03T00:00:00Z", "01 01:15-04:00, 02 01:15-05:00"},
		{"New York, autumn: hourly", "@hourly", york, "2026-11-01T04:30:00Z", "2026-11-01T07:00:00Z", "01 01:00-04:00, 01 01:00-05:00, 01 02:00-05:00"},
		{"Lord Howe, spring", "15 2 * * *", howe, "2026-10-03T00:00:00Z", "2026-10-05T00:00:00Z", "04 02:45+11:00, 05 02:15+11:00"},
		{"Lord Howe, spring: quarters", "*/15 * * * *", howe, "2026-10-03T15:00:00Z", "2026-10-03T15:45:00Z", "04 01:45+10:30, 04 02:30+11:00, 04 02:45+11:00"},
		{"Lord Howe, spring: hourly", "0 * * * *", howe, "2026-10-03T14:00:00Z", "2026-10-03T16:00:00Z", "04 01:00+10:30, 04 02:30+11:00, 04 03:00+11:00"},
		{"Lord Howe, autumn", "45 1 * * *", howe, "2026-04-04T00:00:00Z", "2026-04-06T00:00:00Z", "05 01:45+11:00, 06 01:45+10:30"},
		{"Lord Howe, autumn: quarters", "*/15 * * * *", howe, "2026-04-04T14:30:00Z", "2026-04-04T15:30:00Z",
			"05 01:45+11:00, 05 01:30+10:30, 05 01:45+10:30, 05 02:00+10:30"},
		{"no midnight", "@daily", paulo, "2018-11-03T12:00:00Z", "2018-11-06T00:00:00Z", "04 01:00-02:00, 05 00:00-02:00"},
		{"an hour before midnight twice", "30 23 * * *", paulo, "2018-02-17T12:00:00Z", "2018-02-19T12:00:00Z", "17 23:30-02:00, 18 23:30-03:00"},
		{"midnight after an hour twice", "@daily", paulo, "2018-02-17T12:00:00Z", "2018-02-18T12:00:00Z", "18 00:00-03:00"},
		{"no 30 December", "0 12 * * *", apia, "2011-12-29T12:00:00Z", "2012-01-01T00:00:00Z", "29 12:00-10:00, 31 12:00+14:00, 01 12:00+14:00"},
		{"no 30 December, by date", "0 12 30 12 *", apia, "2011-01-01T12:00:00Z", "2012-12-31T00:00:00Z", "31 12:00+14:00, 30 12:00+14:00"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := parse(t, Spec{Cron: tc.cron, Zone: tc.zone})
			var got []string
			for at := s.Next(moment(t, tc.after)); !at.After(moment(t, tc.to)); at = s.Next(at) {
				got = append(got, at.Format("02 15:04Z07:00"))
			}
			if d := cmp.Diff(tc.want, strings.Join(got, ", ")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A week of a schedule that a loop waits for, over both changes of clocks: it wakes at each
// fire, and at no other moment.
func TestAWeekOfWaiting(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"} {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, cron := range []string{"0 3 * * *", "30 2 * * *", "45 1 * * *", "0 * * * *", "*/15 * * * *"} {
			t.Run(zone+" "+cron, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := parse(t, Spec{Cron: cron, Zone: zone})
					for range 2 {
						_, change := time.Now().In(loc).ZoneBounds()
						begin := time.Date(change.Year(), change.Month(), change.In(loc).Day()-3, 12, 0, 0, 0, loc) // at noon
						end := begin.AddDate(0, 0, 7)
						time.Sleep(time.Until(begin))
						fires := 0
						for at := s.Next(time.Now()); at.Before(end); at = s.Next(time.Now()) {
							before := time.Now()
							time.Sleep(time.Until(at))
							if !time.Now().Equal(at) || !at.After(before) {
								t.Fatalf("woke at %v for %v", time.Now(), at)
							}
							if fires > 0 {
								checkStep(t, zone, cron, before, at, change)
							}
							fires++
						}
						if day := map[string]int{"0 * * * *": 24, "*/15 * * * *": 96}[cron]; day > 0 && (fires < 7*day-day/24-1 || fires > 7*day+day/24) || day == 0 && fires != 7 {
							t.Errorf("%d fires in a week", fires)
						}
					}
				})
			})
		}
	}
}

// checkStep holds the time between two fires against what the package promises.
func checkStep(t *testing.T, zone, cron string, before, at, change time.Time) {
	t.Helper()
	step := at.Sub(before)
	var want time.Duration
	switch cron {
	case "*/15 * * * *":
		want = 15 * time.Minute
	case "0 * * * *":
		want = time.Hour
	default:
		want = 24 * time.Hour
	}
	slack := time.Duration(0)
	if near := change.Sub(before).Abs() < 26*time.Hour; near && want > time.Hour {
		slack = time.Hour
	} else if near && zone == "Australia/Lord_Howe" && want == time.Hour {
		slack = 30 * time.Minute
	}
	if (step - want).Abs() > slack {
		t.Errorf("%v after %v: %v apart", at, before, step)
	}
}

var zones = []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kolkata", "Africa/Casablanca"}

func genSpec() *rapid.Generator[Spec] {
	field := func(low, high int) *rapid.Generator[string] {
		return rapid.OneOf(rapid.Just("*"),
			rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(low, high).Draw(t, "value")) }),
			rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("*/%d", rapid.IntRange(1, high-low).Draw(t, "step")) }),
			rapid.Custom(func(t *rapid.T) string {
				a := rapid.IntRange(low, high).Draw(t, "from")
				return fmt.Sprintf("%d-%d", a, rapid.IntRange(a, high).Draw(t, "to"))
			}))
	}
	return rapid.Custom(func(t *rapid.T) Spec {
		return Spec{
			Cron: strings.Join([]string{field(0, 59).Draw(t, "minute"), field(0, 23).Draw(t, "hour"),
				rapid.OneOf(rapid.Just("*"), field(1, 28)).Draw(t, "day"), rapid.OneOf(rapid.Just("*"), field(1, 12)).Draw(t, "month"),
				rapid.OneOf(rapid.Just("*"), field(0, 6)).Draw(t, "weekday")}, " "),
			Zone:   rapid.SampledFrom(zones).Draw(t, "zone"),
			Jitter: time.Duration(rapid.Int64Range(0, int64(90*time.Minute)).Draw(t, "jitter")),
		}
	})
}

// genMoment draws moments near changes of clocks more often than others.
func genMoment(zone string) *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		at := time.Unix(rapid.Int64Range(1_300_000_000, 2_900_000_000).Draw(t, "moment"), 0)
		loc, _ := time.LoadLocation(zone)
		if _, change := at.In(loc).ZoneBounds(); !change.IsZero() && rapid.Bool().Draw(t, "near") {
			at = change.Add(time.Duration(rapid.Int64Range(-7200, 7200).Draw(t, "seconds")) * time.Second)
		}
		return at
	})
}

// Next goes on strictly, skips nothing that Missed finds and finds nothing that it skips; starts are in order.
func TestNextAndMissedAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := genSpec().Draw(t, "spec")
		s, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		last := genMoment(spec.Zone).Draw(t, "last")
		var chain []time.Time
		at := last
		for range rapid.IntRange(1, 40).Draw(t, "fires") {
			next := s.Next(at)
			if !next.After(at) {
				t.Fatalf("%v after %v", next, at)
			}
			if start := s.Start("p", next); start.Before(next) || !start.Before(s.Next(next)) || start.Sub(next) > 0 && start.Sub(next) >= spec.Jitter || !start.Equal(s.Start("p", next)) {
				t.Fatalf("the fire at %v starts at %v", next, start)
			}
			chain, at = append(chain, next), next
		}
		now := at.Add(s.Next(at).Sub(at) / 2)
		most := rapid.IntRange(1, 50).Draw(t, "most")
		want := chain[max(0, len(chain)-most):]
		if got := s.Missed(last, now, most); !cmp.Equal(want, got) {
			t.Fatalf("after %v to %v, at most %d: %s", last, now, most, cmp.Diff(want, got))
		}
	})
}

// Without a change of clocks near, the fires are those minutes that the expression names.
func TestNextFindsEachMinute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := genSpec().Draw(t, "spec")
		spec.Zone = rapid.SampledFrom([]string{"", "Asia/Kolkata"}).Draw(t, "fixed zone")
		s, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		at := genMoment("").Draw(t, "after")
		next := s.Next(at)
		for m := at.Truncate(time.Minute).Add(time.Minute); m.Before(next) && m.Before(at.Add(5000*time.Minute)); m = m.Add(time.Minute) {
			if w := m.In(s.zone); s.at.onDay(s.dateOf(m)) && has(s.at.hours, w.Hour()) && has(s.at.minutes, w.Minute()) {
				t.Fatalf("%v is skipped", w)
			}
		}
	})
}

func TestMissed(t *testing.T) {
	s := parse(t, Spec{Cron: "@hourly"})
	last, now := moment(t, "2026-05-01T03:00:00Z"), moment(t, "2026-05-01T06:00:00Z")
	for _, tc := range []struct {
		last, now time.Time
		most      int
		want      []int
	}{
		{last, now, 100, []int{4, 5, 6}}, {last, now, 2, []int{5, 6}}, {last, now, 0, nil}, {last, last, 100, nil}, {now, last, 100, nil}, {time.Time{}, now, 100, nil},
	} {
		var got []int
		for _, at := range s.Missed(tc.last, tc.now, tc.most) {
			got = append(got, at.Hour())
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("Missed(%v, %v, %d) (-want +got):\n%s", tc.last, tc.now, tc.most, d)
		}
	}
}

// Down time of twenty years costs as little as a day of it.
func TestMissedLooksAtTheNewestOnly(t *testing.T) {
	s := parse(t, Spec{Cron: "* * * * *", Zone: "Europe/Berlin"})
	got := s.Missed(moment(t, "2006-01-01T00:00:00Z"), moment(t, "2026-01-01T00:00:00Z"), 100)
	if len(got) != 100 || !got[99].Equal(moment(t, "2026-01-01T00:00:00Z")) || !got[0].Equal(moment(t, "2025-12-31T22:21:00Z")) {
		t.Errorf("%d fires: %v", len(got), got)
	}
}

func TestStartSpreads(t *testing.T) {
	s := parse(t, Spec{Cron: "@daily", Jitter: 10 * time.Minute})
	fire := moment(t, "2026-05-01T00:00:00Z")
	var early int
	starts := map[time.Time]bool{}
	for i := range 200 {
		start := s.Start(fmt.Sprint("pull", i), fire)
		starts[start] = true
		if start.Before(fire.Add(5 * time.Minute)) {
			early++
		}
	}
	if len(starts) < 190 || early < 60 || early > 140 {
		t.Errorf("200 pulls start at %d moments, %d of them in the first half", len(starts), early)
	}
	if plain := parse(t, Spec{Cron: "@daily"}); !plain.Start("x", fire).Equal(fire) {
		t.Error("a start without jitter is not its fire")
	}
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		spec Spec
		want string // "": good
	}{
		{Spec{Cron: "*/5 8-18 * * MON-FRI"}, ""},
		{Spec{Cron: " 0  3 ? jan,Mar 0-6/2 ", Zone: "UTC", Overlap: Queue, CatchUp: All, Jitter: time.Hour}, ""},
		{Spec{Cron: "@weekly"}, ""},
		{Spec{}, `cron: "" is no cron expression; write five fields, e.g. "0 3 * * *", or @daily`},
		{Spec{Cron: "every day"}, `cron: "every day" is no cron expression; write five fields, e.g. "0 3 * * *", or @daily`},
		{Spec{Cron: "0 0 3 * * *"}, `cron: "0 0 3 * * *" is no cron expression; write five fields, e.g. "0 3 * * *", or @daily`},
		{Spec{Cron: "@every 1h"}, `cron: "@every 1h" is not known; one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually; or write five fields, e.g. "0 3 * * *", or @daily`},
		{Spec{Cron: "TZ=UTC 3 * * *"}, `cron: minute "TZ=UTC" is none; write it as 5, 1-5, 1,15, * or */10`},
		{Spec{Cron: "0 25 * * *"}, `cron: hour "25": end of range (25) above maximum (23); write five fields, e.g. "0 3 * * *", or @daily`},
		{Spec{Cron: "0 3 * * 7"}, `cron: day of week "7": end of range (7) above maximum (6); Sunday is 0`},
		{Spec{Cron: "0 3 * * mon-sun"}, `cron: day of week "mon-sun": beginning of range (1) beyond end of range (0); write five fields, e.g. "0 3 * * *", or @daily`},
		{Spec{Cron: "0 3 L * *"}, `cron: day of month "L": failed to parse int from L; write five fields, e.g. "0 3 * * *", or @daily`},
		{Spec{Cron: "*/90 * * * *"}, `cron: minute "*/90" steps over all of its 60 values; a step is from 1 to 59`},
		{Spec{Cron: "*/0 * * * *"}, `cron: minute "*/0" steps over all of its 60 values; a step is from 1 to 59`},
		{Spec{Cron: "*-5 * * * *"}, `cron: minute "*-5" is none; write it as 5, 1-5, 1,15, * or */10`},
		{Spec{Cron: "0 , * * *"}, `cron: hour "," is none; write it as 5, 1-5, 1,15, * or */10`},
		{Spec{Cron: "0 0 30 2 *"}, `cron: "0 0 30 2 *" never fires: no such day comes; check day and month`},
		{Spec{Cron: "@daily", Zone: "Europe/Atlantis", Jitter: -1, Overlap: "both", CatchUp: "some"}, `zone: "Europe/Atlantis" is no time zone; write a name like Europe/Berlin, or UTC
jitter: is below 0; write it as 30s, 5m or 1h
overlap: "both" is not known; one of skip, queue
catch_up: "some" is not known; one of none, one, all`},
		{Spec{Cron: "@daily", Zone: "Local"}, `zone: "Local" is no time zone; write a name like Europe/Berlin, or UTC`},
	} {
		s, err := Parse(tc.spec)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%+v (-want +got):\n%s", tc.spec, d)
		}
		if one, ok := errors.AsType[*Error](err); (err == nil) != (s != nil) || err != nil && (!ok || one.Field == "") {
			t.Errorf("%+v: %v beside %v", tc.spec, s, err)
		}
	}
	if got := parse(t, Spec{Cron: "@daily"}).Spec(); got != (Spec{Cron: "@daily", Zone: "UTC", Overlap: Skip, CatchUp: None}) {
		t.Errorf("the defaults are %+v", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0 3 * * *", "@daily", "@every 1h", "TZ=x", "CRON_TZ=", "*/0 * * * *", "1-99999999999999999999 * * * *", ",,, , , , ,"} {
		f.Add(s, "Europe/Berlin")
	}
	f.Fuzz(func(t *testing.T, cron, zone string) {
		s, err := Parse(Spec{Cron: cron, Zone: zone})
		if err != nil {
			return
		}
		if now := time.Unix(1_800_000_000, 0); !s.Next(now).After(now) {
			t.Errorf("%q never fires", cron)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	for _, cron := range []string{"0 3 * * *", "* * * * *"} {
		b.Run(cron, func(b *testing.B) {
			s := parse(b, Spec{Cron: cron, Zone: "Europe/Berlin"})
			at := moment(b, "2026-01-01T00:00:00Z")
			for b.Loop() {
				at = s.Next(at)
			}
		})
	}
}
