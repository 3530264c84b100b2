package configs

import (
	"strings"
	"time"
)

// timeWords are the formats of times that have a name.
var timeWords = []string{"unix", "unix_ms", "rfc3339", "date"}

// Write writes a time for the parameter, in UTC: an int64 or a text. It never
// means a later time than t.
func (i *Incremental) Write(t time.Time) any {
	t = t.UTC()
	switch i.Format {
	case "unix":
		return t.Unix()
	case "unix_ms":
		return t.UnixMilli()
	}
	return t.Format(i.layout())
}

// layout gives the Go layout in which times are written; "" for numbers.
func (i *Incremental) layout() string {
	switch i.Format {
	case "unix", "unix_ms":
		return ""
	case "rfc3339":
		return time.RFC3339
	case "date":
		return time.DateOnly
	}
	return i.Format
}

// Asked gives the time that Write means: t, rounded down as the format rounds.
func (i *Incremental) Asked(t time.Time) time.Time {
	asked, _ := i.readBack(t)
	return asked
}

// readBack reads what Write writes for t. ok is false, and the time t, where
// that cannot be read.
func (i *Incremental) readBack(t time.Time) (asked time.Time, ok bool) {
	switch v := i.Write(t).(type) {
	case int64:
		if i.Format == "unix_ms" {
			return time.UnixMilli(v).UTC(), true
		}
		return time.Unix(v, 0).UTC(), true
	case string:
		if back, err := time.Parse(i.layout(), v); err == nil {
			return back, true
		}
	}
	return t, false
}

// sample is a time whose parts all differ.
var sample = time.Date(2031, 10, 27, 16, 45, 53, 987654321, time.UTC)

func (r *reading) checkIncremental(c *Config) {
	i := c.Incremental
	if i == nil {
		return
	}
	if r.said("incremental.param") && i.Param == "" {
		r.bad("incremental.param", "names no parameter", "")
	}
	if _, twice := c.Source.Params[i.Param]; twice {
		r.bad("incremental.param", "is set by source.params too", "keep one")
	}
	if i.LookBack < 0 {
		r.bad("incremental.look_back", "must not be below 0", "")
	}
	if back, ok := i.readBack(sample); !ok || back.After(sample) || sample.Sub(back) > 24*time.Hour {
		cure := "one of " + strings.Join(timeWords, ", ") + ", or a Go layout with year, month and day, e.g. 2006-01-02 15:04"
		if near, ok := nearest(i.Format, timeWords); ok {
			cure = "did you mean " + near + "?"
		}
		r.bad("incremental.format", r.quote(i.Format)+" writes no time that can be read back", cure)
	}
	switch to := c.Output.To; {
	case to == "" || to == stdout || c.upserts() || strings.Contains(to, "{start}") || !r.said("output.to"):
	case FormatOf(to) == Postgres:
		r.bad("output.to", "would be replaced by what is new alone", "set items.id and output.merge: true, so that what is new is put into the table")
	default:
		r.bad("output.to", "would be replaced by what is new alone", "put {start} into the file's name, so that each run has a file of its own, e.g. new-{start}.jsonl")
	}
	if c.Total.URL != "" {
		r.bad("total.url", "would count the whole source, and an incremental run asks for a part", "take it away, or name a total of the answers (total.path, total.header)")
	}
}
