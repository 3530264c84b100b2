package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// fields are the values of an expression, a bit each.
type fields struct {
	minutes, hours, days, months, weekdays uint64
}

// star is the bit that robfig's parser sets in a field that names nothing.
const star = 63

const allHours = 1<<24 - 1

func has(bits uint64, n int) bool { return bits>>n&1 == 1 }

// onDay reports whether an expression names a date. Where it names days of the month and
// days of the week, one of them is enough, as in every cron.
func (f fields) onDay(date civil) bool {
	inMonth, inWeek := has(f.days, date.Day()), has(f.weekdays, int(date.Weekday()))
	if has(f.days, star) || has(f.weekdays, star) {
		return has(f.months, int(date.Month())) && inMonth && inWeek
	}
	return has(f.months, int(date.Month())) && (inMonth || inWeek)
}

// parse fills in what a Schedule's spec says, and gives what is wrong with it.
func (s *Schedule) parse() error {
	var errs []error
	bad := func(field, msg, cure string) { errs = append(errs, &Error{field, msg, cure}) }
	at, msg, cure := parseCron(s.spec.Cron)
	if msg != "" {
		bad("cron", msg, cure)
	}
	s.at, s.interval = at, at.hours&allHours == allHours
	zone, err := time.LoadLocation(s.spec.Zone)
	if err != nil || s.spec.Zone == "Local" {
		bad("zone", fmt.Sprintf("%.60q is no time zone", s.spec.Zone), "write a name like Europe/Berlin, or UTC")
	}
	s.zone = zone
	if s.spec.Jitter < 0 {
		bad("jitter", "is below 0", "write it as 30s, 5m or 1h")
	}
	if words := []string{Skip, Queue}; !slices.Contains(words, s.spec.Overlap) {
		bad("overlap", fmt.Sprintf("%.60q is not known", s.spec.Overlap), "one of "+strings.Join(words, ", "))
	}
	if words := []string{None, One, All}; !slices.Contains(words, s.spec.CatchUp) {
		bad("catch_up", fmt.Sprintf("%.60q is not known", s.spec.CatchUp), "one of "+strings.Join(words, ", "))
	}
	return errors.Join(errs...)
}

const cronCure = `write five fields, e.g. "0 3 * * *", or @daily`

// names are the words that stand for an expression.
var names = []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}

// places are the five fields and how many values each has.
var places = []struct {
	name string
	size int
}{{"minute", 60}, {"hour", 24}, {"day of month", 31}, {"month", 12}, {"day of week", 7}}

// part is one of the values of a field, between commas: *, a value or a range, and perhaps a step. robfig's parser takes more than
// that, but not for what it seems to say.
var part = regexp.MustCompile(`^(?:\*|\?|[0-9A-Za-z]+(?:-[0-9A-Za-z]+)?)(?:/([0-9]+))?$`)

// parseCron reads an expression; msg says what is wrong with it.
func parseCron(expr string) (at fields, msg, cure string) {
	list := strings.Fields(expr)
	if strings.HasPrefix(expr, "@") {
		if !slices.Contains(names, expr) {
			return at, fmt.Sprintf("%.60q is not known", expr), "one of " + strings.Join(names, ", ") + "; or " + cronCure
		}
		list = []string{expr}
	} else if len(list) != len(places) {
		return at, fmt.Sprintf("%.60q is no cron expression", expr), cronCure
	}
	for i, field := range list {
		if msg, cure := checkField(i, field); msg != "" && len(list) > 1 {
			return at, msg, cure
		}
	}
	parsed, err := cron.ParseStandard(strings.Join(list, " "))
	spec, ok := parsed.(*cron.SpecSchedule)
	if err != nil || !ok {
		return at, fmt.Sprintf("%.60q is no cron expression", expr), cronCure
	}
	at = fields{minutes: spec.Minute, hours: spec.Hour, days: spec.Dom, months: spec.Month, weekdays: spec.Dow}
	if !at.everFires() {
		return at, fmt.Sprintf("%.60q never fires: no such day comes", expr), "check day and month"
	}
	return at, "", ""
}

// checkField says what is wrong with the i-th field.
func checkField(i int, field string) (msg, cure string) {
	p := places[i]
	for one := range strings.SplitSeq(field, ",") {
		m := part.FindStringSubmatch(one)
		if m == nil {
			return fmt.Sprintf("%s %.60q is none", p.name, field), `write it as 5, 1-5, 1,15, * or */10`
		}
		if step, err := strconv.Atoi(m[1]); m[1] != "" && (err != nil || step < 1 || step >= p.size) {
			return fmt.Sprintf("%s %.60q steps over all of its %d values", p.name, field, p.size), fmt.Sprintf("a step is from 1 to %d", p.size-1)
		}
	}
	alone := slices.Repeat([]string{"*"}, len(places))
	alone[i] = field
	if _, err := cron.ParseStandard(strings.Join(alone, " ")); err != nil {
		reason, _, _ := strings.Cut(err.Error(), ": ")
		if i == 4 && strings.Contains(field, "7") {
			return fmt.Sprintf("%s %.60q: %s", p.name, field, reason), "Sunday is 0"
		}
		return fmt.Sprintf("%s %.60q: %s", p.name, field, reason), cronCure
	}
	return "", ""
}

// everFires reports whether a date comes that an expression names. From 2000 on 28 years
// have 29 February on each day of the week.
func (f fields) everFires() bool {
	date := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 28*365 + 7 {
		if f.onDay(date) {
			return true
		}
		date = date.Add(day)
	}
	return false
}
