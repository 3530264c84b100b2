// Package adapterstest holds every style of package adapters to one contract.
//
// Run drives a style against small honest servers in memory: they serve rows 1
// to N in a stable order, as that family of APIs does. Whatever sizes are asked
// for, wherever they change, and whatever overlaps, the union of the pages must
// be all rows. Then it lets the servers lie and break, and holds the style to
// its three-valued words.
package adapterstest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"lastdrop/adapters"
	"lastdrop/judge"
)

// An API is one honest server in memory and the spec by which it is read.
// Items are objects with the whole numbers 1 to Rows as id.
type API struct {
	Name string
	Spec adapters.Spec
	Rows int
	// Serve answers one request; it must not keep state.
	Serve func(adapters.Request) adapters.Response
	// Cap is the largest page that Serve gives, whatever was asked for; 0: any.
	Cap int
	// Least is the smallest page size that gets on with this API; 0: any, and
	// none at all.
	Least int
	// Whole says that one answer is everything, so that there is no walk.
	Whole bool
	// Says are answers with what their continuation must be read as, at the
	// position after the first page.
	Says []Saying
}

// A Saying is an answer and the one right reading of its continuation.
type Saying struct {
	Name   string
	Header http.Header
	Body   string
	Want   adapters.State
}

// Run holds a style to the contract with the APIs given, or with the built-in
// ones of that style.
func Run(t *testing.T, style string, apis ...API) {
	t.Helper()
	if len(apis) == 0 {
		apis = APIs(style)
	}
	if len(apis) == 0 {
		t.Fatalf("no API of style %q to run it against", style)
	}
	for _, api := range apis {
		t.Run(api.Name, func(t *testing.T) {
			r, err := adapters.NewReader(api.Spec)
			if err != nil {
				t.Fatalf("NewReader: %v", err)
			}
			c := &check{API: api, r: r}
			t.Run("sizes", c.sizes)
			t.Run("size changes", c.changes)
			t.Run("overlaps", c.overlaps)
			t.Run("anyhow", c.anyhow)
			t.Run("places", c.places)
			t.Run("repeated page", c.repeated)
			t.Run("no list", c.noList)
			t.Run("error object", c.errorObject)
			t.Run("sayings", c.sayings)
		})
	}
}

// A failer is a test, or one try of a property.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check is one API under test.
type check struct {
	API
	r *adapters.Reader
}

// A turn is one page of a walk.
type turn struct {
	at   adapters.Position
	req  adapters.Request
	resp adapters.Response
	page adapters.Page
}

// ask fetches and reads one page, with the position taken through JSON first.
func (c *check) ask(t failer, at adapters.Position, size, overlap int) turn {
	t.Helper()
	at = roundTrip(t, at)
	req, err := c.r.Style().Request(at, size, overlap)
	if err != nil {
		t.Fatalf("Request(%+v, %d, %d): %v", at, size, overlap, err)
	}
	resp := c.Serve(req)
	if resp.URL == "" {
		resp.URL = req.URL
	}
	page, err := c.r.Read(at, req, resp)
	if err != nil {
		t.Fatalf("Read of the answer to %s: %v\n%s", req.URL, err, resp.Body)
	}
	return turn{at, req, resp, page}
}

func roundTrip(t failer, at adapters.Position) adapters.Position {
	t.Helper()
	b, err := json.Marshal(at)
	if err != nil {
		t.Fatalf("marshal %+v: %v", at, err)
	}
	var back adapters.Position
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatalf("unmarshal %s: %v", b, err)
	}
	if back.IsStart() != at.IsStart() {
		t.Fatalf("%+v came back as %+v: one is the start, the other is not", at, back)
	}
	return back
}

// A plan gives size and overlap of the n-th page of a walk, from 0.
type plan func(n int) (size, overlap int)

func steady(size int) plan { return func(int) (int, int) { return size, 0 } }

// walk drains the API, and checks that no page leaves a row out between what
// is held and what comes: a row is missed where one behind it was given first.
func (c *check) walk(t failer, p plan) []turn {
	t.Helper()
	var turns []turn
	held := map[int64]bool{}
	var at adapters.Position
	for n := 0; ; n++ {
		if n > 40*c.Rows+100 {
			t.Fatalf("no end after %d pages; %d of %d rows held; at %+v", n, len(held), c.Rows, at)
		}
		size, overlap := p(n)
		size = max(size, c.Least)
		turn := c.ask(t, at, size, overlap)
		turns = append(turns, turn)
		c.hold(t, held, turn)
		next := turn.page.Next
		end := turn.page.More == judge.No || next.State == adapters.Ended
		switch {
		case c.Whole, end:
		case next.State == adapters.Broken:
			t.Fatalf("page %d of an honest server is broken: %s", n, next.Reason)
		case next.State == adapters.Follow, next.HasAt && !c.stuck(turn, held):
			at = next.At
			continue
		}
		if len(held) != c.Rows {
			t.Fatalf("the walk ended after %d pages at %+v with %d of %d rows; the last page was %+v", n+1, at, len(held), c.Rows, turn.page)
		}
		return turns
	}
}

// stuck reports whether a walk that computes its positions has come to its end:
// nothing came, or all rows are held and nothing says that there is more.
func (c *check) stuck(u turn, held map[int64]bool) bool {
	return u.page.Received == 0 || len(held) == c.Rows && u.page.More != judge.Yes
}

// hold adds a page's rows to those held.
func (c *check) hold(t failer, held map[int64]bool, u turn) {
	t.Helper()
	for _, item := range u.page.Items {
		canonical, err := strconv.ParseFloat(string(item.ID), 64)
		if err != nil {
			t.Fatalf("item %s has the id %q", item.Raw, item.ID)
		}
		id := int64(canonical)
		if before := int64(len(held)); id > before+1 {
			t.Fatalf("the page at %+v (%s %s) begins after row %d, but only %d rows are held: rows were skipped",
				u.at, u.req.URL, u.req.Body, id-1, before)
		}
		held[id] = true
	}
	if c.Cap == 0 && u.req.Size > 0 && !c.Whole && len(u.page.Items) > u.req.Size {
		t.Fatalf("%d items came, but the request says that it asked for %d", len(u.page.Items), u.req.Size)
	}
	if u.page.Start.OK && len(u.page.Items) > 0 && u.page.Start.N > int64(len(held)) {
		t.Fatalf("Start is %d, but only %d rows are held", u.page.Start.N, len(held))
	}
}

// sizes walks with every size from 1 to more than all.
func (c *check) sizes(t *testing.T) {
	for size := 1; size <= c.Rows+2; size++ {
		turns := c.walk(t, steady(size))
		for i, u := range turns {
			if want := i == 0; u.at.IsStart() != want {
				t.Fatalf("size %d: page %d is at %+v", size, i, u.at)
			}
		}
		c.snapshots(t, turns)
	}
	c.walk(t, steady(0))
}

// snapshots checks that no page before the last one is COMPLETE by itself.
func (c *check) snapshots(t *testing.T, turns []turn) {
	t.Helper()
	held := int64(0)
	for i, u := range turns {
		s := c.r.Snapshot(u.at, u.page, u.resp, held)
		held += int64(len(u.page.Items))
		if held >= int64(c.Rows) {
			return
		}
		if v := judge.Judge(s).Verdict; v == judge.Complete {
			t.Fatalf("page %d of %d is COMPLETE by itself: %+v", i, len(turns), s)
		}
	}
}

// changes walks with a change of size at every page boundary.
func (c *check) changes(t *testing.T) {
	for _, sizes := range [][2]int{{5, 2}, {6, 3}, {7, 4}, {2, 5}, {3, 7}, {1, 4}, {4, 1}, {9, 8}, {c.Rows, 3}, {10, 6}} {
		for border := range c.Rows/sizes[0] + 2 {
			c.walk(t, func(n int) (int, int) {
				if n <= border {
					return sizes[0], 0
				}
				return sizes[1], 0
			})
		}
	}
	c.walk(t, func(n int) (int, int) { return []int{7, 3, 5, 2, 9, 1, 4}[min(n, 20)%7], 0 })
}

// overlaps walks with an overlap at every other page; where the style can
// overlap, such a page must begin with a row that is held.
func (c *check) overlaps(t *testing.T) {
	for _, overlap := range []int{1, 2, 3} {
		for size := 1; size <= 8; size++ {
			for _, u := range c.walk(t, func(n int) (int, int) { return size, overlap * (n % 2) }) {
				if u.page.Start.OK && u.page.Start.N < 0 {
					t.Fatalf("Start is %d", u.page.Start.N)
				}
			}
		}
	}
}

// anyhow walks with sizes and overlaps at will.
func (c *check) anyhow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c.walk(t, func(n int) (int, int) {
			if n > 12 {
				return 4, 0
			}
			return rapid.IntRange(1, c.Rows+3).Draw(t, "size"), rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "overlap")
		})
	})
}

// places checks what the request for a position says about itself, and that it
// is the same each time.
func (c *check) places(t *testing.T) {
	for i, u := range c.walk(t, steady(4)) {
		again, err := c.r.Style().Request(u.at, max(4, c.Least), 0)
		if err != nil || !reflect.DeepEqual(u.req, again) {
			t.Errorf("page %d: the request is %+v and then %+v, %v", i, u.req, again, err)
		}
		if u.req.Start.OK && u.req.Start.N > u.at.Offset {
			t.Errorf("page %d: Start %d is behind the position's offset %d", i, u.req.Start.N, u.at.Offset)
		}
		if u.page.Size != u.req.Size || u.page.Start != u.req.Start {
			t.Errorf("page %d: the page says %d from %v, the request %d from %v", i, u.page.Size, u.page.Start, u.req.Size, u.req.Start)
		}
		if next := u.page.Next; next.HasAt && next.State != adapters.NotSaid {
			t.Errorf("page %d: HasAt with the state %v", i, next.State)
		}
	}
}

// repeated reads one answer twice, and the first page's answer at the second
// position: the same answer says the same, and a repeat is no end.
func (c *check) repeated(t *testing.T) {
	turns := c.walk(t, steady(4))
	for _, u := range turns {
		again, err := c.r.Read(u.at, u.req, u.resp)
		if err != nil || !reflect.DeepEqual(again, u.page) {
			t.Fatalf("the same answer was read as\n%+v and then\n%+v, %v", u.page, again, err)
		}
	}
	if len(turns) < 3 {
		return
	}
	first, second := turns[0], turns[1]
	page, err := c.r.Read(second.at, second.req, first.resp)
	if err != nil {
		t.Fatalf("a repeated page: %v", err)
	}
	if !slices.EqualFunc(page.Items, first.page.Items, func(a, b adapters.Item) bool { return string(a.Raw) == string(b.Raw) }) {
		t.Fatalf("a repeated page has other items: %v", page.Items)
	}
	if page.Next.State == adapters.Ended || page.More == judge.No {
		t.Fatalf("a repeated page was read as an end: %+v", page.Next)
	}
}

// read lets the second request of a walk be answered with a body.
func (c *check) read(t *testing.T, header http.Header, body string) (adapters.Page, error) {
	t.Helper()
	u := c.ask(t, adapters.Position{}, 4, 0)
	at, req := u.at, u.req
	if next := u.page.Next; next.State == adapters.Follow || next.HasAt {
		var err error
		at = next.At
		if req, err = c.r.Style().Request(at, 4, 0); err != nil {
			t.Fatalf("Request(%+v): %v", at, err)
		}
	}
	if header == nil {
		header = http.Header{}
	}
	return c.r.Read(at, req, adapters.Response{Status: 200, Header: header, Body: []byte(body), URL: req.URL})
}

func fmtTrouble(err error) string {
	if t, ok := err.(*adapters.Trouble); ok {
		return fmt.Sprintf("%v: %s", t.Kind, t.Msg)
	}
	return fmt.Sprint(err)
}
