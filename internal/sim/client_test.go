package sim

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// client is a plain but correct client for honest worlds: it believes every
// answer, walks until no continuation or nothing new is left, and counts each
// item once.
type client struct {
	sim  *Sim
	http *http.Client
	base string
	h    ClientHints
	held map[string]bool
}

// drain reads everything and returns the identities held.
func drain(s *Sim) (map[string]bool, error) {
	c := &client{
		sim: s, http: &http.Client{Transport: s.Transport()}, base: "http://sim.test",
		h: s.Hints(), held: map[string]bool{},
	}
	return c.held, c.walk()
}

// spot is where the client reads next.
type spot struct {
	page, offset int
	cursor, key  string
	url          string
}

var errEnd = errors.New("past the end")

func (c *client) walk() error {
	at := spot{page: c.h.Number.First, cursor: c.h.Cursor.Seed}
	for range 120 {
		body, header, err := c.get(at)
		if errors.Is(err, errEnd) {
			return nil
		}
		if err != nil {
			return err
		}
		items, fresh, err := c.take(body)
		if err != nil {
			return err
		}
		next, more := c.next(at, body, header, items, fresh)
		if !more {
			return nil
		}
		at = next
	}
	return errors.New("no end after 120 pages")
}

// get fetches one page.
func (c *client) get(at spot) (string, http.Header, error) {
	req, err := c.request(at)
	if err != nil {
		return "", nil, err
	}
	for k, v := range c.h.Headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := c.http.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	if c.h.EndStatus > 0 && resp.StatusCode == c.h.EndStatus {
		return "", nil, errEnd
	}
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		return "", nil, fmt.Errorf("%s: status %d: %s", req.URL, resp.StatusCode, b)
	}
	var r io.Reader = resp.Body
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if r, err = gzip.NewReader(r); err != nil {
			return "", nil, err
		}
	}
	b, err := io.ReadAll(r)
	return string(b), resp.Header, err
}

// request builds the request for a place.
func (c *client) request(at spot) (*http.Request, error) {
	ctx := context.Background()
	if at.url != "" {
		return http.NewRequestWithContext(ctx, http.MethodGet, at.url, nil)
	}
	size := strconv.Itoa(c.h.Size.Start)
	if c.h.Body != "" {
		body := strings.NewReplacer("{size}", size, "{cursor}", at.cursor).Replace(c.h.Body)
		return http.NewRequestWithContext(ctx, http.MethodPost, c.base+c.h.Path, strings.NewReader(body))
	}
	q := url.Values{}
	for k, v := range c.h.Params {
		q.Set(k, v)
	}
	if c.h.Size.Param != "" {
		q.Set(c.h.Size.Param, size)
	}
	switch {
	case c.h.Number.Param != "":
		q.Set(c.h.Number.Param, strconv.Itoa(at.page))
	case c.h.Offset.Param != "":
		q.Set(c.h.Offset.Param, strconv.Itoa(at.offset))
	case c.h.Cursor.Param != "" && at.cursor != "":
		q.Set(c.h.Cursor.Param, at.cursor)
	case c.h.Keyset.Param != "" && at.key != "":
		q.Set(c.h.Keyset.Param, at.key)
	}
	return http.NewRequestWithContext(ctx, http.MethodGet, c.base+c.h.Path+"?"+q.Encode(), nil)
}

// take holds the items of a page.
func (c *client) take(body string) (items []gjson.Result, fresh int, err error) {
	if !gjson.Valid(body) {
		return nil, 0, fmt.Errorf("no JSON: %.100s", body)
	}
	list := gjson.Get(body, c.h.Items)
	if !list.IsArray() && !(c.h.AbsentIsEmpty && list.Type == gjson.Null) {
		return nil, 0, fmt.Errorf("no list at %s: %.200s", c.h.Items, body)
	}
	for _, item := range list.Array() {
		k, err := c.sim.KeyOf([]byte(item.Raw))
		if err != nil {
			return nil, 0, err
		}
		if !c.held[k] {
			c.held[k] = true
			fresh++
		}
		items = append(items, item)
	}
	return items, fresh, nil
}

// next finds the place that follows, or the end.
func (c *client) next(at spot, body string, header http.Header, items []gjson.Result, fresh int) (spot, bool) {
	if c.ended(body, header) {
		return at, false
	}
	switch Style(c.h.Style) {
	case Link:
		return follow(c.base, linkNext(header))
	case NextURL:
		return follow(c.base, gjson.Get(body, c.h.Next.Path).String())
	case Single:
		return at, false
	case Cursor, GraphQL:
		was := at.cursor
		at.cursor = header.Get(c.h.Cursor.Header)
		if c.h.Cursor.Path != "" {
			at.cursor = gjson.Get(body, c.h.Cursor.Path).String()
		}
		return at, at.cursor != "" && at.cursor != was
	case Keyset:
		if fresh == 0 {
			return at, false
		}
		last := items[len(items)-1].Get(c.h.Keyset.Path)
		at.key = last.String()
		if last.Type == gjson.Number || c.h.Keyset.Quote {
			at.key = last.Raw
		}
		return at, true
	default:
		at.page++
		at.offset += len(items)
		return at, fresh > 0
	}
}

// follow makes a place of a URL; none is the end.
func follow(base, u string) (spot, bool) {
	if strings.HasPrefix(u, "/") {
		u = base + u
	}
	return spot{url: u}, u != ""
}

// ended reads the server's flag.
func (c *client) ended(body string, header http.Header) bool {
	switch {
	case c.h.More.Path != "":
		v := gjson.Get(body, c.h.More.Path)
		if !v.Exists() {
			return c.h.More.AbsentIsEnd
		}
		return v.Bool() == c.h.More.EndWhen
	case c.h.More.Header != "":
		v := header.Get(c.h.More.Header)
		if v == "" {
			return c.h.More.AbsentIsEnd
		}
		return (v == "true") == c.h.More.EndWhen
	default:
		return false
	}
}

// linkNext is the URL with relation next; it knows the spellings of the Sim.
func linkNext(h http.Header) string {
	for _, line := range h.Values("Link") {
		for _, part := range strings.Split(line, "<") {
			u, attrs, ok := strings.Cut(part, ">")
			if !ok || strings.Contains(attrs, `results="false"`) {
				continue
			}
			attrs = strings.ToLower(strings.ReplaceAll(attrs, "title=\"to, the; next\"", ""))
			if i := strings.Index(attrs, "rel="); i >= 0 && strings.Contains(attrs[i:], "next") {
				return u
			}
		}
	}
	return ""
}
