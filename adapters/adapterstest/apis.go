package adapterstest

import (
	"encoding/json"
	"net/http"
	"strconv"

	"lastdrop/adapters"
)

// APIs returns the built-in servers of a style, none for a style that it does
// not know.
func APIs(style string) []API {
	switch style {
	case "single":
		return []API{singleAPI()}
	case "page":
		return []API{pageAPI("from 1", 1, 0), pageAPI("from 0", 0, 0), pageAPI("clamped", 1, 3), pagePost(), pageUnsized()}
	case "offset":
		return []API{offsetAPI("plain", 0, 0), offsetAPI("from 1", 1, 0), offsetAPI("clamped", 0, 3), offsetPost()}
	case "algolia":
		return []API{algoliaAPI()}
	case "cursor":
		return []API{cursorAPI(), cursorHeader(), cursorPost(), cursorMerged(), cursorURL()}
	case "keyset":
		return []API{keysetAPI("exclusive", false), keysetAPI("inclusive", true), keysetPost()}
	case "graphql":
		return []API{graphqlAPI()}
	case "link":
		return append(linkAPIs(style), numberedLink())
	case "next_url":
		return linkAPIs(style)
	default:
		return nil
	}
}

func singleAPI() API {
	s := base("single")
	s.Pages.SizeParam = ""
	return API{Name: "plain", Spec: s, Rows: rows, Whole: true,
		Serve: func(adapters.Request) adapters.Response {
			return answer(map[string]any{"items": window{0, rows, 0}.items()})
		},
		Says: []Saying{
			{"a list", nil, `{"items":[]}`, adapters.NotSaid},
			{"a flag that is not configured", nil, `{"items":[],"has_more":false}`, adapters.NotSaid},
		}}
}

// pageSays are answers of styles that compute their positions: whatever stands
// in them, the style itself names no end.
var pageSays = []Saying{
	{"a full page", nil, `{"items":[{"id":5},{"id":6},{"id":7},{"id":8}],"total":19}`, adapters.NotSaid},
	{"a short page", nil, `{"items":[{"id":5}],"total":19}`, adapters.NotSaid},
	{"an empty page", nil, `{"items":[]}`, adapters.NotSaid},
	{"an empty page at the total", nil, `{"items":[],"total":0}`, adapters.NotSaid},
	{"words that are not configured", http.Header{"Link": {`<https://api.example.test/>; rel="last"`}},
		`{"items":[],"next":null,"has_more":false,"cursor":""}`, adapters.NotSaid},
}

func servePage(first int64, capped int) func(adapters.Request) adapters.Response {
	return func(req adapters.Request) adapters.Response {
		get := params(req)
		w := cut(0, get("size"), capped)
		w = cut((number(get("page"))-first)*w.size(capped), get("size"), capped)
		return answer(map[string]any{"items": w.items(), "total": rows, "page": number(get("page"))})
	}
}

func pageAPI(name string, first int64, capped int) API {
	s := base("page")
	s.Pages.NumberParam, s.Pages.NumberFirst, s.Pages.NumberEcho = "page", first, "page"
	s.Total.Path = "total"
	return API{Name: name, Spec: s, Rows: rows, Cap: capped, Serve: servePage(first, capped), Says: pageSays}
}

func pagePost() API {
	a := pageAPI("in a body", 1, 0)
	a.Spec = post(a.Spec)
	a.Spec.Pages.NumberParam = ""
	a.Spec.Body = map[string]any{"page": "{page}"}
	return a
}

func pageUnsized() API {
	a := pageAPI("of a fixed size", 1, 0)
	a.Spec.Pages.SizeParam, a.Spec.Pages.SizeStart = "", 0
	return a
}

func serveOffset(first int64, capped int) func(adapters.Request) adapters.Response {
	return func(req adapters.Request) adapters.Response {
		get := params(req)
		w := cut(number(get("offset"))-first, get("size"), capped)
		return answer(map[string]any{"items": w.items(), "total": rows})
	}
}

func offsetAPI(name string, first int64, capped int) API {
	s := base("offset")
	s.Pages.OffsetParam, s.Pages.OffsetFirst = "offset", first
	s.Total.Path = "total"
	return API{Name: name, Spec: s, Rows: rows, Cap: capped, Least: 1 + 3*min(capped, 1), Serve: serveOffset(first, capped), Says: pageSays}
}

func offsetPost() API {
	a := offsetAPI("in a body", 0, 0)
	a.Spec = post(a.Spec)
	a.Spec.Pages.OffsetParam, a.Spec.Pages.SizeParam = "page.offset", "page.size"
	a.Serve = func(req adapters.Request) adapters.Response {
		get := params(req)
		return answer(map[string]any{"items": cut(number(get("page.offset")), get("page.size"), 0).items(), "total": rows})
	}
	return a
}

func algoliaAPI() API {
	s := base("algolia")
	s.Pages.SizeParam, s.Items.Path = "", ""
	return API{Name: "plain", Spec: s, Rows: rows, Least: 1,
		Serve: func(req adapters.Request) adapters.Response {
			get := params(req)
			w := cut(0, get("hitsPerPage"), 0)
			size := w.size(0)
			w = cut(number(get("page"))*size, get("hitsPerPage"), 0)
			return answer(map[string]any{"hits": w.items(), "nbHits": rows, "nbPages": (rows + size - 1) / size})
		},
		Says: []Saying{
			{"past the reach", nil, `{"hits":[],"nbHits":0,"nbPages":0,"exhaustiveNbHits":true}`, adapters.NotSaid},
			{"the last page", nil, `{"hits":[{"id":5}],"nbHits":5,"nbPages":2}`, adapters.NotSaid},
		}}
}

func keysetAPI(name string, inclusive bool) API {
	s := base("keyset")
	s.Pages.KeysetParam, s.Pages.KeysetPath, s.Pages.KeysetInclusive = "after", "id", inclusive
	s.Pages.MorePath = "more"
	least := 1
	if inclusive {
		least = 2 // the bound itself is one
	}
	return API{Name: name, Spec: s, Rows: rows, Least: least,
		Serve: func(req adapters.Request) adapters.Response {
			get := params(req)
			after := number(get("after"))
			if inclusive {
				after--
			}
			w := cut(after, get("size"), 0)
			return answer(map[string]any{"items": w.items(), "more": !w.last()})
		},
		Says: []Saying{
			{"a page", nil, `{"items":[{"id":5},{"id":6}]}`, adapters.NotSaid},
			{"an empty page", nil, `{"items":[]}`, adapters.NotSaid},
			{"a last null", nil, `{"items":[{"id":5},null]}`, adapters.NotSaid},
			{"no key in the last item", nil, `{"items":[{"id":5},{"name":"six"}]}`, adapters.Broken},
			{"a null key in the last item", nil, `{"items":[{"id":null}]}`, adapters.Broken},
		}}
}

func keysetPost() API {
	a := keysetAPI("in a body, as JSON", false)
	a.Spec = post(a.Spec)
	a.Spec.Pages.KeysetQuoteJSON = true
	a.Spec.Pages.KeysetPath = "name"
	serve := a.Serve
	a.Serve = func(req adapters.Request) adapters.Response {
		get := params(req)
		var name string
		if text := get("after"); text != "" {
			if err := json.Unmarshal([]byte(text), &name); err != nil {
				panic(err)
			}
		}
		id := strconv.FormatInt(number(name[min(len("row "), len(name)):]), 10)
		return serve(adapters.Request{Method: http.MethodGet, URL: link(req, "after", id, "size", get("size"))})
	}
	a.Says = a.Says[1:2]
	return a
}

func graphqlAPI() API {
	s := base("graphql")
	s.Pages.SizeParam = ""
	s.Items.Path = "data.rows.nodes"
	s.Total.Path = "data.rows.totalCount"
	s.Body = map[string]any{"query": "query($first:Int,$after:String){rows(first:$first,after:$after){totalCount nodes{id} pageInfo{hasNextPage endCursor}}}"}
	page := func(info string) string {
		return `{"data":{"rows":{"nodes":[{"id":5}],"pageInfo":` + info + `}}}`
	}
	return API{Name: "plain", Spec: s, Rows: rows, Least: 1,
		Serve: func(req adapters.Request) adapters.Response {
			get := params(req)
			w := cut(number(get("variables.after")), get("variables.first"), 0)
			info := map[string]any{"hasNextPage": !w.last(), "endCursor": strconv.Itoa(w.to)}
			return answer(map[string]any{"data": map[string]any{"rows": map[string]any{"nodes": w.items(), "totalCount": rows, "pageInfo": info}}})
		},
		Says: []Saying{
			{"more", nil, page(`{"hasNextPage":true,"endCursor":"x"}`), adapters.Follow},
			{"the end", nil, page(`{"hasNextPage":false,"endCursor":"x"}`), adapters.Ended},
			{"the end of an empty page", nil, page(`{"hasNextPage":false,"endCursor":null}`), adapters.Ended},
			{"more without a cursor", nil, page(`{"hasNextPage":true}`), adapters.Broken},
			{"more with a null cursor", nil, page(`{"hasNextPage":true,"endCursor":null}`), adapters.Broken},
			{"no flag selected", nil, page(`{"endCursor":"x"}`), adapters.Follow},
			{"nothing selected", nil, page(`{}`), adapters.NotSaid},
			{"a null flag and a null cursor", nil, page(`{"hasNextPage":null,"endCursor":null}`), adapters.NotSaid},
		}}
}
