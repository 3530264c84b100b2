package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/tidwall/gjson"
)

func TestNamedWorlds(t *testing.T) {
	for _, w := range NamedWorlds() {
		t.Run(w.Name, func(t *testing.T) {
			if again, ok := Named(w.Name); !ok || again.About != w.About || w.About == "" || strings.Contains(w.About, "\n") {
				t.Errorf("world %q, about %q", again.Name, again.About)
			}
			_, err := try(t, w.New(1))
			t.Log(err)
			checkYAML(t, w.Config("http://127.0.0.1:1/"+w.Name))
		})
	}
	if _, ok := Named("nowhere"); ok {
		t.Error("a world that is not there")
	}
}

// checkYAML looks for keys that no config has.
func checkYAML(t *testing.T, text string) {
	t.Helper()
	var config map[string]any
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	known := map[string]string{
		"":      "version name source pages items total partial errors complete",
		"pages": "style size number offset cursor next keyset link more last end pin reverse",
		"items": "path id absent_is_empty format check",
		"total": "path header match url counts kind", "source": "url method body params headers",
	}
	check := func(section string, keys map[string]any) {
		for k := range keys {
			if !slices.Contains(strings.Fields(known[section]), k) {
				t.Errorf("unknown key %s.%s in\n%s", section, k, text)
			}
		}
	}
	check("", config)
	for section := range known {
		if keys, ok := config[section].(map[string]any); ok && section != "" {
			check(section, keys)
		}
	}
}

func TestRandomConfigsAreYAML(t *testing.T) {
	for seed := range uint64(400) {
		s := Random(rand.New(rand.NewPCG(seed, 2)), Clean)
		checkYAML(t, s.Hints().YAML("random", "http://127.0.0.1:1"))
	}
}

func TestNamedWorldsThatDrain(t *testing.T) {
	for _, name := range []string{"honest", "big-ids", "empty-pages", "snapshot"} {
		w, _ := Named(name)
		s := w.New(1)
		held, err := try(t, s)
		truth := s.Truth()
		missing := slices.DeleteFunc(truth.Always, func(k string) bool { return held[k] })
		if err != nil || len(missing) > 0 {
			t.Errorf("%s: %v, missing %v", name, err, missing)
		}
	}
}

func TestHardCapIsTheOneOfTheField(t *testing.T) {
	w, _ := Named("hard-cap")
	s := w.New(1)
	var got []string
	for p := range 12 {
		page := fetch(s, fmt.Sprintf("/api/v1/search_by_date?hitsPerPage=100&page=%d", p))
		v := gjson.Parse(page.Body)
		got = append(got, fmt.Sprintf("%d hits, %d of %d pages", len(v.Get("hits").Array()), v.Get("nbHits").Int(), v.Get("nbPages").Int()))
	}
	want := map[int]string{
		0: "100 hits, 533688 of 10 pages", 1: "100 hits, 533689 of 10 pages", 9: "100 hits, 533692 of 10 pages",
		10: "0 hits, 0 of 0 pages", 11: "0 hits, 0 of 0 pages",
	}
	for p, text := range want {
		if got[p] != text {
			t.Errorf("page %d: %s, want %s", p, got[p], text)
		}
	}
	if served := s.Truth().Served; len(served) != 1000 {
		t.Errorf("served %d items, want 1,000", len(served))
	}
	big := gjson.Parse(fetch(s, "/api/v1/search_by_date?hitsPerPage=5000").Body)
	if n := len(big.Get("hits").Array()); n != 1000 || big.Get("nbPages").Int() != 1 {
		t.Errorf("asked for 5000: %d hits, %d pages", n, big.Get("nbPages").Int())
	}
}

func TestHardCapCanBeSliced(t *testing.T) {
	w, _ := Named("hard-cap")
	s := w.New(1)
	fetch(s, "/api/v1/search_by_date")
	count := func(from, to int64) int64 {
		filter := fmt.Sprintf("created_at_i%%3E%%3D%d,created_at_i%%3C%d", from, to)
		return gjson.Get(fetch(s, "/api/v1/search_by_date?hitsPerPage=1&numericFilters="+filter).Body, "nbHits").Int()
	}
	for range 10 {
		fetch(s, "/api/v1/search_by_date") // the world has come to rest
	}
	h := s.Hints().Slice
	whole := count(h.From, h.To)
	middle := (h.From + h.To) / 2
	if a, b := count(h.From, middle), count(middle, h.To); whole != 533692 || a+b != whole || a == 0 || b == 0 {
		t.Errorf("%d and %d of %d", a, b, whole)
	}
}

func TestHalfBodiesShrinkWithTheSize(t *testing.T) {
	w, _ := Named("half-bodies")
	s := w.New(1)
	whole := func(size, tries int) (n int) {
		for range tries {
			got := fetch(s, fmt.Sprintf("/repos/lastdrop/sim/commits?per_page=%d", size))
			if got.BodyErr == "" && json.Valid([]byte(got.Body)) {
				n++
			}
		}
		return n
	}
	if big, middle, small := whole(1000, 20), whole(100, 100), whole(50, 20); big != 0 || middle == 0 || middle > 20 || small != 20 {
		t.Errorf("whole: %d of 20 at 1000, %d of 100 at 100, %d of 20 at 50", big, middle, small)
	}
}

func TestGallery(t *testing.T) {
	server := httptest.NewServer(NewGallery(1, NamedWorlds()...))
	defer server.Close()
	get := func(path string) (int, string) {
		resp, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	if _, body := get("/"); !strings.Contains(body, server.URL+"/honest/items") {
		t.Errorf("list %s", body)
	}
	if _, body := get("/?format=json"); len(gjson.Parse(body).Array()) != len(NamedWorlds()) ||
		!strings.Contains(gjson.Get(body, "0.config").String(), "style: link") {
		t.Errorf("list %s", body)
	}
	if code, body := get("/honest/items?per_page=3"); code != 200 || ids(body, "items") != "1 2 3" {
		t.Errorf("page: %d %s", code, body)
	}
	if _, body := get("/honest/_log"); body != "1 GET /honest/items?per_page=3 -> 200, 3 items\n" {
		t.Errorf("log %q", body)
	}
	if _, body := get("/honest/_truth"); !strings.HasPrefix(body, "* 1\n* 2\n") || strings.Count(body, "*") != 2350 {
		t.Errorf("truth %.40q", body)
	}
	if _, body := get("/honest/_config"); !strings.Contains(body, server.URL+"/honest/items") {
		t.Errorf("config %s", body)
	}
	if code, _ := get("/nowhere/items"); code != 404 {
		t.Errorf("unknown world: %d", code)
	}
	if code, _ := get("/honest/_reset"); code != 405 {
		t.Errorf("reset with GET: %d", code)
	}
	resp, err := http.Post(server.URL+"/honest/_reset", "", nil)
	if err != nil || resp.Body.Close() != nil || resp.StatusCode != 204 {
		t.Errorf("reset: %v", err)
	}
	if _, body := get("/honest/_log"); body != "" {
		t.Errorf("log after a reset: %q", body)
	}
}
