package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"lastdrop/internal/daemon"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// unseen reports a character that cannot be seen itself.
func unseen(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// plural is a number with its word.
func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return thousands(n) + " " + word + "s"
}

// times says how often.
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return thousands(n) + " times"
}

func sizeText(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 10<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return plural(n, "byte")
}

// tookText drops the digits of a duration that nobody reads.
func tookText(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// relative says how long ago, or in how long, a moment is. The script that keeps pages up to date says it the same way.
func relative(t, now time.Time) string {
	d := t.Sub(now)
	text := rough(max(d, -d))
	switch {
	case text == "":
		return "now"
	case d > 0:
		return "in " + text
	}
	return text + " ago"
}

func rough(d time.Duration) string {
	switch {
	case d < 5*time.Second:
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// share is the part that is held in percent, rounded down: 99.999 % is never shown as 100.
func share(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	pct := float64(int64(float64(part)/float64(whole)*10000)) / 100
	return strconv.FormatFloat(pct, 'f', -1, 64) + " %"
}

// A chip is a verdict to look at: a mark and a word beside the colour.
type chip struct {
	Class, Mark, Word, Strength string
}

// chipOf is the chip of a verdict, nil: there is none.
func chipOf(v *judge.Verdict, s reconcile.Strength) chip {
	if v == nil {
		return chip{Class: "none", Mark: "–", Word: "no verdict"}
	}
	c := chip{Word: v.String(), Strength: s.String()}
	switch *v {
	case judge.Complete:
		c.Class, c.Mark = "complete", "✓"
	case judge.Truncated:
		c.Class, c.Mark = "truncated", "✕"
	case judge.Unknown:
		c.Class, c.Mark = "unknown", "?"
	}
	return c
}

// runChip is the chip of a run: its verdict, or how it stands without one.
func runChip(i store.Info) chip {
	if i.Verdict != nil && i.State != store.Running {
		return chipOf(i.Verdict, i.Strength)
	}
	switch {
	case i.State == store.Running && i.Holder != nil:
		return chip{Class: "running", Mark: "▸", Word: "running"}
	case i.State == store.Running:
		return chip{Class: "none", Mark: "–", Word: "killed"}
	}
	return chip{Class: "none", Mark: "–", Word: i.State}
}

// coverage is what is held of what was declared.
type coverage struct {
	Held    int64
	Total   *int64
	Percent float64 // of the bar, at most 100
	Share   string
}

func coverageOf(held int64, total *int64) coverage {
	c := coverage{Held: held, Total: total}
	if total != nil && *total > 0 {
		c.Percent, c.Share = min(100, float64(held)/float64(*total)*100), share(held, *total)
	}
	if total != nil && *total == 0 && held == 0 {
		c.Percent, c.Share = 100, "100 %"
	}
	return c
}

// whyText says why a job was made.
func whyText(why string) string {
	switch why {
	case daemon.BySchedule:
		return "by schedule"
	case daemon.ByHand:
		return "by hand"
	case daemon.ByCatchUp:
		return "to catch up"
	case daemon.ByBackfill:
		return "a backfill"
	}
	return why
}

// scheduleText says a cron expression in words where that is simple, and is "" elsewhere.
func scheduleText(cron string) string {
	f := strings.Fields(cron)
	if len(f) != 5 || f[2] != "*" || f[3] != "*" {
		return ""
	}
	minute, minuteErr := strconv.Atoi(f[0])
	hour, hourErr := strconv.Atoi(f[1])
	step, isStep := strings.CutPrefix(f[0], "*/")
	hours, isHours := strings.CutPrefix(f[1], "*/")
	day := map[string]string{"*": "every day", "1-5": "on weekdays", "0": "on Sundays", "7": "on Sundays", "1": "on Mondays", "2": "on Tuesdays",
		"3": "on Wednesdays", "4": "on Thursdays", "5": "on Fridays", "6": "on Saturdays"}[f[4]]
	switch {
	case day == "":
		return ""
	case minuteErr == nil && hourErr == nil:
		return fmt.Sprintf("%s at %02d:%02d", day, hour, minute)
	case f[4] != "*":
		return ""
	case f[0] == "*" && f[1] == "*":
		return "every minute"
	case isStep && f[1] == "*":
		return "every " + step + " minutes"
	case minuteErr == nil && f[1] == "*":
		return fmt.Sprintf("every hour at minute %d", minute)
	case minuteErr == nil && isHours:
		return fmt.Sprintf("every %s hours at minute %d", hours, minute)
	}
	return ""
}

func pullPath(name string) string { return "/pulls/" + url.PathEscape(name) }
func runPath(run string) string   { return "/runs/" + url.PathEscape(run) }

// rulePath leads to what a rule means.
func rulePath(id string) string { return "/rules#" + url.PathEscape(id) }
