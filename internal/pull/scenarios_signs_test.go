package pull_test

import (
	"fmt"
	"slices"
	"strings"

	"lastdrop/judge/reconcile"
)

// A sign is where a run shows that it saw something.
type sign func(outcome) bool

// rule: a finding of the report, with some words in its text.
func rule(id string, words ...string) sign {
	return func(o outcome) bool {
		return slices.ContainsFunc(o.report.Evidence, func(e reconcile.Evidence) bool {
			return e.ID == id && holdsAll(e.Text, words)
		})
	}
}

// event: an event of the store, with some words in its text.
func event(kind string, words ...string) sign {
	return func(o outcome) bool {
		return slices.ContainsFunc(o.events, func(e reconcile.Event) bool { return e.Kind == kind && holdsAll(e.Text, words) })
	}
}

// attempt: an attempt of the store with an outcome, and some words in its
// cause.
func attempt(came reconcile.Outcome, words ...string) sign {
	return attempts(func(a reconcile.Attempt) bool { return a.Outcome == came && holdsAll(a.Cause, words) })
}

// attempts: an attempt of the store that a condition holds for.
func attempts(is func(reconcile.Attempt) bool) sign {
	return func(o outcome) bool { return slices.ContainsFunc(o.attempts, is) }
}

// halfParsed: a 200 that the judge calls half a body.
func halfParsed(a reconcile.Attempt) bool {
	return a.Outcome == reconcile.Half && a.Status == 200 && len(a.Rules) > 0 && a.Rules[0].ID == "TR005"
}

// cappedStart: TR006 about the first page, where nothing says that there is
// more than the server gave for the size that was asked.
func cappedStart(o outcome) bool {
	return len(o.attempts) > 0 && rule("TR006", fmt.Sprintf("%d items received", o.attempts[0].Items))(o)
}

func holdsAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// detected reports whether one of a word's signs stands in what a run left.
func detected(o outcome, word string) bool {
	signs, ok := signsOf[word]
	if !ok {
		panic("no sign is known for " + word)
	}
	return slices.ContainsFunc(signs, func(s sign) bool { return s(o) })
}

// signsOf says for each thing that a scenario wants detected where a run shows
// that it saw it: any one of the signs will do.
var signsOf = map[string][]sign{
	// Half bodies.
	"bytes_short":         {attempt(reconcile.Half, "body ended at")},
	"json_parse_fail_200": {attempts(halfParsed)},
	"flag_contradicted":   {attempts(halfParsed)}, // the parser outranks the flag: the page is not held
	"read_limit_hit":      {rule("RC009", "limits.max_body")},
	"no_end_evidence":     {rule("RC007")},

	// Second readings.
	"walks_agree":    {rule("RC045")},
	"walks_disagree": {rule("RC046")},
	"no_second_walk": {rule("RC047")},

	// Errors with a status of 200.
	"error_field_on_200":     {rule("RC021", "remark")},
	"zero_items_no_evidence": {rule("RC007")},
	"timed_out_flag":         {attempt(reconcile.Partial, "timed_out")},
	"shards_partial":         {rule("RC017", "_shards.successful")},
	"items_path_missing":     {rule("RC021", "no list at items.path")},
	"items_null": {attempts(func(a reconcile.Attempt) bool {
		return a.Outcome == reconcile.Held && a.Items == 0 && a.More == "ended"
	})},

	// Caps.
	"cap_hit":                   {rule("RC003")},
	"total_dropped_on_page":     {rule("RC032")},
	"total_gt_items":            {rule("RC002"), rule("RC016")},
	"pages_times_size_lt_total": {rule("RC003", "pages, fewer than its total needs")},
	"total_sources_disagree":    {rule("RC033")},
	"error_at_offset_cap":       {rule("RC003")},
	"page_refused":              {rule("RC022", "status 400")},
	"stable_error_at_offset":    {rule("RC003", "for good")},
	"sentinel_row":              {rule("RC018", "a row in the data")},
	"requested_limit_clamped":   {rule("RC038"), cappedStart},
	"parameter_not_honoured":    {rule("RC008", "ignores")},
	"weak_end":                  {rule("RC024")},
	"end_at_known_cap":          {rule("RC003", "pages.reach documents")},
	"declared_end":              {rule("RC030")},

	// Ends.
	"empty_page_before_total": {attempts(func(a reconcile.Attempt) bool { return strings.Contains(a.Cause, "empty page before the total") })},
	"empty_page_with_token": {attempts(func(a reconcile.Attempt) bool {
		return a.Outcome == reconcile.Held && a.Items == 0 && a.More == "follow"
	})},
	"next_present_not_followable": {rule("RC010")},
	"total_absent":                {func(o outcome) bool { return o.report.Total.Kind == "" }},
	"late_page_failed":            {rule("RC022")},
	"error_after_total_reached": {func(o outcome) bool {
		return rule("RC001")(o) && attempts(func(a reconcile.Attempt) bool { return a.Outcome == reconcile.Failed })(o)
	}},

	// Page sizes.
	"grid_not_divisible": {attempts(func(a reconcile.Attempt) bool { return a.Outcome == reconcile.Held && a.Repeated > 0 && a.New > 0 })},
	"next_skips_items":   {rule("RC037")},
	"short_page_middle": {attempts(func(a reconcile.Attempt) bool {
		return a.Outcome == reconcile.Held && a.Items == 200 && a.SizeAsked > 200
	})},
	"pages_contradict_total": {rule("RC033")},
	"page_size_rejected": {attempts(func(a reconcile.Attempt) bool {
		return a.Status == 400 && a.Action == "retry_smaller"
	})},
	"page_longer_than_limit": {attempts(func(a reconcile.Attempt) bool { return a.SizeAsked > 0 && a.Items > a.SizeAsked })},

	// Drift and order.
	"total_is_estimate":       {rule("RC034")},
	"total_drift":             {event("total", "moved")},
	"total_flaps":             {event("total", "moved")},
	"all_further_pages_empty": {rule("RC016")},
	"dup_ids":                 {func(o outcome) bool { return o.report.Items.Repeated > 0 }},
	"distinct_lt_total":       {rule("RC002")},
	"ties":                    {rule("RC015")},

	// Slices.
	"cut":                 {event("slice", "it is cut")},
	"cap_hit_per_stream":  {event("slice", "it is cut")},
	"irreducible":         {rule("RC051")},
	"outside_of_slices":   {rule("RC053")},
	"parameter_no_effect": {rule("RC055")},
	// Neighbouring slices of such a block ask for it as a whole.
	"tie_block_at_slice_boundary": {rule("RC063")},

	// Further looks at the source.
	"sentinel_failed":     {rule("RC041")},
	"freshness_exceeded":  {rule("RC042")},
	"freshness_gap":       {rule("RC060")},
	"stood_still":         {rule("RC061")},
	"moved_by_mark":       {rule("RC062")},
	"moved_by_mark_doubt": {rule("RC043")},
	"seen_through":        {rule("RC039")},

	// Loops.
	"cursor_cycle":    {rule("RC008")},
	"repeated_cursor": {rule("RC008")},
	"zero_new_ids":    {attempts(func(a reconcile.Attempt) bool { return a.Items > 0 && a.Repeated == a.Items && a.New == 0 })},
	"page_clamped":    {event("end", "the server answered with page")},

	// Credentials, filters, limits.
	"next_host_mismatch":   {event("note", "another origin"), rule("RC010", "leaves the origin")},
	"filter_dropped":       {rule("RC025")},
	"rate_limited":         {attempt(reconcile.Limited)},
	"rate_limit_exhausted": {rule("RC022", "rate limit")},
}
