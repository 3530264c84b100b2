package pull

import (
	"fmt"
	"hash/maphash"
	"net/url"
	"slices"
	"strings"
	"sync"

	"lastdrop/configs"
	"lastdrop/fetcher"
)

// Paces are the budgets of rate and concurrency that the pulls of a process share:
// one for each origin and credential. Where pulls allow different rates, the lowest
// counts. The zero value is ready; it can be used by several goroutines.
type Paces struct {
	mu   sync.Mutex
	seed maphash.Seed
	of   map[uint64]*fetcher.Pace
}

// For gives the budget of a config's source.
func (p *Paces) For(c *configs.Config) *fetcher.Pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.seed, p.of = maphash.MakeSeed(), map[uint64]*fetcher.Pace{}
	}
	l, key := c.Limits, maphash.String(p.seed, caller(c))
	if known := p.of[key]; known != nil {
		known.Tighten(float64(l.Rate), l.Burst, l.Concurrency)
		return known
	}
	p.of[key] = fetcher.NewPace(float64(l.Rate), l.Burst, l.Concurrency)
	return p.of[key]
}

// caller names the origin of a source and who asks it. It holds secrets, and is
// only hashed.
func caller(c *configs.Config) string {
	k := c.Auth()
	origin := c.Source.URL
	if u, err := url.Parse(c.Source.URL); err == nil {
		origin = strings.ToLower(u.Scheme + "://" + u.Host)
	}
	var headers []string
	for name, v := range k.Headers {
		headers = append(headers, strings.ToLower(name)+"\x00"+v.Reveal())
	}
	slices.Sort(headers)
	parts := append([]string{origin, fmt.Sprint(k.Kind), k.Name, k.Value.Reveal(), k.User.Reveal(), k.Password.Reveal()}, headers...)
	return strings.Join(parts, "\x01")
}
