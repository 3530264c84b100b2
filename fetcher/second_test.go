package fetcher_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"lastdrop/adapters"
	"lastdrop/fetcher"
	"lastdrop/fetcher/fetchertest"
	"lastdrop/internal/racing"
	"lastdrop/internal/sim"
	"lastdrop/internal/slicing"
	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

var readings = flag.Int("readings", racing.Less(300, 2), "random worlds to read twice")

// A twice is a world that is read again where one reading is not enough.
type twice struct {
	sim     *sim.Sim
	reverse bool
	size    int // of the second reading, 0: as the first
	n, cap  int // items, and how many of them are handed out for one query
	said    bool
}

// wordless are APIs of each style that say neither a total nor an end.
var wordless = map[sim.Style]func(*sim.API){
	sim.Page:    func(*sim.API) {},
	sim.Offset:  func(*sim.API) {},
	sim.Cursor:  func(a *sim.API) { a.Token = sim.TokenRule{Path: "next", End: sim.EndAbsent} },
	sim.NextURL: func(a *sim.API) { a.Next = sim.NextRule{Path: "next", End: sim.EndAbsent} },
	sim.Keyset:  func(a *sim.API) { a.Key, a.Params = sim.KeyRule{ID: true, ByItem: true}, sim.Params{Key: "after"} },
	sim.Single:  func(a *sim.API) { a.Size.Max = 0 },
}

// saying gives such an API an end word.
func saying(a *sim.API) {
	switch a.Style {
	case sim.Cursor:
		a.Token.End = sim.EndNull
	case sim.NextURL:
		a.Next.End = sim.EndNull
	default:
		a.More = sim.MoreRule{Path: "has_more"}
	}
}

// drawTwice draws a static world of a stable order; most of them are capped.
func drawTwice(r *rand.Rand, reverse bool) twice {
	styles := []sim.Style{sim.Page, sim.Offset, sim.Cursor, sim.NextURL, sim.Keyset, sim.Single}
	size := 2 + r.IntN(30)
	a := sim.API{Style: styles[r.IntN(len(styles))], Items: "items", Size: sim.SizeRule{Default: size}, Reverse: "turned"}
	wordless[a.Style](&a)
	w := twice{reverse: reverse, n: 2 + r.IntN(140), said: r.IntN(3) == 0}
	if w.said {
		saying(&a)
	}
	if !reverse || r.IntN(3) == 0 {
		w.size = 1 + (size+r.IntN(30))%32
		if w.size == size {
			w.size++
		}
	}
	if a.Style == sim.Single && !reverse {
		a.Style = sim.Offset
	}
	if a.Style == sim.Page || a.Style == sim.Offset {
		a.PastEnd = []sim.PastEnd{sim.PastEmpty, sim.Past404, sim.Past422, sim.PastClamp}[r.IntN(4)]
	}
	world := sim.NewWorld(w.n, []sim.IDKind{sim.IntID, sim.TextID}[r.IntN(2)])
	if r.IntN(3) == 0 {
		world = world.Newest()
	}
	w.cap = w.n
	var faults []sim.Fault
	if r.IntN(4) > 0 {
		w.cap = []int{1 + r.IntN(w.n), min(w.n, size*(1+r.IntN(4))), min(w.n, 20), w.n - 1}[r.IntN(4)]
		past := []sim.CapPast{sim.CapCollapse, sim.CapEmpty, sim.CapError, sim.CapRepeat, sim.CapClamp, sim.CapEnd}[r.IntN(6)]
		crossing := r.IntN(4) == 0 && w.cap+34 < w.n && a.Style != sim.Single // the page that crosses the cap comes whole, and is not the last one
		var e sim.Effect = sim.Cap{At: w.cap, Past: past, Code: []int{400, 404, 422, 500}[r.IntN(4)], Pages: r.IntN(2) == 0, Whole: crossing}
		switch r.IntN(6) {
		case 0:
			world.Groups = 1 + r.IntN(4)
			e = sim.GroupCap{At: max(1, w.cap/world.Groups)}
			w.cap = min(w.n, max(1, w.cap/world.Groups)*world.Groups)
		case 1:
			e = sim.Keep{Items: w.cap}
		}
		faults = append(faults, sim.Fault{Effect: e})
	}
	w.sim = sim.New(world, a, r.Uint64(), faults...)
	return w
}

// read drains the world, asking for COMPLETE only where it is corroborated.
func (w twice) read(t *testing.T, change ...func(*fetcher.Options)) (r fetchertest.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		r, err = fetchertest.Run(context.Background(), w.sim, append([]func(*fetcher.Options){func(o *fetcher.Options) {
			o.Second = w.second()
		}}, change...)...)
		if err != nil {
			t.Fatal(err)
		}
	})
	return corroborated(r)
}

// corroborated rules anew, by the strength that a second reading can give.
func corroborated(r fetchertest.Result) fetchertest.Result {
	r.Facts.Require = reconcile.Corroborated
	r.Ruling = reconcile.Rule(r.Facts)
	return r
}

func (w twice) second() fetcher.Second {
	o := fetcher.Second{Require: reconcile.Corroborated, Size: w.size}
	if w.reverse {
		for name, v := range w.sim.Hints().Reverse {
			o.Reverse = append(o.Reverse, adapters.Set{Param: name, Values: []any{v}})
		}
	}
	return o
}

// TestNoCapIsCorroborated is the law for second readings. A source that hands
// out less than it has is never COMPLETE, whatever its cap does behind itself;
// one that is whole and static, and can be read in reverse, always is.
func TestNoCapIsCorroborated(t *testing.T) {
	capped, whole, lied := 0, 0, 0
	for i := range *readings {
		r := rand.New(rand.NewPCG(uint64(i), 45))
		w := drawTwice(r, i%3 > 0)
		res := w.read(t)
		complete := res.Ruling.Verdict == judge.Complete
		switch {
		case w.cap < w.n && complete && !w.reverse && w.said:
			lied++ // the server's own word ended both readings, at no round number
		case w.cap < w.n && complete, complete && res.Breach() != "":
			t.Fatalf("world %d: COMPLETE with %d of %d held, capped at %d\n%s", i, res.Facts.Distinct, w.n, w.cap, res.Story())
		case w.cap < w.n:
			capped++
		case w.reverse && (!complete || res.Ruling.Strength != reconcile.Corroborated):
			t.Fatalf("world %d: %s %s, reverse, %d of %d held\n%s", i, res.Ruling.Verdict, res.Ruling.Strength, res.Facts.Distinct, w.n, res.Story())
		case w.reverse:
			whole++
		}
	}
	t.Logf("%d capped, %d whole ones corroborated, %d whose end word lies where no second page size can tell", capped, whole, lied)
	if capped < *readings/4 || whole < *readings/20 {
		t.Error("too few worlds of each kind")
	}
}

// TestReadingsSurviveDeath kills such runs at their checkpoints: what comes out
// must be as safe, and whole sources are corroborated all the same.
func TestReadingsSurviveDeath(t *testing.T) {
	all, dead := 0, 0
	for i := range *readings / 3 {
		r := rand.New(rand.NewPCG(uint64(i), 46))
		w := drawTwice(r, i%3 > 0)
		var res fetchertest.Result
		synctest.Test(t, func(t *testing.T) {
			var err error
			var deaths int
			res, deaths, err = fetchertest.RunKilled(context.Background(), w.sim, r, func(o *fetcher.Options) { o.Second = w.second() })
			if err != nil {
				t.Fatalf("world %d: %v", i, err)
			}
			dead += deaths
		})
		res = corroborated(res)
		if breach := res.Breach(); breach != "" {
			t.Fatalf("world %d: %s\n%s", i, breach, res.Story())
		}
		complete := res.Ruling.Verdict == judge.Complete
		if w.cap < w.n && complete && (w.reverse || !w.said) {
			t.Fatalf("world %d: COMPLETE, %d of %d held, capped at %d\n%s", i, res.Facts.Distinct, w.n, w.cap, res.Story())
		}
		if w.cap == w.n && w.reverse {
			all++
			if !complete {
				t.Fatalf("world %d: %s\n%s", i, res.Ruling.Verdict, res.Story())
			}
		}
	}
	if all < *readings/30 || dead < *readings/3 {
		t.Errorf("%d whole worlds and %d deaths: too few", all, dead)
	}
}

// TestReadingsInRandomWorlds reads the hostile worlds of the law twice, in
// reverse and in another size. What a reading in reverse corroborates is whole,
// but for what the source never serves or moves without a trace.
func TestReadingsInRandomWorlds(t *testing.T) {
	profiles := sim.Profiles()
	agreed := 0
	for i := range *readings {
		p := profiles[i%len(profiles)]
		s := sim.Random(rand.New(rand.NewPCG(uint64(i), 47)), p)
		s.API.Reverse, s.API.Total = "turned", sim.TotalRule{} // a total would count
		s.Reset()
		w := twice{sim: s, reverse: (i/len(profiles))%4 > 0, size: 3 + i%29}
		if s.Hints().Size.Param == "" {
			w.size = 0
		}
		r := w.read(t)
		if breach := r.Breach(); breach != "" {
			t.Fatalf("%s world %d: %s\n%s", p, i, breach, r.Story())
		}
		if r.Ruling.Strength != reconcile.Corroborated || !w.reverse {
			continue
		}
		agreed++
		if lost := missing(t, r); lost > 0 && s.Counts()["drop"]+s.Counts()["silent_drop"] == 0 {
			t.Fatalf("%s world %d: corroborated with %d lasting items missing\n%s", p, i, lost, r.Story())
		}
	}
	t.Logf("%d worlds, %d corroborated", *readings, agreed)
	if agreed < *readings/5 {
		t.Error("too few worlds were corroborated")
	}
}

// TestReadAgainCountsOnce: what comes again in a second reading is repeated, and
// an item without an id is one.
func TestReadAgainCountsOnce(t *testing.T) {
	a := sim.API{Style: sim.Offset, Items: "items", Size: sim.SizeRule{Default: 20}, Reverse: "turned"}
	w := twice{sim: sim.New(sim.NewWorld(31, sim.IntID).WithKinds(sim.IntID, sim.NoID), a, 1), reverse: true}
	r := w.read(t)
	c := r.Facts.Counts
	if r.Ruling.Verdict != judge.Complete || c.Distinct != 31 || c.NoID != 15 || c.Received-c.Repeated != 31 || r.Facts.Second.Passes != 1 {
		t.Errorf("%s, %+v\n%s", r.Ruling.Verdict, c, r.Story())
	}
	for i, at := range r.Memory.Attempts {
		if want := 1 + 2*i/len(r.Memory.Attempts); at.Pass != want {
			t.Errorf("attempt %d is of pass %d, want %d", at.Seq, at.Pass, want)
		}
	}
}

// TestReadAgainAndSlices: a source that its slices need not cut is read again as
// any other, within the range that is asked for; one that they cut is not, for
// their sum is held against the whole.
func TestReadAgainAndSlices(t *testing.T) {
	api := sim.API{Style: sim.Offset, Items: "items", Size: sim.SizeRule{Default: 20}, Filter: sim.FilterRule{From: "from", To: "to"}, Reverse: "turned"}
	for _, c := range []struct {
		name      string
		total     sim.TotalRule
		rangeOnly bool
		faults    []sim.Fault
		strength  reconcile.Strength
		reading   string // the last request's order
	}{
		{"whole", sim.TotalRule{}, false, nil, reconcile.Corroborated, "turned=desc"},
		{"the range only", sim.TotalRule{}, true, nil, reconcile.Corroborated, "turned=desc"},
		{"cut", sim.TotalRule{Kind: sim.TotalExact, Path: "total"}, false, []sim.Fault{{Effect: sim.Cap{At: 40, Past: sim.CapEmpty}}}, reconcile.Counted, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := api
			a.Total = c.total
			w := twice{sim: sim.New(sim.NewWorld(90, sim.IntID), a, 1, c.faults...), reverse: true}
			r := w.read(t, func(o *fetcher.Options) {
				if h := w.sim.Hints().Slice; c.rangeOnly {
					o.Slicing.RangeOnly, o.Slicing.Wholes = true, []slicing.Range{{Lo: h.From, Hi: h.To}}
				}
			})
			if r.Ruling.Strength != c.strength || r.Facts.Distinct != 90 || (r.Facts.Second != nil) != (c.reading != "") {
				t.Errorf("%s %s\n%s", r.Ruling.Verdict, r.Ruling.Strength, r.Story())
			}
			last := r.Memory.Attempts[len(r.Memory.Attempts)-1].URL
			if !strings.Contains(last, c.reading) || c.rangeOnly && !strings.Contains(last, "from=") {
				t.Errorf("the last request is %s\n%s", last, r.Story())
			}
		})
	}
}

// missing counts the items that lasted and are not held.
func missing(t *testing.T, r fetchertest.Result) (n int) {
	t.Helper()
	held := map[string]bool{}
	for _, l := range r.Memory.Lines {
		k, err := r.Sim.KeyOf(l)
		if err != nil {
			t.Fatal(err)
		}
		held[k] = true
	}
	for _, k := range r.Sim.Truth().Always {
		if !held[k] {
			n++
		}
	}
	return n
}
