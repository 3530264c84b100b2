package adapterstest

import (
	"fmt"
	"net/http"
	"strconv"

	"lastdrop/adapters"
)

// tokenSays are the words of a token in the body, at the path next.
var tokenSays = []Saying{
	{"a token", nil, `{"items":[{"id":5}],"next":"9"}`, adapters.Follow},
	{"a token on an empty page", nil, `{"items":[],"next":"9"}`, adapters.Follow},
	{"null", nil, `{"items":[{"id":5}],"next":null}`, adapters.Ended},
	{"an empty text", nil, `{"items":[{"id":5}],"next":""}`, adapters.Ended},
	{"false", nil, `{"items":[{"id":5}],"next":false}`, adapters.Ended},
	{"absent", nil, `{"items":[{"id":5}]}`, adapters.NotSaid},
	{"absent on an empty page", nil, `{"items":[]}`, adapters.NotSaid},
	{"zero", nil, `{"items":[{"id":5}],"next":0}`, adapters.Follow},
	{"another origin", nil, `{"items":[{"id":5}],"next":"https://other.example.test/v1/rows?a=1"}`, adapters.Broken},
}

func serveToken(w window) map[string]any {
	body := map[string]any{"items": w.items(), "next": nil}
	if !w.last() {
		body["next"] = strconv.Itoa(w.to)
	}
	return body
}

func cursorAPI() API {
	s := base("cursor")
	s.Pages.CursorParam, s.Pages.CursorPath = "after", "next"
	s.Params = map[string][]string{"after": {"*"}}
	return API{Name: "in the body, with a seed", Spec: s, Rows: rows, Says: tokenSays,
		Serve: func(req adapters.Request) adapters.Response {
			get := params(req)
			if get("after") == "" {
				panic("no seed")
			}
			return answer(serveToken(cut(number(get("after")), get("size"), 0)))
		}}
}

func cursorHeader() API {
	s := base("cursor")
	s.Pages.CursorParam, s.Pages.CursorHeader = "after", "X-Next"
	s.Items.Path = "@this"
	says := func(name string, values []string, want adapters.State) Saying {
		return Saying{name, http.Header{"X-Next": values}, `[{"id":5}]`, want}
	}
	return API{Name: "in a header", Spec: s, Rows: rows,
		Serve: func(req adapters.Request) adapters.Response {
			get := params(req)
			w := cut(number(get("after")), get("size"), 0)
			resp := answer(w.items())
			resp.Header.Set("X-Next", "")
			if !w.last() {
				resp.Header.Set("X-Next", strconv.Itoa(w.to))
			}
			return resp
		},
		Says: []Saying{
			says("a token", []string{"9"}, adapters.Follow),
			says("an empty header", []string{""}, adapters.Ended),
			says("no header", nil, adapters.NotSaid),
			says("two that differ", []string{"9", "10"}, adapters.NotSaid),
		}}
}

func cursorPost() API {
	a := cursorAPI()
	a.Name = "a number in a body"
	a.Spec = post(base("cursor"))
	a.Spec.Pages.CursorPath = "next"
	a.Spec.Body = map[string]any{"search_after": "{cursor}", "size": "{size}"}
	a.Spec.Pages.SizeParam = ""
	a.Least = 1
	a.Serve = func(req adapters.Request) adapters.Response {
		get := params(req)
		w := cut(number(get("search_after")), get("size"), 0)
		body := serveToken(w)
		if !w.last() {
			body["next"] = w.to
		}
		return answer(body)
	}
	return a
}

func cursorMerged() API {
	a := cursorAPI()
	a.Name = "an object that is merged"
	a.Spec = base("cursor")
	a.Spec.Pages.CursorPath = "continue"
	a.Serve = func(req adapters.Request) adapters.Response {
		get := params(req)
		w := cut(number(get("from")), get("size"), 0)
		body := map[string]any{"items": w.items(), "continue": nil}
		if !w.last() {
			body["continue"] = map[string]any{"from": w.to, "continue": "-||"}
		}
		return answer(body)
	}
	a.Says = []Saying{
		{"an object", nil, `{"items":[],"continue":{"from":9}}`, adapters.Follow},
		{"no object", nil, `{"items":[],"continue":"9"}`, adapters.Broken},
		{"an empty object", nil, `{"items":[],"continue":{}}`, adapters.Broken},
		{"null", nil, `{"items":[],"continue":null}`, adapters.Ended},
		{"absent", nil, `{"items":[]}`, adapters.NotSaid},
	}
	return a
}

func cursorURL() API {
	a := cursorAPI()
	a.Name = "a token that is a URL"
	a.Spec.Params = nil
	a.Serve = func(req adapters.Request) adapters.Response {
		get := params(req)
		w := cut(number(get("after")), get("size"), 0)
		body := serveToken(w)
		if !w.last() {
			body["next"] = link(req, "after", strconv.Itoa(w.to))
		}
		return answer(body)
	}
	return a
}

// A carrier puts a next link into an answer, in a header or the body.
type carrier func(w window, next string) adapters.Response

func headerLink(w window, next string) adapters.Response {
	resp := answer(map[string]any{"items": w.items(), "total": rows})
	if next == "" {
		resp.Header.Set("Link", fmt.Sprintf("<%s>; rel=\"first\"", source))
		return resp
	}
	resp.Header.Set("Link", fmt.Sprintf("<%s>; rel=first, <%s>; title=\"a, b\"; rel=\"next\"", source, next))
	return resp
}

func bodyLink(w window, next string) adapters.Response {
	body := map[string]any{"items": w.items(), "total": rows, "next": nil}
	if next != "" {
		body["next"] = next
	}
	return answer(body)
}

// linkAPIs are servers that send next links, for the styles link and next_url.
func linkAPIs(style string) []API {
	s := base(style)
	carry, says := carrier(headerLink), linkSays
	if style == "next_url" {
		carry, says = bodyLink, append(tokenSays[2:len(tokenSays):len(tokenSays)], Saying{"a number", nil, `{"items":[],"next":7}`, adapters.Broken})
		says = append(says[:5:5], says[6:]...) // here a 0 is no link
		s.Pages.NextPath = "next"
	}
	api := func(name string, capped int, next func(get func(string) string, w window, req adapters.Request) (window, string)) API {
		return API{Name: name, Spec: s, Rows: rows, Cap: capped, Says: says, Serve: func(req adapters.Request) adapters.Response {
			get := params(req)
			w, to := next(get, cut(0, get("size"), capped), req)
			if w.last() {
				to = ""
			}
			return carry(w, to)
		}}
	}
	byNumber := func(param string, first int64, capped int, size func(w window) string) func(func(string) string, window, adapters.Request) (window, string) {
		return func(get func(string) string, w window, req adapters.Request) (window, string) {
			page := number(get(param))
			if get(param) == "" {
				page = first
			}
			w = cut((page-first)*w.size(capped), get("size"), capped)
			return w, link(req, param, strconv.FormatInt(page+1, 10), "size", size(w))
		}
	}
	byOffset := func(param string, capped int, step func(w window) int) func(func(string) string, window, adapters.Request) (window, string) {
		return func(get func(string) string, _ window, req adapters.Request) (window, string) {
			w := cut(number(get(param)), get("size"), capped)
			return w, link(req, param, strconv.Itoa(w.from+step(w)))
		}
	}
	came := func(w window) int { return w.to - w.from }
	asked := func(w window) string { return strconv.Itoa(w.asked) }
	always := func(size string) func(window) string { return func(window) string { return size } }
	return []API{
		api("page numbers", 0, byNumber("page", 1, 0, asked)),
		api("page numbers from 0", 0, byNumber("page", 0, 0, asked)),
		api("page numbers, clamped", 3, byNumber("page", 1, 3, asked)),
		api("page numbers with the clamped size", 3, byNumber("page", 1, 3, always("3"))),
		api("page numbers with a size of their own", 0, byNumber("page", 1, 0, always("7"))),
		api("page numbers that lose the size", 0, byNumber("page", 1, 0, always(""))),
		api("page numbers of another name", 0, byNumber("blatt", 1, 0, asked)),
		api("page numbers of another name, clamped", 3, byNumber("blatt", 0, 3, asked)),
		api("offsets", 0, byOffset("offset", 0, came)),
		api("rows counted from 1", 0, func(get func(string) string, _ window, req adapters.Request) (window, string) {
			w := cut(number(get("startIndex"))-1, get("size"), 0)
			return w, link(req, "startIndex", strconv.Itoa(w.to+1))
		}),
		api("offsets that skip, clamped", 3, byOffset("$skip", 3, func(w window) int { return w.asked })),
		api("offsets that skip", 0, byOffset("start", 0, func(w window) int { return came(w) + 2 })),
		api("relative tokens", 0, func(get func(string) string, _ window, _ adapters.Request) (window, string) {
			w := cut(number(get("t"))/7, get("size"), 0)
			return w, "?size=" + strconv.Itoa(w.asked) + "&t=" + strconv.Itoa(7*w.to) + "&keep=a+b%2c"
		}),
	}
}

var linkSays = func() []Saying {
	say := func(name string, want adapters.State, values ...string) Saying {
		return Saying{name, http.Header{"Link": values}, `{"items":[{"id":5}]}`, want}
	}
	return []Saying{
		say("next", adapters.Follow, `</v1/rows?t=9>; rel="next"`),
		say("next, unquoted, with an attribute", adapters.Follow, `</v1/rows?t=9>; rel=next; title="two"`),
		say("next among several values", adapters.Follow, `</v1/rows>; rel="first"`, `</v1/rows?t=9>; rel="next"`),
		say("prev only", adapters.Ended, `</v1/rows>; rel="prev"`),
		say("first and last", adapters.Ended, `</v1/rows>; rel="first", </v1/rows?t=9>; rel="last"`),
		say("absent", adapters.NotSaid),
		say("empty", adapters.NotSaid, ""),
		say("another relation", adapters.NotSaid, `<https://api.w.org/>; rel="https://api.w.org/"`),
		say("no opening bracket", adapters.Broken, `https://api.example.test/v1/rows?page=3>; rel="next"`),
		say("prev, and one that is broken", adapters.Broken, `</v1/rows>; rel="prev", </v1/rows?page=3; rel="ne`),
		say("another origin", adapters.Broken, `<https://other.example.test/v1/rows?t=9>; rel="next"`),
		say("a user", adapters.Broken, `<https://me:secret@api.example.test/v1/rows?t=9>; rel="next"`),
		say("no http", adapters.Broken, `<ftp://api.example.test/v1/rows?t=9>; rel="next"`),
		say("down to http", adapters.Broken, `<http://api.example.test/v1/rows?t=9>; rel="next"`),
	}
}()

// numberedLink is a link API that sends no Link at all.
func numberedLink() API {
	a := pageAPI("no links, by number", 1, 0)
	a.Spec.Pages.Style = "link"
	a.Says = append(a.Says[:4:4], Saying{"a Link header all the same", http.Header{"Link": {`</v1/rows?page=3>; rel="next"`}}, `{"items":[]}`, adapters.Follow})
	return a
}
