package sim

import (
	"fmt"
	"slices"
	"testing"
)

// read asks for URLs in turn and gives the truth.
func read(s *Sim, urls ...string) Truth {
	for _, u := range urls {
		fetch(s, u)
	}
	return s.Truth()
}

// offsets are the URLs of pages of two.
func offsets(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("/items?offset=%d", 2*i))
	}
	return out
}

func TestUnknowable(t *testing.T) {
	counted := API{Style: Offset, Items: "items", Total: exact("total"), More: MoreRule{Path: "more"}}
	flagged := API{Style: Offset, Items: "items", More: MoreRule{Path: "more"}}
	bare := API{Style: Offset, Items: "items"}
	swapped := []Change{{Before: 2, Op: Delete, Rank: 0}, {Before: 2, Op: Insert, Rank: 99}}
	cases := []struct {
		name    string
		api     API
		changes []Change
		fault   Effect
		match   Match
		ends    []string
		pages   int
		want    bool
	}{
		{"lying flag, nothing against it", flagged, nil, EndEarly{}, Match{From: 2}, nil, 2, true},
		{"lying flag against a total", counted, nil, EndEarly{}, Match{From: 2}, nil, 2, false},
		{"lying flag, and a look behind it", flagged, nil, EndEarly{}, Match{From: 2, To: 2}, nil, 3, false},
		{"the client stops by itself", flagged, nil, NoTotal{}, Match{}, nil, 2, false},
		{"dropped and not counted", counted, nil, Drop{Every: 4, Agrees: true}, Match{}, nil, 3, true},
		{"dropped and counted", counted, nil, Drop{Every: 4}, Match{}, nil, 4, false},
		{"one out, one in", counted, swapped, NoTotal{}, Match{After: 99}, nil, 4, true},
		{"one out", counted, swapped[:1], NoTotal{}, Match{After: 99}, nil, 4, false},
		{"one out, with no total", flagged, swapped[:1], NoTotal{}, Match{}, nil, 4, true},
		{"a page that never came", flagged, nil, Status{Code: 500}, Match{From: 6}, nil, 4, false},
		{"nothing says that it ends", bare, nil, Keep{4}, Match{}, nil, 3, false},
		{"only the contract says that it ends", bare, nil, Keep{4}, Match{}, []string{"empty_page"}, 3, true},
		{"the contract's end was not reached", bare, nil, Keep{4}, Match{}, []string{"empty_page"}, 2, false},
		{"cap with a total", counted, nil, Cap{At: 4, Past: CapCollapse}, Match{}, nil, 3, false},
		{"cap that ends without a total", flagged, nil, Cap{At: 4, Past: CapEnd}, Match{}, nil, 2, true},
		{"unsteady order", counted, nil, Swap{}, Match{}, nil, 4, false},
		{"null instead of an item", flagged, nil, Nulls{}, Match{From: 2, To: 2}, nil, 4, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := NewWorld(8, IntID)
			w.Changes = c.changes
			s := New(w, sized(c.api, 2, 0), 1, Fault{c.match, c.fault})
			s.Contract.Ends = c.ends
			got := read(s, offsets(c.pages)...)
			if got.Unknowable != c.want {
				t.Errorf("unknowable %t (%s), want %t\n%s", got.Unknowable, got.Reason, c.want, dump(s))
			}
		})
	}
}

func TestTruthOfAWholeRun(t *testing.T) {
	s := eight()
	got := read(s, offsets(4)...)
	want := []string{"1", "2", "3", "4", "5", "6", "7", "8"}
	if !slices.Equal(got.Always, want) || len(got.Ever) != 8 || len(got.Served) != 8 || got.Unknowable || !got.Drainable {
		t.Errorf("truth %+v", got)
	}
}

func TestServedLeavesOutWhatNobodyCanRead(t *testing.T) {
	s := eight(Fault{Match{From: 2}, Half{Framing: ByLength}})
	if got := read(s, offsets(4)...); len(got.Served) != 2 {
		t.Errorf("served %v", got.Served)
	}
}

func TestTruthIsOfTheFilteredList(t *testing.T) {
	w := NewWorld(9, IntID)
	w.Groups = 3
	s := New(w, API{Style: Offset, Items: "items", Filter: FilterRule{Group: "set"}}, 1)
	if got := read(s, "/items?set=A"); !slices.Equal(got.Always, []string{"1", "4", "7"}) || len(got.Served) != 3 {
		t.Errorf("truth %+v", got)
	}
}

func TestDrainable(t *testing.T) {
	base := API{Style: Offset, Items: "items", Total: exact("total")}
	moving := NewWorld(8, IntID)
	moving.Changes = []Change{{Before: 2, Op: Delete}}
	cases := []struct {
		name  string
		sim   *Sim
		ends  []string
		wants bool
	}{
		{"clean", New(NewWorld(8, IntID), base, 1), nil, true},
		{"passing fault", New(NewWorld(8, IntID), base, 1, Fault{Match{Attempts: []int{1, 2}}, Half{Framing: Chunked}}), nil, true},
		{"fault above a size", New(NewWorld(8, IntID), base, 1, Fault{Match{SizeOver: 3}, Half{Framing: Chunked}}), nil, true},
		{"fault that stays", New(NewWorld(8, IntID), base, 1, Fault{Match{From: 4}, Half{Framing: Chunked}}), nil, false},
		{"fault by chance", New(NewWorld(8, IntID), base, 1, Fault{Match{Percent: 10}, Half{Framing: Chunked}}), nil, false},
		{"cap", New(NewWorld(8, IntID), base, 1, Fault{Effect: Cap{At: 3}}), nil, false},
		{"moving", New(moving, base, 1), nil, false},
		{"empty", New(NewWorld(0, IntID), base, 1), nil, false},
		{"nothing tells the end", New(NewWorld(8, IntID), API{Style: Offset, Items: "items"}, 1), nil, false},
		{"a contract tells the end", New(NewWorld(8, IntID), API{Style: Offset, Items: "items"}, 1), []string{"empty_page"}, true},
		{"wrong total", New(NewWorld(8, IntID), API{Style: Page, Items: "i", Total: TotalRule{Kind: TotalFixed, Path: "n"}}, 1), nil, false},
		{"ties under a keyset", New(NewWorld(8, IntID).WithTies(2), API{Style: Keyset, Items: "i", Total: exact("n")}, 1), nil, false},
		{"single", New(NewWorld(8, IntID), API{Style: Single, Items: "i", Total: exact("n")}, 1), nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.sim.Contract.Ends = c.ends
			if got := c.sim.Truth(); got.Drainable != c.wants {
				t.Errorf("drainable %t (%s), want %t", got.Drainable, got.Why, c.wants)
			}
		})
	}
}

func TestCutLogIsNeverUnknowable(t *testing.T) {
	a := API{Style: Offset, Items: "items", More: MoreRule{Path: "more"}}
	s := New(NewWorld(8, IntID), sized(a, 2, 0), 1, Fault{Match{From: 2}, EndEarly{}})
	s.LogLimit = 1
	if got := read(s, offsets(4)[0], offsets(4)[1], offsets(4)[0]); got.Unknowable || len(s.Log()) > 2 {
		t.Errorf("unknowable %t with %d entries", got.Unknowable, len(s.Log()))
	}
}
