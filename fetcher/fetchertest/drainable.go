package fetchertest

import (
	"slices"
	"strings"

	"lastdrop/internal/sim"
)

// Drainable says whether a client that follows the rules of a run must reach
// COMPLETE in this world, and if not, why. It narrows the Sim's own word by
// what those rules forbid:
//
//   - a missing list is only an empty one beside an end mark, so an API that
//     leaves its list out past the end and says nothing else cannot be told
//     from a broken one;
//   - a last page that comes again is no end by itself, and neither is an empty
//     Link header;
//   - a total that equals the items of the only page may be an echo;
//   - an inclusive keyset whose only page comes again may be stuck in ties;
//   - only half bodies, deadlines, partial pages and passing server errors
//     are cured by a smaller page: a login page or a refused connection that
//     depends on the size is not;
//   - a wrong items path on the first page stops the run.
func Drainable(s *sim.Sim) (bool, string) {
	t := s.Truth()
	if !t.Drainable {
		return false, t.Why
	}
	h := s.Hints()
	declared := h.Require == "declared"
	switch {
	case h.AbsentIsEmpty && !saidEnd(h):
		return false, "a missing list without an end mark"
	case s.API.PastEnd == "clamp" && !declared:
		return false, "the last page comes again, and nothing else ends it"
	case h.Keyset.Inclusive && len(s.World.Items) <= max(1, h.Size.Start):
		return false, "an inclusive keyset whose first page comes again"
	case s.API.Links.EmptyAtEnd && !saidEnd(h):
		return false, "an empty Link header says nothing"
	case !saidEnd(h) && len(h.End) == 0 && len(s.World.Items) <= max(1, h.Size.Start):
		return false, "one page whose total may be an echo"
	}
	coded := 0
	for _, f := range s.Faults {
		if f.Match.SizeOver > 0 && (h.Style == "single" || !curedBySize(f.Effect)) {
			return false, f.Effect.Name() + " is not cured by a smaller page"
		}
		if f.Effect.Name() == "no_total" && !saidEnd(h) && len(h.End) == 0 {
			return false, "the total, its only evidence, may be left out"
		}
		if strings.HasPrefix(f.Effect.Name(), "charset") || f.Effect.Name() == "bom" {
			coded++
		}
		if f.Effect.Name() == "empty_with_next" && h.AbsentIsEmpty {
			return false, "a missing list beside a continuation"
		}
		if slices.Contains([]string{"items_absent", "items_null", "items_object", "items_renamed"}, f.Effect.Name()) && f.Match.From == 0 {
			return false, "the items path is missing on the first page"
		}
	}
	if coded > 1 {
		return false, "one body in two codings at once"
	}
	return true, ""
}

// saidEnd reports whether the API has an end word of its own, beside totals.
func saidEnd(h sim.ClientHints) bool {
	return h.More.Path != "" || h.More.Header != "" || h.Last.Path != "" || h.Last.Header != ""
}

func curedBySize(e sim.Effect) bool {
	if st, ok := e.(sim.Status); ok && (st.Code == 429 || st.Retry != sim.RetryNone) {
		return false
	}
	effect := e.Name()
	for _, cured := range []string{"half", "gzip", "trailing", "error_tail", "partial", "part", "status"} {
		if len(effect) >= len(cured) && effect[:len(cured)] == cured {
			return true
		}
	}
	return false
}
