package fetcher_test

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"lastdrop/fetcher"
	"lastdrop/internal/sim"
)

func TestFlagship(t *testing.T) {
	a := cutAPI(1000)
	w := sim.NewWorld(533_692, sim.IntID)
	r := rand.New(rand.NewPCG(1, 2))
	at := int64(1160418111)
	for i := range w.Items {
		at += int64(r.ExpFloat64() * 1000)
		w.Items[i].Sort = at
	}
	w.Churn = sim.Churn{Every: 50, Rank: 533_692}
	began := time.Now()
	s := sim.New(w, a, 1, sim.Fault{Effect: sim.Cap{At: 1000, Past: sim.CapCollapse, Pages: true}})
	t.Log("made", time.Since(began))
	res := drainSim(t, s, func(o *fetcher.Options) { o.Slicing.ToNow = true })
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	t.Logf("%s %s distinct %d requests %d in %s; %d MiB sys", res.Ruling.Verdict, res.Ruling.Strength, res.Facts.Distinct, s.Requests(), time.Since(began), ms.Sys>>20)
	for _, e := range res.Ruling.Evidence {
		t.Log(e)
	}
}
