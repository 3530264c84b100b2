package pull_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// plain is an item that has nothing but an id.
const plain = `{"id":#}`

const atBase = `source: {url: "${BASE}/items"}`

// presetAPIs are the servers, one a preset.
func presetAPIs() []presetAPI {
	return append(append(linkAPIs(), cursorAPIs()...), rankAPIs()...)
}

// linkAPIs name the next page in a Link header, or in the body.
func linkAPIs() []presetAPI {
	return []presetAPI{
		{
			preset: "github-rest", config: atBase, tens: "pages: {size: {max: 10}}", item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				before, size, _ := pageLinks(l, w, r)
				page, _, _ := l.from(before, size)
				fmt.Fprint(w, page)
			},
			want: [5]string{unknown, assumed, assumed, declared, declared},
		},
		{
			preset: "github-search", config: atBase, tens: "pages: {size: {max: 10}}", item: plain, reach: 1000,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				before, size, _ := pageLinks(l, w, r)
				if before >= 1000 {
					w.WriteHeader(http.StatusUnprocessableEntity)
					fmt.Fprint(w, `{"message":"Only the first 1000 search results are available"}`)
					return
				}
				page, _, _ := l.from(before, size)
				fmt.Fprintf(w, `{"total_count":%d,"incomplete_results":false,"items":%s}`, l.n, page)
			},
			want: [5]string{unknown, counted, counted, counted, truncated},
		},
		{
			preset: "gitlab", config: atBase, tens: "pages: {size: {max: 10}}", item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				before, size, last := pageLinks(l, w, r)
				page, _, more := l.from(before, size)
				if link := w.Header().Get("Link"); link != "" {
					link += ", "
					w.Header().Set("Link", link+fmt.Sprintf(`<http://%s/items?page=1>; rel="first"`, r.Host))
				} else {
					links(w, r, "first", "page=1", "last", fmt.Sprint("page=", max(last, 1)))
				}
				w.Header().Set("X-Next-Page", "")
				if more {
					w.Header().Set("X-Next-Page", strconv.Itoa(before/size+2))
				}
				w.Header().Set("X-Total", strconv.Itoa(l.n))
				w.Header().Set("X-Total-Pages", strconv.Itoa(last))
				fmt.Fprint(w, page)
			},
			want: [5]string{declared, declared, declared, counted, counted},
		},
		{
			preset: "shopify", config: atBase, tens: "pages: {size: {max: 10}}", item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				before, size := intOf(r, "page_info", 0), intOf(r, "limit", 50)
				page, next, more := l.from(before, size)
				var pairs []string
				if before > 0 {
					pairs = append(pairs, "previous", fmt.Sprint("page_info=", max(0, before-size)))
				}
				if more {
					pairs = append(pairs, "next", fmt.Sprint("page_info=", next))
				}
				links(w, r, pairs...)
				fmt.Fprintf(w, `{"orders":%s}`, page)
			},
			want: [5]string{assumed, assumed, assumed, declared, declared},
		},
		{
			preset: "docker-registry", config: atBase, tens: "pages: {size: {max: 10}}", item: `"#"`,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				page, next, more := l.from(intOf(r, "last", 0), intOf(r, "n", 100))
				if more {
					links(w, r, "next", fmt.Sprint("last=", next))
				}
				fmt.Fprintf(w, `{"name":"a/b","tags":%s}`, page)
			},
			want: [5]string{assumed, assumed, assumed, assumed, assumed},
		},
		{
			preset: "odata", config: atBase, tens: "pages: {next: {rebase: true}}", item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				page, next, more := l.from(intOf(r, "$skiptoken", 0), 10)
				link := ""
				if more {
					link = fmt.Sprintf(`,"@odata.nextLink":"http://%s/items?$count=true&$skiptoken=%d"`, r.Host, next)
				}
				fmt.Fprintf(w, `{"@odata.context":"$metadata#Items","@odata.count":%d,"value":%s%s}`, l.n, page, link)
			},
			want: [5]string{assumed, assumed, counted, counted, counted},
		},
	}
}

// cursorAPIs hand out a token.
func cursorAPIs() []presetAPI {
	return []presetAPI{
		{
			preset: "github-graphql", config: `source: {url: "${BASE}/graphql", body: {variables: {owner: ada, name: engine}}}`,
			tens: "pages: {size: {max: 10}}", item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				v := posted(r).Variables
				before, _ := strconv.Atoi(v.After)
				page, next, more := l.from(before, v.First)
				end := "null"
				if next > before {
					end = fmt.Sprintf("%q", strconv.Itoa(next))
				}
				fmt.Fprintf(w, `{"data":{"repository":{"issues":{"totalCount":%d,"pageInfo":{"hasNextPage":%t,"endCursor":%s},"nodes":%s}}}}`,
					l.n, more, end, page)
			},
			want: [5]string{declared, declared, declared, counted, counted},
		},
		{
			preset: "jira-v3", config: atBase, tens: "pages: {size: {start: 10}}", item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				page, next, more := l.from(intOf(r, "nextPageToken", 0), intOf(r, "maxResults", 50))
				if more {
					fmt.Fprintf(w, `{"issues":%s,"nextPageToken":"%d","isLast":false}`, page, next)
					return
				}
				fmt.Fprintf(w, `{"issues":%s,"isLast":true}`, page)
			},
			want: [5]string{declared, declared, declared, declared, declared},
		},
		{
			preset: "hubspot-search", config: atBase, tens: "pages: {size: {max: 10}}", item: plain, reach: 10_000,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				b := posted(r)
				before, _ := strconv.Atoi(b.After)
				if before+b.Limit > 10_000 {
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, `{"status":"error","message":"the paging limit of this endpoint is 10000"}`)
					return
				}
				page, next, _ := l.from(before, b.Limit)
				paging := ""
				if next < l.n {
					paging = fmt.Sprintf(`,"paging":{"next":{"after":"%d"}}`, next)
				}
				fmt.Fprintf(w, `{"total":%d,"results":%s%s}`, l.n, page, paging)
			},
			want: [5]string{assumed, assumed, assumed, counted, truncated},
		},
		{
			preset: "slack", config: atBase, tens: "pages: {size: {start: 10}}", item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				page, next, more := l.from(intOf(r, "cursor", 0), intOf(r, "limit", 100))
				token := ""
				if more {
					token = strconv.Itoa(next)
				}
				fmt.Fprintf(w, `{"ok":true,"channels":%s,"response_metadata":{"next_cursor":"%s"}}`, page, token)
			},
			want: [5]string{declared, declared, declared, declared, declared},
		},
		{
			preset: "notion", config: atBase, tens: "pages: {size: {max: 10}}", item: plain, reach: 10_000,
			serve: notion(`,"request_status":{"type":"incomplete","incomplete_reason":"query_result_limit_reached"}`), // on every page
			want:  [5]string{declared, declared, declared, declared, truncated},
		},
		{
			preset: "notion", config: atBase + "\npartial: []", tens: "pages: {size: {max: 10}}", item: plain, reach: 10_000,
			serve: notion(""), // a version that does not tell
			want:  [5]string{declared, declared, declared, declared, unknown},
		},
		{
			preset: "kubernetes", config: atBase, tens: "pages: {size: {max: 10}}", item: `{"id":#,"metadata":{"uid":"u#"}}`,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				page, next, more := l.from(intOf(r, "continue", 0), intOf(r, "limit", 500))
				token := ""
				if more {
					token = fmt.Sprintf(`,"continue":"%d","remainingItemCount":%d`, next, l.n-next)
				}
				fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"%s},"items":%s}`, token, page)
			},
			want: [5]string{assumed, assumed, assumed, assumed, assumed},
		},
		{
			preset: "mediawiki", config: atBase, tens: "pages: {size: {max: 10}}", item: `{"id":#,"pageid":#,"ns":0}`,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				page, next, more := l.from(intOf(r, "apcontinue", 0), intOf(r, "aplimit", 10))
				token := ""
				if more {
					token = fmt.Sprintf(`"continue":{"apcontinue":"%d","continue":"-||"},`, next)
				}
				fmt.Fprintf(w, `{"batchcomplete":true,%s"query":{"allpages":%s}}`, token, page)
			},
			want: [5]string{assumed, assumed, assumed, assumed, assumed},
		},
		{
			preset: "s3-list", config: atBase, tens: "pages: {size: {max: 10}}", item: `<Contents><Key>a/#</Key><id>#</id></Contents>`,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				before, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("continuation-token"), "behind-"))
				page, next, more := l.from(before, min(intOf(r, "max-keys", 1000), 1000))
				token := ""
				if more {
					token = fmt.Sprintf("<NextContinuationToken>behind-%d</NextContinuationToken>", next)
				}
				w.Header().Set("Content-Type", "application/xml")
				fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>`+
					`<KeyCount>%d</KeyCount><IsTruncated>%t</IsTruncated>%s%s</ListBucketResult>`,
					next-before, more, token, strings.NewReplacer("[", "", "]", "", ",", "").Replace(page))
			},
			want: [5]string{declared, declared, declared, declared, declared},
		},
		{
			preset: "openalex", config: atBase, tens: "pages: {size: {max: 10}}", item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				before := intOf(r, "cursor", 0)
				page, next, _ := l.from(before, intOf(r, "per_page", 25))
				token := "null"
				if next > before {
					token = fmt.Sprintf("%q", strconv.Itoa(next))
				}
				fmt.Fprintf(w, `{"meta":{"count":%d,"next_cursor":%s},"results":%s}`, l.n, token, page)
			},
			want: [5]string{declared, declared, declared, counted, counted},
		},
		{
			preset: "crossref", config: atBase, tens: "pages: {size: {start: 10}}", item: `{"id":#,"DOI":"10.5555/#"}`,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				before, seen := 0, 0 // a cursor is never the same
				_, _ = fmt.Sscanf(r.URL.Query().Get("cursor"), "%d-%d", &before, &seen)
				page, next, _ := l.from(before, intOf(r, "rows", 20))
				fmt.Fprintf(w, `{"status":"ok","message":{"total-results":%d,"next-cursor":"%d-%d","items":%s}}`, l.n, next, seen+1, page)
			},
			want: [5]string{assumed, assumed, assumed, counted, counted},
		},
	}
}

// notion is a query whose list ends at 10,000 as at a real end, with what it
// says there beside it.
func notion(cut string) answers {
	return func(l stock, w http.ResponseWriter, r *http.Request) {
		b := posted(r)
		before, _ := strconv.Atoi(strings.TrimPrefix(b.StartCursor, "behind-"))
		page, next, more := l.from(before, b.PageSize)
		token, status := "null", ""
		if more {
			token = fmt.Sprintf(`"behind-%d"`, next)
		}
		if l.n > l.out {
			status = cut
		}
		fmt.Fprintf(w, `{"object":"list","results":%s,"next_cursor":%s,"has_more":%t%s}`, page, token, more, status)
	}
}

// rankAPIs are asked by a number, or by the last item's key.
func rankAPIs() []presetAPI {
	return []presetAPI{
		{
			preset: "hn-algolia", config: atBase, tens: "pages: {size: {max: 10}}", item: `{"id":#,"objectID":"#"}`, reach: 1000,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				size, at := intOf(r, "hitsPerPage", 20), intOf(r, "page", 0)
				page, _, _ := l.from(at*size, size)
				n, pages := l.n, (l.out+size-1)/size
				if at*size >= 1000 {
					n, pages = 0, 0
				}
				fmt.Fprintf(w, `{"hits":%s,"nbHits":%d,"page":%d,"nbPages":%d,"hitsPerPage":%d,"exhaustiveNbHits":true}`, page, n, at, pages, size)
			},
			want: [5]string{declared, counted, counted, counted, truncated},
		},
		{
			preset: "elasticsearch", config: `source: {url: "${BASE}/_search", body: {pit: {id: abc}}}`, tens: "pages: {size: {start: 10}}",
			item: `{"id":#,"_index":"a","_id":"#","sort":[#]}`,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				b, before := posted(r), 0
				if len(b.SearchAfter) > 0 {
					before = b.SearchAfter[0]
				}
				if b.PIT.ID != "abc" {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				page, _, _ := l.from(before, b.Size)
				fmt.Fprintf(w, `{"pit_id":"abc","timed_out":false,"_shards":{"total":2,"successful":2},"hits":{"total":{"value":%d,"relation":"eq"},"hits":%s}}`,
					l.n, page)
			},
			want: [5]string{unknown, counted, counted, counted, counted},
		},
		{
			preset: "stripe-like", config: atBase, tens: "pages: {size: {max: 10}}", item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				page, _, more := l.from(intOf(r, "starting_after", 0), intOf(r, "limit", 10))
				fmt.Fprintf(w, `{"object":"list","data":%s,"has_more":%t}`, page, more)
			},
			want: [5]string{declared, declared, declared, declared, declared},
		},
		{
			preset: "socrata", config: atBase, tens: "pages: {size: {max: 10}}", item: `{":id":"row-#","id":"#"}`,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				page, _, _ := l.from(intOf(r, "$offset", 0), intOf(r, "$limit", 1000))
				fmt.Fprint(w, page)
			},
			want: [5]string{assumed, assumed, assumed, assumed, assumed},
		},
		{
			preset: "socrata", tens: "pages: {size: {max: 10}}", item: `{":id":"row-#","id":"#"}`,
			config: atBase + "\n" + `total: {url: "${BASE}/items?$select=count(*)+as+n", path: 0.n}`,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("$select") == "count(*) as n" {
					fmt.Fprintf(w, `[{"n":"%d"}]`, l.n)
					return
				}
				page, _, _ := l.from(intOf(r, "$offset", 0), intOf(r, "$limit", 1000))
				fmt.Fprint(w, page)
			},
			want: [5]string{counted, counted, counted, counted, counted},
		},
		{
			preset: "ckan", config: atBase, tens: "pages: {size: {max: 10}}", item: `{"id":#,"_id":#}`,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				page, _, _ := l.from(intOf(r, "offset", 0), intOf(r, "limit", 100))
				fmt.Fprintf(w, `{"success":true,"result":{"records":%s,"total":%d,"total_was_estimated":false}}`, page, l.n)
			},
			want: [5]string{unknown, counted, counted, counted, counted},
		},
		{
			preset: "jira", config: atBase, tens: "pages: {size: {max: 10}}", item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				before, size := intOf(r, "startAt", 0), min(intOf(r, "maxResults", 50), 1000)
				page, _, _ := l.from(before, size)
				fmt.Fprintf(w, `{"startAt":%d,"maxResults":%d,"total":%d,"issues":%s}`, before, size, l.n, page)
			},
			want: [5]string{unknown, counted, counted, counted, counted},
		},
		{
			preset: "wordpress", config: atBase, tens: "pages: {size: {max: 10}}", item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				size, at := intOf(r, "per_page", 10), intOf(r, "page", 1)
				last := (l.out + size - 1) / size
				if at > max(last, 1) {
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, `{"code":"rest_post_invalid_page_number","message":"The page number requested is larger than the number of pages available."}`)
					return
				}
				page, _, _ := l.from((at-1)*size, size)
				w.Header().Set("X-WP-Total", strconv.Itoa(l.n))
				w.Header().Set("X-WP-TotalPages", strconv.Itoa(last))
				fmt.Fprint(w, page)
			},
			want: [5]string{declared, declared, declared, counted, counted},
		},
		{
			preset: "discourse", config: atBase, item: plain,
			serve: func(l stock, w http.ResponseWriter, r *http.Request) {
				page, _, more := l.from(intOf(r, "page", 0)*30, 30)
				link := ""
				if more {
					link = fmt.Sprintf(`"more_topics_url":"/latest?page=%d",`, intOf(r, "page", 0)+1)
				}
				fmt.Fprintf(w, `{"topic_list":{%s"per_page":30,"topics":%s}}`, link, page)
			},
			want: [5]string{assumed, assumed, assumed, assumed, assumed},
		},
	}
}
