package sim

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// view is the list that one request sees: the world's items at that moment,
// after filters, in served order.
type view struct {
	items []Item
	// order compares two items; nil where the list is in no order.
	order func(a, b Item) int
	// sign is -1 where the list falls.
	sign int
}

// after is the index of the first item behind (sort, seq), whether or not the
// item itself is still there.
func (v view) after(key int64, seq int32) int {
	it := Item{Sort: key, Seq: seq}
	if v.order == nil {
		return v.scanAfter(it)
	}
	at, found := slices.BinarySearchFunc(v.items, it, v.order)
	if found {
		at++
	}
	return at
}

// scanAfter is after for a list in no order: behind the item, or, where that
// is gone, before the first with a greater key.
func (v view) scanAfter(it Item) int {
	for i, have := range v.items {
		if have.Seq == it.Seq {
			return i + 1
		}
	}
	for i, have := range v.items {
		if v.sign*cmp.Compare(have.Sort, it.Sort) > 0 {
			return i
		}
	}
	return len(v.items)
}

// ofKey is the index where a keyset position reads on; false where the item
// that it names is gone and the rule needs it. The second half of a composite
// position is an id, or, as the server itself writes it, "s" and the Seq.
func (v view) ofKey(a API, key, then string) (int, bool) {
	if a.Key.Quote {
		if s, err := strconv.Unquote(key); err == nil {
			key = s
		}
	}
	if a.Key.ByItem {
		return v.behindItem(key)
	}
	if a.Key.ID {
		return v.search(a, idNumber(key), func(it Item) int64 { return it.ID.N }), true
	}
	n := sortNumber(key)
	if seq, ok := strings.CutPrefix(then, "s"); ok {
		return v.after(n, int32(atoi(seq, 0))), true
	}
	if then != "" {
		return v.behindTie(n, idNumber(then)), true
	}
	return v.search(a, n, func(it Item) int64 { return it.Sort }), true
}

// search finds the first item behind n, or at n where the rule is inclusive.
func (v view) search(a API, n int64, of func(Item) int64) int {
	least := 1
	if a.Key.Inclusive {
		least = 0
	}
	return sort.Search(len(v.items), func(i int) bool {
		return v.sign*cmp.Compare(of(v.items[i]), n) >= least
	})
}

// behindItem finds the item with this id.
func (v view) behindItem(id string) (int, bool) {
	for i, it := range v.items {
		if string(it.ID.appendText(nil)) == id {
			return i + 1, true
		}
	}
	return 0, false
}

// behindTie is the place behind (sort, id).
func (v view) behindTie(key, id int64) int {
	return sort.Search(len(v.items), func(i int) bool {
		it := v.items[i]
		c := cmp.Or(cmp.Compare(it.Sort, key), cmp.Compare(it.ID.N, id))
		return v.sign*c > 0
	})
}

// idNumber is the number inside an id's text.
func idNumber(s string) int64 {
	s = strings.Trim(s, `"`)
	s = strings.TrimPrefix(s, "item-")
	if rest, ok := strings.CutPrefix(s, "18446744073709"); ok && len(rest) >= 12 {
		s = rest
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	if n > bigBase {
		n -= bigBase
	}
	return n
}

// sortNumber is a sort key from its text, a number or a time.
func sortNumber(s string) int64 {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	if t, err := time.Parse(time.RFC3339, strings.Trim(s, `"`)); err == nil {
		return t.Unix()
	}
	return 0
}

// bounds is a half-open range of sort keys.
type bounds struct {
	from, to     int64
	hasFrom, has bool
}

// readBounds decodes the range filter of a request.
func (a API) readBounds(q *request) bounds {
	var b bounds
	if v, ok := q.value(a.Filter.From, a.Post); ok {
		b.from, b.hasFrom = sortNumber(v), true
	}
	if v, ok := q.value(a.Filter.To, a.Post); ok {
		b.to, b.has = sortNumber(v), true
		if a.Filter.Closed {
			b.to++
		}
	}
	if v, ok := q.value(a.Filter.Numeric, a.Post); ok {
		for _, cond := range strings.Split(v, ",") {
			b.add(strings.TrimPrefix(strings.TrimSpace(cond), a.SortField))
		}
	}
	return b
}

// add narrows the range by a condition such as ">=17".
func (b *bounds) add(cond string) {
	for _, op := range []string{">=", "<=", ">", "<"} {
		rest, ok := strings.CutPrefix(cond, op)
		if !ok {
			continue
		}
		n := sortNumber(strings.TrimSpace(rest))
		if op == ">" || op == "<=" {
			n++
		}
		if op[0] == '>' {
			b.from, b.hasFrom = n, true
		} else {
			b.to, b.has = n, true
		}
		return
	}
}

// cut is the part of an ordered list that lies inside.
func (b bounds) cut(v view) []Item {
	lo, hi := 0, len(v.items)
	if v.sign > 0 {
		if b.hasFrom {
			lo = sort.Search(len(v.items), func(i int) bool { return v.items[i].Sort >= b.from })
		}
		if b.has {
			hi = sort.Search(len(v.items), func(i int) bool { return v.items[i].Sort >= b.to })
		}
	} else {
		if b.has {
			lo = sort.Search(len(v.items), func(i int) bool { return v.items[i].Sort < b.to })
		}
		if b.hasFrom {
			hi = sort.Search(len(v.items), func(i int) bool { return v.items[i].Sort < b.from })
		}
	}
	return v.items[lo:max(lo, hi)]
}

// newView is what the world shows of items under a request's filters.
func (a API) newView(w World, items []Item, q *request) view {
	v := view{items: items, order: w.compare, sign: 1}
	if w.Desc {
		v.sign = -1
	}
	if w.Unordered {
		v.order = nil
	}
	if b := a.readBounds(q); b.has || b.hasFrom {
		v.items = b.cut(v)
		if w.Keyless > 0 {
			v.items = filter(v.items, func(it Item) bool { return !w.keyless(it) })
		}
	}
	if g, ok := q.value(a.Filter.Group, a.Post); ok && w.Groups > 0 {
		v.items = filter(v.items, func(it Item) bool { return w.group(it) == g })
	}
	if on, ok := q.value(a.Reverse, a.Post); ok && on != "false" && on != "asc" {
		v = v.reverse()
	}
	return v
}

// reverse is the same list from its other end.
func (v view) reverse() view {
	order := v.order
	v.items = slices.Clone(v.items)
	slices.Reverse(v.items)
	v.sign = -v.sign
	if order != nil {
		v.order = func(a, b Item) int { return -order(a, b) }
	}
	return v
}

// filter copies the items that pass.
func filter(items []Item, ok func(Item) bool) []Item {
	out := make([]Item, 0, len(items))
	for _, it := range items {
		if ok(it) {
			out = append(out, it)
		}
	}
	return out
}

// keyless reports whether an item has no sort field on the wire.
func (w World) keyless(it Item) bool {
	return w.Keyless > 0 && int(it.Seq)%w.Keyless == w.Keyless-1
}

// group is the name of an item's set.
func (w World) group(it Item) string {
	if w.Groups <= 0 {
		return ""
	}
	return string(rune('A' + int(it.Seq)%w.Groups))
}
