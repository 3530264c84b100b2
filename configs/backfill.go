package configs

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"lastdrop/internal/slicing"
)

// Backfill gives a config that asks for a part of the source again: from and to take
// the place of slice.from and slice.to, written as those are; empty ones leave them.
// Its name is NAME/backfill, so that its runs are not taken for those of the whole, and
// what is said about the whole is left out: its sentinel, how many items it has, how
// new they are. The error says why there can be none.
func (c *Config) Backfill(from, to string) (*Config, error) {
	if c.Slice == nil || c.Slice.Type == string(slicing.Values) {
		return nil, errors.New("this pull has no range to narrow: a backfill needs slice, with a key of type int, time or date")
	}
	if far := FormatOf(c.Output.To); c.Output.To != stdout && !strings.Contains(c.Output.To, StartHolder) && !c.upserts() {
		cure := "put {start} into its name"
		if hasTable(far) {
			cure = "let its rows be upserted (items.id; of PostgreSQL output.merge too)"
		}
		return nil, fmt.Errorf("a backfill would replace %s by a part of it: %s", c.Shown(c.Output.To), cure)
	}
	s := *c.Slice
	s.From, s.To = cmp.Or(Scalar(from), s.From), cmp.Or(Scalar(to), s.To)
	s.Covers, s.Without = "range", nil
	if s.To != "now" {
		s.Lag = 0
	}
	k, now := s.key(), time.Now()
	for _, end := range []struct {
		name, text string
		upper      bool
	}{{"from", from, false}, {"to", to, true}} {
		if _, err := k.Parse(end.text, end.upper, now); end.text != "" && err != nil {
			return nil, fmt.Errorf("%s %.60q is no bound of this pull: write it as slice.%s is, e.g. %s", end.name, end.text, end.name, boundLike(k))
		}
	}
	if _, err := k.Whole(string(s.From), string(s.To), now, time.Duration(s.Lag)); err != nil {
		return nil, fmt.Errorf("the range from %.60q to %.60q is empty", string(s.From), string(s.To))
	}
	out := *c
	out.Name += "/backfill"
	out.Slice, out.Incremental = &s, nil
	out.Complete.Sentinel, out.Complete.Fresh = nil, nil
	out.Complete.MinItems, out.Complete.MaxFall = 0, 100
	return &out, nil
}

// boundLike is a bound, for messages.
func boundLike(k *slicing.Key) string {
	if k.Kind == slicing.Int {
		return "4711"
	}
	return "2024-01-31"
}
