package simtest

import (
	"slices"

	"lastdrop/internal/sim"
)

func drifts() []Case {
	gmail := cursorAPI(100, 0, "nextPageToken", sim.EndAbsent)
	gmail.Total = sim.TotalRule{Kind: sim.TotalEstimate, Path: "resultSizeEstimate", Value: 201}
	youtube := cursorAPI(50, 50, "nextPageToken", sim.EndAbsent)
	youtube.Total = sim.TotalRule{Kind: sim.TotalEstimate, Path: "pageInfo.totalResults", Value: 25}
	wordpress := api(sim.Link, "", 5, 0)
	wordpress.Total = sim.TotalRule{Kind: sim.TotalExact, Header: "X-Total"}
	crossref := counted(cursorAPI(100, 0, "message.next-cursor", sim.EndAbsent), "message.total-results")
	crossref.Token.Always, crossref.Token.Kind = true, sim.TokenOffset
	window := sim.API{Style: sim.Algolia, Items: "hits", Total: sim.TotalRule{Kind: sim.TotalExact, Path: "nbHits"}}
	return []Case{
		{"B064", "an estimate of 201 for nine items", ending(quiet(9, gmail), "absent_continuation"), 100, complete, 9},
		{"B065", "large pages lose items that small ones give", ending(quiet(25, youtube,
			fault(sim.Match{SizeOver: 20}, sim.Drop{Every: 6, Agrees: true})), "absent_continuation"), 50, unknown, 25},
		{"B067", "inserts while a cursor walks, with repeats", growing(crossref), 100, complete, -1},
		{"B068", "two replicas, of which one lacks an item", quiet(5, pageAPI(20, 0),
			fault(sim.Match{Attempts: []int{1, 3, 5, 7}}, sim.Lag{Items: 1})), 20, complete, 5},
		{"B070", "a total that ignores the filter", quiet(5, wordpress, always(sim.Phantom{Items: 88})), 5, unknown, 5},
		{"B071", "an empty window that may be stale", quiet(0, window), 100, complete, 0},
	}
}

// growing gets 15 items in the course of a walk, some of them before its place.
func growing(a sim.API) func() *sim.Sim {
	return func() *sim.Sim {
		w := sim.NewWorld(9610, sim.IntID)
		for i := range 15 {
			w.Changes = append(w.Changes, sim.Change{Before: 5 + 6*i, Op: sim.Insert, Rank: 700 * i % 9000})
		}
		return sim.New(w, a, 1)
	}
}

func orders() []Case {
	newest := api(sim.Page, "items", 20, 0)
	jumpy := nextAPI(100, 100, "next", sim.EndAbsent)
	jumpy.Params.Size, jumpy.Params.Offset = "top", "skip"
	tied := counted(api(sim.Keyset, "hits", 50, 0), "total")
	tied.SortField, tied.Params.Key, tied.Params.KeyThen = "ts", "after_ts", "after_id"
	return []Case{
		{"B073", "the items at every border change places", quiet(1000, offsetAPI(100, 0), always(sim.Swap{})), 100, truncated, 991},
		{"B074", "three new items before the second page", func() *sim.Sim {
			w := sim.NewWorld(100, sim.IntID).Newest()
			w.Changes = slices.Repeat([]sim.Change{{Before: 2, Op: sim.Insert}}, 3)
			return sim.New(w, newest, 1)
		}, 20, unknown, 103},
		{"B076", "next links that skip", quiet(420, jumpy,
			fault(sim.Match{Page: 1}, sim.JumpTo{From: 190}), fault(at(190), sim.JumpTo{From: 234})), 100, complete, 420},
		{"B077", "a keyset over blocks of equal times", func() *sim.Sim {
			return sim.New(sim.NewWorld(1000, sim.IntID).WithTies(7), tied, 1)
		}, 50, complete, 1000},
	}
}

func loops() []Case {
	same := cursorAPI(1000, 0, "nextForwardToken", sim.EndSame)
	same.Token.Always = true
	topless := nextAPI(100, 0, "next", sim.EndAbsent)
	topless.Params.Size = "top"
	zendesk := nextAPI(1000, 0, "next_page", sim.EndNull)
	zendesk.Next.Always, zendesk.More = true, sim.MoreRule{Path: "end_of_stream", Inverted: true}
	s3 := api(sim.Keyset, "Contents", 1000, 1000)
	s3.Key.ID, s3.Params.Key, s3.ID, s3.More = true, "marker", "Key", sim.MoreRule{Path: "IsTruncated"}
	clamped := api(sim.Page, "items", 20, 0)
	clamped.PastEnd, clamped.Echo.Page = sim.PastClamp, "page"
	oai := counted(cursorAPI(50, 0, "resumptionToken", sim.EndAbsent), "completeListSize")
	oai.Token.Always, oai.PastEnd = true, sim.Past400
	return []Case{
		{"B080", "the token that was sent, with no items, is the end", quiet(2013, same), 1000, complete, 2013},
		{"B082", "without a size the same next for ever", quiet(1200, topless,
			fault(sim.Match{UnlessParam: "top"}, sim.Loop{Period: 1})), 100, complete, 1200},
		{"B083", "a next URL on every page; a flag is the end", quiet(267, zendesk, always(sim.Overrun{Items: 2})), 1000, complete, 267},
		{"B085", "tokens that go round", quiet(40, cursorAPI(10, 0, "next", sim.EndNull),
			fault(sim.Match{From: 10}, sim.Loop{Period: 2})), 10, unknown, 20},
		{"B086", "truncated without a marker: the last key is the marker", func() *sim.Sim {
			return sim.New(sim.NewWorld(2500, sim.SlugID).WithOrderedIDs(), s3, 1)
		}, 1000, complete, 2500},
		{"B088", "neither limit nor start is read", quiet(63, api(sim.Offset, "values", 25, 0),
			always(sim.Ignore{Place: true, Size: true})), 25, unknown, 63},
		{"B089", "an empty string is no token", quiet(45, cursorAPI(20, 0, "next_cursor", sim.EndEmpty)), 20, complete, 45},
		{"B091", "page numbers past the end are clamped, and echoed", quiet(95, clamped), 20, complete, 95},
		{"B094", "a token on the last page leads to an error", quiet(100, oai), 50, complete, 100},
	}
}

func others() []Case {
	nullEnd := cursorAPI(10, 0, "next_token", sim.EndNull)
	nullEnd.EmptyItems, nullEnd.Token.Always = sim.EmptyNull, true
	inner := counted(nextAPI(25, 0, "next", sim.EndNull), "count")
	inner.Next.Host = "inner.invalid"
	guarded := nextAPI(20, 0, "next", sim.EndNull)
	guarded.Auth = sim.Header{Name: "Authorization", Value: "Bearer secret"}
	sets := cursorAPI(10, 0, "resumptionToken", sim.EndNull)
	sets.Filter.Group = "set"
	return []Case{
		{"B097", "the list has another name", quiet(60, api(sim.Page, "data", 20, 0), always(sim.List{Shape: "renamed"})), 20, unknown, 0},
		{"B098", "null for an empty last page", quiet(14, nullEnd), 10, complete, 14},
		{"B100", "next URLs on an inner host", quiet(28, inner), 25, complete, 28},
		{"B101", "credentials on every page", quiet(40, guarded), 20, complete, 40},
		{"B104", "the token loses the filter", func() *sim.Sim {
			w := sim.NewWorld(100, sim.IntID)
			w.Groups = 4
			return sim.New(w, sets, 1, fault(sim.Match{From: 1}, sim.LoseFilter{}))
		}, 10, unknown, -1},
		{"B106", "429 for good on page four", quiet(300, pageAPI(50, 0),
			fault(sim.Match{Page: 4}, sim.Status{Code: 429, Retry: sim.RetrySeconds, Wait: 1})), 50, truncated, 150},
		{"B107", "429 as HTML without a time, twice", quiet(60, pageAPI(20, 0),
			fault(sim.Match{Page: 2, Attempts: []int{1, 2}}, sim.Status{Code: 429, HTML: true})), 20, complete, 60},
		{"B115", "a 304 whose Link says that there is more", quiet(130, api(sim.Link, "", 100, 0),
			fault(sim.Match{IfHeader: "If-None-Match"}, sim.Blank{Code: 304})), 100, complete, 130},
	}
}
