package sim

import (
	"slices"
	"strings"
)

// NamedWorld is a ready Sim with a name, for demonstrations and for anyone's
// client to be tried on.
type NamedWorld struct {
	Name string
	// About says in one line what is hostile about it.
	About string
	make  func(seed uint64) *Sim
}

// New is a fresh Sim of the world.
func (w NamedWorld) New(seed uint64) *Sim { return w.make(seed) }

// Config is a config file for the world; base is the address that it is served
// under, with the prefix if there is one.
func (w NamedWorld) Config(base string) string {
	return "# " + w.About + "\n" + w.hints().YAML(w.Name, base)
}

// SlicedConfig is the same with its slices, which Config gives as a comment; ok
// is false for a world that takes none.
func (w NamedWorld) SlicedConfig(base string) (config string, ok bool) {
	plain, slice, ok := strings.Cut(w.Config(base), "\n# slice:")
	return plain + "\nslice:" + strings.ReplaceAll(slice, "\n# ", "\n"), ok
}

// hints are the hints of a fresh Sim.
func (w NamedWorld) hints() ClientHints { return w.New(1).Hints() }

// Named is the world of a name.
func Named(name string) (NamedWorld, bool) {
	worlds := NamedWorlds()
	i := slices.IndexFunc(worlds, func(w NamedWorld) bool { return w.Name == name })
	if i < 0 {
		return NamedWorld{}, false
	}
	return worlds[i], true
}

// NamedWorlds lists every named world, the plain one first and then by name.
func NamedWorlds() []NamedWorld {
	worlds := append(shapeWorlds(), faultWorlds()...)
	worlds = append(worlds, lossWorlds()...)
	slices.SortFunc(worlds, func(a, b NamedWorld) int { return strings.Compare(a.Name, b.Name) })
	honest := NamedWorld{
		Name: "honest", About: "2,350 items behind page links with an exact total: nothing is wrong", make: honestWorld,
	}
	return append([]NamedWorld{honest}, worlds...)
}

// sized is an API with a page size of its own.
func sized(a API, def, most int) API {
	a.Size.Default, a.Size.Max = def, most
	return a
}

// exact is an exact total at a path.
func exact(path string) TotalRule { return TotalRule{Kind: TotalExact, Path: path} }

func honestWorld(seed uint64) *Sim {
	a := API{Style: Link, Items: "items", Total: exact("total"), Links: LinkRule{Others: true, Last: true}}
	a.Params.Size = "per_page"
	return New(NewWorld(2350, IntID), sized(a, 100, 500), seed)
}

// shapeWorlds are honest worlds of unusual shapes.
func shapeWorlds() []NamedWorld {
	return []NamedWorld{
		{"big-ids", "ids beyond 2^53, and ids that differ by type only: 1 and \"1\"", func(seed uint64) *Sim {
			w := NewWorld(600, BigID).WithKinds(BigID, IntID, TextID)
			return New(w, sized(API{Style: Offset, Items: "rows", Total: exact("total")}, 50, 0), seed)
		}},
		{"graphql", "a Relay connection whose second try of every third page works", func(seed uint64) *Sim {
			a := API{
				Style: GraphQL, Items: "data.things.nodes", Total: exact("data.things.totalCount"),
				Token: TokenRule{Path: "data.things.pageInfo.endCursor", Always: true},
				More:  MoreRule{Path: "data.things.pageInfo.hasNextPage"},
			}
			return New(NewWorld(500, IntID), sized(a, 50, 100), seed,
				Fault{Match{Every: 3, Attempts: []int{1}}, GraphErrors{}})
		}},
		{"empty-pages", "a cursor API with runs of empty pages in the middle: only the cursor counts", func(seed uint64) *Sim {
			a := API{Style: Cursor, Items: "channels", Token: TokenRule{Path: "next_cursor", End: EndEmpty}}
			return New(NewWorld(300, SlugID), sized(a, 30, 100), seed,
				Fault{Match{From: 60}, Empty{Next: true, Run: 3}})
		}},
		{"snapshot", "a scroll over a frozen list: inserts and deletes do not touch it", func(seed uint64) *Sim {
			a := API{
				Style: Cursor, Items: "hits.hits", Total: exact("hits.total"), ID: "_id",
				Token: TokenRule{Kind: TokenSnapshot, Path: "_scroll_id", Always: true},
			}
			w := NewWorld(800, TextID)
			w.Churn = Churn{Every: 2}
			return New(w, sized(a, 100, 0), seed)
		}},
		{"inner-host", "next URLs that name a host behind the proxy: they need rebasing", func(seed uint64) *Sim {
			a := API{
				Style: NextURL, Items: "results", Total: exact("count"),
				Next: NextRule{Path: "next", Host: "inner.invalid:8080"},
			}
			return New(NewWorld(280, IntID), sized(a, 25, 100), seed)
		}},
	}
}

// faultWorlds are worlds that fail and can be drained all the same.
func faultWorlds() []NamedWorld {
	return []NamedWorld{
		{"half-bodies", "GitHub-like: pages of 100 are cut with a status of 200 nearly always, small ones never", halfBodies},
		{"error-200", "errors that come with a status of 200: beside the page, instead of it, and as a part", error200},
		{"rate-limited", "every fifth request is a 429, with and without a time to wait, as JSON and as HTML", rateLimited},
		{"gzip", "compressed bodies that lose their trailer or their second member above 50 items", func(seed uint64) *Sim {
			a := API{Style: Page, Items: "data", Total: exact("total"), Gzip: GzipAsked}
			return New(NewWorld(700, IntID), sized(a, 100, 0), seed,
				Fault{Match{SizeOver: 50, From: 200}, GzipCut{Close: true}},
				Fault{Match{SizeOver: 50, From: 400}, GzipCut{Members: true}})
		}},
		{"login", "an HTML login page with a status of 200 in the middle of the walk, twice", func(seed uint64) *Sim {
			a := API{Style: Page, Items: "data", More: MoreRule{Path: "has_more"}}
			return New(NewWorld(400, IntID), sized(a, 50, 100), seed,
				Fault{Match{Page: 4, Attempts: []int{1, 2}}, LoginPage()})
		}},
		{"drift", "an offset API with an exact total, with inserts and deletes while it is read", drifting},
		{"unstable", "a sort key with ties: the items at every page border change places", func(seed uint64) *Sim {
			a := API{Style: Offset, Items: "items", Total: exact("total")}
			return New(NewWorld(1000, IntID).WithTies(10), sized(a, 100, 200), seed, Fault{Effect: Swap{}})
		}},
	}
}

func halfBodies(seed uint64) *Sim {
	a := API{Style: Link, Path: "/repos/lastdrop/sim/commits", ID: "sha", Links: LinkRule{Others: true, Last: true}}
	a.Params.Size = "per_page"
	w := NewWorld(1200, SlugID)
	w.Payload = 500
	return New(w, sized(a, 100, 0), seed,
		Fault{Match{SizeOver: 100}, Half{Framing: ByLength}},
		Fault{Match{SizeOver: 50, Percent: 94}, Half{Framing: ByLength, At: 49311}})
}

func error200(seed uint64) *Sim {
	a := API{Style: Offset, Items: "elements", Total: exact("total")}
	return New(NewWorld(600, IntID), sized(a, 100, 0), seed,
		Fault{Match{Every: 4, Attempts: []int{1}}, Beside{Path: "remark", JSON: `"runtime error: query timed out"`, Hollow: true}},
		Fault{Match{Every: 7, Attempts: []int{1, 2}}, ErrorObject("upstream request timeout")},
		Fault{Match{SizeOver: 60, From: 300}, Partial{Kind: "timed_out", Keep: 41, Total: true}})
}

func rateLimited(seed uint64) *Sim {
	a := API{Style: Page, Items: "data", Total: exact("meta.total")}
	limit := func(every int, s Status) Fault { return Fault{Match{Every: every}, s} }
	return New(NewWorld(900, IntID), sized(a, 50, 100), seed,
		limit(15, Status{Code: 429, HTML: true}),
		limit(10, Status{Code: 429, Retry: RetryDate, Wait: 2}),
		limit(5, Status{Code: 429, Retry: RetrySeconds, Wait: 1}))
}

func drifting(seed uint64) *Sim {
	a := API{Style: Offset, Items: "messages", Total: exact("total")}
	w := NewWorld(1000, IntID).Newest()
	w.Changes = []Change{
		{Before: 3, Op: Insert}, {Before: 5, Op: Delete, Rank: 40}, {Before: 7, Op: Insert}, {Before: 7, Op: Insert},
		{Before: 9, Op: Delete, Rank: 700}, {Before: 10, Op: Delete, Rank: 10},
	}
	return New(w, sized(a, 100, 200), seed)
}
