//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// startPosts starts json-server over a file of n posts.
func startPosts(t *testing.T, n int) *server {
	t.Helper()
	return start(t, "json-server", func(s *server) launch {
		type post struct {
			ID    int    `json:"id"`
			Title string `json:"title"`
			Text  string `json:"text"`
		}
		posts := make([]post, n)
		for i := range posts {
			posts[i] = post{i + 1, "post " + strconv.Itoa(i+1), strings.Repeat("é\" ", 5+i%40)}
		}
		db := must(json.Marshal(map[string]any{"posts": posts}))(t)
		if err := os.WriteFile(filepath.Join(s.dir, "db.json"), db, 0o644); err != nil {
			t.Fatal(err)
		}
		return launch{ready: "/posts/1", args: []string{"node", filepath.Join(cache, "json-server/node_modules/.bin/json-server"),
			"--host", "127.0.0.1", "--port", strconv.Itoa(s.port), "--quiet", "db.json"}}
	})
}

// posts reads the server's file.
func posts(t *testing.T, s *server) (ids []string, whole map[string]string) {
	t.Helper()
	var db struct{ Posts []json.RawMessage }
	if err := json.Unmarshal(must(os.ReadFile(filepath.Join(s.dir, "db.json")))(t), &db); err != nil {
		t.Fatal(err)
	}
	whole = map[string]string{}
	for _, p := range db.Posts {
		var key struct{ ID int }
		if err := json.Unmarshal(p, &key); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, strconv.Itoa(key.ID))
		whole[strconv.Itoa(key.ID)] = plain(t, p)
	}
	return ids, whole
}

// plain writes a JSON value in one way.
func plain(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return string(must(json.Marshal(v))(t))
}

// post adds a post and unpost deletes one, by the server's API.
func post(s *server) (id string, err error) {
	_, answer, err := ask("POST", s.base+"/posts", map[string]string{"title": "a new one"})
	if err != nil {
		return "", err
	}
	var key struct{ ID int }
	err = json.Unmarshal(answer, &key)
	return strconv.Itoa(key.ID), err
}

func unpost(s *server, id int) error {
	_, _, err := ask("DELETE", fmt.Sprintf("%s/posts/%d", s.base, id), nil)
	return err
}

const postsByLink = `
source: {url: "${BASE}/posts", params: {_page: 1}}
pages: {style: link, size: {param: _limit, start: 100}}
items: {path: "@this", id: id}
total: {header: X-Total-Count}
`

const postsByPage = `
source: {url: "${BASE}/posts"}
pages: {style: page, number: {param: _page}, size: {param: _limit, start: 100}}
items: {path: "@this", id: id}
total: {header: X-Total-Count}
`

func TestJSONServer(t *testing.T) {
	t.Parallel()
	s := startPosts(t, 512)
	ids, whole := posts(t, s)

	t.Run("link", func(t *testing.T) {
		r := drain(t, s.base, postsByLink)
		r.is(t, complete, counted)
		r.equals(t, "id", ids)
		r.asked(t, 6)
		for i, id := range r.ids(t, "id") {
			if plain(t, r.items[i]) != whole[id] {
				t.Errorf("post %s is not as it stands in the server's file: %s", id, r.items[i])
			}
		}
	})
	t.Run("page", func(t *testing.T) {
		r := drain(t, s.base, postsByPage)
		r.is(t, complete, counted)
		r.equals(t, "id", ids)
		r.asked(t, 6)
	})
	t.Run("offset", func(t *testing.T) {
		r := drain(t, s.base, `
source: {url: "${BASE}/posts"}
pages: {style: offset, offset: {param: _start}, size: {param: _limit, start: 100}}
items: {path: "@this", id: id}
total: {header: X-Total-Count}`)
		r.is(t, complete, counted)
		r.equals(t, "id", ids)
		r.asked(t, 6)
	})
	t.Run("link without its total", func(t *testing.T) {
		// The last page has a Link with prev and without next: the server's word.
		r := drain(t, s.base, strings.Replace(postsByLink, "total: {header: X-Total-Count}", "total: none", 1))
		r.is(t, complete, declared)
		r.equals(t, "id", ids)
	})
	t.Run("wrong parameter names", func(t *testing.T) {
		// They are ignored: each answer is everything, and none says so.
		r := drain(t, s.base, `
source: {url: "${BASE}/posts"}
pages: {style: page, number: {param: page}, size: {param: per_page, start: 100}}
items: {path: "@this", id: id}
total: {header: X-Total-Count}`)
		r.is(t, unknown)
		r.shows(t, "RC008")
		r.law(t, "id", nil, ids)
	})
	t.Run("a next link to itself", func(t *testing.T) {
		// Page 0 is served as page 1, with rel=next to page 1, served once more.
		r := drain(t, s.base, strings.Replace(postsByLink, "_page: 1", "_page: 0", 1))
		r.law(t, "id", ids, ids)
		r.asked(t, 8)
		if r.Verdict != complete {
			r.is(t, truncated)
		}
	})
	t.Run("an unknown collection", func(t *testing.T) {
		r := drain(t, s.base, strings.Replace(postsByLink, "/posts", "/ports", 1))
		if r.exit != 1 || r.State != "failed" || !strings.Contains(r.Error, "404") {
			t.Errorf("exit %d, state %s, error %q: the first request was refused", r.exit, r.State, r.Error)
		}
	})
}

// TestJSONServerMoves deletes an early post in mid-drain, so that all later
// ones move up and one slips past a page number.
func TestJSONServerMoves(t *testing.T) {
	t.Parallel()
	s := startPosts(t, 512)
	for i, c := range []struct{ name, config string }{
		{"link", postsByLink}, {"page", postsByPage},
		{"link with a number", strings.Replace(postsByLink, "style: link", "style: link, number: {param: _page}", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, _ := posts(t, s)
			p := newTap(t, s, map[int]func() error{3: func() error { return unpost(s, 7+i) }})
			r := drain(t, p.base, c.config)
			after, _ := posts(t, s)
			r.is(t, complete)
			r.law(t, "id", after, before)
		})
	}
}
