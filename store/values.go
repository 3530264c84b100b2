package store

import (
	"database/sql"
	"fmt"
	"math"
	"time"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// stampLayout is how times stand in the store: RFC 3339, UTC, milliseconds.
const stampLayout = "2006-01-02T15:04:05.000Z"

// stamp writes a time, cut to the millisecond.
func stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// parseStamp reads what stamp wrote; anything else is the zero time.
func parseStamp(text string) time.Time {
	t, err := time.Parse(stampLayout, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// millis is a duration in milliseconds, to the microsecond.
func millis(d time.Duration) float64 { return float64(d.Round(time.Microsecond).Microseconds()) / 1000 }

// parseMillis reads what millis wrote.
func parseMillis(ms float64) time.Duration {
	return time.Duration(math.Round(ms*1000)) * time.Microsecond
}

// What is not there is NULL in the store.

func nullText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func nullZero(n int) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}

func nullCount(c judge.Count) any {
	if !c.OK {
		return nil
	}
	return c.N
}

func nullTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

func count(n sql.NullInt64) judge.Count { return judge.Count{N: n.Int64, OK: n.Valid} }

func pointer(n sql.NullInt64) *int64 {
	if !n.Valid {
		return nil
	}
	return &n.Int64
}

// parseOutcome reads an outcome's name.
func parseOutcome(name string) (reconcile.Outcome, error) {
	for o := reconcile.Outcome(0); o < math.MaxUint8; o++ {
		if o.String() == name {
			return o, nil
		}
	}
	return 0, fmt.Errorf("unknown outcome %q", name)
}

// collect reads all rows and closes them.
func collect[T any](rows *sql.Rows, scan func(*sql.Rows) (T, error)) ([]T, error) {
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
