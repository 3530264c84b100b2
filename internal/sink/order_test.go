package sink

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"
)

// A ledgered run keeps its ledger on the disk too: each of the ledger's commits is an operation that a stop may fall into, and then it is durable
// or not.
type ledgered struct {
	t      *testing.T
	disk   *disk
	target string
	items  [][]byte

	mark *Mark
	over bool // the report is stored, and says COMPLETE
}

// run goes on from what the ledger knows to the end, with the order that internal/pull keeps.
func (l *ledgered) run() error {
	o := Options{Target: l.target, Resume: l.mark, ResumeCommitted: l.mark != nil, Form: formOf(l.target)}
	if l.over {
		o.Resume, o.ResumeCommitted = nil, false // a further run of the name
	}
	f, err := open(l.disk, o)
	if err != nil {
		return err
	}
	defer f.Close()
	if l.over {
		return f.Discard()
	}
	for held := 0; ; {
		if l.mark != nil {
			held = int(l.mark.Items)
		}
		if held == len(l.items) {
			break
		}
		if err := f.Write(l.items[held:min(held+3, len(l.items))]); err != nil {
			return err
		}
		m, err := f.Sync()
		if err != nil {
			return err
		}
		l.sinkFirst(m)
		if err := l.disk.change("ledger", func() { l.mark = &m }); err != nil {
			return err
		}
	}
	if _, err := f.Finish(true); err != nil {
		return err
	}
	l.gateFirst()
	if err := l.disk.change("ledger", func() { l.over = true }); err != nil {
		return err
	}
	return f.Discard()
}

// sinkFirst wants the bytes and the name of a mark to be durable before the ledger hears of it.
func (l *ledgered) sinkFirst(m Mark) {
	l.t.Helper()
	node := l.disk.durable[l.target+asideEnding]
	if node == nil || int64(len(node.durable)) < m.Length || crc32.Checksum(node.durable[:m.Length], crc32.MakeTable(crc32.Castagnoli)) != m.Sum {
		l.t.Fatalf("the ledger would hold %+v, and that is not durable", m)
	}
}

// gateFirst wants the whole target to be durable before the ledger calls the run COMPLETE.
func (l *ledgered) gateFirst() {
	l.t.Helper()
	node := l.disk.durable[l.target]
	if node == nil {
		l.t.Fatal("the ledger would say COMPLETE, and the name of the target is not durable")
	}
	same(l.t, "durable target", unpack(l.t, l.target, node.durable), lines(l.items))
}

// TestOrderWithLedger stops the machine in every operation of disk and ledger together, twice in a row, and wants the end to be right.
func TestOrderWithLedger(t *testing.T) {
	for _, ending := range append(slices.Clone(endings), ".csv", ".parquet") {
		t.Run(ending, func(t *testing.T) {
			begin := func(seed uint64) *ledgered {
				d := newDisk(seed)
				d.put("out/items"+ending, oldFile, 0o640)
				return &ledgered{t: t, disk: d, target: "out/items" + ending, items: numbered(truth)[:8]}
			}
			var ops []string
			l := begin(0)
			l.disk.hook = func(op string) error { ops = append(ops, op); return nil }
			if err := l.run(); err != nil {
				t.Fatal(err)
			}
			for _, n := range places(ops, ending) {
				for _, seed := range seedsOf(ending, n) {
					l := begin(seed)
					where := fmt.Sprintf("stop in operation %d (%s), seed %d", n, ops[n], seed)
					for _, at := range []int{n, l.disk.rng.IntN(n + 1)} {
						l.disk.hook = stopAt(at)
						if err := l.run(); err != nil && !errors.Is(err, errCrash) && !errors.Is(err, errOff) {
							t.Fatalf("%s: %v", where, err)
						}
						l.disk.reboot(seed > 0)
						if l.over {
							got, _ := l.disk.get(l.target)
							same(t, where+": the target of a COMPLETE run", unpack(t, l.target, got), lines(l.items))
						}
					}
					for l.disk.hook = nil; !l.over; {
						if err := l.run(); err != nil {
							t.Fatalf("%s: %v", where, err)
						}
					}
					got, _ := l.disk.get(l.target)
					same(t, where+": the target", unpack(t, l.target, got), lines(l.items))
				}
			}
		})
	}
}
