package store

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// Whatever the clock does, a new id is greater than the newest one, and it
// tells the time.
func TestNewID(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		newest := ""
		for _, ms := range rapid.SliceOfN(rapid.Int64Range(-5, 1<<46), 2, 20).Draw(r, "clock") {
			id := newID(time.UnixMilli(ms), newest)
			if id <= newest || len(id) != idLength || strings.ToLower(id) != id {
				r.Fatalf("id %q after %q", id, newest)
			}
			got, ok := idMillis(id)
			before, _ := idMillis(newest)
			if want := uint64(max(ms, 0)); !ok || (got != want && got != before+1) {
				r.Fatalf("id %q is of %d, want %d or %d", id, got, want, before+1)
			}
			newest = id
		}
	})
	if id := newID(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), ""); !strings.HasPrefix(id, "01") {
		t.Errorf("id %s", id)
	}
}

func TestIDMillis(t *testing.T) {
	for _, bad := range []string{"", "01", "01kb9z0c0ui00", "01KB9Z0C0U000", "01kb9z0c0u0000", "01kb9z0c0u-00"} {
		if ms, ok := idMillis(bad); ok {
			t.Errorf("%q is of %d", bad, ms)
		}
	}
}

func TestStamps(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ms := rapid.Int64Range(0, 4e12).Draw(r, "ms")
		at := time.UnixMilli(ms).In(time.FixedZone("x", 3600*rapid.IntRange(-12, 12).Draw(r, "zone")))
		if got := parseStamp(stamp(at)); !got.Equal(at) || got.Location() != time.UTC {
			r.Fatalf("%v became %v", at, got)
		}
		us := rapid.Int64Range(0, 1e12).Draw(r, "µs")
		if got := parseMillis(millis(time.Duration(us) * time.Microsecond)); got.Microseconds() != us {
			r.Fatalf("%d µs became %v", us, got)
		}
	})
	if !parseStamp("yesterday").IsZero() || nullTime(time.Time{}) != nil {
		t.Error("a time that is none is the zero time, and NULL")
	}
}

// Rules are stored as JSON that gives them back, whatever stands in them.
func TestRulesText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := []judge.Rule{}
		for range rapid.IntRange(0, 3).Draw(t, "rules") {
			text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~\n<>"\\\\]*`))
			v := rapid.SampledFrom([]judge.Verdict{judge.Unknown, judge.Truncated, judge.Complete}).Draw(t, "verdict")
			want = append(want, judge.Rule{ID: text.Draw(t, "id"), Layer: text.Draw(t, "layer"), Verdict: v, Evidence: text.Draw(t, "evidence")})
		}
		var got []judge.Rule
		if err := json.Unmarshal([]byte(rulesText(want)), &got); err != nil {
			t.Fatalf("%s: %v", rulesText(want), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got)\n%s", rulesText(want), diff)
		}
	})
}

// Every outcome's word is read back, and nothing else is.
func TestParseOutcome(t *testing.T) {
	for _, o := range []reconcile.Outcome{reconcile.Failed, reconcile.Held, reconcile.Half, reconcile.Limited, reconcile.Partial, reconcile.Refused, reconcile.Unused} {
		if got, err := parseOutcome(o.String()); err != nil || got != o {
			t.Errorf("%s: %s, %v", o, got, err)
		}
	}
	for _, word := range []string{"", "HELD", "fine", reconcile.Outcome(math.MaxUint8).String()} {
		if got, err := parseOutcome(word); err == nil {
			t.Errorf("%q: %s", word, got)
		}
	}
}

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.lock")
	if isHeld(name) {
		t.Error("a lock that is not there is held")
	}
	first, err := acquire(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := acquire(name); !errors.Is(err, errHeld) || !isHeld(name) {
		t.Fatalf("second: %v", err)
	}
	if err := first.release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) || isHeld(name) {
		t.Fatalf("after release: %v", err)
	}
	if err := os.WriteFile(name, nil, 0o644); err != nil { // left by a killed process
		t.Fatal(err)
	}
	if isHeld(name) {
		t.Error("a file that is left is no lock")
	}
	again, err := acquire(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil { // by somebody
		t.Fatal(err)
	}
	other, err := acquire(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.release(); err != nil || !isHeld(name) {
		t.Fatalf("letting a removed lock go let another's go: %v", err)
	}
	if err := other.release(); err != nil {
		t.Fatal(err)
	}
	if _, err := acquire(filepath.Join(name, "no", "folder")); err == nil {
		t.Error("a lock without a folder")
	}
}
