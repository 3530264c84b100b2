package guard

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxClients bounds a generation of clients.
const maxClients = 4096

// rates are the limits of clients by their address. There are two generations: when
// the young one is full, the old one is forgotten and the young one is old.
type rates struct {
	every rate.Limit
	burst int

	mu         sync.Mutex
	young, old map[netip.Addr]*rate.Limiter
}

// wait is how long a client is to wait before its next request; 0: it may go on.
func (r *rates) wait(client netip.Addr, now time.Time) time.Duration {
	place := r.of(client).ReserveN(now, 1)
	if d := place.DelayFrom(now); d > 0 {
		place.CancelAt(now)
		return d
	}
	return 0
}

func (r *rates) of(client netip.Addr) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.young[client]; l != nil {
		return l
	}
	l := r.old[client]
	if l == nil {
		l = rate.NewLimiter(r.every, r.burst)
	}
	if r.young == nil || len(r.young) >= maxClients {
		r.young, r.old = map[netip.Addr]*rate.Limiter{}, r.young
	}
	r.young[client] = l
	return l
}

// clientOf is what counts as one client: an IPv4 address, or an IPv6 network of one
// customer.
func clientOf(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		p, _ := ip.Prefix(64) // 64 is a length that there is
		ip = p.Addr()
	}
	return ip
}
