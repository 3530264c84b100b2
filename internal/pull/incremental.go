package pull

import (
	"fmt"
	"strconv"
	"time"

	"lastdrop/adapters"
	"lastdrop/configs"
	"lastdrop/internal/jsonscan"
)

// A span is what an incremental run asks for: what is new since its mark, less
// the look-back. Of any other run it is the zero span.
type span struct {
	inc   *configs.Incremental // nil: the run asks for everything
	key   jsonscan.Path
	mark  time.Time // zero: this is the first run
	asked time.Time // what the parameter says, rounded as its format rounds

	older, blank int64 // items older than asked for, and items whose key is no time
	oldest       time.Time
}

func spanOf(c *configs.Config, mark time.Time) (span, error) {
	s := span{inc: c.Incremental, mark: mark}
	if s.inc == nil || mark.IsZero() {
		return s, nil
	}
	s.asked = s.inc.Asked(s.from())
	if s.inc.Key == "" {
		return s, nil
	}
	var err error
	s.key, err = jsonscan.Compile(string(s.inc.Key))
	return s, err
}

// from is the time from which on the run asks.
func (s *span) from() time.Time { return s.mark.Add(-time.Duration(s.inc.LookBack)) }

// ask puts the span into a spec.
func (s *span) ask(spec *adapters.Spec) {
	if s.inc != nil && !s.mark.IsZero() {
		spec.Set = append(spec.Set, adapters.Set{Param: s.inc.Param, Values: []any{s.inc.Write(s.from())}})
	}
}

// look counts items that are older than what was asked for.
func (s *span) look(items [][]byte) {
	if s.inc == nil || s.mark.IsZero() || s.inc.Key == "" {
		return
	}
	for _, item := range items {
		at, ok := s.timeOf(item)
		if !ok {
			s.blank++
			continue
		}
		if at.Before(s.asked) {
			s.older++
			if s.oldest.IsZero() || at.Before(s.oldest) {
				s.oldest = at
			}
		}
	}
}

// timeOf reads the key of an item: a number of seconds or milliseconds, a time
// in the parameter's own layout, RFC 3339, or a date, which stands for its end.
func (s *span) timeOf(item []byte) (time.Time, bool) {
	v, err := s.key.Find(item)
	if err != nil || !v.IsString() && !v.IsNumber() {
		return time.Time{}, false
	}
	text := string(v.Raw)
	if v.IsString() {
		text = v.Str()
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if n > 1e11 {
			n /= 1000
		}
		return time.UnixMilli(int64(n * 1000)), true
	}
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at.Add(24*time.Hour - 1), true
	}
	for _, layout := range []string{time.RFC3339, s.inc.Format} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// say tells what was asked for and what came besides, a text each.
func (s *span) say() []string {
	if s.mark.IsZero() {
		return []string{"incremental: there was no mark, and so everything was asked for"}
	}
	out := []string{fmt.Sprintf("incremental: asked for what is new since %v (%s), the mark %s less %s; the output holds that alone", s.inc.Write(s.from()), s.inc.Param,
		stamp(s.mark), time.Duration(s.inc.LookBack))}
	if s.older > 0 {
		out = append(out, fmt.Sprintf("at least %d items are older than that by %s, the oldest of %s: the source may ignore %s; more than was asked for is no loss",
			s.older, s.inc.Key, stamp(s.oldest), s.inc.Param))
	}
	if s.blank > 0 {
		out = append(out, fmt.Sprintf("at least %d items have no time at %s (incremental.key) that can be read", s.blank, s.inc.Key))
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
