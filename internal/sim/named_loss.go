package sim

import "math"

// lossWorlds are worlds that cannot be drained as they stand: honest clients
// say TRUNCATED or UNKNOWN.
func lossWorlds() []NamedWorld {
	return []NamedWorld{
		{"hard-cap", "Algolia-like: 533,692 hits declared, 1,000 handed out, and past them the total is 0", hardCap},
		{"silent-cap", "asked for 5,000 it gives 1,000, whatever the offset, without total, flag or link", silentCap},
		{"loop", "cursors that lead back to the page before, with has_more true for ever", func(seed uint64) *Sim {
			a := API{
				Style: Cursor, Items: "data", Token: TokenRule{Path: "next_cursor"}, More: MoreRule{Path: "has_more"},
			}
			return New(NewWorld(500, IntID), sized(a, 50, 100), seed, Fault{Match{From: 150}, Loop{2}})
		}},
		{"false-end", "has_more is false on the third page although the total says that more is there", func(seed uint64) *Sim {
			a := API{Style: Page, Items: "data", Total: exact("total"), More: MoreRule{Path: "has_more"}}
			return New(NewWorld(1000, IntID), sized(a, 100, 0), seed, Fault{Match{Page: 3}, EndEarly{}})
		}},
		{"null-at-cap", "the cursor is null after 1,000 of 2,400 items, exactly as at a real end: only who knows the API can tell", func(seed uint64) *Sim {
			a := API{Style: Cursor, Items: "data.children", Token: TokenRule{Path: "data.after"}}
			s := New(NewWorld(2400, SlugID), sized(a, 100, 100), seed, Fault{Effect: Cap{At: 1000, Past: CapEnd}})
			s.Contract.Reach = 1000
			return s
		}},
		{"steady-500", "a page API that answers 500 for good from item 10,000 of 15,000 on", func(seed uint64) *Sim {
			a := API{Style: Page, Items: "data", Total: exact("total")}
			return New(NewWorld(15000, IntID), sized(a, 100, 500), seed, Fault{Match{From: 10000}, Status{Code: 500}})
		}},
		{"tied-keyset", "a keyset over times that blocks of items share: each border loses some", func(seed uint64) *Sim {
			a := API{Style: Keyset, Items: "events", SortField: "ts", Total: exact("total")}
			a.Params.Key = "after_ts"
			return New(NewWorld(1000, IntID).WithTies(7), sized(a, 50, 200), seed)
		}},
		{"silent-drop", "one item in two hundred is never served and never counted: nobody can know", func(seed uint64) *Sim {
			a := API{Style: Offset, Items: "items", Total: exact("total")}
			return New(NewWorld(1000, IntID), sized(a, 100, 0), seed, Fault{Effect: Drop{Every: 200, Agrees: true}})
		}},
	}
}

// The span of the hard cap's items: the first story and a day long after.
const (
	capFrom  = int64(1_160_418_111)
	capTo    = int64(1_763_000_000)
	capItems = 533_688
)

// hardCap is a search that grows while it is read, with a reach of 1,000. It
// can be sliced by created_at_i.
func hardCap(seed uint64) *Sim {
	w := World{Items: make([]Item, capItems), Desc: true}
	for i := range w.Items {
		k := capItems - 1 - i
		at := capFrom + int64(float64(capTo-capFrom)*math.Sqrt(float64(k)/float64(capItems)))
		w.Items[i] = Item{ID: ID{Kind: TextID, N: int64(k + 1)}, Sort: at, Seq: int32(k)}
	}
	for _, before := range []int{2, 5, 8, 9} {
		// Far behind the reach, so that the total moves and the pages do not.
		w.Changes = append(w.Changes, Change{Before: before, Op: Insert, Rank: 400_000})
	}
	a := API{
		Style: Algolia, Path: "/api/v1/search_by_date", Items: "hits", ID: "objectID", SortField: "created_at_i",
		Total:  TotalRule{Kind: TotalExact, Path: "nbHits", KindPath: "exhaustiveNbHits"},
		Last:   LastRule{Path: "nbPages"},
		Echo:   EchoRule{Page: "page"},
		Filter: FilterRule{Numeric: "numericFilters"},
	}
	a.Params = Params{Size: "hitsPerPage", Page: "page"}
	a.Size.Echo = "hitsPerPage"
	s := New(w, sized(a, 100, 1000), seed, Fault{Effect: Cap{At: 1000, Past: CapCollapse, Pages: true}})
	s.Contract.Reach = 1000
	return s
}

func silentCap(seed uint64) *Sim {
	a := API{Style: Offset, Items: "items"}
	return New(NewWorld(3200, IntID), sized(a, 5000, 1000), seed, Fault{Effect: Ignore{Place: true}})
}
