package storetest

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"lastdrop/judge/reconcile"
	"lastdrop/store"
)

// testModel lets random commits, stops, restarts and fresh starts happen, and
// compares what a run can go on from with what a simple model says.
func (s suite) testModel(t *testing.T) {
	dir := t.TempDir() // one store for all sequences: each has a pull of its own
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		m := &model{suite: s, t: t, dir: dir, name: fmt.Sprint("pull-", n)}
		m.reopen(r)
		steps := map[string]func(*rapid.T){"commit": m.commit, "fail": m.fail, "reopen": m.reopen, "stop": m.stop, "fresh": m.fresh}
		names := []string{"commit", "commit", "commit", "fail", "reopen", "stop", "fresh"}
		for _, step := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 9).Draw(r, "steps") {
			steps[step](r)
		}
		m.check(r)
		noError(r, m.run.Close())
		noError(r, m.h.Close())
	})
}

// A model is what the current run should hold.
type model struct {
	suite suite
	t     *testing.T
	dir   string
	name  string
	h     handle
	run   Ledger

	state    []byte
	items    int64
	attempts []reconcile.Attempt
}

func (m *model) begin(r *rapid.T, fresh bool) {
	o := options(m.name)
	o.Fresh = fresh
	run, err := m.h.begin(context.Background(), o)
	noError(r, err)
	m.run = run
}

// next draws attempts that come after those held.
func (m *model) next(r *rapid.T) []reconcile.Attempt {
	var all []reconcile.Attempt
	for range rapid.IntRange(0, 5).Draw(r, "attempts") {
		seq := int64(len(m.attempts) + len(all) + 1)
		if rapid.Bool().Draw(r, "held") {
			all = append(all, held(seq, rapid.IntRange(0, 4).Draw(r, "new")))
		} else {
			all = append(all, half(seq))
		}
	}
	return all
}

func (m *model) commit(r *rapid.T) {
	c := checkpoint(m.items, m.next(r)...)
	c.State = fmt.Appendf(nil, `{"at":%d}`, len(m.attempts))
	noError(r, m.run.Commit(context.Background(), c))
	m.state, m.items, m.attempts = c.State, c.Items, append(m.attempts, c.Attempts...)
}

// fail hands in a checkpoint whose last attempt is there already.
func (m *model) fail(r *rapid.T) {
	if len(m.attempts) == 0 {
		return
	}
	c := checkpoint(m.items, append(m.next(r), half(1))...)
	if err := m.run.Commit(context.Background(), c); err == nil {
		r.Fatalf("attempt 1 was written twice")
	}
}

// reopen lets the run and the store go, and takes both up again.
func (m *model) reopen(r *rapid.T) {
	if m.run != nil {
		noError(r, m.run.Close())
		noError(r, m.h.Close())
	}
	m.h = m.suite.open(m.t, m.dir)
	m.begin(r, false)
}

// stop ends the run with a report that lets it go on, and takes it up.
func (m *model) stop(r *rapid.T) {
	p := report(m.run)
	p.State = store.Stopped
	noError(r, m.run.Finish(context.Background(), p))
	m.begin(r, false)
}

func (m *model) fresh(r *rapid.T) {
	noError(r, m.run.Close())
	m.begin(r, true)
	m.state, m.items, m.attempts = nil, 0, nil
}

func (m *model) check(r *rapid.T) {
	checkHolds(r, m.h, m.run, m.state, 100*m.items, m.items, m.attempts...)
	i, err := m.h.RunByID(context.Background(), m.run.ID())
	noError(r, err)
	same(r, "attempts", i.Attempts, int64(len(m.attempts)))
}
