package web_test

import (
	"fmt"
	"os"
	"testing"

	"lastdrop/configs"
	"lastdrop/internal/daemon"
	"lastdrop/judge/reconcile"
)

// filled is a site with runs of all kinds.
func filled(t *testing.T) (*site, map[string]reconcile.Report) {
	t.Helper()
	s := newSite(t)
	s.add("issues", "honest", false)
	s.add("commits", "half-bodies", false)
	s.add("search-capped", "hard-cap", false)
	s.add("search-sliced", "hard-cap", true, func(c *configs.Config) { c.Pages.Size.Start = 1000 })
	s.add("feed", "drift", false)
	s.add("never-run", "honest", false)
	reports := map[string]reconcile.Report{}
	for _, name := range []string{"issues", "commits", "search-capped", "search-sliced", "feed", "issues", "issues"} {
		reports[name] = s.drain(name)
	}
	s.mu.Lock()
	s.broken = []daemon.Broken{{File: "orders.yaml", Problem: "orders.yaml:4:9: unknown key \"stile\"\n   4 |   stile: offset\n             ^", Since: reports["issues"].Started}}
	s.pulls["feed"].Paused = true
	s.pulls["commits"].Problem = "commits.yaml:12:3: unknown key \"retrys\""
	s.mu.Unlock()
	return s, reports
}

// Every page is whole at 1280 and 360 pixels, in the light and the dark scheme: nothing is reported, nothing scrolls
// sideways, and texts stand out from their ground.
func TestLooks(t *testing.T) {
	s, reports := filled(t)
	release := s.hold(8, 0)
	defer release()
	if _, err := s.RunNow(t.Context(), "never-run", daemon.Request{}); err != nil {
		t.Fatal(err)
	}
	type look struct {
		width int
		dark  bool
	}
	looks := []look{{1280, false}, {360, true}} // which has every width and every scheme
	if os.Getenv("LASTDROP_SCREENS") != "" {
		looks = append(looks, look{1280, true}, look{360, false})
	}
	for _, look := range looks {
		b := s.open(t, look.width, look.dark)
		b.allow = "404" // the page that there is not
		for name, path := range map[string]string{
			"pulls": "/", "pull": "/pulls/issues", "run-complete": "/runs/" + reports["issues"].Run, "run-half": "/runs/" + reports["commits"].Run,
			"run-capped": "/runs/" + reports["search-capped"].Run, "run-sliced": "/runs/" + reports["search-sliced"].Run,
			"run-drift": "/runs/" + reports["feed"].Run, "queue": "/queue", "judge": "/judge", "rules": "/rules", "missing": "/nope",
			"attempt": "/runs/" + reports["commits"].Run + "/attempts/2",
		} {
			b.visit(path)
			if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > look.width {
				t.Errorf("%s at %d: %d wide: %s", name, look.width, wide, eval[string](b, widest))
			}
			if low := eval[[]string](b, contrasts); len(low) > 0 {
				t.Errorf("%s at %d, dark %v: hard to read: %q", name, look.width, look.dark, low)
			}
			b.shoot(fmt.Sprintf("%s-%d-%s", name, look.width, map[bool]string{false: "light", true: "dark"}[look.dark]))
		}
	}
}

// widest names the elements that stick out.
const widest = `[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll, .map, pre')).slice(0, 5).map(e => e.outerHTML.slice(0, 120)).join('\n')`

// contrasts lists texts whose colour is too near to that of their ground, by WCAG AA.
const contrasts = `(() => {
  const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m };
  const lum = ([r, g, b]) => { const f = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b) };
  const ground = e => { for (; e; e = e.parentElement) { const s = getComputedStyle(e); if (s.backgroundImage !== 'none') return null; const c = parse(s.backgroundColor); if (c[3] === 1) return c } return [255, 255, 255, 1] };
  const low = new Set();
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || e.matches('.map a');
    if (!own || e.closest('svg, .sr, .skip') || !e.checkVisibility()) continue;
    const g = ground(e);
    if (!g) continue;
    const [a, b] = [lum(parse(getComputedStyle(e).color)), lum(g)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2) + ' ' + e.textContent.trim().slice(0, 20));
  }
  return [...low].slice(0, 10);
})()`
