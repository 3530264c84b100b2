package simtest

import "lastdrop/internal/sim"

func caps() []Case {
	algolia := sim.API{
		Style: sim.Algolia, Items: "hits", ID: "objectID", SortField: "created_at_i", Last: sim.LastRule{Path: "nbPages"},
		Total:  sim.TotalRule{Kind: sim.TotalJitter, Path: "nbHits", Value: 3, KindPath: "exhaustiveNbHits"},
		Filter: sim.FilterRule{Numeric: "numericFilters"},
	}
	algolia.Params = sim.Params{Size: "hitsPerPage", Page: "page"}
	algolia.Size.Default, algolia.Size.Max = 100, 1000
	still := algolia
	still.Total = sim.TotalRule{Kind: sim.TotalExact, Path: "nbHits"}
	github := counted(api(sim.Link, "items", 100, 100), "total_count")
	github.Links = sim.LinkRule{Others: true, Last: true}
	hubspot := counted(cursorAPI(100, 0, "paging.next.after", sim.EndAbsent), "total")
	hubspot.Token.Kind, hubspot.SortField, hubspot.Filter = sim.TokenOffset, "modified", sim.FilterRule{From: "since"}
	ckan := counted(api(sim.Offset, "result.records", 100_000, 32_000), "result.total")
	ckan.Size.Echo = "result.limit"
	notice := sim.Notice{Raw: "limit exceeded,result truncated,limit exceeded"}
	reddit := func() *sim.Sim {
		s := quiet(2400, cursorAPI(100, 100, "data.after", sim.EndNull), always(sim.Cap{At: 1000, Past: sim.CapEnd}))()
		s.Contract.Reach = 1000
		return s
	}
	return []Case{
		{"B019", "a reach of 1,000 behind which the total is 0", quiet(5562, algolia,
			always(sim.Cap{At: 1000, Past: sim.CapCollapse, Pages: true})), 100, truncated, 1000},
		{"B020", "a page count that is cut to the reach", quiet(7572, still,
			always(sim.Cap{At: 1000, Past: sim.CapEmpty, Pages: true})), 1000, truncated, 1000},
		{"B022", "rel=last speaks of the reach, the body of the truth", quiet(3041, github,
			always(sim.Cap{At: 1000, Past: sim.CapEnd, Pages: true})), 100, truncated, 1000},
		{"B023", "400 from 10,000 on", quiet(12_500, hubspot,
			always(sim.Cap{At: 10_000, Past: sim.CapError, Code: 400})), 100, complete, 12_500},
		{"B025", "a limit lowered to 32,000, and told", quiet(96_500, ckan), 100_000, complete, 96_500},
		{"B028", "250 whatever is asked and skipped", quiet(900, api(sim.Offset, "changes", 1000, 250),
			always(sim.Ignore{Place: true})), 1000, unknown, 250},
		{"B029", "a null cursor after 1,000", reddit, 100, unknown, 1000},
		{"B032", "a notice as the last row of a CSV", quiet(5000, formatted(sim.CSV),
			always(sim.Keep{Items: 1000}), always(notice)), 0, truncated, 1000},
		{"B034", "500 for good from 10,000 on", quiet(15_000, pageAPI(100, 0),
			fault(sim.Match{From: 10_000}, sim.Status{Code: 500})), 100, truncated, 10_000},
		{"B119", "ties at the border of the reach", tiedCap(hubspot), 100, complete, 10_040},
		{"B122", "a limit that holds for each stream", streams, 1000, truncated, 2000},
	}
}

// tiedCap has a block of 60 equal times around its reach.
func tiedCap(a sim.API) func() *sim.Sim {
	return func() *sim.Sim {
		w := sim.NewWorld(10_040, sim.IntID)
		for i := 9_980; i < len(w.Items); i++ {
			w.Items[i].Sort = w.Items[9_980].Sort
		}
		return sim.New(w, a, 1, always(sim.Cap{At: 10_000, Past: sim.CapError, Code: 400}))
	}
}

// streams are two lists of 3,000 in one, each cut at 1,000.
func streams() *sim.Sim {
	w := sim.NewWorld(6000, sim.IntID)
	w.Groups = 2
	a := sim.API{Style: sim.Single, Items: "lines", Filter: sim.FilterRule{From: "start", To: "end"}}
	return sim.New(w, a, 1, always(sim.GroupCap{At: 1000}))
}

func sizes() []Case {
	asked := nextAPI(500, 200, "next", sim.EndAbsent)
	asked.Next.Asked = true
	wordpress := api(sim.Page, "", 5, 0)
	wordpress.Total = sim.TotalRule{Kind: sim.TotalExact, Header: "X-WP-Total"}
	wordpress.Last = sim.LastRule{Header: "X-WP-TotalPages", Size: 10}
	wordpress.PastEnd = sim.Past400
	slack := cursorAPI(20, 0, "next_cursor", sim.EndEmpty)
	slack.Plan = []int{9, 0, 12, 3, 0, 13}
	registry := api(sim.Link, "repositories", 100, 1000)
	registry.Size.Over, registry.Addressing, registry.Key.ID = sim.OverReject, sim.ByKey, true
	registry.Params.Size, registry.Params.Key, registry.Links.Relative = "n", "last", true
	names := func() *sim.Sim {
		s := sim.New(sim.NewWorld(2345, sim.SlugID).WithOrderedIDs(), registry, 1)
		s.Contract.Ends = []string{"absent_link"}
		return s
	}
	half := sim.Half{Framing: sim.Rewritten}
	return []Case{
		{"B055", "a smaller size must keep the place", quiet(260, pageAPI(100, 0),
			fault(sim.Match{SizeOver: 50, From: 100}, half)), 100, complete, 260},
		{"B055b", "sizes that do not divide", quiet(260, pageAPI(100, 0),
			fault(sim.Match{SizeOver: 40, From: 100}, half)), 100, complete, 260},
		{"B056", "next links that advance by the size that was asked", quiet(430, asked), 500, complete, 430},
		{"B058", "200 items where 500 were asked", quiet(1300, offsetAPI(500, 0),
			fault(at(500), sim.Short{Keep: 200})), 500, complete, 1300},
		{"B059", "a page count for another size", quiet(45, wordpress), 5, complete, 45},
		{"B061", "filters behind the paging", quiet(37, slack), 20, complete, 37},
		{"B062", "a size above the maximum is refused", names, 10_000, complete, 2345},
	}
}
