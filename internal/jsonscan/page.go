package jsonscan

// Got is what [Page] found, as extents in the body. It can be used again for the next page, and then allocates nothing
// once it is large enough. After an error it is empty.
type Got struct {
	State    State  // what stands at the items path
	Items    []Span // the elements of the array of items
	IDs      []Span // the values at the id paths, item by item; see ID
	Nulls    int    // how many items are null
	Envelope []Span // the values at the envelope paths, in the order of the Want

	ids int
}

// ID returns the value at the k-th id path of the n-th item; the zero Span where the item has none.
func (g *Got) ID(n, k int) Span { return g.IDs[n*g.ids+k] }

// reset empties g for a page read with want.
func (g *Got) reset(want *Want) {
	env := g.Envelope[:0]
	for range want.env {
		env = append(env, Span{})
	}
	*g = Got{Items: g.Items[:0], IDs: g.IDs[:0], Envelope: env, ids: want.ids}
}

// Page reads a whole body in one walk: it validates it, and notes in got what want asks for. What it finds is what
// [Validate], [Path.Items] and [Path.Find] would find. The error is an [*Error] where the body is not one JSON value,
// else a [*DuplicateKeyError] where an object on any of the paths names the wanted key twice.
func Page(b []byte, want *Want, got *Got) error {
	got.reset(want)
	w := walker{scanner: scanner{b: b}, got: got}
	i := w.open()
	if i >= 0 {
		i = w.value(i, 0, &want.root)
	}
	if bad := w.close(i); bad != nil {
		got.reset(want)
		return bad
	}
	if w.again > 0 {
		got.reset(want)
		return &DuplicateKeyError{Key: w.twice.key, Path: w.twice.path, Offset: w.again}
	}
	return nil
}

// walker is a scanner that notes what stands at the spots of a Want.
type walker struct {
	scanner
	got   *Got
	row   int    // where the ids of the item that is being read begin in got.IDs
	twice *keyed // the first key that stood twice
	again int    // the index of its second value; 0: none did
}

// value reads the value at i, inside depth containers, where sp is what is wanted of it.
func (w *walker) value(i, depth int, sp *spot) int {
	if i >= len(w.b) {
		return w.skip(i, depth)
	}
	var end int
	switch c := w.b[i]; {
	case c == '{' && sp.keys != nil:
		end = w.object(i, depth+1, sp)
	case c == '[' && (sp.items || sp.elems != nil):
		end = w.array(i, depth+1, sp)
	default:
		end = w.skip(i, depth)
	}
	for _, k := range sp.env {
		w.got.Envelope[k] = Span{i, end}
	}
	for _, k := range sp.ids {
		w.got.IDs[w.row+k] = Span{i, end}
	}
	if sp.items {
		w.got.State = stateOf(w.b[i])
	}
	return end
}

// object reads the object at i, the depth-th open container.
func (w *walker) object(i, depth int, sp *spot) int {
	var seen uint64 // which of sp.keys came by; there is at most one for each path
	i, more := w.enter(i, depth, '}')
	for more {
		end, v, esc := w.key(i)
		if v < 0 {
			return -1
		}
		k := -1
		if sp.wants(end-i-2, esc) {
			k = sp.find(w.b[i+1:end-1], esc)
		}
		switch {
		case k < 0:
			i = w.skip(v, depth)
		case seen>>k&1 == 0:
			seen |= 1 << k
			i = w.value(v, depth, sp.keys[k].to)
		default:
			if w.again == 0 {
				w.twice, w.again = &sp.keys[k], v
			}
			i = w.skip(v, depth)
		}
		if comma(w.b, i) {
			i++
		} else {
			i, more = w.next(i, '}')
		}
	}
	return i
}

// array reads the array at i, the depth-th open container.
func (w *walker) array(i, depth int, sp *spot) int {
	i, more := w.enter(i, depth, ']')
	for n := 0; more; n++ {
		from := i
		if sp.items {
			w.item()
		}
		if to := sp.at(n); to != nil {
			i = w.value(i, depth, to)
		} else {
			i = w.skip(i, depth)
		}
		if sp.items {
			w.got.Items = append(w.got.Items, Span{from, i})
			if i > 0 && w.b[from] == 'n' {
				w.got.Nulls++
			}
		}
		if comma(w.b, i) {
			i++
		} else {
			i, more = w.next(i, ']')
		}
	}
	return i
}

// item makes room for the ids of one more item.
func (w *walker) item() {
	w.row = len(w.got.IDs)
	for range w.got.ids {
		w.got.IDs = append(w.got.IDs, Span{})
	}
}
