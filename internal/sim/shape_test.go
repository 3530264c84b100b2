package sim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// fetch makes requests of a Sim, one by one.
func fetch(s *Sim, url string) seen {
	c := &http.Client{Transport: s.Transport(), CheckRedirect: stay}
	return look(c, http.MethodGet, "http://api.test"+url, nil, "")
}

// ids are the ids on a page.
func ids(body, path string) string {
	var out []string
	for _, item := range gjson.Get(body, path).Array() {
		out = append(out, item.Get("id").Raw)
	}
	return strings.Join(out, " ")
}

// five is an API over five items, two a page.
func five(change func(*API)) *Sim {
	a := API{Items: "items"}
	a.Size.Default = 2
	change(&a)
	return New(NewWorld(5, IntID), a, 1)
}

// TestBodies says what whole answers look like, by path and value.
func TestBodies(t *testing.T) {
	cases := []struct {
		name   string
		change func(*API)
		url    string
		want   map[string]string // GJSON path to raw value; "" is absent
	}{
		{"exact total", func(a *API) { a.Total = exact("meta.total") }, "/items", map[string]string{"meta.total": "5"}},
		{"total as text", func(a *API) { a.Total = TotalRule{Kind: TotalExact, Path: "count", Text: true} }, "/items",
			map[string]string{"count": `"5"`}},
		{"estimate", func(a *API) { a.Total = TotalRule{Kind: TotalEstimate, Path: "n", Value: 201, KindPath: "exact"} }, "/items",
			map[string]string{"n": "201", "exact": "false"}},
		{"bound reached", func(a *API) { a.Total = TotalRule{Kind: TotalBound, Path: "n", Value: 3, KindPath: "rel"} }, "/items",
			map[string]string{"n": "3", "rel": `"gte"`}},
		{"bound not reached", func(a *API) { a.Total = TotalRule{Kind: TotalBound, Path: "n", Value: 9, KindPath: "rel"} }, "/items",
			map[string]string{"n": "5", "rel": `"eq"`}},
		{"rest", func(a *API) { a.Total = TotalRule{Kind: TotalRest, Path: "n"} }, "/items?page=1", map[string]string{"n": "3"}},
		{"rest later", func(a *API) { a.Total = TotalRule{Kind: TotalRest, Path: "n"}; a.FirstPage = 1 }, "/items?page=3",
			map[string]string{"n": "1"}},
		{"echo", func(a *API) { a.Total = TotalRule{Kind: TotalEcho, Path: "n"} }, "/items", map[string]string{"n": "2"}},
		{"fixed", func(a *API) { a.Total = TotalRule{Kind: TotalFixed, Path: "n", Value: 88} }, "/items", map[string]string{"n": "88"}},
		{"absent over", func(a *API) { a.Total = TotalRule{Kind: TotalExact, Path: "n", AbsentOver: 4} }, "/items", map[string]string{"n": ""}},
		{"more", func(a *API) { a.More.Path = "more" }, "/items", map[string]string{"more": "true"}},
		{"no more", func(a *API) { a.More.Path = "more"; a.Style = Offset }, "/items?offset=4", map[string]string{"more": "false"}},
		{"inverted", func(a *API) { a.More = MoreRule{Path: "done", Inverted: true} }, "/items", map[string]string{"done": "false"}},
		{"absent false", func(a *API) { a.More = MoreRule{Path: "more", AbsentFalse: true}; a.Style = Offset }, "/items?offset=4",
			map[string]string{"more": ""}},
		{"page count", func(a *API) { a.Last.Path = "pages" }, "/items", map[string]string{"pages": "3"}},
		{"page count by another size", func(a *API) { a.Last = LastRule{Path: "pages", Size: 10} }, "/items", map[string]string{"pages": "1"}},
		{"clamped size", func(a *API) { a.Size.Max = 3 }, "/items?limit=50", map[string]string{"items.#": "3"}},
		{"clamped size with echo", func(a *API) { a.Size.Max, a.Size.Echo = 3, "limit" }, "/items?limit=50", map[string]string{"limit": "3"}},
		{"echo of what was asked", func(a *API) { a.Size.Max, a.Size.Echo, a.Size.EchoAsked = 3, "limit", true }, "/items?limit=50",
			map[string]string{"limit": "50"}},
		{"cursor at the end: null", func(a *API) { a.Style = Cursor; a.Token.Path = "next" }, "/items?limit=9", map[string]string{"next": "null"}},
		{"cursor at the end: empty", func(a *API) { a.Style = Cursor; a.Token = TokenRule{Path: "next", End: EndEmpty} }, "/items?limit=9",
			map[string]string{"next": `""`}},
		{"cursor at the end: absent", func(a *API) { a.Style = Cursor; a.Token = TokenRule{Path: "next", End: EndAbsent} }, "/items?limit=9",
			map[string]string{"next": ""}},
		{"null list", func(a *API) { a.EmptyItems = EmptyNull }, "/items?page=9", map[string]string{"items": "null"}},
		{"absent list", func(a *API) { a.EmptyItems = EmptyAbsent }, "/items?page=9", map[string]string{"items": ""}},
		{"clamped page", func(a *API) { a.PastEnd = PastClamp; a.Echo.Page = "page"; a.FirstPage = 1 }, "/items?page=9",
			map[string]string{"page": "3", "items.#": "1"}},
		{"projection hides the marker", func(a *API) { a.Style = Cursor; a.Token.Path = "next"; a.Params.Fields = "fields" },
			"/items?fields=items(id)", map[string]string{"next": "", "items.#": "2"}},
		{"projection with the marker", func(a *API) { a.Style = Cursor; a.Token.Path = "next"; a.Params.Fields = "fields" },
			"/items?fields=next,items(id)", map[string]string{"items.#": "2", "items.0.id": "1"}},
		{"extra first", func(a *API) { a.Extra = []Extra{{"ok", "true"}} }, "/items", map[string]string{"ok": "true"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := fetch(five(c.change), c.url)
			if !json.Valid([]byte(got.Body)) || got.Status != http.StatusOK {
				t.Fatalf("status %d, body %s", got.Status, got.Body)
			}
			for path, raw := range c.want {
				if v := gjson.Get(got.Body, path).Raw; v != raw {
					t.Errorf("%s is %q, want %q in %s", path, v, raw, got.Body)
				}
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	cases := []struct {
		name, header, want string
		change             func(*API)
		url                string
	}{
		{"total", "X-Total", "5", func(a *API) { a.Total = TotalRule{Kind: TotalExact, Header: "X-Total"} }, "/items"},
		{"range", "Content-Range", "items 2-3/5",
			func(a *API) {
				a.Style = Offset
				a.Total = TotalRule{Kind: TotalExact, Header: "Content-Range", Range: true}
			}, "/items?offset=2"},
		{"range of nothing", "Content-Range", "items */5",
			func(a *API) {
				a.Style = Offset
				a.Total = TotalRule{Kind: TotalExact, Header: "Content-Range", Range: true}
			}, "/items?offset=8"},
		{"more", "X-More", "true", func(a *API) { a.More.Header = "X-More" }, "/items"},
		{"pages", "X-Pages", "3", func(a *API) { a.Last.Header = "X-Pages" }, "/items"},
		{"next page", "X-Next-Page", "2", func(a *API) {
			a.Style, a.FirstPage, a.Token = Cursor, 1, TokenRule{Kind: TokenPage, Header: "X-Next-Page", End: EndEmpty}
		}, "/items"},
		{"plain link", "Link", `<http://api.test/items?limit=2&page=2>; rel="next"`, func(a *API) { a.Style, a.FirstPage = Link, 1 }, "/items?limit=2"},
		{"relative link", "Link", `</items?page=2>; rel="next"`, func(a *API) { a.Style, a.FirstPage, a.Links.Relative = Link, 1, true }, "/items"},
		{"unquoted link", "Link", `<http://api.test/items?page=2>; rel=next; title="two"`,
			func(a *API) { a.Style, a.FirstPage, a.Links.Form = Link, 1, LinkUnquoted }, "/items"},
		{"last and first", "Link", `<http://api.test/items?page=1>; rel="first", <http://api.test/items?page=3>; rel="last"`,
			func(a *API) { a.Style, a.FirstPage, a.Links = Link, 1, LinkRule{Others: true, Last: true} }, "/items?page=3"},
		{"no link at the end", "Link", "", func(a *API) { a.Style, a.FirstPage = Link, 1 }, "/items?page=3"},
		{"results false at the end", "Link", `<http://api.test/items?page=4>; rel="next"; results="false"`,
			func(a *API) { a.Style, a.FirstPage, a.Links.Form = Link, 1, LinkResults }, "/items?page=3"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := fetch(five(c.change), c.url)
			if v := got.Header.Get(c.header); v != c.want {
				t.Errorf("%s: %q, want %q", c.header, v, c.want)
			}
		})
	}
}

func TestStatuses(t *testing.T) {
	cases := []struct {
		name   string
		change func(*API)
		url    string
		want   int
	}{
		{"size refused", func(a *API) { a.Size.Max, a.Size.Over = 3, OverReject }, "/items?limit=4", 400},
		{"past the end", func(a *API) { a.PastEnd = Past404 }, "/items?page=7", 404},
		{"past the end, 422", func(a *API) { a.PastEnd = Past422; a.Style = Offset }, "/items?offset=5", 422},
		{"bad cursor", func(a *API) { a.Style = Cursor; a.Token.Path = "next" }, "/items?cursor=garbage", 400},
		{"keyset item gone", func(a *API) { a.Style = Keyset; a.Key.ByItem = true }, "/items?after=77", 400},
		{"no credentials", func(a *API) { a.Auth = Header{"X-Key", "k"} }, "/items", 401},
		{"wrong method", func(a *API) { a.Post = true }, "/items", 405},
		{"elsewhere", func(*API) {}, "/nothing", 404},
		{"count", func(a *API) { a.Count = "/count" }, "/count", 200},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := fetch(five(c.change), c.url); got.Status != c.want {
				t.Errorf("status %d, want %d: %s", got.Status, c.want, got.Body)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	cases := []struct {
		name   string
		change func(*API)
		url    string
		want   string
	}{
		{"page from 0", func(*API) {}, "/items?page=1", "3 4"},
		{"page from 1", func(a *API) { a.FirstPage = 1 }, "/items?page=1", "1 2"},
		{"page at another size", func(*API) {}, "/items?page=1&limit=3", "4 5"},
		{"offset", func(a *API) { a.Style = Offset }, "/items?offset=3", "4 5"},
		{"keyset by item", func(a *API) { a.Style, a.Key.ByItem = Keyset, true }, "/items?after=2", "3 4"},
		{"keyset by sort key", func(a *API) { a.Style = Keyset }, "/items?after=" + key(2), "3 4"},
		{"inclusive keyset", func(a *API) { a.Style, a.Key.Inclusive = Keyset, true }, "/items?after=" + key(2), "2 3"},
		{"composite keyset", func(a *API) { a.Style, a.Params.KeyThen = Keyset, "id" }, "/items?after=" + key(2) + "&id=2", "3 4"},
		{"reverse", func(a *API) { a.Reverse = "reverse" }, "/items?reverse=true", "5 4"},
		{"range", func(a *API) { a.Filter = FilterRule{From: "from", To: "to"} }, "/items?from=" + key(2) + "&to=" + key(4), "2 3"},
		{"closed range", func(a *API) { a.Filter = FilterRule{From: "from", To: "to", Closed: true}; a.Size.Default = 9 },
			"/items?from=" + key(2) + "&to=" + key(4), "2 3 4"},
		{"numeric filter", func(a *API) { a.Filter.Numeric = "f" }, "/items?f=rank%3E%3D" + key(4) + ",rank%3C" + key(5), "4"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := fetch(five(c.change), c.url)
			if v := ids(got.Body, "items"); v != c.want {
				t.Errorf("items %q, want %q: %s", v, c.want, got.Body)
			}
		})
	}
}

// key is the sort key of the item with this id in a new world.
func key(id int) string { return strconv.FormatInt(sortBase+int64(id-1)*sortGap, 10) }

func TestPlan(t *testing.T) {
	a := API{Style: Cursor, Items: "items", Plan: []int{3, 0, 2}, Token: TokenRule{Path: "next", End: EndAbsent}}
	s := New(NewWorld(5, IntID), a, 1)
	var got []string
	for url := "/items"; url != ""; {
		page := fetch(s, url)
		got = append(got, ids(page.Body, "items"))
		url = ""
		if next := gjson.Get(page.Body, "next"); next.Exists() {
			url = "/items?cursor=" + next.String()
		}
	}
	if want := []string{"1 2 3", "", "4 5"}; !slices.Equal(got, want) {
		t.Errorf("pages %q, want %q", got, want)
	}
}

func TestGraphQLSendsWhatIsSelected(t *testing.T) {
	a := API{Style: GraphQL, Items: "data.things.nodes", Total: exact("data.things.totalCount")}
	a.Token.Path, a.More.Path = "data.things.pageInfo.endCursor", "data.things.pageInfo.hasNextPage"
	s := New(NewWorld(5, IntID), a, 1)
	c := &http.Client{Transport: s.Transport()}
	body := `{"query":"{things{nodes{id} pageInfo{hasNextPage}}}","variables":{"first":2}}`
	got := look(c, http.MethodPost, "http://api.test/items", nil, body)
	if gjson.Get(got.Body, "data.things.totalCount").Exists() || ids(got.Body, "data.things.nodes") != "1 2" {
		t.Errorf("body %s", got.Body)
	}
}

func TestSnapshotStandsStill(t *testing.T) {
	w := NewWorld(6, IntID)
	w.Changes = []Change{{Before: 2, Op: Delete, Rank: 0}, {Before: 2, Op: Insert, Rank: 1}}
	a := API{Style: Cursor, Items: "items", Token: TokenRule{Kind: TokenSnapshot, Path: "next"}}
	s := New(w, sized(a, 2, 0), 1)
	first := fetch(s, "/items")
	second := fetch(s, "/items?cursor="+gjson.Get(first.Body, "next").String())
	if got := ids(first.Body, "items") + " " + ids(second.Body, "items"); got != "1 2 3 4" {
		t.Errorf("items %s", got)
	}
}

func TestPinReadsOneRevision(t *testing.T) {
	w := NewWorld(6, IntID)
	w.Changes = []Change{{Before: 2, Op: Delete, Rank: 0}}
	a := API{Style: Offset, Items: "items", Params: Params{Pin: "revision"}, Echo: EchoRule{Pin: "header.revision"}}
	s := New(w, sized(a, 2, 0), 1)
	rev := gjson.Get(fetch(s, "/items").Body, "header.revision").String()
	if got := ids(fetch(s, "/items?offset=2&revision="+rev).Body, "items"); got != "3 4" {
		t.Errorf("pinned page %s", got)
	}
	if got := ids(fetch(s, "/items?offset=2").Body, "items"); got != "4 5" {
		t.Errorf("live page %s", got)
	}
}

func TestFormats(t *testing.T) {
	for format, want := range map[Format]string{
		NDJSON: "{\"id\":1,\"rank\":4294967296,\"title\":\"caf\\u00e9 é 1.0\"}\n",
		CSV:    "id,rank,title\r\n1,4294967296,\"caf\"\"é\"\" é 1.0\"\r\n",
		XML: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed><item><id>1</id><rank>4294967296</rank>" +
			"<title>café é 1.0</title></item></feed>\n",
	} {
		s := New(NewWorld(1, IntID), API{Format: format}, 1)
		if got := fetch(s, "/items").Body; got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
}

func TestKeyOf(t *testing.T) {
	s := New(NewWorld(1, IntID), API{ID: "meta.id"}, 1)
	for item, want := range map[string]string{
		`{"meta":{"id":1}}`:                `1`,
		`{"meta":{"id":1.0}}`:              `1`,
		`{"meta":{"id":1e2}}`:              `100`,
		`{"meta":{"id":"1"}}`:              `"1"`,
		`{"meta":{"id":9007199254740993}}`: `9007199254740993`,
		`{"b":1, "a":2}`:                   `{"a":2,"b":1}`,
		`{"meta":{"id":null}}`:             `{"meta":{"id":null}}`,
	} {
		if got, err := s.KeyOf([]byte(item)); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", item, got, err, want)
		}
	}
	for _, bad := range []string{"null", "17", "{"} {
		if _, err := s.KeyOf([]byte(bad)); err == nil {
			t.Errorf("no error for %s", bad)
		}
	}
}
