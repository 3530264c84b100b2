package sim

// Dice is a source of choices; *rand.Rand of math/rand/v2 is one. IntN is in
// [0,n). In every choice of this package 0 is the simplest outcome, so that a
// property test that shrinks towards 0 shrinks towards a plain world.
type Dice interface{ IntN(n int) int }

// Profile is a family of worlds.
type Profile string

// The profiles.
const (
	// Clean worlds are honest and quiet, in any shape.
	Clean Profile = "clean"
	// Faulty worlds are honest and quiet; transport and single answers fail.
	Faulty Profile = "faulty"
	// Moving worlds change while they are read.
	Moving Profile = "moving"
	// Capped worlds do not hand out everything, and some show it.
	Capped Profile = "capped"
	// Lying worlds give answers that are wrong and look right.
	Lying Profile = "lying"
	// Mixed worlds are all of that.
	Mixed Profile = "mixed"
	// Sliced worlds hand out a part of each query, and take ranges of the sort
	// key; some move, some ignore the range, some items lack the key.
	Sliced Profile = "sliced"
)

// Profiles lists every profile.
func Profiles() []Profile { return []Profile{Clean, Faulty, Moving, Capped, Lying, Mixed, Sliced} }

// Random is a random Sim of a profile. The same dice give the same Sim.
func Random(d Dice, p Profile) *Sim {
	r := roll{d}
	style := pick(r, Styles()...)
	a := r.api(style, p)
	if p == Sliced {
		r.ranges(&a)
	}
	w := r.world(a, p)
	if p == Sliced {
		r.spread(&w)
	}
	s := &Sim{World: w, API: a, Seed: uint64(r.IntN(1 << 30))}
	r.hostility(s, p)
	if !a.normal().explicit() && (p == Clean || p == Faulty || r.yes(2)) {
		s.Contract.Ends = a.normal().documented()
	}
	s.Reset()
	return s
}

// roll is a Dice with words for common choices.
type roll struct{ Dice }

// yes is true once in n.
func (r roll) yes(n int) bool { return r.IntN(n) == n-1 }

// between is in [lo,hi].
func (r roll) between(lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// pick is one of the values; the first is the simplest.
func pick[T any](r roll, values ...T) T { return values[r.IntN(len(values))] }

// world draws the items.
func (r roll) world(a API, p Profile) World {
	n := pick(r, 20, 0, 1, 7, 40, 60, 100, 150, 300)
	if n > 1 {
		n = r.between(n/2, n)
	}
	n = min(n, 60*a.Size.Default)
	kind := pick(r, IntID, TextID, SlugID, BigID, HugeID)
	w := NewWorld(n, kind)
	byID := a.Addressing == ByKey && (a.Key.ID || a.Key.ByItem)
	if !byID && !a.Edges {
		w = r.oddIDs(w)
	}
	honest := p == Clean || p == Faulty
	byValue := a.Style == Keyset && !a.Key.ByItem
	if r.yes(3) && !a.Key.ID && !(honest && byValue) {
		w = w.WithTies(r.between(2, 9))
	}
	if r.yes(5) {
		w = w.Newest()
	}
	if a.Key.ID {
		w = w.WithOrderedIDs()
	}
	w.Payload = pick(r, 0, 0, 10, 200)
	return w
}

// oddIDs may give items unusual identities.
func (r roll) oddIDs(w World) World {
	switch r.IntN(10) {
	case 7:
		return w.WithKinds(IntID, TextID)
	case 8:
		return w.WithKinds(NoID)
	case 9:
		return w.WithKinds(SlugID, NullID)
	}
	return w
}

// hostility adds what the profile stands for.
func (r roll) hostility(s *Sim, p Profile) {
	switch p {
	case Clean:
	case Faulty:
		r.faults(s, r.between(1, 3), passing, harmless)
	case Moving:
		r.changes(s)
		r.faults(s, r.IntN(2), passing, harmless)
	case Capped:
		r.faults(s, r.between(1, 2), capped)
		r.faults(s, r.IntN(2), passing, harmless)
	case Lying:
		r.faults(s, r.between(1, 2), lying, unsteady)
	case Mixed:
		if r.yes(3) {
			r.changes(s)
		}
		r.faults(s, r.IntN(4), harmless, passing, unsteady, capped, lying)
	case Sliced:
		r.cuts(s)
	}
}

// ranges gives an API a range filter.
func (r roll) ranges(a *API) {
	if r.yes(3) && !a.Post {
		a.Filter = FilterRule{Numeric: "filter"}
		return
	}
	a.Filter = FilterRule{From: "from", To: "to", Closed: r.yes(3)}
	if a.Post {
		a.Filter.From, a.Filter.To = "range.from", "range.to"
	}
	a.SortTime = r.yes(4)
}

// spread puts the items of a world at uneven distances.
func (r roll) spread(w *World) {
	if w.Ordered {
		return
	}
	gap := int64(pick(r, sortGap, 1, 3, 100, 1))
	base := min(int64(1_200_000_000), w.least())
	for i := range w.Items {
		it := &w.Items[i]
		steps := (it.Sort - sortBase) / sortGap
		it.Sort = base + steps*gap
	}
	if r.yes(4) {
		w.Keyless = r.between(3, 12)
	}
}

// least is the least sort key of a world.
func (w World) least() int64 {
	n := int64(sortBase)
	for _, it := range w.Items {
		n = min(n, it.Sort)
	}
	return n
}

// cuts adds a cap to most worlds, and sometimes more.
func (r roll) cuts(s *Sim) {
	if n := len(s.World.Items); n > 3 && !r.yes(8) {
		s.Faults = append(s.Faults, Fault{Effect: Cap{
			At: r.between(max(1, n/20), n-1), Past: pick(r, CapCollapse, CapEmpty, CapError, CapRepeat, CapClamp, CapEnd),
			Code: pick(r, 400, 422, 500), Pages: r.yes(2), Whole: r.yes(4),
		}})
	}
	switch r.IntN(6) {
	case 2, 3:
		r.changes(s)
	case 4:
		r.faults(s, r.between(1, 2), passing, harmless)
	case 5:
		s.Faults = append(s.Faults, Fault{Effect: LoseFilter{}})
		if r.yes(2) {
			s.Faults[len(s.Faults)-1].Match.Every = r.between(2, 5)
		}
		r.faults(s, r.IntN(2), lying, unsteady)
	}
}

// changes draws what happens to the world while it is read.
func (r roll) changes(s *Sim) {
	n := len(s.World.Items)
	pages := n/max(1, s.API.Size.Default) + 2
	for range r.between(1, 5) {
		s.World.Changes = append(s.World.Changes, Change{
			Before: r.between(2, pages+2),
			Op:     pick(r, Insert, Delete, Delete, Insert, Move, Update),
			Rank:   r.IntN(n + 1),
			To:     r.IntN(n + 1),
		})
	}
	if r.yes(8) {
		s.World.Churn = Churn{Every: r.between(2, 6), Rank: r.IntN(n + 1)}
	}
}
